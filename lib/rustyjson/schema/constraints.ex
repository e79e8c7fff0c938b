defmodule RustyJson.Schema.Constraints do
  @moduledoc false
  # What a field asks of a value beyond its type. The core checks it before it builds the value (core/src/parts/checked.rs);
  # `allows?/3` holds answers that Elixir assembles to the same rules.

  alias RustyJson.Encode.Excerpt
  alias RustyJson.Schema.{Automaton, Limit, Pattern, Type}

  @type t :: %{
          optional(:min | :max) => number() | struct(),
          optional(:min_length | :max_length) => non_neg_integer(),
          optional(:pattern) => {String.t(), binary()},
          optional(:format) => atom()
        }

  @options [:min, :max, :min_length, :max_length, :pattern, :format]
  # The core has no limit here.
  @unlimited 0xFFFF_FFFF
  @formats [:date, :time, :naive_datetime, :utc_datetime] ++
             if(Code.ensure_loaded?(Duration), do: [:duration], else: [])
  @numbers [:integer, :float, :number, :decimal]

  @doc "The names of the options."
  @spec options() :: [atom()]
  def options, do: @options

  @doc "The type with the constraints among these options of the field with this name. Raises an ArgumentError for invalid ones."
  @spec wrap!(Type.t(), keyword(), atom()) :: Type.t()
  def wrap!(type, options, field) do
    case Keyword.take(options, @options) do
      [] -> type
      given -> around(type, given, field)
    end
  end

  defp around({:nullable, type}, given, field), do: {:nullable, around(type, given, field)}

  defp around(type, given, field) do
    constraints = Map.new(given, fn {name, value} -> {name, checked!(name, value, type, field)} end)
    in_order!(constraints, :min, :max, &Limit.order/2, field)
    in_order!(constraints, :min_length, :max_length, &order/2, field)
    {:checked, type, constraints}
  end

  defp order(a, b) when a > b, do: :gt
  defp order(_a, _b), do: :lt

  defp in_order!(constraints, least, most, order, field) do
    with %{^least => low, ^most => high} <- constraints, :gt <- order.(low, high) do
      raise ArgumentError,
            "option #{inspect(least)} of the field #{inspect(field)} is greater than #{inspect(most)}"
    end
  end

  defp checked!(name, value, type, field) when name in [:min, :max] do
    unless type in @numbers, do: misfit!(name, type, field, "numbers: #{listed(@numbers)}")

    case Limit.check(value, type) do
      :ok -> value
      {:error, takes} -> wrong!(name, value, field, takes)
    end
  end

  defp checked!(name, value, type, field) when name in [:min_length, :max_length] do
    unless type == :string or match?({kind, _} when kind in [:list, :map], type),
      do: misfit!(name, type, field, "strings, lists and maps")

    if is_integer(value) and value >= 0 and value < @unlimited,
      do: value,
      else: wrong!(name, value, field, "an integer from 0 to #{@unlimited - 1}")
  end

  defp checked!(:pattern, value, type, field) do
    if type != :string, do: misfit!(:pattern, type, field, "strings")
    unless is_binary(value) and String.valid?(value), do: wrong!(:pattern, value, field, "a string")

    case Pattern.compile(value) do
      {:ok, automaton} ->
        {value, automaton}

      {:error, reason} ->
        raise ArgumentError,
              "option :pattern of the field #{inspect(field)} cannot be used: #{reason}: #{inspect(value, limit: 50, printable_limit: 200)}"
    end
  end

  defp checked!(:format, value, type, field) do
    if type != :string, do: misfit!(:format, type, field, "strings")
    if value in @formats, do: value, else: wrong!(:format, value, field, listed(@formats))
  end

  @spec misfit!(atom(), Type.t(), atom(), String.t()) :: no_return()
  defp misfit!(name, type, field, those) do
    raise ArgumentError,
          "option #{inspect(name)} of the field #{inspect(field)} does not fit the type #{Excerpt.brief(type)}: it is for #{those}"
  end

  @spec wrong!(atom(), term(), atom(), String.t()) :: no_return()
  defp wrong!(name, value, field, takes),
    do: Excerpt.refuse!("option #{inspect(name)} of the field #{inspect(field)} takes #{takes}", value)

  defp listed(names), do: Enum.map_join(names, ", ", &inspect/1)

  ## For the core

  @doc "The rules as the core reads them. `kinds` are the numbers of the formats."
  @spec packed(Type.t(), t(), %{atom() => byte()}) :: iodata()
  def packed(type, constraints, kinds) do
    limits = for name <- [:min, :max], do: limit(constraints[name], name, type)

    pattern =
      with {_source, automaton} <- constraints[:pattern], do: [<<byte_size(automaton)::32-little>>, automaton]

    flags =
      for {part, bit} <- Enum.zip(limits ++ [pattern], [1, 2, 4]),
          part != nil,
          reduce: 0,
          do: (flags -> flags + bit)

    format = if name = constraints[:format], do: Map.fetch!(kinds, name), else: 0
    shortest = Map.get(constraints, :min_length, 0)
    longest = Map.get(constraints, :max_length, @unlimited)

    [<<flags, format, shortest::32-little, longest::32-little>> | Enum.reject(limits ++ [pattern], &is_nil/1)]
  end

  defp limit(nil, _name, _type), do: nil
  defp limit(value, name, type), do: Limit.packed(value, name, type)

  ## For Elixir

  @doc "Whether the constraints allow this value of the core's plain answer, which is of the type."
  @spec allows?(t(), Type.t(), term()) :: boolean()
  def allows?(constraints, type, value),
    do: Enum.all?(constraints, fn {name, given} -> allows?(name, given, type, value) end)

  defp allows?(:min, given, type, value), do: Limit.order(number(type, value), given) != :lt
  defp allows?(:max, given, type, value), do: Limit.order(number(type, value), given) != :gt
  defp allows?(:min_length, given, type, value), do: size(type, value) >= given
  defp allows?(:max_length, given, type, value), do: size(type, value) <= given
  defp allows?(:pattern, {_source, automaton}, _type, text), do: Automaton.matches?(automaton, text)
  # Assembling looks at it.
  defp allows?(:format, _name, _type, _text), do: true

  defp number(:decimal, [sign, coefficient, exponent]), do: {sign, coefficient, exponent}
  defp number(_type, value), do: value

  defp size(:string, text), do: code_points(text, 0)
  defp size({:list, _type}, list), do: length(list)
  defp size({:map, _type}, pairs), do: div(length(pairs), 2)

  defp code_points(<<0b10::2, _::6, rest::binary>>, count), do: code_points(rest, count)
  defp code_points(<<_, rest::binary>>, count), do: code_points(rest, count + 1)
  defp code_points(<<>>, count), do: count

  ## For people

  @doc "What a value breaks that has an error with this reason, as its message says it."
  @spec expected(t(), atom(), Type.t()) :: String.t() | nil
  def expected(constraints, reason, type) do
    case constraints do
      %{^reason => given} -> text(reason, given, type)
      _ -> nil
    end
  end

  defp text(:min, given, _type), do: "at least #{Limit.text(given)}"
  defp text(:max, given, _type), do: "at most #{Limit.text(given)}"
  defp text(:min_length, given, type), do: "at least #{given} #{things(type, given)}"
  defp text(:max_length, given, type), do: "at most #{given} #{things(type, given)}"
  defp text(:pattern, {source, _automaton}, _type), do: source
  defp text(:format, name, _type), do: name |> Atom.to_string() |> String.replace("_", " ")

  defp things(:string, 1), do: "character"
  defp things(:string, _count), do: "characters"
  defp things({:list, _type}, 1), do: "element"
  defp things({:list, _type}, _count), do: "elements"
  defp things({:map, _type}, 1), do: "member"
  defp things({:map, _type}, _count), do: "members"
end
