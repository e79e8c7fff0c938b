//! The names of the keys of a text, of which the host knows which are existing atoms.

use alloc::vec::Vec;

/// The names of keys, each as its length (`u32`) and its bytes. An item that is `None` ends them: the bytes are broken.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a>(pub &'a [u8]);

impl Names<'_> {
    /// Appends a name. `false` when memory ran out.
    #[must_use]
    pub fn write(name: &[u8], out: &mut Vec<u8>) -> bool {
        if out.try_reserve(4 + name.len()).is_err() {
            return false;
        }
        out.extend_from_slice(&(name.len() as u32).to_le_bytes());
        out.extend_from_slice(name);
        true
    }
}

impl<'a> Iterator for Names<'a> {
    type Item = Option<&'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let name = self.0.split_first_chunk().and_then(|(len, rest)| {
            let (name, rest) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
            Some((name, rest))
        });
        self.0 = name.map_or(&[], |(_, rest)| rest);
        Some(name.map(|(name, _)| name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn names_are_read_as_they_are_written() {
        let mut out = Vec::new();
        assert!(["a", "", "bc"].iter().all(|name| Names::write(name.as_bytes(), &mut out)));
        let names: Option<Vec<_>> = Names(&out).collect();
        assert_eq!(names, Some(vec![&b"a"[..], b"", b"bc"]));
        for lie in [&b"\x01"[..], b"\x05\0\0\0a", b"\x00\0\0\0\x01"] {
            assert!(Names(lie).any(|name| name.is_none()), "{lie:?}");
        }
    }
}
