defmodule RustyJson.Bench.Corpus do
  @moduledoc """
  The standard documents: public ones from the folder `RUSTYJSON_CORPUS`, the others made from a seed. They are written to
  a folder once, from which every VM of a run reads them.
  """

  alias RustyJson.Bench.{Documents, Kinds, Shapes}

  @public ~w(canada citm_catalog twitter github_events)
  @made [
    {"settlement", {Shapes, :settlement, [10_000_000]}},
    {"records10k", {Documents, :records, [10_000]}},
    {"records1k", {Documents, :records, [1_300]}},
    {"records40", {Documents, :records, [40]}},
    {"geojson", {Documents, :geojson, [170]}},
    {"not_ascii", {Kinds, :not_ascii, []}},
    {"integers", {Kinds, :integers, []}},
    {"config", {Kinds, :config, []}},
    {"chat", {Kinds, :chat, []}},
    {"webhook", {Kinds, :webhook, []}},
    {"log", {Kinds, :log, []}},
    {"object1k", {:named, "object_1kb"}},
    {"object35", {:named, "object_35b"}},
    {"deep100", {Documents, :deep, [100]}},
    {"wide5k", {Documents, :wide, [5_000]}}
  ]

  @type document :: %{name: String.t(), file: Path.t(), bytes: non_neg_integer()}

  @doc "Names of the standard documents, in the order of the tables."
  @spec standard() :: [String.t()]
  def standard, do: @public ++ Enum.map(@made, &elem(&1, 0))

  @doc "A standard document, or why it is not available."
  @spec get(String.t()) :: {:ok, document()} | {:skip, String.t()}
  def get(name) when name in @public do
    case System.get_env("RUSTYJSON_CORPUS", "") do
      "" -> {:skip, "#{name}: RUSTYJSON_CORPUS names no folder of public documents"}
      dir -> public(name, Path.join([dir, "documents", name <> ".json"]))
    end
  end

  def get(name) do
    {^name, source} = List.keyfind(@made, name, 0)
    {:ok, made(name, source)}
  end

  defp public(name, file) do
    case File.read(file) do
      {:ok, json} -> {:ok, describe(name, file, json)}
      {:error, _} -> {:skip, "#{name}: RUSTYJSON_CORPUS has no documents/#{name}.json"}
    end
  end

  @doc "A document that the function makes, kept under this name."
  @spec made(String.t(), {module(), atom(), list()} | {:named, String.t()} | String.t()) :: document()
  def made(name, source) do
    file = Path.join(dir(), name <> ".json")

    # Kept from one run of the program to the next only by the process that made it.
    case Process.get({__MODULE__, name}) do
      nil ->
        json = text(source)
        File.write!(file, json)
        document = describe(name, file, json)
        Process.put({__MODULE__, name}, document)
        document

      document ->
        document
    end
  end

  defp text({:named, name}), do: elem(List.keyfind(Documents.all(), name, 0), 1).()
  defp text({module, function, arguments}), do: apply(module, function, arguments)
  defp text(json) when is_binary(json), do: json

  defp describe(name, file, json) do
    %{name: name, file: file, bytes: byte_size(json)}
  end

  @doc "The folder of this run's documents."
  @spec dir() :: Path.t()
  def dir do
    dir = Path.join(System.tmp_dir!(), "rustyjson-bench-#{System.pid()}")
    File.mkdir_p!(dir)
    dir
  end

  @doc "Removes the folder."
  @spec clean() :: :ok
  def clean do
    File.rm_rf!(dir())
    :ok
  end
end
