if Code.ensure_loaded?(StreamData) do
  defmodule RustyJson.PropertyTest do
    @moduledoc "The same properties as in differential_test.exs, with StreamData's generators and its shrinking."

    use ExUnit.Case, async: true
    use ExUnitProperties

    alias RustyJson.Test.{Gen, Judge, Properties}

    defp json_term do
      scalar = one_of([integer(), float(), boolean(), constant(nil), string(:utf8), string(:alphanumeric)])

      tree(scalar, fn child ->
        one_of([list_of(child, max_length: 8), map_of(string(:utf8, max_length: 20), child, max_length: 40)])
      end)
    end

    property "terms survive" do
      check(all(term <- json_term(), do: Properties.survives(term)))
    end

    property "every escape mode decodes to the same term" do
      check(all(term <- json_term(), do: Properties.escapes(term)))
    end

    property "pretty, then minified, is the plain form" do
      check(all(term <- json_term(), do: Properties.pretty(term)))
    end

    property "sorted output is sorted" do
      check(all(term <- json_term(), do: Properties.sorted(term)))
    end

    property "damaged texts: engines agree, and errors point into the input" do
      check all(term <- json_term(), seed <- integer()) do
        :rand.seed(:exsss, {seed, 1, 1})
        Properties.agrees(Gen.damage(Gen.text(term)))
      end
    end

    property "any bytes: engines agree" do
      check(all(text <- binary(), do: Judge.decode(text)))
    end
  end
else
  defmodule RustyJson.PropertyTest do
    @moduledoc false

    use ExUnit.Case, async: true

    @tag skip:
           "StreamData is not loaded; differential_test.exs has the same properties over its own generator"
    test("properties with StreamData", do: :ok)
  end
end
