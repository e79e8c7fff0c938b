defmodule RustyJson.Test.Corpus do
  @moduledoc """
  Public test suites, read from the folder that `RUSTYJSON_CORPUS` names. Nothing of them is kept in the repository.
  """

  @doc "The folder, if it exists."
  def dir do
    with dir when dir not in [nil, ""] <- System.get_env("RUSTYJSON_CORPUS"),
         true <- File.dir?(dir) do
      Path.expand(dir)
    else
      _ -> nil
    end
  end

  @doc "Why this part cannot be tested, or nil."
  def skip(part) do
    cond do
      dir() == nil -> "RUSTYJSON_CORPUS names no folder with #{part}"
      not File.exists?(Path.join(dir(), part)) -> "RUSTYJSON_CORPUS has no #{part}"
      true -> nil
    end
  end

  @doc "The names of the matching files in a part; none if the part does not exist."
  def names(part, wildcard \\ "*") do
    if skip(part),
      do: [],
      else: Path.join([dir(), part, wildcard]) |> Path.wildcard() |> Enum.map(&Path.basename/1)
  end

  @doc "The bytes of a file."
  def read!(part, name), do: File.read!(Path.join([dir(), part, name]))

  @doc "Defines these tests if their part of the corpus exists. Otherwise defines a skipped test that says why."
  defmacro corpus_tests(part, title, do: tests) do
    quote do
      if reason = unquote(__MODULE__).skip(unquote(part)) do
        @tag skip: reason
        test unquote(title), do: :ok
      else
        unquote(tests)
      end
    end
  end
end
