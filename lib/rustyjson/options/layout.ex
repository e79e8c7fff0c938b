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
          {"text", []} -> quote(do: byte_size(unquote(value)) :: little - 32)
          {"1", [_ | _]} -> quote(do: number(unquote(name), unquote(value)) :: 8)
          {bytes, []} -> quote(do: unquote(value) :: little - unquote(8 * String.to_integer(bytes)))
        end
      end

    texts = for {name, "text", _} <- fields, do: quote(do: unquote(Macro.var(name, __MODULE__)) :: binary)

    @doc "The options of this direction as bytes."
    @spec unquote(direction)(map()) :: binary()
    def unquote(direction)(%{unquote_splicing(pattern)}), do: <<unquote_splicing(segments ++ texts)>>

    for {name, _, choices} <- fields, {choice, number} <- Enum.with_index(choices) do
      defp number(unquote(name), unquote(choice)), do: unquote(number)
    end
  end
end
