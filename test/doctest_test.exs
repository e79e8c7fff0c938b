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
end
