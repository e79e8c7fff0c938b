defmodule RustyJson.Migrate.Templates do
  @moduledoc false
  # Text in which code stands: templates, and doctests in documentation. Its code is not parsed here, so its lines are listed.

  @doc "A note for each line that calls a function of Jason. `first` is the number of the first line."
  @spec notes(String.t(), pos_integer(), String.t()) :: [{pos_integer(), String.t()}]
  def notes(text, first, where) do
    for {line, number} <- text |> String.split("\n") |> Enum.with_index(first), line =~ ~r/\bJason\.[\w{]/ do
      {number, "#{where} names Jason; replace it by hand: #{String.trim(line)}"}
    end
  end
end
