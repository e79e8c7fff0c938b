defmodule RustyJson.Options.Pack do
  @moduledoc false
  # Makes the options of a call out of their values: the bytes that the core reads, and what Elixir asks in each call.

  require RustyJson.Parts.Kind

  alias RustyJson.{Engine, Options}
  alias RustyJson.Options.{Layout, Shape, Values}
  alias RustyJson.Parts.{Kind, Raw}
  alias RustyJson.Wasm.Host

  @check <<Kind.check()>>

  @doc "The options of a call, for the engine that takes it."
  @spec pack(:decode | :encode, Values.t()) :: Options.t()
  def pack(:decode, %{keys: given, raw: raw} = v) do
    v = core_keys(v)
    parts = if raw == [], do: "", else: Raw.plan(raw)
    keys = left_to_do(given, v)
    bytes = Layout.decode(v)

    %Options{
      engine: v.resolved,
      bytes: IO.iodata_to_binary([bytes | parts]),
      check: if(v.as == nil and v.keys != :atoms!, do: bytes <> @check),
      parts: parts,
      values: v,
      sandbox: v.sandbox,
      keys: keys,
      as: v.as,
      straight: if(parts == "" and keys == nil and v.as == nil, do: straight(v)),
      max_bytes: v.max_bytes,
      dirty_threshold: dirty_threshold(v)
    }
  end

  def pack(:encode, v) do
    v = %{v | shape: Shape.pack(v)}

    %Options{
      engine: v.resolved,
      bytes: Layout.encode(v),
      values: v,
      sandbox: v.sandbox,
      straight: if(v.compress == -1 and not v.canonical, do: straight(v)),
      compress: v.compress,
      canonical: v.canonical,
      depth: v.base_depth,
      plain_parts: plain_parts?(v),
      foreign: foreign(v),
      usual: usual?(v)
    }
  end

  defp straight(%{resolved: Engine.Wasm, max_bytes: 0, sandbox: sandbox}), do: Host.limits(sandbox)

  defp straight(_values), do: nil

  @doc "Nothing more is asked about parts: no layout, no limit on bytes, no pointers, no other way to write structs or what is unsupported."
  @spec plain_parts?(Values.t()) :: boolean()
  def plain_parts?(%{pretty: false, max_bytes: 0, redact: [], unsupported: :error, protocol: true}), do: true
  def plain_parts?(_values), do: false

  @doc "How structs get their text that only another library knows."
  @spec foreign(Values.t()) :: :planned | :called | :shaped
  # What is to be hidden is taken out of another library's text afterwards. Its members are neither sorted nor renamed, and in a call of
  # the stand-in for Jason only Jason's protocol counts: then the library is called. Otherwise the core writes what it would.
  def foreign(%{omit: [], redact: [], integers: :exact, sort_keys: false, key_case: nil, extras: extras})
      when extras != :left,
      do: :planned

  def foreign(%{omit: [], redact: [], integers: :exact}), do: :called
  def foreign(_values), do: :shaped

  @doc "Whether the core writes structs of other libraries as these do by default, and nothing more is asked about parts."
  @spec usual?(Values.t()) :: boolean()
  def usual?(%{escape: :json, maps: :naive, null: nil} = values),
    do: plain_parts?(values) and foreign(values) == :planned

  def usual?(_values), do: false

  # The function gets the keys in the order of the text and can map two keys to one. So the core keeps the order, and repeated
  # keys are resolved afterwards.
  defp core_keys(%{keys: fun} = v) when is_function(fun),
    do: Map.merge(v, %{keys: :strings, objects: :ordered_objects, given_objects: v.objects})

  # Engines make no atoms: see `RustyJson.Decode.Atoms`.
  defp core_keys(%{keys: :atoms} = v), do: %{v | keys: :atoms!}
  defp core_keys(v), do: v

  defp left_to_do(:atoms, _v), do: :atoms
  defp left_to_do(fun, %{given_objects: :ordered_objects}) when is_function(fun), do: {fun, :ordered}
  defp left_to_do(fun, %{duplicate_keys: :first}) when is_function(fun), do: {fun, :first}
  defp left_to_do(fun, _v) when is_function(fun), do: {fun, :last}
  defp left_to_do(_keys, _v), do: nil

  # Input sizes that can mean much work: an integer takes more than linear time, a decimal twenty times as long as a float.
  @costly_integers 4_096
  @costly_decimals 16_384

  # More bytes than a document can have.
  @never 0xFFFF_FFFF_FFFF

  defp dirty_threshold(%{dirty_threshold: 0}), do: @never

  defp dirty_threshold(%{decoding_integer_digit_limit: limit, dirty_threshold: threshold})
       when limit == 0 or limit > @costly_integers,
       do: min(threshold, @costly_integers)

  defp dirty_threshold(%{floats: :decimals, dirty_threshold: threshold}), do: min(threshold, @costly_decimals)
  defp dirty_threshold(%{dirty_threshold: threshold}), do: threshold
end
