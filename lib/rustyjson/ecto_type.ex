defmodule RustyJson.EctoType do
  @moduledoc """
  A type for Ecto: a JSON column that stays text until you ask for its term.

      schema "events" do
        field :payload, RustyJson.EctoType
      end

  A loaded value is a `RustyJson.Fragment` with the text of the column. Loading therefore takes no time for decoding, whatever the size. If
  you encode the value with RustyJson, as in an answer of an API, the text is inserted as it is.

      event = Repo.get!(Event, 1)
      RustyJson.EctoType.decode!(event.payload)                                  #=> %{"user" => %{"name" => "Ada"}}
      RustyJson.EctoType.decode(event.payload, as: Shop.Payload)                 #=> {:ok, %Shop.Payload{}}
      RustyJson.EctoType.decode(event.payload, engine: :wasm, timeout: 100)      # in the sandbox
      RustyJson.fetch(RustyJson.EctoType.text(event.payload), "/user/name")      #=> {:ok, "Ada"}

  You can set the field to any term that RustyJson encodes, a `RustyJson.Fragment` and `RustyJson.lazy/1` included. A string is a
  JSON string: if you have JSON text, use `RustyJson.Fragment.new/1`. Casting a changeset encodes the term, so an error is an error of the
  changeset. The text is checked when it is cast, and before it goes to the database; invalid JSON, and text that is refused because of
  `config :rustyjson, decode:` (its limits, `duplicate_keys: :error`), is not written. `nil` is `NULL`; for a JSON `null`, use
  `RustyJson.Fragment.new("null")`.

  Of `config :rustyjson, encode:`, only the engine, the limits (`max_bytes`, `max_depth`), the layout (`pretty`, `sort_keys`, `escape`),
  `maps: :strict` and `null` have an effect here and in `RustyJson.EctoType.Columns`: where another atom than `nil` is configured as null,
  `nil` in a term is the string `"nil"`, as in all texts. What a text says does not depend on the other options, such as `redact`, `omit` or
  `canonical`. If RustyJson itself is the `json_library` of a driver, all options change what the driver writes, and `compress:` makes it
  write gzip.

  Two values are equal for a changeset if their texts are equal, or the terms of the texts are, so a different order of keys or other
  white space is no change. With the package `decimal`, which Ecto brings along, numbers are compared exactly.

  ## Columns

  | option of the field | type for Ecto | column |
  |---|---|---|
  | `column: :text` (the default) | `:string` | `text` in PostgreSQL, `longtext` in MySQL, any text in SQLite |
  | `column: :json` | `:map` | `json` or `jsonb` in PostgreSQL, `json` in MySQL |

  Drivers decode a `json` or `jsonb` column before Ecto sees it. With `column: :json` the field is therefore the decoded term, and `decode/2`
  returns it. Writing still takes the text of a fragment as it is; for this, the driver's `json_library` must be RustyJson (`mix
  rustyjson.install --ecto`). There are two ways to keep such a column as text:

    * Select it as text: `select: %{payload: type(fragment("?::text", e.payload), :string)}`, and give that to `RustyJson.decode/2`.
    * If all JSON columns of a repository have this type, let its driver leave them alone, with `RustyJson.EctoType.Columns`.

  In embedded schemas the field is a part of the document, in both directions.

  Ecto finds this module at run time; it need not be there when RustyJson is compiled.
  """

  # The callbacks of Ecto.ParameterizedType, without its macro: Ecto has Jason among its optional dependencies, so if it were one of
  # this library, it would make a circle with the stand-in for Jason.

  alias RustyJson.Encode.{Excerpt, Unsupported}
  alias RustyJson.{Fragment, SandboxError}

  @typedoc "What a field has: text, `NULL`, or what was set or came decoded from the driver."
  @type value :: Fragment.t() | nil | term()

  @typep params :: %{column: :text | :json}

  @doc """
  Decodes a value with the options of `RustyJson.decode/2`. `nil`, which is `NULL`, gives `{:ok, nil}`.

      iex> value = RustyJson.Fragment.new(~s({"n": 1.50}))
      iex> RustyJson.EctoType.decode(value)
      {:ok, %{"n" => 1.5}}

      iex> value = RustyJson.Fragment.new(~s({"n": [}))
      iex> {:error, error} = RustyJson.EctoType.decode(value)
      iex> error.reason
      :expected_value

  A term that did not come as text, such as one that you set, is encoded first if there are options.

      iex> RustyJson.EctoType.decode(%{n: 1}, keys: :atoms!)
      {:ok, %{n: 1}}
  """
  @spec decode(value(), [RustyJson.decode_option()]) :: {:ok, term()} | {:error, Exception.t()}
  def decode(value, opts \\ [])
  def decode(nil, _opts), do: {:ok, nil}

  def decode(%Fragment{} = value, opts),
    do: with({:ok, text} <- unchecked(value), do: RustyJson.decode(text, opts))

  def decode(term, []), do: {:ok, term}
  def decode(term, opts), do: with({:ok, text} <- unchecked(term), do: RustyJson.decode(text, opts))

  @doc """
  Decodes a value, and raises the error of `decode/2`.

      iex> RustyJson.EctoType.decode!(RustyJson.Fragment.new("[1]"))
      [1]
  """
  @spec decode!(value(), [RustyJson.decode_option()]) :: term()
  def decode!(value, opts \\ []) do
    case decode(value, opts) do
      {:ok, term} -> term
      {:error, error} -> raise error
    end
  end

  @doc """
  The JSON text of a value, for `RustyJson.fetch/3`, `RustyJson.select/3` and the like. A term is encoded; raises if it has no JSON. `nil`
  gives `nil`.

      iex> RustyJson.EctoType.text(RustyJson.Fragment.new("[1, 2]"))
      "[1, 2]"

      iex> RustyJson.EctoType.text(%{day: ~D[2024-02-29]})
      ~s({"day":"2024-02-29"})
  """
  @spec text(value()) :: String.t() | nil
  def text(nil), do: nil

  def text(value) do
    case unchecked(value) do
      {:ok, text} -> text
      {:error, error} -> raise error
    end
  end

  defp unchecked(%Fragment{encode: text}) when is_binary(text), do: {:ok, text}
  defp unchecked(term), do: RustyJson.encode(term, stored())

  @doc false
  # The configuration of the application is for texts that it sends: they may leave out, rename or replace what is to be stored.
  @spec stored() :: [RustyJson.encode_option()]
  def stored do
    [canonical: false, compress: :none, integers: :exact, invalid_utf8: :error, key_case: nil] ++
      [lean: false, omit: [], protocol: true, redact: [], unsupported: :error]
  end

  # The whole value, whatever the configuration makes of texts that the application reads.
  @whole [keys: :strings, as: nil, raw: [], validate_strings: true]

  # The text, within the limits of the configuration. If it is not valid, decoding says why.
  defp checked(term) do
    with {:ok, text} <- unchecked(term) do
      if RustyJson.valid?(text, @whole),
        do: {:ok, text},
        else: with({:ok, _term} <- RustyJson.decode(text, @whole), do: {:ok, text})
    end
  rescue
    # `valid?/2` raises it if the engine did not look at the text.
    error in SandboxError -> {:error, error}
  end

  ## Callbacks of Ecto

  @doc false
  @spec init(keyword()) :: params()
  def init(opts) do
    case Keyword.get(opts, :column, :text) do
      column when column in [:text, :json] ->
        %{column: column}

      other ->
        Excerpt.refuse!("option :column of the field #{inspect(opts[:field])} takes :text or :json", other)
    end
  end

  @doc false
  @spec type(params()) :: :string | :map
  def type(%{column: :text}), do: :string
  def type(%{column: :json}), do: :map

  @doc false
  @spec cast(term(), params()) :: {:ok, value()} | {:error, keyword()}
  def cast(nil, _params), do: {:ok, nil}

  def cast(term, _params) do
    case checked(term) do
      {:ok, text} ->
        {:ok, %Fragment{encode: text}}

      {:error, error} ->
        {:error, message: "cannot be stored as JSON: " <> Unsupported.message(error)}
    end
  end

  @doc false
  @spec load(term(), (... -> term()), params()) :: {:ok, value()} | :error
  def load(nil, _loader, _params), do: {:ok, nil}
  def load(%Fragment{} = text, _loader, _params), do: {:ok, text}
  def load(text, _loader, %{column: :text}) when is_binary(text), do: {:ok, %Fragment{encode: text}}
  def load(_other, _loader, %{column: :text}), do: :error
  def load(decoded, _loader, %{column: :json}), do: {:ok, decoded}

  @doc false
  @spec dump(term(), (... -> term()), params()) :: {:ok, String.t() | Fragment.t() | nil} | :error
  def dump(nil, _dumper, _params), do: {:ok, nil}

  def dump(term, _dumper, %{column: column}) do
    case checked(term) do
      {:ok, text} when column == :text -> {:ok, text}
      {:ok, text} -> {:ok, %Fragment{encode: text}}
      {:error, _error} -> :error
    end
  end

  @doc false
  @spec equal?(term(), term(), params()) :: boolean()
  def equal?(same, same, _params), do: true
  def equal?(left, right, _params) when is_nil(left) or is_nil(right), do: false

  def equal?(left, right, _params) do
    with {:ok, left} <- unchecked(left),
         {:ok, right} <- unchecked(right),
         do: left == right or same?(exact(left), exact(right)),
         else: (_error -> false)
  end

  defp same?({:ok, left}, {:ok, right}), do: left === right
  defp same?(_left, _right), do: false

  # What is lost in decoding would be a change that is not written.
  # Nothing computes with these decimals, so they may have any length and exponent.
  @exact [
    objects: :maps,
    duplicate_keys: :error,
    max_decimal_digits: :infinity,
    max_decimal_exponent: :infinity
  ]

  defp exact(text) do
    floats = if Code.ensure_loaded?(Decimal), do: :decimals, else: :native
    RustyJson.decode(text, [floats: floats] ++ @exact ++ @whole)
  end

  @doc false
  @spec embed_as(atom(), params()) :: :self
  def embed_as(_format, _params), do: :self

  @doc false
  @spec format(params()) :: String.t()
  def format(%{column: column}), do: "#RustyJson.EctoType<column: #{inspect(column)}>"
end
