defmodule RustyJson.CLI.Output do
  @moduledoc false
  # Standard output whose reader may end early, such as `head`.

  @doc "What the function returns, or `:closed` if nobody reads its output any more. Then nothing is logged either."
  @spec unless_closed((() -> result)) :: result | :closed when result: term()
  def unless_closed(fun) do
    without_log(fun)
  rescue
    # Erlang reports `:terminated`, or a bad argument where it has another reason.
    error in [ErlangError, ArgumentError] ->
      if closed?(), do: :closed, else: reraise(error, __STACKTRACE__)
  end

  defp closed?, do: :file.write(:standard_io, "\n") != :ok

  @doc "Runs the function without the log: when a reader such as `head` ends, OTP 28 and newer log a crash."
  @spec without_log((() -> result)) :: result when result: term()
  def without_log(fun) do
    %{level: level} = :logger.get_primary_config()
    :logger.set_primary_config(:level, :none)

    try do
      fun.()
    after
      :logger.set_primary_config(:level, level)
    end
  end
end
