defmodule RustyJson.PlugParser do
  @moduledoc """
  Parses JSON bodies in a `Plug.Parsers` pipeline.

      plug Plug.Parsers,
        parsers: [:urlencoded, RustyJson.PlugParser],
        pass: ["*/*"],
        length: 1_000_000,
        rustyjson: [policy: :webhook, raw_body: true]

  It replaces `Plug.Parsers.JSON` and accepts the same content types: `application/json`, and those that end with `+json`. A body that
  is not an object becomes the parameter `"_json"`. An empty body gives no parameters.

  ## Options

    * `:rustyjson` - options of `RustyJson.decode/2`, usually a [policy](`RustyJson.Config#module-policies`). In addition,
      `raw_body: true` keeps the body in `conn.assigns.raw_body`, so that you can check a signature
    * `:length`, `:read_length`, `:read_timeout`, `:body_reader` and `:nest_all_json` - as for `Plug.Parsers.JSON`

  Options are checked when the pipeline is built: an option that is misspelt, a value of another type, and a policy that is not in the
  configuration raise `ArgumentError`. So does an option of RustyJson beside `:rustyjson` instead of in it, which would have no effect. If
  another parser takes an option of that name, give it to that parser alone: `parsers: [{OtherParser, timeout: 5}, RustyJson.PlugParser]`.

  By default, a pipeline is built when its module is compiled. If `config/runtime.exs` defines the policy, build the
  pipeline at run time, with `use Plug.Builder, init_mode: :runtime`, or `config :phoenix, plug_init_mode: :runtime`. Each request then
  checks the options; `{RustyJson, policy: :webhook}` in your supervision tree checks the policy at the start.

  ## Errors

  Each error raises an exception with a status, which Plug uses for the response. The message says what is wrong with the body, and
  where.

  | error | exception | status |
  |---|---|---|
  | the body is invalid, or exceeds a limit that does not concern its size | `Plug.Parsers.ParseError` | 400 |
  | the body is longer than `:length`, or exceeds `max_bytes` or `max_nodes` | `Plug.Parsers.RequestTooLargeError` | 413 |
  | the sandbox ran out of time or memory | `RustyJson.SandboxError`, `:timeout` or `:memory_limit` | 413 |
  | no instance became free, or there is no host | `RustyJson.SandboxError`, `:busy` or `:unavailable` | 503 |
  | the module failed | `RustyJson.SandboxError`, `:trap` or `:invalid_result` | 500 |

  If you raise a `RustyJson.SandboxError` elsewhere, it has the same status, in its field `plug_status`.
  """

  # Plug is optional, and can be added later: without it, only the line that names the behaviour is missing.
  if Code.ensure_loaded?(Plug.Parsers), do: @behaviour(Plug.Parsers)

  @compile {:no_warn_undefined,
            [
              Plug.Conn,
              Plug.TimeoutError,
              Plug.BadRequestError,
              Plug.Parsers.RequestTooLargeError,
              Plug.Parsers.ParseError
            ]}

  alias RustyJson.{DecodeError, Options, SandboxError}
  alias RustyJson.Options.{Functions, Unknown}

  # Errors that concern the size of the body.
  @size [:max_bytes, :max_nodes]

  @doc false
  def init(opts) do
    {body_reader, opts} = Keyword.pop(opts, :body_reader, {Plug.Conn, :read_body, []})
    {own, opts} = Keyword.pop(opts, :rustyjson, [])
    Enum.each(opts, &not_beside!/1)

    {%{raw_body: raw_body}, decode} = check!(own)
    {body_reader, %{decode: decode, raw_body: raw_body, nest_all: opts[:nest_all_json] == true}, opts}
  end

  # Plug ignores options that no parser takes: a policy there would have no effect.
  defp not_beside!({name, _value}) do
    wanted =
      cond do
        Unknown.near(name, [:rustyjson]) -> "did you mean rustyjson: [...]?"
        name in Functions.names(:plug_parser) -> "write rustyjson: [#{name}: ...]"
        true -> nil
      end

    if wanted do
      raise ArgumentError,
            "RustyJson.PlugParser does not read the option #{inspect(name)} of Plug.Parsers: #{wanted} " <>
              "(give an option of another parser to that parser: {Parser, [#{name}: ...]})"
    end
  end

  # What a request would fail by. A pipeline can be built before the configuration is complete, when the application is compiled: then
  # all is checked that does not depend on the engine.
  defp check!(given) do
    {own, decode} = Options.split!(:plug_parser, given)
    Options.check!(:decode, decode)
    if Process.whereis(RustyJson.Supervisor), do: Options.decode(decode)
    {own, decode}
  rescue
    error in ArgumentError ->
      reraise ArgumentError,
              [message: "option :rustyjson of Plug.Parsers: #{error.message}"],
              __STACKTRACE__
  end

  @doc false
  def parse(conn, "application", subtype, _headers, {{module, function, arguments}, options, opts}) do
    if subtype == "json" or String.ends_with?(subtype, "+json"),
      do: module |> apply(function, [conn, opts | arguments]) |> read(options),
      else: {:next, conn}
  end

  def parse(conn, _type, _subtype, _headers, _options), do: {:next, conn}

  defp read({:ok, "", conn}, options), do: {:ok, %{}, keep("", conn, options)}

  defp read({:ok, body, conn}, options) do
    case RustyJson.decode(body, options.decode) do
      {:ok, term} -> {:ok, params(term, options), keep(body, conn, options)}
      {:error, error} -> raise exception(error)
    end
  end

  defp read({:more, _body, conn}, _options), do: {:error, :too_large, conn}
  defp read({:error, :timeout}, _options), do: raise(Plug.TimeoutError)
  defp read({:error, _reason}, _options), do: raise(Plug.BadRequestError)

  defp params(term, %{nest_all: false}) when is_map(term) and not is_struct(term), do: term
  defp params(term, _options), do: %{"_json" => term}

  defp keep(body, conn, %{raw_body: true}), do: Plug.Conn.assign(conn, :raw_body, body)
  defp keep(_body, conn, _options), do: conn

  defp exception(%DecodeError{reason: reason} = error) when reason in @size,
    do:
      Plug.Parsers.RequestTooLargeError.exception(
        message: "the request is too large: " <> Exception.message(error)
      )

  defp exception(%SandboxError{} = error), do: error
  defp exception(error), do: Plug.Parsers.ParseError.exception(exception: error)
end
