defmodule RustyJson.Build do
  @moduledoc false
  # What the Mix compiler builds, when and how. It works with cargo and files, not with Mix.

  alias RustyJson.Build.{Archive, Cargo, Settings, Sources, Tools, Translation}

  # In the order in which they are built: the native library contains the module.
  @parts [:guest, :native]
  @rust_version "1.95.0"

  # Behind the digest of what is built again once it can be better.
  @plain " plain"
  @no_sandbox "the native library has no WebAssembly engine; the Hex package wasmex can run the module"

  @type part :: :guest | :native
  @type settings :: %{
          root: Path.t(),
          target_dir: Path.t(),
          allocator: String.t(),
          target: nil | String.t(),
          profile: String.t(),
          force: boolean(),
          system: String.t()
        }

  @spec all() :: [part()]
  def all, do: @parts

  @doc false
  @spec parts(keyword()) :: [part()]
  def parts(config) do
    case System.get_env("RUSTYJSON_BUILD") do
      text when text in [nil, ""] -> config |> Keyword.get(:build, @parts) |> chosen()
      "none" -> []
      text -> text |> String.split([",", " "], trim: true) |> Enum.map(&part/1) |> chosen()
    end
  end

  defp part(text), do: Enum.find([:host | @parts], &(Atom.to_string(&1) == text)) || bad_parts(text)

  # Before 0.4 the built-in host was a library of its own; now the native library contains it.
  defp chosen(parts) do
    unless is_list(parts) and (parts -- @parts) -- [:host] == [], do: bad_parts(parts)
    Enum.filter(@parts, &(&1 in parts))
  end

  defp bad_parts(got) do
    raise ArgumentError,
          "build: (or RUSTYJSON_BUILD) takes a list of :native and :guest, got: #{inspect(got)}"
  end

  @spec settings(keyword(), Path.t(), Path.t()) :: settings()
  defdelegate settings(config, root, target_dir), to: Settings, as: :read

  @doc "The kind of machine that a library is for, without the vendor of the VM and the release of the system."
  @spec machine(String.t(), String.t()) :: String.t()
  def machine(
        name \\ List.to_string(:erlang.system_info(:system_architecture)),
        cpu \\ System.get_env("PROCESSOR_ARCHITECTURE", "AMD64")
      )

  # Windows does not report its processor.
  def machine("win32", cpu), do: Map.get(%{"AMD64" => "x86_64", "ARM64" => "aarch64"}, cpu, cpu) <> "-windows"
  def machine(name, _cpu), do: Regex.replace(~r/^(\w+)-\w+-(linux-\w+|darwin|windows).*$/, name, "\\1-\\2")

  @doc "Brings one part up to date."
  @spec build(part(), settings()) ::
          :current | :built | {:missing, cause :: String.t(), effect :: String.t()} | {:failed, String.t()}
  def build(part, settings) do
    cond do
      not current?(part, settings) -> make(part, settings, digest(part, settings))
      part == :guest and lost?(settings) -> without_sandbox(Tools.wasm2c())
      true -> :current
    end
  end

  @doc """
  Compiles the crates of the native library that do not need the module, while the module is built: that task, or none. Cargo makes
  whoever comes for the rest wait.
  """
  @spec ahead([part()], settings()) :: [Task.t()]
  def ahead(parts, settings) do
    wanted = Enum.reject(parts, &current?(&1, settings))

    if :guest in wanted and :native in wanted and Tools.missing(:native, @rust_version) == [],
      do: [
        Task.async(fn ->
          Cargo.run(
            "",
            ["build", "--quiet", "--profile", settings.profile, "-p", "rustyjson-terms"],
            settings
          )
        end)
      ],
      else: []
  end

  @spec clean(part(), Path.t()) :: :ok
  def clean(part, root) do
    File.rm(artifact(part, root))
    File.rm(digest_file(part, root))
    :ok
  end

  @doc "The file a part is built into."
  @spec artifact(part(), Path.t()) :: Path.t()
  def artifact(:native, root), do: Path.join(root, "priv/native/librustyjson_nif" <> library_extension())
  def artifact(:guest, root), do: Path.join(root, "priv/wasm/rustyjson.wasm")

  # The extension that :erlang.load_nif appends: .so on macOS too.
  defp library_extension, do: if(windows?(), do: ".dll", else: ".so")
  defp windows?, do: match?({:win32, _}, :os.type())

  ## Digest

  # The digest beside an artifact says what it was built from.
  @doc false
  @spec digest(part(), settings()) :: String.t()
  defdelegate digest(part, settings), to: Sources

  defp digest_file(part, root), do: artifact(part, root) <> ".digest"

  @doc "Whether there is nothing to do for a part."
  @spec current?(part(), settings()) :: boolean()
  def current?(part, settings) do
    not settings.force and not translatable?(part, settings) and
      case stored(part, settings) do
        :current -> true
        :plain -> not better?(part, settings)
        :none -> false
      end
  end

  # What is there is of these sources, or of these but plain: a module that wasm-opt has not seen, a library without the module.
  defp stored(part, settings) do
    digest = digest(part, settings)
    plain = digest <> @plain

    case File.regular?(artifact(part, settings.root)) and File.read(digest_file(part, settings.root)) do
      {:ok, ^digest} -> :current
      {:ok, ^plain} -> :plain
      _ -> :none
    end
  end

  # The module was built where wasm2c was missing, and now it is there. The libraries of an archive come without the translation.
  defp translatable?(:guest, settings),
    do:
      not translated?(settings) and stored(:native, settings) != :current and
        not match?({:missing, _}, Tools.wasm2c())

  defp translatable?(:native, _settings), do: false

  # The native library is about to lose the module: that of an archive, or of an older build, has it, and only wasm2c could translate it.
  defp lost?(settings) do
    File.regular?(artifact(:native, settings.root)) and stored(:native, settings) == :none and
      not translated?(settings)
  end

  # It is built again once wasm-opt, or the module, is there.
  defp better?(:guest, _settings), do: Tools.wasm_opt?()
  defp better?(:native, settings), do: translated?(settings)

  # Whether there is a translation of the module of these sources, whichever profile it was built with.
  defp translated?(settings) do
    Enum.any?(["release", "quick"], &(stored(:guest, %{settings | profile: &1}) != :none)) and
      Translation.current?(artifact(:guest, settings.root))
  end

  ## Build

  defp make(part, settings, digest) do
    case Tools.missing(part, @rust_version) do
      [] -> cargo(part, settings, digest)
      missing -> {:missing, cause(missing), effect(part, settings)}
    end
  end

  defp cargo(part, settings, digest) do
    case Cargo.run(title(part), arguments(part, settings), settings, included(part, settings)) do
      :ok -> install(part, settings, digest)
      {:error, output} -> {:failed, "cargo could not build #{title(part)}:\n" <> output}
    end
  end

  # What wasm/host/build.rs compiles: by default whatever is in priv/wasm, which can be of older sources.
  defp included(:guest, _settings), do: []

  defp included(:native, settings),
    do: if(translated?(settings), do: [], else: [{"RUSTYJSON_GUEST_C", "none"}])

  defp arguments(:native, settings),
    do:
      auditable(settings) ++
        build(settings.target) ++
        ["--profile", settings.profile, "-p", "rustyjson-nif"] ++ allocator(settings.allocator)

  defp arguments(:guest, settings),
    do:
      ["build", "--profile", guest_profile(settings)] ++ ~w(-p rustyjson-wasm --target wasm32-unknown-unknown)

  defp guest_profile(%{profile: "release"}), do: "wasm"
  defp guest_profile(%{profile: profile}), do: profile

  # cargo-auditable puts the list of crates into the library, where scanners look for it.
  defp auditable(%{auditable: true}), do: ["auditable"]
  defp auditable(_settings), do: []

  # A target such as x86_64-unknown-linux-gnu.2.28 names an older C library than this machine's, which zig links against.
  defp build(nil), do: ["build"]
  defp build(target), do: ["zigbuild", "--target", target]

  defp allocator("mimalloc"), do: []
  defp allocator("system"), do: ["--no-default-features"]
  defp allocator(name), do: ["--no-default-features", "--features", name]

  defp install(:guest, settings, digest) do
    folder = Path.join([settings.target_dir, "wasm32-unknown-unknown", guest_profile(settings)])
    built = Path.join(folder, "rustyjson_wasm.wasm")

    case optimised(built, settings) do
      {:ok, optimised} -> translated(place(:guest, optimised, settings, digest), settings)
      {:error, output} -> {:failed, "wasm-opt failed:\n" <> output}
      :missing -> place_plain(File.read!(built), settings, digest)
    end
  end

  defp install(:native, settings, digest) do
    contained = if translated?(settings), do: digest, else: digest <> @plain
    folder = Path.join([settings.target_dir | output(settings.target)] ++ [settings.profile])
    place(:native, File.read!(Path.join(folder, library("rustyjson_nif", settings))), settings, contained)
  end

  defp optimised(built, %{profile: "release"}), do: Tools.wasm_opt(built)
  defp optimised(built, _settings), do: {:ok, File.read!(built)}

  # The module as C, which the native library contains.
  defp translated(result, settings) do
    case Translation.run(artifact(:guest, settings.root)) do
      :ok -> result
      {:error, text} -> {:failed, text}
      missing -> without_sandbox(missing)
    end
  end

  defp without_sandbox({:missing, what}), do: {:missing, cause([{what, Tools.hint(:wasm2c)}]), @no_sandbox}

  defp output(nil), do: []
  defp output(target), do: [Regex.replace(~r/\.\d+\.\d+\z/, target, "")]

  # Cargo's name of a library.
  defp library(crate, %{system: system}) do
    cond do
      String.ends_with?(system, "windows") -> crate <> ".dll"
      String.ends_with?(system, "darwin") -> "lib" <> crate <> ".dylib"
      true -> "lib" <> crate <> ".so"
    end
  end

  # wasm2c may be missing too, which costs more.
  defp place_plain(module, settings, digest) do
    cause = cause([{"wasm-opt is missing", Tools.hint(:wasm_opt)}])
    effect = "the module works but is larger and slower"

    case translated(place(:guest, module, settings, digest <> @plain), settings) do
      :built -> {:missing, cause, effect}
      {:missing, other, lost} -> {:missing, cause <> " " <> other, effect <> ", and " <> lost}
      failed -> failed
    end
  end

  defp place(part, content, settings, digest) do
    root = settings.root
    files = [{artifact(part, root), content}, {digest_file(part, root), digest}]
    Archive.place(for({path, content} <- files, do: {Path.relative_to(path, root), content}), root)
    :built
  end

  ## Words

  defp title(:native), do: "the native library"
  defp title(:guest), do: "the WebAssembly module"

  defp cause(missing), do: Enum.map_join(missing, " ", fn {what, hint} -> "#{what}. #{hint}" end)

  defp effect(part, settings) do
    if File.regular?(artifact(part, settings.root)),
      do: "#{title(part)} is not rebuilt; an older build stays in use",
      else: "#{title(part)} is not built: #{consequence(part)}"
  end

  defp consequence(:native),
    do: "RustyJson has no native engine, and the wasm engine needs the Hex package wasmex"

  defp consequence(:guest), do: "RustyJson has no wasm engine"
end
