//! Decimal to binary64, correctly rounded: Clinger's exact cases, then the Eisel–Lemire algorithm (Daniel Lemire,
//! "Number Parsing at a Gigabyte per Second", 2021), which needs no fallback for up to 19 digits (Noble Mushtak and Daniel
//! Lemire, "Fast Number Parsing Without Fallback", 2023). For more digits, two of its results bracket the value; if they
//! differ, the digits are compared exactly with the number halfway between them.
//!
//! The standard library's parser would read the digits a second time, at the same cost again.

use crate::natural::Natural;
use alloc::vec::Vec;
use core::cmp::Ordering;

const MIN_POWER: i64 = -342;
const MAX_POWER: i64 = 308;
const MANTISSA_BITS: u32 = 52;
const MIN_EXPONENT: i32 = -1023;
const INFINITE_POWER: i32 = 0x7FF;

/// Powers of ten that are exact in binary64.
const EXACT: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// The float nearest to `mantissa * 10^power`, which has at most 19 digits; infinity when it is too large.
#[inline(always)]
pub(super) fn nearest(mantissa: u64, power: i64) -> f64 {
    if mantissa <= 1 << 53
        && let Some(value) = exact(mantissa, power)
    {
        return value;
    }
    eisel_lemire(mantissa, power)
}

/// Digits that fit in a word.
const WORD_DIGITS: usize = 19;
/// No number halfway between two floats has more digits than 767, so further ones only tell whether there is more.
const DECISIVE_DIGITS: usize = 770;

/// The float nearest to the digits (as values) times 10^power.
#[cold]
pub(super) fn nearest_of_many(digits: impl Iterator<Item = u8>, power: i64) -> f64 {
    let mut digits = digits.skip_while(|&digit| digit == 0);
    let mut kept: Vec<u8> = digits.by_ref().take(DECISIVE_DIGITS).collect();
    let (mut rest, mut more) = (0, false);
    for digit in digits {
        rest += 1;
        more |= digit != 0;
    }
    let mut power = power + rest;
    if more {
        kept.push(1);
        power -= 1;
    }
    let word = kept.iter().take(WORD_DIGITS).fold(0u64, |word, &digit| word * 10 + u64::from(digit));
    if kept.len() <= WORD_DIGITS {
        return nearest(word, power);
    }
    let word_power = power + (kept.len() - WORD_DIGITS) as i64;
    let (below, above) = (nearest(word, word_power), nearest(word + 1, word_power));
    if below == above {
        return below;
    }
    match compare_with_middle(&kept, power, below) {
        Ordering::Less => below,
        Ordering::Greater => above,
        Ordering::Equal if below.to_bits() & 1 == 0 => below,
        Ordering::Equal => above,
    }
}

/// Compares digits times 10^power with the number halfway between a float and the next one, in whole numbers.
fn compare_with_middle(digits: &[u8], power: i64, below: f64) -> Ordering {
    let bits = below.to_bits();
    let (field, fraction) = ((bits >> MANTISSA_BITS) as i64, bits & ((1 << MANTISSA_BITS) - 1));
    let (mantissa, exponent) =
        if field == 0 { (fraction, -1074) } else { (fraction | 1 << MANTISSA_BITS, field - 1075) };
    let mut left = Natural::from_few_digits(digits);
    let mut right = Natural::from(2 * mantissa + 1);
    let fives = u32::try_from(power.unsigned_abs()).unwrap_or(u32::MAX);
    if power >= 0 {
        left.times_five_to(fives)
    } else {
        right.times_five_to(fives)
    }
    let twos = power - (exponent - 1);
    let shift = u32::try_from(twos.unsigned_abs()).unwrap_or(u32::MAX);
    if twos >= 0 {
        left.shift_left(shift)
    } else {
        right.shift_left(shift)
    }
    left.cmp(&right)
}

/// Both factors are exact, so one rounding gives the right answer.
#[inline(always)]
fn exact(mantissa: u64, power: i64) -> Option<f64> {
    let value = mantissa as f64;
    match power {
        0..=22 => Some(value * EXACT[power as usize]),
        -22..=-1 => Some(value / EXACT[power.unsigned_abs() as usize]),
        _ => None,
    }
}

#[inline(always)]
fn eisel_lemire(mantissa: u64, power: i64) -> f64 {
    if mantissa == 0 || power < MIN_POWER {
        return 0.0;
    }
    if power > MAX_POWER {
        return f64::INFINITY;
    }
    let zeros = mantissa.leading_zeros();
    let (low, high) = product(mantissa << zeros, power);
    let upper = (high >> 63) as u32;
    let shift = upper + 64 - MANTISSA_BITS - 3;
    let mut bits = high >> shift;
    let mut exponent = binary_power(power as i32) + upper as i32 - zeros as i32 - MIN_EXPONENT;
    if exponent <= 0 {
        return subnormal(bits, exponent);
    }
    let halfway = low <= 1 && (-4..=23).contains(&power) && bits & 3 == 1 && bits << shift == high;
    bits &= !u64::from(halfway);
    bits = (bits + (bits & 1)) >> 1;
    if bits >= 2 << MANTISSA_BITS {
        bits = 1 << MANTISSA_BITS;
        exponent += 1;
    }
    if exponent >= INFINITE_POWER {
        return f64::INFINITY;
    }
    f64::from_bits(bits & !(1 << MANTISSA_BITS) | (exponent as u64) << MANTISSA_BITS)
}

#[cold]
fn subnormal(bits: u64, exponent: i32) -> f64 {
    if 1 - exponent >= 64 {
        return 0.0;
    }
    let bits = bits >> (1 - exponent);
    let bits = (bits + (bits & 1)) >> 1;
    // A carry into the exponent field makes the smallest normal number, as it should.
    f64::from_bits(bits)
}

/// floor(log2(10^power)) + 63.
const fn binary_power(power: i32) -> i32 {
    (power.wrapping_mul(152_170 + 65_536) >> 16) + 63
}

/// The top 128 bits of `mantissa * 5^power`, the second half of the table used only where it can matter.
#[inline(always)]
fn product(mantissa: u64, power: i64) -> (u64, u64) {
    const MASK: u64 = u64::MAX >> (MANTISSA_BITS + 3);
    let (five_high, five_low) = POWERS_OF_FIVE[(power - MIN_POWER) as usize];
    let (mut low, mut high) = multiply(mantissa, five_high);
    if high & MASK == MASK {
        let (_, second) = multiply(mantissa, five_low);
        low = low.wrapping_add(second);
        high += u64::from(second > low);
    }
    (low, high)
}

/// Both halves of the product. WebAssembly has no such instruction, and the compiler's substitute is a function, which is
/// not inlined: there the product is put together of four.
#[inline(always)]
pub(crate) const fn multiply(a: u64, b: u64) -> (u64, u64) {
    if cfg!(not(target_arch = "wasm32")) {
        let wide = a as u128 * b as u128;
        return (wide as u64, (wide >> 64) as u64);
    }
    halves(a, b)
}

#[inline(always)]
const fn halves(a: u64, b: u64) -> (u64, u64) {
    const LOW: u64 = u32::MAX as u64;
    let (a_low, a_high, b_low, b_high) = (a & LOW, a >> 32, b & LOW, b >> 32);
    let low = a_low * b_low;
    let middle = a_high * b_low + (low >> 32);
    let other = a_low * b_high + (middle & LOW);
    (other << 32 | low & LOW, a_high * b_high + (middle >> 32) + (other >> 32))
}

const POWERS: usize = (MAX_POWER - MIN_POWER + 1) as usize;
/// Limbs of the numbers the table is computed with: 2^1087 / 5^342 still has more than 128 bits.
const LIMBS: usize = 17;

/// The top 128 bits of 5^power for each power of ten a binary64 can hold, made at compile time. Negative powers
/// are reciprocals, rounded up from 10^-27 on as the algorithm's proof asks.
static POWERS_OF_FIVE: [(u64, u64); POWERS] = powers_of_five();

const fn powers_of_five() -> [(u64, u64); POWERS] {
    let mut table = [(0, 0); POWERS];
    let mut value = [0; LIMBS];
    value[0] = 1;
    let mut i = -MIN_POWER as usize;
    while i < POWERS {
        table[i] = top_bits(&value);
        times_five(&mut value);
        i += 1;
    }
    let mut reciprocal = [0; LIMBS];
    reciprocal[LIMBS - 1] = 1 << 63;
    let mut power = 1;
    while power <= -MIN_POWER {
        divide_by_five(&mut reciprocal);
        let (high, low) = top_bits(&reciprocal);
        let (low, carry) = low.overflowing_add((power <= 27) as u64);
        table[(-MIN_POWER - power) as usize] = (high + carry as u64, low);
        power += 1;
    }
    table
}

const fn times_five(value: &mut [u64; LIMBS]) {
    let mut carry = 0;
    let mut i = 0;
    while i < LIMBS {
        let wide = value[i] as u128 * 5 + carry;
        value[i] = wide as u64;
        carry = wide >> 64;
        i += 1;
    }
}

const fn divide_by_five(value: &mut [u64; LIMBS]) {
    let mut rest = 0;
    let mut i = LIMBS;
    while i > 0 {
        i -= 1;
        let wide = rest << 64 | value[i] as u128;
        value[i] = (wide / 5) as u64;
        rest = wide % 5;
    }
}

const fn top_bits(value: &[u64; LIMBS]) -> (u64, u64) {
    let mut top = LIMBS - 1;
    while value[top] == 0 {
        top -= 1;
    }
    let zeros = value[top].leading_zeros();
    let second = if top >= 1 { value[top - 1] } else { 0 };
    let third = if top >= 2 { value[top - 2] } else { 0 };
    if zeros == 0 {
        return (value[top], second);
    }
    (value[top] << zeros | second >> (64 - zeros), second << zeros | third >> (64 - zeros))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries of the published table.
    #[test]
    fn table_matches_published_values() {
        let at = |power: i64| POWERS_OF_FIVE[(power - MIN_POWER) as usize];
        assert_eq!(at(-342), (0xeef453d6923bd65a, 0x113faa2906a13b3f));
        assert_eq!(at(-1), (0xcccccccccccccccc, 0xcccccccccccccccd));
        assert_eq!(at(0), (0x8000000000000000, 0));
        assert_eq!(at(308), (0x8e679c2f5e44ff8f, 0x570f09eaa7ea7648));
    }

    #[test]
    fn halves_are_those_of_the_wide_product() {
        let edges = [0, 1, 3, u64::from(u32::MAX), 1 << 32, 1 << 63, u64::MAX - 1, u64::MAX, 0x9e37_79b9_7f4a_7c15];
        for (a, b) in edges.iter().flat_map(|a| edges.iter().map(move |b| (*a, *b))) {
            let wide = u128::from(a) * u128::from(b);
            assert_eq!(halves(a, b), (wide as u64, (wide >> 64) as u64), "{a} * {b}");
        }
    }

    #[test]
    fn agrees_with_the_standard_library() {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        // Miri interprets, a thousand times slower.
        for i in 0..if cfg!(miri) { 120 } else { 400_000u64 } {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let mantissa = state >> (i % 60);
            let power = (state.rotate_left(20) % 700) as i64 - 360;
            let expected: f64 = format!("{mantissa}e{power}").parse().unwrap();
            assert_eq!(nearest(mantissa, power).to_bits(), expected.to_bits(), "{mantissa}e{power}");
        }
    }

    fn check_many(digits: &str, power: i64) {
        let expected: f64 = format!("{digits}e{power}").parse().unwrap();
        let value = nearest_of_many(digits.bytes().map(|byte| byte - b'0'), power);
        assert_eq!(value.to_bits(), expected.to_bits(), "{digits}e{power}");
    }

    #[test]
    fn many_digits_agree_with_the_standard_library() {
        let mut state = 88_172_645_463_325_252u64;
        for i in 0..if cfg!(miri) { 10 } else { 20_000u64 } {
            let mut digits = String::new();
            for _ in 0..=i % 45 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                digits += &(state >> (i % 64)).to_string();
            }
            check_many(&digits, (state % 800) as i64 - 400 - digits.len() as i64);
        }
    }

    /// Exactly halfway, and a last digit to either side of it.
    #[test]
    fn halfway_numbers() {
        let edges =
            [0x3FF0_0000_0000_0000, 0, 1, 2, 0x000F_FFFF_FFFF_FFFF, 0x0010_0000_0000_0000, 0x7FEF_FFFF_FFFF_FFFF];
        // Miri would take minutes for the others, which have hundreds of digits.
        for bits in edges.into_iter().take(if cfg!(miri) { 1 } else { 7 }) {
            for bits in [bits, bits ^ 1] {
                let (digits, power) = middle_above(f64::from_bits(bits));
                check_many(&digits, power);
                check_many(&format!("{digits}{}1", "0".repeat(800)), power - 801);
                let mut lower: Vec<u8> = digits.into_bytes();
                *lower.last_mut().unwrap() -= 1;
                check_many(&format!("{}9", String::from_utf8(lower).unwrap()), power - 1);
            }
        }
    }

    /// The digits of the number halfway to the next float; the last digit is never 0.
    fn middle_above(value: f64) -> (String, i64) {
        let bits = value.to_bits();
        let (field, fraction) = ((bits >> 52) as i64, bits & ((1 << 52) - 1));
        let (mantissa, exponent) = if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
        let mut number = Natural::from(2 * mantissa + 1);
        let exponent = exponent - 1;
        let power = if exponent >= 0 {
            number.shift_left(exponent as u32);
            0
        } else {
            number.times_five_to(-exponent as u32);
            exponent
        };
        let digits = String::from_utf8(number.to_decimal().unwrap()).unwrap();
        let kept = digits.trim_end_matches('0').len();
        (digits[..kept].to_string(), power + (digits.len() - kept) as i64)
    }
}
