# What a Linux library needs at run time: elixir script/elf.exs FILE [GLIBC]
# prints the names of the libraries, the newest version of glibc that it takes functions from, and how many crates cargo-auditable has listed
# in it. With GLIBC (such as 2.28, or none for
# musl) it fails if the library needs a newer one, or a library that is not a part of the C library.
defmodule RustyJson.Elf do
  @moduledoc false
  # Elf64, little-endian: section headers, the dynamic section, and the versions of needed symbols.

  @dynamic 6
  @verneed 0x6FFFFFFE
  @needed 1

  # Parts of glibc; musl is all in one, and its loader answers to the name libc.so itself.
  @allowed ~r/\A(lib(c|m|pthread|dl|rt|util)\.so(\.\d)?|ld-linux[\w-]*\.so\.\d|libc\.musl-\w+\.so\.1)\z/

  def read(file) do
    <<0x7F, "ELF", 2, 1, _::binary-34, headers::64-little, _::binary-10, size::16-little, count::16-little,
      names::16-little, _::binary>> = bytes = File.read!(file)

    sections =
      for number <- 0..(count - 1), do: section(binary_part(bytes, headers + number * size, size), bytes)

    %{
      needed: needed(sections),
      glibc: sections |> versions() |> Enum.max(fn -> nil end),
      crates: crates(sections, names)
    }
  end

  defp section(
         <<name::32-little, type::32-little, _::binary-16, offset::64-little, size::64-little,
           link::32-little, _::binary>>,
         bytes
       ) do
    # A section that is only in memory (8) has no bytes.
    content = if type == 8, do: "", else: binary_part(bytes, offset, size)
    %{name: name, type: type, content: content, strings: link}
  end

  # The crates that cargo-auditable lists, as compressed JSON.
  defp crates(sections, names) do
    for %{content: content} = section <- sections,
        string(sections, %{strings: names}, section.name) == ".dep-v0",
        do: length(:binary.matches(:zlib.uncompress(content), ~s("version")))
  end

  defp needed(sections) do
    for %{type: @dynamic} = dynamic <- sections,
        <<@needed::64-little, name::64-little <- dynamic.content>>,
        do: string(sections, dynamic, name)
  end

  # Each needed library has a record of its versions, which are chained by offsets.
  defp versions(sections) do
    for %{type: @verneed, content: content} = section <- sections,
        name <- libraries(content, 0),
        "GLIBC_" <> version <- [string(sections, section, name)],
        do: version |> String.split(".") |> Enum.map(&String.to_integer/1)
  end

  defp libraries(content, at) do
    <<_version::16, _count::16, _file::32, first::32-little, next::32-little>> = binary_part(content, at, 16)
    names(content, at + first) ++ if(next == 0, do: [], else: libraries(content, at + next))
  end

  defp names(content, at) do
    <<_hash::32, _flags::16, _other::16, name::32-little, next::32-little>> = binary_part(content, at, 16)
    [name | if(next == 0, do: [], else: names(content, at + next))]
  end

  defp string(sections, %{strings: link}, at) do
    strings = Enum.at(sections, link).content
    [text, _] = strings |> binary_part(at, byte_size(strings) - at) |> :binary.split(<<0>>)
    text
  end

  def problems(%{needed: needed, glibc: glibc}, limit) do
    most = if limit == "none", do: [], else: limit |> String.split(".") |> Enum.map(&String.to_integer/1)

    for(name <- needed, not (name =~ @allowed), do: "needs #{name}") ++
      if(glibc != nil and glibc > most,
        do: ["needs glibc #{Enum.join(glibc, ".")}, more than #{limit}"],
        else: []
      )
  end

  def main([file | limit]) do
    found = read(file)
    Enum.each(found.needed, &IO.puts("needs #{&1}"))
    IO.puts("glibc #{if found.glibc, do: Enum.join(found.glibc, "."), else: "none"}")
    IO.puts("bytes #{File.stat!(file).size}")
    Enum.each(found.crates, &IO.puts("lists #{&1} crates"))

    with [limit] <- limit, [_ | _] = problems <- problems(found, limit) do
      Enum.each(problems, &IO.puts(:stderr, "#{file} #{&1}"))
      System.halt(1)
    end
  end
end

RustyJson.Elf.main(System.argv())
