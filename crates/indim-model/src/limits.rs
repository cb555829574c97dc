//! Resource limits of one file, shared by all formats.

/// Resource limits of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatLimits {
    /// Bytes of the file itself, without external constants.
    pub file_bytes: usize,
    /// Nesting depth of regions, elements and attributes.
    pub depth: usize,
    /// Number of operations after inlining of calls.
    pub operations: usize,
    /// Bytes of all constants.
    pub constant_bytes: usize,
    /// Rank of any array.
    pub rank: usize,
}

impl Default for FormatLimits {
    /// `file_bytes` is the maximal size of a protobuf; the others far exceed the needs of real programs.
    fn default() -> Self {
        FormatLimits {
            file_bytes: (1 << 31) - 1,
            depth: 1000,
            operations: 500_000,
            // 16 GiB, or all that an address of 32 bits reaches.
            constant_bytes: 1usize.checked_shl(34).unwrap_or(usize::MAX),
            rank: indim_shape::MAX_RANK,
        }
    }
}
