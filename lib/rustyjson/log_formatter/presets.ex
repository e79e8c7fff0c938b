defmodule RustyJson.LogFormatter.Presets do
  @moduledoc false
  # The lines that log collectors expect. A preset gives the defaults of the options `:names` and `:levels`, members that every line has,
  # the place in the source code, and the members of a crash.

  @google_error "type.googleapis.com/google.devtools.clouderrorreporting.v1beta1.ReportedErrorEvent"

  # `own` lists the members that a preset has besides those that `:names` can rename. `text`: the collector accepts only text as a message, so
  # a report has a member of its own.
  @presets %{
    google_cloud: %{
      names: %{level: "severity", error: "stack_trace"},
      levels:
        Map.new(
          ~w(emergency alert critical error warning notice info debug)a,
          &{&1, &1 |> Atom.to_string() |> String.upcase()}
        ),
      own: ["@type", "logging.googleapis.com/sourceLocation", "report"],
      always: [],
      text: true
    },
    datadog: %{
      names: %{time: "timestamp", level: "status"},
      levels: %{},
      own: ["logger", "report"],
      always: [],
      text: true
    },
    elastic: %{
      names: %{time: "@timestamp", level: "log.level"},
      levels: %{},
      own: ["ecs.version", "log.origin", "report"],
      always: [{"ecs.version", "8.11.0"}],
      text: true
    }
  }

  @none %{names: %{}, levels: %{}, own: [], always: [], text: false}

  @type name :: nil | :google_cloud | :datadog | :elastic

  @spec names() :: [atom()]
  def names, do: @presets |> Map.keys() |> Enum.sort()

  @doc "What a preset sets; nothing for nil."
  @spec get(name()) :: map()
  def get(nil), do: @none
  def get(name), do: Map.fetch!(@presets, name)

  @doc "Metadata that the place takes the place of, unless it is asked for by name."
  @spec placed(name()) :: [atom()]
  def placed(nil), do: []
  def placed(_name), do: [:mfa, :file, :line]

  @doc "The place in the source code as members of the line. All values have a text form that is already known."
  @spec place(name(), %{optional(:module | :function | :file | :line) => String.t() | integer()}) ::
          [{String.t(), map()}]
  def place(nil, _place), do: []
  def place(_name, place) when map_size(place) == 0, do: []

  def place(:google_cloud, place) do
    shown = place |> Map.take([:file]) |> put(:function, whole(place)) |> put(:line, digits(place))
    [{"logging.googleapis.com/sourceLocation", shown}]
  end

  def place(:datadog, place) do
    shown =
      for {key, name} <- [module: :name, function: :method_name, file: :file_name, line: :line],
          is_map_key(place, key),
          into: %{},
          do: {name, Map.fetch!(place, key)}

    [{"logger", shown}]
  end

  def place(:elastic, place) do
    file =
      for {key, name} <- [file: :name, line: :line], is_map_key(place, key), into: %{}, do: {name, place[key]}

    shown = if file == %{}, do: %{}, else: %{file: file}
    [{"log.origin", put(shown, :function, whole(place))}]
  end

  defp whole(%{module: module, function: function}), do: module <> "." <> function
  defp whole(_place), do: nil

  # The API defines the line as text.
  defp digits(%{line: line}) when is_integer(line), do: Integer.to_string(line)
  defp digits(_place), do: nil

  defp put(map, _key, nil), do: map
  defp put(map, key, value), do: Map.put(map, key, value)

  @doc "The members of a crash under the name for it: kind, text and entries of the stack trace."
  @spec crash(name(), String.t(), {String.t(), String.t(), [String.t()]}) :: [{String.t(), term()}]
  def crash(:google_cloud, name, {kind, message, entries}),
    do: [{"@type", @google_error}, {name, lines(["** (#{kind}) #{message}" | entries])}]

  def crash(:datadog, name, {kind, message, entries}),
    do: [{name, %{kind: kind, message: message, stack: lines(entries)}}]

  def crash(:elastic, name, {kind, message, entries}),
    do: [{name, %{type: kind, message: message, stack_trace: lines(entries)}}]

  @doc """
  The paths in the crash of this preset to what stands at that path in the plain one. Google's is one text. The message and the stack of
  the others are texts, of which all goes where the path leads into them.
  """
  @spec error(name(), [String.t()]) :: [[String.t()]]
  def error(nil, path), do: [path]
  def error(:google_cloud, _path), do: [[]]

  def error(preset, ["*", _ | _] = path),
    do: for(name <- ~w(message stacktrace), moved <- error(preset, [name | tl(path)]), do: moved)

  def error(_name, ["message" | _]), do: [["message"]]
  def error(:datadog, ["stacktrace" | _]), do: [["stack"]]
  def error(:elastic, ["kind" | _]), do: [["type"]]
  def error(:elastic, ["stacktrace" | _]), do: [["stack_trace"]]
  def error(_name, path), do: [path]

  defp lines(entries), do: Enum.join(entries, "\n    ")
end
