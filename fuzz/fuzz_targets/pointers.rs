//! Any text, under any options, with pointers that the last bytes choose: the values of a naive look-up, or the error of the naive
//! parser.

use rustyjson_fuzz::naive::parts::choices::Choices;
use rustyjson_fuzz::naive::parts::pointers::assert_selects;
use rustyjson_fuzz::options;

pub fn run(data: &[u8]) {
    let (data, choices) = data.split_last_chunk().unwrap_or((data, &[0; 24]));
    let (options, text) = options(data);
    let mut choices = Choices::new(choices);
    let flags = (choices.next() % 4) as u8;
    let paths: Vec<_> = (0..choices.next() % 6).map(|_| choices.path()).collect();
    assert_selects(text, flags, &paths, &options);
}
