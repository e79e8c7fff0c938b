//! The only unsafe code of the library: safe wrappers around the few `enif_*` calls for which rustler's safe API
//! allocates or does more than is needed, and [`layout`], through which a few kinds of terms are read and written in
//! place. Everything else denies `unsafe`.
//!
//! What makes them safe: a [`Env`](rustler::Env) is valid for the whole NIF call, its raw terms are used in that call
//! only, and on the thread that makes it.
#![allow(unsafe_code)]

pub mod copy;
pub mod entry;
mod in_place;
pub mod layout;
pub mod make;
#[cfg(test)]
mod model;
pub mod read;
mod space;
#[cfg(test)]
mod tests;
pub mod trial;
mod words;

pub use in_place::InPlace;
pub use read::{terms_of, word_of};
pub use space::Keys;
