//! Dense arrays: constants of a graph, and results of the reference evaluator.

use core::hash::{Hash, Hasher};
use std::hash::DefaultHasher;
use std::sync::{Arc, OnceLock};

use indim_ops::{
    ArrayData, ArrayType, DType, Element, Fold, FoldVisitor, ReduceOp, ScalarBackend, bf16, c64,
    c128, f16,
};
use indim_shape::Shape;

/// A dense, row-major array in memory: a constant of a graph, or a result of the reference evaluator.
///
/// ```
/// use indim_graph::Array;
/// let array = Array::new([2, 2], vec![1.0f32, 2.0, 3.0, 4.0]).unwrap();
/// assert_eq!(array.array_type().to_string(), "f32[2, 2]");
/// assert_eq!(array.elements::<f32>().unwrap()[3], 4.0);
/// assert_eq!(Array::from_data([4], array.data().clone()).unwrap().array_type().to_string(), "f32[4]");
/// ```
///
/// Two arrays are equal if their types and the bits of their elements are equal.
#[derive(Debug, Clone)]
pub struct Array {
    shape: Shape,
    elements: Arc<SharedElements>,
}

/// Immutable elements with a cached hash: every pass hashes the constants of a graph, which may be large.
#[derive(Debug)]
struct SharedElements {
    data: ArrayData,
    hash: OnceLock<u64>,
}

impl SharedElements {
    fn new(data: ArrayData) -> Arc<Self> {
        Arc::new(SharedElements { data, hash: OnceLock::new() })
    }

    fn hash(&self) -> u64 {
        *self.hash.get_or_init(|| {
            let mut state = DefaultHasher::new();
            self.data.hash_bits(&mut state);
            state.finish()
        })
    }
}

impl PartialEq for Array {
    fn eq(&self, other: &Self) -> bool {
        let is_same_type = self.dtype() == other.dtype() && self.shape == other.shape;
        is_same_type
            && (Arc::ptr_eq(&self.elements, &other.elements)
                || self.data().has_bits_of(other.data()))
    }
}

impl Eq for Array {}

impl Hash for Array {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.dtype().hash(state);
        self.shape.hash(state);
        self.elements.hash().hash(state);
    }
}

/// The error of an array whose number of elements is not that of its shape.
///
/// ```
/// use indim_graph::Array;
///
/// let error = Array::new([2, 2], vec![1.0f32, 2.0, 3.0]).unwrap_err();
/// assert_eq!(error.to_string(), "3 elements do not fill an array of shape [2, 2]");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongElementCount {
    /// The requested shape.
    pub shape: Shape,
    /// The number of elements.
    pub elements: usize,
}

impl core::fmt::Display for WrongElementCount {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "{} elements do not fill an array of shape {}", self.elements, self.shape)
    }
}

impl core::error::Error for WrongElementCount {}

impl Array {
    /// An array of `shape` over `elements` in row-major order.
    ///
    /// # Errors
    /// If the number of elements is not that of the shape.
    pub fn new<T: Element>(
        shape: impl Into<Shape>,
        elements: Vec<T>,
    ) -> Result<Self, WrongElementCount> {
        Self::from_data(shape, T::into_data(elements))
    }

    /// An array of `shape` over `data` in row-major order.
    ///
    /// # Errors
    /// If the number of elements is not that of the shape.
    pub fn from_data(shape: impl Into<Shape>, data: ArrayData) -> Result<Self, WrongElementCount> {
        let shape = shape.into();
        match shape.element_count() {
            Ok(count) if count == data.len() => {
                Ok(Array { shape, elements: SharedElements::new(data) })
            }
            _ => Err(WrongElementCount { shape, elements: data.len() }),
        }
    }

    /// An array of rank 0.
    pub fn scalar<T: Element>(value: T) -> Self {
        Array { shape: Shape::scalar(), elements: SharedElements::new(T::into_data(vec![value])) }
    }

    /// The identity of `op` for elements of type `dtype`, as a scalar; `None` if `op` has none for them.
    ///
    /// ```
    /// use indim_graph::Array;
    /// use indim_ops::{DType, ReduceOp};
    ///
    /// assert_eq!(Array::identity(ReduceOp::Mul, DType::I32), Some(Array::scalar(1)));
    /// assert_eq!(Array::identity(ReduceOp::ArgMax, DType::I32), None);
    /// ```
    pub fn identity(op: ReduceOp, dtype: DType) -> Option<Self> {
        op.visit(dtype, Identity)
    }

    /// The array reshaped; it shares its elements.
    ///
    /// # Errors
    /// If the number of elements is not that of the shape.
    pub fn reshaped(&self, shape: Shape) -> Result<Self, WrongElementCount> {
        match shape.element_count() {
            Ok(count) if count == self.data().len() => {
                Ok(Array { shape, elements: self.elements.clone() })
            }
            _ => Err(WrongElementCount { shape, elements: self.data().len() }),
        }
    }

    /// The size of each axis.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The type of each element.
    pub fn dtype(&self) -> DType {
        self.data().dtype()
    }

    /// Element type and shape.
    pub fn array_type(&self) -> ArrayType {
        ArrayType { dtype: self.dtype(), shape: self.shape.clone() }
    }

    /// The elements, of any type.
    pub fn data(&self) -> &ArrayData {
        &self.elements.data
    }

    /// The elements in row-major order, if they are of type `T`.
    pub fn elements<T: Element>(&self) -> Option<&[T]> {
        T::elements(self.data())
    }

    /// The element of a scalar as text; `None` for other arrays.
    ///
    /// ```
    /// assert_eq!(indim_graph::Array::scalar(0.5f32).scalar_text().as_deref(), Some("0.5"));
    /// ```
    pub fn scalar_text(&self) -> Option<String> {
        macro_rules! element {
            ($($variant:ident $type:ident $class:ident;)*) => {
                None$(.or_else(|| match self.elements::<$type>() {
                    Some([element]) => Some(element.to_string()),
                    _ => None,
                }))*
            };
        }
        if !self.shape().is_scalar() {
            return None;
        }
        indim_ops::for_each_element!(element)
    }
}

struct Identity;

impl FoldVisitor for Identity {
    type Output = Array;

    fn fold<F: Fold<T>, T: Element>(self) -> Array {
        Array::scalar(F::identity::<ScalarBackend>().canonical())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn hash(array: &Array) -> u64 {
        let mut state = DefaultHasher::new();
        array.hash(&mut state);
        state.finish()
    }

    #[test]
    fn arrays_are_equal_and_hashed_by_bits() {
        let ending_in = |last: f32| {
            let mut elements = vec![0.0f32; 64];
            elements[63] = last;
            Array::new([64], elements).unwrap()
        };
        let arrays = [0.0, -0.0, 1.0, f32::NAN, -f32::NAN].map(ending_in);
        assert_eq!(arrays.iter().map(hash).collect::<HashSet<u64>>().len(), arrays.len());
        for (index, array) in arrays.iter().enumerate() {
            assert_eq!(arrays.iter().position(|other| other == array), Some(index));
        }
        assert_eq!(hash(&arrays[3]), hash(&ending_in(f32::NAN)));
        assert_eq!(arrays[3], ending_in(f32::NAN));
    }

    #[test]
    fn arrays_of_different_types_differ() {
        let flat = Array::new([4], vec![0i32; 4]).unwrap();
        let square = flat.reshaped(Shape::from([2, 2])).unwrap();
        let floats = Array::new([4], vec![0.0f32; 4]).unwrap();
        assert!(flat != square && flat != floats);
        assert!(hash(&flat) != hash(&square) && hash(&flat) != hash(&floats));
    }
}
