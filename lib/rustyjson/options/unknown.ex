defmodule RustyJson.Options.Unknown do
  @moduledoc false
  # Options that a function does not have: an error that says what was meant, or nothing, as in Jason. The setting `unknown_options`
  # decides. A call that stands in for another library's passes `unknown_options: :ignore`, which is no public option.

  alias RustyJson.Config
  alias RustyJson.Encode.Excerpt
  alias RustyJson.Options.Words

  @modes [:raise, :ignore]
  # Names with a smaller distance are likely to be misspelt ones.
  @near 0.8
  # Longer texts are no names.
  @longest 64
  # Options that decode/2 does not have, because it reads JSON as it is and to its end.
  @partial [:lenient, :trailing]

  @type mode :: :raise | :ignore

  @doc "Whether a setting is one of the two."
  defguard is_mode(mode) when mode in @modes

  @doc """
  The options of a call that are among these names. Raises for another one, unless unknown options are ignored, which `strict` functions
  never do. `call` names the function in the error.
  """
  @spec refuse!(keyword(), [atom()], String.t(), boolean()) :: keyword()
  def refuse!(given, names, call, strict \\ false) do
    # The configuration is read only for an unknown name: a schema of this project is compiled before there is an engine.
    known? = Enum.all?(given, fn {name, _value} -> name in names end)
    ignored = not strict and not known? and mode(given) == :ignore
    given = if strict, do: given, else: Keyword.delete(given, :unknown_options)

    if ignored,
      do: Enum.filter(given, fn {name, _value} -> name in names end),
      else: for({name, _value} = option <- given, known!(name, names, call), do: option)
  end

  defp known!(name, names, call),
    do: name in names or raise(ArgumentError, text(name, names, call <> " takes"))

  @doc "What is done about the unknown options of a call."
  @spec mode(keyword()) :: mode()
  def mode(given) do
    case List.keyfind(given, :unknown_options, 0) do
      nil -> Config.unknown_options()
      {_name, mode} when is_mode(mode) -> mode
      {_name, other} -> wrong!("option", other)
    end
  end

  @doc "The setting, checked."
  @spec setting!(term()) :: mode()
  def setting!(mode) when is_mode(mode), do: mode
  def setting!(other), do: wrong!("setting", other)

  @spec wrong!(String.t(), term()) :: no_return()
  defp wrong!(what, other),
    do: Excerpt.refuse!("#{what} :unknown_options takes :raise or :ignore", other)

  @doc """
  The message about an unknown option: the likely one first.

      iex> RustyJson.Options.Unknown.text(:timout, [:keys, :timeout], "decode takes")
      "unknown option :timout, did you mean :timeout? decode takes :keys or :timeout"

      iex> RustyJson.Options.Unknown.text(:x, [:keys, :timeout], "decode takes")
      "unknown option :x: decode takes :keys or :timeout"

      iex> RustyJson.Options.Unknown.text(:lenient, [:keys, :timeout], "decode takes")
      "unknown option :lenient, which is for RustyJson.decode_partial/2 and RustyJson.Partial: decode takes :keys or :timeout"
  """
  @spec text(term(), [atom()], String.t(), String.t()) :: String.t()
  def text(name, names, takes, kind \\ "option") do
    "unknown #{kind} #{Excerpt.brief(name)}" <>
      meant(name, names) <> " #{takes} #{Words.list(Enum.map(names, &inspect/1))}"
  end

  @doc "What was probably meant, as the middle of a sentence."
  @spec meant(term(), [atom()]) :: String.t()
  def meant(name, _names) when name in @partial,
    do: ", which is for RustyJson.decode_partial/2 and RustyJson.Partial:"

  def meant(name, names) do
    case near(name, names) do
      nil -> ":"
      name -> ", did you mean #{inspect(name)}?"
    end
  end

  @doc """
  The name among these that is most like this one, or nil. A text can be meant as an atom.

      iex> RustyJson.Options.Unknown.near("atoms", [:strings, :atoms])
      :atoms
  """
  @spec near(term(), [name]) :: name | nil when name: atom() | String.t()
  def near(name, names)
      when names != [] and (is_atom(name) or (is_binary(name) and byte_size(name) <= @longest)) do
    {distance, near} = names |> Enum.map(&{similar("#{&1}", "#{name}"), &1}) |> Enum.max()

    if distance >= @near, do: near
  end

  def near(_name, _names), do: nil

  defp similar(name, given), do: if(String.valid?(given), do: String.jaro_distance(name, given), else: 0.0)
end
