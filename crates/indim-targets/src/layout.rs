//! How the operands of a function lie in memory, as far as its code depends on that.

/// How an operand is read within a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperandForm {
    /// One element after another.
    Dense,
    /// One element for the whole row.
    Single,
    /// One element for all rows that a body folds into one.
    Same,
    /// What an accumulator holds before.
    Accumulator,
}

impl OperandForm {
    /// Whether it is one element.
    pub(crate) fn is_one(self) -> bool {
        matches!(self, OperandForm::Single | OperandForm::Same)
    }
}

/// How the operands of a body lie in memory. Outputs are dense within a row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OperandLayout {
    /// How each input is read.
    pub inputs: Vec<OperandForm>,
    /// For each output whether it is written past the caches.
    pub streams: Vec<bool>,
    /// Whether an output may lie exactly over an input.
    pub is_in_place: bool,
    /// Whether the columns that are folded next are fetched while others are: rows are far apart.
    pub is_fetched_ahead: bool,
}
