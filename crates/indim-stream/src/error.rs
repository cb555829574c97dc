//! Errors of plans and streamed runs.

use core::fmt;

use indim_cpu::{CompileError, RunError};
use indim_graph::{Graph, NodeKind, VerifyErrorKind};
use indim_io::StoreError;
use indim_ops::ArrayType;
use indim_shape::{Diagnostic, ErrorCode};
use indim_transforms::chunks::{CutPolicy, Cuts, RereadLimit};

/// The maximum number of obstacles that a message names.
const MAX_LISTED_OBSTACLES: usize = 3;

/// The error of a streamed program.
#[derive(Debug)]
#[non_exhaustive]
pub enum StreamError {
    /// Even with small pieces the program needs more memory than the limit.
    MemoryLimit {
        /// A sufficient limit, in bytes, near the smallest one; `None` if none was found.
        enough: Option<usize>,
        /// The limit, in bytes.
        limit: usize,
        /// Up to three operations that cannot be cut, the largest operand first.
        obstacles: Vec<Obstacle>,
    },
    /// The program reads its values in too many axis orders, by transposing them.
    RereadLimit,
    /// The program of a piece cannot be compiled.
    Compile(CompileError),
    /// The program of a piece fails.
    Run(RunError),
    /// An input cannot be read, or an output cannot be written.
    Store(StoreError),
    /// An array would be too large.
    Graph(VerifyErrorKind),
    /// The system refuses a thread for reading or writing.
    Threads(std::io::Error),
    /// `progress` stopped the run.
    Stopped,
}

/// An operation that needs all elements along an axis at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// The name of the operation.
    pub operation: &'static str,
    /// The type of its first operand; of its result for an operation without operands.
    pub operand: ArrayType,
    /// The axis of the array that `operand` describes.
    pub axis: usize,
}

impl Obstacle {
    /// The obstacles in a graph, at most `MAX_LISTED_OBSTACLES`, the largest operand first.
    pub(crate) fn all(graph: &Graph, cuts: &Cuts) -> Vec<Obstacle> {
        let mut obstacles: Vec<Obstacle> = Vec::new();
        for (value, node) in graph.iter() {
            let of = node.operands.first().copied().unwrap_or(value);
            let operand = &graph[of].array_type;
            let is_obstacle = |axis: &usize| match &node.kind {
                NodeKind::Iota { axis: along }
                | NodeKind::Concatenate { axis: along }
                | NodeKind::Take { axis: along, .. }
                | NodeKind::Scatter { axis: along, .. }
                | NodeKind::Scan { axis: along, .. }
                | NodeKind::Window { axis: along, .. } => axis == along,
                NodeKind::Sort { axis: along, .. } => axis == along,
                NodeKind::SearchSorted { .. }
                | NodeKind::While { .. }
                | NodeKind::Branch { .. } => true,
                NodeKind::Slice(slices) => !slices[*axis].is_whole(operand.shape[*axis]),
                NodeKind::Reshape | NodeKind::Constant(_) => true,
                _ => false,
            };
            let is_whole = |axis: &usize| {
                let cut = cuts.axes(of)[*axis];
                cut.is_some_and(|cut| cuts.cuts()[cut].policy == CutPolicy::Nowhere)
            };
            let axes = (0..operand.shape.rank()).filter(is_whole).filter(is_obstacle);
            let operation = node.kind.name();
            let found = axes.map(|axis| Obstacle { operation, operand: operand.clone(), axis });
            obstacles.extend(found);
        }
        let bytes = |of: &Obstacle| of.operand.shape.byte_count(of.operand.dtype.size()).ok();
        obstacles.sort_by_key(|obstacle| core::cmp::Reverse(bytes(obstacle)));
        obstacles.dedup();
        obstacles.truncate(MAX_LISTED_OBSTACLES);
        obstacles
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Obstacle { operation, operand, axis } = self;
        write!(formatter, "`{operation}` needs all of axis {axis} of {operand} at once")
    }
}

impl StreamError {
    /// A stable name of the kind of error.
    pub fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The same code with its explanation.
    pub fn error_code(&self) -> ErrorCode {
        match self {
            StreamError::MemoryLimit { .. } => ErrorCode::MEMORY_LIMIT,
            StreamError::RereadLimit => ErrorCode::TOO_MANY_READINGS,
            StreamError::Compile(error) => error.error_code(),
            StreamError::Run(error) => error.error_code(),
            StreamError::Store(error) => error.error_code(),
            StreamError::Graph(_) => ErrorCode::TOO_LARGE,
            StreamError::Threads(_) => ErrorCode::THREADS,
            StreamError::Stopped => ErrorCode::STOPPED,
        }
    }

    /// The error as a diagnostic for people.
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            StreamError::Store(error) => error.diagnostic(),
            StreamError::Run(error) => error.diagnostic(),
            _ => Diagnostic::new(self.error_code(), self.to_string()),
        }
    }
}

impl fmt::Display for StreamError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StreamError::MemoryLimit { enough, limit, obstacles } => {
                match enough {
                    Some(enough) => write!(
                        formatter,
                        "piece by piece the program needs a limit of {enough} bytes, and the limit is {limit}"
                    )?,
                    None => write!(
                        formatter,
                        "piece by piece the program holds more than the limit of {limit} bytes at a time"
                    )?,
                }
                let obstacles: Vec<String> = obstacles.iter().map(Obstacle::to_string).collect();
                if !obstacles.is_empty() {
                    write!(formatter, ": {}", obstacles.join(", "))?;
                }
                formatter.write_str("; raise the limit, or compute a part of the result at a time")
            }
            StreamError::RereadLimit => write!(formatter, "{RereadLimit}"),
            StreamError::Compile(error) => write!(formatter, "{error}"),
            StreamError::Run(error) => write!(formatter, "{error}"),
            StreamError::Store(error) => write!(formatter, "{error}"),
            StreamError::Graph(error) => write!(formatter, "{error}"),
            StreamError::Threads(error) => {
                write!(formatter, "the system refuses a thread for reading or writing: {error}")
            }
            StreamError::Stopped => formatter.write_str("the run was stopped"),
        }
    }
}

impl core::error::Error for StreamError {}

impl From<RereadLimit> for StreamError {
    fn from(_: RereadLimit) -> Self {
        StreamError::RereadLimit
    }
}

impl From<CompileError> for StreamError {
    fn from(error: CompileError) -> Self {
        StreamError::Compile(error)
    }
}

impl From<RunError> for StreamError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Stopped => StreamError::Stopped,
            error => StreamError::Run(error),
        }
    }
}

impl From<StoreError> for StreamError {
    fn from(error: StoreError) -> Self {
        StreamError::Store(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_names_a_sufficient_limit_if_it_is_known() {
        let of = |enough| {
            StreamError::MemoryLimit { enough, limit: 100, obstacles: Vec::new() }.to_string()
        };
        assert!(of(Some(101)).contains("needs a limit of 101 bytes, and the limit is 100;"));
        assert!(of(None).contains("holds more than the limit of 100 bytes at a time;"));
    }
}
