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
    /// So many products of two limbs, and a limb, are less than 2^64.
    const PRODUCTS: usize;

    /// The lowest limb, and what is carried.
    #[inline(always)]
    fn split(wide: u64) -> (u32, u64) {
        ((wide % Self::BASE) as u32, wide / Self::BASE)
    }
}

pub(super) struct Binary;

impl Radix for Binary {
    const BASE: u64 = 1 << 32;
    const PRODUCTS: usize = 1;
}

pub(super) struct Decimal;

impl Radix for Decimal {
    const BASE: u64 = 1_000_000_000;
    const PRODUCTS: usize = 16;
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
    while numbers.len() > 2 * power.len() {
        let next = square::<To>(&power)?;
        numbers = paired::<To>(&numbers, &power, next.len())?;
        power = next;
    }
    if numbers.len() > power.len() { paired::<To>(&numbers, &power, 2 * power.len()) } else { Some(numbers) }
}

fn square<R: Radix>(power: &[u32]) -> Option<Vec<u32>> {
    let mut square = zeros(2 * power.len())?;
    multiply::<R>(power, power, &mut square, &mut scratch(power.len())?);
    if square.last() == Some(&0) {
        square.pop();
    }
    Some(square)
}

/// Each two numbers as one of this width, which is at most twice that of the power.
fn paired<R: Radix>(numbers: &[u32], power: &[u32], width: usize) -> Option<Vec<u32>> {
    let mut product = zeros(2 * power.len())?;
    let mut scratch = scratch(power.len())?;
    let mut pairs = zeros(numbers.len().div_ceil(2 * power.len()) * width)?;
    for (pair, place) in numbers.chunks(2 * power.len()).zip(pairs.chunks_mut(width)) {
        let (low, high) = pair.split_at(power.len());
        if !high.is_empty() {
            multiply::<R>(high, power, &mut product, &mut scratch);
            place.copy_from_slice(&product[..width]);
        }
        add::<R>(place, low);
    }
    Some(pairs)
}

/// Room for a product of two numbers with this many limbs each.
fn scratch(len: usize) -> Option<Vec<u32>> {
    zeros(4 * len + 256)
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

/// The product of two numbers of as many limbs; `out` has twice as many, and the scratch is for as many.
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
    if R::PRODUCTS > 1 {
        return multiply_columns::<R>(a, b, out);
    }
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

/// The same for a base that is not a power of two: the sum of a column is divided once for many products.
fn multiply_columns<R: Radix>(a: &[u32], b: &[u32], out: &mut [u32]) {
    let len = b.len();
    let mut reversed = [0; SHORT];
    reversed[..len].copy_from_slice(b);
    reversed[..len].reverse();
    let mut carry = 0;
    for (column, place) in out.iter_mut().enumerate() {
        let (first, last) = ((column + 1).saturating_sub(len).min(len), len.min(column + 1));
        let skip = (len - 1).saturating_sub(column);
        let (mut sum, mut next) = R::split(carry);
        for (a, b) in a[first..last].chunks(R::PRODUCTS).zip(reversed[skip..len].chunks(R::PRODUCTS)) {
            let products = a.iter().zip(b).map(|(&a, &b)| u64::from(a) * u64::from(b));
            let (low, high) = R::split(u64::from(sum) + products.sum::<u64>());
            sum = low;
            next += high;
        }
        *place = sum;
        carry = next;
    }
}

/// Adds a number of at most as many limbs; the sum has room.
fn add<R: Radix>(sum: &mut [u32], summand: &[u32]) {
    let (low, high) = sum.split_at_mut(summand.len().min(sum.len()));
    let mut carry = 0;
    let mut step = |place: &mut u32, limb: u32| {
        let wide = u64::from(*place) + u64::from(limb) + carry;
        carry = u64::from(wide >= R::BASE);
        *place = (wide - carry * R::BASE) as u32;
        carry
    };
    for (place, &limb) in low.iter_mut().zip(summand) {
        step(place, limb);
    }
    for place in high {
        if step(place, 0) == 0 {
            break;
        }
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
