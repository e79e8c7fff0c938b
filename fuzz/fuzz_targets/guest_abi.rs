//! The WebAssembly module's exports: an honest call answers as the core does, and no arguments make it trap or name a
//! record outside its memory.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rustyjson_core::DecodeOptions;
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

fn honest(guest: &mut Guest, json: &[u8], flags: u32) {
    let options = DecodeOptions::from_bits(flags, 128, 1024, 0, 7);
    assert!(guest.write(json));
    let record = guest.decode("decode", (json.len() as u32, flags, 128, 1024, 0, 7)).expect("there is memory");
    match written(json, &options) {
        Ok(etf) => assert_eq!((record[0], &record[1..]), (1, &etf[..])),
        Err(error) => {
            assert_eq!(record[..2], [0, error.kind as u8]);
            assert_eq!(record[2..10], (error.offset as u64).to_le_bytes());
        }
    }
}

fn hostile(guest: &mut Guest, choice: u8, mut data: &[u8]) {
    let mut next = || number(&mut data);
    let (a, b, c, d, e, f) = (next(), next(), next(), next(), next(), next());
    match choice % 5 {
        0 => drop(guest.decode("decode", (a, b, c, d, u64::from(e), u64::from(f)))),
        1 => drop(guest.decode("keys", (a, b, c, d, u64::from(e), u64::from(f)))),
        // Compression is slow and has no size that an argument could make wrong.
        2 => drop(guest.encode((a, b, c, d, u32::MAX, e, u64::from(f)))),
        3 => drop(guest.format((a, b, c, d % 200))),
        _ => drop(guest.input(a % (1 << 24))),
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&choice, data)) = data.split_first() else { return };
    GUEST.with_borrow_mut(|guest| {
        if choice & 1 == 0 {
            honest(guest, data, u32::from(choice) >> 1 & 0x3F);
        } else {
            assert!(guest.write(data));
            // Lengths near the truth reach further than random ones.
            let len = data.len() as u32;
            drop(guest.encode((len, 0, u32::from(choice) >> 1, 128, u32::MAX, 0, 1 << 20)));
            drop(guest.encode((len, len / 2, 0, 128, u32::MAX, 0, 1 << 20)));
            drop(guest.format((len, len.min(32), 0, 64)));
            hostile(guest, choice >> 1, data);
        }
        guest.reset();
    });
});
