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
  @spec hint(:cargo | :cc | :wasm_target | :wasm_opt) :: String.t()
  def hint(:cargo) do
    "Install Rust from https://rustup.rs, or run `rustup update`. Without Rust, `mix rustyjson.install` installs libraries that " <>
      "were built on another machine, and `config :rustyjson, precompiled: ADDRESS` takes them from a release."
  end

  def hint(:cc), do: "Install one: `apt install gcc`, or `xcode-select --install`."
  def hint(:wasm_target), do: "Add it: `rustup target add #{@wasm_target}`."
  def hint(:wasm_opt), do: "Install binaryen: `apt install binaryen`, or `brew install binaryen`."

  @spec wasm_opt?() :: boolean()
  def wasm_opt?, do: System.find_executable("wasm-opt") != nil

  @doc "Optimises a module into a file beside it."
  @spec wasm_opt(Path.t()) :: {:ok, Path.t()} | {:error, String.t()} | :missing
  def wasm_opt(module) do
    optimised = module <> ".opt"

    if wasm_opt?() do
      case run("wasm-opt", @wasm_opt ++ [module, "-o", optimised]) do
        {_, 0} -> {:ok, optimised}
        {output, _} -> {:error, output}
      end
    else
      :missing
    end
  end

  defp run(program, arguments) do
    System.cmd(program, arguments, stderr_to_stdout: true)
  rescue
    error in ErlangError -> {Exception.message(error), 127}
  end
end
