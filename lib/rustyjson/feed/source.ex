defmodule RustyJson.Feed.Source do
  @moduledoc false
  # A feed as a stream: a function of two arguments, as the protocol Enumerable has it.
  #
  # The source is suspended after each piece, and the items of a piece are handed over one after the other. In `Stream.transform/3`
  # each item passes through two functions more.

  alias RustyJson.Feed

  # Bytes that are not pushed yet, and how to get more (nil: nothing follows; `excess`: why no more may follow). Items that are not delivered yet, and the error that
  # is raised behind them.
  defstruct [:feed, :resume, :excess, bytes: "", items: [], error: nil]

  @doc "The items of a source."
  @spec decode(Enumerable.t(), Feed.t()) :: Enumerable.t()
  def decode(source, feed) when is_binary(source) or is_list(source) do
    {bytes, excess} = Feed.whole(feed, source)
    stream(%__MODULE__{feed: feed, bytes: bytes, excess: excess})
  end

  def decode(source, feed),
    do:
      stream(%__MODULE__{
        feed: feed,
        resume: &Enumerable.reduce(source, &1, fn piece, bytes -> piece(piece, bytes) end)
      })

  # There are bytes already if the source does not suspend, such as at its end.
  defp piece(piece, ""), do: {:suspend, [piece]}
  defp piece(piece, pieces), do: {:suspend, [pieces | piece]}

  defp stream(state), do: fn command, fun -> reduce(command, fun, state) end

  defp reduce({:halt, acc}, _fun, state) do
    close(state)
    {:halted, acc}
  end

  defp reduce({:suspend, acc}, fun, state), do: {:suspended, acc, &reduce(&1, fun, state)}

  defp reduce({:cont, acc}, fun, %{items: [_ | _]} = state) do
    {command, items} = or_close(state, fn -> deliver({:cont, acc}, state.items, fun) end)
    reduce(command, fun, %{state | items: items})
  end

  defp reduce(_cont, _fun, %{error: error} = state) when error != nil,
    do: or_close(state, fn -> raise error end)

  defp reduce({:cont, acc}, _fun, %{feed: nil}), do: {:done, acc}

  # The item for the error was the last one. The rest of the source may have no end.
  defp reduce({:cont, acc}, _fun, %{feed: %{ended: :tagged}} = state) do
    close(state)
    {:done, acc}
  end

  defp reduce(cont, fun, %{bytes: "", excess: excess, resume: resume} = state)
       when excess != nil and resume != nil do
    close(state)
    reduce(cont, fun, %{state | resume: nil})
  end

  defp reduce(cont, fun, %{bytes: "", resume: nil} = state) do
    case if(state.excess, do: Feed.exceed(state.feed, state.excess), else: Feed.finish(state.feed)) do
      {:ok, items} -> reduce(cont, fun, %{state | items: items, feed: nil})
      {:error, error, items} -> reduce(cont, fun, %{state | items: items, error: error})
    end
  end

  defp reduce(cont, fun, %{bytes: "", resume: resume} = state) do
    case resume.({:cont, ""}) do
      {:suspended, pieces, resume} -> reduce(cont, fun, came(pieces, %{state | resume: resume}))
      {_ended, pieces} -> reduce(cont, fun, came(pieces, %{state | resume: nil}))
    end
  end

  defp reduce(cont, fun, state) do
    {slice, _rest} = Feed.slice(state.bytes)
    {answer, done} = or_close(state, fn -> Feed.step(state.feed, slice) end)

    case answer do
      {:ok, items, feed} ->
        reduce(cont, fun, %{state | bytes: behind(state.bytes, done), items: items, feed: feed})

      {:error, error, items, feed} ->
        reduce(cont, fun, %{state | items: items, error: error, feed: feed})
    end
  end

  # Iodata can hold the same part many times, so no more of it is made than may come.
  defp came(pieces, state) do
    {bytes, excess} = or_close(state, fn -> Feed.whole(state.feed, pieces) end)
    %{state | bytes: bytes, excess: excess}
  end

  defp behind(bytes, done), do: binary_part(bytes, done, byte_size(bytes) - done)

  # The consumer's answer, and what it has not taken.
  defp deliver({:cont, acc}, [item | items], fun), do: deliver(fun.(item, acc), items, fun)
  defp deliver(command, items, _fun), do: {command, items}

  # Nothing else closes a source that is suspended.
  defp or_close(state, fun) do
    fun.()
  catch
    kind, reason ->
      close(state)
      :erlang.raise(kind, reason, __STACKTRACE__)
  end

  defp close(%{resume: nil}), do: :ok
  defp close(%{resume: resume}), do: resume.({:halt, ""})
end
