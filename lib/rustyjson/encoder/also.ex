defmodule RustyJson.Encoder.Also do
  @moduledoc false
  # The option `:also` of a derivation: implementations for the protocols of other libraries, with the same members.

  alias RustyJson.Encoder.{Derive, Interop, Plans}

  @compile {:no_warn_undefined, [Jason.Encode, JSON]}
  @known [Jason.Encoder, JSON.Encoder]

  @doc "Of the protocols that are asked for, those that exist."
  @spec protocols(term()) :: [module()]
  def protocols(nil), do: []

  def protocols(asked) when is_list(asked) do
    for protocol <- asked,
        known!(protocol),
        match?({:module, _}, Code.ensure_compiled(protocol)),
        do: protocol
  end

  def protocols(asked), do: protocols([asked])

  defp known!(protocol) do
    protocol in @known or
      raise ArgumentError, "`:also` takes Jason.Encoder and JSON.Encoder, got: #{inspect(protocol)}"
  end

  @doc "The implementation of one of them for a struct with this plan."
  @spec implementation(module(), module(), Plans.plan()) :: Macro.t()
  def implementation(protocol, module, plan) do
    if protocol == Jason.Encoder and Interop.standin?(),
      do: Derive.own(protocol, module, plan),
      else: foreign(protocol, module, plan)
  end

  defp foreign(protocol, module, plan) do
    function = if protocol == Jason.Encoder, do: :jason, else: :json

    quote do
      defimpl unquote(protocol), for: unquote(module) do
        def encode(struct, given),
          do: unquote(__MODULE__).unquote(function)(struct, unquote(Macro.escape(plan)), given)
      end
    end
  end

  @doc "The text that Jason gets."
  @spec jason(struct(), Plans.plan(), term()) :: iodata()
  def jason(struct, plan, opts), do: struct |> members(plan) |> Jason.Encode.keyword(opts)

  @doc "The text that Elixir's `JSON` gets."
  @spec json(struct(), Plans.plan(), (term(), term() -> iodata())) :: iodata()
  def json(struct, plan, encoder), do: struct |> members(plan) |> object(encoder)

  # The text can be part of one in which RustyJson hides what `:redact` says of the fields.
  defp members(struct, plan) do
    plan |> Plans.pairs() |> Plans.note()
    Derive.planned_members(struct, plan)
  end

  @doc "The text that Elixir's `JSON` gets of structs of this library."
  @spec builtin(RustyJson.Fragment.t() | RustyJson.OrderedObject.t(), (term(), term() -> iodata())) ::
          iodata()
  def builtin(%RustyJson.OrderedObject{values: values}, encoder), do: object(values, encoder)
  # Only the whole text can be compressed.
  def builtin(fragment, _encoder), do: RustyJson.encode_to_iodata!(fragment, compress: :none)

  defp object(members, encoder) do
    texts =
      for {key, value} <- members,
          do: [JSON.encode_to_iodata!(name(key)), ?:, encoder.(value, encoder)]

    [?{, Enum.intersperse(texts, ?,), ?}]
  end

  # `String.Chars` makes nothing of nil.
  defp name(key) when is_atom(key), do: Atom.to_string(key)
  defp name(key), do: to_string(key)
end
