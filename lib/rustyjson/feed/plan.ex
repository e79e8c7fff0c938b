defmodule RustyJson.Feed.Plan do
  @moduledoc false
  # The options of a stream, checked, and packed as the core reads them (core/src/scan/plan.rs).

  alias RustyJson.{Config, Options, Parts, Paths, Pointer}
  alias RustyJson.Options.Policies

  @formats [values: 0, lines: 1, seq: 2, array: 3]
  @path 3
  @array 1
  @pointers 2
  @places 4
  @select 8
  @u62 0x3FFF_FFFF_FFFF_FFFF

  @names [:format, :at, :with_pointer, :on_error, :max_total_bytes, :select, :columns]

  @type t :: %{
          packed: binary(),
          records: nil | <<_::8>>,
          pointers: boolean(),
          tag: boolean(),
          # What is wanted of each value, and how many rows become columns.
          select: nil | %{paths: Paths.t(), columns: nil | pos_integer()},
          max_bytes: non_neg_integer(),
          max_total_bytes: non_neg_integer()
        }

  @doc "The plan, and the options of `decode/2` that are left."
  @spec new(keyword() | map()) :: {t(), Options.t()}
  def new(given) do
    {own, rest} = given |> Options.to_list("a stream") |> Keyword.split(@names)
    Enum.each(own, &check!/1)
    refuse_both!(own)
    options = Options.decode(copied(Policies.name(rest)) ++ rest)
    if options.parts != "", do: raise(ArgumentError, "a stream does not take :raw")
    refuse_type!(own, options)
    {plan(Map.new(own), options), options}
  end

  # A policy that has the option overrides the default of streams.
  defp copied(nil), do: [strings: :copy]
  defp copied(policy), do: if(Config.policy(policy).given[:strings], do: [], else: [strings: :copy])

  defp check!({:format, format}) when is_map_key(%{values: 0, lines: 1, seq: 2, array: 3}, format), do: :ok
  defp check!({:format, other}), do: wrong!(:format, ":values, :lines, :seq or :array", other)
  defp check!({:at, at}) when is_binary(at), do: :ok
  defp check!({:at, other}), do: wrong!(:at, "a JSON Pointer", other)
  defp check!({:with_pointer, value}) when is_boolean(value), do: :ok
  defp check!({:with_pointer, other}), do: wrong!(:with_pointer, "a boolean", other)
  defp check!({:on_error, value}) when value in [:raise, :tag], do: :ok
  defp check!({:on_error, other}), do: wrong!(:on_error, ":raise or :tag", other)
  defp check!({:max_total_bytes, value}) when is_integer(value) and value in 0..@u62, do: :ok
  defp check!({:max_total_bytes, other}), do: wrong!(:max_total_bytes, "an integer from 0", other)

  # Checked where they are prepared.
  defp check!({:select, _paths}), do: :ok
  defp check!({:columns, rows}) when is_integer(rows) and rows > 0, do: :ok
  defp check!({:columns, other}), do: wrong!(:columns, "a number of rows from 1", other)

  @spec wrong!(atom(), String.t(), term()) :: no_return()
  defp wrong!(name, takes, got),
    do: raise(ArgumentError, "option #{inspect(name)} takes #{takes}, got: #{inspect(got, limit: 5)}")

  defp refuse_both!(own) do
    if own[:format] && own[:at], do: raise(ArgumentError, "a stream takes :format or :at, not both")

    if own[:with_pointer] && !own[:at],
      do: raise(ArgumentError, "option :with_pointer needs :at, which says what the pointers lead to")

    if own[:columns] && own[:select] == nil,
      do: raise(ArgumentError, "option :columns needs :select, which says what the columns are")

    if own[:columns] && own[:with_pointer],
      do: raise(ArgumentError, "a stream takes :columns or :with_pointer, not both")
  end

  defp refuse_type!(own, %{as: as}) do
    if own[:select] != nil and as != nil, do: raise(ArgumentError, "a stream takes :select or :as, not both")
  end

  defp plan(own, options) do
    format = own[:format] || :values
    pointers = own[:with_pointer] || false
    {number, flags, segments} = shape(format, own[:at], pointers)
    select = select(own[:select], own[:columns])

    flags =
      flags
      |> Bitwise.bor(if(options.as, do: @places, else: 0))
      |> Bitwise.bor(if(select, do: @select, else: 0))

    header = <<number, flags, options.max_bytes::64-little, length(segments)::16-little>>

    %{
      packed: IO.iodata_to_binary([header, Enum.map(segments, &segment/1) | parts(select)]),
      records: if(own[:at], do: nil, else: separator(format)),
      pointers: pointers,
      tag: own[:on_error] == :tag,
      select: select,
      max_bytes: options.max_bytes,
      max_total_bytes: own[:max_total_bytes] || 0
    }
  end

  defp parts(nil), do: []

  defp parts(%{paths: paths}) do
    plan = Parts.of_items(paths)
    [<<byte_size(plan)::32-little>>, plan]
  end

  defp select(nil, _columns), do: nil
  defp select(wanted, columns), do: %{paths: Paths.of(wanted), columns: columns}

  @doc "What the stream is cut into, in a few words."
  @spec described(t()) :: String.t()
  def described(%{packed: <<@path, flags, _::binary>>}),
    do: if(Bitwise.band(flags, @array) != 0, do: ":array", else: ":at")

  def described(%{packed: <<number, _::binary>>}),
    do: @formats |> List.keyfind!(number, 1) |> elem(0) |> inspect()

  defp shape(:array, nil, _pointers), do: {@path, @array, [:any]}
  defp shape(format, nil, _pointers), do: {@formats[format], 0, []}
  defp shape(_format, at, pointers), do: {@path, if(pointers, do: @pointers, else: 0), segments(at)}

  defp separator(:lines), do: "\n"
  defp separator(:seq), do: "\x1E"
  defp separator(_format), do: nil

  defp segment(:any), do: <<0>>
  defp segment(name), do: <<1, byte_size(name)::32-little, name::binary>>

  defp segments(at), do: Pointer.tokens_or_any!(at, "option :at")
end
