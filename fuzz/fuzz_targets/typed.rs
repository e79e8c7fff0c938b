//! Any text, under any options, as a type that the last bytes choose: the answer of a naive reader, or an error of the schema, or of
//! the text. All its errors are those of a second naive reader, with their number. The check of a guest's answer accepts what is built,
//! also when the values are asked for that Elixir has to judge; and of any other answer it passes only what is of the type.

use rustyjson_fuzz::naive::parts::choices::Choices;
use rustyjson_fuzz::naive::parts::judged::{assert_judged, assert_lies};
use rustyjson_fuzz::naive::parts::typed::assert_typed;
use rustyjson_fuzz::naive::parts::wrong::assert_all;
use rustyjson_fuzz::options;

pub fn run(data: &[u8]) {
    let (data, choices) = data.split_last_chunk().unwrap_or((data, &[0; 40]));
    let (options, text) = options(data);
    let mut choices = Choices::new(choices);
    let (most, left) = (1 + choices.next() % 5, choices.next());
    let lies = [(choices.next() << 4 | choices.next() >> 4, choices.next() as u8)];
    let of = choices.types(4);
    let options = rustyjson_core::DecodeOptions { max_nodes: 0, ..options };
    assert_typed(text, &of, &options);
    let refused: Vec<_> = (0..8).filter(|number| left >> number & 1 != 0).collect();
    assert_all(text, &of, &options, most, &refused);
    assert_all(text, &of, &options, 1000, &[]);
    assert_lies(text, &of, &options, &lies);
    assert_judged(&[&[131][..], text].concat(), text, &of, &options);
}
