//! Terms that the VM makes: integers of any size, and atoms that exist.

use super::Terms;
use crate::raw::make::Maker;
use rustler::sys::ErlNifTerm;
use rustyjson_core::ErrorKind;

impl Terms<'_, '_> {
    pub(super) fn make_integer(&self, negative: bool, magnitude: &[u8]) -> Result<ErlNifTerm, ErrorKind> {
        let mut word = [0; 8];
        match word.get_mut(..magnitude.len()) {
            Some(low) => low.copy_from_slice(magnitude),
            None => return self.make_big(negative, magnitude),
        }
        match i64::try_from(u64::from_le_bytes(word)) {
            Ok(value) => Ok(self.make.integer(if negative { -value } else { value })),
            Err(_) => self.make_big(negative, magnitude),
        }
    }

    /// Makes a big integer by way of the external term format: the VM has no function for it.
    fn make_big(&self, negative: bool, magnitude: &[u8]) -> Result<ErlNifTerm, ErrorKind> {
        let mut format = Vec::new();
        format.try_reserve_exact(magnitude.len() + 7).map_err(|_| ErrorKind::OutOfMemory)?;
        format.push(131);
        match u8::try_from(magnitude.len()) {
            Ok(len) => format.extend([110, len]),
            Err(_) => {
                format.push(111);
                format.extend((magnitude.len() as u32).to_be_bytes());
            }
        }
        format.push(u8::from(negative));
        format.extend_from_slice(magnitude);
        // The core knows the largest integer; a VM that has only smaller ones says so here.
        let (integer, _) = self.make.env().binary_to_term(&format).ok_or(ErrorKind::NumberOutOfRange)?;
        Ok(integer.as_c_arg())
    }
}

/// An atom that exists. Elixir makes those that do not, and asks again. Names beyond ASCII go through external term format:
/// the call for UTF-8 names is missing before OTP 26.
pub(super) fn existing_atom(make: Maker<'_>, name: &[u8]) -> Result<ErlNifTerm, ErrorKind> {
    if name.is_ascii() && name.len() <= 255 {
        return make.existing_ascii_atom(name).ok_or(ErrorKind::UnknownAtom);
    }
    // rustler's call refuses atoms that do not exist.
    let (term, _) = make.env().binary_to_term(&atom_format(name)?).ok_or(ErrorKind::UnknownAtom)?;
    Ok(term.as_c_arg())
}

/// The name as an atom in external term format.
fn atom_format(name: &[u8]) -> Result<Vec<u8>, ErrorKind> {
    let text = std::str::from_utf8(name).map_err(|_| ErrorKind::InvalidUtf8)?;
    if text.chars().count() > 255 {
        return Err(ErrorKind::AtomTooLong);
    }
    let mut format = vec![131, 118];
    format.extend((name.len() as u16).to_be_bytes());
    format.extend_from_slice(name);
    Ok(format)
}
