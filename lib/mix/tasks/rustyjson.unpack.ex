defmodule Mix.Tasks.Rustyjson.Unpack do
  @shortdoc "Installs libraries that were built elsewhere"

  @moduledoc """
  Installs the native libraries and the WebAssembly module from an archive of a release, for machines without Rust.

      mix rustyjson.unpack rustyjson-v0.4.0-x86_64-linux-gnu.tar.gz

  `script/package` makes archives with their checksums, and releases have them attached. Put `FILE.sha256` beside the archive, or
  pass the checksum with `--sha256 HEX`. An archive whose name ends in another kind of machine is refused. The files go to
  RustyJson's `priv/`. If they were built from the same sources for the same kind of machine, compiling RustyJson builds nothing.

  The exit code is 0 if the archive was installed, otherwise 1, with a message that says why.
  """

  use Mix.Task

  @requirements ["loadpaths"]

  alias RustyJson.Build.{Archive, Precompiled}
  alias RustyJson.CLI.Output

  @impl true
  def run(argv) do
    case OptionParser.parse(argv, strict: [sha256: :string]) do
      {options, [archive], []} -> Output.of_task(fn -> install(archive, options[:sha256]) end)
      _ -> Mix.raise("mix rustyjson.unpack FILE.tar.gz [--sha256 HEX]")
    end
  end

  defp install(archive, given) do
    check_machine(archive)
    bytes = read(archive)
    wanted = given || checksum(archive <> ".sha256")
    got = Archive.sha256(bytes)
    if got != String.downcase(wanted), do: Mix.raise("#{archive} has the checksum #{got}, not #{wanted}")

    files = unpack(archive, bytes)
    root = root()
    installed = Precompiled.place(files, root)
    Mix.shell().info("installed in #{Path.relative_to_cwd(root)}: #{Enum.join(installed, ", ")}")

    Mix.shell().info(
      "mix deps.compile rustyjson --force adds them to the build; mix rustyjson.doctor shows what works"
    )
  end

  # A library for another system would replace one that works.
  defp check_machine(archive) do
    here = RustyJson.Build.machine()

    machine = Archive.machine(archive)

    if machine not in [nil, here],
      do: Mix.raise("#{archive} is for #{machine}, but this machine is #{here}; nothing was installed")
  end

  defp read(file) do
    case File.read(file) do
      {:ok, bytes} -> bytes
      {:error, reason} -> Mix.raise("#{file}: #{:file.format_error(reason)}")
    end
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
    case Archive.unpack(bytes) do
      {:ok, files} -> files
      {:error, text} -> Mix.raise("#{archive} #{text}")
    end
  end

  defp root do
    if Mix.Project.config()[:app] == :rustyjson,
      do: File.cwd!(),
      else: Map.fetch!(Mix.Project.deps_paths(), :rustyjson)
  end
end
