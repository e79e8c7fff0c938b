defmodule RustyJson.Options.Cache do
  @moduledoc false
  # What a call looks up: the options of a list that an earlier call gave, checked and packed, and the plans of structs. All of it is
  # one term, because a look at a second one takes 8 ns of the 150 of a short call.
  #
  # Programs write few lists of options, and checking and packing one takes longer than decoding a small document: `engine: :native` on
  # a call took 300 ns, and takes 10 ns when it is known. Entries hold for the configuration they were made under, which has a number.
  # An update makes the VM look through all processes, so there are few of them: what is full stays as it is.

  require RustyJson.Options.Lists

  alias RustyJson.Encode.Measure
  alias RustyJson.Encoder.Plans
  alias RustyJson.Engine.Native.Nif
  alias RustyJson.{Config, Engine, Schema}
  alias RustyJson.Options.Lists
  alias RustyJson.Wasm.Host

  @most 16
  # Parts of a term that stays, and bytes of its texts.
  @words 1_000
  @bytes 65_536
  @longest 16
  @largest 64
  # Bytes of a type as the core reads it.
  @largest_plan 8_192

  require Record

  @none {nil, %{}}

  # The lists of options that are known, by the function that took them. A record: to find a name in a map takes 5 ns. Without `number`
  # the configuration was not read yet. `derived` are the plans but for those of other libraries; `renamed` are the fields to which plans
  # give other names; `sources` are the implementations that calls found.
  Record.defrecord(:cached,
    decode: @none,
    encode: @none,
    plans: nil,
    derived: nil,
    renamed: %{},
    sources: %{},
    number: nil,
    others: %{}
  )

  @type t ::
          record(:cached,
            decode: Lists.t(),
            encode: Lists.t(),
            plans: nil | Plans.t(),
            derived: nil | Plans.t(),
            renamed: Plans.renamed(),
            sources: %{module() => Plans.source()},
            number: nil | integer(),
            others: %{atom() => Lists.t()}
          )

  @nothing {:cached, @none, @none, nil, nil, %{}, %{}, nil, %{}}

  @doc "All that is known. A macro, because a call of another module takes time too."
  defmacro all, do: quote(do: :persistent_term.get(unquote(__MODULE__), unquote(Macro.escape(@nothing))))

  @doc "The lists of one function."
  @spec lists(t(), atom()) :: Lists.t()
  def lists(cached(decode: lists), :decode), do: lists
  def lists(cached(encode: lists), :encode), do: lists
  def lists(cached(others: others), function), do: Map.get(others, function, @none)

  defp put(all, :decode, lists), do: cached(all, decode: lists)
  defp put(all, :encode, lists), do: cached(all, encode: lists)

  defp put(cached(others: others) = all, function, lists),
    do: cached(all, others: Map.put(others, function, lists))

  @doc "What the options of a call of this function become: what the function makes, unless it is known."
  @spec find(atom(), keyword() | map(), (() -> known)) :: known when known: Lists.known()
  def find(function, given, make) do
    number = Config.number()

    case Lists.find(lists(all(), function), given) do
      {_ready, known} -> known
      nil -> learn(function, given, make.(), number)
    end
  end

  @doc "Keeps what a list of options became under the configuration of this number, unless there is too much already."
  @spec learn(atom(), keyword() | map(), known, integer()) :: known when known: Lists.known()
  def learn(function, given, known, number) do
    if lasting?(function, given, known) do
      all = all()
      lists = lists(all, function)

      # Two processes may have missed it at once.
      if cached(all, :number) == number and Lists.find(lists, given) == nil and Lists.count(lists) < @most,
        do: keep(put(all, function, Lists.put(lists, given, {ready(function, known), known})))
    end

    known
  end

  @doc "Forgets all lists, and keeps the plans. Called when the configuration is read."
  @spec reset() :: :ok
  def reset do
    cached(plans: plans, derived: derived, sources: sources) = all()
    reset(Plans.with_own(plans), Plans.with_own(derived), sources)
  end

  defp reset(plans, derived, sources) do
    {decode, encode} = {Config.decode(), Config.encode()}

    keep(
      cached(
        number: Config.number(),
        plans: plans,
        derived: derived,
        renamed: %{} |> Plans.renamed(plans) |> Plans.renamed(derived),
        sources: sources,
        decode: Lists.new({ready(:decode, decode), decode}),
        encode: Lists.new({ready(:encode, encode), encode})
      )
    )
  end

  @doc """
  Keeps these plans beside the lists, these as the ones but for those of other libraries, the fields that any of them renames, and the
  implementations that calls found.
  """
  @spec put_plans(nil | Plans.t(), nil | Plans.t(), Plans.renamed(), %{module() => Plans.source()}) :: :ok
  def put_plans(plans, derived, renamed, sources),
    do: keep(cached(all(), plans: plans, derived: derived, renamed: renamed, sources: sources))

  # Another process may read the configuration again in between; its lists must not be replaced by older ones.
  defp keep(cached(number: number) = all) do
    :persistent_term.put(__MODULE__, all)
    if Config.number() == number, do: :ok, else: reset()
  end

  # What a call needs if only the library has work to do. For decode, the length of the longest text that it reads on the
  # caller's scheduler, and the options as the library keeps them; with atoms as keys, as long as there are these atoms.
  defp ready(:decode, %{engine: Engine.Native, max_bytes: 0, keys: keys, as: nil, parts: ""} = options)
       when keys in [nil, :atoms],
       do:
         {min(options.dirty_threshold - 1, Engine.Heap.longest_without()),
          Nif.keep_options(:decode, options.bytes)}

  # For a type, what its calls share, unless its plan is long.
  defp ready(:decode, %{as: as} = options) when as != nil do
    {_shape, _plain, %{parts: parts}} = prepared = Schema.Decode.prepare(options)
    if byte_size(parts) <= @largest_plan, do: prepared
  end

  defp ready(:encode, %{engine: Engine.Native, canonical: false, compress: -1, bytes: bytes} = options) do
    kept = Nif.keep_options(:encode, bytes)
    if options.foreign == :planned, do: kept, else: {:derived, kept}
  end

  # The same for the built-in host in the library: the number by which it keeps options and limits. For decode also that of
  # `valid?`, if there is one. A call with events is measured.
  defp ready(:decode, %{straight: limits, check: check} = options) when limits != nil do
    with number when number != nil <- sandboxed(:decode, options),
         do: {:sandbox, number, check && sandboxed(:decode, %{options | bytes: check})}
  end

  defp ready(:encode, %{straight: limits, foreign: :planned} = options) when limits != nil,
    do: with(number when number != nil <- sandboxed(:encode, options), do: {:sandbox, number})

  defp ready(_function, _known), do: nil

  defp sandboxed(function, %{straight: limits, sandbox: sandbox, bytes: bytes}),
    do: if(at_once?(sandbox) and Engine.Native.loaded?(), do: Host.BuiltIn.kept(function, bytes, limits))

  defp at_once?(%{events: true}), do: false
  defp at_once?(%{host: host}), do: Host.get(host) in [Host.BuiltIn, Host.Auto]

  # Functions may hold anything, and an engine that is missing may be there for the next call.
  defp lasting?(_function, _given, %{engine: Engine.Missing}), do: false
  defp lasting?(_function, _given, {_own, %{engine: Engine.Missing}}), do: false

  # A log handler passes its configuration. There are few handlers, and their configuration is part of the code.
  defp lasting?(:log, config, _setup), do: Measure.fits?(config, @words, @bytes)

  defp lasting?(_function, given, _known)
       when (is_list(given) and length(given) <= @longest) or map_size(given) <= @longest do
    Enum.all?(given, fn {name, value} ->
      plain?(value) or (name == :as and Measure.fits?(value, @words, @bytes))
    end)
  end

  defp lasting?(_function, _given, _known), do: false

  defp plain?(value) when is_atom(value) or is_integer(value), do: true
  defp plain?(value) when is_binary(value), do: byte_size(value) <= @largest
  defp plain?(values) when is_list(values) and length(values) <= @longest, do: Enum.all?(values, &plain?/1)

  defp plain?(names) when is_map(names) and not is_struct(names) and map_size(names) <= @longest,
    do: Enum.all?(names, fn {name, text} -> plain?(name) and plain?(text) end)

  defp plain?(_value), do: false
end
