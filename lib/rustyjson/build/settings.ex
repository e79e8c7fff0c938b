defmodule RustyJson.Build.Settings do
  @moduledoc false
  # How to build, from the environment and the configuration.

  alias RustyJson.Build

  @spec read(keyword(), Path.t(), Path.t()) :: Build.settings()
  def read(config, root, target_dir) do
    %{
      root: root,
      target_dir: target_dir,
      allocator:
        allocator!(set("RUSTYJSON_ALLOCATOR") || to_string(Keyword.get(config, :allocator, "mimalloc"))),
      target: set("RUSTYJSON_TARGET"),
      profile: profile(System.get_env("RUSTYJSON_PROFILE")),
      auditable: System.get_env("RUSTYJSON_AUDITABLE") in ["true", "1"],
      force: System.get_env("FORCE_RUSTYJSON_BUILD") in ["true", "1"],
      # What the library is for: script/package calls its archive by that name.
      system: if(target = set("RUSTYJSON_TARGET"), do: Build.machine(target), else: Build.machine())
    }
  end

  # An empty variable is one that is not set.
  defp set(name), do: with("" <- System.get_env(name), do: nil)

  defp allocator!(name) when name in ~w(mimalloc jemalloc snmalloc system), do: name

  defp allocator!(other) do
    raise ArgumentError,
          "allocator: (or RUSTYJSON_ALLOCATOR) takes mimalloc, jemalloc, snmalloc or system, got: #{inspect(other)}"
  end

  # For those who change the core: without whole-program optimisation, and with one module that is optimised little.
  defp profile(text) when text in [nil, "", "release"], do: "release"
  defp profile("quick"), do: "quick"

  defp profile(other),
    do: raise(ArgumentError, "RUSTYJSON_PROFILE takes release or quick, got: #{inspect(other)}")
end
