defmodule RustyJson.CLI.Input do
  @moduledoc false
  # Reads files and standard input, in pieces or line by line; files in constant memory. Gzip files are decompressed.

  alias RustyJson.CLI.{Output, Progress}

  @chunk 1_048_576

  @doc "Reads all bytes, with progress for a large input."
  @spec read(Path.t(), boolean()) :: {:ok, binary()} | {:error, String.t()}
  def read(file, quiet) do
    collect = fn
      :end, parts -> {:cont, parts}
      piece, parts -> {:cont, [parts | piece]}
    end

    with {:ok, parts} <- each_piece(file, quiet, [], collect), do: {:ok, IO.iodata_to_binary(parts)}
  end

  @doc """
  Calls the function with each line that is not blank, its number, and what the last call returned. A byte order mark before the first
  line is left out, as in streams.
  """
  @spec each_line(Path.t(), boolean(), acc, (binary(), pos_integer(), acc -> acc)) ::
          {:ok, acc} | {:error, String.t()}
        when acc: term()
  # A line that comes alone is dealt with at once.
  def each_line("-", quiet, acc, fun) do
    each("-", quiet, :line, {acc, 1}, fn
      :end, state -> {:cont, state}
      line, {acc, number} -> {:cont, {line(line, number, acc, fun), number + 1}}
    end)
    |> first()
  end

  def each_line(file, quiet, acc, fun) do
    each_piece(file, quiet, {acc, 1, []}, fn
      :end, {acc, number, rest} ->
        {:cont, {line(IO.iodata_to_binary(rest), number, acc, fun), number}}

      piece, {acc, number, rest} ->
        {:cont, lines(piece, number, acc, rest, fun)}
    end)
    |> first()
  end

  defp first({:ok, state}), do: {:ok, elem(state, 0)}
  defp first(failed), do: failed

  # One after the other: all lines of a piece would take many times its memory.
  defp lines(piece, number, acc, rest, fun) do
    case :binary.split(piece, "\n") do
      [last] -> {acc, number, [rest | last]}
      [line, piece] -> lines(piece, number + 1, line(joined(rest, line), number, acc, fun), [], fun)
    end
  end

  defp joined([], line), do: line
  defp joined(rest, line), do: IO.iodata_to_binary([rest | line])

  defp line("\uFEFF" <> line, 1, acc, fun), do: not_blank(line, 1, acc, fun)
  defp line(line, number, acc, fun), do: not_blank(line, number, acc, fun)

  defp not_blank(line, number, acc, fun),
    do: if(blank?(line), do: acc, else: fun.(String.trim_trailing(line, "\n"), number, acc))

  @doc """
  Calls the function with each piece of the input and what the last call returned, and with `:end`, until it says `:halt`.
  """
  @spec each_piece(Path.t(), boolean(), acc, (binary() | :end, acc -> {:cont, acc} | {:halt, acc})) ::
          {:ok, acc} | {:error, String.t()}
        when acc: term()
  def each_piece(file, quiet, acc, fun), do: each(file, quiet, @chunk, acc, fun)

  defp each(file, quiet, what, acc, fun) do
    with_device(file, quiet, fn device, state ->
      pieces(device, Map.merge(state, %{fun: fun, what: what}), acc, 0, now())
    end)
  end

  defp pieces(device, state, acc, done, last) do
    case take(device, state) do
      :eof ->
        {_halt, acc} = state.fun.(:end, acc)
        {:ok, acc}

      {:error, reason} ->
        {:error, "#{state.name}: #{why(reason)}"}

      piece ->
        done = done + byte_size(piece)
        text = fn -> "#{state.name}: #{Progress.size(done)}#{of(state.total)}" end
        last = Progress.step(last, state.progress and done >= Progress.from(), text)

        case state.fun.(piece, acc) do
          {:cont, acc} -> pieces(device, state, acc, done, last)
          {:halt, acc} -> {:ok, acc}
        end
    end
  end

  # The size of a pipe is unknown.
  defp of(nil), do: ""
  defp of(total), do: " of #{Progress.size(total)}"

  defp blank?(<<byte, rest::binary>>) when byte in ~c" \t\r\n", do: blank?(rest)
  defp blank?(rest), do: rest == ""

  @doc "What the input is called in messages."
  @spec name(Path.t()) :: String.t()
  def name("-"), do: "standard input"
  def name(file), do: file

  defp size("-", _compressed), do: nil
  defp size(_file, true), do: nil

  defp size(file, false) do
    case File.stat(file) do
      {:ok, %{type: :regular, size: size}} -> size
      _ -> nil
    end
  end

  defp now, do: System.monotonic_time(:millisecond)

  defp with_device(file, quiet, fun) do
    compressed = compressed?(file)

    device(file, compressed, fn device ->
      fun.(device, %{
        name: name(file),
        total: size(file, compressed),
        progress: Progress.shown?(quiet)
      })
    end)
  end

  # By its name, or its first bytes. Those of a pipe are gone once they are read.
  defp compressed?("-"), do: false

  defp compressed?(file) do
    String.ends_with?(file, ".gz") or
      (File.regular?(file) and
         File.open(file, [:read, :raw, :binary], &IO.binread(&1, 2)) == {:ok, <<0x1F, 0x8B>>})
  end

  # Bytes as they are, whatever the terminal's encoding. OTP 26 and 27 read ahead and decode UTF-8 before anybody can ask
  # for bytes, and invalid UTF-8 becomes Latin-1 there without a word; what they decoded is encoded again.
  defp device("-", false, fun) do
    if System.otp_release() in ["26", "27"] and :file.native_name_encoding() == :utf8 do
      fun.(:characters)
    else
      Output.in_bytes(fn -> fun.(:stdio) end)
    end
  end

  defp device(file, false, fun) do
    case File.open(file, [:read, :raw, :binary, read_ahead: @chunk], fun) do
      {:ok, result} -> result
      {:error, reason} -> {:error, "#{file}: #{why(reason)}"}
    end
  end

  # Several streams behind each other are one, as for gzip.
  defp device(file, true, fun) do
    device(file, false, fn device ->
      zlib = :zlib.open()
      :ok = :zlib.inflateInit(zlib, 31, :reset)

      try do
        fun.({zlib, device})
      after
        :zlib.close(zlib)
      end
    end)
  end

  defp take({zlib, device}, _state) do
    zlib |> :zlib.safeInflate("") |> inflated(zlib, device)
  rescue
    _error in ErlangError -> {:error, :data_error}
  end

  defp take(:characters, %{what: what}), do: IO.read(:stdio, what)
  defp take(device, %{what: what}), do: IO.binread(device, what)

  # A stream that ends too early is an error.
  defp inflated({:finished, []}, zlib, device), do: compressed(zlib, device)
  defp inflated({_more, output}, zlib, device), do: output |> IO.iodata_to_binary() |> some(zlib, device)

  defp compressed(zlib, device) do
    case IO.binread(device, @chunk) do
      :eof -> with :ok <- :zlib.inflateEnd(zlib), do: :eof
      {:error, _reason} = failed -> failed
      bytes -> zlib |> :zlib.safeInflate(bytes) |> inflated(zlib, device)
    end
  end

  defp some("", zlib, device), do: compressed(zlib, device)
  defp some(output, _zlib, _device), do: output

  defp why(:eisdir), do: "is a directory"
  defp why(:data_error), do: "is not complete gzip data"
  defp why(reason), do: :file.format_error(reason)
end
