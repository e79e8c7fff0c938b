defmodule Jason.Encode do
  @moduledoc """
  Encodes parts of a document, for implementations of `Jason.Encoder` and function fragments.

  The options of the call apply to the parts too.
  """

  alias Jason.OrderedObject
  alias RustyJson.Standin

  @typedoc "The options of the call. Pass them on; their content is private."
  @opaque opts :: RustyJson.Encode.opts()

  # Undocumented in Jason too, but packages call it.
  @doc false
  @spec encode(term(), map()) :: {:ok, iodata()} | {:error, Exception.t()}
  def encode(value, opts), do: Jason.encode(value, Map.delete(opts, :pretty))

  @doc "Encodes any term."
  @spec value(term(), opts()) :: iodata()
  def value(value, opts), do: Standin.part(value, options(opts))

  @doc "Encodes an atom: a string, or `null`, `true`, `false`."
  @spec atom(atom(), opts()) :: iodata()
  def atom(atom, opts) when is_atom(atom), do: value(atom, opts)

  @doc "Encodes an integer."
  @spec integer(integer()) :: iodata()
  def integer(integer) when is_integer(integer), do: Integer.to_string(integer)

  @doc "Encodes a float, in its shortest form."
  @spec float(float()) :: iodata()
  def float(float) when is_float(float), do: value(float, nil)

  @doc "Encodes a list as an array."
  @spec list(list(), opts()) :: iodata()
  def list(list, opts) when is_list(list), do: value(list, opts)

  @doc "Encodes a list of pairs as an object, in the order of the list."
  @spec keyword([{String.Chars.t(), term()}], opts()) :: iodata()
  def keyword(list, opts) when is_list(list), do: RustyJson.Encode.keyword(list, options(opts))

  @doc "Encodes a map as an object. A struct is treated as a plain map."
  @spec map(map(), opts()) :: iodata()
  def map(map, opts) when is_map(map), do: RustyJson.Encode.map(map, options(opts))

  @doc "Encodes a struct: a built-in one by RustyJson, any other through the protocol."
  @spec struct(struct(), opts()) :: iodata()
  def struct(%OrderedObject{values: values}, opts), do: keyword(values, opts)
  def struct(%_{} = struct, opts), do: value(struct, opts)

  @doc "Encodes a string."
  @spec string(String.t(), opts()) :: iodata()
  def string(string, opts) when is_binary(string), do: RustyJson.Encode.string(string, options(opts))

  @doc false
  # Calls of the protocol outside of an encoding have no such options. Then they are those of a call without any.
  @spec options(term()) :: RustyJson.Encode.opts()
  def options(%RustyJson.Options{} = opts), do: opts
  def options(_other), do: Standin.encode_options(%{escape: :json, maps: :naive, pretty: false})
end
