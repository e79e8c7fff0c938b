//! Many documents in one call.

use super::{Scratch, at_start, starts_with_mark, value};
use crate::abi::batch::Batch;
use crate::builder::Rewind;
use crate::error::{Error, ErrorKind};
use crate::options::DecodeOptions;
use crate::simd::Kernel;
use crate::with_kernel;

/// Decodes the documents of a batch. The builder then holds one list more, with the values of those without an error; `failed`
/// is told about the others: number, text and error, whose offset counts from the start of that text.
///
/// # Errors
/// Memory ran out for the list, or `failed` says that it has none.
///
/// ```
/// use rustyjson_core::abi::batch::Batch;
/// use rustyjson_core::{DecodeOptions, ErrorKind, Scratch, decode::decode_many, etf::writer::Writer};
///
/// let batch = Batch::read(b"\x02\0\0\0\x01\0\0\0\x01\0\0\01x").unwrap();
/// let (options, mut errors) = (DecodeOptions::default(), Vec::new());
/// let mut out = Writer::new(batch.texts, Vec::new(), &options);
/// let failed = |number, _: &[u8], error| { errors.push((number, error)); true };
/// decode_many(&batch, &options, &mut Scratch::default(), &mut out, failed).unwrap();
/// assert_eq!(out.finish().unwrap(), [131, 108, 0, 0, 0, 1, 97, 1, 106]);
/// assert_eq!((errors[0].0, errors[0].1.kind, errors[0].1.offset), (1, ErrorKind::ExpectedValue, 0));
/// ```
pub fn decode_many<B: Rewind>(
    batch: &Batch<'_>,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    builder: &mut B,
    mut failed: impl FnMut(usize, &[u8], Error) -> bool,
) -> Result<(), ErrorKind> {
    builder.begin_array();
    let decoded = with_kernel!(kernel => each(kernel, batch, options, scratch, builder, &mut failed))?;
    builder.end_array(decoded)
}

/// The documents one after the other; how many of them are values.
#[inline(always)]
fn each<K: Kernel, B: Rewind>(
    kernel: K,
    batch: &Batch<'_>,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    builder: &mut B,
    failed: &mut impl FnMut(usize, &[u8], Error) -> bool,
) -> Result<usize, ErrorKind> {
    let mut decoded = 0;
    for (number, place) in batch.places().enumerate() {
        let mark = builder.mark();
        match document(kernel, &batch.texts[..place.end], place.start, options, scratch, builder) {
            Ok(()) => decoded += 1,
            Err(Error { kind, offset }) => {
                builder.rewind(mark);
                let error = Error::new(kind, offset - place.start);
                if kind == ErrorKind::OutOfMemory || !failed(number, &batch.texts[place], error) {
                    return Err(ErrorKind::OutOfMemory);
                }
            }
        }
    }
    Ok(decoded)
}

/// The one value from `start` to the end of the text, with nothing but insignificant whitespace around it.
#[inline(always)]
fn document<K: Kernel, B: Rewind>(
    kernel: K,
    text: &[u8],
    start: usize,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    builder: &mut B,
) -> Result<(), Error> {
    if starts_with_mark(&text[start..]) {
        return Err(Error::new(ErrorKind::ByteOrderMark, start));
    }
    let pos = kernel.space_end(text, start);
    let end = value(kernel, text, pos, options, scratch, builder).map_err(|error| at_start(error, pos))?;
    let rest = kernel.space_end(text, end);
    if rest < text.len() { Err(Error::new(ErrorKind::TrailingData, rest)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::decode;
    use crate::etf::writer::Writer;
    use alloc::vec::Vec;

    const DOCUMENTS: [&str; 21] = [
        "1",
        "",
        " [1, 2.5] ",
        "[",
        "{\"a\": {\"b\": nul",
        "null",
        "}",
        "]",
        ",",
        "[1,]",
        "{\"a\":1,}",
        "1 2",
        "\u{feff}1",
        "\"a\\u00",
        "{\"k\":1,\"k\":2}",
        "   ",
        "-",
        "[1,",
        "]",
        "1,",
        " }",
    ];

    #[test]
    fn every_document_has_the_answer_that_it_has_alone() {
        let lengths = DOCUMENTS.iter().flat_map(|text| (text.len() as u32).to_le_bytes());
        let count = (DOCUMENTS.len() as u32).to_le_bytes();
        let body: Vec<u8> = count.into_iter().chain(lengths).chain(DOCUMENTS.concat().into_bytes()).collect();
        let batch = Batch::read(&body).unwrap();
        let (options, mut errors) = (DecodeOptions::default(), Vec::new());
        let mut out = Writer::new(batch.texts, Vec::new(), &options);
        let failed = |number: usize, text: &[u8], error: Error| {
            assert_eq!(text, DOCUMENTS[number].as_bytes());
            errors.push((number, error.kind, error.offset));
            true
        };
        decode_many(&batch, &options, &mut Scratch::default(), &mut out, failed).unwrap();

        let (mut terms, mut expected, mut decoded) = (Vec::new(), Vec::new(), 0u32);
        for (number, text) in DOCUMENTS.iter().enumerate() {
            let mut alone = Writer::new(text.as_bytes(), Vec::new(), &options);
            match decode(text.as_bytes(), &options, &mut Scratch::default(), &mut alone) {
                Ok(()) => {
                    terms.extend_from_slice(&alone.finish().unwrap()[1..]);
                    decoded += 1;
                }
                Err(error) => expected.push((number, error.kind, error.offset)),
            }
        }
        assert_eq!(errors, expected);
        let list = [&[131, 108][..], &decoded.to_be_bytes(), &terms, &[106]].concat();
        assert_eq!(out.finish().unwrap(), list);
    }

    #[test]
    fn limits_count_from_each_document() {
        let options = DecodeOptions { max_nodes: 2, max_depth: 1, ..DecodeOptions::default() };
        let body = b"\x03\0\0\0\x03\0\0\0\x05\0\0\0\x03\0\0\0[1][2,3][4]";
        let mut failed = Vec::new();
        let batch = Batch::read(body).unwrap();
        let mut out = Writer::new(batch.texts, Vec::new(), &options);
        let add = |number, _: &[u8], error: Error| {
            failed.push((number, error.kind, error.offset));
            true
        };
        decode_many(&batch, &options, &mut Scratch::default(), &mut out, add).unwrap();
        assert_eq!(failed, [(1, ErrorKind::MaxNodes, 3)]);
    }

    #[test]
    fn the_call_ends_at_an_error_for_which_there_is_no_memory() {
        let batch = Batch::read(b"\x03\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\x001xy").unwrap();
        let (options, mut told) = (DecodeOptions::default(), Vec::new());
        let failed = |number, _: &[u8], _| {
            told.push(number);
            false
        };
        let mut out = Writer::new(batch.texts, Vec::new(), &options);
        let result = decode_many(&batch, &options, &mut Scratch::default(), &mut out, failed);
        assert_eq!((result, told), (Err(ErrorKind::OutOfMemory), [1].to_vec()));
    }
}
