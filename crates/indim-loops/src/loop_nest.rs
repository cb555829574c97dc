//! Loop nests: the result of lowering a graph, independent of strides and of the target machine.
//!
//! A nest iterates over one shape. At each point it loads its accesses, computes its instructions in
//! order, and performs its stores. An access has an affine index for each axis of its array: a constant plus
//! multiples of axes of the nest, at most one axis unless the array is read through windows. Broadcasts,
//! transpositions, slices and windows become such indices.
//!
//! A size is a number or a symbol (`Size`). The nests of a program for any sizes have symbols; those of a
//! program for some sizes have numbers only, and are called concrete.

use core::fmt;
use std::sync::Arc;

use indim_graph::{
    Array, NodeKind, Region, ScatterMode, Size, SortResult, SymbolicShape, TakeMode,
};
use indim_ops::{ArrayType, DType, Op, ReduceOp, ScatterOp, SearchSide};

pub use crate::axis_index::{AxisIndex, AxisTerm, AxisTerms, SizeTerm, SizeTerms};
use crate::sizes::Sizes;
pub use crate::sorted_range::{SortedRange, SortedRanges};
use crate::strides::{AxisStrides, zero_strides};

/// An array that nests read or write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BufferId {
    /// An input of the graph, with the caller's strides.
    Parameter(usize),
    /// A result of the graph, with the caller's strides.
    Output(usize),
    /// A constant of the graph, dense.
    Constant(usize),
    /// The numbers 0, 1, 2, ... in one element type.
    Counter(usize),
    /// A value computed by an earlier nest, dense.
    Temporary(usize),
}

impl fmt::Display for BufferId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, index) = match self {
            BufferId::Parameter(index) => ("parameter", index),
            BufferId::Output(index) => ("output", index),
            BufferId::Constant(index) => ("constant", index),
            BufferId::Counter(index) => ("counter", index),
            BufferId::Temporary(index) => ("temporary", index),
        };
        write!(formatter, "{name} {index}")
    }
}

/// The element type of an array and its shape.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SymbolicType {
    /// The element type.
    pub dtype: DType,
    /// The size of each axis.
    pub shape: SymbolicShape,
}

impl SymbolicType {
    /// The type of the array in a concrete nest.
    ///
    /// # Panics
    /// If a size is a symbol.
    pub fn concrete(&self) -> ArrayType {
        ArrayType { dtype: self.dtype, shape: self.shape.concrete() }
    }
}

impl fmt::Display for SymbolicType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.dtype, self.shape)
    }
}

/// The access map of a nest to an array.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Access {
    /// The array.
    pub buffer: BufferId,
    /// Its element type, and its shape as the nest sees it, which a reshape may have changed.
    pub array_type: SymbolicType,
    /// The index along each axis of the array.
    pub axes: Arc<[AxisIndex]>,
}

impl Access {
    /// The stride along each of the `rank` axes of the nest, computed from the array's own strides. The table
    /// of a gather has one more: the stride along the gathered axis.
    pub fn strides(&self, rank: usize, array_strides: &[isize]) -> AxisStrides {
        let walked = self.axes.iter().flat_map(|index| &index.terms);
        let axes = walked.map(|walked| walked.axis + 1).max().unwrap_or(0).max(rank);
        let mut strides = zero_strides(axes);
        for (index, stride) in self.axes.iter().zip(array_strides) {
            for &AxisTerm { axis, step } in &index.terms {
                // The product exceeds the address space only for an array that is not accessed.
                strides[axis] += stride.wrapping_mul(step);
            }
        }
        strides
    }

    /// The offset of the nest's first point from the array's first element, in the unit of its strides, for
    /// these sizes of the symbols.
    pub fn offset(&self, array_strides: &[isize], sizes: Sizes<'_>) -> isize {
        let along = |(index, stride): (&AxisIndex, &isize)| stride.wrapping_mul(index.first(sizes));
        self.axes.iter().zip(array_strides).map(along).sum()
    }

    /// The symbols on which the offset depends in addition to the strides.
    pub fn offset_symbols(&self) -> impl Iterator<Item = usize> + '_ {
        self.axes.iter().flat_map(AxisIndex::size_terms).map(|term| term.symbol)
    }

    /// Whether the nest begins at the array's first element.
    pub fn starts_at_origin(&self) -> bool {
        self.axes.iter().all(AxisIndex::starts_at_zero)
    }

    /// For each of the `rank` axes of the nest, an axis of the array that moves with it.
    pub fn walked_axes(&self, rank: usize) -> Vec<Option<usize>> {
        let mut walked = vec![None; rank];
        for (axis, index) in self.axes.iter().enumerate() {
            for of_nest in index.terms.iter().filter(|of_nest| of_nest.axis < rank) {
                walked[of_nest.axis] = Some(axis);
            }
        }
        walked
    }
}

/// A value inside a nest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Local {
    /// The value of an access.
    Access(usize),
    /// The result of an instruction.
    Instruction(usize),
}

impl Local {
    /// The index of the access; `None` for an instruction.
    pub fn access(&self) -> Option<usize> {
        match *self {
            Local::Access(index) => Some(index),
            Local::Instruction(_) => None,
        }
    }
}

impl fmt::Display for Local {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Local::Access(index) => write!(formatter, "a{index}"),
            Local::Instruction(index) => write!(formatter, "t{index}"),
        }
    }
}

/// The operation of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InstructionKind {
    /// An operation of the table.
    Elementwise(Op),
    /// A conversion between element types.
    Convert,
    /// The same bits as another element type of the same width.
    Bitcast,
    /// A gather of one element. The first operand is an access, the table; the second operand is the index
    /// along its gathered axis. The table's index along that axis is a virtual axis, numbered after the axes
    /// of the nest.
    Take {
        /// The treatment of an index out of range. If it is an error, [`LoopNests::checks`] reports it before
        /// the nest runs.
        mode: TakeMode,
        /// The size of the gathered axis.
        size: usize,
    },
    /// The only instruction of its nest, which runs alone.
    Standalone(StandaloneInstruction),
}

/// An instruction that is the only one of its nest and has code of its own in `indim-cpu`. No executor
/// compiles the nest, and it runs in no group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StandaloneInstruction {
    /// A scatter. Its operands are accesses: the array whose elements are combined with updates, the indices,
    /// the updates. The outer axes of the nest are those of the result, the inner axes those of the indices;
    /// stores move only with the outer axes.
    Scatter {
        /// The operation that combines an element with its updates.
        op: ScatterOp,
        /// The axis of the nest that the indices select from.
        axis: usize,
        /// The treatment of an index out of range.
        mode: ScatterMode,
        /// The size of that axis.
        size: usize,
    },
    /// A contraction. Its operands are accesses, whose elements may be of narrower types than the products.
    /// Stores move only with the axes that are not summed; their type may be narrower than the sum, which is
    /// then rounded.
    Contract {
        /// The number of summed axes, the last ones of the nest.
        summed: usize,
    },
    /// A scan. Its operand is an access.
    Scan {
        /// The operation.
        op: ReduceOp,
        /// The scanned axis of the nest.
        axis: usize,
        /// Whether the scan runs from the last element to the first.
        reverse: bool,
        /// Whether each result leaves its own element out.
        exclusive: bool,
    },
    /// A stable sort along an axis. Its operands are accesses: the keys, the first most significant. Stores
    /// move with every axis.
    Sort {
        /// The axis of the nest.
        axis: usize,
        /// Whether the greatest element comes first.
        descending: bool,
        /// The result: elements or positions.
        result: SortResult,
        /// The positions along the axis that are read, and must be stored.
        read: SortedRanges,
    },
    /// A binary search. Its operands are accesses: the table, which moves with the last axis of the nest, and
    /// the values, which move with the other axes, like the stores.
    SearchSorted {
        /// The position found among equal elements.
        side: SearchSide,
    },
    /// A loop or branch, which runs programs of its own. The nest has no axes: its operands are whole
    /// arrays in memory, each accessed at its first element, and its stores are whole results.
    Control {
        /// The position in [`LoopNests::controls`].
        index: usize,
    },
}

/// A loop or branch.
#[derive(Debug, Clone, PartialEq)]
pub struct Control {
    /// The regions.
    pub kind: ControlKind,
    /// The result that each store of the nest writes.
    pub results: Vec<usize>,
}

/// The regions of a loop or branch; see the node kinds of the same names.
#[derive(Debug, Clone, PartialEq)]
pub enum ControlKind {
    /// A loop.
    While {
        /// Whether another step follows.
        condition: Region,
        /// The next states.
        body: Region,
        /// Maximum number of steps.
        limit: u64,
    },
    /// A branch.
    Branch {
        /// The regions.
        branches: Arc<[Region]>,
    },
}

impl Control {
    /// The loop or branch of a node of this kind, with the results that the stores write; `None` for other
    /// kinds.
    pub(crate) fn of(kind: &NodeKind, results: Vec<usize>) -> Option<Control> {
        let kind = match kind {
            NodeKind::While { condition, body, limit, .. } => ControlKind::While {
                condition: condition.clone(),
                body: body.clone(),
                limit: *limit,
            },
            NodeKind::Branch { branches, .. } => {
                ControlKind::Branch { branches: Arc::clone(branches) }
            }
            _ => return None,
        };
        Some(Control { kind, results })
    }

    /// The regions.
    pub fn regions(&self) -> impl Iterator<Item = &Region> {
        let (looped, branches) = match &self.kind {
            ControlKind::While { condition, body, .. } => (vec![condition, body], &[][..]),
            ControlKind::Branch { branches } => (Vec::new(), &branches[..]),
        };
        looped.into_iter().chain(branches)
    }

    /// The name of the node.
    pub fn name(&self) -> &'static str {
        match self.kind {
            ControlKind::While { .. } => "while",
            ControlKind::Branch { .. } => "branch",
        }
    }
}

/// An instruction of a nest: one operation on its operands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NestInstruction {
    /// The operation.
    pub kind: InstructionKind,
    /// The values that it reads.
    pub operands: Vec<Local>,
    /// The element type of the last operand.
    pub operand_dtype: DType,
    /// The element type of the result.
    pub dtype: DType,
}

/// The store of a value of a nest to an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// The value.
    pub source: Local,
    /// The reduction along the reduced axis of the nest, if it has one.
    pub reduction: Option<NestReduction>,
    /// The destination; it moves with every axis of the nest, except the reduced one, unless
    /// [`StandaloneInstruction`] says otherwise. It may be a slice of the array: each part of a
    /// concatenation is a store of its own.
    pub target: Access,
}

/// The reduction of values along the reduced axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NestReduction {
    /// The operation.
    pub op: ReduceOp,
    /// The element type of the accumulator. Values of a narrower type are widened first
    /// (`ReduceOp::widens`), and the result is converted to the type of the target.
    pub dtype: DType,
}

/// A fused group of computations over one iteration shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopNest {
    /// The iteration shape.
    pub shape: SymbolicShape,
    /// The reduced axis; if the nest has one, every store is a reduction along it.
    pub reduced: Option<usize>,
    /// The loads.
    pub accesses: Vec<Access>,
    /// The instructions, in order.
    pub instructions: Arc<[NestInstruction]>,
    /// The stores.
    pub stores: Vec<Store>,
}

impl LoopNest {
    /// The operands: the targets of the stores, then the accesses.
    pub fn operands(&self) -> impl Iterator<Item = &Access> {
        self.stores.iter().map(|store| &store.target).chain(&self.accesses)
    }

    /// Whether the stores are arg-reductions (`ReduceOp::is_arg_reduction`): all of them are, or none.
    pub fn is_arg_reduction(&self) -> bool {
        let is_arg_reduction = |store: &Store| {
            store.reduction.is_some_and(|reduction| reduction.op.is_arg_reduction())
        };
        self.stores.iter().any(is_arg_reduction)
    }

    /// The instruction of a nest that runs alone, with its operands; `None` for other nests.
    pub fn standalone_instruction(&self) -> Option<(StandaloneInstruction, &NestInstruction)> {
        match &self.instructions[..] {
            [instruction] => match instruction.kind {
                InstructionKind::Standalone(standalone) => Some((standalone, instruction)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the nest computes by code of its own: a scatter, a contraction, a scan, a sort, a search, a
    /// loop or a branch. No executor compiles it. Only a contraction runs in a group.
    pub fn is_standalone(&self) -> bool {
        self.standalone_instruction().is_some()
    }

    /// The element type of a value.
    pub fn dtype(&self, local: Local) -> DType {
        match local {
            Local::Access(index) => self.accesses[index].array_type.dtype,
            Local::Instruction(index) => self.instructions[index].dtype,
        }
    }
}

/// The loop nests of a graph, in execution order.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopNests {
    /// The types of the inputs.
    pub parameters: Vec<SymbolicType>,
    /// The types of the results.
    pub outputs: Vec<SymbolicType>,
    /// The constants.
    pub constants: Vec<Array>,
    /// Element type and length of each counter.
    pub counters: Vec<(DType, Size)>,
    /// The arrays between nests.
    pub temporaries: Vec<SymbolicType>,
    /// The nests, in order.
    pub nests: Vec<Arc<LoopNest>>,
    /// Bounds checks of indices that may be out of range.
    pub checks: Vec<IndexCheck>,
    /// The loops and branches.
    pub controls: Vec<Control>,
}

/// A bounds check of the indices of a gather or scatter.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexCheck {
    /// The nest before which the check runs: the first that uses the indices; 0 for parameters and constants.
    pub nest: usize,
    /// The name of the indices.
    pub name: String,
    /// The access to the indices, iterated in their own shape.
    pub access: Access,
    /// Their shape.
    pub shape: SymbolicShape,
    /// The axis that the indices select from.
    pub axis: usize,
    /// The size of that axis; negative indices count from its end.
    pub size: usize,
}

impl fmt::Display for Access {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indices: Vec<String> = self.axes.iter().map(ToString::to_string).collect();
        write!(formatter, "{} : {} [{}]", self.buffer, self.array_type, indices.join(", "))
    }
}

impl NestInstruction {
    /// Writes a standalone instruction without its operands.
    fn write_standalone(
        &self,
        standalone: StandaloneInstruction,
        formatter: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        match standalone {
            StandaloneInstruction::Scatter { op, axis, mode, .. } => {
                write!(formatter, "scatter_{op}.{mode}.{} along i{axis}", self.dtype)?;
            }
            StandaloneInstruction::Sort { axis, descending, result, read } => {
                let order = if descending { "descending" } else { "ascending" };
                let dtype = self.operand_dtype;
                write!(formatter, "sort.{order}.{result}.{dtype} along i{axis}{read}")?;
            }
            StandaloneInstruction::SearchSorted { side } => {
                write!(formatter, "search_sorted.{side}.{}", self.operand_dtype)?;
            }
            StandaloneInstruction::Control { index } => write!(formatter, "control {index}")?,
            StandaloneInstruction::Contract { summed } => {
                write!(formatter, "contract.{} of {summed} axes", self.operand_dtype)?;
            }
            StandaloneInstruction::Scan { op, axis, reverse, exclusive } => {
                write!(formatter, "{}.{} along i{axis}", op.scan_name(), self.dtype)?;
                formatter.write_str(if reverse { " reverse" } else { "" })?;
                formatter.write_str(if exclusive { " exclusive" } else { "" })?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for NestInstruction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            InstructionKind::Elementwise(op) => write!(formatter, "{op}.{}", self.operand_dtype)?,
            InstructionKind::Convert => {
                write!(formatter, "convert.{}.{}", self.operand_dtype, self.dtype)?
            }
            InstructionKind::Bitcast => {
                write!(formatter, "bitcast.{}.{}", self.operand_dtype, self.dtype)?
            }
            InstructionKind::Take { mode, .. } => {
                write!(formatter, "take.{mode}.{}.{}", self.operand_dtype, self.dtype)?;
            }
            InstructionKind::Standalone(standalone) => {
                self.write_standalone(standalone, formatter)?
            }
        }
        for (index, operand) in self.operands.iter().enumerate() {
            write!(formatter, "{}{operand}", if index == 0 { " " } else { ", " })?;
        }
        Ok(())
    }
}

impl fmt::Display for LoopNest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "for i in {} {{", self.shape)?;
        for (index, access) in self.accesses.iter().enumerate() {
            writeln!(formatter, "  a{index} = load {access}")?;
        }
        for (index, instruction) in self.instructions.iter().enumerate() {
            writeln!(formatter, "  t{index} = {instruction}")?;
        }
        for Store { source, reduction, target } in &self.stores {
            match (reduction, self.reduced) {
                (Some(NestReduction { op, dtype }), Some(axis)) => {
                    writeln!(formatter, "  store {op}.{dtype} {source} along i{axis} -> {target}")?;
                }
                _ => writeln!(formatter, "  store {source} -> {target}")?,
            }
        }
        write!(formatter, "}}")
    }
}

impl fmt::Display for LoopNests {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, nest) in self.nests.iter().enumerate() {
            write!(formatter, "{}{nest}", if index == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}
