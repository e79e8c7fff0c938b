defmodule RustyJson.Bench.Case do
  @moduledoc "One line of a result file: the contender, the operation, the document and the time."

  alias RustyJson.Bench.Contender

  @doc "The cases of an answer of `RustyJson.Bench.Jobs`. `document` has a name."
  @spec of(String.t(), map(), atom(), atom(), map()) :: [map()]
  def of(table, document, op, mode, answer) do
    for {label, result} <- answer.results, label != "yardstick" do
      %{
        table: table,
        document: document.name,
        sha256: answer.sha256,
        bytes: answer.bytes,
        op: op,
        mode: mode,
        contender: label,
        title: Contender.title(label),
        median_ns: result.time.median,
        q1_ns: result.time.q1,
        q3_ns: result.time.q3,
        min_ns: result.time.min,
        mb_s: answer.bytes / result.time.median * 1_000,
        # Uses the ratio to the yardstick of the same VM.
        yardstick_ns: result.time.median / result.ratio.median,
        ratio: result.ratio.median,
        ratio_q1: result.ratio.q1,
        ratio_q3: result.ratio.q3,
        reductions: result.reductions,
        collections: result.collections,
        rounds: result.rounds,
        calls: result.calls
      }
    end
  end
end
