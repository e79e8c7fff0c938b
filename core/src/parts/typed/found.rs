//! Errors of the schema: the first one, or as many as are asked for in one walk.

use crate::error::{Error, ErrorKind};
use crate::room::room;
use alloc::vec::Vec;

/// An error, and the key of the member that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// What is wrong, and where.
    pub error: Error,
    /// For [`ErrorKind::Missing`].
    pub key: Option<Vec<u8>>,
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        Self { error, key: None }
    }
}

/// All errors of a document, in the order of the text. Another one than those of the schema ends the walk, and is the last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The first ones, as many as were asked for.
    pub list: Vec<Wrong>,
    /// How many there are.
    pub total: u64,
    /// Elixir has to judge some values, so more may be wrong.
    pub left: bool,
    /// The kind of the error that ended the walk before the end of the text.
    pub ended: Option<ErrorKind>,
}

/// Why a document is not decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// Its first error.
    First(Wrong),
    /// All its errors.
    All(Found),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::First(error.into())
    }
}

/// The errors of a walk so far.
#[derive(Debug, Default)]
pub(super) struct Errors {
    /// How many are listed; 0 if the first one ends the walk.
    most: usize,
    pub found: Found,
    /// The error that ended the walk, if that is one of the schema.
    last: Option<Wrong>,
}

impl Errors {
    pub fn new(most: u32) -> Self {
        Self { most: most as usize, ..Self::default() }
    }

    /// Takes an error of the schema. `Err`: it ends the walk.
    #[cold]
    pub fn add(&mut self, kind: ErrorKind, pos: usize, key: Option<&[u8]>) -> Result<(), Error> {
        let error = Error::new(kind, pos);
        if self.most == 0 {
            self.last = Some(wrong(error, key)?);
            return Err(error);
        }
        self.list(error, key)
    }

    fn list(&mut self, error: Error, key: Option<&[u8]>) -> Result<(), Error> {
        self.found.total = self.found.total.saturating_add(1);
        if self.found.list.len() < self.most {
            room(&mut self.found.list, 1).map_err(|kind| Error::new(kind, error.offset))?;
            self.found.list.push(wrong(error, key)?);
        }
        Ok(())
    }

    /// Why the document is not decoded, if it is not.
    pub fn finish(mut self, result: Result<(), Error>) -> Result<(), Failed> {
        match result {
            Err(error) if self.most == 0 || error.kind == ErrorKind::OutOfMemory => {
                Err(Failed::First(self.last.unwrap_or_else(|| error.into())))
            }
            Err(error) => {
                self.list(error, None)?;
                self.found.ended = Some(error.kind);
                Err(Failed::All(self.found))
            }
            Ok(()) if self.found.total > 0 => Err(Failed::All(self.found)),
            Ok(()) => Ok(()),
        }
    }
}

fn wrong(error: Error, key: Option<&[u8]>) -> Result<Wrong, Error> {
    let Some(key) = key else { return Ok(error.into()) };
    let mut copy = Vec::new();
    room(&mut copy, key.len()).map_err(|kind| Error::new(kind, error.offset))?;
    copy.extend_from_slice(key);
    Ok(Wrong { error, key: Some(copy) })
}
