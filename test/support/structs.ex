defmodule RustyJson.Test.Structs do
  @moduledoc "Structs that tests encode: with each form of derived encoder, with hand-written ones, and one without an encoder."

  defmodule All do
    @moduledoc false
    @derive RustyJson.Encoder
    defstruct [:a, :b]
  end

  defmodule Only do
    @moduledoc false
    @derive {RustyJson.Encoder, only: [:name, :email]}
    defstruct [:name, :email, :password_hash]
  end

  defmodule Except do
    @moduledoc false
    @derive {RustyJson.Encoder, except: [:secret]}
    defstruct [:name, :secret]
  end

  if Code.ensure_loaded?(JSON.Encoder) do
    defmodule Foreign do
      @moduledoc false
      @derive JSON.Encoder
      defstruct [:headers]
    end
  end

  defmodule Underscore do
    @moduledoc false
    @derive RustyJson.Encoder
    defstruct [:_, :a]
  end

  defmodule Money do
    @moduledoc false
    defstruct [:amount, :currency]

    defimpl RustyJson.Encoder do
      def encode(money, opts) do
        RustyJson.Encode.map(%{"amount" => money.amount, "currency" => money.currency}, opts)
      end
    end
  end

  defmodule AsMap do
    @moduledoc "Its implementation returns a map, which is encoded in turn."
    defstruct [:value]

    defimpl RustyJson.Encoder do
      def encode(%{value: value}, _opts), do: %{"value" => value}
    end
  end

  defmodule AsText do
    @moduledoc "Its implementation passes the options on to a nested encoder."
    defstruct [:text]

    defimpl RustyJson.Encoder do
      def encode(%{text: text}, opts), do: RustyJson.Encode.string(text, opts)
    end
  end

  defmodule Bare do
    @moduledoc "It has no encoder."
    defstruct [:name, :password_hash]
  end
end
