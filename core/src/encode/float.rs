//! Floats as text.

use super::number::{ASCII, rare_integer};
use crate::decode::float::multiply;
use crate::output::{Buffer, Output};
use crate::simd::digits::DigitKernel;

/// Room that [`plain`] may touch.
const ROOM: usize = 32;

/// Appends a finite float as `:erlang.float_to_binary(value, [:short])` on OTP 28 and 29 gives it: shortest digits that
/// read back the same; scientific from 2^53 on or where that is strictly shorter; always a fraction digit.
#[inline(always)]
pub fn float<K: DigitKernel, B: Buffer>(kernel: K, out: &mut Output<B>, value: f64) {
    let Some(room) = out.room(ROOM).and_then(|room| room.first_chunk_mut()) else { return };
    match plain(kernel, room, value) {
        Some(len) => out.advance(len),
        None => laid_out(out, value),
    }
}

/// Sizes whose plain notation is 16 digits and a last one, behind at most three zeros. With a fraction it is never longer than
/// scientific notation here.
const PLAIN: core::ops::Range<f64> = 1e-3..1e15;

/// What the floats of one exponent are scaled by.
#[derive(Clone, Copy)]
struct Scale {
    /// `5^n`, the odd part of `10^n`.
    five: u64,
    /// `n`: the digits that come behind the decimal point.
    decimals: u32,
    /// Bits of the fraction.
    shift: u32,
}

/// Entry `f` is for multiples of `2^-f`: the largest `10^n` below `2^f`.
const SCALES: [Scale; 63] = {
    let mut scales = [Scale { five: 1, decimals: 0, shift: 0 }; 63];
    let mut f = 1;
    while f < scales.len() {
        let Scale { mut five, mut decimals, .. } = scales[f - 1];
        if (five as u128 * 5) << (decimals + 1) < 1 << f {
            (five, decimals) = (five * 5, decimals + 1);
        }
        scales[f] = Scale { five, decimals, shift: f as u32 - decimals };
        f += 1;
    }
    scales
};

/// Shortest digits of a float in [`PLAIN`], of which there may be 17.
struct Shortest {
    /// The first 16, of which the last may be zeros.
    digits: u64,
    /// One more, or 0.
    last: u64,
    /// Those of `digits` behind the decimal point.
    decimals: u32,
}

/// The search of R. Giulietti, *The Schubfach way to render doubles*: of decimals between the two halfway points around the
/// float, the one that is a multiple of the power of ten above an ulp, or else the nearest multiple of the power below it.
///
/// In this range it needs no approximation. The float is `c * 2^-f` and an ulp is `2^-f`, with `f` in 3..=62. Let `10^-n` be the power
/// above. Then `c * 10^n / 2^f` is `c * 5^n / 2^(f-n)`. The product has less than 96 bits, and the quotient's whole part is the multiple
/// below the float. The remainder counts units of which half an ulp has `5^n / 2`. This is never an integer, so no candidate lies exactly
/// on a halfway point. (The halfway point below a power of two is nearer. But in this range, powers of two have at most 15 digits and no
/// remainder.)
#[inline(always)]
fn shortest(size: f64) -> Shortest {
    let bits = size.to_bits();
    let significand = bits & ((1 << 52) - 1) | 1 << 52;
    let Scale { five, decimals, shift } = SCALES[1075 - (bits >> 52) as usize];
    let ((low, high), unit) = (multiply(significand, five), 1 << shift);
    let (whole, fraction) = (high << (64 - shift) | low >> shift, low & (unit - 1));
    // No branches here: no processor could foresee them.
    let (down, up) = (2 * fraction < five, 2 * (unit - fraction) < five);
    // A tie is 2.5 or 7.5; the even digit is taken.
    let tie = u64::from(4 * fraction == unit);
    let needed = u64::from(down | up).wrapping_sub(1);
    let digit = (10 * fraction + unit / 2 - tie) >> shift & needed;
    let whole = whole + u64::from(up);
    let few = whole < 1_000_000_000_000_000;
    let digits = if few { 10 * whole + digit } else { whole };
    Shortest { digits, last: if few { 0 } else { digit }, decimals: decimals + u32::from(few) }
}

/// The bytes before a place.
const BEFORE: [u128; 17] = {
    let mut before = [0; 17];
    let mut n = 1;
    while n < before.len() {
        before[n] = before[n - 1] << 8 | 0xFF;
        n += 1;
    }
    before
};

const POINTS: u128 = u128::from_le_bytes([b'.'; 16]);
const ASCII_16: u128 = (ASCII as u128) << 64 | ASCII as u128;

/// Writes a float in plain notation at the start of the room and tells the length. `None`: it may be another notation.
#[inline(always)]
fn plain<K: DigitKernel>(kernel: K, room: &mut [u8; ROOM], value: f64) -> Option<usize> {
    let size = value.abs();
    if !PLAIN.contains(&size) {
        return None;
    }
    let Shortest { digits, last, decimals } = shortest(size);
    let sign = usize::from(value < 0.0);
    room[0] = b'-';
    let (decimals, last) = (decimals as usize, last as u8);
    let digits = kernel.sixteen_digits(digits);
    let used = if last == 0 { 16 - digits.leading_zeros() as usize / 8 } else { 17 };
    let text = digits | ASCII_16;
    if decimals >= 16 {
        room[sign..sign + 8].copy_from_slice(b"0.000000");
        let start = sign + decimals - 14;
        room[start..start + 16].copy_from_slice(&text.to_le_bytes());
        room[start + 16] = b'0' + last;
        return Some(start + used);
    }
    let point = 16 - decimals;
    // `120.0` and `100.0` are plain, `1.2e3` is shorter than `1200.0`.
    if point > used + 1 && point > 3 {
        return None;
    }
    let (before, with) = (BEFORE[point], BEFORE[point + 1]);
    let pointed = text & before | (text & !before) << 8 | (with ^ before) & POINTS;
    room[sign..sign + 16].copy_from_slice(&pointed.to_le_bytes());
    room[sign + 16] = (text >> 120) as u8;
    room[sign + 17] = b'0' + last;
    Some(sign + 1 + used.max(point + 1))
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

/// The other floats: whole ones with zeros at the end, tiny ones, huge ones, and zero.
#[cold]
#[inline(never)]
fn laid_out<B: Buffer>(out: &mut Output<B>, value: f64) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value).as_bytes();
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
