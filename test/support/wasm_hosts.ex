defmodule RustyJson.Test.WasmHosts do
  @moduledoc "The hosts of the wasm engine, and a way to run another module in them during a test."

  alias RustyJson.Test.Guest
  alias RustyJson.Wasm.Host

  @hosts [built_in: Host.BuiltIn, wasmex: Host.Wasmex]
  @replaceable [built_in: RustyJson.Test.Replaceable, wasmex: Host.Wasmex]

  @doc "Why a host cannot run other modules, or nil."
  def no_other(:built_in), do: missing(:built_in) || Guest.missing() || RustyJson.Test.Replaceable.missing()
  def no_other(name), do: missing(name) || Guest.missing()

  @doc "Why a host cannot run the real module, or nil."
  def missing(name) do
    case @hosts[name].status() do
      {:ok, _} -> nil
      {:error, reason} -> reason
    end
  end

  @doc """
  Lets a host run another module while the function runs. Plans that other tests learnt are dropped first: they precede the
  term in the guest's input, where these guests look for their trigger.
  """
  def with_guest(name, wasm, fun) do
    RustyJson.Encoder.Plans.forget()
    module = @replaceable[name]
    :ok = module.replace(wasm)
    # If a linked process ends the test, the `after` below does not run.
    ExUnit.Callbacks.on_exit(fn -> module.replace(nil) end)

    try do
      fun.()
    after
      :ok = module.replace(nil)
    end
  end

  @doc "Gives a host another module, or its own again with nil."
  def replace(name, wasm), do: @replaceable[name].replace(wasm)

  @doc "The counts of a host."
  def counts(name), do: @hosts[name].counts()
end
