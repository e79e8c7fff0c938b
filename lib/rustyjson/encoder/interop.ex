defmodule RustyJson.Encoder.Interop do
  @moduledoc false
  # Structs that implement only the protocol of another library.

  alias RustyJson.{DecodeError, Encode, Encoder, EncodeError, Engine, Options}
  alias RustyJson.Decode.Input
  alias RustyJson.Encode.{Known, Lost, Measure, Part, Scope, Written}
  alias RustyJson.Encoder.{Compiled, Plans}
  alias RustyJson.Engine.Codes
  alias RustyJson.Options.Cache
  alias RustyJson.Parts.Kind
  alias RustyJson.Standin.Stale

  require RustyJson.Engine.Codes
  require RustyJson.Parts.Kind

  @compile {:no_warn_undefined,
            [Jason, Jason.Encode, Jason.Encoder, Jason.Fragment, Jason.OrderedObject, JSON, JSON.Encoder]}

  @compile {:inline, there?: 1}

  # Bytes of a text that is read again, beyond 16 for each that the call may write.
  @looked_at 1_048_576

  # Bytes of such a text that count as one part of `RustyJson.Encode.Lost`, which has 16 for each byte that the call may write: so a text
  # of that length can be read at each level of the default `max_depth`.
  @bytes_per_part 8

  @of_jason [Jason.Fragment, Jason.OrderedObject]
  @known Known.modules()

  @doc "The protocols of other libraries that RustyJson tries."
  @spec protocols() :: [module()]
  def protocols, do: [Jason.Encoder, JSON.Encoder]

  @typedoc "A library, its function for a struct, and what that gets beside the struct."
  @type way :: {:jason | :json, (struct(), term() -> iodata()), term()}

  @doc "The library whose protocol this struct implements, and the implementation."
  @spec found(struct()) :: {:jason | :standin | :json, module()} | nil
  def found(struct) do
    case jason(struct) do
      nil -> of_elixir(there?(JSON.Encoder) && Known.implementation(JSON.Encoder, struct))
      implementation -> {if(standin?(), do: :standin, else: :jason), implementation}
    end
  end

  defp of_elixir(none) when none in [nil, false, JSON.Encoder.Any], do: nil
  defp of_elixir(implementation), do: {:json, implementation}

  # The implementation of Jason's protocol, unless it is the one for any value.
  defp jason(value) do
    if there?(Jason.Encoder) do
      implementation = Known.implementation(Jason.Encoder, value)
      if implementation != Jason.Encoder.Any, do: implementation
    end
  end

  @doc "The struct's text by Jason's or Elixir's own protocol."
  @spec encode(term(), Options.t()) :: {:ok, iodata()} | :error
  def encode(%module{} = struct, options) do
    case found(struct) do
      nil ->
        :error

      {library, implementation} ->
        Plans.learn(module, library, implementation)

        # The first call writes it as the next ones do.
        plan = Plans.sure(module, options)

        if plan != nil and whole?(struct, plan),
          do: {:ok, Part.planned!(struct, plan, Plans.attach(options))},
          else: {:ok, encode(library, struct, implementation, options)}
    end
  end

  def encode(_value, _options), do: :error

  defp encode(:standin, struct, implementation, options) do
    implementation.encode(struct, options)
  rescue
    error in FunctionClauseError -> reraise Stale.explained(error), __STACKTRACE__
  end

  defp encode(library, struct, implementation, options) do
    if library == :jason, do: fits!(struct, options)
    way = way(library, Function.capture(implementation, :encode, 2), options)

    if options.foreign == :shaped,
      do: fn -> text(way, struct, options) end |> Plans.noting() |> shaped(options),
      else: text(way, struct, options)
  end

  @doc "How structs of this module are encoded if another library's protocol does it alone: for a list of them it is looked up once."
  @spec direct(struct(), Options.t()) :: way() | nil
  def direct(%module{} = struct, %{plain_parts: true, foreign: foreign} = options) when foreign != :shaped do
    case found(struct) do
      {library, implementation} when library != :standin ->
        Plans.learn(module, library, implementation)

        own = way(library, Function.capture(implementation, :encode, 2), options)
        plan = Plans.sure(module, options)

        # With the plans of now: the call may be here because one of its plans was outdated, and would come back with it.
        if plan, do: {:json, &by_plan(&1, plan, own, &2), Plans.attach(options)}, else: own

      _none ->
        nil
    end
  end

  def direct(_struct, _options), do: nil

  # The core leaves a struct without one of the fields to the implementation.
  defp by_plan(struct, plan, own, options),
    do: if(whole?(struct, plan), do: Part.planned!(struct, plan, options), else: text(own, struct, options))

  defp whole?(struct, plan), do: Enum.all?(Plans.fields(plan), &is_map_key(struct, &1))

  @doc "How structs are encoded by `encode/2` of an implementation of a library."
  @spec way(:jason | :json, (struct(), term() -> iodata()), Options.t()) :: way()
  def way(library, encode, options), do: {library, encode, given(library, options)}

  defp given(:jason, options), do: jason_options(Options.escape(options), Options.maps(options))

  defp given(:json, %{usual: true} = options), do: &by_usual_json(&1, &2, options)

  defp given(:json, options) do
    options = inner(options)
    &by_json(&1, &2, options)
  end

  # For values in a struct: pointers lead on in the text of all of it.
  defp inner(options),
    do: if(Options.pointers(options) == [], do: options, else: Options.with_pointers(options, []))

  @doc "The text of a struct in this way."
  @spec text(way(), struct(), Options.t()) :: iodata()
  def text({:json, encode, encoder}, struct, _options), do: encode.(struct, encoder)
  def text({:jason, encode, given}, struct, options), do: by_jason(struct, encode, given, options)

  @doc "Whether Jason's protocol is implemented for none of the types that Jason leaves to the application."
  @spec usual?() :: boolean()
  def usual? do
    values = [
      {},
      self(),
      make_ref(),
      (&usual?/0)
      | for(module <- Known.overridable(), do: %{__struct__: module})
    ]

    Enum.all?(values, &(jason(&1) == nil))
  end

  @doc "Whether `Jason` is the stand-in, which runs on this library."
  @spec standin?() :: boolean()
  def standin? do
    cond do
      Plans.standin() != nil -> true
      not there?(Jason) -> false
      function_exported?(Jason, :__rustyjson__, 0) -> Plans.stand_in(Jason.Encoder) == :ok
      true -> false
    end
  end

  @doc "The error of a call of an implementation, which may have been compiled with another Jason than the stand-in."
  @spec explained(Exception.t()) :: Exception.t()
  def explained(error), do: if(standin?(), do: Stale.explained(error), else: error)

  @doc "The implementation for a term in a call of the stand-in: that of its protocol or, for a struct that has only ours, ours."
  @spec by_standin(term()) :: module()
  def by_standin(term) do
    case Known.implementation(Jason.Encoder, term) do
      Jason.Encoder.Any when is_struct(term) -> own(Known.implementation(Encoder, term))
      implementation -> implementation
    end
  end

  defp own(implementation), do: if(implementation == Encoder.Any, do: Jason.Encoder.Any, else: implementation)

  # Nobody but the function that made a text knows whether it has an end, and what is hidden or left out counts less.
  defp readable!(text, %{values: %{max_bytes: most}} = options) do
    case Measure.excess(text, if(most > 0, do: @looked_at + 16 * most, else: 0), options) do
      nil -> :ok
      :max_bytes -> raise EncodeError.from_engine({Codes.encode(:max_bytes), "", nil}, options)
      error -> raise EncodeError.marked(error, options)
    end
  end

  # Jason has no limit, and a term that shares its parts has a text that is larger than any memory.
  defp fits!(struct, %{values: %{max_bytes: most}} = options) do
    # A part is at least a byte of JSON, except fields that an encoder leaves out.
    if most > 0 and not Measure.fits?(struct, max(1_000_000, 16 * most), max(1_000_000, 16 * most)),
      do: raise(EncodeError.from_engine({Codes.encode(:max_bytes), "", nil}, options))
  end

  @doc "The text that a function makes with these options. Pointers that redact lead on in the text of all of it, whatever its parts are."
  @spec led(Options.t(), (Options.t() -> result)) :: result | iodata() when result: term()
  def led(options, encode) do
    case Options.pointers(options) do
      [] -> encode.(options)
      _pointers -> fn -> options |> inner() |> encode.() end |> Plans.noting() |> hidden(options)
    end
  end

  # No option of the call but `:redact` changes such a text.
  defp hidden({text, noted}, options) when is_binary(text) or is_list(text) do
    term = read!(text, options)

    case Scope.hide(term, noted, options) do
      ^term -> text
      hidden -> Encode.value(hidden, Options.as_written(options))
    end
  end

  # Anything but text is put in its place by the caller.
  defp hidden({other, _noted}, _options), do: other

  # What must not be seen is taken out of the other library's text, too.
  defp shaped({text, noted}, options),
    do: text |> read!(options) |> Scope.hide(noted, options) |> Encode.value(options)

  # Structs in each other are read once for each level: what an encoder gets of a struct inside is hidden already, because it may put that
  # text into a string, or digest it. With `max_bytes` this work is limited, and the default of `max_depth` limits it in any case.
  defp read!(text, options) do
    readable!(text, options)
    text = Written.flat(text)
    Lost.spend!(div(byte_size(text), @bytes_per_part), options)

    case Input.decode(text, read_by(options)) do
      {:ok, term} ->
        term

      {:error, %DecodeError{}} ->
        raise EncodeError.new({:invalid_iodata, "an encoder gave invalid JSON"})

      {:error, error} ->
        raise EncodeError.marked(error, options)
    end
  end

  # The plan in which numbers stay text that would have another one: with a fraction or an exponent, or -0. `integers: :js_safe` has to
  # see the others.
  @numbers <<Kind.raw(), 2, 0, 0, 0>>

  @reading [objects: :ordered_objects, keys: :strings, duplicate_keys: :last, raw: [], as: nil] ++
             [max_depth: :infinity, max_bytes: 0, max_nodes: 0, decoding_integer_digit_limit: 0]

  # In the engine and the time of the call, whatever the configuration says of decoding. Each struct asks.
  defp read_by(%{engine: engine, sandbox: sandbox, values: %{null: null}}) do
    native? = Engine.native?(engine)
    given = [engine: if(native?, do: :native, else: :wasm), null: null]

    read =
      Cache.find(:foreign, given, fn ->
        (given ++ @reading) |> Options.decode() |> Options.with_parts(@numbers)
      end)

    if native?, do: read, else: %{read | engine: engine, sandbox: sandbox, straight: nil}
  end

  # The VM looks for a module that does not exist in every folder of the code path, which takes half a millisecond for each struct: it does
  # so once. A module that comes later counts as soon as it is loaded, as when a struct is compiled that implements the protocol.
  defp there?(module) do
    case known() do
      %{^module => true} -> true
      %{^module => false} -> :erlang.module_loaded(module) and know(module, true)
      _unknown -> know(module, Code.ensure_loaded?(module))
    end
  end

  # One term under an atom: to find it takes 2 ns, and 14 under a tuple.
  defp known, do: :persistent_term.get(__MODULE__, %{})

  defp know(what, value) do
    :persistent_term.put(__MODULE__, Map.put(known(), what, value))
    value
  end

  defp implemented?(value), do: jason(value) != nil

  # Elixir's protocol passes every nested value back to the caller. A call of the engine for each takes longer than to write a short one.
  defp by_json(text, _encoder, options) when is_binary(text), do: Encode.string(text, options)
  defp by_json(atom, _encoder, options) when is_atom(atom), do: Encode.atom(atom, options)

  defp by_json(value, _encoder, options), do: Encode.value(value, options)

  # With usual options Elixir writes these values as the core does. It refuses invalid strings.
  @short 256

  defp by_usual_json(integer, _encoder, _options)
       when is_integer(integer) and integer in -0x7FFF_FFFF..0x7FFF_FFFF,
       do: Integer.to_string(integer)

  defp by_usual_json(atom, encoder, _options) when is_atom(atom), do: JSON.protocol_encode(atom, encoder)

  defp by_usual_json(text, encoder, options) when is_binary(text) and byte_size(text) <= @short do
    JSON.protocol_encode(text, encoder)
  rescue
    ErlangError -> Encode.value(text, options)
  end

  # Below and above, some versions of OTP write floats in another notation.
  defp by_usual_json(float, _encoder, _options)
       when is_float(float) and
              ((float > 0.01 and float < 1.0e15) or (float < -0.01 and float > -1.0e15)),
       do: :erlang.float_to_binary(float, [:short])

  defp by_usual_json(value, _encoder, options), do: Encode.value(value, options)

  # Jason encodes the content of the struct itself. A value that only RustyJson can encode, such as a struct of the application in
  # a struct of a package, is replaced by its text, but only after Jason failed, because an encoder may look at its fields.
  defp by_jason(struct, encode, given, options) do
    case attempt(struct, encode, given) do
      {:error, %{protocol: Jason.Encoder} = error} -> again(struct, encode, given, error, options)
      {:error, %{reason: :invalid_utf8} = error} -> replaced(struct, encode, given, error, options)
      {:error, error} -> raise error
      text -> text
    end
  end

  defp again(struct, encode, given, error, options) do
    case struct |> for_jason(inner(options)) |> attempt(encode, given) do
      {:error, _again} -> raise error
      text -> text
    end
  end

  # Replaces every string with its encoded text, where invalid bytes are already replaced.
  defp replaced(struct, encode, given, error, %{values: %{invalid_utf8: :replace}} = options),
    do: again(struct, encode, given, error, options)

  defp replaced(_struct, _encode, _given, error, _options), do: raise(error)

  # What `Jason.encode/2` does, without its options and the copy of the text: with both, a list of structs takes three times as long.
  defp attempt(struct, encode, given) do
    encode.(struct, given)
  rescue
    error in Protocol.UndefinedError ->
      if error.protocol == Jason.Encoder, do: {:error, error}, else: reraise(error, __STACKTRACE__)

    # Jason has no clause for the end of an improper list.
    error in FunctionClauseError ->
      if match?(%{module: Jason.Encode, function: :list_loop}, error),
        do: {:error, EncodeError.from_engine({Codes.encode(:improper_list), "", nil}, nil)},
        else: reraise(error, __STACKTRACE__)
  catch
    :throw, %{__struct__: Jason.EncodeError, message: text} -> {:error, invalid(text)}
  end

  # Jason's options consist of functions that only Jason can make. They belong to its code of now, which an upgrade replaces in a running VM.
  defp jason_options(escape, maps) do
    key = {__MODULE__, escape, maps}

    with {code, options} <- :persistent_term.get(key, nil), true <- Compiled.loaded?(Jason.Encode, code) do
      options
    else
      _unknown_or_old ->
        options = catch_options(escape: escape, maps: maps)
        :persistent_term.put(key, {Jason.Encode.module_info(:md5), options})
        options
    end
  end

  # Jason passes them to fragments.
  defp catch_options(given) do
    Jason.encode(Jason.Fragment.new(&throw({__MODULE__, &1})), given)
  catch
    {__MODULE__, options} -> options
  end

  defp invalid("duplicate key" <> _ = text), do: %EncodeError{message: text, path: "", reason: :duplicate_key}
  defp invalid(text), do: %EncodeError{message: text, path: "", reason: :invalid_utf8}

  defp for_jason(%module{} = value, _options) when module in @of_jason, do: value

  defp for_jason(%module{} = struct, options) when module not in @known do
    if implemented?(struct), do: inside(struct, options), else: as_text(struct, options)
  end

  defp for_jason(%_{} = known, options),
    do: if(implemented?(known), do: known, else: as_text(known, options))

  defp for_jason(map, options) when is_map(map), do: inside(map, options)

  defp for_jason(list, options) when is_list(list) do
    if List.improper?(list), do: list, else: Enum.map(list, &for_jason(&1, options))
  end

  defp for_jason(string, %{values: %{invalid_utf8: :replace}} = options) when is_binary(string),
    do: as_text(string, options)

  defp for_jason(value, options),
    do: if(implemented?(value), do: value, else: as_text(value, options))

  defp inside(map, options), do: :maps.map(fn _key, value -> for_jason(value, options) end, map)

  defp as_text(value, options), do: Jason.Fragment.new(fn _ -> Encode.value(value, options) end)
end
