//! Copies a text whose objects have their members in any order into one where they are sorted.

use super::builder::{Moved, Object};
use crate::error::ErrorKind;
use crate::output::{Buffer, Output};
use crate::room::room;
use alloc::vec::Vec;

/// What is left to copy of a member, or of the document.
#[derive(Clone, Copy)]
struct Part {
    from: usize,
    to: usize,
    /// The number of the first object that starts there.
    object: usize,
}

/// An object being written: its members that are left.
#[derive(Clone, Copy)]
struct Open {
    next: usize,
    behind: usize,
    first: bool,
}

/// Sorts the members in the text that starts here.
pub(super) fn arrange<B: Buffer>(moved: &Moved, out: &mut Output<B>, start: usize) -> Result<(), ErrorKind> {
    if moved.members.is_empty() {
        return Ok(());
    }
    let mut text = Vec::new();
    room(&mut text, out.len())?;
    text.extend_from_slice(out.written());
    out.truncate(start);
    write(moved, &text, start, out)
}

fn write<B: Buffer>(moved: &Moved, text: &[u8], start: usize, out: &mut Output<B>) -> Result<(), ErrorKind> {
    let Moved { objects, members } = moved;
    let mut parts = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut part = Part { from: start, to: text.len(), object: 0 };
    loop {
        if let Some(object) = next_moved(objects, &mut part) {
            out.text(&text[part.from..=object.start]);
            part.from = object.end - 1;
            room(&mut parts, 1)?;
            room(&mut open, 1)?;
            parts.push(part);
            open.push(Open { next: object.members.0, behind: object.members.1, first: true });
        } else {
            out.text(&text[part.from..part.to]);
        }
        let Some(innermost) = open.last_mut() else { return Ok(()) };
        if innermost.next == innermost.behind {
            open.pop();
            let Some(around) = parts.pop() else { return Ok(()) };
            part = around;
            continue;
        }
        if !core::mem::replace(&mut innermost.first, false) {
            out.text(b",");
        }
        let member = members[innermost.next];
        innermost.next += 1;
        let object = objects.partition_point(|object| object.start < member.start);
        part = Part { from: member.start, to: member.end, object };
    }
}

/// The next object in this part whose members change places. Those inside of it are not looked at here.
fn next_moved<'a>(objects: &'a [Object], part: &mut Part) -> Option<&'a Object> {
    loop {
        let object = objects.get(part.object).filter(|object| object.start < part.to)?;
        part.object += 1;
        if object.start >= part.from && object.members.0 < object.members.1 {
            part.object = object.behind;
            return Some(object);
        }
    }
}
