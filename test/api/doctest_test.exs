defmodule RustyJson.DoctestTest do
  @moduledoc "Every example in the documentation."

  use ExUnit.Case, async: true

  {:ok, modules} = :application.get_key(:rustyjson, :modules)

  for module <- modules,
      Code.ensure_loaded?(module),
      match?({:docs_v1, _, _, _, %{}, _, _}, Code.fetch_docs(module)),
      {:docs_v1, _, _, _, _, _, docs} = Code.fetch_docs(module),
      Enum.any?(docs, fn {_, _, _, doc, _} -> is_map(doc) and doc["en"] =~ "iex>" end) do
    doctest module
  end

  # Functions without an example, and why.
  @without %{
    {RustyJson.CLI.Doctor, :run} => "prints what is on the machine",
    {RustyJson.Telemetry, :detach_default_logger} => "needs a package",
    {RustyJson.Wasm.Host, :guest} => "gives a file of the machine",
    {RustyJson.Wasm.Host, :guest_path} => "names a file of the machine",
    {RustyJson.Wasm.Host, :priv} => "names a folder of the machine"
  }

  test "every documented function has an example" do
    without =
      for module <- Application.spec(:rustyjson, :modules),
          not String.starts_with?(inspect(module), "RustyJson.Test."),
          {:docs_v1, _, _, _, %{}, _, docs} <- [Code.fetch_docs(module)],
          {{kind, name, arity}, _, _, %{"en" => text}, _} when kind in [:function, :macro] <- docs,
          not (text =~ "iex>") and not is_map_key(@without, {module, name}),
          do: {module, name, arity}

    assert without == []
  end

  test "every option is in the documentation of its function, with its default" do
    {:docs_v1, _, _, _, _, _, docs} = Code.fetch_docs(RustyJson)

    for name <- [:decode, :encode], {option, entry} <- RustyJson.Options.Schema.entries(name) do
      {_, _, _, %{"en" => text}, _} = List.keyfind(docs, {:function, name, 2}, 0)
      assert text =~ ~r/^  \* `#{inspect(option)}` - .*\(default `#{Regex.escape(inspect(entry.default))}`\)/m
    end
  end
end
