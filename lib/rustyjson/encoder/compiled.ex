defmodule RustyJson.Encoder.Compiled do
  @moduledoc false
  # The plan of an implementation of another library's protocol, read from its compiled code.
  #
  # `@derive JSON.Encoder` and `@derive Jason.Encoder` leave no trace but the code of `encode/2`, and a call of it would prove nothing: a
  # hand-written one may look at the values. So the code is read instruction by instruction, with symbols in place of values. What this
  # proves holds for every struct with the fields: the code has no branch, and returns constant text around its encoded fields. An unknown
  # instruction, or a file that is not the loaded module, proves nothing: the implementation is then called for each struct.

  alias RustyJson.Encoder.{Names, Plans}

  @doc "The version of the code of an implementation of Jason's or Elixir's protocol, and its plan: nil if it is not proved to have one."
  @spec plan(module(), :jason | :json) :: {binary(), nil | Plans.plan()}
  def plan(implementation, library) do
    case :persistent_term.get({__MODULE__, implementation}, nil) do
      # Not asked again: to call the implementation is right, whatever it became.
      {_code, nil} = known ->
        known

      {code, _plan} = known ->
        if loaded?(implementation, code), do: known, else: learn(implementation, library)

      nil ->
        learn(implementation, library)
    end
  end

  # Each has a term of its own. A term that grew would be replaced with each of them, and the VM would search all processes for it.
  defp learn(implementation, library) do
    loaded = implementation.module_info(:md5)
    plan = with code when code != nil <- code(implementation, loaded), do: plan_of(code, library)
    :persistent_term.put({__MODULE__, implementation}, {loaded, plan})
    {loaded, plan}
  end

  @doc "Whether the loaded code of an implementation is of this version."
  @spec loaded?(module(), binary()) :: boolean()
  def loaded?(implementation, code) do
    # What `module_info(:md5)` calls, which takes 12 of 30 ns.
    :erlang.get_module_info(implementation, :md5) === code
  rescue
    # It was deleted. The VM loads it again when it is called.
    ArgumentError -> false
  end

  # Releases may be stripped of all but the code, so nothing else of the file is used.
  defp code(implementation, loaded) do
    with {_module, beam, _file} <- :code.get_object_code(implementation),
         {:ok, {_module, ^loaded}} <- :beam_lib.md5(beam),
         true <- Code.ensure_loaded?(:beam_disasm),
         {:beam_file, _, _, _, _, functions} <- :beam_disasm.file(beam) do
      Enum.find_value(functions, &body/1)
    else
      _ -> nil
    end
  end

  defp body({:function, :encode, 2, entry, code}),
    do: code |> Enum.drop_while(&(&1 != {:label, entry})) |> Enum.drop(1)

  defp body(_function), do: nil

  @doc "The plan of the code of `encode/2`, from its entry on."
  @spec plan_of([term()], :jason | :json) :: nil | Plans.plan()
  def plan_of(code, library) do
    with {:ok, result, calls} <- run(code, %{{:x, 0} => :struct, {:x, 1} => :encoder, calls: []}, library),
         {:ok, pieces} <- pieces(result, []),
         members when is_list(members) <- pieces |> joined() |> members() do
      {fields, names} = Enum.unzip(members)

      # An encoded field that is not written could still be in error.
      if Enum.uniq(names) == names and Enum.sort(fields) == Enum.sort(calls),
        do: fields |> Enum.zip(Enum.map(names, &String.to_atom/1)) |> by_names()
    else
      _ -> nil
    end
  end

  # The core reads a plan without names faster.
  defp by_names(members) do
    {fields, names} = Enum.unzip(members)
    if names == fields, do: Plans.plan(fields), else: Plans.plan(fields, names)
  end

  ## The code, with symbols for values: `:struct`, `:encoder`, `{:field, name}`, `{:encoded, name}`, `{:constant, term}`, cells of lists

  defp run([:return | _], registers, _library), do: {:ok, registers[{:x, 0}], registers.calls}

  defp run([instruction | code], registers, library) do
    case step(instruction, registers, library) do
      %{} = registers -> run(code, registers, library)
      nil -> nil
    end
  end

  defp run([], _registers, _library), do: nil

  defp step({ignored, _}, registers, _) when ignored in [:line, :label, :init_yregs, :deallocate],
    do: registers

  defp step({room, _, _}, registers, _) when room in [:allocate, :test_heap], do: registers

  # The frame gets smaller from its start.
  defp step({:trim, count, _left}, registers, _) do
    for {register, symbol} <- registers, kept = trimmed(register, count), into: %{}, do: {kept, symbol}
  end

  # What a test leads to if it fails does not matter: a struct without the fields is left to the implementation.
  defp step({:test, :is_map, _fail, [source]}, registers, _), do: when_is(source, :struct, registers)
  defp step({:test, :is_tuple, _fail, [source]}, registers, :jason), do: when_is(source, :encoder, registers)

  defp step({:test, :test_arity, _fail, [source, 2]}, registers, :jason),
    do: when_is(source, :encoder, registers)

  defp step({:get_map_elements, _fail, source, {:list, pairs}}, registers, _),
    do: with(%{} <- when_is(source, :struct, registers), do: fields(pairs, registers))

  defp step({:get_tuple_element, source, place, target}, registers, :jason),
    do: with(%{} <- when_is(source, :encoder, registers), do: put(registers, target, {:part, place}))

  defp step({:move, source, target}, registers, _), do: put(registers, target, get(registers, source))

  defp step({:swap, one, other}, registers, _) do
    with %{} = moved <- put(registers, one, get(registers, other)), do: put(moved, other, get(registers, one))
  end

  defp step({:put_list, head, tail, target}, registers, _),
    do: put(registers, target, {:cell, get(registers, head), get(registers, tail)})

  defp step({:call_fun, 2}, registers, :json), do: called(registers, {:x, 2})
  defp step({:call_fun2, _tag, 2, function}, registers, :json), do: called(registers, function)

  defp step({:call_ext, 3, {:extfunc, Jason.Encode, :value, 3}}, registers, :jason) do
    case registers do
      %{{:x, 0} => {:field, name}, {:x, 1} => {:part, 0}, {:x, 2} => {:part, 1}} -> encoded(registers, name)
      _ -> nil
    end
  end

  defp step(_other, _registers, _library), do: nil

  defp called(registers, function) do
    case {get(registers, function), registers} do
      {:encoder, %{{:x, 0} => {:field, name}, {:x, 1} => :encoder}} -> encoded(registers, name)
      _ -> nil
    end
  end

  # A call leaves nothing in the other registers of its kind.
  defp encoded(%{calls: calls} = registers, name) do
    kept = for {{:y, _}, _symbol} = pair <- registers, into: %{calls: [name | calls]}, do: pair
    Map.put(kept, {:x, 0}, {:encoded, name})
  end

  defp trimmed({:y, number}, count), do: if(number >= count, do: {:y, number - count})
  defp trimmed(register, _count), do: register

  defp when_is(source, symbol, registers), do: if(get(registers, source) == symbol, do: registers)

  defp fields([{:atom, name}, target | pairs], registers) do
    with %{} = registers <- put(registers, target, {:field, name}), do: fields(pairs, registers)
  end

  defp fields([], registers), do: registers
  defp fields(_other, _registers), do: nil

  defp get(registers, {:tr, register, _type}), do: get(registers, register)
  defp get(registers, {kind, _} = register) when kind in [:x, :y], do: Map.get(registers, register)
  defp get(_registers, {kind, value}) when kind in [:literal, :integer, :atom], do: {:constant, value}
  defp get(_registers, nil), do: {:constant, []}
  defp get(_registers, _other), do: nil

  defp put(registers, {:tr, register, _type}, symbol), do: put(registers, register, symbol)

  defp put(registers, {kind, _} = register, symbol) when kind in [:x, :y],
    do: Map.put(registers, register, symbol)

  defp put(_registers, _other, _symbol), do: nil

  ## What it returns

  # Texts and encoded fields, in the order in which they are written.
  defp pieces({:cell, head, tail}, after_it) do
    with {:ok, pieces} <- pieces(tail, after_it), do: head |> byte() |> pieces(pieces)
  end

  defp pieces({:encoded, name}, after_it), do: {:ok, [name | after_it]}

  defp pieces({:constant, text}, after_it) when is_binary(text) or is_list(text) do
    {:ok, [IO.iodata_to_binary(text) | after_it]}
  rescue
    ArgumentError -> nil
  end

  defp pieces(_other, _after_it), do: nil

  # An integer is text only as an element.
  defp byte({:constant, byte}) when byte in 0..255, do: {:constant, <<byte>>}
  defp byte(other), do: other

  defp joined([text, next | pieces]) when is_binary(text) and is_binary(next),
    do: joined([text <> next | pieces])

  defp joined([piece | pieces]), do: [piece | joined(pieces)]
  defp joined([]), do: []

  defp members(["{}"]), do: []
  defp members(["{" <> text | pieces]), do: named(text, pieces)
  defp members(_other), do: nil

  defp named(text, [field | pieces]) when is_atom(field) do
    with name when name != nil <- name(text),
         members when is_list(members) <- next(pieces),
         do: [{field, name} | members]
  end

  defp named(_text, _pieces), do: nil

  defp next(["}"]), do: []
  defp next(["," <> text | pieces]), do: named(text, pieces)
  defp next(_other), do: nil

  # The core writes names under the escape mode of the call, so only those qualify in which none changes anything.
  defp name(<<?", text::binary>>) when byte_size(text) in 2..257 do
    name = binary_part(text, 0, byte_size(text) - 2)
    if text == name <> "\":" and Names.plain?(name), do: name
  end

  defp name(_text), do: nil
end
