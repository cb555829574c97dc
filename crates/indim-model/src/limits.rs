//! What a file may ask for, whatever its format.

/// What a file may ask for before it is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatLimits {
    /// The bytes of the file itself, without constants that lie beside it.
    pub file_bytes: usize,
    /// How deep regions, elements and attributes may be nested.
    pub depth: usize,
    /// The number of operations, after calls have been replaced by what they call.
    pub operations: usize,
    /// The bytes of all constants.
    pub constant_bytes: usize,
    /// The number of axes of any array in it.
    pub rank: usize,
}

impl Default for FormatLimits {
    /// The largest protobuf; what the programs of the systems need by far.
    fn default() -> Self {
        FormatLimits {
            file_bytes: (1 << 31) - 1,
            depth: 1000,
            operations: 500_000,
            constant_bytes: 1 << 34,
            rank: indim_shape::MAXIMUM_RANK,
        }
    }
}
