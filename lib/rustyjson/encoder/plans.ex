defmodule RustyJson.Encoder.Plans do
  @moduledoc false
  # What the core has to know to encode a derived struct itself: its fields in their order, by module.
  #
  # A plan is learnt when a struct first reaches Elixir. It is the literal that the derived implementation holds, and is
  # used only as long as the implementation that is loaded holds the same: recompiling a struct leaves no stale plan.

  alias RustyJson.{Encoder, Engine, Options}

  @key __MODULE__
  @most 1_024

  @type plan :: tuple()
  @type t :: %{module() => plan()}

  @doc "The plan of these fields."
  @spec plan([atom()]) :: plan()
  def plan(fields), do: List.to_tuple(fields)

  @doc "Adds the plans that are known to the options of a call."
  @spec attach(Options.t()) :: Options.t()
  def attach(%{engine: engine, packed: packed} = options) do
    case :persistent_term.get(@key, nil) do
      nil -> options
      plans when engine == Engine.Native -> %{options | packed: put_elem(packed, 6, plans)}
      # A guest is not asked which plans it used.
      plans -> %{options | packed: put_elem(packed, 6, current(plans))}
    end
  end

  defp current(plans) do
    if hold?(Map.keys(plans), plans), do: plans
  end

  @doc "Learns the plan of a struct's module, when its implementation is a derived one."
  @spec learn(module(), implementation :: module()) :: :ok
  def learn(module, implementation) do
    with plan when is_tuple(plan) <- plan_of(implementation),
         plans = :persistent_term.get(@key, %{}),
         true <- plans[module] != plan and map_size(plans) < @most do
      :persistent_term.put(@key, Map.put(plans, module, plan))
    else
      _ -> :ok
    end
  end

  @doc "Whether the plans of these modules are still those of the implementations; if not, all are forgotten."
  @spec hold?([module()], t()) :: boolean()
  def hold?([module | modules], plans) do
    # Enough of a struct for the dispatch, which looks at its module only. `impl_for/1` of a consolidated protocol knows
    # nothing newer than the consolidation, and so tells who is called.
    case Encoder.impl_for(%{__struct__: module}) |> plan_of() do
      plan when :erlang.map_get(module, plans) == plan -> hold?(modules, plans)
      _other -> forget()
    end
  end

  def hold?([], _plans), do: true

  @doc "Forgets all plans."
  @spec forget() :: false
  def forget do
    :persistent_term.erase(@key)
    false
  end

  # (By apply, for the compiler would say which of the implementations it knows have no plan.)
  defp plan_of(implementation) do
    if function_exported?(implementation, :__plan__, 0), do: apply(implementation, :__plan__, [])
  end
end
