# The documents and terms of the endurance run; see script/soak.

defmodule Soak.Case do
  @moduledoc "The documents, their limits, and the expected results."

  alias RustyJson.{DecodeError, SandboxError}
  alias RustyJson.Bench.Documents

  @limits [max_bytes: 20_000_000, max_nodes: 2_000_000]
  @tight [timeout: 20, max_memory: 8 * 1024 * 1024]

  @doc "`{kind, name, call, options, check}`: `check` gets the outcome and says whether it is right."
  def all(engine), do: good(engine) ++ streams(engine) ++ broken(engine) ++ hostile(engine)

  defp good(engine) do
    for {name, make} <- Documents.all(), name not in ~w(settlement_10mb) do
      json = make.()
      {:ok, term} = RustyJson.decode(json, engine ++ @limits)
      hash = :erlang.phash2(term, 4_294_967_296)
      text = RustyJson.encode!(term, engine)
      right? = &(match?({:ok, _}, &1) and hash(elem(&1, 1)) == hash)

      [
        {:good, name, {:decode, json}, engine ++ @limits, right?},
        {:good, name, {:encode, term}, engine, &(&1 == {:ok, text})}
      ]
    end
    |> Enum.concat()
  end

  # Documents in pieces that end anywhere. Some consumers take only the first rows.
  defp streams(engine) do
    rows = for i <- 1..500, do: %{"id" => i, "name" => "name \u00e9 #{i}", "tags" => ["a", [i / 8]]}
    lines = Enum.map_join(rows, &(RustyJson.encode!(&1, engine) <> "\n"))
    array = RustyJson.encode!(rows, engine)
    at = RustyJson.encode!(%{"n" => [0], "rows" => rows}, engine)
    bad = String.replace(lines, ~s("id":250,), ~s("id":250;))
    hash = hash(rows)
    whole? = &(match?({:ok, _}, &1) and hash(elem(&1, 1)) == hash)

    [
      {"lines", {:stream, lines, :all}, [format: :lines], whole?},
      {"array", {:stream, array, :all}, [format: :array], whole?},
      {"values at a path", {:stream, at, :all}, [at: "/rows/*"], whole?},
      {"the first rows", {:stream, array, 7}, [format: :array], &(&1 == {:ok, Enum.take(rows, 7)})},
      {"a bad line", {:stream, bad, :all}, [format: :lines, on_error: :tag], &tagged?(&1, rows)},
      {"a partial document", {:partial, at}, [], &(&1 == {:ok, %{"n" => [0], "rows" => rows}})},
      {"rows", {:encode_stream, rows}, [flush: 4_096], &(&1 == {:ok, array})}
    ]
    |> Enum.map(fn {name, what, options, right?} -> {:good, name, what, options ++ engine, right?} end)
  end

  defp tagged?({:ok, items}, rows) do
    {before, [error | rest]} = Enum.split(items, 249)

    match?({:error, %DecodeError{line: 250}}, error) and
      for({:ok, row} <- before ++ rest, do: row) == List.delete_at(rows, 249)
  end

  defp tagged?(_outcome, _rows), do: false

  defp hash(term), do: :erlang.phash2(term, 4_294_967_296)

  defp broken(engine) do
    samples = [
      "[1,]",
      ~s({"a":\n\n nul}),
      <<?", 0xC0, 0xAF, ?">>,
      ~S("\ud800"),
      "[1e999]",
      "",
      ~s({"a":1,"a":2})
    ]

    for json <- samples do
      options = engine ++ [duplicate_keys: :error]
      {:error, %DecodeError{} = error} = RustyJson.decode(json, options)
      wanted = {error.reason, error.position, error.message}

      {:broken, inspect(json), {:decode, json}, options,
       &match?({:error, %DecodeError{reason: r, position: p, message: m}} when {r, p, m} == wanted, &1)}
    end
  end

  # The core's limits stop them in the native engine. The wasm engine's own limits are even tighter.
  defp hostile(engine) do
    limits = if engine[:engine] == :wasm, do: @tight ++ @limits, else: @limits
    allowed = [:max_depth, :max_nodes, :integer_digits, :timeout, :memory_limit, :busy]

    for {name, json} <- bombs() do
      {:hostile, name, {:decode, json}, engine ++ limits,
       fn
         {:error, %DecodeError{reason: reason}} -> reason in allowed
         {:error, %SandboxError{reason: reason}} -> reason in allowed
         _ -> false
       end}
    end
  end

  defp bombs do
    [
      {"brackets", String.duplicate("[", 1_000_000)},
      {"empty arrays", "[" <> String.duplicate("[],", 3_000_000) <> "0]"},
      {"objects", "[" <> String.duplicate(~s({"a":{}},), 800_000) <> "0]"},
      {"digits", String.duplicate("9", 1_000_000)}
    ]
  end
end
