defmodule RustyJson.Test.InFiles do
  @moduledoc "Compiles modules into files, because only code in files can be read."

  @doc "A folder of the code path, which is removed after the tests of a module. For `setup_all`."
  @spec folder() :: Path.t()
  def folder do
    folder = Path.join(System.tmp_dir!(), "rustyjson_#{System.pid()}_#{System.unique_integer([:positive])}")
    File.mkdir_p!(folder)
    Code.prepend_path(folder)

    ExUnit.Callbacks.on_exit(fn ->
      Code.delete_path(folder)
      File.rm_rf!(folder)
    end)

    folder
  end

  @doc "Compiles this source into a file of the folder, and loads its modules."
  @spec compile(String.t(), Path.t()) :: [module()]
  def compile(source, folder) do
    Code.compiler_options(ignore_module_conflict: true)
    file = Path.join(folder, "source.ex")
    File.write!(file, source)
    {:ok, modules, _} = Kernel.ParallelCompiler.compile_to_path([file], folder, return_diagnostics: true)

    # New Elixirs load a compiled module when it is called.
    for module <- modules do
      :code.purge(module)
      {:module, _} = :code.load_file(module)
    end

    modules
  after
    Code.compiler_options(ignore_module_conflict: false)
  end
end
