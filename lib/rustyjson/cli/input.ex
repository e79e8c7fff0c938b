defmodule RustyJson.CLI.Input do
  @moduledoc false
  # Reads files and standard input, whole or line by line in constant memory.

  alias RustyJson.CLI.Progress

  @chunk 1_048_576

  @doc "Reads all bytes, with progress for a large input."
  @spec read(Path.t(), boolean()) :: {:ok, binary()} | {:error, String.t()}
  def read(file, quiet) do
    with_device(file, fn device ->
      total = size(file)
      read_all(device, {name(file), total}, not quiet, [], 0, now())
    end)
  end

  # The size of a pipe is unknown, so progress starts when much has been read.
  defp read_all(device, {name, total} = what, progress, parts, done, last) do
    case take(device, @chunk) do
      :eof ->
        {:ok, parts |> Enum.reverse() |> IO.iodata_to_binary()}

      {:error, reason} ->
        {:error, "#{name}: #{why(reason)}"}

      part ->
        done = done + byte_size(part)
        large = progress and done >= Progress.from()
        last = Progress.step(last, large, fn -> "#{name}: read #{Progress.size(done)}#{of(total)}" end)
        read_all(device, what, progress, [part | parts], done, last)
    end
  end

  defp of(nil), do: ""
  defp of(total), do: " of #{Progress.size(total)}"

  @doc "Calls the function with each line that is not blank, its number, and what the last call returned."
  @spec each_line(Path.t(), boolean(), acc, (binary(), pos_integer(), acc -> acc)) ::
          {:ok, acc} | {:error, String.t()}
        when acc: term()
  def each_line(file, quiet, acc, fun) do
    with_device(file, fn device ->
      state = %{fun: fun, name: name(file), total: size(file), progress: not quiet}
      lines(device, state, acc, 1, 0, now())
    end)
  end

  defp lines(device, state, acc, number, done, last) do
    case take(device, :line) do
      :eof ->
        {:ok, acc}

      {:error, reason} ->
        {:error, "#{state.name}: #{why(reason)}"}

      line ->
        done = done + byte_size(line)
        text = fn -> "#{state.name}: line #{number}, #{Progress.size(done)}#{of(state.total)}" end
        last = Progress.step(last, state.progress and done >= Progress.from(), text)
        acc = if blank?(line), do: acc, else: state.fun.(trim(line), number, acc)
        lines(device, state, acc, number + 1, done, last)
    end
  end

  @doc """
  Calls the function with each piece of the input and what the last call returned, and with `:end`, until it says `:halt`.
  """
  @spec each_piece(Path.t(), boolean(), acc, (binary() | :end, acc -> {:cont, acc} | {:halt, acc})) ::
          {:ok, acc} | {:error, String.t()}
        when acc: term()
  def each_piece(file, quiet, acc, fun) do
    with_device(file, fn device ->
      pieces(device, %{fun: fun, name: name(file), total: size(file), progress: not quiet}, acc, 0, now())
    end)
  end

  defp pieces(device, state, acc, done, last) do
    case take(device, @chunk) do
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

  defp trim(line), do: String.trim_trailing(line, "\n")
  defp blank?(line), do: line =~ ~r/\A[ \t\r\n]*\z/

  @doc "What the input is called in messages."
  @spec name(Path.t()) :: String.t()
  def name("-"), do: "standard input"
  def name(file), do: file

  defp size("-"), do: nil

  defp size(file) do
    case File.stat(file) do
      {:ok, %{type: :regular, size: size}} -> size
      _ -> nil
    end
  end

  defp now, do: System.monotonic_time(:millisecond)

  # Bytes as they are, whatever the terminal's encoding. OTP 26 and 27 read ahead and decode UTF-8 before anybody can ask
  # for bytes, and invalid UTF-8 becomes Latin-1 there without a word; what they decoded is encoded again.
  defp with_device("-", fun) do
    if System.otp_release() in ["26", "27"] and :file.native_name_encoding() == :utf8 do
      fun.(:characters)
    else
      :io.setopts(:standard_io, encoding: :latin1, binary: true)
      fun.(:stdio)
    end
  end

  defp with_device(file, fun) do
    case File.open(file, [:read, :raw, :binary, read_ahead: @chunk], fun) do
      {:ok, result} -> result
      {:error, reason} -> {:error, "#{file}: #{why(reason)}"}
    end
  end

  defp take(:characters, what), do: IO.read(:stdio, what)
  defp take(device, what), do: IO.binread(device, what)

  defp why(:eisdir), do: "is a directory"
  defp why(reason), do: :file.format_error(reason)
end
