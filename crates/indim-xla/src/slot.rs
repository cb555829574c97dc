//! Values as XLA has them: arrays, and tuples of values.

use std::sync::Arc;

use indim_builder::Value;
use indim_graph::Array;
use indim_model::FormatErrorKind;

/// How deep tuples may be nested.
const NESTED: usize = 64;

/// A value of a program.
#[derive(Debug, Clone)]
pub(crate) enum Slot {
    /// An array.
    Array(Known),
    /// Several values.
    Tuple(Tuple),
}

/// Several values.
#[derive(Debug, Clone)]
pub(crate) struct Tuple {
    parts: Arc<[Slot]>,
    depth: usize,
}

/// An array, and what is known of it beside its type.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) value: Value,
    pub(crate) fact: Fact,
}

/// What is known of an array.
#[derive(Debug, Clone)]
pub(crate) enum Fact {
    /// Nothing.
    None,
    /// Its one element.
    Scalar(Array),
    /// Its elements are their indices along this axis.
    Iota(i64),
}

impl Known {
    /// Its one element, if it is a constant scalar.
    pub(crate) fn constant(&self) -> Option<&Array> {
        match &self.fact {
            Fact::Scalar(array) => Some(array),
            Fact::None | Fact::Iota(_) => None,
        }
    }
}

impl From<Value> for Slot {
    fn from(value: Value) -> Self {
        Slot::Array(Known { value, fact: Fact::None })
    }
}

impl Slot {
    /// Several values as one.
    ///
    /// # Errors
    /// `limit`.
    pub(crate) fn tuple(parts: Vec<Slot>) -> Result<Slot, FormatErrorKind> {
        let depth = |slot: &Slot| match slot {
            Slot::Array(_) => 0,
            Slot::Tuple(tuple) => tuple.depth,
        };
        let depth = 1 + parts.iter().map(depth).max().unwrap_or(0);
        if depth > NESTED {
            return Err(FormatErrorKind::Limit { what: "nested tuples", limit: NESTED });
        }
        Ok(Slot::Tuple(Tuple { parts: parts.into(), depth }))
    }

    /// The array that it is.
    ///
    /// # Errors
    /// `type-mismatch`.
    pub(crate) fn array(&self) -> Result<&Known, FormatErrorKind> {
        match self {
            Slot::Array(known) => Ok(known),
            Slot::Tuple(_) => Err(FormatErrorKind::TypeMismatch {
                stated: "an array".to_owned(),
                inferred: "a tuple".to_owned(),
            }),
        }
    }

    /// A part of the tuple that it is.
    ///
    /// # Errors
    /// `type-mismatch`, `attribute`.
    pub(crate) fn part(&self, index: usize) -> Result<&Slot, FormatErrorKind> {
        match self.parts()?.get(index) {
            Some(part) => Ok(part),
            None => Err(FormatErrorKind::attribute("index", "is that of no part of the tuple")),
        }
    }

    /// The parts of the tuple that it is.
    ///
    /// # Errors
    /// `type-mismatch`.
    pub(crate) fn parts(&self) -> Result<&[Slot], FormatErrorKind> {
        match self {
            Slot::Tuple(tuple) => Ok(&tuple.parts),
            Slot::Array(_) => Err(FormatErrorKind::TypeMismatch {
                stated: "a tuple".to_owned(),
                inferred: "an array".to_owned(),
            }),
        }
    }

    /// The arrays in it, from the first to the last. `budget` is how many values may still be
    /// visited: parts may stand in a tuple many times.
    ///
    /// # Errors
    /// `limit`.
    pub(crate) fn arrays(
        &self,
        budget: &mut usize,
        found: &mut Vec<Value>,
    ) -> Result<(), FormatErrorKind> {
        let limit = *budget;
        *budget = budget
            .checked_sub(1)
            .ok_or(FormatErrorKind::Limit { what: "values in results", limit })?;
        match self {
            Slot::Array(known) => found.push(known.value.clone()),
            Slot::Tuple(tuple) => {
                for part in tuple.parts.iter() {
                    part.arrays(budget, found)?;
                }
            }
        }
        Ok(())
    }
}
