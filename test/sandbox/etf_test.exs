defmodule RustyJson.Sandbox.EtfTest do
  @moduledoc """
  The judge in Elixir of what the module answers, for the host wasmex, decides like the one in Rust: `core/tests/all/judged.rs` reads the same
  files.
  """

  use ExUnit.Case, async: true

  import Bitwise

  @moduletag :once

  alias RustyJson.{Options, Parts}
  alias RustyJson.Parts.Kind
  alias RustyJson.Wasm.{Etf, Holes, Judge}

  require Kind

  @vectors Path.join(__DIR__, "../vectors")

  defp rows(file) do
    for line <- @vectors |> Path.join(file) |> File.stream!(),
        not String.starts_with?(line, "#"),
        do: line |> String.trim() |> String.split(" ")
  end

  defp bytes("-"), do: ""
  defp bytes(hex), do: Base.decode16!(hex, case: :lower)
  defp words("-"), do: []
  defp words(text), do: String.split(text, "+")

  @decode %{
    "plain" => [],
    "atoms" => [keys: :atoms],
    "decimals" => [floats: :decimals],
    "null" => [null: :null],
    "undefined" => [null: :undefined],
    "ordered" => [objects: :ordered_objects],
    "nodes7" => [max_nodes: 7]
  }

  defp values(text) do
    more = Enum.flat_map(words(text), &Map.fetch!(@decode, &1))
    Options.decode(more ++ [max_depth: 4, decoding_integer_digit_limit: 20]).values
  end

  test "terms, and lists of terms" do
    for [kind, options, length, etf, verdict] = row <- rows("judged.txt") do
      elixir =
        case kind do
          "term" -> Etf.check(bytes(etf), values(options), String.to_integer(length))
          "list" -> Etf.check_list(bytes(etf), values(options), lengths(length))
        end

      # Each fault has a text.
      given =
        case elixir do
          :ok -> "ok"
          {:fault, :invalid_result, text} when is_binary(text) -> "no"
        end

      assert given == verdict, inspect(row)
    end
  end

  defp lengths("-"), do: <<>>

  defp lengths(text),
    do: for(n <- String.split(text, ","), into: <<>>, do: <<String.to_integer(n)::32-little>>)

  @encode %{
    "strict" => [maps: :strict],
    "sort" => [sort_keys: true],
    "plain_structs" => [protocol: false],
    "lean" => [lean: true],
    "pretty" => [pretty: true],
    "depth1" => []
  }

  @faults %{
    "its list of holes is broken" => "list",
    "a hole is not a term of the input" => "place",
    "a hole is a term that it can write" => "written"
  }

  test "holes" do
    {plans, rows} = Enum.split_with(rows("holes.txt"), &(hd(&1) == "plans"))

    plans =
      for ["plans", name, hex] <- plans, into: %{"-" => %{}}, do: {name, :erlang.binary_to_term(bytes(hex))}

    for [words, plan, etf, record | verdict] = row <- rows do
      options = Options.encode(Enum.flat_map(words(words), &Map.fetch!(@encode, &1)))
      options = if "depth1" in words(words), do: Options.at_depth(options, 1), else: options
      later = System.monotonic_time(:millisecond) + 60_000

      given =
        case Holes.find(bytes(record), bytes(etf), Map.fetch!(plans, plan), options.values, later) do
          {:partial, "[]", found} -> found
          {:fault, :invalid_result, text} -> @faults[text]
        end

      assert given == expected(verdict, bytes(etf)), inspect(row)
    end
  end

  defp expected(["ok", holes], etf) do
    for hole <- String.split(holes, ",") do
      [offset, depth, place, start, length] = String.split(hole, ":")
      term = binary_part(etf, String.to_integer(start), String.to_integer(length))

      {String.to_integer(offset), String.to_integer(depth), :erlang.binary_to_term(<<131, term::binary>>),
       String.to_existing_atom(place)}
    end
  end

  defp expected([fault], _etf), do: fault

  test "places of parts that stay text, where a plan asks for them" do
    places = :erlang.term_to_binary([{0, 1}], minor_version: 2)
    plain = Options.decode(raw: [], as: nil)
    assert {:fault, :invalid_result, "tag 104 in the term"} = Etf.check(places, plain.values, 20)

    for planned <- [Options.decode(raw: ["/0"]), Options.with_parts(plain, <<Kind.raw(), 2, 0, 0, 0>>)] do
      {options, length} = Parts.policy(planned, 20)
      assert :ok = Etf.check(places, options.values, length)
    end
  end

  # It would lead pointers astray.
  test "a hole for a fragment that is no JSON, under redact:" do
    etf = :erlang.term_to_binary([RustyJson.Fragment.new("}")], minor_version: 2)
    body = <<1::32-little, 1::32-little, 6::32-little, 1::32-little, "[]">>
    later = System.monotonic_time(:millisecond) + 60_000

    for {options, verdict} <- [{[redact: ["/a/b"]], :partial}, {[], :fault}] do
      values = Options.encode(options).values
      assert elem(Holes.find(body, etf, %{}, values, later), 0) == verdict
    end
  end

  # Each limit accepts the largest answer that is honest, and refuses one more. script/mutants.exs found that nothing else tried these.
  describe "the limit of" do
    defp text(size), do: <<109, size - 5::32, String.duplicate("x", size - 5)::binary>>

    # Atoms in UTF-8, as the module writes them.
    defp etf(term), do: :erlang.term_to_binary(term, minor_version: 2)

    test "bytes, for one document and for each of several" do
      for {options, most} <- [{"-", 4 * 20 + 16}, {"decimals", 24 * 20 + 64}, {"ordered", 24 * 20 + 64}] do
        # The version is one of the bytes of an answer, and not of an element.
        assert :ok = Etf.check(<<131, text(most - 1)::binary>>, values(options), 20)

        assert {:fault, _, "too many bytes in the term"} =
                 Etf.check(<<131, text(most)::binary>>, values(options), 20)

        list = fn size -> <<131, 108, 2::32, text(size)::binary, 97, 1, 106>> end
        assert :ok = Etf.check_list(list.(most), values(options), <<20::32-little, 1::32-little>>)

        assert {:fault, _, "too many bytes in the list"} =
                 Etf.check_list(list.(most + 1), values(options), <<20::32-little, 1::32-little>>)
      end
    end

    test "digits of integers, in bytes" do
      for {digits, length, most} <- [
            {1, 300, 8},
            {20, 300, 9},
            {100, 300, 42},
            {1024, 300, 427},
            {0, 3, 8},
            {0, 12, 12}
          ] do
        values = Options.decode(decoding_integer_digit_limit: digits).values
        integer = fn size -> <<131, 111, size::32, 0, -1::size(size)-unit(8)>> end
        assert :ok = Etf.check(integer.(most), values, length)
        assert {:fault, _, "a broken integer in the term"} = Etf.check(integer.(most + 1), values, length)
      end
    end

    test "keys: a member takes five bytes of the document" do
      for count <- [1, 2, 7] do
        members = for n <- 1..count, into: <<>>, do: <<109, 1::32, n, 97, 1>>
        map = <<131, 116, count::32, members::binary>>
        assert :ok = Etf.check(map, values("-"), 5 * count)
        assert {:fault, _, "too many keys in the term"} = Etf.check(map, values("-"), 5 * count - 1)
      end
    end

    test "elements and values, of each kind" do
      leaves = [1, 300, -70_000, 1 <<< 40, 1 <<< 80, 1.5, "text", true, false, nil, [], %{}]

      for leaf <- leaves do
        <<131, leaf::binary>> = etf(leaf)
        list = fn count -> <<131, 108, count::32, leaf::binary, leaf::binary, 106>> end
        check = &Etf.check(list.(&1), Options.decode(max_nodes: &2).values, 200)
        assert :ok = check.(2, 3)
        assert {:fault, _, "too many values in the term"} = check.(2, 2)
        assert {:fault, :invalid_result, _} = check.(1, 3)
        assert {:fault, _, _} = check.(3, 9)

        map = fn count ->
          <<131, 116, count::32, 109, 1::32, "a", leaf::binary, 109, 1::32, "b", leaf::binary>>
        end

        assert :ok = Etf.check(map.(2), Options.decode(max_nodes: 5).values, 200)

        assert {:fault, _, "too many values in the term"} =
                 Etf.check(map.(2), Options.decode(max_nodes: 4).values, 200)

        assert {:fault, _, "bytes behind the end in the term"} =
                 Etf.check(map.(1), Options.decode([]).values, 200)

        assert {:fault, _, _} = Etf.check(map.(3), Options.decode([]).values, 200)
      end
    end

    test "depth, behind containers that have ended" do
      for shallow <- [[[]], [%{}], [%{"a" => 1}], [[true]]],
          deepest <- [[[[[]]]], [[[%{"a" => 1}]]], [%{"a" => [[]]}]] do
        inside = etf(shallow ++ shallow ++ deepest)
        assert :ok = Etf.check(inside, values("-"), 200)
        beyond = etf(shallow ++ shallow ++ [deepest])
        assert {:fault, _, "nesting in the term"} = Etf.check(beyond, values("-"), 200)
      end
    end
  end

  describe "the deadline" do
    setup do
      {:ok, options: Options.decode(max_nodes: 0), passed: System.monotonic_time(:millisecond) - 1}
    end

    test "ends the walk over many values, and never one over a few", %{options: options, passed: passed} do
      etf = :erlang.term_to_binary(List.duplicate(1, 100_000))
      assert {:fault, :timeout, ""} = Etf.check(etf, options.values, byte_size(etf), passed)
      assert :ok = Etf.check(etf, options.values, byte_size(etf), passed + 60_000)
      assert {:fault, :timeout, ""} = Judge.term(etf, options, byte_size(etf), passed)
      list = :erlang.term_to_binary([List.duplicate(1, 100_000)])
      assert {:fault, :timeout, ""} = Judge.list(list, options, <<byte_size(list)::32-little>>, passed)
    end

    test "ends the search for holes: many, one behind many terms, and one with many parts", %{passed: passed} do
      options = Options.encode(unsupported: :inspect)
      pid = byte_size(:erlang.term_to_binary(self(), minor_version: 2)) - 1

      cases = [
        {List.duplicate(self(), 10_000), fn _length -> for n <- 0..9_999, do: 6 + n * pid end},
        {Enum.to_list(1..100_000) ++ [self()], fn length -> [length - 1 - pid] end},
        {[Enum.to_list(1..100_000) ++ self()], fn _length -> [6] end}
      ]

      for {term, starts} <- cases do
        etf = :erlang.term_to_binary(term, minor_version: 2)
        claims = for start <- starts.(byte_size(etf)), do: <<1::32-little, start::32-little, 1::32-little>>
        body = IO.iodata_to_binary([<<length(claims)::32-little>>, claims, "[]"])
        assert {:partial, "[]", holes} = Holes.find(body, etf, %{}, options.values, passed + 60_000)
        assert length(holes) == length(claims)
        assert {:fault, :timeout, ""} = Holes.find(body, etf, %{}, options.values, passed)
      end
    end

    # A million members take the VM longer than what is left, wherever the walk got to.
    test "holds also for what the VM would then need for a large map", %{options: options} do
      member = fn n -> <<109, 4::32, n::32, 97, 1>> end
      members = for n <- 1..200_000, into: <<>>, do: member.(n)
      etf = <<131, 116, 200_000::32, members::binary>>
      soon = System.monotonic_time(:millisecond) + 60
      assert {:fault, :timeout, ""} = Etf.check(etf, options.values, byte_size(etf), soon)
      assert :ok = Etf.check(etf, options.values, byte_size(etf), soon + 60_000)
    end
  end
end
