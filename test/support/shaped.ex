defmodule RustyJson.Test.Shaped do
  @moduledoc "Structs for tests of `key_case:`, `omit:` and `redact:`, and the text of a term in every engine."

  import ExUnit.Assertions

  alias RustyJson.Encode
  alias RustyJson.Test.Judge

  defmodule Plain do
    @derive RustyJson.Encoder
    defstruct [:first_name, :last_name]
  end

  defmodule Twin do
    @derive {RustyJson.Encoder, only: [:last_name]}
    defstruct [:first_name, :last_name]
  end

  defmodule Camel do
    @derive {RustyJson.Encoder, only: [:_private, :a__b, :first_name], key_case: :camel}
    defstruct [:first_name, :last_name, :_private, :a__b]
  end

  defmodule Named do
    @derive {RustyJson.Encoder, only: [:first_name, :age], key_case: [first_name: "given/\"name"]}
    defstruct [:first_name, :last_name, :age]
  end

  defmodule Sparse do
    @derive {RustyJson.Encoder,
             only: [:first_name, :born_on, :pass_word], omit: [nil, Date], key_case: :camel}
    defstruct [:first_name, :born_on, :pass_word]
  end

  defmodule Full do
    @derive {RustyJson.Encoder, omit: []}
    defstruct [:first_name]
  end

  defmodule Same do
    @derive {RustyJson.Encoder, only: [:a, :b], key_case: [a: "x", b: "x"]}
    defstruct a: 1, b: 2
  end

  defmodule Own do
    defstruct [:pass_word]

    defimpl RustyJson.Encoder do
      def encode(%{pass_word: value}, opts),
        do: Encode.map(%{pass_word: value, at: %{pass_word: value}}, opts)
    end
  end

  defmodule NoEncoder do
    defstruct [:pass_word]
  end

  @doc "Options that have the same members written in other ways."
  def modes, do: [[], [sort_keys: true], [pretty: true], [maps: :strict], [escape: :html_safe]]

  @doc "The text in every engine, twice: the first time a struct's plan is not known yet."
  def json(term, options) do
    texts = for {_, engine} <- Judge.engines(), _ <- 1..2, do: RustyJson.encode!(term, options ++ engine)

    assert [text] = Enum.uniq(texts)
    text
  end

  @doc "The text's term."
  def decoded(term, options), do: term |> json(options) |> RustyJson.decode!()

  @doc "The error in each engine."
  def errors(term, options) do
    for {_, engine} <- Judge.engines() do
      {:error, error} = RustyJson.encode(term, options ++ engine)
      error
    end
  end
end
