defmodule RustyJson.Test.Sweep do
  @moduledoc """
  The table of the sweep: public functions (`RustyJson.Test.Sweep.Calls`), and values of every option (`RustyJson.Test.Sweep.Ways`).

  `test/engines/sweep_table_test.exs` fails when a public function, an option, or a value of an option is missing here, so whoever adds one
  adds a line. A call gets an input of a shape (`RustyJson.Test.Sweep.Inputs`) and the options of a way.
  """

  alias RustyJson.{Encode, OrderedObject}
  alias RustyJson.Options.Schema
  alias RustyJson.Test.Judge
  alias RustyJson.Test.Sweep.{Calls, Ways}

  @typedoc """
  `takes` says which options the call takes, `sole` that its `:timeout` covers all of it. `all` says that every way is measured with it.
  `times` makes inputs larger, where 20 KB are one slice of work and 200 KB several: a step, and no growth.
  """
  @type call :: %{
          name: mfa() | {module(), atom(), arity()},
          input: :text | :term,
          takes: :decode | :encode | :format | :log | :none,
          ways: [keyword()],
          sole: boolean(),
          all: boolean(),
          times: pos_integer(),
          run: (term(), keyword() -> term())
        }

  # A text that is indented without a limit of depth is longer than any memory: its size is that of the term, squared.
  @indented [max_bytes: 2_000_000]

  @doc "What is measured."
  @spec calls() :: [call()]
  defdelegate calls, to: Calls, as: :all

  @doc "Public functions that are not measured, with the reason."
  @spec small() :: [{mfa() | {module(), atom(), arity()}, String.t()}]
  def small do
    settings = "takes and gives a few settings"
    source = "works on source code, when it is compiled"
    one = "one number or atom"
    constant = "makes a struct, in constant time"
    object = "a linear search in a list"

    for(
      name <- [engine: 0, engine_info: 0, stats: 0, start_engine: 1, child_spec: 1, start_link: 1],
      do: of(RustyJson, name, settings)
    ) ++
      [of(RustyJson.Config, {:reload, 0}, settings), of(Encode, {:opts, 1}, settings)] ++
      for(name <- [integer: 1, float: 1, atom: 2], do: of(Encode, name, one)) ++
      for(name <- [fetch: 2, get_and_update: 3, pop: 3, new: 1], do: of(OrderedObject, name, object)) ++
      for(name <- [schema: 1, field: 3, json_schema: 2], do: of(RustyJson.Schema, name, source)) ++
      for(name <- [sigil_j: 2, sigil_J: 2], do: of(RustyJson.Sigil, name, source)) ++
      for(name <- [json_map: 1, json_map_take: 2], do: of(RustyJson.Helpers, name, source)) ++
      for(
        name <- [events: 0, attach_default_logger: 1, detach_default_logger: 0],
        do: of(RustyJson.Telemetry, name, settings)
      ) ++
      [of(RustyJson.EncodeError, {:new, 1}, constant), of(RustyJson.SandboxError, {:new, 2}, constant)]
  end

  defp of(module, {name, arity}, reason), do: {{module, name, arity}, reason}

  @doc "Names of the functions in the table."
  @spec known() :: [{module(), atom(), arity()}]
  def known, do: Enum.flat_map(calls(), &[&1.name | &1.with]) ++ Enum.map(small(), &elem(&1, 0))

  @doc "Values of the options of a direction, each on its own, or with those that it needs."
  @spec ways(:decode | :encode) :: [keyword()]
  defdelegate ways(direction), to: Ways, as: :of

  @doc "Whether the way holds a normal scheduler on purpose."
  @spec holds?(keyword()) :: boolean()
  def holds?(way), do: way[:dirty_threshold] == 0 or way[:scheduler] == :normal

  @doc "The options of a run, or nil where the engine does not have them."
  @spec options(call(), atom(), keyword(), keyword(), keyword()) :: keyword() | nil
  def options(call, engine, chosen, way, shape) do
    shape = if shape != [] and way[:pretty], do: @indented ++ shape, else: shape
    sandbox = Keyword.keys(Schema.entries(:sandbox))

    cond do
      call.takes == :none -> if way == [], do: []
      way[:host] == :wasmex and not Judge.available?(:wasmex) -> nil
      call.takes == :format -> [policy: :"sweep_#{engine}"] ++ way
      call.takes == :log -> Keyword.take(chosen, [:engine]) ++ way
      way[:engine] -> Keyword.merge(shape, way)
      engine == :native -> Enum.reduce([chosen, Keyword.drop(way, sandbox)], shape, &Keyword.merge(&2, &1))
      true -> Enum.reduce([chosen, way], shape, &Keyword.merge(&2, &1))
    end
  end

  @doc "The policies that the calls name, for the configuration."
  @spec policies() :: keyword()
  def policies,
    do: [
      {:sweep, [max_depth: 120]} | for({name, options} <- Judge.engines(), do: {:"sweep_#{name}", options})
    ]
end
