defmodule RustyJson.EngineError do
  @moduledoc """
  No engine could be loaded, or the one that was named could not.

  The message names each engine, why it is not there and what to install. It is raised by all functions, for no document
  is at fault.
  """

  defexception [:message]

  @type t :: %__MODULE__{message: String.t()}

  @impl true
  def exception(options) do
    statuses = Keyword.get_lazy(options, :statuses, &RustyJson.Engine.statuses/0)
    lines = for {name, {:error, reason}} <- statuses, do: "  * #{name}: #{reason}"
    %__MODULE__{message: head(for({name, {:ok, _}} <- statuses, do: name)) <> Enum.join(lines, "\n")}
  end

  # What was not named is replaced by what works: with one that works, it was the other that was asked for.
  defp head([]), do: "no engine of RustyJson could be loaded:\n"

  defp head([works | _]) do
    [asked] = [:native, :wasm] -- [works]

    "the #{asked} engine of RustyJson was asked for and could not be loaded; engine: :#{works} works here, " <>
      "and engine: :auto would take it:\n"
  end
end
