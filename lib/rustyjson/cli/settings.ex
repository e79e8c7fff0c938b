defmodule RustyJson.CLI.Settings do
  @moduledoc false
  # What applies of an application's configuration to its commands. Its options say how the application reads and writes its own
  # documents, so a call of a command sets those that are configured back to their defaults. The engine stays as it is configured, and so do
  # the limits, unless the call tests the engines.

  alias RustyJson.Options.{Schema, Values}

  # `redacted:` has no effect without `redact:`, and a call refuses it.
  @engine [:engine, :dirty_threshold, :scheduler, :redacted | Schema.sandbox()]
  @limits [:max_bytes, :max_depth, :max_nodes, :decoding_integer_digit_limit]

  @doc "Options for a call in this direction, under the limits that are configured."
  @spec limited(:decode | :encode) :: keyword()
  def limited(direction), do: defaults(direction, @engine ++ @limits)

  @doc "Options for a call in this direction that tests an engine."
  @spec unlimited(:decode | :encode) :: keyword()
  def unlimited(direction), do: defaults(direction, @engine)

  # Only what is configured, because the options of each call are checked again when there are many.
  defp defaults(direction, kept) do
    for name <- configured(direction), name not in kept, do: {name, Values.entry!(direction, name).default}
  end

  defp configured(direction) do
    own = Application.get_env(:rustyjson, direction, [])
    Enum.uniq(for({name, _value} <- own, do: name) ++ outside(direction))
  end

  # The setting of RustyJson 0.3 and of Jason.
  defp outside(:decode) do
    name = :decoding_integer_digit_limit
    if Application.get_env(:rustyjson, name), do: [name], else: []
  end

  defp outside(:encode), do: []
end
