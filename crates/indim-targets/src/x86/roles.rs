//! Which general registers have which part in the loops.

use iced_x86::Register as Real;

/// Which general registers have which part.
pub(super) struct Roles {
    /// The index of the step's first element.
    pub(super) index: Real,
    /// The last index of a whole step.
    pub(super) limit: Real,
    /// The addresses of the operands.
    pub(super) operands: Real,
    /// Twice the index, for elements of 16 bytes.
    pub(super) twice: Real,
    /// An address for the moment.
    pub(super) scratch: Real,
    /// Addresses of the first operands in the row.
    pub(super) pointers: &'static [Real],
}

/// The parts in functions that call none.
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

/// As [`ROLES`], where functions are called: those are registers that they keep.
pub(super) const ROLES_WITH_CALLS: Roles = Roles {
    index: Real::RBX,
    limit: Real::RBP,
    operands: Real::R12,
    pointers: &[Real::R13, Real::R14, Real::R15],
    ..ROLES
};

/// Where rows are aligned, the last pointer is the index of the step after this one.
pub(super) const NEXT: Real = Real::R15;

/// So many operands leave that register free.
pub(super) const MAX_ALIGNED: usize = ROLES.pointers.len() - 1;
