//! The words that a term is in memory: reading and writing them.
//!
//! Nothing here calls the VM. So Miri runs the tests of this file, and the fuzz target `words` writes and reads terms
//! with it, whose memory AddressSanitizer watches. `layout` tries out on terms of the VM that it is as written here
//! (`erl_term.h`, `erl_map.h` and `erl_binary.h` in `erts/emulator/beam`).
//!
//! A term is a word whose lowest two bits tell its kind: `01` points to a list cell, `10` to a header that other words
//! follow, `11` is the value itself. Where the system cannot reserve addresses, as on Windows, the third bit marks a pointer to a
//! literal. A header tells the kind in its lowest six bits and, above them, how many words
//! follow it; of a tuple these six are 0. Maps of at most 32 members have their keys in a tuple, which any number of
//! maps may share.

/// The longest binary that the VM keeps on the heap.
pub const SHORT: usize = 64;
/// The bits of a header that tell the kind of term.
pub const KIND: usize = 0b11_1111;

const LIST: usize = 0b01;
const BOXED: usize = 0b10;
/// The bits of a pointer that are not the address.
const TAG: usize = 0b111;

/// Headers, as terms that the VM made have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    /// Of a float.
    pub float: usize,
    /// Of a map of at most 32 members.
    pub small_map: usize,
    /// Of a binary on the heap, by its length.
    pub binaries: [usize; SHORT + 1],
    /// Whether that length is counted in bits, as from OTP 27 on.
    pub bits: bool,
}

/// A map of at most 32 members: so many keys and values, in the order of the keys.
#[derive(Clone, Copy, Debug)]
pub struct Members {
    pub len: usize,
    /// The keys, which stand in a tuple.
    pub keys: *const usize,
    pub values: *const usize,
    /// That tuple.
    pub tuple: usize,
}

/// Where a term with a header stands.
///
/// # Safety
/// The lowest bits of the word are [`BOXED`]: it points to a header.
#[inline(always)]
pub const unsafe fn boxed(word: usize) -> *const usize {
    std::ptr::with_exposed_provenance(word & !TAG)
}

/// Head and tail of a list cell.
///
/// # Safety
/// The lowest bits of the word are those of a list: it points to two words.
#[inline(always)]
pub const unsafe fn cell(list: usize) -> [usize; 2] {
    // SAFETY: the caller's promise.
    unsafe { *std::ptr::with_exposed_provenance::<[usize; 2]>(list & !TAG) }
}

/// Words of a binary with so many bytes.
#[inline(always)]
pub const fn binary_words(len: usize) -> usize {
    2 + len.div_ceil(8)
}

/// The header of a tuple with so many elements.
#[inline(always)]
pub const fn tuple_header(arity: usize) -> usize {
    arity << 6
}

/// Reading. Each needs a word whose lowest bits are `10`, of a term with these headers.
impl Words {
    /// A float.
    ///
    /// # Safety
    /// The word points to a header.
    #[inline(always)]
    pub unsafe fn float(&self, term: usize) -> Option<f64> {
        // SAFETY: the caller's promise; behind the header of a float stands the number.
        unsafe {
            let words = boxed(term);
            if *words == self.float { Some(f64::from_bits(*words.add(1) as u64)) } else { None }
        }
    }

    /// The bytes of a binary on the heap. Of the bitstrings there only those of whole bytes are binaries.
    ///
    /// # Safety
    /// The word points to a header. The term stays as it is for the lifetime.
    #[inline(always)]
    pub unsafe fn binary<'a>(&self, term: usize) -> Option<&'a [u8]> {
        // SAFETY: the caller's promise; behind the header of a binary on the heap stand its length and its bytes.
        unsafe {
            let words = boxed(term);
            if (*words ^ self.binaries[0]) & KIND != 0 {
                return None;
            }
            let size = *words.add(1);
            let len = if !self.bits {
                size
            } else if size.is_multiple_of(8) {
                size / 8
            } else {
                return None;
            };
            Some(std::slice::from_raw_parts(words.add(2).cast(), len))
        }
    }

    /// A map of at most 32 members.
    ///
    /// # Safety
    /// The word points to a header.
    #[inline(always)]
    pub unsafe fn small_map(&self, term: usize) -> Option<Members> {
        // SAFETY: the caller's promise; behind the header of a small map stand its size, the tuple of its keys, and its values.
        unsafe {
            let words = boxed(term);
            if *words != self.small_map {
                return None;
            }
            let tuple = *words.add(2);
            Some(Members { len: *words.add(1), keys: boxed(tuple).add(1), values: words.add(3), tuple })
        }
    }
}

/// Writing. Each returns the term. It needs as many words at `at` as its description says, which nobody else uses.
impl Words {
    /// A float: two words.
    ///
    /// # Safety
    /// There are two.
    #[inline(always)]
    pub unsafe fn write_float(&self, at: *mut usize, value: f64) -> usize {
        // SAFETY: the caller's promise.
        unsafe {
            *at = self.float;
            *at.add(1) = value.to_bits() as usize;
        }
        at.expose_provenance() | BOXED
    }

    /// A binary of at most [`SHORT`] bytes: [`binary_words`].
    ///
    /// # Safety
    /// There are so many, and the bytes are elsewhere.
    #[inline(always)]
    pub unsafe fn write_binary(&self, at: *mut usize, bytes: &[u8]) -> usize {
        let len = bytes.len();
        // SAFETY: the caller's promise. A longer binary has no header: that ends in a panic.
        unsafe {
            *at = self.binaries[len];
            *at.add(1) = if self.bits { 8 * len } else { len };
            super::copy::copy(bytes, at.add(2).cast());
        }
        at.expose_provenance() | BOXED
    }

    /// A map with the keys of this tuple and these values, in its order: three words and one for each value.
    ///
    /// # Safety
    /// There are so many. The tuple has as many keys as there are values, at most 32, all different, in the VM's order.
    #[inline(always)]
    pub unsafe fn write_map(&self, at: *mut usize, keys: usize, values: impl ExactSizeIterator<Item = usize>) -> usize {
        // SAFETY: the caller's promise.
        unsafe {
            *at = self.small_map;
            *at.add(1) = values.len();
            *at.add(2) = keys;
            for (place, value) in values.enumerate() {
                *at.add(3 + place) = value;
            }
        }
        at.expose_provenance() | BOXED
    }
}

/// A tuple of these terms, of which there is at least one: a word for each, and one more.
///
/// # Safety
/// `at` has room for these words.
#[inline(always)]
pub unsafe fn write_tuple(at: *mut usize, items: impl ExactSizeIterator<Item = usize>) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        *at = tuple_header(items.len());
        for (place, item) in items.enumerate() {
            *at.add(1 + place) = item;
        }
    }
    at.expose_provenance() | BOXED
}

/// A list of these terms, of which there is at least one: two words for each. `end` is the empty list.
///
/// # Safety
/// `at` has room for these words.
#[inline(always)]
pub unsafe fn write_list(at: *mut usize, items: &[usize], end: usize) -> usize {
    let mut cell = at;
    for item in items {
        // SAFETY: the caller's promise; the next cell's place may be the end of them.
        unsafe {
            let next = cell.add(2);
            *cell = *item;
            *cell.add(1) = next.expose_provenance() | LIST;
            cell = next;
        }
    }
    // SAFETY: there is at least one item, so that this is the tail of the last.
    unsafe { *cell.sub(1) = end };
    at.expose_provenance() | LIST
}

/// Makes what stands in the next `count` words, at least one, a tuple's elements, the first aside: the VM may walk over
/// memory from one term to the next.
///
/// # Safety
/// There are so many, and all but the first are terms.
#[inline(always)]
pub unsafe fn write_rest(at: *mut usize, count: usize) {
    // SAFETY: the caller's promise.
    unsafe { *at = tuple_header(count - 1) };
}
