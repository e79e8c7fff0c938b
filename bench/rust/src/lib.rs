//! Shared by the benches and the instruction counter: documents, and calls of the core as the shells make them.
#![forbid(unsafe_code)]

#[cfg(feature = "wasm")]
pub mod guest;

use rustyjson_core::etf::reader::Reader;
use rustyjson_core::etf::writer::Writer;
use rustyjson_core::{DecodeOptions, EncodeOptions, Output, Scratch, decode, encode};
use std::path::Path;

/// A JSON text and its name.
pub struct Document {
    pub name: String,
    pub json: Vec<u8>,
}

/// The documents in a folder, by name.
pub fn documents(dir: &Path) -> std::io::Result<Vec<Document>> {
    let mut documents = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            documents.push(Document { name, json: std::fs::read(&path)? });
        }
    }
    documents.sort_by_key(|document| document.json.len());
    Ok(documents)
}

/// The core with the buffers that a shell keeps between calls.
#[derive(Default)]
pub struct Core {
    scratch: Scratch,
    etf: Vec<u8>,
    json: Vec<u8>,
}

impl Core {
    /// JSON to External Term Format.
    pub fn decode(&mut self, json: &[u8]) -> &[u8] {
        let options = DecodeOptions::default();
        let mut writer = Writer::new(json, std::mem::take(&mut self.etf), &options);
        decode(json, &options, &mut self.scratch, &mut writer).expect("valid JSON");
        let (etf, len) = writer.into_parts().expect("enough memory");
        self.etf = etf;
        &self.etf[..len]
    }

    /// External Term Format to JSON.
    pub fn encode(&mut self, etf: &[u8]) -> &[u8] {
        let mut reader = Reader::new(etf, &[]);
        let root = reader.root().expect("a term");
        let mut out = Output::new(std::mem::take(&mut self.json));
        let holes = encode(&mut reader, root, &EncodeOptions::default(), &mut out).expect("a term with a JSON form");
        assert!(holes.is_empty());
        let (json, len) = out.into_parts();
        self.json = json;
        &self.json[..len]
    }
}
