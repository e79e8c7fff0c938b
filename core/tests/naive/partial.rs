//! A shell for documents that are looked at before they are complete: it applies the events to a tree, in the plainest way.

use super::feed::{assert_taken, plan};
use super::tree::{Builder, Tree};
use rustyjson_core::options::Duplicates;
use rustyjson_core::scan::{End, Piece, Plan, State, feed};
use rustyjson_core::{DecodeOptions, Error, ErrorKind, Scratch};

const PARTIAL: u8 = 4;
/// Bytes that come again with the next piece; more of them wait.
const LONGEST: usize = 1024;

/// A container that is open, with the key whose value comes next.
struct Level(Tree, Option<Vec<u8>>);

struct Shell<'a> {
    plan: Plan,
    options: &'a DecodeOptions,
    state: Vec<u8>,
    pending: Vec<u8>,
    base: usize,
    levels: Vec<Level>,
    /// The current string or number.
    cursor: Option<Tree>,
    done: Option<Tree>,
}

impl Shell<'_> {
    fn push(&mut self, bytes: &[u8], last: bool) -> Result<(), Error> {
        let waits = self.pending.len() > LONGEST;
        let mut held = if waits { self.pending.len() } else { 0 };
        let mut bytes =
            if waits { bytes.to_vec() } else { [std::mem::take(&mut self.pending), bytes.to_vec()].concat() };
        loop {
            let mut state = State::read(&self.state).expect("a state that was written");
            let piece = Piece { bytes: &bytes, held: held as u64, last };
            assert_taken((self.base + held) as u64, piece, &state, &self.plan, self.options);
            let mut builder = Builder::default();
            let fed = feed(piece, &mut state, &self.plan, self.options, &mut Scratch::default(), &mut builder);
            self.state.clear();
            state.write(&mut self.state);
            let Some(Tree::Array(events)) = builder.values.pop() else { panic!("a list") };
            assert_eq!(events.len(), fed.items);
            assert!(builder.values.is_empty());
            self.apply(events)?;
            match fed.end {
                End::More => {
                    assert!(held == 0 || fed.kept == 0);
                    self.pending.extend_from_slice(&bytes[fed.kept..]);
                    self.base += fed.kept;
                    return Ok(());
                }
                End::Join => {
                    bytes = [std::mem::take(&mut self.pending), bytes].concat();
                    held = 0;
                }
                End::Again => panic!("there is always room"),
                End::Wrong(wrong) => {
                    let offset = usize::try_from(wrong.offset).expect("an error in the piece");
                    return Err(Error::new(wrong.kind, self.base + held + offset));
                }
            }
        }
    }

    fn apply(&mut self, events: Vec<Tree>) -> Result<(), Error> {
        let mut events = events.into_iter();
        let mut place = 0;
        while let Some(Tree::Integer(false, event)) = events.next() {
            let mut item = || events.next().expect("an item");
            match &*event {
                "0" => self.levels.push(Level(Tree::Array(Vec::new()), None)),
                "1" => self.levels.push(Level(Tree::Object(Vec::new()), None)),
                "2" => {
                    let Level(whole, None) = self.levels.pop().expect("an open container") else { panic!("a value") };
                    self.add(whole);
                }
                "3" => self.key(member(item()).0, place)?,
                "4" => {
                    let Tree::Integer(false, offset) = item() else { panic!("an offset") };
                    place = self.base + offset.parse::<usize>().expect("an offset");
                    drop([item(), item()]);
                }
                "5" => {
                    let value = item();
                    self.add(value);
                }
                "6" => {
                    let (key, value) = member(item());
                    self.key(key, place)?;
                    self.add(value);
                }
                "7" | "8" => {
                    let Tree::String(more) = item() else { panic!("text") };
                    let before = self.cursor.take();
                    let text = match before {
                        Some(Tree::String(text)) => [text, more].concat(),
                        None => more,
                        Some(other) => panic!("{other:?} goes on with text"),
                    };
                    if event == "7" { self.cursor = Some(Tree::String(text)) } else { self.add(Tree::String(text)) }
                }
                "9" => self.cursor = Some(item()),
                other => panic!("event {other}"),
            }
        }
        assert!(events.next().is_none());
        Ok(())
    }

    /// A key is there, whose value comes next.
    fn key(&mut self, key: Vec<u8>, place: usize) -> Result<(), Error> {
        let Some(Level(Tree::Object(members), at_hand)) = self.levels.last_mut() else { panic!("an object") };
        let again = members.iter().any(|(before, _)| *before == key);
        *at_hand = Some(key);
        let wrong = again && self.options.duplicates == Duplicates::Error;
        if wrong { Err(Error::new(ErrorKind::DuplicateKey, place)) } else { Ok(()) }
    }

    /// The text up to the key at this offset, with a value for it and an end for all that is open.
    fn ended_behind(&self, text: &[u8], key: usize) -> Vec<u8> {
        let mut end = key + 1;
        while text[end] != b'"' {
            end += if text[end] == b'\\' { 2 } else { 1 };
        }
        let closing = |Level(tree, _): &Level| if matches!(tree, Tree::Array(_)) { b']' } else { b'}' };
        [&text[..=end], b":0", &self.levels.iter().rev().map(closing).collect::<Vec<_>>()].concat()
    }

    fn add(&mut self, value: Tree) {
        self.cursor = None;
        match self.levels.last_mut() {
            None => assert!(self.done.replace(value).is_none()),
            Some(Level(Tree::Array(elements), None)) => elements.push(value),
            Some(Level(Tree::Object(members), key)) => members.push((key.take().expect("a key"), value)),
            Some(_) => panic!("a container"),
        }
    }

    /// What there is.
    fn value(&self) -> Option<Tree> {
        let mut inner = self.done.clone().or_else(|| self.cursor.clone());
        for Level(container, key) in self.levels.iter().rev() {
            let mut container = container.clone();
            match (&mut container, inner) {
                (Tree::Array(elements), Some(value)) => elements.push(value),
                (Tree::Object(members), Some(value)) => members.push((key.clone().expect("a key"), value)),
                _ => {}
            }
            inner = Some(container);
        }
        inner
    }
}

fn member(tree: Tree) -> (Vec<u8>, Tree) {
    let Tree::Object(mut members) = tree else { panic!("a member") };
    assert_eq!(members.len(), 1);
    members.remove(0)
}

/// Whether nothing that was there is gone. A number may become any other one, as its digits come.
fn grows(old: &Tree, new: &Tree) -> bool {
    let number = |tree: &Tree| matches!(tree, Tree::Integer(..) | Tree::Float(_) | Tree::Decimal(..));
    match (old, new) {
        (Tree::String(old), Tree::String(new)) => new.starts_with(old),
        (Tree::Array(old), Tree::Array(new)) => {
            old.len() <= new.len()
                && old.iter().zip(new).enumerate().all(|(i, (a, b))| a == b || i + 1 == old.len() && grows(a, b))
        }
        (Tree::Object(old), Tree::Object(new)) => {
            let same = |i: usize, a: &Tree, b: &Tree| a == b || i + 1 == old.len() && grows(a, b);
            old.len() <= new.len()
                && old.iter().zip(new).enumerate().all(|(i, (a, b))| a.0 == b.0 && same(i, &a.1, &b.1))
        }
        (old, new) => old == new || number(old) && number(new),
    }
}

/// Whether no object repeats a key.
fn distinct(tree: &Tree) -> bool {
    match tree {
        Tree::Array(elements) => elements.iter().all(distinct),
        Tree::Object(members) => members
            .iter()
            .enumerate()
            .all(|(i, (key, value))| !members[..i].iter().any(|(k, _)| k == key) && distinct(value)),
        _ => true,
    }
}

/// Whether a text with this error may be the start of one without.
fn may_go_on(text: &[u8], error: Error, options: &DecodeOptions) -> bool {
    let behind = |more: &[u8]| super::parse(&[text, more].concat(), options) != Err(error);
    match error.kind {
        ErrorKind::UnexpectedEnd => true,
        // A character that is cut through.
        ErrorKind::InvalidUtf8 => [&b"\x80"[..], b"\x9F", b"\xBF"]
            .iter()
            .any(|byte| [1, 2, 3].iter().any(|&count| behind(&[&byte.repeat(count)[..], b"\""].concat()))),
        // With a negative exponent the number becomes a float.
        ErrorKind::IntegerDigits | ErrorKind::NumberOutOfRange => {
            !options.decimals && [&b"e-9999"[..], b"9999"].iter().any(|more| behind(more))
        }
        _ => false,
    }
}

/// In these pieces what there is only grows, and the end is that of the naive parser. A piece that makes the text invalid, whatever
/// follows, is an error: the naive parser's for the bytes so far. All members of objects have to be kept.
pub fn assert_partial(text: &[u8], cuts: &[usize], options: &DecodeOptions) {
    // The number of values and keys is that of the whole document, so the plan has it.
    let plan = plan(PARTIAL, 0, options.max_nodes, &[]);
    let uncounted = &DecodeOptions { max_nodes: 0, ..*options };
    let mut shell = Shell {
        plan,
        options: uncounted,
        state: Vec::new(),
        pending: Vec::new(),
        base: 0,
        levels: Vec::new(),
        cursor: None,
        done: None,
    };
    let shown = || format!("{:?} cut at {cuts:?}", String::from_utf8_lossy(text));
    let (mut start, mut before) = (0, None);
    for &end in cuts.iter().chain([&text.len()]) {
        let so_far = super::parse(&text[..end], options);
        if let Err(error) = shell.push(&text[start..end], false) {
            return assert_error(error, so_far, text, &shell, options, &shown());
        }
        if let Err(error) = so_far {
            assert!(may_go_on(&text[..end], error, options), "{error:?} comes late in {}", shown());
        }
        let now = shell.value();
        if let Some(before) = &before {
            assert!(now.as_ref().is_some_and(|now| grows(before, now)), "{before:?} became {now:?}");
        }
        assert!(options.duplicates != Duplicates::Error || now.as_ref().is_none_or(distinct));
        (start, before) = (end, now);
    }
    let found = shell.push(b"", true).map(|()| shell.done.expect("a document"));
    assert_eq!(found, super::parse(text, options), "{}", shown());
}

fn assert_error(
    error: Error,
    so_far: Result<Tree, Error>,
    text: &[u8],
    shell: &Shell<'_>,
    options: &DecodeOptions,
    shown: &str,
) {
    let expected = match (error.kind, &so_far) {
        // The first of several errors of an object that goes on.
        (ErrorKind::DuplicateKey, Err(other)) if *other != error => {
            super::parse(&shell.ended_behind(text, error.offset), &DecodeOptions { max_nodes: 0, ..*options })
        }
        // What a number has too many of already does not wait for the digit that is missing.
        (
            ErrorKind::IntegerDigits
            | ErrorKind::NumberOutOfRange
            | ErrorKind::DecimalDigits
            | ErrorKind::DecimalExponent,
            Err(Error { kind: ErrorKind::UnexpectedEnd, offset }),
        ) => super::parse(&[&text[..*offset], b"0"].concat(), options),
        _ => so_far,
    };
    assert_eq!(Err(error), expected, "{shown}");
}
