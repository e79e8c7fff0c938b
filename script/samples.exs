# Writes the committed samples again: elixir -r bench/support/documents.ex script/samples.exs
for name <- ~w(settlement api_response geojson) do
  {^name, make} = List.keyfind(RustyJson.Bench.Documents.all(), name, 0)
  File.write!(Path.join([__DIR__, "samples", name <> ".json"]), make.())
end
