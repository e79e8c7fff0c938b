defmodule RustyJson.CLI.Arguments do
  @moduledoc false
  # The command line of `mix rustyjson`, and of the script `rustyjson`.

  alias RustyJson.CLI.{Settings, Switches}
  alias RustyJson.{Config, Options}

  @enforce_keys [:files]
  defstruct [
    :files,
    :at,
    :fetch,
    :indent,
    raw: false,
    layout: :pretty,
    sort: false,
    lines: false,
    array: false,
    stats: false,
    quiet: false,
    options: [],
    # The same for calls, with those of the application's configuration that they do not take.
    decode: [],
    encode: [],
    # What takes the wanted values out of each document, prepared once: a stream, or the path of the one value.
    reader: nil
  ]

  @type t :: %__MODULE__{
          files: [Path.t(), ...],
          layout: :pretty | :minify | :validate | :canonical,
          fetch: nil | String.t(),
          indent: nil | 0..1000 | String.t(),
          raw: boolean(),
          sort: boolean(),
          lines: boolean(),
          array: boolean(),
          at: nil | String.t(),
          stats: boolean(),
          quiet: boolean(),
          options: keyword(),
          decode: keyword(),
          encode: keyword(),
          reader: nil | RustyJson.Feed.t() | RustyJson.Paths.t()
        }

  @layouts [:pretty, :minify, :validate, :canonical]
  @switches [
    pretty: :boolean,
    minify: :boolean,
    compact: :boolean,
    indent: :string,
    validate: :boolean,
    canonical: :boolean,
    fetch: :string,
    raw: :boolean,
    sort: :boolean,
    lines: :boolean,
    array: :boolean,
    at: :string,
    stats: :boolean,
    quiet: :boolean,
    help: :boolean,
    version: :boolean,
    engine: :string,
    host: :string,
    timeout: :integer,
    max_memory: :integer,
    max_depth: :integer
  ]
  # -c and -r are those of jq.
  @aliases [h: :help, c: :compact, r: :raw]
  @names %{engine: [:auto, :native, :wasm], host: [:auto, :built_in, :wasmex]}
  @sandbox [:host, :timeout, :max_memory]

  @doc "Parses the command line, or returns an error message."
  @spec parse([String.t()]) :: {:ok, t()} | :help | :version | {:error, String.t()}
  def parse(argv) do
    case OptionParser.parse(argv, strict: @switches, aliases: @aliases) do
      {_, _, [wrong | _]} -> {:error, Switches.wrong(wrong, @switches)}
      {switches, files, []} -> asked(switches, files)
    end
  end

  defp asked(switches, files) do
    cond do
      switches[:help] -> :help
      switches[:version] -> :version
      true -> build(switches, files)
    end
  end

  defp build(_switches, []), do: {:error, "no FILE given; - reads standard input"}

  defp build(switches, files) do
    switches =
      Enum.map(switches, fn {name, value} -> {if(name == :compact, do: :minify, else: name), value} end)

    with {:ok, layout} <- layout(for {name, true} <- switches, name in @layouts, do: name),
         {:ok, indent} <- indent(switches[:indent], layout, switches),
         :ok <- one_shape(for {name, value} <- switches, name in [:lines, :array], value, do: name),
         :ok <- one_shape(for {name, value} <- switches, name in [:fetch, :array, :at], value, do: name),
         :ok <- one_line(switches),
         :ok <- without_stats(switches),
         :ok <- fetched(switches, layout),
         {:ok, options} <- options(switches) do
      flags = Keyword.take(switches, [:sort, :lines, :array, :at, :fetch, :raw, :stats, :quiet])
      {:ok, struct!(__MODULE__, [files: files, layout: layout, indent: indent, options: options] ++ flags)}
    end
  end

  defp indent(nil, _layout, _switches), do: {:ok, nil}

  defp indent(text, :pretty, switches) do
    shape = Enum.find([:lines, :array, :at], &switches[&1])

    case Integer.parse(text) do
      _ when shape != nil -> {:error, "--indent and --#{shape} cannot be combined"}
      {spaces, ""} when spaces in 0..1000 -> {:ok, spaces}
      :error when text == "tab" -> {:ok, "\t"}
      _other -> {:error, "--indent takes a number of spaces from 0 to 1000, or tab, not #{text}"}
    end
  end

  defp indent(_text, layout, _switches), do: {:error, "--indent and --#{layout} cannot be combined"}

  defp layout(asked) do
    case Enum.uniq(asked) do
      [] -> {:ok, :pretty}
      [layout] -> {:ok, layout}
      several -> {:error, Enum.map_join(several, " and ", &"--#{&1}") <> " cannot be combined"}
    end
  end

  defp one_shape([_, _ | _] = several),
    do: {:error, Enum.map_join(several, " and ", &"--#{&1}") <> " cannot be combined"}

  defp one_shape(_one), do: :ok

  # The output of these is one line per value.
  defp one_line(switches) do
    shape = Enum.find([:lines, :array, :at], &switches[&1])
    if switches[:pretty] && shape, do: {:error, "--pretty and --#{shape} cannot be combined"}, else: :ok
  end

  defp without_stats(switches) do
    shape = Enum.find([:array, :at, :fetch], &switches[&1])
    if switches[:stats] && shape, do: {:error, "--stats and --#{shape} cannot be combined"}, else: :ok
  end

  defp fetched(switches, layout) do
    cond do
      switches[:raw] && !Enum.any?([:fetch, :at, :array, :lines], &switches[&1]) ->
        {:error, "--raw needs --fetch, --at, --array or --lines"}

      switches[:raw] && switches[:sort] ->
        {:error, "--raw and --sort cannot be combined"}

      switches[:lines] && switches[:at] && switches[:stats] ->
        {:error, "--stats and --at cannot be combined"}

      switches[:raw] && (switches[:pretty] || layout not in [:pretty, :minify]) ->
        {:error, "--raw and --#{layout} cannot be combined"}

      switches[:raw] && switches[:indent] ->
        {:error, "--raw and --indent cannot be combined"}

      switches[:sort] && (switches[:fetch] || layout == :canonical) ->
        {:error, "--sort and --#{if switches[:fetch], do: :fetch, else: :canonical} cannot be combined"}

      layout == :canonical && (switches[:array] || switches[:at]) ->
        {:error, "--canonical and --#{if switches[:array], do: :array, else: :at} cannot be combined"}

      true ->
        :ok
    end
  end

  @doc "The same with the options of calls, and with its reader. For the configuration of this run."
  @spec prepared(t()) :: t()
  def prepared(%{options: options} = arguments) do
    reader(%{arguments | decode: decode(options), encode: Settings.limited(:encode) ++ options})
  end

  defp decode(options), do: Settings.limited(:decode) ++ options

  defp reader(%{fetch: fetch} = arguments) do
    case stream_options(arguments) do
      nil ->
        if fetch, do: %{arguments | reader: RustyJson.Paths.of(%{value: fetch}, "--fetch")}, else: arguments

      options ->
        %{arguments | reader: RustyJson.Feed.new(options)}
    end
  end

  # Only values at places of each document are wanted: the options of the stream for them.
  defp stream_options(%{array: true} = arguments), do: [format: :array] ++ values(arguments)
  defp stream_options(%{at: at} = arguments) when at != nil, do: [at: at] ++ values(arguments)

  defp stream_options(%{fetch: fetch} = arguments) when fetch != nil,
    do: if(wildcard?(fetch), do: [at: fetch] ++ values(arguments))

  defp stream_options(_arguments), do: nil

  @doc "Whether a pointer leads to any number of values."
  @spec wildcard?(String.t()) :: boolean()
  def wildcard?(pointer), do: "*" in String.split(pointer, "/")

  # The text of a value is printed as it was written, unless its members are sorted.
  defp values(%{sort: true, options: options}), do: decode(options)
  defp values(%{options: options}), do: options |> decode() |> Keyword.put(:as, :raw)

  # Options of RustyJson.decode/2; check/1 looks at their values.
  defp options(switches) do
    options =
      for {name, value} <- switches, name in [:engine, :max_depth | @sandbox], do: {name, atom(name, value)}

    case Enum.find(options, fn {_, value} -> is_binary(value) end) do
      nil -> {:ok, options}
      {name, value} -> {:error, "--#{name} takes #{Enum.join(@names[name], ", ")}, not #{value}"}
    end
  end

  @doc "Checks the options against the loaded configuration and the environment."
  @spec check(t()) :: :ok | {:error, String.t()}
  def check(%__MODULE__{options: options} = arguments) do
    Config.reload()
    engine = Options.decode(Keyword.drop(options, @sandbox)).engine

    name =
      (RustyJson.Engine.name(engine) == :native or options[:engine] == :native) &&
        Enum.find(@sandbox, &options[&1])

    if name do
      {:error, "--#{dashed(name)} is for --engine wasm"}
    else
      Options.decode(options)
      if stream = stream_options(arguments), do: RustyJson.Feed.new(stream)
      if arguments.fetch, do: RustyJson.Paths.of([arguments.fetch], "--fetch")
      :ok
    end
  rescue
    error in ArgumentError -> {:error, Exception.message(error)}
  end

  defp atom(name, value) when is_map_key(@names, name),
    do: Enum.find(@names[name], value, &(Atom.to_string(&1) == value))

  defp atom(_name, value), do: value

  defp dashed(name), do: String.replace("#{name}", "_", "-")
end
