//! Parts of documents, written for clarity: look-ups in a tree, and the types of a schema held to a tree. Plans are written as
//! Elixir writes them (lib/rustyjson/paths.ex and lib/rustyjson/schema/shape.ex).

use super::etf::{Term, term};
use super::parse;
use super::tree::{Builder, Tree};
use rustyjson_core::etf::check::check;
use rustyjson_core::etf::writer::Writer;
use rustyjson_core::options::{Duplicates, Keys};
use rustyjson_core::parts::{Parts, Plain, Shape, Wrong, judge, judge_only};
use rustyjson_core::{DecodeOptions, Error, ErrorKind, Scratch};
use std::collections::BTreeMap;

/// The tokens of a pointer.
pub type Path = Vec<String>;

pub const RAW: u8 = 1;
pub const TRUSTED: u8 = 2;

#[derive(Default)]
struct Node {
    answer: bool,
    below: BTreeMap<Vec<u8>, Node>,
}

/// The index that a token is.
fn index(token: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(token).ok()?;
    let plain = text == "0" || !text.starts_with(['0', '+']);
    if plain { text.parse().ok() } else { None }
}

fn u32s(out: &mut Vec<u8>, numbers: impl IntoIterator<Item = usize>) {
    for number in numbers {
        out.extend((number as u32).to_le_bytes());
    }
}

/// Writes a node that stands at `at`. The paths of answers are listed in their order.
fn write(node: &Node, at: usize, nodes: &mut usize, path: &mut Path, answers: &mut Vec<Path>) -> Vec<u8> {
    let (own, first) = (*nodes, answers.len());
    *nodes += 1;
    if node.answer {
        answers.push(path.clone());
    }
    let mut indices: Vec<_> = node.below.keys().enumerate().filter_map(|(n, name)| Some((index(name)?, n))).collect();
    indices.sort_unstable();
    let start = at + 24 + 4 * (node.below.len() + indices.len());
    let (mut blobs, mut places) = (Vec::new(), Vec::new());
    for (name, below) in &node.below {
        places.push(start + blobs.len());
        blobs.extend(index(name).unwrap_or(0).to_le_bytes());
        u32s(&mut blobs, [name.len()]);
        blobs.extend(name);
        path.push(String::from_utf8(name.clone()).expect("a token is text"));
        let below = write(below, start + blobs.len(), nodes, path, answers);
        path.pop();
        blobs.extend(below);
    }
    let mut bytes = Vec::new();
    u32s(&mut bytes, [own, if node.answer { first + 1 } else { 0 }, first, answers.len(), places.len()]);
    u32s(&mut bytes, places.iter().map(|place| place + 8));
    u32s(&mut bytes, [indices.len()]);
    u32s(&mut bytes, indices.iter().map(|(_, n)| places[*n]));
    bytes.extend(blobs);
    bytes
}

/// The plan for these pointers, and the pointers in the order of the answers.
pub fn plan(flags: u8, paths: &[Path]) -> (Vec<u8>, Vec<Path>) {
    let mut root = Node::default();
    for path in paths {
        let mut node = &mut root;
        for token in path {
            node = node.below.entry(token.clone().into_bytes()).or_default();
        }
        node.answer = true;
    }
    let (mut nodes, mut answers) = (0, Vec::new());
    let tree = write(&root, 12, &mut nodes, &mut Vec::new(), &mut answers);
    let mut bytes = vec![1, flags];
    bytes.extend((paths.len() as u16).to_le_bytes());
    u32s(&mut bytes, [answers.len(), nodes]);
    bytes.extend(tree);
    (bytes, answers)
}

/// The value at a pointer.
pub fn look_up<'t>(tree: &'t Tree, path: &[String]) -> Option<&'t Tree> {
    path.iter().try_fold(tree, |tree, token| match tree {
        Tree::Object(members) => members.iter().find(|(key, _)| key == token.as_bytes()).map(|(_, value)| value),
        Tree::Array(elements) => elements.get(usize::try_from(index(token.as_bytes())?).ok()?),
        _ => None,
    })
}

/// What the core makes of it, and whether the check of a guest's answer accepts that.
fn decoded(json: &[u8], plan: &[u8], options: &DecodeOptions) -> Result<Tree, Wrong> {
    let parts = Parts::read(plan).expect("a plan");
    let mut writer = Writer::new(json, Vec::new(), options);
    let written = parts.decode(json, options, 0, &mut Scratch::default(), &mut writer);
    let mut builder = Builder::default();
    let built = parts.decode(json, options, 0, &mut Scratch::default(), &mut builder);
    assert_eq!(written, built, "both builders are told the same");
    if built? {
        let etf = writer.finish().expect("there is memory");
        assert_eq!(check(&etf, &parts.policy(options, json.len())), Ok(()));
        if let Parts::Typed(shape) = &parts
            && plan.get(4..12) == Some(&[0, 0, 0, 0, 255, 255, 255, 255])
        {
            assert_passes(&etf, shape, json, options);
        }
    }
    assert_eq!(builder.values.len(), 1, "exactly one value is left");
    Ok(builder.values.remove(0))
}

/// The judge of a type passes an honest answer, and gives its builder every part of it.
fn assert_passes(etf: &[u8], shape: &Shape<'_>, json: &[u8], options: &DecodeOptions) {
    let policy = Shape::exact_policy(options, json.len());
    let mut again = Writer::new(etf, Vec::new(), options);
    assert_eq!(judge(etf, shape, &policy, json, u64::MAX, &mut Plain(&mut again)), Ok(()));
    assert_eq!(again.finish().as_deref(), Some(etf));
}

/// What the judge of a type passes is of the type, and a term of which the general check has nothing to say.
pub fn assert_judged(etf: &[u8], json: &[u8], of: &Type, options: &DecodeOptions) {
    let plan = shape(of, 0, u32::MAX);
    let Some(Parts::Typed(shape)) = Parts::read(&plan) else { panic!("a type") };
    let policy = Shape::exact_policy(options, json.len());
    if judge_only(etf, &shape, &policy, json).is_ok() {
        let term = term(etf).expect("what passes is a term");
        assert!(is_of(of, &term, json.len()), "{term:?} is not {of:?}");
        assert_eq!(check(etf, &shape.policy(options, json.len())), Ok(()));
    }
}

/// Whether a term is the plain answer of a value of the type.
fn is_of(of: &Type, term: &Term, json_len: usize) -> bool {
    match (of, term) {
        (Type::Nullable(_), Term::Atom(name)) if name.starts_with('n') || name == "undefined" => true,
        (Type::Nullable(inner), _) => is_of(inner, term, json_len),
        (Type::Plain(0) | Type::Loaded(_), _)
        | (Type::Plain(1 | 7..=10), Term::Binary(_))
        | (Type::Plain(2 | 4), Term::Integer(..))
        | (Type::Plain(3 | 4), Term::Float(_)) => true,
        (Type::Plain(5), Term::Atom(name)) => name == "true" || name == "false",
        (Type::Plain(6), Term::List(parts)) => match &parts[..] {
            [Term::Integer(_, sign), Term::Integer(negative, _), Term::Integer(..)] => sign == "1" && !negative,
            _ => false,
        },
        (Type::Plain(11), Term::List(place)) => match &place[..] {
            [Term::Integer(false, start), Term::Integer(false, len)] => {
                let (start, len): (usize, usize) = (start.parse().unwrap(), len.parse().unwrap());
                len > 0 && start + len <= json_len
            }
            _ => false,
        },
        (Type::Enum(names), Term::Integer(false, number)) => {
            number.parse().is_ok_and(|number: usize| number < names.len())
        }
        (Type::List(inner) | Type::Many(inner), Term::List(elements)) => {
            elements.iter().all(|element| is_of(inner, element, json_len))
        }
        (Type::Map(inner), Term::List(members)) => {
            members.chunks(2).all(|member| matches!(member, [Term::Binary(_), value] if is_of(inner, value, json_len)))
        }
        (Type::Struct(record), Term::List(fields)) => is_record(record, fields, json_len),
        (Type::Tagged(_, variants), Term::List(parts)) => match &parts[..] {
            [Term::Integer(false, number), Term::List(fields)] => {
                let number = number.parse().unwrap_or(usize::MAX);
                variants.get(number).is_some_and(|(_, record)| is_record(record, fields, json_len))
            }
            _ => false,
        },
        _ => false,
    }
}

fn is_record(record: &Record, fields: &[Term], json_len: usize) -> bool {
    let mut seen = vec![false; record.fields.len()];
    let fit = fields.chunks(2).all(|field| {
        let [Term::Integer(false, number), value] = field else { return false };
        let number = number.parse().unwrap_or(usize::MAX);
        let Some((_, _, ignored, of)) = record.fields.get(number) else { return false };
        seen[number] = true;
        !ignored && is_of(of, value, json_len)
    });
    fit && record.fields.iter().zip(seen).all(|((_, required, ..), seen)| seen || !required)
}

fn usual(options: &DecodeOptions) -> DecodeOptions {
    DecodeOptions { ordered_objects: false, keys: Keys::Strings, ..*options }
}

/// The values at pointers are those of a look-up, and the errors those of the naive parser.
pub fn assert_selects(json: &[u8], flags: u8, paths: &[Path], options: &DecodeOptions) {
    let options = usual(options);
    let (plan, answers) = plan(flags, paths);
    let found = decoded(json, &plan, &options).map_err(|wrong| wrong.error);
    let trusted = flags & TRUSTED != 0;
    let duplicates = if trusted { Duplicates::First } else { options.duplicates };
    let read = DecodeOptions { duplicates, ..options };
    match (parse(json, &read), found) {
        (Ok(tree), found) => assert_found(json, &tree, flags, &answers, &read, found.expect("the text is right")),
        (Err(_), Ok(_)) => assert!(trusted, "a fault was passed over"),
        (Err(error), Err(found)) => assert!(trusted || found == error, "{found:?} instead of {error:?}"),
    }
}

fn assert_found(json: &[u8], tree: &Tree, flags: u8, answers: &[Path], options: &DecodeOptions, found: Tree) {
    let Tree::Array(found) = found else { panic!("answers are a list") };
    let mut found = found.into_iter();
    for (number, path) in answers.iter().enumerate() {
        let Some(value) = look_up(tree, path) else { continue };
        assert_eq!(found.next(), Some(Tree::integer(false, &number.to_string())), "{path:?}");
        if flags & RAW == 0 {
            assert_eq!(found.next().as_ref(), Some(value), "{path:?}");
        } else {
            let place = [found.next(), found.next()];
            assert_eq!(text_at(json, &place.map(|part| part.expect("a place")), options).as_ref(), Some(value));
        }
    }
    assert_eq!(found.next(), None);
}

/// The value of the text at an offset, of a length.
fn text_at(json: &[u8], place: &[Tree], options: &DecodeOptions) -> Option<Tree> {
    let [Tree::Integer(false, start), Tree::Integer(false, len)] = place else { return None };
    let (start, len): (usize, usize) = (start.parse().ok()?, len.parse().ok()?);
    parse(json.get(start..start + len)?, options).ok()
}

/// A type.
#[derive(Clone, Debug)]
pub enum Type {
    /// One of the kinds without more: any, string, integer, float, number, boolean, decimal, four of dates, raw.
    Plain(u8),
    List(Box<Type>),
    /// A list; null is an empty one.
    Many(Box<Type>),
    Map(Box<Type>),
    Nullable(Box<Type>),
    Enum(Vec<String>),
    Struct(Record),
    Tagged(String, Vec<(String, Record)>),
    Loaded(u32),
}

/// The fields of a struct: key, whether it is required, whether it is passed over, and its type.
#[derive(Clone, Debug)]
pub struct Record {
    pub strict: bool,
    pub fields: Vec<(String, bool, bool, Type)>,
}

/// The shape of a type, with the errors to pass over and the number of the wrong date.
pub fn shape(of: &Type, pass: u32, date: u32) -> Vec<u8> {
    let mut bytes = vec![2, u8::from(is_tagged(of)), 0, 0];
    bytes.extend(pass.to_le_bytes());
    bytes.extend(date.to_le_bytes());
    put(of, &mut bytes);
    bytes
}

/// Whether there are tagged structs in it.
fn is_tagged(of: &Type) -> bool {
    match of {
        Type::Tagged(..) => true,
        Type::List(inner) | Type::Many(inner) | Type::Map(inner) | Type::Nullable(inner) => is_tagged(inner),
        Type::Struct(record) => record.fields.iter().any(|field| is_tagged(&field.3)),
        _ => false,
    }
}

/// Appends a node, and what is below it behind it. Places are filled in when they are known.
fn put(of: &Type, out: &mut Vec<u8>) {
    match of {
        Type::Plain(kind) => out.push(*kind),
        Type::List(inner) => put_one(12, inner, out),
        Type::Many(inner) => put_one(19, inner, out),
        Type::Map(inner) => put_one(13, inner, out),
        Type::Nullable(inner) => put_one(14, inner, out),
        Type::Loaded(kind) => {
            out.push(18);
            out.extend(kind.to_le_bytes());
        }
        Type::Enum(names) => {
            out.push(15);
            u32s(out, [0]);
            let places = list(out, names.len());
            names.iter().zip(places).for_each(|(name, place)| put_text(place, name, out));
        }
        Type::Struct(record) => put_record(record, out),
        Type::Tagged(key, variants) => {
            out.push(17);
            u32s(out, [key.len()]);
            out.extend(key.as_bytes());
            let (names, nodes) = (list(out, variants.len()), list(out, variants.len()));
            for (((name, record), at), node) in variants.iter().zip(names).zip(nodes) {
                put_text(at, name, out);
                set(node, out);
                put_record(record, out);
            }
        }
    }
}

fn put_one(kind: u8, inner: &Type, out: &mut Vec<u8>) {
    out.push(kind);
    let place = out.len() + 4;
    u32s(out, [place]);
    put(inner, out);
}

fn put_record(record: &Record, out: &mut Vec<u8>) {
    out.extend([16, u8::from(record.strict)]);
    u32s(out, [record.fields.iter().filter(|field| field.1).count(), 0]);
    let bit = |key: &[u8]| match (key.first(), key.last()) {
        (Some(first), Some(last)) => (key.len() + 5 * usize::from(*first) + 11 * usize::from(*last)) % 64,
        _ => 0,
    };
    let mask = record.fields.iter().fold(0_u64, |mask, field| mask | 1 << bit(field.0.as_bytes()));
    out.extend(mask.to_le_bytes());
    u32s(out, [record.fields.len()]);
    let entries = out.len();
    out.resize(entries + 32 * record.fields.len(), 0);
    let mut sorted: Vec<_> = (0..record.fields.len()).collect();
    sorted.sort_by_key(|number| record.fields[*number].0.as_bytes());
    u32s(out, [sorted.len()]);
    u32s(out, sorted);
    for (number, (key, required, ignored, of)) in record.fields.iter().enumerate() {
        let quoted = format!("\"{key}\":").into_bytes();
        let mut entry = Vec::new();
        // No name here has anything to escape.
        let flags = usize::from(*required) + 2 * usize::from(*ignored) + 4;
        u32s(&mut entry, [flags, out.len() + quoted.len(), out.len(), key.len()]);
        let mut words = quoted.iter().copied().take(8).collect::<Vec<_>>();
        words.resize(8, 0);
        words.extend(quoted.last_chunk::<8>().unwrap_or(&[0; 8]));
        entry.extend(words);
        out[entries + 32 * number..][..32].copy_from_slice(&entry);
        out.extend(quoted);
        put(of, out);
    }
}

/// Room for places, and where each stands.
fn list(out: &mut Vec<u8>, count: usize) -> Vec<usize> {
    u32s(out, [count]);
    let start = out.len();
    out.resize(start + 4 * count, 0);
    (0..count).map(|number| start + 4 * number).collect()
}

/// The next thing is what this place stands for.
fn set(place: usize, out: &mut [u8]) {
    let here = out.len() as u32;
    out[place..place + 4].copy_from_slice(&here.to_le_bytes());
}

fn put_text(place: usize, text: &str, out: &mut Vec<u8>) {
    set(place, out);
    u32s(out, [text.len()]);
    out.extend(text.as_bytes());
}

/// What the core has to answer.
#[derive(Debug)]
enum Want {
    This(Tree),
    List(Vec<Want>),
    /// The place of a text that means this.
    Text(Tree),
}

fn number(number: usize) -> Want {
    Want::This(Tree::integer(false, &number.to_string()))
}

/// The answer for a value that is of the type: in a tree with floats, and in one with decimals.
fn fit(of: &Type, value: &Tree, exact: &Tree, first: bool) -> Option<Want> {
    let this = || Some(Want::This(value.clone()));
    match (of, value) {
        (Type::Nullable(_), Tree::Null) => this(),
        (Type::Nullable(inner), _) => fit(inner, value, exact, first),
        (Type::Plain(0) | Type::Loaded(_), _) => this(),
        (Type::Plain(1 | 7..=10), Tree::String(_)) => this(),
        (Type::Plain(2 | 4), Tree::Integer(..)) => this(),
        (Type::Plain(3), Tree::Integer(negative, digits)) => {
            let float: f64 = format!("{}{digits}", if *negative { "-" } else { "" }).parse().ok()?;
            float.is_finite().then(|| Want::This(Tree::Float(float.to_bits())))
        }
        (Type::Plain(3 | 4), Tree::Float(_)) => this(),
        (Type::Plain(5), Tree::Boolean(_)) => this(),
        (Type::Plain(6), Tree::Integer(..) | Tree::Float(_)) => decimal(exact),
        (Type::Plain(6), Tree::String(text)) => {
            let number = text.first().is_some_and(|byte| *byte == b'-' || byte.is_ascii_digit());
            let spaces = text.last().is_some_and(u8::is_ascii_whitespace);
            let options = DecodeOptions { decimals: true, ..DecodeOptions::DEFAULT };
            if number && !spaces { decimal(&parse(text, &options).ok()?) } else { None }
        }
        (Type::Plain(11), _) => Some(Want::Text(value.clone())),
        (Type::Enum(names), Tree::String(text)) => names.iter().position(|name| name.as_bytes() == text).map(number),
        (Type::Many(_), Tree::Null) => Some(Want::List(vec![])),
        (Type::List(inner) | Type::Many(inner), Tree::Array(elements)) => {
            let Tree::Array(exact) = exact else { return None };
            elements.iter().zip(exact).map(|(a, b)| fit(inner, a, b, first)).collect::<Option<_>>().map(Want::List)
        }
        (Type::Map(inner), Tree::Object(members)) => {
            let Tree::Object(exact) = exact else { return None };
            let mut list = Vec::new();
            for ((key, value), (_, exact)) in members.iter().zip(exact) {
                list.extend([Want::This(Tree::String(key.clone())), fit(inner, value, exact, first)?]);
            }
            Some(Want::List(list))
        }
        (Type::Struct(record), _) => fit_record(record, value, exact, first),
        (Type::Tagged(key, variants), Tree::Object(members)) => {
            let mut tags = members.iter().filter(|(name, _)| name == key.as_bytes()).map(|(_, tag)| tag);
            let Tree::String(tag) = (if first { tags.next() } else { tags.next_back() })? else { return None };
            let variant = variants.iter().position(|(name, _)| name.as_bytes() == tag)?;
            Some(Want::List(vec![number(variant), fit_record(&variants[variant].1, value, exact, first)?]))
        }
        _ => None,
    }
}

fn fit_record(record: &Record, value: &Tree, exact: &Tree, first: bool) -> Option<Want> {
    let (Tree::Object(members), Tree::Object(exact)) = (value, exact) else { return None };
    let (mut list, mut seen) = (Vec::new(), vec![false; record.fields.len()]);
    for ((key, value), (_, exact)) in members.iter().zip(exact) {
        let Some(field) = record.fields.iter().position(|(name, ..)| name.as_bytes() == key) else {
            if record.strict {
                return None;
            }
            continue;
        };
        let (_, _, ignored, of) = &record.fields[field];
        if *ignored || first && seen[field] {
            continue;
        }
        seen[field] = true;
        list.extend([number(field), fit(of, value, exact, first)?]);
    }
    let missing = record.fields.iter().zip(&seen).any(|((_, required, ..), seen)| *required && !seen);
    if missing { None } else { Some(Want::List(list)) }
}

/// Sign, coefficient and exponent.
fn decimal(exact: &Tree) -> Option<Want> {
    let (negative, digits, exponent) = match exact {
        Tree::Integer(negative, digits) => (*negative, digits, 0),
        Tree::Decimal(negative, digits, exponent) => (*negative, digits, *exponent),
        _ => return None,
    };
    let parts = [
        Tree::integer(negative, "1"),
        Tree::integer(false, digits),
        Tree::integer(exponent < 0, &exponent.unsigned_abs().to_string()),
    ];
    Some(Want::This(Tree::Array(parts.to_vec())))
}

fn same(json: &[u8], want: &Want, found: &Tree, options: &DecodeOptions) -> bool {
    match (want, found) {
        (Want::This(tree), _) => tree == found,
        (Want::Text(tree), Tree::Array(place)) => text_at(json, place, options).as_ref() == Some(tree),
        (Want::List(list), Tree::Array(found)) => {
            list.len() == found.len() && list.iter().zip(found).all(|(want, found)| same(json, want, found, options))
        }
        _ => false,
    }
}

fn of_schema(kind: ErrorKind) -> bool {
    format!("{kind:?}").starts_with("Type")
        || matches!(kind, ErrorKind::Missing | ErrorKind::UnknownKey | ErrorKind::Enum)
}

/// A value of the type gives its answer; another one gives an error of the schema; a fault gives its error, or one of the schema
/// before it.
pub fn assert_typed(json: &[u8], of: &Type, options: &DecodeOptions) {
    let options = DecodeOptions {
        ordered_objects: true,
        decimals: false,
        digit_limit: DecodeOptions::DEFAULT.digit_limit,
        ..usual(options)
    };
    let found = decoded(json, &shape(of, 0, u32::MAX), &options).map_err(|wrong| wrong.error);
    let exact = parse(json, &DecodeOptions { decimals: true, ..options });
    match (parse(json, &options), exact, found) {
        (Ok(tree), Ok(exact), found) => {
            match (fit(of, &tree, &exact, options.duplicates == Duplicates::First), found) {
                (Some(want), Ok(found)) => assert!(same(json, &want, &found, &options), "{found:?}, not {want:?}"),
                (Some(want), Err(error)) => panic!("{error:?} instead of {want:?}"),
                (None, Ok(found)) => panic!("{found:?} is not of the type"),
                (None, Err(error)) => {
                    assert!(of_schema(error.kind) || error.kind == ErrorKind::NumberOutOfRange, "{error:?}");
                }
            }
        }
        (Err(error), Err(exact), found) => assert_before(found.expect_err("the text is wrong"), [error, exact]),
        // A number that only one of floats and decimals can hold.
        _ => {}
    }
}

/// The type says which of the errors it is: that of a reader of floats, or of decimals.
fn assert_before(found: Error, errors: [Error; 2]) {
    let last = errors.map(|error| error.offset).into_iter().max();
    assert!(
        errors.contains(&found) || of_schema(found.kind) && Some(found.offset) <= last,
        "{found:?}, not {errors:?}"
    );
}

/// Asked again, with errors to pass over or for all dates, it ends; and it never builds what the check refuses.
pub fn asked_again(json: &[u8], of: &Type, options: &DecodeOptions, pass: u32) {
    for date in [u32::MAX, u32::MAX - 1, pass % 4] {
        let _ = decoded(json, &shape(of, pass, date), &usual(options));
    }
}

/// The answer for this text, with some of its bytes changed, is judged.
pub fn assert_lies(json: &[u8], of: &Type, options: &DecodeOptions, lies: &[(usize, u8)]) {
    let (options, plan) = (usual(options), shape(of, 0, u32::MAX));
    let mut writer = Writer::new(json, Vec::new(), &options);
    let parts = Parts::read(&plan).expect("a type");
    if parts.decode(json, &options, 0, &mut Scratch::default(), &mut writer).is_err() {
        return;
    }
    let mut etf = writer.finish().expect("there is memory");
    for (place, byte) in lies {
        let place = place % etf.len();
        etf[place] = *byte;
    }
    assert_judged(&etf, json, of, &options);
}

/// Bytes that choose.
pub struct Choices<'a>(pub &'a [u8]);

impl Choices<'_> {
    pub fn next(&mut self) -> usize {
        let Some((byte, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*byte)
    }

    fn name(&mut self) -> String {
        NAMES[self.next() % NAMES.len()].into()
    }

    pub fn path(&mut self) -> Path {
        (0..self.next() % 4).map(|_| self.name()).collect()
    }

    pub fn types(&mut self, depth: usize) -> Type {
        let choice = self.next();
        if depth == 0 || choice < 96 {
            return Type::Plain((choice % 12) as u8);
        }
        let mut inner = || Box::new(self.types(depth - 1));
        match choice % 9 {
            0 => Type::List(inner()),
            1 => Type::Many(inner()),
            2 => Type::Map(inner()),
            3 => Type::Nullable(Box::new(not_nullable(*inner()))),
            4 => Type::Enum((0..=self.next() % 3).map(|_| self.name()).collect()),
            5 => Type::Loaded(32 + (self.next() % 3) as u32),
            6 => {
                let key = self.name();
                let variants = (0..=self.next() % 2).map(|_| (self.name(), self.record(depth - 1, Some(&key))));
                Type::Tagged(key.clone(), variants.collect())
            }
            _ => Type::Struct(self.record(depth - 1, None)),
        }
    }

    fn record(&mut self, depth: usize, tag: Option<&str>) -> Record {
        let (choice, mut fields) = (self.next(), Vec::<(String, bool, bool, Type)>::new());
        for _ in 0..choice % 5 {
            let key = self.name();
            if fields.iter().all(|field| field.0 != key) {
                fields.push((key, self.next() & 1 == 0, false, self.types(depth)));
            }
        }
        // As Elixir does for the tag, unless it is a field.
        if let Some(tag) = tag
            && fields.iter().all(|field| field.0 != tag)
        {
            fields.push((tag.into(), false, true, Type::Plain(0)));
        }
        Record { strict: choice & 32 != 0, fields }
    }
}

// The inside of a nullable type is never one.
fn not_nullable(of: Type) -> Type {
    if let Type::Nullable(inner) = of { *inner } else { of }
}

const NAMES: [&str; 13] =
    ["a", "b", "", "0", "1", "2", "01", "-", "é", "ab", "a name", "a longer name", "a name of more than sixteen bytes"];
