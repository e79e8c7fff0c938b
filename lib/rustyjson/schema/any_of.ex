defmodule RustyJson.Schema.AnyOf do
  @moduledoc false
  # What is said of an `anyOf`, for readers that refuse any word beside it, as Gemini does on Vertex AI: each of its options says it.

  alias RustyJson.OrderedObject

  @type pairs :: [{String.t(), term()}]

  @doc "With null."
  @spec nullable([OrderedObject.t()]) :: pairs()
  def nullable(options), do: each(options, &(&1 ++ [{"nullable", true}]))

  @doc "With a description, which stands before that of the option."
  @spec described([OrderedObject.t()], String.t()) :: pairs()
  def described(options, text), do: each(options, &with_text(&1, text, List.keyfind(&1, "description", 0)))

  defp with_text(pairs, text, nil), do: pairs ++ [{"description", text}]

  defp with_text(pairs, text, {_word, own}),
    do: List.keyreplace(pairs, "description", 0, {"description", text <> "\n" <> own})

  defp each(options, change),
    do: [{"anyOf", for(%{values: pairs} <- options, do: OrderedObject.new(change.(pairs)))}]
end
