//! The instances that are kept, the number that run, and the callers that wait.
//!
//! Nothing blocks here. A call that finds all places taken gets a ticket and asks again a moment later. A free place goes to
//! the first call that asks: if it were reserved for a caller that sleeps for a millisecond, it would stay empty for the time
//! of a hundred short calls. (In ticket order, 8 processes on 2 places decoded 4,800 documents of 800 bytes per second; this
//! way, 170,000.) Only a call that has waited for long gets a reserved place, the oldest ticket first. A caller that stops
//! asking, because it died or gave up, loses its turn after a while, so nothing is left behind.

use crate::guest::Guest;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Instances with more linear memory are not kept after a call.
const KEEP_MEMORY: usize = 32 << 20;
/// A ticket whose holder has not asked for so long is void.
const PATIENCE: Duration = Duration::from_millis(250);
/// For the oldest ticket a place is kept when it is as old as this.
const OLD: Duration = Duration::from_millis(100);

/// Instances and tickets.
#[derive(Default)]
pub struct Pool {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    idle: Vec<Guest>,
    running: usize,
    waiting: BTreeMap<u64, Waiting>,
    last_ticket: u64,
}

/// The holder of a ticket: when it got it, and when it last asked.
struct Waiting {
    since: Instant,
    asked: Instant,
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
        let now = Instant::now();
        self.waiting.retain(|_, waiting| now - waiting.asked < PATIENCE);
        let kept = self
            .waiting
            .first_key_value()
            .is_some_and(|(&oldest, waiting)| oldest != ticket && now - waiting.since >= OLD);
        let next = free > usize::from(kept);
        if next {
            self.waiting.remove(&ticket);
        }
        next
    }

    fn queue(&mut self, ticket: u64) -> u64 {
        let ticket = if ticket == 0 { self.last_ticket + 1 } else { ticket };
        self.last_ticket = self.last_ticket.max(ticket);
        let asked = Instant::now();
        self.waiting.entry(ticket).or_insert(Waiting { since: asked, asked }).asked = asked;
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

    fn enter(pool: &Pool, size: usize, ticket: u64) -> Result<Place<'_>, u64> {
        pool.enter(size, ticket, 0).map(|(place, _)| place)
    }

    #[test]
    fn a_free_place_is_for_who_asks_first() {
        let pool = Pool::default();
        let place = enter(&pool, 1, 0).ok().unwrap();
        let ticket = enter(&pool, 1, 0).err().unwrap();
        drop(place);
        let other = enter(&pool, 1, 0).ok().unwrap();
        assert_eq!(enter(&pool, 1, ticket).err(), Some(ticket));
        assert_eq!(pool.counts(), (1, 0, 1));
        drop(other);
        drop(enter(&pool, 1, ticket).ok().unwrap());
        assert_eq!(pool.counts(), (0, 0, 0));
    }

    #[test]
    fn the_oldest_ticket_gets_a_place_kept() {
        let pool = Pool::default();
        let (first, second) = (enter(&pool, 2, 0).ok().unwrap(), enter(&pool, 2, 0).ok().unwrap());
        let (a, b) = (enter(&pool, 2, 0).err().unwrap(), enter(&pool, 2, 0).err().unwrap());
        assert!(a < b);
        std::thread::sleep(OLD);
        drop(first);
        assert_eq!(enter(&pool, 2, b).err(), Some(b));
        assert!(enter(&pool, 2, 0).is_err());
        let third = enter(&pool, 2, a).ok().unwrap();
        // Two are free then: one of them for `b`, the other for anybody.
        drop((second, third));
        let fourth = enter(&pool, 2, 0).ok().unwrap();
        assert!(enter(&pool, 2, 0).is_err());
        drop((enter(&pool, 2, b).ok().unwrap(), fourth));
    }

    #[test]
    fn who_does_not_come_back_loses_the_turn() {
        let pool = Pool::default();
        let place = enter(&pool, 1, 0).ok().unwrap();
        let gone = enter(&pool, 1, 0).err().unwrap();
        std::thread::sleep(OLD);
        drop(place);
        let ticket = enter(&pool, 1, 0).err().unwrap();
        assert!(ticket > gone);
        std::thread::sleep(PATIENCE);
        assert!(enter(&pool, 1, ticket).is_ok());
    }
}
