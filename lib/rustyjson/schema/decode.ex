defmodule RustyJson.Schema.Decode do
  @moduledoc false
  # The option `as:` of `RustyJson.decode/2`. The core checks everything but the values that only Elixir can judge: dates in unusual forms
  # and those of Ecto's types. The native library and the built-in host build structs, and leave such values to Elixir
  # (RustyJson.Schema.Load). The answer of wasmex is plain, and so is every answer if keys need a function: Elixir makes structs and dates
  # of it (RustyJson.Schema.Assemble).
  #
  # One call of the core gives the value, or the first error, or all errors. Only if values are left to Elixir, and one of them is wrong
  # or comes before another error, there are two more calls: one for these values, in the order of the text, and one that takes those
  # that Elixir refuses for errors.

  alias RustyJson.{DecodeError, Options, SandboxError}
  alias RustyJson.Decode.Input
  alias RustyJson.Parts.Raw
  alias RustyJson.Schema.{Assemble, Expected, Load, Place, Shape}

  @typedoc "A type, the options without it, and those of the call that gives the value or the errors."
  @type prepared :: {Shape.t(), Options.t(), Options.t()}

  @doc "What many calls with these options share. It takes longer than to decode a short text."
  @spec prepare(Options.t()) :: prepared()
  def prepare(%{as: type} = options) do
    shape = Shape.of(type)
    plain = %{options | as: nil, max_bytes: 0}
    {shape, plain, plain |> Options.into_structs(shape) |> Options.with_parts(plan(shape, plain, []))}
  end

  @doc "Decodes into the type of the options. `place` says where the input stands in a larger text; it is called only for an error."
  @spec decode(iodata(), Options.t(), nil | (() -> Place.t())) :: {:ok, term()} | {:error, Exception.t()}
  def decode(input, options, place \\ nil), do: prepared(input, options, prepare(options), place)

  @doc "The same with what was prepared for these options, unless the schema of a module has changed since."
  @spec decode(iodata(), Options.t(), prepared(), nil | (() -> Place.t())) ::
          {:ok, term()} | {:error, Exception.t()}
  def decode(input, options, {shape, _plain, _usual} = known, place),
    do: prepared(input, options, if(Shape.current?(shape), do: known, else: prepare(options)), place)

  defp prepared(input, options, {shape, plain, usual}, place) do
    # All calls of the engine share one deadline.
    %{sandbox: sandbox} = usual = Options.due(usual)

    with {:ok, json} <- Input.flatten(input, options),
         {:error, failure} <- value(json, shape, usual, %{plain | sandbox: sandbox}),
         do: {:error, exception(failure, json, shape, located(%{plain | sandbox: sandbox}, place))}
  end

  defp located(options, nil), do: options
  defp located(options, place), do: %{options | origin: place.()}

  ## The value, or what the engine reports

  defp value(json, shape, usual, options) do
    case Input.term(json, usual) do
      {:ok, {:plain, answer}} -> assemble(answer, json, shape, options)
      {:ok, value} when usual.structs != nil -> load(value, json, shape, options)
      {:ok, answer} -> assemble(answer, json, shape, options)
      {:error, failure} -> failed(failure, json, shape, options)
    end
  end

  defp ask(json, shape, options, left),
    do: Input.term(json, Options.with_parts(options, plan(shape, options, left)))

  defp plan(shape, options, left), do: Shape.plan(shape, most(options), left)

  # 0 is the first error alone.
  defp most(%{values: %{errors: :all, max_errors: most}}), do: most
  defp most(_options), do: 0

  defp failed(%SandboxError{} = error, _json, _shape, _options), do: {:error, error}

  # A value that is left to Elixir may be wrong before that, or too.
  defp failed({_total, true, _failures} = failure, json, shape, options),
    do: refused(json, shape, options) || {:error, failure}

  defp failed({_code, _offset, _line, _column, _path} = failure, json, %{dates: true} = shape, options),
    do: refused(json, shape, options) || {:error, failure}

  defp failed(failure, _json, _shape, _options), do: {:error, failure}

  # A value that was dropped has to be valid, too.
  defp load({:left, {:left, value}}, json, shape, options),
    do: refused(json, shape, options) || load({:left, value}, json, shape, options)

  defp load(value, json, shape, %{values: %{null: null}} = options) do
    {:ok, Load.all(value, shape, null)}
  catch
    {:rustyjson, :date} -> refused(json, shape, options) || {:error, broken(options)}
  end

  defp assemble(answer, json, shape, %{values: values} = options) do
    context = %{
      raw: Raw.text(json, values.strings == :copy),
      structs: shape.structs,
      decimals: Assemble.decimals(values),
      first: values.duplicate_keys == :first,
      null: values.null
    }

    {:ok, Assemble.value(shape.numbered, answer, context)}
  catch
    {:rustyjson, :date} -> refused(json, shape, options) || {:error, broken(options)}
    {:rustyjson, :broken} -> {:error, broken(options)}
  end

  # Only a module that was taken over returns an answer that does not fit the type.
  defp broken(options), do: RustyJson.Engine.Wasm.broken_parts(options)

  ## Values that are left to Elixir

  # The errors, with those of the values that Elixir refuses; nil if it refuses none.
  defp refused(json, shape, options) do
    case ask(json, shape, options, :list) do
      {:ok, values} when is_list(values) ->
        case numbers(values, 0, shape, options, []) do
          [] -> nil
          numbers -> with {:ok, _value} <- ask(json, shape, options, numbers), do: {:error, broken(options)}
        end

      {:error, %SandboxError{} = error} ->
        {:error, error}

      _failed ->
        nil
    end
  end

  defp numbers([kind, value | rest], number, shape, options, found) do
    found = if good?(kind, value, shape, options), do: found, else: [number | found]
    numbers(rest, number + 1, shape, options, found)
  end

  defp numbers(_end, _number, _shape, _options, found), do: :lists.reverse(found)

  defp good?(kind, value, shape, options) do
    Assemble.value(Shape.kind(shape, kind), value, %{null: options.values.null})
    true
  catch
    {:rustyjson, _reason} -> false
  end

  ## Exceptions

  defp exception(%SandboxError{} = error, _json, _shape, _options), do: error
  defp exception(%DecodeError{} = error, _json, _shape, _options), do: error

  defp exception({total, _left, failures}, json, shape, options) do
    errors = for failure <- failures, do: one(failure, json, shape, options)
    listed(errors, total)
  end

  defp exception(failure, json, shape, %{values: values} = options) do
    error = one(failure, json, shape, options)
    if values.errors == :all, do: listed([error], 1), else: error
  end

  defp one(failure, json, shape, options),
    do: failure |> Input.error(json, options) |> Expected.add(shape, options)

  @doc "The first of these errors, which are in the order of the text and have no repetitions, with a list of them."
  @spec listed([DecodeError.t(), ...], pos_integer()) :: DecodeError.t()
  def listed([first | _] = errors, count), do: %{first | errors: errors, error_count: count}
end
