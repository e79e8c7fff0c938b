defmodule RustyJson.CLI.Stats do
  @moduledoc false
  # What `--stats` prints of one input.

  alias RustyJson.CLI.Progress

  defstruct documents: 0, read: 0, written: 0, values: 0, keys: 0, depth: 0, decode: 0, lay_out: 0

  @type t :: %__MODULE__{}

  @spec new() :: t()
  def new, do: %__MODULE__{}

  @doc "Runs the function and adds its time, in microseconds."
  @spec time(t(), :decode | :lay_out, (() -> result)) :: {result, t()} when result: term()
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

  @doc "All of it in one line."
  @spec line(t()) :: String.t()
  def line(stats) do
    documents = if stats.documents == 1, do: "", else: "#{stats.documents} documents, "

    "#{documents}#{Progress.size(stats.read)} in, #{Progress.size(stats.written)} out, #{stats.values} values, " <>
      "#{stats.keys} keys, depth #{stats.depth}; #{RustyJson.engine()} engine: decoded in #{ms(stats.decode)}" <>
      "#{rate(stats.read, stats.decode)}, laid out in #{ms(stats.lay_out)}"
  end

  defp ms(microseconds), do: "#{Float.round(microseconds / 1000, 2)} ms"

  defp rate(_bytes, time) when time < 100, do: ""
  defp rate(bytes, time), do: " (#{round(bytes / time)} MB/s)"
end
