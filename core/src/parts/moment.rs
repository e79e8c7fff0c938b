//! Dates and times in their usual form. Elixir parses all other texts.

/// The parts of a date, a time or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Year, month, day, hour, minute and second; 0 where there is none.
    pub parts: [u16; 6],
    /// Microseconds, and the number of digits that they were written with.
    pub fraction: (u32, u8),
}

/// What a text is that should be a date of some kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// One in its usual form.
    Usual(Moment),
    /// None in any form that Elixir knows.
    Wrong,
    /// Elixir has to parse it.
    Unsure,
}

impl Moment {
    /// Kinds, as `lib/rustyjson/schema/shape.ex` has them.
    pub const DATE: u8 = 7;
    /// A time without a date.
    pub const TIME: u8 = 8;
    /// Both, without an offset.
    pub const NAIVE: u8 = 9;
    /// Both, in UTC.
    pub const UTC: u8 = 10;
    /// A duration, which Elixir always parses.
    pub const DURATION: u8 = 20;
    /// Bytes of the longest duration. Without a limit its numbers could have any length.
    const LONGEST_DURATION: usize = 255;

    /// Reads a text, as far as that can be done here.
    #[must_use]
    pub fn judge(kind: u8, text: &[u8]) -> Reading {
        match Self::read(kind, text) {
            Some(moment) => Reading::Usual(moment),
            None if is_wrong(kind, text) => Reading::Wrong,
            None => Reading::Unsure,
        }
    }

    /// Reads `2024-02-29`, `23:59:59.999` (with up to six digits, or none), both with a space or `T` between, or that with `Z`.
    #[must_use]
    pub fn read(kind: u8, text: &[u8]) -> Option<Self> {
        match kind {
            Self::DATE => {
                date(text).map(|[year, month, day]| Self { parts: [year, month, day, 0, 0, 0], fraction: (0, 0) })
            }
            Self::TIME => time(text).map(|([h, m, s], fraction)| Self { parts: [0, 0, 0, h, m, s], fraction }),
            Self::NAIVE => both(text),
            Self::UTC => text.strip_suffix(b"Z").and_then(both),
            _ => None,
        }
    }
}

/// Whether a text is no date whatever Elixir's version: it is empty, has a character that no form has, or is a date in the usual form
/// that no calendar has.
fn is_wrong(kind: u8, text: &[u8]) -> bool {
    if kind == Moment::DURATION {
        let possible = |byte: &u8| b"0123456789+-.,PYMWDTHS".contains(byte);
        return text.is_empty() || text.len() > Moment::LONGEST_DURATION || !text.iter().all(possible);
    }
    let possible =
        |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b':' | b'.' | b',' | b'T' | b't' | b'Z' | b'z' | b' ');
    let usual = || matches!(text, [a, b, c, d, b'-', e, f, b'-', g, h] if [a, b, c, d, e, f, g, h].iter().all(|d| d.is_ascii_digit()));
    text.is_empty() || !text.iter().all(possible) || kind == Moment::DATE && usual()
}

fn both(text: &[u8]) -> Option<Moment> {
    let (first, rest) = text.split_at_checked(10)?;
    let ([b'T' | b' ', rest @ ..], [year, month, day]) = (rest, date(first)?) else { return None };
    let ([hour, minute, second], fraction) = time(rest)?;
    Some(Moment { parts: [year, month, day, hour, minute, second], fraction })
}

fn date(text: &[u8]) -> Option<[u16; 3]> {
    let &[a, b, c, d, b'-', e, f, b'-', g, h] = text else { return None };
    let (year, month, day) = (100 * two(a, b)? + two(c, d)?, two(e, f)?, two(g, h)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return None,
    };
    (1..=days).contains(&day).then_some([year, month, day])
}

fn time(text: &[u8]) -> Option<([u16; 3], (u32, u8))> {
    let &[a, b, b':', c, d, b':', e, f, ref rest @ ..] = text else { return None };
    let (hour, minute, second) = (two(a, b)?, two(c, d)?, two(e, f)?);
    let fraction = match rest {
        [] => (0, 0),
        [b'.', digits @ ..] if (1..=6).contains(&digits.len()) => {
            let value = digits.iter().try_fold(0, |value, digit| Some(10 * value + u32::from(number(*digit)?)))?;
            (value * 10_u32.pow(6 - digits.len() as u32), digits.len() as u8)
        }
        _ => return None,
    };
    (hour < 24 && minute < 60 && second < 60).then_some(([hour, minute, second], fraction))
}

fn two(tens: u8, ones: u8) -> Option<u16> {
    Some(10 * number(tens)? + number(ones)?)
}

fn number(digit: u8) -> Option<u16> {
    digit.is_ascii_digit().then(|| u16::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_forms() {
        let read = |kind, text: &str| Moment::read(kind, text.as_bytes()).map(|moment| (moment.parts, moment.fraction));
        let date = [2024, 2, 29, 0, 0, 0];
        assert_eq!(read(Moment::DATE, "2024-02-29"), Some((date, (0, 0))));
        assert_eq!(read(Moment::DATE, "0000-12-31"), Some(([0, 12, 31, 0, 0, 0], (0, 0))));
        assert_eq!(read(Moment::TIME, "23:59:59.120"), Some(([0, 0, 0, 23, 59, 59], (120_000, 3))));
        assert_eq!(read(Moment::NAIVE, "2024-02-29 01:02:03"), Some(([2024, 2, 29, 1, 2, 3], (0, 0))));
        assert_eq!(read(Moment::UTC, "2024-02-29T01:02:03.000001Z"), Some(([2024, 2, 29, 1, 2, 3], (1, 6))));
    }

    #[test]
    fn what_is_surely_wrong() {
        for (kind, text, reading) in [
            (Moment::DATE, "2023-02-29", Reading::Wrong),
            (Moment::DATE, "2024-04-31", Reading::Wrong),
            (Moment::DATE, "yesterday", Reading::Wrong),
            (Moment::TIME, "", Reading::Wrong),
            (Moment::UTC, "2024-02-29T01:02:03+X", Reading::Wrong),
            (Moment::DURATION, "1 day", Reading::Wrong),
            (Moment::DURATION, "", Reading::Wrong),
            (Moment::DURATION, &"1".repeat(256), Reading::Wrong),
            (Moment::DURATION, "P3Y", Reading::Unsure),
            (Moment::DATE, "+2024-02-29", Reading::Unsure),
            (Moment::DATE, "2024-1-01", Reading::Unsure),
            (Moment::TIME, "24:00:00", Reading::Unsure),
            (Moment::UTC, "2024-02-29T01:02:03+01:00", Reading::Unsure),
        ] {
            assert_eq!(Moment::judge(kind, text.as_bytes()), reading, "{text}");
        }
    }

    #[test]
    fn other_forms_are_left() {
        for (kind, texts) in [
            (
                Moment::DATE,
                &[
                    "2023-02-29",
                    "1900-02-29",
                    "2024-00-01",
                    "2024-13-01",
                    "2024-04-31",
                    "2024-1-01",
                    "+2024-01-01",
                    "20240101",
                    "",
                ][..],
            ),
            (
                Moment::TIME,
                &[
                    "24:00:00",
                    "23:60:00",
                    "23:59:60",
                    "T23:59:59",
                    "23:59:59Z",
                    "23:59:59.",
                    "23:59:59.1234567",
                    "23:59",
                    "23:59:59,1",
                ],
            ),
            (Moment::NAIVE, &["2024-02-29T01:02:03Z", "2024-02-29t01:02:03", "2024-02-29", "2024-02-29T"]),
            (Moment::UTC, &["2024-02-29T01:02:03", "2024-02-29T01:02:03+00:00", "2024-02-29T01:02:03z", "Z"]),
            (11, &["2024-02-29"]),
        ] {
            for text in texts {
                assert_eq!(Moment::read(kind, text.as_bytes()), None, "{text}");
            }
        }
    }
}
