defmodule RustyJson.Encode do
  @moduledoc """
  Encodes parts of a document, for implementations of `RustyJson.Encoder` and function fragments.

  The options of the call apply to the parts too: escape mode, strict maps, sorted keys and limits. With `pretty:`, the text of a part gets
  its layout together with the text around it. All functions raise `RustyJson.EncodeError` for terms that have no JSON form.
  """

  require RustyJson.Encoder.Names

  alias RustyJson.{Config, Options, OrderedObject}
  alias RustyJson.Encode.{Inside, Keys, Part}
  alias RustyJson.Encoder.Names

  @typedoc "The options of the call. Pass them on; their content is private."
  @opaque opts :: Options.t()

  @doc """
  Returns options for calls of these functions outside an encoder: the configured options, with this escape mode.

      iex> RustyJson.Encode.string("é", RustyJson.Encode.opts(:unicode_safe))
      ~S("\\u00E9")
  """
  @spec opts(RustyJson.escape()) :: opts()
  # Parts of a canonical document are not canonical by themselves, so that they take an escape mode.
  def opts(escape \\ :json), do: Options.encode(canonical: false, escape: escape)

  @doc """
  Encodes any term.

      iex> fragment = RustyJson.Fragment.new(&RustyJson.Encode.value(%{a: [1.5, nil]}, &1))
      iex> RustyJson.encode!(fragment)
      ~s({"a":[1.5,null]})
  """
  @spec value(term(), opts()) :: iodata()
  def value(value, opts), do: Part.encode!(value, opts)

  # Undocumented in Jason too, but applications call it.
  @doc false
  @spec encode(term(), [RustyJson.encode_option()] | map()) :: {:ok, iodata()} | {:error, Exception.t()}
  def encode(value, opts \\ []), do: RustyJson.encode(value, opts)

  @doc """
  Encodes an atom: a string, or `null`, `true`, `false`.

      iex> RustyJson.encode!(RustyJson.Fragment.new(&RustyJson.Encode.atom(:ok, &1)))
      ~s("ok")
  """
  @spec atom(atom(), opts()) :: iodata()
  def atom(nil, %{values: %{null: null}}) when null != nil, do: ~s("nil")
  def atom(null, %{values: %{null: null}}), do: "null"
  def atom(nil, _opts), do: "null"
  def atom(true, _opts), do: "true"
  def atom(false, _opts), do: "false"
  def atom(atom, opts) when is_atom(atom), do: string(Atom.to_string(atom), opts)

  @doc """
  Encodes an integer.

      iex> RustyJson.Encode.integer(42)
      "42"
  """
  @spec integer(integer()) :: iodata()
  def integer(integer) when is_integer(integer), do: Integer.to_string(integer)

  @doc """
  Encodes a float, in its shortest form.

      iex> RustyJson.Encode.float(0.1)
      "0.1"
  """
  @spec float(float()) :: iodata()
  def float(float) when is_float(float), do: value(float, Config.encode())

  @doc """
  Encodes a list as an array.

      iex> RustyJson.encode!(RustyJson.Fragment.new(&RustyJson.Encode.list([1, "a"], &1)))
      ~s([1,"a"])
  """
  @spec list(list(), opts()) :: iodata()
  def list(list, opts) when is_list(list), do: value(list, opts)

  @doc """
  Encodes a list of pairs as an object, in the order of the list.

      iex> RustyJson.encode!(RustyJson.Fragment.new(&RustyJson.Encode.keyword([b: 1, a: 2], &1)))
      ~s({"b":1,"a":2})
  """
  @spec keyword([{String.Chars.t(), term()}], opts()) :: iodata()
  def keyword(list, opts) when is_list(list), do: value(OrderedObject.new(list), opts)

  @doc """
  Encodes a map as an object. A struct is treated as a plain map, with the key `__struct__`.

      iex> RustyJson.encode!(RustyJson.Fragment.new(&RustyJson.Encode.map(%{a: 1}, &1)))
      ~s({"a":1})
  """
  @spec map(map(), opts()) :: iodata()
  def map(map, opts) when is_map_key(map, :__struct__), do: keyword(Map.to_list(map), opts)
  def map(map, opts) when is_map(map), do: Part.encode!(map, opts)

  @doc """
  Encodes a struct: a built-in one by RustyJson, any other through the protocol.

      iex> RustyJson.encode!(RustyJson.Fragment.new(&RustyJson.Encode.struct(~D[2024-02-29], &1)))
      ~s("2024-02-29")
  """
  @spec struct(struct(), opts()) :: iodata()
  def struct(%_{} = struct, opts), do: value(struct, opts)

  @doc """
  Encodes a string.

      iex> RustyJson.encode!(RustyJson.Fragment.new(&RustyJson.Encode.string("é", &1)), escape: :unicode_safe)
      ~S("\\u00E9")
  """
  @spec string(String.t(), opts()) :: iodata()
  def string(string, opts) when is_binary(string) do
    if short?(string), do: [?", string, ?"], else: value(string, opts)
  end

  @doc """
  Encodes an object key, without the quotes around it.

      iex> RustyJson.encode!(RustyJson.Fragment.new(&[?", RustyJson.Encode.key(:a, &1), ?"]))
      ~s("a")
  """
  @spec key(String.Chars.t(), opts()) :: iodata()
  def key(key, opts) do
    text =
      if is_atom(key) and key != nil,
        do: Names.name(key, opts.values.key_case),
        else: with(name when is_atom(name) <- Keys.string_key(key, opts), do: Atom.to_string(name))

    if short?(text), do: text, else: Inside.between!(value(text, opts), ~s("), ~s("), opts)
  end

  # No escape mode changes anything in such a string. Checking a few bytes is faster than calling an engine: a list of 1,000 structs
  # that each write a string takes 0.30 ms this way, and 0.60 ms with a call per string.
  @longest 64

  defp short?(string), do: byte_size(string) <= @longest and plain?(string)

  # As `Names.plain?/1`, which is another module and takes longer to call.
  defp plain?(<<byte, rest::binary>>) when Names.is_plain(byte), do: plain?(rest)
  defp plain?(rest), do: rest == ""
end
