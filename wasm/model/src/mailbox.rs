//! A process as the queue knows it: it gets messages, and it may be dead.

use loom::sync::{Condvar, Mutex};

#[derive(Default)]
pub struct Mailbox {
    state: Mutex<State>,
    bell: Condvar,
}

#[derive(Default)]
struct State {
    messages: usize,
    dead: bool,
}

impl Mailbox {
    /// Whether the process is alive, which then has one message more.
    pub fn send(&self) -> bool {
        let mut state = self.state.lock().unwrap();
        state.messages += 1;
        self.bell.notify_one();
        !state.dead
    }

    /// Waits for a message, and takes it.
    pub fn receive(&self) {
        let mut state = self.state.lock().unwrap();
        while state.messages == 0 {
            state = self.bell.wait(state).unwrap();
        }
        state.messages -= 1;
    }

    pub fn die(&self) {
        self.state.lock().unwrap().dead = true;
    }

    pub fn is_empty(&self) -> bool {
        self.state.lock().unwrap().messages == 0
    }
}
