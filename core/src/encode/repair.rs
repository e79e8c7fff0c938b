//! Strings that are not UTF-8: an error, or U+FFFD for each maximal subpart, as Unicode recommends and
//! `String.replace_invalid/1` does. And integers that JavaScript would round.

use super::driver::{Driver, LONG_STRING, Walk};
use super::error::{self, EncodeErrorKind};
use super::number;
use super::reader::TermReader;
use super::string::NotUtf8;
use super::writer::Writer;
use crate::output::{Buffer, Output};
use crate::simd::copy::CopyKernel;
use alloc::borrow::Cow;
use alloc::vec::Vec;

/// The largest integer of which JavaScript, whose numbers are floats, knows the neighbours apart.
const LARGEST_SAFE: u64 = (1 << 53) - 1;

#[inline(always)]
pub const fn is_safe(value: i64) -> bool {
    value.unsigned_abs() <= LARGEST_SAFE
}

/// U+FFFD.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// The text with its invalid parts replaced. `None`: there is no memory.
pub(super) fn repaired(bytes: &[u8]) -> Option<Vec<u8>> {
    let len = bytes.utf8_chunks().map(|chunk| chunk.valid().len() + replacement(chunk.invalid()).len()).sum();
    let mut text = Vec::new();
    text.try_reserve_exact(len).ok()?;
    for chunk in bytes.utf8_chunks() {
        text.extend_from_slice(chunk.valid().as_bytes());
        text.extend_from_slice(replacement(chunk.invalid()));
    }
    Some(text)
}

/// What stands for the invalid part of a chunk, which the last chunk may lack.
const fn replacement(invalid: &[u8]) -> &'static [u8] {
    if invalid.is_empty() { b"" } else { REPLACEMENT }
}

impl<'t, K: CopyKernel, R: TermReader<'t>, W: Writer> Driver<'_, 't, K, R, W> {
    /// A string turned out not to be UTF-8.
    #[cold]
    #[inline(never)]
    pub fn not_utf8(&mut self, bytes: &[u8], wrong: NotUtf8) -> Walk<()> {
        if !self.options.replace_invalid {
            self.payload = error::invalid_utf8(bytes);
            return Err(EncodeErrorKind::InvalidUtf8);
        }
        if bytes.len() > self.most_repaired().unwrap_or_default() {
            return Err(EncodeErrorKind::Budget);
        }
        if self.out.replace(self.kernel, self.options, wrong, bytes) {
            Ok(())
        } else {
            Err(EncodeErrorKind::OutOfMemory)
        }
    }

    /// Replaces the key at the end of the gathered text by its repaired form: keys are compared as they are written.
    pub fn repair_key(&mut self, start: usize) -> Walk<usize> {
        let most = self.most_repaired();
        let text = &mut self.gathered.text;
        if let Cow::Owned(key) = written_key(&text.written()[start..], most)? {
            text.truncate(start);
            text.text(&key);
        }
        Ok(self.gathered.text.len())
    }

    /// The most bytes that are repaired in this call, if any are: invalid ones take about four times as long as those that are copied.
    pub fn most_repaired(&self) -> Option<usize> {
        let most = if self.in_slice() { LONG_STRING / 4 } else { usize::MAX };
        self.options.replace_invalid.then_some(most)
    }
}

/// A key as it is written. `most` limits the bytes of one whose invalid parts are replaced; without it, none is.
pub(super) fn written_key(key: &[u8], most: Option<usize>) -> Walk<Cow<'_, [u8]>> {
    match most {
        Some(most) if core::str::from_utf8(key).is_err() => {
            if key.len() > most {
                return Err(EncodeErrorKind::Budget);
            }
            repaired(key).map(Cow::Owned).ok_or(EncodeErrorKind::OutOfMemory)
        }
        _ => Ok(Cow::Borrowed(key)),
    }
}

/// Appends an integer that is not safe.
#[inline(never)]
pub(super) fn quoted_integer<B: Buffer>(out: &mut Output<B>, value: i64) {
    out.text(b"\"");
    number::rare_integer(out, value);
    out.text(b"\"");
}

#[cfg(test)]
mod tests {
    use super::repaired;
    use crate::EncodeOptions;
    use crate::encode::tests::{Bin, Int, List, PLAIN, bin, fields, json_with};
    use crate::options::Escape;
    use alloc::string::String;

    const REPLACE: EncodeOptions<'_> = EncodeOptions { replace_invalid: true, ..PLAIN };

    #[test]
    fn every_maximal_subpart_becomes_one_character() {
        for (bytes, text) in [
            (&b"\xE2\x82"[..], "\u{FFFD}"),
            (b"a\xF0\x9F\x98b", "a\u{FFFD}b"),
            (b"\xED\xA0\x80", "\u{FFFD}\u{FFFD}\u{FFFD}"),
            (b"\xC0\x80", "\u{FFFD}\u{FFFD}"),
            (b"\xFF\"\xFE", "\u{FFFD}\"\u{FFFD}"),
        ] {
            assert_eq!(repaired(bytes).unwrap(), text.as_bytes());
            let quoted = alloc::format!("\"{}\"", text.replace('"', "\\\""));
            assert_eq!(json_with(REPLACE, &Bin(bytes.to_vec())), quoted);
        }
    }

    #[test]
    fn what_was_written_of_the_string_is_taken_back() {
        let term = List(alloc::vec![bin("x"), Bin(b"\n\xFF\"\xC3\xA9".to_vec()), bin("y")]);
        assert_eq!(json_with(REPLACE, &term), "[\"x\",\"\\n\u{FFFD}\\\"é\",\"y\"]");
        let ascii = EncodeOptions { escape: Escape::UnicodeSafe, ..REPLACE };
        assert_eq!(json_with(ascii, &term), r#"["x","\n\uFFFD\"\u00E9","y"]"#);
    }

    #[test]
    fn keys_are_sorted_and_compared_as_they_are_written() {
        let key = |bytes: &[u8]| Bin(bytes.to_vec());
        let map = crate::encode::tests::Map(alloc::vec![(key(b"a\xFF"), Int(1)), (key(b"a\xE2\x82\xAC"), Int(2)),]);
        let sort = EncodeOptions { sort_keys: true, ..REPLACE };
        assert_eq!(json_with(sort, &map), "{\"a€\":2,\"a\u{FFFD}\":1}");
        let same = crate::encode::tests::Map(alloc::vec![(key(b"\xFF"), Int(1)), (key(b"\xFE"), Int(2))]);
        let strict = EncodeOptions { strict_maps: true, ..REPLACE };
        let error = crate::encode::tests::encode_with(&same, &strict).unwrap_err();
        assert_eq!(String::from_utf8(error.payload).unwrap(), "\u{FFFD}");
    }

    #[test]
    fn unsafe_integers_become_strings() {
        let safe = EncodeOptions { safe_integers: true, ..PLAIN };
        let largest = (1_i64 << 53) - 1;
        for value in [0, -1, 255, largest, -largest] {
            assert_eq!(json_with(safe, &Int(value)), alloc::format!("{value}"));
        }
        for value in [largest + 1, -largest - 1, i64::MAX, i64::MIN + 1] {
            assert_eq!(json_with(safe, &Int(value)), alloc::format!("\"{value}\""));
        }
        let big = crate::encode::tests::Big(true, alloc::vec![0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(json_with(safe, &fields(&[("a", big)])), r#"{"a":"-18446744073709551616"}"#);
    }
}
