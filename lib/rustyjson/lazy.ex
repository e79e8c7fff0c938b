defmodule RustyJson.Lazy do
  @moduledoc """
  An array that is made while it is written: see `RustyJson.lazy/1`.
  """

  @enforce_keys [:source]
  defstruct [:source]

  @type t :: %__MODULE__{source: Enumerable.t()}

  @doc false
  # How many sources this process has read that may give their elements only once.
  @spec read() :: non_neg_integer()
  def read, do: Process.get(__MODULE__, 0)

  @doc false
  # A source may have no end: of more elements than the text may have bytes, no more are taken than exceed that limit.
  @spec elements(Enumerable.t(), max_bytes :: non_neg_integer()) :: list()
  def elements(source, _most) when is_list(source), do: source

  def elements(source, most) do
    Process.put(__MODULE__, read() + 1)
    if most == 0, do: Enum.to_list(source), else: Enum.take(source, most)
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
