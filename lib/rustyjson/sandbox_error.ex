defmodule RustyJson.SandboxError do
  @moduledoc """
  The wasm engine ended a call that exceeded its limits or failed inside the sandbox.

  | `reason` | when |
  |---|---|
  | `:timeout` | the call took longer than `:timeout` |
  | `:memory_limit` | the document needs more linear memory than `:max_memory` |
  | `:busy` | no instance became free within `:timeout` |
  | `:trap` | the module executed an invalid operation |
  | `:invalid_result` | the module returned an invalid result |
  | `:unavailable` | no host can run the module |

  The next call works, except after `:unavailable`, which needs a host.
  """

  @type reason :: :timeout | :memory_limit | :busy | :trap | :invalid_result | :unavailable
  @type t :: %__MODULE__{reason: reason(), message: String.t(), call: nil}

  # As in RustyJson.EncodeError.
  @derive {Inspect, optional: [:call]}
  defexception [:reason, :message, :call]

  @heads %{
    timeout: "the call took longer than its timeout",
    memory_limit: "the call needs more memory than max_memory",
    busy: "no instance became free within the timeout",
    trap: "the WebAssembly module trapped",
    invalid_result: "the WebAssembly module returned an invalid result",
    unavailable: "no host can run the WebAssembly module"
  }

  @doc """
  Builds the error for a reason, with an optional detail.

      iex> Exception.message(RustyJson.SandboxError.new(:timeout, "50 ms"))
      "the call took longer than its timeout: 50 ms"
  """
  @spec new(reason(), nil | String.t()) :: t()
  def new(reason, detail \\ nil) do
    head = Map.fetch!(@heads, reason)
    %__MODULE__{reason: reason, message: if(detail in [nil, ""], do: head, else: head <> ": " <> detail)}
  end
end
