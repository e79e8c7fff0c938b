defmodule RustyJson.CLI.Stats do
  @moduledoc false
  # The line that `--stats` prints for one input.

  alias RustyJson.CLI.Progress

  defstruct documents: 0, refused: 0, read: 0, written: 0, values: 0, keys: 0, depth: 0, decode: 0, lay_out: 0

  @type t :: %__MODULE__{}

  @spec new() :: t()
  def new, do: %__MODULE__{}

  @doc "Runs the function and adds its time, in microseconds."
  @spec time(t(), :decode | :lay_out, (... -> result)) :: {result, t()} when result: term()
  def time(stats, name, fun) do
    {time, result} = :timer.tc(fun)
    {result, Map.update!(stats, name, &(&1 + time))}
  end

  @doc "Adds one document."
  @spec count(t(), binary(), nil | iodata(), term()) :: t()
  def count(stats, text, output, term) do
    {values, keys, depth} = walk(term, 0, {0, 0, 0})

    %{
      stats
      | documents: stats.documents + 1,
        read: stats.read + byte_size(text),
        written: stats.written + IO.iodata_length(output || ""),
        values: stats.values + values,
        keys: stats.keys + keys,
        depth: max(stats.depth, depth)
    }
  end

  defp walk(list, depth, {values, keys, deepest}) when is_list(list) do
    Enum.reduce(list, {values + 1, keys, max(deepest, depth + 1)}, &walk(&1, depth + 1, &2))
  end

  defp walk(map, depth, {values, keys, deepest}) when is_map(map) do
    start = {values + 1, keys + map_size(map), max(deepest, depth + 1)}
    Enum.reduce(map, start, fn {_key, value}, counts -> walk(value, depth + 1, counts) end)
  end

  defp walk(_value, _depth, {values, keys, deepest}), do: {values + 1, keys, deepest}

  @doc "Adds an invalid document, or one that exceeded a limit."
  @spec refuse(t(), binary()) :: t()
  def refuse(stats, text), do: %{stats | refused: stats.refused + 1, read: stats.read + byte_size(text)}

  @doc "All numbers in one line."
  @spec line(t(), :native | :wasm | :none) :: String.t()
  def line(stats, engine) do
    sizes = [documents(stats), "#{Progress.size(stats.read)} in", written(stats), terms(stats)]

    "#{join(sizes)}; #{engine} engine: #{join([decoded(stats), laid_out(stats)])}"
  end

  defp join(parts), do: parts |> Enum.reject(&is_nil/1) |> Enum.join(", ")

  defp documents(%{documents: 1, refused: 0}), do: nil
  defp documents(%{documents: 0, refused: 1}), do: "rejected"
  defp documents(%{documents: count, refused: 0}), do: "#{count} documents"
  defp documents(stats), do: "#{stats.documents + stats.refused} documents, #{stats.refused} of them rejected"

  defp written(%{written: 0}), do: nil
  defp written(stats), do: "#{Progress.size(stats.written)} out"

  defp terms(%{documents: 0}), do: nil
  defp terms(stats), do: "#{stats.values} values, #{stats.keys} keys, depth #{stats.depth}"

  defp decoded(%{documents: 0} = stats), do: "stopped after #{ms(stats.decode)}"
  defp decoded(stats), do: "decoded in #{ms(stats.decode)}#{rate(stats)}"

  defp laid_out(%{written: 0}), do: nil
  defp laid_out(stats), do: "formatted in #{ms(stats.lay_out)}"

  defp ms(microseconds), do: "#{Float.round(microseconds / 1000, 2)} ms"

  # Meaningless for a small input, and wrong for a rejected one, which was not read to its end.
  defp rate(%{refused: 0, read: bytes, decode: time}) when bytes >= 10_000 and time >= 100,
    do: " (#{round(bytes / time)} MB/s)"

  defp rate(_stats), do: ""
end
