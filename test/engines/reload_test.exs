defmodule RustyJson.ReloadTest do
  @moduledoc "After the module of the native library is reloaded, the engines still work."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Engine.Native
  alias RustyJson.Test.{Judge, OtherVM}

  @doors [
    native: {Native.Nif, [engine: :native]},
    built_in: {Native.Nif, [engine: :wasm, host: :built_in]}
  ]

  for {engine, {module, options}} <- @doors,
      engine in Keyword.keys(Judge.engines()),
      {name, code} <- [
        load: ":code.load_file(module)",
        purge_and_load: ":code.purge(module); :code.load_file(module)",
        twice: "for _ <- 1..2, do: (:code.purge(module); :code.load_file(module))",
        delete_purge_and_load:
          ":code.delete(module); :code.purge(module); {:module, _} = :code.load_file(module)"
      ] do
    test "#{engine}: #{name}" do
      code = """
      {:ok, _} = Application.ensure_all_started(:rustyjson)
      {module, options} = #{inspect({unquote(module), unquote(options)})}
      works = fn ->
        {:ok, [1]} = RustyJson.decode("[1]", options)
        {:ok, "[1]"} = RustyJson.encode([1], options)
        nil = module.failure()
      end
      works.()
      Logger.configure(level: :none)
      #{unquote(code)}
      works.()
      :code.purge(module)
      works.()
      Enum.each(Process.list(), &:erlang.garbage_collect/1)
      works.()
      IO.puts("as before")
      """

      {text, status} = OtherVM.run(code, [])
      assert status == 0 and text =~ "as before", text
    end
  end

  if match?({:unix, :linux}, :os.type()) and :native in Keyword.keys(Judge.engines()) do
    @tag :tmp_dir
    test "a library that was built again is the one that is loaded", %{tmp_dir: dir} do
      copy = Path.join(dir, "rustyjson")
      # In a build, priv/ is a link.
      for part <- ["ebin", "priv/native"] do
        to = Path.join(copy, part)
        File.mkdir_p!(to)

        for file <- Path.wildcard(Application.app_dir(:rustyjson, part <> "/*")),
            do: File.cp!(file, Path.join(to, Path.basename(file)))
      end

      code = """
      true = :code.replace_path(:rustyjson, '#{copy}/ebin')
      module = #{inspect(Native.Nif)}
      {:module, _} = Code.ensure_loaded(module)
      file = module.path() <> ".so"
      "#{copy}" <> _ = file
      inode = fn -> File.stat!(file).inode end
      first = inode.()
      # As the build does.
      File.cp!(file, file <> ".new")
      File.rename!(file <> ".new", file)
      second = inode.()
      for step <- [:purge, :delete, :purge], do: apply(:code, step, [module])
      {:module, _} = Code.ensure_loaded(module)
      nil = module.failure()
      mapped = for line <- String.split(File.read!("/proc/self/maps"), "\\n"), line =~ file, do: line |> String.split() |> Enum.at(4)
      IO.inspect({first != second, Integer.to_string(second) in mapped})
      """

      {text, status} = OtherVM.run(code, [])
      assert status == 0 and text =~ "{true, true}", text
    end
  end
end
