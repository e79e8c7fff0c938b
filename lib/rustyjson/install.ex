defmodule RustyJson.Install do
  @moduledoc false
  # The steps of `mix rustyjson.install`, in one table: the task prints them, and with Igniter it carries them out.

  alias RustyJson.Install.{Parsers, Surroundings}

  @typedoc """
  The project as far as the steps depend on it: the names of all its packages, the configuration, where `:rustyjson` comes from (the
  options of its line in `mix.exs`) and in which folder it is, whether `:jason` is the stand-in, where it calls `plug Plug.Parsers`, and
  whether it has a `config/config.exs`.
  """
  @type project :: %{
          packages: [atom()],
          setting: (atom(), atom() -> term()),
          library: keyword(),
          folder: Path.t(),
          standin?: boolean(),
          parsers: [{Path.t(), Parsers.call()}],
          config?: boolean()
        }

  @typedoc "What Igniter changes for a step; `:by_hand` is printed only."
  @type change ::
          {:config, app :: atom(), key :: [atom()], value :: String.t()}
          | {:parsers, Parsers.mode(), file :: Path.t()}
          | {:dependency, keyword()}
          | :by_hand

  @typedoc "A step: the option that asks for it, where which lines go, what it changes, and commands that follow."
  @type step :: %{
          option: atom(),
          title: String.t(),
          place: String.t(),
          lines: [String.t()],
          change: change(),
          after: [String.t()]
        }

  @config "config/config.exs"

  # Option, package, title, key of the package's configuration, and whether the package reads it when it is compiled.
  @libraries [
    {:phoenix, :phoenix, "Phoenix: JSON of controllers, views and channels", false},
    {:ecto, :postgrex, "Ecto with PostgreSQL: json and jsonb columns", true},
    {:ecto, :myxql, "Ecto with MySQL: json columns", true},
    {:ecto, :ecto_sqlite3, "Ecto with SQLite: columns of maps", false}
  ]

  @switches [:phoenix, :ecto, :plug, :absinthe, :tesla, :stand_in]

  @policy "[engine: :wasm, timeout: 1_000, max_memory: 128 * 1024 * 1024, max_bytes: 8_000_000, max_nodes: 1_000_000]"

  @doc "The file of a project's configuration."
  @spec config() :: Path.t()
  def config, do: @config

  @doc "The switches for `OptionParser`."
  @spec switches() :: keyword(:boolean)
  def switches, do: for(name <- @switches ++ [:sandbox, :all], do: {name, :boolean})

  @doc """
  The options that ask for a step, of the parsed ones: `--all` stands for all of them but `--sandbox`, and so does `--no-…` where nothing is
  asked for.
  """
  @spec asked(keyword()) :: [atom()]
  def asked(options) do
    named = for {name, true} <- options, name in [:sandbox | @switches], do: name
    refused = for {name, false} <- options, do: name
    all = if options[:all] || (named == [] and refused != []), do: @switches, else: []
    plug = if :sandbox in named, do: [:plug], else: []
    Enum.uniq(named ++ all ++ plug) -- refused
  end

  @doc "The steps for a project; without `asked`, all but the sandbox. Steps that are already set are left out."
  @spec steps(project(), [atom()]) :: [step()]
  def steps(project, []), do: steps(project, @switches)

  def steps(project, asked) do
    sandbox? = :sandbox in asked

    all =
      libraries(project) ++
        policy(project, sandbox?) ++
        parsers(project, if(sandbox?, do: :sandbox, else: :json)) ++
        absinthe(project) ++ tesla(project) ++ standin(project)

    Enum.filter(all, &(&1.option in asked))
  end

  @doc "The options that were asked for, and for which this project has no step."
  @spec without_step([step()], [atom()]) :: [atom()]
  def without_step(steps, asked), do: asked -- Enum.map(steps, & &1.option)

  defp libraries(project) do
    for {option, package, title, compiled?} <- @libraries,
        package in project.packages,
        library <- [project.setting.(package, :json_library)],
        library != RustyJson do
      set = %{
        option: option,
        title: title,
        lines: ["config :#{package}, :json_library, RustyJson"],
        after: if(compiled?, do: ["mix deps.compile #{package} --force"], else: [])
      }

      Map.merge(set, instead(library, package))
    end
  end

  # A module of the application's own can do more than these.
  @replaced [nil, Jason, Poison, JSON]

  defp instead(library, package) when library in @replaced do
    place = if library, do: "#{@config}, instead of #{inspect(library)}", else: @config
    %{place: place, change: {:config, package, [:json_library], "RustyJson"}}
  end

  defp instead(library, _package),
    do: %{place: "#{@config}, by hand because it is #{inspect(library)} now", change: :by_hand}

  defp policy(project, true) do
    policies = project.setting.(:rustyjson, :policies) || []
    step = %{option: :sandbox, title: "A policy for documents from outside, which runs them in the sandbox"}

    cond do
      Map.has_key?(Map.new(policies), :edge) -> []
      is_map(policies) -> [Map.merge(step, in_map())]
      true -> [Map.merge(step, in_list())]
    end
  end

  defp policy(_project, false), do: []

  defp in_list do
    %{
      place: @config,
      lines: ["config :rustyjson,", "  policies: [", "    edge: #{@policy}", "  ]"],
      change: {:config, :rustyjson, [:policies, :edge], @policy},
      after: []
    }
  end

  # Another `config :rustyjson, policies:` would replace the map: only keyword lists are merged.
  defp in_map,
    do: %{
      place: @config <> ", in the map of policies",
      lines: ["edge: #{@policy}"],
      change: :by_hand,
      after: []
    }

  defp parsers(%{packages: packages} = project, mode) do
    calls = for {file, call} <- project.parsers, do: {file, call, Parsers.rewritten(call, mode)}

    cond do
      :plug not in packages -> []
      calls == [] -> [example("the module that calls plug Plug.Parsers", mode)]
      true -> for {file, call, result} <- calls, step <- parser(file, call, result, mode), do: step
    end
  end

  defp parser(_file, _call, :same, _mode), do: []

  defp parser(file, call, {:ok, text}, mode),
    do: [plug("#{file}:#{call.line}", text, mode, {:parsers, mode, file})]

  defp parser(file, call, {:error, reason}, mode),
    do: [example("#{file}:#{call.line}, by hand because #{reason}. For example", mode)]

  defp example(place, mode), do: plug(place, Parsers.example(mode), mode, :by_hand)

  defp plug(place, text, mode, change) do
    title =
      if mode == :sandbox,
        do: "Plug: bodies of requests are decoded in the sandbox",
        else: "Plug: bodies of requests"

    %{
      option: :plug,
      title: title,
      place: place,
      lines: String.split(text, "\n"),
      change: change,
      after: []
    }
  end

  defp absinthe(%{packages: packages}) do
    for :absinthe_plug <- packages,
        do:
          by_hand(
            :absinthe,
            "Absinthe: answers of GraphQL",
            "the options of Absinthe.Plug, usually in the router",
            "forward \"/api\", Absinthe.Plug, schema: MyAppWeb.Schema, json_codec: RustyJson"
          )
  end

  defp tesla(%{packages: packages}) do
    for :tesla <- packages,
        do:
          by_hand(
            :tesla,
            "Tesla: requests and answers",
            "the middleware of each client",
            "{Tesla.Middleware.JSON, engine: RustyJson}"
          )
  end

  defp by_hand(option, title, place, line),
    do: %{option: option, title: title, place: place, lines: [line], change: :by_hand, after: []}

  defp standin(%{packages: packages, standin?: standin?} = project) do
    for :jason <- packages, not standin? do
      {own, dependency} = dependency(project.library, project.folder)

      %{
        option: :stand_in,
        title: "The stand-in for Jason: all packages that call Jason run on RustyJson",
        place: "the dependencies in mix.exs" <> own,
        lines: [
          "{:jason, #{Enum.map_join(dependency, ", ", fn {key, value} -> "#{key}: #{inspect(value)}" end)}}"
        ],
        change: {:dependency, dependency},
        after: ["mix deps.unlock jason", "mix deps.get", "mix deps.compile --force"]
      }
    end
  end

  # The stand-in is a folder of this package.
  defp dependency(library, folder) do
    own =
      if Surroundings.override?(library),
        do: ", where the line of :rustyjson also needs override: true",
        else: ""

    {own, [path: Path.join(library[:path] || folder, "jason"), override: true]}
  end
end
