defmodule RustyJson.InPlaceTest do
  @moduledoc "Terms in each form that the VM has for them: the native engine reads some of them without asking the VM."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Test.Judge

  for {name, options} <- Judge.engines() do
    @tag options: options
    test "#{name}: binaries of every short length, on the heap, elsewhere, and as parts", %{options: options} do
      whole = for n <- 1..200, into: "", do: <<?a + rem(n, 26)>>

      for length <- 0..70, start <- [0, 1, 7] do
        part = binary_part(whole, start, length)
        <<_::3, unaligned::bitstring>> = <<5::3, part::binary>>

        for text <- [part, :binary.copy(part), unaligned],
            do:
              assert(
                RustyJson.encode([text, %{text => text}], options) ==
                  {:ok, ~s(["#{part}",{"#{part}":"#{part}"}])}
              )
      end
    end

    @tag options: options
    test "#{name}: bits that are no bytes", %{options: options} do
      long = :binary.copy("x", 100)

      for bits <- [
            <<1::1>>,
            <<1::7>>,
            <<1, 1::3>>,
            <<long::binary, 1::1>>,
            <<binary_part(long, 0, 80)::binary, 1::2>>
          ] do
        assert {:error, %{__exception__: true}} = RustyJson.encode([bits], options)
        assert {:error, %{__exception__: true}} = RustyJson.encode(%{bits => 1}, options)
      end
    end

    @tag options: options
    test "#{name}: maps of every small size and beyond", %{options: options} do
      for size <- Enum.concat(0..40, [64, 65, 200]) do
        strings = Map.new(1..size//1, &{"key #{&1}", &1 / 2})
        assert {:ok, json} = RustyJson.encode(strings, options)
        assert RustyJson.decode(json, options) == {:ok, strings}
        atoms = Map.new(1..size//1, &{:"in_place_#{&1}", [&1, [], %{}]})
        assert {:ok, json} = RustyJson.encode(atoms, options)
        assert RustyJson.decode(json, [keys: :atoms] ++ options) == {:ok, atoms}
        assert RustyJson.encode(Map.put(strings, :__struct__, "no module"), options) |> elem(0) == :ok
      end
    end

    @tag options: options
    test "#{name}: lists and floats", %{options: options} do
      assert RustyJson.encode([[], [1], [1, [2.5 | [-0.0]]]], options) == {:ok, "[[],[1],[1,[2.5,-0.0]]]"}
      assert {:error, %{reason: :improper_list}} = RustyJson.encode([1 | 2], options)
      assert {:error, %{reason: :improper_list}} = RustyJson.encode([1, [2 | "x"]], options)
      floats = for n <- -40..40, do: :math.pow(10, n) * 1.7
      assert {:ok, json} = RustyJson.encode(floats, options)
      assert RustyJson.decode(json, options) == {:ok, floats}
    end
  end
end
