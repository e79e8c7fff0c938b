defmodule RustyJson.CLI.Switches do
  @moduledoc false
  # What a command line says about an option that it does not take.

  alias RustyJson.Options.Unknown

  @doc "The message for the first option that `OptionParser` refused."
  @spec wrong({String.t(), nil | String.t()}, keyword()) :: String.t()
  def wrong({name, value}, switches) do
    known = for {switch, _type} <- switches, do: "--" <> String.replace("#{switch}", "_", "-")

    cond do
      name not in known -> "unknown option #{name}" <> meant(Unknown.near(name, known))
      value == nil -> "option #{name} needs a value"
      true -> "option #{name} does not take #{value}"
    end
  end

  defp meant(nil), do: ""
  defp meant(name), do: ", did you mean #{name}?"
end
