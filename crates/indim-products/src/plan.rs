//! Plans: a product for a level and a number of threads, as independent tasks.

use core::fmt;

use indim_ops::{DType, Level};

use crate::axes::{Axes, FactorGroups, ProductArray};
use crate::blocking::{Blocking, ProductMethod};
use crate::kernels::Kernels;
use crate::product::{AxisClass, Product, ProductError};

/// The computation of a product, for any operands that have its element types and strides.
///
/// A run consists of phases, one after the other. The tasks of a phase are independent: any threads run them,
/// in any order. The bits of the result do not depend on the plan.
///
/// ```
/// use indim_ops::{DType, Level};
/// use indim_products::{AxisClass, Product, ProductAxis, ProductPlan, ProductPointers};
///
/// let axis = |class, size, x, y, out| ProductAxis { class, size, x, y, out };
/// let product = Product {
///     x: DType::F64,
///     y: DType::F64,
///     compute: DType::F64,
///     out: DType::F64,
///     axes: vec![axis(AxisClass::Row, 2, 16, 0, 8), axis(AxisClass::Summed, 2, 8, 8, 0)],
/// };
/// let plan = ProductPlan::new(&product, Level::detect(), 1)?;
/// let (x, y, mut out) = ([1.0, 2.0, 3.0, 4.0], [10.0, 1.0], [0.0; 2]);
/// let mut scratch = vec![0_u8; plan.scratch_bytes() + 64];
/// let mut shared = vec![0_u8; plan.shared_bytes() + 64];
/// let aligned = |bytes: &mut [u8]| {
///     let padding = bytes.as_ptr().align_offset(64);
///     bytes.as_mut_ptr().wrapping_add(padding)
/// };
/// let (scratch, shared) = (aligned(&mut scratch), aligned(&mut shared));
/// let pointers = ProductPointers {
///     x: x.as_ptr().cast(),
///     y: y.as_ptr().cast(),
///     out: out.as_mut_ptr().cast(),
///     packed: [core::ptr::null(); 2],
///     shared,
/// };
/// for phase in 0..plan.phases() {
///     for task in 0..plan.tasks(phase) {
///         // SAFETY: the arrays have the strides and sizes of the product; both buffers have the bytes of
///         // the plan and its alignment; tasks run one after the other, phase by phase.
///         unsafe { plan.run(phase, task, &pointers, scratch) }
///     }
/// }
/// assert_eq!(out, [12.0, 34.0]);
/// # Ok::<(), indim_products::ProductError>(())
/// ```
pub struct ProductPlan {
    pub(crate) batch: Axes,
    pub(crate) rows: Axes,
    pub(crate) columns: Axes,
    /// The summed axes: of elements, or of groups of them.
    pub(crate) summed: Axes,
    /// How neighbouring summed indices form a group, if kernels work on groups.
    pub(crate) groups: FactorGroups,
    pub(crate) kernels: Kernels,
    pub(crate) blocking: Blocking,
    /// Whether `x` and `y` are exchanged: then `rows` are those of the second operand of the product.
    pub(crate) is_exchanged: bool,
    /// The bytes of an element of the result.
    pub(crate) out_size: usize,
    multiply_adds: usize,
    pub(crate) level: Level,
}

/// The addresses of a run: operands and result at the first index of each axis, and the memory that all
/// threads of the run share.
#[derive(Debug, Clone, Copy)]
pub struct ProductPointers {
    /// The first operand.
    pub x: *const u8,
    /// The second operand.
    pub y: *const u8,
    /// The result.
    pub out: *mut u8,
    /// The panels of each operand that is packed as a whole ([`ProductPlan::packed_layout`]), otherwise null.
    pub packed: [*const u8; 2],
    /// Memory of [`ProductPlan::shared_bytes`] bytes, aligned to 64.
    pub shared: *mut u8,
}

// SAFETY:
// - the pointers are dereferenced only under the contract of `ProductPlan::run`, which requires valid memory;
// - that contract excludes data races: tasks of a phase write disjoint memory.
unsafe impl Send for ProductPointers {}

// SAFETY: as for `Send`.
unsafe impl Sync for ProductPointers {}

impl ProductPlan {
    /// The plan of a product for a level and a number of threads.
    ///
    /// # Errors
    /// - [`ProductError::ElementTypes`] if no kernel computes the element types;
    /// - [`ProductError::Stride`] if an axis has a stride that its class excludes;
    /// - [`ProductError::TooLarge`] if the elements of the result, or along the summed axes, exceed
    ///   `isize::MAX`.
    pub fn new(product: &Product, level: Level, threads: usize) -> Result<Self, ProductError> {
        product.check()?;
        let mut axes = axes_by_class(product)?;
        let is_exchanged = should_exchange(product.out, [&axes[1], &axes[2]]);
        let exchanged = is_exchanged.then(|| product.exchanged());
        if let Some(exchanged) = &exchanged {
            axes = axes_by_class(exchanged)?;
        }
        let product = exchanged.as_ref().unwrap_or(product);
        let mut kernels = Kernels::of(product, level).ok_or_else(|| product.unsupported())?;
        let [batch, rows, columns, mut summed] = axes;
        let method = ProductMethod::of([&batch, &rows, &columns, &summed], &kernels);
        let sizes = [rows.size, columns.size, summed.size];
        let multiply_adds = sizes.into_iter().fold(batch.size, usize::saturating_mul);
        let mut groups = FactorGroups::default();
        let in_groups = !method.is_short_dots();
        for (group_kernels, count) in Kernels::for_groups(product, level).filter(|_| in_groups) {
            if let Some((axes, factor_groups)) = summed.group_elements(count)
                && group_kernels.supports([&rows, &columns, &axes], factor_groups)
            {
                (kernels, summed, groups) = (group_kernels, axes, factor_groups);
                // Packing completes an incomplete last group with zeros, so `x` is not read in place.
                kernels.is_x_native &= groups.tail == 0;
                break;
            }
        }
        let out_size = product.out.size();
        let all = [&batch, &rows, &columns, &summed];
        let blocking = Blocking::new(all, &kernels, threads.max(1));
        let plan = ProductPlan {
            batch,
            rows,
            columns,
            summed,
            groups,
            kernels,
            blocking,
            is_exchanged,
            out_size,
            multiply_adds,
            level,
        };
        Ok(plan)
    }

    /// The plan for one thread that packs the operand of the vectorised axis, if this plan computes dot
    /// products, which do not pack it: for many runs with the same operand, packed as a whole
    /// ([`ProductPlan::packed_layout`]). Also returns the number of this operand in the product.
    /// [`ProductPlan::max_memory`] covers the plan.
    pub fn packing(&self) -> Option<(ProductPlan, usize)> {
        let ProductPlan { batch, rows, columns, summed, .. } = self;
        if !matches!(self.blocking.method, ProductMethod::Dots | ProductMethod::ColumnDots) {
            return None;
        }
        let (all, method) = ([batch, rows, columns, summed], ProductMethod::Tiles);
        let plan = ProductPlan {
            blocking: Blocking::for_method(method, all, &self.kernels, 1),
            batch: batch.clone(),
            rows: rows.clone(),
            columns: columns.clone(),
            summed: summed.clone(),
            ..*self
        };
        Some((plan, usize::from(!self.is_exchanged)))
    }

    /// The maximum scratch memory and shared memory, in bytes, of a plan for the same sizes and any strides.
    ///
    /// # Errors
    /// Like [`ProductPlan::new`].
    pub fn max_memory(
        product: &Product,
        level: Level,
        threads: usize,
    ) -> Result<[usize; 2], ProductError> {
        let mut max = [0; 2];
        for product in [product, &product.exchanged()] {
            let kernels = Kernels::of(product, level).ok_or_else(|| product.unsupported())?;
            let [batch, rows, columns, summed] = axes_by_class(product)?;
            let alone = Some((kernels, summed.clone()));
            let groups = Kernels::for_groups(product, level)
                .map(|(kernels, count)| (kernels, summed.with_size(summed.size.div_ceil(count))));
            for (kernels, summed) in alone.into_iter().chain(groups) {
                let all = [&batch, &rows, &columns, &summed];
                let memory = Blocking::max_memory(all, &kernels, threads.max(1));
                max = [max[0].max(memory[0]), max[1].max(memory[1])];
            }
        }
        Ok(max)
    }

    /// The number of phases: 2 if the summed index is split over tasks, 0 for a result without elements.
    pub fn phases(&self) -> usize {
        match (self.blocking.tasks(), self.blocking.is_split) {
            (0, _) => 0,
            (_, false) => 1,
            (_, true) => 2,
        }
    }

    /// The number of independent tasks of a phase.
    pub fn tasks(&self, phase: usize) -> usize {
        match phase {
            0 => self.blocking.tasks(),
            1 if self.blocking.is_split => self.blocking.macro_tile_count(),
            _ => 0,
        }
    }

    /// Bytes of memory that each thread needs while it runs a task, aligned to 64.
    pub fn scratch_bytes(&self) -> usize {
        self.blocking.scratch.bytes
    }

    /// Bytes of memory that all threads of a run share, aligned to 64.
    pub fn shared_bytes(&self) -> usize {
        self.blocking.shared_bytes
    }

    /// The number of multiply-adds of a run; saturates.
    pub fn multiply_adds(&self) -> usize {
        self.multiply_adds
    }

    /// The approximate number of multiply-adds of one task of the first phase.
    pub fn task_multiply_adds(&self) -> usize {
        self.multiply_adds() / self.blocking.tasks().max(1)
    }

    /// Bytes that the plan holds on the heap.
    pub fn heap_bytes(&self) -> usize {
        let axes = [&self.batch, &self.rows, &self.columns, &self.summed];
        axes.iter().map(|axes| axes.heap_bytes()).sum()
    }
}

impl fmt::Debug for ProductPlan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProductPlan { batch, rows, columns, summed, .. } = self;
        let sizes = [batch.size, rows.size, columns.size, summed.size];
        formatter
            .debug_struct("ProductPlan")
            .field("level", &self.level)
            .field("batch, rows, columns, summed", &sizes)
            .field("is_exchanged", &self.is_exchanged)
            .field("blocking", &self.blocking)
            .finish_non_exhaustive()
    }
}

/// The axes by class: batch, rows, columns, summed.
fn axes_by_class(product: &Product) -> Result<[Axes; 4], ProductError> {
    let of = |class| Axes::of_class(product, class).ok_or(ProductError::TooLarge);
    let [batch, rows, columns] =
        [of(AxisClass::Batch)?, of(AxisClass::Row)?, of(AxisClass::Column)?];
    let sizes = [batch.size, rows.size, columns.size];
    let elements = sizes.into_iter().try_fold(1, usize::checked_mul);
    elements.filter(|&count| isize::try_from(count).is_ok()).ok_or(ProductError::TooLarge)?;
    Ok([batch, rows, columns, of(AxisClass::Summed)?])
}

/// Fewer rows or columns than this are few: vectorised, they leave most lanes of a vector unused.
const MIN_VECTORISED: usize = 8;

/// Whether rows are better vectorised than columns: columns are few and rows are not, or, if both or
/// neither are few, rows are contiguous in the result and columns are not.
fn should_exchange(out: DType, [rows, columns]: [&Axes; 2]) -> bool {
    let size = out.size() as isize;
    let is_contiguous = |axes: &Axes| axes.fastest_stride(ProductArray::Out) == size;
    let has_few = |axes: &Axes| axes.size < MIN_VECTORISED;
    match (has_few(rows), has_few(columns)) {
        (false, true) => true,
        (true, false) => false,
        _ => is_contiguous(rows) && !is_contiguous(columns),
    }
}
