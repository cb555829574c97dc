//! Contractions: nests that sum products, by the register tiles of `indim-products`. No executor compiles
//! them. Holds unsafe code.
//!
//! Each operand is read at its own strides; a broadcast has stride 0. The class of an axis says which of the
//! operands move along it, or that it is summed. The bits do not depend on the plan, so a run on several
//! threads has a plan of its own, with tasks for all threads of the machine.

use core::cell::RefCell;
use core::fmt;
use core::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use indim_arrays::Array;
use indim_executors::{Bases, BoundNest, KernelFallback, NestCode};
use indim_loops::MemoryUse;
use indim_loops::loop_nest::{Access, BufferId, Local, LoopNest, StandaloneInstruction};
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::strides::AxisStrides;
use indim_ops::{DType, Level};
use indim_products::{AxisClass, PackedLayout, Product, ProductAxis, ProductPlan, ProductPointers};

use crate::run::packed_constants::{LoopPanels, PackedConstant};

/// A contraction for arrays of any sizes.
#[derive(Debug, Clone)]
pub(crate) struct Contraction {
    level: Level,
    /// Element types: of the factors in memory, of the products, of the stores.
    factors: [DType; 2],
    products: DType,
    out: DType,
    /// Number of stores, which are the first operands of the nest.
    stores: usize,
    /// Operands of the nest: the two factors, which may be the same operand.
    operands: [usize; 2],
    /// The class of each axis of the nest.
    classes: Vec<AxisClass>,
    /// Threads that may run it together.
    threads: usize,
    /// The constant that each factor is, if any.
    constants: [Option<Array>; 2],
    /// The constant factors in the layouts of all plans so far. The code for tiles of a group shares them.
    packed: Arc<Mutex<PackedFactors>>,
}

/// Constant factors in their layouts, each with the number of the factor.
type PackedFactors = Vec<(usize, Arc<PackedConstant>)>;

/// Maximum layouts of constant factors that a contraction packs. Plans for other sizes of the other factor
/// nearly always have the same layout.
const MAX_PACKED_LAYOUTS: usize = 4;

/// Maximum bytes of panels of an operand, for each byte of its array. Widening at most doubles an element.
/// Windows and broadcasts repeat elements; their panels are made in each run.
const MAX_PACKED_GROWTH: usize = 4;

/// Bytes that panels may have however small their operand is: zeros complete their vectors.
const MIN_PACKED_BYTES: usize = 4096;

/// Maximum bytes of panels of an operand that a single step would read in place. Larger ones leave L2, and
/// then memory bounds the product.
const MAX_BYTES_IN_PLACE: usize = 512 * 1024;

/// Cost of a multiply-add, in bytes moved: an upper bound, because costs are whole numbers.
const BYTES_PER_PRODUCT: usize = 1;

/// Minimum multiply-adds of a product with a plan for several threads: about 2 microseconds on one thread.
const MIN_PARALLEL_MULTIPLY_ADDS: usize = 1 << 16;

/// Threads of a plan for several threads: those of the machine.
pub(crate) fn machine_threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    let count = || std::thread::available_parallelism().map_or(1, usize::from);
    if cfg!(feature = "rayon") { *THREADS.get_or_init(count) } else { 1 }
}

impl Contraction {
    /// Returns `None` for a nest that is not a contraction. `constant` gives the constant in a buffer.
    pub(crate) fn compile(
        nest: &LoopNest,
        level: Level,
        constant: impl Fn(BufferId) -> Option<Array>,
    ) -> Option<Arc<Contraction>> {
        let (StandaloneInstruction::Contract { summed }, instruction) =
            nest.standalone_instruction()?
        else {
            return None;
        };
        let [Local::Access(x), Local::Access(y)] = instruction.operands[..] else { return None };
        let kept = nest.shape.rank() - summed;
        let moves = |access: usize, axis: usize| {
            nest.accesses[access].axes.iter().any(|index| index.moves_with(axis))
        };
        let class = |axis: usize| match (moves(x, axis), moves(y, axis)) {
            _ if axis >= kept => AxisClass::Summed,
            (true, false) => AxisClass::Row,
            (false, true) => AxisClass::Column,
            (true, true) | (false, false) => AxisClass::Batch,
        };
        let stores = nest.stores.len();
        Some(Arc::new(Contraction {
            level,
            factors: [x, y].map(|access| nest.accesses[access].array_type.dtype),
            products: instruction.operand_dtype,
            out: nest.stores[0].target.array_type.dtype,
            stores,
            operands: [x, y].map(|access| stores + access),
            classes: (0..nest.shape.rank()).map(class).collect(),
            threads: machine_threads(),
            constants: [x, y].map(|access| constant(nest.accesses[access].buffer)),
            packed: Arc::default(),
        }))
    }

    /// Whether a factor is constant.
    pub(crate) fn has_constants(&self) -> bool {
        self.constants.iter().any(Option::is_some)
    }

    fn packed(&self) -> MutexGuard<'_, PackedFactors> {
        self.packed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Packs the constant factors that runs have read, until the panels have `budget` bytes.
    pub(crate) fn pack(&self, budget: &mut usize) {
        // Runs on other sizes, which add layouts, do not wait for packing. Most runs find nothing to pack.
        let read: PackedFactors =
            self.packed().iter().filter(|(_, constant)| constant.is_read()).cloned().collect();
        read.iter().for_each(|(_, constant)| constant.pack(budget));
    }

    /// Frees the panels of constant factors. Returns whether there were any.
    pub(crate) fn release_packed(&self) -> bool {
        let releases = self.packed().clone();
        releases.iter().fold(false, |any, (_, constant)| any | constant.release())
    }

    /// The constant factors of a plan for packing. `None` for a factor that is not constant, that the plan
    /// reads in place, or whose panels would be large.
    fn packed_constants(
        &self,
        nest: &SizedNest<'_>,
        plan: &ProductPlan,
    ) -> [Option<Arc<PackedConstant>>; 2] {
        [0, 1].map(|factor| {
            let array = self.constants[factor].as_ref()?;
            let layout = plan.packed_layout(factor)?;
            if layout.bytes() > self.max_panel_bytes(nest, factor) {
                return None;
            }
            let access = &nest.nest.accesses[self.operands[factor] - self.stores];
            let offset = access.offset(&nest.dense_array_strides(access), nest.sizes());
            let mut packed = self.packed();
            let is_known = |(of, known): &&(usize, Arc<PackedConstant>)| {
                *of == factor && known.is(&layout, offset)
            };
            if let Some((_, known)) = packed.iter().find(is_known) {
                return Some(Arc::clone(known));
            }
            if packed.len() >= MAX_PACKED_LAYOUTS {
                return None;
            }
            let constant = Arc::new(PackedConstant::new(layout, array.clone(), offset)?);
            packed.push((factor, Arc::clone(&constant)));
            Some(constant)
        })
    }

    /// Maximum bytes of the panels of a factor that many runs read.
    fn max_panel_bytes(&self, nest: &SizedNest<'_>, factor: usize) -> usize {
        let bytes = nest.array_bytes(&nest.nest.accesses[self.operands[factor] - self.stores]);
        bytes.saturating_mul(MAX_PACKED_GROWTH).max(MIN_PACKED_BYTES)
    }

    /// The product for these sizes and strides of the operands of the nest.
    fn product(&self, sizes: &[usize], strides: &[AxisStrides]) -> Product {
        let [x, y] = self.operands;
        let axis = |(axis, &class): (usize, &AxisClass)| {
            let is_moved = sizes[axis] > 1;
            let stride = |operand: usize| if is_moved { strides[operand][axis] } else { 0 };
            ProductAxis { class, size: sizes[axis], x: stride(x), y: stride(y), out: stride(0) }
        };
        Product {
            x: self.factors[0],
            y: self.factors[1],
            compute: self.products,
            out: self.out,
            axes: self.classes.iter().enumerate().map(axis).collect(),
        }
    }

    /// The plan of a product for a number of threads.
    fn plan(&self, product: &Product, threads: usize) -> ProductPlan {
        let plan = ProductPlan::new(product, self.level, threads);
        plan.expect("invariant: the graph has checked element types and sizes")
    }

    /// The maximum scratch memory and shared memory of a run, in bytes.
    fn max_memory(&self, nest: &SizedNest<'_>) -> [usize; 2] {
        let product = self.product(&nest.shape, &nest.list_strides(NestStrides::Dense));
        let memory = |threads| {
            let bytes = ProductPlan::max_memory(&product, self.level, threads);
            bytes.expect("invariant: the graph has checked element types and sizes")
        };
        let [alone, together] = [memory(1), memory(self.threads)];
        [alone[0].max(together[0]), alone[1].max(together[1])]
    }
}

impl NestCode for Contraction {
    fn bind(
        self: Arc<Self>,
        nest: &SizedNest<'_>,
        strides: NestStrides<'_>,
        _: &[bool],
    ) -> Option<Arc<dyn BoundNest>> {
        let strides = nest.list_strides(strides);
        let product = self.product(&nest.shape, &strides);
        let kept = product.axes.iter().filter(|axis| axis.class != AxisClass::Summed);
        let sizes: Vec<usize> = kept.map(|axis| axis.size).collect();
        if sizes.contains(&0) {
            return None;
        }
        let copies: Vec<Vec<isize>> =
            strides[..self.stores].iter().map(|strides| strides[..sizes.len()].to_vec()).collect();
        let bound = |threads| {
            let plan = self.plan(&product, threads);
            BoundContraction {
                operands: self.operands,
                copies: copies.clone(),
                sizes: sizes.clone(),
                packed: self.packed_constants(nest, &plan),
                loop_panels: [None, None],
                max_panel_bytes: [0, 1].map(|factor| self.max_panel_bytes(nest, factor)),
                plan: Arc::new(plan),
                out_size: self.out.size(),
                divided: None,
            }
        };
        let mut alone = bound(1);
        if self.threads > 1 && alone.plan.multiply_adds() >= MIN_PARALLEL_MULTIPLY_ADDS {
            alone.divided = Some(Box::new(bound(self.threads)));
        }
        Some(Arc::new(alone))
    }

    fn cost(&self) -> usize {
        BYTES_PER_PRODUCT
    }

    fn for_tile(&self, nest: &LoopNest, tile: &LoopNest) -> Option<Arc<dyn NestCode>> {
        // Each tile reads other elements of a constant that moves along a cut axis.
        let is_cut = |&axis: &usize| nest.shape[axis] != tile.shape[axis];
        let is_whole = |operand: usize| {
            let moves = |axis| {
                let access = &nest.accesses[operand - self.stores];
                access.axes.iter().any(|index| index.moves_with(axis))
            };
            !(0..nest.shape.rank()).filter(is_cut).any(moves)
        };
        let mut code = Contraction { threads: 1, ..self.clone() };
        for (constant, operand) in code.constants.iter_mut().zip(self.operands) {
            constant.take_if(|_| !is_whole(operand));
        }
        Some(Arc::new(code))
    }

    fn thread_bytes(&self, nest: &SizedNest<'_>) -> usize {
        self.max_memory(nest)[0]
    }

    fn shared_bytes(&self, nest: &SizedNest<'_>) -> usize {
        self.max_memory(nest)[1]
    }

    fn list(
        &self,
        nest: &LoopNest,
        formatter: &mut fmt::Formatter<'_>,
        describe: &dyn Fn(&Access) -> String,
    ) -> fmt::Result {
        let [x, y] = self.operands.map(|operand| describe(&nest.accesses[operand - self.stores]));
        let summed = self.classes.iter().filter(|class| **class == AxisClass::Summed).count();
        let along: Vec<String> = (self.classes.len() - summed..self.classes.len())
            .map(|axis| format!("i{axis}"))
            .collect();
        for store in &nest.stores {
            let target = describe(&store.target);
            let along = along.join(", ");
            writeln!(
                formatter,
                "sum of {} products of {x} and {y} along {along} -> {target}",
                self.products
            )?;
        }
        Ok(())
    }

    fn fallback(&self) -> KernelFallback {
        KernelFallback::Contraction
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<Contraction>(1);
        memory_use.add_allocation::<AxisClass>(self.classes.capacity());
    }

    /// Packed constants are made after compile time, like machine code.
    fn generated_bytes(&self) -> usize {
        self.packed().iter().map(|(_, constant)| constant.heap_bytes()).sum()
    }
}

/// A contraction bound to sizes and strides.
#[derive(Debug, Clone)]
struct BoundContraction {
    operands: [usize; 2],
    /// Strides in bytes of each store along the axes of the result. The product writes the first store, which
    /// is then copied to the others.
    copies: Vec<Vec<isize>>,
    /// Sizes of the result.
    sizes: Vec<usize>,
    /// The constant operands that runs need not pack.
    packed: [Option<Arc<PackedConstant>>; 2],
    /// The operands that are packed for the steps of a loop.
    loop_panels: [Option<LoopPanels>; 2],
    /// Maximum bytes of these panels.
    max_panel_bytes: [usize; 2],
    plan: Arc<ProductPlan>,
    out_size: usize,
    /// The same contraction, divided for several threads.
    divided: Option<Box<BoundContraction>>,
}

/// A cache line, which has the alignment that plans demand.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct CacheLine([u8; 64]);

thread_local! {
    /// Scratch memory of the plans that a thread runs.
    static SCRATCH: RefCell<Vec<CacheLine>> = const { RefCell::new(Vec::new()) };
}

impl BoundContraction {
    /// Runs some tasks of a phase.
    ///
    /// # Safety
    /// Those of [`BoundNest::run`] for the tiles of these tasks; all tasks of earlier phases have run.
    unsafe fn run_tasks(&self, phase: usize, bases: &Bases<'_>, tasks: Range<usize>) {
        let [x, y] = self.operands.map(|operand| bases.operands[operand].cast_const());
        // The panels stay allocated during the tasks, even if another thread frees them meanwhile.
        let panels = [(&self.packed[0], x), (&self.packed[1], y)].map(|(constant, first)| {
            // SAFETY: the layout is that of the plan, whose operands the caller ensures to be valid.
            constant.as_ref().and_then(|it| unsafe { it.panels(first) })
        });
        let in_loop = |factor: usize, first| self.loop_panels[factor].as_ref()?.of(first);
        let packed = [(0, x), (1, y)].map(|(factor, first)| {
            let panels = panels[factor].as_deref().or_else(|| in_loop(factor, first));
            panels.map_or(core::ptr::null(), |panels| panels.bytes().as_ptr())
        });
        let pointers =
            ProductPointers { x, y, out: bases.operands[0], packed, shared: bases.shared };
        SCRATCH.with_borrow_mut(|scratch| {
            let lines = self.plan.scratch_bytes().div_ceil(size_of::<CacheLine>());
            if scratch.len() < lines {
                scratch.resize(lines, CacheLine([0; 64]));
            }
            for task in tasks {
                // SAFETY:
                // - the strides of the plan are those of the binding, so the caller ensures that operands and
                //   results are valid, and that results overlap nothing;
                // - the panels have the layout of the plan, and are those of a constant at the
                //   operand's address, or of an operand at this address that nothing has written since;
                // - the shared memory has the bytes of `NestCode::shared_bytes`, the maximum over all plans,
                //   and the alignment of the scratch layout, which is 64;
                // - the scratch memory has the bytes of the plan; only this thread borrows it;
                // - the caller ensures the order of phases, and that no other thread runs these tasks.
                unsafe { self.plan.run(phase, task, &pointers, scratch.as_mut_ptr().cast()) }
            }
        });
    }

    /// Copies the first store to store `number`.
    ///
    /// # Safety
    /// Both stores are valid for access to each of their elements, and all elements of the first are
    /// written.
    unsafe fn copy(&self, bases: &Bases<'_>, number: usize) {
        let (from, to) = (bases.operands[0].cast_const(), bases.operands[number]);
        for index in 0..self.sizes.iter().product() {
            let offset = |strides: &[isize]| {
                let mut rest: usize = index;
                let along = self.sizes.iter().zip(strides).rev().map(|(&size, &stride)| {
                    let position = rest % size;
                    rest /= size;
                    position as isize * stride
                });
                along.sum()
            };
            let from = from.wrapping_offset(offset(&self.copies[0]));
            let to = to.wrapping_offset(offset(&self.copies[number]));
            // SAFETY: both are at the same point of their stores, which the caller ensures are valid and
            // apart.
            unsafe { core::ptr::copy_nonoverlapping(from, to, self.out_size) }
        }
    }
}

impl BoundContraction {
    /// Packs a factor for the steps of a loop. Does nothing if constant panels exist for all runs.
    ///
    /// # Safety
    /// `first` is the factor's address, and valid for reads as in [`BoundNest::run`].
    unsafe fn pack_for_loop(&mut self, factor: usize, first: *const u8, spare_bytes: &mut usize) {
        let is_packed = self.packed[factor].as_ref().is_some_and(|it| it.packed_bytes().is_some());
        let Some(layout) = self.plan.packed_layout(factor).filter(|_| !is_packed) else { return };
        if layout.bytes() <= self.max_panel_bytes[factor] {
            // SAFETY: the caller ensures the operand; the layout is that of the plan.
            self.loop_panels[factor] = unsafe { LoopPanels::new(&layout, first, spare_bytes) };
        }
    }
}

impl BoundNest for BoundContraction {
    unsafe fn with_packed_operands(
        &self,
        operands: &[*mut u8],
        is_constant: &[bool],
        are_many: bool,
        spare_bytes: &mut usize,
    ) -> Option<Arc<dyn BoundNest>> {
        let mut packed = self.clone();
        if are_many {
            let (plan, factor) = self.plan.packing()?;
            let is_small = |of: PackedLayout| of.bytes() <= MAX_BYTES_IN_PLACE;
            if !is_constant[self.operands[factor]]
                || !plan.packed_layout(factor).is_some_and(is_small)
            {
                return None;
            }
            (packed.plan, packed.divided) = (Arc::new(plan), None);
            let first = operands[self.operands[factor]].cast_const();
            // SAFETY: the caller ensures the operand at this address.
            unsafe { packed.pack_for_loop(factor, first, spare_bytes) }
            let is_packed = packed.loop_panels[factor].is_some();
            return is_packed.then(|| Arc::new(packed) as Arc<dyn BoundNest>);
        }
        for (factor, operand) in self.operands.into_iter().enumerate() {
            if !is_constant[operand] {
                continue;
            }
            let first = operands[operand].cast_const();
            // SAFETY: the caller ensures the operand at this address.
            unsafe { packed.pack_for_loop(factor, first, spare_bytes) }
            if let Some(divided) = &mut packed.divided {
                let layout = |of: &BoundContraction| of.plan.packed_layout(factor);
                match layout(divided) == layout(self) {
                    true => divided.loop_panels[factor].clone_from(&packed.loop_panels[factor]),
                    // SAFETY: as above.
                    false => unsafe { divided.pack_for_loop(factor, first, spare_bytes) },
                }
            }
        }
        let has_panels = |of: &BoundContraction| of.loop_panels.iter().any(Option::is_some);
        let is_packed = has_panels(&packed) || packed.divided.as_deref().is_some_and(has_panels);
        is_packed.then(|| Arc::new(packed) as Arc<dyn BoundNest>)
    }

    fn split_for_threads(&self) -> Option<&dyn BoundNest> {
        self.divided.as_deref().map(|divided| divided as &dyn BoundNest)
    }

    fn tiles(&self) -> usize {
        self.plan.tasks(0)
    }

    fn tile_elements(&self) -> usize {
        self.plan.task_multiply_adds()
    }

    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>) {
        // SAFETY: the caller has the obligations; no phase is before the first.
        unsafe { self.run_tasks(0, bases, tiles) }
    }

    unsafe fn finish(&self, bases: &Bases<'_>) {
        for phase in 1..self.plan.phases() {
            // SAFETY: the caller has the obligations for all tiles; phases run one after another.
            unsafe { self.run_tasks(phase, bases, 0..self.plan.tasks(phase)) }
        }
        for number in 1..self.copies.len() {
            // SAFETY: all tasks of all phases have run, so the first store is complete.
            unsafe { self.copy(bases, number) }
        }
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<BoundContraction>(1);
        memory_use.add_allocation::<usize>(self.sizes.capacity());
        memory_use.add_allocation::<Vec<isize>>(self.copies.capacity());
        self.copies
            .iter()
            .for_each(|strides| memory_use.add_allocation::<isize>(strides.capacity()));
        memory_use.add_allocation::<ProductPlan>(1);
        memory_use.add_allocation::<u8>(self.plan.heap_bytes());
        self.divided.iter().for_each(|divided| divided.count_bytes(memory_use));
    }
}
