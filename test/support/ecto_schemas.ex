# Compiled only where Ecto is among the dependencies.
if Code.ensure_loaded?(Ecto.Schema) do
  defmodule RustyJson.Test.EctoSchemas do
    @moduledoc "Embedded schemas of Ecto."

    # Other than the built-in types: one that Ecto asks to load text of its own form.
    defmodule Upper do
      @moduledoc false
      use Ecto.Type
      def type, do: :string
      def cast(text) when is_binary(text), do: {:ok, String.upcase(text)}
      def cast(_other), do: :error
      def load(text), do: cast(text)
      def dump(text), do: {:ok, text}
    end

    defmodule Item do
      @moduledoc false
      use Ecto.Schema

      embedded_schema do
        field(:sku, :string, source: :s)
        field(:quantity, :integer, default: 1)
        field(:price, :decimal)
        field(:seen, :boolean, virtual: true)
      end
    end

    defmodule Order do
      @moduledoc false
      use Ecto.Schema

      @primary_key false
      embedded_schema do
        field(:number, :integer)
        field(:name, :string)
        field(:total, :decimal)
        field(:weight, :float)
        field(:paid, :boolean, default: false)
        field(:state, Ecto.Enum, values: [:open, :closed])
        field(:kinds, {:array, Ecto.Enum}, values: [a: 1, b: 2])
        field(:tags, {:array, :string}, default: [])
        field(:counts, {:map, :integer})
        field(:meta, :map)
        field(:day, :date)
        field(:at, :time)
        field(:local, :naive_datetime)
        field(:sent, :utc_datetime)
        field(:sent_usec, :utc_datetime_usec)
        field(:key, Ecto.UUID)
        field(:shout, Upper)
        embeds_one(:first, Item)
        embeds_many(:items, Item)
      end
    end
  end
end
