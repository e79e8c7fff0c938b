//! The WebAssembly module's exports: an honest call gives the core's result, and no arguments make the module trap or return a
//! record outside its memory.

use rustyjson_core::{DecodeOptions, EncodeOptions};
use rustyjson_fuzz::guest::Guest;
use rustyjson_fuzz::naive::etf::written;
use std::cell::RefCell;

thread_local! {
    static GUEST: RefCell<Guest> = RefCell::new(Guest::load());
}

fn number(data: &mut &[u8]) -> u32 {
    let (bytes, rest) = data.split_first_chunk().unwrap_or((&[0; 4], &[]));
    *data = rest;
    u32::from_le_bytes(*bytes)
}

/// The first bytes are the options, the rest is the document.
fn honest(guest: &mut Guest, data: &[u8]) {
    let Some((bytes, json)) = data.split_at_checked(DecodeOptions::LEN) else { return };
    let options = DecodeOptions::from_bytes(bytes, 7).expect("long enough");
    let input = [bytes, &7_u64.to_le_bytes(), json].concat();
    assert!(guest.write(&input));
    let lengths = (input.len() as u32, DecodeOptions::LEN as u32 + 8);
    let record = guest.call("resolve", lengths).expect("there is memory");
    match written(json, &options) {
        Ok(etf) => assert_eq!((record[0], &record[1..]), (1, &etf[..])),
        Err(error) => {
            assert_eq!(record[0], 0);
            assert_eq!(rustyjson_core::ErrorKind::from_code(record[1]).map(|kind| kind.plain()), Some(error.kind));
            assert_eq!(record[2..10], (error.offset as u64).to_le_bytes());
        }
    }
}

/// Leaves out compression, which is slow and has no sizes that an argument could make wrong.
fn uncompressed(mut data: &[u8]) -> Vec<u8> {
    let mut fields = EncodeOptions::DEFAULT_BYTES;
    for field in &mut fields {
        let Some((byte, rest)) = data.split_first() else { break };
        (*field, data) = (*byte, rest);
    }
    let level = EncodeOptions::DEFAULT_BYTES.iter().position(|byte| *byte == u8::MAX).expect("compress");
    fields[level] = u8::MAX;
    [&fields[..], data].concat()
}

fn hostile(guest: &mut Guest, choice: u8, mut data: &[u8]) {
    let mut next = || number(&mut data);
    let (len, options, stop) = (next(), next(), u64::from(next()));
    match choice % 5 {
        0 => drop((guest.call("decode", (len, options)), guest.call("resolve", (len, options)))),
        1 => drop(guest.keys((len, options), stop)),
        2 => drop(guest.call("encode", (len, options))),
        3 => drop(guest.call("format", (len, options))),
        _ => drop(guest.input(len % (1 << 24))),
    }
}

pub fn run(data: &[u8]) {
    let Some((&choice, data)) = data.split_first() else { return };
    GUEST.with_borrow_mut(|guest| {
        if choice & 1 == 0 {
            honest(guest, data);
        } else {
            let data = uncompressed(data);
            assert!(guest.write(&data));
            // Lengths near the truth reach further than random ones.
            let len = data.len() as u32;
            let options = EncodeOptions::LEN as u32;
            for options in [options, options.midpoint(len)] {
                drop(guest.call("encode", (len, options)));
                drop(guest.call("format", (len, options)));
            }
            hostile(guest, choice >> 1, &data);
        }
        guest.reset();
    });
}
