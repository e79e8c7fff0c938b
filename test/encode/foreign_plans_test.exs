defmodule RustyJson.ForeignPlansTest do
  @moduledoc "Structs that derive the protocol of another library: what their compiled code proves, and what becomes of them."
  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.Encoder.Compiled
  alias RustyJson.Test.Judge

  # Elixir 1.18 has JSON.
  @compile {:no_warn_undefined, [JSON, JSON.Encoder, Jason]}
  @libraries for {library, kind} <- [{JSON, :json}, {Jason, :jason}],
                 Code.ensure_loaded?(library),
                 do: {library, kind}

  defmodule Hand do
    defstruct [:value]
  end

  if List.keymember?(@libraries, JSON, 0) do
    defimpl JSON.Encoder, for: Hand do
      def encode(%{value: value}, encoder), do: encoder.(value, encoder)
    end
  end

  setup_all do
    folder = Path.join(System.tmp_dir!(), "rustyjson_foreign_plans_#{System.pid()}")
    File.mkdir_p!(folder)
    Code.prepend_path(folder)

    on_exit(fn ->
      Code.delete_path(folder)
      File.rm_rf!(folder)
    end)

    %{folder: folder}
  end

  # Only code in files can be read.
  defp compile(source, folder) do
    Code.compiler_options(ignore_module_conflict: true)
    file = Path.join(folder, "source.ex")
    File.write!(file, source)
    {:ok, modules, _} = Kernel.ParallelCompiler.compile_to_path([file], folder, return_diagnostics: true)

    # New Elixirs load a compiled module when it is called.
    for module <- modules do
      :code.purge(module)
      {:module, _} = :code.load_file(module)
    end

    modules
  after
    Code.compiler_options(ignore_module_conflict: false)
  end

  # The body of `encode/2`, compiled and loaded as an implementation is.
  defp plan(clauses, folder) do
    name = Module.concat(__MODULE__, "Body#{System.unique_integer([:positive])}")
    [^name] = compile("defmodule #{inspect(name)} do\n#{clauses}\nend", folder)
    proved(name)
  end

  defp proved(implementation), do: implementation |> Compiled.plan(:json) |> elem(1)

  # In a VM of its own: Elixir before 1.18 has no such protocol, and other tests rely on that.
  @protocol ~S"""
  unless Code.ensure_loaded?(JSON.Encoder) do
    defmodule JSON do
      def encode_to_iodata!(text), do: [?", text, ?"]
    end

    defprotocol JSON.Encoder do
      def encode(value, encoder)
    end
  end

  {:ok, _} = Application.ensure_all_started(:rustyjson)
  """

  @numbers ~S"""
  defmodule Reading do
    defstruct [:text, :secret]
  end

  defimpl JSON.Encoder, for: Reading do
    def encode(reading, _encoder), do: [~S({"n":), reading.text, ~S(,"secret":1.50})]
  end

  for engine <- ENGINES,
      text <-
        ~w(1.0e2 1.10 -0.0 -0 0 -0e0 1E+400 1e281474976710656 -1E-99999999999999999999999 12345678901234567890.123) ++
          ~w([1.0,{"1.5\\"":["2.50",-3.50e-1,-0]},7]),
      {options, shown} <- [
        {[redact: [:secret]], ~S("[REDACTED]")},
        {[integers: :js_safe, key_case: :camel], "1.50"},
        {[omit: [nil], sort_keys: true], "1.50"}
      ] do
    expected = ~s([{"n":#{text},"secret":#{shown}}])
    ^expected = RustyJson.encode!([struct(Reading, text: text)], options ++ engine)
    pretty = RustyJson.encode!([struct(Reading, text: text)], [pretty: true] ++ options ++ engine)
    ^expected = RustyJson.Formatter.minimize(pretty)
  end

  for engine <- ENGINES do
    reading = struct(Reading, text: "[9007199254740991,9007199254740992,-9007199254740993,-0,1e1]")
    ~S({"n":[9007199254740991,"9007199254740992","-9007199254740993",-0,1e1],) <> _ =
      RustyJson.encode!(reading, [integers: :js_safe] ++ engine)
  end
  """

  # What Jason does for lists, where the real one is not there.
  @improper ~S"""
  unless Code.ensure_loaded?(Jason) do
    defmodule Jason.Fragment do
      defstruct [:encode]
      def new(fun), do: struct(__MODULE__, encode: fun)
    end

    defmodule Jason.Encode do
      def list([head | tail], opts), do: [?[, Integer.to_string(head) | list_loop(tail, opts, [])]
      defp list_loop([], _escape, _maps), do: ~c"]"

      defp list_loop([head | tail], escape, maps),
        do: [?,, Integer.to_string(head) | list_loop(tail, escape, maps)]
    end

    defprotocol Jason.Encoder do
      @fallback_to_any true
      def encode(value, opts)
    end

    defimpl Jason.Encoder, for: Any do
      def encode(value, _opts), do: raise(Protocol.UndefinedError, protocol: Jason.Encoder, value: value)
    end

    defmodule Jason do
      def encode(%{encode: fun}, _options), do: fun.({nil, nil})
    end
  end

  defmodule Improper do
    defstruct [:list]
  end

  defimpl Jason.Encoder, for: Improper do
    def encode(%{list: list}, opts), do: [~S({"list":), Jason.Encode.list(list, opts), ?}]
  end

  for engine <- ENGINES, options <- [[], [redact: ["secret"]], [pretty: true], [omit: [nil]]] do
    {:ok, text} = RustyJson.encode([1, struct(Improper, list: [1, 2])], options ++ engine)
    ~S([1,{"list":[1,2]}]) = RustyJson.Formatter.minimize(text)

    for list <- [[1 | 2], [1, 2 | 3]] do
      {:error, error} = RustyJson.encode([1, struct(Improper, list: list)], options ++ engine)
      %RustyJson.EncodeError{reason: :improper_list, message: "improper list", path: "/1"} = error
    end
  end
  """

  @secrets ~S"""
  defmodule Inner do
    @derive {RustyJson.Encoder, key_case: :camel}
    defstruct [:card_number, :id]
  end

  # No atom has such a name, so the core has no plan for it.
  defmodule Long do
    use RustyJson.Schema

    schema do
      field :card_number, :any, key: String.duplicate("k", 256)
      field :id, :integer
    end
  end

  defmodule Outer do
    defstruct [:user, :id]
  end

  defimpl JSON.Encoder, for: Outer do
    def encode(outer, encoder),
      do: [~S({"id":), encoder.(outer.id, encoder), ~S(,"user":), encoder.(outer.user, encoder), "}"]
  end

  defmodule Both do
    @derive {RustyJson.Encoder, key_case: :camel, also: JSON.Encoder}
    defstruct [:pass_word]
  end

  defmodule Around do
    defstruct [:both]
  end

  # RustyJson does not see this struct.
  defimpl JSON.Encoder, for: Around do
    def encode(around, encoder), do: [~S({"both":), JSON.Encoder.encode(around.both, encoder), "}"]
  end

  # Its first name is known from the other.
  defmodule Longer do
    @derive {RustyJson.Encoder, key_case: :camel, also: JSON.Encoder}
    defstruct [:pass_word, :api_key]
  end

  RustyJson.encode!(struct(Both))

  defmodule Plain do
    defstruct [:card]
  end

  defimpl JSON.Encoder, for: Plain do
    def encode(_plain, _encoder), do: ~S({"card_number":"4111"})
  end

  # Its text keeps the name, whatever `:key_case` makes of others.
  for engine <- ENGINES, redact <- [["cardNumber"], ["/user/cardNumber"], [contains: ["dNum"]], [:card_number]] do
    ~S({"user":{"card_number":"[REDACTED]"}}) =
      RustyJson.encode!(%{user: struct(Plain)}, [redact: redact, key_case: :camel] ++ engine)
  end

  for engine <- ENGINES, redact <- [[:pass_word, :api_key], ["/both/pass_word", "/both/api_key"], [contains: ["word", "api_"]]] do
    around = struct(Around, both: struct(Both, pass_word: "4111"))
    ~S({"both":{"passWord":"[REDACTED]"}}) = RustyJson.encode!(around, [redact: redact] ++ engine)
    around = struct(Around, both: struct(Around, both: struct(Longer, pass_word: "4111", api_key: "4111")))
    redact = for entry <- redact, do: if(is_binary(entry), do: "/both" <> entry, else: entry)
    text = RustyJson.encode!(around, [redact: redact] ++ engine)
    true = text =~ ~S("apiKey":"[REDACTED]") and not (text =~ "4111")
  end

  for engine <- ENGINES,
      user <- [
        struct(Inner, card_number: "4111", id: 7),
        %{card_number: "4111", id: 7},
        [struct(Inner, card_number: "4111", id: 7)],
        struct(Long, card_number: "4111", id: 7),
        %{"deep" => struct(Outer, id: 7, user: struct(Inner, card_number: "4111", id: 7))}
      ],
      more <- [[], [key_case: :camel], [sort_keys: true]],
      redact <- [
        [:card_number],
        ["cardNumber", "card_number"],
        [contains: ["card"]],
        ["/user/card_number", "/user/0/card_number", "/user/deep/user/card_number"],
        ["/user/*", "/user/*/*/*"],
        ["/*/cardNumber", "/*/card_number", "/*/*/*/cardNumber", "/*/0/card_number"]
      ] do
    term = struct(Outer, user: user, id: 8)
    text = RustyJson.encode!(term, [redact: redact] ++ more ++ engine)
    unless text =~ "[REDACTED]" and not (text =~ "4111"), do: raise(inspect({redact, more, text}))
    # A pointer starts at the struct.
    ~S({"id":"[REDACTED]","user":) <> rest = RustyJson.encode!(term, [redact: ["/id"]] ++ more ++ engine)
    true = rest =~ "4111" and rest =~ ~S("id":7)
  end
  """

  test "numbers of an implementation's text keep their digits, whatever else is asked for, and nothing in it is shown that is redacted" do
    run(@protocol <> @numbers <> @secrets)
  end

  test "an improper list in a struct that only Jason encodes is the error of one anywhere else" do
    run("{:ok, _} = Application.ensure_all_started(:rustyjson)\n" <> @improper)
  end

  defp run(script) do
    engines = inspect(for {_name, options} <- Judge.engines(), do: options)
    script = String.replace(script, "ENGINES", engines)

    paths = Path.wildcard(Path.join(Mix.Project.build_path(), "lib/*/ebin"))
    arguments = Enum.flat_map(paths, &["-pa", &1]) ++ ["-e", script]
    {output, status} = System.cmd("elixir", arguments, stderr_to_stdout: true)
    assert status == 0, output
  end

  describe "the code of an implementation" do
    test "is proved if it returns its fields in constant text", %{folder: folder} do
      for {body, fields, names} <- [
            {~S|def encode(%{a: a}, e), do: ["{\"a\":", e.(a, e), ?}]|, {:a}, {:a}},
            {~S|def encode(%{a: a, b: b}, e), do: ["{\"b\":", e.(b, e), ",\"a\":", e.(a, e), "}"]|, {:b, :a},
             {:b, :a}},
            {~S|def encode(%{a: a}, e), do: [[?{, "\"other"], "\":", [[e.(a, e)], "}"]]|, {:a}, {:other}},
            {~S|def encode(%{}, _e), do: "{}"|, {}, {}},
            {~S'def encode(%{b: b} = _all, e), do: ["{\"b\":", e.(b, e) | "}"]', {:b}, {:b}}
          ] do
        assert {body, plan(body, folder)} ==
                 {body, if(names == fields, do: fields, else: {fields, names, nil})}
      end
    end

    test "of many fields, too", %{folder: folder} do
      fields = for n <- 1..60, do: :"field_#{n}"
      pattern = Enum.map_join(fields, ", ", &"#{&1}: #{&1}")

      pieces =
        Enum.map_join(Enum.with_index(fields), ", ", fn {field, n} ->
          ~s|"#{if n == 0, do: "{", else: ","}\\"#{field}\\":", e.(#{field}, e)|
        end)

      tuple = List.to_tuple(fields)
      assert plan("def encode(%{#{pattern}}, e), do: [#{pieces}, ?}]", folder) == tuple
    end

    test "proves nothing if it may do anything else", %{folder: folder} do
      for body <- [
            # Looks at a value.
            ~S|def encode(%{a: nil}, _e), do: "{}"
               def encode(%{a: a}, e), do: ["{\"a\":", e.(a, e), "}"]|,
            ~S|def encode(%{a: a}, e) when a != 1, do: ["{\"a\":", e.(a, e), "}"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"a\":", e.(a && 1, e), "}"]|,
            # Makes one.
            ~S|def encode(%{a: a}, e), do: ["{\"a\":", e.([a], e), "}"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"a\":", e.(to_string(a), e), "}"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"a\":", a, "}"] ++ [e]|,
            ~S|def encode(struct, e), do: e.(Map.from_struct(struct), e)|,
            ~S|def encode(%{a: a}, e), do: e.(a, e)|,
            # Calls another encoder, or with another one.
            ~S|def encode(%{a: a}, e), do: ["{\"a\":", inner(a, e), "}"]
               defp inner(a, e), do: e.(a, fn _, _ -> "1" end)|,
            ~S|def encode(%{a: a}, e), do: ["{\"a\":", e.(a, a), "}"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"a\":", a.(a, e), "}"]|,
            # Takes its text apart, or sends it somewhere.
            ~S|def encode(%{a: a}, e), do: IO.iodata_to_binary(["{\"a\":", e.(a, e), "}"])|,
            ~S|def encode(%{a: a}, e), do: (send(self(), a); ["{\"a\":", e.(a, e), "}"])|,
            ~S|def encode(%{a: a}, e), do: (e.(a, e); "{}")|,
            # Is not an object as the core writes it.
            ~S|def encode(%{a: a}, e), do: ["{ \"a\":", e.(a, e), "}"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"a\": ", e.(a, e), "}"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"a\":", e.(a, e), "}\n"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"a\":", e.(a, e), ",\"type\":1}"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"type\":1,\"a\":", e.(a, e), "}"]|,
            ~S|def encode(%{a: a}, e), do: ["[", e.(a, e), "]"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"a\":", e.(a, e), e.(a, e), "}"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"a\":", e.(a, e)]|,
            ~S|def encode(_struct, _e), do: "1"|,
            ~S|def encode(_struct, _e), do: :text|,
            # Has a name that an escape mode changes, or twice the same.
            ~S|def encode(%{a: a}, e), do: ["{\"a/b\":", e.(a, e), "}"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"ä\":", e.(a, e), "}"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"a\\n\":", e.(a, e), "}"]|,
            ~S|def encode(%{a: a, b: b}, e), do: ["{\"a\":", e.(a, e), ",\"a\":", e.(b, e), "}"]|
          ] do
        assert {body, plan(body, folder)} == {body, nil}
      end
    end

    test "that is not in the file proves nothing", %{folder: folder} do
      source = fn name, key ->
        ~s|defmodule #{inspect(name)} do def encode(%{a: a}, e), do: ["{\\"#{key}\\":", e.(a, e), "}"] end|
      end

      memory = Module.concat(__MODULE__, Memory)
      Code.compile_string(source.(memory, "a"))
      assert proved(memory) == nil

      # The file is newer than what is loaded.
      newer = Module.concat(__MODULE__, Newer)
      compile(source.(newer, "new"), folder)
      Code.compiler_options(ignore_module_conflict: true)
      Code.compile_string(source.(newer, "loaded"))
      Code.compiler_options(ignore_module_conflict: false)
      assert proved(newer) == nil
    end

    test "is read anew when the module was loaded anew", %{folder: folder} do
      name = Module.concat(__MODULE__, Anew)

      for key <- ["one", "two"] do
        compile(
          ~s|defmodule #{inspect(name)} do def encode(%{a: a}, e), do: ["{\\"#{key}\\":", e.(a, e), "}"] end|,
          folder
        )

        assert proved(name) == {{:a}, {String.to_atom(key)}, nil}
      end
    end
  end

  if @libraries != [] do
    defp derived(library, name, options, folder) do
      module = Module.concat([__MODULE__, library, name])

      compile(
        """
        defmodule #{inspect(module)} do
          @derive {#{inspect(library)}.Encoder, #{inspect(options)}}
          defstruct [:id, :name, :secret]
        end
        """,
        folder
      )

      module
    end

    @options [
      [],
      [escape: :html_safe],
      [escape: :unicode_safe],
      [escape: :javascript_safe],
      [pretty: true],
      [maps: :strict],
      [sort_keys: true],
      [key_case: :camel],
      [omit: [nil]],
      [redact: ["secret"]],
      [redact: ["/0/name"]],
      [integers: :js_safe],
      [max_bytes: 10_000],
      [null: :nothing],
      [compress: :gzip]
    ]

    for {library, kind} <- @libraries do
      @library library
      @kind kind
      @encoder Module.concat(library, Encoder)

      test "#{library}: the core writes what the implementation writes", %{folder: folder} do
        values = [
          1,
          -2.5,
          1.0e20,
          nil,
          true,
          :atom,
          "é</\u2028\"",
          %{b: [nil, 2 ** 60], a_b: ""},
          ~D[2024-02-29]
        ]

        for given <- [[only: [:name, :id]], [except: [:secret]], [], [only: []]] do
          module = derived(@library, "Same#{length(given)}#{inspect(given[:only])}", given, folder)
          assert {_code, plan} = Compiled.plan(Module.concat(@encoder, module), @kind)
          assert plan != nil
          structs = for value <- values, do: struct(module, id: value, name: [value], secret: nil)
          nested = struct(module, id: hd(structs), name: structs)

          for options <- @options, term <- [structs, hd(structs), nested, %{a: structs}] do
            RustyJson.Encoder.Plans.forget()
            called = Judge.encode(term, options)
            # Now the plan is known.
            assert Judge.encode(term, options) == called
          end

          for term <- [structs, nested], do: assert(Judge.encode(term) == {:ok, @library.encode!(term)})
        end
      end

      test "#{library}: the implementation is not called once its plan is known", %{folder: folder} do
        module = derived(@library, :Traced, [only: [:id]], folder)
        encode = {Module.concat(@encoder, module), :encode, 2}
        structs = for id <- 1..50, do: struct(module, id: id)

        for {_engine, options} <- Judge.engines(), term <- [structs, hd(structs), %{a: structs}] do
          RustyJson.Encoder.Plans.forget()

          # The first call, which learns the plan, writes them as the next ones do.
          for _ <- 1..2,
              do:
                assert(RustyJson.Test.Trace.calls([encode], fn -> RustyJson.encode!(term, options) end) == [])

          # Members of another library's text are not sorted.
          assert [^encode | _] =
                   RustyJson.Test.Trace.calls([encode], fn ->
                     RustyJson.encode!(term, [sort_keys: true] ++ options)
                   end)
        end
      end

      test "#{library}: a struct that was compiled again leaves no outdated plan", %{folder: folder} do
        for {_engine, options} <- Judge.engines() do
          encode = fn module ->
            for term <- [struct(module, id: 1, name: 2), [struct(module, id: 1, name: 2)]],
                _ <- 1..2,
                do: RustyJson.encode!(term, options)
          end

          module = derived(@library, :Changed, [only: [:name]], folder)
          assert encode.(module) == [~s({"name":2}), ~s({"name":2}), ~s([{"name":2}]), ~s([{"name":2}])]
          derived(@library, :Changed, [only: [:id]], folder)
          assert encode.(module) == [~s({"id":1}), ~s({"id":1}), ~s([{"id":1}]), ~s([{"id":1}])]

          # In memory, and by hand.
          Code.compiler_options(ignore_module_conflict: true)

          Code.compile_string("""
          defimpl #{inspect(@encoder)}, for: #{inspect(module)} do
            def encode(_struct, _encoder), do: "0"
          end
          """)

          assert encode.(module) == ["0", "0", "[0]", "[0]"]

          # Our own protocol comes first.
          Code.compile_string("""
          defimpl RustyJson.Encoder, for: #{inspect(module)} do
            def encode(_struct, _options), do: "1"
          end
          """)

          Code.compiler_options(ignore_module_conflict: false)
          assert encode.(module) == ["1", "1", "[1]", "[1]"]
          own = Module.concat(RustyJson.Encoder, module)
          :code.purge(own)
          :code.delete(own)
          :code.purge(own)
        end
      end

      test "#{library}: a struct that lost a field is left to the implementation", %{folder: folder} do
        module = derived(@library, :Lost, [only: [:id]], folder)
        RustyJson.encode!(struct(module, id: 1))

        for {_engine, options} <- Judge.engines(),
            do:
              assert_raise(FunctionClauseError, fn -> RustyJson.encode!([%{__struct__: module}], options) end)
      end

      test "#{library}: an invalid value has its path", %{folder: folder} do
        module = derived(@library, :Path, [only: [:id]], folder)

        for {_engine, options} <- Judge.engines() do
          RustyJson.Encoder.Plans.forget()

          for _ <- 1..2, term <- [[0, struct(module, id: [<<255>>])], [0, [struct(module, id: [<<255>>])]]] do
            assert {:error, %RustyJson.EncodeError{path: path, reason: :invalid_utf8}} =
                     RustyJson.encode(term, options)

            assert path in ["/1/id/0", "/1/0/id/0"]
          end
        end
      end
    end

    # Older OTPs print whole floats from 2^53 on, and some tiny ones, in another notation.
    if List.keymember?(@libraries, JSON, 0) and String.to_integer(System.otp_release()) >= 28 do
      test "JSON: a hand-written implementation gets texts of the same bytes" do
        strings =
          for(byte <- 0..255, do: <<byte::utf8, byte::utf8>>) ++
            for(n <- [63, 64, 65, 255, 256, 257, 5000], do: String.duplicate("é", n) <> "\"")

        floats =
          for n <- -300..307,
              digits <- [1.0, -1.2345678901234567, 9.999999999999999],
              do: digits * :math.pow(10, n)

        integers = for n <- 0..80, sign <- [1, -1], do: sign * 2 ** n

        for values <- [strings, floats, integers, [nil, true, false, :"a\u2028", ~D[2024-02-29]]] do
          structs = for value <- values, do: %Hand{value: value}
          assert Judge.encode(structs) == {:ok, JSON.encode!(structs)}

          assert Judge.encode(%{a: hd(structs), b: structs}) ==
                   {:ok, JSON.encode!(%{a: hd(structs), b: structs})}
        end

        RustyJson.Test.Gen.check(
          200,
          fn -> [%Hand{value: RustyJson.Test.Gen.term()}, %Hand{value: 1}] end,
          fn structs ->
            assert Judge.encode(structs) == {:ok, JSON.encode!(structs)}
            assert Judge.encode(hd(structs)) == {:ok, JSON.encode!(hd(structs))}
          end
        )
      end

      test "JSON: a hand-written implementation gets errors of ours" do
        for string <- [<<255>>, "a" <> <<0xE2, 0x82>>, String.duplicate("a", 300) <> <<128>>] do
          assert {:error, %RustyJson.EncodeError{reason: :invalid_utf8, path: "/1"}} =
                   Judge.encode([1, %Hand{value: string}])

          assert {:error, %RustyJson.EncodeError{reason: :invalid_utf8, path: "/0"}} =
                   Judge.encode([%Hand{value: string}])

          assert {:ok, "[\"" <> _} = Judge.encode([%Hand{value: string}], invalid_utf8: :replace)
        end
      end
    end
  end

  describe "structs with an encoder of their own at the start of a list" do
    defmodule Price do
      defstruct [:amount]
    end

    defimpl RustyJson.Encoder, for: Price do
      def encode(%{amount: amount}, options), do: RustyJson.Encode.value(amount, options)
    end

    defmodule Named do
      @derive RustyJson.Encoder
      defstruct [:name]
    end

    defp price(amount), do: %Price{amount: amount}

    test "are written like other structs" do
      for {term, text} <- [
            {[price(1)], "[1]"},
            {[price(1), price([2, price(3)])], "[1,[2,3]]"},
            {[price(1), 2, price(3), "a"], ~s([1,2,3,"a"])},
            {[price(1), %Named{name: price(2)}, price(3)], ~s([1,{"name":2},3])},
            {[price(1), ~D[2024-02-29], %{a: [price(2)]}], ~s([1,"2024-02-29",{"a":[2]}])},
            {[price([price([price(nil)])])], "[[[null]]]"},
            {price([price(1), %Price{amount: %{}}]), "[1,{}]"}
          ] do
        for options <- [[], [escape: :html_safe], [sort_keys: true], [compress: :gzip], [max_bytes: 1_000]] do
          expected = RustyJson.encode!(RustyJson.Fragment.new(text), options)
          assert Judge.encode(term, options) == {:ok, expected}
        end

        assert Judge.encode(term, pretty: true) == {:ok, RustyJson.Formatter.pretty_print(text)}
      end
    end

    test "have errors with their paths" do
      for {term, path} <- [
            {[price(1), price(<<255>>)], "/1"},
            {[price(1), price([2, <<255>>])], "/1/1"},
            {[price(1), 2, <<255>>], "/2"},
            {[price(1), 2, [price(<<255>>)]], "/2/0"},
            {[price(1), %Named{name: [<<255>>]}], "/1/name/0"},
            {%{a: [price(1), [price([price(<<255>>)])]]}, "/a/1/0/0"}
          ] do
        assert {:error, %RustyJson.EncodeError{reason: :invalid_utf8, path: ^path}} = Judge.encode(term)
      end

      for term <- [[price(1) | 2], [price(1), 3 | 2], [price(1), price(2) | price(3)]],
          do: assert({:error, %RustyJson.EncodeError{reason: :improper_list}} = Judge.encode(term))

      assert {:ok, "[1]"} = Judge.encode([price(1)], max_depth: 1)
      assert {:error, %RustyJson.EncodeError{reason: :max_depth}} = Judge.encode([price([2])], max_depth: 1)
      assert {:error, %RustyJson.EncodeError{reason: :max_depth}} = Judge.encode([[price(2)]], max_depth: 1)
    end

    test "an error deep inside takes linear time" do
      deep = Enum.reduce(1..60, price(<<255>>), fn _, inner -> price([inner]) end)
      assert {:error, %RustyJson.EncodeError{reason: :invalid_utf8}} = Judge.encode([deep])
    end
  end
end
