defmodule RustyJson.Install.Printed do
  @moduledoc false
  # The steps as text: what goes where, line by line.

  alias RustyJson.Install

  @doc "The text of the steps that were asked for; without `asked`, of all steps of the project."
  @spec text(Install.project(), [atom()]) :: String.t()
  def text(project, asked) do
    steps = Install.steps(project, asked)

    [
      head(steps, asked),
      configuration(steps, project),
      numbered(steps),
      none(Install.without_step(steps, asked)),
      tail(project, asked)
    ]
    |> List.flatten()
    |> Enum.join("\n\n")
  end

  @doc "One step, without a number."
  @spec step(Install.step()) :: String.t()
  def step(step) do
    Enum.join(
      [step.title, "   in #{step.place}" | Enum.map(step.lines, &indented/1)] ++ followed(step.after),
      "\n"
    )
  end

  defp head([], []),
    do:
      "Nothing to do: the packages of this project use RustyJson, or have no setting that this task knows. No file was changed."

  # What follows names the options.
  defp head([], _asked), do: []
  defp head(_steps, _asked), do: "Steps for the packages of this project. No file was changed."

  defp numbered(steps) do
    for {step, number} <- Enum.with_index(steps, 1), do: "#{number}. #{step(step)}"
  end

  # A file of configuration starts with a line that says so.
  defp configuration(steps, %{config?: false}) do
    if Enum.any?(steps, &String.starts_with?(&1.place, Install.config())),
      do: [
        "This project has no #{Install.config()}. Create it, with this as its first line:\n       import Config"
      ],
      else: []
  end

  defp configuration(_steps, _project), do: []

  defp followed([]), do: []
  defp followed(commands), do: ["   then run" | Enum.map(commands, &indented/1)]

  defp indented(""), do: ""
  defp indented(line), do: "       " <> line

  defp none([]), do: []
  defp none(options), do: absent(options)

  @doc "The sentence about options without a step."
  @spec absent([atom()]) :: String.t()
  def absent(options) do
    "Nothing to do for #{Enum.map_join(options, ", ", &switch/1)}: the package is not among the dependencies, or it uses RustyJson."
  end

  defp switch(option), do: "--" <> String.replace(to_string(option), "_", "-")

  defp tail(%{packages: packages}, []) do
    sandbox = "--sandbox adds a policy that decodes bodies of requests in the sandbox."
    if :plug in packages, do: [sandbox], else: []
  end

  defp tail(_project, _asked), do: []
end
