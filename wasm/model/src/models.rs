// Included once for each version of the sources.

use super::pool::{Pool, Sleeper};
use crate::Model;
use crate::clock;
use crate::mailbox::Mailbox;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use loom::thread::{self, JoinHandle};

pub const MODELS: &[Model] = &[
    Model { name: "two callers, one place", switches: None, run: two_callers },
    Model { name: "three callers, one place", switches: Some(5), run: three_callers },
    Model { name: "three callers, two places", switches: Some(4), run: two_places },
    Model { name: "callers that allow one and two places", switches: Some(5), run: different_sizes },
    Model { name: "a caller gives up", switches: Some(5), run: one_gives_up },
    Model { name: "a waiting caller is killed", switches: Some(5), run: one_is_killed },
    Model { name: "a killed caller is called before its ticket is dropped", switches: Some(5), run: one_is_dead },
    Model { name: "a woken caller comes too late", switches: None, run: one_is_late },
    Model { name: "a woken caller is suspended", switches: Some(5), run: one_is_suspended },
];

impl Sleeper for Arc<Mailbox> {
    type Env<'a> = ();

    fn wake(&self, (): ()) -> bool {
        self.send()
    }
}

/// The pool, and what its places protect.
#[derive(Default)]
struct Sandbox {
    pool: Pool<Arc<Mailbox>>,
    /// Who runs in the only place has this for itself.
    alone: UnsafeCell<()>,
    running: AtomicUsize,
}

type Shared = Arc<Sandbox>;

impl Sandbox {
    fn attempt(&self, size: usize, ticket: u64) -> bool {
        let Some(_place) = self.pool.enter((), size, ticket) else { return false };
        if size == 1 {
            self.alone.with_mut(|_| ());
        } else {
            let before = self.running.fetch_add(1, SeqCst);
            assert!(before < size, "{} calls in {size} places", before + 1);
            self.running.fetch_sub(1, SeqCst);
        }
        true
    }

    fn queue(&self, size: usize) -> (u64, Arc<Mailbox>) {
        let mailbox = Arc::new(Mailbox::default());
        (self.pool.queue(size, mailbox.clone()), mailbox)
    }

    /// What `RustyJson.Wasm.Host.BuiltIn` does for a call, without its deadline.
    fn call(&self, size: usize) {
        if !self.attempt(size, 0) {
            let (ticket, mailbox) = self.queue(size);
            self.wait(size, ticket, &mailbox);
        }
    }

    fn wait(&self, size: usize, ticket: u64, mailbox: &Arc<Mailbox>) {
        self.pool.rejoin((), ticket, size, mailbox);
        mailbox.receive();
        while !self.attempt(size, ticket) {
            self.pool.rejoin((), ticket, size, mailbox);
            mailbox.receive();
        }
        self.leave(ticket, mailbox);
    }

    /// A message that is on its way is waited for, and none comes later.
    fn leave(&self, ticket: u64, mailbox: &Mailbox) {
        if self.pool.leave((), ticket) {
            mailbox.receive();
        }
        assert!(mailbox.is_empty(), "a message was left");
    }

    /// Nobody runs or waits.
    fn is_empty(&self) -> bool {
        self.pool.counts() == (0, 0)
    }
}

fn with(sandbox: &Shared, run: impl FnOnce(&Sandbox) + 'static) -> JoinHandle<()> {
    let sandbox = sandbox.clone();
    thread::spawn(move || run(&sandbox))
}

/// Runs `first` here, and each of the others in a thread of its own.
fn together(sandbox: &Shared, first: impl FnOnce(&Sandbox), others: Vec<Box<dyn FnOnce(&Sandbox)>>) {
    let threads: Vec<_> = others.into_iter().map(|run| with(sandbox, run)).collect();
    first(sandbox);
    threads.into_iter().for_each(|it| it.join().unwrap());
    assert!(sandbox.is_empty(), "somebody was left");
}

fn caller(size: usize) -> Box<dyn FnOnce(&Sandbox)> {
    Box::new(move |sandbox| sandbox.call(size))
}

fn two_callers() {
    together(&Shared::default(), |it| it.call(1), vec![caller(1)]);
}

fn three_callers() {
    together(&Shared::default(), |it| it.call(1), vec![caller(1), caller(1)]);
}

fn two_places() {
    together(&Shared::default(), |it| it.call(2), vec![caller(2), caller(2)]);
}

fn different_sizes() {
    together(&Shared::default(), |it| it.call(1), vec![caller(2), caller(1)]);
}

/// Its deadline passes while it waits, perhaps just when it is woken.
fn one_gives_up() {
    let gives_up = |it: &Sandbox| {
        if !it.attempt(1, 0) {
            let (ticket, mailbox) = it.queue(1);
            it.leave(ticket, &mailbox);
        }
    };
    together(&Shared::default(), |it| it.call(1), vec![caller(1), Box::new(gives_up)]);
}

/// The VM drops the ticket of a dead process, at any time after its death.
fn one_is_killed() {
    let dies = |it: &Sandbox| {
        let (ticket, mailbox) = it.queue(1);
        mailbox.die();
        it.pool.leave((), ticket);
    };
    together(&Shared::default(), |it| it.call(1), vec![caller(1), Box::new(dies)]);
}

/// Its ticket is dropped when the others have run.
fn one_is_dead() {
    let sandbox = Shared::default();
    let place = sandbox.pool.enter((), 1, 0);
    let (ticket, mailbox) = sandbox.queue(1);
    mailbox.die();
    let others = [with(&sandbox, |it| it.call(1)), with(&sandbox, |it| it.call(1))];
    drop(place);
    others.into_iter().for_each(|it| it.join().unwrap());
    sandbox.pool.leave((), ticket);
    assert!(sandbox.is_empty(), "somebody was left");
}

/// A caller that was woken, and found that somebody else was quicker. Now the place is kept for it.
fn lost_once(sandbox: &Sandbox) -> (u64, Arc<Mailbox>) {
    let place = sandbox.pool.enter((), 1, 0);
    let (ticket, mailbox) = sandbox.queue(1);
    drop(place);
    let quicker = sandbox.pool.enter((), 1, 0);
    assert!(quicker.is_some());
    mailbox.receive();
    assert!(!sandbox.attempt(1, ticket));
    drop(quicker);
    (ticket, mailbox)
}

/// A caller that queues and looks again after a second.
fn patient(sandbox: &Sandbox) {
    if !sandbox.attempt(1, 0) {
        let (ticket, mailbox) = sandbox.queue(1);
        clock::pass(1000);
        sandbox.wait(1, ticket, &mailbox);
    }
}

/// The patience with it ends while it comes.
fn one_is_late() {
    let sandbox = Shared::default();
    let (ticket, late) = lost_once(&sandbox);
    together(&sandbox, |it| it.wait(1, ticket, &late), vec![Box::new(patient)]);
}

/// It does not come before the others have run.
fn one_is_suspended() {
    let sandbox = Shared::default();
    let (ticket, suspended) = lost_once(&sandbox);
    let others = [with(&sandbox, patient), with(&sandbox, patient)];
    others.into_iter().for_each(|it| it.join().unwrap());
    sandbox.wait(1, ticket, &suspended);
    assert!(sandbox.is_empty(), "somebody was left");
}
