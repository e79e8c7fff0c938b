defmodule RustyJson.Lazy do
  @moduledoc """
  An array that is made while it is written: see `RustyJson.lazy/1`.
  """

  alias RustyJson.Encode.Measure
  alias RustyJson.Engine.Wasm
  alias RustyJson.{Long, Options}

  @enforce_keys [:source]
  defstruct [:source]

  @type t :: %__MODULE__{source: Enumerable.t()}

  @doc false
  # Runs a function that encodes; `:lazy` if it comes to a lazy array, of which it has read nothing. An encoder of the application may catch
  # what is thrown, and write something else, which does not count. Inside it may be another call of this kind.
  @spec unless_lazy((() -> result)) :: result | :lazy when result: term()
  def unless_lazy(encode) do
    before = Process.put(__MODULE__, :left)

    try do
      result = encode.()
      if Process.get(__MODULE__) == :met, do: :lazy, else: result
    catch
      :throw, {__MODULE__, :left} ->
        :lazy

      kind, reason ->
        if Process.get(__MODULE__) == :met, do: :lazy, else: :erlang.raise(kind, reason, __STACKTRACE__)
    after
      if before, do: Process.put(__MODULE__, before), else: Process.delete(__MODULE__)
    end
  end

  @doc false
  # A source may have no end: no more elements are taken than exceed `max_bytes` or, in the sandbox, `max_memory`, and none after its deadline.
  @spec elements(Enumerable.t(), RustyJson.Options.t()) :: list()
  def elements(source, options) do
    if Process.get(__MODULE__) in [:left, :met] do
      Process.put(__MODULE__, :met)
      throw({__MODULE__, :left})
    end

    if is_list(source), do: source, else: taken(source, Options.due(options))
  end

  defp taken(source, %{values: %{max_bytes: most} = values} = options) do
    case Measure.room(most, options) do
      :infinity -> Enum.to_list(source)
      # What is redacted, left out or replaced takes less room than it has.
      limit -> up_to(source, limit, whole?(values), options)
    end
  end

  defp whole?(values), do: values.omit == [] and values.redact == [] and values.unsupported == :error

  defp up_to(source, limit, whole, %{values: %{max_bytes: most}} = options) do
    source
    |> Enum.reduce_while({[], 0}, fn element, {elements, bytes} ->
      Wasm.check_time!(options)
      # With the comma.
      bytes = bytes + 1 + if(whole, do: Measure.least_text(element, limit - bytes), else: 1)

      cond do
        bytes <= limit -> {:cont, {[element | elements], bytes}}
        limit != most -> raise(Wasm.too_large(options))
        true -> {:halt, {[element | elements], bytes}}
      end
    end)
    |> elem(0)
    |> Long.in_order([])
  end

  # `encode/2` has no use for pieces.
  defimpl RustyJson.Encoder do
    # A line of a log is no place to compute something, which may take long or have no end.
    def encode(%{source: source}, %{values: %{guard: guard}} = opts)
        when guard != nil and not is_list(source),
        do: RustyJson.Encode.string("a lazy array", opts)

    def encode(%{source: source}, opts),
      do: source |> RustyJson.Lazy.elements(opts) |> RustyJson.Encode.list(opts)
  end
end
