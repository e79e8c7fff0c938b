//! The WebAssembly guest in wasmtime, called as the built-in host calls it.

use rustyjson_core::{DecodeOptions, EncodeOptions};
use wasmtime::{Config, Engine, Instance, Memory, Module, OptLevel, Store, TypedFunc};

/// One instance that is kept.
pub struct Guest {
    store: Store<()>,
    memory: Memory,
    input: TypedFunc<u32, u32>,
    decode: TypedFunc<(u32, u32), u64>,
    encode: TypedFunc<(u32, u32), u64>,
    reset: TypedFunc<(), ()>,
}

impl Guest {
    /// Compiles and starts the module.
    pub fn new(wasm: &[u8]) -> wasmtime::Result<Self> {
        let mut config = Config::new();
        config.cranelift_opt_level(OptLevel::Speed).epoch_interruption(true);
        let engine = Engine::new(&config)?;
        let module = Module::new(&engine, wasm)?;
        let mut store = Store::new(&engine, ());
        store.set_epoch_deadline(u64::MAX / 2);
        let instance = Instance::new(&mut store, &module, &[])?;
        Ok(Self {
            memory: instance.get_memory(&mut store, "memory").expect("an exported memory"),
            input: instance.get_typed_func(&mut store, "input")?,
            decode: instance.get_typed_func(&mut store, "decode")?,
            encode: instance.get_typed_func(&mut store, "encode")?,
            reset: instance.get_typed_func(&mut store, "reset")?,
            store,
        })
    }

    /// JSON to External Term Format, which stays in the guest's memory.
    pub fn decode(&mut self, json: &[u8]) -> &[u8] {
        let seed = 1_u64.to_le_bytes();
        let lengths = self.write(&[&DecodeOptions::DEFAULT_BYTES, &seed], json);
        let record = self.decode.call(&mut self.store, lengths).expect("no trap");
        self.finish(record)
    }

    /// External Term Format to JSON, which stays in the guest's memory.
    pub fn encode(&mut self, etf: &[u8]) -> &[u8] {
        let lengths = self.write(&[&EncodeOptions::DEFAULT_BYTES], etf);
        let record = self.encode.call(&mut self.store, lengths).expect("no trap");
        self.finish(record)
    }

    /// Writes the options and the input after them. Returns the length of both and the length of the options.
    fn write(&mut self, options: &[&[u8]], body: &[u8]) -> (u32, u32) {
        let options_len = options.iter().map(|part| part.len()).sum::<usize>() as u32;
        let len = options_len + body.len() as u32;
        let mut at = self.input.call(&mut self.store, len).expect("no trap") as usize;
        for part in options.iter().chain([&body]) {
            self.memory.data_mut(&mut self.store)[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
        (len, options_len)
    }

    /// The bytes after the status byte of the record at `address << 32 | length`.
    fn finish(&mut self, record: u64) -> &[u8] {
        self.reset.call(&mut self.store, ()).expect("no trap");
        let (at, len) = ((record >> 32) as usize, record as u32 as usize);
        let bytes = &self.memory.data(&self.store)[at..at + len];
        assert_eq!(bytes[0], 1, "the guest reports an error");
        &bytes[1..]
    }
}
