//! The queue of the sandbox (`wasm/host/src/pool.rs` and `queue.rs`) under loom, which runs a few callers in the orders that their
//! locks, messages and the clock allow: all of them, or those with few switches. `models.rs` says what has to hold. The tests run it on the sources as they are, and on those
//! with a fault, which must be found.

mod clock;
pub mod faults;
mod mailbox;
mod sync;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A few callers, and what holds when they have come and gone. It panics where that does not hold, also where all of them wait.
#[derive(Clone, Copy)]
pub struct Model {
    pub name: &'static str,
    /// Orders with more switches between threads that could have gone on are left out. None: no order is.
    pub switches: Option<usize>,
    run: fn(),
}

impl Model {
    /// Runs it in every order, or in those with so few switches. Returns how many there were.
    pub fn check(&self, switches: Option<usize>) -> usize {
        let tried = Arc::new(AtomicUsize::new(0));
        let (count, run) = (tried.clone(), self.run);
        let mut checker = loom::model::Builder::new();
        checker.preemption_bound = switches;
        checker.check(move || {
            count.fetch_add(1, Relaxed);
            run();
        });
        tried.load(Relaxed)
    }
}

/// The sources as they are, or with the fault of that name, and the models of them.
macro_rules! sources {
    ($($name:ident)*) => {
        $(
            #[allow(dead_code, unused_variables, unused_assignments, clippy::all)]
            mod $name {
                mod queue {
                    include!(concat!(env!("OUT_DIR"), "/", stringify!($name), "_queue.rs"));
                }
                pub mod pool {
                    include!(concat!(env!("OUT_DIR"), "/", stringify!($name), "_pool.rs"));
                }
                pub mod models {
                    include!("models.rs");
                }
            }
        )*

        /// The models of the sources with that fault, or of those without: `real`.
        pub fn models(name: &str) -> &'static [Model] {
            match name {
                $(stringify!($name) => $name::models::MODELS,)*
                _ => panic!("{name} is not listed in src/lib.rs"),
            }
        }
    };
}

sources! {
    real waits_without_a_look leaves_a_place_silently stops_waiting_silently looks_and_takes_in_two_steps waits_for_the_dead
    waits_for_the_suspended gives_a_kept_place_away gives_a_place_twice keeps_a_place_for_who_left forgets_a_message
    gives_a_place_back_twice queues_twice
}
