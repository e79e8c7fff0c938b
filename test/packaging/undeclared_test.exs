# Since Elixir 1.19 the compiler does not warn about these, and the option is deprecated.
if Version.match?(System.version(), "< 1.19.0-0") do
  defmodule RustyJson.UndeclaredTest do
    @moduledoc """
    Packages that the library calls if they are there, and does not declare. The compiler of an application that has such a package warns
    about each module that mix.exs does not name.
    """
    use ExUnit.Case, async: true

    @moduletag :once

    @newer [Duration, JSON, JSON.Encoder, :records]

    test "mix.exs names each module of another package" do
      called = "lib" |> modules() |> Enum.flat_map(&imports/1) |> Enum.uniq()
      assert RustyJson.Encoder in called

      known = Mix.Project.config()[:xref][:exclude] ++ @newer ++ :erlang.pre_loaded() ++ with_elixir()
      assert (called -- known) |> Enum.reject(&own?/1) == []
    end

    # Without those for tests.
    defp modules(folder) do
      for module <- Application.spec(:rustyjson, :modules),
          String.starts_with?("#{module.module_info(:compile)[:source]}", Path.expand(folder)),
          do: module
    end

    defp imports(module) do
      {:ok, {_module, [imports: imports]}} = :beam_lib.chunks(:code.which(module), [:imports])
      for {module, _function, _arity} <- imports, do: module
    end

    # Also an implementation of a protocol that does not exist.
    defp own?(module), do: module == :rustyjson or "#{module}" =~ ~r/^Elixir\.RustyJson(\.|$)/

    defp with_elixir do
      elixir = :elixir |> :code.which() |> Path.join("../../..") |> Path.expand()

      for root <- [:code.lib_dir(), elixir],
          beam <- Path.wildcard("#{root}/*/ebin/*.beam"),
          do: beam |> Path.basename(".beam") |> String.to_atom()
    end
  end
end
