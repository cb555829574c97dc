//! The inputs of an expression: arrays and numbers of any owner.

use indim_cpu::{Array, ArrayView, ElementLayout};
use indim_graph::Literal;

/// An input of [`evaluate`](crate::evaluate): the value of a name.
///
/// ```
/// use indim::{Input, evaluate};
///
/// let inputs = [("x", Input::from(&[1.0f32, 2.0])), ("k", Input::from(0.5))];
/// assert_eq!(evaluate("x * k", inputs)?.elements::<f32>().unwrap(), [0.5, 1.0]);
/// # Ok::<(), indim::EvaluateError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Input<'a> {
    /// An array.
    Array(ArrayView<'a>),
    /// A number, which adapts to the type of the arrays it meets.
    Number(Literal),
}

impl<'a> From<ArrayView<'a>> for Input<'a> {
    fn from(view: ArrayView<'a>) -> Self {
        Input::Array(view)
    }
}

/// The values that `eval!` accepts as an input: arrays, slices and vectors of elements, numbers, and
/// references to them.
///
/// ```
/// use indim::{AsInput, evaluate};
///
/// let x = vec![1.0f32, 2.0];
/// assert_eq!(evaluate("x * 2", [("x", (&x).as_input())])?.elements::<f32>().unwrap(), [2.0, 4.0]);
/// # Ok::<(), indim::EvaluateError>(())
/// ```
pub trait AsInput {
    /// The array or the number, borrowed.
    fn as_input(&self) -> Input<'_>;
}

impl<T: AsInput + ?Sized> AsInput for &T {
    fn as_input(&self) -> Input<'_> {
        (**self).as_input()
    }
}

impl AsInput for ArrayView<'_> {
    fn as_input(&self) -> Input<'_> {
        Input::Array(self.clone())
    }
}

/// Named inputs of any types, for [`evaluate`](crate::evaluate) and [`evaluate_all`](crate::evaluate_all):
/// `inputs![x, v = other]` is `[("x", Input), ("v", Input)]`. It borrows every value that implements
/// [`AsInput`].
///
/// ```
/// use indim::{Array, evaluate, inputs};
///
/// let x = Array::new([2, 2], vec![1.0f32, 2.0, 3.0, 4.0])?;
/// let bias = [10.0f32, 20.0];
/// let sum = evaluate("k * x + v", inputs![x, v = bias, k = 2])?;
/// assert_eq!(sum.elements::<f32>().unwrap(), [12.0, 24.0, 16.0, 28.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// With the feature `ndarray` the inputs can be `ndarray` arrays of any dimensions:
///
/// ```
/// # #[cfg(feature = "ndarray")] {
/// use indim::{evaluate, inputs};
/// use ndarray::{Array2, array};
///
/// let (x, v) = (array![[1.0, 2.0], [3.0, 4.0]], array![10.0, 20.0]);
/// let sum: Array2<f64> = evaluate("x + v", inputs![x, v])?.try_into()?;
/// assert_eq!(sum, array![[11.0, 22.0], [13.0, 24.0]]);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[macro_export]
macro_rules! inputs {
    () => { <[(&str, $crate::Input<'_>); 0]>::default() };
    ($($name:ident $(= $value:expr)?),+ $(,)?) => {
        [$($crate::inputs!(@one $name $(= $value)?)),+]
    };
    (@one $name:ident) => { $crate::inputs!(@one $name = $name) };
    (@one $name:ident = $value:expr) => {
        ($crate::plain_name(stringify!($name)), $crate::AsInput::as_input(&$value))
    };
}

/// The name of a Rust identifier: `type` for `r#type`.
#[doc(hidden)]
pub fn plain_name(identifier: &str) -> &str {
    identifier.strip_prefix("r#").unwrap_or(identifier)
}

#[cfg(feature = "ndarray")]
impl<'a, S, D> From<&'a ndarray::ArrayBase<S, D>> for Input<'a>
where
    S: ndarray::Data,
    S::Elem: ElementLayout,
    D: ndarray::Dimension,
{
    fn from(array: &'a ndarray::ArrayBase<S, D>) -> Self {
        Input::Array(array.into())
    }
}

#[cfg(feature = "ndarray")]
impl<'a, T: ElementLayout, D: ndarray::Dimension> From<ndarray::ArrayView<'a, T, D>> for Input<'a> {
    fn from(view: ndarray::ArrayView<'a, T, D>) -> Self {
        Input::Array(view.into())
    }
}

#[cfg(feature = "ndarray")]
impl<S, D> AsInput for ndarray::ArrayBase<S, D>
where
    S: ndarray::Data,
    S::Elem: ElementLayout,
    D: ndarray::Dimension,
{
    fn as_input(&self) -> Input<'_> {
        self.into()
    }
}

macro_rules! arrays {
    ($([$($parameters:tt)*] $type:ty;)*) => {$(
        impl<'a, $($parameters)*> From<&'a $type> for Input<'a> {
            fn from(array: &'a $type) -> Self {
                Input::Array(array.into())
            }
        }

        impl<$($parameters)*> AsInput for $type {
            fn as_input(&self) -> Input<'_> {
                self.into()
            }
        }
    )*};
}

arrays! {
    [] Array;
    [T: ElementLayout] [T];
    [T: ElementLayout] Vec<T>;
    [T: ElementLayout, const N: usize] [T; N];
}

macro_rules! numbers {
    ($($variant:ident: $($type:ident)*;)*) => {$($(
        impl From<$type> for Input<'_> {
            fn from(number: $type) -> Self {
                Input::Number(Literal::$variant(number.into()))
            }
        }

        impl AsInput for $type {
            fn as_input(&self) -> Input<'_> {
                (*self).into()
            }
        }
    )*)*};
}

numbers! {
    Bool: bool;
    Int: i8 i16 i32 i64 u8 u16 u32 u64;
    Float: f32 f64;
}
