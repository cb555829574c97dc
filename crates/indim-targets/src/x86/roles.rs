//! The roles of general registers in the loops.

use iced_x86::Register as PhysicalRegister;

/// The role of each general register.
pub(super) struct Roles {
    /// Index of the step's first element.
    pub(super) index: PhysicalRegister,
    /// Largest index at which a step fits in the row: the elements of the row minus those of a step.
    pub(super) limit: PhysicalRegister,
    /// Address of the array of operand addresses.
    pub(super) operands: PhysicalRegister,
    /// Multiple of the index, for elements of 16 bytes and for records: the scale of an address is at most 8.
    pub(super) scaled_index: PhysicalRegister,
    /// Scratch register.
    pub(super) scratch: PhysicalRegister,
    /// Pointer registers: addresses of the first operands in the current row. Other addresses are read from
    /// the array.
    pub(super) pointers: &'static [PhysicalRegister],
}

/// Roles in functions without calls.
pub(super) const ROLES: Roles = Roles {
    index: PhysicalRegister::RAX,
    limit: PhysicalRegister::RCX,
    operands: PhysicalRegister::RDI,
    scaled_index: PhysicalRegister::R10,
    scratch: PhysicalRegister::R11,
    pointers: &[
        PhysicalRegister::RDX,
        PhysicalRegister::RSI,
        PhysicalRegister::R8,
        PhysicalRegister::R9,
        PhysicalRegister::RBX,
        PhysicalRegister::RBP,
        PhysicalRegister::R12,
        PhysicalRegister::R13,
        PhysicalRegister::R14,
        PhysicalRegister::R15,
    ],
};

/// Roles in functions with calls: values that live across calls are in registers that callees preserve.
pub(super) const ROLES_WITH_CALLS: Roles = Roles {
    index: PhysicalRegister::RBX,
    limit: PhysicalRegister::RBP,
    operands: PhysicalRegister::R12,
    pointers: &[PhysicalRegister::R13, PhysicalRegister::R14, PhysicalRegister::R15],
    ..ROLES
};

/// Index of the next step's first element, in code with aligned steps: the last pointer register.
pub(super) const NEXT_INDEX: PhysicalRegister = PhysicalRegister::R15;

/// Maximum number of operands of code with aligned steps: these leave [`NEXT_INDEX`] free.
pub(super) const MAX_ALIGNED_OPERANDS: usize = ROLES.pointers.len() - 1;
