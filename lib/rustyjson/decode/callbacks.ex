defmodule RustyJson.Decode.Callbacks do
  @moduledoc false
  # Decoders as OTP's `json:decode/3` and Elixir's `JSON.decode/3` take them. The engine decodes the value first, with all members in their
  # order; then the callbacks run over the term, in the order of the text. Where numbers have a callback, it gets their text.

  alias RustyJson.{Feed, Fragment, Long, Options, OrderedObject, SandboxError}
  alias RustyJson.Decode.Input
  alias RustyJson.Encode.Excerpt
  alias RustyJson.Options.Unknown

  require RustyJson.Parts.Kind

  @arities [
    array_start: 1,
    array_push: 2,
    array_finish: 2,
    object_start: 1,
    object_push: 3,
    object_finish: 2,
    float: 1,
    integer: 1,
    string: 1
  ]
  @names Keyword.keys(@arities) ++ [:null]
  # All numbers of a document stay text.
  @numbers <<RustyJson.Parts.Kind.raw(), 1, 0, 0, 0>>
  # As `null` of the options allows; the callbacks' own null may be any term.
  @null :null
  # Only limits and the engine come from the configuration.
  @whole [raw: [], as: nil, floats: :native, keys: :strings, duplicate_keys: :first, validate_strings: true]
  @plain [objects: :maps] ++ @whole
  @ordered [null: @null, objects: :ordered_objects] ++ @whole

  @type decoders :: %{optional(atom()) => term()}

  @doc "The decoders, or an error that is raised as `badarg` in Erlang, and as ArgumentError in Elixir."
  @spec check(term()) :: {:ok, decoders()} | {:error, String.t()}
  def check(given) when is_map(given) do
    case Enum.find_value(given, &wrong/1) do
      nil -> {:ok, given}
      text -> {:error, text}
    end
  end

  def check(given) do
    if Keyword.keyword?(given),
      do: given |> Enum.reverse() |> Map.new() |> check(),
      else: {:error, "decoders are a keyword list or a map, got: #{Excerpt.brief(given)}"}
  end

  defp wrong({:null, _term}), do: nil

  defp wrong({name, fun}) when name in @names do
    arity = @arities[name]

    unless is_function(fun, arity),
      do: "decoder #{inspect(name)} takes a function of arity #{arity}, got: #{Excerpt.brief(fun)}"
  end

  defp wrong({name, _fun}), do: Unknown.text(name, @names, "decoders are", "decoder")

  @doc "Decodes the first value of a binary. An error is that of `JSON.decode/3`."
  @spec first(binary(), term(), decoders()) ::
          {term(), term(), binary()} | {:error, RustyJson.decoders_error() | SandboxError.t()}
  def first(json, acc, decoders) do
    case :rustyjson.first(json, acc, decoders) do
      {:failed, _otp, _reason, %SandboxError{} = error} -> {:error, error}
      {:failed, position, reason, _error} -> {:error, reason(reason, position)}
      done -> done
    end
  end

  defp reason({name, detail}, position), do: {name, position, detail}
  defp reason(name, position), do: {name, position}

  @doc "The feed that finds the value. A byte order mark is an error in it."
  @spec feed(decoders()) :: Feed.t()
  def feed(decoders) do
    feed = Feed.new([at: ""] ++ options(decoders))
    Feed.unmarked(%{feed | options: any_float(feed.options, decoders)})
  end

  defp options(decoders) do
    cond do
      plain?(decoders) -> [null: Map.get(decoders, :null, @null)] ++ @plain
      is_map_key(decoders, :float) or is_map_key(decoders, :integer) -> @ordered ++ [as: :raw]
      true -> @ordered
    end
  end

  # A decoder of floats decides itself which are too large. No caller can ask for this.
  defp any_float(options, %{float: _}), do: Options.change(options, :decode, %{floats: :text})
  defp any_float(options, _decoders), do: options

  # The core makes these atoms of null itself.
  defp plain?(%{null: null} = decoders) when map_size(decoders) == 1, do: null in [nil, :null, :undefined]
  defp plain?(decoders), do: map_size(decoders) == 0

  @doc "The result of the callbacks for the term of a value, and the accumulator."
  @spec run(term(), term(), decoders()) :: {term(), term()}
  def run(term, acc, decoders) do
    if plain?(decoders), do: {term, acc}, else: value(term, acc, ready(decoders))
  end

  @doc "The term of the value that the feed found, with the texts of numbers if these have a callback."
  @spec texts(term(), decoders()) :: {:ok, term()} | {:error, Exception.t()}
  def texts(%Fragment{encode: text}, decoders) do
    options = [strings: :copy] ++ @ordered

    # The text has been checked, but it is a call of its own, which the sandbox can end.
    Input.decode(text, options |> Options.decode() |> any_float(decoders) |> Options.with_parts(@numbers))
  end

  def texts(term, _decoders), do: {:ok, term}

  defp ready(decoders) do
    decoders
    |> Map.put_new(:integer, &String.to_integer/1)
    |> Map.put_new(:float, &String.to_float/1)
    |> Map.put_new(:null, @null)
  end

  defp value(@null, acc, %{null: null}), do: {null, acc}
  defp value(text, acc, %{string: fun}) when is_binary(text), do: {fun.(text), acc}
  defp value(%Fragment{encode: text}, acc, decoders), do: {number(text, decoders), acc}
  defp value(%OrderedObject{values: members}, acc, decoders), do: object(members, acc, decoders)
  defp value(list, acc, decoders) when is_list(list), do: array(list, acc, decoders)
  defp value(term, acc, _decoders), do: {term, acc}

  defp array(list, before, decoders) do
    acc = elements(list, start(before, decoders[:array_start]), decoders)

    case decoders do
      %{array_finish: fun} -> finished(fun.(acc, before))
      _ -> {Long.in_order(acc, []), before}
    end
  end

  defp elements([element | rest], acc, decoders) do
    {value, acc} = value(element, acc, decoders)

    acc =
      case decoders do
        %{array_push: fun} -> fun.(value, acc)
        _ -> [value | acc]
      end

    elements(rest, acc, decoders)
  end

  defp elements([], acc, _decoders), do: acc

  defp object(members, before, decoders) do
    acc = members(members, start(before, decoders[:object_start]), decoders)

    case decoders do
      %{object_finish: fun} -> finished(fun.(acc, before))
      _ -> {:maps.from_list(acc), before}
    end
  end

  defp members([{key, element} | rest], acc, decoders) do
    key = key(key, decoders)
    {value, acc} = value(element, acc, decoders)

    acc =
      case decoders do
        %{object_push: fun} -> fun.(key, value, acc)
        _ -> [{key, value} | acc]
      end

    members(rest, acc, decoders)
  end

  defp members([], acc, _decoders), do: acc

  defp key(key, %{string: fun}), do: fun.(key)
  defp key(key, _decoders), do: key

  defp start(_before, nil), do: []
  defp start(before, fun), do: fun.(before)

  defp finished({_value, _acc} = finished), do: finished

  defp finished(other), do: Excerpt.refuse!("array_finish and object_finish return {value, acc}", other)

  defp number(text, %{integer: integer, float: float}) do
    cond do
      :binary.match(text, ["e", "E"]) != :nomatch -> float.(with_fraction(text))
      :binary.match(text, ".") != :nomatch -> float.(text)
      true -> integer.(text)
    end
  end

  # Erlang's floats have a fraction, so decoders get one: `1e5` is `1.0e5`.
  defp with_fraction(text) do
    [digits, exponent] = :binary.split(text, ["e", "E"])
    if :binary.match(digits, ".") == :nomatch, do: digits <> ".0e" <> exponent, else: text
  end
end
