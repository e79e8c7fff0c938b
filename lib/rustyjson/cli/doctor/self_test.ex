defmodule RustyJson.CLI.Doctor.SelfTest do
  @moduledoc false
  # A few calls with known results, in one engine.

  alias RustyJson.CLI.Settings
  alias RustyJson.Options.Values
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
    options = sandbox_defaults(options) ++ options
    {time, results} = :timer.tc(fn -> for {name, check} <- checks(options), do: {name, attempt(check)} end)

    case Enum.find(results, fn {_, outcome} -> outcome != true end) do
      nil -> {:ok, "#{Enum.map_join(results, ", ", &elem(&1, 0))} (#{div(time, 1000)} ms)"}
      {name, outcome} -> {:error, "#{name}: #{show(outcome)}"}
    end
  end

  # A configured limit may be smaller than a check needs, or stop it before the limit that it is about.
  defp sandbox_defaults(options) do
    if options[:engine] == :wasm,
      do: for(name <- [:timeout, :max_memory], do: {name, Values.entry!(:decode, name).default}),
      else: []
  end

  defp checks(options), do: documents(options) ++ sandbox(options)

  defp documents(options) do
    [
      {"decode", fn -> decode!(@text, options) === @term || "the result differs" end},
      {"encode", fn -> @term |> encode!(options) |> decode!(options) === @term || "the result differs" end},
      {"errors",
       fn ->
         error(options) == {:trailing_comma, 8, "/a/1"} || "the error differs: #{inspect(error(options))}"
       end},
      {"a large document", fn -> large(options) end}
    ]
  end

  defp decode!(text, options), do: RustyJson.decode!(text, Settings.unlimited(:decode) ++ options)
  defp encode!(term, options), do: RustyJson.encode!(term, Settings.unlimited(:encode) ++ options)

  defp error(options) do
    {:error, %DecodeError{} = error} =
      RustyJson.decode(~S({"a":[1,]}), Settings.unlimited(:decode) ++ options)

    {error.reason, error.position, error.path}
  end

  defp large(options) do
    list = Enum.to_list(1..200_000)
    list |> encode!(options) |> decode!(options) === list || "the result differs"
  end

  # Only the wasm engine can be interrupted.
  defp sandbox(options) do
    if options[:engine] == :wasm,
      do: [
        {"time limit", fn -> stopped(options, 8_000_000, [:timeout, :busy], timeout: 10) end},
        {"memory limit", fn -> stopped(options, 3_000_000, [:memory_limit], max_memory: 4 * 1024 * 1024) end},
        {"the next call", fn -> decode!("[1]", options) == [1] || "the result differs" end}
      ],
      else: []
  end

  # No machine decodes this many arrays in this time. A busy one may not even get an instance.
  defp stopped(options, arrays, reasons, limit) do
    document = "[" <> String.duplicate("[],", arrays) <> "0]"

    case RustyJson.decode(document, Settings.unlimited(:decode) ++ options ++ limit) do
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
