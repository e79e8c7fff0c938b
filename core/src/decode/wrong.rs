//! Why something cannot stand where it does.

use crate::error::{Error, ErrorKind};

/// The end of the white space at `pos`, where a token stands. Without white space, the token that was looked for at `pos` is missing.
#[inline(always)]
pub(super) fn unless_token(json: &[u8], pos: usize, end: usize, missing: ErrorKind) -> Result<usize, Error> {
    match json.get(end) {
        None => Err(Error::new(ErrorKind::UnexpectedEnd, end)),
        Some(_) if end == pos => Err(Error::new(missing, pos)),
        Some(_) => Ok(end),
    }
}

/// Why nothing at `pos` can be a value.
#[cold]
pub(super) fn no_value(json: &[u8], pos: usize) -> Error {
    let rest = &json[pos..];
    let kind = match rest.first() {
        None => ErrorKind::UnexpectedEnd,
        Some(b']' | b'}') if after_comma(json, pos) => ErrorKind::TrailingComma,
        Some(b'\'') => ErrorKind::SingleQuotes,
        _ if rest.starts_with(b"NaN") => ErrorKind::Nan,
        _ if rest.starts_with(b"Infinity") => ErrorKind::Infinity,
        _ => ErrorKind::ExpectedValue,
    };
    Error::new(kind, pos)
}

/// Why nothing at `pos` can be a key.
#[cold]
pub(super) fn no_key(json: &[u8], pos: usize) -> Error {
    let kind = match json.get(pos) {
        None => ErrorKind::UnexpectedEnd,
        Some(b'}') if after_comma(json, pos) => ErrorKind::TrailingComma,
        Some(b'\'') => ErrorKind::SingleQuotes,
        Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') => ErrorKind::UnquotedKey,
        _ => ErrorKind::ExpectedKey,
    };
    Error::new(kind, pos)
}

/// The error of a document that starts at this offset of a text: a comma before it is none of its own.
pub(crate) fn at_start(error: Error, start: usize) -> Error {
    match error {
        Error { kind: ErrorKind::TrailingComma, offset } if offset == start => {
            Error::new(ErrorKind::ExpectedValue, start)
        }
        error => error,
    }
}

/// Whether the last thing before `pos`, white space aside, is a comma.
fn after_comma(json: &[u8], pos: usize) -> bool {
    json[..pos].iter().rev().find(|&&byte| !crate::simd::is_space(byte)) == Some(&b',')
}

/// Not the word it starts like; the word may also be cut off by the end of the input.
#[cold]
pub(super) fn bad_literal(json: &[u8], pos: usize, word: &[u8]) -> Error {
    if word.starts_with(&json[pos..]) {
        return Error::new(ErrorKind::UnexpectedEnd, json.len());
    }
    Error::new(ErrorKind::ExpectedValue, pos)
}

/// No literal, where one with this first byte has to be.
#[cold]
pub(super) fn no_literal(json: &[u8], pos: usize, first: u8) -> Error {
    let word: &[u8] = match first {
        b't' => b"true",
        b'f' => b"false",
        _ => b"null",
    };
    bad_literal(json, pos, word)
}

/// One value or key more than there may be, if one stands at `pos` at all.
#[cold]
pub(super) fn too_many(json: &[u8], pos: usize) -> Error {
    match json.get(pos) {
        Some(b'"' | b'-' | b'0'..=b'9' | b'{' | b'[' | b't' | b'f' | b'n') => Error::new(ErrorKind::MaxNodes, pos),
        _ => no_value(json, pos),
    }
}
