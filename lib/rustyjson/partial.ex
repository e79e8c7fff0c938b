defmodule RustyJson.Partial do
  @moduledoc """
  Shows a JSON document while it arrives: what a language model has written so far, or a slow peer has sent.

      iex> partial = RustyJson.Partial.new()
      iex> {:ok, partial} = RustyJson.Partial.push(partial, ~s({"title": "Hel))
      iex> RustyJson.Partial.value(partial)
      {:ok, %{"title" => "Hel"}}
      iex> {:ok, partial} = RustyJson.Partial.push(partial, ~s(lo", "tags": ["a", "b))
      iex> RustyJson.Partial.value(partial)
      {:ok, %{"title" => "Hello", "tags" => ["a", "b"]}}
      iex> {:ok, partial} = RustyJson.Partial.push(partial, ~s("]}))
      iex> RustyJson.Partial.finish(partial)
      {:ok, %{"tags" => ["a", "b"], "title" => "Hello"}}

  A piece may end anywhere, also inside an escape or a character. `push/2` takes time for the new bytes, and `value/1` for the
  direct children of the containers that are still open. A partial document is a plain term: it holds no instance of the sandbox, and
  after an error the one before it is still good.

  From one `value/1` to the next, arrays and objects only grow, and strings only get longer. Exceptions are the number at
  the end, as more digits come, and keys that are repeated in an object, which follow `:duplicate_keys`.

  ## Typed documents

  With `as:`, the value is the struct of a `RustyJson.Schema`, or another type, as far as it came. A field whose value is not complete keeps
  its default, unless it is a string, a list, a map or a struct, which grow; a required field is nil until it comes. Numbers, enums
  and dates are shown when they are complete, and a tagged union when its tag is known. Members without a field are skipped.

  A value that cannot be of its type is an error, the one of `RustyJson.decode/2`, as soon as that is certain. Constraints of a string are
  checked when it is complete, and a list or a map that is too long is an error at the first element or key too many. The document keeps
  its text for that, and `finish/2` decodes it.

  A tag that comes again in its object can change the struct, so the value then stands still until the document ends. With
  `duplicate_keys: :first`, the first tag counts and the value goes on.

  With `:max_nodes` or `duplicate_keys: :error`, `decode/2` checks the whole text before its types. Here a value of a wrong type that stands
  before a repeated key, or before one value too many, is the error.

  ## Text of language models

  `lenient:` lists what to mend. Nothing is mended by default:

  | mend | what is accepted |
  |---|---|
  | `:code_fence` | the document stands in a Markdown fence, with or without a language |
  | `:prose` | other text stands in front of the document or behind it |
  | `:trailing_commas` | a comma before `]` or `}` |
  | `:raw_newlines` | line breaks in strings |
  | `:python_literals` | `None`, `True` and `False` |

  Text that is valid JSON keeps its meaning. With `:prose`, a text (or the content of a fence) that starts like a string, a number, `true`,
  `false` or `null` is that value if nothing but white space follows, and otherwise text in front of the document. So such a value is
  shown only when its fence or the text has ended: until then, `value/1` is `:none`. `finish/2` and `decode_partial/2` return it.

  Behind other text, the document is the first array or object. If `:as` is a struct or a map, an array there is the document only if an
  object is its first element: `As [1] says: {"a": 1}` is the object. Types that are given to `finish/2` come too late for that. An array
  that starts the text, and an object in front of the list that `:as` asks for, are taken for the document. A brace without a
  key in quotes behind it, as in `{a: 1}`, is other text. If there is no document, the error says so. Its position is behind the first
  such brace, or the end of the text if there is none.

  Python's single quotes are not mended. `{'a': 1}` is taken for the document all the same, so it is an error, and the brackets inside are
  not read as another document. A list such as `['a', 'b']` is other text.

  `mended/1` says what was mended, and where. Positions of errors are those of the original text.

  See `RustyJson.decode_partial/2` for the options.
  """

  alias RustyJson.{DecodeError, Options, SandboxError}
  alias RustyJson.Feed.{Plan, State}
  alias RustyJson.Options.{Cache, Values}
  alias RustyJson.Partial.{Changes, Document, Errors, Lenient, Pieces, Text, Typed}
  alias RustyJson.Partial.Lenient.Positions

  @enforce_keys [:plan, :options, :uncounted, :state, :document]
  # `shown` is the total when the changes last set the root, and `behind` that what came since then is still to be told. The text is
  # kept if it may be decoded into a type.
  defstruct [
    :plan,
    :options,
    :uncounted,
    :state,
    :document,
    :lenient,
    :text,
    # Brackets that the state leaves out.
    below: [],
    pending: "",
    base: 0,
    total: 0,
    shown: 0,
    behind: false
  ]

  @opaque t :: %__MODULE__{
            plan: binary(),
            options: Options.t(),
            uncounted: Options.t(),
            state: binary(),
            document: Document.t() | Typed.t(),
            lenient: nil | Lenient.t(),
            text: nil | Text.t(),
            below: State.below(),
            pending: binary(),
            base: non_neg_integer(),
            total: non_neg_integer(),
            shown: non_neg_integer(),
            behind: boolean()
          }

  @typedoc "What happened at a JSON Pointer: a value was set, or text was appended to a string."
  @type change :: {pointer :: String.t(), {:set, term()} | {:append, binary()}}

  # The format of core/src/scan/plan.rs, and its flags.
  @format 4
  @drop 1
  @places 4
  @types 16
  # A document of at most as many bytes may be set as a whole with each piece.
  @free 16_384

  @doc """
  A document before its first byte. It takes the options of `RustyJson.decode_partial/2`.

      iex> RustyJson.Partial.new(trailing: :dropp)
      ** (ArgumentError) option :trailing takes :keep, :strings or :drop, got: :dropp, did you mean :drop?
  """
  @spec new([RustyJson.partial_option()] | map()) :: t()
  def new(opts \\ []) do
    {%{trailing: trailing, lenient: lenient}, options} = Cache.find(:partial, opts, fn -> options(opts) end)
    most = options.values.max_nodes

    %__MODULE__{
      plan: <<@format, flags(trailing, options), most::64-little, 0::16-little>>,
      options: options,
      uncounted: uncounted(options, most),
      state: State.outside(1, 1, :begun),
      document: if(options.as, do: Typed, else: Document).new(options, trailing),
      lenient: Lenient.of_type(lenient, options.as),
      text: if(options.as || lenient, do: Text.new())
    }
  end

  defp options(given) do
    {own, rest} = Options.split!(:partial, given)
    {own, whole!(Options.decode(Plan.copied(rest) ++ rest))}
  end

  defp whole!(%{parts: ""} = options), do: options

  # A policy and the configuration can have the option.
  defp whole!(_options),
    do:
      raise(
        ArgumentError,
        "a partial document does not take :raw, which its policy or `config :rustyjson, decode:` sets"
      )

  # Numbers of a typed document are shown when they are complete.
  defp flags(_trailing, %{as: as}) when as != nil, do: @drop + @places + @types
  defp flags(trailing, _options), do: if(trailing == :keep, do: 0, else: @drop)

  # Values and keys of all pieces are counted together, as the plan says.
  defp uncounted(%{as: nil} = options, 0), do: options
  defp uncounted(%{as: nil} = options, _most), do: Options.change(options, :decode, %{max_nodes: 0})

  defp uncounted(options, _most) do
    Options.change(%{options | as: nil, keys: nil}, :decode, %{max_nodes: 0, keys: :strings, objects: :maps})
  end

  @doc """
  Takes the next piece.

      iex> {:error, error} = RustyJson.Partial.new() |> RustyJson.Partial.push(~s({"a": x))
      iex> {error.reason, error.position, error.path}
      {:expected_value, 6, "/a"}

  Text that no further piece can make valid is an error as soon as it is there: the error that `RustyJson.decode/2` gives for the bytes
  so far. So `[1e999` is one, and so is `[N`. With `duplicate_keys: :error`, a repeated key is one before its value comes. An integer of
  more digits than `:decoding_integer_digit_limit` is one when it ends, because as `…e-1000` it would be a float. An escape `\\u` is judged
  when its digits are complete.
  """
  @spec push(t(), iodata()) :: {:ok, t()} | {:error, DecodeError.t() | SandboxError.t()}
  def push(partial, input) do
    with {:ok, partial, nil} <- Pieces.push(partial, input, nil), do: {:ok, partial}
  end

  @doc """
  Takes the next piece, and says what it changes in the value.

      iex> partial = RustyJson.Partial.new()
      iex> {:ok, changes, partial} = RustyJson.Partial.push_changes(partial, ~s({"a": [1, "x))
      iex> changes
      [{"", {:set, %{}}}, {"/a", {:set, []}}, {"/a/0", {:set, 1}}, {"/a/1", {:set, "x"}}]
      iex> {:ok, changes, _partial} = RustyJson.Partial.push_changes(partial, ~s(y", ))
      iex> changes
      [{"/a/1", {:append, "y"}}]

  Changes that are applied in their order to the value before give the value after. The first one of a document sets `""`. An index is
  that of an element that is there, or of the next one. Where an ordered object repeats a key, the object itself is set. A pointer has
  the keys of the text, whatever `:keys` makes of them, and in structs the names of the fields: `"/order_lines"` for a member
  `"orderLines"`.

  Pointers may have at most 16 times the bytes of the piece and 16 KB more, together with the members of such objects. A piece whose
  changes need more, because keys are very long or brackets very deep, gives one change instead, which sets `""`. That takes time for
  all that is open. A document of more than 16 KB is therefore set again only when it is complete, or has grown by an eighth: until
  then such a piece, and those after it, give no changes.
  """
  @spec push_changes(t(), iodata()) ::
          {:ok, [change()], t()} | {:error, DecodeError.t() | SandboxError.t()}
  def push_changes(partial, input) do
    case Pieces.push(partial, input, :told) do
      {:ok, partial, :whole} -> root(partial)
      {:ok, partial, changes} -> {:ok, Changes.list(changes), partial}
      failed -> failed
    end
  end

  # To set the root takes time for all that is open, so of a long document it is done when an eighth is new: all of these times
  # together are then a multiple of the length.
  defp root(%{total: total, shown: shown, document: document} = partial) do
    cond do
      total <= @free -> {:ok, set(document), partial}
      total - shown >= div(total, 8) -> {:ok, set(document), %{partial | shown: total, behind: false}}
      done(document) != :none -> {:ok, set(document), %{partial | shown: total, behind: false}}
      true -> {:ok, [], %{partial | behind: true}}
    end
  end

  defp set(document) do
    case shown(document) do
      {:ok, value} -> [{"", {:set, value}}]
      :none -> []
    end
  end

  @doc """
  The value so far, or `:none` if nothing can be told of it.

      iex> {:ok, partial} = RustyJson.Partial.push(RustyJson.Partial.new(), "[1, tru")
      iex> RustyJson.Partial.value(partial)
      {:ok, [1]}

      iex> RustyJson.Partial.value(RustyJson.Partial.new())
      :none
  """
  @spec value(t()) :: {:ok, term()} | :none
  def value(%{document: document}), do: shown(document)

  defp shown(%Typed{} = document), do: Typed.value(document)
  defp shown(document), do: Document.value(document)

  defp done(%Typed{} = document), do: Typed.done(document)
  defp done(document), do: Document.done(document)

  @doc """
  Says that nothing follows; gives what `RustyJson.decode/2` gives for all the bytes.

      iex> {:ok, partial} = RustyJson.Partial.push(RustyJson.Partial.new(), "[1, 2")
      iex> {:error, error} = RustyJson.Partial.finish(partial)
      iex> {error.reason, error.position}
      {:unexpected_end, 5}
  """
  @spec finish(t(), keyword()) :: {:ok, term()} | {:error, DecodeError.t() | SandboxError.t()}
  def finish(partial, opts \\ []) do
    with {:ok, %{lenient: lenient, text: text} = partial, nil} <- partial |> Pieces.due() |> Pieces.rest(),
         do:
           opts
           |> only_types()
           |> finished(partial)
           |> Positions.original(lenient, text)
           |> Lenient.explained(lenient)
  end

  defp only_types(opts) do
    {_own, types} = Options.split!(:finish_partial, opts)
    types
  end

  defp finished([], %{options: %{as: nil}} = partial) do
    with {:ok, partial, nil} <- Pieces.finish(partial),
         :none <- Document.done(partial.document),
         do: {:error, Errors.malformed(partial)}
  end

  defp finished(_opts, %{text: nil}),
    do:
      raise(ArgumentError, "finish/2 takes options if the document has :as or :lenient, which keep its text")

  defp finished(opts, %{text: text, options: options}) do
    values = Values.override(opts, options.values, :decode)
    Text.decode(text, %{options | values: values, as: values.as, max_bytes: 0})
  end

  @doc """
  What was mended so far, as `:lenient` asked for: the names of the mends with the positions where they were made, in their order. Only
  the first 100 are listed. While the text may still be a single string or word, each call of this function reads
  all of it again.

      iex> partial = RustyJson.Partial.new(lenient: [:code_fence, :trailing_commas])
      iex> {:ok, partial} = RustyJson.Partial.push(partial, "```json\\n[1,2,]\\n```")
      iex> RustyJson.Partial.mended(partial)
      [code_fence: 0, trailing_commas: 12, code_fence: 15]
  """
  @spec mended(t()) :: [{RustyJson.mend(), non_neg_integer()}]
  def mended(%{lenient: lenient}), do: Lenient.mended(lenient)

  defimpl Inspect do
    # What arrived is not shown: it may be long, or secret.
    def inspect(%{total: total, document: document}, _opts) do
      open = if is_struct(document, Typed), do: Typed.open(document), else: length(document.stack)
      done = if is_struct(document, Typed), do: Typed.done(document), else: Document.done(document)
      state = if done == :none, do: "#{open} open", else: "complete"
      "#RustyJson.Partial<#{total} bytes, #{state}>"
    end
  end
end
