//! Layout of a function's operands in memory, as far as its code depends on it.

/// How an operand is read within a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperandForm {
    /// One element after another.
    Dense,
    /// One element for the whole row.
    Single,
    /// One element for all rows that a body folds into one.
    Same,
    /// The previous value of an accumulator.
    Accumulator,
}

impl OperandForm {
    /// Whether the operand has one element per row.
    pub(crate) fn is_one(self) -> bool {
        matches!(self, OperandForm::Single | OperandForm::Same)
    }
}

/// Layout of the operands of a body in memory. Outputs are dense within a row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OperandLayout {
    /// How each input is read.
    pub inputs: Vec<OperandForm>,
    /// For each output whether it is written with non-temporal stores.
    pub streams: Vec<bool>,
    /// Whether an output may lie exactly over an input.
    pub is_in_place: bool,
    /// Whether the next columns to fold are prefetched: rows are far apart.
    pub is_fetched_ahead: bool,
}
