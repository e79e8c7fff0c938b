defmodule RustyJson.Build.Archive do
  @moduledoc false
  # The name, content and checksum of an archive that script/package made.

  alias RustyJson.Build.Tools

  # The only files that an archive may contain.
  @wanted ~r/\A(\.\/)?priv\/((native\/librustyjson_nif\.(so|dll)|wasm\/rustyjson\.wasm)(\.digest)?|native\/sbom\.cdx\.json)\z/

  # rustyjson-vVERSION-MACHINE.tar.gz, as script/package names it.
  @named ~r/\Arustyjson-v\d+\.\d+\.\d+(?:-(?:dev|alpha|beta|rc)[\w.]*)?-(\w+-[\w-]+)\.tar\.gz\z/

  @type files :: [{String.t(), binary()}]

  @spec name(String.t(), String.t()) :: String.t()
  def name(version, machine), do: "rustyjson-v#{version}-#{machine}.tar.gz"

  @doc "The machine in the name of an archive."
  @spec machine(Path.t()) :: nil | String.t()
  def machine(archive) do
    case Regex.run(@named, Path.basename(archive), capture: :all_but_first) do
      [machine] -> machine
      nil -> nil
    end
  end

  # Called through apply, because :crypto is not a dependency of RustyJson: only builds use it.
  @spec sha256(binary()) :: String.t()
  def sha256(bytes) do
    Tools.start(:crypto)
    :crypto |> apply(:hash, [:sha256, bytes]) |> Base.encode16(case: :lower)
  end

  @doc "The checksum of an archive in output of sha256sum. A file with a single checksum needs no name."
  @spec checksum(String.t(), String.t()) :: nil | String.t()
  def checksum(text, name) do
    lines = for line <- String.split(text, "\n", trim: true), do: String.split(line)
    # A star says that the file was read as bytes, as sha256sum does on Windows.
    binary = "*" <> name

    case {lines, Enum.find(lines, &match?([_, given] when given in [name, binary], &1))} do
      {_lines, [checksum, _name]} -> String.downcase(checksum)
      {[[checksum]], nil} -> String.downcase(checksum)
      _ -> nil
    end
  end

  @spec unpack(binary()) :: {:ok, files()} | {:error, String.t()}
  def unpack(bytes) do
    with {:ok, entries} <- :erl_tar.extract({:binary, bytes}, [:memory, :compressed]),
         files = for({name, content} <- entries, do: {String.trim_leading(to_string(name), "./"), content}),
         [] <- for({name, _} <- files, not (name =~ @wanted), do: name) do
      {:ok, files}
    else
      {:error, reason} -> {:error, "cannot be unpacked: #{:erl_tar.format_error(reason)}"}
      [name | _] -> {:error, "contains an unexpected file: #{name}"}
    end
  end

  @doc "Installs files below this folder. What is there keeps its digest no longer than its content."
  @spec place(files(), Path.t()) :: :ok
  def place(files, root) do
    {digests, files} = Enum.split_with(files, fn {name, _} -> String.ends_with?(name, ".digest") end)
    for {name, _content} <- digests, do: File.rm(Path.join(root, name))
    for {name, content} <- files ++ digests, do: write(Path.join(root, name), content)
    :ok
  end

  @doc """
  Writes a file as a whole. A running VM may have mapped the old one, and another build may write or read it at the same time: so a
  separate new file takes its name.
  """
  @spec write(Path.t(), binary()) :: :ok
  def write(path, content) do
    File.mkdir_p!(Path.dirname(path))
    new = "#{path}.#{System.pid()}-#{System.unique_integer([:positive])}"
    File.write!(new, content)
    if Path.extname(path) in [".so", ".dll"], do: File.chmod!(new, 0o755)
    File.rename!(new, path)
  end
end
