//! JSON to External Term Format and back in the core, compared with the DOMs of other libraries. The documents are in the
//! folder `RUSTYJSON_BENCH_DOCUMENTS`, the guest is the file `RUSTYJSON_BENCH_GUEST`. `cargo bench -- --test` runs every
//! case once and compares the results.

use criterion::{
    BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime,
};
use rustyjson_bench::{Core, Document};
use serde_json::Value;
use simd_json::prelude::Writable;
use std::hint::black_box;
use std::path::PathBuf;

type Group<'a> = BenchmarkGroup<'a, WallTime>;

fn documents() -> Vec<Document> {
    let dir = std::env::var_os("RUSTYJSON_BENCH_DOCUMENTS")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../script/samples"), PathBuf::from);
    rustyjson_bench::documents(&dir).expect("a folder of documents")
}

/// Checks that serde_json reads the value that the core writes. (serde_json reads some floats with a small error in the last
/// place, and writes others in another notation.)
fn check(document: &Document) {
    let mut core = Core::default();
    let etf = core.decode(&document.json).to_vec();
    let ours: Value = serde_json::from_slice(core.encode(&etf)).expect("valid JSON");
    let theirs: Value = serde_json::from_slice(&document.json).expect("valid JSON");
    assert!(same(&ours, &theirs), "{}", document.name);
}

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (Value::Number(a), Value::Number(b)) if a.is_f64() && b.is_f64() => {
            let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
            (a - b).abs() <= a.abs() * 4.0 * f64::EPSILON
        }
        _ => a == b,
    }
}

fn decode(criterion: &mut Criterion) {
    for document in documents() {
        check(&document);
        let json = document.json.as_slice();
        let mut group = criterion.benchmark_group(format!("decode/{}", document.name));
        group.throughput(Throughput::Bytes(json.len() as u64));
        let mut core = Core::default();
        group.bench_function("core to ETF", |bencher| bencher.iter(|| core.decode(black_box(json)).len()));
        group.bench_function("serde_json", |bencher| {
            bencher.iter_with_large_drop(|| serde_json::from_slice::<Value>(black_box(json)).unwrap());
        });
        group.bench_function("sonic-rs", |bencher| {
            bencher.iter_with_large_drop(|| sonic_rs::from_slice::<sonic_rs::Value>(black_box(json)).unwrap());
        });
        decode_simd_json(&mut group, json);
        guest(&mut group, json, true);
        group.finish();
    }
}

/// It writes into its input, so each run gets a copy, made outside the measured time.
fn decode_simd_json(group: &mut Group<'_>, json: &[u8]) {
    group.bench_function("simd-json", |bencher| {
        bencher.iter_batched_ref(
            || json.to_vec(),
            |copy| drop(black_box(simd_json::to_borrowed_value(copy).unwrap())),
            BatchSize::LargeInput,
        );
    });
}

fn encode(criterion: &mut Criterion) {
    for document in documents() {
        let json = document.json.as_slice();
        let mut core = Core::default();
        let etf = core.decode(json).to_vec();
        let mut group = criterion.benchmark_group(format!("encode/{}", document.name));
        group.throughput(Throughput::Bytes(core.encode(&etf).len() as u64));
        group.bench_function("core from ETF", |bencher| bencher.iter(|| core.encode(black_box(&etf)).len()));
        let value: Value = serde_json::from_slice(json).unwrap();
        group.bench_function("serde_json", |bencher| bencher.iter(|| serde_json::to_vec(black_box(&value)).unwrap()));
        let value: sonic_rs::Value = sonic_rs::from_slice(json).unwrap();
        group.bench_function("sonic-rs", |bencher| bencher.iter(|| sonic_rs::to_vec(black_box(&value)).unwrap()));
        let mut copy = json.to_vec();
        let value = simd_json::to_borrowed_value(&mut copy).unwrap();
        group.bench_function("simd-json", |bencher| bencher.iter(|| black_box(&value).encode()));
        guest(&mut group, &etf, false);
        group.finish();
    }
}

#[cfg(feature = "wasm")]
fn guest(group: &mut Group<'_>, input: &[u8], decode: bool) {
    let Some(file) = std::env::var_os("RUSTYJSON_BENCH_GUEST") else { return };
    let wasm = std::fs::read(file).expect("a readable guest");
    let mut guest = rustyjson_bench::guest::Guest::new(&wasm).expect("a guest of these exports");
    let mut core = Core::default();
    match decode {
        true => assert_eq!(guest.decode(input), core.decode(input)),
        false => assert_eq!(guest.encode(input), core.encode(input)),
    }
    group.bench_function("guest in wasmtime", |bencher| match decode {
        true => bencher.iter(|| guest.decode(black_box(input)).len()),
        false => bencher.iter(|| guest.encode(black_box(input)).len()),
    });
}

#[cfg(not(feature = "wasm"))]
fn guest(_group: &mut Group<'_>, _input: &[u8], _decode: bool) {}

criterion_group!(benches, decode, encode);
criterion_main!(benches);
