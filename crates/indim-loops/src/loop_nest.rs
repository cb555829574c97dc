//! Loop nests: what lowering makes of a graph, before strides and machines are known.
//!
//! A nest runs over one iteration shape. At each point it reads its accesses, computes its
//! instructions in order, and performs its stores. An access says, for each axis of the nest, which
//! axis of its array is walked; `None` stays put, and that is all that is left of a broadcast.

use core::fmt;
use std::sync::Arc;

use indim_ops::{ArrayType, DType, Op, ReduceOp};
use indim_shape::Shape;

use indim_graph::Array;

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

/// How a nest walks an array.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Access {
    /// The array.
    pub buffer: BufferId,
    /// Its element type and the shape under which it is walked.
    pub array_type: ArrayType,
    /// For each axis of the nest, the array's axis that moves with it.
    pub axes: Arc<[Option<usize>]>,
}

impl Access {
    /// The stride along each axis of the nest, from the array's own strides.
    pub fn strides(&self, array_strides: &[isize]) -> Vec<isize> {
        self.axes.iter().map(|axis| axis.map_or(0, |axis| array_strides[axis])).collect()
    }
}

/// A value inside a nest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Local {
    /// What an access reads.
    Access(usize),
    /// What an instruction computes.
    Instruction(usize),
}

impl fmt::Display for Local {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Local::Access(index) => write!(formatter, "a{index}"),
            Local::Instruction(index) => write!(formatter, "t{index}"),
        }
    }
}

/// What an instruction computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compute {
    /// An operation of the table.
    Elementwise(Op),
    /// A conversion between element types.
    Convert,
    /// The same bits read as another element type of the same width.
    Bitcast,
}

/// One step of a nest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// What is computed.
    pub compute: Compute,
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
    /// What becomes of it along the reduced axis of the nest, if that has one. Elements that are narrower
    /// than those of the target become such before (`ReduceOp::widens`).
    pub reduction: Option<ReduceOp>,
    /// Where it goes; every axis of the nest moves, but the reduced one.
    pub target: Access,
}

/// A fused group of computations over one iteration shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopNest {
    /// The iteration shape.
    pub shape: Shape,
    /// The axis along which every store is a reduction.
    pub reduced: Option<usize>,
    /// What is read.
    pub accesses: Vec<Access>,
    /// What is computed, in order.
    pub instructions: Vec<Instruction>,
    /// What is written.
    pub stores: Vec<Store>,
}

impl LoopNest {
    /// The arrays that are walked: the targets of the stores first, then the accesses.
    pub fn operands(&self) -> impl Iterator<Item = &Access> {
        self.stores.iter().map(|store| &store.target).chain(&self.accesses)
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
}

impl fmt::Display for Access {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} : {} [", self.buffer, self.array_type)?;
        for (axis, walked) in self.axes.iter().enumerate() {
            let separator = if axis == 0 { "" } else { ", " };
            match walked {
                Some(_) => write!(formatter, "{separator}i{axis}")?,
                None => write!(formatter, "{separator}·")?,
            }
        }
        formatter.write_str("]")
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.compute {
            Compute::Elementwise(op) => write!(formatter, "{op}.{}", self.operand_dtype)?,
            Compute::Convert => write!(formatter, "convert.{}.{}", self.operand_dtype, self.dtype)?,
            Compute::Bitcast => write!(formatter, "bitcast.{}.{}", self.operand_dtype, self.dtype)?,
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
                (Some(op), Some(axis)) => {
                    writeln!(formatter, "  store {op} {source} along i{axis} -> {target}")?;
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
