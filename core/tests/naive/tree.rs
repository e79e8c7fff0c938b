//! JSON values as plain data, and the builder that makes them from what the core's driver says.

use num_bigint::BigUint;
use rustyjson_core::builder::{Dropped, Key, Rewind, TermBuilder, Text};
use rustyjson_core::{DecodeOptions, Error, ErrorKind, Scratch, decode};

/// A JSON value. Integers and coefficients are their decimal digits, floats their bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    Null,
    Boolean(bool),
    Integer(bool, String),
    Float(u64),
    Decimal(bool, String, i64),
    String(Vec<u8>),
    Array(Vec<Tree>),
    Object(Vec<(Vec<u8>, Tree)>),
}

/// The parts of a number's text.
pub struct Number<'a> {
    pub negative: bool,
    pub integer: String,
    pub fraction: Option<String>,
    pub exponent: Option<i128>,
    pub text: &'a str,
}

/// Digits without leading zeros.
pub fn plain(digits: &str) -> String {
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() { "0".into() } else { digits.into() }
}

impl Tree {
    /// An integer; zero has no sign.
    pub fn integer(negative: bool, digits: &str) -> Self {
        let digits = plain(digits);
        Self::Integer(negative && digits != "0", digits)
    }
}

/// What the core's decoder makes of the text.
pub fn decoded(json: &[u8], options: &DecodeOptions) -> Result<Tree, Error> {
    let mut builder = Builder::default();
    decode(json, options, &mut Scratch::default(), &mut builder)?;
    assert!(builder.open.is_empty() && builder.keys.is_empty(), "every container was closed");
    assert_eq!(builder.values.len(), 1, "exactly one value is left");
    Ok(builder.values.remove(0))
}

/// Collects what the driver says.
#[derive(Default)]
pub struct Builder {
    pub values: Vec<Tree>,
    keys: Vec<Vec<u8>>,
    /// For each open container: whether it is an object, and how many values there were before it.
    open: Vec<(bool, usize)>,
}

impl Builder {
    fn close(&mut self, object: bool, len: usize) -> Vec<Tree> {
        let (kind, base) = self.open.pop().expect("a container is open");
        assert_eq!(kind, object);
        assert_eq!(self.values.len() - base, len, "the driver counted what it added");
        self.values.split_off(base)
    }
}

impl TermBuilder for Builder {
    fn null(&mut self) -> Result<(), ErrorKind> {
        self.values.push(Tree::Null);
        Ok(())
    }

    fn boolean(&mut self, value: bool) -> Result<(), ErrorKind> {
        self.values.push(Tree::Boolean(value));
        Ok(())
    }

    fn integer(&mut self, value: i64) -> Result<(), ErrorKind> {
        self.values.push(Tree::integer(value < 0, &value.unsigned_abs().to_string()));
        Ok(())
    }

    fn big_integer(&mut self, negative: bool, magnitude: &[u8]) -> Result<(), ErrorKind> {
        assert_ne!(magnitude.last(), Some(&0), "no zero byte at the top");
        let digits = BigUint::from_bytes_le(magnitude).to_string();
        let small =
            if negative { digits <= "9223372036854775808".into() } else { digits <= "9223372036854775807".into() };
        assert!(digits.len() > 19 || digits.len() == 19 && !small, "{digits} fits in 64 bits");
        self.values.push(Tree::integer(negative, &digits));
        Ok(())
    }

    fn float(&mut self, value: f64) -> Result<(), ErrorKind> {
        assert!(value.is_finite());
        self.values.push(Tree::Float(value.to_bits()));
        Ok(())
    }

    fn decimal(&mut self, negative: bool, coefficient: &[u8], exponent: i64) -> Result<(), ErrorKind> {
        assert_ne!(coefficient.last(), Some(&0), "no zero byte at the top");
        let digits = BigUint::from_bytes_le(coefficient).to_string();
        self.values.push(Tree::Decimal(negative, digits, exponent));
        Ok(())
    }

    fn string(&mut self, text: Text<'_>) -> Result<(), ErrorKind> {
        self.values.push(Tree::String(text.bytes().to_vec()));
        Ok(())
    }

    fn key(&mut self, key: Key<'_>) -> Result<(), ErrorKind> {
        assert!(matches!(self.open.last(), Some((true, _))), "keys stand in objects");
        self.keys.push(key.text.bytes().to_vec());
        Ok(())
    }

    fn begin_array(&mut self) {
        self.open.push((false, self.values.len()));
    }

    fn end_array(&mut self, len: usize) -> Result<(), ErrorKind> {
        let elements = self.close(false, len);
        self.values.push(Tree::Array(elements));
        Ok(())
    }

    fn begin_object(&mut self) {
        self.open.push((true, self.values.len()));
    }

    fn end_object(&mut self, len: usize, dropped: Dropped<'_>) -> Result<(), ErrorKind> {
        assert!(dropped.windows(2).all(|pair| pair[0] < pair[1]), "ascending");
        let values = self.close(true, len);
        let keys = self.keys.split_off(self.keys.len() - len);
        let members = keys.into_iter().zip(values).enumerate();
        let kept = members.filter(|(i, _)| !dropped.contains(&(*i as u32))).map(|(_, member)| member);
        self.values.push(Tree::Object(kept.collect()));
        Ok(())
    }
}

impl Rewind for Builder {
    type Mark = (usize, usize, usize);

    fn mark(&self) -> Self::Mark {
        (self.values.len(), self.keys.len(), self.open.len())
    }

    fn rewind(&mut self, (values, keys, open): Self::Mark) {
        self.values.truncate(values);
        self.keys.truncate(keys);
        self.open.truncate(open);
    }
}
