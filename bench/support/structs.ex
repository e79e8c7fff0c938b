defmodule RustyJson.Bench.Structs do
  @moduledoc "Structs that derive an encoder, and one that has its own."

  # The same struct for each available library.
  encoders =
    for module <- [RustyJson.Encoder, Jason.Encoder, JSON.Encoder], Code.ensure_loaded?(module), do: module

  defmodule Five do
    @moduledoc false
    @derive encoders
    defstruct [:id, :name, :email, :active, :score]
  end

  defmodule Ten do
    @moduledoc false
    @derive encoders
    defstruct [:id, :name, :email, :active, :score, :city, :street, :visits, :note, :level]
  end

  defmodule Company do
    @moduledoc false
    @derive encoders
    defstruct [:name, :departments]
  end

  defmodule Department do
    @moduledoc false
    @derive encoders
    defstruct [:name, :people]
  end

  defmodule Money do
    @moduledoc false
    defstruct [:amount, :currency, :internal]
  end

  defimpl RustyJson.Encoder, for: Money do
    def encode(money, opts),
      do: RustyJson.Encode.map(%{amount: money.amount, currency: to_string(money.currency)}, opts)
  end

  if Jason.Encoder in encoders do
    defimpl Jason.Encoder, for: Money do
      def encode(money, opts),
        do: Jason.Encode.map(%{amount: money.amount, currency: to_string(money.currency)}, opts)
    end
  end

  if JSON.Encoder in encoders do
    defimpl JSON.Encoder, for: Money do
      def encode(money, encoder),
        do: JSON.Encoder.encode(%{amount: money.amount, currency: to_string(money.currency)}, encoder)
    end
  end

  # Each with the encoder of one library alone.
  for library <- [Jason, JSON], encoder = Module.concat(library, Encoder), encoder in encoders do
    defmodule Module.concat([__MODULE__, Only, library]) do
      @moduledoc false
      @derive encoder
      defstruct [:id, :name, :email, :active, :score]
    end
  end

  @doc "Structs that have only this library's encoder: one, and a list."
  @spec only(module()) :: [{String.t(), term()}]
  def only(library) do
    module = Module.concat([__MODULE__, Only, library])
    structs = for n <- 1..1_000, do: struct(module, Map.from_struct(five(n)))
    [{"one struct", hd(structs)}, {"1,000 structs", structs}]
  end

  @doc "The term of a row."
  @spec build(atom()) :: term()
  def build(:five), do: five(1)
  def build(:ten), do: ten(1)
  def build(:custom), do: %Money{amount: 1999, currency: :EUR, internal: nil}
  def build(:list), do: for(n <- 1..1_000, do: five(n))
  def build(:customs), do: for(n <- 1..1_000, do: %Money{amount: n, currency: :EUR, internal: nil})

  def build(:nested) do
    people = for n <- 1..5, do: five(n)
    %Company{name: "ACME", departments: for(n <- 1..3, do: %Department{name: "D#{n}", people: people})}
  end

  # Every tenth entry contains a struct.
  def build(:mixed),
    do: for(n <- 1..1_000, do: entry(n, if(rem(n, 10) == 0, do: five(n), else: plain(five(n)))))

  def build(:plain), do: for(n <- 1..1_000, do: entry(n, plain(five(n))))

  defp entry(n, person), do: %{id: n, kind: "entry", tags: ["a", "b"], person: person, total: n * 1.25}
  defp plain(struct), do: Map.from_struct(struct)

  defp five(n),
    do: %Five{
      id: n,
      name: "Person #{n}",
      email: "person.#{n}@example.com",
      active: rem(n, 2) == 0,
      score: n * 1.5
    }

  defp ten(n) do
    struct!(
      Ten,
      Map.merge(Map.from_struct(five(n)), %{
        city: "Zürich",
        street: "Weg #{n}",
        visits: n,
        note: nil,
        level: :gold
      })
    )
  end
end
