defmodule RustyJson.CLI.Doctor.Machine do
  @moduledoc false
  # The processor and the built files.

  alias RustyJson.CLI.Progress

  # The names that Linux and macOS use for the instructions of the core's kernels, best last.
  @features ~w(sse4_2 avx avx2 bmi2 avx512f avx512bw asimd neon)

  @doc "The available vector instructions that the core can use."
  @spec features() :: String.t()
  def features do
    case listed() do
      nil -> "unknown on this system"
      words -> @features |> Enum.filter(&(&1 in words)) |> join()
    end
  end

  defp join([]), do: "none of #{Enum.join(@features, ", ")}"
  defp join(names), do: Enum.join(names, ", ")

  defp listed do
    case :os.type() do
      {:unix, :linux} -> linux(File.read("/proc/cpuinfo"))
      {:unix, :darwin} -> mac(System.find_executable("sysctl"))
      _ -> nil
    end
  end

  defp linux({:ok, text}) do
    with [_, list] <- Regex.run(~r/^(?:flags|Features)\s*:(.*)$/m, text), do: String.split(list)
  end

  defp linux(_error), do: nil

  # Intel lists its features; Apple's processors all have NEON.
  defp mac(nil), do: nil

  defp mac(sysctl) do
    case System.cmd(sysctl, ["-n", "machdep.cpu.features", "machdep.cpu.leaf7_features"],
           stderr_to_stdout: true
         ) do
      {text, 0} -> text |> String.downcase() |> String.replace("sse4.2", "sse4_2") |> String.split()
      _ -> ["neon"]
    end
  end

  @doc "The sizes of the libraries and the module, or \"not built\"."
  @spec artifacts(Path.t()) :: [{String.t(), String.t()}]
  def artifacts(priv) do
    extension = if match?({:win32, _}, :os.type()), do: ".dll", else: ".so"

    for file <- ["native/librustyjson_nif#{extension}", "wasm/rustyjson.wasm"] do
      {Path.basename(file), size(File.stat(Path.join(priv, file)))}
    end
  end

  defp size({:ok, %{size: size}}), do: Progress.size(size)
  defp size({:error, _reason}), do: "not built"
end
