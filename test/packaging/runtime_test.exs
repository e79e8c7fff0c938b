defmodule RustyJson.Packaging.RuntimeTest do
  @moduledoc "What the C of the built-in host and its Rust both write down is the same: layouts, functions, traps."

  use ExUnit.Case, async: true

  @moduletag :once

  @runtime File.read!("wasm/host/runtime/wasm-rt.h")
  @table File.read!("wasm/host/runtime/runtime.h")
  @rust File.read!("wasm/host/src/translated.rs")

  @types %{"uint8_t*" => "*mut u8", "uint64_t" => "u64", "int64_t" => "i64", "uintptr_t" => "usize"}

  test "the module's functions, in the order of their numbers" do
    functions =
      for [_, arity, name] <- Regex.scan(~r/each(\d)\((\w+)\)/, @table), do: {Macro.camelize(name), arity}

    assert length(functions) > 10
    assert Enum.map(functions, &elem(&1, 0)) == variants("Export")
    # As many places as functions, on both sides.
    assert @table =~ "rustyjson_export* exports[#{length(functions)}];"
    assert @rust =~ "exports: [Call; #{length(functions)}],"
  end

  test "the numbers of traps" do
    [names] = Regex.run(~r/typedef enum \{([^}]*)\} wasm_rt_trap_t;/, @runtime, capture: :all_but_first)
    [none | names] = Regex.scan(~r/WASM_RT_TRAP_(\w+)/, names, capture: :all_but_first) |> List.flatten()
    assert none == "NONE"

    assert Enum.zip(names, variants("Trap")) == [
             {"OOB", "OutOfBounds"},
             {"INT_OVERFLOW", "IntegerOverflow"},
             {"DIV_BY_ZERO", "DivisionByZero"},
             {"INVALID_CONVERSION", "InvalidConversion"},
             {"UNREACHABLE", "Unreachable"},
             {"CALL_INDIRECT", "IndirectCall"},
             {"EXHAUSTION", "StackExhausted"},
             {"DEADLINE", "Deadline"}
           ]

    for {trap, number} <- Enum.with_index(variants("Trap"), 1), trap != "Unreachable" do
      assert @rust =~ "#{number} => Self::#{trap},"
    end
  end

  test "linear memory and its limits" do
    [fields] = Regex.run(~r/typedef struct \{([^}]*)\} wasm_rt_memory_t;/, @runtime, capture: :all_but_first)
    fields = for [_, type, name] <- Regex.scan(~r/^  (\w+\*?) (\w+);/m, fields), do: {name, @types[type]}
    assert {"fuel", "i64"} in fields
    assert fields == fields("Memory")
  end

  test "the table of a module" do
    [fields] = Regex.run(~r/struct rustyjson_module \{(.*?)\n\};/s, @table, capture: :all_but_first)
    names = Regex.scan(~r/^  .*?(?:\(\*)?(\w+)(?:\[\d+\]|\)\(.*\))?;$/m, fields, capture: :all_but_first)
    names = List.flatten(names)
    assert length(names) > 5
    assert names == for({name, _type} <- fields("Module"), do: name)
  end

  defp variants(name) do
    [body] = Regex.run(~r/pub enum #{name} \{(.*?)\n\}/s, @rust, capture: :all_but_first)
    Regex.scan(~r/^    (\w+),$/m, body, capture: :all_but_first) |> List.flatten()
  end

  defp fields(name) do
    [body] = Regex.run(~r/struct #{name} \{(.*?)\n\}/s, @rust, capture: :all_but_first)
    for [_, name, type] <- Regex.scan(~r/^    (\w+): (.*),$/m, body), do: {name, type}
  end
end
