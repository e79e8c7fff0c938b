//! A shell that feeds a stream, as simple as it can be: it keeps the bytes that wait, and joins them when it is told to.

use super::tree::{Builder, Tree};
use rustyjson_core::etf::check::{Policy, check};
use rustyjson_core::etf::writer::Writer;
use rustyjson_core::scan::{End, Piece, Plan, Question, State, feed, write_answer};
use rustyjson_core::{DecodeOptions, ErrorKind, Scratch};

/// An error by its place in the stream: kind, offset, line, column, path.
pub type Wrong = (ErrorKind, i64, u64, u64, String);

/// What a stream gives: values, then perhaps an error. Records go on behind one.
#[derive(Debug, PartialEq)]
pub struct Given(pub Vec<Result<Tree, Wrong>>);

pub const VALUES: u8 = 0;
pub const LINES: u8 = 1;
pub const SEQUENCE: u8 = 2;
pub const PATH: u8 = 3;

pub fn plan(format: u8, flags: u8, max_bytes: u64, path: &[Option<&str>]) -> Plan {
    Plan::read(&written(format, flags, max_bytes, path)).expect("a plan")
}

fn written(format: u8, flags: u8, max_bytes: u64, path: &[Option<&str>]) -> Vec<u8> {
    let mut bytes = vec![format, flags];
    bytes.extend(max_bytes.to_le_bytes());
    bytes.extend((path.len() as u16).to_le_bytes());
    for step in path {
        match step {
            None => bytes.push(0),
            Some(name) => {
                bytes.push(1);
                bytes.extend((name.len() as u32).to_le_bytes());
                bytes.extend(name.as_bytes());
            }
        }
    }
    bytes
}

/// The same for the member of this name in each value.
pub fn plan_of_member(format: u8, path: &[Option<&str>], name: &str) -> Option<Plan> {
    let node = |number: u32, answer: u32, names: u32| [number, answer, 0, 1, names];
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut parts = vec![1, 0, 1, 0];
    parts.extend(words(&[1, 2]));
    // The name stands behind the root, and behind an index that it is not.
    parts.extend(words(&node(0, 0, 1)));
    parts.extend(words(&[48, 0]));
    parts.extend(0u64.to_le_bytes());
    parts.extend(words(&[name.len() as u32]));
    parts.extend(name.as_bytes());
    parts.extend(words(&node(1, 1, 0)));
    parts.extend(words(&[0]));
    plan_of_parts(format, path, 1, &parts)
}

/// The same for a plan of parts, whose answers make rows of this many list cells.
pub fn plan_of_parts(format: u8, path: &[Option<&str>], cells: u32, parts: &[u8]) -> Option<Plan> {
    let mut bytes = written(format, 8, 0, path);
    bytes.extend(cells.to_le_bytes());
    bytes.extend((parts.len() as u32).to_le_bytes());
    bytes.extend(parts);
    Plan::read(&bytes)
}

/// What a shell does: keeps bytes that wait, joins them when it is told to.
struct Shell<'a> {
    plan: &'a Plan,
    options: &'a DecodeOptions,
    records: bool,
    state: Vec<u8>,
    pending: Vec<u8>,
    /// Offset of the first pending byte in the stream.
    base: usize,
    given: Vec<Result<Tree, Wrong>>,
    ended: bool,
}

impl<'a> Shell<'a> {
    fn new(plan: &'a Plan, options: &'a DecodeOptions, records: bool) -> Self {
        Self {
            plan,
            options,
            records,
            state: Vec::new(),
            pending: Vec::new(),
            base: 0,
            given: Vec::new(),
            ended: false,
        }
    }

    fn push(&mut self, bytes: &[u8], last: bool) {
        let (mut bytes, mut held) = (bytes.to_vec(), self.pending.len());
        if self.records {
            bytes = [std::mem::take(&mut self.pending), bytes].concat();
            held = 0;
        }
        while !self.ended {
            let mut state = State::read(&self.state).expect("a state that was written");
            let piece = Piece { bytes: &bytes, held: held as u64, last };
            assert_taken((self.base + held) as u64, piece, &state, self.plan, self.options);
            let mut builder = Builder::default();
            let fed = feed(piece, &mut state, self.plan, self.options, &mut Scratch::default(), &mut builder);
            self.state.clear();
            state.write(&mut self.state);
            let Some(Tree::Array(items)) = builder.values.pop() else { panic!("a list") };
            assert_eq!(items.len(), fed.items);
            assert!(builder.values.is_empty());
            self.given.extend(items.into_iter().map(Ok));
            let base = self.base;
            if held == 0 || fed.kept > 0 {
                self.base += fed.kept;
            }
            match fed.end {
                End::More => {
                    self.pending.extend_from_slice(&bytes[fed.kept..]);
                    return;
                }
                End::Again => {
                    bytes.drain(..fed.kept);
                }
                End::Join => {
                    assert_eq!(fed.kept, 0);
                    bytes = [std::mem::take(&mut self.pending), bytes].concat();
                    held = 0;
                }
                End::Wrong(wrong) => {
                    // An offset counts from the piece, which starts behind what is held.
                    let offset = base as i64 + held as i64 + wrong.offset;
                    self.given.push(Err((wrong.kind.plain(), offset, wrong.line, wrong.column, wrong.path)));
                    self.ended = !self.records;
                    bytes.drain(..fed.kept);
                }
            }
        }
    }
}

/// What an honest module answers about a piece, which has this many bytes of the stream before it, is what a host takes for honest.
pub fn assert_taken(before: u64, piece: Piece<'_>, state: &State, plan: &Plan, options: &DecodeOptions) {
    let Piece { bytes, held, last } = piece;
    let question = Question { before, held, last, stop: Question::KNOWN, plan: plan.clone(), state: state.clone() };
    let (mut state, mut out) = (state.clone(), Writer::new(bytes, Vec::new(), options));
    let fed = feed(piece, &mut state, plan, options, &mut Scratch::default(), &mut out);
    let mut record = out.finish().expect("memory");
    let len = record.len() as u32;
    write_answer(&fed, &state, &mut record);
    record.extend(len.to_le_bytes());
    let shown = String::from_utf8_lossy(bytes);
    let Some((list, answer)) = question.open(&record, bytes.len(), options) else { panic!("{shown:?} {fed:?}") };
    let most = question.most(bytes.len(), &answer);
    let max_depth = options.max_depth.saturating_add(question.lists());
    let options = DecodeOptions { max_depth, max_nodes: most.nodes, ..*options };
    let policy = Policy { max_keys: most.keys, ..Policy::new(&options, most.document) };
    assert_eq!(check(list, &policy), Ok(()), "{shown:?} {fed:?}");
}

pub fn given(text: &[u8], cuts: &[usize], plan: &Plan, options: &DecodeOptions, records: bool) -> Given {
    let mut shell = Shell::new(plan, options, records);
    let mut start = 0;
    for &end in cuts.iter().chain([&text.len()]) {
        shell.push(&text[start..end], false);
        start = end;
    }
    shell.push(b"", true);
    Given(shell.given)
}
