//! Contradictions between the types that a file states and the types that its nodes compute.

use std::collections::HashMap;

use super::node::ValueIndex;
use super::size::SymbolicSize;
use super::value_type::ValueType;
use crate::error::Location;
use crate::model::{DeclaredSize, ModelInput};

/// A type stated in the file that differs from the type that its node computes, or a size name with two
/// numbers.
#[derive(Debug, Clone)]
pub struct Contradiction {
    /// The value.
    pub value: ValueIndex,
    /// The node that makes the value.
    pub node: Option<usize>,
    /// Place of the node.
    pub location: Location,
    /// The difference, in one sentence.
    pub message: String,
}

/// For each named size, the size that the nodes compute, and where it was found first.
#[derive(Debug, Default)]
pub struct SizeNames {
    sizes: HashMap<String, (SymbolicSize, String)>,
    /// Each name that was recorded, with what it had before.
    recorded: Vec<(String, Option<(SymbolicSize, String)>)>,
}

impl SizeNames {
    /// Compares a declared type with the inferred one. Returns the difference, if there is one.
    pub fn compare(&mut self, declared: &ModelInput, inferred: &ValueType) -> Option<String> {
        let stated = ValueType::declared(declared);
        let name = indim_graph::terminal::printable(&declared.name);
        if stated.contradicts(inferred) {
            return Some(format!("the file states {name}: {stated}, its node gives {inferred}"));
        }
        let sizes = declared.sizes.as_ref()?.iter().zip(inferred.sizes.as_ref()?);
        sizes
            .enumerate()
            .find_map(|(axis, pair)| self.compare_size(pair, &format!("axis {axis} of {name}")))
    }

    /// The number of recorded sizes, for [`SizeNames::undo`].
    pub fn mark(&self) -> usize {
        self.recorded.len()
    }

    /// Forgets the sizes recorded since [`SizeNames::mark`]: those of a body, since another branch or step
    /// gives other sizes to its names.
    pub fn undo(&mut self, mark: usize) {
        for (name, before) in self.recorded.drain(mark..).rev() {
            match before {
                Some(before) => self.sizes.insert(name, before),
                None => self.sizes.remove(&name),
            };
        }
    }

    /// Compares one size with an earlier size of its name. Returns the difference, if they are never equal.
    fn compare_size(
        &mut self,
        pair: (&DeclaredSize, &SymbolicSize),
        location: &str,
    ) -> Option<String> {
        let (DeclaredSize::Symbol(name), size) = pair else { return None };
        let shown = || indim_graph::terminal::printable(name);
        match self.sizes.get(name) {
            Some((known, before)) if !known.may_be_equal(size, 1) => Some(format!(
                "the size {} is {known} on {before}, and {size} on {location}",
                shown()
            )),
            _ if !SymbolicSize::named(name).may_be_equal(size, 1) => {
                Some(format!("the size {} is {size} on {location}", shown()))
            }
            // A number is compared with more sizes than an expression.
            Some((known, _)) if known.number().is_some() || size.number().is_none() => None,
            _ => {
                let found = (size.clone(), location.to_owned());
                self.recorded.push((name.clone(), self.sizes.insert(name.clone(), found)));
                None
            }
        }
    }
}
