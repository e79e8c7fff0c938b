defmodule RustyJson.Engine.Codes do
  @moduledoc false
  # The codes by which the core reports errors, by name, as they stand in core/src/error.rs and core/src/encode/error.rs.

  @core Path.expand("../../../core/src", __DIR__)

  [decode, encode] =
    for file <- ["error.rs", "encode/error.rs"], path = Path.join(@core, file) do
      @external_resource path
      kinds = Regex.scan(~r/^    ([A-Z]\w+) = (\d+),$/m, File.read!(path), capture: :all_but_first)

      # An error's name is looked up by its code.
      for {[name, code], number} <- Enum.with_index(kinds, 1), ^number = String.to_integer(code) do
        name |> Macro.underscore() |> String.to_atom()
      end
    end

  @decode decode
  # The last one never leaves Rust.
  @encode encode -- [:budget]
  # Errors that Elixir detects.
  @own [:atom_limit, :max_total_bytes, :pointers_too_long, :rows_too_long]

  @decode_reasons List.to_tuple([nil | @decode ++ @own])
  @encode_reasons List.to_tuple([nil | @encode])

  @doc "The code of a decode error, at compile time."
  defmacro decode(name), do: code(@decode ++ @own, name)

  @doc "The code of an encode error, at compile time."
  defmacro encode(name), do: code(@encode, name)

  @doc "Whether the core has a decode error with this code."
  defguard is_decode(code) when code in 1..unquote(length(@decode))

  @doc "Whether the core has an encode error with this code."
  defguard is_encode(code) when code in 1..unquote(length(@encode))

  @doc "The name of a decode error."
  @spec decode_reason(pos_integer()) :: atom()
  def decode_reason(code), do: elem(@decode_reasons, code)

  # Errors that say more than their reason: a message names the type, or the bracket that is open.
  @same %{
    unclosed_array: :unexpected_end,
    unclosed_object: :unexpected_end,
    min_items: :min_length,
    max_items: :max_length
  }
  @types for name <- @decode, String.starts_with?("#{name}", "type_"), into: %{}, do: {name, :type}
  @public Map.merge(@types, @same)

  @doc "The reason that a caller sees for a decode error with this name."
  @spec public(atom()) :: RustyJson.DecodeError.reason()
  def public(name), do: Map.get(@public, name, name)

  @doc "All reasons that a caller sees, as a type."
  @spec reasons() :: Macro.t()
  def reasons do
    (@decode ++ @own)
    |> Enum.map(&public/1)
    |> Enum.uniq()
    |> Enum.reverse()
    |> Enum.reduce(fn reason, others -> quote(do: unquote(reason) | unquote(others)) end)
  end

  @doc "The name of an encode error."
  @spec encode_reason(pos_integer()) :: RustyJson.EncodeError.reason()
  def encode_reason(code), do: elem(@encode_reasons, code)

  @doc "The names of the core's errors in the order of their codes, which start at 1."
  @spec all(:decode | :encode) :: [atom()]
  def all(:decode), do: @decode
  def all(:encode), do: @encode

  defp code(names, name) do
    index = Enum.find_index(names, &(&1 == name)) || raise ArgumentError, "no error is named #{inspect(name)}"
    index + 1
  end
end
