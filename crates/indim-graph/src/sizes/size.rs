//! Sizes of axes that are numbers or symbols, and shapes of such sizes.

use core::fmt;
use core::ops::Deref;
use std::sync::Arc;

use indim_shape::Shape;

/// The size of an axis.
///
/// ```
/// use indim_graph::Size;
///
/// let sizes = [Size::Known(3), Size::Symbol(0)];
/// assert_eq!(sizes.map(|size| size.resolve(&[3])), [3, 3]);
/// assert_ne!(sizes[0], sizes[1]); // equal for these sizes of the symbols, but not for all
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Size {
    /// A fixed size.
    Known(usize),
    /// The symbol with this index; its size is at least 2.
    Symbol(usize),
}

impl Size {
    /// The concrete size, given the size of each symbol.
    ///
    /// # Panics
    /// If the symbol has no size.
    #[inline]
    pub fn resolve(self, symbols: &[usize]) -> usize {
        match self {
            Size::Known(size) => size,
            Size::Symbol(symbol) => symbols[symbol],
        }
    }

    /// The number; `None` for a symbol.
    pub fn known(self) -> Option<usize> {
        match self {
            Size::Known(size) => Some(size),
            Size::Symbol(_) => None,
        }
    }

    /// The symbol; `None` for a number.
    pub fn symbol(self) -> Option<usize> {
        match self {
            Size::Known(_) => None,
            Size::Symbol(symbol) => Some(symbol),
        }
    }
}

/// A number, or `s` and the index of a symbol: `3`, `s0`.
impl fmt::Display for Size {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Size::Known(size) => write!(formatter, "{size}"),
            Size::Symbol(symbol) => write!(formatter, "s{symbol}"),
        }
    }
}

/// The size of each axis of an array, each a number or a symbol. Clones share the sizes.
///
/// Two shapes are equal if they are equal for all sizes of the symbols.
///
/// ```
/// use indim_graph::{Size, SymbolicShape};
/// use indim_shape::Shape;
///
/// let shape = SymbolicShape::from_iter([Size::Symbol(0), Size::Known(3)]);
/// assert_eq!((shape.rank(), shape.to_string().as_str()), (2, "[s0, 3]"));
/// assert_eq!(shape.resolve(&[8]), Shape::from([8, 3]));
/// assert!(shape.has_symbols());
/// assert_eq!(SymbolicShape::from(&[8, 3][..]).concrete(), Shape::from([8, 3]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct SymbolicShape(Arc<[Size]>);

impl SymbolicShape {
    /// The shape of a scalar, `[]`.
    pub fn scalar() -> Self {
        Self::default()
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The size of each axis.
    pub fn sizes(&self) -> &[Size] {
        &self.0
    }

    /// Whether some size is a symbol.
    pub fn has_symbols(&self) -> bool {
        self.0.iter().any(|size| size.symbol().is_some())
    }

    /// The concrete shape, given the size of each symbol.
    ///
    /// # Panics
    /// If a symbol has no size.
    pub fn resolve(&self, symbols: &[usize]) -> Shape {
        self.0.iter().map(|size| size.resolve(symbols)).collect()
    }

    /// The concrete shape of sizes that are all numbers.
    ///
    /// # Panics
    /// If a size is a symbol.
    pub fn concrete(&self) -> Shape {
        self.resolve(&[])
    }
}

impl Deref for SymbolicShape {
    type Target = [Size];
    fn deref(&self) -> &[Size] {
        &self.0
    }
}

impl From<&[usize]> for SymbolicShape {
    fn from(sizes: &[usize]) -> Self {
        sizes.iter().map(|&size| Size::Known(size)).collect()
    }
}

impl FromIterator<Size> for SymbolicShape {
    fn from_iter<I: IntoIterator<Item = Size>>(sizes: I) -> Self {
        SymbolicShape(sizes.into_iter().collect())
    }
}

/// The sizes in brackets: `[s0, 3]`.
impl fmt::Display for SymbolicShape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        write!(formatter, "[{}]", sizes.join(", "))
    }
}
