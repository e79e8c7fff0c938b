//! Dates and times in ISO 8601, for `Calendar.ISO` only; the shell writes those of other calendars.

use super::known::Known;
use super::notation::Notation;
use super::number::padded;
use super::reader::{TermReader, Value};
use crate::output::Output;
use alloc::vec::Vec;

type Text = Output<Vec<u8>>;

fn field<'t, R: TermReader<'t>>(reader: &mut R, map: &R::Map, name: Known) -> Option<Value<'t, R>> {
    let term = reader.field(map, name)?;
    Some(reader.read(term))
}

fn integer<'t, R: TermReader<'t>>(reader: &mut R, map: &R::Map, name: Known) -> Option<i64> {
    match field(reader, map, name)? {
        Value::Integer(value) => Some(value),
        _ => None,
    }
}

fn natural<'t, R: TermReader<'t>>(reader: &mut R, map: &R::Map, name: Known) -> Option<u64> {
    integer(reader, map, name)?.try_into().ok()
}

/// `None` unless the struct is of `Calendar.ISO`.
fn iso<'t, R: TermReader<'t>>(reader: &mut R, map: &R::Map) -> Option<()> {
    let calendar = reader.field(map, Known::Calendar)?;
    let is_atom = matches!(reader.read(calendar), Value::Atom);
    (is_atom && reader.known(calendar) == Some(Known::IsoCalendar)).then_some(())
}

struct Date {
    year: i64,
    month: u64,
    day: u64,
}

impl Date {
    fn of<'t, R: TermReader<'t>>(reader: &mut R, map: &R::Map) -> Option<Self> {
        Some(Self {
            year: integer(reader, map, Known::Year)?,
            month: natural(reader, map, Known::Month)?,
            day: natural(reader, map, Known::Day)?,
        })
    }

    fn write(&self, text: &mut Text) {
        if self.year < 0 {
            text.text(b"-");
        }
        padded(text, self.year.unsigned_abs(), 4);
        text.text(b"-");
        padded(text, self.month, 2);
        text.text(b"-");
        padded(text, self.day, 2);
    }
}

struct Clock {
    hour: u64,
    minute: u64,
    second: u64,
    /// The fraction in millionths and how many of its digits count.
    fraction: (u64, u32),
}

impl Clock {
    fn of<'t, R: TermReader<'t>>(reader: &mut R, map: &R::Map) -> Option<Self> {
        Some(Self {
            hour: natural(reader, map, Known::Hour)?,
            minute: natural(reader, map, Known::Minute)?,
            second: natural(reader, map, Known::Second)?,
            fraction: fraction(reader, map)?,
        })
    }

    fn write(&self, text: &mut Text) {
        padded(text, self.hour, 2);
        text.text(b":");
        padded(text, self.minute, 2);
        text.text(b":");
        padded(text, self.second, 2);
        let (value, digits) = self.fraction;
        if digits > 0 {
            text.text(b".");
            padded(text, value / 10_u64.pow(6 - digits), digits as usize);
        }
    }
}

/// `{value, precision}`.
fn fraction<'t, R: TermReader<'t>>(reader: &mut R, map: &R::Map) -> Option<(u64, u32)> {
    let Value::Tuple(mut tuple) = field(reader, map, Known::Microsecond)? else { return None };
    let mut next = || {
        let term = reader.next_element(&mut tuple)?;
        match reader.read(term) {
            Value::Integer(value) => u32::try_from(value).ok(),
            _ => None,
        }
    };
    let (value, digits) = (next()?, next()?);
    (value < 1_000_000 && digits <= 6).then_some((u64::from(value), digits))
}

/// `Date.to_iso8601/1`, which is `String.Chars` too.
pub fn date<'t, R: TermReader<'t>>(reader: &mut R, map: &R::Map, text: &mut Text) -> Option<()> {
    iso(reader, map)?;
    Date::of(reader, map)?.write(text);
    Some(())
}

/// `Time.to_iso8601/1`, which is `String.Chars` too.
pub fn time<'t, R: TermReader<'t>>(reader: &mut R, map: &R::Map, text: &mut Text) -> Option<()> {
    iso(reader, map)?;
    Clock::of(reader, map)?.write(text);
    Some(())
}

/// `NaiveDateTime.to_iso8601/1`; `String.Chars` has a space for the `T`.
pub fn naive<'t, R: TermReader<'t>>(reader: &mut R, map: &R::Map, notation: Notation, text: &mut Text) -> Option<()> {
    iso(reader, map)?;
    let (date, clock) = (Date::of(reader, map)?, Clock::of(reader, map)?);
    date.write(text);
    text.text(&[if notation == Notation::Value { b'T' } else { b' ' }]);
    clock.write(text);
    Some(())
}

/// `DateTime.to_iso8601/1`; `String.Chars` has a space for the `T` and names the zone.
pub fn date_time<'t, R: TermReader<'t>>(
    reader: &mut R,
    map: &R::Map,
    notation: Notation,
    text: &mut Text,
) -> Option<()> {
    let utc = integer(reader, map, Known::UtcOffset)?;
    let std = integer(reader, map, Known::StdOffset)?;
    let Value::Binary(zone) = field(reader, map, Known::TimeZone)? else { return None };
    let Value::Binary(abbreviation) = field(reader, map, Known::ZoneAbbr)? else { return None };
    let offset = utc.checked_add(std)?;
    naive(reader, map, notation, text)?;
    let is_utc = zone == b"Etc/UTC";
    if is_utc && utc == 0 && std == 0 {
        text.text(b"Z");
    } else {
        write_offset(text, offset);
    }
    if notation == Notation::Key && !is_utc {
        for part in [b" ", abbreviation, b" ", zone] {
            text.text(part);
        }
    }
    Some(())
}

/// Hours and minutes; seconds are dropped as Elixir drops them.
fn write_offset(text: &mut Text, offset: i64) {
    text.text(&[if offset < 0 { b'-' } else { b'+' }]);
    let minutes = offset.unsigned_abs() / 60;
    padded(text, minutes / 60, 2);
    text.text(b":");
    padded(text, minutes % 60, 2);
}
