# Makes the modules of bench/lib available where RustyJson itself is what `mix run` compiled: they are compiled into a
# folder that other VMs read too. Not the structs: the project's protocols are consolidated by now.
files =
  Path.wildcard(Path.join(__DIR__, "{lib,support}/**/*.ex"))
  |> List.delete(Path.join(__DIR__, "lib/structs.ex"))

# Not a name that the code server could take for a version of RustyJson.
dir = Path.join(System.tmp_dir!(), "bench-of-rustyjson-#{System.pid()}")
File.mkdir_p!(dir)
Code.prepend_path(dir)
{:ok, _, _} = Kernel.ParallelCompiler.compile_to_path(files, dir)
System.at_exit(fn _ -> File.rm_rf!(dir) end)
