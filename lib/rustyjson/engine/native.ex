defmodule RustyJson.Engine.Native do
  @moduledoc """
  The core as a native library: terms are built and walked on the process heap.
  """

  @behaviour RustyJson.Engine

  alias RustyJson.{Engine, Options}
  alias RustyJson.Decode.Many
  alias RustyJson.Encode.Lost
  alias RustyJson.Encoder.Plans
  alias RustyJson.Engine.Heap
  alias RustyJson.Engine.Native.{Nif, Remedy}

  # Text of this length is read in well under a millisecond. The NIF limits what it writes with a budget.
  @dirty_from 131_072
  # Longer plans of parts take their time even for a short text. The library has the same limit for streams (nif/src/feed.rs).
  @longest_plan 262_144

  @impl true
  def decode(json, %{bytes: bytes, structs: structs, parts: parts, dirty_threshold: threshold}) do
    options = if structs, do: {bytes, structs}, else: bytes

    Heap.reserve(json, parts)

    if byte_size(json) < threshold and byte_size(bytes) <= @longest_plan do
      case Nif.decode(json, options) do
        # The text was more work than its length suggested.
        :dirty -> Nif.decode_dirty(json, options)
        done -> done
      end
    else
      Nif.decode_dirty(json, options)
    end
  end

  @impl true
  def decode_many(documents, options), do: documents |> some_of_many(options, []) |> Many.joined()

  # The results of one call of the library after the other, the last ones first.
  defp some_of_many([], _options, before), do: before

  defp some_of_many(documents, %{bytes: bytes, dirty_threshold: threshold} = options, before) do
    case Nif.decode_many(documents, bytes, threshold) do
      {results, [], _next} ->
        [results | before]

      {results, rest, :more} ->
        some_of_many(rest, options, [results | before])

      {results, [document | rest], :alone} ->
        some_of_many(rest, options, [[decode(document, options)], results | before])
    end
  end

  @impl true
  def feed(question, piece, %{bytes: options, dirty_threshold: threshold}) do
    if byte_size(piece) < threshold do
      with :dirty <- Nif.feed(question, piece, options), do: Nif.feed_dirty(question, piece, options)
    else
      Nif.feed_dirty(question, piece, options)
    end
  end

  @impl true
  def encode(term, %{bytes: bytes, plans: plans} = options),
    do: Nif.encode(term, bytes, plans) |> encoded(term, options)

  @doc false
  # What becomes of the NIF's answer for this term.
  @spec encoded(Nif.encoded() | Nif.suspended() | :dirty, term(), Options.t()) ::
          {:ok, binary()} | {:partial, binary(), [Engine.hole()]} | {:error, Engine.encode_failure()}
  def encoded(json, _term, %{compress: -1}) when is_binary(json), do: {:ok, json}

  def encoded(begun, term, options),
    do: begun |> ended(term, options) |> checked(term, options) |> finish(options)

  # The size of a term is unknown, so the NIF starts, and stops if it takes too long for a normal scheduler.
  defp ended({:suspended, _, _, _, _, _} = suspended, _term, options),
    do: Nif.resume_dirty(suspended, options.bytes, options.plans)

  defp ended(:dirty, term, options), do: Nif.encode_dirty(term, options.bytes, options.plans)
  defp ended(done, _term, _options), do: done

  # What left no text counts for all parts of a call together.
  defp checked({:lost, result, parts}, term, options) do
    answer = checked(result, term, options)
    if Lost.too_many?(parts, options), do: Lost.failure(answer), else: answer
  end

  # The core reports the plans it used. If one is outdated, all are forgotten and the text is made again.
  defp checked({:planned, result, modules}, term, options) do
    if Plans.current?(modules, options.plans), do: result, else: again(term, options)
  end

  defp checked(result, _term, _options), do: result

  defp again(term, options) do
    Plans.forget()
    options = %{options | plans: Plans.own()}
    Nif.encode(term, options.bytes, options.plans) |> ended(term, options) |> without_count()
  end

  defp without_count({:lost, result, _parts}), do: result
  defp without_count(result), do: result

  defp finish(json, %{compress: -1}) when is_binary(json), do: {:ok, json}
  defp finish(json, options) when is_binary(json), do: gzip(json, options)
  defp finish(other, _options), do: other

  @impl true
  def gzip(text, %{bytes: options}) do
    case Nif.gzip(text, options) do
      json when is_binary(json) -> {:ok, json}
      failed -> failed
    end
  end

  @impl true
  def format(text, %{bytes: options}) do
    case laid_out(text, options) do
      text when is_binary(text) -> {:ok, text}
      failed -> failed
    end
  end

  defp laid_out(text, options) when byte_size(text) < @dirty_from do
    with {:suspended, _, _} = suspended <- Nif.format(text, options),
         do: Nif.format_dirty(text, options, suspended)
  end

  defp laid_out(text, options), do: Nif.format_dirty(text, options, nil)

  # A text of objects with thousands of keys takes as long to sort as one ten times as long takes to read.
  @long_to_sort 16_384

  @impl true
  def canonicalize(text, %{bytes: options}) do
    text =
      if byte_size(text) < @long_to_sort,
        do: Nif.canonicalize(text, options),
        else: Nif.canonicalize_dirty(text, options)

    if is_binary(text), do: {:ok, text}, else: text
  end

  @impl true
  def status do
    case Nif.failure() do
      nil -> {:ok, Nif.info()}
      failure -> {:error, explain(failure)}
    end
  end

  @doc false
  @spec loaded?() :: boolean()
  def loaded?, do: Code.ensure_loaded?(Nif) and Nif.failure() == nil

  defp explain(failure) do
    file = Nif.file()

    if File.regular?(file) do
      Remedy.broken(file, failure)
    else
      "there is no native library (#{Path.relative_to_cwd(file)}). " <>
        Remedy.here(
          "Install Rust from https://rustup.rs and a C compiler, or take what was built elsewhere by mix rustyjson.unpack; " <>
            "then run mix deps.compile rustyjson --force"
        )
    end
  end
end
