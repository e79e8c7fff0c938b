defmodule RustyJson.Application do
  @moduledoc false

  use Application

  @impl true
  def start(_type, _args) do
    RustyJson.Wasm.Stats.start()
    RustyJson.Config.reload()

    with {:ok, _supervisor} = started <-
           Supervisor.start_link([RustyJson.Decode.NewAtoms, RustyJson.Wasm.Starter],
             strategy: :one_for_one,
             name: RustyJson.Supervisor
           ) do
      warm(RustyJson.Config.decode())
      started
    end
  end

  # With the wasm engine, compiles the module now, so that the first call does not wait. Calls report a missing host, not this.
  defp warm(%{engine: RustyJson.Engine.Wasm, sandbox: sandbox}), do: RustyJson.Wasm.Host.status(sandbox.host)
  defp warm(_options), do: :ok
end
