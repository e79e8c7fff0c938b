//! From one radix into another, in less than quadratic time.
//!
//! Blocks of limbs are converted one by one. Then each two neighbours become one, `high * power + low`, in the new radix, until one is
//! left. Nothing is divided, so both directions are the same code. Products take Karatsuba's way (1962): 1,000,000 digits take a
//! hundredth of the time that one limb after the other takes.

use alloc::vec::Vec;

/// What the limbs of a number are multiples of.
pub(super) trait Radix {
    /// At most 2^32.
    const BASE: u64;

    /// The lowest limb, and what is carried.
    #[inline(always)]
    fn split(wide: u64) -> (u32, u64) {
        ((wide % Self::BASE) as u32, wide / Self::BASE)
    }
}

pub(super) struct Binary;

impl Radix for Binary {
    const BASE: u64 = 1 << 32;
}

pub(super) struct Decimal;

impl Radix for Decimal {
    const BASE: u64 = 1_000_000_000;
}

/// Limbs that are converted one after the other: below this, that is faster.
const BLOCK: usize = 32;
/// Limbs of factors that are multiplied limb by limb.
const SHORT: usize = 40;

/// A vector with room, which is not there when memory runs out.
pub(super) fn reserved<T>(len: usize) -> Option<Vec<T>> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(len).ok()?;
    Some(vec)
}

fn zeros(len: usize) -> Option<Vec<u32>> {
    let mut limbs = reserved(len)?;
    limbs.resize(len, 0);
    Some(limbs)
}

/// The same number in another radix, the lowest limb first in both; there may be zeros at the top. `None` when memory runs out.
pub(super) fn convert<From: Radix, To: Radix>(source: &[u32]) -> Option<Vec<u32>> {
    let len = source.len().min(BLOCK);
    let mut power = reserved(len + len / 8 + 2)?;
    power.push(1);
    for _ in 0..len {
        times_plus::<To>(&mut power, From::BASE, 0);
    }
    // No number of a block has more limbs than the power that is larger than each of them.
    let mut numbers = zeros(source.len().div_ceil(BLOCK) * power.len())?;
    let mut number = reserved(power.len())?;
    for (block, place) in source.chunks(BLOCK).zip(numbers.chunks_mut(power.len())) {
        number.clear();
        for &limb in block.iter().rev() {
            times_plus::<To>(&mut number, From::BASE, limb);
        }
        place[..number.len()].copy_from_slice(&number);
    }
    while numbers.len() > power.len() {
        (numbers, power) = paired::<To>(&numbers, &power)?;
    }
    Some(numbers)
}

/// Each two numbers as one, and the power for those.
fn paired<R: Radix>(numbers: &[u32], power: &[u32]) -> Option<(Vec<u32>, Vec<u32>)> {
    let width = power.len();
    let mut product = zeros(2 * width)?;
    let mut scratch = zeros(4 * width + 256)?;
    multiply::<R>(power, power, &mut product, &mut scratch);
    let mut next = reserved(2 * width)?;
    next.extend_from_slice(&product);
    if next.last() == Some(&0) {
        next.pop();
    }
    let mut pairs = zeros(numbers.len().div_ceil(2 * width) * next.len())?;
    for (pair, place) in numbers.chunks(2 * width).zip(pairs.chunks_mut(next.len())) {
        let (low, high) = pair.split_at(width);
        if !high.is_empty() {
            multiply::<R>(high, power, &mut product, &mut scratch);
            place.copy_from_slice(&product[..next.len()]);
        }
        add::<R>(place, low);
    }
    Some((pairs, next))
}

/// Multiplies by a factor of at most 2^32 and adds.
pub(super) fn times_plus<R: Radix>(limbs: &mut Vec<u32>, factor: u64, summand: u32) {
    let mut carry = u64::from(summand);
    for limb in &mut *limbs {
        (*limb, carry) = R::split(u64::from(*limb) * factor + carry);
    }
    while carry != 0 {
        let (limb, rest) = R::split(carry);
        limbs.push(limb);
        carry = rest;
    }
}

/// The product of two numbers of as many limbs; `out` has twice as many, and `scratch` four times as many and 256 more.
fn multiply<R: Radix>(a: &[u32], b: &[u32], out: &mut [u32], scratch: &mut [u32]) {
    if a.len() <= SHORT {
        return multiply_short::<R>(a, b, out);
    }
    let half = a.len().div_ceil(2);
    let ((a_low, a_high), (b_low, b_high)) = (a.split_at(half), b.split_at(half));
    let (low, high) = out.split_at_mut(2 * half);
    multiply::<R>(a_low, b_low, low, scratch);
    multiply::<R>(a_high, b_high, high, scratch);
    // The two products in the middle: low + high - (a_low - a_high) * (b_low - b_high).
    let (a_difference, rest) = scratch.split_at_mut(half);
    let (b_difference, rest) = rest.split_at_mut(half);
    let (product, rest) = rest.split_at_mut(2 * half);
    let a_negative = difference::<R>(a_low, a_high, a_difference);
    let b_negative = difference::<R>(b_low, b_high, b_difference);
    multiply::<R>(a_difference, b_difference, product, rest);
    let middle = &mut rest[..2 * half + 1];
    middle[..2 * half].copy_from_slice(low);
    middle[2 * half] = 0;
    add::<R>(middle, high);
    if a_negative == b_negative {
        subtract::<R>(middle, product);
    } else {
        add::<R>(middle, product);
    }
    add::<R>(&mut out[half..], middle);
}

fn multiply_short<R: Radix>(a: &[u32], b: &[u32], out: &mut [u32]) {
    out.fill(0);
    for (i, &factor) in a.iter().enumerate() {
        let (places, top) = out[i..].split_at_mut(b.len());
        let mut carry = 0;
        for (place, &limb) in places.iter_mut().zip(b) {
            (*place, carry) = R::split(u64::from(factor) * u64::from(limb) + u64::from(*place) + carry);
        }
        top[0] = carry as u32;
    }
}

/// Adds a number of at most as many limbs; the sum has room.
fn add<R: Radix>(sum: &mut [u32], summand: &[u32]) {
    let (low, high) = sum.split_at_mut(summand.len().min(sum.len()));
    let mut carry = 0;
    for (place, &limb) in low.iter_mut().zip(summand) {
        (*place, carry) = R::split(u64::from(*place) + u64::from(limb) + carry);
    }
    for place in high {
        if carry == 0 {
            break;
        }
        (*place, carry) = R::split(u64::from(*place) + carry);
    }
}

/// Subtracts a number that is not larger, of at most as many limbs.
fn subtract<R: Radix>(from: &mut [u32], number: &[u32]) {
    let mut borrow = 0;
    let limbs = number.iter().copied().chain(core::iter::repeat(0));
    for (place, limb) in from.iter_mut().zip(limbs) {
        let taken = u64::from(limb) + borrow;
        borrow = u64::from(u64::from(*place) < taken);
        *place = (u64::from(*place) + borrow * R::BASE - taken) as u32;
    }
}

/// How far two numbers are apart, and whether the second, which may have a limb less, is the larger.
fn difference<R: Radix>(a: &[u32], b: &[u32], out: &mut [u32]) -> bool {
    let top = &a[b.len()..];
    let negative = top.iter().all(|&limb| limb == 0) && a[..b.len()].iter().rev().lt(b.iter().rev());
    let (from, number) = if negative { (b, a) } else { (a, b) };
    out.fill(0);
    out[..from.len()].copy_from_slice(from);
    subtract::<R>(out, number);
    negative
}
