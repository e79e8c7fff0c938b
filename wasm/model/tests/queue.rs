//! The sources as they are hold in every order, and no fault in them remains hidden.

use rustyjson_model::faults::FAULTS;
use rustyjson_model::models;
use std::process::Command;

#[test]
fn the_queue_holds_in_every_order() {
    let mut total = 0;
    for model in models("real") {
        let orders = model.check(model.switches);
        let which = model.switches.map_or("all".into(), |most| format!("with at most {most} switches"));
        println!("{}: {orders} orders ({which})", model.name);
        assert!(orders > 100, "the model of {:?} has too few orders to find anything", model.name);
        total += orders;
    }
    println!("found: {total} orders of {} models", models("real").len());
}

/// In a process each: a model that fails leaves threads behind.
#[test]
fn each_fault_is_found() {
    for fault in FAULTS {
        let run = Command::new(env!("CARGO_BIN_EXE_rustyjson-model")).args([fault.name, "3"]).output().unwrap();
        let output = String::from_utf8_lossy(&run.stdout);
        assert_eq!(run.status.code(), Some(1), "{} was not found:\n{output}", fault.name);
    }
    println!("found: each of {} faults that were put into the sources", FAULTS.len());
}
