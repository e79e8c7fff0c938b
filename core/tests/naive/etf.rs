//! External Term Format read for clarity: the judge of the core's writer, reader and check.
#![allow(dead_code)]

use super::tree::{Tree, plain};
use num_bigint::BigUint;
use rustyjson_core::etf::check::{Open, Policy, build, can_build};
use rustyjson_core::etf::{reader::Reader, writer::Writer};
use rustyjson_core::options::Keys;
use rustyjson_core::{DecodeOptions, EncodeOptions, Output, encode};

/// The terms that can be JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    Integer(bool, String),
    Float(u64),
    Atom(String),
    Binary(Vec<u8>),
    List(Vec<Term>),
    Tuple(Vec<Term>),
    Map(Vec<(Term, Term)>),
}

/// The term that these bytes are from first to last; `None` for anything else.
pub fn term(etf: &[u8]) -> Option<Term> {
    let mut rest = etf.strip_prefix(&[131])?;
    let term = read(&mut rest)?;
    rest.is_empty().then_some(term)
}

/// The term of what a builder is given of these bytes when they pass the policy. `None`: it cannot build everything that passes.
pub fn rebuilt(etf: &[u8], policy: &Policy, options: &DecodeOptions) -> Option<Term> {
    if !can_build(policy) {
        return None;
    }
    let mut writer = Writer::new(etf, Vec::new(), options);
    writer.keep_repeats();
    build(etf, policy, &mut Open::default(), &mut writer).expect("it passes");
    Some(term(&writer.finish().expect("there is memory")).expect("a writer writes a term"))
}

fn take<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(len)?;
    *rest = left;
    Some(taken)
}

/// A big-endian number of this many bytes.
fn number(rest: &mut &[u8], len: usize) -> Option<usize> {
    Some(take(rest, len)?.iter().fold(0, |number, &byte| number << 8 | usize::from(byte)))
}

fn read(rest: &mut &[u8]) -> Option<Term> {
    let tag = number(rest, 1)?;
    Some(match tag {
        97 => Term::Integer(false, number(rest, 1)?.to_string()),
        98 => {
            let value = number(rest, 4)? as u32 as i32;
            Term::Integer(value < 0, value.unsigned_abs().to_string())
        }
        110 | 111 => {
            let len = number(rest, if tag == 110 { 1 } else { 4 })?;
            let negative = number(rest, 1)? == 1;
            Term::Integer(negative, BigUint::from_bytes_le(take(rest, len)?).to_string())
        }
        70 => Term::Float(u64::from_be_bytes(take(rest, 8)?.try_into().ok()?)),
        118 | 119 => {
            let len = number(rest, if tag == 119 { 1 } else { 2 })?;
            Term::Atom(String::from_utf8(take(rest, len)?.to_vec()).ok()?)
        }
        109 => {
            let len = number(rest, 4)?;
            Term::Binary(take(rest, len)?.to_vec())
        }
        106 => Term::List(Vec::new()),
        108 => {
            let len = number(rest, 4)?;
            let elements = many(rest, len)?;
            if number(rest, 1)? != 106 {
                return None;
            }
            Term::List(elements)
        }
        104 => {
            let len = number(rest, 1)?;
            Term::Tuple(many(rest, len)?)
        }
        116 => {
            let len = number(rest, 4)?;
            let parts = many(rest, len.checked_mul(2)?)?;
            Term::Map(parts.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect())
        }
        _ => return None,
    })
}

fn many(rest: &mut &[u8], len: usize) -> Option<Vec<Term>> {
    // No term is shorter than a byte.
    if len > rest.len() {
        return None;
    }
    (0..len).map(|_| read(rest)).collect()
}

impl Term {
    /// The value that this term stands for under these options; `None` when no decoding gives it.
    pub fn tree(self, options: &DecodeOptions) -> Option<Tree> {
        Some(match self {
            Term::Integer(negative, digits) => Tree::integer(negative, &digits),
            Term::Float(bits) => Tree::Float(bits),
            Term::Binary(bytes) => Tree::String(bytes),
            Term::Atom(name) => match name.as_str() {
                "nil" => Tree::Null,
                "true" => Tree::Boolean(true),
                "false" => Tree::Boolean(false),
                _ => return None,
            },
            Term::List(elements) => Tree::Array(elements.into_iter().map(|e| e.tree(options)).collect::<Option<_>>()?),
            Term::Tuple(_) => return None,
            Term::Map(members) => return object(members, options),
        })
    }

    /// How many lists and maps stand in one another, structs counted as what they stand for.
    pub fn depth(&self, ordered: bool) -> usize {
        let deepest = |terms: &mut dyn Iterator<Item = &Term>| terms.map(|t| t.depth(ordered)).max().unwrap_or(0);
        match self {
            Term::List(elements) => 1 + deepest(&mut elements.iter()),
            Term::Tuple(elements) => deepest(&mut elements.iter()),
            Term::Map(members) if is(members, "Elixir.Decimal") => 0,
            // The list of members inside the struct is not a container of its own.
            Term::Map(members) if ordered => deepest(&mut members.iter().map(|(_, value)| value)),
            Term::Map(members) => 1 + deepest(&mut members.iter().map(|(_, value)| value)),
            _ => 0,
        }
    }
}

fn atom(name: &str) -> Term {
    Term::Atom(name.into())
}

fn field<'a>(members: &'a [(Term, Term)], name: &str) -> Option<&'a Term> {
    members.iter().find(|(key, _)| *key == atom(name)).map(|(_, value)| value)
}

fn is(members: &[(Term, Term)], module: &str) -> bool {
    field(members, "__struct__") == Some(&atom(module))
}

fn object(members: Vec<(Term, Term)>, options: &DecodeOptions) -> Option<Tree> {
    if options.decimals && is(&members, "Elixir.Decimal") {
        let (Term::Integer(negative, one), Term::Integer(minus, coefficient), Term::Integer(below, exponent)) =
            (field(&members, "sign")?, field(&members, "coef")?, field(&members, "exp")?)
        else {
            return None;
        };
        // A guest may lie about the numbers; they are integers all the same.
        let exponent = exponent.parse().unwrap_or(i64::MAX);
        let exponent = if *below { -exponent } else { exponent };
        let coefficient = if *minus { format!("-{coefficient}") } else { plain(coefficient) };
        return (one == "1").then_some(Tree::Decimal(*negative, coefficient, exponent));
    }
    if !options.ordered_objects {
        return members.into_iter().map(|pair| member(pair, options)).collect::<Option<_>>().map(Tree::Object);
    }
    if !is(&members, "Elixir.RustyJson.OrderedObject") {
        return None;
    }
    let Some(Term::List(pairs)) = field(&members, "values") else { return None };
    let pairs = pairs.iter().map(|pair| match pair {
        Term::Tuple(parts) if parts.len() == 2 => member((parts[0].clone(), parts[1].clone()), options),
        _ => None,
    });
    pairs.collect::<Option<_>>().map(Tree::Object)
}

fn member((key, value): (Term, Term), options: &DecodeOptions) -> Option<(Vec<u8>, Tree)> {
    let key = match (key, options.keys) {
        (Term::Atom(name), Keys::ExistingAtoms) => name.into_bytes(),
        (Term::Binary(bytes), Keys::Strings | Keys::Copy) => bytes,
        _ => return None,
    };
    Some((key, value.tree(options)?))
}

/// What the core decodes the text to, as External Term Format.
pub fn written(json: &[u8], options: &DecodeOptions) -> Result<Vec<u8>, rustyjson_core::Error> {
    let mut writer = Writer::new(json, Vec::new(), options);
    rustyjson_core::decode(json, options, &mut rustyjson_core::Scratch::default(), &mut writer)?;
    Ok(writer.finish().expect("there is memory"))
}

/// What the core encodes the term to, when it knows all of it.
pub fn encoded(etf: &[u8], options: &EncodeOptions<'_>) -> Option<Vec<u8>> {
    let mut reader = Reader::new(etf, &[]);
    let root = reader.root()?;
    let mut out = Output::new(Vec::new());
    let holes = encode(&mut reader, root, options, &mut out).ok()?;
    let (mut bytes, len) = out.into_parts();
    bytes.truncate(len);
    holes.is_empty().then_some(bytes)
}
