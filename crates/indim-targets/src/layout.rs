//! The operand layout that code is compiled for.

/// Memory layout of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperandForm {
    /// Consecutive elements.
    Dense,
    /// One element per row.
    Single,
    /// One element for all rows of a unit, in bodies that fold. In other bodies the same as `Single`.
    Same,
    /// The previous value of an accumulator, held in registers.
    Accumulator,
}

impl OperandForm {
    /// Whether the operand has one element in a row.
    pub(crate) fn is_one(self) -> bool {
        matches!(self, OperandForm::Single | OperandForm::Same)
    }
}

/// Layout of the operands of a body. Outputs are dense within a row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OperandLayout {
    /// Layout of each input.
    pub inputs: Vec<OperandForm>,
    /// For each output, whether it is written with non-temporal stores.
    pub streams: Vec<bool>,
    /// Whether an output may have the same address as an input.
    pub is_in_place: bool,
    /// Whether code that folds prefetches the next columns of each row. This pays if rows are far apart.
    pub is_fetched_ahead: bool,
}
