//! Interprets the WebAssembly module and calls its exports, both as a host calls them and as no host would.

use std::path::Path;
use wasmi::{Config, Engine, Instance, Linker, Memory, Module, Store, StoreLimits, StoreLimitsBuilder, TypedFunc};

/// Bytes of linear memory.
const MEMORY: usize = 64 << 20;
/// Instructions per call.
const FUEL: u64 = 2_000_000_000;

/// An instance.
pub struct Guest {
    store: Store<StoreLimits>,
    instance: Instance,
    memory: Memory,
}

impl Guest {
    /// An instance of the module that `mix compile` built. Without a module nothing would be tested, so this fails.
    pub fn load() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../priv/wasm/rustyjson.wasm");
        let bytes = std::fs::read(path).expect("priv/wasm/rustyjson.wasm is there: RUSTYJSON_BUILD=guest mix compile");
        let mut config = Config::default();
        config.consume_fuel(true);
        let engine = Engine::new(&config);
        let module = Module::new(&engine, &bytes[..]).expect("the module is valid");
        assert_eq!(module.imports().count(), 0, "zero imports");
        let limits = StoreLimitsBuilder::new().memory_size(MEMORY).build();
        let mut store = Store::new(&engine, limits);
        store.limiter(|limits| limits);
        store.set_fuel(FUEL).expect("fuel is on");
        let instance = Linker::new(&engine).instantiate_and_start(&mut store, &module).expect("it starts");
        let memory = instance.get_memory(&store, "memory").expect("a memory is exported");
        Self { store, instance, memory }
    }

    /// Writes the input. Returns `false` if the guest has no memory for it.
    pub fn write(&mut self, bytes: &[u8]) -> bool {
        let address = self.input(bytes.len() as u32);
        address != 0 && self.memory.write(&mut self.store, address as usize, bytes).is_ok()
    }

    fn refuel(&mut self) {
        self.store.set_fuel(FUEL).expect("fuel is on");
    }

    /// Calls `input`.
    pub fn input(&mut self, len: u32) -> u32 {
        self.refuel();
        let input: TypedFunc<u32, u32> = self.instance.get_typed_func(&self.store, "input").expect("input");
        input.call(&mut self.store, len).expect("no trap")
    }

    /// Calls `reset`.
    pub fn reset(&mut self) {
        self.refuel();
        let reset: TypedFunc<(), ()> = self.instance.get_typed_func(&self.store, "reset").expect("reset");
        reset.call(&mut self.store, ()).expect("no trap");
    }

    /// Calls `decode`, `encode`, `format` or `gzip` with the lengths of the input and of the options in it.
    pub fn call(&mut self, name: &str, lengths: (u32, u32)) -> Option<Vec<u8>> {
        self.refuel();
        let export: TypedFunc<(u32, u32), u64> = self.instance.get_typed_func(&self.store, name).expect("an export");
        let packed = export.call(&mut self.store, lengths).expect("no trap");
        self.record(packed)
    }

    /// Calls `keys`.
    pub fn keys(&mut self, (len, options): (u32, u32), stop: u64) -> Option<Vec<u8>> {
        self.refuel();
        let keys: TypedFunc<(u32, u32, u64), u64> = self.instance.get_typed_func(&self.store, "keys").expect("keys");
        let packed = keys.call(&mut self.store, (len, options, stop)).expect("no trap");
        self.record(packed)
    }

    /// The record at a packed address and length, which must lie in the memory.
    fn record(&mut self, packed: u64) -> Option<Vec<u8>> {
        let (address, len) = ((packed >> 32) as usize, packed as u32 as usize);
        if packed == 0 {
            return None;
        }
        let memory = self.memory.data(&self.store);
        Some(memory.get(address..address + len).expect("the record lies in the memory").to_vec())
    }
}
