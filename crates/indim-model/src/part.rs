//! A part of a program between values that the caller names.

use crate::error::FormatErrorKind;

/// A part of a program: computation starts at some of its values and ends at others. Nodes outside the part
/// need no lowering.
///
/// ```
/// use indim_model::ProgramPart;
///
/// assert!(ProgramPart::default().is_whole());
/// let part = ProgramPart { from: vec!["scores".to_owned()], to: Vec::new() };
/// assert!(!part.is_whole());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProgramPart {
    /// Names of values that become inputs, after those inputs of the program that the part still needs.
    pub from: Vec<String>,
    /// Names of values that become the outputs; the program's own outputs if empty.
    pub to: Vec<String>,
}

impl ProgramPart {
    /// Whether this is the whole program.
    pub fn is_whole(&self) -> bool {
        self.from.is_empty() && self.to.is_empty()
    }

    /// The names in [`ProgramPart::from`], each once.
    pub fn starts(&self) -> Vec<&str> {
        distinct(&self.from)
    }

    /// The names in [`ProgramPart::to`], each once.
    pub fn ends(&self) -> Vec<&str> {
        distinct(&self.to)
    }
}

impl FormatErrorKind {
    /// The error for the name of a part that no value has.
    pub fn undefined_value(name: &str) -> FormatErrorKind {
        FormatErrorKind::Undefined { what: "value", name: name.to_owned() }
    }

    /// The error for a part that ends at a value that is not an array.
    pub fn end_without_array() -> FormatErrorKind {
        let what = "a part that ends at a value that is not an array is".to_owned();
        FormatErrorKind::Unsupported { what }
    }
}

/// Removes dead items: the new position of each of `count` items, or `None` for an item that is neither
/// at one of the positions `open` nor needed by an item there. `operands` lists the positions of an
/// item's operands.
///
/// ```
/// use indim_model::remaining_positions;
///
/// let operands = [vec![], vec![], vec![0], vec![2]];
/// let places = remaining_positions(4, vec![2], |item| operands[item].clone());
/// assert_eq!(places, [Some(0), None, Some(1), None]);
/// ```
pub fn remaining_positions<I: IntoIterator<Item = usize>>(
    count: usize,
    mut open: Vec<usize>,
    operands: impl Fn(usize) -> I,
) -> Vec<Option<usize>> {
    let mut is_live = vec![false; count];
    while let Some(item) = open.pop() {
        if !core::mem::replace(&mut is_live[item], true) {
            open.extend(operands(item));
        }
    }
    let mut positions = 0..count;
    is_live.into_iter().map(|is_live| if is_live { positions.next() } else { None }).collect()
}

fn distinct(names: &[String]) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::with_capacity(names.len());
    for name in names {
        if !found.contains(&name.as_str()) {
            found.push(name);
        }
    }
    found
}
