defmodule RustyJson.Build.Precompiled do
  @moduledoc false
  # Installs the libraries for this machine from the archives of a release, at an address or in a folder. The checksum comes from
  # checksums.txt in the package or, without that file, from FILE.sha256 next to the archive.

  alias RustyJson.Build
  alias RustyJson.Build.{Archive, Proxy, Tools, Translation}

  @timeout 120_000

  @doc "Where to look, if the application says so."
  @spec from(keyword()) :: nil | String.t()
  def from(config) do
    case System.get_env("RUSTYJSON_PRECOMPILED") || config[:precompiled] do
      none when none in [nil, false, ""] ->
        nil

      from when is_binary(from) ->
        from

      other ->
        raise ArgumentError, "precompiled: takes an address or a folder, got: #{inspect(other)}"
    end
  end

  @doc """
  Installs these parts from the archive for this machine. `:unavailable`: there is none, and building is the other way. `:refused`: there is one that
  is not what it should be.
  """
  @spec install(String.t(), String.t(), [Build.part()], Build.settings()) ::
          :ok | {:unavailable | :refused, String.t()}
  def install(from, version, parts, settings) do
    name = Archive.name(version, settings.system)
    place = String.trim_trailing(from, "/") <> "/" <> name

    with {:ok, wanted} <- wanted(place, name, settings),
         {:ok, bytes} <- read(place),
         :ok <- checked(place, wanted, Archive.sha256(bytes)),
         {:ok, files} <- unpacked(place, bytes),
         :ok <- fitting(place, files, parts, settings) do
      files |> Enum.filter(&of_parts?(&1, parts)) |> place(settings.root)
      :ok
    end
  end

  @doc """
  Installs the files of an archive below this folder. A translation of another module than the one that is there then is removed. A module of
  the same sources stays with its translation, as packages have both: another build of it would have none. Returns the names of the files
  that it installed.
  """
  @spec place(Archive.files(), Path.t()) :: [Path.t()]
  def place(files, root) do
    module = Build.artifact(:guest, root)
    name = Path.relative_to(module, root)
    kept? = List.keymember?(files, name, 0) and same?(files, name, module) and Translation.current?(module)

    files = if kept?, do: Enum.reject(files, fn {file, _} -> String.starts_with?(file, name) end), else: files
    Archive.place(files, root)
    unless Translation.current?(module), do: File.rm(Translation.file(module))
    for {file, _content} <- files, do: file
  end

  defp same?(files, name, module) do
    with {:ok, digest} <- File.read(module <> ".digest"),
         do: List.keyfind(files, name <> ".digest", 0) == {name <> ".digest", digest},
         else: (_ -> false)
  end

  # The other parts are chosen not to be there, or are there already, a module with its translation.
  defp of_parts?({"priv/native/" <> _, _content}, parts), do: :native in parts
  defp of_parts?({"priv/wasm/" <> _, _content}, parts), do: :guest in parts

  # Whoever controls the server cannot change the checksums in the package.
  defp wanted(place, name, settings) do
    case File.read(Path.join(settings.root, "checksums.txt")) do
      {:ok, text} -> text |> Archive.checksum(name) |> listed(name, settings.system)
      {:error, _} -> beside(place, name)
    end
  end

  defp listed(nil, name, machine),
    do: {:unavailable, "the release has no archive for #{machine}: checksums.txt does not list #{name}"}

  defp listed(checksum, _name, _machine), do: {:ok, checksum}

  defp beside(place, name) do
    with {:ok, text} <- read(place <> ".sha256") do
      case Archive.checksum(text, name) do
        nil -> {:refused, "#{place}.sha256 has no checksum of #{name}"}
        checksum -> {:ok, checksum}
      end
    end
  end

  defp checked(_place, checksum, checksum), do: :ok

  defp checked(place, wanted, got),
    do: {:refused, "#{place} has the checksum #{got}, not #{wanted}; nothing was installed"}

  defp unpacked(place, bytes) do
    with {:error, text} <- Archive.unpack(bytes), do: {:refused, "#{place} #{text}"}
  end

  # A library from other sources would be built again at once, and one for another machine would not load.
  defp fitting(place, files, parts, settings) do
    names = Map.new(files)

    unfit =
      Enum.find(parts, fn part ->
        digest = names[Path.relative_to(Build.artifact(part, settings.root), settings.root) <> ".digest"]
        digest != nil and not String.starts_with?(digest, Build.digest(part, settings))
      end)

    if unfit == nil,
      do: :ok,
      else:
        {:refused,
         "#{place}: its #{unfit} part is for another machine, another allocator or other sources than these; " <>
           "nothing was installed"}
  end

  ## Reading

  defp read("file://" <> path), do: read(path)

  defp read(place) do
    if place =~ ~r/\Ahttps?:\/\//, do: download(place), else: file(place)
  end

  defp file(path) do
    case File.read(path) do
      {:ok, bytes} -> {:ok, bytes}
      # A dependency is compiled in its own folder, so a relative path is seldom the one that was meant.
      {:error, reason} -> {:unavailable, "#{Path.expand(path)}: #{:file.format_error(reason)}"}
    end
  end

  # Called through apply, because these applications are not dependencies of RustyJson: only builds use them.
  defp download(address) do
    Enum.each([:inets, :ssl, :public_key], &Tools.start/1)

    with {:ok, options} <- request(address) do
      {profile, proxy} = Proxy.of(address, &System.get_env/1)
      request = [:get, {String.to_charlist(address), []}, options ++ proxy, [body_format: :binary]]
      answer(address, request, profile)
    end
  end

  # A proxy is set for all requests of a profile, so this one has its own.
  @profile :rustyjson

  defp answer(address, request, profile) do
    apply(:inets, :start, [:httpc, [profile: @profile]])

    try do
      :ok = apply(:httpc, :set_options, [profile, @profile])
      requested(address, request ++ [@profile])
    after
      apply(:inets, :stop, [:httpc, @profile])
    end
  end

  defp requested(address, arguments) do
    case apply(:httpc, :request, arguments) do
      {:ok, {{_http, 200, _phrase}, _headers, body}} -> {:ok, body}
      {:ok, {{_http, 404, _}, _, _}} -> {:unavailable, "#{address} does not exist (404)"}
      {:ok, {{_http, status, _}, _, _}} -> {:unavailable, "#{address} gives the status #{status}"}
      {:error, reason} -> {:unavailable, "#{address} cannot be read: #{inspect(reason, limit: 8)}"}
    end
  end

  @request [timeout: @timeout, connect_timeout: 15_000]

  defp request("https://" <> _ = address) do
    {:ok, [ssl: ssl()] ++ @request}
  rescue
    # As in a slim container. OTP 24 has no such function.
    error in [ErlangError, UndefinedFunctionError] ->
      {:unavailable,
       "#{address} cannot be read: no certificates of authorities (ca-certificates) can be loaded: #{Exception.message(error)}"}
  end

  defp request(_address), do: {:ok, @request}

  defp ssl do
    [
      verify: :verify_peer,
      cacerts: apply(:public_key, :cacerts_get, []),
      depth: 4,
      customize_hostname_check: [
        match_fun: apply(:public_key, :pkix_verify_hostname_match_fun, [:https])
      ]
    ]
  end
end
