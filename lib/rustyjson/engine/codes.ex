defmodule RustyJson.Engine.Codes do
  @moduledoc false
  # The codes by which the core reports errors, by name. The lists are those of core/src/error.rs and
  # core/src/encode/error.rs; a test compares them.

  @decode ~w(unexpected_end expected_value unquoted_key trailing_comma leading_zero nan infinity single_quotes
             invalid_escape invalid_unicode_escape lone_surrogate control_character invalid_utf8 invalid_number
             number_out_of_range expected_colon expected_comma_or_array_end expected_comma_or_object_end expected_key
             trailing_data duplicate_key max_depth max_nodes max_bytes integer_digits unknown_atom byte_order_mark
             atom_too_long out_of_memory expected_array expected_record key_too_long
             inexact_integer type_string type_integer type_float type_number type_boolean type_decimal type_date
             type_time type_naive_datetime type_utc_datetime type_list type_object missing unknown_key enum
             type_loaded decimal_digits decimal_exponent type_duration unclosed_array unclosed_object
             min max min_length max_length pattern format min_items max_items)a
  # Errors that Elixir detects.
  @own [:atom_limit, :max_total_bytes, :pointers_too_long]
  @encode ~w(invalid_utf8 duplicate_key max_depth max_bytes invalid_key improper_list unsupported out_of_memory)a

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
  @spec decode_reason(pos_integer()) :: RustyJson.DecodeError.reason()
  def decode_reason(code), do: elem(@decode_reasons, code)

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
