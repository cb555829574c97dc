//! The operand layout that code is compiled for.
//!
//! Code is specialised on the form of each operand within a row, on non-temporal stores, on outputs that may
//! overwrite inputs, and on prefetches. Addresses, row strides, and the number and length of rows are
//! arguments.

/// Memory layout of an input within a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperandForm {
    /// Consecutive elements.
    Dense,
    /// One element per row.
    RowScalar,
    /// One element for all rows of a unit, in bodies that fold. In other bodies the same as `RowScalar`.
    UnitScalar,
    /// The previous value of an accumulator, held in registers.
    Accumulator,
    /// Every `factor`th element, on levels that `can_deinterleave` of `indim-targets` names: one
    /// member of consecutive records. The address of the operand is that of the first record.
    Interleaved {
        /// Identifies the array of records: inputs with equal numbers read the same records and have the same
        /// address.
        records: u8,
        /// Index of the element in a record.
        member: u8,
        /// Number of elements in a record: 2 to [`MAX_INTERLEAVE_FACTOR`].
        factor: u8,
    },
}

/// Maximum elements of a record of [`OperandForm::Interleaved`].
pub const MAX_INTERLEAVE_FACTOR: usize = 8;

impl OperandForm {
    /// Whether the operand has one element in a row.
    pub(crate) fn is_scalar(self) -> bool {
        matches!(self, OperandForm::RowScalar | OperandForm::UnitScalar)
    }

    /// Distance in memory between elements of `size` bytes; 0 if the operand has one in a row.
    pub fn element_stride(self, size: usize) -> usize {
        match self {
            OperandForm::RowScalar | OperandForm::UnitScalar => 0,
            OperandForm::Dense | OperandForm::Accumulator => size,
            OperandForm::Interleaved { factor, .. } => size * usize::from(factor),
        }
    }
}

/// Layout of the operands of a body. Outputs are dense within a row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OperandLayout {
    /// Layout of each input.
    pub inputs: Vec<OperandForm>,
    /// For each output, whether it is written with non-temporal stores.
    pub is_streamed: Vec<bool>,
    /// Whether an output may have the same address as an input.
    pub is_in_place: bool,
    /// Whether code that folds prefetches the next columns of each row. This pays if rows are far apart.
    pub has_prefetch: bool,
}
