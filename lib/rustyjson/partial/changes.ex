defmodule RustyJson.Partial.Changes do
  @moduledoc false
  # What a piece changes in a document, each change with its pointer. A few bytes can change many values with long pointers, or an
  # ordered object again and again, so their bytes are counted: from some number on, one change of the whole document replaces them all
  # (`RustyJson.Partial` says when).

  alias RustyJson.Partial.Document
  alias RustyJson.Pointer

  import RustyJson.Partial.Frames, only: :macros

  @times 16
  @free 16_384
  # Bytes of a member in a list: a cell and a pair.
  @member 40

  # The bytes that may still be spent, and the changes, the last one first; `:whole` where the document is set; nil where nobody asks.
  @opaque t :: nil | :whole | {non_neg_integer(), [RustyJson.Partial.change()]}

  # Where the current value stands: its pointer; nowhere, when a repeated key hides it; or the pointer and the depth of the ordered
  # object that has its key twice, which can only be set as a whole. With the bytes of the pointer.
  @type place :: nil | {:at | :hidden | {:object, pos_integer()}, String.t(), non_neg_integer()}

  @doc "None yet, of a piece of this length."
  @spec new(non_neg_integer()) :: t()
  def new(bytes), do: {@free + @times * bytes, []}

  @doc "The changes in their order, unless the root is to be set."
  @spec list(t()) :: [RustyJson.Partial.change()]
  def list({_left, changes}), do: Enum.reverse(changes)

  @doc "Where the current value stands in these containers, the innermost first."
  @spec place(t(), [tuple()]) :: place()
  def place({left, _changes}, stack) do
    length = reach(stack)
    if length <= left, do: place(stack, [], 0, 0, length)
  end

  def place(_changes, _stack), do: nil

  # From the innermost container to the outermost, whose repeated key decides. `below` is the number of containers from a repeated key on.
  defp place([], :hidden, _count, _below, length), do: {:hidden, "", length}
  defp place([], pointer, _count, 0, length), do: {:at, IO.iodata_to_binary(pointer), length}

  defp place([], pointer, count, below, length),
    do: {{:object, count - below + 1}, IO.iodata_to_binary(pointer), length}

  defp place([{:object, _, _, _, _, :hidden, _} | outer], _pointer, count, _below, length),
    do: place(outer, :hidden, count + 1, 0, length)

  defp place([{:object, _, _, _, _, :again, _} | outer], _pointer, count, _below, length),
    do: place(outer, [], count + 1, count + 1, length)

  defp place([_frame | outer], :hidden, count, below, length),
    do: place(outer, :hidden, count + 1, below, length)

  # Containers of typed documents, whose structs have names of fields.
  defp place([in_struct(field: {name, _type}) | outer], pointer, count, below, length),
    do: place(outer, [?/, token(name) | pointer], count + 1, below, length)

  defp place([in_map(name: name, state: state) | outer], pointer, count, below, length) when state != :hidden,
    do: place(outer, [?/, token(name) | pointer], count + 1, below, length)

  defp place([in_list(count: index) | outer], pointer, count, below, length),
    do: place(outer, [?/, Integer.to_string(index) | pointer], count + 1, below, length)

  defp place([{:array, _, index, _} | outer], pointer, count, below, length),
    do: place(outer, [?/, Integer.to_string(index) | pointer], count + 1, below, length)

  defp place([{:object, _, _, name, _, _, _} | outer], pointer, count, below, length),
    do: place(outer, [?/, token(name) | pointer], count + 1, below, length)

  # A value that is passed over, or shown when it is complete.
  defp place([_hidden | outer], _pointer, count, _below, length),
    do: place(outer, :hidden, count + 1, 0, length)

  @doc "About as many bytes as the pointer of the current value has."
  @spec reach([tuple()]) :: non_neg_integer()
  def reach([{:array, _, _, length} | _]), do: length + 4
  def reach([{:object, _, _, name, _, _, length} | _]) when is_binary(name), do: length + byte_size(name) + 4
  def reach([{:object, _, _, _, _, _, length} | _]), do: length + 16
  def reach([in_list(length: length) | _]), do: length + 4

  def reach([in_struct(field: {name, _type}, length: length) | _]),
    do: length + byte_size(Atom.to_string(name)) + 4

  def reach([in_map(name: name, length: length) | _]) when is_binary(name), do: length + byte_size(name) + 4
  # Nothing in these is told.
  def reach([_hidden | _]), do: 0
  def reach([]), do: 0

  @doc "Notes a change at this place of the document, which already has it."
  @spec note(t(), place(), {:set, term()} | {:append, binary()}, Document.t()) :: t()
  def note({_left, _changes}, nil, _change, _document), do: :whole
  def note(changes, nil, _change, _document), do: changes
  def note({left, changes}, {:hidden, _, length}, _change, _document), do: {left - length, changes}
  def note(changes, _place, {:append, ""}, _document), do: changes

  def note({left, changes}, {:at, pointer, length}, change, _document),
    do: {left - length, [{pointer, change} | changes]}

  def note({left, changes}, {{:object, depth}, pointer, length}, _change, document) do
    frames = Document.innermost(document, depth)
    left = left - length - @member * Enum.sum(Enum.map(frames, &children/1))

    if left < 0 do
      :whole
    else
      {:ok, value} = Document.value(document, frames)
      {left, [{pointer, {:set, value}} | changes]}
    end
  end

  # A map is copied in part, its members stay where they are.
  defp children({:array, _, count, _}), do: count
  defp children({:object, members, _, _, _, _, _}) when is_list(members), do: length(members)
  defp children(_object), do: 0

  @doc "A key as a reference token (RFC 6901)."
  @spec token(String.t() | atom()) :: String.t()
  def token(name) when is_atom(name), do: name |> Atom.to_string() |> Pointer.token()
  def token(name), do: Pointer.token(name)
end
