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

  defmodule Checked do
    @moduledoc false
    use RustyJson.Schema, description: "A struct with every constraint"

    schema do
      field(:name, :string, min_length: 2, max_length: 5, description: "What it is called")
      field(:code, :string, pattern: ~S(^[A-Z]-\d+$), default: nil)
      field(:age, :integer, min: 0, max: 150, default: nil)
      field(:weight, :float, min: 0.5, default: 1.0)
      field(:rate, :number, max: 10, default: 1)
      field(:price, :decimal, min: 0, max: 100, default: nil)
      field(:tags, [:string], min_length: 1, max_length: 3, default: [])
      field(:none, [:integer], max_length: 0, default: [])
      field(:counts, {:map, :integer}, min_length: 1, max_length: 2, default: %{})
      field(:day, :string, format: :date, default: nil)
      field(:clock, :string, format: :time, default: nil)
      field(:at, :string, format: :utc_datetime, default: nil)
    end
  end

  # What a type says twice, and a default that is not of its type.
  defmodule Twice do
    @moduledoc false
    use RustyJson.Schema

    schema do
      field(:text, {:nullable, {:nullable, :string}})
      field(:enum, {:nullable, {:nullable, {:enum, [:a, :a, :b]}}}, default: nil)
      field(:size, {:nullable, {:nullable, :integer}}, min: 1)
      field(:number, :integer, default: "none")
    end
  end

  defmodule Exact do
    @moduledoc false
    use RustyJson.Schema

    schema do
      field(:number, :number, min: 9_007_199_254_740_993, default: nil)
      field(:float, :float, min: 9_007_199_254_740_993, default: nil)
      field(:whole, :integer, max: 18_446_744_073_709_551_615, default: nil)
    end
  end

  defmodule Row do
    @moduledoc false
    use RustyJson.Schema

    schema do
      field(:cells, [:integer], min_length: 1, max_length: 2)
    end
  end

  defmodule Inside do
    @moduledoc false
    use RustyJson.Schema, unknown_keys: :error

    schema do
      field(:rows, [RustyJson.Test.Schemas.Row], max_length: 3)
    end
  end

  defmodule Text do
    @moduledoc false
    use RustyJson.Schema

    schema do
      # Where matching goes back, this takes the cube of a string's length.
      field(:text, :string, pattern: "(ab)*(ab)*(a|b)*c", max_length: 1_000_000_000)
    end
  end

  defmodule Nest do
    @moduledoc false
    use RustyJson.Schema

    schema do
      field(:next, [RustyJson.Test.Schemas.Nest], min_length: 1, max_length: 1, default: [])
      field(:counts, {:map, :integer}, max_length: 2, default: %{})
    end
  end

  defmodule Item do
    @moduledoc false
    use RustyJson.Schema

    schema do
      field(:id, :integer, min: 1, max: 9)
      field(:name, :string, min_length: 1, max_length: 9, pattern: "^[w-z]+$")
      field(:tags, [:integer], max_length: 2)
    end
  end
end
