defmodule RustyJson.OutOfMemoryTest do
  @moduledoc "Memory that runs out while a list of the library grows, each time in a VM of its own: the call ends with an error, and the VM survives."

  use ExUnit.Case, async: false

  alias RustyJson.Test.{Judge, OtherVM}

  @moduletag :once
  @moduletag :heavy
  @moduletag timeout: 300_000

  @sandbox "engine: :wasm, host: :built_in, max_memory: 1_500_000_000, timeout: 60_000"

  if Judge.available?(:native) do
    unless System.find_executable("prlimit"),
      do: @moduletag(skip: "there is no prlimit to take memory away")

    # A name, the input, the megabytes of memory left, the call, and its outcome. The VM survives, and the next call works.
    for {name, setup, megabytes, call, outcome} <- [
          {"a text", ~S|String.duplicate(<<0>>, 100_000_000)|, 300, "RustyJson.encode(input)",
           "{:error, %RustyJson.EncodeError{reason: :out_of_memory}}"},
          {"a term that shares itself", "60", 500,
           "RustyJson.encode(Enum.reduce(1..input, \"x\", fn _, inner -> [inner, inner] end))",
           "{:error, %RustyJson.EncodeError{reason: :out_of_memory}}"},
          {"open brackets", ~S|String.duplicate("[", 80_000_000)|, 200,
           "RustyJson.decode(input, max_depth: :infinity)",
           "{:error, %RustyJson.DecodeError{reason: :out_of_memory}}"},
          {"the path of an error",
           ~S|IO.iodata_to_binary(["{\"", String.duplicate("k", 100_000_000), "\": x}"])|, 60,
           "RustyJson.decode(input)",
           "{:error, %RustyJson.DecodeError{reason: :expected_value, path: \"/kkk\" <> _}}"},
          {"the path of a deep error", ~S|String.duplicate("[", 16_000_000)|, 900,
           "RustyJson.decode(input, max_depth: :infinity)",
           "{:error, %RustyJson.DecodeError{reason: :unexpected_end, path: \"/0/0\" <> _}}"},
          {"an invalid string", ~S|String.duplicate("a", 200_000_000) <> <<255>>|, 250,
           "RustyJson.encode(input)", "{:error, %RustyJson.EncodeError{reason: :invalid_utf8, path: \"\"}}"},
          {"values that wait", ~S|"[" <> String.duplicate("1,", 40_000_000) <> "1]"|, 200,
           "RustyJson.decode(input)", "{:error, %RustyJson.DecodeError{reason: :out_of_memory}}"},
          {"a string", ~S|IO.iodata_to_binary([?", String.duplicate("a", 300_000_000), ?"])|, 100,
           "RustyJson.decode(input, strings: :copy)",
           "{:error, %RustyJson.DecodeError{reason: :out_of_memory}}"},
          {"an unescaped string", ~S|IO.iodata_to_binary([?", String.duplicate("\\n", 100_000_000), ?"])|, 50,
           "RustyJson.decode(input)", "{:error, %RustyJson.DecodeError{reason: :out_of_memory}}"},
          {"deep lists", "Deep.lists(4_000_000)", 60, "RustyJson.encode(input, max_depth: :infinity)",
           "{:error, %RustyJson.EncodeError{reason: :out_of_memory}}"},
          {"deep maps", "Deep.maps(4_000_000)", 60, "RustyJson.encode(input, max_depth: :infinity)",
           "{:error, %RustyJson.EncodeError{reason: :out_of_memory}}"},
          {"deep maps without a secret", "Deep.maps(4_000_000)", 150,
           "RustyJson.encode(input, max_depth: :infinity, redact: [\"secret\"])",
           "{:error, %RustyJson.EncodeError{reason: :out_of_memory}}"},
          {"deep sorted maps", "Deep.maps(4_000_000)", 150,
           "RustyJson.encode(input, max_depth: :infinity, sort_keys: true)",
           "{:error, %RustyJson.EncodeError{reason: :out_of_memory}}"},
          {"members that are compared", "Map.new(1..2_000_000, &{&1, 0})", 160,
           "RustyJson.encode(input, maps: :strict)",
           "{:error, %RustyJson.EncodeError{reason: :out_of_memory}}"},
          {"members that are gathered", "Map.new(1..2_000_000, &{&1, 0})", 60,
           "RustyJson.encode(input, sort_keys: true)",
           "{:error, %RustyJson.EncodeError{reason: :out_of_memory}}"},
          {"terms that are left to Elixir", "List.duplicate(self(), 5_000_000)", 60,
           "RustyJson.encode(input)", "{:error, %RustyJson.EncodeError{reason: :out_of_memory}}"},
          {"deep iodata of a fragment", "RustyJson.Fragment.new(Deep.lists(10_000_000))", 60,
           "RustyJson.encode(input)", "{:error, %RustyJson.EncodeError{reason: :out_of_memory}}"},
          {"objects out of order", ~S|"[" <> String.duplicate(~s({"b":1,"a":2},), 2_000_000) <> "1]"|, 130,
           "RustyJson.canonicalize(input)", "{:error, %RustyJson.DecodeError{reason: :out_of_memory}}"},
          {"deep lists in the sandbox", "Deep.lists(4_000_000)", 100,
           "RustyJson.encode(input, max_depth: :infinity, #{@sandbox})",
           "{:error, %RustyJson.SandboxError{reason: :unavailable}}"},
          {"members that are compared in the sandbox", "Map.new(1..2_000_000, &{&1, 0})", 160,
           "RustyJson.encode(input, maps: :strict, #{@sandbox})",
           "{:error, %RustyJson.SandboxError{reason: :unavailable}}"},
          {"terms of the sandbox that are left to Elixir", "List.duplicate(self(), 5_000_000)", 130,
           "RustyJson.encode(input, #{@sandbox})", "{:error, %RustyJson.SandboxError{reason: :unavailable}}"},
          # The module has its answer; there is no memory for a term.
          {"decimals of the sandbox", ~S|"[" <> String.duplicate("1.5,", 2_000_000) <> "1]"|, 350,
           "RustyJson.decode(input, floats: :decimals, #{@sandbox})",
           "{:error, %RustyJson.SandboxError{reason: :unavailable}}"},
          # The module has its text; there is no memory for a copy.
          {"a text of the sandbox", ~S|String.duplicate("a", 200_000_000)|, 750,
           "RustyJson.encode(input, #{@sandbox})", "{:error, %RustyJson.SandboxError{reason: :unavailable}}"}
        ] do
      @tag code: {setup, megabytes, call, outcome}
      test name, %{code: {setup, megabytes, call, outcome}} do
        assert {output, 0} = other_vm(setup, megabytes, call, outcome)
        assert output =~ "as it should be"
      end
    end
  end

  defp other_vm(setup, megabytes, call, outcome) do
    code = """
    {:ok, _} = Application.ensure_all_started(:rustyjson)
    {:ok, [1]} = RustyJson.decode("[1]", engine: :native)
    {:ok, "[1]"} = RustyJson.encode([1], engine: :native)
    defmodule Deep do
      def lists(levels), do: Enum.reduce(1..levels, "1", fn _, inner -> [inner] end)
      def maps(levels), do: Enum.reduce(1..levels, 1, fn _, inner -> %{a: inner} end)
    end

    # Leftovers are freed with the process that made them, and no collection copies the input.
    Task.async(fn -> :persistent_term.put(:input, #{setup}) end) |> Task.await(:infinity)
    input = :persistent_term.get(:input)
    Process.sleep(100)
    [size] = Regex.run(~r/VmSize:\\s+(\\d+)/, File.read!("/proc/self/status"), capture: :all_but_first)
    limit = String.to_integer(size) * 1024 + #{megabytes} * 1_000_000
    {_, 0} = System.cmd("prlimit", ["--pid", System.pid(), "--as=\#{limit}"])

    outcome =
      try do
        #{call}
      rescue
        error -> error
      end

    #{outcome} = outcome
    {:ok, [1]} = RustyJson.decode("[1]", engine: :native)
    {:ok, "[1]"} = RustyJson.encode([1], engine: :native)
    IO.puts("as it should be")
    """

    # Without a cache of memory that is free, and without memory that an allocator has in reserve.
    reserve = [{"MIMALLOC_DISALLOW_ARENA_ALLOC", "1"}, {"MIMALLOC_ARENA_RESERVE", "0"}]
    OtherVM.run(code, ["--erl", "+MMmcs 0"], reserve)
  end
end
