//! The tags that the writer writes and the judge allows (Erlang ERTS User's Guide, "External Term Format").

pub(super) const VERSION: u8 = 131;
pub(super) const NEW_FLOAT: u8 = 70;
pub(super) const SMALL_INTEGER: u8 = 97;
pub(super) const INTEGER: u8 = 98;
pub(super) const SMALL_TUPLE: u8 = 104;
pub(super) const NIL: u8 = 106;
pub(super) const LIST: u8 = 108;
pub(super) const BINARY: u8 = 109;
pub(super) const SMALL_BIG: u8 = 110;
pub(super) const LARGE_BIG: u8 = 111;
pub(super) const MAP: u8 = 116;
pub(super) const ATOM_UTF8: u8 = 118;
pub(super) const SMALL_ATOM_UTF8: u8 = 119;
