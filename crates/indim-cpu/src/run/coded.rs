//! The nests of a graph and their code: what a program knows whatever the sizes of its arrays are. All that
//! is bound to sizes shares it.

use std::sync::Arc;

use indim_arrays::OutputOrders;
use indim_graph::Array;
use indim_kernels::Level;
use indim_loops::MemoryUse;
use indim_loops::dense_nest::DenseNest;
use indim_loops::groups::{NestGroup, groups};
use indim_loops::loop_nest::{Access, BufferId, LoopNest, LoopNests};
use indim_loops::resize::{NestStrides, SizedNest, Sizes};
use indim_loops::scratch::LiveRanges;
use smallvec::SmallVec;

use crate::executor::{BoundNest, Executor, NestCode};
use crate::run::scatter::Scatter;
use crate::tiles::work;

/// A graph as loop nests, compiled by an executor, over arrays of any sizes.
#[derive(Debug)]
pub(crate) struct CodedNests {
    /// The nests over sizes of which no two are equal where others may be in their places.
    pub(crate) loops: LoopNests,
    /// Those sizes.
    distinct: Vec<usize>,
    pub(crate) codes: Vec<CodedNest>,
    /// Which nests may run together.
    pub(crate) groups: Vec<NestGroup>,
    pub(crate) lives: LiveRanges,
    pub(crate) output_orders: OutputOrders,
    pub(crate) executor: &'static dyn Executor,
    pub(crate) level: Level,
}

/// A nest compiled.
#[derive(Debug)]
pub(crate) struct CodedNest {
    pub(crate) code: Arc<dyn NestCode>,
    /// What it costs to compute an element.
    cost: usize,
    /// Where its operands begin, if all do at the first elements of their arrays.
    firsts: Option<Box<[Place]>>,
    /// What is known of it if its arrays are dense.
    if_dense: Option<DenseNest>,
    /// Which of the distinct sizes it is over, or its arrays are.
    symbols: Vec<usize>,
}

/// A nest bound to dense arrays of certain sizes.
#[derive(Debug, Clone)]
pub(crate) struct BoundCode {
    /// `None` where there is nothing to do.
    pub(crate) bound: Option<Arc<dyn BoundNest>>,
    /// The weight of a whole run in bytes: what is moved and what is computed.
    pub(crate) work: usize,
    /// The bytes of that which are moved.
    pub(crate) moved: usize,
    /// The most bytes of memory that the threads of a run share for it.
    pub(crate) shared_bytes: usize,
    /// Where its operands begin; none where that is known of the nest over all sizes.
    own_places: Option<Box<[Place]>>,
}

/// All nests bound to dense arrays of certain sizes.
#[derive(Debug)]
pub(crate) struct BoundNests {
    /// What is in the places of the distinct sizes.
    pub(crate) in_place: SymbolSizes,
    pub(crate) codes: Vec<BoundCode>,
}

/// What nests over other sizes are bound to.
pub(crate) type SymbolSizes = SmallVec<[usize; 4]>;

/// Where an operand of a nest begins in an array that is dense, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) buffer: BufferId,
    pub(crate) offset: isize,
}

impl CodedNests {
    /// Compiles the nests for `level`; others may be in the places of the `distinct` sizes. `check` is called
    /// after each part of the work, and may end it.
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
            codes.push(CodedNest::new(nest, code, &distinct));
            check()?;
        }
        let (groups, lives) = (groups(&loops), LiveRanges::of(&loops));
        let output_orders = OutputOrders::default();
        Ok(CodedNests { loops, distinct, codes, groups, lives, output_orders, executor, level })
    }

    /// These sizes, in the places of the distinct ones.
    pub(crate) fn sizes<'a>(&'a self, in_place: &'a [usize]) -> Sizes<'a> {
        Sizes { distinct: &self.distinct, in_place }
    }

    /// Binds the nests to dense arrays of these sizes, in the places of the distinct ones. A nest that is the
    /// same over those that were bound `before`, of the same nests, is taken from them. `check` is called
    /// after each, and may end it.
    ///
    /// # Errors
    /// Those of `check`.
    pub(crate) fn bind<E>(
        &self,
        in_place: SymbolSizes,
        before: Option<&BoundNests>,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<BoundNests, E> {
        let sizes = self.sizes(&in_place);
        let mut codes = Vec::with_capacity(self.codes.len());
        for (index, (coded, nest)) in self.codes.iter().zip(&self.loops.nests).enumerate() {
            let is_same = |before: &&BoundNests| {
                let mut symbols = coded.symbols.iter();
                symbols.all(|&symbol| before.in_place[symbol] == in_place[symbol])
            };
            codes.push(match before.filter(is_same) {
                Some(before) => before.codes[index].clone(),
                None => {
                    let nest = SizedNest::new(nest, sizes);
                    coded.bound(&nest.if_dense(coded.if_dense.as_ref()))
                }
            });
            check()?;
        }
        Ok(BoundNests { in_place, codes })
    }

    /// Where the operands of the nest of this index begin, which was bound so.
    #[inline(always)]
    pub(crate) fn places<'a>(&'a self, index: usize, bound: &'a BoundCode) -> &'a [Place] {
        let places = bound.own_places.as_deref().or(self.codes[index].firsts.as_deref());
        places.unwrap_or_default()
    }

    /// The bytes of what has been made since it was compiled.
    pub(crate) fn made_bytes(&self) -> usize {
        self.codes.iter().map(|coded| coded.code.made_bytes()).sum()
    }

    /// Counts the memory that it holds.
    pub(crate) fn count_bytes(&self, held: &mut MemoryUse) {
        held.loops(&self.loops);
        held.own::<usize>(self.distinct.capacity());
        held.own::<CodedNest>(self.codes.capacity());
        for coded in &self.codes {
            coded.code.count_bytes(held);
            coded.firsts.iter().for_each(|places| held.own::<Place>(places.len()));
            held.own::<usize>(coded.symbols.capacity());
            coded.if_dense.iter().for_each(|known| known.count_bytes(held));
        }
        held.own::<NestGroup>(self.groups.capacity());
        self.groups.iter().for_each(|group| group.count_bytes(held));
        self.lives.count_bytes(held);
    }
}

impl CodedNest {
    fn new(nest: &LoopNest, code: Arc<dyn NestCode>, distinct: &[usize]) -> CodedNest {
        let first = |access: &Access| Place { buffer: access.buffer, offset: 0 };
        let is_over = |size: &usize| {
            let mut shapes = nest.operands().map(|access| &access.array_type.shape);
            nest.shape.contains(size) || shapes.any(|shape| shape.contains(size))
        };
        CodedNest {
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

    fn bound(&self, nest: &SizedNest<'_>) -> BoundCode {
        let place = |access: &Access| Place {
            buffer: access.buffer,
            offset: access.offset(&nest.dense(access)),
        };
        let own = || nest.nest.operands().map(place).collect();
        BoundCode {
            bound: Arc::clone(&self.code).bind(nest, NestStrides::Dense, &[]),
            shared_bytes: self.code.shared_bytes(nest),
            work: work::of_run(nest, self.cost),
            moved: nest.bytes_moved(),
            own_places: self.firsts.is_none().then(own),
        }
    }
}

impl BoundNests {
    /// Counts the memory that they hold beside the code.
    pub(crate) fn count_bytes(&self, held: &mut MemoryUse) {
        held.own::<BoundNests>(1);
        held.small(&self.in_place);
        held.own::<BoundCode>(self.codes.capacity());
        self.codes.iter().for_each(|code| code.count_bytes(held));
    }
}

impl BoundCode {
    /// Counts the memory that it holds beside the code.
    fn count_bytes(&self, held: &mut MemoryUse) {
        self.bound.iter().for_each(|bound| bound.count_bytes(held));
        self.own_places.iter().for_each(|places| held.own::<Place>(places.len()));
    }
}
