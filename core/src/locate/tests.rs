use super::pointer::MAX_SEGMENT;
use super::*;
use proptest::prelude::*;

fn at(json: &str, offset: usize) -> (u64, u64, String) {
    let Location { line, column, path, .. } = locate(json.as_bytes(), offset);
    (line, column, path)
}

fn path_at_end(json: &str) -> String {
    locate(json.as_bytes(), json.len()).path
}

#[test]
fn lines_and_columns() {
    assert_eq!(at("", 0), (1, 1, "".into()));
    assert_eq!(at("{\"a\": x}", 6), (1, 7, "/a".into()));
    assert_eq!(at("[1,\n 2,\n x]", 9), (3, 2, "/2".into()));
    assert_eq!(at("[1,\r\nx]", 5), (2, 1, "/1".into()));
    assert_eq!(at("x", 99), (1, 2, "".into()), "beyond the end is the end");
}

#[test]
fn columns_count_code_points() {
    assert_eq!(at("[\"é😀\",x]", 10), (1, 7, "/1".into()));
    assert_eq!(locate(b"\xFF\xFFx", 2).column, 3, "bytes that start nothing count one each");
}

#[test]
fn arrays_count_elements() {
    assert_eq!(path_at_end("["), "/0");
    assert_eq!(path_at_end("[1,[2,3,"), "/1/2");
    assert_eq!(path_at_end("[[],[1],{}"), "/2");
    assert_eq!(path_at_end("[1]"), "");
    assert_eq!(at("[[1]]", 1).2, "/0", "a bracket not yet entered is an element");
}

#[test]
fn objects_name_the_member_once_its_key_is_complete() {
    assert_eq!(path_at_end("{"), "");
    assert_eq!(path_at_end("{\"a"), "");
    assert_eq!(path_at_end("{\"a\""), "/a");
    assert_eq!(path_at_end("{\"a\":{\"b\":[true,"), "/a/b/1");
    assert_eq!(path_at_end("{\"a\":1,"), "");
    assert_eq!(path_at_end("{\"a\":\"b\""), "/a", "a string value is not a key");
    assert_eq!(path_at_end("{\"a\":1}"), "");
}

#[test]
fn strings_hide_structure() {
    assert_eq!(path_at_end(r#"["[{,:","\"[",x"#), "/2");
    assert_eq!(path_at_end(r#"["\\","#), "/1");
    assert_eq!(path_at_end(r#"[1,"ab\"#), "/1", "cut inside an escape");
}

#[test]
fn keys_are_unescaped_and_then_escaped_for_the_pointer() {
    assert_eq!(path_at_end(r#"{"a/b":{"m~n":"#), "/a~1b/m~0n");
    assert_eq!(path_at_end(r#"{"":{"":"#), "//");
    assert_eq!(path_at_end(r#"{"\u0061\n\"\\\/":"#), "/a\n\"\\~1");
    assert_eq!(path_at_end(r#"{"\ud83d\uDE00é":"#), "/😀é");
    assert_eq!(path_at_end(r#"{"\ud83dx\uDE00":"#), "/\u{FFFD}x\u{FFFD}");
    assert_eq!(path_at_end(r#"{"\u12G4\q":"#), "/\u{FFFD}12G4\u{FFFD}");
}

#[test]
fn invalid_utf8_in_keys_is_replaced() {
    assert_eq!(locate(b"{\"a\xFFb\":", 7).path, "/a\u{FFFD}b");
}

#[test]
fn holes_of_the_encoder_are_tolerated() {
    assert_eq!(path_at_end("[,,"), "/2");
    assert_eq!(path_at_end("{\"a\":,\"b\":"), "/b");
    assert_eq!(path_at_end("{:"), "");
    assert_eq!(path_at_end("{:\"a\",\"b\":"), "/b");
    assert_eq!(path_at_end("{:[1,"), "/1");
    assert_eq!(path_at_end("]}[1,"), "/1");
}

#[test]
fn long_keys_are_cut_between_characters() {
    let key = |text: &str| path_at_end(&format!("{{\"{text}\":"));
    assert_eq!(key(&"k".repeat(MAX_KEY)), format!("/{}", "k".repeat(MAX_KEY)));
    assert_eq!(key(&"k".repeat(MAX_KEY + 1)), format!("/{}…", "k".repeat(MAX_KEY)));
    assert_eq!(key(&format!("k{}", "é".repeat(MAX_KEY))), format!("/k{}…", "é".repeat(MAX_KEY / 2 - 1)));
    assert_eq!(key(&"\\u0061".repeat(MAX_KEY)), format!("/{}", "a".repeat(MAX_KEY)));
    assert_eq!(key(&"\\u0061".repeat(MAX_KEY + 1)), format!("/{}…", "a".repeat(MAX_KEY)));
    assert_eq!(key(&"\\ud83d\\ude00".repeat(1000)), format!("/{}…", "😀".repeat(MAX_KEY / 4)));
    assert_eq!(key(&"/".repeat(1000)), format!("/{}…", "~1".repeat(MAX_KEY)));
    let invalid = [b"{\"", &b"\xFF".repeat(1000)[..], b"\":"].concat();
    assert_eq!(locate(&invalid, invalid.len()).path, format!("/{}…", "\u{FFFD}".repeat(MAX_KEY / 3)));
}

#[test]
fn long_paths_keep_their_beginning_and_their_end() {
    let keys = |count: usize| (0..count).map(|i| format!("{{\"{i:0>120}\":")).collect::<String>();
    let path = path_at_end(&keys(33));
    assert_eq!((path.len(), path.contains(CUT)), (33 * 121, false));
    let path = path_at_end(&keys(100));
    assert!(path.len() <= MAX_PATH && path.len() > MAX_PATH - 2 * MAX_SEGMENT, "{}", path.len());
    assert!(path.starts_with(&format!("/{:0>120}/{:0>120}/", 0, 1)) && path.ends_with(&format!("/{:0>120}", 99)));
    assert_eq!(path.split('/').filter(|segment| *segment == CUT).count(), 1);
}

#[test]
fn depth_is_no_memory() {
    let depth = if cfg!(miri) { 2_000 } else { 200_000 };
    let half = "/0".repeat(MAX_FRAMES / 2);
    assert_eq!(path_at_end(&"[".repeat(MAX_FRAMES)), "/0".repeat(MAX_FRAMES));
    assert_eq!(path_at_end(&"[".repeat(depth)), format!("{half}/…{half}"));
    let text = format!("[1,{}{}{{\"a\":[2,", "[".repeat(depth), "]".repeat(depth - 1));
    assert_eq!(path_at_end(&text), "/1/0/a/1", "back from the depth");
    let text = format!("{}0{},[{{\"a\":", "[1,".repeat(depth), "]".repeat(10));
    let path = path_at_end(&text);
    assert!(path.starts_with("/1/1") && path.contains("/1/…/1") && path.ends_with("/1/2/0/a"), "{path}");
}

proptest! {
    #[test]
    fn never_panics(json in proptest::collection::vec(any::<u8>(), 0..200), offset in 0usize..220) {
        let location = locate(&json, offset);
        prop_assert!(location.line >= 1 && location.column >= 1);
        prop_assert!(location.path.is_empty() || location.path.starts_with('/'));
        prop_assert!(location.path.len() <= MAX_PATH);
    }

    #[test]
    fn never_panics_near_json(json in "[\\[\\]{}:,\"\\\\u0-9a-fD~/ \n]{0,80}", offset in 0usize..90) {
        locate(json.as_bytes(), offset);
    }

    #[test]
    fn many_offsets_are_located_as_each_is(
        json in "[\\[\\]{}:,\"\\\\abé\n]{0,60}",
        deep in 0usize..300,
        mut offsets in proptest::collection::vec(0usize..400, 0..6),
    ) {
        let json = "[{\"a\":".repeat(deep) + &json;
        offsets.sort_unstable();
        let mut found = Vec::new();
        locate_all(json.as_bytes(), offsets.iter().copied(), |offset, location| found.push((offset, location)));
        let each: Vec<_> = offsets.iter().map(|offset| (*offset, locate(json.as_bytes(), *offset))).collect();
        prop_assert_eq!(found, each);
    }

    #[test]
    fn reads_nothing_from_the_offset_on(json in "[\\[\\]{}:,\"ab\\\\\n]{0,60}", cut in 0usize..60) {
        let cut = cut.min(json.len());
        prop_assert_eq!(locate(json.as_bytes(), cut), locate(&json.as_bytes()[..cut], cut));
    }
}
