defmodule RustyJson.Test.Schemas do
  @moduledoc "Structs with schemas."

  defmodule Line do
    @moduledoc false
    use RustyJson.Schema

    schema do
      field(:sku, :string)
      field(:quantity, :integer)
      field(:price, :decimal, default: nil)
    end
  end

  defmodule Order do
    @moduledoc false
    use RustyJson.Schema, rename: :camel

    schema do
      field(:id, :integer)
      field(:kind, :string, key: "@type")
      field(:total, :decimal)
      field(:state, {:enum, [:open, :paid]})
      field(:order_lines, [RustyJson.Test.Schemas.Line])
      field(:note, :string, default: nil)
      field(:placed_on, :date, default: nil)
    end
  end

  defmodule Node do
    @moduledoc false
    use RustyJson.Schema, unknown_keys: :error

    schema do
      field(:value, :number, default: 0)
      field(:left, RustyJson.Test.Schemas.Node, default: nil)
      field(:right, RustyJson.Test.Schemas.Node, default: nil)
    end
  end

  defmodule All do
    @moduledoc false
    use RustyJson.Schema

    schema do
      field(:string, :string)
      field(:integer, :integer)
      field(:float, :float)
      field(:number, :number)
      field(:boolean, :boolean)
      field(:any, :any)
      field(:decimal, :decimal)
      field(:date, :date)
      field(:time, :time)
      field(:naive, :naive_datetime)
      field(:utc, :utc_datetime)
      field(:list, {:list, {:nullable, :integer}})
      field(:map, {:map, :string})
      field(:enum, {:enum, [:a, :b, :"c d"]})
      field(:maybe, {:nullable, :boolean})
    end
  end

  defmodule Seventy do
    @moduledoc false
    use RustyJson.Schema

    schema do
      for number <- 0..69, do: field(:"f#{number}", :integer)
    end
  end

  defmodule Circle do
    @moduledoc false
    use RustyJson.Schema

    schema do
      field(:r, :float)
    end
  end

  defmodule Leaf do
    @moduledoc false
    use RustyJson.Schema

    schema do
      field(
        :next,
        {:nullable,
         {:tagged, "t", %{"leaf" => RustyJson.Test.Schemas.Leaf, "twig" => RustyJson.Test.Schemas.Twig}}},
        default: nil
      )

      field(:state, {:enum, [:green, :brown]}, default: nil)
    end
  end

  defmodule Twig do
    @moduledoc false
    use RustyJson.Schema

    schema do
      field(
        :next,
        {:tagged, "t", %{"leaf" => RustyJson.Test.Schemas.Leaf, "twig" => RustyJson.Test.Schemas.Twig}},
        default: nil
      )

      field(:others, [{:tagged, "kind", %{"twig" => RustyJson.Test.Schemas.Twig}}], default: [])
      field(:state, {:enum, [:green, :brown]}, default: nil)
    end
  end

  defmodule Square do
    @moduledoc false
    use RustyJson.Schema, unknown_keys: :error

    schema do
      field(:a, :float)
    end
  end
end
