defmodule Mix.Tasks.Rustyjson.Install do
  @shortdoc "Installs libraries that were built elsewhere"

  @moduledoc """
  Installs the native libraries and the WebAssembly module from an archive of a release, for machines without Rust.

      mix rustyjson.install rustyjson-v0.4.0-x86_64-linux-gnu.tar.gz

  `script/package` makes archives with their checksums, and releases have them attached. Put `FILE.sha256` beside the archive, or
  pass the checksum with `--sha256 HEX`. An archive whose name ends in another kind of machine is refused. The files go to
  RustyJson's `priv/`. If they were built from the same sources for the same kind of machine, compiling RustyJson builds nothing.

  The exit code is 0 if the archive was installed, otherwise 1, with a message that says why.
  """

  use Mix.Task

  @requirements ["loadpaths"]

  # The only files that an archive may contain.
  @wanted ~r/\A(\.\/)?priv\/(native\/librustyjson_(nif|wasm_host)\.(so|dll)|wasm\/rustyjson\.wasm)(\.digest)?\z/

  # rustyjson-vVERSION-MACHINE.tar.gz, as script/package names it.
  @named ~r/\Arustyjson-v\d+\.\d+\.\d+(?:-(?:dev|alpha|beta|rc)[\w.]*)?-(\w+-[\w-]+)\.tar\.gz\z/

  @impl true
  def run(argv) do
    case OptionParser.parse(argv, strict: [sha256: :string]) do
      {options, [archive], []} -> install(archive, options[:sha256])
      _ -> Mix.raise("mix rustyjson.install FILE.tar.gz [--sha256 HEX]")
    end
  end

  defp install(archive, given) do
    check_machine(archive)
    bytes = read(archive)
    wanted = given || checksum(archive <> ".sha256")
    got = sha256(bytes)
    if got != String.downcase(wanted), do: Mix.raise("#{archive} has the checksum #{got}, not #{wanted}")

    files = unpack(archive, bytes)
    root = root()
    for {name, content} <- files, do: place(Path.join(root, name), content)

    Mix.shell().info(
      "installed in #{Path.relative_to_cwd(root)}: #{Enum.map_join(files, ", ", &elem(&1, 0))}"
    )

    Mix.shell().info(
      "mix deps.compile rustyjson --force adds them to the build; mix rustyjson.doctor shows what works"
    )
  end

  # A library for another system would replace one that works.
  defp check_machine(archive) do
    here = RustyJson.Build.machine()

    case Regex.run(@named, Path.basename(archive), capture: :all_but_first) do
      [machine] when machine != here ->
        Mix.raise("#{archive} is for #{machine}, but this machine is #{here}; nothing was installed")

      _ ->
        :ok
    end
  end

  defp read(file) do
    case File.read(file) do
      {:ok, bytes} -> bytes
      {:error, reason} -> Mix.raise("#{file}: #{:file.format_error(reason)}")
    end
  end

  # Called through apply, because :crypto is not a dependency of RustyJson: only this task uses it.
  defp sha256(bytes) do
    {:ok, _} = Application.ensure_all_started(:crypto)
    :crypto |> apply(:hash, [:sha256, bytes]) |> Base.encode16(case: :lower)
  end

  # As sha256sum writes it: the checksum first.
  defp checksum(file) do
    with {:ok, text} <- File.read(file),
         [checksum | _] <- String.split(text) do
      checksum
    else
      {:error, :enoent} ->
        Mix.raise("#{file} does not exist: it, or --sha256 HEX, must give the checksum of the archive")

      {:error, reason} ->
        Mix.raise("#{file}: #{:file.format_error(reason)}")

      [] ->
        Mix.raise("#{file} is empty")
    end
  end

  defp unpack(archive, bytes) do
    with {:ok, entries} <- :erl_tar.extract({:binary, bytes}, [:memory, :compressed]),
         files =
           for(
             {name, content} <- entries,
             name = to_string(name),
             do: {String.trim_leading(name, "./"), content}
           ),
         [] <- for({name, _} <- files, not (name =~ @wanted), do: name) do
      files
    else
      {:error, reason} -> Mix.raise("#{archive} cannot be unpacked: #{:erl_tar.format_error(reason)}")
      [name | _] -> Mix.raise("#{archive} contains an unexpected file: #{name}")
    end
  end

  # A running VM may have mapped the old library, so a new file replaces it instead of writing over it.
  defp place(path, content) do
    File.mkdir_p!(Path.dirname(path))
    File.write!(path <> ".new", content)
    File.chmod!(path <> ".new", 0o755)
    File.rename!(path <> ".new", path)
  end

  defp root do
    if Mix.Project.config()[:app] == :rustyjson,
      do: File.cwd!(),
      else: Map.fetch!(Mix.Project.deps_paths(), :rustyjson)
  end
end
