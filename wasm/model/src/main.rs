//! `model NAME SWITCHES`: the models of the sources with that fault, until one finds it. The status is then 1, and 2 if there were too many
//! orders to try.

use rustyjson_model::models;
use std::{env, panic, process};

fn main() {
    let mut arguments = env::args().skip(1);
    let name = arguments.next().expect("the name of a fault");
    let switches = arguments.next().and_then(|it| it.parse().ok());
    // What was going on when a model failed cannot be left in order.
    let models = models(&name);
    panic::set_hook(Box::new(|what| {
        println!("{what}");
        // loom gave up, which finds nothing.
        process::exit(if what.to_string().contains("exceeded maximum") { 2 } else { 1 });
    }));
    for model in models {
        println!("{}", model.name);
        model.check(switches);
    }
}
