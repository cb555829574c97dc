//! Loop nests: what lowering makes of a graph, before strides and machines are known.
//!
//! A nest runs over one iteration shape. At each point it reads its accesses, computes its
//! instructions in order, and performs its stores. An access says, for each axis of its array, where it
//! is: at an index that stays put, or one that an axis of the nest moves. That is all that is left of
//! broadcasts, transpositions and slices.

use core::fmt;
use std::sync::Arc;

use indim_graph::{Array, TakeMode};
use indim_ops::{ArrayType, DType, Op, ReduceOp};
use indim_shape::Shape;

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
    /// The numbers 0, 1, 2, ... in some element type.
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

/// The index of a nest along one axis of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AxisIndex {
    /// The index at the first point of the nest.
    pub start: usize,
    /// The axis of the nest that moves it; `None` if it is constant.
    pub term: Option<AxisTerm>,
}

/// The axis of a nest that moves an axis of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AxisTerm {
    /// The axis of the nest.
    pub axis: usize,
    /// The elements per step of the nest; never 0.
    pub step: isize,
}

impl AxisIndex {
    /// The first element, at every point of the nest.
    pub const FIRST: AxisIndex = AxisIndex { start: 0, term: None };

    /// An array axis of this size that an axis of the nest walks element by element.
    pub fn identity(axis: usize, size: usize) -> AxisIndex {
        AxisIndex { start: 0, term: (size != 1).then_some(AxisTerm { axis, step: 1 }) }
    }

    /// `step` elements on for each one of `walked`.
    pub(crate) fn along(&self, step: isize, walked: &AxisIndex) -> AxisIndex {
        let moved = step.wrapping_mul(walked.start as isize);
        let product =
            |walked: AxisTerm| AxisTerm { step: walked.step.wrapping_mul(step), ..walked };
        AxisIndex { start: self.start.wrapping_add_signed(moved), term: walked.term.map(product) }
    }
}

impl AxisIndex {
    /// Its text in brackets; `index` names an axis of the nest.
    pub fn written(&self, index: impl Fn(usize) -> String) -> String {
        let start = self.start;
        let Some(AxisTerm { axis, step }) = self.term else { return start.to_string() };
        let moved = match step.unsigned_abs() {
            1 => index(axis),
            distance => format!("{distance}*{}", index(axis)),
        };
        match (step < 0, start) {
            (true, _) => format!("{start}-{moved}"),
            (false, 0) => moved,
            (false, _) => format!("{moved}+{start}"),
        }
    }
}

/// Its text in brackets: `i0`, `i0+1`, `9-i0`, `2*i0+1`, `3`.
impl fmt::Display for AxisIndex {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.written(|axis| format!("i{axis}")))
    }
}

/// The access map of a nest to an array.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Access {
    /// The array.
    pub buffer: BufferId,
    /// Its element type and the shape under which it is walked.
    pub array_type: ArrayType,
    /// The index along each axis of the array.
    pub axes: Arc<[AxisIndex]>,
}

impl Access {
    /// The stride along each of `rank` axes of the nest, from the array's own strides; of what elements are
    /// taken from, the stride along their axis behind them.
    pub fn strides(&self, rank: usize, array_strides: &[isize]) -> AxisStrides {
        let walked = self.axes.iter().filter_map(|index| index.term);
        let axes = walked.map(|walked| walked.axis + 1).max().unwrap_or(0).max(rank);
        let mut strides = zero_strides(axes);
        for (index, stride) in self.axes.iter().zip(array_strides) {
            if let Some(AxisTerm { axis, step }) = index.term {
                // Beyond memory only where nothing is walked.
                strides[axis] += stride.wrapping_mul(step);
            }
        }
        strides
    }

    /// The offset of the nest's first point from the array's first element, in the unit of its strides.
    pub fn offset(&self, array_strides: &[isize]) -> isize {
        let along =
            |(index, stride): (&AxisIndex, &isize)| stride.wrapping_mul(index.start as isize);
        self.axes.iter().zip(array_strides).map(along).sum()
    }

    /// Whether the nest begins at the array's first element.
    pub fn begins_at_first(&self) -> bool {
        self.axes.iter().all(|index| index.start == 0)
    }

    /// For each of `rank` axes of the nest an axis of the array that moves with it.
    pub fn walked_axes(&self, rank: usize) -> Vec<Option<usize>> {
        let mut walked = vec![None; rank];
        for (axis, index) in self.axes.iter().enumerate() {
            if let Some(of_nest) = index.term.filter(|of_nest| of_nest.axis < rank) {
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
    /// The access, if it is one.
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

/// The computation of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InstructionKind {
    /// An operation of the table.
    Elementwise(Op),
    /// A conversion between element types.
    Convert,
    /// The same bits read as another element type of the same width.
    Bitcast,
    /// The element of the first operand, an access, that the second one names: along an axis of `size`
    /// elements, which an axis beyond those of the nest walks.
    Take {
        /// The treatment of an index outside the axis; if it is an error, [`LoopNests::checks`] has
        /// found it before.
        mode: TakeMode,
        /// The elements of the axis.
        size: usize,
    },
    /// The only instruction of its nest. Its operands are accesses: the array that is added to, the indices,
    /// the updates. The nest iterates over the places, which the stores walk, and then over the indices,
    /// which they do not.
    ScatterAdd {
        /// The axis of the nest that indices point into.
        axis: usize,
        /// The treatment of an index outside the axis.
        mode: TakeMode,
        /// The elements of the axis.
        size: usize,
    },
}

/// One step of a nest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// The computation.
    pub kind: InstructionKind,
    /// From which values.
    pub operands: Vec<Local>,
    /// The element type of the last operand.
    pub operand_dtype: DType,
    /// The element type of the result.
    pub dtype: DType,
}

/// A value of a nest that is written to an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// The value.
    pub source: Local,
    /// Its fold along the reduced axis of the nest, if any.
    pub reduction: Option<NestReduction>,
    /// Its destination; every axis of the nest moves, except the reduced one. It may be a part of the
    /// array: of a concatenation every part is a store.
    pub target: Access,
}

/// The fold of values along a reduced axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NestReduction {
    /// The operation that folds them.
    pub op: ReduceOp,
    /// The element type in which they are folded, or searched among. Narrower ones become such before
    /// (`ReduceOp::widens`), and the result is converted to the type of the target.
    pub dtype: DType,
}

/// A fused group of computations over one iteration shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopNest {
    /// The iteration shape.
    pub shape: Shape,
    /// The axis along which every store is a reduction.
    pub reduced: Option<usize>,
    /// The values read.
    pub accesses: Vec<Access>,
    /// The instructions, in order.
    pub instructions: Arc<[Instruction]>,
    /// The values written.
    pub stores: Vec<Store>,
}

impl LoopNest {
    /// The arrays that are walked: the targets of the stores first, then the accesses.
    pub fn operands(&self) -> impl Iterator<Item = &Access> {
        self.stores.iter().map(|store| &store.target).chain(&self.accesses)
    }

    /// Whether every store says where an element is (`ReduceOp::is_arg_reduction`); else none does.
    pub fn searches(&self) -> bool {
        let is_search = |store: &Store| {
            store.reduction.is_some_and(|reduction| reduction.op.is_arg_reduction())
        };
        self.stores.iter().any(is_search)
    }

    /// Whether the nest is a scatter ([`InstructionKind::ScatterAdd`]), which computes nothing else.
    pub fn is_scatter(&self) -> bool {
        let is_scatter = |it: &Instruction| matches!(it.kind, InstructionKind::ScatterAdd { .. });
        self.instructions.iter().any(is_scatter)
    }

    /// The element type of a value.
    pub fn dtype(&self, local: Local) -> DType {
        match local {
            Local::Access(index) => self.accesses[index].array_type.dtype,
            Local::Instruction(index) => self.instructions[index].dtype,
        }
    }
}

/// A graph as loop nests, to be run one after another.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopNests {
    /// The types of the inputs.
    pub parameters: Vec<ArrayType>,
    /// The types of the results.
    pub outputs: Vec<ArrayType>,
    /// The constants.
    pub constants: Vec<Array>,
    /// Element type and length of each counter.
    pub counters: Vec<(DType, usize)>,
    /// The arrays between nests.
    pub temporaries: Vec<ArrayType>,
    /// The nests, in order.
    pub nests: Vec<Arc<LoopNest>>,
    /// The indices that may name no element.
    pub checks: Vec<IndexCheck>,
}

/// Indices that must be found to name elements before a nest runs.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexCheck {
    /// The nest that computes the indices. Other indices are checked before the first nest.
    pub nest: usize,
    /// The name of the indices.
    pub name: String,
    /// The indices, walked in their own shape.
    pub access: Access,
    /// Their shape.
    pub shape: Shape,
    /// The axis along which elements are taken.
    pub axis: usize,
    /// The elements of that axis; negative indices count from its end.
    pub size: usize,
}

impl fmt::Display for Access {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indices: Vec<String> = self.axes.iter().map(ToString::to_string).collect();
        write!(formatter, "{} : {} [{}]", self.buffer, self.array_type, indices.join(", "))
    }
}

impl fmt::Display for Instruction {
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
            InstructionKind::ScatterAdd { axis, mode, .. } => {
                write!(formatter, "scatter_add.{mode}.{} along i{axis}", self.dtype)?;
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
