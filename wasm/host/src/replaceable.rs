//! For tests only, with the feature `replaceable`: the library has no module of its own. Tests give it modules that misbehave, translated in
//! the same way and linked with the same runtime.

use crate::atoms;
use crate::fault::Fault;
use crate::terms;
use crate::translated::Module;
use libloading::Library;
use rustler::{Env, Term};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

static MODULE: AtomicPtr<Module> = AtomicPtr::new(null_mut());

/// The module that was given last.
pub fn module() -> Option<&'static Module> {
    // SAFETY: the pointer is null or that of a constant in a library that is never unloaded.
    unsafe { MODULE.load(Ordering::Acquire).as_ref() }
}

/// Takes the module in this library.
#[rustler::nif(name = "sandbox_replace")]
fn replace<'a>(env: Env<'a>, path: &str) -> Term<'a> {
    // SAFETY: the test suite has just compiled this library from a module and runtime/, so it has this constant.
    let module = unsafe {
        Library::new(path).and_then(|library| {
            Box::leak(Box::new(library)).get::<*mut Module>(b"rustyjson_module_baseline").map(|it| *it)
        })
    };
    match module {
        Ok(module) => {
            MODULE.store(module, Ordering::Release);
            atoms::ok().to_term(env)
        }
        Err(error) => terms::fault_term(env, &Fault::unavailable(error.to_string())),
    }
}
