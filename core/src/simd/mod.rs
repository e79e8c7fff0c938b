//! The kernels: operations on many bytes at once. Each has one vector form, generic over the instruction set through
//! `fearless_simd` (SSE2, AVX2, NEON, simd128), and a scalar twin that judges it in the tests and
//! replaces it under the feature `scalar`.

pub mod copy;
pub mod digits;
mod find;
mod kernel;
pub mod marks;
mod scalar;
mod vector;

pub use find::find_pair;
pub use kernel::{Kernel, Kernels, Run, is_space};
pub use scalar::Scalar;
pub(crate) use vector::LANES;
pub use vector::Vector;

/// Runs an expression with the best [`Kernel`] of this machine bound to a name. The expression is compiled once for
/// each instruction set, so it should be one call of an `#[inline(always)]` function.
///
/// On x86-64 there are two: AVX2, and SSE2, which every such processor has. AVX-512 gains nothing: `docs/performance.md` has the
/// figures.
#[cfg(all(not(feature = "scalar"), target_arch = "x86_64"))]
#[macro_export]
macro_rules! with_kernel {
    ($kernel:ident => $body:expr) => {
        match fearless_simd::Level::new().as_avx2() {
            Some(simd) => fearless_simd::Simd::vectorize(
                simd,
                #[inline(always)]
                || {
                    let $kernel = $crate::simd::Vector(simd);
                    $body
                },
            ),
            None => $crate::with_baseline!($kernel => $body),
        }
    };
}

/// The same with the instruction set that every such processor has.
#[cfg(all(not(feature = "scalar"), target_arch = "x86_64"))]
#[macro_export]
#[doc(hidden)]
macro_rules! with_baseline {
    ($kernel:ident => $body:expr) => {{
        let simd = fearless_simd::Level::baseline().as_sse2().expect("x86-64 has SSE2");
        let $kernel = $crate::simd::Vector(simd);
        $body
    }};
}

/// Runs an expression with the [`Kernel`] of this architecture bound to a name.
#[cfg(all(not(feature = "scalar"), not(target_arch = "x86_64")))]
#[macro_export]
macro_rules! with_kernel {
    ($kernel:ident => $body:expr) => {
        fearless_simd::dispatch!(fearless_simd::Level::new(), simd => {
            let $kernel = $crate::simd::Vector(simd);
            $body
        })
    };
}

/// Runs an expression with the scalar kernels: this build has no others.
#[cfg(feature = "scalar")]
#[macro_export]
macro_rules! with_kernel {
    ($kernel:ident => $body:expr) => {{
        let $kernel = $crate::simd::Scalar;
        $body
    }};
}

/// Name of the instruction set that the kernels run on.
pub fn level() -> &'static str {
    if cfg!(feature = "scalar") { "scalar" } else { vector::level() }
}
