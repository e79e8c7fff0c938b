defmodule RustyJson.Encode.Text do
  @moduledoc false
  # Turns a term into text: first by the engine, then Elixir fills the holes that the engine left.
  #
  # The core writes everything it knows and leaves a hole for what only Elixir can encode: a struct with its own implementation, a
  # function fragment, an unusual key. A hole has an offset in the text, a depth and the term.

  require RustyJson.Encode.Unsupported
  require RustyJson.Engine.Codes
  require RustyJson.Options.Cache

  alias RustyJson.{
    EncodeError,
    Encoder,
    Engine,
    Formatter,
    Fragment,
    Options,
    OrderedObject,
    SandboxError
  }

  alias RustyJson.Decode.Input
  alias RustyJson.Encode.{Canonical, Known, Measure, Path, Scope, Unsupported}
  alias RustyJson.Encoder.{Interop, Plans}
  alias RustyJson.Engine.{Codes, Native}
  alias RustyJson.Options.Cache

  # Whether the call is one of the stand-in for Jason, which encodes fewer types.
  defguardp of_standin(options) when :erlang.map_get(:extras, :erlang.map_get(:values, options)) == :left

  @compile {:inline, by: 3, by_engine: 2, left_after: 5, between: 4, core?: 3, planned?: 2}

  @known Known.modules()
  @overridable Known.overridable()

  @doc "Whether this is a struct, or a list that starts with one: then it is looked up first who encodes it."
  defguard is_of_structs(term)
           when is_struct(term) or (is_list(term) and term != [] and is_struct(hd(term)))

  @doc "The text, compressed if that is asked for."
  @spec encode(term(), Options.t()) :: {:ok, binary()} | {:error, Exception.t()}

  # The common case, without a look at what it does not need.
  def encode(
        term,
        %{engine: Engine.Native, canonical: false, compress: -1, bytes: bytes} = options
      ) do
    plans = Plans.known(options)

    case if(core?(term, plans, options), do: Native.Nif.encode(term, bytes, plans)) do
      json when is_binary(json) -> {:ok, json}
      nil -> general(term, options)
      begun -> ended(begun, term, %{options | plans: plans})
    end
  end

  def encode(term, %{canonical: true} = options), do: Canonical.encode(term, options)
  def encode(term, options), do: general(term, options)

  @doc "The text of a term by the configured options, where these ask for more than the native library, or for a struct."
  @spec configured(term(), ready(), Plans.t() | nil, Options.t() | nil) ::
          {:ok, binary()} | {:error, Exception.t()}
  def configured(term, {:derived, ready}, _plans, options),
    do: configured(term, ready, Plans.known(options), options)

  def configured(%module{} = struct, ready, plans, %{usual: true} = options)
      when ready != nil and module not in @known do
    with Cache.cached(sources: %{^module => source}) <- Cache.all(),
         way when way != nil <- Interop.learnt(struct, source, options) do
      learnt(struct, way, module, ready, plans, options)
    else
      _unknown when is_map_key(plans, module) -> planned(struct, module, ready, plans, options)
      _unknown -> of_struct(struct, module, plans, options)
    end
  end

  def configured(%module{} = struct, ready, plans, options) when ready != nil and is_map_key(plans, module),
    do: planned(struct, module, ready, plans, options)

  def configured(%module{} = struct, ready, plans, %{plain_parts: true} = options)
      when ready != nil and module not in @known,
      do: of_struct(struct, module, plans, options)

  def configured([%module{} | _] = list, ready, plans, options)
      when ready != nil and is_map_key(plans, module),
      do: planned(list, module, ready, plans, options)

  def configured(term, ready, plans, options) when ready != nil and not is_of_structs(term),
    do: term |> Native.Nif.encode(ready, plans) |> ready(term, plans, options)

  def configured(term, nil, _plans, options), do: given(term, options)
  def configured(term, _ready, _plans, options), do: encode(term, options)

  @typedoc "What the native library needs for a call that it answers alone; with a mark where the plans of other libraries do not count."
  @type ready :: Native.Nif.kept() | {:derived, Native.Nif.kept()} | nil

  # A struct that the core leaves to its own implementation: 370 ns through the holes of a text, 220 at once.
  defp of_struct(struct, module, plans, options) do
    implementation = Encoder.impl_for(struct)
    Plans.learn(module, implementation)
    options = with_plans(options, plans)
    implementation |> resolved(struct, options) |> own(struct, options)
  end

  defp learnt(struct, :plan, module, ready, plans, options),
    do: struct |> Native.Nif.encode(ready, {plans, module}) |> ready(struct, plans, options)

  defp learnt(struct, way, _module, _ready, plans, options), do: own(way, struct, with_plans(options, plans))

  defp with_plans(options, nil), do: options
  defp with_plans(options, plans), do: %{options | plans: plans}

  # The library then does not report this plan, which takes longer than to look here.
  defp planned(term, module, ready, plans, options) do
    given = if Plans.current?(module, plans), do: {plans, module}, else: plans
    term |> Native.Nif.encode(ready, given) |> ready(term, plans, options)
  end

  defp ready(json, _term, _plans, _options) when is_binary(json), do: {:ok, json}
  defp ready(begun, term, plans, options), do: begun(begun, term, plans, options)

  @doc "The text of a term by options that come from the caller or the configuration as they stand."
  @spec given(term(), Options.t()) :: {:ok, binary()} | {:error, Exception.t()}
  def given(term, %{straight: limits} = options) when limits != nil and not is_of_structs(term) do
    options = Plans.attach(options)

    case Engine.Wasm.straight_text(term, options) do
      {:ok, _text} = done -> done
      {answer, started} -> completed(answer, options, started)
    end
  end

  def given(term, options), do: encode(term, options)

  defp own(implementation, struct, options) do
    case text_by(implementation, struct, options) do
      text when is_binary(text) -> {:ok, text}
      text when is_list(text) -> {:ok, binary([text], options)}
      other -> {:ok, binary([in_turn(other, struct, module(implementation), options)], options)}
    end
  rescue
    error in EncodeError -> {:error, behind(error, "", 0, options)}
    error in SandboxError -> {:error, error}
    error in Protocol.UndefinedError -> undefined(error, __STACKTRACE__)
  end

  @doc "Turns the native library's answer into a result. The options are those of the call, which may have been replaced since."
  @spec begun(
          Native.Nif.encoded() | Native.Nif.suspended() | :dirty,
          term(),
          Plans.t() | nil,
          Options.t()
        ) :: {:ok, binary()} | {:error, Exception.t()}
  def begun(begun, term, plans, options), do: ended(begun, term, %{options | plans: plans})

  # Whether the core is asked first: of structs, only for those with a plan.
  defp core?(%module{}, plans, _options), do: planned?(module, plans)
  defp core?([%module{} | _], plans, options), do: planned?(module, plans) or not left?(module, options)
  defp core?(_term, _plans, _options), do: true

  defp general(term, options) do
    options = Plans.attach(options)
    started = Options.started(options)

    by_engine(term, options) |> completed(options, started)
  end

  defp ended(begun, term, options), do: Native.encoded(begun, term, options) |> completed(options, nil)

  defp completed({:ok, _text} = done, _options, _started), do: done

  defp completed({:partial, json, holes}, options, started),
    do: complete(json, holes, Options.due(options, started))

  defp completed({:error, failure}, options, _started), do: {:error, error(failure, options)}

  @doc "The text of a part, never compressed. Raises."
  @spec encode!(term(), Options.t()) :: iodata()
  # Encoders mostly ask for a plain map.
  def encode!(term, %{engine: Engine.Native, compress: -1, bytes: bytes, plans: plans} = options)
      when not is_of_structs(term) do
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
  defp parted({:error, failure}, options), do: raise(error(failure, options))

  @doc "The text of a struct by the plan of its implementation, which writes all of its fields in the core. Raises."
  @spec planned!(struct(), Plans.plan(), Options.t()) :: iodata()
  def planned!(%module{} = struct, plan, options) do
    plans = Map.put(options.plans || %{}, module, plan)

    # Otherwise the core would leave the struct to this implementation again.
    if not Plans.current?(module, plans),
      do: raise(ArgumentError, "this is not the implementation of RustyJson.Encoder for #{inspect(module)}")

    encode!(struct, %{options | plans: plans})
  end

  @doc "The text, or what the engine wrote of it and the holes that are left."
  @spec begin(term(), Options.t()) ::
          {:ok, binary()} | {:partial, binary(), [Engine.hole()]} | {:error, Exception.t()}
  def begin(term, options) do
    options = Plans.attach(options)
    begun = if is_list(term), do: by(options.engine, term, options), else: by_engine(term, options)
    with {:error, failure} <- begun, do: {:error, error(failure, options)}
  end

  @doc "The text of a hole at this place of what the engine wrote. Raises."
  @spec hole(term(), :key | :value, binary(), non_neg_integer(), Options.t()) :: iodata()
  def hole(term, place, json, offset, options) do
    options = Unsupported.mark(options)
    located(place, term, implementation(term, nil, options), options, json, offset)
  rescue
    error in [EncodeError, SandboxError] -> reraise %{error | call: nil}, __STACKTRACE__
  end

  # A struct with its own implementation is one hole, so the engine is not called.
  defp by_engine(%module{} = struct, options) when module not in @known do
    if planned?(module, options.plans) or not (options.plain_parts or options.values.protocol),
      do: by(options.engine, struct, options),
      else: {:partial, "", [{0, Options.depth(options), struct, :value}]}
  end

  # So is a list that starts with one. The engine would make a hole of each struct, which takes as long as a short encoder.
  defp by_engine([%module{} | _] = list, options) when module not in @known do
    if planned?(module, options.plans) or not left?(module, options),
      do: by(options.engine, list, options),
      else: {:partial, "", [{0, Options.depth(options), list, :value}]}
  end

  defp by_engine(term, options), do: by(options.engine, term, options)

  # Whether a list that starts with a struct of this module is left to Elixir, if the core does not know the module.
  defp left?(module, %{plain_parts: true, origin: nil, depth: depth, values: %{max_depth: deepest}}),
    do: module not in @known and depth < deepest

  defp left?(_module, _options), do: false

  # Calling a known module takes 10 ns less than a dynamic call, of about 200 ns for 35 bytes.
  defp by(Engine.Native, term, options), do: Engine.Native.encode(term, options)
  defp by(engine, term, options), do: engine.encode(term, options)

  defp planned?(module, plans), do: is_map(plans) and is_map_key(plans, module)

  # Errors of parts pass through the application's code as exceptions.
  defp complete(json, holes, options) do
    json
    |> fill(holes, options |> Options.inner() |> Unsupported.mark())
    |> binary(options)
    |> compress(options)
  rescue
    error in [EncodeError, SandboxError] -> {:error, %{error | call: nil}}
    error in Protocol.UndefinedError -> undefined(error, __STACKTRACE__)
  end

  defp binary([text], _options) when is_binary(text), do: text

  # Checking each piece would take longer than writing it, so only after a failure is the first bad piece located.
  defp binary(pieces, options) do
    IO.iodata_to_binary(pieces)
  rescue
    ArgumentError ->
      before = pieces |> Enum.take_while(&iodata?/1) |> IO.iodata_to_binary()
      reraise %{no_iodata() | path: reached(before, options)}, __STACKTRACE__
  end

  defp iodata?(piece) do
    is_integer(IO.iodata_length([piece]))
  rescue
    ArgumentError -> false
  end

  defp no_iodata,
    do: EncodeError.new({:invalid_iodata, "an encoder or a fragment did not return iodata"})

  @protocols [Encoder | Interop.protocols()]

  defp undefined(%{protocol: protocol} = error, _stacktrace) when protocol in @protocols, do: {:error, error}
  defp undefined(error, stacktrace), do: reraise(error, stacktrace)

  defp compress(json, %{compress: -1}), do: {:ok, json}

  defp compress(json, options) do
    with {:error, failure} <- options.engine.gzip(json, options),
         do: {:error, error(failure, options)}
  end

  ## Holes

  # The pieces stay iodata until the end, when they become one binary. Consecutive holes mostly have the same depth and share the
  # options for it.
  defp fill(json, holes, %{plain_parts: true} = options), do: splice(holes, json, 0, :infinity, options, nil)

  defp fill(json, holes, %{values: %{max_bytes: max_bytes}} = options) do
    left = if max_bytes > 0, do: max_bytes - byte_size(json), else: :infinity
    splice(Scope.around(holes, json, options), json, 0, left, options, nil)
  end

  # The next struct of a run: 50 of 310 ns less.
  defp splice(
         [{offset, depth, %module{} = struct, :value} | holes],
         json,
         position,
         left,
         options,
         {module, implementation, depth} = own
       ) do
    text = plain_text(struct, implementation, options, json, offset)
    between(json, position, offset, [text | splice(holes, json, offset, left, options, own)])
  end

  defp splice([{offset, depth, term, place, pointers} | holes], json, position, left, options, own) do
    options = options |> Options.at_depth(depth) |> Options.with_pointers(pointers)
    splice([{offset, depth, term, place} | holes], json, position, left, options, own)
  end

  defp splice([{offset, depth, term, place} | holes], json, position, left, options, own) do
    options = Options.at_depth(options, depth)
    own = implementation(term, own, options)
    text = located(place, term, own, options, json, offset)
    left = left_after(left, text, options, json, offset)
    between(json, position, offset, [text | splice(holes, json, offset, left, options, own)])
  end

  defp splice([], json, position, _left, _options, _own),
    do: between(json, position, byte_size(json), [])

  # The implementation for a struct that the core does not know. Consecutive structs mostly have the same module. With the depth, if
  # the options ask nothing more about structs there.
  defp implementation(%module{}, {module, implementation, _depth}, options),
    do: {module, implementation, plain_depth(options)}

  defp implementation(%module{} = struct, _own, options) when module not in @known do
    implementation = dispatch(struct, options)
    Plans.learn(module, implementation)

    case plain_depth(options) do
      nil -> {module, implementation, nil}
      depth -> {module, resolved(implementation, struct, options), depth}
    end
  end

  defp implementation(_term, _own, _options), do: nil

  defp dispatch(term, options) when of_standin(options), do: Interop.by_standin(term)
  defp dispatch(term, _options), do: Encoder.impl_for(term)

  # A struct that only Jason encodes, where nothing else is to be done with its text.
  defp resolved(Encoder.Any, struct, options), do: Interop.direct(struct, options) || Encoder.Any
  defp resolved(implementation, _struct, _options), do: implementation

  defp plain_depth(%{plain_parts: true, origin: nil, depth: depth}), do: depth
  defp plain_depth(_options), do: nil

  # Between such structs in a list there is only a comma.
  defp between(_json, place, place, pieces), do: pieces
  defp between(json, from, to, pieces) when to == from + 1, do: [:binary.at(json, from) | pieces]
  defp between(json, from, to, pieces), do: [binary_part(json, from, to - from) | pieces]

  defp plain_text(struct, implementation, options, json, offset) do
    own_text(struct, implementation, options)
  rescue
    error in EncodeError -> reraise behind(error, json, offset, options), __STACKTRACE__
  end

  defp own_text(struct, implementation, options) do
    case text_by(implementation, struct, options) do
      text when is_binary(text) or is_list(text) -> text
      other -> in_turn(other, struct, module(implementation), options)
    end
  end

  defp module({_library, encode, _given}), do: encode |> Function.info(:module) |> elem(1)
  defp module(implementation), do: implementation

  defp text_by({:json, encode, encoder}, struct, _options), do: encode.(struct, encoder)
  defp text_by({_library, _encode, _given} = way, struct, options), do: Interop.text(way, struct, options)

  defp text_by(implementation, struct, options), do: implementation.encode(struct, options)

  # A part reports the path from its own root.
  defp located(:value, struct, {_module, implementation, depth}, options, json, offset) when depth != nil,
    do: plain_text(struct, implementation, options, json, offset)

  defp located(place, term, own, options, json, offset) do
    if Unsupported.is_described(options),
      do: described(place, term, own, options),
      else: place |> written(term, own, Options.alone(options)) |> in_record(options)
  rescue
    error in EncodeError -> reraise behind(error, json, offset, options), __STACKTRACE__
  end

  defp written(:key, term, _own, options), do: encode!(string_key(term, options), options)
  defp written(:value, term, own, options), do: value(term, own, options)

  # Whether an encoder returned iodata is otherwise seen when all text is joined, too late to replace it.
  defp described(place, term, own, options) do
    place
    |> written(term, own, Options.alone(options))
    |> in_record(options)
    |> IO.iodata_to_binary()
    |> guarded(options)
  catch
    kind, reason ->
      if Unsupported.concerns?(kind, reason, options),
        do: instead(place, term, Options.alone(options)),
        else: :erlang.raise(kind, reason, __STACKTRACE__)
  end

  defp guarded(text, %{values: %{guard: nil}}), do: text

  defp guarded(text, %{values: %{guard: guard}}) do
    case Input.given(text, guard) do
      {:ok, _value} ->
        text

      {:error, _error} ->
        raise EncodeError.new({:invalid_iodata, "a fragment or an encoder gave invalid JSON"})
    end
  end

  defp instead(place, term, options) do
    {instead, options} = Unsupported.instead(term, options)
    if place == :key, do: encode!(string_key(instead, options), options), else: encode!(instead, options)
  end

  defp behind(error, json, offset, options),
    do: behind(error, json |> binary_part(0, offset) |> reached(options))

  defp behind(error, prefix), do: %{error | path: Path.join(prefix, error.path || "")}

  # Of records, each line that ended is one.
  defp reached(text, %{origin: :records}) do
    number = text |> :binary.matches("\n") |> length()
    Path.join("/" <> Integer.to_string(number), Path.locate(text))
  end

  defp reached(text, _options), do: Path.locate(text)

  defp left_after(:infinity, _text, _options, _json, _offset), do: :infinity

  defp left_after(left, text, options, json, offset), do: spent(left, text, options, json, offset)

  defp spent(left, text, options, json, offset) do
    left = left - IO.iodata_length(text)

    if left < 0,
      do: raise(behind(error({Codes.encode(:max_bytes), "", nil}, options), json, offset, options)),
      else: left
  rescue
    ArgumentError -> reraise behind(no_iodata(), json, offset, options), __STACKTRACE__
  end

  defp value(struct, {_module, implementation, _depth}, options),
    do: by_protocol(struct, implementation, options)

  defp value(%Fragment{encode: encode}, nil, options) when is_function(encode, 1) do
    case encode.(options) do
      text when is_binary(text) or is_list(text) -> text |> bounded(options) |> lay_out(options)
      other -> no_text(other, "a fragment's function")
    end
  end

  defp value(%Fragment{encode: text}, nil, options) when is_binary(text) or is_list(text),
    do: text |> bounded(options) |> lay_out(options)

  defp value(%OrderedObject{values: values}, nil, options) when is_list(values),
    do: encode!(with_string_keys(values, options), options)

  # A map with keys that the core does not know.
  defp value(map, nil, options) when is_map(map) and not is_struct(map) do
    check_members!(map_size(map), options)
    encode!(with_string_keys(Map.to_list(map), options), options)
  end

  defp value(term, nil, options)
       when of_standin(options) and
              (is_tuple(term) or (is_struct(term) and :erlang.map_get(:__struct__, term) in @overridable)),
       do: by_protocol(term, dispatch(term, options), options)

  defp value(%module{} = struct, nil, options) when module in @overridable do
    case Plans.own_implementation(module) do
      nil -> plain(struct, options)
      implementation -> by_protocol(struct, implementation, options)
    end
  end

  # Its implementation of the protocol would call the engine again. An improper list comes from the core.
  defp value([%module{} | _] = list, nil, options) do
    if left?(module, options),
      do: [?[ | elements(list, 0, Options.at_depth(options, options.depth + 1), nil)],
      else: improper_list()
  end

  defp value(list, nil, _options) when is_list(list), do: improper_list()

  defp value(term, nil, options), do: plain(term, options)

  # The structs at the start of a list, and then the engine writes the rest.
  defp elements([%module{} = struct | list], number, options, {module, implementation, _depth} = own),
    do: [element(struct, number, implementation, options) | separated(list, number, options, own)]

  defp elements([%module{} = struct | list] = all, number, options, _own) do
    if planned?(module, options.plans) or not left?(module, options) do
      rest(all, number, options)
    else
      {_module, implementation, _depth} = own = implementation(struct, nil, options)
      [element(struct, number, implementation, options) | separated(list, number, options, own)]
    end
  end

  defp elements(list, number, options, _own), do: rest(list, number, options)

  defp separated([], _number, _options, _own), do: [?]]
  defp separated(list, number, options, own), do: [?, | elements(list, number + 1, options, own)]

  defp element(struct, number, implementation, options) do
    own_text(struct, implementation, options)
  rescue
    error in EncodeError -> reraise behind(error, Path.steps([number])), __STACKTRACE__
  end

  defp rest(list, number, options) when is_list(list) do
    options = Options.at_depth(options, options.depth - 1)
    <<?[, text::binary>> = options.engine |> by(list, options) |> parted(options) |> IO.iodata_to_binary()
    [text]
  rescue
    error in EncodeError -> reraise %{error | path: Path.later(error.path, number)}, __STACKTRACE__
  end

  defp rest(_tail, _number, _options), do: improper_list()

  defp plain(term, options) do
    check_digits!(term, options)

    case Known.plain(term) do
      {:ok, plain} -> encode!(plain, options)
      :error -> by_protocol(term, dispatch(term, options), options)
    end
  end

  defp by_protocol(term, implementation, options) do
    case implementation.encode(term, options) do
      text when is_binary(text) or is_list(text) -> text |> bounded(options) |> lay_out(options)
      other -> in_turn(other, term, implementation, options)
    end
  end

  # Iodata can hold the same part many times, so that even its length takes for ever.
  defp bounded(text, %{values: %{max_bytes: 0}}), do: text

  defp bounded(text, %{values: %{max_bytes: most}} = options) do
    if Measure.text?(text, most), do: text, else: raise(error({Codes.encode(:max_bytes), "", nil}, options))
  end

  defp in_turn(term, term, implementation, _options),
    do: raise(EncodeError.new({:invalid_iodata, "#{inspect(implementation)} returned its argument"}))

  defp in_turn(result, _term, _implementation, options) when is_map(result), do: encode!(result, options)
  defp in_turn(other, _term, implementation, _options), do: no_text(other, implementation)

  # An integer is iodata only inside a list, as a byte.
  @spec no_text(term(), module() | String.t()) :: no_return()
  defp no_text(other, by) do
    by = if is_atom(by), do: inspect(by), else: by
    shown = inspect(other, limit: 5, printable_limit: 64, width: :infinity)
    raise EncodeError.new({:invalid_iodata, "#{by} returned #{shown}, expected iodata"})
  end

  # The core leaves decimals with a huge exponent here. To write the digits takes quadratic time, also of those that are too long. An
  # integer has at least 2.4 digits for each byte but the first.
  defp check_digits!(%{__struct__: Decimal, coef: coef}, %{values: %{max_bytes: most}} = options)
       when most > 0 and is_integer(coef) and coef > 0 do
    bytes = coef |> :binary.encode_unsigned() |> byte_size()

    if div((bytes - 1) * 12, 5) > most,
      do: raise(error({Codes.encode(:max_bytes), "", nil}, options))
  end

  defp check_digits!(_term, _options), do: :ok

  # Each takes at least five bytes: `"":0,`.
  defp check_members!(count, %{values: %{max_bytes: most, omit: []}} = options)
       when most > 0 and 5 * count > most + 1,
       do: raise(error({Codes.encode(:max_bytes), "", nil}, options))

  defp check_members!(_count, _options), do: :ok

  # The core writes keys that are strings, atoms and integers. Other keys become strings through String.Chars.
  defp with_string_keys(values, options), do: OrderedObject.new(pairs(values, options))

  defp pairs([{key, value} | rest], options), do: [{string_key(key, options), value} | pairs(rest, options)]
  defp pairs([], _options), do: []
  defp pairs([_no_pair | _rest], _options), do: invalid_key()
  defp pairs(_tail, _options), do: improper_list()

  # The core writes atoms as they are; `String.Chars` makes nothing of nil.
  defp string_key(key, _options) when is_binary(key) or is_atom(key), do: key

  defp string_key(key, options) when Unsupported.is_described(options) do
    chars(key, options)
  catch
    kind, reason ->
      if not Unsupported.concerns?(kind, reason, options), do: :erlang.raise(kind, reason, __STACKTRACE__)
      {instead, options} = Unsupported.instead(key, options)
      string_key(instead, options)
  end

  defp string_key(key, options), do: chars(key, options)

  defp chars(key, options) when of_standin(options), do: String.Chars.to_string(key)

  defp chars(key, options) do
    check_digits!(key, options)
    if is_list(key), do: bounded(key, options)

    case String.Chars.impl_for(key) && key_text(key) do
      text when is_binary(text) -> text
      _none -> invalid_key()
    end
  end

  # Exceptions of the application's implementations are not caught.
  defp key_text(%module{} = key) when module not in [Version | @known], do: String.Chars.to_string(key)

  defp key_text(key) do
    String.Chars.to_string(key)
  rescue
    _ -> nil
  end

  @spec improper_list() :: no_return()
  defp improper_list, do: raise(error({Codes.encode(:improper_list), "", nil}, nil))

  @spec invalid_key() :: no_return()
  defp invalid_key, do: raise(error({Codes.encode(:invalid_key), "", nil}, nil))

  # What would end a record is whitespace, or no JSON.
  @ends_of_records ["\n", "\r", <<0x1E>>]

  @doc "Whether a reader of lines or of a sequence may end a record in this text."
  @spec ends_record?(binary()) :: boolean()
  def ends_record?(text), do: :binary.match(text, @ends_of_records) != :nomatch

  # Text of a record that the application wrote. The core leaves its fragments here if they would end the record.
  defp in_record(text, %{origin: nil}), do: text
  defp in_record(text, options), do: record(text, options)

  @doc "Text without what would end a record. Raises."
  @spec record(iodata(), Options.t()) :: binary()
  def record(text, options) do
    text = flat(text)

    if ends_record?(text), do: text |> minified(options) |> in_one(), else: text
  end

  # A line break between several texts stays.
  defp minified(text, %{values: %{max_depth: deepest, max_bytes: most}} = options),
    do: laid_out(text, Options.laid_out(options, {"", "", "\n", ""}, {Options.depth(options), deepest, most}))

  defp in_one(text) do
    if ends_record?(text),
      do:
        raise(EncodeError.new({:invalid_iodata, "a fragment or an encoder gave text that is not one record"})),
      else: text
  end

  defp lay_out(iodata, %{values: %{pretty: false}}), do: iodata

  defp lay_out(iodata, options), do: iodata |> flat() |> laid_out(options)

  defp laid_out(text, options) do
    case Formatter.lay_out(text, options) do
      {:ok, text} -> text
      {:error, error} -> raise marked(error, options)
    end
  end

  defp flat(iodata) do
    IO.iodata_to_binary(iodata)
  rescue
    ArgumentError -> reraise no_iodata(), __STACKTRACE__
  end

  defp error(%SandboxError{} = error, options), do: marked(error, options)
  defp error(failure, options), do: failure |> EncodeError.from_engine(options) |> marked(options)

  # An encoder may also raise errors of calls of its own, which `:unsupported` replaces.
  defp marked(error, %{call: call}), do: %{error | call: call}
  defp marked(error, nil), do: error
end
