//! The formatter: it accepts any bytes, and JSON keeps its meaning.

use rustyjson_core::format::{Layout, format};
use rustyjson_core::{DecodeOptions, Output};
use rustyjson_fuzz::naive::tree::decoded;

fn formatted(text: &[u8], layout: &Layout<'_>) -> Vec<u8> {
    let mut out = Output::new(Vec::new());
    format(text, layout, &mut out).expect("no limit");
    out.written().to_vec()
}

pub fn run(data: &[u8]) {
    let pretty =
        Layout { indent: b"  ", line_separator: b"\n", record_separator: b"\n", after_colon: b" ", ..Layout::MINIMAL };
    // Indentation is quadratic in the depth, which this target does not test.
    if data.iter().filter(|&&byte| byte == b'[' || byte == b'{').count() > 500 {
        return;
    }
    let (small, large) = (formatted(data, &Layout::MINIMAL), formatted(data, &pretty));
    let options = DecodeOptions::default();
    let Ok(tree) = decoded(data, &options) else { return };
    assert_eq!(decoded(&small, &options).as_ref(), Ok(&tree));
    assert_eq!(decoded(&large, &options).as_ref(), Ok(&tree));
    assert_eq!(formatted(&large, &Layout::MINIMAL), small, "pretty, then minimal, is minimal");
    assert_eq!(formatted(&small, &Layout::MINIMAL), small, "minimal is a fixpoint");
    assert_eq!(formatted(&large, &pretty), large, "pretty is a fixpoint");
}
