//! Strings: the bytes between two quotes, and the kernels that scan them.

use rustyjson_core::simd::copy::{CopyKernel, SLACK};
use rustyjson_core::simd::{Kernel, Scalar};
use rustyjson_core::with_kernel;
use rustyjson_fuzz::{assert_decodes, options};

pub fn run(data: &[u8]) {
    for pos in 0..data.len().min(20) {
        let run = with_kernel!(kernel => kernel.string_run(data, pos));
        assert_eq!(run, Scalar.string_run(data, pos));
    }
    let mut target = vec![0; data.len() + SLACK];
    let run = with_kernel!(kernel => kernel.copy_run(data, &mut target));
    assert_eq!(run, Scalar.string_run(data, 0));
    assert_eq!(target[..run.end], data[..run.end]);

    let (options, text) = options(data);
    let json = [b"[\"", text, b"\",\"", text, b"\"]"].concat();
    assert_decodes(&json, &options);
    assert_decodes(&json[1..json.len() - text.len() - 2], &options);
}
