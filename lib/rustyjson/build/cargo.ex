defmodule RustyJson.Build.Cargo do
  @moduledoc false
  # Runs cargo and shows its progress: one line that updates itself in a terminal, otherwise a line every few seconds. Prints
  # nothing if there was nothing to do. Keeps the output in case cargo fails.

  defstruct [:title, :started, shown: 0, crates: 0, output: []]

  @every_ms 5_000

  @spec run(String.t(), [String.t()], RustyJson.Build.settings(), [{String.t(), String.t()}]) ::
          :ok | {:error, String.t()}
  def run(title, arguments, settings, more \\ []) do
    into = %__MODULE__{title: title, started: now(), shown: now()}
    environment = environment(settings) ++ target_flags("wasm32-unknown-unknown" in arguments) ++ more
    options = [into: into, stderr_to_stdout: true, cd: settings.root, env: environment]
    {progress, status} = System.cmd("cargo", arguments, options)
    finish(progress, status)
  end

  defp environment(settings) do
    [
      {"CARGO_TARGET_DIR", settings.target_dir},
      # The result would be in another folder, and an older one in this.
      {"CARGO_BUILD_TARGET", nil},
      {"CARGO_TERM_COLOR", "never"},
      {"CARGO_TERM_PROGRESS_WHEN", "never"}
    ]
  end

  # Flags from the environment would replace the project's own for the WebAssembly target, such as SIMD.
  defp target_flags(true), do: [{"RUSTFLAGS", nil}, {"CARGO_ENCODED_RUSTFLAGS", nil}]
  defp target_flags(false), do: []

  defp finish(progress, 0) do
    if progress.crates > 0, do: line(progress, "done in #{seconds(progress)} s\n")
    :ok
  end

  defp finish(progress, _status) do
    if progress.crates > 0, do: IO.write(:stderr, "\n")
    {:error, progress.output |> Enum.reverse() |> IO.iodata_to_binary() |> String.trim_trailing()}
  end

  @doc false
  def add(progress, text) do
    compiled = length(:binary.matches(text, "Compiling "))
    progress = %{progress | output: [text | progress.output], crates: progress.crates + compiled}

    if progress.crates > 0 and (progress.crates == compiled or tty?() or now() - progress.shown > @every_ms) do
      line(progress, "#{crates(progress.crates)}, #{seconds(progress)} s")
      %{progress | shown: now(), title: short(progress.title)}
    else
      progress
    end
  end

  defp crates(1), do: "1 crate"
  defp crates(count), do: "#{count} crates"

  # The part in brackets appears only once, except on the line that updates itself.
  defp short(title), do: if(tty?(), do: title, else: title |> String.split(" (") |> hd())

  defp line(progress, text) do
    text = "rustyjson: building #{progress.title}: #{text}"
    IO.write(:stderr, if(tty?(), do: ["\r\e[K", text], else: [String.trim(text), "\n"]))
  end

  defp tty?, do: match?({:ok, _}, :io.columns(:standard_error)) and IO.ANSI.enabled?()
  defp seconds(progress), do: div(now() - progress.started, 1000)
  defp now, do: System.monotonic_time(:millisecond)

  defimpl Collectable do
    def into(progress), do: {progress, &collect/2}

    defp collect(progress, {:cont, text}), do: RustyJson.Build.Cargo.add(progress, text)
    defp collect(progress, :done), do: progress
    defp collect(_progress, :halt), do: :ok
  end
end
