defmodule RustyJson.CompiledPlansTest do
  @moduledoc "What the compiled code of an encoder proves about its text."

  use ExUnit.Case, async: false

  @moduletag :once

  import RustyJson.Test.InFiles, only: [compile: 2]

  alias RustyJson.Encoder.Compiled

  setup_all do
    %{folder: RustyJson.Test.InFiles.folder()}
  end

  # The body of `encode/2`, compiled and loaded as an implementation is.
  defp plan(clauses, folder) do
    name = Module.concat(__MODULE__, "Body#{System.unique_integer([:positive])}")
    [^name] = compile("defmodule #{inspect(name)} do\n#{clauses}\nend", folder)
    proved(name)
  end

  defp proved(implementation), do: implementation |> Compiled.plan(:json) |> elem(1)

  describe "the code of an implementation" do
    test "is proved if it returns its fields in constant text", %{folder: folder} do
      for {body, fields, names} <- [
            {~S|def encode(%{a: a}, e), do: ["{\"a\":", e.(a, e), ?}]|, {:a}, {:a}},
            {~S|def encode(%{a: a, b: b}, e), do: ["{\"b\":", e.(b, e), ",\"a\":", e.(a, e), "}"]|, {:b, :a},
             {:b, :a}},
            {~S|def encode(%{a: a}, e), do: [[?{, "\"other"], "\":", [[e.(a, e)], "}"]]|, {:a}, {:other}},
            {~S|def encode(%{}, _e), do: "{}"|, {}, {}},
            {~S'def encode(%{b: b} = _all, e), do: ["{\"b\":", e.(b, e) | "}"]', {:b}, {:b}}
          ] do
        assert {body, plan(body, folder)} ==
                 {body, if(names == fields, do: fields, else: {fields, names, nil})}
      end
    end

    test "of many fields, too", %{folder: folder} do
      fields = for n <- 1..60, do: :"field_#{n}"
      pattern = Enum.map_join(fields, ", ", &"#{&1}: #{&1}")

      pieces =
        Enum.map_join(Enum.with_index(fields), ", ", fn {field, n} ->
          ~s|"#{if n == 0, do: "{", else: ","}\\"#{field}\\":", e.(#{field}, e)|
        end)

      tuple = List.to_tuple(fields)
      assert plan("def encode(%{#{pattern}}, e), do: [#{pieces}, ?}]", folder) == tuple
    end

    test "proves nothing if it may do anything else", %{folder: folder} do
      for body <- [
            # Looks at a value.
            ~S|def encode(%{a: nil}, _e), do: "{}"
               def encode(%{a: a}, e), do: ["{\"a\":", e.(a, e), "}"]|,
            ~S|def encode(%{a: a}, e) when a != 1, do: ["{\"a\":", e.(a, e), "}"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"a\":", e.(a && 1, e), "}"]|,
            # Makes one.
            ~S|def encode(%{a: a}, e), do: ["{\"a\":", e.([a], e), "}"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"a\":", e.(to_string(a), e), "}"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"a\":", a, "}"] ++ [e]|,
            ~S|def encode(struct, e), do: e.(Map.from_struct(struct), e)|,
            ~S|def encode(%{a: a}, e), do: e.(a, e)|,
            # Calls another encoder, or with another one.
            ~S|def encode(%{a: a}, e), do: ["{\"a\":", inner(a, e), "}"]
               defp inner(a, e), do: e.(a, fn _, _ -> "1" end)|,
            ~S|def encode(%{a: a}, e), do: ["{\"a\":", e.(a, a), "}"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"a\":", a.(a, e), "}"]|,
            # Takes its text apart, or sends it somewhere.
            ~S|def encode(%{a: a}, e), do: IO.iodata_to_binary(["{\"a\":", e.(a, e), "}"])|,
            ~S|def encode(%{a: a}, e), do: (send(self(), a); ["{\"a\":", e.(a, e), "}"])|,
            ~S|def encode(%{a: a}, e), do: (e.(a, e); "{}")|,
            # Is not an object as the core writes it.
            ~S|def encode(%{a: a}, e), do: ["{ \"a\":", e.(a, e), "}"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"a\": ", e.(a, e), "}"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"a\":", e.(a, e), "}\n"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"a\":", e.(a, e), ",\"type\":1}"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"type\":1,\"a\":", e.(a, e), "}"]|,
            ~S|def encode(%{a: a}, e), do: ["[", e.(a, e), "]"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"a\":", e.(a, e), e.(a, e), "}"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"a\":", e.(a, e)]|,
            ~S|def encode(_struct, _e), do: "1"|,
            ~S|def encode(_struct, _e), do: :text|,
            # Has a name that an escape mode changes, or twice the same.
            ~S|def encode(%{a: a}, e), do: ["{\"a/b\":", e.(a, e), "}"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"ä\":", e.(a, e), "}"]|,
            ~S|def encode(%{a: a}, e), do: ["{\"a\\n\":", e.(a, e), "}"]|,
            ~S|def encode(%{a: a, b: b}, e), do: ["{\"a\":", e.(a, e), ",\"a\":", e.(b, e), "}"]|
          ] do
        assert {body, plan(body, folder)} == {body, nil}
      end
    end

    test "that is not in the file proves nothing", %{folder: folder} do
      source = fn name, key ->
        ~s|defmodule #{inspect(name)} do def encode(%{a: a}, e), do: ["{\\"#{key}\\":", e.(a, e), "}"] end|
      end

      memory = Module.concat(__MODULE__, Memory)
      Code.compile_string(source.(memory, "a"))
      assert proved(memory) == nil

      # The file is newer than what is loaded.
      newer = Module.concat(__MODULE__, Newer)
      compile(source.(newer, "new"), folder)
      Code.compiler_options(ignore_module_conflict: true)
      Code.compile_string(source.(newer, "loaded"))
      Code.compiler_options(ignore_module_conflict: false)
      assert proved(newer) == nil
    end

    test "is read anew when the module was loaded anew", %{folder: folder} do
      name = Module.concat(__MODULE__, Anew)

      for key <- ["one", "two"] do
        compile(
          ~s|defmodule #{inspect(name)} do def encode(%{a: a}, e), do: ["{\\"#{key}\\":", e.(a, e), "}"] end|,
          folder
        )

        assert proved(name) == {{:a}, {String.to_atom(key)}, nil}
      end
    end
  end
end
