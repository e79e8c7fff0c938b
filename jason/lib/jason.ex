unless Code.ensure_loaded?(RustyJson.Standin) do
  raise "the stand-in for Jason needs RustyJson 0.4 or newer: update :rustyjson, or take both packages from the same place"
end

defmodule Jason do
  @moduledoc """
  The functions of Jason 1.4, on RustyJson.

  Packages that call Jason by name run on RustyJson's engines with this package in place of Jason. Terms and bytes are those of
  Jason, and so are the messages of errors. The settings of `:rustyjson` choose the engine and the limits; its options for how a
  text is read or written apply to `RustyJson` only.

      config :rustyjson, engine: :wasm, wasm: [timeout: 1_000]

  Two settings belong to this package:

    * `config :jason, policy: name` - a policy of `RustyJson.Config`, of which the engine and the limits apply
    * `config :jason, decoding_integer_digit_limit: n` - as in Jason, but read at run time

  If you change one of them at run time, call `RustyJson.Config.reload/0`.

  Unknown options are ignored, as in Jason.

  A document that exceeds a limit, and a call that the sandbox ends, give a `Jason.DecodeError` whose field `message` says so.
  """

  alias Jason.{Decimals, DecodeError, EncodeError, Formatter, OrderedObject, Place}
  alias RustyJson.Standin

  @decode %{keys: :strings, strings: :reference, floats: :native, objects: :maps}
  @encode %{escape: :json, maps: :naive, pretty: false}

  @type escape :: :json | :unicode_safe | :html_safe | :javascript_safe
  @type maps :: :naive | :strict
  @type encode_opt :: {:escape, escape()} | {:maps, maps()} | {:pretty, boolean() | Formatter.opts()}

  @type keys :: :atoms | :atoms! | :strings | :copy | (String.t() -> term())
  @type strings :: :reference | :copy
  @type floats :: :native | :decimals
  @type objects :: :maps | :ordered_objects
  @type decode_opt :: {:keys, keys()} | {:strings, strings()} | {:floats, floats()} | {:objects, objects()}

  # Tells RustyJson that this is the stand-in.
  @doc false
  @spec __rustyjson__() :: true
  def __rustyjson__, do: true

  @doc """
  Decodes a document.

      iex> Jason.decode(~s({"a": [1, 2.5, null]}))
      {:ok, %{"a" => [1, 2.5, nil]}}

      iex> {:error, error} = Jason.decode("[1,]")
      iex> {error.position, Exception.message(error)}
      {3, ~S|unexpected byte at position 3: 0x5D ("]")|}

  ## Options

    * `:keys` - `:strings` (default); `:atoms`, which creates atoms and must not be used for untrusted input; `:atoms!`, which
      raises ArgumentError for an atom that does not exist; or a function, which is called with each key
    * `:strings` - `:reference` (default) refers to the input where possible; `:copy` always copies
    * `:floats` - `:native` (default), or `:decimals` for `Decimal` structs
    * `:objects` - `:maps` (default), or `:ordered_objects` for `Jason.OrderedObject` structs

  If a key repeats, the first member wins.
  """
  @spec decode(iodata(), [decode_opt()] | map()) :: {:ok, term()} | {:error, DecodeError.t()}
  def decode(input, opts \\ [])
  def decode(input, []), do: run(binary(input), @decode)
  def decode(input, opts), do: run(binary(input), given(opts, @decode))

  @doc """
  Decodes a document, or raises `Jason.DecodeError`. Takes the options of `decode/2`.

      iex> Jason.decode!("[1]")
      [1]
  """
  @spec decode!(iodata(), [decode_opt()] | map()) :: term()
  def decode!(input, opts \\ []), do: input |> decode(opts) |> bang()

  defp binary(input) when is_binary(input), do: input
  defp binary(input), do: IO.iodata_to_binary(input)

  # Jason has no such option, but names it in its type.
  defp run(input, %{keys: :copy} = given), do: run(input, %{given | keys: :strings, strings: :copy})

  defp run(input, given) do
    case engine(input, given) do
      {:ok, term} -> {:ok, if(given.objects == :maps, do: term, else: OrderedObject.own(term))}
      {:error, error} -> {:error, Place.error(error, input, given)}
    end
  end

  defp engine(input, %{floats: :decimals} = given), do: Decimals.decode(input, given)
  defp engine(input, given), do: Standin.decode(input, given)

  @doc """
  Encodes a term.

      iex> Jason.encode(%{a: [1, 2.5, nil]})
      {:ok, ~s({"a":[1,2.5,null]})}

      iex> Jason.encode("\\xFF")
      {:error, %Jason.EncodeError{message: "invalid byte 0xFF in <<255>>"}}

  A struct needs an implementation of `Jason.Encoder` or `RustyJson.Encoder`. Without one the error is a `Protocol.UndefinedError`.

  ## Options

    * `:escape` - `:json` (default), `:html_safe`, `:javascript_safe` or `:unicode_safe`
    * `:maps` - `:naive` (default), or `:strict`, which refuses two keys that become the same string
    * `:pretty` - `true`, or the options of `Jason.Formatter.pretty_print/2`
  """
  @spec encode(term(), [encode_opt()] | map()) ::
          {:ok, String.t()} | {:error, EncodeError.t() | Exception.t()}
  def encode(term, opts \\ [])
  def encode(term, []), do: write(term, @encode)
  def encode(term, opts), do: write(term, given(opts, @encode))

  @doc """
  Encodes a term, or raises. Takes the options of `encode/2`.

      iex> Jason.encode!([true])
      "[true]"
  """
  @spec encode!(term(), [encode_opt()] | map()) :: String.t()
  def encode!(term, opts \\ []), do: term |> encode(opts) |> bang()

  @doc """
  The same as `encode/2`. Returns one binary, which is iodata too.

      iex> Jason.encode_to_iodata([1])
      {:ok, "[1]"}
  """
  @spec encode_to_iodata(term(), [encode_opt()] | map()) ::
          {:ok, iodata()} | {:error, EncodeError.t() | Exception.t()}
  def encode_to_iodata(term, opts \\ []), do: encode(term, opts)

  @doc """
  The same as `encode!/2`.

      iex> Jason.encode_to_iodata!([1])
      "[1]"
  """
  @spec encode_to_iodata!(term(), [encode_opt()] | map()) :: iodata()
  def encode_to_iodata!(term, opts \\ []), do: encode!(term, opts)

  defp write(term, given) do
    with {:error, error} <- Standin.encode(term, given, &Formatter.layout/1),
         do: {:error, EncodeError.from(error)}
  end

  # The last of several wins, and others than these are ignored.
  defp given(opts, defaults), do: Enum.reduce(opts, defaults, &put/2)

  defp put({name, value}, given) when is_map_key(given, name), do: %{given | name => value}
  defp put({_name, _value}, given), do: given

  defp bang({:ok, result}), do: result
  defp bang({:error, error}), do: raise(error)
end
