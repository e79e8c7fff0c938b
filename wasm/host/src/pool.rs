//! Which instances are kept, how many run, and who is next.
//!
//! Nobody blocks in here. A call that finds all places taken gets a ticket and asks again a moment later; places are given
//! in the order of the tickets. A caller that stops asking (it died or gave up) loses its turn after a while, so nothing
//! is left behind.

use crate::guest::Guest;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Instances with more linear memory are not kept after a call.
const KEEP_MEMORY: usize = 32 << 20;
/// A ticket whose holder has not asked for so long is void.
const PATIENCE: Duration = Duration::from_millis(100);

/// Instances and tickets.
#[derive(Default)]
pub struct Pool {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    idle: Vec<Guest>,
    running: usize,
    /// When the holder of each ticket last asked.
    waiting: BTreeMap<u64, Instant>,
    last_ticket: u64,
}

/// The right to run one instance, until dropped.
pub struct Place<'a> {
    pool: &'a Pool,
    /// What to keep when the place is left.
    kept: Option<Guest>,
}

impl Pool {
    /// A place, if fewer than `size` are taken and it is this ticket's turn; else the ticket to come back with. Ticket 0
    /// is none. With the place comes a kept instance that fits into this much memory, if there is one: the one used last,
    /// whose memory is warm.
    pub fn enter(&self, size: usize, ticket: u64, max_memory: usize) -> Result<(Place<'_>, Option<Guest>), u64> {
        let mut inner = self.lock();
        if !inner.is_next(size, ticket) {
            return Err(inner.queue(ticket));
        }
        inner.running += 1;
        let at = inner.idle.iter().rposition(|guest| guest.memory_size() <= max_memory);
        let guest = at.map(|at| inner.idle.swap_remove(at));
        Ok((Place { pool: self, kept: None }, guest))
    }

    /// A ticket for a call that has to come back because no instance can be made now.
    pub fn come_back(&self, ticket: u64) -> u64 {
        self.lock().queue(ticket)
    }

    /// Gives up waiting.
    pub fn leave(&self, ticket: u64) {
        self.lock().waiting.remove(&ticket);
    }

    /// Drops the instances that nobody uses. How many there were.
    pub fn clear(&self) -> usize {
        let idle = std::mem::take(&mut self.lock().idle);
        idle.len()
    }

    /// Instances running and kept, and tickets out.
    pub fn counts(&self) -> (usize, usize, usize) {
        let inner = self.lock();
        (inner.running, inner.idle.len(), inner.waiting.len())
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing in here can be left half done by a panic.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn is_next(&mut self, size: usize, ticket: u64) -> bool {
        let free = size.saturating_sub(self.running);
        if self.waiting.is_empty() || free == 0 {
            return free > 0;
        }
        self.waiting.retain(|_, asked| asked.elapsed() < PATIENCE);
        // Who has no ticket yet comes after all who have.
        let before = self.waiting.keys().take(free).filter(|&&other| ticket == 0 || other < ticket).count();
        let next = before < free;
        if next {
            self.waiting.remove(&ticket);
        }
        next
    }

    fn queue(&mut self, ticket: u64) -> u64 {
        let ticket = if ticket == 0 { self.last_ticket + 1 } else { ticket };
        self.last_ticket = self.last_ticket.max(ticket);
        self.waiting.insert(ticket, Instant::now());
        ticket
    }
}

impl Place<'_> {
    /// Leaves the place, and the instance for later calls unless it has grown past its share.
    pub fn leave(mut self, guest: Guest) {
        if guest.memory_size() <= KEEP_MEMORY {
            self.kept = Some(guest);
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut inner = self.pool.lock();
        inner.running -= 1;
        inner.idle.extend(self.kept.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_given_in_the_order_of_the_tickets() {
        let pool = Pool::default();
        let first = pool.enter(2, 0, 0).ok().unwrap();
        let second = pool.enter(2, 0, 0).ok().unwrap();
        let (a, b, c) = (
            pool.enter(2, 0, 0).err().unwrap(),
            pool.enter(2, 0, 0).err().unwrap(),
            pool.enter(2, 0, 0).err().unwrap(),
        );
        assert!(a < b && b < c);
        assert_eq!(pool.enter(2, a, 0).err(), Some(a));
        drop(first);
        assert_eq!(pool.enter(2, c, 0).err(), Some(c));
        assert_eq!(pool.enter(2, b, 0).err(), Some(b));
        let third = pool.enter(2, a, 0).ok().unwrap();
        drop(second);
        pool.leave(b);
        let fourth = pool.enter(2, c, 0).ok().unwrap();
        assert_eq!(pool.counts(), (2, 0, 0));
        drop((third, fourth));
        assert_eq!(pool.counts(), (0, 0, 0));
    }

    #[test]
    fn who_does_not_come_back_loses_the_turn() {
        let pool = Pool::default();
        let place = pool.enter(1, 0, 0).ok().unwrap();
        let gone = pool.enter(1, 0, 0).err().unwrap();
        drop(place);
        let ticket = pool.enter(1, 0, 0).err().unwrap();
        assert!(ticket > gone);
        std::thread::sleep(PATIENCE * 2);
        // Asking again keeps one's own turn alive.
        assert!(pool.enter(1, ticket, 0).is_ok());
    }
}
