defmodule RustyJson.Decode.Input do
  @moduledoc false
  # The part of decoding that Elixir does: iodata, its length, key functions, and errors.

  require RustyJson.Engine.Codes

  alias RustyJson.Decode.Atoms
  alias RustyJson.Encode.{Excerpt, Measure}
  alias RustyJson.Engine.Codes
  alias RustyJson.Engine.Native.Nif
  alias RustyJson.{DecodeError, Engine, Long, Options, OrderedObject, SandboxError}

  @spec decode(iodata(), Options.t()) :: {:ok, term()} | {:error, Exception.t()}
  def decode(input, %{as: as} = options) when as != nil, do: RustyJson.Schema.Decode.decode(input, options)

  def decode(input, options) do
    options = if is_binary(input), do: options, else: Options.due(options)
    with {:ok, json} <- flatten(input, options), do: run(json, options)
  end

  @doc "The same with options that come from the caller or the configuration as they stand."
  @spec given(iodata(), Options.t()) :: {:ok, term()} | {:error, Exception.t()}
  def given(input, %{straight: limits} = options) when limits != nil and is_binary(input) do
    case Engine.Wasm.straight(input, options) do
      {:ok, _term} = done -> done
      {:error, failure} -> {:error, error(failure, input, options)}
    end
  end

  def given(input, options), do: decode(input, options)

  @doc "Turns what the built-in host answered at once into a result."
  @spec sandboxed(Nif.ran() | :later, binary(), Options.t()) :: {:ok, term()} | {:error, Exception.t()}
  def sandboxed(answer, input, options) do
    with {:error, failure} <- Engine.Wasm.ended(answer, input, options),
         do: {:error, error(failure, input, options)}
  end

  @doc "The text as one binary, if it is not too long."
  @spec flatten(iodata(), Options.t()) :: {:ok, binary()} | {:error, Exception.t()}
  # Looked at before a long list becomes a longer binary.
  def flatten(input, options) do
    case Measure.excess(input, options.max_bytes, options) do
      nil -> {:ok, flat(input)}
      :max_bytes -> too_long(input, options)
      error -> {:error, error}
    end
  end

  defp run(json, options) do
    with {:error, failure} <- term(json, options), do: {:error, error(failure, json, options)}
  end

  @doc "The term of a text, or what an engine reports."
  @spec term(binary(), Options.t()) ::
          {:ok, term()} | {:error, Engine.decode_failure() | Engine.decode_failures() | SandboxError.t()}
  def term(json, %{keys: :atoms} = options) do
    with {:error, :atom_limit} <- Atoms.decode(json, options),
         do: {:error, {Codes.decode(:atom_limit), 0, 1, 1, ""}}
  end

  def term(json, %{engine: engine, keys: keys} = options) when is_tuple(keys) do
    options = Options.due(options)
    with {:ok, term} <- engine.decode(json, options), do: named(term, options)
  end

  def term(json, %{engine: engine} = options), do: engine.decode(json, options)

  @doc "Turns the native library's answer into a result."
  @spec ended({:ok, term()} | {:error, RustyJson.Engine.decode_failure()} | :dirty, binary(), Options.t()) ::
          {:ok, term()} | {:error, Exception.t()}
  def ended({:ok, _term} = done, _json, _options), do: done
  # Some atoms may be missing.
  def ended(_other, json, %{keys: :atoms} = options), do: decode(json, options)
  def ended({:error, failure}, json, options), do: {:error, error(failure, json, options)}

  # The text was more work than its length suggested.
  def ended(:dirty, json, options), do: json |> Nif.decode_dirty(options.bytes) |> ended(json, options)

  @doc "The exception for what an engine reports."
  @spec error(RustyJson.Engine.decode_failure() | SandboxError.t(), binary(), Options.t()) :: Exception.t()
  def error(%SandboxError{} = error, _json, _options), do: error
  def error(failure, json, options), do: DecodeError.new(failure, json, options)

  defp too_long(input, options) do
    data = if is_binary(input), do: input, else: ""
    {:error, DecodeError.new({Codes.decode(:max_bytes), 0, 1, 1, ""}, data, options)}
  end

  @doc "The bytes of a piece of text, by default all. Other terms than iodata are an ArgumentError that names what was given."
  @spec piece!(iodata(), (iodata() -> result)) :: result when result: var
  def piece!(input, read \\ &flat/1) do
    read.(input)
  rescue
    ArgumentError -> Excerpt.refuse!("a piece of text must be iodata", input)
  end

  defp flat(input) when is_binary(input), do: input
  defp flat(input), do: IO.iodata_to_binary(input)

  ## keys: fun/1

  @doc "The term of a call with `keys:` a function, whose time counts, too."
  @spec named(term(), Options.t()) :: {:ok, term()} | {:error, SandboxError.t()}
  def named(term, %{keys: {fun, kind}} = options) do
    if Engine.Wasm.late?(options),
      do: {:error, Engine.Wasm.late(options)},
      else: {:ok, keys(term, {in_time(fun, options), kind})}
  catch
    :throw, {__MODULE__, error} -> {:error, error}
  end

  defp in_time(fun, %{sandbox: %{deadline: _}} = options) do
    fn key ->
      name = fun.(key)
      if Engine.Wasm.late?(options), do: throw({__MODULE__, Engine.Wasm.late(options)}), else: name
    end
  end

  defp in_time(fun, _options), do: fun

  @doc "Calls `keys:`, when that is a function, for each key in the order of the text."
  @spec keys(term(), nil | tuple()) :: term()
  # Other kinds of keys are made by the core.
  def keys(term, nil), do: term
  def keys(list, keys) when is_list(list), do: Long.map(list, &keys(&1, keys))

  def keys(%OrderedObject{values: values}, {fun, kind} = keys),
    do: object(Long.map(values, fn {key, value} -> {fun.(key), keys(value, keys)} end), kind)

  def keys(other, _keys), do: other

  defp object(members, :ordered), do: OrderedObject.new(members)
  defp object(members, :last), do: :maps.from_list(members)
  defp object(members, :first), do: members |> :lists.reverse() |> :maps.from_list()
end
