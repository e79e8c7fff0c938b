//! The places that long calls run in. Nothing blocks in here; `queue.rs` decides who is next.

use crate::queue::Queue;
use crate::sync::{Mutex, MutexGuard, PoisonError};

/// A process that waits.
pub trait Sleeper: Clone {
    /// What a process wakes another one with.
    type Env<'a>: Copy;
    /// Wakes it. Whether it is alive.
    fn wake(&self, env: Self::Env<'_>) -> bool;
}

/// Places and who waits for one.
pub struct Pool<S>(Mutex<Queue<S>>);

/// The right to run a long call, until dropped.
pub struct Place<'pool, 'env, S: Sleeper> {
    pool: &'pool Pool<S>,
    env: S::Env<'env>,
}

impl<S: Sleeper> Default for Pool<S> {
    fn default() -> Self {
        Self(Mutex::new(Queue::default()))
    }
}

impl<S: Sleeper> Pool<S> {
    /// A place, if fewer than `size` are taken. `ticket` is that of a woken caller, 0 for any other.
    pub fn enter<'env>(&self, env: S::Env<'env>, size: usize, ticket: u64) -> Option<Place<'_, 'env, S>> {
        let mut queue = self.lock();
        let place = queue.enter(size, ticket).then(|| Place { pool: self, env });
        self.wake(env, queue);
        place
    }

    /// Queues: the ticket. Whoever queues rejoins at once, for a place may be free by now. When it is its turn, the process is woken and
    /// comes back with the ticket.
    pub fn queue(&self, size: usize, sleeper: S) -> u64 {
        self.lock().push(size, sleeper)
    }

    /// Stops waiting. Whether it was woken and has not come since.
    pub fn leave(&self, env: S::Env<'_>, ticket: u64) -> bool {
        let mut queue = self.lock();
        let woken = queue.remove(ticket);
        self.wake(env, queue);
        woken
    }

    /// Rejoins the queue, and drops woken callers that did not come. Returns how many wait.
    pub fn rejoin(&self, env: S::Env<'_>, ticket: u64, size: usize, sleeper: &S) -> usize {
        let mut queue = self.lock();
        queue.rejoin(ticket, size, || sleeper.clone());
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
    fn wake<'a>(&'a self, env: S::Env<'_>, mut queue: MutexGuard<'a, Queue<S>>) {
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

    fn lock(&self) -> MutexGuard<'_, Queue<S>> {
        // Nothing in here can be left half done by a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Sleeper> Drop for Place<'_, '_, S> {
    fn drop(&mut self) {
        let mut queue = self.pool.lock();
        queue.exit();
        self.pool.wake(self.env, queue);
    }
}
