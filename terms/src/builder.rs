//! The core's terms on the process heap. Values wait on a stack. When their container ends, it takes them off
//! the top as one array.

mod structs;

pub use structs::Structs;

use crate::atoms;
use crate::heap::{FirstKeys, Heap};
use crate::key_cache::{AtomKeys, KeyCache};
use crate::key_order::{Order, Orders};
use crate::raw::make::Maker;
use crate::raw::read::Raw;
use crate::shapes::Shapes;
use rustler::sys::ErlNifTerm;
use rustler::{Binary, Env, Term};
use rustyjson_core::builder::{Dropped, Rewind, SMALL_MAP};
use rustyjson_core::options::{DecodeOptions, Duplicates, Keys};
use rustyjson_core::{ErrorKind, Key, TermBuilder, Text};

/// Strings up to this long are copied: the VM keeps them on the heap, and they never pin the input.
const COPIED: usize = 64;

/// Values and keys decoded on a normal scheduler before the call moves to a dirty one: the slowest (objects without
/// members, keys of one large object) take about 0.1 µs each. 100 KB of canada have 7,400, of twitter 4,800, of citm_catalog 3,700.
pub const MOST_NODES: u64 = 12_000;

/// Buffers kept between calls. What is left in them from an earlier call is never read.
#[derive(Default)]
pub struct Stacks {
    values: Vec<ErlNifTerm>,
    keys: Vec<ErlNifTerm>,
    /// The first eight bytes of each key, as a number that sorts as they do.
    heads: Vec<u64>,
    cache: KeyCache,
    atoms: AtomKeys,
    orders: Orders,
    shapes: Shapes,
    first_keys: FirstKeys,
}

/// More waiting terms than this are given back after a call.
const KEEP: usize = 1 << 15;

impl Stacks {
    #[inline(always)]
    fn start(&mut self) {
        self.values.clear();
        self.keys.clear();
        self.heads.clear();
        self.cache.start();
        self.shapes.start();
    }

    /// Gives large buffers back to the allocator.
    #[inline(always)]
    pub fn shrink(&mut self) {
        self.values.clear();
        self.keys.clear();
        self.heads.clear();
        if self.values.capacity() > KEEP || self.keys.capacity() > KEEP || self.heads.capacity() > KEEP {
            self.give_back();
        }
    }

    #[cold]
    fn give_back(&mut self) {
        self.values.shrink_to(KEEP);
        self.keys.shrink_to(KEEP);
        self.heads.shrink_to(KEEP);
    }
}

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

    /// The same within a deadline: the clock gives the nanoseconds that are left.
    pub fn within(mut self, clock: &'s dyn Fn() -> u64) -> Self {
        self.clock = Some(clock);
        self
    }

    /// The finished value.
    #[inline(always)]
    pub fn finish(self) -> Option<Term<'a>> {
        let make = self.make;
        self.finish_raw().map(|raw| make.term(raw))
    }

    /// The same, raw.
    #[inline(always)]
    pub fn finish_raw(self) -> Option<ErlNifTerm> {
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

    fn make_integer(&self, negative: bool, magnitude: &[u8]) -> Result<ErlNifTerm, ErrorKind> {
        let mut word = [0; 8];
        match word.get_mut(..magnitude.len()) {
            Some(low) => low.copy_from_slice(magnitude),
            None => return self.make_big(negative, magnitude),
        }
        match i64::try_from(u64::from_le_bytes(word)) {
            Ok(value) => Ok(self.make.integer(if negative { -value } else { value })),
            Err(_) => self.make_big(negative, magnitude),
        }
    }

    /// There is no call that makes a big integer, but external term format can hold it.
    fn make_big(&self, negative: bool, magnitude: &[u8]) -> Result<ErlNifTerm, ErrorKind> {
        let mut format = Vec::new();
        format.try_reserve_exact(magnitude.len() + 7).map_err(|_| ErrorKind::OutOfMemory)?;
        format.push(131);
        match u8::try_from(magnitude.len()) {
            Ok(len) => format.extend([110, len]),
            Err(_) => {
                format.push(111);
                format.extend((magnitude.len() as u32).to_be_bytes());
            }
        }
        format.push(u8::from(negative));
        format.extend_from_slice(magnitude);
        // The core knows the largest integer; a VM that has only smaller ones says so here.
        self.make.decode_own(&format).ok_or(ErrorKind::NumberOutOfRange)
    }

    /// Takes the members that do not count off the top of the stacks.
    #[cold]
    fn drop_members(&mut self, len: usize, dropped: Dropped<'_>) {
        drop_from_top(&mut self.stacks.keys, len, dropped);
        drop_from_top(&mut self.stacks.values, len, dropped);
        drop_from_top(&mut self.stacks.heads, len, dropped);
    }

    fn ordered_object(&mut self, len: usize) -> Result<ErlNifTerm, ErrorKind> {
        let Stacks { keys, values, .. } = &*self.stacks;
        let (keys, values) = (&keys[keys.len() - len..], &values[values.len() - len..]);
        let mut pairs = Vec::new();
        pairs.try_reserve_exact(len).map_err(|_| ErrorKind::OutOfMemory)?;
        pairs.extend(keys.iter().zip(values).map(|(&key, &value)| self.make.tuple(&[key, value])));
        let names = [atoms::__struct__().as_c_arg(), atoms::values().as_c_arg()];
        let fields = [atoms::ordered_object().as_c_arg(), self.make.list(&pairs)];
        Ok(self.make.map(&names, &fields).unwrap_or(self.nil))
    }

    /// `None`: keys repeat.
    #[inline(always)]
    fn map(&mut self, len: usize) -> Option<ErlNifTerm> {
        self.small_map(len).or_else(|| {
            let Stacks { keys, values, .. } = &*self.stacks;
            self.heap.map(&keys[keys.len() - len..], &values[values.len() - len..])
        })
    }

    /// Puts the object in the place of its members.
    #[inline(always)]
    fn finish_object(&mut self, len: usize, object: ErlNifTerm) -> Result<(), ErrorKind> {
        let Stacks { keys, values, heads, .. } = &mut *self.stacks;
        keys.truncate(keys.len() - len);
        heads.truncate(heads.len() - len);
        values.truncate(values.len() - len);
        self.push(object)
    }

    /// A map of few members, from the top of the stacks, which stay as they are. `None`: there are more, or keys repeat.
    #[inline(always)]
    fn small_map(&mut self, len: usize) -> Option<ErlNifTerm> {
        if len > SMALL_MAP {
            return None;
        }
        if len == 0 || !self.heap.has_shapes() {
            return self.ordered_map(len);
        }
        let Stacks { keys, values, shapes, .. } = &*self.stacks;
        if let Some((keys, places)) = shapes.find(&keys[keys.len() - len..])
            && let Some(map) = self.heap.like(keys, &values[values.len() - len..], places)
        {
            return Some(map);
        }
        self.first_of_shape(len)
    }

    /// The first object whose keys come like this, which the table of shapes learns.
    #[inline(never)]
    fn first_of_shape(&mut self, len: usize) -> Option<ErlNifTerm> {
        let Stacks { keys, values, heads, orders, shapes, .. } = &mut *self.stacks;
        let (keys, values) = (&keys[keys.len() - len..], &values[values.len() - len..]);
        if let Some(order) = orders.of(&heads[heads.len() - len..])
            && let Some((tuple, map)) = new_map(&mut self.heap, keys, values, order, self.wants.keys)
        {
            shapes.learn_places(keys, tuple, order.places());
            return Some(map);
        }
        let map = self.vm_map(len)?;
        if let Some((tuple, ordered, _)) = self.heap.members(Raw::of(self.make.term(map))) {
            let Stacks { keys, shapes, .. } = &mut *self.stacks;
            shapes.learn(&keys[keys.len() - len..], tuple, ordered);
        }
        Some(map)
    }

    /// A map that nothing is remembered of.
    #[inline(always)]
    fn ordered_map(&mut self, len: usize) -> Option<ErlNifTerm> {
        let Stacks { keys, values, heads, orders, .. } = &mut *self.stacks;
        let (keys, values) = (&keys[keys.len() - len..], &values[values.len() - len..]);
        let order = orders.of(&heads[heads.len() - len..]);
        match order.and_then(|order| new_map(&mut self.heap, keys, values, order, self.wants.keys)) {
            Some((_, map)) => Some(map),
            None => self.vm_map(len),
        }
    }

    /// A map made by the VM, which is given the members in about its own order.
    #[inline(never)]
    fn vm_map(&mut self, len: usize) -> Option<ErlNifTerm> {
        let Stacks { keys, values, heads, orders, .. } = &mut *self.stacks;
        let (keys, values) = (&keys[keys.len() - len..], &values[values.len() - len..]);
        let order = match orders.of(&heads[heads.len() - len..]) {
            Some(order) if !order.sorted => order.places(),
            _ => return self.heap.map(keys, values),
        };
        let mut sorted = [[self.nil; SMALL_MAP]; 2];
        let [sorted_keys, sorted_values] = &mut sorted;
        for ((&from, key), value) in order.iter().zip(&mut *sorted_keys).zip(&mut *sorted_values) {
            (*key, *value) = (keys[usize::from(from)], values[usize::from(from)]);
        }
        self.heap.map(&sorted_keys[..len], &sorted_values[..len])
    }
}

/// A map whose keys are binaries that differ in their first bytes: these say in which order the VM has them. And the tuple of its keys.
#[inline(always)]
fn new_map(
    heap: &mut Heap<'_>,
    keys: &[ErlNifTerm],
    values: &[ErlNifTerm],
    order: &Order,
    of: Keys,
) -> Option<(crate::raw::Keys, ErlNifTerm)> {
    if !order.distinct || of == Keys::ExistingAtoms {
        return None;
    }
    heap.new_map(keys, values, order.places())
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

/// Pushes, where running out of memory is an error.
#[inline(always)]
fn push<T>(stack: &mut Vec<T>, item: T) -> Result<(), ErrorKind> {
    if stack.len() == stack.capacity() {
        grow(stack)?;
    }
    stack.push(item);
    Ok(())
}

#[cold]
#[inline(never)]
fn grow<T>(stack: &mut Vec<T>) -> Result<(), ErrorKind> {
    stack.try_reserve(1).map_err(|_| ErrorKind::OutOfMemory)
}

/// Removes the entries with these numbers (ascending) from the last `len` of the stack.
fn drop_from_top<T: Copy>(stack: &mut Vec<T>, len: usize, dropped: Dropped<'_>) {
    let base = stack.len() - len;
    let mut to = base;
    let mut dropped = dropped.iter().peekable();
    for i in 0..len {
        if dropped.next_if(|&&number| number as usize == i).is_none() {
            stack[to] = stack[base + i];
            to += 1;
        }
    }
    stack.truncate(to);
}

/// An atom that exists. Elixir makes those that do not, and asks again. Names beyond ASCII go through external term format:
/// the call for UTF-8 names is missing before OTP 26.
fn existing_atom(make: Maker<'_>, name: &[u8]) -> Result<ErlNifTerm, ErrorKind> {
    if name.is_ascii() && name.len() <= 255 {
        return make.existing_ascii_atom(name).ok_or(ErrorKind::UnknownAtom);
    }
    // rustler's call refuses atoms that do not exist.
    let (term, _) = make.env().binary_to_term(&atom_format(name)?).ok_or(ErrorKind::UnknownAtom)?;
    Ok(term.as_c_arg())
}

/// The name as an atom in external term format.
fn atom_format(name: &[u8]) -> Result<Vec<u8>, ErrorKind> {
    let text = std::str::from_utf8(name).map_err(|_| ErrorKind::InvalidUtf8)?;
    if text.chars().count() > 255 {
        return Err(ErrorKind::AtomTooLong);
    }
    let mut format = vec![131, 118];
    format.extend((name.len() as u16).to_be_bytes());
    format.extend_from_slice(name);
    Ok(format)
}
