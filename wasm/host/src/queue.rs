//! Who may run, who waits, and who is woken next. Plain data: nothing in here waits, sends or knows the VM.
//!
//! A call that finds all places taken joins the queue and sleeps. When a place becomes free, the call at the head is woken. Until it
//! runs, any other call may take the place: a scheduler may need a while before it runs a process that was woken, and many short
//! calls could have used the place in that time. A call that was woken too late goes back to the head of the queue, and the next free
//! place is kept for it: for two milliseconds, and for twice as long each time that this was too short. So no place stays empty for
//! long, and no call waits for ever.
//!
//! Every operation takes the time of a few steps in a tree, however many wait.

use crate::clock;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How long the first call holds before another one is called too; twice as long after each place that was lost.
const PATIENCE: Duration = Duration::from_millis(1);
/// Most doublings: a quarter of a second.
const DOUBLINGS: u32 = 8;
/// A head that waits for fewer places than others holds them back when it has waited for this long.
const OLD: Duration = Duration::from_millis(100);

/// Places and who waits for them. `W` is how somebody is woken.
pub struct Queue<W> {
    running: usize,
    /// Places kept for those who were called.
    kept: usize,
    /// Those who were called without one.
    called: usize,
    asleep: BTreeMap<u64, Waiting<W>>,
    awake: BTreeMap<u64, Awake<W>>,
    /// When the patience with each of those who were called ends.
    ends: BTreeSet<(Duration, u64)>,
    last: u64,
}

struct Waiting<W> {
    size: usize,
    to: W,
    since: Duration,
    /// Times that it was called and came too late.
    lost: u32,
}

struct Awake<W> {
    waiting: Waiting<W>,
    call: Called,
    until: Duration,
}

#[derive(Clone, Copy, PartialEq)]
enum Called {
    /// A place is kept for it.
    Kept,
    /// It may take one that is free.
    Open,
    /// It has not come for so long that it no longer counts.
    Late,
}

impl<W> Default for Queue<W> {
    fn default() -> Self {
        let (asleep, awake, ends) = Default::default();
        Self { running: 0, kept: 0, called: 0, asleep, awake, ends, last: 0 }
    }
}

impl<W: Clone> Queue<W> {
    /// Takes a place, if fewer than `size` are taken. `ticket` is that of a woken caller, 0 for any other. Whoever was
    /// woken and comes too late sleeps again.
    pub fn enter(&mut self, size: usize, ticket: u64) -> bool {
        let woken = self.awake.remove(&ticket);
        let kept = woken.as_ref().is_some_and(|awake| self.settle(ticket, awake) == Called::Kept);
        let free = kept || self.is_free(size) || (self.expire() && self.is_free(size));
        if free {
            self.running += 1;
        } else if let Some(Awake { waiting, .. }) = woken {
            self.asleep.insert(ticket, Waiting { lost: waiting.lost + 1, ..waiting });
        }
        free
    }

    /// Waits again with the same ticket, first in the queue, for whoever took a place and gave it back too soon.
    pub fn rejoin(&mut self, ticket: u64, size: usize, to: impl FnOnce() -> W) {
        if !self.asleep.contains_key(&ticket) && !self.awake.contains_key(&ticket) {
            self.asleep.insert(ticket, Waiting { size, to: to(), since: clock::elapsed(), lost: 1 });
        }
    }

    /// Leaves a place.
    pub fn exit(&mut self) {
        self.running -= 1;
    }

    /// Queues. `to` is woken when it is its turn; the ticket is what it comes back with.
    pub fn push(&mut self, size: usize, to: W) -> u64 {
        self.last += 1;
        self.asleep.insert(self.last, Waiting { size, to, since: clock::elapsed(), lost: 0 });
        self.last
    }

    /// Stops waiting. Whether it was woken and has not come since.
    pub fn remove(&mut self, ticket: u64) -> bool {
        if self.asleep.remove(&ticket).is_some() {
            return false;
        }
        let woken = self.awake.remove(&ticket);
        woken.inspect(|awake| _ = self.settle(ticket, awake)).is_some()
    }

    /// Who is to be woken now, and its ticket. To be asked again whenever something has changed.
    pub fn wake(&mut self) -> Option<(u64, W)> {
        let (&ticket, head) = self.asleep.first_key_value()?;
        if self.taken() + self.called >= head.size {
            return None;
        }
        let waiting = self.asleep.remove(&ticket)?;
        let call = if waiting.lost > 0 { Called::Kept } else { Called::Open };
        *self.count(call)? += 1;
        let until = clock::elapsed() + PATIENCE * (1 << waiting.lost.min(DOUBLINGS));
        self.ends.insert((until, ticket));
        let to = waiting.to.clone();
        self.awake.insert(ticket, Awake { waiting, call, until });
        Some((ticket, to))
    }

    /// Drops woken callers that have not come in time. Returns whether there were any.
    pub fn expire(&mut self) -> bool {
        let Some(&(mut first, _)) = self.ends.first() else { return false };
        let (now, before) = (clock::elapsed(), self.ends.len());
        while first <= now {
            let Some((_, ticket)) = self.ends.pop_first() else { break };
            if let Some(awake) = self.awake.get_mut(&ticket) {
                let call = std::mem::replace(&mut awake.call, Called::Late);
                if let Some(count) = self.count(call) {
                    *count -= 1;
                }
            }
            first = self.ends.first().map_or(now + OLD, |&(until, _)| until);
        }
        self.ends.len() < before
    }

    /// Places taken, and who waits for one.
    pub fn counts(&self) -> (usize, usize) {
        (self.running, self.asleep.len() + self.awake.len())
    }

    fn taken(&self) -> usize {
        self.running + self.kept
    }

    fn is_free(&self, size: usize) -> bool {
        self.taken() < size && !self.asleep.first_key_value().is_some_and(|(_, head)| self.holds_back(head, size))
    }

    /// Whether others have to wait until few enough run for the head of the queue.
    fn holds_back(&self, head: &Waiting<W>, size: usize) -> bool {
        head.size < size && head.size <= self.taken() && clock::elapsed() >= head.since + OLD
    }

    /// Somebody who was called came, or never will.
    fn settle(&mut self, ticket: u64, awake: &Awake<W>) -> Called {
        self.ends.remove(&(awake.until, ticket));
        if let Some(count) = self.count(awake.call) {
            *count -= 1;
        }
        awake.call
    }

    fn count(&mut self, call: Called) -> Option<&mut usize> {
        match call {
            Called::Kept => Some(&mut self.kept),
            Called::Open => Some(&mut self.called),
            Called::Late => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;
    use std::time::Instant;

    fn woken(queue: &mut Queue<&'static str>) -> Option<&'static str> {
        queue.wake().map(|(_, name)| name)
    }

    #[test]
    fn the_head_is_called_once_for_a_free_place() {
        let mut queue = Queue::default();
        assert!(queue.enter(1, 0));
        assert!(!queue.enter(1, 0));
        let a = queue.push(1, "a");
        queue.push(1, "b");
        assert_eq!(woken(&mut queue), None);
        queue.exit();
        assert_eq!(woken(&mut queue), Some("a"));
        assert_eq!(woken(&mut queue), None);
        assert!(queue.enter(1, a));
        assert_eq!(woken(&mut queue), None);
        queue.exit();
        assert_eq!(woken(&mut queue), Some("b"));
        assert_eq!(queue.counts(), (0, 1));
    }

    #[test]
    fn who_came_too_late_gets_the_next_place_kept() {
        let mut queue = Queue::default();
        assert!(queue.enter(1, 0));
        let a = queue.push(1, "a");
        queue.push(1, "b");
        queue.exit();
        assert_eq!(woken(&mut queue), Some("a"));
        // Somebody else was quicker.
        assert!(queue.enter(1, 0));
        assert!(!queue.enter(1, a));
        queue.exit();
        assert_eq!(woken(&mut queue), Some("a"));
        assert!(!queue.enter(1, 0));
        assert_eq!(woken(&mut queue), None);
        assert!(queue.enter(1, a));
        assert_eq!(queue.counts(), (1, 1));
    }

    #[test]
    fn who_gives_up_passes_the_place_on() {
        let mut queue = Queue::default();
        assert!(queue.enter(1, 0));
        let [a, b] = ["a", "b"].map(|name| queue.push(1, name));
        let c = queue.push(1, "c");
        assert!(!queue.remove(b));
        queue.exit();
        assert_eq!(woken(&mut queue), Some("a"));
        assert!(queue.remove(a));
        assert_eq!(woken(&mut queue), Some("c"));
        assert!(queue.enter(1, c));
        assert!(!queue.remove(c));
        queue.exit();
        assert_eq!(queue.counts(), (0, 0));
        assert!(queue.ends.is_empty());
    }

    #[test]
    fn who_does_not_come_is_waited_for_longer_each_time_but_never_for_ever() {
        let mut queue = Queue::default();
        assert!(queue.enter(1, 0));
        let a = queue.push(1, "a");
        queue.push(1, "b");
        for lost in 0..4 {
            queue.exit();
            let start = Instant::now();
            assert_eq!(woken(&mut queue), Some("a"));
            while !queue.enter(1, 0) {
                sleep(Duration::from_micros(100));
            }
            assert!(lost == 0 || start.elapsed() >= PATIENCE * (1 << lost));
            assert!(!queue.enter(1, a));
        }
        queue.exit();
        assert_eq!(woken(&mut queue), Some("a"));
        sleep(PATIENCE * (1 << 5));
        assert!(queue.expire());
        assert_eq!(woken(&mut queue), Some("b"));
        // Late, but the place is still free.
        assert!(queue.enter(1, a));
        assert_eq!(queue.counts(), (1, 1));
    }

    #[test]
    fn a_call_that_wants_fewer_beside_it_is_not_starved() {
        let mut queue = Queue::default();
        for _ in 0..3 {
            assert!(queue.enter(8, 0));
        }
        let a = queue.push(1, "a");
        assert!(queue.enter(8, 0));
        sleep(OLD);
        assert!(!queue.enter(8, 0));
        (0..4).for_each(|_| queue.exit());
        assert_eq!(woken(&mut queue), Some("a"));
        assert!(queue.enter(1, a));
        assert!(queue.enter(8, 0));
    }
}
