# Changes a module in one place at a time, and runs its tests: those that no test notices are printed.
#   MIX_ENV=test mix run --no-compile script/mutants.exs [FILE TEST]   default: the judge in Elixir of what the sandbox answers
# The last line has the counts: changes, those that a test noticed, and those that did not compile. script/mutants keeps them.
defmodule RustyJson.Mutants do
  @moduledoc false

  @swapped %{
    <: :<=,
    <=: :<,
    >: :>=,
    >=: :>,
    ==: :!=,
    !=: :==,
    and: :or,
    or: :and,
    +: :-,
    -: :+,
    *: :+,
    min: :max,
    max: :min,
    div: :rem
  }

  def main([file, test]) do
    quoted = file |> File.read!() |> Code.string_to_quoted!(file: file)
    ExUnit.start(autorun: false, formatters: [], timeout: 20_000)
    Code.put_compiler_option(:ignore_module_conflict, true)

    modules =
      for {module, _} <- Code.require_file(test), function_exported?(module, :__ex_unit__, 0), do: module

    %{failures: 0} = ExUnit.run()

    places = quoted |> walk(&{&1, &2 + length(mutations(&1))}, 0) |> elem(1)
    found = for at <- 0..(places - 1), do: try_one(quoted, at, modules, file)
    Code.compile_quoted(quoted, file)

    survivors = Enum.count(found, &(&1 == :survived))
    invalid = Enum.count(found, &(&1 == :invalid))
    row = ["mutants", file, test, places - invalid, places - invalid - survivors, invalid]
    IO.puts(Enum.join(row, "\t"))
  end

  defp try_one(quoted, at, modules, file) do
    {changed, {_, line, what}} = walk(quoted, &change(&1, &2, at), {0, nil, nil})

    case compiled(changed) do
      :ok -> if ExUnit.run(modules).failures == 0, do: survived("#{file}:#{line}: #{what}"), else: :killed
      :error -> :invalid
    end
  end

  defp survived(text) do
    IO.puts(text)
    :survived
  end

  defp compiled(quoted) do
    ExUnit.CaptureIO.capture_io(:stderr, fn -> Code.compile_quoted(quoted) end)
    :ok
  rescue
    _ -> :error
  end

  # Types, documentation and the lines that only name modules are left as they are.
  defp walk({:@, _, [{name, _, _}]} = node, _fun, acc) when name in [:spec, :type, :doc, :moduledoc],
    do: {node, acc}

  defp walk({:import, _, _} = node, _fun, acc), do: {node, acc}

  defp walk(node, fun, acc) do
    {node, acc} = fun.(node, acc)
    inside(node, fun, acc)
  end

  defp inside({form, meta, arguments}, fun, acc) do
    {form, acc} = if is_atom(form), do: {form, acc}, else: walk(form, fun, acc)
    {arguments, acc} = inside(arguments, fun, acc)
    {{form, meta, arguments}, acc}
  end

  defp inside({left, right}, fun, acc) do
    {left, acc} = walk(left, fun, acc)
    {right, acc} = walk(right, fun, acc)
    {{left, right}, acc}
  end

  defp inside(list, fun, acc) when is_list(list), do: Enum.map_reduce(list, acc, &walk(&1, fun, &2))
  defp inside(other, _fun, acc), do: {other, acc}

  defp change(node, {count, line, what}, at) do
    line = if what, do: line, else: line_of(node) || line
    mutations = mutations(node)

    if what == nil and at in count..(count + length(mutations) - 1)//1 do
      {what, changed} = Enum.at(mutations, at - count)
      {changed, {count + length(mutations), line, what}}
    else
      {node, {count + length(mutations), line, what}}
    end
  end

  defp line_of({_, meta, _}) when is_list(meta), do: meta[:line]
  defp line_of(_node), do: nil

  defp mutations({name, meta, [left, right]}) when is_map_key(@swapped, name),
    do: [{"#{name} became #{@swapped[name]}", {@swapped[name], meta, [left, right]}}]

  defp mutations({:when, _, [head, guard]}),
    do: [{"without the guard #{Macro.to_string(guard)}", {:when, [], [head, true]}}]

  defp mutations({:if, _, [condition, [do: _]]}), do: [{"without if #{Macro.to_string(condition)}", nil}]
  defp mutations(integer) when is_integer(integer), do: [{"#{integer} became #{integer + 1}", integer + 1}]
  defp mutations(_node), do: []
end

case System.argv() do
  [] -> RustyJson.Mutants.main(~w(lib/rustyjson/wasm/etf.ex test/sandbox/etf_test.exs))
  arguments -> RustyJson.Mutants.main(arguments)
end
