defmodule RustyJson.Encode.Lost do
  @moduledoc false
  # What a call looks at and leaves no text of, such as members that `:omit` leaves out and elements of improper lists. With `max_bytes`
  # the core limits their number. A call can ask the core for many parts, one for each hole, so what these report is counted together, with
  # what Elixir itself looks at.

  require RustyJson.Engine.Codes

  alias RustyJson.Engine.Codes
  alias RustyJson.{EncodeError, Options}

  # As in the core: parts for each byte that the text may have, and in any case.
  @parts 16
  @free 1_048_576

  @doc "Options for the parts of a call, which count together. A part of another call counts with that one's."
  @spec count(Options.t()) :: Options.t()
  def count(%{lost: nil, values: %{max_bytes: most}} = options) when most > 0,
    do: %{options | lost: :counters.new(1, [])}

  def count(options), do: options

  @doc "Adds the parts that a call of the core reports. Whether they are more than the call may have."
  @spec too_many?(non_neg_integer(), Options.t()) :: boolean()
  def too_many?(_parts, %{lost: nil}), do: false

  def too_many?(parts, %{lost: counter, values: %{max_bytes: most}}) do
    :counters.add(counter, 1, parts)
    :counters.get(counter, 1) > @parts * most + @free
  end

  @doc "Runs what gives `{:ok, result}`, or another answer: then the same parts are counted again later, so they are forgotten."
  @spec attempt(Options.t(), (() -> answer)) :: answer when answer: {:ok, term()} | term()
  def attempt(%{lost: nil}, run), do: run.()

  def attempt(%{lost: counter}, run) do
    before = :counters.get(counter, 1)

    with again when not is_tuple(again) or elem(again, 0) != :ok <- run.() do
      :counters.put(counter, 1, before)
      again
    end
  end

  @doc "As `too_many?/2` for what Elixir looked at. Raises if it is too much."
  @spec spend!(integer(), Options.t()) :: :ok
  def spend!(parts, options) do
    if parts > 0 and too_many?(parts, options),
      do: raise(EncodeError.of_call({Codes.encode(:max_bytes), "", nil}, options)),
      else: :ok
  end

  @doc "The answer of an engine whose part has too many: an error that it gave has a path."
  @spec failure(term()) :: {:error, term()}
  def failure({:error, _failure} = failed), do: failed
  def failure(_text), do: {:error, {Codes.encode(:max_bytes), "", nil}}
end
