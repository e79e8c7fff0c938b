defmodule RustyJson.Test.Sweep.Ways do
  @moduledoc "Values of the options that decode and encode share with other functions. Those of one function stand with its call."

  alias RustyJson.Options.Schema
  alias RustyJson.Test.Schemas.{Item, Leaf, Nest, Text, Twig}

  @doc "A union of structs, as a type."
  @spec tagged() :: RustyJson.Schema.Type.t()
  def tagged, do: {:tagged, "t", %{"leaf" => Leaf, "twig" => Twig}}

  @doc "Values of the options of a direction, each on its own, or with those that it needs."
  @spec of(:decode | :encode) :: [keyword()]
  def of(:decode) do
    [
      [keys: :strings],
      [keys: :atoms],
      [keys: :atoms!],
      [keys: :copy],
      [keys: :intern],
      [keys: &String.upcase/1],
      [strings: :reference],
      [strings: :copy],
      [floats: :native],
      [floats: :decimals],
      [floats: :decimals, max_decimal_digits: :infinity, max_decimal_exponent: :infinity],
      [objects: :maps],
      [objects: :ordered_objects],
      [duplicate_keys: :last],
      [duplicate_keys: :first],
      [duplicate_keys: :error],
      [duplicate_keys: :error, objects: :ordered_objects],
      [decoding_integer_digit_limit: 100],
      [max_nodes: 1_000],
      [validate_strings: false],
      [null: nil],
      [null: :null],
      [null: :undefined],
      [raw: ["/*/name", "/key"]],
      [raw: ["/*"], strings: :copy],
      [as: tagged()],
      [as: [tagged()], duplicate_keys: :first],
      [as: {:map, :integer}],
      [as: [:decimal]],
      [as: [:date], errors: :all],
      [as: [:string], errors: :first],
      [as: [:string], errors: :all],
      [as: [:string], errors: :all, max_errors: 10_000],
      [as: [Leaf], errors: :all],
      [as: [Item]],
      [as: [Item], errors: :all],
      [as: [Text], errors: :all],
      [as: Nest, errors: :all],
      [dirty_threshold: 1_000],
      [dirty_threshold: 0]
    ] ++ common()
  end

  def of(:encode) do
    for(value <- [true, false, 4, "\t", [indent: " ", after_colon: ""]], do: [pretty: value]) ++
      for(value <- Schema.atoms(Schema.entries(:encode)[:escape].type), do: [escape: value]) ++
      for(value <- [:none, :gzip, false, nil, {:gzip, 1}], do: [compress: value]) ++
      for(value <- [:auto, :normal, :dirty], do: [scheduler: value]) ++
      [
        [maps: :naive],
        [maps: :strict],
        [sort_keys: true],
        [canonical: true],
        [protocol: false],
        [invalid_utf8: :error],
        [invalid_utf8: :replace],
        [invalid_utf8: :replace, sort_keys: true, maps: :strict],
        [integers: :exact],
        [integers: :js_safe],
        [unsupported: :error],
        [unsupported: :inspect],
        [unsupported: fn _term -> "unsupported" end],
        [key_case: nil],
        [key_case: :camel],
        [key_case: %{id: "number"}],
        [omit: [nil]],
        [redact: ["name", :key]],
        [redact: [contains: ["k"]]],
        [redact: ["/*/id"], redacted: "***"],
        [lean: true],
        [null: nil],
        [null: :null],
        [null: :undefined]
      ] ++ common()
  end

  defp common do
    [
      [max_bytes: 5_000],
      [max_depth: 50],
      [max_depth: :infinity],
      [policy: :sweep],
      [engine: :auto],
      [engine: :native],
      [engine: :wasm],
      [pool_size: 2],
      [pool_size: :schedulers],
      [max_memory: 100_000_000],
      [timeout: 60_000],
      [isolation: :reuse],
      [isolation: :fresh]
    ] ++ for(host <- Schema.atoms(Schema.entries(:sandbox)[:host].type), do: [host: host])
  end
end
