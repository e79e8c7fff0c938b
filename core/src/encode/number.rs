//! Integers as text.

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

pub(super) const ASCII: u64 = 0x3030_3030_3030_3030;

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
    match big_digits(magnitude) {
        Some(digits) => out.text(&digits),
        None => out.fail(),
    }
}

/// The decimal digits of a little-endian magnitude. `None` when memory runs out.
pub fn big_digits(magnitude: &[u8]) -> Option<Vec<u8>> {
    Natural::from_le_bytes(magnitude)?.to_decimal()
}
