defmodule RustyJson.Partial.Events do
  @moduledoc false
  # The numbers of the events that the core tells of a piece, as they stand in core/src/scan/partial/events.rs:
  # `use RustyJson.Partial.Events, ~w(array key)a` defines `@array` and `@key`.

  @source Path.expand("../../../core/src/scan/partial/events.rs", __DIR__)
  @external_resource @source

  @events for [_, name, number] <-
                Regex.scan(~r/^pub\(super\) const ([A-Z_]+): i64 = (\d+);$/m, File.read!(@source)),
              into: %{},
              do: {name |> String.downcase() |> String.to_atom(), String.to_integer(number)}

  defmacro __using__(names) do
    for name <- Macro.expand(names, __CALLER__),
        do: quote(do: Module.put_attribute(__MODULE__, unquote(name), unquote(Map.fetch!(@events, name))))
  end
end
