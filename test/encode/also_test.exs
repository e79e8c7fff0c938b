defmodule RustyJson.AlsoTest do
  @moduledoc "The option `:also` of a derivation: the protocols of other libraries."
  use ExUnit.Case, async: true

  @moduletag :once

  @compile {:no_warn_undefined, [Jason, JSON]}

  alias RustyJson.Encoder.Also

  defmodule Plain do
    @derive {RustyJson.Encoder, only: [:b, :a], also: [Jason.Encoder, JSON.Encoder]}
    defstruct [:a, :b, :secret]
  end

  defmodule Named do
    @derive {RustyJson.Encoder,
             only: [:first_name, :email], key_case: :camel, omit: [nil], also: [Jason.Encoder, JSON.Encoder]}
    defstruct [:first_name, :email]
  end

  @structs [
    {%{__struct__: Plain, a: 1, b: [%{__struct__: Named, first_name: "A", email: nil}], secret: 2},
     ~S({"b":[{"firstName":"A"}],"a":1})},
    {%{__struct__: Named, first_name: "é<", email: "x"}, ~S({"firstName":"é<","email":"x"})},
    {%{__struct__: Named, first_name: nil, email: nil}, "{}"}
  ]

  @libraries for {library, protocol} <- [{Jason, Jason.Encoder}, {JSON, JSON.Encoder}],
                 Code.ensure_loaded?(protocol),
                 do: library

  for library <- [RustyJson | @libraries] do
    test "#{inspect(library)} encodes the same members" do
      for {struct, text} <- @structs do
        assert unquote(library).encode!(struct) == text
        assert unquote(library).encode!([struct]) == "[#{text}]"
      end
    end
  end

  # With nothing but an absent Jason, each struct of Elixir's protocol cost half a millisecond.
  if @libraries == [] do
    test "a library that is not there is looked for once" do
      look = fn -> RustyJson.Encoder.Interop.encode(%URI.Error{}, RustyJson.Options.encode([])) end
      assert look.() == :error
      server = Process.whereis(:code_server)
      :erlang.trace(server, true, [:receive])
      assert look.() == :error
      # Answered behind what came before.
      Code.ensure_loaded?(RustyJson.NoSuchModule)
      :erlang.trace(server, false, [:receive])
      assert [_only_this] = asked(self())
    end

    defp asked(pid) do
      receive do
        {:trace, _server, :receive, message} ->
          if is_tuple(message) and pid in Tuple.to_list(message), do: [message | asked(pid)], else: asked(pid)
      after
        100 -> []
      end
    end
  end

  if JSON in @libraries do
    test "Elixir's JSON encodes fragments and ordered objects" do
      value = %{x: RustyJson.Fragment.new("[1]"), y: RustyJson.OrderedObject.new(b: 1, a: %{z: 2})}

      assert value |> JSON.encode!() |> JSON.decode!() == %{
               "x" => [1],
               "y" => %{"a" => %{"z" => 2}, "b" => 1}
             }

      assert JSON.encode!(value.y) == ~S({"b":1,"a":{"z":2}})
    end

    test "an ordered object names nil as the other atoms" do
      object = RustyJson.OrderedObject.new([{nil, 1}, {:a, 2}, {"b", 3}])
      assert JSON.encode!(object) == RustyJson.encode!(object)
    end
  end

  test "a protocol that does not exist is left out, and another one is an error" do
    assert Also.protocols(nil) == []

    assert Also.protocols([Jason.Encoder, JSON.Encoder]) ==
             for(library <- @libraries, do: Module.concat(library, Encoder))

    assert_raise ArgumentError, ~r/`:also` takes Jason.Encoder and JSON.Encoder, got: Enumerable/, fn ->
      Code.eval_string("""
      defmodule RustyJson.AlsoTest.Wrong do
        @derive {RustyJson.Encoder, also: Enumerable}
        defstruct [:a]
      end
      """)
    end
  end
end
