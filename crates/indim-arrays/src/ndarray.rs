//! Views of `ndarray` arrays in any layout, and arrays as `ndarray` arrays. Holds unsafe code.

use core::ptr::NonNull;

use indim_ops::{ArrayType, Element};
use indim_shape::Shape;
use ndarray::{ArrayBase, ArrayD, ArrayViewD, Data, DataMut, Dimension, IxDyn, ShapeBuilder};

use crate::array::Array;
use crate::element_layout::ElementLayout;
use crate::elements::IntoElementsError;
use crate::view::{ArrayError, ArrayView, ArrayViewMut};

/// The element type, the shape, and the strides in bytes of an array of `ndarray`, whose strides count
/// elements.
///
/// # Panics
/// If the array repeats elements by strides of 0 so often that its bytes exceed the address space.
fn view_layout<T: ElementLayout>(sizes: &[usize], strides: &[isize]) -> (ArrayType, Vec<isize>) {
    let array_type = ArrayType::new(T::Element::DTYPE, Shape::from(sizes));
    let bytes = array_type.shape.byte_count(size_of::<T>());
    assert!(bytes.is_ok(), "an array of ndarray repeats elements beyond the address space");
    // For one element or none, the strides of `ndarray` may be arbitrary, so they become 0.
    let has_several = array_type.shape.element_count().is_ok_and(|count| count > 1);
    let in_bytes = |stride: &isize| if has_several { stride * size_of::<T>() as isize } else { 0 };
    (array_type, strides.iter().map(in_bytes).collect())
}

/// A view of the same memory, with any strides.
///
/// ```
/// use indim_arrays::ArrayView;
/// use ndarray::{arr2, s};
///
/// let x = arr2(&[[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
/// let backwards = x.slice(s![.., ..;-1]);
/// let view = ArrayView::from(&backwards);
/// assert_eq!((view.array_type().to_string().as_str(), view.byte_strides()), ("f32[2, 3]", &[12, -4][..]));
/// ```
///
/// # Panics
/// If the array repeats elements by strides of 0 so often that its bytes exceed the address space.
impl<'a, S, D> From<&'a ArrayBase<S, D>> for ArrayView<'a>
where
    S: Data,
    S::Elem: ElementLayout,
    D: Dimension,
{
    fn from(array: &'a ArrayBase<S, D>) -> Self {
        let (array_type, strides) = view_layout::<S::Elem>(array.shape(), array.strides());
        let first = NonNull::new(array.as_ptr().cast_mut().cast());
        let first = first.expect("invariant: arrays have an address");
        // SAFETY:
        // - `ndarray` guarantees that shape and strides reach only elements of the array, which is borrowed
        //   for 'a;
        // - `view_layout` has checked the number of bytes;
        // - by `ElementLayout` they are elements.
        unsafe { Self::from_raw(array_type, strides, first) }
    }
}

/// A view of the same memory, as long as the view of `ndarray` lives.
///
/// # Panics
/// Like the view of a borrowed array.
impl<'a, T: ElementLayout, D: Dimension> From<ndarray::ArrayView<'a, T, D>> for ArrayView<'a> {
    fn from(view: ndarray::ArrayView<'a, T, D>) -> Self {
        let (array_type, strides) = view_layout::<T>(view.shape(), view.strides());
        let first = NonNull::new(view.as_ptr().cast_mut().cast());
        let first = first.expect("invariant: arrays have an address");
        // SAFETY:
        // - `ndarray` guarantees that shape and strides reach only elements of the view, whose memory is
        //   borrowed for 'a;
        // - `view_layout` has checked the number of bytes;
        // - by `ElementLayout` they are elements.
        unsafe { Self::from_raw(array_type, strides, first) }
    }
}

/// A writable view of the same memory, with any strides.
///
/// ```
/// use indim_arrays::ArrayViewMut;
/// use ndarray::Array2;
///
/// let mut result = Array2::<f64>::zeros((2, 3));
/// let view = ArrayViewMut::from(&mut result);
/// assert_eq!(view.array_type().to_string(), "f64[2, 3]");
/// ```
///
/// # Panics
/// Like the read-only view.
impl<'a, S, D> From<&'a mut ArrayBase<S, D>> for ArrayViewMut<'a>
where
    S: DataMut,
    S::Elem: ElementLayout,
    D: Dimension,
{
    fn from(array: &'a mut ArrayBase<S, D>) -> Self {
        let first =
            NonNull::new(array.as_mut_ptr().cast()).expect("invariant: arrays have an address");
        let (array_type, strides) = view_layout::<S::Elem>(array.shape(), array.strides());
        // SAFETY:
        // - `ndarray` guarantees that shape and strides reach only elements of the array, which is borrowed
        //   exclusively for 'a, and that elements of a writable array do not share memory;
        // - `view_layout` has checked the number of bytes;
        // - by `ElementLayout` they are elements.
        unsafe { Self::from_raw(array_type, strides, first) }
    }
}

/// A writable view of the same memory, as long as the view of `ndarray` lives.
///
/// # Panics
/// Like the read-only view.
impl<'a, T: ElementLayout, D: Dimension> From<ndarray::ArrayViewMut<'a, T, D>>
    for ArrayViewMut<'a>
{
    fn from(mut view: ndarray::ArrayViewMut<'a, T, D>) -> Self {
        let first =
            NonNull::new(view.as_mut_ptr().cast()).expect("invariant: arrays have an address");
        let (array_type, strides) = view_layout::<T>(view.shape(), view.strides());
        // SAFETY:
        // - `ndarray` guarantees that shape and strides reach only elements of the view, and that elements
        //   of a writable view do not share memory;
        // - the memory is borrowed exclusively for 'a, and `view`, taken by value, is not used after this;
        // - `view_layout` has checked the number of bytes;
        // - by `ElementLayout` they are elements.
        unsafe { Self::from_raw(array_type, strides, first) }
    }
}

impl Array {
    /// The elements as a view of `ndarray`, without a copy.
    ///
    /// ```
    /// use indim_arrays::{Array, ArrayError};
    /// use ndarray::{ArrayView2, ArrayViewD};
    ///
    /// let x = Array::new([2, 2], vec![1.0f32, 2.0, 3.0, 4.0])?;
    /// let matrix: ArrayView2<'_, f32> = x.ndarray()?;
    /// assert_eq!(matrix[[1, 0]], 3.0);
    /// let of_any_rank: ArrayViewD<'_, f32> = x.ndarray()?;
    /// assert_eq!(of_any_rank.ndim(), 2);
    /// # Ok::<(), ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// `element-type` unless they are of type `T`; `axis-count` unless it has the axes of `D`.
    pub fn ndarray<T, D>(&self) -> Result<ndarray::ArrayView<'_, T, D>, ArrayError>
    where
        T: ElementLayout,
        D: Dimension,
    {
        self.try_into()
    }

    /// A copy of the elements as an array of `ndarray`. To compute in an array of your own, without a
    /// copy, pass a view of it to `run_into`.
    ///
    /// # Errors
    /// Like [`Array::ndarray`].
    pub fn to_ndarray<T, D>(&self) -> Result<ndarray::Array<T, D>, ArrayError>
    where
        T: ElementLayout,
        D: Dimension,
    {
        Ok(self.ndarray::<T, D>()?.to_owned())
    }
}

/// A view of the elements as an `ndarray` view, with a static or dynamic number of axes.
///
/// ```
/// use indim_arrays::Array;
/// use ndarray::{ArrayView1, ArrayView2, array};
///
/// let result = Array::from_slice([2, 2], &[1.0f32, 2.0, 3.0, 4.0])?;
/// let view: ArrayView2<f32> = (&result).try_into()?;
/// assert_eq!(view.row(1), array![3.0, 4.0]);
/// let error = ArrayView1::<f32>::try_from(&result).unwrap_err();
/// assert_eq!(error.to_string(), "f32[2, 2] has 2 axes, the array asked for has 1");
/// # Ok::<(), indim_arrays::ArrayError>(())
/// ```
impl<'a, T: ElementLayout, D: Dimension> TryFrom<&'a Array> for ndarray::ArrayView<'a, T, D> {
    type Error = ArrayError;

    fn try_from(array: &'a Array) -> Result<Self, ArrayError> {
        let elements = array.elements_in_memory::<T>()?;
        let strides: Vec<usize> = array.strides().iter().map(|it| it.unsigned_abs()).collect();
        let array_type = array.array_type();
        let shape = IxDyn(array_type.shape.sizes()).strides(IxDyn(&strides));
        let view = ArrayViewD::from_shape(shape, elements);
        let view = view.map_err(|_| ArrayError::OutOfBounds {
            shape: array_type.shape.clone(),
            bytes: size_of_val(elements),
        })?;
        view.into_dimensionality().map_err(|_| ArrayError::AxisCount {
            array_type: array_type.clone(),
            wanted: D::NDIM.unwrap_or_default(),
        })
    }
}

/// The elements as an array of `ndarray`: the memory of the array if it was made of a vector and no
/// clone shares it, else a copy. The error keeps the array. To compute in an array of your own, without
/// a copy, pass a view of it to `run_into`.
///
/// ```
/// use indim_arrays::Array;
/// use ndarray::{Array2, array};
///
/// let result = Array::new([2, 2], vec![1.0f32, 2.0, 3.0, 4.0])?;
/// let matrix: Array2<f32> = result.try_into()?;
/// assert_eq!(matrix, array![[1.0, 2.0], [3.0, 4.0]]);
/// assert_eq!(Array::from(matrix).to_string(), "[[1. 2.]\n [3. 4.]]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<T: ElementLayout, D: Dimension> TryFrom<Array> for ndarray::Array<T, D> {
    type Error = IntoElementsError;

    fn try_from(array: Array) -> Result<Self, IntoElementsError> {
        if let Err(reason) = ndarray::ArrayView::<T, D>::try_from(&array) {
            return Err(IntoElementsError::new(reason, array));
        }
        let shape = IxDyn(array.shape().sizes());
        match array.into_own_vec() {
            Ok(elements) => Ok(ArrayD::from_shape_vec(shape, elements)
                .and_then(ArrayBase::into_dimensionality)
                .expect("invariant: the elements fill the shape")),
            Err(array) => {
                let copied = ndarray::ArrayView::try_from(&array).map(|view| view.to_owned());
                copied.map_err(|reason| IntoElementsError::new(reason, array))
            }
        }
    }
}

/// The elements in row-major order: the memory of the array if they fill it in that order, else a copy.
impl<T: ElementLayout, D: Dimension> From<ndarray::Array<T, D>> for Array {
    fn from(array: ndarray::Array<T, D>) -> Self {
        let (shape, count) = (Shape::from(array.shape()), array.len());
        let elements = match array.is_standard_layout() {
            true => match array.into_raw_vec_and_offset() {
                (elements, None | Some(0)) if elements.len() == count => elements,
                (elements, first) => elements[first.unwrap_or(0)..][..count].to_vec(),
            },
            false => array.iter().copied().collect(),
        };
        Self::new(shape, elements).expect("invariant: one element for each index")
    }
}
