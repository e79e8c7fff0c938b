defmodule RustyJson.Build.Sources do
  @moduledoc false
  # What a part is built from, and its digest, which says whether the part has to be built again.

  alias RustyJson.Build

  # A crate's folder as a whole: its sources include files of other kinds (the tables of options in core/src).
  @guest ~w(Cargo.toml Cargo.lock .cargo/config.toml core/Cargo.toml core/src/**/*
            wasm/guest/Cargo.toml wasm/guest/*.rs wasm/guest/src/**/*)
  @patterns %{
    guest: @guest,
    native:
      @guest ++
        ~w(lib/rustyjson/build/translation.ex nif/Cargo.toml nif/*.rs nif/src/**/* terms/Cargo.toml terms/src/**/*
           wasm/host/Cargo.toml wasm/host/*.rs wasm/host/src/**/* wasm/host/runtime/*)
  }

  @doc "The digest of a part's sources, of the machine for native code, and of the options."
  @spec digest(Build.part(), Build.settings()) :: String.t()
  def digest(part, settings) do
    part
    |> files(settings.root)
    |> Enum.map(&[&1, 0, File.read!(Path.join(settings.root, &1)), 0])
    |> then(&:erlang.md5([choices(part, settings) | &1]))
    |> Base.encode16(case: :lower)
  end

  @doc "The files that the digest of a part covers, relative to the folder of this library."
  @spec files(Build.part(), Path.t()) :: [Path.t()]
  def files(part, root) do
    # Only the patterns are patterns: the name of the folder can have brackets in it, which Path.wildcard would read as one.
    @patterns[part]
    |> Enum.flat_map(&:filelib.wildcard(String.to_charlist(&1), String.to_charlist(root)))
    |> Enum.map(&List.to_string/1)
    # Hidden files are those of editors and desktops.
    |> Enum.filter(&(File.regular?(Path.join(root, &1)) and not String.starts_with?(Path.basename(&1), ".")))
    |> Enum.sort()
  end

  defp choices(:native, %{profile: "release"} = settings), do: [settings.system, 0, settings.allocator]
  defp choices(:native, settings), do: [settings.system, 0, settings.allocator, 0, settings.profile]
  defp choices(:guest, %{profile: "release"}), do: ""
  defp choices(:guest, %{profile: profile}), do: profile
end
