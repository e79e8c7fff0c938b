defmodule RustyJson.SweepTableTest do
  @moduledoc "The table of `RustyJson.Test.Sweep` has every public function and every option with its values."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Options.Schema
  alias RustyJson.Test.Sweep

  # The internals of an engine, and tasks for a terminal.
  @inner [RustyJson.Engine, RustyJson.Wasm.Host, RustyJson.CLI, Mix.Tasks, RustyJson.Test]
  # Types of `RustyJson` that list the options of functions with more than those of decode and encode.
  @types [
    stream_option: {RustyJson, :decode_stream, 2},
    part_option: {RustyJson, :fetch, 3},
    partial_option: {RustyJson, :decode_partial, 2},
    stream_encode_option: {RustyJson, :encode_stream, 2}
  ]

  test "every public function is in the table" do
    missing = public() -- Sweep.known()
    assert missing == [], "not in RustyJson.Test.Sweep: #{inspect(missing)}"
    gone = for name <- Sweep.known(), not exported?(name), do: name
    assert gone == [], "in the table, but not there: #{inspect(gone)}"
  end

  test "every function of RustyJson is in the table" do
    known = for {RustyJson, name, arity} <- Sweep.known(), do: {name, arity}

    # A default makes a function of fewer arguments.
    for {name, arity} <- RustyJson.__info__(:functions),
        do: assert(Enum.any?(known, fn {n, a} -> n == name and a >= arity end), "#{name}/#{arity} is missing")
  end

  test "every option and value of the schema is in the table" do
    for direction <- [:decode, :encode], {name, %{type: type}} <- Schema.entries(direction) do
      values = for way <- Sweep.ways(direction), {^name, value} <- way, do: value
      assert values != [], missing(name, direction, "ways.ex")
      assert Schema.atoms(type) -- values == [], "values of #{inspect(name)} of #{direction} are missing"
      if type == :boolean, do: assert(values != [Schema.entries(direction)[name].default])
    end
  end

  test "every option of streams, parts, partial documents and the formatter is in the table" do
    {:ok, types} = Code.Typespec.fetch_types(RustyJson)

    for {type, call} <- @types, name <- options_of(types, type) do
      ways = Enum.find(Sweep.calls(), &(&1.name == call)).ways
      assert Enum.any?(ways, &Keyword.has_key?(&1, name)), missing(name, type)
    end

    {:ok, types} = Code.Typespec.fetch_types(RustyJson.Formatter)
    ways = for %{name: {RustyJson.Formatter, _, _}, ways: ways} <- Sweep.calls(), way <- ways, do: way

    # A policy chooses the engine of each run.
    for name <- options_of(types, :opts) -- [:policy],
        do: assert(Enum.any?(ways, &Keyword.has_key?(&1, name)), missing(name, "the formatter"))
  end

  test "every option of logs and requests is in the table" do
    assert_options({RustyJson.LogFormatter, :format, 2}, RustyJson.LogFormatter.Setup.names())

    # Those of decode/2 are in the table already.
    if Code.ensure_loaded?(Plug.Parsers),
      do:
        assert_options(
          {RustyJson.PlugParser, :parse, 5},
          Keyword.keys(RustyJson.Options.Functions.get(:plug_parser).own)
        )
  end

  defp missing(option, function, file \\ "calls.ex"),
    do: "option #{inspect(option)} of #{function} is missing in test/support/sweep/#{file}"

  defp assert_options(name, options) do
    %{ways: ways} = Enum.find(Sweep.calls(), &(&1.name == name))

    for option <- options,
        do:
          assert(
            Enum.any?(ways, &Keyword.has_key?(&1, option)),
            missing(option, inspect(name))
          )
  end

  defp public do
    {:ok, modules} = :application.get_key(:rustyjson, :modules)

    for module <- modules,
        not Enum.any?(@inner, &String.starts_with?("#{module}", "#{&1}")),
        {:docs_v1, _, _, _, %{}, _, docs} <- [Code.fetch_docs(module)],
        {{kind, name, arity}, _, _, %{}, _} <- docs,
        kind in [:function, :macro],
        do: {module, name, arity}
  end

  defp exported?({module, name, arity}) do
    Code.ensure_loaded!(module)
    function_exported?(module, name, arity) or macro_exported?(module, name, arity)
  end

  defp options_of(types, wanted) do
    {_kind, {^wanted, type, _}} = Enum.find(types, fn {_kind, {name, _, _}} -> name == wanted end)
    pairs(type)
  end

  defp pairs({:type, _, :tuple, [{:atom, _, name}, _value]}), do: [name]
  defp pairs({:type, _, kind, types}) when kind in [:union, :list], do: Enum.flat_map(types, &pairs/1)
  defp pairs(_other), do: []
end
