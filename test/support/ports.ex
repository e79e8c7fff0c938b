defmodule RustyJson.Test.Ports do
  @moduledoc """
  Replaces epmd for nodes of tests, so that no daemon outlives them: a node tells its port when asked, and has to be told those of
  others. The functions are those of OTP's `erl_epmd`.
  """

  # Loopback, in the protocol's fifth version.
  @version 5

  @doc "Switches for `:peer.start/1`."
  @spec switches() :: [charlist()]
  def switches do
    [~c"-start_epmd", ~c"false", ~c"-epmd_module", Atom.to_charlist(__MODULE__), ~c"-connect_all", ~c"false"] ++
      [~c"-kernel", ~c"inet_dist_use_interface", ~c"{127,0,0,1}", ~c"-setcookie", ~c"rustyjson"]
  end

  @doc "The port of this node."
  @spec port() :: :inet.port_number()
  def port, do: :persistent_term.get({__MODULE__, :port})

  @doc "Tells this node the port of another one, which is named without its host."
  @spec learn(charlist(), :inet.port_number()) :: :ok
  def learn(name, port), do: :persistent_term.put({__MODULE__, name}, port)

  def start_link, do: :ignore
  def listen_port_please(_name, _host), do: {:ok, 0}
  def register_node(name, port), do: register_node(name, port, :inet)

  def register_node(_name, port, _family) do
    :persistent_term.put({__MODULE__, :port}, port)
    {:ok, 1}
  end

  def address_please(_name, _host, _family), do: {:ok, {127, 0, 0, 1}}
  def port_please(name, address), do: port_please(name, address, :infinity)

  def port_please(name, _address, _timeout) do
    case :persistent_term.get({__MODULE__, name}, nil) do
      nil -> :noport
      port -> {:port, port, @version}
    end
  end

  def names(_host), do: {:error, :address}
end
