defmodule RustyJson.Bench.Sections.Moving do
  @moduledoc """
  What those who come from another library ask for: structs that have only its encoder, beside that library, and `valid?/2` beside
  `decode/2`. `RustyJson.Bench.Pairs` says how they are measured.
  """

  alias RustyJson.Bench.{Corpus, Pairs, Structs}

  @engines [{"native", [engine: :native]}, {"built_in", [engine: :wasm, host: :built_in]}]

  @spec run(map()) :: map()
  def run(context) do
    engines = for {_, given} = engine <- @engines, RustyJson.start_engine(given) == :ok, do: engine
    rows = for engine <- engines, row <- structs(engine) ++ documents(engine), do: row
    Pairs.run(rows, "moving", "Structs of other libraries, and valid?/2", context)
  end

  defp structs({engine, options}) do
    for {library, kind} <- [{JSON, "Elixir JSON"}, {Jason, "Jason"}],
        Code.ensure_loaded?(library),
        {count, term} <- Structs.only(library) do
      # The sandbox is not held to a library without one.
      {"#{count} with only #{inspect(library)}.Encoder, #{engine}",
       fn -> RustyJson.encode!(term, options) end, kind, fn -> library.encode!(term) end,
       if(engine == "native", do: 1)}
    end
  end

  defp documents({engine, options}) do
    for name <- Corpus.standard(), {:ok, %{file: file}} <- [Corpus.get(name)] do
      json = File.read!(file)

      {"valid?/2 of #{name}, #{engine}", fn -> RustyJson.valid?(json, options) end, "decode/2",
       fn -> RustyJson.decode(json, options) end, 0.55}
    end
  end
end
