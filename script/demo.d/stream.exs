# The program behind `script/demo --stream`: a page in which a sample answer of a language model arrives, and a typed struct fills in.
#
# Erlang's own HTTP server (httpd, of inets) serves the page and a stream of server-sent events, on the loopback interface only.

defmodule Demo.Stream.Stop do
  @moduledoc false
  use RustyJson.Schema, description: "One stop of the trip", encoder: false

  schema do
    field(:city, :string, max_length: 40)
    field(:arrival, :date)
    field(:nights, :integer, min: 1, max: 14)
    field(:sights, [:string], max_length: 5)
  end
end

defmodule Demo.Stream.Trip do
  @moduledoc false
  use RustyJson.Schema, description: "A trip by train", encoder: false

  schema do
    field(:title, :string, max_length: 80)
    field(:summary, :string, description: "Two sentences at most", max_length: 300)
    field(:pace, {:enum, [:slow, :balanced, :fast]})
    field(:budget, :integer, description: "In euros", min: 0)
    field(:stops, [Demo.Stream.Stop], min_length: 1)
  end
end

defmodule Demo.Stream.Shown do
  @moduledoc "Values as the page gets them: a struct is an object whose first member is its name, and other terms of Elixir are text."

  alias RustyJson.OrderedObject

  def value(%module{} = struct) do
    if function_exported?(module, :__rustyjson_schema__, 0),
      do: OrderedObject.new([{"%", name(module)} | fields(module, struct)]),
      else: %{"$" => inspect(struct)}
  end

  def value(list) when is_list(list), do: Enum.map(list, &value/1)
  def value(atom) when is_atom(atom) and atom not in [nil, true, false], do: %{"$" => inspect(atom)}
  def value(other), do: other

  defp fields(module, struct) do
    for %{name: name} <- module.__rustyjson_schema__().fields,
        do: {Atom.to_string(name), value(Map.fetch!(struct, name))}
  end

  defp name(module), do: module |> Module.split() |> List.last()

  def change({pointer, {:set, value}}), do: [pointer, "set", value(value)]
  def change({pointer, {:append, text}}), do: [pointer, "append", text]
end

defmodule Demo.Stream.Answer do
  @moduledoc "Reads a recorded stream in chunks, as a network would cut it, and tells what comes of each."

  alias Demo.Stream.{Shown, Trip}
  alias RustyJson.{DecodeError, Partial, ServerSentEvents}

  @chunk 180
  @mends [:code_fence, :prose, :trailing_commas, :raw_newlines]

  def type, do: Trip

  @doc "Calls `tell` with the name and the data of each event; it returns :stop when nobody listens any more."
  def tell(name, options, tell) do
    partial = Partial.new([as: Trip, errors: :all, lenient: @mends] ++ options)

    name
    |> chunks()
    |> Enum.reduce_while({ServerSentEvents.new(), partial}, fn chunk, {stream, partial} ->
      {:ok, events, stream} = ServerSentEvents.push(stream, chunk)
      text = Enum.map_join(events, &delta/1)
      {:ok, changes, partial} = Partial.push_changes(partial, text)
      piece = %{act: name, text: text, changes: Enum.map(changes, &Shown.change/1)}
      if tell.("piece", piece) == :stop, do: {:halt, :stop}, else: {:cont, {stream, partial}}
    end)
    |> finish(name, tell)
  end

  defp finish(:stop, _name, _tell), do: :stop

  defp finish({stream, partial}, name, tell) do
    true = ServerSentEvents.done?(stream)
    mended = for {mend, position} <- Partial.mended(partial), do: [mend, position]

    case Partial.finish(partial) do
      {:ok, value} -> tell.("whole", %{act: name, value: Shown.value(value), mended: mended})
      {:error, error} -> tell.("errors", Map.merge(%{act: name, mended: mended}, errors(error)))
    end
  end

  defp errors(error) do
    listed = for error <- error.errors, do: %{path: error.path, message: Exception.message(error)}

    prompt =
      "Your answer does not follow the schema. Correct it, and send the whole document again.\n\n" <>
        DecodeError.explain(error)

    %{errors: listed, prompt: prompt}
  end

  @doc "The recorded stream, in chunks that end anywhere."
  def chunks(name), do: __DIR__ |> Path.join("stream/#{name}.sse") |> File.read!() |> cut()

  defp cut(<<chunk::binary-size(@chunk), rest::binary>>), do: [chunk | cut(rest)]
  defp cut(rest), do: [rest]

  @doc "The text in an event. The one that tells the usage has no choices, and the first one of an answer no text."
  def delta(%{data: data}) do
    case RustyJson.fetch(data, "/choices/0/delta/content") do
      {:ok, text} when is_binary(text) -> text
      none when none in [:error, {:ok, nil}] -> ""
    end
  end
end

defmodule Demo.Stream.Live do
  @moduledoc "What httpd calls for `/live/Elixir.Demo.Stream.Live:events?pace=45&engine=native`."

  alias Demo.Stream.Answer

  @headers ~c"Content-Type: text/event-stream; charset=utf-8\r\n\r\n"
  @pace 45
  @slowest 1_000

  def events(session, _env, query) do
    query = query |> to_string() |> URI.decode_query()
    pace = pace(query["pace"])
    :ok = apply(:mod_esi, :deliver, [session, @headers])
    tell = fn name, data -> send_event(session, pace, name, data) end
    told = Enum.reduce_while(~w(answer broken retry), :ok, &answer(&1, &2, query["engine"], tell))
    if told != :stop, do: tell.("end", %{})
  end

  @doc "The engines that are there."
  def engines do
    for {name, options} <- [native: [engine: :native], wasm: [engine: :wasm]],
        match?({:ok, []}, RustyJson.decode("[]", options)),
        do: name
  rescue
    RustyJson.EngineError -> [RustyJson.engine()]
  end

  defp answer(name, _told, engine, tell) do
    options = for there <- engines(), Atom.to_string(there) == engine, do: {:engine, there}
    begun = tell.("begin", %{act: name, engines: engines()})
    if begun == :stop or Answer.tell(name, options, tell) == :stop, do: {:halt, :stop}, else: {:cont, :ok}
  end

  defp send_event(session, pace, name, data) do
    text = "event: #{name}\ndata: #{RustyJson.encode!(data)}\n\n"
    :ok = apply(:mod_esi, :deliver, [session, text])
    Process.sleep(pace)
    if left?(session), do: :stop, else: :ok
  end

  # httpd does not say that the browser has left. The process of its request then lives on without its socket.
  defp left?(session) when is_pid(session) do
    case Process.info(session, :links) do
      {:links, links} -> not Enum.any?(links, &is_port/1)
      nil -> true
    end
  end

  defp left?(_session), do: false

  defp pace(text) do
    case Integer.parse(text || "") do
      {pace, ""} when pace in 0..@slowest -> pace
      _other -> @pace
    end
  end
end

defmodule Demo.Stream.Server do
  @moduledoc "The server, on the loopback interface."

  @folder String.to_charlist(Path.join(__DIR__, "stream"))

  @doc "Starts it at this port, 0 for any, and returns its process and its address."
  def start(port) do
    RustyJson.Build.Tools.start(:inets)

    with {:ok, server} <- apply(:inets, :start, [:httpd, options(port)]),
         do: {:ok, server, "http://127.0.0.1:#{apply(:httpd, :info, [server])[:port]}/"}
  end

  def stop(server), do: apply(:inets, :stop, [:httpd, server])

  defp options(port) do
    [
      port: port,
      bind_address: {127, 0, 0, 1},
      server_name: ~c"demo",
      server_root: @folder,
      document_root: @folder,
      directory_index: [~c"index.html"],
      mime_types: [{~c"html", ~c"text/html; charset=utf-8"}, {~c"sse", ~c"text/plain; charset=utf-8"}],
      modules: [:mod_alias, :mod_esi, :mod_get, :mod_head],
      erl_script_alias: {~c"/live", [Demo.Stream.Live]},
      erl_script_nocache: true,
      max_clients: 50,
      max_body_size: 1_024,
      max_uri_size: 1_024,
      server_tokens: :none
    ]
  end

  def main(port) do
    # The supervisors of httpd would report a port that is taken in 60 lines.
    :logger.set_primary_config(:level, :none)
    started = start(port)
    :logger.set_primary_config(:level, :notice)

    case started do
      {:ok, _server, url} ->
        IO.puts("Open #{url} in a browser. Press Ctrl-C twice to stop.")
        Process.sleep(:infinity)

      {:error, reason} ->
        IO.puts(:stderr, "script/demo: cannot listen on port #{port}: #{why(reason)}")
        System.halt(1)
    end
  end

  # The reason stands deep down in those of the supervisors.
  defp why(reason) do
    case Regex.run(~r/{:listen, :(\w+)}/, inspect(reason, limit: :infinity)) do
      [_, name] -> name |> String.to_existing_atom() |> :inet.format_error()
      nil -> inspect(reason)
    end
  end
end
