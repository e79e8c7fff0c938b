defmodule RustyJson.Bench.Sections.Memory do
  @moduledoc "Memory: peak resident set, the BEAM's own counts, and the memory that decoded strings keep alive."

  alias RustyJson.Bench.{Bar, Contender, Corpus, Memory, Peer, Shapes, Table}

  @documents ~w(settlement canada)
  @published %{
    {"settlement", :encode, "native"} => "6.7 MB",
    {"settlement", :encode, "jason"} => "17.9 MB",
    {"canada", :encode, "native"} => "2.4 MB",
    {"canada", :encode, "jason"} => "5.8 MB"
  }
  @allowance 2_000_000
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
        {name, op, id, Peer.call(Contender.side(id), Memory, :measure, [id, op, document.file], @flags)}
      end

    failed = for {name, op, id, {:error, why}} <- rows, do: "memory, #{op} #{name}, #{id} is left out: #{why}"
    good = for {name, op, id, {:ok, answer}} <- rows, do: {name, op, id, answer}
    {pinned, strings} = pinned(context)
    faults = faults(context)
    tables = if context.test, do: [], else: [table(good), faults_table(faults), pinned]
    goals = goals(good) ++ fault_goals(faults) ++ strings
    %{tables: tables, cases: [], notes: failed, goals: goals, checked: length(good) + length(faults)}
  end

  defp document(%{test: true}, "settlement"),
    do: {:ok, Corpus.made("settlement-small", {Shapes, :settlement, [300_000]})}

  defp document(%{test: true}, name), do: {:skip, name}
  defp document(_context, name), do: Corpus.get(name)

  defp table(rows) do
    %{
      id: "memory",
      title: "Memory of one call",
      head: ["", "BEAM", "peak RSS", "kept RSS", "text", "term", "ETF", "published*"],
      rows:
        for {name, op, id, m} <- rows do
          numbers = Enum.map([m.beam, m.peak, m.kept, m.json, m.term, m.etf], &Table.bytes/1)
          ["#{op} #{name}, #{id}" | numbers] ++ [@published[{name, op, id}] || ""]
        end,
      notes: [
        "BEAM: growth of :erlang.memory(:total) per result, from ten results kept in a new process. Peak RSS: growth " <>
          "of the VM's resident memory during one call in a new VM that returns freed memory at once. Kept RSS: the " <>
          "growth after the call, with the result still referenced.",
        "* published for RustyJson 0.3 and Jason, measured by the same method on an Apple M1 Pro"
      ],
      chart: %{
        unit: "MB",
        series: ["peak RSS", "BEAM"],
        rows:
          for {name, op, id, m} <- rows do
            {"#{op} #{name} #{id}", %{"peak RSS" => megabytes(m.peak), "BEAM" => megabytes(m.beam)}}
          end
      }
    }
  end

  defp megabytes(nil), do: nil
  defp megabytes(bytes), do: max(bytes, 10_000) / 1_000_000

  defp goals(rows) do
    for {"settlement", op, id, %{peak: peak} = m} <- rows, id in Contender.ours(), peak do
      limit = if op == :encode, do: m.json + @allowance, else: m.term + m.etf
      words = if op == :encode, do: "its output and 2 MB", else: "the term and its ETF"
      what = "memory, #{id} #{op} of 10 MB: at most #{words}"
      Bar.row(what, Table.bytes(limit), Table.bytes(peak), peak <= limit)
    end
  end

  ## Page faults

  # In a VM with its usual flags, which keeps some freed memory.
  defp faults(context) do
    for name <- @documents ++ ["citm_catalog", "records10k"],
        {:ok, document} <- [document(context, name)],
        id <- Contender.ids(),
        context.present[id] do
      context.say.("page faults: encode #{name}, #{id}")
      {:ok, answer} = Peer.call(Contender.side(id), Memory, :faults, [id, document.file])
      {name, id, answer}
    end
  end

  defp faults_table(rows) do
    %{
      id: "faults",
      title: "Page faults of one encode call",
      head: ["", "faults", "pages of the output"],
      rows:
        for(
          {name, id, m} <- rows,
          do: ["encode #{name}, #{id}" | Enum.map([m.faults, m.pages], &Table.count/1)]
        ),
      notes: ["The fewest of ten calls, each in a fresh process, after ten others."],
      chart: nil
    }
  end

  defp fault_goals(rows) do
    for {name, "native", %{faults: faults, pages: pages}} when faults != nil <- rows do
      limit = ceil(pages * 1.2)
      Bar.row("page faults, native encode of #{name}", "≤ #{limit}", Table.count(faults), faults <= limit)
    end
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
        {title, id, bytes}
      end

    table = %{
      id: "pinned",
      title: "Bytes that one decoded string of a 1 MB document keeps in memory, by the string's length",
      head: [""] ++ Enum.map(@lengths, &"#{&1} bytes"),
      rows: for({title, _, bytes} <- rows, do: [title | Enum.map(bytes, fn n -> Table.count(n) end)]),
      notes: [],
      chart: nil
    }

    {table, short(rows)}
  end

  defp short(rows) do
    for {title, id, [short | _]} <- rows, id in Contender.ours() do
      Bar.row("a 20-byte string pins, #{title}", "20 B", Table.bytes(short), short <= 64)
    end
  end
end
