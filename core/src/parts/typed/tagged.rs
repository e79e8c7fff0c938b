//! Structs whose type a member tells, which may stand anywhere in them.

use super::super::answer::Answer;
use super::super::shape::Tagged;
use super::walk::{Next, Step, Walk};
use crate::decode::skip::missing;
use crate::error::{Error, ErrorKind};
use crate::options::Duplicates;
use crate::simd::Kernel;

impl<'a, K: Kernel, A: Answer> Walk<'a, '_, K, A> {
    /// A struct whose type a member tells, which may stand anywhere in it.
    pub(super) fn tagged(&mut self, tagged: &Tagged<'a>, pos: usize) -> Step<Next> {
        let shape = self.shape;
        if self.depth() >= self.skip.options.max_depth as usize {
            return Err(Error::new(ErrorKind::MaxDepth, pos));
        }
        let tag = match self.find_tag(tagged.key, pos)? {
            Ok(tag) => tag,
            Err(_) if self.pass > 0 => return self.refuse(ErrorKind::Missing, pos),
            Err(end) => {
                self.missing = Some(tagged.key);
                return Err(Error::new(ErrorKind::Missing, end));
            }
        };
        if self.skip.json.get(tag) != Some(&b'"') {
            return self.refuse_tag(ErrorKind::TypeString, tag, pos);
        }
        let (text, _) = self.skip.text(tag)?;
        let Some(number) = shape.number(&tagged.names, text.bytes()) else {
            return self.refuse_tag(ErrorKind::Enum, tag, pos);
        };
        self.answer.begin_variant(number).map_err(|kind| Error::new(kind, pos))?;
        self.open_struct(shape.variant(tagged, number), pos, true)
    }

    #[cold]
    fn refuse_tag(&mut self, kind: ErrorKind, tag: usize, pos: usize) -> Step<Next> {
        if self.pass == 0 { Err(Error::new(kind, tag)) } else { self.refuse(kind, pos) }
    }

    /// Where the value of the tag stands in the object at `pos`, which of repeated ones counts; or where the object ends without one.
    fn find_tag(&mut self, key: &[u8], pos: usize) -> Step<Result<usize, usize>> {
        let depth = self.depth() + 1;
        let mut found = None;
        let mut at = self.skip.space(pos + 1);
        if self.skip.json.get(at) == Some(&b'}') {
            return Ok(Err(at));
        }
        loop {
            let (text, end) = self.skip.key(at)?;
            let is_tag = text.bytes() == key;
            let start = self.skip.colon(end)?;
            if is_tag {
                found = Some(start);
                if self.skip.options.duplicates == Duplicates::First {
                    return Ok(Ok(start));
                }
            }
            let mut end = self.skip.value(start, depth)?;
            at = loop {
                match self.skip.json.get(end) {
                    Some(b',') => break self.skip.space(end + 1),
                    Some(b'}') => return Ok(found.ok_or(end)),
                    _ => end = self.skip.space_before(end, missing(true))?,
                }
            };
        }
    }
}
