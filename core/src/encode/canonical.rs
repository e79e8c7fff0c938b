//! Numbers and strings as RFC 8785 has them, which are those of ECMAScript.

use super::float::Digits;
use super::number::big_digits;
use super::string;
use crate::options::Escape;
use crate::output::{Buffer, Output};
use crate::simd::copy::CopyKernel;

/// The largest exponent of a number in plain notation, and the smallest (ECMA-262, Number::toString).
const PLAIN: core::ops::Range<i32> = -6..21;

/// Appends a finite float.
pub(crate) fn float<B: Buffer>(out: &mut Output<B>, value: f64) {
    if value < 0.0 {
        out.text(b"-");
    }
    if value == 0.0 {
        return out.text(b"0");
    }
    let mut buffer = zmij::Buffer::new();
    let shortest = buffer.format_finite(value.abs()).as_bytes();
    if !shortest.contains(&b'e') {
        // In plain notation they differ in the fraction of a whole number alone.
        return out.text(shortest.strip_suffix(b".0").unwrap_or(shortest));
    }
    let digits = Digits::of(shortest);
    let (exponent, text) = (digits.exponent, &digits.digits[..digits.len]);
    if !PLAIN.contains(&exponent) {
        return scientific(out, text, exponent);
    }
    if exponent < 0 {
        out.text(b"0.");
        out.text(&b"00000"[..-exponent as usize - 1]);
        return out.text(text);
    }
    let whole = exponent as usize + 1;
    if text.len() <= whole {
        out.text(text);
        return out.text(&b"00000000000000000000"[..whole - text.len()]);
    }
    out.text(&text[..whole]);
    out.text(b".");
    out.text(&text[whole..]);
}

fn scientific<B: Buffer>(out: &mut Output<B>, digits: &[u8], exponent: i32) {
    out.text(&digits[..1]);
    if digits.len() > 1 {
        out.text(b".");
        out.text(&digits[1..]);
    }
    out.text(if exponent < 0 { b"e-" } else { b"e+" });
    super::number::rare_integer(out, i64::from(exponent.unsigned_abs()));
}

/// Integers up to this size are floats exactly, each with its own digits.
const EXACT: u64 = 1 << 53;

/// Appends an integer. `false`, with nothing written: its canonical text denotes another number.
pub(crate) fn integer<B: Buffer>(out: &mut Output<B>, value: i64) -> bool {
    if value.unsigned_abs() <= EXACT {
        super::number::integer(out, value);
        return true;
    }
    let mut text = itoa::Buffer::new();
    exact(out, value < 0, text.format(value.unsigned_abs()).as_bytes())
}

/// The same for an integer of any size, as sign and little-endian magnitude.
pub(crate) fn big_integer<B: Buffer>(out: &mut Output<B>, negative: bool, magnitude: &[u8]) -> bool {
    // Beyond this there is no finite float.
    magnitude.len() <= 128 && big_digits(magnitude).is_some_and(|digits| exact(out, negative, &digits))
}

/// Appends the integer of these digits if it is a float whose shortest digits are its own.
fn exact<B: Buffer>(out: &mut Output<B>, negative: bool, digits: &[u8]) -> bool {
    let parsed = core::str::from_utf8(digits).ok().and_then(|text| text.parse::<f64>().ok());
    let Some(value) = parsed.filter(|value| value.is_finite()) else { return false };
    let mut buffer = zmij::Buffer::new();
    let shortest = Digits::of(buffer.format_finite(value).as_bytes());
    let significant = digits.len() - digits.iter().rev().take_while(|digit| **digit == b'0').count();
    let same = digits[..significant] == shortest.digits[..shortest.len] && digits.len() as i32 == shortest.exponent + 1;
    if same {
        float(out, if negative { -value } else { value });
    }
    same
}

/// Appends a string of UTF-8: only `"`, `\` and control characters are escaped, the latter in lower-case digits.
pub(crate) fn string<K: CopyKernel, B: Buffer>(kernel: K, out: &mut Output<B>, bytes: &[u8]) {
    let start = out.len();
    // The text is valid, or it would not have been decoded.
    let _ = string::rare_string(kernel, out, Escape::Json, bytes);
    if bytes.iter().any(|byte| *byte < 0x20) {
        lower(out.written().get_mut(start..).unwrap_or_default());
    }
}

/// Changes the digits of `\u00XX` to lower case.
fn lower(text: &mut [u8]) {
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'\\')) {
        at += found;
        match text.get_mut(at + 1..at + 6) {
            Some(escape) if escape[0] == b'u' => {
                escape.make_ascii_lowercase();
                at += 6;
            }
            _ => at += 2,
        }
    }
}
