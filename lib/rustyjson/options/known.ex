defmodule RustyJson.Options.Known do
  @moduledoc false
  # Options of calls, by the list that the caller gave. Programs write few such lists, and checking and packing one takes
  # longer than decoding a small document: `engine: :native` on a call took 300 ns, and takes 10 ns when it is known.
  #
  # Entries hold for the configuration they were made under, which has a number. An update makes the VM look through all
  # processes, so there are few of them: what is full stays as it is.

  alias RustyJson.Encode.Measure
  alias RustyJson.Encoder.Plans
  alias RustyJson.{Config, Engine, Options}
  alias RustyJson.Options.Lists

  @most 16
  # Parts of a term that stays, and bytes of its texts.
  @words 1_000
  @bytes 65_536
  @longest 8
  @largest 64
  @decode __MODULE__.Decode
  @log __MODULE__.Log

  @doc """
  The lists of decode, with `{longest, bytes}` where only the native library has work to do, for texts up to this length: a call looks up
  one term.
  """
  defmacro decoding,
    do:
      quote(do: :erlang.element(1, :persistent_term.get(unquote(@decode), unquote(Macro.escape({%{}, nil})))))

  @doc "The options of this list, made by the function unless they are known; for logs, a map with them and what else is known."
  @spec find(:decode | :encode | :log, keyword() | map(), (() -> known)) :: known
        when known: Options.t() | %{:engine => module(), optional(atom()) => term()}
  def find(:log, given, make) do
    number = Config.number()

    known =
      case :persistent_term.get(@log, nil) do
        {^number, known} -> known
        _older -> %{}
      end

    case known do
      %{^given => options} ->
        options

      _unknown ->
        keep = &:persistent_term.put(@log, {number, Map.put(known, given, &1)})
        known |> map_size() |> learn(given, make.(), keep, :log)
    end
  end

  def find(direction, given, make) do
    number = Config.number()
    lists = lists(direction, number)

    case Lists.find(lists, given) do
      {_value, _rest, _ready, options} ->
        options

      nil ->
        lists |> Lists.count() |> learn(given, make.(), &know(direction, given, &1, number), direction)
    end
  end

  @doc "The lists that are known under this configuration. Those of encode stand beside the plans, where a call has looked already."
  @spec lists(:decode | :encode, integer()) :: Lists.t()
  def lists(:encode, number), do: Plans.known_options(number)

  def lists(:decode, number) do
    case :persistent_term.get(@decode, nil) do
      {lists, ^number} -> lists
      _older -> %{}
    end
  end

  defp know(:encode, given, options, number), do: Plans.know(given, options, number)

  defp know(:decode, given, options, number) do
    lists = lists(:decode, number)

    # Two processes may have missed it at once.
    if Lists.find(lists, given) == nil,
      do: keep(Lists.put(lists, given, Config.ready(options), options), number)
  end

  @doc "Forgets the lists of decode. Called when the configuration is read."
  @spec forget(integer()) :: :ok
  def forget(number), do: keep(%{}, number)

  # Another process may read the configuration again in between; lists that it forgot must not come back.
  defp keep(lists, number) do
    :persistent_term.put(@decode, {lists, number})
    now = Config.number()
    if now == number, do: :ok, else: keep(%{}, now)
  end

  defp learn(count, given, options, keep, direction) do
    if count < @most and lasting?(direction, given, options), do: keep.(options)
    options
  end

  # Functions may hold anything, and an engine that is missing may be there for the next call.
  defp lasting?(_direction, _given, %{engine: Engine.Missing}), do: false

  # A log handler passes its configuration. There are few handlers, and their configuration is part of the code.
  defp lasting?(:log, config, _options), do: Measure.fits?(config, @words, @bytes)

  defp lasting?(_direction, given, _options) when is_list(given) and length(given) <= @longest,
    do:
      Enum.all?(given, fn {name, value} ->
        plain?(value) or (name == :as and Measure.fits?(value, @words, @bytes))
      end)

  defp lasting?(_direction, _given, _options), do: false

  defp plain?(value) when is_atom(value) or is_integer(value), do: true
  defp plain?(value) when is_binary(value), do: byte_size(value) <= @largest
  defp plain?(values) when is_list(values) and length(values) <= @longest, do: Enum.all?(values, &plain?/1)

  defp plain?(names) when is_map(names) and not is_struct(names) and map_size(names) <= @longest,
    do: Enum.all?(names, fn {name, text} -> plain?(name) and plain?(text) end)

  defp plain?(_value), do: false
end
