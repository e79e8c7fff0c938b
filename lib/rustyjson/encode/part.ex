defmodule RustyJson.Encode.Part do
  @moduledoc false
  # The text of a part of a term, and of the holes that the engine left.
  #
  # The core writes everything it knows and leaves a hole for what only Elixir can encode: a struct with its own implementation, a
  # function fragment, an unusual key. A hole has an offset in the text, a depth and the term.

  require RustyJson.Encode.Known
  require RustyJson.Encode.Unsupported

  alias RustyJson.{EncodeError, Encoder, Engine, Fragment, Lazy, Long, Options, OrderedObject, SandboxError}
  alias RustyJson.Encode.{Inside, Keys, Known, Lost, Measure, Path, Scope, Unsupported, Written}
  alias RustyJson.Encoder.{Interop, Plans}
  alias RustyJson.Engine.Native

  @compile {:inline, by: 3, by_engine: 2, left_after: 5, between: 4, own_text: 3, text_by: 3, resolved: 3}

  @typedoc "What an engine answers."
  @type encoded ::
          {:ok, binary()}
          | {:partial, binary(), [Engine.hole()]}
          | {:error, Engine.encode_failure() | SandboxError.t()}

  @known Known.modules()
  @built_in @known -- [Fragment, OrderedObject]
  @overridable Known.overridable()

  @doc "The text of a part, never compressed. Raises."
  @spec encode!(term(), Options.t()) :: iodata()
  # Encoders mostly ask for a plain map.
  def encode!(term, %{engine: Engine.Native, compress: -1, bytes: bytes, plans: plans} = options)
      when not Known.is_of_structs(term) do
    case Native.Nif.encode(term, bytes, plans) do
      json when is_binary(json) -> json
      begun -> begun |> Native.encoded(term, options) |> parted(options)
    end
  end

  def encode!(term, options) do
    options = options |> Options.uncompressed() |> Options.due()
    term |> by_engine(options) |> parted(options)
  end

  defp parted({:ok, json}, _options), do: json
  defp parted({:partial, json, holes}, options), do: fill(json, holes, options)
  defp parted({:error, failure}, options), do: raise(EncodeError.of_call(failure, options))

  @doc "The text of a struct by the plan of its implementation, which writes all of its fields in the core. Raises."
  @spec planned!(struct(), Plans.plan(), Options.t()) :: iodata()
  def planned!(%module{} = struct, plan, options) do
    plans = Map.put(options.plans || %{}, module, plan)

    # Otherwise the core would leave the struct to this implementation again.
    if not Plans.current?(module, plans),
      do: raise(ArgumentError, "this is not the implementation of RustyJson.Encoder for #{inspect(module)}")

    encode!(struct, %{options | plans: plans})
  end

  @doc """
  The text of a struct, as the whole text of a call: by this implementation, or way of another library, or by the one that is found here.
  Raises.
  """
  @spec own(struct(), nil | module() | Interop.way(), Options.t()) :: iodata()
  def own(%module{} = struct, nil, options) do
    implementation = Known.implementation(Encoder, struct)
    Plans.learn(module, implementation)
    own_text(struct, resolved(implementation, struct, options), options)
  end

  def own(struct, by, options), do: own_text(struct, by, options)

  @doc "The text of a hole at this place of what the engine wrote. Raises."
  @spec hole(term(), :key | :value, binary(), non_neg_integer(), Options.t()) :: iodata()
  def hole(term, place, json, offset, options) do
    options = options |> Unsupported.mark() |> Lost.count()

    text =
      place
      |> located(term, implementation(term, nil, options), options, json, offset)
      |> Measure.bounded(options)

    # Nothing behind it joins the texts of a stream and says where this one stands.
    if Written.iodata?(text), do: text, else: raise(behind(Written.no_iodata(), json, offset, options))
  rescue
    error in [EncodeError, SandboxError] -> reraise %{error | call: nil}, __STACKTRACE__
  end

  @doc "What the engine makes of a term."
  @spec by_engine(term(), Options.t()) :: encoded()
  # A struct with its own implementation is one hole, so the engine is not called.
  def by_engine(%module{} = struct, options) when module not in @known do
    if Known.has_plan(module, options.plans) or not (options.plain_parts or options.values.protocol),
      do: by(options.engine, struct, options),
      else: {:partial, "", [{0, Options.depth(options), struct, :value}]}
  end

  # So is a list that starts with one. The engine would make a hole of each struct, which takes as long as a short encoder.
  def by_engine([%module{} | _] = list, options) when module not in @known do
    if Known.has_plan(module, options.plans) or not left?(module, options),
      do: by(options.engine, list, options),
      else: {:partial, "", [{0, Options.depth(options), list, :value}]}
  end

  def by_engine(term, options), do: by(options.engine, term, options)

  @doc "Whether a list that starts with a struct of this module is left to Elixir, if the core does not know the module."
  @spec left?(module(), Options.t()) :: boolean()
  def left?(module, %{plain_parts: true, origin: nil, depth: depth, values: %{max_depth: deepest}}),
    do: module not in @known and depth < deepest

  def left?(_module, _options), do: false

  # Holes that are looked at for structs whose plans can be learnt: in a long list they are mostly alike.
  @looked_at 16

  @doc "Whether plans of structs in the first of these holes are learnt now. A few are written by their plans anyway, one by one."
  @spec learns?([Engine.hole()], Options.t()) :: boolean()
  def learns?([{_, _, [%_module{} = struct, _ | _], :value} | _], options), do: teaches?(struct, options)

  # All of them are asked, so that one more call of the engine is enough.
  def learns?([_, _, _, _ | _] = holes, options) do
    structs = for hole <- Enum.take(holes, @looked_at), %_module{} = struct <- [elem(hole, 2)], do: struct
    structs |> Enum.dedup_by(& &1.__struct__) |> Enum.filter(&teaches?(&1, options)) != []
  end

  def learns?(_holes, _options), do: false

  defp teaches?(%module{}, %{plans: plans}) when module in @known or Known.has_plan(module, plans), do: false

  defp teaches?(%module{} = struct, options) do
    implementation(struct, nil, options)
    Known.has_plan(module, Plans.known(options))
  end

  @doc "The answer of this engine."
  @spec by(module(), term(), Options.t()) :: encoded()
  # Calling a known module takes 10 ns less than a dynamic call, of about 200 ns for 35 bytes.
  def by(Engine.Native, term, options), do: Engine.Native.encode(term, options)
  def by(engine, term, options), do: engine.encode(term, options)

  ## Holes

  @doc "What the engine wrote, with the texts of its holes. Raises."
  @spec fill(binary(), [Engine.hole()], Options.t()) :: iodata()
  # The pieces stay iodata until the end, when they become one binary. Consecutive holes mostly have the same depth and share the
  # options for it.
  def fill(json, holes, %{plain_parts: true} = options),
    do: splice(holes, json, :infinity, options, nil, [])

  def fill(json, holes, %{values: %{max_bytes: max_bytes}} = options) do
    room = Measure.room(max_bytes, options)
    left = if room == :infinity, do: room, else: room - byte_size(json)
    splice(Scope.around(holes, json, options), json, left, options, nil, [])
  end

  # The texts are gathered with the offsets of their holes, the last one first: a stack with a frame for each hole is looked through, or
  # copied, at each collection. The next struct of a run: 50 of 310 ns less.
  defp splice(
         [{offset, depth, %module{} = struct, :value} | holes],
         json,
         left,
         options,
         {module, implementation, depth} = own,
         texts
       ) do
    text = plain_text(struct, implementation, options, json, offset)
    splice(holes, json, left, options, own, [text, offset | texts])
  end

  defp splice([{offset, depth, term, place, pointers} | holes], json, left, options, own, texts) do
    options = options |> Options.at_depth(depth) |> Options.with_pointers(pointers)
    splice([{offset, depth, term, place} | holes], json, left, options, own, texts)
  end

  defp splice([{offset, depth, term, place} | holes], json, left, options, own, texts) do
    # Also between the functions of fragments.
    Engine.Wasm.check_time!(options)
    options = Options.at_depth(options, depth)
    own = implementation(term, own, options)
    text = located(place, term, own, options, json, offset)
    left = left_after(left, text, options, json, offset)
    splice(holes, json, left, options, own, [text, offset | texts])
  end

  defp splice([], json, _left, _options, _own, texts), do: spliced(texts, json, byte_size(json), [])

  defp spliced([text, offset | texts], json, behind, pieces),
    do: spliced(texts, json, offset, [text | between(json, offset, behind, pieces)])

  defp spliced([], json, behind, pieces), do: between(json, 0, behind, pieces)

  # The implementation for a struct that the core does not know. Consecutive structs mostly have the same module. With the depth, if
  # the options ask nothing more about structs there; with the options for what is inside, if they ask for a layout.
  defp implementation(%module{}, {module, implementation, before}, options),
    do: {module, implementation, shared(options, before)}

  defp implementation(%module{}, _own, %{values: %{protocol: false}}) when module not in @known, do: nil

  defp implementation(%module{} = struct, own, options) when module not in @known do
    implementation = dispatch(struct, options)
    Plans.learn(module, implementation)

    case shared(options, own && elem(own, 2)) do
      depth when is_integer(depth) -> {module, resolved(implementation, struct, options), depth}
      inside -> {module, implementation, inside}
    end
  end

  defp implementation(_term, _own, _options), do: nil

  defp dispatch(term, options) when Unsupported.is_of_standin(options), do: Interop.by_standin(term)
  defp dispatch(term, _options), do: Known.implementation(Encoder, term)

  # A struct that only Jason encodes, where nothing else is to be done with its text.
  defp resolved(Encoder.Any, struct, options), do: Interop.direct(struct, options) || Encoder.Any
  defp resolved(implementation, _struct, _options), do: implementation

  defp shared(%{plain_parts: true, origin: nil, depth: depth}, _before), do: depth

  defp shared(
         %{values: %{pretty: true, pointers: pointers}, depth: depth},
         %Options{values: %{pointers: pointers}, depth: depth} = before
       ),
       do: before

  defp shared(%{values: %{pretty: true}} = options, _before),
    do: options |> Options.alone() |> Options.compact()

  defp shared(_options, _before), do: nil

  # Between such structs in a list there is only a comma.
  defp between(_json, place, place, pieces), do: pieces
  defp between(json, from, to, pieces) when to == from + 1, do: [:binary.at(json, from) | pieces]
  defp between(json, from, to, pieces), do: [binary_part(json, from, to - from) | pieces]

  defp plain_text(struct, implementation, options, json, offset) do
    own_text(struct, implementation, options)
  rescue
    error in EncodeError -> reraise behind(error, json, offset, options), __STACKTRACE__
    error in FunctionClauseError -> reraise Interop.explained(error), __STACKTRACE__
  end

  # The time may be over when the one before returns.
  defp own_text(struct, implementation, options) do
    Engine.Wasm.check_time!(options)

    case text_by(implementation, struct, options) do
      text when is_binary(text) or is_list(text) -> text
      other -> in_turn(other, struct, module(implementation), options)
    end
  end

  defp module({_library, encode, _given}), do: encode |> Function.info(:module) |> elem(1)
  defp module(implementation), do: implementation

  defp text_by({_library, _encode, _given} = way, struct, options), do: Interop.text(way, struct, options)

  defp text_by(implementation, struct, options), do: implementation.encode(struct, options)

  # A part reports the path from its own root.
  defp located(:value, struct, {_module, implementation, depth}, options, json, offset)
       when is_integer(depth),
       do: plain_text(struct, implementation, options, json, offset)

  defp located(place, term, own, options, json, offset) do
    if Unsupported.is_described(options),
      do: described(place, term, own, options),
      else: place |> written(term, own, Options.alone(options)) |> Written.in_record(options)
  rescue
    error in EncodeError -> reraise behind(error, json, offset, options), __STACKTRACE__
  end

  defp written(:key, term, _own, options), do: encode!(Keys.string_key(term, options), options)
  defp written(:value, term, own, options), do: value(term, own, options)

  # Whether an encoder returned iodata is otherwise seen when all text is joined, too late to replace it.
  defp described(place, term, own, options) do
    place
    |> written(term, own, Options.alone(options))
    |> Written.in_record(options)
    |> IO.iodata_to_binary()
    |> Written.guarded(options)
  catch
    kind, reason ->
      if Unsupported.concerns?(kind, reason, options),
        do: instead(place, term, Options.alone(options)),
        else: :erlang.raise(kind, reason, __STACKTRACE__)
  end

  defp instead(place, term, options) do
    {instead, options} = Unsupported.instead(term, options)
    if place == :key, do: encode!(Keys.string_key(instead, options), options), else: encode!(instead, options)
  end

  @doc "The error of a part that stands at this place of what the engine wrote."
  @spec behind(Exception.t(), binary(), non_neg_integer(), Options.t()) :: Exception.t()
  def behind(error, json, offset, options),
    do: behind(error, json |> binary_part(0, offset) |> Path.reached(options))

  defp behind(%SandboxError{} = error, _prefix), do: error
  defp behind(error, prefix), do: %{error | path: Path.join(prefix, error.path || "")}

  defp left_after(:infinity, _text, _options, _json, _offset), do: :infinity

  defp left_after(left, text, options, json, offset), do: spent(left, text, options, json, offset)

  defp spent(left, text, options, json, offset) do
    left = left - IO.iodata_length(text)

    if left < 0, do: raise(behind(Measure.of_length(options), json, offset, options)), else: left
  rescue
    ArgumentError -> reraise behind(Written.no_iodata(), json, offset, options), __STACKTRACE__
  end

  defp value(struct, {_module, implementation, %Options{} = inside}, options),
    do: inside |> text(struct, implementation) |> by_implementation(struct, implementation, options)

  defp value(struct, {_module, implementation, _depth}, options),
    do: by_protocol(struct, implementation, options)

  defp value(%Fragment{encode: encode}, nil, options) when is_function(encode, 1) do
    case options |> Options.compact() |> Interop.led(encode) do
      text when is_binary(text) or is_list(text) ->
        text |> Measure.bounded(options) |> Written.lay_out(options)

      other ->
        Written.no_text(other, "a fragment's function")
    end
  end

  defp value(%Fragment{encode: text}, nil, options) when is_binary(text) or is_list(text),
    do: text |> Measure.bounded(options) |> Written.lay_out(options)

  defp value(%OrderedObject{values: values}, nil, options) when is_list(values),
    do: encode!(Keys.with_string_keys(values, options), options)

  # A struct of a call without the protocol, with keys that the core does not know.
  defp value(%module{} = struct, nil, %{values: %{protocol: false}} = options) when module not in @known,
    do: struct |> Map.from_struct() |> value(nil, options)

  # A built-in struct of a call that writes the fields of these, with such keys.
  defp value(%module{} = struct, nil, %{values: %{lean: true}} = options) when module in @built_in,
    do: struct |> Map.from_struct() |> value(nil, options)

  # A map with keys that the core does not know.
  defp value(map, nil, options) when is_map(map) and not is_struct(map) do
    Keys.check_members!(map_size(map), options)
    encode!(Keys.with_string_keys(Map.to_list(map), options), options)
  end

  defp value(term, nil, options)
       when Unsupported.is_of_standin(options) and
              (is_tuple(term) or (is_struct(term) and :erlang.map_get(:__struct__, term) in @overridable)),
       do: by_protocol(term, dispatch(term, options), options)

  defp value(%module{} = struct, nil, options) when module in @overridable do
    case options.values.protocol && Plans.own_implementation(module) do
      implementation when implementation in [nil, false] -> plain(struct, options)
      implementation -> by_protocol(struct, implementation, options)
    end
  end

  # Its implementation of the protocol would call the engine again. An improper list comes from the core.
  defp value([%module{} | _] = list, nil, options) do
    if left?(module, options),
      do: elements(list, 0, Options.at_depth(options, options.depth + 1), nil, [?[]),
      else: Keys.improper_list()
  end

  defp value(list, nil, _options) when is_list(list), do: Keys.improper_list()

  defp value(term, nil, options), do: plain(term, options)

  # The structs at the start of a list, and then the engine writes the rest.
  defp elements([%module{} = struct | list], number, options, {module, implementation, _depth} = own, done),
    do: separated(list, number, options, own, [element(struct, number, implementation, options) | done])

  defp elements([%module{} = struct | list] = all, number, options, _own, done) do
    if Known.has_plan(module, options.plans) or not left?(module, options) do
      rest(all, number, options, done)
    else
      {_module, implementation, _depth} = own = implementation(struct, nil, options)
      separated(list, number, options, own, [element(struct, number, implementation, options) | done])
    end
  end

  defp elements(list, number, options, _own, done), do: rest(list, number, options, done)

  defp separated([], _number, _options, _own, done), do: Long.in_order(done, ~c"]")
  defp separated(list, number, options, own, done), do: elements(list, number + 1, options, own, [?, | done])

  defp element(struct, number, implementation, options) do
    own_text(struct, implementation, options)
  rescue
    error in EncodeError -> reraise behind(error, Path.steps([number])), __STACKTRACE__
  end

  defp rest(list, number, options, done) when is_list(list) do
    options = Options.at_depth(options, options.depth - 1)
    text = options.engine |> by(list, options) |> parted(options) |> List.wrap() |> Written.joined(options)
    Long.in_order(done, [Inside.between!(text, "[", "", options)])
  rescue
    error in EncodeError -> reraise %{error | path: Path.later(error.path, number)}, __STACKTRACE__
  end

  defp rest(_tail, _number, _options, _done), do: Keys.improper_list()

  defp plain(term, options) do
    Keys.check_digits!(term, options)

    case Known.plain(term) do
      {:ok, plain} -> encode!(plain, options)
      :error -> by_protocol(term, dispatch(term, options), options)
    end
  end

  # What it asks for inside needs no layout, which the whole gets.
  defp by_protocol(term, implementation, options),
    do:
      options
      |> Options.compact()
      |> text(term, implementation)
      |> by_implementation(term, implementation, options)

  # The core follows pointers into the elements of a lazy array, as a stream does.
  defp text(options, %Lazy{} = lazy, implementation), do: implementation.encode(lazy, options)

  # Text of other libraries is looked at where it is made, and a derived implementation asks the core.
  defp text(options, term, implementation) do
    if implementation == Encoder.Any or Plans.derived?(implementation),
      do: implementation.encode(term, options),
      else: Interop.led(options, &implementation.encode(term, &1))
  end

  defp by_implementation(text, _term, _implementation, options) when is_binary(text) or is_list(text),
    do: text |> Measure.bounded(options) |> Written.lay_out(options)

  defp by_implementation(other, term, implementation, options),
    do: in_turn(other, term, implementation, options)

  defp in_turn(term, term, implementation, _options),
    do: raise(EncodeError.new({:invalid_iodata, "#{inspect(implementation)} returned its argument"}))

  defp in_turn(result, _term, _implementation, options) when is_map(result), do: encode!(result, options)
  defp in_turn(other, _term, implementation, _options), do: Written.no_text(other, implementation)
end
