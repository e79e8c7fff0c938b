defmodule RustyJson.Options.Schema do
  @moduledoc false
  # Every option of decode and encode, defined once; RustyJson.Options.Functions has those of single functions. Validation, documentation and types come from here.
  #
  # An entry has a `type`, a `default` and a `doc`; `aliases` are other names for values. core/src/options/decode.txt and encode.txt
  # say, under the option's name, how a value reaches the core.

  alias RustyJson.Schema
  alias RustyJson.Schema.Dialect

  @type type ::
          {:in, [atom()]}
          | {:integer, non_neg_integer(), pos_integer()}
          | {:or, [type()]}
          | :boolean
          | :infinity
          | :fun
          | :fallback
          | :indentation
          | :gzip_level
          | :type
          | :policy
          | :places
          | :key_case
          | :omit
          | :redact
          | :text
          | :binary
          | :iodata
          | :pointer
          | :paths
          | :given_type
          | :otherwise
          | :mends
          | :dialect
  @type entry :: %{
          required(:type) => type(),
          required(:default) => term(),
          required(:doc) => String.t(),
          optional(:aliases) => %{atom() => atom()}
        }

  @u32 0xFFFF_FFFE
  @u48 0xFFFF_FFFF_FFFF

  @sandbox [
    host: %{
      type: {:in, [:auto, :built_in, :wasmex, :wasmtime]},
      default: :auto,
      aliases: %{wasmtime: :built_in},
      doc:
        "What runs the WebAssembly module. `:auto` uses the built-in host if the native library loads, otherwise the package " <>
          "wasmex. (`:wasmtime` is an older name of `:built_in`.)"
    },
    pool_size: %{
      type: {:or, [{:in, [:schedulers]}, {:integer, 1, 1024}]},
      default: :schedulers,
      doc: "The number of instances at once. Further calls wait at most `:timeout` for one."
    },
    max_memory: %{
      type: {:integer, 65_536, 2_147_418_112},
      default: 268_435_456,
      doc: "The limit on the linear memory of one instance, in bytes."
    },
    timeout: %{
      type: {:integer, 1, @u32},
      default: 5_000,
      doc: "The limit on the run time of one call, in milliseconds."
    },
    isolation: %{
      type: {:in, [:reuse, :fresh]},
      default: :reuse,
      doc:
        "`:fresh` makes a new instance for each call, so that nothing carries over from one document to the next."
    }
  ]

  @engine [
    engine: %{
      type: {:in, [:auto, :native, :wasm]},
      default: :auto,
      doc:
        "`:auto` is the native engine if its library loads, otherwise the wasm engine. See `RustyJson.engine/0`."
    },
    policy: %{
      type: :policy,
      default: nil,
      doc:
        "A named set of options, from the setting `policies` of `RustyJson.Config`. Other options of the call override it."
    }
  ]

  @max_depth %{
    type: {:or, [{:integer, 1, @u32}, :infinity]},
    default: 128,
    doc: "The limit on the nesting of arrays and objects."
  }

  @decode [
            keys: %{
              type: {:or, [{:in, [:strings, :atoms, :atoms!, :copy, :intern]}, :fun]},
              default: :strings,
              aliases: %{intern: :strings},
              doc:
                "How object keys are decoded. `:atoms` creates atoms; do not use it for untrusted input. `:atoms!` accepts " <>
                  "existing atoms only. `:copy` never shares memory with the input. `:intern` is another name for `:strings`: " <>
                  "equal keys share memory in the native engine. A function is called with each key."
            },
            strings: %{
              type: {:in, [:reference, :copy]},
              default: :reference,
              doc:
                "`:reference` makes strings over 64 bytes refer to the input. `:copy` copies all values and keys, so that " <>
                  "none keeps the input in memory."
            },
            floats: %{
              type: {:in, [:native, :decimals]},
              default: :native,
              doc:
                "`:decimals` returns `Decimal` structs, exactly as written, within `:max_decimal_digits` and `:max_decimal_exponent`. " <>
                  "Computing with them needs the package `decimal`."
            },
            objects: %{
              type: {:in, [:maps, :ordered_objects]},
              default: :maps,
              doc:
                "`:ordered_objects` returns `RustyJson.OrderedObject` structs, which keep the order and all duplicates."
            },
            duplicate_keys: %{
              type: {:in, [:last, :first, :error]},
              default: :last,
              doc: "Which member wins when a key repeats. Keys are compared after unescaping."
            },
            decoding_integer_digit_limit: %{
              type: {:integer, 0, @u32},
              default: 1024,
              doc:
                "The limit on the digits of an integer or a decimal, without the sign. 0 removes the limit; the time then " <>
                  "grows faster than the number of digits."
            },
            max_decimal_digits: %{
              type: {:or, [{:integer, 1, @u32}, :infinity]},
              default: 34,
              doc:
                "The limit on the digits of a `Decimal`, without leading zeros. The default is that of Decimal 3; with `:infinity` only " <>
                  "`:decoding_integer_digit_limit` counts."
            },
            max_decimal_exponent: %{
              type: {:or, [{:integer, 1, @u32}, :infinity]},
              default: 6_144,
              doc:
                "The limit on the exponent of a `Decimal`, positive or negative. The default is that of Decimal 3. Without it, a " <>
                  "calculation with `1e1000000000` can take all memory (CVE-2026-32686); use `:infinity` only for trusted input."
            },
            max_bytes: %{
              type: {:integer, 0, @u48},
              default: 0,
              doc: "The limit on the input in bytes, checked before iodata is flattened. 0 removes the limit."
            },
            max_depth: @max_depth,
            max_nodes: %{
              type: {:integer, 0, @u48},
              default: 0,
              doc: "The limit on the number of values and keys in a document. 0 removes the limit."
            },
            validate_strings: %{
              type: :boolean,
              default: true,
              doc: "`false` accepts invalid UTF-8 in strings. Use it only for trusted input."
            },
            null: %{
              type: {:in, [nil, :null, :undefined]},
              default: nil,
              doc: "The atom that JSON's null becomes."
            },
            raw: %{
              type: :places,
              default: [],
              doc:
                "JSON Pointers of values that stay text, as `RustyJson.Fragment`. In them `*` is any element or member; of two " <>
                  "that lie in each other the outer one counts. A call has `:raw` or `:as`: the one that it gives takes the place of " <>
                  "the other one of its policy or the configuration."
            },
            as: %{
              type: :type,
              default: nil,
              doc:
                "Decodes into a type of `RustyJson.Schema`, such as a struct with a schema. Members that the type does not " <>
                  "have are skipped. Takes the place of a configured `:raw`."
            },
            errors: %{
              type: {:in, [:first, :all]},
              default: :first,
              doc:
                "With `:as`: `:all` lists the type errors in the field `errors` of the error, up to `:max_errors`."
            },
            max_errors: %{
              type: {:integer, 1, 10_000},
              default: 100,
              doc:
                "The number of errors that `errors: :all` lists. Further ones are counted in the field `error_count` of the error."
            },
            dirty_threshold: %{
              type: {:integer, 0, @u48},
              default: 131_072,
              doc:
                "Inputs of at least this many bytes are decoded on a dirty scheduler; 0 means never. A shorter input moves there " <>
                  "too if it is more work than its length suggests: many values, decimals, long integers."
            }
          ] ++ @engine ++ @sandbox

  @encode [
            pretty: %{
              type: {:or, [:boolean, :indentation]},
              default: false,
              doc:
                "`true` indents by two spaces, an integer sets the number of spaces, a string is used as the indent. A keyword " <>
                  "list sets `:indent`, `:line_separator` and `:after_colon`."
            },
            escape: %{
              type: {:in, [:json, :html_safe, :javascript_safe, :unicode_safe, :javascript, :unicode]},
              default: :json,
              aliases: %{javascript: :javascript_safe, unicode: :unicode_safe},
              doc:
                "Characters that are escaped in addition to those JSON requires: `:html_safe` escapes `<`, `/`, U+2028 and " <>
                  "U+2029; `:javascript_safe` escapes U+2028 and U+2029; `:unicode_safe` escapes all that are not ASCII."
            },
            maps: %{
              type: {:in, [:naive, :strict]},
              default: :naive,
              doc: "`:strict` returns an error if two keys become the same string."
            },
            sort_keys: %{
              type: :boolean,
              default: false,
              doc: "Sorts the members of every object, structs included, by the bytes of their keys."
            },
            canonical: %{
              type: :boolean,
              default: false,
              doc:
                "Writes canonical JSON (RFC 8785), for signatures and digests. See `RustyJson.canonicalize/2` for its rules."
            },
            compress: %{
              type: {:or, [{:in, [:none, :gzip, false, nil]}, :gzip_level]},
              default: :none,
              doc: "`:gzip` compresses the output; `false` and `nil` are the same as `:none`."
            },
            protocol: %{
              type: :boolean,
              default: true,
              doc: "`false` never calls `RustyJson.Encoder`; structs become objects without `__struct__`."
            },
            invalid_utf8: %{
              type: {:in, [:error, :replace]},
              default: :error,
              doc:
                "`:replace` writes U+FFFD for each invalid part of a string or key, as `String.replace_invalid/1` does. " <>
                  "Keys are sorted and compared in their new form."
            },
            integers: %{
              type: {:in, [:exact, :js_safe]},
              default: :exact,
              doc:
                "`:js_safe` writes integers beyond ±(2^53 − 1) as strings, because JavaScript would round them."
            },
            unsupported: %{
              type: {:or, [{:in, [:error, :inspect]}, :fallback]},
              default: :error,
              doc:
                "What to write for terms without a JSON form: pids, ports, references, functions, bitstrings, improper lists, keys " <>
                  "without `String.Chars`, structs without an encoder, built-in structs with invalid fields, and structs whose " <>
                  "encoder raises. `:inspect` writes what `inspect/2` returns, shortened. A function gets the term; its result " <>
                  "is encoded, and must have a JSON form. Exceeding a limit of the call is still an error. Nothing of an improper list is " <>
                  "written, so neither its length nor an error in it matters."
            },
            key_case: %{
              type: {:or, [{:in, [nil, :camel]}, :key_case]},
              default: nil,
              doc:
                "New names for keys that are atoms, and for fields of structs; strings are data and stay. `:camel` writes `first_name` " <>
                  "as `firstName`. A map has the names by atom: `%{first_name: \"given\"}`."
            },
            omit: %{
              type: :omit,
              default: [],
              doc:
                "Leaves out members of objects whose value is `nil`, or a struct of a module in this list. `nil` does not go " <>
                  "with another `:null`."
            },
            redact: %{
              type: :redact,
              default: [],
              doc:
                "Keys, as atoms or strings, whose values are not written, at any depth. A key is the whole key: `\"password\"` leaves " <>
                  "`\"user_password\"`. `contains: [\"password\"]` redacts every key that contains the word, as Phoenix's " <>
                  "`filter_parameters` does. An entry such as `\"/users/*/card\"` is a JSON Pointer, in which `*` is any element or member. A key " <>
                  "that is renamed counts under both names. Upper and lower case differ. Lists of pairs (`[{\"password\", \"x\"}]`) are " <>
                  "arrays, and fragments are text: `:redact` does not see into them. Of the text that an encoder or a function of a fragment " <>
                  "makes, it sees the parts that it asks `RustyJson.Encode` for, and JSON Pointers that lead into it, by the whole text, which is " <>
                  "decoded for them; where one hides a value, white space and escapes in that text may change, and nothing else. Nor does it hide a term in an error that says why it cannot be encoded."
            },
            redacted: %{
              type: :text,
              default: "[REDACTED]",
              doc: "What is written for a redacted value. Raises without `:redact`."
            },
            lean: %{
              type: :boolean,
              default: false,
              doc: "`true` also treats built-in structs such as `Date` and `Decimal` as plain structs."
            },
            null: %{
              type: {:in, [nil, :null, :undefined]},
              default: nil,
              doc:
                "The atom that is encoded as null. If you choose another one, `nil` becomes the string `\"nil\"`."
            },
            scheduler: %{
              type: {:in, [:auto, :normal, :dirty]},
              default: :auto,
              doc: "The scheduler of the native engine. `:auto` moves long work to a dirty scheduler."
            },
            max_depth: @max_depth,
            max_bytes: %{
              type: {:integer, 0, @u48},
              default: 0,
              doc:
                "The limit on the output in bytes. 0 removes the limit. The error has the path of the value that exceeds it. `encode/2` " <>
                  "counts the text of custom encoders, fragments and lazy arrays after the text around them, and names one of these, or a " <>
                  "value behind them, where a stream names the first value that exceeds the limit. " <>
                  "With a limit, what a call looks at and leaves no text of may have about 16 " <>
                  "parts for each of these bytes, and 1,048,576 more: empty parts of iodata, members that `:omit` leaves out, elements of " <>
                  "a list that `:unsupported` replaces. If `:redact` or `:omit` needs the text of another library's encoder to be read again, each 8 " <>
                  "bytes of it are a part, and where such structs are nested, they count again at each level. What is left to Elixir, such as " <>
                  "maps with unusual keys, has a count of its own for the whole call, so a call ends at three times this number at the latest. A stream counts all its elements together."
            }
          ] ++ @engine ++ @sandbox

  @doc "The options of a direction, in the order in which they are documented."
  @spec entries(:decode | :encode | :sandbox) :: [{atom(), entry()}]
  def entries(:decode), do: @decode
  def entries(:encode), do: @encode
  def entries(:sandbox), do: @sandbox

  @doc "The names of the options of a direction."
  @spec names(:decode | :encode) :: [atom()]
  def names(direction), do: Keyword.keys(entries(direction))

  @doc "The options that only the wasm engine takes."
  @spec sandbox() :: [atom()]
  def sandbox, do: Keyword.keys(@sandbox)

  @doc "The atoms that a type takes by name."
  @spec atoms(type()) :: [atom()]
  def atoms({:in, atoms}), do: atoms
  def atoms(:dialect), do: Dialect.names()
  def atoms({:or, types}), do: Enum.flat_map(types, &atoms/1)
  def atoms(_type), do: []

  @doc "The value in its stored form, or `:error`."
  @spec cast(type(), term()) :: {:ok, term()} | :error
  def cast({:or, types}, value) do
    Enum.find_value(types, :error, fn type ->
      with :error <- cast(type, value), do: nil
    end)
  end

  def cast({:in, values}, value), do: if(value in values, do: {:ok, value}, else: :error)

  def cast({:integer, low, high}, value) when is_integer(value) and value >= low and value <= high,
    do: {:ok, value}

  def cast(:boolean, value) when is_boolean(value), do: {:ok, value}
  def cast(:policy, name) when is_atom(name), do: {:ok, name}
  def cast(:infinity, :infinity), do: {:ok, :infinity}
  def cast(type, value) when type in [:fun, :fallback] and is_function(value, 1), do: {:ok, value}
  def cast(:places, places) when length(places) >= 0, do: {:ok, RustyJson.Parts.Raw.check!(places)}
  def cast(:paths, paths), do: {:ok, RustyJson.Paths.of(paths, "option :select")}
  def cast(:type, nil), do: {:ok, nil}

  def cast(:type, value),
    do: {:ok, if(Schema.Shape.known?(value), do: value, else: Schema.Type.given!(value))}

  def cast(:given_type, value) when value != nil, do: cast(:type, value)
  def cast(:mends, value), do: {:ok, RustyJson.Partial.Lenient.new!(value)}

  def cast(:dialect, name),
    do: if(name in Dialect.names(), do: {:ok, Dialect.get!(name)}, else: :error)

  def cast(:otherwise, {:default, _term} = otherwise), do: {:ok, otherwise}
  def cast(type, value) when type in [:binary, :pointer] and is_binary(value), do: {:ok, value}
  def cast(:iodata, text), do: text(text)
  def cast(:gzip_level, {:gzip, level}) when level in 0..9, do: {:ok, {:gzip, level}}
  def cast(:indentation, width) when width in 0..1000, do: {:ok, {String.duplicate(" ", width), "\n", " "}}
  def cast(:indentation, indent) when is_binary(indent), do: {:ok, {indent, "\n", " "}}
  def cast(:indentation, parts) when is_list(parts), do: indentation(parts, {"  ", "\n", " "})

  def cast(type, value) when type in [:key_case, :omit, :redact, :text],
    do: RustyJson.Options.Shape.cast(type, value)

  def cast(_type, _value), do: :error

  defp indentation([], pretty), do: {:ok, pretty}

  defp indentation([{:indent, width} | rest], pretty) when width in 0..1000,
    do: indentation(rest, put_elem(pretty, 0, String.duplicate(" ", width)))

  defp indentation([{name, text} | rest], pretty)
       when name in [:indent, :line_separator, :after_colon] do
    index = %{indent: 0, line_separator: 1, after_colon: 2}[name]
    with {:ok, text} <- text(text), do: indentation(rest, put_elem(pretty, index, text))
  end

  # Separates roots; an encoded term is a single root.
  defp indentation([{:record_separator, _text} | rest], pretty), do: indentation(rest, pretty)
  defp indentation(_other, _pretty), do: :error

  defp text(iodata) do
    {:ok, IO.iodata_to_binary(iodata)}
  rescue
    ArgumentError -> :error
  end
end
