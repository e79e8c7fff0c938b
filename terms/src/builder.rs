//! The core's terms on the process heap. Values wait on a stack. When their container ends, it takes them off
//! the top as one array.

mod maps;
mod scalars;
mod stacks;
mod structs;

pub use stacks::Stacks;
pub use structs::Structs;

use crate::atoms;
use crate::heap::{FirstKeys, Heap};
use crate::key_cache::AtomKeys;
use crate::raw::make::Maker;
use rustler::sys::ErlNifTerm;
use rustler::{Binary, Env, Term};
use rustyjson_core::builder::{Dropped, Rewind, SMALL_MAP};
use rustyjson_core::etf::check::Open;
use rustyjson_core::options::{DecodeOptions, Duplicates, Keys};
use rustyjson_core::{ErrorKind, Key, TermBuilder, Text};
use scalars::existing_atom;
use stacks::push;

/// Strings up to this long are copied: the VM keeps them on the heap, and they never pin the input.
const COPIED: usize = 64;

/// Values and keys decoded on a normal scheduler before the call moves to a dirty one: the slowest (objects without
/// members, keys of one large object) take about 0.1 µs each. 100 KB of canada have 7,400, of twitter 4,800, of citm_catalog 3,700.
pub const MOST_NODES: u64 = 12_000;

/// What the terms look like. Single fields instead of all options: a copy of these would load what their reading has just stored in
/// smaller pieces, and a reference costs each string another load (log and records 3 % slower).
struct Wants {
    keys: Keys,
    copy_strings: bool,
    ordered_objects: bool,
    first_counts: bool,
}

impl Wants {
    #[inline(always)]
    fn of(options: &DecodeOptions) -> Self {
        Self {
            keys: options.keys,
            copy_strings: options.copy_strings,
            ordered_objects: options.ordered_objects,
            first_counts: options.duplicates == Duplicates::First,
        }
    }
}

/// Builds the terms of one document.
pub struct Terms<'a, 's> {
    make: Maker<'a>,
    heap: Heap<'a>,
    /// What texts of the input are parts of.
    input: &'s [u8],
    /// The same as a term, of which strings can be parts.
    binary: Option<Binary<'a>>,
    wants: Wants,
    stacks: &'s mut Stacks,
    nil: ErlNifTerm,
    null: ErlNifTerm,
    yes: ErlNifTerm,
    no: ErlNifTerm,
    /// The next key may be the first of an object.
    first: bool,
    /// Nanoseconds that are left, if the call has a deadline.
    clock: Option<&'s dyn Fn() -> u64>,
}

impl<'a, 's> Terms<'a, 's> {
    /// A builder for this input.
    #[inline(always)]
    pub fn new(env: Env<'a>, input: Binary<'a>, options: &DecodeOptions, stacks: &'s mut Stacks) -> Self
    where
        'a: 's,
    {
        let len = input.len();
        Self::sized(env, input, len, options, stacks)
    }

    /// The same, for terms of so many bytes of the input.
    #[inline(always)]
    pub fn sized(env: Env<'a>, input: Binary<'a>, len: usize, options: &DecodeOptions, stacks: &'s mut Stacks) -> Self
    where
        'a: 's,
    {
        Self::of(env, input.as_slice(), Some(input), len, options, stacks)
    }

    /// A builder for an input that is gone after the call, for terms of so many bytes of JSON.
    #[inline(always)]
    pub fn copied(env: Env<'a>, input: &'s [u8], len: usize, options: &DecodeOptions, stacks: &'s mut Stacks) -> Self {
        Self::of(env, input, None, len, options, stacks)
    }

    #[inline(always)]
    fn of(
        env: Env<'a>,
        input: &'s [u8],
        binary: Option<Binary<'a>>,
        len: usize,
        options: &DecodeOptions,
        stacks: &'s mut Stacks,
    ) -> Self {
        stacks.start();
        let atom = |atom: rustler::Atom| atom.as_c_arg();
        let (yes, no) = (rustler::types::atom::true_(), rustler::types::atom::false_());
        let make = Maker::new(env);
        let (nil, yes, no) = (atom(atoms::nil()), atom(yes), atom(no));
        let null = atom(atoms::of_null(options.null));
        let heap = Heap::new(make, len, nil);
        if heap.watches() {
            stacks.first_keys = FirstKeys::default();
        }
        let wants = Wants::of(options);
        Self { make, heap, input, binary, wants, stacks, nil, null, yes, no, first: false, clock: None }
    }

    /// Sets a deadline: the clock gives the nanoseconds that are left. By reference: a move would copy 280 bytes.
    #[inline(always)]
    pub fn end_within(&mut self, clock: &'s dyn Fn() -> u64) {
        self.clock = Some(clock);
    }

    /// Keeps the memory of a judge for the next call.
    #[inline(always)]
    pub(crate) fn put_open(&mut self, open: Open) {
        self.stacks.open = open;
    }

    /// The finished value.
    #[inline(always)]
    pub fn finish(mut self) -> Option<Term<'a>> {
        let make = self.make;
        self.finish_raw().map(|raw| make.term(raw))
    }

    /// The same, raw.
    #[inline(always)]
    pub fn finish_raw(&mut self) -> Option<ErlNifTerm> {
        self.stacks.values.pop()
    }

    /// `{first, value}`. By reference: a move would copy 280 bytes.
    #[inline(always)]
    pub fn finish_pair(&mut self, first: ErlNifTerm) -> Option<ErlNifTerm> {
        let value = self.stacks.values.pop()?;
        Some(self.heap.pair(first, value))
    }

    #[inline(always)]
    fn push(&mut self, term: ErlNifTerm) -> Result<(), ErrorKind> {
        push(&mut self.stacks.values, term)
    }

    #[inline(always)]
    fn text(&mut self, text: Text<'_>, copy: bool) -> Result<ErlNifTerm, ErrorKind> {
        match (text, &self.binary) {
            (Text::Input(start, bytes), Some(binary)) if bytes.len() > COPIED && !copy => {
                Ok(self.heap.sub_binary(binary, start, bytes.len()))
            }
            _ => self.heap.binary(text.bytes()).ok_or(ErrorKind::OutOfMemory),
        }
    }

    #[inline(always)]
    fn make_key(
        make: Maker<'a>,
        heap: &mut Heap<'a>,
        binary: Option<&Binary<'a>>,
        wants: &Wants,
        text: Text<'_>,
    ) -> Result<ErlNifTerm, ErrorKind> {
        match (wants.keys, text, binary) {
            (Keys::ExistingAtoms, _, _) => existing_atom(make, text.bytes()),
            (Keys::Strings, Text::Input(start, bytes), Some(binary)) if bytes.len() > COPIED && !wants.copy_strings => {
                Ok(heap.sub_binary(binary, start, bytes.len()))
            }
            _ => heap.binary(text.bytes()).ok_or(ErrorKind::OutOfMemory),
        }
    }
}

impl TermBuilder for Terms<'_, '_> {
    fn time_left(&self) -> u64 {
        self.clock.map_or(u64::MAX, |clock| clock())
    }

    #[inline(always)]
    fn null(&mut self) -> Result<(), ErrorKind> {
        self.push(self.null)
    }

    #[inline(always)]
    fn boolean(&mut self, value: bool) -> Result<(), ErrorKind> {
        self.push(if value { self.yes } else { self.no })
    }

    #[inline(always)]
    fn integer(&mut self, value: i64) -> Result<(), ErrorKind> {
        self.push(self.heap.integer(value))
    }

    fn big_integer(&mut self, negative: bool, magnitude: &[u8]) -> Result<(), ErrorKind> {
        let integer = self.make_integer(negative, magnitude)?;
        self.push(integer)
    }

    #[inline(always)]
    fn float(&mut self, value: f64) -> Result<(), ErrorKind> {
        let float = self.heap.float(value);
        self.push(float)
    }

    fn decimal(&mut self, negative: bool, coefficient: &[u8], exponent: i64) -> Result<(), ErrorKind> {
        let atoms = [atoms::__struct__(), atoms::sign(), atoms::coef(), atoms::exp()];
        let sign = self.make.integer(if negative { -1 } else { 1 });
        let coefficient = self.make_integer(false, coefficient)?;
        let fields = [atoms::decimal().as_c_arg(), sign, coefficient, self.make.integer(exponent)];
        let decimal = self.make.map(&atoms.map(|atom| atom.as_c_arg()), &fields);
        self.push(decimal.unwrap_or(self.nil))
    }

    fn fragment(&mut self, text: Text<'_>) -> Result<(), ErrorKind> {
        let names = [atoms::__struct__().as_c_arg(), atoms::encode().as_c_arg()];
        let fields = [atoms::fragment().as_c_arg(), self.text(text, self.wants.copy_strings)?];
        let fragment = self.make.map(&names, &fields);
        self.push(fragment.unwrap_or(self.nil))
    }

    #[inline(always)]
    fn string(&mut self, text: Text<'_>) -> Result<(), ErrorKind> {
        let term = self.text(text, self.wants.copy_strings)?;
        self.push(term)
    }

    #[inline(always)]
    fn key(&mut self, key: Key<'_>) -> Result<(), ErrorKind> {
        if self.first {
            self.first = false;
            self.heap.note_first_key(&mut self.stacks.first_keys, key.head);
        }
        let (make, heap, binary, wants) = (self.make, &mut self.heap, self.binary.as_ref(), &self.wants);
        let term = match key.text {
            text if wants.keys == Keys::ExistingAtoms && text.bytes().len() <= AtomKeys::LONGEST => {
                self.stacks.atoms.get(&key, || existing_atom(make, text.bytes()))?
            }
            Text::Input(start, _) if heap.repeats() => self
                .stacks
                .cache
                .get(self.input, start, &key, || Self::make_key(make, heap, binary, wants, key.text))?,
            _ => Self::make_key(make, heap, binary, wants, key.text)?,
        };
        push(&mut self.stacks.keys, term)?;
        push(&mut self.stacks.heads, key.head.swap_bytes())
    }

    #[inline(always)]
    fn begin_array(&mut self) {}

    #[inline(always)]
    fn end_array(&mut self, len: usize) -> Result<(), ErrorKind> {
        let base = self.stacks.values.len() - len;
        let list = self.heap.list(&self.stacks.values[base..]);
        self.stacks.values.truncate(base);
        self.push(list)
    }

    #[inline(always)]
    fn begin_object(&mut self) {
        self.first = true;
    }

    /// Keys of a small map that differ in their first bytes are not repeated; of others the VM compares neighbours anyway, and refuses
    /// repeated ones.
    #[inline(always)]
    fn end_distinct(&mut self, len: usize) -> Result<bool, ErrorKind> {
        if self.wants.ordered_objects {
            return Ok(false);
        }
        let Some(map) = self.small_map(len) else { return Ok(false) };
        self.finish_object(len, map)?;
        Ok(true)
    }

    #[inline(always)]
    fn end_object(&mut self, len: usize, dropped: Dropped<'_>) -> Result<(), ErrorKind> {
        if !dropped.is_empty() {
            self.drop_members(len, dropped);
        }
        let len = len - dropped.len();
        // The core has dropped repeated keys, so the map is always made.
        let object =
            if self.wants.ordered_objects { self.ordered_object(len)? } else { self.map(len).unwrap_or(self.nil) };
        self.finish_object(len, object)
    }

    #[inline(always)]
    fn end_unsearched(&mut self, len: usize) -> Result<bool, ErrorKind> {
        if self.wants.ordered_objects {
            return self.end_object(len, &[]).map(|()| true);
        }
        let Some(map) = self.map(len) else { return Ok(false) };
        // The VM refuses repeated keys in small maps only. Of others it makes a map that has fewer keys.
        if len > SMALL_MAP && self.make.term(map).map_size().ok() != Some(len) {
            return Ok(false);
        }
        self.finish_object(len, map)?;
        Ok(true)
    }
}

impl Rewind for Terms<'_, '_> {
    /// Values, keys and heads that wait.
    type Mark = (usize, usize, usize);

    #[inline(always)]
    fn mark(&self) -> Self::Mark {
        (self.stacks.values.len(), self.stacks.keys.len(), self.stacks.heads.len())
    }

    fn rewind(&mut self, (values, keys, heads): Self::Mark) {
        self.stacks.values.truncate(values);
        self.stacks.keys.truncate(keys);
        self.stacks.heads.truncate(heads);
    }
}
