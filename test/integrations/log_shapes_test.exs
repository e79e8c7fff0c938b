defmodule RustyJson.LogShapesTest do
  @moduledoc "Messages and metadata of every kind that users of JSON formatters log, and events that are broken."

  use ExUnit.Case, async: true

  alias RustyJson.LogFormatter
  alias RustyJson.Test.{Gen, Judge}

  defmodule Id do
    defstruct [:id]
  end

  defmodule Password do
    @derive RustyJson.Encoder
    defstruct password: "s3cr3t"
  end

  defmodule OddException do
    defexception [:a]
    def message(_exception), do: raise("no")
  end

  # The decoded line in every engine, which is the same.
  defp line(message, meta \\ %{}, options \\ []) do
    event = %{level: :notice, msg: message, meta: Map.put_new(meta, :time, 0)}

    lines =
      for {_, engine} <- Judge.engines() do
        {LogFormatter, config} = LogFormatter.new([engine: engine[:engine]] ++ options)
        IO.iodata_to_binary(LogFormatter.format(event, config))
      end

    assert [line] = Enum.uniq(lines)
    assert [json, ""] = String.split(line, "\n")
    RustyJson.decode!(json)
  end

  defp metadata(value, options \\ []), do: line({:string, "x"}, %{value: value}, options)["metadata"]["value"]

  test "every level" do
    for level <- [:emergency, :alert, :critical, :error, :warning, :notice, :info, :debug] do
      json = LogFormatter.format(%{level: level, msg: {:string, "x"}, meta: %{}}, %{})
      assert %{"level" => name, "message" => "x"} = json |> IO.iodata_to_binary() |> RustyJson.decode!()
      assert name == Atom.to_string(level)
    end
  end

  test "a file that is no file name" do
    for file <- [[name: "a.png"], [-1], [0xD800], [1 | 2]] do
      assert %{"message" => "x", "metadata" => %{"file" => _}} = line({:string, "x"}, %{file: file})
    end

    assert %{"metadata" => %{"file" => "lib/ä.ex"}} = line({:string, "x"}, %{file: ~c"lib/ä.ex"})
  end

  test "values" do
    for {value, written} <- [
          {nil, nil},
          {true, true},
          {"hello", "hello"},
          {<<"hello", 0>>, <<"hello", 0>>},
          {:hello, "hello"},
          {123, 123},
          {3.14, 3.14},
          {~U[2024-01-01 00:00:00Z], "2024-01-01T00:00:00Z"},
          {~N[2024-01-01 00:00:00], "2024-01-01T00:00:00"},
          {~D[2024-01-01], "2024-01-01"},
          {~T[00:00:00], "00:00:00"},
          {URI.parse("https://example.com"), "https://example.com"},
          {{1, {2, 3}}, [1, [2, 3]]},
          {[a: 1, b: 2], [["a", 1], ["b", 2]]},
          {%{1 => 2}, %{"1" => 2}},
          {%{{"a", "b"} => 1}, %{~S({"a", "b"}) => 1}},
          {%{[{:a, :b}] => 3}, %{"[a: :b]" => 3}},
          {&String.length/1, "&String.length/1"},
          {self(), inspect(self())},
          {hd(Port.list()), inspect(hd(Port.list()))},
          {[1, [2, 3], 4 | 5], "[1, [2, 3], 4 | 5]"},
          {[{:foo, 1}, 2 | 3], "[{:foo, 1}, 2 | 3]"},
          {[{:a, 1}, {:b, 2, :c}], [["a", 1], ["b", 2, "c"]]},
          {%Id{id: "hello"}, inspect(%Id{id: "hello"})},
          {%Password{}, %{"password" => "s3cr3t"}}
        ],
        do: assert(metadata(value) == written, inspect(value))
  end

  test "redaction in each of them" do
    hidden = "[REDACTED]"

    for {value, written} <- [
          {%Password{}, %{"password" => hidden}},
          {%{password: "s3cr3t", more: %{"password" => ["s3cr3t"]}},
           %{"password" => hidden, "more" => %{"password" => hidden}}},
          {{1, %{password: "s3cr3t"}}, [1, %{"password" => hidden}]},
          {[nil | %{password: "s3cr3t"}], [nil, "|", %{"password" => hidden}]},
          {%{%{password: "s3cr3t"} => 1}, %{"map" => 1}},
          {%Id{id: %{password: "s3cr3t"}}, inspect(Id)}
        ],
        do: assert(metadata(value, redact: ["password"]) == written, inspect(value))
  end

  test "reports and what their callbacks return" do
    report = {:report, %{content: "c", id: 2}}
    as_map = %{"content" => "c", "id" => 2}

    for {callback, written} <- [
          {nil, as_map},
          {:no_function, as_map},
          {&:logger.format_otp_report/1, as_map},
          {fn report -> {:string, "altered #{report.content}"} end, "altered c"},
          {fn report -> {~c"~ts and ~p", [report.content, 1]} end, "c and 1"},
          {fn report, %{single_line: true} -> "processed " <> report.content end, "processed c"},
          {fn _ -> raise "no" end, as_map},
          {fn _ -> throw(:no) end, as_map},
          {fn _, _ -> exit(:no) end, as_map},
          {fn _, _, _ -> "three arguments" end, as_map}
        ] do
      line = line(report, %{report_cb: callback, user: 7})
      assert {line["message"], line["metadata"]} == {written, %{"user" => 7}}
    end

    assert line({:report, foo: :bar, fiz: [1, "buz"]})["message"] == %{"foo" => "bar", "fiz" => [1, "buz"]}
    assert line({:report, [a: {0, false}]})["message"] == %{"a" => [0, false]}
    assert line({:report, %Id{id: 1}})["message"] == inspect(%Id{id: 1})
  end

  test "crashes that are odd" do
    error = fn reason -> line({:string, "kept"}, %{crash_reason: reason, user: 7}) end

    for {reason, kind} <- [
          {{%OddException{}, []}, inspect(OddException)},
          {{%{__struct__: OddException, __exception__: true}, []}, inspect(OddException)},
          {{:odd, [:no_entry, {1, 2}, {M, :f, [:secret | :improper], []}]}, "exit"},
          {{:odd, [{M, :f, 1, []} | :improper]}, "exit"},
          {{{:nocatch, self()}, []}, "throw"},
          {make_ref(), "exit"}
        ] do
      assert %{"message" => "kept", "metadata" => %{"user" => 7}, "error" => %{"kind" => ^kind}} =
               error.(reason)
    end

    assert %{"stacktrace" => ["an entry that cannot be read", _, "an entry that cannot be read"]} =
             error.({:odd, [:no_entry, {M, :f, 1, []}, {M, :f, [:secret | :improper], []}]})["error"]

    assert %{"stacktrace" => ["M.f/1"]} = error.({:odd, [{M, :f, 1, []} | :improper]})["error"]
  end

  test "functions and processes as Exception.format_mfa/3 and inspect/2 write them" do
    for module <- [
          Shop.Orders,
          Shop,
          :lists,
          :"Elixir.shop",
          :"Elixir.Shop.orders",
          :"Elixir.A..B",
          :"Elixir.Ä",
          :"Elixir"
        ],
        function <- [:pay, :pay?, :_pay, :Pay, :"pay now", :+, :"-pay/2-fun-0-", :pay_2B, :größe],
        arity <- [0, 12],
        do:
          assert(
            line({:string, "x"}, %{mfa: {module, function, arity}})["metadata"]["mfa"] ==
              Exception.format_mfa(module, function, arity)
          )

    assert line({:string, "x"}, %{mfa: {1, 2}, pid: :none})["metadata"] == %{"mfa" => [1, 2], "pid" => "none"}
    assert line({:string, "x"}, %{pid: self()})["metadata"] == %{"pid" => inspect(self())}
  end

  test "a configuration that changes counts at once" do
    event = %{level: :info, msg: {:string, "x"}, meta: %{time: 0, a: 1}}

    for n <- 1..30 do
      config = [redact: ["a"], redacted: "hidden #{n}", names: [message: "m#{n}"]]

      assert IO.iodata_to_binary(LogFormatter.format(event, config)) =~
               ~s("m#{n}":"x","metadata":{"a":"hidden #{n}"})
    end
  end

  test "random messages and metadata" do
    Gen.check(100, fn -> {:rand.bytes(Enum.random(0..40)), Gen.term(3)} end, fn {bytes, term} ->
      assert is_binary(line({:string, bytes})["message"])

      assert line({:report, %{term: term}}, %{more: term})["metadata"]["more"] ==
               RustyJson.decode!(RustyJson.encode!(term))
    end)
  end
end
