alias RustyJson.Test.{CodePath, Corpus, Judge, KeptOptions}

CodePath.shorten(Mix.Project.build_path())

required = System.get_env("RUSTYJSON_REQUIRE", "") |> String.split(",", trim: true)
there = Enum.map(Judge.engines(), fn {name, _} -> Atom.to_string(name) end)

IO.puts("engines: #{Enum.join(there, ", ")}; default: #{inspect(RustyJson.engine())}; seed file: gen.ex")
IO.puts("corpus: #{if Corpus.dir(), do: "read from RUSTYJSON_CORPUS", else: "not there (RUSTYJSON_CORPUS)"}")

for {name, reason} <- Judge.missing() do
  if Atom.to_string(name) in required, do: raise("engine #{name} is required, but: #{reason}")
  IO.puts("skipped: engine #{name}: #{reason}")
end

KeptOptions.reserve()

# CONTRIBUTING says which tests are heavy.
heavy = System.get_env("RUSTYJSON_HEAVY") == "1"

ExUnit.start(
  # script/sweep runs the whole sweep, and keeps its record.
  exclude: if(heavy, do: [:sweep], else: [:heavy, :sweep]),
  timeout: 180_000,
  formatters: [ExUnit.CLIFormatter, RustyJson.Test.Skips]
)
