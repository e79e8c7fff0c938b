//! The buffers that the module keeps between calls.

use alloc::vec;
use alloc::vec::Vec;
use core::cell::RefCell;
use rustyjson_core::abi::batch::{Batch, write_failure};
use rustyjson_core::abi::{self, Claim, DecodeFailure, EncodeFailure, Partial, Status, Undecoded};
use rustyjson_core::canonical::canonicalize;
use rustyjson_core::decode::decode_many;
use rustyjson_core::encode::{EncodeError, EncodeErrorKind, Player, encode, play};
use rustyjson_core::etf::plans;
use rustyjson_core::etf::reader::Reader;
use rustyjson_core::etf::writer::{Memory, Names, Writer};
use rustyjson_core::format::{Layout, format};
use rustyjson_core::options::{Keys, Known};
use rustyjson_core::parts::{Failed, Parts, check};
use rustyjson_core::scan::{End, Piece, Question, Trouble, feed, write_answer};
use rustyjson_core::{DecodeOptions, EncodeOptions, Error, ErrorKind, Output, Scratch, decode, gzip};

/// The status of most records.
const DONE: u8 = Status::Done as u8;

/// Buffers beyond this many bytes are given back by [`State::reset`]: those of most documents stay.
const KEEP: usize = 12 << 20;

/// Bytes behind the input that a writer may copy with a short string: see [`Writer::behind`].
const BEHIND: usize = 16;

/// Bytes of the options of a document that is only checked: the plan of parts is one byte, and the seed follows.
const CHECKED: usize = DecodeOptions::LEN + 1 + 8;

/// Bytes of a buffer that are zeroed at a time, so that a deadline in between is met.
const PART: usize = 1 << 20;

/// Buffers that live as long as the instance.
#[derive(Debug, Default)]
pub struct State {
    input: Vec<u8>,
    output: Vec<u8>,
    scratch: Scratch,
    memory: Memory,
    player: Player,
    decoding: Known<DecodeOptions, { DecodeOptions::LEN }>,
    encoding: Known<EncodeOptions<'static>, { EncodeOptions::LEN }>,
}

/// Whether the text was decoded, the length of the record, and the names of its keys if they were asked for.
type Written = (Result<(), Failed>, usize, Option<Names>);

/// The state of the only thread there is.
struct Single(RefCell<Option<State>>);

// SAFETY: the module has no shared memory, so no instance ever has a second thread.
#[allow(unsafe_code)]
unsafe impl Sync for Single {}

static STATE: Single = Single(RefCell::new(None));

/// Runs with the instance's state. Exports do not call each other, so nobody else has it.
pub fn with_state<T>(run: impl FnOnce(&mut State) -> T) -> T {
    let mut state = STATE.0.borrow_mut();
    run(match &mut *state {
        Some(state) => state,
        none => first(none),
    })
}

/// The state of an instance that was just made.
#[cold]
#[inline(never)]
fn first(none: &mut Option<State>) -> &mut State {
    none.get_or_insert_default()
}

impl State {
    /// Makes room for `len` bytes of input. Its address, 0 when there is no memory.
    pub fn input(&mut self, len: usize) -> u32 {
        if self.input.capacity() < len.max(1) {
            // The result will be about as long: both are given back first, so that the allocator can extend the same place.
            (self.input, self.output) = (Vec::new(), Vec::new());
            // It is never empty, so that its address is a real one.
            if self.input.try_reserve_exact(len.max(4096) + BEHIND).is_err() {
                return 0;
            }
        }
        self.input.as_mut_ptr() as usize as u32
    }

    /// Makes room for `len` bytes of input, of which the first `keep` stay. Where it is and how long, 0 when there is no memory.
    pub fn extend(&mut self, len: usize, keep: usize) -> u64 {
        if self.input.capacity() < len {
            // Given back first, so that the allocator can extend the same place.
            self.output = Vec::new();
            if self.written(keep).is_none() || self.input.try_reserve_exact(len - keep).is_err() {
                return 0;
            }
        }
        abi::pack(self.input.as_mut_ptr() as u64, self.input.capacity() as u64)
    }

    /// The input has this many bytes, which the host has written; each export says so first. `None`: there is no room for them.
    #[allow(unsafe_code)]
    fn written(&mut self, len: usize) -> Option<()> {
        if len > self.input.capacity() {
            return None;
        }
        // SAFETY: there is room for them. The host wrote them; if it did not, they are whatever linear memory held.
        unsafe { self.input.set_len(len) };
        Some(())
    }

    /// Decodes what follows the options. `repeats`: maps may have repeated keys. `None` when memory ran out.
    pub fn decode(&mut self, len: usize, options: usize, repeats: bool) -> Option<&[u8]> {
        if let Some(result) = self.check(len, options) {
            return self.checked(len, options, result);
        }
        let (result, written, _) = self.write(len, options, None, repeats)?;
        if let Err(failed) = result {
            return self.error(len, options, &failed);
        }
        Some(&self.output[..written])
    }

    /// Whether what follows the options is right, if only this is asked. `None`: the document itself is wanted.
    #[inline(always)]
    fn check(&mut self, len: usize, options: usize) -> Option<Result<(), Error>> {
        if options != CHECKED {
            return None;
        }
        self.written(len)?;
        let (options, json) = self.input.split_at_checked(options)?;
        let (options, seed) = options.split_last_chunk()?;
        let (options, parts) = options.split_first_chunk()?;
        if !Parts::asks_only(parts) {
            return None;
        }
        let options = self.decoding.read(options, u64::from_le_bytes(*seed));
        Some(check(json, options, &mut self.scratch))
    }

    /// The answer to that, without a writer.
    fn checked(&mut self, len: usize, options: usize, result: Result<(), Error>) -> Option<&[u8]> {
        if let Err(error) = result {
            return self.error(len, options, &error.into());
        }
        let mut out = record(&mut self.output);
        out.array(Parts::RIGHT);
        let right = !out.failed();
        let (bytes, written) = out.into_parts();
        put_back(&mut self.output, bytes);
        right.then(|| &self.output[..written])
    }

    /// The keys of what follows the options, or the error that key number `stop` is not an existing atom.
    pub fn keys(&mut self, len: usize, options: usize, stop: u64) -> Option<&[u8]> {
        let (result, _, names) = self.write(len, options, Some(Names { bytes: vec![DONE], left: stop }), true)?;
        match result {
            Err(failed) if matches!(ended(&failed), Some(ErrorKind::UnknownAtom | ErrorKind::OutOfMemory)) => {
                self.error(len, options, &failed)
            }
            _ => {
                self.output = names?.bytes;
                Some(&self.output)
            }
        }
    }

    /// Writes the term behind the status. `None` when memory ran out. (With a builder of its own for the
    /// names of keys there would be two decoders in the module, 10 KB.)
    fn write(&mut self, len: usize, options: usize, names: Option<Names>, repeats: bool) -> Option<Written> {
        // Without these bytes behind the input, short strings at its end take longer.
        if self.written(len.saturating_add(BEHIND)).is_none() {
            self.written(len)?;
        }
        let (options, seen) = self.input.split_at_checked(options)?;
        let json = seen.get(..len.checked_sub(options.len())?)?;
        let (options, seed) = options.split_last_chunk()?;
        let (options, parts) = options.split_first_chunk()?;
        // A copy, of which the compiler knows that nothing else writes to it: records take 4 % less.
        let options = &{ *self.decoding.read(options, u64::from_le_bytes(*seed)) };
        let parts = if parts.is_empty() { None } else { Some(Parts::read(parts)?) };
        // Most documents are about as long as their terms: one allocation instead of a doubling with its copies.
        if parts.is_none() {
            roomy(&mut self.output, json.len() + json.len() / 4)?;
        }
        let output = core::mem::take(&mut self.output);
        let mut writer = Writer::behind([DONE], seen, output, &mut self.memory, options);
        if let Some(names) = names {
            writer.collect(names);
        }
        if repeats {
            writer.keep_repeats();
        }
        let result = match parts {
            None => decode(json, options, &mut self.scratch, &mut writer).map_err(Failed::from),
            Some(parts) => parts.decode(json, options, 0, &mut self.scratch, &mut writer).map(|_| ()),
        };
        let names = writer.take_names();
        let (bytes, written) = writer.into_parts()?;
        put_back(&mut self.output, bytes);
        Some((result, written, names))
    }

    /// Decodes the values that a piece completes, which follows the question and the options. `None` when memory ran out.
    pub fn feed(&mut self, len: usize, options: usize) -> Option<&[u8]> {
        self.written(len)?;
        let (question, bytes) = self.input.split_at_checked(options)?;
        let (Question { held, last, stop, plan, mut state, .. }, options) = Question::read(question)?;
        let options = &seeded(options)?;
        roomy(&mut self.output, bytes.len() + bytes.len() / 4 + 64)?;
        let output = core::mem::take(&mut self.output);
        let mut writer = Writer::behind([DONE], bytes, output, &mut self.memory, options);
        // Names in a value that a repeated key replaces are names, too.
        if stop == Question::UNASKED && options.keys == Keys::ExistingAtoms {
            writer.keep_repeats();
        } else if stop < Question::KNOWN {
            writer.collect(Names { bytes: Vec::new(), left: stop });
        }
        let fed = feed(Piece { bytes, held, last }, &mut state, &plan, options, &mut self.scratch, &mut writer);
        let (mut output, written) = writer.into_parts()?;
        if matches!(fed.end, End::Wrong(Trouble { kind: ErrorKind::OutOfMemory, .. })) {
            return None;
        }
        output.truncate(written);
        write_answer(&fed, &state, &mut output);
        output.extend_from_slice(&(written as u32 - 1).to_le_bytes());
        self.output = output;
        Some(&self.output)
    }

    /// Decodes the documents that follow the options. `None` when memory ran out.
    pub fn many(&mut self, len: usize, options: usize) -> Option<&[u8]> {
        self.written(len)?;
        let (options, body) = self.input.split_at_checked(options)?;
        let options = &seeded(options)?;
        let batch = Batch::read(body)?;
        roomy(&mut self.output, batch.texts.len() + batch.texts.len() / 4 + 64)?;
        let output = core::mem::take(&mut self.output);
        let mut writer = Writer::behind([DONE], batch.texts, output, &mut self.memory, options);
        let (mut failures, mut buffer) = (Vec::new(), Vec::new());
        let failed = |number, text: &[u8], error| {
            write_failure(number, &DecodeFailure::locate(text, error), &mut buffer, &mut failures)
        };
        decode_many(&batch, options, &mut self.scratch, &mut writer, failed).ok()?;
        let (mut output, written) = writer.into_parts()?;
        output.truncate(written);
        output.extend_from_slice(&failures);
        output.extend_from_slice(&(written as u32 - 1).to_le_bytes());
        self.output = output;
        Some(&self.output)
    }

    #[cold]
    fn error(&mut self, len: usize, options: usize, failed: &Failed) -> Option<&[u8]> {
        if ended(failed) == Some(ErrorKind::OutOfMemory) {
            return None;
        }
        let failure = Undecoded::locate(&self.input[options..len], failed);
        failure.write(&mut self.output).then_some(&*self.output)
    }

    /// Encodes the term that follows the options. `None` when memory ran out.
    pub fn encode(&mut self, len: usize, options: usize) -> Option<&[u8]> {
        self.written(len)?;
        let (options, etf) = self.input.split_at_checked(options)?;
        let (options, plans) = EncodeOptions::from_bytes(options)?;
        let Some(plans) = plans::parse(plans) else { return broken(&mut self.output) };
        let mut reader = Reader::new(etf, &plans);
        let Some(root) = reader.root() else { return broken(&mut self.output) };
        let mut out = record(&mut self.output);
        let result = encode(&mut reader, root, &options, &mut out);
        let (bytes, written) = out.into_parts();
        self.output = bytes;
        match result {
            Ok(holes) if !holes.is_empty() => {
                let claims = holes.iter().map(|hole| claim(hole.offset, hole.term.offset(), hole.depth, hole.key));
                Partial::write(claims, &mut self.output, written).then_some(&*self.output)
            }
            Ok(_) => self.text(written, options.compress),
            Err(error) => self.failed(&error),
        }
    }

    fn failed(&mut self, error: &EncodeError) -> Option<&[u8]> {
        let written = error.kind != EncodeErrorKind::OutOfMemory && EncodeFailure::from(error).write(&mut self.output);
        written.then_some(&*self.output)
    }

    /// Encodes the term whose tape follows the options; the text will have about this many bytes. `None` when memory ran out.
    pub fn play(&mut self, len: usize, options: usize, expected: usize) -> Option<&[u8]> {
        self.written(len)?;
        // Without memory for so much, the output grows as far as it can.
        let _ = roomy(&mut self.output, expected);
        let (bytes, tape) = self.input.split_at_checked(options)?;
        let read;
        let options = match self.encoding.read(bytes) {
            Some(options) => options,
            None => {
                (read, _) = EncodeOptions::from_bytes(bytes)?;
                &read
            }
        };
        let mut out = record(&mut self.output);
        let result = play(tape, options, &mut self.player, &mut out);
        let compress = options.compress;
        let (bytes, written) = out.into_parts();
        put_back(&mut self.output, bytes);
        let holes = self.player.holes();
        match result {
            // The host knows what they are, in this order.
            Ok(()) if !holes.is_empty() => {
                let claims =
                    holes.iter().enumerate().map(|(number, offset)| Claim::of_tape(*offset as u32 - 1, number as u32));
                Partial::write(claims, &mut self.output, written).then_some(&*self.output)
            }
            Ok(()) => self.text(written, compress),
            Err(error) => self.failed(&error),
        }
    }

    /// The record of this length that holds the text, compressed if that is asked for.
    fn text(&mut self, len: usize, level: Option<u8>) -> Option<&[u8]> {
        let Some(level) = level else { return Some(&self.output[..len]) };
        let mut packed = vec![DONE];
        if !gzip::compress(&self.output[1..len], level.into(), &mut packed) {
            return None;
        }
        self.output = packed;
        Some(&self.output)
    }

    /// Compresses what follows the options. `None` when memory ran out.
    pub fn gzip(&mut self, len: usize, options: usize) -> Option<&[u8]> {
        self.written(len)?;
        let (options, bytes) = self.input.split_at_checked(options)?;
        let level = EncodeOptions::from_bytes(options)?.0.compress?;
        self.output.clear();
        self.output.push(DONE);
        gzip::compress(bytes, level.into(), &mut self.output).then_some(&*self.output)
    }

    /// Lays out the text that follows the options. `None` when memory ran out.
    pub fn format(&mut self, len: usize, options: usize) -> Option<&[u8]> {
        self.written(len)?;
        let (options, text) = self.input.split_at_checked(options)?;
        let (options, _) = EncodeOptions::from_bytes(options)?;
        let mut out = record(&mut self.output);
        let result = format(text, &Layout::new(&options), &mut out);
        rewritten(&mut self.output, out, result, text)
    }

    /// Writes what follows the options in canonical form. `None` when memory ran out.
    pub fn canonicalize(&mut self, len: usize, options: usize) -> Option<&[u8]> {
        self.written(len)?;
        let (options, text) = self.input.split_at_checked(options)?;
        let (options, seed) = options.split_last_chunk()?;
        let (options, most) = options.split_last_chunk()?;
        let options = &DecodeOptions::from_bytes(options, u64::from_le_bytes(*seed))?;
        let mut out = record(&mut self.output);
        let result = canonicalize(text, options, u64::from_le_bytes(*most), &mut self.scratch, &mut out);
        rewritten(&mut self.output, out, result, text)
    }

    /// Gives large buffers back.
    pub fn reset(&mut self) {
        self.scratch.shrink();
        self.memory = Memory::default();
        self.player.shrink();
        for buffer in [&mut self.input, &mut self.output] {
            if buffer.capacity() > KEEP {
                *buffer = Vec::new();
            }
        }
    }
}

/// Puts back a buffer that was taken from there, where an empty one is left: there is nothing to free, and asking takes longer than this.
#[inline(always)]
fn put_back<T>(place: &mut T, taken: T) {
    core::mem::forget(core::mem::replace(place, taken));
}

/// A record in this memory, whose status byte is written. What follows counts it.
#[inline(always)]
fn record(buffer: &mut Vec<u8>) -> Output<Vec<u8>> {
    let mut out = Output::new(core::mem::take(buffer));
    out.array([DONE]);
    out
}

/// The record of a text that was written in another form, or of the error in it. `None` when memory ran out.
fn rewritten<'a>(
    buffer: &'a mut Vec<u8>,
    out: Output<Vec<u8>>,
    result: Result<(), Error>,
    text: &[u8],
) -> Option<&'a [u8]> {
    let (bytes, written) = out.into_parts();
    *buffer = bytes;
    match result {
        Ok(()) => Some(&buffer[..written]),
        Err(error) if error.kind == ErrorKind::OutOfMemory => None,
        Err(error) => DecodeFailure::locate(text, error).write(buffer).then_some(&*buffer),
    }
}

/// The kind of the error that ended decoding, if one did.
const fn ended(failed: &Failed) -> Option<ErrorKind> {
    match failed {
        Failed::First(wrong) => Some(wrong.error.kind),
        Failed::All(found) => found.ended,
    }
}

/// The record for an input that is not a term.
fn broken(out: &mut Vec<u8>) -> Option<&[u8]> {
    let failure = EncodeFailure { kind: EncodeErrorKind::Unsupported, path: "", payload: b"" };
    failure.write(out).then_some(&*out)
}

/// Offsets in the output count the status byte, which is not part of the text.
fn claim(offset: usize, start: usize, depth: u32, key: bool) -> Claim {
    Claim { offset: offset as u32 - 1, start: start as u32, depth, key }
}

/// The options of decoding, behind which stands the seed of the hashes.
fn seeded(options: &[u8]) -> Option<DecodeOptions> {
    let (options, seed) = options.split_last_chunk()?;
    DecodeOptions::from_bytes(options, u64::from_le_bytes(*seed))
}

/// Makes a buffer at least `len` bytes long; its content may be lost. `None` if memory ran out.
fn roomy(buffer: &mut Vec<u8>, len: usize) -> Option<()> {
    (buffer.len() >= len || enlarge(buffer, len)).then_some(())
}

/// The same for a buffer that is too short.
#[cold]
fn enlarge(buffer: &mut Vec<u8>, len: usize) -> bool {
    // Freed before it is asked for again, so that the allocator can extend the same place.
    *buffer = Vec::new();
    if buffer.try_reserve_exact(len).is_err() {
        return false;
    }
    while buffer.len() < len {
        buffer.resize(len.min(buffer.len() + PART), 0);
    }
    true
}
