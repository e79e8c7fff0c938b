//! Line, column and path of any offset in any bytes.

use rustyjson_core::locate::locate;

pub fn run(data: &[u8]) {
    let mut last = (1, 1);
    for offset in 0..=data.len().min(100) {
        let place = locate(data, offset);
        assert!((place.line, place.column) >= last, "places come in order");
        assert_eq!(place, locate(&data[..offset], offset), "what follows does not matter");
        assert!(place.path.is_empty() || place.path.starts_with('/'));
        last = (place.line, place.column);
    }
    locate(data, usize::MAX);
}
