defmodule RustyJson.Options.Layout do
  @moduledoc false
  # Writes options as the core reads them. What stands where is in core/src/options/decode.txt and encode.txt, which the core
  # reads too; here each becomes a function that makes one binary of a map with a value for every field.

  @folder Path.expand("../../../core/src/options", __DIR__)

  for direction <- [:decode, :encode] do
    file = Path.join(@folder, "#{direction}.txt")
    @external_resource file

    fields =
      for line <- file |> File.read!() |> String.split("\n", trim: true),
          not String.starts_with?(line, "#") do
        [name, width | choices] = String.split(line)
        {String.to_atom(name), width, Enum.map(choices, &String.to_atom/1)}
      end

    pattern = for {name, _, _} <- fields, do: {name, Macro.var(name, __MODULE__)}

    segments =
      for {name, width, choices} <- fields do
        value = Macro.var(name, __MODULE__)

        case {width, choices} do
          {"text", []} ->
            quote(do: byte_size(unquote(value)) :: little - 32)

          {"1", [_ | _]} ->
            clauses =
              for {choice, number} <- Enum.with_index(choices),
                  {:->, _, _} = clause <- quote(do: (unquote(choice) -> unquote(number))),
                  do: clause

            quote(do: unquote({:case, [], [value, [do: clauses]]}) :: 8)

          {bytes, []} ->
            quote(do: unquote(value) :: little - unquote(8 * String.to_integer(bytes)))
        end
      end

    texts = for {name, "text", _} <- fields, do: Macro.var(name, __MODULE__)
    tail = for text <- texts, do: quote(do: unquote(text) :: binary)

    if direction == :encode do
      # Texts stand behind all numbers.
      {before, [{:base_depth, "4", []} | _]} = Enum.split_while(fields, &(elem(&1, 0) != :base_depth))
      before = before |> Enum.map(fn {_, width, _} -> String.to_integer(width) end) |> Enum.sum()

      @doc "The same options for another depth to start from."
      @spec at_depth(binary(), non_neg_integer()) :: binary()
      def at_depth(<<before::binary-size(unquote(before)), _depth::32, rest::binary>>, depth),
        do: <<before::binary, depth::little-32, rest::binary>>
    end

    @doc "The options of this direction as bytes."
    @spec unquote(direction)(map()) :: binary()

    # Most calls have no layout, and then nothing follows the fields.
    if texts == [] do
      def unquote(direction)(%{unquote_splicing(pattern)}), do: <<unquote_splicing(segments)>>
    else
      at = Enum.find_index(fields, &match?({:pretty, _, _}, &1))
      {:pretty, "1", [false, true]} = Enum.at(fields, at)
      segments = fn number -> List.replace_at(segments, at, quote(do: unquote(number) :: 8)) end
      given = fn changes -> Keyword.merge(pattern, changes) end
      shape = Enum.find_index(fields, &match?({:shape, _, _}, &1))
      shapeless = List.replace_at(segments.(0), shape, quote(do: 0 :: 32))

      def unquote(direction)(%{unquote_splicing(given.(pretty: false, shape: ""))}),
        do: <<unquote_splicing(shapeless)>>

      def unquote(direction)(%{unquote_splicing(given.(pretty: false))}),
        do: <<unquote_splicing(segments.(0) ++ tail)>>

      def unquote(direction)(%{unquote_splicing(given.(pretty: true))}),
        do: <<unquote_splicing(segments.(1) ++ tail)>>
    end
  end
end
