//! What a piece leaves open, found in one pass over its quotes and brackets.

use crate::error::ErrorKind;
use crate::room::room;
use crate::simd::Kernel;
use alloc::vec::Vec;

/// What a piece leaves open: where these containers start, the outermost first, and the string.
#[derive(Default)]
pub(super) struct Cut {
    pub(super) containers: Vec<usize>,
    /// How many of them were reached.
    pub(super) reached: usize,
    pub(super) string: Option<usize>,
}

impl Cut {
    /// Only quotes and brackets count here: text that is wrong is found by the walk, which never gets behind it.
    pub(super) fn find<K: Kernel>(kernel: K, bytes: &[u8], mut pos: usize) -> Result<Self, ErrorKind> {
        let mut cut = Self::default();
        while let Some(&byte) = bytes.get(pos) {
            match byte {
                b'[' | b'{' => {
                    room(&mut cut.containers, 1)?;
                    cut.containers.push(pos);
                }
                b']' | b'}' => drop(cut.containers.pop()),
                b'"' => match string_end(kernel, bytes, pos + 1) {
                    Some(end) => pos = end,
                    None => {
                        cut.string = Some(pos);
                        break;
                    }
                },
                _ => {}
            }
            pos += 1;
        }
        Ok(cut)
    }
}

/// The offset of the quote that ends a string.
fn string_end<K: Kernel>(kernel: K, bytes: &[u8], mut pos: usize) -> Option<usize> {
    while pos < bytes.len() {
        pos = kernel.string_run(bytes, pos).end;
        match bytes.get(pos)? {
            b'"' => return Some(pos),
            b'\\' => pos += 2,
            _ => pos += 1,
        }
    }
    None
}
