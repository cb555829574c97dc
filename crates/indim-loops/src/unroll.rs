//! Reductions along short axes as nests without a reduced axis.
//!
//! Every element along the axis becomes an access of its own, so the reduction is straight-line code in the
//! order of its definition. Its results need no accumulators in memory.

use std::sync::Arc;

use indim_graph::{Array, SymbolicShape};
use indim_ops::meaning::reduction::tree;
use indim_ops::{DType, ReduceOp};

use crate::loop_nest::{
    Access, AxisIndex, AxisTerm, BufferId, InstructionKind, Local, LoopNest, NestInstruction,
    NestReduction, Store, SymbolicType,
};

/// Maximum length of an axis that is unrolled: the elements of longer ones do not fit the registers.
pub const MAX_UNROLLED: usize = 8;

/// A nest with a reduced axis, unrolled along it.
#[derive(Debug, Clone)]
pub struct UnrolledNest {
    /// The nest without the axis.
    pub nest: Arc<LoopNest>,
    /// For each access, the element that it reads.
    pub sources: Vec<UnrolledSource>,
    /// The graph's constants, and after them the identities of reductions.
    pub constants: Arc<[Array]>,
}

/// The element that an access of an unrolled nest reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnrolledSource {
    /// An element of an access of the reduced nest.
    Access {
        /// The access.
        access: usize,
        /// The position along the reduced axis.
        position: usize,
    },
    /// The identity of a reduction, a constant of the unrolled nest by index.
    Identity(usize),
}

impl UnrolledNest {
    /// The nest for a reduced axis of `length` elements. `constants` are those of the graph.
    ///
    /// `None` if the length is not 2 to [`MAX_UNROLLED`], if the nest gathers, runs alone or is an
    /// arg-reduction, or if a reduction has no operation for its element type or is a complex product.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_loops::{lower, unroll::UnrolledNest};
    /// use indim_ops::{DType, ReduceOp};
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I32, [9, 2])?;
    /// let nests = lower(&b.finish(&[b.reduce(ReduceOp::Max, &x, 1)?])?);
    /// let unrolled = UnrolledNest::new(&nests.nests[0], &[], 2).unwrap();
    /// assert_eq!(unrolled.nest.to_string(), "\
    /// for i in [9] {
    ///   a0 = load parameter 0 : i32[9, 2] [i0, 0]
    ///   a1 = load parameter 0 : i32[9, 2] [i0, 1]
    ///   t0 = max.i32 a0, a1
    ///   store t0 -> output 0 : i32[9] [i0]
    /// }");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(nest: &LoopNest, constants: &[Array], length: usize) -> Option<UnrolledNest> {
        let axis = nest.reduced?;
        let is_elementwise = |it: &NestInstruction| {
            !matches!(it.kind, InstructionKind::Take { .. } | InstructionKind::Standalone(_))
        };
        let is_unrolled = (2..=MAX_UNROLLED).contains(&length)
            && !nest.is_arg_reduction()
            && nest.instructions.iter().all(is_elementwise);
        if !is_unrolled {
            return None;
        }
        let mut unroller = Unroller {
            nest,
            axis,
            length,
            accesses: Vec::new(),
            sources: Vec::new(),
            instructions: Vec::new(),
            constants: constants.to_vec(),
        };
        let stores = unroller.stores()?;
        let sizes = nest.shape.iter().enumerate().filter(|&(of, _)| of != axis);
        let shape: SymbolicShape = sizes.map(|(_, &size)| size).collect();
        let Unroller { accesses, sources, instructions, constants, .. } = unroller;
        let instructions = instructions.into();
        let nest = Arc::new(LoopNest { shape, reduced: None, accesses, instructions, stores });
        Some(UnrolledNest { nest, sources, constants: constants.into() })
    }
}

/// An unrolled nest under construction.
struct Unroller<'a> {
    nest: &'a LoopNest,
    axis: usize,
    length: usize,
    accesses: Vec<Access>,
    sources: Vec<UnrolledSource>,
    instructions: Vec<NestInstruction>,
    constants: Vec<Array>,
}

impl Unroller<'_> {
    /// The stores of the folded values, whose computation is added to the instructions. `None` if an
    /// operation does not take the type of a reduction.
    fn stores(&mut self) -> Option<Vec<Store>> {
        let nest = self.nest;
        let accesses: Vec<Vec<Local>> =
            (0..nest.accesses.len()).map(|access| self.elements(access)).collect();
        let mut values: Vec<Vec<Local>> = Vec::with_capacity(nest.instructions.len());
        for instruction in nest.instructions.iter() {
            let operand = |operand: &Local, position: usize| match *operand {
                Local::Access(index) => accesses[index][position],
                Local::Instruction(index) => values[index][position],
            };
            let copies = (0..self.length).map(|position| {
                let operands = instruction.operands.iter().map(|it| operand(it, position));
                NestInstruction { operands: operands.collect(), ..instruction.clone() }
            });
            let copies: Vec<NestInstruction> = copies.collect();
            values.push(copies.into_iter().map(|copy| self.push(copy)).collect());
        }
        let store = |store: &Store| {
            let elements = match store.source {
                Local::Access(index) => &accesses[index],
                Local::Instruction(index) => &values[index],
            };
            let result = store.target.array_type.dtype;
            let reduction = store.reduction?;
            let source = self.fold(elements, nest.dtype(store.source), reduction)?;
            let source = self.convert(source, reduction.dtype, result);
            Some(Store { source, reduction: None, target: self.access_at(&store.target, 0) })
        };
        nest.stores.iter().map(store).collect()
    }

    /// The fold of elements of type `dtype`.
    fn fold(
        &mut self,
        elements: &[Local],
        dtype: DType,
        NestReduction { op, dtype: wide }: NestReduction,
    ) -> Option<Local> {
        let kind = InstructionKind::Elementwise(op.operation());
        let is_operation = op.operation().takes(wide) && op.operation().result_dtype(wide) == wide;
        // A complex product with 1 may turn an infinity into a NaN.
        let is_neutral = op != ReduceOp::Mul || !matches!(wide, DType::C64 | DType::C128);
        if !is_operation || !is_neutral {
            return None;
        }
        // The identity changes only negative zeros, in sums. If the first sum is no negative zero, no other
        // zero changes a later one, so one identity is enough.
        let identity = match op.is_ordered(wide) {
            true => Some(self.identity(Array::identity(op, wide)?)),
            false => None,
        };
        let mut elements: Vec<Option<Local>> =
            elements.iter().map(|&it| Some(self.convert(it, dtype, wide))).collect();
        let mut combine = |x: Option<Local>, y: Option<Local>| {
            let (Some(x), Some(y)) = (x, y) else { return x.or(y) };
            let operands = vec![x, y];
            Some(self.push(NestInstruction { kind, operands, operand_dtype: wide, dtype: wide }))
        };
        if let Some(first) = elements.first_mut() {
            *first = combine(identity, *first);
        }
        tree(&elements, None, combine)
    }

    /// The value converted from one type to another.
    fn convert(&mut self, value: Local, from: DType, to: DType) -> Local {
        match from == to {
            true => value,
            false => self.push(NestInstruction {
                kind: InstructionKind::Convert,
                operands: vec![value],
                operand_dtype: from,
                dtype: to,
            }),
        }
    }

    fn push(&mut self, instruction: NestInstruction) -> Local {
        self.instructions.push(instruction);
        Local::Instruction(self.instructions.len() - 1)
    }

    /// The elements of an access along the reduced axis; one access if it does not move with that axis.
    fn elements(&mut self, access: usize) -> Vec<Local> {
        let of = &self.nest.accesses[access];
        let (moves, length) = (of.axes.iter().any(|it| it.moves_with(self.axis)), self.length);
        let mut element = |position: usize| {
            self.accesses.push(self.access_at(of, position));
            self.sources.push(UnrolledSource::Access { access, position });
            Local::Access(self.accesses.len() - 1)
        };
        match moves {
            true => (0..length).map(element).collect(),
            false => vec![element(0); length],
        }
    }

    /// The access at a position along the reduced axis.
    fn access_at(&self, access: &Access, position: usize) -> Access {
        let index = |of: &AxisIndex| {
            let mut moved = AxisIndex { terms: Default::default(), ..of.clone() };
            for &AxisTerm { axis, step } in &of.terms {
                if axis == self.axis {
                    let before = step.wrapping_mul(position as isize);
                    moved.start = moved.start.wrapping_add(before);
                } else {
                    let axis = axis - usize::from(axis > self.axis);
                    moved.terms.push(AxisTerm { axis, step });
                }
            }
            moved
        };
        Access { axes: access.axes.iter().map(index).collect(), ..access.clone() }
    }

    /// The access to a new scalar constant, which holds `identity`.
    fn identity(&mut self, identity: Array) -> Local {
        let (index, dtype) = (self.constants.len(), identity.dtype());
        let array_type = SymbolicType { dtype, shape: SymbolicShape::scalar() };
        self.constants.push(identity);
        self.sources.push(UnrolledSource::Identity(index));
        let buffer = BufferId::Constant(index);
        self.accesses.push(Access { buffer, array_type, axes: Arc::new([]) });
        Local::Access(self.accesses.len() - 1)
    }
}
