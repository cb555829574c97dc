//! Rules without computation: a broadcast checked, drawn, and converted to another system's rule.
//!
//! `cargo run --package indim --example rules`
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use indim::broadcast::{RuleSetName, convert_broadcast, draw_broadcast};
use indim::errors::{OperandLabel, draw_error};
use indim::{RuleSet, Shape};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let operands = [Shape::from([1, 3, 224, 224]), Shape::from([3])];
    let labels = ["x", "bias"].map(|name| OperandLabel::new(name, "f32"));

    let broadcast = RuleSet::Pdpd { axis: Some(1) }.elaborate(&operands)?;
    println!("{}", draw_broadcast(&broadcast, &labels));
    println!("{}\n", convert_broadcast(&broadcast, RuleSetName::Numpy)?);

    let error = RuleSet::Numpy.elaborate(&operands).unwrap_err();
    println!("{}", draw_error(&error, "add", &labels));
    Ok(())
}
