defmodule Jason.Codegen do
  @moduledoc false
  # A private module of Jason, which the stand-in does not have. A package that uses it gets an error that says so.

  @text "Jason.Codegen is a private module of Jason, and the stand-in of RustyJson does not have its functions: " <>
          "use the real Jason for now, and ask the package that uses it to call documented functions"

  @doc false
  @spec jump_table(term(), term(), term()) :: no_return()
  def jump_table(_ranges, _default, _most \\ nil), do: raise(ArgumentError, @text)

  @doc false
  @spec build_kv_iodata(term(), term()) :: no_return()
  def build_kv_iodata(_members, _arguments), do: raise(ArgumentError, @text)

  @doc false
  defmacro bytecase(_value, _most \\ nil, _clauses), do: raise(ArgumentError, @text)
end

defmodule Jason.Decoder do
  @moduledoc false
  # Private in Jason too, but packages call it.

  @doc false
  @spec parse(binary(), map()) :: {:ok, term()} | {:error, Jason.DecodeError.t()}
  def parse(data, opts), do: Jason.decode(data, opts)
end
