//! Which instructions of a loop nest are cheap enough for chains, and how a chain computes them.

use indim_kernels::chain::{Accumulator, chain_operations, chain_sources, mask_operations};
use indim_loops::loop_nest::{Compute, Instruction, Local, LoopNest};
use indim_ops::{DType, Op};

/// What a cheap instruction does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cheap {
    pub(crate) kind: Kind,
    /// The element type of its operands, or, of `Convert` and `Spread`, of its result: that of the
    /// accumulator.
    pub(crate) dtype: DType,
}

/// How a chain computes an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A load of another element type.
    Convert,
    /// A conversion of bools.
    Spread,
    Unary(Op),
    /// An operation of two operands.
    Binary(Op),
    /// One whose result is of bools.
    Compare(Op),
    /// A conversion to bool.
    Test,
    /// The first operand is the mask.
    Select,
}

impl Cheap {
    /// None for an instruction that is not cheap.
    pub(crate) fn of(instruction: &Instruction) -> Option<Cheap> {
        let (from, to) = (instruction.operand_dtype, instruction.dtype);
        let has_chains = |dtype| !chain_operations(dtype).is_empty();
        let (kind, dtype, is_cheap) = match instruction.compute {
            Compute::Elementwise(op) => {
                let kind = match instruction.operands.len() {
                    1 => Kind::Unary(op),
                    3 => Kind::Select,
                    _ if from != to => Kind::Compare(op),
                    _ => Kind::Binary(op),
                };
                let operations = [chain_operations(from), mask_operations(from)];
                (kind, from, operations.iter().any(|known| known.contains(&op)))
            }
            Compute::Convert if to == DType::Bool => (Kind::Test, from, has_chains(from)),
            Compute::Convert if from == DType::Bool => (Kind::Spread, to, has_chains(to)),
            Compute::Convert => (Kind::Convert, to, chain_sources(to).contains(&from)),
            Compute::Bitcast | Compute::Take { .. } => return None,
        };
        is_cheap.then_some(Cheap { kind, dtype })
    }

    /// Where a chain of `dtype` has the result; none if it cannot compute it.
    pub(crate) fn result(self, dtype: DType) -> Option<Accumulator> {
        match (self.accumulator(dtype)?, self.kind) {
            (_, Kind::Compare(_) | Kind::Test) => Some(Accumulator::Bools),
            (accumulator, _) => Some(accumulator),
        }
    }

    /// The accumulator in which a chain of `dtype` computes it; none if it cannot.
    pub(crate) fn accumulator(self, dtype: DType) -> Option<Accumulator> {
        let is_of_mask = match self.kind {
            Kind::Unary(op) | Kind::Binary(op) | Kind::Compare(op) => {
                mask_operations(self.dtype).contains(&op)
            }
            Kind::Test => true,
            Kind::Convert | Kind::Spread | Kind::Select => false,
        };
        match self.dtype {
            own if own == dtype => Some(Accumulator::Values),
            DType::Bool if is_of_mask => Some(Accumulator::Bools),
            DType::U8 if is_of_mask => Some(Accumulator::Bytes),
            _ => None,
        }
    }

    /// Where a chain of `dtype` wants an operand.
    pub(crate) fn wanted(self, dtype: DType, position: usize) -> Option<Accumulator> {
        match self.kind {
            Kind::Spread => Some(Accumulator::Bools),
            Kind::Select if position == 0 => Some(Accumulator::Bools),
            // It is loaded from where it is.
            Kind::Convert => None,
            _ => self.accumulator(dtype),
        }
    }
}

/// What chains are made of: the instructions of a nest.
pub(crate) struct Candidates<'a> {
    pub(crate) nest: &'a LoopNest,
    /// For each instruction what it does, if it is cheap.
    pub(crate) cheap: Vec<Option<Cheap>>,
    /// How often each instruction's result is used.
    pub(crate) uses: Vec<usize>,
}

impl<'a> Candidates<'a> {
    pub(crate) fn of(nest: &'a LoopNest) -> Self {
        let mut uses = vec![0; nest.instructions.len()];
        let operands = nest.instructions.iter().flat_map(|instruction| &instruction.operands);
        for &local in operands.chain(nest.stores.iter().map(|store| &store.source)) {
            if let Local::Instruction(index) = local {
                uses[index] += 1;
            }
        }
        Candidates { nest, cheap: nest.instructions.iter().map(Cheap::of).collect(), uses }
    }
}
