defmodule RustyJson.Decode.Atoms do
  @moduledoc false
  # `keys: :atoms`. The engines only know atoms that exist, so a document that has new ones is decoded in three steps: with
  # existing atoms, which fails; with strings, for the names; and again, after `RustyJson.Decode.NewAtoms` has made them.
  # An atom stays as long as the VM runs, so nearly all documents take the first step only, which counts nothing.

  require RustyJson.Engine.Codes

  alias RustyJson.Decode.NewAtoms
  alias RustyJson.Engine.Codes
  alias RustyJson.{Engine, Options, OrderedObject}

  # Keys as strings, and all members, including repeated ones.
  @names %{keys: :strings, objects: :ordered_objects}
  @unknown Codes.decode(:unknown_atom)
  # Instead of the number of a key: nobody has asked yet which are atoms; or all are. As `Question` in core/src/scan/call.rs has them.
  @unasked 0xFFFF_FFFF_FFFF_FFFF
  @known 0xFFFF_FFFF_FFFF_FFFE
  # An atom has at most this many code points, of at most four bytes each.
  @longest 255

  @doc "Decodes with keys as atoms, if the table has room for them."
  @spec decode(binary(), Options.t()) ::
          {:ok, term()}
          | {:error, :atom_limit | Engine.decode_failure() | Engine.decode_failures() | Exception.t()}
  def decode(json, %{engine: engine} = options) do
    options = Options.due(options)

    case engine.decode(json, options) do
      {:error, {@unknown, _, _, _, _}} -> again(json, options)
      # The errors of a type; an unknown atom is the last of them, if it is listed.
      {:error, {_total, _left, [_ | _]}} -> again(json, options)
      done -> done
    end
  end

  defp again(json, %{engine: engine} = options) do
    with {:ok, term} <- with_names(json, options),
         :ok <- term |> names(%{}) |> NewAtoms.make(options) do
      engine.decode(json, options)
    end
  end

  @doc """
  The same for a piece of a stream. `run` is called with options and the number of a key to stop at, as the sandbox needs it,
  which cannot know which atoms there are.
  """
  @spec feed((Options.t(), non_neg_integer() -> term()), Options.t()) :: term()
  def feed(run, options) do
    case run.(options, @unasked) do
      {_values, _kept, _state, trouble} = answer when is_tuple(trouble) and elem(trouble, 0) == @unknown ->
        if options.keys == :atoms, do: named(run, options, answer), else: checked(answer, run, options)

      :unknown_atoms ->
        named(run, options, nil)

      answer ->
        answer
    end
  end

  defp named(run, %{keys: :atoms} = options, answer) do
    with {values, kept, state, trouble} <- run.(as_strings(options), @unasked),
         :ok <- values |> names(%{}) |> NewAtoms.make(options) do
      case run.(options, @known) do
        # A value that is wrong itself has names that nobody asked for.
        {values, _, _, again} when is_tuple(again) and elem(again, 0) == @unknown and answer != nil ->
          {values, kept, state, trouble}

        again ->
          again
      end
    end
  end

  defp named(run, options, _answer) do
    with {values, _, _, _} <- run.(as_strings(options), @unasked) do
      number = values |> in_order([]) |> Enum.reverse() |> Enum.find_index(&(not atom?(&1)))
      run.(options, number || @known)
    end
  end

  # A value is checked as JSON before its keys are looked up, as in the sandbox.
  defp checked({values, _kept, _state, _trouble} = answer, run, options) do
    with true <- Engine.native?(options.engine),
         {others, kept, state, trouble} when is_tuple(trouble) and length(others) == length(values) <-
           run.(Options.change(options, :decode, %{keys: :strings}), @unasked),
         do: {values, kept, state, trouble},
         else: (_valid -> answer)
  end

  defp in_order(%OrderedObject{values: values}, found),
    do: Enum.reduce(values, found, fn {key, value}, found -> in_order(value, [key | found]) end)

  defp in_order(list, found) when is_list(list), do: Enum.reduce(list, found, &in_order/2)
  defp in_order(_scalar, found), do: found

  @doc "Whether there is an atom with this name. Rescuing an exception takes twice as long."
  @spec atom?(String.t()) :: boolean()
  def atom?(key) do
    is_atom(:erlang.binary_to_existing_atom(key, :utf8))
  catch
    :error, _reason -> false
  end

  @doc "The number of a key that is given before it is known which keys are atoms. Only then can the answer be `:unknown_atoms`."
  @spec unasked() :: non_neg_integer()
  def unasked, do: @unasked

  @doc "The same options, with keys as strings and all members."
  @spec as_strings(Options.t()) :: Options.t()
  def as_strings(options), do: Options.change(%{options | structs: nil}, :decode, @names)

  @doc "Whether each key of a term that was decoded with these options can be an atom. No atom is made."
  @spec possible_names?(term()) :: boolean()
  def possible_names?(term) do
    term
    |> names(%{})
    |> Enum.all?(fn {name, _} -> possible_name?(name) end)
  end

  @doc """
  Whether an atom can have this name.

      iex> RustyJson.Decode.Atoms.possible_name?("é" <> String.duplicate("\u0301", 254))
      true
      iex> RustyJson.Decode.Atoms.possible_name?("é" <> String.duplicate("\u0301", 255))
      false
  """
  @spec possible_name?(binary()) :: boolean()
  # `String.length/1` counts what looks like one character, which can be any number of code points.
  def possible_name?(name) do
    byte_size(name) <= 4 * @longest and String.valid?(name) and
      (byte_size(name) <= @longest or length(String.to_charlist(name)) <= @longest)
  end

  defp with_names(json, %{engine: engine} = options), do: engine.decode(json, as_strings(options))

  defp names(%OrderedObject{values: values}, found),
    do: Enum.reduce(values, found, fn {key, value}, found -> names(value, Map.put(found, key, [])) end)

  defp names(list, found) when is_list(list), do: Enum.reduce(list, found, &names/2)
  defp names(_scalar, found), do: found
end
