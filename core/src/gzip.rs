//! gzip (RFC 1952) over a buffer, the same bytes on every machine and in both engines: no time, no name, no system.

use alloc::boxed::Box;
use alloc::vec::Vec;
use miniz_oxide::DataFormat;
use miniz_oxide::deflate::core::{CompressorOxide, TDEFLFlush, TDEFLStatus, compress_to_output};

/// Highest level.
pub const MAX_LEVEL: u32 = 9;
/// Magic number, deflate, no flags, no time; then the extra flags, and 255 for an unknown system.
const HEADER: [u8; 8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0];
const UNKNOWN_SYSTEM: u8 = 255;

/// Appends the compressed bytes to `out`. `false` when memory ran out.
///
/// ```
/// let mut out = Vec::new();
/// assert!(rustyjson_core::gzip::compress(b"[1]", 6, &mut out));
/// assert_eq!(out[..4], [0x1F, 0x8B, 8, 0]);
/// ```
#[must_use]
pub fn compress(bytes: &[u8], level: u32, out: &mut Vec<u8>) -> bool {
    let level = level.min(MAX_LEVEL);
    if out.try_reserve(bytes.len() / 4 + 64).is_err() {
        return false;
    }
    out.extend_from_slice(&HEADER);
    out.extend_from_slice(&[extra_flags(level), UNKNOWN_SYSTEM]);
    if !deflate(bytes, level, out) || out.try_reserve(8).is_err() {
        return false;
    }
    out.extend_from_slice(&crc32(bytes).to_le_bytes());
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    true
}

/// 2 and 4 tell the slowest and the fastest method.
const fn extra_flags(level: u32) -> u8 {
    match level {
        9 => 2,
        0 | 1 => 4,
        _ => 0,
    }
}

/// The remainders of all bytes (RFC 1952 section 8). One kilobyte: the 16 of the usual libraries are a tenth of the guest,
/// and deflate takes ten times as long as this in any case.
const CRC: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            remainder = if remainder & 1 == 1 { 0xEDB8_8320 ^ (remainder >> 1) } else { remainder >> 1 };
            bit += 1;
        }
        table[byte] = remainder;
        byte += 1;
    }
    table
};

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| CRC[usize::from(crc as u8 ^ byte)] ^ (crc >> 8))
}

fn deflate(bytes: &[u8], level: u32, out: &mut Vec<u8>) -> bool {
    let mut state = Box::<CompressorOxide>::default();
    state.set_format_and_level(DataFormat::Raw, level as u8);
    let append = |part: &[u8]| {
        let room = out.try_reserve(part.len()).is_ok();
        if room {
            out.extend_from_slice(part);
        }
        room
    };
    compress_to_output(&mut state, bytes, TDEFLFlush::Finish, append).0 == TDEFLStatus::Done
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use std::io::Read;

    #[test]
    fn what_is_compressed_comes_back() {
        let long = b"{\"key\":[1,2,3]},".repeat(if cfg!(miri) { 50 } else { 5_000 });
        for level in 0..=MAX_LEVEL {
            for bytes in [&b""[..], b"1", &long] {
                let mut out = b"before".to_vec();
                assert!(compress(bytes, level, &mut out));
                let mut back = Vec::new();
                GzDecoder::new(&out[6..]).read_to_end(&mut back).unwrap();
                assert_eq!(back, bytes, "level {level}");
            }
        }
    }

    #[test]
    fn the_bytes_are_always_the_same() {
        let mut out = Vec::new();
        assert!(compress(b"[1]", 6, &mut out));
        let expected = [31, 139, 8, 0, 0, 0, 0, 0, 0, 255, 139, 54, 140, 5, 0, 184, 50, 47, 76, 3, 0, 0, 0];
        assert_eq!(out, expected);
    }
}
