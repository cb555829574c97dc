//! A program compiled for any sizes: its loop nests and their code, shared by all bindings to sizes.

use std::sync::Arc;

use indim_arrays::OutputOrders;
use indim_graph::Array;
use indim_kernels::Level;
use indim_loops::MemoryUse;
use indim_loops::dense_nest::DenseNest;
use indim_loops::groups::{NestGroup, groups};
use indim_loops::loop_nest::{Access, BufferId, LoopNest, LoopNests};
use indim_loops::resize::{NestStrides, SizeSubstitution, SizedNest};
use indim_loops::scratch::LiveRanges;
use smallvec::SmallVec;

use crate::executor::{BoundNest, Executor, NestCode};
use crate::run::scatter::Scatter;
use crate::tiles::work;

/// A graph as loop nests, compiled by an executor, for arrays of any sizes.
#[derive(Debug)]
pub(crate) struct CompiledProgram {
    /// The nests. Each symbol has a size of its own here, which a binding replaces by the concrete size.
    pub(crate) loops: LoopNests,
    /// The placeholder size of each symbol.
    distinct: Vec<usize>,
    pub(crate) codes: Vec<SymbolicNest>,
    /// Groups of nests that may run tile by tile.
    pub(crate) groups: Vec<NestGroup>,
    pub(crate) lives: LiveRanges,
    pub(crate) output_orders: OutputOrders,
    pub(crate) executor: &'static dyn Executor,
    pub(crate) level: Level,
}

/// A nest compiled for any sizes.
#[derive(Debug)]
pub(crate) struct SymbolicNest {
    pub(crate) code: Arc<dyn NestCode>,
    /// Cost of computing one element; see [`NestCode::cost`].
    cost: usize,
    /// Addresses of the operands, if each begins at the first element of its array.
    firsts: Option<Box<[BufferOffset]>>,
    /// Strides and axes of the nest over dense arrays, computed once.
    if_dense: Option<DenseNest>,
    /// Indices of the symbols on which the nest's shape or its arrays depend.
    symbols: Vec<usize>,
}

/// A nest bound to dense arrays of concrete sizes.
#[derive(Debug, Clone)]
pub(crate) struct DenseBinding {
    /// `None` for a nest without elements.
    pub(crate) bound: Option<Arc<dyn BoundNest>>,
    /// Weight of a whole run in bytes: bytes moved and the cost of computing.
    pub(crate) work: usize,
    /// Bytes moved by a whole run.
    pub(crate) moved: usize,
    /// Upper bound of the memory in bytes that the threads of a run share.
    pub(crate) shared_bytes: usize,
    /// Addresses of the operands; `None` if they are the same for all sizes.
    own_places: Option<Box<[BufferOffset]>>,
}

/// All nests of a program bound to dense arrays of concrete sizes.
#[derive(Debug)]
pub(crate) struct DenseBindings {
    /// Concrete sizes, in symbol order.
    pub(crate) in_place: SymbolSizes,
    pub(crate) codes: Vec<DenseBinding>,
}

/// The concrete size of each symbol.
pub(crate) type SymbolSizes = SmallVec<[usize; 4]>;

/// An address in a dense array: its buffer and an offset in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BufferOffset {
    pub(crate) buffer: BufferId,
    pub(crate) offset: isize,
}

impl CompiledProgram {
    /// Compiles the nests for `level`; `distinct` has the placeholder size of each symbol. `check` is
    /// called after each nest and may stop the compilation.
    ///
    /// # Errors
    /// Those of `check`.
    pub(crate) fn new<E>(
        loops: LoopNests,
        distinct: Vec<usize>,
        executor: &'static dyn Executor,
        level: Level,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<Self, E> {
        let constants: Arc<[Array]> = loops.constants.iter().cloned().collect();
        let mut codes = Vec::with_capacity(loops.nests.len());
        for nest in &loops.nests {
            let code = match Scatter::compile(nest, level) {
                Some(scatter) => scatter,
                None => executor.compile(nest, &constants, level),
            };
            codes.push(SymbolicNest::new(nest, code, &distinct));
            check()?;
        }
        let (groups, lives) = (groups(&loops), LiveRanges::of(&loops));
        let output_orders = OutputOrders::default();
        Ok(CompiledProgram {
            loops,
            distinct,
            codes,
            groups,
            lives,
            output_orders,
            executor,
            level,
        })
    }

    /// The substitution of the placeholder sizes by these concrete sizes.
    pub(crate) fn sizes<'a>(&'a self, in_place: &'a [usize]) -> SizeSubstitution<'a> {
        SizeSubstitution { symbols: &self.distinct, concrete: in_place }
    }

    /// Binds the nests to dense arrays; `in_place` has the concrete sizes, in symbol order. Nests whose
    /// sizes have not changed since the binding `before` are reused. `check` is called after each nest and
    /// may stop the binding.
    ///
    /// # Errors
    /// Those of `check`.
    pub(crate) fn bind<E>(
        &self,
        in_place: SymbolSizes,
        before: Option<&DenseBindings>,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<DenseBindings, E> {
        let sizes = self.sizes(&in_place);
        let mut codes = Vec::with_capacity(self.codes.len());
        for (index, (program, nest)) in self.codes.iter().zip(&self.loops.nests).enumerate() {
            let is_same = |before: &&DenseBindings| {
                let mut symbols = program.symbols.iter();
                symbols.all(|&symbol| before.in_place[symbol] == in_place[symbol])
            };
            codes.push(match before.filter(is_same) {
                Some(before) => before.codes[index].clone(),
                None => {
                    let nest = SizedNest::new(nest, sizes);
                    program.bound(&nest.if_dense(program.if_dense.as_ref()))
                }
            });
            check()?;
        }
        Ok(DenseBindings { in_place, codes })
    }

    /// Addresses of the operands of nest `index`, bound as `bound`.
    #[inline(always)]
    pub(crate) fn places<'a>(
        &'a self,
        index: usize,
        bound: &'a DenseBinding,
    ) -> &'a [BufferOffset] {
        let places = bound.own_places.as_deref().or(self.codes[index].firsts.as_deref());
        places.unwrap_or_default()
    }

    /// Bytes of the machine code generated since compile time.
    pub(crate) fn made_bytes(&self) -> usize {
        self.codes.iter().map(|program| program.code.made_bytes()).sum()
    }

    /// Counts the memory of the compiled program.
    pub(crate) fn count_bytes(&self, held: &mut MemoryUse) {
        held.loops(&self.loops);
        held.own::<usize>(self.distinct.capacity());
        held.own::<SymbolicNest>(self.codes.capacity());
        for program in &self.codes {
            program.code.count_bytes(held);
            program.firsts.iter().for_each(|places| held.own::<BufferOffset>(places.len()));
            held.own::<usize>(program.symbols.capacity());
            program.if_dense.iter().for_each(|known| known.count_bytes(held));
        }
        held.own::<NestGroup>(self.groups.capacity());
        self.groups.iter().for_each(|group| group.count_bytes(held));
        self.lives.count_bytes(held);
    }
}

impl SymbolicNest {
    fn new(nest: &LoopNest, code: Arc<dyn NestCode>, distinct: &[usize]) -> SymbolicNest {
        let first = |access: &Access| BufferOffset { buffer: access.buffer, offset: 0 };
        let is_over = |size: &usize| {
            let mut shapes = nest.operands().map(|access| &access.array_type.shape);
            nest.shape.contains(size) || shapes.any(|shape| shape.contains(size))
        };
        SymbolicNest {
            cost: code.cost(),
            firsts: nest
                .operands()
                .all(Access::begins_at_first)
                .then(|| nest.operands().map(first).collect()),
            if_dense: DenseNest::new(nest),
            symbols: (0..distinct.len()).filter(|&symbol| is_over(&distinct[symbol])).collect(),
            code,
        }
    }

    fn bound(&self, nest: &SizedNest<'_>) -> DenseBinding {
        let place = |access: &Access| BufferOffset {
            buffer: access.buffer,
            offset: access.offset(&nest.dense(access)),
        };
        let own = || nest.nest.operands().map(place).collect();
        DenseBinding {
            bound: Arc::clone(&self.code).bind(nest, NestStrides::Dense, &[]),
            shared_bytes: self.code.shared_bytes(nest),
            work: work::of_run(nest, self.cost),
            moved: nest.bytes_moved(),
            own_places: self.firsts.is_none().then(own),
        }
    }
}

impl DenseBindings {
    /// Counts the memory of the bindings, without the code.
    pub(crate) fn count_bytes(&self, held: &mut MemoryUse) {
        held.own::<DenseBindings>(1);
        held.small(&self.in_place);
        held.own::<DenseBinding>(self.codes.capacity());
        self.codes.iter().for_each(|code| code.count_bytes(held));
    }
}

impl DenseBinding {
    /// Counts the memory of the binding, without the code.
    fn count_bytes(&self, held: &mut MemoryUse) {
        self.bound.iter().for_each(|bound| bound.count_bytes(held));
        self.own_places.iter().for_each(|places| held.own::<BufferOffset>(places.len()));
    }
}
