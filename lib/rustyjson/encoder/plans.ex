defmodule RustyJson.Encoder.Plans do
  @moduledoc false
  # What the core has to know to encode a derived struct itself: keys and fields, by module.
  #
  # A plan is learnt when a struct first reaches Elixir. It is the literal that the derived implementation holds, and is
  # used only as long as the implementation that is loaded holds the same: recompiling a struct leaves no stale plan.

  alias RustyJson.{Encoder, Engine, Options}

  @key __MODULE__
  @most 1_024

  @type plan :: [{key :: String.t(), field :: atom()}]
  @type t :: %{module() => plan()}

  @doc "The plan of these fields."
  @spec plan([atom()]) :: plan()
  def plan(fields), do: for(field <- fields, do: {Atom.to_string(field), field})

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

  @doc "Learns the plan of a struct whose implementation is derived. `true`: there is one that was not known."
  @spec learn(struct()) :: boolean()
  def learn(%module{}) do
    plans = :persistent_term.get(@key, %{})

    with plan when is_list(plan) <- current_plan(module),
         true <- plans[module] != plan and map_size(plans) < @most do
      :persistent_term.put(@key, Map.put(plans, module, plan))
      true
    else
      _ -> false
    end
  end

  @doc "Whether the plans of these modules are still those of the implementations; if not, all are forgotten."
  @spec hold?([module()], t()) :: boolean()
  def hold?(modules, plans) do
    hold = Enum.all?(modules, &(current_plan(&1) == Map.fetch!(plans, &1)))
    hold or forget()
  end

  @doc "Forgets all plans."
  @spec forget() :: false
  def forget do
    :persistent_term.erase(@key)
    false
  end

  # `impl_for/1` of a consolidated protocol knows nothing newer than the consolidation, and so tells who is called.
  defp current_plan(module) do
    implementation = Encoder.impl_for(struct_of(module))

    # (By apply, for the compiler would say which of the implementations it knows have no plan.)
    if implementation && function_exported?(implementation, :__plan__, 0),
      do: apply(implementation, :__plan__, [])
  end

  # Enough of a struct for the dispatch, which looks at its module only.
  defp struct_of(module), do: %{__struct__: module}
end
