defmodule RustyJson.Build.Translation do
  @moduledoc false
  # Translates the WebAssembly module to C with wasm2c, and adds the checks that keep it inside its limits. The native library compiles
  # the result (wasm/host). A build from a git repository needs wasm2c; a package contains the result.

  alias RustyJson.Build.{Archive, Tools}

  # Features that the module does not use, and whose C the runtime does not have.
  @arguments ~w(--disable-tail-call --disable-exceptions --disable-memory64 -n rustyjson)
  @header "rustyjson.h"
  @simde "simde/wasm/simd128.h"

  @typedoc "How often each rule was applied."
  @type counts :: %{atom() => pos_integer()}

  @doc "The file of the translation of a module."
  @spec file(Path.t()) :: Path.t()
  def file(wasm), do: Path.rootname(wasm) <> ".c.gz"

  @doc "Whether there is a translation of exactly this module, by the rules of this file."
  @spec current?(Path.t()) :: boolean()
  def current?(wasm) do
    with {:ok, packed} <- File.read(file(wasm)), {:ok, bytes} <- File.read(wasm) do
      String.starts_with?(:zlib.gunzip(packed), banner(bytes))
    else
      _ -> false
    end
  rescue
    # It was damaged.
    _error in ErlangError -> false
  end

  @doc "Translates a module into the file beside it."
  @spec run(Path.t()) :: :ok | {:missing, String.t()} | {:error, String.t()}
  def run(wasm) do
    with {:ok, text, _counts} <- translate(wasm),
         do: Archive.write(file(wasm), :zlib.gzip([banner(File.read!(wasm)), text]))
  end

  @doc "The translation of a module, and how often each rule was applied."
  @spec translate(Path.t()) :: {:ok, iodata(), counts()} | {:missing, String.t()} | {:error, String.t()}
  def translate(wasm) do
    with {wasm2c, simde} when wasm2c != :missing <- Tools.wasm2c(),
         {:ok, header, code} <- wasm2c(wasm2c, wasm),
         do: rewrite(header, code, simde)
  end

  @rules __ENV__.file |> File.read!() |> :erlang.md5() |> Base.encode16(case: :lower)

  @doc "The first line of a translation: it names the module and the rules."
  @spec banner(binary()) :: String.t()
  def banner(bytes), do: "// wasm2c #{Base.encode16(:erlang.md5(bytes), case: :lower)} #{@rules}\n"

  defp wasm2c(wasm2c, wasm) do
    dir = Path.join(System.tmp_dir!(), "rustyjson-#{System.pid()}-#{System.unique_integer([:positive])}")
    File.mkdir_p!(dir)
    code = Path.join(dir, "rustyjson.c")

    try do
      case System.cmd(wasm2c, @arguments ++ [wasm, "-o", code], stderr_to_stdout: true) do
        {_, 0} -> {:ok, File.read!(Path.join(dir, @header)), File.read!(code)}
        {output, _} -> {:error, "wasm2c failed:\n" <> output}
      end
    after
      File.rm_rf!(dir)
    end
  end

  ## The checks

  @doc """
  Adds the checks to what wasm2c wrote, `header` and `code`; `simde` is the folder of the headers that it includes. An error if it has
  another form than the rules expect: every loop, every function and every access to memory must get its check.
  """
  @spec rewrite(String.t(), String.t(), Path.t()) :: {:ok, iodata(), counts()} | {:error, String.t()}
  def rewrite(header, code, simde) do
    rules()
    |> Enum.reduce_while({:ok, code, %{}}, fn {name, rule}, {:ok, code, counts} ->
      case apply_rule(rule, code) do
        {code, count} -> {:cont, {:ok, code, Map.put(counts, name, count)}}
        :error -> {:halt, unexpected(name)}
      end
    end)
    |> then(&with({:ok, code, counts} <- &1, do: {:ok, joined(code, header, simde), counts}))
  end

  defp unexpected(rule),
    do: {:error, "wasm2c's output has an unexpected form (#{rule}); version 1.0.42 is known to work"}

  # What is replaced, by what, and what there is as often. Linear memory may move when it grows, so its address is read again where its
  # size is: after each call. wasm2c's own check of an access adds the offset to the index first, so that each access needs another one;
  # WASM_RT_AT checks the index, which many accesses share.
  defp rules do
    [
      accesses:
        {~r/(\w+)_default32\(wasm_rt_local_memory_base, wasm_rt_local_memory_size, &instance->w2c_memory, \(u64\)\((\w+)\)((?: \+ \d+u)?)(?=[,)])/,
         "\\1_unchecked(wasm_rt_local_memory_base, &instance->w2c_memory, WASM_RT_AT(\\2, 0\\3)",
         ~r/\w\(wasm_rt_local_memory_base, wasm_rt_local_memory_size, /},
      address:
        {~r/^  uint8_t\* const wasm_rt_local_memory_base = /m, "  uint8_t* wasm_rt_local_memory_base = ",
         ~r/ const wasm_rt_local_memory_base = /},
      moves:
        {~r/^( +)wasm_rt_local_memory_size = \(&instance->w2c_memory\)->size;$/m,
         "\\1wasm_rt_local_memory_base = (&instance->w2c_memory)->data;\n\\0",
         ~r/^ *wasm_rt_local_memory_size = /m},
      loops: {~r/^( +var_L\d+:) *$/m, "\\1 WASM_RT_SPEND(&instance->w2c_memory)", ~r/\bvar_L\d+:/},
      functions: {~r/^  FUNC_PROLOGUE;$/m, "  WASM_RT_ENTER(&instance->w2c_memory)", ~r/^  FUNC_EPILOGUE;$/m},
      fill:
        {~r/^  memset\(MEM_ADDR\(mem, d, n\), val, n\);$/m,
         "  wasm_rt_fill(mem, MEM_ADDR(mem, d, n), val, n);", ~r/\bmemory_fill\(wasm_rt_memory_t/},
      copy:
        {~r/^  memmove\((MEM_ADDR\(dest, dest_addr, n\), MEM_ADDR\(src, src_addr, n\), n)\);$/m,
         "  wasm_rt_copy(dest, \\1);", ~r/\bmemory_copy\(wasm_rt_memory_t/}
    ]
  end

  defp apply_rule({pattern, replacement, all}, code) do
    count = length(Regex.scan(pattern, code))

    if count == length(Regex.scan(all, code)),
      do: {Regex.replace(pattern, code, replacement), count},
      else: :error
  end

  ## One file

  # Everything in one file, except the runtime. Exports become static, so that the library can hold the module more than once.
  defp joined(code, header, simde) do
    header = Regex.replace(~r/^(?=\w[\w *]*\(.*\);$)(?!static)/m, header, "static ")

    code
    |> String.replace(~s(#include "#{@header}"), header)
    |> String.replace("#include <#{@simde}>", inlined(Path.join(simde, @simde)))
  end

  # A header with all that it includes by a relative path, each once.
  defp inlined(path) do
    {text, _seen} = inline(Path.expand(path), MapSet.new())
    text
  end

  defp inline(path, seen) do
    if path in seen do
      {"", seen}
    else
      parts = Regex.split(~r/^\s*#\s*include "[^"]+".*$/m, File.read!(path), include_captures: true)
      Enum.reduce(parts, {"", MapSet.put(seen, path)}, &include(&1, Path.dirname(path), &2))
    end
  end

  defp include(part, dir, {text, seen}) do
    case Regex.run(~r/^\s*#\s*include "([^"]+)"/, part) do
      [_, name] ->
        {included, seen} = inline(Path.expand(name, dir), seen)
        {text <> included, seen}

      nil ->
        {text <> part, seen}
    end
  end
end
