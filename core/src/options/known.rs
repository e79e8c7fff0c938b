//! Options that were read, for the next call: most calls have those of the call before.

use super::{DecodeOptions, EncodeOptions};

/// The options that were read last, and their bytes.
#[derive(Debug)]
pub struct Known<T, const N: usize> {
    bytes: [u8; N],
    options: T,
}

/// Those of decoding.
impl Default for Known<DecodeOptions, { DecodeOptions::LEN }> {
    fn default() -> Self {
        Self { bytes: DecodeOptions::DEFAULT_BYTES, options: DecodeOptions::DEFAULT }
    }
}

/// Those of encoding, without texts.
impl Default for Known<EncodeOptions<'static>, { EncodeOptions::LEN }> {
    fn default() -> Self {
        Self { bytes: EncodeOptions::DEFAULT_BYTES, options: EncodeOptions::DEFAULT }
    }
}

impl Known<DecodeOptions, { DecodeOptions::LEN }> {
    /// The options of these bytes, with this seed.
    #[inline(always)]
    pub fn read(&mut self, bytes: &[u8; DecodeOptions::LEN], seed: u64) -> &DecodeOptions {
        if !same(bytes, &self.bytes) {
            self.learn(bytes);
        }
        self.options.seed = seed;
        &self.options
    }

    #[cold]
    #[inline(never)]
    fn learn(&mut self, bytes: &[u8; DecodeOptions::LEN]) {
        (self.bytes, self.options) = (*bytes, DecodeOptions::read(bytes, 0));
    }
}

impl Known<EncodeOptions<'static>, { EncodeOptions::LEN }> {
    /// The options of these bytes. `None`: they have texts.
    #[inline(always)]
    pub fn read(&mut self, bytes: &[u8]) -> Option<&EncodeOptions<'static>> {
        let bytes = bytes.try_into().ok()?;
        if !same(bytes, &self.bytes) {
            self.learn(bytes)?;
        }
        Some(&self.options)
    }

    #[cold]
    #[inline(never)]
    fn learn(&mut self, bytes: &[u8; EncodeOptions::LEN]) -> Option<()> {
        let (options, _) = EncodeOptions::from_bytes(bytes)?;
        if options.pretty.is_some() || !options.shape.is_empty() {
            return None;
        }
        (self.bytes, self.options) = (*bytes, EncodeOptions::read(bytes, None));
        Some(())
    }
}

/// Whether these are the same bytes. Word by word, for the comparison of so few is not worth a call.
#[inline(always)]
pub(super) fn same<const N: usize>(bytes: &[u8; N], others: &[u8; N]) -> bool {
    let ((words, rest), (other_words, other_rest)) = (bytes.as_chunks::<8>(), others.as_chunks::<8>());
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    rest == other_rest && words.iter().zip(other_words).fold(0, |differ, (a, b)| differ | (word(a) ^ word(b))) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn options_are_those_of_their_bytes_whatever_came_before() {
        let mut known = Known::<DecodeOptions, { DecodeOptions::LEN }>::default();
        let mut changed = Vec::from([DecodeOptions::DEFAULT_BYTES; 2]);
        for at in 0..DecodeOptions::LEN {
            changed[0][at] ^= 1;
            for bytes in &changed {
                let read = DecodeOptions::from_bytes(bytes, at as u64).unwrap();
                assert_eq!(*known.read(bytes, at as u64), read);
            }
            changed[0][at] ^= 1;
        }
    }

    #[test]
    fn options_with_texts_are_not_remembered() {
        let mut known = Known::<EncodeOptions<'static>, { EncodeOptions::LEN }>::default();
        let usual = EncodeOptions::DEFAULT_BYTES;
        for at in 0..EncodeOptions::LEN {
            let mut bytes = usual;
            bytes[at] ^= 1;
            match EncodeOptions::from_bytes(&bytes) {
                Some((read, _)) if read.pretty.is_none() && read.shape.is_empty() => {
                    assert_eq!(known.read(&bytes), Some(&read), "{at}");
                }
                _ => assert_eq!(known.read(&bytes), None, "{at}"),
            }
            assert_eq!(known.read(&usual), Some(&EncodeOptions::DEFAULT));
        }
        assert_eq!(known.read(&usual[1..]), None);
        assert_eq!(known.read(&[&usual[..], b" "].concat()), None);
    }
}
