defmodule RustyJson.Test.WasmHosts do
  @moduledoc "The hosts of the wasm engine that are there, and a way to give them another module for a test."

  alias RustyJson.Wasm.Host

  @hosts [wasmtime: Host.Wasmtime, wasmex: Host.Wasmex]

  @doc "Why a host cannot run the real module, or nil."
  def missing(name) do
    case @hosts[name].status() do
      {:ok, _} -> nil
      {:error, reason} -> reason
    end
  end

  @doc """
  Lets a host run another module while the function runs. Plans that other tests learnt are forgotten: they go to the guest
  before the term, where these guests look for what to do.
  """
  def with_guest(name, wasm, fun) do
    RustyJson.Encoder.Plans.forget()
    module = @hosts[name]
    :ok = module.replace(wasm)
    # Where a linked process takes the test down, what stands after the function is not reached.
    ExUnit.Callbacks.on_exit(fn -> module.replace(nil) end)

    try do
      fun.()
    after
      :ok = module.replace(nil)
    end
  end

  @doc "What a host counts."
  def counts(name), do: @hosts[name].counts()
end
