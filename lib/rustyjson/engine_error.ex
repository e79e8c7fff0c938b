defmodule RustyJson.EngineError do
  @moduledoc """
  No engine could be loaded, or the requested one could not.

  The message says for each engine why it is missing and what to install. Functions without a bang raise it too, because the
  document is not at fault.
  """

  defexception [:message]

  @type t :: %__MODULE__{message: String.t()}

  @impl true
  def exception(options) do
    statuses = Keyword.get_lazy(options, :statuses, &RustyJson.Engine.statuses/0)
    lines = for {name, {:error, reason}} <- statuses, do: "  * #{name}: #{reason}"
    %__MODULE__{message: head(for({name, {:ok, _}} <- statuses, do: name)) <> Enum.join(lines, "\n")}
  end

  # An engine works, but the call failed: so the other one was requested.
  defp head([]), do: "no engine of RustyJson could be loaded:\n"

  defp head([works | _]) do
    [asked] = [:native, :wasm] -- [works]

    "the #{asked} engine of RustyJson was requested but could not be loaded; engine: :#{works} works here, " <>
      "and engine: :auto selects it:\n"
  end
end
