defmodule RustyJson.Bench.RustTools do
  @moduledoc "Runs cargo in `bench/rust`."

  alias RustyJson.Bench.Corpus

  @spec dir() :: Path.t()
  def dir, do: Path.join(System.get_env("RUSTYJSON_BENCH_DIR", File.cwd!()), "rust")

  @doc "The folder of cargo's output."
  @spec target() :: Path.t()
  def target, do: System.get_env("CARGO_TARGET_DIR") || Path.join(dir(), "target")

  @doc "Runs cargo and reports its progress now and then."
  @spec cargo([String.t()], [{String.t(), String.t()}], (String.t() -> :ok)) ::
          {:ok, String.t()} | {:error, String.t()}
  def cargo(arguments, env, say) do
    say.("cargo " <> Enum.join(Enum.take(arguments, 3), " "))
    env = [{"CARGO_TARGET_DIR", target()}, {"CARGO_TERM_COLOR", "never"} | env]
    run("cargo", arguments, env)
  end

  @doc "Runs a program in the crate's folder."
  @spec run(String.t(), [String.t()], [{String.t(), String.t()}]) :: {:ok, String.t()} | {:error, String.t()}
  def run(program, arguments, env \\ []) do
    case System.cmd(program, arguments, cd: dir(), env: env, stderr_to_stdout: true) do
      {output, 0} ->
        {:ok, output}

      {output, _} ->
        {:error,
         output |> String.split("\n", trim: true) |> Enum.take(-3) |> Enum.join(" ") |> String.slice(0, 300)}
    end
  rescue
    error in ErlangError -> {:error, "#{program}: #{Exception.message(error)}"}
  end

  @doc "A folder with only these documents, `{name, text}`."
  @spec documents(String.t(), [{String.t(), binary()}]) :: Path.t()
  def documents(name, documents) do
    dir = Path.join(Corpus.dir(), name)
    File.mkdir_p!(dir)
    for {name, text} <- documents, do: File.write!(Path.join(dir, name <> ".json"), text)
    dir
  end
end
