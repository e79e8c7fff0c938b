defmodule RustyJson.Feed.Plan do
  @moduledoc false
  # The options of a stream, checked, and packed as the core reads them (core/src/scan/plan.rs).

  alias RustyJson.{Config, Options, Parts, Paths, Pointer}
  alias RustyJson.Feed.Typed
  alias RustyJson.Options.{Cache, Policies}

  @formats [values: 0, lines: 1, seq: 2, array: 3]
  @path 3
  @array 1
  @pointers 2
  @places 4
  @types 16
  @select 8

  @type t :: %{
          packed: binary(),
          records: nil | <<_::8>>,
          pointers: boolean(),
          tag: boolean(),
          # What is wanted of each value, how many rows become columns, and the list cells of a row.
          select: nil | %{paths: Paths.t(), columns: nil | pos_integer(), cells: non_neg_integer()},
          max_bytes: non_neg_integer(),
          max_total_bytes: non_neg_integer()
        }

  @doc "The plan, and the options of `decode/2` that are left."
  @spec new(keyword() | map()) :: {t(), Options.t()}
  def new(given) do
    Cache.find(:decode_stream, given, fn ->
      {own, rest} = Options.split!(:decode_stream, given)
      refuse_both!(own)
      options = Options.decode(copied(rest) ++ rest)
      if options.parts != "", do: refuse!("a stream does not take :raw", :raw, rest)

      if own.select != nil and options.as != nil,
        do: refuse!("a stream takes :select or :as, not both", :as, rest)

      {plan(own, options), options}
    end)
  end

  @doc "The default for text that comes in pieces. A policy that has the option overrides it."
  @spec copied(keyword()) :: keyword()
  def copied(given) do
    policy = Policies.name(given)
    if policy && Config.policy(policy).given[:strings], do: [], else: [strings: :copy]
  end

  # A policy and the configuration can have the option.
  defp refuse!(text, name, given) do
    if Keyword.has_key?(given, name),
      do: raise(ArgumentError, text),
      else: raise(ArgumentError, "#{text}; its policy or `config :rustyjson, decode:` sets #{inspect(name)}")
  end

  defp refuse_both!(own) do
    if own.format && own.at, do: raise(ArgumentError, "a stream takes :format or :at, not both")

    if own.with_pointer && !own.at,
      do: raise(ArgumentError, "option :with_pointer needs :at, which says what the pointers lead to")

    if own.columns && own.select == nil,
      do: raise(ArgumentError, "option :columns needs :select, which says what the columns are")

    if own.columns && own.with_pointer,
      do: raise(ArgumentError, "a stream takes :columns or :with_pointer, not both")
  end

  defp plan(own, options) do
    format = own.format || :values
    {number, flags, segments} = shape(format, own.at, own.with_pointer)
    select = own.select && %{paths: own.select, columns: own.columns, cells: length(own.select.places)}

    flags =
      flags
      |> Bitwise.bor(if(options.as, do: @places, else: 0))
      |> Bitwise.bor(if(Typed.judged?(options), do: @types, else: 0))
      |> Bitwise.bor(if(select, do: @select, else: 0))

    header = <<number, flags, options.max_bytes::64-little, length(segments)::16-little>>

    %{
      packed: IO.iodata_to_binary([header, Enum.map(segments, &segment/1) | parts(select)]),
      records: if(own.at, do: nil, else: separator(format)),
      pointers: own.with_pointer,
      tag: own.on_error == :tag,
      select: select,
      max_bytes: options.max_bytes,
      max_total_bytes: own.max_total_bytes
    }
  end

  defp parts(nil), do: []

  defp parts(%{paths: paths, cells: cells}) do
    plan = Parts.of_items(paths)
    [<<cells::32-little, byte_size(plan)::32-little>>, plan]
  end

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
