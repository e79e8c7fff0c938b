defmodule RustyJson.Encode.LongListsTest do
  # A stack that grows with the elements is copied by the VM in one go, and holds a scheduler for as long: 14 ms for 5 MB.
  use ExUnit.Case, async: true

  alias RustyJson.Long
  alias RustyJson.Test.Judge

  defmodule Watched do
    defstruct [:to, :number]

    defimpl RustyJson.Encoder do
      def encode(%{to: to, number: number}, _options) do
        send(to, {:stack, Process.info(self(), :stack_size)})
        Integer.to_string(number)
      end
    end
  end

  defmodule Around do
    defstruct [:items]

    defimpl RustyJson.Encoder do
      def encode(%{items: items}, options), do: RustyJson.Encode.list(items, options)
    end
  end

  @count 5_000
  # Words that the stack may grow by.
  @slack 200

  for engine <- Keyword.keys(Judge.engines()) do
    @tag :once
    @tag engine: engine
    test "structs with encoders of their own, in a list and inside of maps (#{engine})", %{engine: engine} do
      options = Judge.engines()[engine]
      watched = for number <- 1..@count, do: %Watched{to: self(), number: number}

      for term <- [watched, Enum.map(watched, &%{"a" => &1})] do
        assert "[" <> _ = RustyJson.encode!(term, options)
        assert growth() <= @slack
      end

      assert "[1," <> _ = RustyJson.encode!(%Around{items: watched}, options)
      assert growth() <= @slack
    end
  end

  test "elements and members of protocol_encode/2" do
    encoder = fn value, _encoder ->
      if is_integer(value), do: send(self(), {:stack, Process.info(self(), :stack_size)})
      inspect(value)
    end

    for term <- [
          Enum.to_list(1..@count),
          RustyJson.OrderedObject.new(for number <- 1..@count, do: {"a", number})
        ] do
      assert IO.iodata_length(RustyJson.protocol_encode(term, encoder)) > @count
      assert growth() <= @slack
    end
  end

  test "what was gathered is put in order by code that counts its work" do
    {done, expected} = {Enum.reverse(1..@count), Enum.to_list(1..@count) ++ [:last]}
    before = reductions()
    list = Long.in_order(done, [:last])
    assert reductions() - before >= @count
    assert list == expected
  end

  defp reductions, do: self() |> Process.info(:reductions) |> elem(1)

  defp growth do
    sizes = received([])
    assert length(sizes) == @count
    Enum.max(sizes) - Enum.min(sizes)
  end

  defp received(sizes) do
    receive do
      {:stack, {:stack_size, size}} -> received([size | sizes])
    after
      0 -> sizes
    end
  end
end
