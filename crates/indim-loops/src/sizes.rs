//! The concrete sizes of the symbols of nests.

use indim_graph::Size;
use indim_ops::ArrayType;

use crate::loop_nest::SymbolicType;

/// The concrete size of each symbol, at least 2. Concrete nests have no symbols and take the default.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sizes<'a>(pub &'a [usize]);

impl Sizes<'_> {
    /// The concrete size.
    #[inline]
    pub fn resolve(self, size: Size) -> usize {
        size.resolve(self.0)
    }

    /// The concrete type.
    pub fn array_type(self, of: &SymbolicType) -> ArrayType {
        ArrayType { dtype: of.dtype, shape: of.shape.resolve(self.0) }
    }

    /// The bytes of an array; saturates.
    pub fn array_bytes(self, of: &SymbolicType) -> usize {
        let sizes = of.shape.iter().map(|&size| self.resolve(size));
        sizes.fold(of.dtype.size(), usize::saturating_mul)
    }
}
