defmodule RustyJson.ForeignPlansTest do
  @moduledoc "Structs that derive the protocol of another library: the core writes what their implementations would."
  use ExUnit.Case, async: false

  @moduletag :once

  # Without such a library there are no tests.
  import RustyJson.Test.InFiles, only: [compile: 2], warn: false

  alias RustyJson.Encoder.Compiled, warn: false
  alias RustyJson.Test.Judge, warn: false

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
    %{folder: RustyJson.Test.InFiles.folder()}
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

      test "#{library}: a struct in another one that was compiled again leaves no outdated plan", %{
        folder: folder
      } do
        outer = derived(@library, :Outer, [only: [:name]], folder)

        for {_engine, options} <- Judge.engines(), field <- [:id, :name] do
          inner = derived(@library, :Inner, [only: [field]], folder)
          struct = struct(outer, name: struct(inner, [{field, 2}]))
          text = ~s({"name":{"#{field}":2}})

          for {term, text} <- [{struct, text}, {%{a: struct}, ~s({"a":#{text}})}, {[struct], "[#{text}]"}],
              _ <- 1..2,
              do: assert(RustyJson.encode!(term, options) == text)
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
end
