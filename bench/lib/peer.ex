defmodule RustyJson.Bench.Peer do
  @moduledoc """
  VMs to measure in. A side is what a VM is set up for: an engine, or another version of RustyJson. A crash there is the
  result of one job, not the end of the run.
  """

  alias RustyJson.Bench.Contender

  @timeout 600_000
  # The environment that a VM starts with, and its configuration.
  @environment %{
    main: [engine: "native"],
    old: [],
    built_in: [engine: "wasm", wasm: [host: :built_in]],
    wasmex: [engine: "wasm", wasm: [host: :wasmex]]
  }

  @doc "Calls a function in a new VM of this side."
  @spec call(atom(), module(), atom(), list(), [String.t()]) :: {:ok, term()} | {:error, String.t()}
  def call(side, module, function, arguments, flags \\ []) do
    with {:ok, peer} <- start(side, flags) do
      result = call_in(peer, module, function, arguments)
      stop(peer)
      result
    end
  end

  @doc "Calls a function in a running VM."
  @spec call_in(pid(), module(), atom(), list()) :: {:ok, term()} | {:error, String.t()}
  def call_in(peer, module, function, arguments) do
    {:ok, :peer.call(peer, module, function, arguments, @timeout)}
  catch
    kind, reason -> {:error, Exception.format_banner(kind, reason) |> String.slice(0, 500)}
  end

  @doc "Starts a VM of this side."
  @spec start(atom(), [String.t()]) :: {:ok, pid()} | {:error, String.t()}
  def start(side, flags \\ []) do
    case path(side) do
      nil ->
        {:error, "RustyJson 0.3.10 is not built"}

      path ->
        {:ok, peer, _node} =
          :peer.start(%{
            connection: :standard_io,
            # A busy machine takes longer than the 15 seconds that are usual.
            wait_boot: 120_000,
            args: Enum.map(flags, &String.to_charlist/1),
            env: environment(@environment[side])
          })

        true = :peer.call(peer, :code, :set_path, [path])
        call_in(peer, __MODULE__, :set_up, [@environment[side][:wasm]])
        {:ok, peer}
    end
  end

  @spec stop(pid()) :: :ok
  def stop(peer), do: :peer.stop(peer)

  @doc false
  def set_up(wasm) do
    {:ok, _} = Application.ensure_all_started(:elixir)
    _ = Application.load(:rustyjson)
    if wasm, do: Application.put_env(:rustyjson, :wasm, [timeout: 60_000] ++ wasm)

    for app <- [:rustyjson, :jiffy, :jason, :torque, :glazer, :wasmex],
        do: Application.ensure_all_started(app)

    :ok
  end

  @doc "The contenders of each side, with versions, or why a side is missing."
  @spec survey() :: {%{Contender.id() => String.t()}, [String.t()]}
  def survey do
    answers = for side <- Contender.sides(), do: {side, call(side, Contender, :present, [side])}
    present = for {_, {:ok, present}} <- answers, contender <- present, into: %{}, do: contender
    {present, for({side, {:error, why}} <- answers, do: "#{side}: #{why}")}
  end

  defp environment(settings) do
    case settings[:engine] do
      nil -> []
      engine -> [{~c"RUSTYJSON_ENGINE", String.to_charlist(engine)}]
    end
  end

  # Replaces this version's build folder with the other's; the folders of Erlang and Elixir are the same.
  defp path(:old) do
    build = System.get_env("RUSTYJSON_BENCH_OLD_BUILD", "")
    libraries = Path.wildcard(Path.join(build, "lib/*/ebin"))

    if build != "" and libraries != [] do
      consolidated = Path.wildcard(Path.join(build, "lib/rustyjson_bench/consolidated"))
      own = Enum.reject(:code.get_path(), &String.starts_with?(List.to_string(&1), own_build()))
      Enum.map(consolidated ++ libraries, &String.to_charlist/1) ++ own
    end
  end

  defp path(_side), do: :code.get_path()

  defp own_build, do: :code.lib_dir(:rustyjson_bench) |> List.to_string() |> Path.dirname()
end
