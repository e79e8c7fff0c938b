defmodule RustyJson.Standin.Stale do
  @moduledoc false
  # Modules that were compiled with the real Jason in an application that has the stand-in now: Mix compiles a package again only where it
  # comes from a path. Their derived encoders take Jason's private options and call its private functions. Callers know that `Jason` is
  # the stand-in.

  @doc "The error of a call. One of a clause in such a module says what to do instead."
  @spec explained(Exception.t()) :: Exception.t()
  def explained(%FunctionClauseError{module: module} = error) do
    if stale?(module),
      do: ArgumentError.exception("#{inspect(module)} was compiled with another :jason. #{advice()}"),
      else: error
  end

  def explained(error), do: error

  @doc "What to do about them."
  @spec advice() :: String.t()
  def advice,
    do:
      "Run `mix deps.compile --force` and `mix compile --force`, because derived encoders contain code of the package that they were compiled with."

  @doc "Such modules in the applications that depend on `:jason`."
  @spec modules() :: [module()]
  def modules do
    for {app, _, _} <- Application.loaded_applications(),
        uses?(app),
        module <- modules(app),
        stale?(module),
        do: module
  end

  defp uses?(app), do: :jason in (Application.spec(app, :applications) || [])
  defp modules(app), do: Application.spec(app, :modules) || []

  # The stand-in has the documented functions alone.
  defp stale?(module) do
    with {_module, beam, _file} <- :code.get_object_code(module),
         {:ok, {_module, [imports: imports]}} <- :beam_lib.chunks(beam, [:imports]) do
      Enum.any?(imports, fn {called, name, arity} -> jason?(called) and not exported?(called, name, arity) end)
    else
      _no_code -> false
    end
  end

  defp jason?(module), do: module |> Atom.to_string() |> String.starts_with?("Elixir.Jason.")

  defp exported?(module, name, arity),
    do: not Code.ensure_loaded?(module) or function_exported?(module, name, arity)
end
