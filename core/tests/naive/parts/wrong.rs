//! All errors that a text has as a type, found in a tree that knows where its values stand.

use super::rules::Rules;
use super::types::{Left, Record, Type, asking, defined, shape};
use super::{decoded, first, usual};
use crate::naive::tree::Tree;
use crate::naive::{parse, parse_decimal, parse_exact};
use rustyjson_core::options::Duplicates;
use rustyjson_core::parts::{Failed, Found, Moment, Reading, Wrong};
use rustyjson_core::{DecodeOptions, Error, ErrorKind};

/// A value of a right text, and where it starts.
struct Placed<'a> {
    start: usize,
    /// The offset behind it.
    end: usize,
    value: Value<'a>,
}

enum Value<'a> {
    Null,
    Boolean,
    Number(&'a str),
    Text(Vec<u8>),
    Array(Vec<Placed<'a>>),
    /// Members, each with the offset of its key, and the offset of the closing brace.
    Object(Vec<(usize, Vec<u8>, Placed<'a>)>, usize),
}

/// Reads a text that is known to be right.
struct Reader<'a> {
    json: &'a [u8],
    pos: usize,
    options: DecodeOptions,
}

impl<'a> Reader<'a> {
    fn byte(&mut self) -> u8 {
        while self.json[self.pos].is_ascii_whitespace() {
            self.pos += 1;
        }
        self.json[self.pos]
    }

    fn text(&mut self) -> Vec<u8> {
        let start = self.pos;
        self.pos += 1;
        while self.json[self.pos] != b'"' {
            self.pos += if self.json[self.pos] == b'\\' { 2 } else { 1 };
        }
        self.pos += 1;
        match parse(&self.json[start..self.pos], &self.options) {
            Ok(Tree::String(text)) => text,
            other => panic!("{other:?} is no text"),
        }
    }

    /// Passes over this byte, or the closing one. `false` for the latter.
    fn goes_on(&mut self, closing: u8) -> bool {
        let byte = self.byte();
        self.pos += 1;
        byte != closing
    }

    fn value(&mut self) -> Placed<'a> {
        let byte = self.byte();
        let start = self.pos;
        let value = match byte {
            b'"' => Value::Text(self.text()),
            b'[' | b'{' => self.container(byte == b'{'),
            _ => {
                let ends = |byte: &u8| b",]} \n\r\t".contains(byte);
                let rest = &self.json[start..];
                let len = rest.iter().position(ends).unwrap_or(rest.len());
                self.pos += len;
                match byte {
                    b'n' => Value::Null,
                    b't' | b'f' => Value::Boolean,
                    _ => Value::Number(std::str::from_utf8(&rest[..len]).unwrap()),
                }
            }
        };
        Placed { start, end: self.pos, value }
    }

    fn container(&mut self, object: bool) -> Value<'a> {
        let (mut members, mut elements) = (Vec::new(), Vec::new());
        self.pos += 1;
        let closing = if object { b'}' } else { b']' };
        if self.byte() == closing {
            self.pos += 1;
        } else {
            loop {
                if object {
                    self.byte();
                    let (at, key) = (self.pos, self.text());
                    self.byte();
                    self.pos += 1;
                    members.push((at, key, self.value()));
                } else {
                    elements.push(self.value());
                }
                if !self.goes_on(closing) {
                    break;
                }
            }
        }
        if object { Value::Object(members, self.pos - 1) } else { Value::Array(elements) }
    }
}

/// Looks for errors.
struct Judge<'a> {
    first: bool,
    /// Values that Elixir has to judge so far, and those that it refused.
    left: usize,
    refused: &'a [usize],
    errors: Vec<Wrong>,
}

/// An error that ends the list.
type Fatal = Result<(), Error>;

impl Judge<'_> {
    fn wrong(&mut self, kind: ErrorKind, pos: usize, key: Option<&str>) {
        let key = key.map(|key| key.as_bytes().to_vec());
        self.errors.push(Wrong { error: Error::new(kind, pos), key });
    }

    fn is_refused(&mut self) -> bool {
        self.left += 1;
        self.refused.contains(&(self.left - 1))
    }

    fn value(&mut self, of: &Type, placed: &Placed<'_>) -> Fatal {
        if let Some(cell) = of.cell() {
            return self.value(defined(&cell), placed);
        }
        let at = placed.start;
        match (of, &placed.value) {
            (Type::Nullable(_) | Type::Many(_), Value::Null) => {}
            (Type::Nullable(inner), _) => return self.value(inner, placed),
            (Type::Loaded(_), _) => {
                if self.is_refused() {
                    self.wrong(ErrorKind::TypeLoaded, at, None);
                }
            }
            (Type::Plain(kind), value) => return self.plain(*kind, value, at),
            (Type::Checked(inner, rules), _) => return self.checked(inner, rules, placed),
            (Type::Enum(names), Value::Text(text)) => {
                if names.iter().all(|name| name.as_bytes() != text) {
                    self.wrong(ErrorKind::Enum, at, None);
                }
            }
            (Type::Enum(_), _) => self.wrong(ErrorKind::TypeString, at, None),
            (Type::List(inner) | Type::Many(inner), Value::Array(elements)) => {
                return elements.iter().try_for_each(|element| self.value(inner, element));
            }
            (Type::List(_) | Type::Many(_), _) => self.wrong(ErrorKind::TypeList, at, None),
            (Type::Map(inner), Value::Object(members, _)) => {
                return members.iter().try_for_each(|(_, _, value)| self.value(inner, value));
            }
            (Type::Struct(record), Value::Object(members, end)) => return self.record(record, members, *end),
            (Type::Tagged(key, variants), Value::Object(members, end)) => {
                let mut tags = members.iter().filter(|(_, name, _)| name == key.as_bytes()).map(|(_, _, tag)| tag);
                let Some(tag) = (if self.first { tags.next() } else { tags.next_back() }) else {
                    self.wrong(ErrorKind::Missing, *end, Some(key));
                    return Ok(());
                };
                let Value::Text(text) = &tag.value else {
                    self.wrong(ErrorKind::TypeString, tag.start, None);
                    return Ok(());
                };
                let Some((_, record)) = variants.iter().find(|(name, _)| name.as_bytes() == text) else {
                    self.wrong(ErrorKind::Enum, tag.start, None);
                    return Ok(());
                };
                return self.record(record, members, *end);
            }
            (Type::Map(_) | Type::Struct(_) | Type::Tagged(..), _) => self.wrong(ErrorKind::TypeObject, at, None),
            (Type::Named(_) | Type::Again(_), _) => unreachable!("they stand for other types"),
        }
        Ok(())
    }

    /// A value that breaks a rule has that error alone. In a container the one too many has it, or the closing bracket.
    fn checked(&mut self, inner: &Type, rules: &Rules, placed: &Placed<'_>) -> Fatal {
        let at = placed.start;
        let broken = match (inner, &placed.value) {
            (Type::Plain(1), Value::Text(text)) => match (rules.text(text), rules.format(text)) {
                (Some(kind), _) => Some(kind),
                (None, Some(Reading::Wrong)) => Some(ErrorKind::Format),
                (None, Some(Reading::Unsure)) if self.is_refused() => Some(ErrorKind::Format),
                _ => None,
            },
            (Type::Plain(2), Value::Number(text)) if text.contains(['.', 'e', 'E']) => None,
            (Type::Plain(6), Value::Text(text)) if is_number(text) => {
                within_limits(text, at)?;
                rules_of_decimal(rules, text)
            }
            (Type::Plain(6), Value::Number(text)) => {
                within_limits(text.as_bytes(), at)?;
                rules_of_decimal(rules, text.as_bytes())
            }
            (Type::Plain(2 | 4), Value::Number(text)) if !text.contains(['.', 'e', 'E']) => {
                rules.integer(text.starts_with('-'), text.trim_start_matches('-'))
            }
            (Type::Plain(3 | 4), Value::Number(text)) => match text.parse::<f64>() {
                Ok(float) if float.is_finite() => rules.float(float.to_bits()),
                _ => None,
            },
            (Type::List(element), Value::Array(elements)) => {
                for (number, value) in elements.iter().enumerate() {
                    if number == rules.longest as usize {
                        self.wrong(ErrorKind::MaxItems, value.start, None);
                    }
                    self.value(element, value)?;
                }
                self.too_few(rules, elements.len(), placed);
                return Ok(());
            }
            (Type::Map(element), Value::Object(members, _)) => {
                for (number, (key, _, value)) in members.iter().enumerate() {
                    if number == rules.longest as usize {
                        self.wrong(ErrorKind::MaxItems, *key, None);
                    }
                    self.value(element, value)?;
                }
                self.too_few(rules, members.len(), placed);
                return Ok(());
            }
            _ => None,
        };
        match broken {
            Some(kind) => self.wrong(kind, at, None),
            None => return self.value(inner, placed),
        }
        Ok(())
    }

    fn too_few(&mut self, rules: &Rules, len: usize, placed: &Placed<'_>) {
        if len < rules.shortest as usize {
            self.wrong(ErrorKind::MinItems, placed.end - 1, None);
        }
    }

    fn record(&mut self, record: &Record, members: &[(usize, Vec<u8>, Placed<'_>)], end: usize) -> Fatal {
        let mut seen = vec![false; record.fields.len()];
        for (at, key, value) in members {
            let Some(field) = record.fields.iter().position(|(name, ..)| name.as_bytes() == key) else {
                if record.strict {
                    self.wrong(ErrorKind::UnknownKey, *at, None);
                }
                continue;
            };
            let (_, _, ignored, of) = &record.fields[field];
            if !(*ignored || self.first && seen[field]) {
                seen[field] = true;
                self.value(of, value)?;
            }
        }
        for ((name, required, ..), seen) in record.fields.iter().zip(seen) {
            if *required && !seen {
                self.wrong(ErrorKind::Missing, end, Some(name));
            }
        }
        Ok(())
    }

    fn plain(&mut self, kind: u8, value: &Value<'_>, at: usize) -> Fatal {
        let expected = match (kind, value) {
            (0 | 11, _) | (1, Value::Text(_)) | (4, Value::Number(_)) | (5, Value::Boolean) => return Ok(()),
            (2, Value::Number(text)) if !text.contains(['.', 'e', 'E']) => return Ok(()),
            (3, Value::Number(text)) => {
                let finite = text.parse::<f64>().is_ok_and(f64::is_finite);
                return if finite { Ok(()) } else { Err(Error::new(ErrorKind::NumberOutOfRange, at)) };
            }
            (6, Value::Number(text)) => return within_limits(text.as_bytes(), at),
            (6, Value::Text(text)) if is_number(text) => return within_limits(text, at),
            (7..=10 | 20, Value::Text(text)) => match Moment::judge(kind, text) {
                Reading::Usual(_) => return Ok(()),
                Reading::Unsure if !self.is_refused() => return Ok(()),
                _ => date(kind),
            },
            (7..=10 | 20, _) => date(kind),
            (1, _) => ErrorKind::TypeString,
            (2, _) => ErrorKind::TypeInteger,
            (3, _) => ErrorKind::TypeFloat,
            (4, _) => ErrorKind::TypeNumber,
            (5, _) => ErrorKind::TypeBoolean,
            _ => ErrorKind::TypeDecimal,
        };
        self.wrong(expected, at, None);
        Ok(())
    }
}

const fn date(kind: u8) -> ErrorKind {
    match kind {
        7 => ErrorKind::TypeDate,
        8 => ErrorKind::TypeTime,
        9 => ErrorKind::TypeNaiveDatetime,
        20 => ErrorKind::TypeDuration,
        _ => ErrorKind::TypeUtcDatetime,
    }
}

/// Whether a text is a number and nothing else.
fn is_number(text: &[u8]) -> bool {
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let limitless = DecodeOptions { digit_limit: 0, ..DecodeOptions::DEFAULT };
    let read = parse_exact(text, &limitless);
    let number = read.map_or_else(|error| error.kind == ErrorKind::NumberOutOfRange, |_| true);
    (ends(text.first()) || text.first() == Some(&b'-')) && ends(text.last()) && number
}

fn rules_of_decimal(rules: &Rules, number: &[u8]) -> Option<ErrorKind> {
    match parse_exact(number, &DecodeOptions::DEFAULT) {
        Ok(Tree::Decimal(negative, digits, exponent)) => rules.decimal(negative, &digits, exponent),
        other => panic!("{other:?}"),
    }
}

fn within_limits(number: &[u8], at: usize) -> Fatal {
    parse_decimal(number).map(|_| ()).map_err(|error| Error::new(error.kind, at))
}

/// The errors of a text are those of a naive reader, as many as are asked for, and all are counted. The first is the one that is given
/// alone.
pub fn assert_all(json: &[u8], of: &Type, options: &DecodeOptions, most: usize, refused: &[usize]) {
    let options = DecodeOptions { decimals: false, digit_limit: DecodeOptions::DEFAULT.digit_limit, ..usual(options) };
    let ask = |most| decoded(json, &asking(of, most, Left::Judged(refused)), &options);
    let (one, all) = (ask(0), ask(most));
    let _ = decoded(json, &asking(of, most, Left::Listed), &options);
    match (&one, &all) {
        (Ok(one), Ok(all)) => assert_eq!(one, all),
        (Err(one), Err(all)) => assert_eq!(first(one), first(all)),
        other => panic!("{other:?}"),
    }
    if refused.is_empty() {
        assert_eq!(one, decoded(json, &shape(of), &options));
    }
    match parse(json, &options) {
        Ok(_) => assert_found(json, of, &options, most, refused, all),
        Err(error) => match all {
            // A decimal holds what no float does; whether it is one, the first reader of types knows.
            Ok(tree) => assert!(
                error.kind == ErrorKind::NumberOutOfRange && parse_exact(json, &options).is_ok(),
                "the text is wrong: {tree:?}"
            ),
            Err(Failed::First(_)) => {}
            Err(Failed::All(Found { list, total, ended, .. })) => {
                assert!(ended.is_some() && list.is_sorted_by_key(|wrong| wrong.error.offset));
                assert!(
                    list.len() == most
                        || list.len() as u64 == total && list.last().unwrap().error.kind == ended.unwrap()
                );
            }
        },
    }
}

fn assert_found(
    json: &[u8],
    of: &Type,
    options: &DecodeOptions,
    most: usize,
    refused: &[usize],
    all: Result<Tree, Failed>,
) {
    let placed = Reader { json, pos: 0, options: *options }.value();
    let first = options.duplicates == Duplicates::First;
    let mut judge = Judge { first, left: 0, refused, errors: Vec::new() };
    let ended = judge.value(of, &placed).err();
    judge.errors.extend(ended.map(Wrong::from));
    let Judge { errors, left, .. } = judge;
    if errors.is_empty() {
        all.expect("nothing is wrong");
        return;
    }
    let list = errors.iter().take(most).cloned().collect();
    let found = Found { list, total: errors.len() as u64, left: left > 0, ended: ended.map(|error| error.kind) };
    assert_eq!(all, Err(Failed::All(found)), "{of:?}");
}
