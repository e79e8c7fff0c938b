//! Durations in ISO 8601, as `Duration.to_iso8601/1` writes them.

use super::fields::Fields;
use super::known::Known;
use super::notation::Notation;
use super::number::{padded, rare_integer};
use crate::output::Output;
use alloc::vec::Vec;

/// Elixir has no `String.Chars` for them, so the shell judges keys.
pub fn duration<'t>(fields: &mut impl Fields<'t>, notation: Notation, text: &mut Output<Vec<u8>>) -> Option<()> {
    if notation == Notation::Key {
        return None;
    }
    let mut units = |names: [Known; 4]| -> Option<[i64; 4]> {
        let mut values = [0; 4];
        for (value, name) in values.iter_mut().zip(names) {
            *value = fields.integer(name)?;
        }
        Some(values)
    };
    let [year, month, week, day] = units([Known::Year, Known::Month, Known::Week, Known::Day])?;
    // The last one is read twice, because all units are four.
    let [hour, minute, second, _] = units([Known::Hour, Known::Minute, Known::Second, Known::Second])?;
    let [micros, digits] = fields.pair(Known::Microsecond)?;
    if !(-999_999..=999_999).contains(&micros) || !(0..=6).contains(&digits) {
        return None;
    }
    let start = text.written().len();
    text.text(b"P");
    for (value, unit) in [(year, b"Y"), (month, b"M"), (week, b"W"), (day, b"D")] {
        component(text, value, unit);
    }
    if (hour, minute, second, micros) != (0, 0, 0, 0) {
        text.text(b"T");
        component(text, hour, b"H");
        component(text, minute, b"M");
        seconds(text, second, micros, digits as usize);
    }
    if text.written().len() == start + 1 {
        text.text(b"T0S");
    }
    Some(())
}

fn component(text: &mut Output<Vec<u8>>, value: i64, unit: &[u8]) {
    if value != 0 {
        rare_integer(text, value);
        text.text(unit);
    }
}

/// Seconds and microseconds are one number, and have one sign.
fn seconds(text: &mut Output<Vec<u8>>, second: i64, micros: i64, digits: usize) {
    if second == 0 && micros == 0 {
        return;
    }
    if digits == 0 {
        rare_integer(text, second);
    } else {
        let total = i128::from(second) * 1_000_000 + i128::from(micros);
        if total < 0 {
            text.text(b"-");
        }
        let total = total.unsigned_abs();
        padded(text, (total / 1_000_000) as u64, 1);
        text.text(b".");
        padded(text, (total % 1_000_000) as u64 / 10_u64.pow(6 - digits as u32), digits);
    }
    text.text(b"S");
}
