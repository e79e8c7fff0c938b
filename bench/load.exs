# Makes the modules of bench/lib available if `mix run` compiled RustyJson itself. Compiles them into a folder that other VMs read
# too, except the structs: the project's protocols are already consolidated.
files =
  Path.wildcard(Path.join(__DIR__, "{lib,support}/**/*.ex"))
  |> List.delete(Path.join(__DIR__, "lib/structs.ex"))

# The code server must not take this name for a version of RustyJson.
dir = Path.join(System.tmp_dir!(), "bench-of-rustyjson-#{System.pid()}")
File.mkdir_p!(dir)
Code.prepend_path(dir)
{:ok, _, _} = Kernel.ParallelCompiler.compile_to_path(files, dir)
System.at_exit(fn _ -> File.rm_rf!(dir) end)
