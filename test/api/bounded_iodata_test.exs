defmodule RustyJson.BoundedIodataTest do
  @moduledoc "Iodata that holds the same part many times, as input and as pieces of streams: limits hold before it is joined."

  use ExUnit.Case, async: true

  import RustyJson.Test.Shared, only: [endless: 1, in_time: 2]

  alias RustyJson.{EncodeError, Feed, Fragment, SandboxError}
  alias RustyJson.Test.Judge

  defmodule Iodata do
    defstruct []

    defimpl(RustyJson.Encoder,
      do: def(encode(_, _), do: Enum.reduce(1..60, "", fn _, text -> [text, text] end))
    )
  end

  test "iodata that is pushed to a stream of the sandbox" do
    for {_, [_ | _] = engine} <- Judge.engines(), engine[:engine] == :wasm do
      options = [timeout: 200, on_error: :tag] ++ engine

      for call <- [
            fn -> Feed.push(Feed.new(options), endless("1")) end,
            fn -> [endless("1")] |> RustyJson.decode_stream(options) |> Enum.to_list() end,
            fn -> endless("1") |> RustyJson.decode_stream(options) |> Enum.to_list() end
          ] do
        assert in_time(5_000, call) |> inspect() =~ ":timeout"
      end

      assert {:ok, [ok: 11], _} = Feed.push(Feed.new(options), ["1", [?1 | " "]])
    end
  end

  test "iodata that is decoded" do
    for {_, engine} <- Judge.engines() do
      options = [max_bytes: 1_000] ++ engine

      assert {:error, %{reason: :max_bytes}} =
               in_time(2_000, fn -> RustyJson.decode(endless("1"), options) end)

      assert {:error, %{reason: :max_bytes}} =
               in_time(2_000, fn -> RustyJson.decode_partial(endless(""), options) end)

      assert {:error, %{reason: :max_bytes}} =
               in_time(2_000, fn -> RustyJson.fetch(endless(?1), "/a", options) end)

      assert {:ok, [1]} = RustyJson.decode(["[", [?1 | "]"]], options)
      assert {:ok, 111} = RustyJson.decode(["1", "1", "1"], [max_bytes: 3] ++ engine)
      assert {:error, %{reason: :max_bytes}} = RustyJson.decode(["1", "1", "11"], [max_bytes: 3] ++ engine)
    end
  end

  # Without `max_bytes`, its memory and its time were looked at only after the iodata had become a binary.
  test "iodata in the sandbox, by its memory and its time" do
    calls = [
      &RustyJson.decode(endless("1"), &1),
      &RustyJson.decode(endless([]), &1),
      &RustyJson.decode_partial(endless("1"), &1),
      &hd(RustyJson.decode_many([endless("1")], &1)),
      &RustyJson.encode(%Fragment{encode: fn _ -> endless("1") end}, &1),
      &RustyJson.encode([%Fragment{encode: endless("1")}], [pretty: true] ++ &1),
      &RustyJson.encode(%{endless(?a) => 1}, &1),
      &RustyJson.encode(%Iodata{}, &1),
      &RustyJson.encode([1, %Iodata{}], &1),
      &RustyJson.encode([1, %Iodata{}], [sort_keys: true, unsupported: :inspect] ++ &1),
      &RustyJson.canonicalize(endless("1"), &1)
    ]

    for {_, [engine: :wasm] ++ _ = engine} <- Judge.engines(), call <- calls do
      assert {:error, %SandboxError{reason: reason}} =
               in_time(2_000, fn -> call.([timeout: 100] ++ engine) end)

      assert reason in [:timeout, :memory_limit]
    end

    for {_, [engine: :wasm] ++ _ = engine} <- Judge.engines() do
      options = [max_memory: 2_097_152] ++ engine
      long = List.duplicate(String.duplicate("1", 1_000), 3_000)
      assert {:error, %SandboxError{reason: :memory_limit}} = RustyJson.decode(long, options)

      assert {:error, %SandboxError{reason: :memory_limit}} =
               RustyJson.encode(%Fragment{encode: fn _ -> long end}, options)

      # Each of them fits.
      fragments = List.duplicate(%Fragment{encode: fn _ -> Enum.take(long, 1_500) end}, 3)

      for more <- [[], [pretty: true]] do
        assert {:error, %SandboxError{reason: :memory_limit}} = RustyJson.encode(fragments, more ++ options)
      end
    end
  end

  test "the pieces of a stream in the sandbox" do
    for {_, [engine: :wasm] ++ _ = engine} <- Judge.engines(),
        row <- [%Iodata{}, [%Iodata{}, RustyJson.lazy([1])]] do
      error =
        in_time(3_000, fn ->
          try do
            [row] |> RustyJson.encode_stream([timeout: 100] ++ engine) |> Stream.run()
          rescue
            error in SandboxError -> error.reason
          end
        end)

      assert error in [:timeout, :memory_limit]
    end
  end

  test "iodata that is formatted" do
    for fun <- [&RustyJson.Formatter.minify/2, &RustyJson.Formatter.pretty_print/2] do
      error = in_time(2_000, fn -> catch_error(fun.(endless(" 1"), max_bytes: 1_000)) end)
      assert %{reason: :max_bytes, message: "Output longer than 1000 bytes" <> _} = error
    end

    spaces = [List.duplicate(" ", 50_000), "1"]
    assert RustyJson.Formatter.minify(spaces, max_bytes: 10) == "1"
  end

  @tag :time
  test "iodata that is pushed as server-sent events" do
    for part <- ["x", ?x, "data: xyz\n"] do
      stream = RustyJson.ServerSentEvents.new(max_bytes: 2_000_000)

      assert {:error, %{reason: :max_bytes, position: 2_000_000}, []} =
               in_time(5_000, fn -> RustyJson.ServerSentEvents.push(stream, endless(part)) end)
    end

    chunks = List.duplicate(["data: ", [?1 | "\n\n"]], 200_000)
    {:ok, events, _} = RustyJson.ServerSentEvents.push(RustyJson.ServerSentEvents.new(), chunks)
    assert length(events) == 200_000
    assert Enum.uniq(events) == [%{data: "1", event: "message", id: "", retry: nil}]
  end

  test "iodata that is pushed into a feed, and is the source of a stream" do
    for {_, engine} <- Judge.engines(), part <- ["1 ", "", []] do
      options = [max_total_bytes: 1_000] ++ engine
      numbers = List.duplicate(1, if(part == "1 ", do: 500, else: 0))

      assert {:error, %{reason: :max_total_bytes}, ^numbers, _} =
               in_time(2_000, fn -> options |> Feed.new() |> Feed.push(endless(part)) end)

      tagged =
        in_time(2_000, fn ->
          endless(part) |> RustyJson.decode_stream([on_error: :tag] ++ options) |> Enum.to_list()
        end)

      {last, values} = List.pop_at(tagged, -1)
      assert {:error, %{reason: :max_total_bytes}} = last
      assert values == Enum.map(numbers, &{:ok, &1})
    end
  end

  test "iodata that is a piece of a stream" do
    for {_, engine} <- Judge.engines(), part <- ["1 ", "", []] do
      options = [max_total_bytes: 1_000] ++ engine
      test = self()

      # The source has no end.
      source = fn ->
        Stream.resource(fn -> nil end, &{[endless(part)], &1}, fn _ -> send(test, :closed) end)
      end

      tagged =
        in_time(2_000, fn ->
          source.() |> RustyJson.decode_stream([on_error: :tag] ++ options) |> Enum.to_list()
        end)

      assert {{:error, %{reason: :max_total_bytes}}, values} = List.pop_at(tagged, -1)
      assert length(values) == if(part == "1 ", do: 500, else: 0)
      assert_received :closed

      assert {:raised, :max_total_bytes} =
               in_time(2_000, fn ->
                 try do
                   source.() |> RustyJson.decode_stream(options) |> Stream.run()
                 rescue
                   error in RustyJson.DecodeError -> {:raised, error.reason}
                 end
               end)

      assert_received :closed
    end
  end

  test "maps that hold the same map twice, as the document of a stream" do
    for {_, engine} <- Judge.engines() do
      text =
        in_time(2_000, fn ->
          document = Enum.reduce(1..60, "x", fn _, map -> %{a: map, b: map} end)

          try do
            document |> RustyJson.encode_stream([max_bytes: 1_000] ++ engine) |> Enum.join()
          rescue
            error in EncodeError -> error.reason
          end
        end)

      assert text == :max_bytes
    end
  end
end
