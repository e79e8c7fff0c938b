defmodule RustyJson.Engine.Native.Remedy do
  @moduledoc false
  # Why a built file cannot be used, and what to do about it, for both engines.

  # Processors in the header of an ELF file, by the names that the VM has for them.
  @processors %{62 => "x86_64", 183 => "aarch64", 243 => "riscv64"}

  @doc "Why the native library, which is there, does not load. `failure` is what the system says."
  @spec broken(Path.t(), String.t(), String.t()) :: String.t()
  def broken(file, failure, machine \\ RustyJson.Build.machine()) do
    "the native library does not load: #{other_processor(file, machine) || failure}. " <>
      here("FORCE_RUSTYJSON_BUILD=true mix deps.compile rustyjson builds it for this machine")
  end

  @doc "This sentence, which names tasks of Mix, or what to do without Mix: in a release, there is nothing to build with."
  @spec here(String.t()) :: String.t()
  def here(with_mix) do
    if Code.ensure_loaded?(Mix),
      do: with_mix,
      else:
        "On the machine that makes the release, build it or unpack an archive for this machine, then make the release again"
  end

  # The loader of glibc reports such a library as "No such file or directory". Some systems have another name for a processor, such as amd64.
  defp other_processor(file, machine) do
    [processor | _] = String.split(machine, "-", parts: 2)

    with true <- processor in Map.values(@processors),
         {:ok, <<0x7F, "ELF", 2, 1, _::binary-size(12), number::16-little, _::binary>>} <- head(file),
         %{^number => other} when other != processor <- @processors,
         do: "it is for #{other}, but this machine is #{processor}",
         else: (_ -> nil)
  end

  defp head(file), do: File.open(file, [:read, :binary], &IO.binread(&1, 20))
end
