defmodule RustyJson.Options.Functions do
  @moduledoc false
  # The functions that have options of their own, or take only some of those of decode/2 or encode/2.
  #
  # `call` names the function in errors. `own` are entries as in RustyJson.Options.Schema; a default of nil is one that the function
  # chooses. `of` says whose options it takes besides, all of them or these. `strict` functions raise for unknown options also where
  # the application's configuration says that they are ignored.

  alias RustyJson.Options.Schema

  @type function_name ::
          :decode_stream
          | :parts
          | :partial
          | :finish_partial
          | :canonicalize
          | :encode_stream
          | :formatter
          | :plug_parser
          | :start_engine
          | :default_logger
          | :server_sent_events
          | :json_schema
          | :schema
  @type t :: %{
          required(:call) => String.t(),
          required(:own) => [{atom(), Schema.entry()}],
          required(:of) => nil | {:decode | :encode, :all | {:all_but, [atom()]} | [atom()]},
          optional(:strict) => true
        }

  @u48 0xFFFF_FFFF_FFFF
  @u62 0x3FFF_FFFF_FFFF_FFFF

  @functions %{
    decode_stream: %{
      call: "a stream",
      of: {:decode, :all},
      own: [
        format: %{
          type: {:in, [:values, :lines, :seq, :array]},
          default: nil,
          doc:
            "`:values` (default), one value after another; `:lines`, one value per line (NDJSON); `:seq`, values after record " <>
              "separators (RFC 7464); `:array`, the elements of one array."
        },
        at: %{
          type: :pointer,
          default: nil,
          doc:
            "Instead of `:format`: decodes only the values at this JSON Pointer in one document. `*` matches any element or member."
        },
        with_pointer: %{
          type: :boolean,
          default: false,
          doc:
            "With `:at`: `true` returns `{pointer, value}` instead of the value. A key on the way may have 1,024 bytes."
        },
        on_error: %{
          type: {:in, [:raise, :tag]},
          default: :raise,
          doc:
            "`:tag` returns values as `{:ok, value}` and an error as `{:error, exception}`. After an error, `:lines` and `:seq` " <>
              "continue with the next line or record; the other formats end."
        },
        max_total_bytes: %{
          type: {:integer, 0, @u62},
          default: 0,
          doc: "The limit on the whole stream. 0 removes the limit."
        },
        select: %{
          type: :paths,
          default: nil,
          doc:
            "JSON Pointers or `RustyJson.Paths`, as for `select/3`: returns only the values at these places in each value."
        },
        columns: %{
          type: {:integer, 1, @u48},
          default: nil,
          doc:
            "With `:select`: returns columns of this many rows instead of rows; of fewer rows before an error and at the end. A value " <>
              "that does not exist is `nil` in a column."
        }
      ]
    },
    parts: %{
      call: "fetch and select",
      of: {:decode, :all},
      own: [
        missing: %{
          type: :otherwise,
          default: nil,
          doc:
            "`{:default, term}` is the value where there is none; `fetch/3` then returns `{:ok, term}` instead of `:error`."
        },
        as: %{
          type: {:or, [{:in, [:any, :raw]}, :given_type]},
          default: :any,
          doc:
            "A type of `RustyJson.Schema`, or `:raw`, which returns a `RustyJson.Fragment` of the text. Encoding writes it unchanged."
        },
        validate: %{
          type: :boolean,
          default: true,
          doc:
            "`true` returns the error of `decode/2` for invalid JSON anywhere in the document. `false` stops as soon as the value is " <>
              "known, and uses the first of repeated keys. Use it only for trusted text."
        }
      ]
    },
    partial: %{
      call: "a partial document",
      of: {:decode, {:all_but, [:raw]}},
      own: [
        trailing: %{
          type: {:in, [:keep, :strings, :drop]},
          default: :keep,
          doc:
            "What to show of a string or number that is being written. `:keep` shows it as far as it goes; `:strings` shows strings " <>
              "as far as they go, and numbers when they are complete; `:drop` shows both when they are complete."
        },
        lenient: %{
          type: :mends,
          default: [],
          doc: "What to mend: see \"Text of language models\" in `RustyJson.Partial`."
        }
      ]
    },
    finish_partial: %{
      call: "the end of a partial document",
      of: {:decode, [:as, :errors, :max_errors]},
      own: []
    },
    canonicalize: %{
      call: "canonicalize",
      of:
        {:decode,
         [
           :policy,
           :max_bytes,
           :max_depth,
           :max_nodes,
           :decoding_integer_digit_limit,
           :dirty_threshold,
           :engine | Schema.sandbox()
         ]},
      own: []
    },
    encode_stream: %{
      call: "encode_stream",
      of: {:encode, :all},
      own: [
        format: %{
          type: {:in, [:array, :lines, :seq]},
          default: nil,
          doc:
            "The format of a sequence: `:array` (default); `:lines`, one element per line (NDJSON); `:seq`, elements after record " <>
              "separators (RFC 7464). In the last two, line breaks are removed from fragments and from the text of your own encoders."
        },
        flush: %{
          type: {:integer, 1, @u48},
          default: 65_536,
          doc: "The smallest size of a piece in bytes; the last piece can be smaller."
        }
      ]
    },
    formatter: %{
      call: "the formatter",
      of: {:encode, [:policy]},
      own: [
        indent: %{
          type: {:or, [:iodata, {:integer, 0, 1000}]},
          default: "  ",
          doc: "For nested values; an integer is a number of spaces."
        },
        line_separator: %{type: :iodata, default: "\n", doc: "Between lines."},
        record_separator: %{
          type: :iodata,
          default: nil,
          doc:
            "Between several texts. `pretty_print/2` takes the line separator by default, `minimize/2` a line feed."
        },
        after_colon: %{type: :iodata, default: " ", doc: "After a colon."},
        max_bytes: %{
          type: {:integer, 0, @u48},
          default: nil,
          doc:
            "The limit on the output in bytes (default 64 times the input plus 1 MiB). 0 removes the limit."
        }
      ]
    },
    plug_parser: %{
      call: "the parser",
      of: {:decode, :all},
      strict: true,
      own: [
        raw_body: %{
          type: :boolean,
          default: false,
          doc: "Whether the body is kept in `conn.assigns.raw_body`."
        }
      ]
    },
    start_engine: %{call: "start_engine", of: {:decode, [:engine, :host, :policy]}, own: []},
    default_logger: %{
      call: "attach_default_logger",
      of: nil,
      own: [
        level: %{
          type: {:in, [:emergency, :alert, :critical, :error, :warning, :notice, :info, :debug]},
          default: :warning,
          doc: "The level of the lines."
        },
        slow: %{
          type: {:or, [{:integer, 0, @u48}, :infinity]},
          default: 1_000,
          doc: "The number of milliseconds from which a call is slow."
        }
      ]
    },
    server_sent_events: %{
      call: "a stream of server-sent events",
      of: nil,
      own: [
        max_bytes: %{
          type: {:integer, 0, @u48},
          default: 1_048_576,
          doc:
            "The limit on the bytes of one event and of one line. Comments and other lines of which nothing is kept count until they end. " <>
              "0 removes the limit."
        },
        done: %{
          type: {:or, [:binary, {:in, [nil]}]},
          default: "[DONE]",
          doc:
            "The data of the event that ends the stream, nil for none. It is not returned, and what follows is not looked at."
        }
      ]
    },
    json_schema: %{
      call: "json_schema",
      of: nil,
      own: [
        dialect: %{type: :dialect, default: :json_schema, doc: "Whose rules the schema follows."}
      ]
    },
    schema: %{
      call: "a schema",
      of: nil,
      own: [
        rename: %{
          type: {:in, [nil, :camel]},
          default: nil,
          doc: "`:camel` reads `first_name` from `firstName`."
        },
        unknown_keys: %{
          type: {:in, [:ignore, :error]},
          default: :ignore,
          doc: "What to do about members without a field."
        },
        encoder: %{type: :boolean, default: true, doc: "`false` defines no `RustyJson.Encoder`."},
        description: %{
          type: {:or, [:text, {:in, [nil]}]},
          default: nil,
          doc: "For the JSON Schema of the type."
        }
      ]
    }
  }

  @doc "The options of a function."
  @spec get(function_name()) :: t()
  def get(function), do: Map.fetch!(@functions, function)

  @doc "The names of all options that a function takes."
  @spec names(function_name()) :: [atom()]
  def names(function) do
    %{own: own, of: of} = get(function)
    Enum.uniq(Keyword.keys(own) ++ of(of))
  end

  defp of(nil), do: []
  defp of({direction, :all}), do: Schema.names(direction)
  defp of({direction, {:all_but, names}}), do: Schema.names(direction) -- names
  defp of({_direction, names}), do: names
end
