//! The operand layout that code is compiled for.
//!
//! Code is specialised on the form of each operand within a row, on non-temporal stores, on outputs that may
//! overwrite inputs, and on prefetches. Addresses, row strides, and the number and length of rows are
//! arguments.

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
    /// Every `of`th element, on levels that [`deinterleaves`](crate::deinterleaves) names: element `part` of
    /// consecutive records. The address of the operand is that of the first record.
    Interleaved {
        /// Number of the records: inputs with equal numbers read the same records and have the same address.
        record: u8,
        /// Position in a record.
        part: u8,
        /// Number of elements in a record: 2 to [`MAX_INTERLEAVED`].
        of: u8,
    },
}

/// Maximum elements of a record of [`OperandForm::Interleaved`].
pub const MAX_INTERLEAVED: usize = 8;

impl OperandForm {
    /// Whether the operand has one element in a row.
    pub(crate) fn is_one(self) -> bool {
        matches!(self, OperandForm::Single | OperandForm::Same)
    }

    /// Distance in memory between elements of `size` bytes; 0 if the operand has one in a row.
    pub(crate) fn element_stride(self, size: usize) -> usize {
        match self {
            OperandForm::Single | OperandForm::Same => 0,
            OperandForm::Dense | OperandForm::Accumulator => size,
            OperandForm::Interleaved { of, .. } => size * usize::from(of),
        }
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
