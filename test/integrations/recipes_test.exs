defmodule RustyJson.RecipesTest do
  @moduledoc "The code of docs/logging.md and docs/recipes.md does what they say."
  use ExUnit.Case, async: false

  alias RustyJson.LogFormatter

  @docs Path.expand("../../docs", __DIR__)
  @time 1_709_208_000_000_000
  @modules [
    ShopWeb.Json,
    ShopWeb.OrderJSON,
    ShopWeb.ErrorJSON,
    Shop.Product,
    Shop.ColumnJson,
    Shop.Audit,
    Shop.Event
  ]
  @compile {:no_warn_undefined, @modules}

  defp blocks(file, language) do
    text = File.read!(Path.join(@docs, file))
    for [_, code] <- Regex.scan(~r/^```#{language}\n(.*?)^```/ms, text), do: code
  end

  setup_all do
    # Phoenix is not among the dependencies.
    quiet = Code.get_compiler_option(:no_warn_undefined)
    Code.put_compiler_option(:no_warn_undefined, [Phoenix.Controller | List.wrap(quiet)])

    for "defmodule" <> _ = code <- blocks("recipes.md", "elixir"),
        Code.ensure_loaded?(Ecto.Schema) or not (code =~ "use Ecto.Schema"),
        do: Code.eval_string(code)

    Code.put_compiler_option(:no_warn_undefined, quiet)

    on_exit(fn ->
      for module <- @modules, do: :code.delete(module) && :code.purge(module)
    end)

    {:ok, json: for(json <- blocks("recipes.md", "json"), do: RustyJson.decode!(json))}
  end

  describe "docs/logging.md" do
    setup do
      {configs, [handler]} = "logging.md" |> blocks("elixir") |> Enum.split_with(&(&1 =~ ~r/^config /))

      [new, console, names, flat, elastic] =
        for code <- configs, do: Config.Reader.eval!("config.exs", "import Config\n" <> code)

      {LogFormatter, %{preset: :elastic}} = formatter(elastic)

      {:ok,
       new: formatter(new), names: formatter(names), flat: formatter(flat), console: console, handler: handler}
    end

    defp formatter(config) do
      {LogFormatter, options} = config[:logger][:default_handler][:formatter]
      LogFormatter.new(options)
    end

    defp line(level, message, meta, {module, config}),
      do:
        %{level: level, msg: message, meta: Map.put(meta, :time, @time)}
        |> module.format(config)
        |> IO.iodata_to_binary()

    test "Erlang's handler takes the formatter", %{handler: code} do
      Code.eval_string(code)
      assert {:ok, %{formatter: {LogFormatter, _}}} = :logger.get_handler_config(:json)
      assert :logger.remove_handler(:json) == :ok
    end

    test "the lines", %{new: new, names: names, flat: flat, console: console} do
      crash = {%RuntimeError{message: "boom"}, [{Shop, :buy, 1, [file: ~c"lib/shop.ex", line: 3]}]}

      lines = [
        line(:info, {:string, "paid"}, %{user: 7}, new),
        line(:warning, {:report, %{event: :login, password: "x", tries: 3}}, %{}, new),
        line(:error, {:string, "GenServer terminating"}, %{crash_reason: crash}, new),
        line(:info, {:string, "paid"}, %{user: 7}, names),
        line(:info, {:string, "paid"}, %{user: 7, mfa: {Shop, :buy, 1}, file: ~c"lib/shop.ex"}, flat)
      ]

      # The order of a map's members depends on the version of OTP; that of a line's members does not.
      blocks = blocks("logging.md", "json")
      assert Enum.map(blocks, &RustyJson.decode!/1) == Enum.map(lines, &RustyJson.decode!/1)
      assert {hd(blocks), List.last(blocks)} == {hd(lines), List.last(lines)}

      assert {LogFormatter, :format} = console[:logger][:console][:format]
      assert {LogFormatter, _} = LogFormatter.new(console[:rustyjson][:log_formatter])
    end
  end

  describe "docs/recipes.md" do
    test "a view", %{json: [view, product | _]} do
      order = %{id: 9_007_199_254_740_993, placed_at: ~D[2024-02-29], coupon: nil, name: "Ada"}
      term = ShopWeb.OrderJSON.show(%{order: order})
      assert term |> ShopWeb.Json.encode_to_iodata!() |> IO.iodata_to_binary() |> RustyJson.decode!() == view
      assert ShopWeb.Json.encode!(term) |> ShopWeb.Json.decode!() == view
      assert ShopWeb.Json.encode!(%{"as_it_is" => nil, list: [nil]}) == ~s({"list":[null]})

      tea =
        struct(Shop.Product,
          name: "Tea",
          unit_price: %{__struct__: Decimal, sign: 1, coef: 350, exp: -2},
          cost: 1
        )

      assert tea |> ShopWeb.Json.encode!() |> RustyJson.decode!() == product
    end

    test "an answer to a broken request", %{json: json} do
      {:error, error} = RustyJson.decode(~s({"items":[1,2))
      # The fields of Plug.Parsers.ParseError.
      assigns = %{reason: %{plug_status: 400, exception: error}}
      shown = "400.json" |> ShopWeb.ErrorJSON.render(assigns) |> RustyJson.encode!() |> RustyJson.decode!()
      assert shown == Enum.at(json, 2)
    end

    test "columns" do
      assert Shop.ColumnJson.encode_to_iodata!(%{a: <<"x", 255>>}) |> Shop.ColumnJson.decode!() == %{
               "a" => "x\uFFFD"
             }
    end

    test "an audit log", %{json: json} do
      line = Shop.Audit.line(7, :update, %{card: 1, password: "p", user: %{"token" => "t", note: nil}})
      assert RustyJson.decode!(line) == List.last(json)
      assert Shop.Audit.line(self(), <<255>>, nil) =~ "#PID<"
    end
  end

  # With Phoenix's and Ecto's own code: test/integrations/phoenix_test.exs and ecto_embedded_test.exs.
  test "every block of code is either run above, or of another library" do
    others =
      for code <- blocks("recipes.md", "elixir"),
          not String.starts_with?(code, "defmodule"),
          do: code |> String.split([" ", "."]) |> hd()

    assert others == ["config", "config", "Postgrex", "event", "rows"]
  end
end
