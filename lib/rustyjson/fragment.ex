defmodule RustyJson.Fragment do
  @moduledoc """
  Existing JSON text as a part of a term.

  Use it for JSON from a cache, a database or another service, to avoid decoding and encoding it again.

      iex> cached = RustyJson.Fragment.new(~s({"id":1}))
      iex> RustyJson.encode!(%{user: cached})
      ~s({"user":{"id":1}})

  The text is not checked: an invalid fragment makes the whole output invalid. `new!/1` checks it. `pretty` applies to the
  fragment too, and only then its nesting counts for `max_depth`.
  """

  @type t :: %__MODULE__{encode: iodata() | (RustyJson.Encode.opts() -> iodata())}

  defstruct [:encode]

  @doc """
  Builds a fragment from iodata, or from a function that takes the options of the call and returns iodata.

      iex> fragment = RustyJson.Fragment.new(fn opts -> RustyJson.Encode.value([1, "<"], opts) end)
      iex> RustyJson.encode!(fragment, escape: :html_safe)
      ~S([1,"\\u003C"])
  """
  @spec new(iodata() | (RustyJson.Encode.opts() -> iodata())) :: t()
  def new(iodata) when is_list(iodata) or is_binary(iodata), do: %__MODULE__{encode: iodata}
  def new(encode) when is_function(encode, 1), do: %__MODULE__{encode: encode}

  # Whatever the configuration makes of texts that the application reads.
  @whole [keys: :strings, objects: :ordered_objects, as: nil, raw: [], validate_strings: true]

  @doc """
  Builds a fragment from text that must be valid JSON, and raises `RustyJson.DecodeError` otherwise.

      iex> RustyJson.Fragment.new!("[1]")
      %RustyJson.Fragment{encode: "[1]"}
  """
  @spec new!(iodata()) :: t()
  def new!(iodata) do
    json = IO.iodata_to_binary(iodata)
    RustyJson.decode!(json, @whole)
    %__MODULE__{encode: json}
  end
end
