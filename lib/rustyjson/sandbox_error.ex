defmodule RustyJson.SandboxError do
  @moduledoc """
  The wasm engine ended a call that would have left its limits.

  | `reason` | when |
  |---|---|
  | `:timeout` | the call took longer than `:timeout` |
  | `:memory_limit` | the document needs more linear memory than `:max_memory` |
  | `:busy` | no instance became free within `:timeout` |
  | `:trap` | the module stopped on an instruction it must not run |
  | `:invalid_result` | the module returned what is no result |
  | `:unavailable` | no host is there to run the module |

  The next call works; after `:unavailable` only when there is a host.
  """

  @type reason :: :timeout | :memory_limit | :busy | :trap | :invalid_result | :unavailable
  @type t :: %__MODULE__{reason: reason(), message: String.t()}

  defexception [:reason, :message]

  @heads %{
    timeout: "the call took longer than its timeout",
    memory_limit: "the call needs more memory than max_memory",
    busy: "no instance became free within the timeout",
    trap: "the WebAssembly module trapped",
    invalid_result: "the WebAssembly module returned an invalid result",
    unavailable: "no host can run the WebAssembly module"
  }

  @doc """
  The error for a reason, with what is known beyond it.

      iex> Exception.message(RustyJson.SandboxError.new(:timeout, "50 ms"))
      "the call took longer than its timeout: 50 ms"
  """
  @spec new(reason(), nil | String.t()) :: t()
  def new(reason, detail \\ nil) do
    head = Map.fetch!(@heads, reason)
    %__MODULE__{reason: reason, message: if(detail in [nil, ""], do: head, else: head <> ": " <> detail)}
  end
end
