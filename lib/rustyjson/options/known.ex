defmodule RustyJson.Options.Known do
  @moduledoc false
  # Options of calls, by the list that the caller gave. Programs write few such lists, and checking and packing one takes
  # longer than decoding a small document: `engine: :native` on a call took 300 ns, and takes 40 ns when it is known.
  #
  # Entries hold for the configuration they were made under, which has a number. An update makes the VM look through all
  # processes, so there are few of them: what is full stays as it is.

  alias RustyJson.Encoder.Plans
  alias RustyJson.{Config, Engine, Options}

  @most 16
  @words 1_000
  @longest 8
  @largest 64

  @doc "The options of this list, made by the function unless they are known; for logs, a map with them and what else is known."
  @spec find(:decode | :encode | :log, keyword() | map(), (() -> known)) :: known
        when known: Options.t() | %{:engine => module(), optional(atom()) => term()}
  # Those of encode stand beside the plans, where a call has looked already.
  def find(:encode, given, make) do
    number = Config.number()
    known = Plans.known_options(number)

    with [{name, _value} | _] <- given,
         %{^name => lists} <- known,
         {_given, _bytes, options} <- Plans.known_list(lists, given) do
      options
    else
      _unknown -> known |> lists() |> learn(given, make.(), &Plans.know(given, &1, number), :encode)
    end
  end

  def find(direction, given, make) do
    number = Config.number()

    known =
      case :persistent_term.get(key(direction), nil) do
        {^number, known} -> known
        _older -> %{}
      end

    case known do
      %{^given => options} ->
        options

      _unknown ->
        known |> map_size() |> learn(given, make.(), &put(direction, number, known, given, &1), direction)
    end
  end

  defp lists(known), do: Enum.sum(for {_name, lists} <- known, do: length(lists))

  @compile {:inline, key: 1}
  defp key(:decode), do: __MODULE__.Decode
  defp key(:log), do: __MODULE__.Log

  defp put(direction, number, known, given, options),
    do: :persistent_term.put(key(direction), {number, Map.put(known, given, options)})

  defp learn(count, given, options, keep, direction) do
    if count < @most and lasting?(direction, given, options), do: keep.(options)
    options
  end

  # Functions may hold anything, and an engine that is missing may be there for the next call.
  defp lasting?(_direction, _given, %{engine: Engine.Missing}), do: false

  # A log handler passes its configuration. There are few handlers, and their configuration is part of the code.
  defp lasting?(:log, config, _options), do: :erts_debug.flat_size(config) <= @words

  defp lasting?(_direction, given, _options) when is_list(given) and length(given) <= @longest,
    do: Enum.all?(given, fn {name, value} -> name in [:as, :raw] or plain?(value) end)

  defp lasting?(_direction, _given, _options), do: false

  defp plain?(value) when is_atom(value) or is_integer(value), do: true
  defp plain?(value) when is_binary(value), do: byte_size(value) <= @largest
  defp plain?(values) when is_list(values) and length(values) <= @longest, do: Enum.all?(values, &plain?/1)

  defp plain?(names) when is_map(names) and not is_struct(names) and map_size(names) <= @longest,
    do: Enum.all?(names, fn {name, text} -> plain?(name) and plain?(text) end)

  defp plain?(_value), do: false
end
