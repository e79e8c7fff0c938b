//! Types, and the bytes that stand for them in a plan.

use super::u32s;

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
