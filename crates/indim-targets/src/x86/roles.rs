//! Roles of the general registers in the loops.

use iced_x86::Register as Real;

/// Roles of the general registers.
pub(super) struct Roles {
    /// Index of the step's first element.
    pub(super) index: Real,
    /// Last index at which a whole step begins.
    pub(super) limit: Real,
    /// Array of the operands' addresses.
    pub(super) operands: Real,
    /// Twice the index, for elements of 16 bytes.
    pub(super) twice: Real,
    /// Scratch address.
    pub(super) scratch: Real,
    /// Addresses of the first operands in the row.
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

/// Roles in functions with calls: registers that the callee preserves.
pub(super) const ROLES_WITH_CALLS: Roles = Roles {
    index: Real::RBX,
    limit: Real::RBP,
    operands: Real::R12,
    pointers: &[Real::R13, Real::R14, Real::R15],
    ..ROLES
};

/// The last pointer register holds the index of the next step where rows are aligned.
pub(super) const NEXT: Real = Real::R15;

/// Maximum number of operands that leaves this register free.
pub(super) const MAX_ALIGNED: usize = ROLES.pointers.len() - 1;
