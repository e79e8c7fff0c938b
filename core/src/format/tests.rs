//! The formatter: layouts, slices and limits.

use super::*;

const PRETTY: Layout<'_> = Layout {
    indent: b"  ",
    line_separator: b"\n",
    record_separator: b"\n",
    after_colon: b" ",
    base_depth: 0,
    max_depth: 128,
    max_bytes: 0,
};

fn run(text: &str, layout: &Layout<'_>) -> String {
    let mut out = Output::new(Vec::new());
    format(text.as_bytes(), layout, &mut out).unwrap();
    String::from_utf8(out.written().to_vec()).unwrap()
}

#[test]
fn pretty() {
    assert_eq!(run(r#"{"a":{"b": [1, 2]}}"#, &PRETTY), "{\n  \"a\": {\n    \"b\": [\n      1,\n      2\n    ]\n  }\n}");
    assert_eq!(run("[] {}", &PRETTY), "[]\n{}");
    assert_eq!(run("[ [ ], {\n} ]", &PRETTY), "[\n  [],\n  {}\n]");
}

#[test]
fn several_roots() {
    assert_eq!(run(r#" 1 "a" null{"x" : 1}[2]"#, &Layout::MINIMAL), "1\n\"a\"\nnull\n{\"x\":1}\n[2]");
}

#[test]
fn strings_are_copied_whole() {
    let text = r#"["a  \" [ b", "\\", "{\u00e9 :,"]"#;
    assert_eq!(run(text, &Layout::MINIMAL), r#"["a  \" [ b","\\","{\u00e9 :,"]"#);
    assert_eq!(run("[\"a\tb\"]", &Layout::MINIMAL), "[\"a\tb\"]");
}

#[test]
fn what_is_not_json_ends_too() {
    for text in ["\"", "\"\\", "]]]", "[[[", ",,::", "\"abc\\", "}{"] {
        run(text, &PRETTY);
        run(text, &Layout::MINIMAL);
    }
}

#[test]
fn nested_text_is_indented_from_its_depth() {
    assert_eq!(run("[1]", &Layout { base_depth: 2, ..PRETTY }), "[\n      1\n    ]");
}

#[test]
fn depth_is_limited() {
    let text = "[".repeat(129);
    let error = format(text.as_bytes(), &PRETTY, &mut Output::new(Vec::new())).unwrap_err();
    assert_eq!((error.kind, error.offset), (ErrorKind::MaxDepth, 128));
}

/// Everything that the formatter writes, made with budgets that grow by these steps.
fn in_slices(text: &str, layout: &Layout<'_>, step: usize) -> Result<Vec<u8>, Error> {
    let mut out = Output::new(Vec::new());
    let (mut place, mut budget) = (layout.first_place(), step);
    while let Some(next) = format_slice(text.as_bytes(), layout, place, 0, budget, &mut out)? {
        assert!(out.len() <= budget, "a slice keeps to its budget");
        (place, budget) = (next, budget + step);
    }
    Ok(out.written().to_vec())
}

const TEXTS: [&str; 6] = [
    r#"{"a":[1,2.5e3,{"b":[]}],"c":{},"d":"x y","e":[[[null]]]}"#,
    " [ ] { } 1 \"a\" null[2]",
    "]]],,::}{",
    "[[[[[[[[1]]]]]]]]",
    "\"abc\\",
    "",
];

#[test]
fn slices_write_what_one_go_writes() {
    for text in TEXTS {
        for layout in [PRETTY, Layout::MINIMAL, Layout { base_depth: 3, ..PRETTY }] {
            let mut whole = Output::new(Vec::new());
            format(text.as_bytes(), &layout, &mut whole).unwrap();
            for step in 1..30 {
                assert_eq!(in_slices(text, &layout, step).unwrap(), whole.written(), "{text} {step}");
            }
        }
    }
}

#[test]
fn output_is_limited_to_the_byte() {
    for text in TEXTS {
        let len = run(text, &PRETTY).len() as u64;
        for max_bytes in (1..=len + 1).step_by(if cfg!(miri) { 7 } else { 1 }) {
            let layout = Layout { max_bytes, ..PRETTY };
            let mut out = Output::new(Vec::new());
            let result = format(text.as_bytes(), &layout, &mut out);
            assert_eq!(result.is_ok(), max_bytes >= len, "{text} {max_bytes}");
            assert!(out.len() as u64 <= max_bytes);
            for step in (1..9).step_by(if cfg!(miri) { 5 } else { 1 }) {
                assert_eq!(in_slices(text, &layout, step).map(drop), result, "{text} {max_bytes} {step}");
            }
        }
    }
}

#[test]
fn too_long_output_is_an_error_at_the_token_that_does_not_fit() {
    let layout = Layout { max_bytes: 12, ..PRETTY };
    let error = format(b"[1, 22, 333]", &layout, &mut Output::new(Vec::new())).unwrap_err();
    assert_eq!((error.kind, error.offset), (ErrorKind::MaxBytes, 6));
}

#[test]
fn a_line_too_long_for_memory_is_an_error() {
    let long = if cfg!(miri) { 1 << 12 } else { 1 << 20 };
    let indent = vec![b' '; long];
    let layout = Layout { indent: &indent, max_bytes: 4 * long as u64, ..PRETTY };
    let error = format(b"[[[[1]]]]", &layout, &mut Output::new(Vec::new())).unwrap_err();
    assert_eq!((error.kind, error.offset), (ErrorKind::MaxBytes, 3));
}

#[test]
fn indentation_of_any_depth_is_repeated_exactly() {
    for (times, indent) in (0..70).flat_map(|times| ["", " ", "ab", "\t\t\t"].map(|indent| (times, indent))) {
        let mut out = Output::new(Vec::new());
        out.repeat(indent.as_bytes(), times);
        assert_eq!(out.written(), indent.repeat(times).as_bytes());
    }
}

#[test]
fn last_tokens_have_numbers() {
    for last in [Last::None, Last::Open, Last::Inside, Last::Value] {
        assert_eq!(Last::from_number(last.number()), Some(last));
    }
    assert_eq!(Last::from_number(4), None);
}

#[test]
fn pretty_then_minimal_is_identity() {
    let text = r#"{"a":[1,2.5e3,{"b":[]}],"c":{},"d":"x y","e":[[[null]]]}"#;
    assert_eq!(run(&run(text, &PRETTY), &Layout::MINIMAL), text);
}
