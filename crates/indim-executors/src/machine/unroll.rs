//! Reductions along short axes, unrolled to code without accumulators. Holds unsafe code.

use core::ops::Range;
use std::sync::{Arc, OnceLock};

use indim_graph::Array;
use indim_loops::MemoryUse;
use indim_loops::loop_nest::{Access, LoopNest};
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::strides::AxisStrides;
use indim_loops::unroll::{MAX_UNROLLED, UnrolledNest, UnrolledSource};
use indim_ops::Level;
use indim_targets::can_deinterleave;
use smallvec::SmallVec;

use crate::executor::{Bases, BoundNest};
use crate::machine::{code, listing};
use crate::tiles;
use crate::tiles::MAX_FLAT_OPERANDS;
use crate::tiles::code::{INLINE_ITEMS, RecordMember, TileCode};
use crate::tiles::tier_up::TierUp;

/// The code of a nest with a reduced axis, for each length of the axis that is unrolled; the inner `None`
/// means that machine code does not support it.
pub(super) type UnrolledCodes = [OnceLock<Option<Arc<UnrolledCode>>>; MAX_UNROLLED + 1];

/// The code of a nest that is unrolled along its reduced axis.
#[derive(Debug)]
pub(super) struct UnrolledCode {
    unrolled: UnrolledNest,
    code: Arc<TileCode>,
    /// The same code for arrays whose elements along the reduced axis are contiguous: records, which the
    /// function de-interleaves. `None` if functions of the level cannot do that.
    record_code: Option<Arc<TileCode>>,
}

impl UnrolledCode {
    /// Unrolls and records a nest for a reduced axis of `length` elements; `None` if that is not supported.
    pub(super) fn compile(
        nest: &LoopNest,
        constants: &[Array],
        length: usize,
        level: Level,
        tier_up: Arc<TierUp>,
    ) -> Option<UnrolledCode> {
        let unrolled = UnrolledNest::new(nest, constants, length)?;
        let code = code::compile(&unrolled.nest, &unrolled.constants, level, tier_up)?;
        let record_members = record_members(&unrolled, &code, length, level);
        let record_code = record_members
            .map(|record_members| Arc::new(TileCode { record_members, ..code.clone() }));
        Some(UnrolledCode { unrolled, code: Arc::new(code), record_code })
    }

    /// Binds the code to the sizes of `nest`, the nest that was unrolled, and to its `strides`. `None` if
    /// the code cannot run row by row over these strides, or if a function is not available.
    pub(super) fn bind(
        &self,
        nest: &SizedNest<'_>,
        strides: NestStrides<'_>,
    ) -> Option<Arc<dyn BoundNest>> {
        let axis = nest.nest.reduced?;
        let reduced = nest.list_strides(strides);
        let stores = nest.nest.stores.len();
        let without_axis = |strides: &AxisStrides| -> AxisStrides {
            let kept = strides.iter().enumerate().filter(|&(of, _)| of != axis);
            kept.map(|(_, &stride)| stride).collect()
        };
        let mut strides: Vec<AxisStrides> = reduced[..stores].iter().map(without_axis).collect();
        let mut operands: SmallVec<[Operand; INLINE_ITEMS]> =
            (0..stores).map(|operand| Operand::Offset { operand, offset: 0 }).collect();
        for source in &self.unrolled.sources {
            match *source {
                UnrolledSource::Access { access, position } => {
                    let operand = stores + access;
                    let offset = position as isize * reduced[operand][axis];
                    operands.push(Operand::Offset { operand, offset });
                    strides.push(without_axis(&reduced[operand]));
                }
                UnrolledSource::Identity(index) => {
                    operands.push(Operand::Identity(index));
                    strides.push(AxisStrides::from_elem(0, nest.shape.len() - 1));
                }
            }
        }
        // The recorded nest may have symbols for sizes, so the nest is unrolled again, with its sizes.
        let sized = UnrolledNest::new(&nest.to_nest(), &[], nest.length())?.nest;
        let sized = SizedNest::with_own_sizes(&sized);
        let strides = NestStrides::Explicit(&strides);
        let is_record = |access: usize| {
            let size = nest.nest.accesses[access].array_type.dtype.size();
            reduced[stores + access][axis] == size as isize
        };
        let are_records = |code: &&Arc<TileCode>| {
            let members = code.record_members.iter().flatten();
            members.map(|member| usize::from(member.records)).all(is_record)
        };
        let code = self.record_code.as_ref().filter(are_records).unwrap_or(&self.code);
        // Kernels that reduce elements in memory are faster than a gather and the function, unless they
        // gather too: each element of windows that overlap at a stride.
        let may_gather = !nest.nest.instructions.is_empty();
        let reads_windows = (0..nest.nest.accesses.len())
            .any(|access| has_strided_windows(nest, &reduced[stores + access], axis, access));
        if !reads_windows && !tiles::is_by_rows(code, &sized, strides, may_gather) {
            return None;
        }
        let bound = tiles::bind(code, &sized, strides, &[])?;
        let constants = Arc::clone(&self.unrolled.constants);
        Some(Arc::new(BoundUnrolled { bound, operands, constants, length: nest.length() }))
    }

    /// The listing of the functions that bindings hold.
    pub(super) fn list(&self, describe: &dyn Fn(&Access) -> String) -> String {
        listing::list(&self.code, &self.unrolled.nest, describe)
    }

    /// Counts the memory of the code.
    pub(super) fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<UnrolledCode>(1);
        memory_use.add_allocation::<UnrolledSource>(self.unrolled.sources.capacity());
        memory_use.add_nest(&self.unrolled.nest);
        self.code.count_bytes(memory_use);
        self.record_code.iter().for_each(|code| code.count_bytes(memory_use));
    }
}

/// Whether the windows of an access along the reduced axis overlap, and neighbouring windows are apart by
/// more than one element.
fn has_strided_windows(
    nest: &SizedNest<'_>,
    strides: &AxisStrides,
    axis: usize,
    access: usize,
) -> bool {
    let size = nest.nest.accesses[access].array_type.dtype.size() as isize;
    let kept = (0..nest.shape.len()).filter(|&of| of != axis && nest.shape[of] > 1);
    kept.last().is_some_and(|innermost| {
        let (between, within) = (strides[innermost], strides[axis]);
        within > 0 && between > size.max(within) && between < within * nest.length() as isize
    })
}

/// The position of each access in records of `length` elements; `None` if functions of the level cannot read
/// them.
fn record_members(
    unrolled: &UnrolledNest,
    code: &TileCode,
    length: usize,
    level: Level,
) -> Option<Vec<Option<RecordMember>>> {
    let accesses = &unrolled.nest.accesses;
    if code.nest.stores.len() + accesses.len() > MAX_FLAT_OPERANDS {
        return None;
    }
    let member = |(at, source): (usize, &UnrolledSource)| match *source {
        UnrolledSource::Access { access, position } => {
            let access_of = |source: &UnrolledSource| match *source {
                UnrolledSource::Access { access, .. } => Some(access),
                UnrolledSource::Identity(_) => None,
            };
            let copies = unrolled.sources.iter().filter(|it| access_of(it) == Some(access));
            let is_moved = copies.count() == length;
            let is_read = can_deinterleave(level, accesses[at].array_type.dtype, length);
            let member = RecordMember {
                records: u8::try_from(access).ok()?,
                member: position as u8,
                factor: length as u8,
            };
            (is_moved && is_read).then_some(member)
        }
        UnrolledSource::Identity(_) => None,
    };
    let members: Vec<_> = unrolled.sources.iter().enumerate().map(member).collect();
    members.iter().any(Option::is_some).then_some(members)
}

/// An operand of an unrolled nest.
#[derive(Debug, Clone, Copy)]
enum Operand {
    /// An operand of the reduced nest, with an offset in bytes.
    Offset { operand: usize, offset: isize },
    /// A constant of the unrolled nest.
    Identity(usize),
}

/// Unrolled code, bound to strides.
#[derive(Debug)]
struct BoundUnrolled {
    bound: Arc<dyn BoundNest>,
    operands: SmallVec<[Operand; INLINE_ITEMS]>,
    constants: Arc<[Array]>,
    /// Elements of the reduced axis.
    length: usize,
}

impl BoundNest for BoundUnrolled {
    fn tiles(&self) -> usize {
        self.bound.tiles()
    }

    fn tile_elements(&self) -> usize {
        self.bound.tile_elements() * self.length
    }

    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>) {
        let address = |operand: &Operand| match *operand {
            Operand::Offset { operand, offset } => bases.operands[operand].wrapping_offset(offset),
            Operand::Identity(index) => self.constants[index].bytes().as_ptr().cast_mut(),
        };
        let operands: SmallVec<[*mut u8; 16]> = self.operands.iter().map(address).collect();
        let bases = Bases { operands: &operands, shared: bases.shared };
        // SAFETY:
        // - the points of the unrolled nest are those of the reduced nest at each position along its axis,
        //   so the caller ensures that accesses and stores are valid there; a constant is one element;
        // - tiles write the same elements as the tiles of the caller, and constants are only read.
        unsafe { self.bound.run(&bases, tiles) }
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<BoundUnrolled>(1);
        memory_use.add_small_vec(&self.operands);
        self.bound.count_bytes(memory_use);
    }
}
