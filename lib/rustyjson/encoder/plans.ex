defmodule RustyJson.Encoder.Plans do
  @moduledoc false
  # What the core needs to encode a derived struct itself: the ordered fields, by module.
  #
  # A plan is learnt when a struct first reaches Elixir. It is a literal in the derived implementation, and is used only while the
  # loaded implementation has the same literal, so that recompiling a struct leaves no outdated plan. Of an implementation that another
  # library derived, `Compiled` reads it from the code. Such a plan is used where the core writes what the implementation would: options
  # that order, rename or hide members do not reach the text of another library.

  require RustyJson.Options.Cache

  alias RustyJson.{EncodeError, Encoder, Options}
  alias RustyJson.Encode.Known
  alias RustyJson.Encoder.{Compiled, Interop}
  alias RustyJson.Options.Cache

  @compile {:no_warn_undefined, [Jason.Encoder, JSON.Encoder]}

  @key __MODULE__
  # Asked in each call: to find a term under an atom takes 2 ns, and 9 under a tuple.
  @standin __MODULE__.Standin
  @most 1_024

  # Types that the core encodes unless the application implements the protocol for them. Such a type has a plan even where
  # its implementation has none: the core then leaves its structs to Elixir.
  @overridable Known.overridable()
  @known Known.modules()
  @own {}

  @type plan :: tuple()
  @type t :: %{module() => plan()}

  @typedoc """
  What writes the structs of a module, as a call found it: the plan, if there is one, the library, its implementation and, where the
  plan was read from its code, the version of that. Without a plan, the function to call.
  """
  @type source ::
          {plan(), :jason | :json, module(), code :: binary()}
          | {nil, :jason | :json, module(), encode :: (struct(), term() -> iodata())}
          | {plan(), :own, module(), nil}

  @typedoc "Names that plans give to fields, each with these fields, as texts."
  @type renamed :: %{(name :: String.t()) => %{(field :: String.t()) => []}}

  @doc """
  The plan of these fields. A derivation that gives them names, or leaves out values, adds the names as atoms, which the core
  writes as fast as fields, and the values; nil where it says nothing.
  """
  @spec plan([atom()], nil | [atom()], nil | [atom()]) :: plan()
  def plan(fields, names \\ nil, omitted \\ nil)
  def plan(fields, nil, nil), do: List.to_tuple(fields)

  def plan(fields, names, omitted),
    do: {List.to_tuple(fields), names && List.to_tuple(names), omitted && List.to_tuple(omitted)}

  @doc "The fields of a plan."
  @spec fields(plan()) :: [atom()]
  def fields({fields, _names, _omitted}) when is_tuple(fields), do: Tuple.to_list(fields)
  def fields(fields), do: Tuple.to_list(fields)

  @doc "The names that a plan gives them, if it does."
  @spec names(plan()) :: [atom()]
  def names({fields, names, _omitted}) when is_tuple(fields) and is_tuple(names), do: Tuple.to_list(names)
  def names(_plan), do: []

  @doc "These, and the fields to which these plans give other names."
  @spec renamed(renamed(), t() | nil) :: renamed()
  def renamed(renamed, plans), do: Enum.reduce(plans || %{}, renamed, &renamed_by(pairs(elem(&1, 1)), &2))

  defp renamed_by(pairs, renamed) do
    for {field, name} <- pairs, reduce: renamed do
      renamed -> Map.update(renamed, to_string(name), named(field), &Map.merge(&1, named(field)))
    end
  end

  @doc "The fields to which a plan gives other names, with these."
  @spec pairs(plan()) :: [{field :: atom(), name :: atom()}]
  def pairs(plan) do
    fields = if names(plan) == [], do: [], else: fields(plan)
    for {field, name} <- Enum.zip(fields, names(plan)), field != name, do: {field, name}
  end

  @doc "The other names that a struct's encoders give its fields."
  @spec other_names(module()) :: %{(field :: atom()) => [name :: atom()]}
  def other_names(module) do
    # With the stand-in for Jason, two implementations may not agree.
    plans = [current_plan(module), plan_of(Encoder.impl_for(%{__struct__: module}))]

    for plan when plan not in [nil, @own] <- plans, {field, name} <- pairs(plan), reduce: %{} do
      names -> Map.update(names, field, [name], &[name | &1])
    end
  end

  # In the dictionary of the process, because the library that calls us knows nothing of them.
  @noted {__MODULE__, :noted}
  @cleared "an encoder cleared the process dictionary, which has the names of what to redact"

  @doc "The result of a function, and the names that plans gave by which another library wrote structs in it."
  @spec noting((() -> result)) :: {result, renamed()} when result: term()
  def noting(fun) do
    outer = Process.put(@noted, %{})

    try do
      result = fun.()
      # Without them, a renamed secret would be shown.
      {result, Process.get(@noted) || raise(EncodeError.new({:invalid_iodata, @cleared}))}
    after
      # They stand in the text around it, too.
      if outer, do: Process.put(@noted, merged(outer, Process.get(@noted, %{}))), else: Process.delete(@noted)
    end
  end

  @doc "Notes the fields that are written with other names, with these, where somebody wants to know."
  @spec note([{field :: atom(), name :: atom() | String.t()}]) :: :ok
  def note(pairs) do
    with noted when noted != nil <- Process.get(@noted), do: Process.put(@noted, renamed_by(pairs, noted))
    :ok
  end

  @doc "All of these names."
  @spec merged(renamed(), renamed()) :: renamed()
  def merged(renamed, more),
    do: Map.merge(renamed, more, fn _name, fields, others -> Map.merge(fields, others) end)

  defp named(field), do: %{Atom.to_string(field) => []}

  @doc "The members of the object that a plan makes of a struct. Raises if the struct lacks a field."
  @spec members(plan(), struct()) :: [{atom(), term()}]
  def members(plan, struct) do
    fields = fields(plan)
    names = if names(plan) == [], do: fields, else: names(plan)
    omitted = omitted(plan)

    for {field, name} <- Enum.zip(fields, names),
        value <- [Map.fetch!(struct, field)],
        not omitted?(value, omitted),
        do: {name, value}
  end

  @doc "Whether a derived implementation has a plan."
  @spec derived?(module()) :: boolean()
  def derived?(implementation), do: plan_of(implementation) not in [nil, @own]

  @doc "Whether only another library encodes structs of this module, by an implementation that has a plan."
  @spec foreign?(module()) :: boolean()
  def foreign?(module),
    do: Encoder.impl_for(%{__struct__: module}) == Encoder.Any and foreign_plan(module) != nil

  @doc "The same by the plan of a derived implementation; nil if it has none."
  @spec derived_members(module(), struct()) :: nil | [{atom(), term()}]
  def derived_members(implementation, struct) do
    if derived?(implementation), do: implementation |> plan_of() |> members(struct)
  end

  defp omitted({fields, _names, omitted}) when is_tuple(fields) and is_tuple(omitted),
    do: Tuple.to_list(omitted)

  defp omitted(_plan), do: []

  defp omitted?(%module{}, omitted), do: module in omitted
  defp omitted?(value, omitted), do: value == nil and nil in omitted

  @doc "Looks for the application's implementations for `MapSet`, `Range`, `URI` and `Duration`. Called when the configuration is read."
  @spec find_own() :: :ok
  def find_own do
    own = for module <- @overridable, plan = own_plan(module), into: %{}, do: {module, plan}
    :persistent_term.put({@key, :own}, own)
    Cache.reset()
  end

  @doc "The plans of the application's own implementations, or nil."
  @spec own() :: t() | nil
  def own do
    own = :persistent_term.get({@key, :own}, %{})
    if own != %{}, do: own
  end

  @doc "The application's own implementation for such a type, or nil."
  @spec own_implementation(module()) :: module() | nil
  def own_implementation(module) when module in @overridable do
    implementation = Encoder.impl_for(%{__struct__: module})
    if implementation != Encoder.Any, do: implementation
  end

  def own_implementation(_module), do: nil

  defp own_plan(module) do
    with implementation when implementation != nil <- own_implementation(module),
         do: plan_of(implementation) || @own
  end

  @doc "These plans, and for the types above the application's own instead."
  @spec with_own(t() | nil) :: t() | nil
  def with_own(plans) do
    plans = (plans || %{}) |> Map.drop(@overridable) |> Map.merge(own() || %{})
    if plans != %{}, do: plans
  end

  @doc "Adds the plans that are known to the options of a call."
  @spec attach(Options.t()) :: Options.t()
  def attach(%{plans: plans} = options) do
    case known(options) do
      ^plans -> options
      plans -> %{options | plans: plans}
    end
  end

  @doc "The plans that are known for such calls, or those that the options have."
  @spec known(Options.t()) :: t() | nil
  def known(%{foreign: :planned, plans: otherwise}), do: Cache.cached(Cache.all(), :plans) || otherwise
  def known(%{plans: otherwise}), do: Cache.cached(Cache.all(), :derived) || otherwise

  @doc "The fields that plans rename, of those that are known and of those that these options have."
  @spec renamed(Options.t()) :: renamed()
  def renamed(%{plans: given}) do
    Cache.cached(plans: plans, derived: derived, renamed: renamed) = Cache.all()

    # Each text with holes asks, and the plans of a call are mostly those that are known.
    if given in [nil, plans, derived],
      do: renamed,
      else: renamed(renamed, Map.reject(given, fn {module, plan} -> derived[module] == plan end))
  end

  @doc "The plan of this module that counts for such calls, if it is known and holds."
  @spec sure(module(), Options.t()) :: plan() | nil
  def sure(module, options) do
    case known(options) do
      %{^module => plan} = plans -> if current?(module, plans), do: plan
      _none -> nil
    end
  end

  @doc "Of these plans, those that a term in its external format may need, as long as they hold."
  @spec needed(t() | nil, binary()) :: t() | nil
  def needed(nil, _etf), do: nil

  # Searching for structs takes about 0.7 ns per byte; sending an unneeded plan takes about 200 ns.
  def needed(plans, etf) when byte_size(etf) > map_size(plans) * 256, do: current(plans)

  def needed(plans, etf) do
    case :binary.matches(etf, pattern()) do
      [] -> nil
      places -> current(Map.take(plans, modules(places, etf)))
    end
  end

  defp current(plans) do
    if current?(Map.keys(plans), plans), do: plans, else: forget()
  end

  # The module follows the key: tag, length, name. A string that only looks the same names no module with a plan.
  defp modules(places, etf) do
    names = for {at, length} <- places, do: name(binary_part(etf, at + length, byte_size(etf) - at - length))
    for name <- Enum.uniq(names), module = existing(name), do: module
  end

  defp name(<<119, length, name::binary-size(length), _rest::binary>>), do: name
  defp name(<<118, length::16, name::binary-size(length), _rest::binary>>), do: name
  defp name(_other), do: ""

  defp existing(name) do
    String.to_existing_atom(name)
  rescue
    ArgumentError -> nil
  end

  defp pattern do
    with nil <- :persistent_term.get({@key, :pattern}, nil) do
      pattern = :binary.compile_pattern("__struct__")
      :persistent_term.put({@key, :pattern}, pattern)
      pattern
    end
  end

  @doc "Learns the plan of a struct's module, when its implementation is a derived one."
  @spec learn(module(), implementation :: module()) :: :ok
  def learn(_module, Encoder.Any), do: :ok

  def learn(module, implementation) do
    # Of a module that is not loaded yet, the VM knows no functions; a later call learns its plan. Who has no plan is not kept: all that is
    # known is one term, and the VM looks through all processes when it is replaced.
    if plan = plan_of(implementation) do
      cond do
        standin() == nil -> keep(module, plan, {plan, :own, implementation, nil})
        agreed_plan(module, standin()) == plan -> keep(module, plan, nil)
        true -> :ok
      end
    end

    :ok
  end

  @doc "The same for a struct that only another library knows."
  @spec learn(module(), :jason | :standin | :json, implementation :: module()) :: :ok
  def learn(module, :standin, implementation), do: learn(module, implementation)

  def learn(module, library, implementation) do
    {code, plan} = Compiled.plan(implementation, library)

    if plan == nil do
      keep(module, nil, {nil, library, implementation, Function.capture(implementation, :encode, 2)})
    else
      if library == :json or Interop.usual?(), do: keep(module, plan, {plan, library, implementation, code})
    end

    :ok
  end

  defp keep(module, plan, source) do
    Cache.cached(plans: plans, derived: derived, renamed: renamed, sources: sources) = Cache.all()
    own = put(derived, module, if(source == nil or elem(source, 1) == :own, do: plan))
    # Well-known structs have no source: a call of one of them does not look there.
    source = if module not in @known, do: source
    {new, found} = {put(plans, module, plan), put(sources, module, source) || %{}}

    if new != plans or own != derived or found != sources,
      do: Cache.put_plans(new, own, renamed_by(pairs(plan), renamed), found)
  end

  defp put(nil, _module, nil), do: nil
  defp put(nil, module, value), do: %{module => value}

  # The same map, where it says so already: it is compared at once.
  defp put(known, module, value) do
    case known do
      %{^module => ^value} -> known
      %{^module => _old} when value == nil -> if map_size(known) > 1, do: Map.delete(known, module)
      %{^module => _old} -> %{known | module => value}
      _unknown when value == nil or map_size(known) >= @most -> known
      _unknown -> Map.put(known, module, value)
    end
  end

  @doc "Whether the plan of this module, or of all of these, is still that of the implementation."
  @spec current?(module() | [module()], t()) :: boolean()
  def current?(modules, plans), do: current?(modules, plans, Cache.cached(Cache.all(), :sources))

  defp current?([module | modules], plans, sources),
    do: current?(module, plans, sources) and current?(modules, plans, sources)

  defp current?([], _plans, _sources), do: true

  # The dispatch looks only at the module of a struct. What was found is looked at first, because to search takes longer.
  defp current?(module, plans, sources) do
    plan = :erlang.map_get(module, plans)

    case sources do
      %{^module => {^plan, _, _, _} = source} ->
        holds?(source, %{__struct__: module}) or current_plan(module) === plan

      _unknown ->
        current_plan(module) === plan
    end
  end

  # `impl_for/1` of a consolidated protocol returns the implementation that is really called.
  defp current_plan(module) when module in @overridable, do: own_plan(module)

  defp current_plan(module) do
    case standin() do
      nil -> sure_plan(Encoder.impl_for(%{__struct__: module}), module)
      protocol -> agreed_plan(module, protocol)
    end
  end

  defp sure_plan(Encoder.Any, module), do: foreign_plan(module)
  defp sure_plan(implementation, _module), do: plan_of!(implementation)

  @doc """
  Whether what an earlier call found still holds: the same implementation and, if there is a plan, the code from which it was read. Without
  one the implementation is called, whatever its code is now.
  """
  @spec holds?(source(), struct()) :: boolean()
  # Each call with such a struct asks, so all of it stands here: a call of a module in a variable takes 30 ns. Jason's protocol may be
  # loaded later than this was learnt, and where it was loaded it stays so, but for the moment in which it is replaced.
  def holds?({plan, :json, implementation, code}, struct) do
    Encoder.impl_for(struct) == Encoder.Any and
      JSON.Encoder.impl_for(struct) == implementation and
      (not :erlang.module_loaded(Jason.Encoder) or
         Jason.Encoder.impl_for(struct) in [nil, Jason.Encoder.Any]) and
      (plan == nil or Compiled.loaded?(implementation, code))
  end

  def holds?({plan, :own, own, nil}, struct),
    do: Encoder.impl_for(struct) == own and plan_of!(own) === plan

  def holds?({plan, :jason, implementation, code}, struct) do
    Encoder.impl_for(struct) == Encoder.Any and :erlang.module_loaded(Jason.Encoder) and
      Jason.Encoder.impl_for(struct) == implementation and
      (plan == nil or Compiled.loaded?(implementation, code))
  end

  # The plan of an implementation that had one. It has one, unless it was compiled again: asking first takes longer than the call.
  defp plan_of!(implementation) do
    apply(implementation, :__plan__, [])
  rescue
    UndefinedFunctionError -> nil
  end

  defp foreign_plan(module) do
    case Interop.found(%{__struct__: module}) do
      nil ->
        nil

      {:standin, implementation} ->
        plan_of(implementation)

      {library, implementation} ->
        with {_code, plan} <- Compiled.plan(implementation, library), do: plan
    end
  end

  # With the stand-in for Jason a struct can have two implementations. The core knows its plan if there is only one, or they agree.
  defp agreed_plan(module, protocol) do
    any = Module.concat(protocol, Any)

    case {Encoder.impl_for(%{__struct__: module}), protocol.impl_for(%{__struct__: module})} do
      {Encoder.Any, _of_jason} ->
        foreign_plan(module)

      {own, ^any} ->
        plan_of(own)

      {own, of_jason} ->
        with plan when plan != nil <- plan_of(own), do: if(plan_of(of_jason) == plan, do: plan)
    end
  end

  @doc "The protocol of the stand-in for Jason, once it is in use."
  @spec standin() :: module() | nil
  def standin, do: :persistent_term.get(@standin, nil)

  @doc "From now on, this protocol of the stand-in for Jason is asked too."
  @spec stand_in(module()) :: :ok
  def stand_in(protocol) do
    if standin() != protocol do
      :persistent_term.put(@standin, protocol)
      forget()
    end

    :ok
  end

  @doc "Forgets all plans but those of the application's own implementations."
  @spec forget() :: nil
  def forget do
    Cache.put_plans(own(), own(), renamed(%{}, own()), %{})
    nil
  end

  # Called through apply, because the compiler would warn about implementations without a plan.
  defp plan_of(implementation) do
    if function_exported?(implementation, :__plan__, 0), do: apply(implementation, :__plan__, [])
  end
end
