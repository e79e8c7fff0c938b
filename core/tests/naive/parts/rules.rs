//! Constraints of types, written for clarity.

use crate::naive::etf::Term;
use crate::naive::tree::Tree;
use num_bigint::BigInt;
use rustyjson_core::ErrorKind;
use rustyjson_core::parts::{Moment, Reading};
use std::cmp::Ordering;

/// What is asked of a value.
#[derive(Clone, Debug)]
pub struct Rules {
    pub least: Option<i32>,
    pub most: Option<i32>,
    pub shortest: u32,
    pub longest: u32,
    /// What a text has to match.
    pub pattern: Option<Automaton>,
    /// A kind of date, or 0.
    pub format: u8,
}

/// The class of a byte is the rest of its division, or the last one. A row says whether a text may end in its state, and which state comes
/// next for each class. The first two are those that never match and always.
#[derive(Clone, Debug)]
pub struct Automaton {
    pub modulus: u8,
    pub first: u16,
    pub rows: Vec<Vec<u16>>,
}

impl Automaton {
    fn class(&self, byte: u8) -> usize {
        usize::from(byte % self.modulus).min(self.rows[0].len() - 2)
    }

    fn bytes(&self) -> Vec<u8> {
        let mut table: Vec<_> = (0..=255).map(|byte| self.class(byte) as u8).collect();
        for word in [self.rows[0].len() as u16 - 1, self.first].iter().chain(self.rows.iter().flatten()) {
            table.extend(word.to_le_bytes());
        }
        table
    }

    fn accepts(&self, text: &[u8]) -> bool {
        let row = |state: u16| self.rows.get(usize::from(state)).unwrap_or(&self.rows[0]);
        let last = text.iter().fold(self.first, |state, byte| match state {
            0 | 1 => state,
            _ => row(state)[1 + self.class(*byte)],
        });
        row(last)[0] != 0
    }
}

impl Rules {
    /// As Elixir writes them (lib/rustyjson/schema/constraints.ex).
    pub fn bytes(&self) -> Vec<u8> {
        let flags =
            u8::from(self.least.is_some()) + 2 * u8::from(self.most.is_some()) + 4 * u8::from(self.pattern.is_some());
        let mut bytes = vec![flags, self.format];
        bytes.extend(self.shortest.to_le_bytes());
        bytes.extend(self.longest.to_le_bytes());
        for limit in [self.least, self.most].into_iter().flatten() {
            bytes.extend(i128::from(limit).to_le_bytes());
            bytes.extend(f64::from(limit).to_le_bytes());
            bytes.push(u8::from(limit < 0));
            bytes.extend(0_i64.to_le_bytes());
            let digits = limit.unsigned_abs().to_string();
            bytes.extend((digits.len() as u32).to_le_bytes());
            bytes.extend(digits.as_bytes());
        }
        if let Some(automaton) = &self.pattern {
            let table = automaton.bytes();
            bytes.extend((table.len() as u32).to_le_bytes());
            bytes.extend(table);
        }
        bytes
    }

    /// The rule that a text breaks, but for its format.
    pub fn text(&self, text: &[u8]) -> Option<ErrorKind> {
        // Of text that is not UTF-8, which nobody checked, each byte counts that does not continue a character.
        let length = text.iter().filter(|byte| !(0x80..0xC0).contains(*byte)).count() as u64;
        if length < self.shortest.into() {
            Some(ErrorKind::MinLength)
        } else if length > self.longest.into() {
            Some(ErrorKind::MaxLength)
        } else {
            self.pattern.as_ref().filter(|pattern| !pattern.accepts(text)).map(|_| ErrorKind::Pattern)
        }
    }

    pub fn format(&self, text: &[u8]) -> Option<Reading> {
        (self.format != 0).then(|| Moment::judge(self.format, text))
    }

    pub fn allows(&self, len: usize) -> bool {
        (self.shortest as usize..=self.longest as usize).contains(&len)
    }

    /// The rule that a number breaks, from its order to a limit.
    fn number(&self, order: impl Fn(i32) -> Ordering) -> Option<ErrorKind> {
        if self.least.is_some_and(|least| order(least) == Ordering::Less) {
            Some(ErrorKind::Min)
        } else if self.most.is_some_and(|most| order(most) == Ordering::Greater) {
            Some(ErrorKind::Max)
        } else {
            None
        }
    }

    pub fn integer(&self, negative: bool, digits: &str) -> Option<ErrorKind> {
        self.decimal(negative, digits, 0)
    }

    pub fn float(&self, bits: u64) -> Option<ErrorKind> {
        self.number(|limit| f64::from_bits(bits).partial_cmp(&f64::from(limit)).expect("no NaN"))
    }

    pub fn decimal(&self, negative: bool, digits: &str, exponent: i64) -> Option<ErrorKind> {
        let coefficient: BigInt = digits.parse().expect("digits");
        let coefficient = if negative { -coefficient } else { coefficient };
        let power = BigInt::from(10).pow(u32::try_from(exponent.unsigned_abs()).expect("a small exponent"));
        self.number(|limit| {
            if exponent < 0 {
                coefficient.cmp(&(BigInt::from(limit) * &power))
            } else {
                (&coefficient * &power).cmp(&BigInt::from(limit))
            }
        })
    }

    /// Whether the answer of this value of a type of this kind keeps the rules.
    pub fn keeps(&self, kind: Option<u8>, term: &Term) -> bool {
        match (kind, term) {
            (Some(1), Term::Binary(text)) => self.text(text).is_none(),
            (Some(2..=4), Term::Integer(negative, digits)) => self.integer(*negative, digits).is_none(),
            (Some(3 | 4), Term::Float(bits)) => self.float(*bits).is_none(),
            (Some(6), Term::List(parts)) => match &parts[..] {
                [Term::Integer(sign, _), Term::Integer(_, digits), Term::Integer(negative, exponent)] => {
                    let exponent: i64 = exponent.parse().expect("a small one");
                    self.decimal(*sign, digits, if *negative { -exponent } else { exponent }).is_none()
                }
                _ => false,
            },
            (None, Term::List(elements)) => self.allows(elements.len()),
            _ => true,
        }
    }

    /// The same of a tree.
    pub fn keeps_tree(&self, kind: Option<u8>, value: &Tree, exact: &Tree) -> bool {
        match (kind, value, exact) {
            (Some(1), Tree::String(text), _) => self.text(text).is_none() && self.format(text) != Some(Reading::Wrong),
            (Some(2 | 4), Tree::Integer(negative, digits), _) => self.integer(*negative, digits).is_none(),
            (Some(3 | 4), Tree::Float(bits), _) => self.float(*bits).is_none(),
            (Some(3), Tree::Integer(negative, digits), _) => {
                let float: f64 = digits.parse().expect("digits");
                self.float((if *negative { -float } else { float }).to_bits()).is_none()
            }
            (Some(6), Tree::String(text), _) => {
                let exact = crate::naive::parse_exact(text, &rustyjson_core::DecodeOptions::DEFAULT);
                exact.is_ok_and(|exact| self.keeps_tree(kind, &Tree::Null, &exact))
            }
            (Some(6), _, Tree::Decimal(negative, digits, exponent)) => {
                self.decimal(*negative, digits, *exponent).is_none()
            }
            (None, Tree::Array(elements), _) => self.allows(elements.len()),
            (None, Tree::Object(members), _) => self.allows(members.len()),
            _ => true,
        }
    }
}
