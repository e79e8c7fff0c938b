//! Numbers (RFC 8259 section 6): one scan that finds the end and gathers up to 19 digits in a word.

use super::float;
use crate::builder::{Nothing, TermBuilder};
use crate::error::{Error, ErrorKind};
use crate::natural::Natural;
use crate::options::DecodeOptions;
use crate::simd::Kernel;
use alloc::vec::Vec;

/// Digits that always fit in a `u64`.
const WORD_DIGITS: usize = 19;
/// Exponents beyond this are the same as it: no input is long enough to bring them back. Decimals from here on are refused.
pub(crate) const EXPONENT_CAP: i64 = 1 << 48;

/// Bytes of the largest integer: 65,535 words, the most that OTP 27 and newer have. Older ones have eight times as many;
/// every VM gives the same answer.
const MAX_INTEGER: usize = 8 * 65_535;
/// Digits of the largest integer.
const MAX_INTEGER_DIGITS: usize = 1_262_593;

/// What the scan of a number found.
struct Scan {
    negative: bool,
    /// All digits as one integer, exact when there are at most [`WORD_DIGITS`].
    mantissa: u64,
    int_start: usize,
    int_len: usize,
    /// Digits behind the point; their text starts after it.
    frac_len: usize,
    exponent: i64,
    float: bool,
    end: usize,
}

impl Scan {
    /// The exponent of all digits as one integer.
    const fn power(&self) -> i64 {
        self.exponent - self.frac_len as i64
    }
}

/// Decodes the number at `start` into the builder; returns the offset behind it.
#[inline(always)]
pub(crate) fn number<B: TermBuilder>(
    bytes: &[u8],
    start: usize,
    options: &DecodeOptions,
    builder: &mut B,
) -> Result<usize, Error> {
    if let Some((value, end)) = short_integer(bytes, start)
        && (options.digit_limit == 0 || end - start <= options.digit_limit as usize)
    {
        builder.integer(value).map_err(|kind| Error::new(kind, start))?;
        return Ok(end);
    }
    let scan = scan(bytes, start)?;
    if !scan.float {
        if scan.int_len < WORD_DIGITS && (options.digit_limit == 0 || scan.int_len <= options.digit_limit as usize) {
            let value = scan.mantissa as i64;
            builder.integer(if scan.negative { -value } else { value })
        } else {
            long_integer(bytes, &scan, options, builder)
        }
    } else if options.decimals {
        decimal(bytes, &scan, options, builder)
    } else {
        let value = float(bytes, start, &scan, options)?;
        builder.float(if scan.negative { -value } else { value })
    }
    .map_err(|kind| Error::new(kind, start))?;
    Ok(scan.end)
}

/// The offset behind the number at `start`, whatever its value. `None`: there is none.
pub(crate) fn end(bytes: &[u8], start: usize) -> Option<usize> {
    scan(bytes, start).ok().map(|scan| scan.end)
}

/// Decodes the number at `start`, an integer too, as a decimal, which keeps the sign of zero.
pub(crate) fn exact<B: TermBuilder>(
    bytes: &[u8],
    start: usize,
    options: &DecodeOptions,
    builder: &mut B,
) -> Result<usize, Error> {
    let scan = scan(bytes, start)?;
    decimal(bytes, &scan, options, builder).map_err(|kind| Error::new(kind, start))?;
    Ok(scan.end)
}

/// Decodes the number at `start`, an integer too, as a float, which keeps the sign of zero.
#[inline(always)]
pub(crate) fn inexact<B: TermBuilder>(
    bytes: &[u8],
    start: usize,
    options: &DecodeOptions,
    builder: &mut B,
) -> Result<usize, Error> {
    let at = |kind| Error::new(kind, start);
    if let Some((value, end)) = short_integer(bytes, start)
        && (options.digit_limit == 0 || end - start <= options.digit_limit as usize)
    {
        return builder.float(value as f64).map(|()| end).map_err(at);
    }
    let scan = scan(bytes, start)?;
    if !scan.float {
        check_digits(scan.int_len, options).map_err(at)?;
    }
    let value = float(bytes, start, &scan, options)?;
    builder.float(if scan.negative { -value } else { value }).map_err(at)?;
    Ok(scan.end)
}

/// Digits of a number that is surely neither too large to be an integer nor slow to look at.
const SHORT: usize = 1_000;
/// A number with at most this many digits before the point is finite.
const FINITE: i64 = 308;

/// The end of an integer of at most seven digits without a sign.
#[inline(always)]
pub(super) fn short_end(bytes: &[u8], start: usize, options: &DecodeOptions) -> Option<usize> {
    let (_, end) = short_integer(bytes, start)?;
    // A limit of 0, which stands for none, wraps around to the largest.
    (((end - start) as u32 - 1) < options.digit_limit.wrapping_sub(1)).then_some(end)
}

/// Passes over a number at `start` that is not as short, with the errors of [`number`]; returns the offset behind it.
#[inline(always)]
pub(super) fn skip(kernel: impl Kernel, bytes: &[u8], start: usize, options: &DecodeOptions) -> Result<usize, Error> {
    // The WebAssembly module was not faster with it.
    if !cfg!(target_arch = "wasm32")
        && let Some(end) = plain_end(kernel, bytes, start, options)
    {
        return Ok(end);
    }
    skip_any(bytes, start, options)
}

/// The end of a number without exponent that has at most 15 digits before the point, and at most 15 behind it. Each run of digits takes
/// one comparison.
#[inline(always)]
fn plain_end(kernel: impl Kernel, bytes: &[u8], start: usize, options: &DecodeOptions) -> Option<usize> {
    let from = start + usize::from(bytes[start] == b'-');
    let (count, next) = digit_run(kernel, bytes, from)?;
    if bytes[from] == b'0' && count > 1 {
        return None;
    }
    match next {
        b'.' if !options.decimals => {
            let fraction = from + count + 1;
            let (count, next) = digit_run(kernel, bytes, fraction)?;
            (next | 0x20 != b'e').then_some(fraction + count)
        }
        b'.' | b'e' | b'E' => None,
        // A limit of 0, which stands for none, wraps around to the largest.
        _ => (count as u32 - 1 < options.digit_limit.wrapping_sub(1)).then_some(from + count),
    }
}

/// How many digits there are from `pos` on, one to 15, and the byte behind them. `None` also near the end of the text.
#[inline(always)]
fn digit_run(kernel: impl Kernel, bytes: &[u8], pos: usize) -> Option<(usize, u8)> {
    let block = bytes.get(pos..)?.first_chunk()?;
    let count = kernel.digit_run(block);
    let next = *block.get(count)?;
    (count > 0).then_some((count, next))
}

/// What [`skip`] does, for a number of any form.
fn skip_any(bytes: &[u8], start: usize, options: &DecodeOptions) -> Result<usize, Error> {
    let limit = if options.digit_limit == 0 { usize::MAX } else { options.digit_limit as usize };
    let scan = scan(bytes, start)?;
    let harmless = options.any_number
        || match (scan.float, options.decimals) {
            (false, _) => scan.int_len <= limit.min(SHORT),
            (true, true) => {
                let count = scan.int_len + scan.frac_len;
                count <= limit.min(SHORT)
                    && scan.exponent.abs() < EXPONENT_CAP
                    && check_decimal(count as u64, scan.power(), options).is_ok()
            }
            (true, false) => options.any_float || scan.int_len as i64 + scan.exponent <= FINITE,
        };
    if harmless { Ok(scan.end) } else { number(bytes, start, options, &mut Nothing) }
}

/// An integer of one to seven digits without sign, the most frequent number: its value and the offset behind it.
#[inline(always)]
fn short_integer(bytes: &[u8], start: usize) -> Option<(i64, usize)> {
    let text = u64::from_le_bytes(*bytes.get(start..)?.first_chunk()?);
    let (word, count) = leading_digits(text);
    if !(1..8).contains(&count) {
        return None;
    }
    let next = (text >> (8 * count)) as u8;
    let zero_first = word & 0xFF == 0 && count > 1;
    if zero_first || matches!(next, b'.' | b'e' | b'E') {
        return None;
    }
    Some((eight_digits(word << (64 - 8 * count)) as i64, start + count as usize))
}

/// The digit values of eight bytes, the first in the lowest byte, and the number of them before the first non-digit.
#[inline(always)]
const fn leading_digits(text: u64) -> (u64, u32) {
    let word = text ^ 0x3030_3030_3030_3030;
    let others = (word.wrapping_add(0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080;
    (word, others.trailing_zeros() / 8)
}

#[inline(always)]
fn scan(bytes: &[u8], start: usize) -> Result<Scan, Error> {
    let negative = bytes[start] == b'-';
    let int_start = start + usize::from(negative);
    let mut mantissa = 0;
    let mut end = digits(bytes, int_start, &mut mantissa);
    let int_len = end - int_start;
    if int_len == 0 {
        return Err(no_integer(bytes, start, int_start));
    }
    if int_len > 1 && bytes[int_start] == b'0' {
        return Err(Error::new(ErrorKind::LeadingZero, int_start));
    }
    let mut scan = Scan { negative, mantissa, int_start, int_len, frac_len: 0, exponent: 0, float: false, end };
    let mut next = bytes.get(end).copied();
    if next == Some(b'.') {
        let frac_start = end + 1;
        end = digits(bytes, frac_start, &mut scan.mantissa);
        scan.frac_len = end - frac_start;
        if scan.frac_len == 0 {
            return Err(no_digit(bytes, end));
        }
        scan.float = true;
        scan.end = end;
        next = bytes.get(end).copied();
    }
    if let Some(b'e' | b'E') = next {
        scan.float = true;
        (scan.exponent, scan.end) = exponent(bytes, end + 1)?;
    }
    Ok(scan)
}

/// Reads digits from `pos` on behind those in `value` (wrapping); returns the offset behind them. Eight
/// bytes are taken at once: those before the first non-digit are shifted to the top of the word, where the
/// bytes below count as leading zeros.
#[inline(always)]
fn digits(bytes: &[u8], mut pos: usize, value: &mut u64) -> usize {
    while let Some(chunk) = bytes.get(pos..).and_then(|rest| rest.first_chunk::<8>()) {
        let (word, count) = leading_digits(u64::from_le_bytes(*chunk));
        if count == 0 {
            return pos;
        }
        *value = value.wrapping_mul(POWERS[count as usize & 15]).wrapping_add(eight_digits(word << (64 - 8 * count)));
        pos += count as usize;
        if count < 8 {
            return pos;
        }
    }
    while let Some(digit) = bytes.get(pos).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        *value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        pos += 1;
    }
    pos
}

/// Powers of ten by number of digits; 16 entries so that the masked index needs no check.
const POWERS: [u64; 16] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 0, 0, 0, 0, 0, 0, 0];

/// Eight digit values, the first in the lowest byte, as a number: pairs, then fours, then all.
#[inline(always)]
const fn eight_digits(word: u64) -> u64 {
    const MASK: u64 = 0x0000_00FF_0000_00FF;
    let pairs = word.wrapping_mul(10).wrapping_add(word >> 8);
    let low = (pairs & MASK).wrapping_mul(0x000F_4240_0000_0064);
    let high = ((pairs >> 16) & MASK).wrapping_mul(0x0000_2710_0000_0001);
    low.wrapping_add(high) >> 32
}

#[inline(always)]
fn exponent(bytes: &[u8], mut pos: usize) -> Result<(i64, usize), Error> {
    let negative = bytes.get(pos) == Some(&b'-');
    pos += usize::from(matches!(bytes.get(pos), Some(b'+' | b'-')));
    let start = pos;
    let mut value = 0i64;
    while let Some(digit) = bytes.get(pos).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        value = (value * 10 + i64::from(digit)).min(EXPONENT_CAP);
        pos += 1;
    }
    if pos == start {
        return Err(no_digit(bytes, pos));
    }
    Ok((if negative { -value } else { value }, pos))
}

#[inline(always)]
fn float(bytes: &[u8], start: usize, scan: &Scan, options: &DecodeOptions) -> Result<f64, Error> {
    let power = scan.power();
    let value = if scan.int_len + scan.frac_len <= WORD_DIGITS {
        float::nearest(scan.mantissa, power)
    } else {
        float::nearest_of_many(digit_values(bytes, scan), power)
    };
    if value.is_finite() || options.any_number || options.any_float {
        return Ok(value);
    }
    Err(Error::new(ErrorKind::NumberOutOfRange, start))
}

#[cold]
fn long_integer<B: TermBuilder>(
    bytes: &[u8],
    scan: &Scan,
    options: &DecodeOptions,
    builder: &mut B,
) -> Result<(), ErrorKind> {
    if options.any_number {
        return Ok(());
    }
    check_digits(scan.int_len, options)?;
    let magnitude_of_word = i128::from(scan.mantissa);
    match i64::try_from(if scan.negative { -magnitude_of_word } else { magnitude_of_word }) {
        Ok(value) if scan.int_len <= WORD_DIGITS => builder.integer(value),
        _ => builder.big_integer(scan.negative, &magnitude(bytes, scan, B::DROPS)?),
    }
}

#[cold]
fn decimal<B: TermBuilder>(
    bytes: &[u8],
    scan: &Scan,
    options: &DecodeOptions,
    builder: &mut B,
) -> Result<(), ErrorKind> {
    check_digits(scan.int_len + scan.frac_len, options)?;
    let zeros = digit_values(bytes, scan).take_while(|&digit| digit == 0).count();
    check_decimal((scan.int_len + scan.frac_len - zeros) as u64, scan.power(), options)?;
    if scan.exponent.abs() >= EXPONENT_CAP {
        return Err(ErrorKind::NumberOutOfRange);
    }
    builder.decimal(scan.negative, &magnitude(bytes, scan, B::DROPS)?, scan.power())
}

/// Whether a decimal may have this many digits, leading zeros not counted, and this exponent. Its text is short whatever these are, and
/// arithmetic would write out as many digits as the exponent says (CVE-2026-32686).
#[inline(always)]
pub(crate) fn check_decimal(digits: u64, exponent: i64, options: &DecodeOptions) -> Result<(), ErrorKind> {
    let DecodeOptions { max_decimal_digits, max_decimal_exponent, .. } = *options;
    if max_decimal_digits != u32::MAX && digits > u64::from(max_decimal_digits) {
        return Err(ErrorKind::DecimalDigits);
    }
    if max_decimal_exponent != u32::MAX && exponent.unsigned_abs() > u64::from(max_decimal_exponent) {
        return Err(ErrorKind::DecimalExponent);
    }
    Ok(())
}

fn check_digits(count: usize, options: &DecodeOptions) -> Result<(), ErrorKind> {
    if options.digit_limit != 0 && count > options.digit_limit as usize {
        return Err(ErrorKind::IntegerDigits);
    }
    Ok(())
}

/// All digits as a little-endian number without zero bytes at the top. Their time is more than linear, which `digit_limit` bounds; if the
/// number is dropped, those are not converted that are surely in range.
///
/// An integer above [`MAX_INTEGER`] is out of range, and never takes more memory than that.
fn magnitude(bytes: &[u8], scan: &Scan, dropped: bool) -> Result<Vec<u8>, ErrorKind> {
    if scan.int_len + scan.frac_len <= WORD_DIGITS {
        let len = 8 - scan.mantissa.leading_zeros() as usize / 8;
        return Ok(scan.mantissa.to_le_bytes()[..len].to_vec());
    }
    let significant = || digit_values(bytes, scan).skip_while(|&digit| digit == 0);
    let count = significant().count();
    if count > MAX_INTEGER_DIGITS {
        return Err(ErrorKind::NumberOutOfRange);
    }
    if dropped && count < MAX_INTEGER_DIGITS {
        return Ok(Vec::new());
    }
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|_| ErrorKind::OutOfMemory)?;
    values.extend(significant());
    let magnitude = Natural::from_digits(&values).and_then(|number| number.to_le_bytes());
    let magnitude = magnitude.ok_or(ErrorKind::OutOfMemory)?;
    if magnitude.len() > MAX_INTEGER { Err(ErrorKind::NumberOutOfRange) } else { Ok(magnitude) }
}

/// The digits before and behind the point.
fn digit_values(bytes: &[u8], scan: &Scan) -> impl Iterator<Item = u8> {
    let text = &bytes[scan.int_start..scan.end];
    let count = scan.int_len + scan.frac_len;
    text.iter().filter(|&&byte| byte != b'.').take(count).map(|byte| byte - b'0')
}

/// A minus sign, and no digit behind it.
#[cold]
fn no_integer(bytes: &[u8], start: usize, pos: usize) -> Error {
    if bytes[pos..].starts_with(b"Infinity") {
        return Error::new(ErrorKind::Infinity, start);
    }
    no_digit(bytes, pos)
}

#[cold]
fn no_digit(bytes: &[u8], pos: usize) -> Error {
    let kind = if pos >= bytes.len() { ErrorKind::UnexpectedEnd } else { ErrorKind::InvalidNumber };
    Error::new(kind, pos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    const LIMITLESS: DecodeOptions = DecodeOptions {
        digit_limit: 0,
        decimals: true,
        max_decimal_digits: u32::MAX,
        max_decimal_exponent: u32::MAX,
        ..DecodeOptions::DEFAULT
    };

    /// The least time of some tries, in nanoseconds.
    fn least(run: impl Fn()) -> u128 {
        let time = || {
            let start = Instant::now();
            run();
            start.elapsed().as_nanos()
        };
        (0..5).map(|_| time()).min().expect("some tries")
    }

    #[test]
    #[cfg_attr(miri, ignore = "too long to interpret")]
    fn numbers_that_are_dropped_are_not_converted() {
        for text in ["9".repeat(50_000), format!("0.{}", "3".repeat(50_000))] {
            let bytes = text.as_bytes();
            let dropped = || assert_eq!(number(bytes, 0, &LIMITLESS, &mut Nothing), Ok(bytes.len()));
            let converted = || assert!(magnitude(bytes, &scan(bytes, 0).expect("a number"), false).is_ok());
            assert!(least(dropped) * 4 < least(converted), "{:?}", &text[..2]);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too long to interpret")]
    fn the_largest_integers_are_in_range_also_if_they_are_dropped() {
        for (digits, fits) in [(MAX_INTEGER_DIGITS - 1, true), (MAX_INTEGER_DIGITS + 1, false)] {
            let text = "9".repeat(digits);
            let result = number(text.as_bytes(), 0, &LIMITLESS, &mut Nothing);
            assert_eq!(result.is_ok(), fits, "{digits}");
        }
        // Two to the number of bits has one digit more than those that all fit.
        assert_eq!((8.0 * MAX_INTEGER as f64 * 2_f64.log10()).floor() as usize, MAX_INTEGER_DIGITS - 1);
    }
}
