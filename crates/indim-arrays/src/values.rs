//! Arrays of given values: scalars, repeated and computed elements, identities of reductions.

use indim_ops::{
    ArrayData, ArrayType, DType, Element, Fold, FoldVisitor, ReduceOp, ScalarBackend,
    for_each_element,
};
use indim_shape::Shape;

use crate::array::Array;
use crate::element_layout::ElementLayout;
use crate::strides::advance;
use crate::view::ArrayError;

impl Array {
    /// An array of rank 0.
    ///
    /// ```
    /// use indim_arrays::Array;
    ///
    /// assert_eq!(Array::from_scalar(2.5f32).array_type().to_string(), "f32[]");
    /// ```
    pub fn from_scalar<T: ElementLayout>(value: T) -> Self {
        Self::new(Shape::scalar(), vec![value]).expect("invariant: a scalar is one element")
    }

    /// Like [`Array::from_scalar`], for code that is generic over [`Element`].
    pub fn from_element<T: Element>(value: T) -> Self {
        Self::from_data(Shape::scalar(), T::into_data(vec![value]))
            .expect("invariant: a scalar is one element")
    }

    /// An array of `shape` over `data` in row-major order, without a copy.
    ///
    /// # Errors
    /// Like [`Array::new`].
    pub fn from_data(shape: impl Into<Shape>, data: ArrayData) -> Result<Self, ArrayError> {
        Self::from_data_and_shape(shape.into(), data)
    }

    fn from_data_and_shape(shape: Shape, data: ArrayData) -> Result<Self, ArrayError> {
        macro_rules! elements {
            ($($variant:ident $type:ident $class:ident;)*) => {
                match data { $(ArrayData::$variant(elements) => Self::new(shape, elements),)* }
            };
        }
        for_each_element!(elements)
    }

    /// An array of zeros; of bools, `false`.
    ///
    /// ```
    /// use indim_arrays::Array;
    /// use indim_ops::DType;
    ///
    /// assert_eq!(Array::zeros(DType::F32, [2, 2])?.to_string(), "[[0. 0.]\n [0. 0.]]");
    /// assert_eq!(Array::full([3], 7i64)?.to_string(), "[7 7 7]");
    /// let x = Array::from_fn([2, 2], |at| (10 * at[0] + at[1]) as u8)?;
    /// assert_eq!(x.to_string(), "[[ 0  1]\n [10 11]]");
    /// # Ok::<(), indim_arrays::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// [E5](indim_shape::rules#the-explicit-form-e) `too-large`; `out-of-memory`.
    pub fn zeros(dtype: DType, shape: impl Into<Shape>) -> Result<Self, ArrayError> {
        Self::filled(ArrayType::new(dtype, shape), |_| Ok(()))
    }

    /// An array whose elements all are `value`.
    ///
    /// # Errors
    /// Like [`Array::zeros`].
    pub fn full<T: ElementLayout>(shape: impl Into<Shape>, value: T) -> Result<Self, ArrayError> {
        let mut array = Self::zeros(T::Element::DTYPE, shape)?;
        array.elements_in_memory_mut()?.fill(value);
        Ok(array)
    }

    /// An array with the element `element(index)` at each index, computed in row-major order.
    ///
    /// # Errors
    /// Like [`Array::zeros`].
    pub fn from_fn<T: ElementLayout>(
        shape: impl Into<Shape>,
        mut element: impl FnMut(&[usize]) -> T,
    ) -> Result<Self, ArrayError> {
        let mut array = Self::zeros(T::Element::DTYPE, shape)?;
        let sizes = array.shape().clone();
        let mut index = vec![0; sizes.rank()];
        for place in array.elements_in_memory_mut()? {
            *place = element(&index);
            advance(&mut index, &sizes);
        }
        Ok(array)
    }

    /// The identity of `op` for elements of type `dtype`, as a scalar; `None` if `op` has none for them.
    ///
    /// ```
    /// use indim_arrays::Array;
    /// use indim_ops::{DType, ReduceOp};
    ///
    /// assert_eq!(Array::identity(ReduceOp::Mul, DType::I32), Some(Array::from_scalar(1)));
    /// assert_eq!(Array::identity(ReduceOp::ArgMax, DType::I32), None);
    /// ```
    pub fn identity(op: ReduceOp, dtype: DType) -> Option<Self> {
        op.visit(dtype, Identity)
    }
}

struct Identity;

impl FoldVisitor for Identity {
    type Output = Array;

    fn fold<F: Fold<T>, T: Element>(self) -> Array {
        Array::from_element(F::identity::<ScalarBackend>().canonical())
    }
}

/// An array of rank 1, without a copy.
impl<T: ElementLayout> From<Vec<T>> for Array {
    fn from(elements: Vec<T>) -> Self {
        Self::new([elements.len()], elements).expect("invariant: a vector fits the address space")
    }
}

/// An array of rank 1.
impl<T: ElementLayout, const N: usize> From<[T; N]> for Array {
    fn from(elements: [T; N]) -> Self {
        Vec::from(elements).into()
    }
}
