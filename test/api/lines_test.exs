defmodule RustyJson.LinesTest do
  @moduledoc "Ranges of a file of lines: together they cover the whole file, for any number of ranges."

  use ExUnit.Case, async: true

  alias RustyJson.{DecodeError, Lines}
  alias RustyJson.Test.{Judge, Trace}

  @moduletag :tmp_dir

  defp file(%{tmp_dir: dir}, text) do
    path = Path.join(dir, "lines.ndjson")
    File.write!(path, text)
    path
  end

  test "a byte order mark at the start of the file is skipped", %{tmp_dir: dir} do
    path = Path.join(dir, "marked.ndjson")
    File.write!(path, "\uFEFF[1]\r\n[2]\r\n\uFEFF[3]\r\n")

    for {_name, engine} <- Judge.engines() do
      assert path |> Lines.stream({0, 13}, engine) |> Enum.to_list() == [[1], [2]]
      # A range that starts later starts inside the file.
      assert [{:error, %{reason: :byte_order_mark, position: 13}}] =
               path |> Lines.stream({13, 8}, [on_error: :tag] ++ engine) |> Enum.to_list()
    end
  end

  test "ranges begin and end at line breaks", context do
    for text <- [
          "",
          "\n",
          "1",
          "1\n",
          "1\n2",
          "[1]\n\n[22]\r\n[333]\n",
          String.duplicate("[1,2]\n", 50),
          "long" <> String.duplicate("x", 99) <> "\n1\n"
        ] do
      path = file(context, text)

      for parts <- 1..12 do
        ranges = Lines.ranges(path, parts)
        assert length(ranges) <= parts
        pieces = for {offset, length} <- ranges, do: binary_part(text, offset, length)
        assert Enum.join(pieces) == text
        assert Enum.all?(Enum.drop(pieces, -1), &String.ends_with?(&1, "\n"))
        refute "" in pieces
      end
    end
  end

  test "ranges together are the whole, in every engine", context do
    values = for i <- 1..5_000, do: %{"id" => i, "name" => String.duplicate("n", rem(i, 40))}
    path = file(context, Enum.map_join(values, "\n", &RustyJson.encode!/1))

    for {_name, engine} <- Judge.engines(), parts <- [1, 3, 16] do
      decoded =
        path
        |> Lines.ranges(parts)
        |> Task.async_stream(&Enum.to_list(Lines.stream(path, &1, engine)), timeout: :infinity)
        |> Enum.flat_map(fn {:ok, values} -> values end)

      assert decoded == values
    end
  end

  test "positions count from the start of the file", context do
    path = file(context, "[1]\n[2]\n[x]\n")
    error = assert_raise DecodeError, fn -> path |> Lines.stream({4, 8}) |> Enum.to_list() end
    assert {error.position, error.line, error.column, error.path} == {9, nil, 2, "/0"}
    assert error.message == "Expected value at position 9"
    assert DecodeError.explain(error) =~ "position 9"

    assert [{:ok, [2]}, {:error, %DecodeError{}}] =
             path |> Lines.stream({4, 8}, on_error: :tag) |> Enum.to_list()
  end

  test "a file that is not there, or ends too soon", context do
    assert_raise File.Error, fn -> Lines.ranges("/no/such/file", 2) end
    assert_raise File.Error, fn -> "/no/such/file" |> Lines.stream({0, 1}) |> Enum.to_list() end
    path = file(context, "[1]\n")
    stream = Lines.stream(path, {0, 8})
    assert Enum.take(stream, 1) == [[1]]
    assert_raise File.Error, fn -> Enum.to_list(stream) end
  end

  test "options that are wrong are an ArgumentError at the call" do
    for options <- [[format: :seq], [at: "/a"], [bogus: 1]],
        do: assert_raise(ArgumentError, fn -> Lines.stream("x", {0, 1}, options) end)
  end

  test "a line as long as the file is read once, whatever the number of ranges", context do
    path = file(context, String.duplicate("x", 3_000_000))
    reads = fn parts -> length(Trace.calls([{:file, :pread, 3}], fn -> Lines.ranges(path, parts) end)) end
    assert reads.(500) <= reads.(2) * 3
    assert Lines.ranges(path, 500) == [{0, 3_000_000}]
  end
end
