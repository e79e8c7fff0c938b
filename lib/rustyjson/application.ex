defmodule RustyJson.Application do
  @moduledoc false

  use Application

  @impl true
  def start(_type, _args) do
    RustyJson.Wasm.Stats.start()
    RustyJson.Config.reload()

    with {:ok, _supervisor} = started <-
           Supervisor.start_link([RustyJson.Decode.NewAtoms],
             strategy: :one_for_one,
             name: RustyJson.Supervisor
           ) do
      warm(RustyJson.Config.decode())
      started
    end
  end

  # Where calls run on the wasm engine, the first one does not wait for the module to be compiled. A host that is missing is
  # told to who calls, not here.
  defp warm(%{engine: RustyJson.Engine.Wasm, sandbox: sandbox}), do: RustyJson.Wasm.Host.status(sandbox.host)
  defp warm(_options), do: :ok
end
