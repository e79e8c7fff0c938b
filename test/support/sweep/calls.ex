defmodule RustyJson.Test.Sweep.Calls do
  @moduledoc "The calls of the sweep: each public function with an input, and with the values of its own options as ways."

  alias RustyJson.{
    DecodeError,
    EctoType,
    Encode,
    Encoder,
    Feed,
    Formatter,
    Fragment,
    LogFormatter,
    OrderedObject,
    Partial,
    Paths,
    ServerSentEvents
  }

  alias RustyJson.Options.Schema
  alias RustyJson.Test.Schemas.{Item, Nest, Text}
  alias RustyJson.Test.Sweep
  alias RustyJson.Test.Sweep.{Runs, Ways}

  @tagged Ways.tagged()
  @mends [:code_fence, :prose, :trailing_commas, :raw_newlines, :python_literals]
  @limits [
    :max_bytes,
    :max_depth,
    :max_nodes,
    :decoding_integer_digit_limit,
    :policy | Keyword.keys(Schema.entries(:sandbox))
  ]

  @doc "What is measured."
  @spec all() :: [Sweep.call()]
  def all,
    do:
      decoding() ++
        requests() ++
        parts() ++ streams() ++ texts() ++ encoding() ++ pieces_of_encoding() ++ columns() ++ logs()

  defp decoding do
    [
      call({RustyJson, :decode, 2}, :text, :decode, &RustyJson.decode/2, all: true),
      call({RustyJson, :decode!, 2}, :text, :decode, &RustyJson.decode!/2),
      call({RustyJson, :valid?, 2}, :text, :decode, &RustyJson.valid?/2),
      call(
        {RustyJson, :decode, 3},
        :text,
        :none,
        fn text, [] -> RustyJson.decode(text, 0, Runs.decoders()) end,
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

  # Only where Plug is among the dependencies.
  defp requests do
    if Code.ensure_loaded?(Plug.Parsers),
      do: [call({RustyJson.PlugParser, :parse, 5}, :text, :decode, &Runs.request/2, ways: [[raw_body: true]])],
      else: []
  end

  defp parts do
    ways = [[missing: {:default, 1}], [validate: false], [as: :raw]]
    pointers = ["/0", "/key1000002", "/9/nowhere", "/a/a/a"]

    [
      call({RustyJson, :fetch, 3}, :text, :decode, &RustyJson.fetch(&1, "/1/id", &2), ways: ways),
      call({RustyJson, :fetch!, 3}, :text, :decode, &RustyJson.fetch!(&1, "/key", &2)),
      call({RustyJson, :select, 3}, :text, :decode, &RustyJson.select(&1, pointers, &2), ways: ways),
      call({Paths, :new!, 1}, :text, :none, fn text, [] -> inspect(Paths.new!([Runs.pointer(text)])) end),
      call({DecodeError, :explain, 1}, :text, :decode, fn text, options ->
        with {:error, %DecodeError{} = error} <- RustyJson.decode(text, options),
             do: DecodeError.explain(error)
      end)
    ]
  end

  defp streams do
    formats = [[format: :values], [format: :lines], [format: :seq], [format: :array]]

    ways =
      formats ++ [[at: "/*"], [at: "/*/*", with_pointer: true], [on_error: :tag], [max_total_bytes: 5_000]]

    select = [select: ["/0", "/key1000002", "/a/a/a"]]
    ways = [[format: :lines, on_error: :tag], [format: :lines] ++ select, select ++ [columns: 10] | ways]

    [
      call(
        {RustyJson, :decode_stream, 2},
        :text,
        :decode,
        &Enum.to_list(RustyJson.decode_stream(Runs.pieces(&1), &2)),
        ways: ways,
        sole: false
      ),
      call({Feed, :push, 2}, :text, :decode, &Runs.fed/2,
        ways: ways,
        sole: false,
        with: [{Feed, :new, 1}, {Feed, :finish, 1}]
      ),
      call({RustyJson.Lines, :stream, 3}, :text, :decode, &Runs.lines/2,
        with: [{RustyJson.Lines, :ranges, 2}],
        sole: false
      ),
      call({ServerSentEvents, :push, 2}, :text, :none, &Runs.events/2,
        with: for(name <- [new: 1, finish: 1, done?: 1], do: of_events(name))
      ),
      call({ServerSentEvents, :stream, 2}, :text, :none, &Runs.lines_of_events/2)
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
      call({Partial, :push, 2}, :text, :decode, &Runs.grown/2,
        ways: ways,
        sole: false,
        with: [{Partial, :new, 1}, {Partial, :value, 1}, {Partial, :finish, 2}, {Partial, :mended, 1}]
      ),
      call({Partial, :push_changes, 2}, :text, :decode, &Runs.changes/2, ways: ways, sole: false)
    ]
  end

  defp of_events({name, arity}), do: {ServerSentEvents, name, arity}

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
        RustyJson.protocol_encode(term, &RustyJson.protocol_encode/2)
      end),
      call({RustyJson, :encode_to_iodata, 2}, :term, :encode, &RustyJson.encode_to_iodata/2),
      call({RustyJson, :encode_to_iodata!, 2}, :term, :encode, &RustyJson.encode_to_iodata!/2),
      call({RustyJson, :encode_stream, 2}, :term, :encode, &Enum.to_list(RustyJson.encode_stream(&1, &2)),
        ways: ways,
        sole: false
      )
    ]
  end

  # What encoders of applications call.
  defp pieces_of_encoding do
    for {name, wrap} <- [value: & &1, list: &[&1], map: &%{"a" => &1}, keyword: &[a: &1]] do
      call({Encode, name, 2}, :term, :encode, &apply(Encode, name, [wrap.(&1), Runs.packed(&2)]))
    end ++
      [
        call({Encoder, :encode, 2}, :term, :encode, &Encoder.encode(&1, Runs.packed(&2))),
        call(
          {Encode, :struct, 2},
          :term,
          :encode,
          &Encode.struct(OrderedObject.new([{"a", &1}]), Runs.packed(&2))
        ),
        call({Encode, :string, 2}, :text, :encode, &Encode.string(&1, Runs.packed(&2))),
        call({Encode, :key, 2}, :text, :encode, &Encode.key(&1, Runs.packed(&2)))
      ]
  end

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
      call({LogFormatter, :format, 2}, :term, :log, &Runs.line(%{report: &1}, %{}, &2),
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
end
