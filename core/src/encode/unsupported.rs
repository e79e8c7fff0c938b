//! Terms without a JSON form that are left to the shell, where it asks for that: improper lists and odd keys. (Pids, functions and
//! the like always are, see [`Value::Other`](super::reader::Value::Other).)

use super::driver::{Driver, Frame, Next, Walk};
use super::error::EncodeErrorKind;
use super::reader::{Ahead, Step, TermReader};
use super::writer::Writer;
use crate::simd::copy::CopyKernel;

/// Elements of a list between two looks at the budget.
const LOOK: usize = 1024;
/// Elements that are looked at in the time of a byte of work: 1 to 2 ns each.
const LOOKED_AT: usize = 2;

impl<'t, K: CopyKernel, R: TermReader<'t>, W: Writer> Driver<'_, 't, K, R, W> {
    /// Whether a list is improper, and so left to the shell. That is seen before anything of it is written: a term that shares its parts
    /// could have any number of such lists, and none of their text would be left.
    #[inline(never)]
    pub fn is_improper(&mut self, list: R::Term, mut rest: R::List) -> Walk<bool> {
        let mut looks = 0;
        loop {
            match self.reader.look_along(list, &mut rest, LOOK) {
                Ahead::Proper => return Ok(false),
                Ahead::Improper => {
                    // A short one costs no more than its hole.
                    self.lost(looks * LOOK)?;
                    return Ok(true);
                }
                Ahead::More => {
                    looks += 1;
                    self.spend(LOOK / LOOKED_AT)?;
                }
            }
        }
    }

    /// Opens a list into which pointers may lead.
    #[cold]
    #[inline(never)]
    pub fn counted_list(&mut self, mut list: R::List) -> Walk<Next<R::Term>> {
        match self.reader.next_item(&mut list) {
            Step::Item(first) => {
                self.rare_open(b'[', Frame::Counted(list));
                self.enter_items()?;
                self.item(first)
            }
            Step::End => {
                self.out.empty(*b"[]");
                Ok(Next::Done)
            }
            Step::Tail(_) => Err(EncodeErrorKind::ImproperList),
        }
    }

    /// The next element of such a list.
    pub fn next_counted(&mut self) -> Walk<Next<R::Term>> {
        let Some(Frame::Counted(list)) = self.stack.last_mut() else { return Ok(Next::Done) };
        match self.reader.next_item(list) {
            Step::Item(item) => {
                self.rare_comma();
                self.item(item)
            }
            Step::End => {
                self.places.pop();
                self.rare_close(b']')
            }
            Step::Tail(_) => Err(EncodeErrorKind::ImproperList),
        }
    }

    /// Takes back the text of the innermost container, which has a mark, and gives its term.
    pub fn take_back(&mut self) -> Walk<Option<R::Term>> {
        if let Some(mark) = self.marks.last() {
            // On a tape these are other numbers than in a text, mostly half as many to twice as many.
            let taken = self.out.length() - mark.start;
            self.charge(taken);
            self.lost(taken + 1)?;
        }
        self.stack.pop();
        let Some(mark) = self.marks.pop() else { return Ok(None) };
        self.out.take_back(mark.start);
        self.holes.truncate(mark.holes);
        Ok(Some(mark.term))
    }

    /// A term that is no key. `false`: the shell may make a text of it.
    #[cold]
    pub fn odd_key(&self) -> Walk<bool> {
        if self.options.leave_unsupported { Ok(false) } else { Err(EncodeErrorKind::InvalidKey) }
    }
}

#[cfg(test)]
mod tests {
    use crate::EncodeOptions;
    use crate::encode::tests::{
        Atom, Bin, Improper, Int, List, Map, PLAIN, Pid, SORT, T, Tuple, bin, encode_with, structure,
    };
    use alloc::boxed::Box;
    use alloc::string::String;
    use alloc::vec;
    use alloc::vec::Vec;

    const LEAVE: EncodeOptions<'_> = EncodeOptions { leave_unsupported: true, ..PLAIN };

    fn left(options: &EncodeOptions<'_>, term: &T) -> (String, Vec<(usize, usize, bool)>) {
        let (text, holes) = encode_with(term, options).unwrap();
        (text, holes.iter().map(|hole| (hole.offset, hole.term.offset(), hole.key)).collect())
    }

    fn improper(items: &[T], tail: T) -> T {
        Improper(items.to_vec(), Box::new(tail))
    }

    #[test]
    fn improper_lists_are_holes() {
        let list = List(vec![Int(1), improper(&[Int(2), Pid], Int(3)), Int(4)]);
        assert_eq!(left(&LEAVE, &list), ("[1,,4]".into(), vec![(3, 8, false)]));
        let outer = List(vec![improper(&[improper(&[Int(2)], bin("x"))], List(vec![])), Int(4)]);
        assert_eq!(left(&LEAVE, &outer).0, "[[],4]");
        let both = List(vec![improper(&[improper(&[Int(2)], bin("x"))], Atom("y")), Int(4)]);
        assert_eq!(left(&LEAVE, &both), ("[,4]".into(), vec![(1, 6, false)]));
        assert_eq!(left(&LEAVE, &List(vec![List(vec![]), List(vec![Int(1)])])), ("[[],[1]]".into(), vec![]));
        // Nothing of it is written, so nothing in it is an error.
        let wrong = improper(&[Map(vec![(bin("a"), Bin(vec![0xFF]))]), improper(&[Bin(vec![0xFF])], Int(1))], Int(2));
        assert_eq!(left(&LEAVE, &List(vec![wrong, List(vec![Int(3)])])).0, "[,[3]]");
    }

    #[test]
    fn odd_keys_are_holes() {
        let map = Map(vec![(Tuple(vec![Int(1)]), Int(1)), (Pid, Int(2)), (Map(vec![]), Int(3)), (bin("a"), Int(4))]);
        let (text, holes) = left(&LEAVE, &map);
        assert_eq!((text.as_str(), holes.len()), (r#"{:1,:2,:3,"a":4}"#, 3));
        assert!(holes.iter().all(|hole| hole.2));
        let sorted = EncodeOptions { leave_unsupported: true, ..SORT };
        assert_eq!(left(&sorted, &map), (String::new(), vec![(0, 1, false)]));
        assert!(encode_with(&map, &PLAIN).is_err());
    }

    #[test]
    fn broken_ordered_objects_are_holes() {
        let object = |values: T| List(vec![structure("Elixir.RustyJson.OrderedObject", &[("values", values)]), Int(1)]);
        let pair = Tuple(vec![bin("a"), Int(1)]);
        for values in [List(vec![pair.clone(), Int(2)]), improper(core::slice::from_ref(&pair), Int(2)), Atom("x")] {
            assert_eq!(left(&LEAVE, &object(values)), ("[,1]".into(), vec![(1, 6, false)]));
        }
        assert_eq!(left(&LEAVE, &object(List(vec![pair]))), (r#"[{"a":1},1]"#.into(), vec![]));
    }
}
