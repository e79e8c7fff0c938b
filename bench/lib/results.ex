defmodule RustyJson.Bench.Results do
  @moduledoc "Result files: JSON with the machine, versions and every case."

  alias RustyJson.Bench.Contender

  @doc "Writes the file. Returns its name."
  @spec write(map(), Path.t()) :: Path.t()
  def write(result, dir) do
    file = Path.join(dir, "#{Date.utc_today()}-#{result.machine.name}#{part(result.flags)}.json")
    File.mkdir_p!(dir)
    File.write!(file, text(result))
    file
  end

  # A run of some sections, or a quick one, does not replace a whole one.
  defp part(%{sections: "all", quick: false}), do: ""
  defp part(%{sections: "all"}), do: "-quick"

  defp part(%{sections: sections} = flags),
    do: "-" <> Enum.join(sections, "-") <> part(%{flags | sections: "all"})

  defp text(result) do
    tables = for table <- result.tables, do: Map.put_new(table, :notes, [])
    result = %{result | tables: tables}
    RustyJson.encode!(rounded(result), pretty: true, sort_keys: true, engine: :native) <> "\n"
  end

  # No clock here is finer than three decimal places.
  defp rounded(float) when is_float(float), do: Float.round(float, 3)
  defp rounded(list) when is_list(list), do: Enum.map(list, &rounded/1)
  defp rounded(map) when is_map(map), do: Map.new(map, fn {key, value} -> {key, rounded(value)} end)
  defp rounded(other), do: other

  @doc "The machine and the versions of this run."
  @spec machine() :: map()
  def machine do
    cpu = cpu()

    %{
      name: System.get_env("RUSTYJSON_BENCH_MACHINE") || machine_name(cpu),
      cpu: cpu,
      cores: System.schedulers_online(),
      memory_bytes: memory(),
      system: to_string(:erlang.system_info(:system_architecture)),
      otp: Contender.otp(),
      elixir: System.version(),
      rust: rust(),
      commit: commit(),
      jit: :erlang.system_info(:emu_flavor),
      load: load()
    }
  end

  defp machine_name(cpu) do
    words = ~r/[A-Za-z][A-Za-z0-9-]*/ |> Regex.scan(cpu) |> List.flatten()
    name = words |> Enum.reject(&(&1 in ~w(R TM Processor CPU GHz))) |> Enum.take(3) |> Enum.join("-")
    "#{String.downcase(name)}-#{System.schedulers_online()}-otp#{:erlang.system_info(:otp_release)}"
  end

  defp cpu do
    case File.read("/proc/cpuinfo") do
      {:ok, text} -> text |> first(~r/^(?:model name|Model)\s*: (.*)$/m) || "unknown"
      {:error, _} -> run("sysctl", ["-n", "machdep.cpu.brand_string"]) || "unknown"
    end
  end

  defp memory do
    case File.read("/proc/meminfo") do
      {:ok, text} ->
        String.to_integer(first(text, ~r/^MemTotal:\s+(\d+)/m)) * 1024

      {:error, _} ->
        with text when text != nil <- run("sysctl", ["-n", "hw.memsize"]), do: String.to_integer(text)
    end
  end

  # Processes that ran or waited to run, on average over 1, 5 and 15 minutes.
  defp load do
    with {:ok, text} <- File.read("/proc/loadavg"),
         do: text |> String.split() |> Enum.take(3) |> Enum.join(", "),
         else: (_ -> nil)
  end

  defp rust, do: run("rustc", ["--version"])

  # The commit that was measured, if this is a checkout. A plus means uncommitted changes.
  defp commit do
    with commit when commit != nil <- run("git", ["rev-parse", "--short", "HEAD"]) do
      changed = run("git", ["status", "--porcelain", "--", "..", ":!results", ":!../docs", ":!../README.md"])
      if changed in [nil, ""], do: commit, else: commit <> "+"
    end
  end

  @doc "What each package was built from: the commit of a checkout, or the first line of its file SOURCE."
  @spec sources() :: %{atom() => String.t()}
  def sources do
    for {name, path} <- Mix.Project.deps_paths(),
        name != :rustyjson,
        source = source(path),
        into: %{},
        do: {name, source}
  end

  defp source(path) do
    if File.exists?(Path.join(path, ".git")),
      do: run("git", ["-C", path, "rev-parse", "HEAD"]),
      else: first_line(Path.join(path, "SOURCE"))
  end

  defp first_line(file),
    do: with({:ok, text} <- File.read(file), do: first(text, ~r/^(.*)$/m), else: (_ -> nil))

  defp first(text, regex) do
    case Regex.run(regex, text) do
      [_, found] -> String.trim(found)
      nil -> nil
    end
  end

  defp run(program, arguments) do
    case System.cmd(program, arguments, stderr_to_stdout: true) do
      {text, 0} -> String.trim(text)
      _ -> nil
    end
  rescue
    ErlangError -> nil
  end
end
