//! Instances that are kept, and the places to run them in. Nothing blocks in here; `queue.rs` decides who is next.

use crate::guest::Guest;
use crate::queue::Queue;
use rustler::Env;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Instances with more linear memory are not kept after a call.
const KEEP_MEMORY: usize = 32 << 20;

/// A process that waits.
pub trait Sleeper: Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Wakes it. Whether it is alive.
    fn wake(&self, env: Env) -> bool;
}

/// Instances and who waits for one.
pub struct Pool {
    inner: Mutex<Inner>,
    /// Instances that there can be at once.
    most: usize,
}

#[derive(Default)]
struct Inner {
    // A guest is moved five times in a call, and has hundreds of bytes.
    #[expect(clippy::vec_box)]
    idle: Vec<Box<Guest>>,
    queue: Queue<Arc<dyn Sleeper>>,
}

/// The right to run one instance, until dropped.
pub struct Place<'pool, 'env> {
    pool: &'pool Pool,
    env: Env<'env>,
    /// What to keep when the place is left.
    kept: Option<Box<Guest>>,
}

impl Pool {
    /// Places for up to this many instances.
    pub fn new(most: usize) -> Self {
        Self { inner: Mutex::default(), most }
    }

    /// A place, if fewer than `size` are taken. `ticket` is that of a woken caller, 0 for any other. With the place comes a
    /// kept instance that fits into this much memory, if there is one: the last one used, whose memory is warm.
    pub fn enter<'env>(
        &self,
        env: Env<'env>,
        size: usize,
        ticket: u64,
        max_memory: usize,
    ) -> Option<(Place<'_, 'env>, Option<Box<Guest>>)> {
        let mut inner = self.lock();
        let place = inner.queue.enter(size.min(self.most), ticket).then(|| Place { pool: self, env, kept: None });
        let guest = place.as_ref().and_then(|_| inner.take(max_memory));
        let evicted = if guest.is_none() && place.is_some() { inner.make_room(self.most) } else { None };
        self.wake(env, inner);
        drop(evicted);
        place.map(|place| (place, guest))
    }

    /// Queues: the ticket. When it is its turn, the process is woken and comes back with it.
    pub fn queue(&self, env: Env, size: usize, sleeper: Arc<dyn Sleeper>) -> u64 {
        let mut inner = self.lock();
        let ticket = inner.queue.push(size.min(self.most), sleeper);
        self.wake(env, inner);
        ticket
    }

    /// Stops waiting. Whether it was woken and has not come since.
    pub fn leave(&self, env: Env, ticket: u64) -> bool {
        let mut inner = self.lock();
        let woken = inner.queue.remove(ticket);
        self.wake(env, inner);
        woken
    }

    /// Rejoins the queue, and drops woken callers that did not come. Returns how many wait.
    pub fn rejoin(&self, env: Env, ticket: u64, size: usize, sleeper: &Arc<dyn Sleeper>) -> usize {
        let mut inner = self.lock();
        inner.queue.rejoin(ticket, size.min(self.most), || Arc::clone(sleeper));
        inner.queue.expire();
        let (_, waiting) = inner.queue.counts();
        self.wake(env, inner);
        waiting
    }

    /// Instances running and kept, and callers waiting.
    pub fn counts(&self) -> (usize, usize, usize) {
        let inner = self.lock();
        let (running, waiting) = inner.queue.counts();
        (running, inner.idle.len(), waiting)
    }

    /// Calls the next one, if there is a place for it. The lock is open while the message is sent.
    fn wake<'a>(&'a self, env: Env, mut inner: MutexGuard<'a, Inner>) {
        while let Some((ticket, sleeper)) = inner.queue.wake() {
            drop(inner);
            if sleeper.wake(env) {
                return;
            }
            // It died.
            inner = self.lock();
            inner.queue.remove(ticket);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing in here can be left half done by a panic.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn take(&mut self, max_memory: usize) -> Option<Box<Guest>> {
        let at = self.idle.iter().rposition(|guest| guest.memory_size() <= max_memory)?;
        Some(self.idle.swap_remove(at))
    }

    /// Gives up a kept instance when there would be more than the allocator has places for.
    fn make_room(&mut self, most: usize) -> Option<Box<Guest>> {
        if self.idle.len() + self.queue.counts().0 > most { self.idle.pop() } else { None }
    }
}

impl Place<'_, '_> {
    /// Leaves the place, and the instance for later calls unless it has grown past its share.
    pub fn leave(mut self, guest: Box<Guest>) {
        if guest.memory_size() <= KEEP_MEMORY {
            self.kept = Some(guest);
        }
    }
}

impl Drop for Place<'_, '_> {
    fn drop(&mut self) {
        let mut inner = self.pool.lock();
        inner.queue.exit();
        inner.idle.extend(self.kept.take());
        self.pool.wake(self.env, inner);
    }
}
