defmodule RustyJson.CLI.Doctor.SelfTest do
  @moduledoc false
  # A few calls with known results, in one engine.

  alias RustyJson.{DecodeError, SandboxError}

  @text ~S({"text":"é\u00e9\n\"\ud83d\ude00","numbers":[0,-1,2.5,1e3,123456789012345678901234567890],"nested":[[],{}],"no":null})
  @term %{
    "text" => "éé\n\"😀",
    "numbers" => [0, -1, 2.5, 1000.0, 123_456_789_012_345_678_901_234_567_890],
    "nested" => [[], %{}],
    "no" => nil
  }

  @doc "Runs the checks; returns what was done, or the first failure."
  @spec run(keyword()) :: {:ok, String.t()} | {:error, String.t()}
  def run(options) do
    {time, results} = :timer.tc(fn -> for {name, check} <- checks(options), do: {name, attempt(check)} end)

    case Enum.find(results, fn {_, outcome} -> outcome != true end) do
      nil -> {:ok, "#{Enum.map_join(results, ", ", &elem(&1, 0))} (#{div(time, 1000)} ms)"}
      {name, outcome} -> {:error, "#{name}: #{show(outcome)}"}
    end
  end

  defp checks(options), do: documents(options) ++ sandbox(options)

  defp documents(options) do
    [
      {"decode", fn -> RustyJson.decode!(@text, options) === @term || "the result differs" end},
      {"encode",
       fn -> again(RustyJson.encode!(@term, options), options) === @term || "the result differs" end},
      {"errors",
       fn ->
         error(options) == {:trailing_comma, 8, "/a/1"} || "the error differs: #{inspect(error(options))}"
       end},
      {"a large document", fn -> large(options) end}
    ]
  end

  defp again(json, options), do: RustyJson.decode!(json, options)

  defp error(options) do
    {:error, %DecodeError{} = error} = RustyJson.decode(~S({"a":[1,]}), options)
    {error.reason, error.position, error.path}
  end

  defp large(options) do
    list = Enum.to_list(1..200_000)
    RustyJson.decode!(RustyJson.encode!(list, options), options) === list || "the result differs"
  end

  # Only the wasm engine can be interrupted.
  defp sandbox(options) do
    if options[:engine] == :wasm,
      do: [
        {"time limit", fn -> stopped(options, 8_000_000, [:timeout, :busy], timeout: 10) end},
        {"memory limit", fn -> stopped(options, 3_000_000, [:memory_limit], max_memory: 4 * 1024 * 1024) end},
        {"the next call", fn -> RustyJson.decode!("[1]", options) == [1] || "the result differs" end}
      ],
      else: []
  end

  # No machine decodes this many arrays in this time. A busy one may not even get an instance.
  defp stopped(options, arrays, reasons, limit) do
    document = "[" <> String.duplicate("[],", arrays) <> "0]"

    case RustyJson.decode(document, options ++ limit) do
      {:ok, _term} -> "was not stopped"
      {:error, %SandboxError{reason: reason} = error} -> reason in reasons || another(error)
      {:error, error} -> another(error)
    end
  end

  defp another(error), do: "stopped by another limit: #{Exception.message(error)}"

  defp attempt(check) do
    check.()
  rescue
    error -> Exception.message(error)
  end

  defp show(text) when is_binary(text), do: text
  defp show(other), do: inspect(other, limit: 5)
end
