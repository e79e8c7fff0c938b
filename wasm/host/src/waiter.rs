//! Processes that wait for an instance, and their tickets.

use crate::host;
use crate::pool::Sleeper;
use rustler::env::SavedTerm;
use rustler::{Env, LocalPid, OwnedEnv, Reference, Resource, ResourceArc};
use std::sync::{Arc, Mutex, PoisonError};

mod atoms {
    rustler::atoms! { free }
}

/// Milliseconds after which a waiting process checks the queue itself, so that no place stays empty because the process that
/// was woken is suspended. One more for every ten that wait.
const LOOK: usize = 250;

/// A process, and the reference that its message carries.
pub struct Waiter {
    pid: LocalPid,
    reference: Mutex<(OwnedEnv, SavedTerm)>,
}

impl Sleeper for Arc<Waiter> {
    type Env<'a> = Env<'a>;

    fn wake(&self, env: Env<'_>) -> bool {
        let saved = self.reference.lock().unwrap_or_else(PoisonError::into_inner);
        let reference = saved.0.run(|own| saved.1.load(own).in_env(env));
        if env.send(&self.pid, (reference, atoms::free())).is_ok() {
            return true;
        }
        let alive = self.pid.is_alive(env);
        if alive {
            drop(ResourceArc::new(Later(Arc::clone(self))));
        }
        alive
    }
}

/// A message that the caller cannot send, because it is being killed. The VM runs the destructor outside of processes.
struct Later(Arc<Waiter>);

#[rustler::resource_impl]
impl Resource for Later {
    fn destructor(self, env: Env<'_>) {
        // If it died, its ticket leaves the queue by itself.
        self.0.wake(env);
    }
}

/// The right to be woken. It ends with the process that holds it, so a killed process leaves the queue.
struct Ticket {
    number: u64,
    size: usize,
    waiter: Arc<Waiter>,
}

#[rustler::resource_impl]
impl Resource for Ticket {
    fn destructor(self, env: Env<'_>) {
        host::pool().leave(env, self.number);
    }
}

/// Queues for a place: `{number, ticket}`. `{reference, :free}` comes when there may be one; it is asked for with the number.
/// A process holds the ticket until it has left.
#[rustler::nif(name = "sandbox_queue")]
fn queue(env: Env, size: usize, reference: Reference) -> (u64, ResourceArc<Ticket>) {
    let own = OwnedEnv::new();
    let saved = own.save(reference);
    let waiter = Arc::new(Waiter { pid: env.pid(), reference: Mutex::new((own, saved)) });
    let number = host::pool().queue(size, Arc::clone(&waiter));
    (number, ResourceArc::new(Ticket { number, size, waiter }))
}

/// Continues to wait. Returns the milliseconds after which to check again for empty places.
#[rustler::nif(name = "sandbox_look")]
fn look(env: Env, ticket: ResourceArc<Ticket>) -> usize {
    LOOK + host::pool().rejoin(env, ticket.number, ticket.size, &ticket.waiter) / 10
}

/// Stops waiting. Whether a message is still to come.
#[rustler::nif(name = "sandbox_leave")]
fn leave(env: Env, ticket: ResourceArc<Ticket>) -> bool {
    host::pool().leave(env, ticket.number)
}
