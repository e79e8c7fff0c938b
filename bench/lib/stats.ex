defmodule RustyJson.Bench.Stats do
  @moduledoc "Medians, quartiles and means."

  @type spread :: %{median: number(), q1: number(), q3: number(), min: number()}

  @spec spread([number(), ...]) :: spread()
  def spread(values) do
    sorted = values |> Enum.sort() |> List.to_tuple()
    %{median: at(sorted, 0.5), q1: at(sorted, 0.25), q3: at(sorted, 0.75), min: elem(sorted, 0)}
  end

  @spec median([number(), ...]) :: number()
  def median(values), do: spread(values).median

  # Interpolates between the two neighbours.
  defp at(sorted, share) do
    place = share * (tuple_size(sorted) - 1)
    low = trunc(place)
    high = min(low + 1, tuple_size(sorted) - 1)
    elem(sorted, low) + (elem(sorted, high) - elem(sorted, low)) * (place - low)
  end

  @doc "Geometric mean, or nil for an empty list."
  @spec mean([number()]) :: float() | nil
  def mean([]), do: nil
  def mean(values), do: :math.exp(Enum.sum(Enum.map(values, &:math.log/1)) / length(values))
end
