defmodule RustyJson.Sandbox.LanesTest do
  @moduledoc "wasmex: calls of several processes in one instance, one behind the other, and the instance of a long call."

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.SandboxError
  alias RustyJson.Test.{Guest, WasmHosts}

  import RustyJson.Test.WasmHosts, only: [with_guest: 3]

  if reason = WasmHosts.missing(:wasmex) || Guest.missing(), do: @moduletag(skip: reason)

  @options [engine: :wasm, host: :wasmex, timeout: 10_000, pool_size: 1]

  # Answers with the number of documents since the instance was made, as a text of three digits; one that starts with `!` traps, one with
  # `?` takes about as long as there are question marks.
  @counting """
  (global.set $count (i32.add (global.get $count) (i32.const 1)))
  """

  defp guest(fault), do: Guest.wasm(fault: fault, extra: "(global $count (mut i32) (i32.const 0))")

  defp together(documents, options \\ @options) do
    documents
    |> Enum.map(fn document -> Task.async(fn -> RustyJson.decode(document, options) end) end)
    |> Task.await_many(60_000)
  end

  test "calls sent behind one that traps are sent again, and each gets its own answer" do
    with_guest(:wasmex, guest("#{@counting} (unreachable)"), fn ->
      for _ <- 1..20 do
        answers = together(List.duplicate("1", 10) ++ ["!"] ++ List.duplicate("2", 20) ++ ["!!", "3"])
        {faults, rest} = Enum.split_with(answers, &match?({:error, _}, &1))
        assert [{:error, %SandboxError{reason: :trap}}, {:error, %SandboxError{reason: :trap}}] = faults
        assert rest == List.duplicate({:ok, nil}, 31)
      end

      assert %{running: 0, waiting: 0} = RustyJson.stats().wasmex
    end)
  end

  test "calls sent behind one without end have their whole time once it is stopped" do
    with_guest(:wasmex, Guest.wasm(fault: Guest.fault(:loop)), fn ->
      slow = Task.async(fn -> RustyJson.decode("!", Keyword.put(@options, :timeout, 700)) end)
      assert eventually(fn -> RustyJson.stats().wasmex.running == 1 end)
      # They were sent, or queue, for longer than what they may run.
      behind = for _ <- 1..30, do: Task.async(fn -> RustyJson.decode("1", @options) end)
      assert {:error, %SandboxError{reason: :timeout}} = Task.await(slow)
      assert Enum.all?(Task.await_many(behind, 30_000), &(&1 == {:ok, nil}))
    end)
  end

  test "who gives up while it waits behind others is told so, and is not run again" do
    with_guest(:wasmex, Guest.wasm(fault: Guest.fault(:loop)), fn ->
      slow = Task.async(fn -> RustyJson.decode("!", Keyword.put(@options, :timeout, 600)) end)
      assert eventually(fn -> RustyJson.stats().wasmex.running == 1 end)
      short = Keyword.put(@options, :timeout, 100)

      for answer <- together(List.duplicate("!", 8), short),
          do: assert({:error, %SandboxError{reason: :busy}} = answer)

      assert {:error, %SandboxError{reason: :timeout}} = Task.await(slow)
      assert RustyJson.decode("1", @options) == {:ok, nil}
    end)
  end

  test "records longer than expected, from other places, of callers at once" do
    # Each pair of letters becomes a key and a value: five bytes of text, and eleven of a term.
    long = fn n -> "[" <> Enum.map_join(1..n, ",", fn i -> ~s({"#{rem(i, 10)}":1}) end) <> "]" end
    documents = for n <- [1, 2_000, 3, 700, 5, 4_000, 1], do: long.(n)
    expected = for document <- documents, do: RustyJson.decode(document, engine: :wasm, host: :wasmex)

    for _ <- 1..10 do
      assert together(documents ++ documents) == expected ++ expected

      pretty =
        for {:ok, term} <- expected,
            do: Task.async(fn -> RustyJson.encode!(term, [pretty: true] ++ @options) end)

      for {text, {:ok, term}} <- Enum.zip(Task.await_many(pretty), expected),
          do: assert(RustyJson.decode!(text) == term)
    end
  end

  test "a long document has an instance of its own, and neither kind of call starves" do
    long = "[" <> String.duplicate("1.5,", 100_000) <> "1]"
    {:ok, floats} = RustyJson.decode(long, @options)

    short =
      for _ <- 1..8,
          do: Task.async(fn -> for _ <- 1..200, do: {:ok, [1]} = RustyJson.decode("[1]", @options) end)

    for _ <- 1..5, do: assert(RustyJson.decode(long, @options) == {:ok, floats})
    Task.await_many(short, 60_000)
    assert %{running: 0, waiting: 0, kept: kept} = RustyJson.stats().wasmex
    assert kept >= 1
  end

  test "a lie ends the instance for the calls behind it too" do
    # The second byte says that a term follows; what follows is a reference.
    with_guest(:wasmex, Guest.wasm(data: <<1, 131, 90>>), fn ->
      for _ <- 1..10 do
        answers = together(["!" | List.duplicate("1", 15)])
        assert [{:error, %SandboxError{reason: :invalid_result}} | rest] = answers
        assert Enum.all?(rest, &(&1 == {:ok, nil}))
      end
    end)
  end

  test "records in memory that is new" do
    beyond = Guest.memory() + 8

    grow = """
    (drop (memory.grow (i32.const 1)))
    (memory.copy (i32.const #{beyond}) (i32.const 16) (i32.const 7))
    (i64.const #{Guest.record(beyond, 7)})
    """

    with_guest(:wasmex, Guest.wasm(fault: grow), fn ->
      for _ <- 1..20 do
        assert Enum.uniq(together(["1", "1", "!", "1", "!", "1", "1"])) == [{:ok, nil}]
      end
    end)
  end

  test "an instance that a short call made grow is found out, and not kept" do
    # Its record is where it was.
    grow = "(drop (memory.grow (i32.const 1000))) (i64.const #{Guest.record(16, 7)})"

    with_guest(:wasmex, Guest.wasm(fault: grow), fn ->
      assert RustyJson.decode("!", @options) == {:ok, nil}
      assert eventually(fn -> RustyJson.stats().wasmex.kept == 0 end)
      assert RustyJson.decode("1", @options) == {:ok, nil}
      assert RustyJson.stats().wasmex.kept == 1
    end)
  end

  test "no answer is left to a caller" do
    with_guest(:wasmex, Guest.wasm(fault: Guest.fault(:trap)), fn ->
      for document <- ["1", "!", "!" <> String.duplicate(" ", 100_000)], isolation <- [:reuse, :fresh] do
        RustyJson.decode(document, [isolation: isolation] ++ @options)
        Process.sleep(20)
        assert {:message_queue_len, 0} = Process.info(self(), :message_queue_len)
      end
    end)
  end

  defp eventually(fun, tries \\ 400) do
    cond do
      fun.() -> true
      tries == 0 -> false
      true -> Process.sleep(5) && eventually(fun, tries - 1)
    end
  end
end
