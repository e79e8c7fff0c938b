defmodule RustyJson.Encode.Unsupported do
  @moduledoc false
  # The option `:unsupported`: what to write for a term without a JSON form.

  alias RustyJson.DecodeError.Snippet
  alias RustyJson.Encode.Excerpt
  alias RustyJson.{EncodeError, Options, SandboxError}

  # Errors that `:unsupported` does not replace: limits of the call, and data that another option handles.
  @others [:invalid_utf8, :duplicate_key, :max_depth, :max_bytes, :out_of_memory]

  @doc "Whether the call sets the option `:unsupported`."
  defguard is_described(options)
           when :erlang.map_get(:unsupported, :erlang.map_get(:values, options)) != :error

  @doc "Whether the call is one of the stand-in for Jason, which encodes fewer types."
  defguard is_of_standin(options)
           when :erlang.map_get(:extras, :erlang.map_get(:values, options)) == :left

  @doc "Options of a call whose errors can be told from those of calls that an encoder makes by itself."
  @spec mark(Options.t()) :: Options.t()
  def mark(options) when is_described(options), do: %{options | call: make_ref()}
  def mark(options), do: options

  @doc "Whether a failure of an encoder is about its term, so that `:unsupported` applies."
  @spec concerns?(:error | :exit | :throw, term(), Options.t()) :: boolean()
  def concerns?(:error, %EncodeError{reason: reason, call: call}, %{call: call}), do: reason not in @others
  def concerns?(:error, %SandboxError{call: call}, %{call: call}), do: false
  def concerns?(:throw, {RustyJson.Lazy, :left}, _options), do: false
  def concerns?(_kind, _reason, _options), do: true

  @doc "The replacement to encode, and the options for it. These have `unsupported: :error`, so a replacement is not replaced again."
  @spec instead(term(), Options.t()) :: {term(), Options.t()}
  def instead(term, %{values: %{fallback: fallback}} = options) do
    plain = Options.change(options, :encode, %{unsupported: :error, fallback: nil})
    {if(fallback == :inspect, do: describe(term, options), else: fallback.(term)), plain}
  end

  @doc """
  The message of an error of encoding. `Protocol.UndefinedError` would show all of its term, which has no end where a part stands in others
  many times.

      iex> {:error, error} = RustyJson.encode(<<1::1>>)
      iex> RustyJson.Encode.Unsupported.message(error)
      "protocol RustyJson.Encoder not implemented for <<1::size(1)>>, cannot encode a bitstring to JSON"
  """
  @spec message(Exception.t()) :: String.t()
  def message(%Protocol.UndefinedError{protocol: protocol, value: value, description: description}) do
    why = if description in [nil, ""], do: "", else: ", #{description}"
    "protocol #{inspect(protocol)} not implemented for #{describe(value)}#{why}"
  end

  def message(error), do: Exception.message(error)

  @doc """
  A shortened `inspect/2` of a term, in valid UTF-8.

      iex> RustyJson.Encode.Unsupported.describe([1 | 2])
      "[1 | 2]"
  """
  @spec describe(term()) :: String.t()
  def describe(term), do: term |> inspected() |> Snippet.valid()

  @doc "The same for a call with these options: with `:redact`, `inspect/2` would show what is redacted."
  @spec describe(term(), Options.t()) :: String.t()
  def describe(term, %{values: %{redact: []}}), do: describe(term)
  def describe(%module{}, _options), do: inspect(module)
  def describe(list, _options) when is_list(list), do: "improper list"
  def describe(tuple, _options) when is_tuple(tuple), do: "tuple"
  def describe(map, _options) when is_map(map), do: "map"
  def describe(term, _options), do: describe(term)

  defp inspected(term) do
    Excerpt.inspect(term)
  catch
    # An implementation of Inspect may raise or throw. Where it raises, Elixir would show all fields and a stack trace.
    _kind, _reason -> if is_struct(term), do: inspect(term.__struct__), else: "#term"
  end
end
