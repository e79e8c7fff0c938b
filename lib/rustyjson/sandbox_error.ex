defmodule RustyJson.SandboxError do
  @moduledoc """
  The wasm engine ended a call that exceeded its limits or failed inside the sandbox.

  | `reason` | when |
  |---|---|
  | `:timeout` | the call took longer than `:timeout` |
  | `:memory_limit` | the document needs more linear memory than `:max_memory`, or iodata is longer |
  | `:busy` | no instance became free within `:timeout` |
  | `:trap` | the module executed an invalid operation |
  | `:invalid_result` | the module returned an invalid result |
  | `:unavailable` | no host can run the module, or the machine has no memory for its result |

  `plug_status` is the status of a response if the error ends a request in Plug: see `RustyJson.PlugParser`.

  The next call works, except after `:unavailable`, which needs a host or memory.
  """

  @type reason :: :timeout | :memory_limit | :busy | :trap | :invalid_result | :unavailable
  @type t :: %__MODULE__{reason: reason(), message: String.t(), call: nil, plug_status: 413 | 500 | 503}

  # As in RustyJson.EncodeError.
  @derive {Inspect, optional: [:call]}
  defexception [:reason, :message, :call, plug_status: 500]

  # Plug asks the exception, so that it need not be there when this is compiled.
  @statuses %{timeout: 413, memory_limit: 413, busy: 503, unavailable: 503}

  @heads %{
    timeout: "the call took longer than its timeout",
    memory_limit: "the call needs more memory than max_memory",
    busy: "no instance became free within the timeout",
    trap: "the WebAssembly module trapped",
    invalid_result: "the WebAssembly module returned an invalid result",
    unavailable: "no host can run the WebAssembly module"
  }

  # `raise/2` calls it.
  @impl true
  def exception(message) when is_binary(message), do: exception(message: message)

  def exception(fields) do
    error = struct!(__MODULE__, fields)
    %{error | plug_status: Map.get(@statuses, error.reason, 500)}
  end

  @doc """
  Builds the error for a reason, with an optional detail.

      iex> Exception.message(RustyJson.SandboxError.new(:timeout, "50 ms"))
      "the call took longer than its timeout: 50 ms"
  """
  @spec new(reason(), nil | String.t()) :: t()
  def new(reason, detail \\ nil) do
    head = Map.fetch!(@heads, reason)
    message = if detail in [nil, ""], do: head, else: head <> ": " <> detail
    exception(reason: reason, message: message)
  end
end
