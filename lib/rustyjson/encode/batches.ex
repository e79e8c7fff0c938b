defmodule RustyJson.Encode.Batches do
  @moduledoc false
  # Takes elements off their source, many at a time, and gives what becomes of them.

  @typedoc "`size` says how many elements come next."
  @type state :: %{:size => pos_integer(), optional(atom()) => term()}

  @typedoc "Makes the texts of a number of elements, makes what ends them, and raises for an improper list."
  @type makes ::
          {([term()], pos_integer(), state() -> {Enumerable.t(), state()}), (state() -> Enumerable.t()),
           (state() -> no_return())}

  @doc "The texts of all elements."
  @spec texts(Enumerable.t(), state(), makes()) :: Enumerable.t()
  def texts(source, start, makes) when is_list(source), do: of_list(source, start, makes)
  def texts(source, start, makes), do: one_after_another(source, start, makes)

  # To take a batch off a list costs less than to be handed its elements one by one.
  defp of_list(list, start, {flush, closing, improper}) do
    Stream.unfold({list, start}, fn
      nil ->
        nil

      {[], state} ->
        {closing.(state), nil}

      {[_ | _] = list, %{size: size} = state} ->
        {batch, rest} = taken(list, size, [])
        {texts, state} = flush.(batch, length(batch), state)
        {texts, {rest, state}}

      {_tail, state} ->
        improper.(state)
    end)
    |> Stream.concat()
  end

  # `Enum.split/2` fails at the end of an improper list.
  defp taken([element | rest], count, taken) when count > 0, do: taken(rest, count - 1, [element | taken])
  defp taken(rest, _count, taken), do: {:lists.reverse(taken), rest}

  # The source is suspended after each batch. A callback for each element, as in `Stream.transform/3`, costs as much as encoding it.
  defp one_after_another(source, start, makes) do
    resume = &Enumerable.reduce(source, &1, fn element, batch -> collect(element, batch) end)
    Stream.concat(fn command, fun -> batches(command, fun, resume, start, makes) end)
  end

  defp collect(element, {batch, count, size}) when count + 1 < size,
    do: {:cont, {[element | batch], count + 1, size}}

  defp collect(element, {batch, count, size}), do: {:suspend, {[element | batch], count + 1, size}}

  # Gives the texts of each batch to the function, as the protocol Enumerable has it.
  defp batches({:halt, acc}, _fun, resume, _state, _makes) do
    close(resume)
    {:halted, acc}
  end

  defp batches({:suspend, acc}, fun, resume, state, makes),
    do: {:suspended, acc, &batches(&1, fun, resume, state, makes)}

  defp batches({:cont, acc}, _fun, nil, _state, _makes), do: {:done, acc}

  defp batches({:cont, acc}, fun, resume, state, {flush, closing, _improper} = makes) do
    case resume.({:cont, {[], 0, state.size}}) do
      {:suspended, {batch, count, _size}, resume} ->
        {command, state} =
          deliver(fn -> batch |> Enum.reverse() |> flush.(count, state) end, acc, fun, resume)

        batches(command, fun, resume, state, makes)

      {_ended, {batch, count, _size}} ->
        {texts, state} = batch |> Enum.reverse() |> flush.(count, state)
        texts |> Stream.concat(closing.(state)) |> fun.(acc) |> batches(fun, nil, state, makes)
    end
  end

  # Nothing else closes a source that is suspended.
  defp deliver(flushed, acc, fun, resume) do
    {texts, state} = flushed.()
    {fun.(texts, acc), state}
  catch
    kind, reason ->
      close(resume)
      :erlang.raise(kind, reason, __STACKTRACE__)
  end

  defp close(nil), do: :ok
  defp close(resume), do: resume.({:halt, {[], 0, 1}})
end
