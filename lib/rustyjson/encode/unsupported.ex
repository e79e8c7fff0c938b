defmodule RustyJson.Encode.Unsupported do
  @moduledoc false
  # What is written for a term without a JSON form where the option `:unsupported` says so.

  alias RustyJson.{EncodeError, Options, SandboxError}

  # Errors that do not concern the term: a limit of the call, or data that another option is for.
  @others [:invalid_utf8, :duplicate_key, :max_depth, :max_bytes, :out_of_memory]

  # A term that shares its parts is exponential when it is written out, in the number of elements that are shown.
  @shown [limit: 16, printable_limit: 1024]

  @doc "Whether the call has something to write for such terms."
  defguard is_described(options)
           when :erlang.map_get(:unsupported, :erlang.map_get(:values, options)) != :error

  @doc "Whether what an encoder raised, threw or exited with concerns its own term."
  @spec concerns?(:error | :exit | :throw, term()) :: boolean()
  def concerns?(:error, %EncodeError{reason: reason}), do: reason not in @others
  def concerns?(:error, %SandboxError{}), do: false
  def concerns?(_kind, _reason), do: true

  @doc "What to encode instead, and the options for it: what a function returns gets no second chance."
  @spec instead(term(), Options.t()) :: {term(), Options.t()}
  def instead(term, %{values: %{fallback: fallback}} = options) do
    plain = Options.change(options, :encode, %{unsupported: :error, fallback: nil})
    {if(fallback == :inspect, do: describe(term), else: fallback.(term)), plain}
  end

  @doc """
  A term in a few words, as `inspect/2` has it, and in UTF-8.

      iex> RustyJson.Encode.Unsupported.describe([1 | 2])
      "[1 | 2]"
  """
  @spec describe(term()) :: String.t()
  def describe(term), do: term |> inspected() |> valid()

  defp inspected(term) do
    inspect(term, @shown)
  catch
    # An implementation of Inspect may throw, too.
    _kind, _reason -> if is_struct(term), do: inspect(term.__struct__), else: "#term"
  end

  defp valid(text) do
    if String.valid?(text),
      do: text,
      else: for(chunk <- String.chunk(text, :valid), into: "", do: replaced(chunk))
  end

  defp replaced(chunk), do: if(String.valid?(chunk), do: chunk, else: "\uFFFD")
end
