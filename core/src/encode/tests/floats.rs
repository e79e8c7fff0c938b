use super::*;
use proptest::prelude::*;

/// What `:erlang.float_to_binary(value, [:short])` of OTP 29 gives.
const TABLE: &[(f64, &str)] = &[
    (0.0, "0.0"),
    (-0.0, "-0.0"),
    (1.0, "1.0"),
    (10.0, "10.0"),
    (100.0, "100.0"),
    (1000.0, "1.0e3"),
    (1200.0, "1.2e3"),
    (1234.0, "1234.0"),
    (10_000.0, "1.0e4"),
    (12_000.0, "1.2e4"),
    (100_000.0, "1.0e5"),
    (120_000.0, "1.2e5"),
    (123_000.0, "1.23e5"),
    (123_456.0, "123456.0"),
    (1_234_560.0, "1234560.0"),
    (12_345_600.0, "1.23456e7"),
    (123_456_000.0, "1.23456e8"),
    (1_234_560_000.0, "1.23456e9"),
    (0.1, "0.1"),
    (0.01, "0.01"),
    (0.001, "0.001"),
    (0.0001, "0.0001"),
    (0.00001, "1.0e-5"),
    (0.12, "0.12"),
    (0.0012, "0.0012"),
    (0.00012, "1.2e-4"),
    (0.00123, "0.00123"),
    (1.5, "1.5"),
    (-65.61361699999998, "-65.61361699999998"),
    (2.5e-8, "2.5e-8"),
    (1e22, "1.0e22"),
    (1e23, "1.0e23"),
    (9_007_199_254_740_991.0, "9007199254740991.0"),
    (9_007_199_254_740_992.0, "9.007199254740992e15"),
    (9_007_199_254_740_990.0, "9007199254740990.0"),
    (1_234_567_890_123_456.8, "1234567890123456.8"),
    (12_345_678_901_234_568.0, "1.2345678901234568e16"),
    (f64::MAX, "1.7976931348623157e308"),
    (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
    (5e-324, "5.0e-324"),
    // Ties between two last digits.
    (562_949_953_421_312.0 + 0.25, "562949953421312.2"),
    (562_949_953_421_312.0 + 0.75, "562949953421312.8"),
    // Powers of two, of which the halfway point below is nearer.
    (0.001953125, "0.001953125"),
    (0.0009765625, "9.765625e-4"),
    (562_949_953_421_312.0, "562949953421312.0"),
    // The range of the search in plain notation.
    (0.0010000000000000002, "0.0010000000000000002"),
    (999_999_999_999_999.9, "999999999999999.9"),
    (1e15, "1.0e15"),
];

#[test]
fn as_erlang_prints_them() {
    for (value, text) in TABLE {
        assert_eq!(json(&Float(*value)), *text, "{value:e}");
    }
}

proptest! {
    #[test]
    fn every_float_reads_back(bits: u64) {
        let value = f64::from_bits(bits);
        if value.is_finite() {
            let text = json(&Float(value));
            prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), bits);
            prop_assert!(text.contains('.'));
            prop_assert!(!text.contains("e+"));
        }
    }

    /// The search of plain notation beside that of all floats.
    #[test]
    fn digits_are_the_shortest_and_the_nearest(value in 1e-3..1e15_f64, fewer_bits in 0_u32..52, negative: bool) {
        let value = f64::from_bits(value.to_bits() >> fewer_bits << fewer_bits) * if negative { -1.0 } else { 1.0 };
        let mut buffer = zmij::Buffer::new();
        if value != value.trunc() {
            prop_assert_eq!(json(&Float(value)), buffer.format(value));
        }
    }

    #[test]
    fn few_decimals_are_found(units in 0_u64..1_000_000_000_000_000, places in 0_i32..12, negative: bool) {
        let value = units as f64 / 10_f64.powi(places) * if negative { -1.0 } else { 1.0 };
        let mut buffer = zmij::Buffer::new();
        if value != value.trunc() && value.abs() >= 1e-3 {
            prop_assert_eq!(json(&Float(value)), buffer.format(value));
        }
    }

    #[test]
    fn neighbours_of_short_floats_are_told_apart(units in 1_u64..1_000_000_000_000_000, ulps in 1_u64..3) {
        let value = units as f64 / 1e8;
        for near in [f64::from_bits(value.to_bits() + ulps), f64::from_bits(value.to_bits() - ulps)] {
            let text = json(&Float(near));
            prop_assert_eq!(text.parse::<f64>().unwrap(), near);
        }
    }
}
