//! The records of the guest: written records are read back, and other bytes never read as a record that no honest guest writes.

use rustyjson_core::abi::batch::{Batch, BatchAnswer};
use rustyjson_core::abi::{DecodeFailure, DecodeFailures, EncodeFailure, Names, Partial, Status, open};
use rustyjson_core::encode::MAX_PAYLOAD;
use rustyjson_core::etf::check::{Policy, check_list};
use rustyjson_core::locate::MAX_PATH;
use rustyjson_core::parts::Parts;
use rustyjson_core::{DecodeOptions, Error, ErrorKind};
use rustyjson_fuzz::naive::parts::types::{Left, Type, asking};

const MOST_ERRORS: usize = 3;

/// The place of an error in the bytes as a document is told as it is.
fn honest(json: &[u8], choice: usize) {
    let kind = ErrorKind::ALL[choice % ErrorKind::ALL.len()];
    let failure = DecodeFailure::locate(json, Error::new(kind, choice % (json.len() + 1)));
    let mut out = Vec::new();
    assert!(failure.write(&mut out));
    assert_eq!(DecodeFailure::read(&out[1..], json.len()), Some(failure));
}

/// A record that is read lies within its bounds, and is written again unchanged.
fn hostile(record: &[u8], len: usize) {
    let mut out = Vec::new();
    match open(record) {
        Some((Status::Error, body)) => {
            if let Some(failure) = DecodeFailure::read(body, len) {
                assert!(failure.offset <= len as u64 && failure.path.len() <= MAX_PATH);
                assert!((1..=len as u64 + 1).contains(&failure.line) && (1..=len as u64 + 1).contains(&failure.column));
                assert!(failure.write(&mut out) && out == record);
            }
            if let Some(failure) = EncodeFailure::read(body) {
                assert!(failure.path.len() <= MAX_PATH && failure.payload.len() <= MAX_PAYLOAD);
                assert!(failure.write(&mut out) && out == record);
            }
        }
        Some((Status::Partial, body)) => {
            if let Some(partial) = Partial::read(body) {
                out = [&[Status::Done as u8], partial.text].concat();
                let text = out.len();
                assert!(Partial::write(partial.claims(), &mut out, text) && out == record);
            }
        }
        Some((Status::Done, body)) => {
            let names: Option<Vec<_>> = Names(body).collect();
            if let Some(names) = names {
                assert!(names.iter().all(|name| Names::write(name, &mut out)) && out == body);
            }
        }
        Some((Status::Errors, body)) => all_errors(body, len, record),
        None => {}
    }
}

/// All errors of a type, of which a few are asked for: they are in the order of the text and no more than that.
fn all_errors(body: &[u8], len: usize, record: &[u8]) {
    let plan = asking(&Type::Plain(0), MOST_ERRORS, Left::Judged(&[]));
    let Some(Parts::Typed(shape)) = Parts::read(&plan) else { panic!("a plan") };
    if let Some(failures) = DecodeFailures::read(body, len, &shape) {
        assert!((1..=MOST_ERRORS).contains(&failures.list.len()) && failures.list.len() as u64 <= failures.total);
        assert!(failures.list.is_sorted_by_key(|failure| failure.offset));
        let mut out = Vec::new();
        assert!(failures.write(&mut out) && out == record);
    }
}

/// A record about many documents refers only to existing documents, to each once, and stays within their bounds.
fn many(data: &[u8]) {
    let Some((&len, rest)) = data.split_first() else { return };
    let Some((body, record)) = rest.split_at_checked(usize::from(len)) else { return };
    let Some(batch) = Batch::read(body) else { return };
    let Some(answer) = BatchAnswer::read(record, &batch) else { return };
    let lengths: Vec<_> = batch.lengths().collect();
    assert!(answer.failures.is_sorted_by(|(one, _), (next, _)| one < next));
    assert!(answer.failures.iter().all(|(number, it)| it.offset <= lengths[*number] as u64));
    assert_eq!(answer.decoded(&batch).count() + answer.failures.len(), lengths.len());
    // An accepted record is a list with one term per document.
    let policies = answer.decoded(&batch).map(|len| Policy::new(&DecodeOptions::DEFAULT, len));
    let _ = check_list(answer.list, policies);
}

pub fn run(data: &[u8]) {
    let Some(([first, second], data)) = data.split_first_chunk() else { return };
    honest(data, usize::from(*first) << 8 | usize::from(*second));
    hostile(data, usize::from(*first));
    many(data);
}
