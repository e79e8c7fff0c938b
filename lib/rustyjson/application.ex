defmodule RustyJson.Application do
  @moduledoc false

  use Application

  alias RustyJson.Config

  @impl true
  def start(_type, _args) do
    RustyJson.Wasm.Stats.start()

    with :ok <- configured(),
         {:ok, _supervisor} = started <-
           Supervisor.start_link([RustyJson.Decode.NewAtoms, RustyJson.Wasm.Starter],
             strategy: :one_for_one,
             name: RustyJson.Supervisor
           ) do
      Enum.each(hosts(), &RustyJson.Wasm.Host.status/1)
      started
    end
  end

  # Returned with a short stack trace, because the VM would print three copies of a raised one around the sentence that says which setting
  # is wrong. Elixir prints an exception as text only with a stack trace.
  defp configured do
    Config.reload()
  rescue
    error in ArgumentError -> {:error, {error, [{__MODULE__, :start, 2, []}]}}
  end

  # With the wasm engine, in the configuration or in a policy, the module is compiled now, so that the first call does not wait. Calls
  # report a missing host, not this.
  defp hosts do
    policies = for {_name, %{decode: values}} <- Config.policies(), do: values

    for %{resolved: RustyJson.Engine.Wasm, sandbox: sandbox} <- [Config.values(:decode) | policies],
        uniq: true,
        do: sandbox.host
  end
end
