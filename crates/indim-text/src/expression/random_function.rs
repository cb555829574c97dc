//! The table of random numbers: parameters and documentation. `random.rs` elaborates them.

use super::parameter::{AttributeKey, CallParameter};

/// A function of a key of random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RandomFunction {
    Split,
    FoldIn,
    Bits,
    Uniform,
    Normal,
}

/// A row of the table.
#[derive(Debug)]
pub(crate) struct RandomRow {
    function: RandomFunction,
    /// The name.
    pub(crate) name: &'static str,
    /// The names of the operands.
    pub(crate) operands: &'static [&'static str],
    /// A call with the defaults.
    pub(crate) call: &'static str,
    /// The element types of the result.
    pub(crate) types: &'static str,
    /// The documentation.
    pub(crate) doc: &'static str,
}

/// The table.
pub(crate) const RANDOM: &[RandomRow] = &[
    RandomRow {
        function: RandomFunction::Split,
        name: "random_split",
        operands: &["key"],
        call: "random_split(key, shape=[2])",
        types: "u32",
        doc: "New keys of a key: an array of this shape with a last axis of 2. They are independent of each \
              other and of the key.",
    },
    RandomRow {
        function: RandomFunction::FoldIn,
        name: "random_fold_in",
        operands: &["key", "data"],
        call: "random_fold_in(key, data)",
        types: "u32; data S U",
        doc: "A new key made of a key and a number, such as the number of a step.",
    },
    RandomRow {
        function: RandomFunction::Bits,
        name: "random_bits",
        operands: &["key"],
        call: "random_bits(key, shape, dtype=u32)",
        types: "U",
        doc: "Random bits: an element depends on the key and its position in row-major order.",
    },
    RandomRow {
        function: RandomFunction::Uniform,
        name: "random_uniform",
        operands: &["key"],
        call: "random_uniform(key, shape, dtype=f32)",
        types: "F",
        doc: "Uniform numbers from 0 to below 1, multiples of the machine epsilon of the type.",
    },
    RandomRow {
        function: RandomFunction::Normal,
        name: "random_normal",
        operands: &["key"],
        call: "random_normal(key, shape, dtype=f32)",
        types: "F",
        doc: "Standard normal numbers: `sqrt(2) * erf_inv` of uniform numbers between -1 and 1.",
    },
];

impl RandomFunction {
    pub(super) fn from_name(name: &str) -> Option<RandomFunction> {
        Some(RANDOM.iter().find(|row| row.name == name)?.function)
    }

    /// The parameter at a position of a call.
    pub(super) fn parameter(self, position: usize) -> Option<CallParameter> {
        use CallParameter::{Attribute as A, Operand};
        let parameters: &[CallParameter] = match self {
            RandomFunction::Split => &[Operand, A(AttributeKey::Shape)],
            RandomFunction::FoldIn => &[Operand, Operand],
            RandomFunction::Bits | RandomFunction::Uniform | RandomFunction::Normal => {
                &[Operand, A(AttributeKey::Shape), A(AttributeKey::ElementType)]
            }
        };
        parameters.get(position).copied()
    }

    /// Whether a call may leave this attribute out.
    pub(super) fn has_default(self, attribute: AttributeKey) -> bool {
        attribute == AttributeKey::ElementType || self == RandomFunction::Split
    }
}
