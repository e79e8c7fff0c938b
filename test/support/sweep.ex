defmodule RustyJson.Test.Sweep do
  @moduledoc """
  The table of the sweep: public functions, and values of every option.

  `test/engines/sweep_test.exs` fails when a public function, an option, or a value of an option is missing here, so whoever adds one
  adds a line. A call gets an input of a shape (`RustyJson.Test.Sweep.Inputs`) and the options of a way.
  """

  alias RustyJson.{
    DecodeError,
    EctoType,
    Encode,
    Encoder,
    Feed,
    Formatter,
    Fragment,
    LogFormatter,
    Options,
    OrderedObject,
    Partial,
    Paths,
    ServerSentEvents
  }

  alias RustyJson.Options.Schema
  alias RustyJson.Test.Judge
  alias RustyJson.Test.Schemas.{Item, Leaf, Nest, Text, Twig}

  @typedoc """
  `takes` says which options the call takes, `sole` that its `:timeout` covers all of it. `all` says that every way is measured with it.
  `times` makes inputs larger, where 20 KB are one slice of work and 200 KB several: a step, and no growth.
  """
  @type call :: %{
          name: mfa() | {module(), atom(), arity()},
          input: :text | :term,
          takes: :decode | :encode | :format | :log | :none,
          ways: [keyword()],
          sole: boolean(),
          all: boolean(),
          times: pos_integer(),
          run: (term(), keyword() -> term())
        }

  @piece 1_000
  @tagged {:tagged, "t", %{"leaf" => Leaf, "twig" => Twig}}
  # A text that is indented without a limit of depth is longer than any memory: its size is that of the term, squared.
  @indented [max_bytes: 2_000_000]
  @mends [:code_fence, :prose, :trailing_commas, :raw_newlines, :python_literals]
  @limits [
    :max_bytes,
    :max_depth,
    :max_nodes,
    :decoding_integer_digit_limit,
    :policy | Keyword.keys(Schema.entries(:sandbox))
  ]

  @doc "What is measured."
  @spec calls() :: [call()]
  def calls,
    do:
      decoding() ++
        requests() ++
        parts() ++ streams() ++ texts() ++ encoding() ++ pieces_of_encoding() ++ columns() ++ logs()

  defp decoding do
    [
      call({RustyJson, :decode, 2}, :text, :decode, &RustyJson.decode/2, all: true),
      call({RustyJson, :decode!, 2}, :text, :decode, &RustyJson.decode!/2),
      call({RustyJson, :valid?, 2}, :text, :decode, &RustyJson.valid?/2),
      call({RustyJson, :decode, 3}, :text, :none, fn text, [] -> RustyJson.decode(text, 0, decoders()) end,
        sole: false
      ),
      call({RustyJson.Decoder, :parse, 2}, :text, :decode, &RustyJson.Decoder.parse/2),
      call({RustyJson, :decode_many, 2}, :text, :decode, &RustyJson.decode_many([&1, "[1]", &1], &2)),
      call(
        {RustyJson, :canonicalize, 2},
        :text,
        :decode,
        &RustyJson.canonicalize(&1, Keyword.take(&2, [:engine | @limits]))
      )
    ]
  end

  # Numbers have their text, and everything else passes through a function.
  defp decoders do
    [float: & &1, integer: & &1, string: & &1, array_push: &[&1 | &2], object_push: &[{&1, &2} | &3]]
  end

  # Only where Plug is among the dependencies.
  defp requests do
    if Code.ensure_loaded?(Plug.Parsers),
      do: [call({RustyJson.PlugParser, :parse, 5}, :text, :decode, &request/2, ways: [[raw_body: true]])],
      else: []
  end

  defp request(text, options) do
    reader = {__MODULE__, :body, [text]}
    options = apply(RustyJson.PlugParser, :init, [[rustyjson: options, body_reader: reader]])

    {:ok, params, _conn} =
      apply(RustyJson.PlugParser, :parse, [struct(Plug.Conn), "application", "json", %{}, options])

    params
  end

  @doc false
  def body(conn, _options, text), do: {:ok, text, conn}

  defp parts do
    ways = [[missing: {:default, 1}], [validate: false], [as: :raw]]
    pointers = ["/0", "/key1000002", "/9/nowhere", "/a/a/a"]

    [
      call({RustyJson, :fetch, 3}, :text, :decode, &RustyJson.fetch(&1, "/1/id", &2), ways: ways),
      call({RustyJson, :fetch!, 3}, :text, :decode, &RustyJson.fetch!(&1, "/key", &2)),
      call({RustyJson, :select, 3}, :text, :decode, &RustyJson.select(&1, pointers, &2), ways: ways),
      call({Paths, :new!, 1}, :text, :none, fn text, [] -> inspect(Paths.new!([pointer(text)])) end),
      call({DecodeError, :explain, 1}, :text, :decode, fn text, options ->
        with {:error, %DecodeError{} = error} <- RustyJson.decode(text, options),
             do: DecodeError.explain(error)
      end)
    ]
  end

  defp pointer(text), do: "/" <> (text |> String.replace("~", "~0") |> String.replace("/", "~1"))

  defp streams do
    formats = [[format: :values], [format: :lines], [format: :seq], [format: :array]]

    ways =
      formats ++ [[at: "/*"], [at: "/*/*", with_pointer: true], [on_error: :tag], [max_total_bytes: 5_000]]

    select = [select: ["/0", "/key1000002", "/a/a/a"]]
    ways = [[format: :lines, on_error: :tag], [format: :lines] ++ select, select ++ [columns: 10] | ways]

    [
      call({RustyJson, :decode_stream, 2}, :text, :decode, &listed(RustyJson.decode_stream(pieces(&1), &2)),
        ways: ways,
        sole: false
      ),
      call({Feed, :push, 2}, :text, :decode, &fed/2,
        ways: ways,
        sole: false,
        with: [{Feed, :new, 1}, {Feed, :finish, 1}]
      ),
      call({RustyJson.Lines, :stream, 3}, :text, :decode, &lines/2,
        with: [{RustyJson.Lines, :ranges, 2}],
        sole: false
      ),
      call({ServerSentEvents, :push, 2}, :text, :none, &events/2,
        with: for(name <- [new: 1, finish: 1, done?: 1], do: of_events(name))
      ),
      call({ServerSentEvents, :stream, 2}, :text, :none, &lines_of_events/2)
    ] ++ partial()
  end

  defp partial do
    ways =
      for(value <- [:keep, :strings, :drop], do: [trailing: value]) ++
        for(type <- [@tagged, [@tagged], [Item], [Text], Nest, {:map, [:integer]}], do: [as: type]) ++
        [
          [as: [@tagged], duplicate_keys: :error],
          [as: [:string], errors: :all],
          [lenient: @mends],
          [lenient: @mends, as: [Item], errors: :all]
        ]

    [
      call({RustyJson, :decode_partial, 2}, :text, :decode, &RustyJson.decode_partial/2,
        ways: ways,
        times: 5,
        sole: false
      ),
      call({Partial, :push, 2}, :text, :decode, &grown/2,
        ways: ways,
        sole: false,
        with: [{Partial, :new, 1}, {Partial, :value, 1}, {Partial, :finish, 2}, {Partial, :mended, 1}]
      ),
      call({Partial, :push_changes, 2}, :text, :decode, &changes/2, ways: ways, sole: false)
    ]
  end

  defp of_events({name, arity}), do: {ServerSentEvents, name, arity}

  defp listed(stream), do: Enum.to_list(stream)

  defp fed(text, options) do
    text
    |> pieces()
    |> Enum.reduce_while({Feed.new(options), []}, fn piece, {feed, done} ->
      case Feed.push(feed, piece) do
        {:ok, items, feed} -> {:cont, {feed, [items | done]}}
        {:error, error, items, _feed} -> {:halt, {:error, error, [items | done]}}
      end
    end)
    |> case do
      {feed, done} -> {done, Feed.finish(feed)}
      failed -> failed
    end
  end

  defp lines(text, options) do
    path = Path.join(System.tmp_dir!(), "rustyjson_sweep_#{System.unique_integer([:positive])}.ndjson")
    File.write!(path, text)

    try do
      for range <- RustyJson.Lines.ranges(path, 3), do: listed(RustyJson.Lines.stream(path, range, options))
    after
      File.rm!(path)
    end
  end

  # Each line of the text is a line of data, and the text is one event.
  defp events(text, []) do
    chunks = pieces(<<replaced(text, ?\n, "\ndata:", "data:")::binary, "\n\n">>)

    Enum.reduce_while(chunks, {ServerSentEvents.new(max_bytes: 0), []}, fn chunk, {stream, done} ->
      case ServerSentEvents.push(stream, chunk) do
        {:ok, events, stream} -> {:cont, {stream, [events | done]}}
        failed -> {:halt, failed}
      end
    end)
  end

  # The text as it is: lines without an end, or many without a field; and each of them as an event.
  defp lines_of_events(text, []) do
    events = text |> replaced(?\n, "\n\ndata:", "") |> replaced(?,, ",\r\rdata:", "")

    for text <- [text, events],
        do: text |> pieces() |> ServerSentEvents.stream(max_bytes: 0) |> Enum.to_list()
  end

  # Without a list of all places, which `String.replace/3` makes: its collections would be measured.
  defp replaced(<<byte, rest::binary>>, byte, text, done),
    do: replaced(rest, byte, text, <<done::binary, text::binary>>)

  defp replaced(<<other, rest::binary>>, byte, text, done),
    do: replaced(rest, byte, text, <<done::binary, other>>)

  defp replaced("", _byte, _text, done), do: done

  # The value is asked for now and then, because it takes time for all children of what is open.
  defp grown(text, options) do
    text
    |> pieces()
    |> Enum.reduce_while(Partial.new(options), &pushed(Partial.push(&2, &1)))
    |> case do
      %Partial{} = partial -> {Partial.value(partial), Partial.finish(partial)}
      failed -> failed
    end
  end

  defp pushed({:ok, partial}), do: {:cont, partial}
  defp pushed(failed), do: {:halt, failed}

  defp changes(text, options) do
    text
    |> pieces()
    |> Enum.reduce_while({Partial.new(options), []}, fn piece, {partial, done} ->
      case Partial.push_changes(partial, piece) do
        {:ok, changes, partial} -> {:cont, {partial, kept(changes, done, text)}}
        {:error, error} -> {:halt, {:error, error, done}}
      end
    end)
    |> then(fn
      {%Partial{}, done} -> done
      failed -> failed
    end)
  end

  # Of a long document only their number: a caller passes them on, and to keep all of them would be its memory.
  defp kept(changes, done, text) when byte_size(text) <= 10 * @piece, do: [changes | done]
  defp kept(changes, _done, _text), do: length(changes)

  defp pieces(text) when byte_size(text) <= @piece, do: [text]

  defp pieces(text) do
    Stream.unfold(text, fn
      "" -> nil
      <<piece::binary-size(@piece), rest::binary>> -> {piece, rest}
      rest -> {rest, ""}
    end)
  end

  defp texts do
    ways = [
      [indent: 1],
      [indent: "\t"],
      [line_separator: "\r\n"],
      [record_separator: "|"],
      [after_colon: ""],
      [max_bytes: 3_000]
    ]

    own = [ways: ways, with: []]

    [
      call({Formatter, :pretty_print, 2}, :text, :format, &Formatter.pretty_print/2, own),
      call({Formatter, :pretty_print_to_iodata, 2}, :text, :format, &Formatter.pretty_print_to_iodata/2),
      call({Formatter, :minimize, 2}, :text, :format, &Formatter.minimize/2, own),
      call({Formatter, :minify, 2}, :text, :format, &Formatter.minify/2),
      call({Formatter, :minimize_to_iodata, 2}, :text, :format, &Formatter.minimize_to_iodata/2),
      call({Fragment, :new!, 1}, :text, :none, fn text, [] -> Fragment.new!(text) end,
        with: [{Fragment, :new, 1}]
      )
    ]
  end

  defp encoding do
    ways = [[format: :array], [format: :lines], [format: :seq], [flush: 500]]

    [
      call({RustyJson, :encode, 2}, :term, :encode, &RustyJson.encode/2,
        all: true,
        with: [{RustyJson, :lazy, 1}]
      ),
      call({RustyJson, :encode!, 2}, :term, :encode, &RustyJson.encode!/2),
      call({RustyJson, :protocol_encode, 2}, :term, :none, fn term, [] ->
        IO.iodata_to_binary(RustyJson.protocol_encode(term, &RustyJson.protocol_encode/2))
      end),
      call({RustyJson, :encode_to_iodata, 2}, :term, :encode, &RustyJson.encode_to_iodata/2),
      call({RustyJson, :encode_to_iodata!, 2}, :term, :encode, &RustyJson.encode_to_iodata!/2),
      call({RustyJson, :encode_stream, 2}, :term, :encode, &listed(RustyJson.encode_stream(&1, &2)),
        ways: ways,
        sole: false
      )
    ]
  end

  # What encoders of applications call.
  defp pieces_of_encoding do
    for {name, wrap} <- [value: & &1, list: &[&1], map: &%{"a" => &1}, keyword: &[a: &1]] do
      call({Encode, name, 2}, :term, :encode, &apply(Encode, name, [wrap.(&1), packed(&2)]))
    end ++
      [
        call({Encoder, :encode, 2}, :term, :encode, &Encoder.encode(&1, packed(&2))),
        call(
          {Encode, :struct, 2},
          :term,
          :encode,
          &Encode.struct(OrderedObject.new([{"a", &1}]), packed(&2))
        ),
        call({Encode, :string, 2}, :text, :encode, &Encode.string(&1, packed(&2))),
        call({Encode, :key, 2}, :text, :encode, &Encode.key(&1, packed(&2)))
      ]
  end

  defp packed(options), do: Options.encode(options)

  # JSON columns of Ecto.
  defp columns do
    [
      call({EctoType, :decode, 2}, :text, :decode, &EctoType.decode(Fragment.new(&1), &2),
        with: [{EctoType, :decode!, 2}]
      ),
      call({EctoType, :text, 1}, :term, :none, fn term, [] -> EctoType.text(term) end),
      call({EctoType.Columns, :decode!, 1}, :text, :none, fn text, [] -> EctoType.Columns.decode!(text) end),
      call({EctoType.Columns, :encode!, 1}, :term, :none, fn term, [] -> EctoType.Columns.encode!(term) end,
        with: [{EctoType.Columns, :encode_to_iodata!, 1}]
      )
    ]
  end

  defp logs do
    [
      call({LogFormatter, :format, 2}, :term, :log, &line(%{report: &1}, %{}, &2),
        ways: [
          [metadata: []],
          [metadata: {:all_except, [:pid]}],
          [names: [level: "severity"]],
          [levels: [info: "INFO"]],
          [flat: true],
          [preset: :google_cloud],
          [preset: :datadog],
          [preset: :elastic],
          [max_bytes: 2_000],
          [max_depth: 5],
          [redact: [:name]],
          [redact: [:id], redacted: "***"],
          [key_case: :camel],
          [escape: :unicode_safe],
          [engine: :auto]
        ],
        with: [{LogFormatter, :new, 1}, {LogFormatter, :check_config, 1}],
        sole: false
      ),
      call({LogFormatter, :format, 4}, :term, :none, fn term, [] ->
        IO.iodata_to_binary(LogFormatter.format(:info, "in", {{2024, 2, 29}, {12, 0, 0, 0}}, term: term))
      end)
    ]
  end

  defp line(report, meta, options) do
    event = %{level: :info, msg: {:report, report}, meta: Map.merge(%{time: 0, report: report}, meta)}
    {LogFormatter, config} = LogFormatter.new(options)
    event |> LogFormatter.format(config) |> IO.iodata_to_binary()
  end

  defp call(name, input, takes, run, more \\ []) do
    base = %{
      name: name,
      input: input,
      takes: takes,
      run: run,
      ways: [],
      with: [],
      sole: takes in [:decode, :encode],
      all: false,
      times: 1
    }

    Map.merge(base, Map.new(more))
  end

  @doc "Public functions that are not measured, with the reason."
  @spec small() :: [{mfa() | {module(), atom(), arity()}, String.t()}]
  def small do
    settings = "takes and gives a few settings"
    source = "works on source code, when it is compiled"
    one = "one number or atom"
    constant = "makes a struct, in constant time"
    object = "a linear search in a list"

    for(
      name <- [engine: 0, engine_info: 0, stats: 0, start_engine: 1, child_spec: 1, start_link: 1],
      do: of(RustyJson, name, settings)
    ) ++
      [of(RustyJson.Config, {:reload, 0}, settings), of(Encode, {:opts, 1}, settings)] ++
      for(name <- [integer: 1, float: 1, atom: 2], do: of(Encode, name, one)) ++
      for(name <- [fetch: 2, get_and_update: 3, pop: 3, new: 1], do: of(OrderedObject, name, object)) ++
      for(name <- [schema: 1, field: 3, json_schema: 2], do: of(RustyJson.Schema, name, source)) ++
      for(name <- [sigil_j: 2, sigil_J: 2], do: of(RustyJson.Sigil, name, source)) ++
      for(name <- [json_map: 1, json_map_take: 2], do: of(RustyJson.Helpers, name, source)) ++
      for(
        name <- [events: 0, attach_default_logger: 1, detach_default_logger: 0],
        do: of(RustyJson.Telemetry, name, settings)
      ) ++
      [of(RustyJson.EncodeError, {:new, 1}, constant), of(RustyJson.SandboxError, {:new, 2}, constant)]
  end

  defp of(module, {name, arity}, reason), do: {{module, name, arity}, reason}

  @doc "Names of the functions in the table."
  @spec known() :: [{module(), atom(), arity()}]
  def known, do: Enum.flat_map(calls(), &[&1.name | &1.with]) ++ Enum.map(small(), &elem(&1, 0))

  @doc "Values of the options of a direction, each on its own, or with those that it needs."
  @spec ways(:decode | :encode) :: [keyword()]
  def ways(:decode) do
    [
      [keys: :strings],
      [keys: :atoms],
      [keys: :atoms!],
      [keys: :copy],
      [keys: :intern],
      [keys: &String.upcase/1],
      [strings: :reference],
      [strings: :copy],
      [floats: :native],
      [floats: :decimals],
      [floats: :decimals, max_decimal_digits: :infinity, max_decimal_exponent: :infinity],
      [objects: :maps],
      [objects: :ordered_objects],
      [duplicate_keys: :last],
      [duplicate_keys: :first],
      [duplicate_keys: :error],
      [duplicate_keys: :error, objects: :ordered_objects],
      [decoding_integer_digit_limit: 100],
      [max_nodes: 1_000],
      [validate_strings: false],
      [null: nil],
      [null: :null],
      [null: :undefined],
      [raw: ["/*/name", "/key"]],
      [raw: ["/*"], strings: :copy],
      [as: @tagged],
      [as: [@tagged], duplicate_keys: :first],
      [as: {:map, :integer}],
      [as: [:decimal]],
      [as: [:date], errors: :all],
      [as: [:string], errors: :first],
      [as: [:string], errors: :all],
      [as: [:string], errors: :all, max_errors: 10_000],
      [as: [Leaf], errors: :all],
      [as: [Item]],
      [as: [Item], errors: :all],
      [as: [Text], errors: :all],
      [as: Nest, errors: :all],
      [dirty_threshold: 1_000],
      [dirty_threshold: 0]
    ] ++ common()
  end

  def ways(:encode) do
    for(value <- [true, false, 4, "\t", [indent: " ", after_colon: ""]], do: [pretty: value]) ++
      for(value <- Schema.atoms(Schema.entries(:encode)[:escape].type), do: [escape: value]) ++
      for(value <- [:none, :gzip, false, nil, {:gzip, 1}], do: [compress: value]) ++
      for(value <- [:auto, :normal, :dirty], do: [scheduler: value]) ++
      [
        [maps: :naive],
        [maps: :strict],
        [sort_keys: true],
        [canonical: true],
        [protocol: false],
        [invalid_utf8: :error],
        [invalid_utf8: :replace],
        [invalid_utf8: :replace, sort_keys: true, maps: :strict],
        [integers: :exact],
        [integers: :js_safe],
        [unsupported: :error],
        [unsupported: :inspect],
        [unsupported: fn _term -> "unsupported" end],
        [key_case: nil],
        [key_case: :camel],
        [key_case: %{id: "number"}],
        [omit: [nil]],
        [redact: ["name", :key]],
        [redact: [contains: ["k"]]],
        [redact: ["/*/id"], redacted: "***"],
        [lean: true],
        [null: nil],
        [null: :null],
        [null: :undefined]
      ] ++ common()
  end

  defp common do
    [
      [max_bytes: 5_000],
      [max_depth: 50],
      [max_depth: :infinity],
      [policy: :sweep],
      [engine: :auto],
      [engine: :native],
      [engine: :wasm],
      [pool_size: 2],
      [pool_size: :schedulers],
      [max_memory: 100_000_000],
      [timeout: 60_000],
      [isolation: :reuse],
      [isolation: :fresh]
    ] ++ for(host <- Schema.atoms(Schema.entries(:sandbox)[:host].type), do: [host: host])
  end

  @doc "Whether the way holds a normal scheduler on purpose."
  @spec holds?(keyword()) :: boolean()
  def holds?(way), do: way[:dirty_threshold] == 0 or way[:scheduler] == :normal

  @doc "The options of a run, or nil where the engine does not have them."
  @spec options(call(), atom(), keyword(), keyword(), keyword()) :: keyword() | nil
  def options(call, engine, chosen, way, shape) do
    shape = if shape != [] and way[:pretty], do: @indented ++ shape, else: shape
    sandbox = Keyword.keys(Schema.entries(:sandbox))

    cond do
      call.takes == :none -> if way == [], do: []
      way[:host] == :wasmex and not Judge.available?(:wasmex) -> nil
      call.takes == :format -> [policy: :"sweep_#{engine}"] ++ way
      call.takes == :log -> Keyword.take(chosen, [:engine]) ++ way
      way[:engine] -> Keyword.merge(shape, way)
      engine == :native -> Enum.reduce([chosen, Keyword.drop(way, sandbox)], shape, &Keyword.merge(&2, &1))
      true -> Enum.reduce([chosen, way], shape, &Keyword.merge(&2, &1))
    end
  end

  @doc "The policies that the calls name, for the configuration."
  @spec policies() :: keyword()
  def policies,
    do: [
      {:sweep, [max_depth: 120]} | for({name, options} <- Judge.engines(), do: {:"sweep_#{name}", options})
    ]
end
