# Writes starting inputs for the fuzz targets into fuzz/corpus: the texts of the vectors, strings and white space around the
# widths of vectors, and terms. Run it from the project's root: elixir fuzz/seeds.exs
#
# Inputs that failed in the past are in fuzz/seeds, in one folder per target.

corpus = Path.join(__DIR__, "corpus")

table = fn name ->
  {entries, _} = Code.eval_file(Path.join([__DIR__, "..", "test", "vectors", "#{name}.exs"]))
  entries
end

write = fn target, inputs ->
  dir = Path.join(corpus, target)
  File.mkdir_p!(dir)

  for input <- inputs, byte_size(input) <= 4096 do
    name = :crypto.hash(:sha, input) |> Base.encode16(case: :lower)
    File.write!(Path.join(dir, name), input)
  end
end

texts =
  for(entry <- table.(:accept) ++ table.(:reject), do: elem(entry, 1)) ++
    for entry <- table.(:implementation_defined) ++ table.(:decode_options),
        is_binary(elem(entry, 1)),
        do: elem(entry, 1)

# The width of a vector and its neighbours.
lengths = for width <- [0, 8, 16, 32, 64, 128], delta <- -1..1, width + delta >= 0, do: width + delta

strings =
  for length <- lengths, tail <- ["", "\n", "\\n", "\\u00e9", "é", "😀", "\xE2\x82", "\xFF"] do
    String.duplicate("a", length) <> tail
  end

spaces = for length <- lengths, space <- [" ", "\n", "\r\n", "\t"], do: String.duplicate(space, length)

terms =
  for {_, term, _, _} <- table.(:encode) do
    <<131, etf::binary>> = :erlang.term_to_binary(term, minor_version: 2)
    etf
  end

# The last two bytes choose options: zeros are the defaults.
default = fn inputs -> for input <- inputs, do: input <> <<0, 0>> end
any = fn inputs -> for {input, i} <- Enum.with_index(inputs), do: input <> <<rem(i, 8), 0>> end

write.("decode_vs_naive", default.(texts) ++ any.(texts) ++ any.(Enum.map(strings, &("\"" <> &1 <> "\""))))
write.("scan", for(text <- texts, do: text <> <<0, 0, 1, 3, 8, 21>>))
write.("strings", any.(strings))
write.("roundtrip", texts)
write.("format", texts)

# Layout, depth, the limit as a product, the number of budgets, budgets.
write.(
  "format_slices",
  for({text, i} <- Enum.with_index(texts), most <- [0, 9], do: <<i, 0, most, 255, 3, 0, 7, 99>> <> text)
)

write.("locate", texts)
write.("encode_escapes", strings ++ ["<a href='/'>", "\u2028\u2029", "\u{10FFFF}"])
write.("etf_reader", for(etf <- terms, flags <- [0, 8, 0x80], do: etf <> <<flags, 127>>))
write.("etf_check", default.(terms))
write.("whitespace", any.(spaces))

# Options, in the core's form, precede the input.
decode = <<0::64, 128::32-little, 1024::32-little, 0::64, 34::32-little, 6_144::32-little>>
encode = <<0::56, -1::8, 0::8, 128::32-little, 0::32, 0::64, 0::128>>

write.(
  "guest_abi",
  for(text <- texts, do: <<0>> <> decode <> text) ++
    for({etf, i} <- Enum.with_index(terms), do: <<rem(i, 10) * 2 + 1>> <> encode <> <<131>> <> etf)
)

# For targets that read bytes as choices of tokens: a few inputs of every length.
:rand.seed(:exsss, {1, 2, 3})

choices =
  for length <- lengths,
      _ <- 1..4,
      do: for(_ <- 1..(length + 1), into: "", do: <<:rand.uniform(24) - 1>>) <> <<0, 0>>

for target <- ["structure", "numbers", "escapes"], do: write.(target, choices)

for dir <- Path.wildcard(Path.join(corpus, "*")),
    do: IO.puts("#{Path.basename(dir)}: #{length(File.ls!(dir))} inputs")
