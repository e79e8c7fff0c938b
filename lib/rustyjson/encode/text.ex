defmodule RustyJson.Encode.Text do
  @moduledoc false
  # Turns a term into text: first by the engine, then Elixir fills the holes that the engine left (`RustyJson.Encode.Part`).

  require RustyJson.Encode.Known
  require RustyJson.Options.Cache

  alias RustyJson.{EncodeError, Encoder, Engine, Options, SandboxError}
  alias RustyJson.Encode.{Canonical, Known, Lost, Measure, Part, Unsupported, Written}
  alias RustyJson.Encoder.{Interop, Plans}
  alias RustyJson.Engine.Native
  alias RustyJson.Options.Cache

  @compile {:inline, core?: 3, by_source: 6, learnt: 6, at_once: 5, ready: 4}

  @known Known.modules()

  @doc "The text, compressed if that is asked for."
  @spec encode(term(), Options.t()) :: {:ok, binary()} | {:error, Exception.t()}

  # The common case, without a look at what it does not need.
  def encode(
        term,
        %{engine: Engine.Native, canonical: false, compress: -1, bytes: bytes} = options
      ) do
    plans = Plans.known(options)

    case if(core?(term, plans, options), do: Native.Nif.encode(term, bytes, plans)) do
      json when is_binary(json) -> {:ok, json}
      nil -> general(term, options)
      begun -> ended(begun, term, %{options | plans: plans})
    end
  end

  def encode(term, %{canonical: true} = options), do: Canonical.encode(term, options)
  def encode(term, options), do: general(term, options)

  @doc "The text of a term by the configured options, where these ask for more than the library alone, or for a struct."
  @spec configured(term(), ready(), Cache.t(), Options.t() | nil) :: {:ok, binary()} | {:error, Exception.t()}
  def configured(term, {:derived, ready}, _cached, options),
    do: by_plans(term, ready, Plans.known(options), options)

  # A struct whose module an earlier call learnt. Its plan comes with what was learnt, so the core need not report that it was used.
  def configured(%module{} = struct, ready, Cache.cached(sources: sources, plans: plans), options)
      when ready != nil do
    case sources do
      %{^module => source} -> by_source(source, struct, module, ready, plans, options)
      _unknown -> by_plans(struct, ready, plans, options)
    end
  end

  def configured(term, ready, Cache.cached(plans: plans), options), do: by_plans(term, ready, plans, options)

  defp by_plans(%module{} = struct, ready, plans, options) when ready != nil and is_map_key(plans, module),
    do: planned(struct, module, ready, plans, options)

  defp by_plans([%module{} | _] = list, ready, plans, options)
       when ready != nil and is_map_key(plans, module),
       do: planned(list, module, ready, plans, options)

  # What implementations do takes from the time of a call in the sandbox.
  defp by_plans(term, {:sandbox, _number}, _plans, options), do: given(term, options)

  defp by_plans(%module{} = struct, ready, plans, %{usual: usual, plain_parts: plain} = options)
       when (usual or plain) and ready != nil and module not in @known,
       do: of_struct(struct, plans, options)

  defp by_plans(term, ready, plans, options) when ready != nil and not Known.is_of_structs(term),
    do: term |> Native.Nif.encode(ready, plans) |> ready(term, plans, options)

  defp by_plans(term, nil, _plans, options), do: given(term, options)
  defp by_plans(term, _ready, _plans, options), do: encode(term, options)

  @typedoc "What a library needs for a call that it answers alone; with a mark where the plans of other libraries do not count."
  @type ready :: Native.Nif.kept() | {:derived, Native.Nif.kept()} | {:sandbox, integer()} | nil

  # A struct that the core leaves to its own implementation: 370 ns through the holes of a text, 220 at once.
  defp of_struct(struct, plans, options), do: own(struct, nil, with_plans(options, plans))

  defp by_source(source, struct, module, ready, plans, options) do
    if Plans.holds?(source, struct),
      do: learnt(source, struct, module, ready, plans, options),
      else: by_plans(struct, ready, plans, options)
  end

  # By the plan, or by the implementation.
  defp learnt({nil, library, _, encode}, struct, _module, ready, plans, %{usual: true} = options)
       when not is_tuple(ready),
       do: own(struct, Interop.way(library, encode, options), with_plans(options, plans))

  defp learnt({nil, _, _, _}, struct, _module, ready, plans, options),
    do: by_plans(struct, ready, plans, options)

  defp learnt({plan, _, _, _}, struct, module, ready, plans, options),
    do: at_once(struct, ready, {plans, module, plan}, plans, options)

  defp with_plans(options, nil), do: options
  defp with_plans(options, plans), do: %{options | plans: plans}

  # The library then does not report this plan, which takes longer than to look here.
  defp planned(term, module, ready, plans, options) do
    given = if Plans.current?(module, plans), do: {plans, module, :erlang.map_get(module, plans)}, else: plans
    at_once(term, ready, given, plans, options)
  end

  # The plans are given with the one that was looked at.
  defp at_once(term, {:sandbox, number}, given, plans, options) do
    case Native.Nif.sandbox_encode(term, number, given) do
      {:ok, _text} = done -> done
      false -> given(term, options)
      answer -> sandboxed(answer, term, plans, options)
    end
  end

  defp at_once(term, ready, given, plans, options),
    do: term |> Native.Nif.encode(ready, given) |> ready(term, plans, options)

  defp ready(json, _term, _plans, _options) when is_binary(json), do: {:ok, json}
  defp ready(begun, term, plans, options), do: begun(begun, term, plans, options)

  @doc "The text of a term by options that come from the caller or the configuration as they stand."
  @spec given(term(), Options.t()) :: {:ok, binary()} | {:error, Exception.t()}
  def given(term, %{straight: limits} = options) when limits != nil and not Known.is_of_structs(term) do
    options = Plans.attach(options)

    case Engine.Wasm.straight_text(term, options) do
      {:ok, _text} = done -> done
      {answer, started} -> completed(answer, term, options, started)
    end
  end

  def given(term, options), do: encode(term, options)

  @doc "Turns what the built-in host answered at once, by these plans, into a result."
  @spec sandboxed(Native.Nif.wrote() | :later, term(), Plans.t() | nil, Options.t()) ::
          {:ok, binary()} | {:error, Exception.t()}
  def sandboxed(answer, term, plans, options) do
    options = with_plans(options, plans)
    {answer, started} = Engine.Wasm.ended_text(answer, term, options)
    completed(answer, term, options, started)
  end

  defp own(struct, by, options) do
    case Part.own(struct, by, options) do
      text when is_binary(text) -> {:ok, text}
      text -> {:ok, binary([text], options)}
    end
  rescue
    error in EncodeError -> {:error, Part.behind(error, "", 0, options)}
    error in SandboxError -> {:error, error}
    error in Protocol.UndefinedError -> undefined(error, __STACKTRACE__)
  end

  @doc "Turns the native library's answer into a result. The options are those of the call, which may have been replaced since."
  @spec begun(
          Native.Nif.encoded() | Native.Nif.suspended() | :dirty,
          term(),
          Plans.t() | nil,
          Options.t()
        ) :: {:ok, binary()} | {:error, Exception.t()}
  # The most common one: the library wrote structs in the term by plans, and reports them.
  def begun({:planned, json, modules} = begun, term, plans, options) when is_binary(json) do
    if Plans.current?(modules, plans), do: {:ok, json}, else: ended(begun, term, %{options | plans: plans})
  end

  def begun(begun, term, plans, options), do: ended(begun, term, %{options | plans: plans})

  # Whether the core is asked first: of structs, only for those with a plan.
  defp core?(%module{}, plans, _options), do: Known.has_plan(module, plans)

  defp core?([%module{} | _], plans, options),
    do: Known.has_plan(module, plans) or not Part.left?(module, options)

  defp core?(_term, _plans, _options), do: true

  defp general(term, options) do
    options = Plans.attach(options)
    started = Options.started(options)

    Part.by_engine(term, options) |> completed(term, options, started)
  end

  defp ended(begun, term, options),
    do: Native.encoded(begun, term, options) |> completed(term, options, nil)

  defp completed({:ok, _text} = done, _term, _options, _started), do: done

  # The first call that meets a list of derived structs has them written by their plan, as all later calls do.
  defp completed({:partial, json, holes}, term, options, started) do
    due = Options.due(options, started)

    if Part.learns?(holes, options),
      do: due |> Plans.attach() |> again(term),
      else: complete(json, holes, due)
  end

  defp completed({:error, failure}, _term, options, _started),
    do: {:error, EncodeError.of_call(failure, options)}

  defp again(options, term) do
    with {:partial, json, holes} <- Part.by_engine(term, options),
         do: complete(json, holes, options),
         else: (answer -> completed(answer, term, options, nil))
  end

  @doc "The text, or what the engine wrote of it and the holes that are left."
  @spec begin(term(), Options.t()) ::
          {:ok, binary()} | {:partial, binary(), [Engine.hole()]} | {:error, Exception.t()}
  def begin(term, options) do
    options = Plans.attach(options)
    begun = if is_list(term), do: Part.by(options.engine, term, options), else: Part.by_engine(term, options)
    with {:error, failure} <- begun, do: {:error, EncodeError.of_call(failure, options)}
  end

  # Errors of parts pass through the application's code as exceptions.
  defp complete(json, holes, options) do
    json
    |> Part.fill(holes, options |> Options.inner() |> Unsupported.mark() |> Lost.count())
    |> binary(options)
    |> compress(options)
  rescue
    error in [EncodeError, SandboxError] -> {:error, %{error | call: nil}}
    error in Protocol.UndefinedError -> undefined(error, __STACKTRACE__)
  end

  defp binary([text], _options) when is_binary(text), do: text

  defp binary(pieces, %{engine: Native} = options), do: Written.joined(pieces, options)

  # Iodata of encoders can hold the same part many times.
  defp binary(pieces, options) do
    Measure.check!(pieces, options)
    Written.joined(pieces, options)
  end

  @protocols [Encoder | Interop.protocols()]

  defp undefined(%{protocol: protocol} = error, _stacktrace) when protocol in @protocols, do: {:error, error}
  defp undefined(error, stacktrace), do: reraise(error, stacktrace)

  defp compress(json, %{compress: -1}), do: {:ok, json}

  defp compress(json, options) do
    with {:error, failure} <- options.engine.gzip(json, options),
         do: {:error, EncodeError.of_call(failure, options)}
  end
end
