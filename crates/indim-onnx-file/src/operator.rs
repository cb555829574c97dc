//! The facts about an operator that decide how a file is flattened.

/// An operator that the reader computes: its versions, operands and bodies.
#[derive(Debug)]
pub struct OperatorSignature {
    /// Its name.
    pub name: &'static str,
    /// Opsets that introduced or changed it, oldest first.
    pub since: &'static [i64],
    /// Minimal and maximal number of operands.
    pub operands: (usize, usize),
    /// Operands whose elements must be known at build time, such as a shape, axes, a count or a mode.
    pub shape_operands: &'static [usize],
    /// Whether the results depend only on the types of the operands.
    pub reads_types: bool,
    /// Names of the attributes that are bodies of a loop or branch.
    pub regions: &'static [&'static str],
}

impl OperatorSignature {
    /// The version of the operator in an opset: the last entry of `since` up to this opset. `None` if the
    /// opset lacks the operator.
    #[must_use]
    pub fn version(&self, opset: i64) -> Option<i64> {
        self.since.iter().copied().rfind(|&since| since <= opset)
    }

    /// The opset that introduced the operator.
    #[must_use]
    pub fn first_opset(&self) -> i64 {
        self.since.first().copied().unwrap_or_default()
    }
}

/// A row of the reader's table of operators.
pub trait OperatorRow: Sized + 'static {
    /// The row of an operator of ONNX's own domain.
    fn named(name: &str) -> Option<&'static Self>;

    /// The facts about the operator.
    fn signature(&self) -> &OperatorSignature;
}
