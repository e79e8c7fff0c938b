defmodule RustyJson.VectorsTest do
  @moduledoc "One test per vector. Each runs in every engine."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Test.{Judge, Vectors}

  for name <- Vectors.names(:accept) do
    @tag vector: name
    test "accepts #{name}", %{vector: name} do
      {_, text, term} = Vectors.fetch!(:accept, name)
      Judge.assert_decodes(text, term)
    end
  end

  for name <- Vectors.names(:reject) do
    @tag vector: name
    test "rejects #{name}", %{vector: name} do
      {_, text, reason, position, path} = Vectors.fetch!(:reject, name)
      Judge.assert_rejects(text, [], reason, position, path)
    end
  end

  for name <- Vectors.names(:implementation_defined) do
    @tag vector: name
    test "chooses #{name}", %{vector: name} do
      {_, text, options, expected, _why} = Vectors.fetch!(:implementation_defined, name)
      decide(text, options, expected)
    end
  end

  for name <- Vectors.names(:decode_options) do
    @tag vector: name
    test "decodes with #{name}", %{vector: name} do
      {_, text, options, expected} = Vectors.fetch!(:decode_options, name)
      decide(text, options, expected)
    end
  end

  for name <- Vectors.names(:encode) do
    @tag vector: name
    test "encodes #{name}", %{vector: name} do
      {_, term, options, bytes} = Vectors.fetch!(:encode, name)
      Judge.assert_encodes(term, options, bytes)
    end
  end

  for name <- Vectors.names(:encode_errors) do
    @tag vector: name
    test "does not encode #{name}", %{vector: name} do
      {_, term, options, message, path} = Vectors.fetch!(:encode_errors, name)
      Judge.assert_encode_error(term, options, message, path)
    end
  end

  defp decide(text, options, {:accept, term}), do: Judge.assert_decodes(text, options, term)

  defp decide(text, options, {:reject, reason, position}),
    do: Judge.assert_rejects(text, options, reason, position)

  defp decide(text, options, {:accept_any, terms}) do
    assert {:ok, term} = Judge.decode(text, options)
    assert term in terms
  end
end
