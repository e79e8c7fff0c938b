defmodule RustyJson.Partial.Errors do
  @moduledoc false
  # Errors of a partial document. The core knows only the last bytes; the document knows which containers are open around them, and where
  # they start.

  require RustyJson.Engine.Codes

  alias RustyJson.{DecodeError, Feed, Partial, SandboxError}
  alias RustyJson.Encode.Path
  alias RustyJson.Engine.Codes
  alias RustyJson.Feed.State
  alias RustyJson.Partial.{Document, Text, Typed}
  alias RustyJson.Schema.Place
  alias RustyJson.Wasm.{Host, Stats}

  # The core says so when an error stands behind a value.
  @behind "."
  @unexpected_end Codes.decode(:unexpected_end)

  @typedoc "Code, offset, line, column and path, and from where to where the text is quoted."
  @type trouble ::
          {byte(), non_neg_integer(), pos_integer(), pos_integer(), String.t(), non_neg_integer(),
           non_neg_integer()}

  @doc "The error that the core found in these bytes, the ones of the last piece."
  @spec error(trouble(), binary(), Partial.t()) :: DecodeError.t()
  def error(trouble, bytes, %{document: %Typed{} = document, text: text, options: options} = partial) do
    # Only the core knows the place of the error, and only `decode/2` knows which of several errors comes first.
    with nil <- Typed.sooner(document, text, position(trouble, partial)),
         {:error, %{reason: reason} = error} when reason != :unexpected_end <-
           Text.decode(text, %{options | max_bytes: 0}) do
      error
    else
      %{__exception__: true} = error -> error
      _none -> located(trouble, bytes, partial)
    end
  end

  def error(trouble, bytes, partial), do: located(trouble, bytes, partial)

  # Bytes of a token that is only looked through wait before the piece.
  defp position({_, offset, _, _, _, _, _}, %{base: base, pending: pending}),
    do: base + byte_size(pending) + offset

  defp located({code, offset, line, column, path, start, stop} = trouble, bytes, partial) do
    %{document: document, options: options} = partial
    position = position(trouble, partial)
    {data, at} = Feed.quoted(bytes, position - offset, offset, {start, stop})
    failure = {within(code, document), position, line, column, path(partial, path)}
    DecodeError.new(failure, data, options, at)
  end

  # The core does not know what is open.
  defp within(@unexpected_end, %Typed{}), do: @unexpected_end

  defp within(@unexpected_end, %{stack: [frame | _]}) do
    if elem(frame, 0) == :array, do: Codes.decode(:unclosed_array), else: Codes.decode(:unclosed_object)
  end

  defp within(code, _document), do: code

  defp path(%{document: %Typed{}}, path), do: path

  defp path(%{document: document}, path) do
    {inner, behind} = if path == @behind, do: {"", true}, else: {path, false}
    document |> Document.path(behind) |> Path.steps() |> Path.join(inner)
  end

  @doc "The error of a key that stood in its object before."
  @spec repeated(String.t() | atom(), Place.reached(), String.t() | list(), Partial.t()) :: DecodeError.t()
  # The document says where, and the core's words quote the key; its bytes are gone.
  def repeated(name, {position, line, column}, path, %{options: options}) do
    name = if is_atom(name), do: Atom.to_string(name), else: name
    path = if is_list(path), do: Path.steps(path), else: path

    DecodeError.new(
      {Codes.decode(:duplicate_key), position, line, column, path},
      quoted(name),
      options,
      position
    )
  end

  defp quoted(name) do
    case RustyJson.encode(name) do
      {:ok, text} -> text
      {:error, _invalid} -> <<?", name::binary, ?">>
    end
  end

  @doc "The error of a document whose keys would be too many new atoms."
  @spec atom_limit(Partial.t()) :: DecodeError.t()
  def atom_limit(partial) do
    {line, column} = place(partial)
    error({Codes.decode(:atom_limit), 0, line, column, "", 0, 0}, "", partial)
  end

  @doc "The error of a text that ended before anything of it was shown."
  @spec unread(Partial.t()) :: DecodeError.t()
  def unread(%{base: base, pending: pending, options: options} = partial) do
    {line, column} = place(partial)
    position = base + byte_size(pending)
    DecodeError.new({@unexpected_end, position, line, column, ""}, pending, options, base)
  end

  # Line and column behind what is pending.
  defp place(%{state: state, pending: pending}), do: Place.behind(pending, State.position(state))

  @doc "The error of a sandbox that told events that do not fit together."
  @spec malformed(Partial.t()) :: SandboxError.t()
  def malformed(%{options: %{sandbox: sandbox}}) do
    Stats.failed(Host.get(sandbox.host), :invalid_result)
    SandboxError.new(:invalid_result, "its events do not fit together")
  end
end
