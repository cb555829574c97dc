//! The same nests over arrays of other sizes.
//!
//! What lowering does depends on which sizes are equal, and which are 0 or 1, but on nothing else: nests that
//! were made for sizes of which no two are equal unless they always are hold for others in their places.
//! Where a nest begins, and how far it goes at a step, are numbers of slices, which are not of such axes.

use std::sync::Arc;

use indim_ops::ArrayType;
use indim_shape::Shape;
use smallvec::SmallVec;

use crate::loop_nest::{Access, IndexCheck, LoopNest, LoopNests, Store};

/// What is there in place of each size.
type Sizes<'a> = &'a dyn Fn(usize) -> usize;

impl LoopNests {
    /// The nests with `size` of each size of an axis in its place. It gives sizes of at least 2 for such, and
    /// 0 and 1 for themselves.
    #[must_use]
    pub fn resized(&self, size: Sizes<'_>) -> LoopNests {
        let mut resizing = Resizing { size, known: SmallVec::new() };
        LoopNests {
            parameters: resizing.types(&self.parameters),
            outputs: resizing.types(&self.outputs),
            constants: self.constants.clone(),
            counters: self.counters.iter().map(|&(dtype, length)| (dtype, size(length))).collect(),
            temporaries: resizing.types(&self.temporaries),
            nests: self.nests.iter().map(|nest| resizing.nest(nest)).collect(),
            checks: self.checks.iter().map(|check| resizing.check(check)).collect(),
        }
    }
}

/// So many shapes are remembered: the arrays of a program have few, again and again.
const MOST_KNOWN: usize = 8;

struct Resizing<'a> {
    size: Sizes<'a>,
    /// Shapes, and what became of them.
    known: SmallVec<[(&'a Shape, Shape); MOST_KNOWN]>,
}

impl<'a> Resizing<'a> {
    fn shape(&mut self, shape: &'a Shape) -> Shape {
        if let Some((_, resized)) = self.known.iter().find(|(known, _)| is_equal(known, shape)) {
            return resized.clone();
        }
        let resized = match shape.iter().all(|&of| (self.size)(of) == of) {
            true => shape.clone(),
            false => shape.iter().map(|&of| (self.size)(of)).collect(),
        };
        if self.known.len() < MOST_KNOWN {
            self.known.push((shape, resized.clone()));
        }
        resized
    }

    fn array_type(&mut self, array_type: &'a ArrayType) -> ArrayType {
        ArrayType { dtype: array_type.dtype, shape: self.shape(&array_type.shape) }
    }

    fn types(&mut self, types: &'a [ArrayType]) -> Vec<ArrayType> {
        types.iter().map(|of| self.array_type(of)).collect()
    }

    fn access(&mut self, access: &'a Access) -> Access {
        let array_type = self.array_type(&access.array_type);
        Access { buffer: access.buffer, array_type, axes: Arc::clone(&access.axes) }
    }

    /// The nest itself, where nothing changes.
    fn nest(&mut self, nest: &'a Arc<LoopNest>) -> Arc<LoopNest> {
        let is_kept = |shape: &Shape| shape.iter().all(|&of| (self.size)(of) == of);
        if is_kept(&nest.shape) && nest.operands().all(|of| is_kept(&of.array_type.shape)) {
            return Arc::clone(nest);
        }
        Arc::new(LoopNest {
            shape: self.shape(&nest.shape),
            reduced: nest.reduced,
            accesses: nest.accesses.iter().map(|of| self.access(of)).collect(),
            instructions: Arc::clone(&nest.instructions),
            stores: nest.stores.iter().map(|of| self.store(of)).collect(),
        })
    }

    fn store(&mut self, store: &'a Store) -> Store {
        let Store { source, reduction, ref target } = *store;
        Store { source, reduction, target: self.access(target) }
    }

    fn check(&mut self, check: &'a IndexCheck) -> IndexCheck {
        IndexCheck {
            access: self.access(&check.access),
            shape: self.shape(&check.shape),
            size: (self.size)(check.size),
            nest: check.nest,
            name: check.name.clone(),
            axis: check.axis,
        }
    }
}

/// As `==`, which calls a function to compare sizes; there are few of them.
fn is_equal(shape: &Shape, other: &Shape) -> bool {
    shape.rank() == other.rank() && shape.iter().zip(other.iter()).all(|(size, of)| size == of)
}
