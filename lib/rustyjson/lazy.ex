defmodule RustyJson.Lazy do
  @moduledoc """
  An array that is made while it is written: see `RustyJson.lazy/1`.
  """

  @enforce_keys [:source]
  defstruct [:source]

  @type t :: %__MODULE__{source: Enumerable.t()}

  @doc false
  # Runs a function that encodes; `:lazy` if it comes to a lazy array, of which it has read nothing.
  @spec unless_lazy((() -> result)) :: result | :lazy when result: term()
  def unless_lazy(encode) do
    Process.put(__MODULE__, :left)
    encode.()
  catch
    :throw, {__MODULE__, :left} -> :lazy
  after
    Process.delete(__MODULE__)
  end

  @doc false
  # A source may have no end: of more elements than the text may have bytes, no more are taken than exceed that limit.
  @spec elements(Enumerable.t(), max_bytes :: non_neg_integer()) :: list()
  def elements(source, most) do
    if Process.get(__MODULE__) == :left, do: throw({__MODULE__, :left})

    cond do
      is_list(source) -> source
      most == 0 -> Enum.to_list(source)
      true -> Enum.take(source, most)
    end
  end

  # `encode/2` has no use for pieces.
  defimpl RustyJson.Encoder do
    # A line of a log is no place to compute something, which may take long or have no end.
    def encode(%{source: source}, %{values: %{guard: guard}} = opts)
        when guard != nil and not is_list(source),
        do: RustyJson.Encode.string("a lazy array", opts)

    def encode(%{source: source}, %{values: %{max_bytes: most}} = opts),
      do: source |> RustyJson.Lazy.elements(most) |> RustyJson.Encode.list(opts)
  end
end
