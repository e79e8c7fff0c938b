defmodule RustyJson.Encoder.Derive do
  @moduledoc false
  # The implementation that `@derive RustyJson.Encoder` generates, and the stand-in for Jason for its own protocol.

  alias RustyJson.Encode
  alias RustyJson.Encode.{Known, Part}
  alias RustyJson.Encoder.{Also, Names, Plans}
  alias RustyJson.Options
  alias RustyJson.Options.{Shape, Unknown}

  @options [:only, :except, :key_case, :omit, :also]
  @overridable Known.overridable()

  @doc "The implementation for a struct. Its fields are data, so that the core can learn them."
  @spec implementation(module(), module(), map(), keyword() | term()) :: Macro.t()
  def implementation(protocol \\ RustyJson.Encoder, module, struct, options) do
    options = options!(protocol, options)
    fields = fields(struct, options)
    plan = Plans.plan(fields, names(fields, options[:key_case]), omitted(options[:omit]))

    also = for also <- Also.protocols(options[:also]), do: Also.implementation(also, module, plan)
    {:__block__, [], [own(protocol, module, plan) | also]}
  end

  # A misspelt option would encode fields that it should hide. Jason ignores such an option.
  defp options!(RustyJson.Encoder, options) do
    unless Keyword.keyword?(options),
      do: raise(ArgumentError, "`@derive RustyJson.Encoder` takes a keyword list, got: #{inspect(options)}")

    for {name, _value} <- options, name not in @options do
      raise ArgumentError, Unknown.text(name, @options, "`@derive RustyJson.Encoder` takes")
    end

    for {name, nil} <- Keyword.take(options, [:only, :except]),
        do: raise(ArgumentError, "`#{inspect(name)}` takes a list of fields, got: nil")

    if options[:only] != nil and options[:except] != nil,
      do: raise(ArgumentError, "`@derive RustyJson.Encoder` takes `:only` or `:except`, not both")

    options
  end

  defp options!(_standin, options), do: if(is_list(options), do: options, else: [])

  @doc "An implementation of the protocol, which is ours or that of the stand-in for Jason, with this plan."
  @spec own(module(), module(), Plans.plan()) :: Macro.t()
  def own(protocol, module, plan) do
    # Packages call the stand-in's protocol without options of a call, too.
    opts = if protocol == RustyJson.Encoder, do: quote(do: opts), else: quote(do: Jason.Encode.options(opts))

    quote do
      defimpl unquote(protocol), for: unquote(module) do
        def encode(struct, opts) do
          unquote(__MODULE__).encode(struct, unquote(Macro.escape(plan)), unquote(opts))
        end

        @doc false
        def __plan__, do: unquote(Macro.escape(plan))
      end
    end
  end

  defp names(_fields, nil), do: nil
  defp names(fields, :camel), do: for(field <- fields, do: name!(Names.name(field, :camel)))

  defp names(fields, given) when is_list(given) or is_map(given) do
    if Names.table?(Map.new(given)) do
      known!(for({field, _name} <- given, do: field), :key_case, fields)
      for field <- fields, do: name!(Names.name(field, Map.new(given)))
    else
      bad_names!(given)
    end
  end

  defp names(_fields, given), do: bad_names!(given)

  # The core writes an atom faster than a string that it does not know. These are as many as the fields.
  defp name!(name) do
    if String.length(name) > 255,
      do: raise(ArgumentError, "`:key_case` has a name of more than 255 characters: #{inspect(name)}")

    String.to_atom(name)
  end

  defp bad_names!(given),
    do:
      raise(
        ArgumentError,
        "`:key_case` takes :camel or names as `[first_name: \"firstName\"]`, got: #{inspect(given)}"
      )

  defp omitted(nil), do: nil

  defp omitted(omitted) do
    if Names.omit?(omitted),
      do: omitted,
      else: raise(ArgumentError, "`:omit` takes a list of nil and modules, got: #{inspect(omitted)}")
  end

  @doc "The text of a struct by this plan."
  @spec encode(struct(), Plans.plan(), RustyJson.Encode.opts()) :: iodata()
  def encode(%module{} = struct, {fields, _names, _omitted} = plan, opts) when is_tuple(fields) do
    # The core leaves a struct here that lost a field, and would do so again: then this raises.
    _members = planned_members(struct, plan)
    if left?(module, plan), do: by_members(struct, plan, opts), else: Part.planned!(struct, plan, opts)
  end

  def encode(struct, plan, opts), do: struct |> planned_members(plan) |> Encode.keyword(opts)

  # The core leaves all structs of these types to their implementation, whatever its plan. It does not know the plan of a struct that has
  # another one for the stand-in.
  defp left?(module, _plan) when module in @overridable, do: true
  defp left?(module, plan), do: Plans.standin() != nil and not Plans.current?(module, %{module => plan})

  defp by_members(struct, plan, opts) do
    {struct, opts} = hidden(struct, Plans.pairs(plan), opts)
    struct |> planned_members(plan) |> Encode.keyword(opts)
  end

  @doc "The text of a struct whose fields have these names."
  @spec by_names(struct(), [{atom(), String.t()}], RustyJson.Encode.opts()) :: iodata()
  def by_names(struct, names, opts) do
    {struct, opts} = hidden(struct, names, opts)
    Encode.keyword(for({field, name} <- names, do: {name, Map.fetch!(struct, field)}), opts)
  end

  # `:redact` hides by the names of the fields, too, which the members no longer have, nor the text of another library around them.
  defp hidden(struct, names, %{values: %{redact: redact, redacted: text}} = opts) do
    Plans.note(names)
    {keys, words} = {Shape.keys(redact), Shape.words(redact)}
    pointers = Options.pointers(opts)

    renamed = for {field, name} <- names, do: {Atom.to_string(field), to_string(name), field}

    hidden =
      for {field, _, atom} <- renamed, Shape.hidden?(field, keys, words) or [field] in pointers, do: atom

    {Enum.reduce(hidden, struct, &%{&2 | &1 => text}),
     Options.with_pointers(opts, pointers |> Enum.flat_map(&onward(&1, renamed)) |> few())}
  end

  # A pointer into a field leads to its member. Another member may have the field's name.
  defp onward([field | rest] = pointer, renamed),
    do: [pointer | for({^field, name, _} <- renamed, do: [name | rest])]

  # Of more than the core follows, rather too much is redacted than too little.
  defp few(pointers) do
    if length(pointers) <= Shape.most_pointers(),
      do: pointers,
      else: Enum.uniq(for [_ | rest] <- pointers, do: ["*" | rest])
  end

  @doc "The members of the object that a plan makes of a struct. Names that the derivation gave are strings, which no option renames."
  @spec planned_members(struct(), Plans.plan()) :: [{atom() | String.t(), term()}]
  def planned_members(struct, plan) do
    members = Plans.members(plan, struct)

    if Plans.names(plan) == [],
      do: members,
      else: for({name, value} <- members, do: {Atom.to_string(name), value})
  end

  defp fields(struct, options) do
    fields = Map.keys(struct) -- [:__struct__]

    case {options[:only], options[:except]} do
      {nil, nil} -> fields
      {nil, except} -> fields -- known!(except, :except, fields)
      {only, _} -> known!(only, :only, fields)
    end
  end

  # As in Jason, `:__struct__` may be listed. `length/1` fails for an improper list, which takes the next clause.
  defp known!(named, option, fields) when length(named) >= 0 do
    case {Enum.uniq(named) -- [:__struct__ | fields], named -- Enum.uniq(named)} do
      {[], []} ->
        named

      {[], [twice | _]} ->
        raise ArgumentError, "`#{inspect(option)}` lists #{inspect(twice)} twice"

      {unknown, _twice} ->
        raise ArgumentError,
              "`#{inspect(option)}` specified keys (#{inspect(unknown)}) that are not defined in defstruct: " <>
                inspect(fields)
    end
  end

  defp known!(named, option, _fields),
    do: raise(ArgumentError, "`#{inspect(option)}` takes a list of fields, got: #{inspect(named)}")

  @doc "What to do about a value without an implementation."
  @spec advice(term()) :: String.t()
  def advice(%module{}), do: if(late?(module), do: too_late(module), else: how_to_derive())
  def advice(_value), do: "RustyJson.Encoder protocol must always be explicitly implemented"

  # Whether the struct has an implementation that the consolidated protocol does not know.
  defp late?(module),
    do:
      Protocol.consolidated?(RustyJson.Encoder) and
        function_exported?(Module.concat(RustyJson.Encoder, module), :__impl__, 1)

  defp too_late(module) do
    "the implementation for #{inspect(module)} has no effect, because it was compiled after the protocols were " <>
      "consolidated: in a notebook or a script, pass consolidate_protocols: false to Mix.install/2; in a project, set it in mix.exs"
  end

  defp how_to_derive do
    """
    RustyJson.Encoder protocol must always be explicitly implemented.

    If you own the struct, you can derive the implementation specifying \
    which fields should be encoded to JSON:

        @derive {RustyJson.Encoder, only: [....]}
        defstruct ...

    It is also possible to encode all fields, although this should be \
    used carefully to avoid accidentally leaking private information \
    when new fields are added:

        @derive RustyJson.Encoder
        defstruct ...

    Finally, if you don't own the struct you want to encode to JSON, \
    you may use Protocol.derive/3 placed outside of any module:

        Protocol.derive(RustyJson.Encoder, NameOfTheStruct, only: [...])
        Protocol.derive(RustyJson.Encoder, NameOfTheStruct)
    """
  end
end
