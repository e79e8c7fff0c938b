//! What only the careful loop does: lines, limits, strings in another form, and the error at the place reached.

use super::{Play, Played, Stop};
use crate::encode::driver::NOTABLE_STRING;
use crate::encode::error::{self, EncodeError, EncodeErrorKind};
use crate::encode::limits;
use crate::encode::writer::{Role, Writer};
use crate::output::Buffer;
use crate::simd::copy::CopyKernel;
use crate::tape::Kind;
use alloc::vec::Vec;

impl<K: CopyKernel, B: Buffer, const USUAL: bool> Play<'_, K, B, USUAL> {
    /// The error at the place reached.
    #[cold]
    pub(super) fn error(&mut self, stop: Stop) -> EncodeError {
        let kind = match stop {
            _ if self.out.failed() => return EncodeError::out_of_memory(),
            Stop::Again => EncodeErrorKind::Unsupported,
            Stop::Error(kind) => kind,
        };
        let (first, reached) = limits::first_error(kind, (self.out.len() - self.start) as u64, self.options);
        let payload = match first {
            _ if first != kind => Vec::new(),
            _ if self.payload.is_empty() => core::mem::take(&mut self.text),
            _ => self.payload.to_vec(),
        };
        let record = self.in_records.then_some(self.records);
        Writer::error(self.out, self.start, reached, first, payload, record)
    }

    /// A value is written, and its comma. The encoder looks at the limit where it goes on in a container.
    #[inline(never)]
    pub(super) fn check_value(&mut self) -> Played<()> {
        let end = self.out.len().saturating_sub(1);
        if end > self.limit && !self.player.open.is_empty() {
            self.out.truncate(end);
            return Err(Stop::Error(EncodeErrorKind::MaxBytes));
        }
        if self.out.failed() { Err(Stop::Error(EncodeErrorKind::OutOfMemory)) } else { Ok(()) }
    }

    /// What stands in front of a token: a new line for each value or key in a container.
    #[inline(never)]
    pub(super) fn lay_out(&mut self, kind: Kind) {
        if matches!(kind, Kind::EndList | Kind::EndMap | Kind::End | Kind::Back | Kind::Failed) {
            self.named &= kind == Kind::Failed;
            return;
        }
        self.line();
    }

    pub(super) fn line(&mut self) {
        let Some(pretty) = self.options.pretty else { return };
        let named = core::mem::take(&mut self.named);
        if !named && !self.player.open.is_empty() {
            pretty.line(self.out, self.depth());
        }
    }

    /// The line of the end of a container.
    #[inline(never)]
    pub(super) fn last_line(&mut self) {
        if let Some(pretty) = self.options.pretty {
            pretty.line(self.out, self.depth());
        }
    }

    /// The number of containers around the place reached.
    pub(super) fn depth(&self) -> usize {
        (self.options.base_depth as usize).saturating_add(self.player.open.len())
    }

    /// What stands behind a value, or behind a key.
    pub(super) fn end_of(&mut self, role: Role) {
        match role {
            Role::Value => self.out.array([b',']),
            Role::Key => {
                self.out.colon(self.options);
                self.named = true;
            }
        }
    }

    #[inline(never)]
    pub(super) fn careful_string(&mut self, bytes: &[u8], role: Role) -> Played<()> {
        if bytes.len() > NOTABLE_STRING {
            limits::too_long((self.out.len() - self.start) as u64, bytes.len(), self.options)?;
        }
        if let Err(wrong) = self.out.rare_string(self.kernel, role, self.options, bytes) {
            if !self.options.replace_invalid {
                self.text = error::invalid_utf8(bytes);
                return Err(Stop::Error(EncodeErrorKind::InvalidUtf8));
            }
            if !self.out.replace(self.kernel, self.options, wrong, bytes) {
                return Err(Stop::Error(EncodeErrorKind::OutOfMemory));
            }
        }
        self.end_of(role);
        Ok(())
    }
}
