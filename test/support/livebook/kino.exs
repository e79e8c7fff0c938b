# Stand-ins for the parts of Kino that the notebooks use. They display nothing, but check that Kino could.

defmodule Kino.Input do
  @moduledoc "Inputs return their defaults; see `others/1`."

  defstruct [:label, :default, :options]

  def textarea(label, opts) when is_binary(label), do: input(label, opts, &is_binary/1)
  def text(label, opts) when is_binary(label), do: input(label, opts, &is_binary/1)
  def number(label, opts) when is_binary(label), do: input(label, opts, &is_number/1)

  def select(label, options, opts \\ []) when is_binary(label) and options != [] do
    for {_value, text} <- options, do: true = is_binary(text)
    default = Keyword.get(opts, :default, options |> hd() |> elem(0))
    true = List.keymember?(options, default, 0)
    %__MODULE__{label: label, default: default, options: Enum.map(options, &elem(&1, 0))}
  end

  defp input(label, opts, valid?) do
    [:default] = Keyword.keys(opts)
    true = valid?.(opts[:default])
    %__MODULE__{label: label, default: opts[:default]}
  end

  def read(%__MODULE__{options: nil, default: default}), do: default

  def read(%__MODULE__{options: options, default: default, label: label}) do
    others = options -- [default]
    Process.put({__MODULE__, label}, length(others))
    if chosen = Process.get(__MODULE__), do: Enum.at(others, chosen, default), else: default
  end

  @doc "Runs the function once for each further option of the selects that were read."
  def others(fun) do
    counts = for {{__MODULE__, _label}, count} <- Process.get(), do: count

    for chosen <- 0..(Enum.max(counts, fn -> 0 end) - 1)//1 do
      Process.put(__MODULE__, chosen)
      fun.()
    end

    for {key, _} <- Process.get(), match?({__MODULE__, _}, key) or key == __MODULE__, do: Process.delete(key)
  end
end

defmodule Kino.DataTable do
  @moduledoc "A table has rows, and every row has all keys."

  defstruct [:rows]

  def new([_ | _] = rows, opts) do
    [] = Keyword.keys(opts) -- [:keys, :name]
    for row <- rows, key <- opts[:keys], do: true = Map.has_key?(row, key)
    %__MODULE__{rows: rows}
  end
end

defmodule Kino.Layout do
  @moduledoc false

  defstruct [:items]

  def grid([_ | _] = items, opts) do
    [] = Keyword.keys(opts) -- [:columns, :boxed, :gap]
    for %VegaLite{} = chart <- items, do: VegaLite.check!(chart)
    %__MODULE__{items: items}
  end
end

defmodule Kino.Text do
  @moduledoc false

  defstruct [:text]

  def new(text) when is_binary(text) do
    true = String.valid?(text)
    %__MODULE__{text: text}
  end
end
