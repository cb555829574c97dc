//! The roles of general registers in the loops.

use iced_x86::Register as Real;

/// The role of each general register.
pub(super) struct Roles {
    /// Index of the step's first element.
    pub(super) index: Real,
    /// Largest index at which a step fits in the row: the elements of the row minus those of a step.
    pub(super) limit: Real,
    /// Address of the array of operand addresses.
    pub(super) operands: Real,
    /// Multiple of the index, for elements of 16 bytes and for records: the scale of an address is at most 8.
    pub(super) twice: Real,
    /// Scratch register.
    pub(super) scratch: Real,
    /// Pointer registers: addresses of the first operands in the current row. Other addresses are read from
    /// the array.
    pub(super) pointers: &'static [Real],
}

/// Roles in functions without calls.
pub(super) const ROLES: Roles = Roles {
    index: Real::RAX,
    limit: Real::RCX,
    operands: Real::RDI,
    twice: Real::R10,
    scratch: Real::R11,
    pointers: &[
        Real::RDX,
        Real::RSI,
        Real::R8,
        Real::R9,
        Real::RBX,
        Real::RBP,
        Real::R12,
        Real::R13,
        Real::R14,
        Real::R15,
    ],
};

/// Roles in functions with calls: values that live across calls are in registers that callees preserve.
pub(super) const ROLES_WITH_CALLS: Roles = Roles {
    index: Real::RBX,
    limit: Real::RBP,
    operands: Real::R12,
    pointers: &[Real::R13, Real::R14, Real::R15],
    ..ROLES
};

/// Index of the next step's first element, in code with aligned steps: the last pointer register.
pub(super) const NEXT: Real = Real::R15;

/// Maximum number of operands of code with aligned steps: these leave [`NEXT`] free.
pub(super) const MAX_ALIGNED: usize = ROLES.pointers.len() - 1;
