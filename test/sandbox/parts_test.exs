defmodule RustyJson.Sandbox.PartsTest do
  @moduledoc "What a term costs in External Term Format is known before the VM writes it, in little time, however its parts are shared."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.{EncodeError, SandboxError}
  alias RustyJson.Test.{Clock, Judge}
  alias RustyJson.Wasm.Parts

  @memory 268_435_456

  defp fit(term, limits \\ %{}),
    do: Parts.fit(term, Map.merge(%{max_bytes: 0, max_memory: @memory, deadline: :infinity}, limits))

  # Twelve maps in each map share the next one, down to one text: a few hundred words that are written 50 GB long.
  defp wide(leaf), do: Enum.reduce(1..5, leaf, fn _, t -> Map.new(1..12, &{&1, t}) end)
  defp doubled(leaf, levels), do: Enum.reduce(1..levels, leaf, fn _, t -> [t, t] end)
  defp soon(milliseconds), do: System.monotonic_time(:millisecond) + milliseconds

  test "shared parts are counted as often as they are written" do
    text = String.duplicate("x", 200_000)

    for term <- [
          wide(text),
          doubled(text, 40),
          doubled({text}, 40),
          doubled(%{"a" => text}, 40),
          [doubled(text, 30) | :tail]
        ] do
      Clock.within(1, fn -> assert fit(term) == :too_large end, 20)
      Clock.within(1, fn -> assert fit(term, %{max_bytes: 2_000}) == :too_large end, 20)
    end

    # A function is written with what it holds.
    held = doubled(text, 40)
    assert fit([fn -> held end]) == :too_large
    assert fit(%{doubled(text, 40) => 1}) == :too_large
  end

  test "small parts are too many for a short text, or take too long to count" do
    assert fit(doubled(1, 60), %{max_bytes: 2_000}) == :too_many
    Clock.within(200, fn -> assert fit(doubled(1, 60), %{deadline: soon(20)}) == :late end)
    # Two bytes each: the memory ends it.
    assert fit(doubled(1, 60), %{max_memory: 1_000_000}) == :too_large
  end

  test "long names of atoms are counted" do
    name = String.to_atom(String.duplicate("n", 255))
    assert fit(List.duplicate(name, 1_000), %{max_memory: 260_000}) == :ok
    assert fit(List.duplicate(name, 1_000), %{max_memory: 250_000}) == :too_large
    assert fit(List.duplicate(:a, 1_000), %{max_memory: 10_000}) == :ok
  end

  test "the sum is that of the external format" do
    for part <- [300, -1, 2.5, "text", {1, 2}, %{"a" => 1}, ["a"], 12 ** 300, <<1::3>>, self(), make_ref()] do
      term = List.duplicate(part, 5_000)
      size = :erlang.external_size(term)
      assert fit(term, %{max_memory: div(size * 101, 100)}) == :ok, inspect(part)
      assert fit(term, %{max_memory: div(size * 98, 100)}) == :too_large, inspect(part)
    end
  end

  for {name, options} <- Judge.engines(), name in [:native, :wasmex] do
    test "#{name}: a term that shares its parts is an error at once, with or without max_bytes" do
      text = String.duplicate("x", 200_000)
      options = unquote(options)

      assert {:error, %EncodeError{reason: :max_bytes}} =
               RustyJson.encode(wide(text), [max_bytes: 2_000] ++ options)

      Clock.within(1, fn -> RustyJson.encode(wide(text), [max_bytes: 2_000] ++ options) end, 20)

      if unquote(name) == :wasmex do
        assert {:error, %SandboxError{reason: :memory_limit}} = RustyJson.encode(wide(text), options)

        assert {:error, %SandboxError{reason: :timeout}} =
                 RustyJson.encode(doubled(1, 60), [timeout: 50] ++ options)
      end
    end
  end
end
