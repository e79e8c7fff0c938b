//! Whether terms are in memory as [`words`](super::words) says: read and written in both ways.

use super::in_place::Heap;
use super::layout::Layout;
use super::read::{Look, Raw, SmallMap};
use super::space::{LARGEST, Space};
use super::words::{KIND, SHORT, Words, boxed, tuple_header};
use crate::tags::{self, Kind, kind};
use rustler::{Binary, Encoder, Env, Term};
use std::sync::OnceLock;

/// The layout, if it is the known one.
#[inline(always)]
pub fn layout(env: Env<'_>) -> Option<&'static Layout> {
    static LAYOUT: OnceLock<Option<Layout>> = OnceLock::new();
    LAYOUT.get_or_init(|| if is_wanted() { try_out(env) } else { None }).as_ref()
}

fn is_wanted() -> bool {
    std::env::var_os("RUSTYJSON_IN_PLACE").is_none_or(|wanted| wanted != "false")
}

fn try_out(env: Env<'_>) -> Option<Layout> {
    if !tags::hold(env) {
        return None;
    }
    let layout = Layout(find(env)?);
    let floats = [0.0, -2.25, f64::MAX, f64::MIN_POSITIVE];
    let holds = others_differ(&layout.0, env)?
        && floats.iter().all(|value| boxed_term(value.encode(env)).and_then(|term| layout.float(term)) == Some(*value))
        && (0..=32).all(|len| map(env, len).is_some_and(|map| is_read_right(&layout, map, len)))
        && (0..=SHORT).all(|len| are_bytes_right(&layout, env, len))
        && are_cells_right(&layout, env)
        && is_written_right(&layout, env)?;
    holds.then_some(layout)
}

/// A term that is a pointer to a header. Another VM may have other terms in its place.
fn boxed_term(term: Term<'_>) -> Option<Raw<'_>> {
    Some(Raw::of(term)).filter(|term| kind(term.word()) == Kind::Boxed)
}

/// The first word of a boxed term.
fn header(term: Term<'_>) -> Option<usize> {
    // SAFETY: a boxed term points to its header.
    boxed_term(term).map(|term| unsafe { *boxed(term.word()) })
}

/// The second word of one that has two.
fn second(term: Term<'_>) -> Option<usize> {
    // SAFETY: callers give terms of at least two words.
    boxed_term(term).map(|term| unsafe { *boxed(term.word()).add(1) })
}

/// A map of the numbers below this and their triples, which are given in another order than that of the keys.
fn map(env: Env<'_>, len: i64) -> Option<Term<'_>> {
    let keys: Vec<_> = (0..len).rev().collect();
    let values: Vec<_> = keys.iter().map(|key| key * 3).collect();
    Term::map_from_arrays(env, &keys, &values).ok()
}

fn text(len: usize) -> String {
    ('0'..='z').cycle().take(len).collect()
}

/// What tells the kinds apart, taken from terms that the VM made.
fn find(env: Env<'_>) -> Option<Words> {
    let mut binaries = [0; SHORT + 1];
    for (len, binary) in binaries.iter_mut().enumerate() {
        *binary = header(text(len).encode(env))?;
    }
    let (float, small_map) = (header(1.5_f64.encode(env))?, header(map(env, 2)?)?);
    Some(Words { float, small_map, binaries, bits: second("a".encode(env))? == 8 })
}

/// Terms of other kinds do not look like these.
fn others_differ(words: &Words, env: Env<'_>) -> Option<bool> {
    let long = "a".repeat(SHORT + 1).encode(env);
    let whole = Binary::from_term("a".repeat(8 * SHORT).encode(env)).ok()?;
    // Too long to be copied.
    let part = whole.make_subbinary(8, 4 * SHORT).ok()?.to_term(env);
    let integers = [i64::MAX.encode(env), u64::MAX.encode(env)];
    let others = [long, part, (1, 2).encode(env), integers[0], integers[1], map(env, 33)?, map(env, 100)?];
    let (float, small_map, binary) = (words.float, words.small_map, words.binaries[0] & KIND);
    let is_one = |header: usize| header == float || header == small_map || header & KIND == binary;
    Some(
        float != small_map
            && float & KIND != binary
            && small_map & KIND != binary
            && others.iter().all(|term| header(*term).is_some_and(|header| !is_one(header))),
    )
}

fn are_bytes_right(layout: &Layout, env: Env<'_>, len: usize) -> bool {
    let text = text(len);
    let term = text.encode(env);
    // The length is looked at before it is believed.
    second(term) == Some(if layout.0.bits { 8 * len } else { len })
        && layout.binary(Raw::of(term)) == Some(text.as_bytes())
}

fn is_read_right(layout: &Layout, map: Term<'_>, len: i64) -> bool {
    // Looked at before they are believed.
    if second(map) != usize::try_from(len).ok() {
        return false;
    }
    // SAFETY: a map of no member at all still has its header, its size and its keys.
    let keys = unsafe { *boxed(Raw::of(map).word()).add(2) };
    if kind(keys) != Kind::Boxed {
        return false;
    }
    let Some(SmallMap { keys: found, values }) = layout.small_map(Raw::of(map)) else { return false };
    if len == 0 {
        return found.is_empty() && values.is_empty();
    }
    // SAFETY: a boxed term points to its header.
    let tuple = unsafe { *boxed(keys) };
    tuple == tuple_header(len as usize)
        && (0..len).zip(found.iter().zip(values)).all(|(n, (key, value))| {
            kind(key.word()) == Kind::Small
                && kind(value.word()) == Kind::Small
                && tags::small(key.word()) == n
                && tags::small(value.word()) == 3 * n
        })
}

fn are_cells_right(layout: &Layout, env: Env<'_>) -> bool {
    let list = Raw::of(vec![1, 2].encode(env));
    let look = Look::new(env);
    let Some((head, tail)) = look.cell(list).filter(|(_, tail)| kind(tail.word()) == Kind::List) else { return false };
    let (second, end) = layout.cell(tail);
    layout.cell(list) == (head, tail)
        && tags::small(head.word()) == 1
        && tags::small(second.word()) == 2
        && look.is_empty_list(end)
}

/// Different names in no order, of which some are the start of others.
fn names(len: usize) -> Vec<String> {
    let first = |n: usize| char::from(b'A' + (n * 13 % 32 / 2) as u8).to_string();
    (0..len).map(|n| first(n) + &"a\u{0}\u{7f}"[..n % 4]).collect()
}

/// Terms of each kind that are written here are identical to those that the VM makes, part by part and all together.
fn is_written_right(layout: &Layout, env: Env<'_>) -> Option<bool> {
    let mut space = Space::new(&layout.0, Heap(env), LARGEST);
    // SAFETY: every word below is that of a term which the space has just written.
    let term = |word: usize| unsafe { Raw::from_word(word) }.term(env);
    let mut pairs = Vec::new();
    for value in [0.0, -2.25, f64::MAX, f64::MIN_POSITIVE] {
        pairs.push((term(space.float(value)?), value.encode(env)));
    }
    for len in 0..=SHORT {
        pairs.push((term(space.binary(text(len).as_bytes())?), text(len).encode(env)));
    }
    for len in 1..=32 {
        let made = map(env, len)?;
        let (keys, _) = layout.keys(Raw::of(made))?;
        let values: Vec<_> = (0..len).map(|n| Raw::of((3 * n).encode(env)).word()).rev().collect();
        let places: Vec<_> = (0..len as u8).rev().collect();
        pairs.push((term(space.map(keys, &values, &places)?), made));
    }
    let (written, made): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    let items: Vec<_> = written.iter().map(|term| Raw::of(*term).word()).collect();
    let list = term(space.list(&items, Raw::of(Term::list_new_empty(env)).word())?);
    let alike = written.iter().zip(&made).all(|(a, b)| a == b);
    Some(
        alike
            && list == made.encode(env)
            && *list.to_binary() == *made.encode(env).to_binary()
            && are_new_keys_right(layout, env)?,
    )
}

/// Maps of binaries are identical to those that the VM makes, whatever the order of the keys, and so is a tuple.
fn are_new_keys_right(layout: &Layout, env: Env<'_>) -> Option<bool> {
    let mut space = Space::new(&layout.0, Heap(env), LARGEST);
    // SAFETY: every word below is that of a term which the space has just written.
    let term = |word: usize| unsafe { Raw::from_word(word) }.term(env);
    let words = |terms: Vec<Term<'_>>| terms.into_iter().map(|term| Raw::of(term).word()).collect::<Vec<_>>();
    for len in 1..=32 {
        let (keys, values) = (names(len), (0..len as i64).collect::<Vec<_>>());
        let mut places: Vec<_> = (0..len as u8).collect();
        places.sort_by_key(|place| &keys[usize::from(*place)]);
        let made = Term::map_from_arrays(env, &keys, &values).ok()?;
        let keys = words(keys.iter().map(|key| key.encode(env)).collect());
        let values = words(values.iter().map(|value| value.encode(env)).collect());
        let written = term(space.new_map(&keys, &values, &places)?.1);
        if written != made || *written.to_binary() != *made.to_binary() {
            return Some(false);
        }
    }
    let two = words(vec![1.encode(env), "a".encode(env)]);
    Some(term(space.tuple(&two)?) == (1, "a").encode(env))
}
