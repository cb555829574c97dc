//! Limits on regions and on the steps of loops.

/// Maximum nesting of regions. Verification, compilation and evaluation recurse once for each level.
pub const MAX_REGION_DEPTH: usize = 16;

/// Maximum number of nodes of a region and of the regions inside it. A region that is used twice counts
/// twice.
pub const MAX_REGION_NODES: usize = 1 << 20;

/// Maximum number of results of a region times the operands of its loop or branch: each result is a node with
/// all operands.
pub const MAX_REGION_OPERANDS: usize = 1 << 22;

/// Maximum number of steps of a loop, unless the caller sets another limit.
pub const DEFAULT_STEP_LIMIT: u64 = 1 << 32;
