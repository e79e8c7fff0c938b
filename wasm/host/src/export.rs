//! Functions of the guest.

use crate::fault::Fault;
use crate::guest::Limits;
use wasmtime::{Instance, Store, TypedFunc, WasmParams, WasmResults};

/// An export that is looked up when it is first called: with a fresh instance for each call, looking up all takes longer than a small
/// document.
pub struct Lazy<P, R> {
    name: &'static str,
    function: Option<TypedFunc<P, R>>,
}

impl<P: WasmParams, R: WasmResults> Lazy<P, R> {
    /// The export of this name.
    pub const fn new(name: &'static str) -> Self {
        Self { name, function: None }
    }

    /// Looks it up.
    pub fn get(&mut self, store: &mut Store<Limits>, instance: &Instance) -> Result<&TypedFunc<P, R>, Fault> {
        match self.function {
            Some(ref function) => Ok(function),
            None => {
                let function = instance.get_typed_func(store, self.name).map_err(|_| missing(self.name))?;
                Ok(self.function.insert(function))
            }
        }
    }

    /// Calls it.
    pub fn call(&mut self, store: &mut Store<Limits>, instance: &Instance, params: P) -> Result<R, Fault> {
        let function = self.get(store, instance)?;
        function.call(&mut *store, params).map_err(|error| Fault::from_call(&error, store.data().denied))
    }
}

/// The module is not the one that this host knows.
#[cold]
pub fn missing(name: &str) -> Fault {
    Fault::Unavailable(format!("the guest has no export {name} of the expected type"))
}
