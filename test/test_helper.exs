alias RustyJson.Test.{Corpus, Judge}

# Tests do not consolidate protocols, so the VM looks for an implementation for each struct, in the folders of all applications, one caller
# at a time. Without those of OTP that no test uses it takes less than half of the time (OTP 25; later ones know what is in a folder).
unused =
  ~w(common_test debugger dialyzer diameter edoc eldap erl_docgen erl_interface et ftp jinterface megaco mnesia observer odbc
  os_mon parsetools reltool snmp ssh tftp wx xmerl)a

Enum.each(unused, &:code.del_path/1)

required = System.get_env("RUSTYJSON_REQUIRE", "") |> String.split(",", trim: true)
there = Enum.map(Judge.engines(), fn {name, _} -> Atom.to_string(name) end)

IO.puts("engines: #{Enum.join(there, ", ")}; default: #{inspect(RustyJson.engine())}; seed file: gen.ex")
IO.puts("corpus: #{if Corpus.dir(), do: "read from RUSTYJSON_CORPUS", else: "not there (RUSTYJSON_CORPUS)"}")

for {name, reason} <- Judge.missing() do
  if Atom.to_string(name) in required, do: raise("engine #{name} is required, but: #{reason}")
  IO.puts("skipped: engine #{name}: #{reason}")
end

# CONTRIBUTING says which tests are heavy.
heavy = System.get_env("RUSTYJSON_HEAVY") == "1"

ExUnit.start(
  # script/sweep runs the whole sweep, and keeps its record.
  exclude: if(heavy, do: [:sweep], else: [:heavy, :sweep]),
  timeout: 180_000,
  formatters: [ExUnit.CLIFormatter, RustyJson.Test.Skips]
)
