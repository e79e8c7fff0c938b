//! The terms of the process, walked in place.

mod foreseen;
mod key_sets;
mod plans;
mod values;

pub use plans::Plans;

use crate::atom_cache::AtomCache;
use crate::plan::Plan;
use crate::raw::layout::Layout;
use crate::raw::read::{Look, Raw, SmallMap, WalkMemory, Walks};
use crate::raw::trial::layout;
use crate::tags::{Kind, kind, small};
use crate::turn::SHORT;
use foreseen::{LOOKS, MORE_LOOKS};
use key_sets::KeySets;
use rustler::{Env, OwnedBinary};
use rustyjson_core::builder::SMALL_MAP;
use rustyjson_core::encode::{AtomText, Known, Member, PlanRules, Step, TermReader, Value};
use std::mem::take;
use std::time::{Duration, Instant};
use values::{Words, words};

/// How long a walk may last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum May {
    /// What is left of a time slice: others wait.
    Slice,
    /// So long.
    Take(Duration),
    /// As long as its process lives.
    Last,
}

/// A map and its size.
#[derive(Clone, Copy)]
pub struct Map<'a> {
    map: Raw<'a>,
    size: usize,
    /// Where they can be read in place.
    members: Option<SmallMap<'a>>,
}

/// Walks the terms of one call.
pub struct Terms<'a, 's> {
    look: Look<'a>,
    words: &'static Words,
    layout: Option<&'static Layout>,
    atoms: &'s mut AtomCache,
    walks: Walks<'a>,
    key_sets: KeySets<'a>,
    plans: Option<Raw<'a>>,
    /// A module and its plan, which is current, as the caller knows.
    looked_at: Option<(Raw<'a>, Raw<'a>)>,
    /// The plans used so far. Most documents have one kind of struct, for which no memory is asked for.
    used: Option<Plan<'a>>,
    more_used: Vec<Plan<'a>>,
    big: Option<OwnedBinary>,
    /// The last atom that was none of the known ones: structs of one module stand together.
    unknown: usize,
    /// The last boxed term was a float: in a list of floats the next one is too.
    floats: bool,
    /// When the clock was read first, and the work before that in bytes: a budget was used up, or much work came. Small documents are
    /// spared the look at it.
    began: Option<(Instant, usize)>,
    /// How long it may last behind the first budget.
    may: May,
    /// The term of a walk that others wait for, and the most bytes that it should write.
    expected: Option<(Raw<'a>, usize)>,
    /// Terms that the next look at it takes.
    looks: usize,
    /// Work beyond the bytes written, in bytes.
    charged: usize,
    /// As much of it as the clock was not asked about.
    ahead: usize,
}

/// Bytes that are written between two looks at the clock: at the slowest (floats, tiny elements) about 0.25 ms.
pub const BUDGET: usize = 64 * 1024;

/// The same before the first look, on a normal scheduler.
pub const FIRST_BUDGET: usize = SHORT;

/// What is left of about a millisecond after the first budget and before the last.
const REST_OF_SLICE: Duration = Duration::from_micros(700);
/// What a byte of work takes, about.
const NANOSECONDS: u64 = 4;

/// What this many bytes of work take, about.
const fn nanoseconds(bytes: usize) -> Duration {
    Duration::from_nanos(NANOSECONDS.saturating_mul(bytes as u64))
}

impl<'a, 's> Terms<'a, 's> {
    /// A reader.
    pub fn new(env: Env<'a>, atoms: &'s mut AtomCache, walks: WalkMemory, plans: Plans<'a>) -> Self {
        Self {
            look: Look::new(env),
            words: words(env),
            layout: layout(env),
            atoms,
            walks: Walks::new(env, walks),
            key_sets: KeySets::default(),
            plans: plans.map,
            looked_at: plans.looked_at,
            used: None,
            more_used: Vec::new(),
            big: None,
            unknown: 0,
            floats: false,
            began: None,
            may: May::Slice,
            expected: None,
            looks: LOOKS,
            charged: 0,
            ahead: 0,
        }
    }

    /// Sets how long it may last, if nobody waits for it.
    pub fn may(&mut self, may: May) {
        self.may = may;
    }

    /// Ends the walk over this term, where others wait for it, as soon as it is likely to write more bytes than this.
    pub fn expect(&mut self, root: Raw<'a>, most: usize) {
        self.expected = Some((root, most));
    }

    /// A short look behind the first bytes, and a long one behind many. Small documents are spared both.
    fn will_be_long(&mut self) -> bool {
        let Some((root, most)) = self.expected.filter(|_| self.looks <= MORE_LOOKS) else { return false };
        let looks = self.looks;
        let long = self.is_long(root, most, looks);
        if !long {
            self.looks = looks * (MORE_LOOKS / LOOKS);
        }
        long
    }

    /// Work that the bytes written do not show, as this many bytes.
    pub fn charged(&self) -> usize {
        self.charged
    }

    /// How long it has taken, if the clock was read.
    #[inline(always)]
    pub fn spent(&self) -> Option<Duration> {
        self.began.map(|(began, before)| began.elapsed() + nanoseconds(before))
    }

    /// Memory for the walks of the next call.
    pub fn take_memory(&mut self) -> WalkMemory {
        self.walks.take_memory()
    }
}

impl<'a> TermReader<'a> for Terms<'a, '_> {
    const SHARES: bool = true;

    type Term = Raw<'a>;
    type List = Raw<'a>;
    type Tuple = &'a [Raw<'a>];
    type Map = Map<'a>;
    type Entries = ();
    type Values = &'a [Raw<'a>];
    /// Its number, and that of the next field.
    type Plan = (usize, usize);
    /// The field, and the name under which it is written.
    type Field = (Raw<'a>, Raw<'a>);

    #[inline(always)]
    fn read(&mut self, term: Raw<'a>) -> Value<'a, Self> {
        let Some(layout) = self.layout else { return self.unknown(term) };
        match kind(term.word()) {
            Kind::Boxed => self.boxed_in_place(layout, term),
            Kind::Small => Value::Integer(small(term.word())),
            Kind::List => Value::List(term),
            Kind::Atom => self.atom_value(term.word()),
            Kind::Other => self.unknown(term),
        }
    }

    #[inline(always)]
    fn atom_text(&mut self, atom: Raw<'a>) -> AtomText<'_> {
        self.atoms.text(self.look, atom)
    }

    /// Taken out of the external format: version, tag, length, sign, digits.
    fn big_integer(&mut self, term: Raw<'a>) -> (bool, &[u8]) {
        let bytes = self.big.insert(term.term(self.look.env()).to_binary()).as_slice();
        let sign = if bytes.get(1) == Some(&110) { 3 } else { 6 };
        (bytes.get(sign) == Some(&1), bytes.get(sign + 1..).unwrap_or_default())
    }

    #[inline(always)]
    fn next_item(&mut self, list: &mut Raw<'a>) -> Step<Raw<'a>> {
        if let Some(layout) = self.layout
            && kind(list.word()) == Kind::List
        {
            let (head, tail) = layout.cell(*list);
            *list = tail;
            return Step::Item(head);
        }
        if let Some((head, tail)) = self.look.cell(*list) {
            *list = tail;
            return Step::Item(head);
        }
        if self.look.is_empty_list(*list) { Step::End } else { Step::Tail(*list) }
    }

    #[inline(always)]
    fn next_element(&mut self, tuple: &mut &'a [Raw<'a>]) -> Option<Raw<'a>> {
        let (first, rest) = tuple.split_first()?;
        *tuple = rest;
        Some(*first)
    }

    fn map_size(&mut self, map: &Map<'a>) -> usize {
        map.size
    }

    #[inline(always)]
    fn entries(&mut self, map: &Map<'a>, reverse: bool, _scattered: bool) -> Option<()> {
        let entered = match map.members {
            Some(members) => self.walks.enter_small(map.map, members),
            None => self.walks.enter(map.map, map.size, reverse && map.size > SMALL_MAP),
        };
        entered.then_some(())
    }

    #[inline(always)]
    fn next_entry(&mut self, _entries: &mut ()) -> Option<(Raw<'a>, Raw<'a>)> {
        self.walks.next_entry()
    }

    #[inline(always)]
    fn end_entries(&mut self) {
        self.walks.exit();
    }

    /// Only small maps have numbers of their keys.
    #[inline(always)]
    fn values(&mut self, map: &Map<'a>) -> &'a [Raw<'a>] {
        map.members.map_or(&[], |members| members.values)
    }

    #[inline(always)]
    fn next_value(&mut self, values: &mut &'a [Raw<'a>]) -> Option<Raw<'a>> {
        let (value, rest) = values.split_first()?;
        *values = rest;
        Some(*value)
    }

    #[inline(always)]
    fn module(&mut self, map: &Map<'a>) -> Option<Raw<'a>> {
        let module = self.value_of(map, self.known_term(Known::Struct))?;
        self.is_atom(module).then_some(module)
    }

    fn field(&mut self, map: &Map<'a>, name: Known) -> Option<Raw<'a>> {
        self.value_of(map, self.known_term(name))
    }

    fn known(&mut self, atom: Raw<'a>) -> Option<Known> {
        if !self.words.names.may_have(atom) || atom.word() == self.unknown {
            return None;
        }
        let known = self.words.names.find(atom);
        if known.is_none() {
            self.unknown = atom.word();
        }
        known
    }

    fn leave(&mut self, _map: &Map<'a>) {}

    fn pass(&mut self, _term: Raw<'a>) {}

    /// The address of their tuple.
    #[inline(always)]
    fn number_of_keys(&self, map: &Map<'a>, plan: Option<&(usize, usize)>) -> Option<u64> {
        number_of(map.members?.keys, plan)
    }

    #[inline(always)]
    fn number_of_equal_keys(&self, map: &Map<'a>, plan: Option<&(usize, usize)>) -> Option<u64> {
        number_of(self.key_sets.find(self.layout?, map.members?.keys), plan)
    }

    /// An atom's word stays as long as the VM runs.
    #[inline(always)]
    fn number_of_atom(&self, atom: Raw<'a>) -> Option<u64> {
        Some(atom.word() as u64)
    }

    #[inline(always)]
    fn number_of_field(&self, (field, _): Self::Field) -> Option<u64> {
        Some(field.word() as u64)
    }

    #[inline(always)]
    fn keys_pass(&mut self, map: &Map<'a>, passes: impl Fn(&[u8], bool) -> bool) -> bool {
        let (Some(members), Some(layout)) = (map.members, self.layout) else { return false };
        members.keys.iter().all(|key| match kind(key.word()) {
            Kind::Atom => passes(self.atoms.text(self.look, *key).bytes, true),
            Kind::Boxed => {
                let bytes = layout.binary(*key).or_else(|| self.look.binary(*key));
                bytes.is_some_and(|bytes| passes(bytes, false))
            }
            _ => false,
        })
    }

    #[inline(always)]
    fn may_omit(&mut self, map: &Map<'a>, structs: bool) -> bool {
        let (Some(members), Some(layout)) = (map.members, self.layout) else { return true };
        let nil = self.words.nil;
        members.values.iter().fold(false, |found, value| found | (value.word() == nil))
            || structs && members.values.iter().any(|value| self.may_be_struct(layout, *value))
    }

    #[inline(always)]
    fn charge(&mut self, bytes: usize) {
        self.charged = self.charged.saturating_add(bytes);
        // Where nobody waits, it may be long, and still to be done.
        if self.may != May::Slice {
            self.ahead = self.ahead.saturating_add(bytes);
        }
    }

    fn extend_budget(&mut self) -> usize {
        let rest = match self.may {
            May::Slice => REST_OF_SLICE,
            // Nobody waits for it any more.
            May::Take(_) | May::Last if !self.look.is_alive() => return 0,
            May::Take(rest) => rest,
            May::Last => return BUDGET,
        };
        let (began, _) = *self.began.get_or_insert_with(|| (Instant::now(), self.charged.max(FIRST_BUDGET)));
        let ahead = nanoseconds(take(&mut self.ahead));
        // The look ahead takes time, too.
        if !self.will_be_long() && Instant::now() + ahead < began + rest { BUDGET } else { 0 }
    }

    fn rest_of_list(&self, list: &Raw<'a>) -> Option<Raw<'a>> {
        Some(*list)
    }

    fn place_in_map(&self, walk: usize) -> Option<(Raw<'a>, usize)> {
        self.walks.place(walk)
    }

    fn list_from(&mut self, rest: Raw<'a>) -> Option<Raw<'a>> {
        Some(rest)
    }

    fn map_from(&mut self, map: Raw<'a>, written: usize, reverse: bool) -> Option<()> {
        let size = self.look.map_size(map)?;
        self.entries(&Map { map, size, members: None }, reverse, false)?;
        for _ in 0..written {
            self.walks.next_entry();
        }
        Some(())
    }

    fn plan(&mut self, module: Raw<'a>) -> Option<(usize, usize)> {
        // Documents have few kinds of structs.
        if let Some(number) = self.used_plans().position(|used| used.word() == module.word()) {
            return Some((number, 0));
        }
        // Written where it stays: a move would wait for its small parts to be stored.
        if self.used.is_none() {
            self.used = self.plan_of(module);
            return self.used.as_ref().map(|_| (0, 0));
        }
        let plan = self.plan_of(module)?;
        self.more_used.push(plan);
        Some((self.more_used.len(), 0))
    }

    #[inline(always)]
    fn next_planned(
        &mut self,
        (number, next): &mut (usize, usize),
        map: &Map<'a>,
    ) -> Option<Member<Self::Field, Raw<'a>>> {
        let plan = self.used(*number)?;
        let (field, name) = (*plan.fields.get(*next)?, *plan.names.get(*next)?);
        *next += 1;
        Some(((field, name), self.value_of(map, field)))
    }

    #[inline(always)]
    fn field_text(&mut self, (_, name): Self::Field) -> AtomText<'_> {
        self.atoms.text(self.look, name)
    }

    fn own_field_text(&mut self, (field, _): Self::Field) -> AtomText<'_> {
        self.atoms.text(self.look, field)
    }

    #[inline(always)]
    fn plan_rules(&self, (number, _): &(usize, usize)) -> PlanRules {
        self.used(*number).map_or_else(PlanRules::default, |plan| plan.rules)
    }

    fn plan_omits(&mut self, (number, _): &(usize, usize), module: Raw<'a>) -> bool {
        self.used(*number).is_some_and(|plan| plan.omitted.iter().any(|omitted| omitted.word() == module.word()))
    }

    #[inline(always)]
    fn is_nil(&mut self, term: Raw<'a>) -> bool {
        term.word() == self.words.nil
    }
}

/// No term moves while a call lasts, and an address has less than 56 bits.
#[inline(always)]
fn number_of(keys: &[Raw<'_>], plan: Option<&(usize, usize)>) -> Option<u64> {
    let plan = plan.map_or(0, |(number, _)| *number as u64 + 1);
    (plan >> 8 == 0).then_some(keys.as_ptr() as u64 & ADDRESS | plan << 56)
}

/// The bits of an address.
const ADDRESS: u64 = u64::MAX >> 8;
