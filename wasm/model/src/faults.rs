// Faults that the checker has to find. build.rs includes this file too.

/// A change of one place in the sources.
pub struct Fault {
    pub name: &'static str,
    pub file: &'static str,
    pub from: &'static str,
    pub to: &'static str,
}

pub const FAULTS: &[Fault] = &[
    // A place may be free since the caller found none.
    Fault {
        name: "waits_without_a_look",
        file: "pool.rs",
        from: "let (_, waiting) = queue.counts();\n        self.wake(env, queue);",
        to: "let (_, waiting) = queue.counts();",
    },
    Fault {
        name: "leaves_a_place_silently",
        file: "pool.rs",
        from: "queue.exit();\n        self.pool.wake(self.env, queue);",
        to: "queue.exit();",
    },
    Fault {
        name: "stops_waiting_silently",
        file: "pool.rs",
        from: "let woken = queue.remove(ticket);\n        self.wake(env, queue);",
        to: "let woken = queue.remove(ticket);",
    },
    Fault {
        name: "looks_and_takes_in_two_steps",
        file: "pool.rs",
        from: "let mut queue = self.lock();\n        let place = queue.enter(size, ticket)",
        to: "let free = self.lock().counts().0 < size;\n        let mut queue = self.lock();\n        let place = queue.enter(if free { size + 1 } else { 0 }, ticket)",
    },
    Fault {
        name: "waits_for_the_dead",
        file: "pool.rs",
        from: "            queue.remove(ticket);\n        }",
        to: "            return;\n        }",
    },
    Fault { name: "waits_for_the_suspended", file: "pool.rs", from: "        queue.expire();\n", to: "" },
    Fault {
        name: "gives_a_kept_place_away",
        file: "queue.rs",
        from: "self.taken() < size &&",
        to: "self.running < size &&",
    },
    Fault {
        name: "gives_a_place_twice",
        file: "queue.rs",
        from: "self.taken() < size &&",
        to: "self.taken() <= size &&",
    },
    Fault {
        name: "keeps_a_place_for_who_left",
        file: "queue.rs",
        from: "woken.inspect(|awake| _ = self.settle(ticket, awake)).is_some()",
        to: "woken.is_some()",
    },
    Fault {
        name: "forgets_a_message",
        file: "queue.rs",
        from: "woken.inspect(|awake| _ = self.settle(ticket, awake)).is_some()",
        to: "woken.inspect(|awake| _ = self.settle(ticket, awake)).is_some_and(|awake| awake.call == Called::Kept)",
    },
    Fault {
        name: "gives_a_place_back_twice",
        file: "queue.rs",
        from: "std::mem::replace(&mut awake.call, Called::Late)",
        to: "awake.call",
    },
    Fault {
        name: "queues_twice",
        file: "queue.rs",
        from: "if !self.asleep.contains_key(&ticket) && !self.awake.contains_key(&ticket) {",
        to: "if !self.asleep.contains_key(&ticket) {",
    },
];
