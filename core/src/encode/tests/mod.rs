//! Terms are written as ETF by hand here and encoded through the ETF reader.

mod floats;
mod kernels;
mod objects;
mod records;
mod structs;
mod values;

use super::{EncodeError, Hole, encode};
use crate::etf::reader::{PlannedStruct, Reader, Term};
use crate::options::Escape;
use crate::{EncodeOptions, Output};

/// A term to be written as ETF.
#[derive(Clone, Debug)]
pub enum T {
    Atom(&'static str),
    Int(i64),
    Big(bool, Vec<u8>),
    Float(f64),
    Bin(Vec<u8>),
    List(Vec<T>),
    Bytes(&'static [u8]),
    Improper(Vec<T>, Box<T>),
    Tuple(Vec<T>),
    Map(Vec<(T, T)>),
    Pid,
}
pub use T::*;

pub fn bin(text: &str) -> T {
    Bin(text.as_bytes().to_vec())
}

/// A map with atom keys, in the order given, which `term_to_binary` would not always have.
pub fn fields(fields: &[(&'static str, T)]) -> T {
    Map(fields.iter().map(|(name, value)| (Atom(name), value.clone())).collect())
}

/// A struct.
pub fn structure(module: &'static str, with: &[(&'static str, T)]) -> T {
    let mut all = vec![("__struct__", Atom(module))];
    all.extend_from_slice(with);
    fields(&all)
}

impl T {
    fn write(&self, out: &mut Vec<u8>) {
        let count = |out: &mut Vec<u8>, tag: u8, n: usize| {
            out.push(tag);
            out.extend((n as u32).to_be_bytes());
        };
        match self {
            Atom(text) => {
                out.extend([119, text.len() as u8]);
                out.extend(text.as_bytes());
            }
            Int(value) if (0..256).contains(value) => out.extend([97, *value as u8]),
            Int(value) if i32::try_from(*value).is_ok() => {
                out.push(98);
                out.extend((*value as i32).to_be_bytes());
            }
            Int(value) => {
                out.extend([110, 8, u8::from(*value < 0)]);
                out.extend(value.unsigned_abs().to_le_bytes());
            }
            Big(negative, digits) => {
                count(out, 111, digits.len());
                out.push(u8::from(*negative));
                out.extend(digits);
            }
            Float(value) => {
                out.push(70);
                out.extend(value.to_be_bytes());
            }
            Bin(bytes) => {
                count(out, 109, bytes.len());
                out.extend(bytes);
            }
            List(items) if items.is_empty() => out.push(106),
            List(items) => {
                count(out, 108, items.len());
                items.iter().for_each(|item| item.write(out));
                out.push(106);
            }
            Bytes(bytes) => {
                out.push(107);
                out.extend((bytes.len() as u16).to_be_bytes());
                out.extend(*bytes);
            }
            Improper(items, tail) => {
                count(out, 108, items.len());
                items.iter().for_each(|item| item.write(out));
                tail.write(out);
            }
            Tuple(items) => {
                out.extend([104, items.len() as u8]);
                items.iter().for_each(|item| item.write(out));
            }
            Map(entries) => {
                count(out, 116, entries.len());
                for (key, value) in entries {
                    key.write(out);
                    value.write(out);
                }
            }
            Pid => {
                out.push(88);
                Atom("a@b").write(out);
                out.extend([0; 12]);
            }
        }
    }

    pub fn etf(&self) -> Vec<u8> {
        let mut out = vec![131];
        self.write(&mut out);
        out
    }
}

pub type Encoded = Result<(String, Vec<Hole<Term>>), EncodeError>;

pub fn encode_etf(etf: &[u8], options: &EncodeOptions<'_>, plans: &[PlannedStruct<'_>]) -> Encoded {
    let mut reader = Reader::new(etf, plans);
    let root = reader.root().expect("a version byte");
    let mut out = Output::new(Vec::new());
    let holes = encode(&mut reader, root, options, &mut out)?;
    Ok((String::from_utf8(out.written().to_vec()).expect("UTF-8"), holes))
}

pub fn encode_with(term: &T, options: &EncodeOptions<'_>) -> Encoded {
    encode_etf(&term.etf(), options, &[])
}

pub const PLAIN: EncodeOptions<'_> = EncodeOptions::DEFAULT;
pub const STRICT: EncodeOptions<'_> = EncodeOptions { strict_maps: true, ..PLAIN };
pub const SORT: EncodeOptions<'_> = EncodeOptions { sort_keys: true, ..PLAIN };
pub const HTML_SAFE: EncodeOptions<'_> = EncodeOptions { escape: Escape::HtmlSafe, ..PLAIN };

/// The text of a term that the core knows wholly, with these options.
pub fn json_with(options: EncodeOptions<'_>, term: &T) -> String {
    let (text, holes) = encode_with(term, &options).expect("encodes");
    assert_eq!(holes, []);
    text
}

pub fn json(term: &T) -> String {
    json_with(PLAIN, term)
}

pub fn error(term: &T) -> EncodeError {
    encode_with(term, &EncodeOptions::default()).expect_err("an error")
}
