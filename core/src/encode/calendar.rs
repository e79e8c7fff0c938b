//! Dates and times in ISO 8601, for `Calendar.ISO` only; the shell writes those of other calendars.

use super::fields::Fields;
use super::known::Known;
use super::notation::Notation;
use super::number::padded;
use crate::output::Output;
use alloc::vec::Vec;

type Text = Output<Vec<u8>>;

fn natural<'t>(fields: &mut impl Fields<'t>, name: Known) -> Option<u64> {
    fields.integer(name)?.try_into().ok()
}

/// `None` unless the struct is of `Calendar.ISO`.
fn iso<'t>(fields: &mut impl Fields<'t>) -> Option<()> {
    (fields.atom(Known::Calendar)? == Known::IsoCalendar).then_some(())
}

struct Date {
    year: i64,
    month: u64,
    day: u64,
}

impl Date {
    fn of<'t>(fields: &mut impl Fields<'t>) -> Option<Self> {
        Some(Self {
            year: fields.integer(Known::Year)?,
            month: natural(fields, Known::Month)?,
            day: natural(fields, Known::Day)?,
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
    /// `Calendar.ISO` knows no leap second.
    fn of<'t>(fields: &mut impl Fields<'t>) -> Option<Self> {
        let hour = natural(fields, Known::Hour)?;
        let minute = natural(fields, Known::Minute)?;
        let second = natural(fields, Known::Second)?;
        let fraction = fraction(fields)?;
        (hour < 24 && minute < 60 && second < 60).then_some(Self { hour, minute, second, fraction })
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
fn fraction<'t>(fields: &mut impl Fields<'t>) -> Option<(u64, u32)> {
    let [value, digits] = fields.pair(Known::Microsecond)?;
    let (value, digits) = (u64::try_from(value).ok()?, u32::try_from(digits).ok()?);
    (value < 1_000_000 && digits <= 6).then_some((value, digits))
}

/// `Date.to_iso8601/1`, which is `String.Chars` too.
pub fn date<'t>(fields: &mut impl Fields<'t>, text: &mut Text) -> Option<()> {
    iso(fields)?;
    Date::of(fields)?.write(text);
    Some(())
}

/// `Time.to_iso8601/1`, which is `String.Chars` too.
pub fn time<'t>(fields: &mut impl Fields<'t>, text: &mut Text) -> Option<()> {
    iso(fields)?;
    Clock::of(fields)?.write(text);
    Some(())
}

/// `NaiveDateTime.to_iso8601/1`; `String.Chars` has a space for the `T`.
pub fn naive<'t>(fields: &mut impl Fields<'t>, notation: Notation, text: &mut Text) -> Option<()> {
    iso(fields)?;
    let (date, clock) = (Date::of(fields)?, Clock::of(fields)?);
    date.write(text);
    text.text(&[if notation == Notation::Value { b'T' } else { b' ' }]);
    clock.write(text);
    Some(())
}

/// `DateTime.to_iso8601/1`; `String.Chars` has a space for the `T` and names the zone.
pub fn date_time<'t>(fields: &mut impl Fields<'t>, notation: Notation, text: &mut Text) -> Option<()> {
    let utc = fields.integer(Known::UtcOffset)?;
    let std = fields.integer(Known::StdOffset)?;
    let zone = fields.binary(Known::TimeZone)?;
    let abbreviation = fields.binary(Known::ZoneAbbr)?;
    let offset = utc.checked_add(std)?;
    naive(fields, notation, text)?;
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
