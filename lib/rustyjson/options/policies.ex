defmodule RustyJson.Options.Policies do
  @moduledoc false
  # Named sets of options from the configuration. Reading the configuration checks them all, so a call never selects an invalid one.

  alias RustyJson.Encode.Excerpt
  alias RustyJson.Options.{Schema, Unknown, Values}

  @directions [:decode, :encode]

  @typedoc "The options as they were given, and all values of a call with this policy, for each direction."
  @type t :: %{atom() => %{given: keyword(), decode: Values.t(), encode: Values.t()}}

  @doc "Reads the setting `policies`. Policies override `values`, the configured options."
  @spec read(term(), %{decode: Values.t(), encode: Values.t()}) :: t()
  def read(policies, values) do
    unless pairs?(policies),
      do:
        Excerpt.refuse!(
          "setting :policies of :rustyjson takes a keyword list or a map of names and options",
          policies
        )

    Map.new(policies, fn {name, given} -> {name, policy(name, given, values)} end)
  end

  defp policy(name, given, values) do
    unless is_list(given) and pairs?(given),
      do: Excerpt.refuse!("it takes a keyword list of options", given)

    Enum.each(given, &option!/1)
    all = Map.new(@directions, &{&1, all(only(given, &1), Map.fetch!(values, &1), &1)})
    Map.put(all, :given, given)
  rescue
    error in ArgumentError ->
      reraise ArgumentError,
              [message: "policy #{inspect(name)} of :rustyjson: #{error.message}"],
              __STACKTRACE__
  end

  defp all(given, values, direction) do
    all = Values.override(given, values, direction)
    Values.refuse_contradictions!(direction, all, given)
    all
  end

  # Options for encoding do not affect decoding, and the other way round.
  defp only(given, direction), do: Keyword.take(given, Schema.names(direction))

  defp option!({name, _value}) do
    names = Enum.uniq(Enum.flat_map(@directions, &Schema.names/1)) -- [:policy]

    unless name in names, do: raise(ArgumentError, Unknown.text(name, names, "it takes"))
  end

  defp pairs?(pairs) when is_map(pairs), do: pairs?(Map.to_list(pairs))
  defp pairs?(pairs), do: Keyword.keyword?(pairs)

  @doc "The name of the policy in the options of a call. If there are several, the last one wins."
  @spec name(term()) :: term()
  def name(given), do: name(given, nil)
  defp name(%{policy: name}, _found), do: name
  defp name([{:policy, name} | rest], _found), do: name(rest, name)
  defp name([_option | rest], found), do: name(rest, found)
  defp name(_end, found), do: found

  @doc "The policy with this name."
  @spec fetch!(t(), term()) :: %{given: keyword(), decode: Values.t(), encode: Values.t()}
  def fetch!(policies, name) do
    case policies do
      %{^name => policy} ->
        policy

      _ ->
        raise ArgumentError, unknown(name, Map.keys(policies))
    end
  end

  @doc "Raises for a policy that the application's environment does not have now."
  @spec known!(term()) :: :ok
  def known!(nil), do: :ok

  def known!(name) do
    policies = Application.get_env(:rustyjson, :policies, [])
    names = if pairs?(policies), do: for({name, _given} <- policies, do: name), else: []
    if name in names, do: :ok, else: raise(ArgumentError, unknown(name, names) <> later())
  end

  defp later do
    if Process.whereis(RustyJson.Supervisor),
      do: "",
      else:
        ". config/runtime.exs is read when the application starts; if the policy is there, " <>
          "build the pipeline at run time (RustyJson.PlugParser says how)"
  end

  defp unknown(name, names) do
    has = if names == [], do: "none", else: names |> Enum.sort() |> Enum.map_join(", ", &inspect/1)

    "unknown policy #{Excerpt.brief(name)}#{Unknown.meant(name, names)} config :rustyjson, policies: has #{has}"
  end
end
