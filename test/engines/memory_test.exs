defmodule RustyJson.MemoryTest do
  @moduledoc "Which decoded strings keep the input alive, by `:binary.referenced_byte_size/1`."

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.Test.Judge

  @long 65
  @short 64

  for {name, options} <- Judge.engines() do
    @tag engine: name, options: options
    test "#{name}: short strings and keys never pin the input", %{options: options} do
      term = RustyJson.decode!(document(), options)
      for text <- ["short", "nested"], do: assert_own(term[text])
      for key <- Map.keys(term), byte_size(key) <= @short, do: assert_own(key)
    end

    @tag engine: name, options: options
    test "#{name}: strings: :copy pins nothing, of any length, with or without escapes", %{options: options} do
      kept = fn key -> key end

      for keys <- [:strings, :copy, :intern, kept], objects <- [:maps, :ordered_objects] do
        term = RustyJson.decode!(document(), [strings: :copy, keys: keys, objects: objects] ++ options)
        for {key, text} <- term, is_binary(text), do: Enum.each([key, text], &assert_own/1)
      end
    end

    @tag engine: name, options: options
    test "#{name}: keys: :copy pins nothing by its keys", %{options: options} do
      term = RustyJson.decode!(document(), [keys: :copy] ++ options)
      for key <- Map.keys(term), do: assert_own(key)
    end

    @tag engine: name, options: options
    test "#{name}: unescaped strings never pin the input", %{options: options} do
      assert_own(RustyJson.decode!(document(), options)["escaped"])
    end
  end

  if Judge.available?(:native) do
    test "native: long strings are parts of the input" do
      json = document()
      term = RustyJson.decode!(json, engine: :native)
      assert :binary.referenced_byte_size(term["long"]) == byte_size(json)
    end
  end

  if Judge.available?(:native) and File.regular?("/proc/self/stat") do
    # A new page costs about as much as writing text into it. The VM usually keeps the memory of the last text.
    test "native: encoding large documents takes few page faults" do
      for size <- [200_000, 1_500_000, 10_000_000] do
        record = %{"id" => 1, "name" => "Customer", "email" => "customer@example.com", "score" => 1.5}
        term = List.duplicate(record, div(size, 70))
        pages = div(byte_size(RustyJson.encode!(term, engine: :native)), 4096)

        encode = fn ->
          Task.await(Task.async(fn -> byte_size(RustyJson.encode!(term, engine: :native)) end))
        end

        for _ <- 1..3, do: encode.()
        least = Enum.min(for _ <- 1..10, do: faults(encode))
        assert least <= 1.2 * pages, "#{least} page faults for #{pages} pages"
      end
    end

    defp faults(run) do
      before = minor_faults()
      run.()
      minor_faults() - before
    end

    defp minor_faults do
      [_, fields] = "/proc/self/stat" |> File.read!() |> String.split(") ", parts: 2)
      fields |> String.split(" ") |> Enum.at(7) |> String.to_integer()
    end
  end

  for {name, options} <- Judge.engines(), name != :native do
    @tag options: options
    test "#{name}: strings are always copies", %{options: options} do
      term = RustyJson.decode!(document(), options)
      for {key, text} <- term, is_binary(text), do: Enum.each([key, text], &assert_own/1)
    end
  end

  defp document do
    members = %{
      "short" => String.duplicate("s", @short),
      "long" => String.duplicate("l", @long * 10),
      "long #{String.duplicate("key", 40)}" => "x",
      "filler" => List.duplicate(1, 10_000)
    }

    # Two members written by hand: a deeply nested string, and one with an escape.
    body = members |> RustyJson.encode!() |> String.trim_leading("{")
    ~s({"nested":"#{String.duplicate("n", 20)}","escaped":"#{String.duplicate("e", 500)}\\n",) <> body
  end

  # Strings of up to 64 bytes are on the heap, and OTP 27 reports their size in bits. The VM may allocate a little more than the
  # size of a longer one.
  defp assert_own(text) do
    referenced = :binary.referenced_byte_size(text)
    most = if byte_size(text) <= @short, do: 8 * @short, else: 2 * byte_size(text)
    assert referenced <= most, "#{byte_size(text)} bytes pin #{referenced}"
  end
end
