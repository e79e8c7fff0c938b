//! The places that long calls run in. Nothing blocks in here; `queue.rs` decides who is next.

use crate::queue::Queue;
use rustler::Env;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A process that waits.
pub trait Sleeper: Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Wakes it. Whether it is alive.
    fn wake(&self, env: Env) -> bool;
}

/// Places and who waits for one.
#[derive(Default)]
pub struct Pool(Mutex<Queue<Arc<dyn Sleeper>>>);

/// The right to run a long call, until dropped.
pub struct Place<'pool, 'env> {
    pool: &'pool Pool,
    env: Env<'env>,
}

impl Pool {
    /// A place, if fewer than `size` are taken. `ticket` is that of a woken caller, 0 for any other.
    pub fn enter<'env>(&self, env: Env<'env>, size: usize, ticket: u64) -> Option<Place<'_, 'env>> {
        let mut queue = self.lock();
        let place = queue.enter(size, ticket).then(|| Place { pool: self, env });
        self.wake(env, queue);
        place
    }

    /// Queues: the ticket. When it is its turn, the process is woken and comes back with it.
    pub fn queue(&self, env: Env, size: usize, sleeper: Arc<dyn Sleeper>) -> u64 {
        let mut queue = self.lock();
        let ticket = queue.push(size, sleeper);
        self.wake(env, queue);
        ticket
    }

    /// Stops waiting. Whether it was woken and has not come since.
    pub fn leave(&self, env: Env, ticket: u64) -> bool {
        let mut queue = self.lock();
        let woken = queue.remove(ticket);
        self.wake(env, queue);
        woken
    }

    /// Rejoins the queue, and drops woken callers that did not come. Returns how many wait.
    pub fn rejoin(&self, env: Env, ticket: u64, size: usize, sleeper: &Arc<dyn Sleeper>) -> usize {
        let mut queue = self.lock();
        queue.rejoin(ticket, size, || Arc::clone(sleeper));
        queue.expire();
        let (_, waiting) = queue.counts();
        self.wake(env, queue);
        waiting
    }

    /// Calls running, and callers waiting.
    pub fn counts(&self) -> (usize, usize) {
        self.lock().counts()
    }

    /// Calls the next one, if there is a place for it. The lock is open while the message is sent.
    fn wake<'a>(&'a self, env: Env, mut queue: MutexGuard<'a, Queue<Arc<dyn Sleeper>>>) {
        while let Some((ticket, sleeper)) = queue.wake() {
            drop(queue);
            if sleeper.wake(env) {
                return;
            }
            // It died.
            queue = self.lock();
            queue.remove(ticket);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue<Arc<dyn Sleeper>>> {
        // Nothing in here can be left half done by a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place<'_, '_> {
    fn drop(&mut self) {
        let mut queue = self.pool.lock();
        queue.exit();
        self.pool.wake(self.env, queue);
    }
}
