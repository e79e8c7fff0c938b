//! Terms on a tape, as a host writes them, and in External Term Format: both ways give the same text, the same holes, and the same errors.

use rustyjson_core::encode::{
    Ahead, AtomText, Hole, Known, Member, PlanRules, Player, Stack, Step, TermReader, Value as Look, play, write,
};
use rustyjson_core::etf::reader::{self, Entries, PlannedStruct, Reader, Term};
use rustyjson_core::options::shape::Shape;
use rustyjson_core::tape::{Memory, Sink, Tape};
use rustyjson_core::{EncodeOptions, Output, encode};
use std::collections::HashMap;

/// A term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    Atom(&'static str),
    Integer(i64),
    Big(bool, Vec<u8>),
    /// By its bits.
    Float(u64),
    Text(Vec<u8>),
    List(Vec<Value>),
    Improper(Vec<Value>, Box<Value>),
    Tuple(Vec<Value>),
    Map(Vec<(Value, Value)>),
    Pid,
}

pub use Value::*;

/// A struct.
pub fn structure(module: &'static str, fields: &[(&'static str, Value)]) -> Value {
    let fields = fields.iter().map(|(name, value)| (Atom(name), value.clone()));
    Map([(Atom("__struct__"), Atom(module))].into_iter().chain(fields).collect())
}

/// What writes External Term Format, and numbers the keys of maps.
#[derive(Default)]
struct External {
    bytes: Vec<u8>,
    known: HashMap<Vec<Value>, u64>,
    /// By the offsets of the maps: the number, the keys, and whether a value may be `nil` or a struct.
    numbers: HashMap<usize, (u64, Vec<Value>, bool)>,
}

impl External {
    fn sized(&mut self, tag: u8, len: usize) {
        self.bytes.push(tag);
        self.bytes.extend((len as u32).to_be_bytes());
    }

    fn value(&mut self, value: &Value) {
        match value {
            Atom(name) => {
                self.bytes.extend([119, name.len() as u8]);
                self.bytes.extend(name.as_bytes());
            }
            Integer(value) => {
                self.bytes.extend([110, 8, u8::from(*value < 0)]);
                self.bytes.extend(value.unsigned_abs().to_le_bytes());
            }
            Big(negative, digits) => {
                self.sized(111, digits.len());
                self.bytes.push(u8::from(*negative));
                self.bytes.extend(digits);
            }
            Float(bits) => {
                self.bytes.push(70);
                self.bytes.extend(bits.to_be_bytes());
            }
            Text(bytes) => {
                self.sized(109, bytes.len());
                self.bytes.extend(bytes);
            }
            List(items) if items.is_empty() => self.bytes.push(106),
            List(items) => self.improper(items, &List(vec![])),
            Improper(items, tail) => self.improper(items, tail),
            Tuple(items) => {
                self.bytes.extend([104, items.len() as u8]);
                items.iter().for_each(|item| self.value(item));
            }
            Map(members) => {
                let keys: Vec<_> = members.iter().map(|(key, _)| key.clone()).collect();
                let next = 2 * (1 + self.known.len() as u64);
                let number = *self.known.entry(keys.clone()).or_insert(next);
                let omits = members.iter().any(|(_, value)| matches!(value, Atom("nil") | Map(_)));
                self.numbers.insert(self.bytes.len(), (number, keys, omits));
                self.sized(116, members.len());
                for (key, value) in members {
                    self.value(key);
                    self.value(value);
                }
            }
            Pid => {
                self.bytes.push(88);
                self.value(&Atom("a@b"));
                self.bytes.extend([0; 12]);
            }
        }
    }

    fn improper(&mut self, items: &[Value], tail: &Value) {
        if items.is_empty() {
            return self.value(tail);
        }
        self.sized(108, items.len());
        items.iter().for_each(|item| self.value(item));
        self.value(tail);
    }
}

/// Reads External Term Format, and knows maps with the same keys, as the VM does.
struct Keyed<'t> {
    reader: Reader<'t>,
    numbers: &'t HashMap<usize, (u64, Vec<Value>, bool)>,
}

type Field<'t> = (&'t [u8], &'t [u8]);

impl<'t> TermReader<'t> for Keyed<'t> {
    type Term = Term;
    type List = reader::List;
    type Tuple = usize;
    type Map = reader::Map;
    type Entries = Entries;
    type Values = Entries;
    type Plan = (&'t PlannedStruct<'t>, usize);
    type Field = Field<'t>;

    fn read(&mut self, term: Term) -> Look<'t, Self> {
        match self.reader.read(term) {
            Look::Nil => Look::Nil,
            Look::True => Look::True,
            Look::False => Look::False,
            Look::Atom => Look::Atom,
            Look::Integer(value) => Look::Integer(value),
            Look::Big => Look::Big,
            Look::Float(value) => Look::Float(value),
            Look::Binary(bytes) => Look::Binary(bytes),
            Look::List(list) => Look::List(list),
            Look::Tuple(tuple) => Look::Tuple(tuple),
            Look::Map(map) => Look::Map(map),
            Look::Other => Look::Other,
            Look::Broken => Look::Broken,
        }
    }

    fn atom_text(&mut self, atom: Term) -> AtomText<'_> {
        self.reader.atom_text(atom)
    }

    fn big_integer(&mut self, term: Term) -> (bool, &[u8]) {
        self.reader.big_integer(term)
    }

    fn next_item(&mut self, list: &mut reader::List) -> Step<Term> {
        self.reader.next_item(list)
    }

    fn look_along(&mut self, list: Term, rest: &mut reader::List, elements: usize) -> Ahead {
        self.reader.look_along(list, rest, elements)
    }

    fn next_element(&mut self, tuple: &mut usize) -> Option<Term> {
        self.reader.next_element(tuple)
    }

    fn map_size(&mut self, map: &reader::Map) -> usize {
        self.reader.map_size(map)
    }

    fn entries(&mut self, map: &reader::Map, reverse: bool, scattered: bool) -> Option<Entries> {
        self.reader.entries(map, reverse, scattered)
    }

    fn next_entry(&mut self, entries: &mut Entries) -> Option<(Term, Term)> {
        self.reader.next_entry(entries)
    }

    fn end_entries(&mut self) {
        self.reader.end_entries();
    }

    fn values(&mut self, map: &reader::Map) -> Entries {
        self.reader.values(map)
    }

    fn next_value(&mut self, values: &mut Entries) -> Option<Term> {
        self.reader.next_value(values)
    }

    fn module(&mut self, map: &reader::Map) -> Option<Term> {
        self.reader.module(map)
    }

    fn field(&mut self, map: &reader::Map, name: Known) -> Option<Term> {
        self.reader.field(map, name)
    }

    fn known(&mut self, atom: Term) -> Option<Known> {
        self.reader.known(atom)
    }

    fn leave(&mut self, map: &reader::Map) {
        self.reader.leave(map);
    }

    fn pass(&mut self, term: Term) {
        self.reader.pass(term);
    }

    /// Small maps have one in the VM, some of them one each.
    fn number_of_keys(&self, map: &reader::Map, plan: Option<&Self::Plan>) -> Option<u64> {
        let number = self.number_of_equal_keys(map, plan)?;
        let own = map.offset() % 2 == 1;
        Some(if own { number | 1 << 48 | (map.offset() as u64) << 20 } else { number })
    }

    fn number_of_equal_keys(&self, map: &reader::Map, plan: Option<&Self::Plan>) -> Option<u64> {
        let (number, keys, _) = self.numbers.get(&map.offset())?;
        // Structs of two modules may have the same keys and other names for them.
        let plan = plan
            .map_or(0, |(plan, _)| 1 + plans().iter().position(|other| other.module == plan.module).expect("a plan"));
        (keys.len() <= 32).then_some(number | (plan as u64) << 56)
    }

    fn keys_pass(&mut self, map: &reader::Map, passes: impl Fn(&[u8], bool) -> bool) -> bool {
        self.numbers.get(&map.offset()).is_some_and(|(_, keys, _)| {
            keys.iter().all(|key| match key {
                Atom(name) => passes(name.as_bytes(), true),
                Text(bytes) => passes(bytes, false),
                _ => false,
            })
        })
    }

    fn may_omit(&mut self, map: &reader::Map, _structs: bool) -> bool {
        self.numbers.get(&map.offset()).is_none_or(|(_, _, omits)| *omits)
    }

    fn plan(&mut self, module: Term) -> Option<Self::Plan> {
        self.reader.plan(module)
    }

    fn next_planned(&mut self, plan: &mut Self::Plan, map: &reader::Map) -> Option<Member<Field<'t>, Term>> {
        self.reader.next_planned(plan, map)
    }

    fn field_text(&mut self, field: Field<'t>) -> AtomText<'_> {
        self.reader.field_text(field)
    }

    fn own_field_text(&mut self, field: Field<'t>) -> AtomText<'_> {
        self.reader.own_field_text(field)
    }

    fn plan_rules(&self, plan: &Self::Plan) -> PlanRules {
        self.reader.plan_rules(plan)
    }

    fn plan_omits(&mut self, plan: &Self::Plan, module: Term) -> bool {
        self.reader.plan_omits(plan, module)
    }
}

/// The memory of a module.
#[derive(Default)]
pub struct Paper(pub Vec<u8>);

impl Sink for &mut Paper {
    fn take(&mut self, at: usize, bytes: &[u8]) -> bool {
        self.0.truncate(at);
        assert_eq!(self.0.len(), at, "no gap");
        self.0.extend(bytes);
        true
    }
}

/// An error: its kind, path and payload.
pub type Failed = (u8, String, Vec<u8>);
/// What encoding gives: a text with its holes, or an error.
pub type Encoded = Result<(Vec<u8>, Vec<Hole<usize>>), Failed>;

fn holes(holes: &[Hole<Term>], offset: impl Fn(usize) -> usize) -> Vec<Hole<usize>> {
    let hole = |(number, hole): (usize, &Hole<Term>)| Hole {
        offset: offset(number),
        depth: hole.depth,
        term: hole.term.offset(),
        key: hole.key,
    };
    holes.iter().enumerate().map(hole).collect()
}

/// The text of a tape.
pub fn played(tape: &[u8], options: &EncodeOptions<'_>) -> Result<(Vec<u8>, Vec<usize>), Failed> {
    let (mut out, mut player) = (Output::new(Vec::new()), Player::default());
    out.array(*b"?");
    match play(tape, options, &mut player, &mut out) {
        Ok(()) => Ok((out.written()[1..].to_vec(), player.holes().iter().map(|at| at - 1).collect())),
        Err(error) => Err((error.kind as u8, error.path, error.payload)),
    }
}

/// Plans of structs: one as it stands, one with names, and one that leaves out values.
pub fn plans() -> Vec<PlannedStruct<'static>> {
    let plan = |module, fields, names, omitted| PlannedStruct { module, fields, names, omitted };
    vec![
        plan(&b"Elixir.Row"[..], vec![&b"id"[..], b"name"], None, None),
        plan(b"Elixir.Named", vec![b"id", b"name"], Some(vec![b"I\"D", b"the_name"]), None),
        plan(b"Elixir.Sparse", vec![b"name", b"id"], None, Some(vec![b"nil", b"Elixir.Date"])),
    ]
}

/// A term, and its tape.
pub struct Taped {
    etf: Vec<u8>,
    numbers: HashMap<usize, (u64, Vec<Value>, bool)>,
}

impl Taped {
    pub fn new(value: &Value) -> Self {
        let mut external = External { bytes: vec![131], ..External::default() };
        external.value(value);
        Self { etf: external.bytes, numbers: external.numbers }
    }

    /// The tape, and the holes of the walk.
    pub fn tape(&self, options: &EncodeOptions<'_>) -> (Vec<u8>, Vec<Hole<Term>>) {
        let plans = plans();
        let reader = Reader::new(&self.etf, &plans);
        let root = reader.root().expect("a term");
        let (mut keyed, mut paper) = (Keyed { reader, numbers: &self.numbers }, Paper::default());
        let mut memory = Memory::default();
        let mut tape = Tape::new(&mut memory, &mut paper, usize::MAX);
        let holes = write(&mut keyed, root, options, &mut tape, &mut Stack::new()).unwrap_or_default();
        assert!(tape.end());
        let len = tape.size();
        paper.0.truncate(len);
        (paper.0, holes)
    }

    /// By way of the tape.
    pub fn played(&self, options: &EncodeOptions<'_>) -> Encoded {
        let (tape, walked) = self.tape(options);
        let (text, offsets) = played(&tape, options)?;
        assert_eq!(offsets.len(), walked.len());
        Ok((text, holes(&walked, |number| offsets[number])))
    }

    /// Straight on.
    pub fn encoded(&self, options: &EncodeOptions<'_>) -> Encoded {
        let plans = plans();
        let reader = Reader::new(&self.etf, &plans);
        let root = reader.root().expect("a term");
        let (mut keyed, mut out) = (Keyed { reader, numbers: &self.numbers }, Output::new(Vec::new()));
        match encode(&mut keyed, root, options, &mut out) {
            Ok(found) => Ok((out.written().to_vec(), holes(&found, |number| found[number].offset))),
            Err(error) => Err((error.kind as u8, error.path, error.payload)),
        }
    }
}

const TABLE: &str = include_str!("../../src/options/encode.txt");

/// What becomes of members: the flags; names, modules, keys and words; pointers; and the text for redacted values.
fn shape(flags: u8, [names, omitted, keys, words]: [&[&str]; 4], pointers: &[&[&str]]) -> Vec<u8> {
    let text = |text: &str| [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    let texts = |texts: &[&str]| {
        let all: Vec<u8> = texts.iter().flat_map(|one| text(one)).collect();
        [&(texts.len() as u32).to_le_bytes()[..], &all].concat()
    };
    let lists: Vec<u8> = pointers.iter().flat_map(|pointer| texts(pointer)).collect();
    let count = (pointers.len() as u32).to_le_bytes();
    let bytes =
        [&[flags][..], &texts(names), &texts(omitted), &texts(keys), &texts(words), &count, &lists, &text("\"***")]
            .concat();
    let read = Shape::read(&bytes).expect("a shape");
    assert_eq!((read.words.len(), read.pointers.len()), (words.len(), pointers.len()));
    bytes
}

/// Options by the table of them, as Elixir combines them: each byte chooses for the next field, 0 for its default. A choice that somebody adds to the table is among
/// those here.
pub fn options(choices: &[u8]) -> Vec<u8> {
    let mut choices = choices.iter().map(|choice| usize::from(*choice)).chain(std::iter::repeat(0));
    let shapes = [
        Vec::new(),
        shape(1, [&[], &[], &[], &[]], &[]),
        shape(2, [&["id", "key"], &["Elixir.Date"], &["key", "name"], &["x"]], &[]),
        shape(0, [&[]; 4], &[&["0", "name"], &["*", "b"], &["a", "*"]]),
        // New names, those of the plans among them.
        shape(1, [&[], &[], &["aB", "the_name"], &["D"]], &[]),
        shape(1, [&["id", "a_b"], &[], &[], &[]], &[&["*", "aB"], &["the_name"], &["0", "I\"D"], &["a_b", "b"]]),
    ];
    let (mut fields, mut texts, mut pretty) = (Vec::new(), Vec::new(), false);
    for line in TABLE.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let mut words = line.split_whitespace();
        let (name, width, count) = (words.next().expect("a name"), words.next().expect("a width"), words.count());
        let mut number = |numbers: &[u64]| numbers[choices.next().unwrap_or_default() % numbers.len()];
        match (name, width) {
            ("compress", _) => fields.push(255),
            ("max_depth", _) => fields.extend((number(&[128, 6, 4, 2]) as u32).to_le_bytes()),
            ("base_depth", _) => fields.extend((number(&[0, 2]) as u32).to_le_bytes()),
            ("max_bytes", _) => fields.extend(number(&[0, 10, 40, 100, 1000]).to_le_bytes()),
            // Records have no layout.
            ("records", _) if pretty => fields.push(0),
            ("pretty", _) => {
                pretty = number(&[0, 1]) == 1;
                fields.push(u8::from(pretty));
            }
            (_, "1") => fields.push((choices.next().unwrap_or_default() % count) as u8),
            (_, "text") => {
                let text = match name {
                    "shape" => shapes[choices.next().unwrap_or_default() % shapes.len()].clone(),
                    "indent" => b"  ".to_vec(),
                    "after_colon" => b" ".to_vec(),
                    "line_separator" | "record_separator" => b"\n".to_vec(),
                    _ => panic!("what does {name} hold?"),
                };
                fields.extend((text.len() as u32).to_le_bytes());
                texts.extend(text);
            }
            _ => panic!("what does {name} hold?"),
        }
    }
    fields.extend(texts);
    fields
}

/// Both ways agree.
pub fn assert_played(value: &Value, bytes: &[u8]) {
    let (options, _) = EncodeOptions::from_bytes(bytes).expect("options");
    let taped = Taped::new(value);
    let (played, encoded) = (taped.played(&options), taped.encoded(&options));
    assert_eq!(played, encoded, "{value:?} with {options:?}");
}
