defmodule RustyJson.Schema.Decode do
  @moduledoc false
  # The option `as:` of `RustyJson.decode/2`. The core checks everything except dates. The native library and the built-in host build
  # structs, also those of dates in their usual forms, and leave other dates to Elixir (RustyJson.Schema.Load). The answer of wasmex is
  # plain, and so is every answer if keys need a function: Elixir makes structs and dates of it (RustyJson.Schema.Assemble). If a date is
  # invalid, or comes before another error, the core is asked for all strings in the place of dates, in the order of the text, and then
  # for the error at the first invalid one. The result is therefore always the first error, with its position.

  alias RustyJson.{DecodeError, Options}
  alias RustyJson.Decode.Input
  alias RustyJson.Parts.Raw
  alias RustyJson.Schema.{Assemble, Expected, Load, Place, Shape}

  @schema_errors [:type, :missing, :unknown_key, :enum]
  # The largest number of errors that `errors: :all` reports.
  @most 100
  @all_passed 0xFFFF_FFFF

  @doc "Decodes into the type of the options. `place` says where the input stands in a larger text; it is called only for an error."
  @spec decode(iodata(), Options.t(), nil | (() -> Place.t())) :: {:ok, term()} | {:error, Exception.t()}
  def decode(input, options, place \\ nil) do
    case whole(input, options) do
      {:error, %DecodeError{}} when place != nil -> whole(input, %{options | origin: place.()})
      result -> result
    end
  end

  defp whole(input, %{as: type, values: values} = options) do
    shape = Shape.of(type)
    # All calls of the engine share one deadline.
    parts = in_time(%{options | as: nil, max_bytes: 0})

    with {:ok, json} <- Input.flatten(input, options),
         {:error, %DecodeError{} = error} <- first(json, shape, parts),
         do: {:error, values.errors |> all(error, json, shape, parts) |> Expected.add(shape, options)}
  end

  defp in_time(%{sandbox: %{deadline: _}} = options), do: options
  defp in_time(options), do: Options.due(options, Options.started(options))

  defp first(json, shape, options) do
    built = Options.into_structs(options, shape)

    case Input.decode(json, Options.with_parts(built, shape.plan)) do
      {:ok, {:plain, answer}} -> assemble(answer, json, shape, options)
      {:ok, value} when built.structs != nil -> load(value, json, shape, options)
      {:ok, answer} -> assemble(answer, json, shape, options)
      {:error, %DecodeError{} = error} -> {:error, first_date(json, shape, options, 0) || error}
      failed -> failed
    end
  end

  defp run(json, shape, options, pass, date),
    do: Input.decode(json, Options.with_parts(options, Shape.plan(shape, pass, date)))

  # A date that was dropped has to be valid, too.
  defp load({:left, {:left, value}}, json, shape, options) do
    case first_date(json, shape, options, 0) do
      nil -> load({:left, value}, json, shape, options)
      error -> {:error, error}
    end
  end

  defp load(value, json, shape, %{values: %{null: null}} = options) do
    {:ok, Load.all(value, shape, null)}
  catch
    {:rustyjson, :date} -> {:error, first_date(json, shape, options, 0) || broken(options)}
  end

  defp assemble(answer, json, shape, %{values: values} = options) do
    context = %{
      raw: Raw.text(json, values.strings == :copy),
      structs: shape.structs,
      first: values.duplicate_keys == :first,
      null: values.null
    }

    {:ok, Assemble.value(shape.type, answer, context)}
  catch
    {:rustyjson, :date} -> {:error, first_date(json, shape, options, 0) || broken(options)}
    {:rustyjson, :broken} -> {:error, broken(options)}
  end

  # Only a module that was taken over returns an answer that does not fit the type.
  defp broken(options), do: RustyJson.Engine.Wasm.broken_parts(options)

  # The error at the first string that should be a date and is not, or nil.
  defp first_date(_json, %{dates: false}, _options, _pass), do: nil

  defp first_date(json, shape, options, pass) do
    case wrong_dates(json, shape, options, pass) do
      [] ->
        nil

      [number | _] ->
        case run(json, shape, options, pass, number) do
          {:error, error} -> error
          _no_error -> broken(options)
        end
    end
  end

  defp wrong_dates(json, shape, options, pass) do
    case run(json, shape, options, pass, :list) do
      {:ok, dates} when is_list(dates) ->
        dates
        |> Enum.chunk_every(2)
        |> Enum.with_index()
        |> Enum.reject(&good?(&1, shape, options))
        |> Enum.map(&elem(&1, 1))

      _failed ->
        []
    end
  end

  defp good?({[kind, value], _number}, shape, options) do
    Assemble.value(Shape.kind(shape, kind), value, %{null: options.values.null})
    true
  catch
    {:rustyjson, _reason} -> false
  end

  defp good?(_broken, _shape, _options), do: false

  ## All errors

  @doc "The first of these errors in the text, which lists them all."
  @spec all([DecodeError.t(), ...]) :: DecodeError.t()
  def all(errors) do
    [first | _] =
      errors =
      errors |> Enum.uniq_by(&{&1.position, &1.path}) |> Enum.sort_by(& &1.position) |> Enum.take(@most)

    %{first | errors: errors}
  end

  defp all(:all, %{reason: reason} = error, json, shape, options) when reason in @schema_errors do
    errors = later(json, shape, options, 0, []) ++ dates(json, shape, options)

    if errors == [], do: error, else: all(errors)
  end

  defp all(:all, error, _json, _shape, _options), do: %{error | errors: [error]}
  defp all(:first, error, _json, _shape, _options), do: error

  # Each run skips one more error. Invalid JSON ends the list.
  defp later(_json, _shape, _options, @most, found), do: Enum.reverse(found)

  defp later(json, shape, options, pass, found) do
    case run(json, shape, options, pass, nil) do
      {:error, %DecodeError{reason: reason} = error} when reason in @schema_errors ->
        later(json, shape, options, pass + 1, [error | found])

      {:error, %DecodeError{} = error} ->
        Enum.reverse([error | found])

      _done ->
        Enum.reverse(found)
    end
  end

  defp dates(_json, %{dates: false}, _options), do: []

  defp dates(json, shape, options) do
    numbers = json |> wrong_dates(shape, options, @all_passed) |> Enum.take(@most)
    for number <- numbers, error = date_error(json, shape, options, number, 0), do: error
  end

  # Skips the schema errors before this date, until the core reports the date itself.
  defp date_error(json, shape, options, number, pass) when pass <= @most do
    case {run(json, shape, options, pass, number), run(json, shape, options, pass, nil)} do
      {{:error, %DecodeError{position: at}}, {:error, %DecodeError{position: at}}} ->
        date_error(json, shape, options, number, pass + 1)

      {{:error, %DecodeError{} = error}, {:error, %DecodeError{}}} ->
        error

      {{:error, %DecodeError{} = error}, {:ok, _answer}} ->
        error

      # The sandbox failed, or lied.
      _none ->
        nil
    end
  end

  defp date_error(_json, _shape, _options, _number, _pass), do: nil
end
