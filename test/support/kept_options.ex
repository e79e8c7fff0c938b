defmodule RustyJson.Test.KeptOptions do
  @moduledoc """
  Sets of options whose numbers tests ask for. The library keeps 128 sets of each kind and never takes one back, so these are kept before
  other tests fill the places.
  """

  alias RustyJson.Engine.Native.Nif
  alias RustyJson.Options
  alias RustyJson.Test.Judge

  @limits {2, 64 * 1_048_576, 5_000, false, 5_000}
  @small {2, 4 * 65_536, 5_000, false, 5_000}
  @at_once {2, 64 * 1_048_576, 1, false, 1}

  @sets [
    {:decode, [], @limits},
    {:decode, [max_depth: 1], @limits},
    {:decode, [], put_elem(@limits, 3, true)},
    {:decode, [], @small},
    {:decode, [], @at_once},
    {:encode, [], @limits},
    {:encode, [escape: :html_safe], @limits},
    {:encode, [], @small},
    {:encode, [], @at_once}
  ]

  @doc "The limits of a usual call."
  @spec limits() :: tuple()
  def limits, do: @limits

  @doc "Keeps all of them, if the built-in host is there."
  @spec reserve() :: :ok
  def reserve do
    if Judge.available?(:built_in) do
      for {function, given, limits} <- @sets, do: keep(function, given, limits)
      check()
    end

    :ok
  end

  @doc "The number of one of these sets."
  @spec keep(:decode | :encode, keyword(), tuple()) :: integer() | nil
  def keep(function, given, limits \\ @limits) do
    true = {function, given, limits} in @sets
    %{bytes: bytes} = apply(Options, function, [[engine: :wasm] ++ given])
    Nif.sandbox_keep(function, bytes, limits)
  end

  @doc "The number of the options that ask whether a document of one level is right."
  @spec check() :: integer() | nil
  def check do
    Nif.sandbox_keep(:decode, Options.decode(engine: :wasm, max_depth: 1).check, @limits)
  end
end
