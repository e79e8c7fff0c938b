defmodule RustyJson.Evidence.Claims do
  @moduledoc false
  # What is promised, what was tried against it, and where the result is recorded.

  import RustyJson.Evidence.Rows

  alias RustyJson.Evidence.{Full, Mutants, Sweep}

  def part(records) do
    [
      "| promise | what was tried against it | command | result |",
      "|---|---|---|---|",
      for {promise, tried, command, results} <- claims() do
        "| #{promise} | #{tried} | `#{command}` | #{results |> Enum.map(&result(&1, records)) |> Enum.uniq() |> Enum.join("; ")} |\n"
      end
    ]
    |> text()
  end

  defp claims do
    [
      {"RFC 8259: valid documents are decoded, others are errors at a byte",
       "every document of a few tokens, against a naive reader", "script/enumerate", [:enumerated]},
      {"The same", "JSONTestSuite, number tables, serde_json, random and damaged documents",
       "script/test --full --only standard",
       [{:step, "standard", "cargo test"}, {:step, "standard", "cargo test, scalar"}]},
      {"Both engines return the same terms, bytes and errors",
       "every vector, generated documents and terms, in each engine", "script/test --full --only standard",
       [{:step, "standard", "mix test, native"}, {:step, "standard", "mix test, wasm"}]},
      {"The same on Elixir 1.18 and OTP 27", "the Mix tests in a Debian root",
       "script/test --full --only usual_elixir", [{:part, "usual_elixir"}]},
      {"The same on the newest Elixir and OTP", "the Mix tests in a Debian root",
       "script/test --full --only newest_elixir", [{:part, "newest_elixir"}]},
      {"The same there with wasmex and the other optional packages",
       "the Mix tests, and Jason's on the stand-in", "script/test --full --only with_packages",
       [{:part, "with_packages"}]},
      {"`decode/3`, `encode!/1` and the Erlang functions do what those of `JSON` and `json` do",
       "the tests of Elixir and OTP", "script/json_tests", [:json_tests]},
      {"A call in the sandbox ends in a term or an error within its limits",
       "modules that trap, loop, grow, recurse, write out of bounds and lie (`test/sandbox`)",
       "script/test --full --only standard", [{:step, "standard", "mix test, wasm"}]},
      {"Time in proportion to the size of the input, within memory, deadlines and turns of a scheduler",
       "every public function, on every shape of input up to 5 MB, and with every option up to 1 MB",
       "script/sweep", [:swept]},
      {"No memory error in the native library",
       "AddressSanitizer in the VM, also for escapes and a long run at each length at which a buffer grows",
       "script/test --full --only asan",
       [
         {:step, "asan", "AddressSanitizer: mix test, native"},
         {:step, "asan", "AddressSanitizer: mix test, wasm"}
       ]},
      {"The sandbox has a queue. It never gives a place to two callers. It never forgets a caller. It sends nothing after a call has ended",
       "two or three callers that come, wait, give up, die or are suspended, in all orders or in those with at most five switches (loom); faults put into its sources",
       "script/test --full --only model", [{:step, "model", "model: cargo test"}]},
      {"Tests notice changes of the code",
       "operators, conditions, branches and results of functions in the sources that read, judge and limit, changed one at a time",
       "script/mutants", [:mutants]},
      {"No undefined behaviour in the core", "Miri", "script/test --full --only miri", [{:part, "miri"}]},
      {"No input crashes it", "fuzz targets, each for a minute to half an hour of processor time",
       "script/fuzz", [:fuzzed]},
      {"Archives for Linux load on glibc 2.28 and newer",
       "what the library needs is read from it; a program opens it in Debian 11 and 12, and Erlang loads it in Debian 12",
       "script/test --full --only archives",
       for(
         title <- ["glibc 2.28", "load in bullseye", "load in bookworm"],
         do: {:step, "archives", "archives: " <> title}
       )},
      {"Archives for musl need no `libgcc_s`",
       "what the library needs is read from it; a program opens it in a root that has only musl",
       "script/test --full --only archives",
       [{:step, "archives", "archives: musl"}, {:step, "archives", "archives: load on musl"}]},
      {"No dependency has a known vulnerability", "cargo-deny", "script/test --full --only dependencies",
       [{:part, "dependencies"}]}
    ]
  end

  defp result(:swept, %{"sweep" => _} = records), do: Sweep.result(records)
  defp result(:mutants, %{"mutants" => %{"mutants" => [_ | _]}} = records), do: Mutants.result(records)

  defp result(:enumerated, %{"enumeration" => record}) do
    rows = record["enumerated"] || []

    sum = fn at ->
      rows
      |> Enum.map(&(&1 |> Enum.at(at) |> String.to_integer()))
      |> Enum.sum()
      |> Integer.to_string()
      |> number()
    end

    "#{sum.(4)} comparisons, all equal (#{commit(record)})"
  end

  defp result(:json_tests, %{"json_tests" => record}) do
    rows = record["json_tests"] || []
    sum = fn at -> rows |> Enum.map(&(&1 |> Enum.at(at) |> String.to_integer())) |> Enum.sum() end
    "#{number("#{sum.(3)}")} equal, #{sum.(4)} different as documented (#{commit(record)})"
  end

  defp result(:fuzzed, %{"fuzz" => %{"fuzz" => [_ | _]} = record}) do
    sum = fn at -> record["fuzz"] |> Enum.map(&(&1 |> Enum.at(at) |> int())) |> Enum.sum() end
    dates = for row <- record["fuzz"], do: Enum.at(row, 8)

    "#{length(record["fuzz"])} targets, #{number(sum.(2))} executions in #{div(sum.(1), 60)} minutes, #{sum.(6)} findings open (#{Enum.min(dates)} to #{Enum.max(dates)})"
  end

  defp result({:part, _part} = step, %{"full" => _} = records), do: Full.result(step, records)
  defp result({:step, _part, _title} = step, %{"full" => _} = records), do: Full.result(step, records)
  defp result(_, _records), do: "not run"
end
