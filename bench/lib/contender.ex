defmodule RustyJson.Bench.Contender do
  @moduledoc """
  The contenders: the engines of RustyJson, other libraries, and the BEAM's own binary format, each with the options that give
  the same result. `decode` takes JSON and `encode` gives a binary, except for the yardstick, which reads and
  writes External Term Format.
  """

  @type id :: String.t()
  @type t :: %{decode: (binary() -> term()), encode: (term() -> binary())}

  # Id, title, and the VM it runs in. Two versions of RustyJson have the same module names, and each engine is measured as the
  # configured engine of its VM.
  @all [
    {"native", "RustyJson native", :main},
    {"built_in", "RustyJson wasm, built-in host", :built_in},
    {"wasmex", "RustyJson wasm, wasmex", :wasmex},
    {"otp", "OTP json", :main},
    {"elixir", "Elixir JSON", :main},
    {"jiffy", "jiffy", :main},
    {"jason", "Jason", :main},
    {"torque", "torque", :main},
    {"glazer", "glazer", :main},
    {"old", "RustyJson 0.3.10", :old}
  ]
  @ours ["native", "built_in", "wasmex"]

  @spec ids() :: [id()]
  def ids, do: Enum.map(@all, &elem(&1, 0))

  @doc "The contenders that are this version of RustyJson."
  @spec ours() :: [id()]
  def ours, do: @ours

  @spec title(id()) :: String.t()
  def title(id), do: @all |> List.keyfind(id, 0, {id, id}) |> elem(1)

  @spec side(id()) :: atom()
  def side(id), do: @all |> List.keyfind(id, 0) |> elem(2)

  @spec sides() :: [atom()]
  def sides, do: @all |> Enum.map(&elem(&1, 2)) |> Enum.uniq()

  @doc "The contenders of one side that work in this VM, with their versions."
  @spec present(atom()) :: [{id(), String.t()}]
  def present(side) do
    for {id, _, ^side} <- @all, works?(id), do: {id, version(id)}
  end

  defp works?(id) do
    %{decode: decode, encode: encode} = get(id)

    decode.(~s({"a":[1,2.5,null,"x"]})) == %{"a" => [1, 2.5, nil, "x"]} and
      encode.(%{"a" => nil}) == ~s({"a":null})
  rescue
    # The library was missing at compile time, or does not load.
    _ -> false
  end

  defp version(id) when id in ["otp", "elixir"], do: if(id == "otp", do: otp(), else: System.version())

  defp version(id) do
    app = if id in ["old" | @ours], do: :rustyjson, else: String.to_atom(id)
    _ = Application.load(app)
    to_string(Application.spec(app, :vsn) || "?")
  end

  @doc "The OTP release with its patch level."
  @spec otp() :: String.t()
  def otp do
    release = List.to_string(:erlang.system_info(:otp_release))
    file = Path.join([:code.root_dir(), "releases", release, "OTP_VERSION"])
    if File.regular?(file), do: file |> File.read!() |> String.trim(), else: release
  end

  @doc "The functions of a contender. Only RustyJson gets the options."
  @spec get(id(), keyword()) :: t()
  def get(id, opts \\ [])

  def get("yardstick", _opts) do
    %{decode: &:erlang.binary_to_term/1, encode: &:erlang.term_to_binary/1}
  end

  def get(id, []) when id in ["old" | @ours] do
    %{decode: fn json -> RustyJson.decode!(json) end, encode: fn term -> RustyJson.encode!(term) end}
  end

  def get(id, opts) when id in ["old" | @ours] do
    %{
      decode: fn json -> RustyJson.decode!(json, opts) end,
      encode: fn term -> RustyJson.encode!(term, opts) end
    }
  end

  # The other libraries, if they were available at compile time.
  if Code.ensure_loaded?(:json) do
    def get("otp", _opts), do: %{decode: &otp_decode/1, encode: &otp_encode/1}
  end

  if Code.ensure_loaded?(JSON) do
    def get("elixir", _opts) do
      %{decode: fn json -> JSON.decode!(json) end, encode: fn term -> JSON.encode!(term) end}
    end
  end

  if Code.ensure_loaded?(Jason) do
    def get("jason", _opts) do
      %{decode: fn json -> Jason.decode!(json) end, encode: fn term -> Jason.encode!(term) end}
    end
  end

  if Code.ensure_loaded?(Torque) do
    def get("torque", _opts) do
      %{decode: fn json -> Torque.decode!(json) end, encode: fn term -> Torque.encode!(term) end}
    end
  end

  if Code.ensure_loaded?(:jiffy) do
    def get("jiffy", _opts) do
      %{
        decode: fn json -> :jiffy.decode(json, [:return_maps, :use_nil]) end,
        encode: fn term -> IO.iodata_to_binary(:jiffy.encode(term, [:use_nil])) end
      }
    end
  end

  if Code.ensure_loaded?(:glazer) do
    def get("glazer", _opts) do
      %{
        decode: fn json -> :glazer.decode(json, [:use_nil]) end,
        encode: fn term -> IO.iodata_to_binary(:glazer.encode(term, [:use_nil])) end
      }
    end
  end

  if Code.ensure_loaded?(:json) do
    defp otp_decode(json) do
      {term, :ok, _rest} = :json.decode(json, :ok, %{null: nil})
      term
    end

    defp otp_encode(term), do: IO.iodata_to_binary(:json.encode(term, &otp_encode/2))
    defp otp_encode(nil, _encoder), do: "null"
    defp otp_encode(other, encoder), do: :json.encode_value(other, encoder)
  end
end
