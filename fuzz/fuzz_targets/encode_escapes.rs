//! Escapes in the encoder: any binary in every mode.

use rustyjson_core::DecodeOptions;
use rustyjson_fuzz::naive::etf::encoded;
use rustyjson_fuzz::naive::options::encode_options;
use rustyjson_fuzz::naive::tree::{Tree, decoded};

pub fn run(data: &[u8]) {
    let mut etf = vec![131, 109];
    etf.extend_from_slice(&(data.len() as u32).to_be_bytes());
    etf.extend_from_slice(data);
    for mode in 0..4 {
        let json = encoded(&etf, &encode_options(mode));
        assert_eq!(json.is_some(), std::str::from_utf8(data).is_ok(), "exactly UTF-8 is encoded");
        let Some(json) = json else { continue };
        assert_eq!(decoded(&json, &DecodeOptions::default()), Ok(Tree::String(data.to_vec())));
        let shown = String::from_utf8(json).expect("output is UTF-8");
        match mode {
            1 => assert!(!shown.contains(['<', '\u{2028}', '\u{2029}']) && !shown.replace("\\/", "").contains('/')),
            2 => assert!(!shown.contains(['\u{2028}', '\u{2029}'])),
            3 => assert!(shown.is_ascii()),
            _ => {}
        }
    }
}
