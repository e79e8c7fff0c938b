defmodule RustyJson.JsonTestSuiteTest do
  @moduledoc """
  JSONTestSuite by Nicolas Seriot: `y_` must be accepted, `n_` must be rejected, `i_` is up to the implementation and
  listed here, each with its reason. The files are read from `RUSTYJSON_CORPUS`.
  """

  use ExUnit.Case, async: true

  @moduletag :once

  import RustyJson.Test.Corpus, only: [corpus_tests: 3]

  alias RustyJson.Test.{Corpus, Judge}

  @parsing "JSONTestSuite/test_parsing"
  @transform "JSONTestSuite/test_transform"

  @underflow "underflows to zero, the nearest float"
  @overflow "has no finite float; infinity could not be written back"
  @bignum "the BEAM has integers of any size"
  @surrogate "half a surrogate pair: RFC 7493 section 2.1, and no UTF-8 binary can hold it"
  @utf8 "not UTF-8 (RFC 8259 section 8.1)"
  @bom "a byte order mark (RFC 8259 section 8.1), as Jason"
  @depth "deeper than max_depth, 128 by default"

  @accepted [
    {"i_number_double_huge_neg_exp.json", [0.0], @underflow},
    {"i_number_real_underflow.json", [0.0], @underflow},
    {"i_number_too_big_neg_int.json", [-123_123_123_123_123_123_123_123_123_123], @bignum},
    {"i_number_too_big_pos_int.json", [100_000_000_000_000_000_000], @bignum},
    {"i_number_very_big_negative_int.json",
     [-237_462_374_673_276_894_279_832_749_832_423_479_823_246_327_846], @bignum}
  ]

  @rejected [
    {"i_number_huge_exp.json", :number_out_of_range, 1, @overflow},
    {"i_number_neg_int_huge_exp.json", :number_out_of_range, 1, @overflow},
    {"i_number_pos_double_huge_exp.json", :number_out_of_range, 1, @overflow},
    {"i_number_real_neg_overflow.json", :number_out_of_range, 1, @overflow},
    {"i_number_real_pos_overflow.json", :number_out_of_range, 1, @overflow},
    {"i_object_key_lone_2nd_surrogate.json", :lone_surrogate, 2, @surrogate},
    {"i_string_1st_surrogate_but_2nd_missing.json", :lone_surrogate, 2, @surrogate},
    {"i_string_1st_valid_surrogate_2nd_invalid.json", :lone_surrogate, 2, @surrogate},
    {"i_string_incomplete_surrogate_and_escape_valid.json", :lone_surrogate, 2, @surrogate},
    {"i_string_incomplete_surrogate_pair.json", :lone_surrogate, 2, @surrogate},
    {"i_string_incomplete_surrogates_escape_valid.json", :lone_surrogate, 2, @surrogate},
    {"i_string_invalid_lonely_surrogate.json", :lone_surrogate, 2, @surrogate},
    {"i_string_invalid_surrogate.json", :lone_surrogate, 2, @surrogate},
    {"i_string_inverted_surrogates_U+1D11E.json", :lone_surrogate, 2, @surrogate},
    {"i_string_lone_second_surrogate.json", :lone_surrogate, 2, @surrogate},
    {"i_string_UTF-8_invalid_sequence.json", :invalid_utf8, 7, @utf8},
    {"i_string_UTF8_surrogate_U+D800.json", :invalid_utf8, 2, @utf8},
    {"i_string_invalid_utf-8.json", :invalid_utf8, 2, @utf8},
    {"i_string_iso_latin_1.json", :invalid_utf8, 2, @utf8},
    {"i_string_lone_utf8_continuation_byte.json", :invalid_utf8, 2, @utf8},
    {"i_string_not_in_unicode_range.json", :invalid_utf8, 2, @utf8},
    {"i_string_overlong_sequence_2_bytes.json", :invalid_utf8, 2, @utf8},
    {"i_string_overlong_sequence_6_bytes.json", :invalid_utf8, 2, @utf8},
    {"i_string_overlong_sequence_6_bytes_null.json", :invalid_utf8, 2, @utf8},
    {"i_string_truncated-utf-8.json", :invalid_utf8, 2, @utf8},
    {"i_string_utf16BE_no_BOM.json", :expected_value, 0, @utf8},
    {"i_string_utf16LE_no_BOM.json", :expected_value, 1, @utf8},
    {"i_string_UTF-16LE_with_BOM.json", :byte_order_mark, 0, @bom},
    {"i_structure_UTF-8_BOM_empty_object.json", :byte_order_mark, 0, @bom},
    {"i_structure_500_nested_arrays.json", :max_depth, 128, @depth}
  ]

  # The results for texts that parsers read differently; {:error, reason} if the text is rejected.
  @transformed %{
    "number_-9223372036854775808.json" => [-9_223_372_036_854_775_808],
    "number_-9223372036854775809.json" => [-9_223_372_036_854_775_809],
    "number_1.0.json" => [1.0],
    "number_1.000000000000000005.json" => [1.0],
    "number_1000000000000000.json" => [1_000_000_000_000_000],
    "number_10000000000000000999.json" => [10_000_000_000_000_000_999],
    "number_1e-999.json" => [0.0],
    "number_1e6.json" => [1.0e6],
    "number_9223372036854775807.json" => [9_223_372_036_854_775_807],
    "number_9223372036854775808.json" => [9_223_372_036_854_775_808],
    "object_key_nfc_nfd.json" => %{"\u00e9" => "NFC", "e\u0301" => "NFD"},
    "object_key_nfd_nfc.json" => %{"\u00e9" => "NFC", "e\u0301" => "NFD"},
    "object_same_key_different_values.json" => %{"a" => 2},
    "object_same_key_same_value.json" => %{"a" => 1},
    "object_same_key_unclear_values.json" => %{"a" => 0},
    "string_1_escaped_invalid_codepoint.json" => {:error, :lone_surrogate},
    "string_1_invalid_codepoint.json" => {:error, :invalid_utf8},
    "string_2_escaped_invalid_codepoints.json" => {:error, :lone_surrogate},
    "string_2_invalid_codepoints.json" => {:error, :invalid_utf8},
    "string_3_escaped_invalid_codepoints.json" => {:error, :lone_surrogate},
    "string_3_invalid_codepoints.json" => {:error, :invalid_utf8},
    "string_with_escaped_NULL.json" => ["A\0B"]
  }

  corpus_tests @parsing, "JSONTestSuite, parsing" do
    for file <- Corpus.names(@parsing, "y_*") do
      @tag document: file
      test "accepts #{file}", %{document: file} do
        assert {:ok, term} = Judge.decode(Corpus.read!(@parsing, file))
        assert {:ok, json} = Judge.encode(term)
        Judge.assert_decodes(json, term)
      end
    end

    for file <- Corpus.names(@parsing, "n_*") do
      @tag document: file
      test "rejects #{file}", %{document: file} do
        assert {:error, %RustyJson.DecodeError{}} = Judge.decode(Corpus.read!(@parsing, file))
      end
    end

    for {file, term, reason} <- @accepted do
      @tag document: file, term: term
      test "accepts #{file}: #{reason}", %{document: file, term: term} do
        Judge.assert_decodes(Corpus.read!(@parsing, file), term)
      end
    end

    for {file, kind, position, reason} <- @rejected do
      @tag document: file, expected: {kind, position}
      test "rejects #{file}: #{reason}", %{document: file, expected: {kind, position}} do
        Judge.assert_rejects(Corpus.read!(@parsing, file), kind, position)
      end
    end

    test "every file is in one of the lists" do
      listed = Enum.map(@accepted, &elem(&1, 0)) ++ Enum.map(@rejected, &elem(&1, 0))
      assert Enum.sort(listed) == Enum.sort(Corpus.names(@parsing, "i_*"))
      assert length(Corpus.names(@parsing, "y_*")) == 95
      assert length(Corpus.names(@parsing, "n_*")) == 188
    end
  end

  corpus_tests @transform, "JSONTestSuite, transform" do
    for file <- Corpus.names(@transform) do
      @tag document: file
      test "transforms #{file}", %{document: file} do
        text = Corpus.read!(@transform, file)

        case Map.fetch!(@transformed, file) do
          {:error, reason} -> Judge.assert_rejects(text, reason, 2)
          term -> Judge.assert_decodes(text, term)
        end
      end
    end
  end
end
