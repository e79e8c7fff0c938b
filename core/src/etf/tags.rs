//! The tags of terms (Erlang ERTS User's Guide, "External Term Format").

pub(crate) const VERSION: u8 = 131;

pub(crate) const SMALL_INTEGER: u8 = 97;
pub(crate) const INTEGER: u8 = 98;
pub(crate) const SMALL_BIG: u8 = 110;
pub(crate) const LARGE_BIG: u8 = 111;
pub(crate) const NEW_FLOAT: u8 = 70;
/// A float as text, which no VM writes any more.
pub(crate) const FLOAT: u8 = 99;

pub(crate) const ATOM_UTF8: u8 = 118;
pub(crate) const SMALL_ATOM_UTF8: u8 = 119;
/// An atom in Latin-1.
pub(crate) const ATOM: u8 = 100;
pub(crate) const SMALL_ATOM: u8 = 115;

pub(crate) const BINARY: u8 = 109;
pub(crate) const BIT_BINARY: u8 = 77;

pub(crate) const NIL: u8 = 106;
pub(crate) const LIST: u8 = 108;
/// A list of bytes.
pub(crate) const STRING: u8 = 107;
pub(crate) const SMALL_TUPLE: u8 = 104;
pub(crate) const LARGE_TUPLE: u8 = 105;
pub(crate) const MAP: u8 = 116;

pub(crate) const NEW_PID: u8 = 88;
pub(crate) const PID: u8 = 103;
pub(crate) const NEW_PORT: u8 = 89;
pub(crate) const PORT: u8 = 102;
pub(crate) const V4_PORT: u8 = 120;
pub(crate) const NEWER_REFERENCE: u8 = 90;
pub(crate) const REFERENCE: u8 = 101;
pub(crate) const NEW_REFERENCE: u8 = 114;
pub(crate) const NEW_FUN: u8 = 112;
/// An external function: module, name and arity.
pub(crate) const EXPORT: u8 = 113;
/// A native record of OTP 29. The External Term Format document does not describe it yet.
pub(crate) const NATIVE_RECORD: u8 = 67;
