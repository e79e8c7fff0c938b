defmodule RustyJson.EngineError do
  @moduledoc """
  No engine could be loaded, or the one that was named could not.

  The message names each engine, why it is not there and what to install. It is raised by all functions, for no document
  is at fault.
  """

  defexception [:message]

  @type t :: %__MODULE__{message: String.t()}

  @impl true
  def exception(_options) do
    lines = for {name, {:error, reason}} <- RustyJson.Engine.statuses(), do: "  * #{name}: #{reason}"
    %__MODULE__{message: "no engine of RustyJson could be loaded:\n" <> Enum.join(lines, "\n")}
  end
end
