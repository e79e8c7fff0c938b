defmodule RustyJson.Fragment do
  @moduledoc """
  JSON that is there already, to be put into a term that is encoded.

  It saves decoding and encoding again what a cache, a database or another service delivers as text.

      iex> cached = RustyJson.Fragment.new(~s({"id":1}))
      iex> RustyJson.encode!(%{user: cached})
      ~s({"user":{"id":1}})

  The text is not checked (`new!/1` does): what is no JSON makes an output that is none. With `pretty` it is laid out like
  the rest, and only then its nesting counts for `max_depth`.
  """

  @type t :: %__MODULE__{encode: iodata() | (RustyJson.Encode.opts() -> iodata())}

  defstruct [:encode]

  @doc """
  A fragment of iodata, or of a function that gets the options of the call and returns iodata.

      iex> fragment = RustyJson.Fragment.new(fn opts -> RustyJson.Encode.value([1, "<"], opts) end)
      iex> RustyJson.encode!(fragment, escape: :html_safe)
      ~S([1,"\\u003C"])
  """
  @spec new(iodata() | (RustyJson.Encode.opts() -> iodata())) :: t()
  def new(iodata) when is_list(iodata) or is_binary(iodata), do: %__MODULE__{encode: iodata}
  def new(encode) when is_function(encode, 1), do: %__MODULE__{encode: encode}

  @doc """
  The same, for text that must be JSON: raises `RustyJson.DecodeError` where it is not.

      iex> RustyJson.Fragment.new!("[1]")
      %RustyJson.Fragment{encode: "[1]"}
  """
  @spec new!(iodata()) :: t()
  def new!(iodata) do
    json = IO.iodata_to_binary(iodata)
    RustyJson.decode!(json, keys: :strings, objects: :ordered_objects)
    %__MODULE__{encode: json}
  end
end
