//! The tokens of a tape.

use super::{PART, ROOM, Sink, Taped, Untaped, Writer, Written};
use crate::raw::copy::copy_into;
use crate::raw::read::Raw;
use crate::tags::{Kind as Tag, kind};
use rustyjson_core::tape::{self, Kind, MOST, SLACK, TOKEN};

impl<'a, S: Sink> Writer<'a, '_, S> {
    #[inline(always)]
    pub(super) fn integer(&mut self, value: i64) -> Written<(), S> {
        match tape::small(value) {
            Some(token) => {
                self.room(TOKEN)?;
                self.put(token);
                Ok(())
            }
            None => self.with_bytes(Kind::Integer, value.to_le_bytes()),
        }
    }

    #[inline(always)]
    pub(super) fn atom(&mut self, term: Raw<'a>) -> Written<(), S> {
        let word = term.word();
        if word == self.null {
            self.token(Kind::Nil, 0)
        } else if word == self.words.yes {
            self.token(Kind::True, 0)
        } else if word == self.words.no {
            self.token(Kind::False, 0)
        } else {
            self.name(Kind::String, term)
        }
    }

    #[inline(never)]
    fn name(&mut self, kind: Kind, atom: Raw<'a>) -> Written<(), S> {
        if atom.word() == self.words.module && kind == Kind::Key {
            return Err(Untaped::Other);
        }
        self.room(ROOM)?;
        let name = self.atoms.text(self.look, atom).bytes;
        if name.len() > ROOM - TOKEN {
            let name = name.to_vec();
            return self.long(kind, &name);
        }
        let room = &mut self.part[self.at..];
        room[..TOKEN].copy_from_slice(&tape::token(kind, name.len()));
        copy_into(name, &mut room[TOKEN..]);
        self.at += TOKEN + name.len();
        Ok(())
    }

    #[inline(always)]
    pub(super) fn key(&mut self, key: Raw<'a>) -> Written<(), S> {
        match kind(key.word()) {
            Tag::Boxed => {
                let bytes = self.layout.binary(key).or_else(|| self.look.binary(key)).ok_or(Untaped::Other)?;
                self.string(Kind::Key, bytes)
            }
            Tag::Atom => self.name(Kind::Key, key),
            _ => Err(Untaped::Other),
        }
    }

    pub(super) fn written(&self) -> u64 {
        self.taped.len + self.at as u64
    }

    #[inline(always)]
    pub(super) fn token(&mut self, kind: Kind, number: usize) -> Written<(), S> {
        self.room(TOKEN)?;
        self.put(tape::token(kind, number));
        Ok(())
    }

    #[inline(always)]
    pub(super) fn with_bytes(&mut self, kind: Kind, bytes: [u8; 8]) -> Written<(), S> {
        self.room(TOKEN + 8)?;
        self.put(tape::token(kind, 0));
        self.put(bytes);
        Ok(())
    }

    #[inline(always)]
    pub(super) fn string(&mut self, kind: Kind, text: &[u8]) -> Written<(), S> {
        if text.len() > ROOM - TOKEN {
            return self.long(kind, text);
        }
        self.room(ROOM)?;
        self.put(tape::token(kind, text.len()));
        copy_into(text, &mut self.part[self.at..]);
        self.at += text.len();
        Ok(())
    }

    #[inline(never)]
    fn long(&mut self, kind: Kind, text: &[u8]) -> Written<(), S> {
        if text.len() > MOST {
            return Err(Untaped::Other);
        }
        self.token(kind, text.len())?;
        if text.len() <= PART / 4 {
            self.room(text.len())?;
            self.part[self.at..self.at + text.len()].copy_from_slice(text);
            self.at += text.len();
            return Ok(());
        }
        self.flush()?;
        text.chunks(PART).try_for_each(|chunk| self.hand_on(chunk))
    }

    #[inline(always)]
    fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        self.part[self.at..self.at + N].copy_from_slice(&bytes);
        self.at += N;
    }

    /// Room for so many bytes.
    #[inline(always)]
    fn room(&mut self, bytes: usize) -> Written<(), S> {
        if self.at + bytes > PART { self.flush() } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn flush(&mut self) -> Written<(), S> {
        let len = std::mem::take(&mut self.at);
        self.taped.len += len as u64;
        self.sink.take(&self.part[..len]).map_err(Untaped::Stopped)
    }

    fn hand_on(&mut self, bytes: &[u8]) -> Written<(), S> {
        self.taped.len += bytes.len() as u64;
        self.sink.take(bytes).map_err(Untaped::Stopped)
    }

    /// Ends the tape.
    pub(super) fn end(&mut self) -> Written<Taped, S> {
        self.token(Kind::End, 0)?;
        self.room(SLACK)?;
        self.put([0; SLACK]);
        self.flush()?;
        Ok(self.taped)
    }
}
