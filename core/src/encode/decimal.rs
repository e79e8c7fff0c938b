//! Decimals as text.

use super::fields::Fields;
use super::known::Known;
use super::notation::Notation;
use super::number::{self, big_digits, rare_integer};
use crate::output::Output;
use alloc::vec::Vec;

type Text = Output<Vec<u8>>;

/// Most digits in plain notation, those of the largest decimal128 (IEEE 754) number; beyond it scientific notation, so
/// that a few bytes never become gigabytes.
const MOST_DIGITS: i128 = 6178;

/// `Decimal.to_string(decimal, :normal)`; as a key `String.Chars`, which is scientific notation.
pub fn decimal<'t>(fields: &mut impl Fields<'t>, notation: Notation, text: &mut Text) -> Option<()> {
    let negative = match fields.integer(Known::Sign)? {
        1 => false,
        -1 => true,
        _ => return None,
    };
    let digits = digits(fields)?;
    let exponent = fields.integer(Known::Exp)?;
    if negative {
        text.text(b"-");
    }
    match digits {
        Digits::Word(word) => text.text(word.as_bytes()),
        Digits::Number(digits) if notation == Notation::Value && plain_len(&digits, exponent) <= MOST_DIGITS => {
            plain(text, &digits, exponent);
        }
        Digits::Number(digits) => scientific(text, &digits, exponent),
        Digits::NoMemory => text.fail(),
    }
    Some(())
}

enum Digits {
    Word(&'static str),
    Number(Vec<u8>),
    NoMemory,
}

fn digits<'t>(fields: &mut impl Fields<'t>) -> Option<Digits> {
    if let Some(value) = fields.integer(Known::Coef) {
        let mut text = Output::new(Vec::new());
        rare_integer(&mut text, value);
        return (value >= 0).then(|| Digits::Number(text.written().to_vec()));
    }
    if let Some((negative, magnitude)) = fields.big_integer(Known::Coef) {
        return (!negative).then(|| big_digits(magnitude).map_or(Digits::NoMemory, Digits::Number));
    }
    match fields.atom(Known::Coef)? {
        Known::NotANumber => Some(Digits::Word("NaN")),
        Known::Infinity => Some(Digits::Word("Infinity")),
        _ => None,
    }
}

/// Digits in plain notation.
fn plain_len(digits: &[u8], exponent: i64) -> i128 {
    let (len, exponent) = (digits.len() as i128, i128::from(exponent));
    if exponent >= 0 { len + exponent } else { len.max(1 - exponent) }
}

fn zeros(text: &mut Text, count: usize) {
    for _ in 0..count {
        text.text(b"0");
    }
}

fn plain(text: &mut Text, digits: &[u8], exponent: i64) {
    if exponent >= 0 {
        text.text(digits);
        return zeros(text, exponent as usize);
    }
    let places = exponent.unsigned_abs() as usize;
    if let Some(whole) = digits.len().checked_sub(places).filter(|whole| *whole > 0) {
        text.text(&digits[..whole]);
        text.text(b".");
        return text.text(&digits[whole..]);
    }
    text.text(b"0.");
    zeros(text, places - digits.len());
    text.text(digits);
}

/// As `Decimal.to_string(decimal, :scientific)`: plain down to six zeros after the point.
fn scientific(text: &mut Text, digits: &[u8], exponent: i64) {
    let adjusted = i128::from(exponent) + digits.len() as i128 - 1;
    if exponent == 0 || exponent < 0 && adjusted >= -6 {
        return plain(text, digits, exponent);
    }
    text.text(&digits[..1]);
    if digits.len() > 1 {
        text.text(b".");
        text.text(&digits[1..]);
    }
    text.text(if exponent >= 0 { b"E+" } else { b"E-" });
    number::big(text, false, &adjusted.unsigned_abs().to_le_bytes());
}
