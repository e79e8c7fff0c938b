defmodule RustyJson.Test.Commands do
  @moduledoc "What tests of commands need: a folder of files, the settings of the application as they were, and what a command prints."

  import ExUnit.Callbacks, only: [on_exit: 1]
  import ExUnit.CaptureIO, only: [capture_io: 2]

  @doc "A new folder, which is removed after the test, and a function that writes a file in it and returns its path."
  @spec folder(String.t()) :: {Path.t(), (String.t(), iodata() -> Path.t())}
  def folder(name) do
    dir = Path.join(System.tmp_dir!(), "rustyjson-#{name}-#{System.unique_integer([:positive])}")
    File.mkdir_p!(dir)
    on_exit(fn -> File.rm_rf!(dir) end)

    write = fn file, text ->
      path = Path.join(dir, file)
      File.write!(path, text)
      path
    end

    {dir, write}
  end

  @doc "Runs a Mix task, whose standard output takes bytes or, as `:unicode`, characters. Returns its exit code, standard output and standard error."
  @spec run(module(), [String.t()], :latin1 | :unicode) :: {non_neg_integer(), binary(), String.t()}
  def run(task, argv, encoding \\ :latin1) do
    parent = self()

    errors =
      capture_io(:stderr, fn ->
        output = capture_io([encoding: encoding], fn -> send(parent, {:code, code(task, argv)}) end)
        send(parent, {:output, output})
      end)

    receive do: ({:code, code} -> receive do: ({:output, output} -> {code, output, errors}))
  end

  defp code(task, argv) do
    task.run(argv)
    0
  catch
    :exit, {:shutdown, code} -> code
  end

  @doc "Puts these settings back after the test."
  @spec keep([atom()]) :: :ok
  def keep(settings) do
    kept = for key <- settings, do: {key, Application.fetch_env(:rustyjson, key)}

    on_exit(fn ->
      Enum.each(kept, &put_back/1)
      RustyJson.Config.reload()
    end)
  end

  defp put_back({key, {:ok, value}}), do: Application.put_env(:rustyjson, key, value)
  defp put_back({key, :error}), do: Application.delete_env(:rustyjson, key)
end
