//! The entries of hot NIFs. rustler's own collect the arguments in a list on the heap and pass the result on in
//! several forms: without them a 35-byte document is encoded in 157 ns instead of 184, and decoded in 221 instead of 247.

use super::read::{Raw, word_of};
use crate::atoms;
use rustler::Env;
use rustler::sys::{self, ErlNifEnv, ErlNifTerm};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The terms of a call are not those that Elixir passes: an `ArgumentError`. It has no bytes, so that a [`Returned`] fits in
/// registers. rustler's error made it 24 bytes, which the caller reads in other pieces than those in which they were just stored.
#[derive(Clone, Copy, Debug)]
pub struct BadArg;

/// What a call returns.
pub type Returned<T = ErlNifTerm> = Result<T, BadArg>;

impl From<rustler::Error> for BadArg {
    #[inline(always)]
    fn from(_: rustler::Error) -> Self {
        Self
    }
}

impl From<BadArg> for rustler::Error {
    fn from(BadArg: BadArg) -> Self {
        Self::BadArg
    }
}

/// Declares a NIF of this name and arity, run by a function that takes the environment and the terms, on the caller's scheduler or on one
/// of these: `DirtyCpu`, `DirtyIo`. It needs `rustler::codegen_runtime::inventory` in scope.
#[macro_export]
macro_rules! entry {
    ($name:ident($($argument:ident),+) = $arity:literal, $run:path) => {
        $crate::entry!($name($($argument),+) = $arity, $run, Normal);
    };
    ($name:ident($($argument:ident),+) = $arity:literal, $run:path, $scheduler:ident) => {
        inventory::submit!(rustler::Nif {
            name: concat!(stringify!($name), "\0").as_ptr() as *const rustler::codegen_runtime::c_char,
            arity: $arity,
            flags: rustler::SchedulerFlags::$scheduler as rustler::codegen_runtime::c_uint,
            raw_func: {
                unsafe extern "C" fn entry(
                    env: *mut rustler::sys::ErlNifEnv,
                    _: rustler::codegen_runtime::c_int,
                    terms: *const rustler::sys::ErlNifTerm,
                ) -> rustler::sys::ErlNifTerm {
                    // SAFETY: the VM calls a NIF with an environment and as many terms as its arity says, valid during the call.
                    unsafe {
                        $crate::raw::entry::call::<$arity>(env, terms.cast(), |env, [$($argument),+]| $run(env, $($argument),+))
                    }
                }
                entry
            },
        });
    };
}

/// Runs a NIF of so many terms. A panic becomes an exception, as in rustler's entries. Terms are passed as single words. A
/// term of rustler has three words, which the compiler copies in pieces that the processor has to wait for.
///
/// # Safety
/// The environment is that of a running call, and the terms belong to it.
#[inline(always)]
pub unsafe fn call<const N: usize>(
    env: *mut ErlNifEnv,
    terms: *const [ErlNifTerm; N],
    run: impl for<'a> FnOnce(Env<'a>, [Raw<'a>; N]) -> Returned,
) -> ErlNifTerm {
    let lifetime = ();
    // SAFETY: the caller's promise.
    let (call, terms) = unsafe { (Env::new(&lifetime, env), *terms) };
    // SAFETY: the same.
    let terms = terms.map(|term| unsafe { Raw::from_word(word_of(term)) });
    let result = catch_unwind(AssertUnwindSafe(|| run(call, terms)));
    match result {
        Ok(Ok(term)) => term,
        // SAFETY: the environment is valid; the exception is what this call returns.
        Ok(Err(BadArg)) => unsafe { sys::enif_make_badarg(env) },
        // SAFETY: the same.
        Err(_) => unsafe { sys::enif_raise_exception(env, atoms::nif_panicked().as_c_arg()) },
    }
}
