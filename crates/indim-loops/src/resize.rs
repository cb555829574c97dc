//! The same nests over arrays of other sizes.
//!
//! What lowering does depends on which sizes are equal, and which are 0 or 1, but on nothing else: nests that
//! were made for sizes of which no two are equal unless they always are hold for others in their places.
//! Where a nest begins, and how far it goes at a step, are numbers of slices, which are not of such axes.

use std::sync::Arc;

use indim_ops::ArrayType;
use indim_shape::Shape;

use crate::loop_nest::{Access, IndexCheck, LoopNest, LoopNests, Store};

/// What is there in place of each size.
type Sizes<'a> = &'a dyn Fn(usize) -> usize;

impl LoopNests {
    /// The nests with `size` of each size of an axis in its place. It gives sizes of at least 2 for such, and
    /// 0 and 1 for themselves.
    #[must_use]
    pub fn resized(&self, size: Sizes<'_>) -> LoopNests {
        let types = |types: &[ArrayType]| types.iter().map(|of| array_type(of, size)).collect();
        let check = |check: &IndexCheck| IndexCheck {
            access: access(&check.access, size),
            shape: shape(&check.shape, size),
            size: size(check.size),
            ..check.clone()
        };
        LoopNests {
            parameters: types(&self.parameters),
            outputs: types(&self.outputs),
            constants: self.constants.clone(),
            counters: self.counters.iter().map(|&(dtype, length)| (dtype, size(length))).collect(),
            temporaries: types(&self.temporaries),
            nests: self.nests.iter().map(|nest| Arc::new(resized(nest, size))).collect(),
            checks: self.checks.iter().map(check).collect(),
        }
    }
}

fn resized(nest: &LoopNest, size: Sizes<'_>) -> LoopNest {
    let store = |store: &Store| Store { target: access(&store.target, size), ..store.clone() };
    LoopNest {
        shape: shape(&nest.shape, size),
        reduced: nest.reduced,
        accesses: nest.accesses.iter().map(|of| access(of, size)).collect(),
        instructions: Arc::clone(&nest.instructions),
        stores: nest.stores.iter().map(store).collect(),
    }
}

fn access(access: &Access, size: Sizes<'_>) -> Access {
    let array_type = array_type(&access.array_type, size);
    Access { buffer: access.buffer, array_type, axes: Arc::clone(&access.axes) }
}

fn array_type(array_type: &ArrayType, size: Sizes<'_>) -> ArrayType {
    ArrayType { dtype: array_type.dtype, shape: shape(&array_type.shape, size) }
}

fn shape(shape: &Shape, size: Sizes<'_>) -> Shape {
    match shape.iter().all(|&of| size(of) == of) {
        true => shape.clone(),
        false => shape.iter().map(|&of| size(of)).collect(),
    }
}
