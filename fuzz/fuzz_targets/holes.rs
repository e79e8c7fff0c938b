//! Holes that a guest reports: the host accepts those of an honest guest, and only holes at terms that the encoder leaves to
//! Elixir.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rustyjson_core::abi::{Claim, Partial};
use rustyjson_core::encode::encode;
use rustyjson_core::etf::holes;
use rustyjson_core::etf::reader::{PlannedStruct, Reader};
use rustyjson_core::options::Pretty;
use rustyjson_core::{EncodeOptions, Output};

const MODULES: [&str; 8] = [
    "Elixir.User",
    "Elixir.Date",
    "Elixir.MapSet",
    "Elixir.Range",
    "Elixir.RustyJson.Fragment",
    "Elixir.RustyJson.OrderedObject",
    "Elixir.Calendar.ISO",
    "Elixir.Decimal",
];
const FIELDS: [&str; 10] = ["map", "first", "last", "step", "encode", "values", "coef", "exp", "sign", "year"];
const LEAVES: [&[u8]; 12] = [
    b"\x61\x07",
    b"\x62\xff\xff\xff\xff",
    b"\x6e\x08\0\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\x46\x3f\xf8\0\0\0\0\0\0",
    b"\x6d\0\0\0\x02ab",
    b"\x6a",
    b"\x6b\0\x02ab",
    b"\x77\x03nil",
    b"\x70\0\0\0\x06\xff\xff",
    b"\x58\x77\x01n\0\0\0\x01\0\0\0\0\0\0\0\0",
    b"\x71\x77\x01m\x77\x01f\x61\x01",
    b"\x4d\0\0\0\x01\x03\xa0",
];
const PRETTY: Pretty<'_> = Pretty { indent: b" ", line_separator: b"\n", record_separator: b"\n", after_colon: b" " };

/// A term as a runtime writes it. Each byte is a choice.
fn build(data: &mut impl Iterator<Item = u8>, depth: usize, out: &mut Vec<u8>) {
    let choice = data.next().unwrap_or_default();
    let (kind, size) = (choice & 7, choice >> 3 & 3);
    match kind {
        _ if depth == 0 => out.extend(LEAVES[usize::from(choice) % LEAVES.len()]),
        0..=2 => out.extend(LEAVES[usize::from(choice >> 3) % LEAVES.len()]),
        3 if size > 0 => {
            out.extend([108, 0, 0, 0, size]);
            (0..size).for_each(|_| build(data, depth - 1, out));
            out.push(106);
        }
        3 | 4 => {
            out.extend([104, size]);
            (0..size).for_each(|_| build(data, depth - 1, out));
        }
        _ => map(data, depth, kind > 5, size, out),
    }
}

fn atom(name: &str, out: &mut Vec<u8>) {
    out.extend([119, name.len() as u8]);
    out.extend(name.as_bytes());
}

/// A map whose keys differ, or a struct.
fn map(data: &mut impl Iterator<Item = u8>, depth: usize, structure: bool, size: u8, out: &mut Vec<u8>) {
    let choice = usize::from(data.next().unwrap_or_default());
    out.extend([116, 0, 0, 0, size + u8::from(structure)]);
    if structure {
        atom("__struct__", out);
        atom(MODULES[choice % MODULES.len()], out);
    }
    for i in 0..usize::from(size) {
        if structure && choice & 0x80 == 0 {
            atom(FIELDS[(choice / 8 + i) % FIELDS.len()], out);
        } else {
            // A list of one term keeps odd keys apart.
            out.extend([108, 0, 0, 0, 2, 97, i as u8]);
            build(data, depth - 1, out);
            out.push(106);
        }
        build(data, depth - 1, out);
    }
}

/// The holes that an honest guest reports, or `None` for an error.
fn honest(etf: &[u8], options: &EncodeOptions<'_>, plans: &[PlannedStruct<'_>]) -> Option<Vec<Claim>> {
    let mut reader = Reader::new(etf, plans);
    let root = reader.root()?;
    let mut out = Output::new(Vec::new());
    let holes = encode(&mut reader, root, options, &mut out).ok()?;
    let claim = |hole: &rustyjson_core::encode::Hole<rustyjson_core::etf::reader::Term>| Claim {
        offset: hole.offset as u32,
        start: hole.term.offset() as u32,
        depth: hole.depth,
        key: hole.key,
    };
    Some(holes.iter().map(claim).collect())
}

fn record(claims: &[Claim]) -> Vec<u8> {
    let mut out = vec![b' '; 1 << 12];
    let len = out.len();
    assert!(Partial::write(claims.iter().copied(), &mut out, len));
    out[1..].to_vec()
}

/// Whether a term alone is left to Elixir, or is a well-known struct, or has keys that may be odd: there the encoder looks closer.
fn may_be_left(etf: &[u8], options: &EncodeOptions<'_>, plans: &[PlannedStruct<'_>]) -> bool {
    let alone = EncodeOptions { base_depth: 0, ..*options };
    match honest(etf, &alone, plans) {
        None => true,
        Some(claims) => claims.iter().any(|claim| claim.start == 1) || etf[1] == 116,
    }
}

fuzz_target!(|data: &[u8]| {
    let Some(([flags, extra], data)) = data.split_first_chunk() else { return };
    let options = EncodeOptions {
        strict_maps: flags & 1 != 0,
        sort_keys: flags & 2 != 0,
        plain_structs: flags & 4 != 0,
        lean: flags & 8 != 0,
        pretty: (extra & 1 != 0).then_some(PRETTY),
        ..EncodeOptions::default()
    };
    let plan = PlannedStruct { module: b"Elixir.User", fields: vec![b"map", b"first"], names: None, omitted: None };
    let plans = if extra & 2 != 0 { vec![plan] } else { Vec::new() };
    let (term, lies) = data.split_at(data.len() / 2);

    let mut etf = vec![131];
    build(&mut term.iter().copied(), 5, &mut etf);
    let found = honest(&etf, &options, &plans).unwrap_or_default();
    if !found.is_empty() && found.iter().all(|claim| claim.offset < 1 << 12) {
        let body = record(&found);
        let (holes, _) = holes::read(&body, &etf, &options, &plans).expect("an honest guest is believed");
        assert!(holes.iter().zip(&found).all(|(hole, claim)| hole.term.start == claim.start as usize));
    }

    // Each lie is a place and whether it is a key.
    let claims: Vec<Claim> = lies
        .chunks_exact(2)
        .map(|lie| Claim {
            offset: 0,
            start: u32::from(lie[0]) | u32::from(lie[1] & 0x3F) << 8,
            depth: 0,
            key: lie[1] & 0x80 != 0,
        })
        .collect();
    let body = record(&claims);
    if let Ok((holes, _)) = holes::read(&body, &etf, &options, &plans) {
        for hole in holes.iter().filter(|hole| !hole.key) {
            assert!(may_be_left(&[&[131], &etf[hole.term.clone()]].concat(), &options, &plans));
        }
    }
    // Reading ends for any two values.
    drop(holes::read(lies, data, &options, &plans));
});
