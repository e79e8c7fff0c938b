//! The tokens that few tapes have: records, long texts, big integers, fragments, holes, and the end of a walk that failed.

use super::player::Frame;
use super::{BROKEN, Play, Played, Stop};
use crate::encode::driver::NOTABLE_STRING;
use crate::encode::error::EncodeErrorKind;
use crate::encode::limits;
use crate::encode::writer::{Role, Writer};
use crate::output::Buffer;
use crate::simd::copy::CopyKernel;
use crate::tape::{self, BEHIND_COMMA, IN_RECORDS, Kind, TOKEN};

impl<K: CopyKernel, B: Buffer, const USUAL: bool> Play<'_, K, B, USUAL> {
    /// The tokens that few tapes have. Whether a value is complete.
    #[inline(never)]
    pub(super) fn rare(&mut self, kind: Kind, number: usize) -> Played<bool> {
        match kind {
            Kind::Record | Kind::MarkedRecord if self.player.open.is_empty() => {
                self.in_records = true;
                self.out.record(kind == Kind::MarkedRecord);
                Ok(false)
            }
            Kind::EndRecord if self.player.open.is_empty() && self.in_records => self.end_record(),
            Kind::LongString | Kind::LongKey => {
                let len = self.sized()?;
                let key = kind == Kind::LongKey;
                self.string(len, if key { *b"\":" } else { *b"\"," })?;
                Ok(!key)
            }
            Kind::Big | Kind::BigKey => {
                let role = if kind == Kind::Big { Role::Value } else { Role::Key };
                self.big(role, number == 1)?;
                self.end_of(role);
                Ok(kind == Kind::Big)
            }
            Kind::Raw | Kind::Bytes | Kind::EndRaw => self.fragment(kind, number),
            Kind::Hole | Kind::HoleKey => {
                self.player.holes.push(self.out.len());
                let role = if kind == Kind::Hole { Role::Value } else { Role::Key };
                self.end_of(role);
                Ok(role == Role::Value)
            }
            Kind::Failed => self.failed(number),
            _ => Err(BROKEN),
        }
    }

    /// The walk ended here.
    #[cold]
    fn failed(&mut self, number: usize) -> Played<bool> {
        let len = self.sized()?;
        self.payload = self.take(len)?;
        self.in_records = number & IN_RECORDS != 0;
        if number & BEHIND_COMMA == 0 && self.out.len() > self.start && self.out.written().last() == Some(&b',') {
            self.out.truncate(self.out.len() - 1);
        } else {
            self.line();
        }
        Err(EncodeErrorKind::from_code(number as u8).map_or(BROKEN, Stop::Error))
    }

    fn end_record(&mut self) -> Played<bool> {
        let end = self.out.len();
        if end <= self.start || self.out.written().last() != Some(&b',') {
            return Err(BROKEN);
        }
        self.out.truncate(end - 1);
        self.out.end_record();
        self.records += 1;
        if self.out.len() > self.limit { Err(Stop::Error(EncodeErrorKind::MaxBytes)) } else { Ok(false) }
    }

    fn big(&mut self, role: Role, negative: bool) -> Played<()> {
        let len = self.sized()?;
        let magnitude = self.take(len)?;
        limits::digits_fit(magnitude, self.limit.saturating_sub(self.out.len()) as u64)?;
        self.out.big(role, negative, magnitude, self.options.safe_integers);
        Ok(())
    }

    /// A fragment up to its end.
    fn fragment(&mut self, mut kind: Kind, mut number: usize) -> Played<bool> {
        let start = self.out.len();
        while kind != Kind::EndRaw {
            match kind {
                Kind::Raw => self.raw()?,
                // The encoder looks at the limit behind each of them.
                Kind::Bytes => {
                    let most = self.limit.saturating_sub(self.out.len()).saturating_add(1);
                    let bytes = self.take(number)?;
                    self.out.raw(&bytes[..most.min(number)]);
                }
                Kind::Failed => return self.failed(number),
                Kind::Back => {
                    self.out.truncate(start);
                    self.hole_instead()?;
                    return Ok(true);
                }
                _ => return Err(BROKEN),
            }
            if self.out.len() > self.limit {
                return Err(Stop::Error(EncodeErrorKind::MaxBytes));
            }
            let (next, word) = tape::read(self.tape, self.at).ok_or(BROKEN)?;
            self.at += TOKEN;
            (kind, number) = (next, tape::number(word));
        }
        self.out.array([b',']);
        Ok(true)
    }

    fn raw(&mut self) -> Played<()> {
        let len = self.sized()?;
        let text = self.take(len)?;
        if len > NOTABLE_STRING {
            limits::too_long((self.out.len() - self.start) as u64, len, self.options)?;
        }
        self.out.raw(text);
        Ok(())
    }

    /// Takes the innermost container back.
    #[cold]
    pub(super) fn back(&mut self) -> Played<Frame> {
        let (start, holes) = self.player.starts.pop().ok_or(Stop::Again)?;
        self.out.truncate(start);
        self.player.holes.truncate(holes);
        self.hole_instead()?;
        self.player.open.pop().ok_or(BROKEN)
    }

    /// What was taken back is a hole.
    fn hole_instead(&mut self) -> Played<()> {
        let (Kind::Hole, _) = tape::read(self.tape, self.at).ok_or(BROKEN)? else { return Err(BROKEN) };
        self.at += TOKEN;
        self.player.holes.push(self.out.len());
        self.end_of(Role::Value);
        Ok(())
    }
}
