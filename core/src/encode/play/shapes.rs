//! Maps with a shape: their keys are written once, and copied for each map.

use super::player::{BLOCK, Frame};
use super::{BROKEN, Play, Played, Stop};
use crate::encode::error::EncodeErrorKind;
use crate::encode::string;
use crate::encode::writer::Writer;
use crate::output::Buffer;
use crate::simd::copy::CopyKernel;
use crate::tape::{self, Kind, TOKEN};

impl<K: CopyKernel, B: Buffer, const USUAL: bool> Play<'_, K, B, USUAL> {
    /// A key of a shape, with quotes and colon.
    #[inline(always)]
    pub(super) fn key(&mut self, number: usize) -> Played<()> {
        let &(start, len) = self.player.keys.get(number).ok_or(BROKEN)?;
        let (start, len) = (start as usize, len as usize);
        if !USUAL && let Some(pretty) = self.options.pretty {
            pretty.line(self.out, self.depth());
            self.named = true;
        }
        let (text, _) = self.player.text.parts();
        let text = text.get(start..start + len + BLOCK).ok_or(BROKEN)?;
        let room = self.out.room(len + BLOCK).ok_or(Stop::Again)?;
        room[..BLOCK].copy_from_slice(&text[..BLOCK]);
        if len > BLOCK {
            room[..len].copy_from_slice(&text[..len]);
        }
        self.out.advance(len);
        Ok(())
    }

    #[inline(always)]
    pub(super) fn shaped(&mut self, here: Frame, number: usize) -> Played<Frame> {
        let &(key, left) = self.player.shapes.get(number).ok_or(BROKEN)?;
        self.open(here, b'{')?;
        Ok(Frame { key: key as usize, left: left as usize })
    }

    /// Learns the keys of a shape.
    #[inline(never)]
    pub(super) fn shape(&mut self, here: Frame, count: usize) -> Played<Frame> {
        let (first, number) = (self.player.keys.len(), self.player.shapes.len());
        for _ in 0..count {
            let (kind, word) = tape::read(self.tape, self.at).ok_or(BROKEN)?;
            self.at += TOKEN;
            let len = match kind {
                Kind::Key => tape::number(word),
                Kind::LongKey => self.sized()?,
                _ => return Err(BROKEN),
            };
            let key = self.take(len)?;
            self.learn(key)?;
        }
        self.player.shapes.push((first as u32, count as u32));
        self.player.text.room(BLOCK).ok_or(Stop::Error(EncodeErrorKind::OutOfMemory))?;
        self.shaped(here, number)
    }

    /// Writes a key of a shape, for the maps to come.
    fn learn(&mut self, key: &[u8]) -> Played<()> {
        let text = &mut self.player.text;
        let start = text.len();
        if let Err(wrong) = string::rare_string(self.kernel, text, self.options.escape, key)
            && !(self.options.replace_invalid && text.replace(self.kernel, self.options, wrong, key))
        {
            // The keys stood on the tape before, and were found to be wrong.
            return Err(BROKEN);
        }
        text.colon(self.options);
        self.player.keys.push((start as u32, (text.len() - start) as u32));
        Ok(())
    }
}
