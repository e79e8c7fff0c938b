defmodule RustyJson.ForeignTextsTest do
  @moduledoc "Texts of another library's encoders: their numbers keep their digits, and nothing in them is shown that is redacted; and errors."

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.Test.Judge

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
  @jason ~S"""
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

  """

  @improper ~S"""
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

  @later ~S"""
  defmodule Later do
    defstruct [:id]
  end

  defimpl JSON.Encoder, for: Later do
    def encode(_later, _encoder), do: "1"
  end

  texts = fn ->
    later = struct(Later, id: 1)
    for engine <- ENGINES, term <- [later, [later], %{a: later}], _ <- 1..2, do: RustyJson.encode!(term, engine)
  end

  ["1", "1", "[1]", "[1]", ~S({"a":1}), ~S({"a":1}) | _] = texts.()
  """

  # Jason's protocol comes before that of Elixir.
  @implemented_later ~S"""
  defimpl Jason.Encoder, for: Later do
    def encode(_later, _opts), do: "2"
  end

  ["2", "2", "[2]", "[2]", ~S({"a":2}), ~S({"a":2}) | _] = texts.()
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

  @upgraded ~S"""
  defmodule Spoken do
    defstruct [:text]

    defimpl Jason.Encoder do
      def encode(spoken, {say, _maps}), do: say.(spoken.text)
    end
  end

  Code.compiler_options(ignore_module_conflict: true)

  load = fn code ->
    Code.compile_string(code)
    :code.purge(Jason.Encode)
    :loaded
  end

  # Jason's options are functions of the code that is loaded.
  load.("defmodule Jason do def encode(%{encode: fun}, _options), do: fun.(Jason.Encode.options()) end")

  for version <- 1..3,
      _ = load.("defmodule Jason.Encode do
                   def options, do: {&say/1, nil}
                   defp say(text), do: [Integer.to_string(#{version}), text]
                 end"),
      engine <- ENGINES,
      options <- [[], [escape: :html_safe], [redact: ["a"]]],
      _ <- 1..2 do
    expected = "#{version}5"
    ^expected = RustyJson.encode!(struct(Spoken, text: "5"), options ++ engine)
    expected = "[#{expected}]"
    ^expected = RustyJson.encode!([struct(Spoken, text: "5")], options ++ engine)
  end

  # Instead of Jason, the package that runs on this library.
  false = RustyJson.Encoder.Interop.standin?()
  load.("defmodule Jason do def __rustyjson__, do: true end")
  true = RustyJson.Encoder.Interop.standin?()
  """

  test "an upgrade of Jason in a running VM counts at once" do
    run("{:ok, _} = Application.ensure_all_started(:rustyjson)\n" <> @jason <> @upgraded)
  end

  @callbacks ~S"""
  # As `@derive JSON.Encoder` writes it.
  defmodule User do
    defstruct [:id, :password]

    defimpl JSON.Encoder do
      def encode(user, encoder),
        do: [~S({"id":), encoder.(user.id, encoder), ~S(,"password":), encoder.(user.password, encoder), "}"]
    end
  end

  defmodule Account do
    defstruct [:id, :password]

    defimpl JSON.Encoder do
      def encode(account, encoder),
        do: [~S({"id":), encoder.(account.id, encoder), ~S(,"password":), encoder.(account.password, encoder), "}"]
    end

    defimpl Jason.Encoder do
      def encode(account, _opts), do: [~S({"id":), Integer.to_string(account.id), "}"]
    end
  end

  defmodule Custom do
    defstruct [:password]

    defimpl RustyJson.Encoder do
      def encode(custom, opts), do: RustyJson.Encode.map(%{password: custom.password}, opts)
    end
  end

  configure = fn options ->
    Application.put_env(:rustyjson, :encode, options)
    RustyJson.Config.reload()
  end

  encoder = fn
    4, _encoder -> "four"
    other, encoder -> RustyJson.protocol_encode(other, encoder)
  end

  user = struct(User, id: 4, password: "s")
  account = struct(Account, id: 4, password: "s")
  custom = struct(Custom, password: "s")

  for engine <- ENGINES do
    # Jason's protocol comes before Elixir's, as in encode!/1.
    configure.(engine)
    ~S([{"id":four,"password":"s"},{"id":4}]) = RustyJson.encode!([user, account], encoder)

    for redact <- [[:password], [contains: ["pass"]]], term <- [user, [user], account, custom, %{a: user}] do
      configure.([redact: redact] ++ engine)
      text = RustyJson.encode!(term, encoder)
      ^text = RustyJson.encode!(term)
      false = text =~ ~S("s")
    end

    # A pointer starts at the whole term, which no part knows.
    configure.([redact: ["/password"]] ++ engine)

    for term <- [user, [user], account, custom] do
      %ArgumentError{message: "the configured :redact has JSON Pointers" <> _} =
        try do
          RustyJson.encode!(term, encoder)
        rescue
          error -> error
        end
    end

    ~S(["2024-02-29","http://x"]) = RustyJson.encode!([~D[2024-02-29], URI.parse("http://x")], encoder)
  end
  """

  test "an encoder function shows nothing that the configuration redacts" do
    run(@protocol <> @jason <> @callbacks)
  end

  @enumerable ~S"""
  defmodule Pairs do
    defstruct [:list]
  end

  defimpl Enumerable, for: Pairs do
    def reduce(%{list: list}, acc, fun), do: Enumerable.reduce(list, acc, fun)
    def count(_pairs), do: {:error, __MODULE__}
    def member?(_pairs, _element), do: {:error, __MODULE__}
    def slice(_pairs), do: {:error, __MODULE__}
  end

  "[1,2]" = struct(Pairs, list: [1, 2]) |> RustyJson.encode_stream() |> Enum.join()

  defimpl JSON.Encoder, for: Pairs do
    def encode(_pairs, _encoder), do: "{}"
  end

  for engine <- ENGINES do
    "{}" = struct(Pairs, list: [1, 2]) |> RustyJson.encode_stream(engine) |> Enum.join()
    "[{}]" = [struct(Pairs, list: [1, 2])] |> RustyJson.encode_stream(engine) |> Enum.join()
  end
  """

  test "a stream writes a struct with another library's encoder as one document, though it is enumerable" do
    run(@protocol <> @enumerable)
  end

  test "numbers of an implementation's text keep their digits, whatever else is asked for, and nothing in it is shown that is redacted" do
    run(@protocol <> @numbers <> @secrets)
  end

  test "an improper list in a struct that only Jason encodes is the error of one anywhere else" do
    run("{:ok, _} = Application.ensure_all_started(:rustyjson)\n" <> @jason <> @improper)
  end

  test "a protocol that is loaded later counts for structs that were encoded before" do
    run(@protocol <> @later <> @jason <> @implemented_later)
  end

  defp run(script) do
    engines = inspect(for {_name, options} <- Judge.engines(), do: options)
    script = String.replace(script, "ENGINES", engines)

    paths = Path.wildcard(Path.join(Mix.Project.build_path(), "lib/*/ebin"))
    arguments = Enum.flat_map(paths, &["-pa", &1]) ++ ["-e", script]
    {output, status} = System.cmd("elixir", arguments, stderr_to_stdout: true)
    assert status == 0, output
  end
end
