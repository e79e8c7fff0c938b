//! The only unsafe code of the library: safe wrappers around the few `enif_*` calls for which rustler's safe API
//! allocates or does more than is needed, and [`layout`], which reads a few kinds of terms in place. Everything else
//! denies `unsafe`.
//!
//! What makes them safe: a [`Env`](rustler::Env) is valid for the whole NIF call, its raw terms are used in that call
//! only, and on the thread that makes it.
#![allow(unsafe_code)]

mod entry;
pub mod layout;
pub mod make;
pub mod read;
