defmodule RustyJson.Bench.Sections.Memory do
  @moduledoc "Memory: peak resident set, the BEAM's own counts, and the memory that decoded strings keep alive."

  alias RustyJson.Bench.{Contender, Corpus, Memory, Peer, Shapes, Table}

  @documents ~w(settlement canada)
  # Returns freed memory to the system at once, so that a call cannot reuse memory of earlier calls.
  @flags ["+MMmcs", "0"]
  @lengths [20, 64, 65, 100]

  @spec run(map()) :: map()
  def run(context) do
    rows =
      for name <- @documents,
          {:ok, document} <- [document(context, name)],
          op <- [:encode, :decode],
          id <- Contender.ids(),
          context.present[id] do
        context.say.("memory: #{op} #{name}, #{id}")
        arguments = [id, op, document.file, term(name, document)]
        {name, op, id, Peer.call(Contender.side(id), Memory, :measure, arguments, @flags)}
      end

    failed = for {name, op, id, {:error, why}} <- rows, do: "memory, #{op} #{name}, #{id} is left out: #{why}"
    good = for {name, op, id, {:ok, answer}} <- rows, do: {name, op, id, answer}
    pinned = pinned(context)
    %{tables: if(context.test, do: [], else: [table(good), pinned]), notes: failed, checked: length(good)}
  end

  # The file of its term in external format.
  defp term(name, document) do
    file = Path.join(System.tmp_dir!(), "rustyjson-bench-#{System.pid()}-#{name}.etf")

    unless File.exists?(file) do
      term = document.file |> File.read!() |> RustyJson.decode!(engine: :native)
      File.write!(file, :erlang.term_to_binary(term))
      System.at_exit(fn _status -> File.rm(file) end)
    end

    file
  end

  defp document(%{test: true}, "settlement"),
    do: {:ok, Corpus.made("settlement-small", {Shapes, :settlement, [300_000]})}

  defp document(%{test: true}, name), do: {:skip, name}
  defp document(_context, name), do: Corpus.get(name)

  defp table(rows) do
    %{
      id: "memory",
      title: "Memory of one call",
      head: ["", "BEAM", "peak RSS", "kept RSS", "text", "term", "ETF"],
      rows:
        for {name, op, id, m} <- rows do
          ["#{op} #{name}, #{id}" | Enum.map([m.beam, m.peak, m.kept, m.json, m.term, m.etf], &Table.bytes/1)]
        end,
      notes: [
        "BEAM: growth of :erlang.memory(:total) per result, from ten results kept in a new process. Peak RSS: growth " <>
          "of the VM's resident memory during one call in a new VM that returns freed memory at once. Kept RSS: the " <>
          "growth after the call, with the result still referenced."
      ]
    }
  end

  ## What strings keep alive

  defp pinned(context) do
    variants =
      for(id <- Contender.ids(), do: {Contender.title(id), id, []}) ++
        [{"RustyJson native, strings: :copy", "native", [strings: :copy]}]

    rows =
      for {title, id, opts} <- variants, context.present[id] do
        context.say.("memory: strings of #{id}")
        {:ok, bytes} = Peer.call(Contender.side(id), Memory, :pinned, [id, opts, 1_000_000, @lengths])
        {title, bytes}
      end

    %{
      id: "pinned",
      title: "Bytes that one decoded string of a 1 MB document keeps in memory, by the string's length",
      head: [""] ++ Enum.map(@lengths, &"#{&1} bytes"),
      rows: for({title, bytes} <- rows, do: [title | Enum.map(bytes, fn n -> Table.count(n) end)])
    }
  end
end
