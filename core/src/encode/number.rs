//! Integers and floats as text.

use crate::natural::Natural;
use crate::output::{Buffer, Output};
use alloc::vec::Vec;

/// Eight decimal digits as bytes 0–9, the first digit in the lowest byte. Three multiplications instead of eight
/// divisions: halves, then quarters, then single digits side by side in one word.
#[inline(always)]
const fn eight_digits(value: u32) -> u64 {
    let (high, low) = (value / 10_000, value % 10_000);
    let x = high as u64 | (low as u64) << 32;
    let hundreds = ((x * 10_486) >> 20) & 0x7F_0000_007F;
    let x = hundreds | (x - 100 * hundreds) << 16;
    let tens = ((x * 103) >> 10) & 0x000F_000F_000F_000F;
    tens | (x - 10 * tens) << 8
}

const ASCII: u64 = 0x3030_3030_3030_3030;

/// Writes up to eight digits without leading zeros at the start of the room.
#[inline(always)]
fn write_head(room: &mut [u8], value: u32) -> usize {
    if value < 10 {
        room[0] = b'0' + value as u8;
        return 1;
    }
    let digits = eight_digits(value);
    let skip = digits.trailing_zeros() & !7;
    room[..8].copy_from_slice(&((digits | ASCII) >> skip).to_le_bytes());
    8 - (skip / 8) as usize
}

/// Writes exactly eight digits.
#[inline(always)]
fn write_block(room: &mut [u8], value: u32) {
    room[..8].copy_from_slice(&(eight_digits(value) | ASCII).to_le_bytes());
}

const BLOCK: u64 = 100_000_000;

/// Room that an unsigned integer may touch.
const UNSIGNED: usize = 28;

/// Writes an unsigned integer at the start of the room and tells its length.
#[inline(always)]
fn write_unsigned(room: &mut [u8], value: u64) -> usize {
    if value < BLOCK {
        return write_head(room, value as u32);
    }
    let (high, low) = (value / BLOCK, value % BLOCK);
    let mut len = if high < BLOCK {
        write_head(room, high as u32)
    } else {
        let len = write_head(room, (high / BLOCK) as u32);
        write_block(&mut room[len..], (high % BLOCK) as u32);
        len + 8
    };
    write_block(&mut room[len..], low as u32);
    len += 8;
    len
}

/// Appends an integer.
#[inline(always)]
pub fn integer<B: Buffer>(out: &mut Output<B>, value: i64) {
    let Some(room) = out.room(UNSIGNED + 1) else { return };
    room[0] = b'-';
    let sign = usize::from(value < 0);
    let len = sign + write_unsigned(&mut room[sign..sign + UNSIGNED], value.unsigned_abs());
    out.advance(len);
}

/// [`integer`] where size counts more than speed: one copy of the code, which takes 1 KB of the WebAssembly module.
pub fn rare_integer<B: Buffer>(out: &mut Output<B>, value: i64) {
    if value < 0 {
        out.text(b"-");
    }
    rare_unsigned(out, value.unsigned_abs());
}

#[inline(never)]
fn rare_unsigned<B: Buffer>(out: &mut Output<B>, value: u64) {
    let Some(room) = out.room(UNSIGNED) else { return };
    let len = write_unsigned(room, value);
    out.advance(len);
}

/// Appends an unsigned integer with at least this many digits, of which there may be eight.
pub fn padded<B: Buffer>(out: &mut Output<B>, value: u64, width: usize) {
    let len = value.checked_ilog10().map_or(1, |log| log as usize + 1);
    out.text(&b"00000000"[..width.saturating_sub(len)]);
    rare_unsigned(out, value);
}

/// Appends a big integer, given as sign and little-endian magnitude.
#[cold]
pub fn big<B: Buffer>(out: &mut Output<B>, negative: bool, magnitude: &[u8]) {
    if negative {
        out.text(b"-");
    }
    out.text(&big_digits(magnitude));
}

/// The decimal digits of a little-endian magnitude.
pub fn big_digits(magnitude: &[u8]) -> Vec<u8> {
    Natural::from_le_bytes(magnitude).into_decimal()
}

/// Appends a float that has at most eight decimals and is below ten million, as most in documents: prices, scores,
/// coordinates. `false`: it is another.
///
/// The candidate is the nearest multiple of 10^-8. Divided back it is correctly rounded, so equal means that the candidate
/// reads back as the float. It has at most 15 digits, and no two decimals of 15 digits are the same float: so no shorter
/// text reads back either. Half the time of the search for the shortest digits, which knows nothing of this.
#[inline(always)]
pub fn short_float<B: Buffer>(out: &mut Output<B>, value: f64) -> bool {
    const SCALE: f64 = BLOCK as f64;
    let size = value.abs();
    if !(1e-3..1e7).contains(&size) {
        return false;
    }
    let scaled = (size * SCALE + 0.5) as i64 as u64;
    if scaled as f64 / SCALE != size {
        return false;
    }
    let (whole, part) = ((scaled / BLOCK) as u32, (scaled % BLOCK) as u32);
    // `100.0` is plain, `1.0e3` is shorter than `1000.0`.
    if part == 0 && whole % 100 == 0 {
        return false;
    }
    if value < 0.0 {
        out.array([b'-']);
    }
    rare_unsigned(out, u64::from(whole));
    let Some(room) = out.room(9) else { return true };
    let digits = eight_digits(part);
    room[0] = b'.';
    room[1..9].copy_from_slice(&(digits | ASCII).to_le_bytes());
    let zeros = digits.leading_zeros() as usize / 8;
    out.advance(9 - zeros.min(7));
    true
}

/// Appends a float of a document, where floats are alike: behind one with many decimals the short way is not tried for a while.
#[inline(always)]
pub fn like_the_last<B: Buffer>(out: &mut Output<B>, value: f64, long_floats: &mut u8) {
    const WHILE: u8 = 16;
    if *long_floats == 0 {
        if short_float(out, value) {
            return;
        }
        *long_floats = WHILE;
    }
    *long_floats -= 1;
    float(out, value);
}

/// Longest text of a float: `-1.7976931348623157e-308`; rounded up to whole words.
const FLOAT: usize = 32;

/// Appends a finite float as `:erlang.float_to_binary(value, [:short])` on OTP 28 and 29 gives it: shortest digits that
/// read back the same; scientific from 2^53 on or where that is strictly shorter; always a fraction digit.
#[inline(never)]
pub fn float<B: Buffer>(out: &mut Output<B>, value: f64) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value).as_bytes();
    let size = value.abs();
    // With a fraction and at least 0.001, plain notation is never longer, and it is what zmij writes.
    if (1e-3..TWO_53).contains(&size) && size as u64 as f64 != size {
        return copy_short(out, text);
    }
    laid_out(out, text);
}

const TWO_53: f64 = 9_007_199_254_740_992.0;

/// Appends at most 32 bytes as two overlapping halves: floats are 15 to 24 bytes, a library call costs more.
#[inline(always)]
pub fn copy_short<B: Buffer>(out: &mut Output<B>, text: &[u8]) {
    let len = text.len();
    let Some(room) = out.room(FLOAT) else { return };
    if len >= 16 {
        room[..16].copy_from_slice(&text[..16]);
        room[len - 16..len].copy_from_slice(&text[len - 16..]);
    } else if len >= 8 {
        room[..8].copy_from_slice(&text[..8]);
        room[len - 8..len].copy_from_slice(&text[len - 8..]);
    } else {
        room[..len].copy_from_slice(text);
    }
    out.advance(len);
}

/// Significant digits of a shortest text and the exponent of the first: `d.ddd * 10^exponent`.
pub(super) struct Digits {
    pub digits: [u8; 32],
    pub len: usize,
    pub exponent: i32,
}

impl Digits {
    /// Takes them out of any decimal or scientific notation without sign.
    pub fn of(text: &[u8]) -> Self {
        let mut this = Self { digits: [b'0'; 32], len: 0, exponent: 0 };
        let (mantissa, power) = split_exponent(text);
        let whole = mantissa.iter().position(|&b| b == b'.').unwrap_or(mantissa.len());
        let mut leading = 0;
        for &digit in mantissa.iter().filter(|b| **b != b'.') {
            if this.len == 0 && digit == b'0' {
                leading += 1;
            } else {
                this.digits[this.len] = digit;
                this.len += 1;
            }
        }
        while this.len > 1 && this.digits[this.len - 1] == b'0' {
            this.len -= 1;
        }
        this.exponent = if this.len == 0 { 0 } else { whole as i32 - 1 - leading + power };
        this.len = this.len.max(1);
        this
    }

    /// Length of the text in plain notation.
    fn plain_len(&self) -> i32 {
        let len = self.len as i32;
        if self.exponent < 0 { 1 - self.exponent + len } else { (self.exponent + 3).max(len + 1) }
    }

    /// Length in scientific notation.
    fn scientific_len(&self) -> i32 {
        let digits = match self.exponent.unsigned_abs() {
            0..10 => 1,
            10..100 => 2,
            _ => 3,
        };
        (self.len as i32 + 1).max(3) + 1 + i32::from(self.exponent < 0) + digits
    }

    fn plain<B: Buffer>(&self, out: &mut Output<B>) {
        if self.exponent < 0 {
            out.text(b"0.");
            for _ in 1..-self.exponent {
                out.text(b"0");
            }
            return out.text(&self.digits[..self.len]);
        }
        let whole = self.exponent as usize + 1;
        out.text(&self.digits[..whole]);
        out.text(b".");
        out.text(&self.digits[whole..self.len.max(whole + 1)]);
    }

    fn scientific<B: Buffer>(&self, out: &mut Output<B>) {
        out.text(&self.digits[..1]);
        out.text(b".");
        out.text(&self.digits[1..self.len.max(2)]);
        out.text(b"e");
        rare_integer(out, i64::from(self.exponent));
    }
}

fn split_exponent(text: &[u8]) -> (&[u8], i32) {
    let Some(at) = text.iter().position(|&b| b == b'e') else { return (text, 0) };
    let (negative, digits) = match &text[at + 1..] {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    let power = digits.iter().fold(0, |n, b| n * 10 + i32::from(b - b'0'));
    (&text[..at], if negative { -power } else { power })
}

/// The floats that the short way does not take: whole ones, tiny ones, huge ones.
#[cold]
fn laid_out<B: Buffer>(out: &mut Output<B>, text: &[u8]) {
    let (negative, text) = text.strip_prefix(b"-").map_or((false, text), |rest| (true, rest));
    if negative {
        out.text(b"-");
    }
    let digits = Digits::of(text);
    // Plain texts of 2^53 and more have an exponent of at least 15; below 10^16 that takes a look at the digits.
    let huge = digits.exponent > 15 || digits.exponent == 15 && digits.digits[..16] >= b"9007199254740992"[..];
    if huge || digits.scientific_len() < digits.plain_len() {
        digits.scientific(out);
    } else {
        digits.plain(out);
    }
}
