defmodule RustyJson.DecodeError do
  alias RustyJson.Encode.Path

  @moduledoc """
  The input is invalid JSON, or exceeds a configured limit.

    * `message` - one line: what is wrong, then where
    * `reason` - an atom, such as `:expected_value` or `:max_depth`
    * `position` - byte offset into the input; `line` and `column` count from 1, the column in characters
    * `token` - the input from `position` on, at most 32 bytes
    * `path` - JSON Pointer (RFC 6901) of the place of the error: at most #{Path.max_path()} bytes, with at most
      #{Path.max_key()} of each key. A shortened key ends in `…`; in a long path, one segment `…` replaces segments from the
      middle. In a stream with `at:`, the path of an error in a value that is passed over ends at that value
    * `data` - the input, referenced and not copied; in a stream, the current value
    * `errors` - with `errors: :all` of `RustyJson.decode/2`, the type errors in the order of the text, at most as many as `:max_errors`
    * `error_count` - the number of all type errors, also of those that `errors` does not list
    * `offset` - the position of the first byte of `data`: 0, except in a stream

  `explain/1` adds the line of the input, with a caret under the position, for each of the errors.
  """

  alias RustyJson.DecodeError.{Message, Snippet}
  alias RustyJson.Encode.Unsupported
  alias RustyJson.Engine.Codes
  alias RustyJson.Schema.Place

  @type reason :: unquote(Codes.reasons())

  @type t :: %__MODULE__{
          message: String.t(),
          reason: nil | reason(),
          position: nil | non_neg_integer(),
          line: nil | pos_integer(),
          column: nil | pos_integer(),
          token: nil | binary(),
          path: nil | String.t(),
          data: nil | binary(),
          offset: non_neg_integer(),
          errors: nil | [t()],
          error_count: nil | pos_integer()
        }

  defexception [:message, :reason, :position, :line, :column, :token, :path, :data] ++
                 [:errors, :error_count, offset: 0]

  # Applications create this error in tests, without a message.
  @impl true
  def message(%{message: message}) when is_binary(message), do: message

  def message(%{position: position, data: data, offset: offset})
      when is_binary(data) and position - offset >= byte_size(data),
      do: "Unexpected end of input at position #{position}"

  def message(%{position: position}) when is_integer(position), do: "Unexpected input at position #{position}"
  def message(_error), do: "JSON decode error"

  @doc false
  @spec new(RustyJson.Engine.decode_failure(), binary(), RustyJson.Options.t(), non_neg_integer()) :: t()
  def new(failure, data, options, offset \\ 0)

  def new(failure, _data, %{origin: %Place{} = place} = options, _offset) do
    {failure, data, offset} = Place.moved(failure, place)
    new(failure, data, %{options | origin: nil}, offset)
  end

  def new({code, position, line, column, path}, data, options, offset) do
    name = Codes.decode_reason(code)
    at = position - offset
    token = Snippet.token(data, at)
    text = Message.text(name, binary_part(data, at, min(byte_size(data) - at, 512)), options)

    %__MODULE__{
      message: Message.at(text, position, line, column),
      reason: Codes.public(name),
      position: position,
      line: line,
      column: column,
      token: token,
      path: path,
      data: data,
      offset: offset
    }
  end

  @doc false
  # What an error with this code has as its reason.
  @spec reason_of(pos_integer()) :: reason()
  def reason_of(code), do: code |> Codes.decode_reason() |> Codes.public()

  @doc """
  Returns the message and, below it, the line of the input with a caret under the position. Control characters become visible
  ones, so that a document cannot send escape sequences to a terminal. Of another exception, such as a `RustyJson.SandboxError`, it returns
  the message.

      iex> {:error, error} = RustyJson.decode(~s({"a": [1, 2,]}))
      iex> RustyJson.DecodeError.explain(error) |> String.split("\\n")
      [
        "Expected value at position 12 (line 1, column 13): Trailing comma",
        "",
        ~s(1 | {"a": [1, 2,]}),
        "  |             ^",
        "at /a/2"
      ]

  An error that lists others (`errors: :all`) gives all their explanations, and the number of those that it does not list. The text can be
  sent back to a language model as it is. A list of errors gives the explanations alone.

      iex> {:error, error} = RustyJson.decode(~s(["a", "b"]), as: [:integer], errors: :all)
      iex> RustyJson.DecodeError.explain(error) |> String.split("\\n")
      [
        "2 errors:",
        "",
        "Expected an integer at position 1 (line 1, column 2)",
        "",
        ~s(1 | ["a", "b"]),
        "  |  ^",
        "at /0",
        "",
        "Expected an integer at position 6 (line 1, column 7)",
        "",
        ~s(1 | ["a", "b"]),
        "  |       ^",
        "at /1"
      ]
  """
  @spec explain(t() | [t()] | Exception.t()) :: String.t()
  def explain(errors) when is_list(errors), do: Enum.map_join(errors, "\n\n", &explain(%{&1 | errors: nil}))

  def explain(%__MODULE__{errors: [_, _ | _] = errors, error_count: count}) do
    more =
      if is_integer(count) and count > length(errors), do: "\n\nand #{count - length(errors)} more", else: ""

    "#{count || length(errors)} errors:\n\n" <> explain(errors) <> more
  end

  def explain(%__MODULE__{position: position, line: line, data: data} = error)
      when is_integer(position) and is_integer(line) and is_binary(data) do
    where = if error.path in [nil, ""], do: "", else: "\nat " <> Snippet.path(error.path)
    Exception.message(error) <> snippet(data, position - error.offset, error) <> where
  end

  def explain(error) when is_exception(error), do: Unsupported.message(error)

  defp snippet("", _position, %{reason: :unexpected_end, offset: 0}), do: "\n\nThe input is empty."
  # That of a stream that kept nothing.
  defp snippet("", _position, _error), do: ""

  defp snippet(data, position, error),
    do: "\n\n" <> Snippet.caret(data, position, error.line, if(error.offset > 0, do: error.column))

  defimpl Inspect do
    @shown 64

    # The input can be long and secret, so logs get only its start.
    def inspect(%{data: data} = error, options) when is_binary(data) and byte_size(data) > @shown do
      start = data |> binary_part(0, @shown) |> RustyJson.DecodeError.Snippet.whole_characters()
      Inspect.Any.inspect(%{error | data: start <> "… (#{byte_size(data)} bytes)"}, options)
    end

    def inspect(error, options), do: Inspect.Any.inspect(error, options)
  end
end
