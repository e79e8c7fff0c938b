defmodule RustyJson.Install.Edits do
  @moduledoc false
  # Carries the steps out with Igniter, which shows the changes before it writes them. This library does not depend on Igniter:
  # Igniter depends on Jason, which would make a circle with the stand-in for Jason. It is looked for when the task runs.

  alias RustyJson.Install
  alias RustyJson.Install.{Parsers, Printed, Surroundings}

  @compile {:no_warn_undefined,
            [Igniter, Igniter.Code.Common, Igniter.Project.Config, Igniter.Project.Deps, Sourceror]}

  @doc "The project, with the calls in the files as Igniter sees them."
  @spec project(struct()) :: Install.project()
  def project(igniter) do
    sources = Igniter.include_all_elixir_files(igniter).rewrite.sources

    calls =
      for {path, source} <- Enum.sort(sources),
          String.ends_with?(path, ".ex"),
          call <- Parsers.calls(source.content),
          do: {path, call}

    %{Surroundings.project() | parsers: calls}
  end

  @doc "Only shows the steps."
  @spec show(igniter, [Install.step()]) :: igniter when igniter: struct()
  def show(igniter, steps),
    do: Enum.reduce(steps, igniter, &Igniter.add_notice(&2, Printed.step(&1)))

  @doc "Applies the steps; those that it cannot make become notices."
  @spec apply_steps(igniter, [Install.step()]) :: igniter when igniter: struct()
  def apply_steps(igniter, steps) do
    steps
    |> changes()
    |> Enum.reduce(igniter, fn step, igniter -> igniter |> change(step) |> follow(step) end)
  end

  @doc "The steps that change something, and those that are only shown. Each call in a file is a step, and one change does them all."
  @spec changes([Install.step()]) :: [Install.step()]
  def changes(steps), do: Enum.uniq_by(steps, &if(&1.change == :by_hand, do: &1, else: &1.change))

  defp change(igniter, %{change: {:config, app, path, value}}) do
    Igniter.Project.Config.configure(
      igniter,
      "config.exs",
      app,
      path,
      {:code, Sourceror.parse_string!(value)}
    )
  end

  defp change(igniter, %{change: {:dependency, dependency}}) do
    igniter
    |> Igniter.Project.Deps.add_dep({:jason, dependency}, yes?: true)
    |> override()
  end

  defp change(igniter, %{change: {:parsers, mode, file}}),
    do: Igniter.update_elixir_file(igniter, file, &parsers(&1, mode))

  defp change(igniter, %{change: :by_hand} = step), do: Igniter.add_notice(igniter, Printed.step(step))

  defp follow(igniter, %{after: []}), do: igniter

  defp follow(igniter, step),
    do: Igniter.add_notice(igniter, "#{step.title}. Afterwards run #{Enum.join(step.after, " && ")}")

  defp override(igniter) do
    with {:ok, text} when is_binary(text) <- Igniter.Project.Deps.get_dep(igniter, :rustyjson),
         {:ok, line} <- Code.string_to_quoted(text),
         true <- line |> written() |> Surroundings.override?() do
      Igniter.Project.Deps.set_dep_option(igniter, :rustyjson, :override, true)
    else
      _hex -> igniter
    end
  end

  # A tuple of three elements is written as a call.
  defp written({:{}, _meta, elements}), do: Surroundings.library([List.to_tuple(elements)])
  defp written(line), do: Surroundings.library([line])

  defp parsers(zipper, mode) do
    file = Sourceror.to_string(zipper.node)

    Igniter.Code.Common.update_all_matches(zipper, &call?(&1.node), fn found ->
      with [call] <- found.node |> Sourceror.to_string() |> Parsers.calls(file),
           {:ok, text} <- Parsers.rewritten(call, mode) do
        {:code, Sourceror.parse_string!(text)}
      else
        _same -> {:ok, found}
      end
    end)
  end

  defp call?({:plug, _, [{:__aliases__, _, [:Plug, :Parsers]} | _]}), do: true
  defp call?(_node), do: false
end
