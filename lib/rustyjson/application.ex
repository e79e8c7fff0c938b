defmodule RustyJson.Application do
  @moduledoc false

  use Application

  @impl true
  def start(_type, _args) do
    RustyJson.Config.reload()
    Supervisor.start_link([], strategy: :one_for_one, name: RustyJson.Supervisor)
  end
end
