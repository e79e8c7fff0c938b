# Prints what a native library is made of, as a CycloneDX bill of materials: mix run --no-compile script/sbom.exs [TARGET]
# The crates are those of `cargo tree`, with the checksums of Cargo.lock. The same sources give the same text.
target = List.first(System.argv()) || ""
of_target = if target == "", do: [], else: ["--target", Regex.replace(~r/\.\d+\.\d+\z/, target, "")]

tree =
  ~w(tree --locked -p rustyjson-nif -e normal,build --prefix none --no-dedupe --format {p}|{l}) ++ of_target

{crates, 0} = System.cmd("cargo", tree)
lock = File.read!("Cargo.lock")

checksum = fn name, version ->
  case Regex.run(
         ~r/name = "#{Regex.escape(name)}"\nversion = "#{Regex.escape(version)}"\nsource = .*\nchecksum = "(\w+)"/,
         lock
       ) do
    [_, checksum] -> %{hashes: [%{alg: "SHA-256", content: checksum}]}
    nil -> %{}
  end
end

component = fn line ->
  [_, name, version, licence] = Regex.run(~r/\A(\S+) v(\S+).*\|(.*)\z/, line)
  purl = "pkg:cargo/#{name}@#{version}"
  # Older crates separate two licences by a slash.
  licences = [%{expression: String.replace(licence, "/", " OR ")}]

  %{type: "library", "bom-ref": purl, name: name, version: version, purl: purl, licenses: licences}
  |> Map.merge(checksum.(name, version))
end

components =
  crates
  |> String.split("\n", trim: true)
  |> Enum.uniq()
  |> Enum.map(component)
  |> Enum.uniq()
  |> Enum.sort_by(& &1.purl)

{[root], libraries} = Enum.split_with(components, &(&1.name == "rustyjson-nif"))

%{bomFormat: "CycloneDX", specVersion: "1.5", version: 1, metadata: %{component: root}, components: libraries}
|> RustyJson.encode!(pretty: true, sort_keys: true)
|> IO.puts()
