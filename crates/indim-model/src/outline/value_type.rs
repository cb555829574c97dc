//! Types of values: element type and symbolic sizes, each as far as it is known.

use core::fmt;
use std::sync::Arc;

use indim_ops::{ArrayType, DType};

use super::size::SymbolicSize;
use crate::model::ModelInput;

/// A type, as far as it is known. Element types that indim does not compute keep the name in their file.
///
/// ```
/// use indim_model::outline::{SymbolicSize, ValueType};
///
/// let sizes = vec![SymbolicSize::named("N"), SymbolicSize::known(3)];
/// assert_eq!(ValueType::new("f32", sizes).to_string(), "f32[N, 3]");
/// assert_eq!(ValueType::default().to_string(), "?[...]");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ValueType {
    /// Name of the element type, if known.
    pub element: Option<Arc<str>>,
    /// Size of each axis, if the rank is known.
    pub sizes: Option<Vec<SymbolicSize>>,
}

impl ValueType {
    /// A known type.
    pub fn new(element: &str, sizes: Vec<SymbolicSize>) -> Self {
        ValueType { element: Some(Arc::from(element)), sizes: Some(sizes) }
    }

    /// The type of arrays.
    pub fn of_arrays(array_type: &ArrayType) -> Self {
        let size = |&size: &usize| SymbolicSize::known(i64::try_from(size).unwrap_or(i64::MAX));
        ValueType::new(array_type.dtype.name(), array_type.shape.iter().map(size).collect())
    }

    /// The declared type of an input or another value. Open sizes are named by the value and the axis.
    pub fn declared(input: &ModelInput) -> Self {
        let name = |axis: usize| format!("{}[{axis}]", input.name);
        let size = |(axis, size)| SymbolicSize::declared(size, || name(axis));
        ValueType {
            element: input.dtype.map(|dtype| Arc::from(dtype.name())),
            sizes: input.sizes.as_ref().map(|sizes| sizes.iter().enumerate().map(size).collect()),
        }
    }

    /// Parses `f32[2, N]`, `f32[2, ?]` or `f32[...]`; `name` names open sizes.
    pub fn parse(text: &str, name: &str) -> Option<Self> {
        let (element, rest) = text.trim().split_once('[')?;
        let list = rest.strip_suffix(']')?.trim();
        let is_name = |text: &str| {
            !text.is_empty()
                && text.chars().all(|c| c.is_ascii_alphanumeric() || "_.<>:".contains(c))
        };
        let element = element.trim();
        if !is_name(element) && element != "?" {
            return None;
        }
        let element = (element != "?").then(|| Arc::from(element));
        let size = |(axis, text): (usize, &str)| match text.trim() {
            "" => None,
            "?" => Some(SymbolicSize::open(name, axis)),
            text => match text.parse::<i64>() {
                Ok(number) => (number >= 0).then(|| SymbolicSize::known(number)),
                Err(_) => Some(SymbolicSize::named(text)),
            },
        };
        let sizes = match list {
            "..." => None,
            "" => Some(Vec::new()),
            list => Some(list.split(',').enumerate().map(size).collect::<Option<_>>()?),
        };
        Some(ValueType { element, sizes })
    }

    /// The element type, if indim computes it.
    pub fn dtype(&self) -> Option<DType> {
        self.element.as_deref()?.parse().ok()
    }

    /// The array type, if the element type is known and all sizes are numbers.
    pub fn array_type(&self) -> Option<ArrayType> {
        let size = |size: &SymbolicSize| usize::try_from(size.number()?).ok();
        let sizes: Vec<usize> = self.sizes.as_ref()?.iter().map(size).collect::<Option<_>>()?;
        Some(ArrayType::new(self.dtype()?, sizes))
    }

    /// Whether element type and rank are known.
    pub fn is_known(&self) -> bool {
        self.element.is_some() && self.sizes.is_some()
    }

    /// Whether the file leaves a size open.
    pub fn has_open_size(&self) -> bool {
        self.sizes.iter().flatten().any(SymbolicSize::is_open)
    }

    /// Whether two types contradict each other: in the element type, the rank, or a size that is a number.
    pub fn contradicts(&self, other: &ValueType) -> bool {
        let is_other_element =
            self.element.as_ref().zip(other.element.as_ref()).is_some_and(|(a, b)| a != b);
        let differ = |(a, b): (&SymbolicSize, &SymbolicSize)| {
            a.number().zip(b.number()).is_some_and(|(a, b)| a != b)
        };
        let is_other_shape = self
            .sizes
            .as_ref()
            .zip(other.sizes.as_ref())
            .is_some_and(|(a, b)| a.len() != b.len() || a.iter().zip(b).any(differ));
        is_other_element || is_other_shape
    }

    /// This type, with the given sizes where the file leaves a size open. A list for another rank
    /// changes nothing.
    ///
    /// ```
    /// use indim_model::outline::{SymbolicSize, ValueType};
    ///
    /// let sizes = vec![SymbolicSize::open("x", 0), SymbolicSize::known(8)];
    /// let given = [Some(SymbolicSize::named("N")), None];
    /// let value_type = ValueType::new("f32", sizes).with_open_sizes(&given);
    /// assert_eq!(value_type.to_string(), "f32[N, 8]");
    /// ```
    #[must_use]
    pub fn with_open_sizes(mut self, given: &[Option<SymbolicSize>]) -> ValueType {
        let sizes = self.sizes.as_mut().filter(|sizes| sizes.len() == given.len());
        for (size, given) in sizes.into_iter().flatten().zip(given) {
            if let (true, Some(given)) = (size.is_open(), given) {
                *size = given.clone();
            }
        }
        self
    }

    /// The type of a reshape of an array with the sizes `operand`: computes the size that the file
    /// leaves open, if there is exactly one.
    #[must_use]
    pub(crate) fn with_the_open_size_of(mut self, operand: &[SymbolicSize]) -> ValueType {
        let own = self.sizes.as_deref().unwrap_or_default();
        let is_known = |size: &&SymbolicSize| !size.is_open() || operand.contains(size);
        let (known, open): (Vec<&SymbolicSize>, Vec<&SymbolicSize>) =
            own.iter().partition(is_known);
        let [open] = open[..] else { return self };
        let quotient = SymbolicSize::product(known)
            .zip(SymbolicSize::product(operand))
            .and_then(|(known, all)| all.divided_exactly(&known));
        let Some(quotient) = quotient else { return self };
        let axis = own.iter().position(|size| size == open);
        if let Some((axis, sizes)) = axis.zip(self.sizes.as_mut()) {
            sizes[axis] = quotient;
        }
        self
    }

    /// This type without some axes, as a reduction along them gives it; without sizes if an axis is out of
    /// range.
    ///
    /// ```
    /// use indim_model::outline::ValueType;
    ///
    /// let matrix = ValueType::parse("f32[N, 3]", "x").unwrap();
    /// assert_eq!(matrix.clone().without_axes(&[1]).to_string(), "f32[N]");
    /// assert_eq!(matrix.without_axes(&[2]).to_string(), "f32[...]");
    /// ```
    #[must_use]
    pub fn without_axes(mut self, axes: &[i64]) -> ValueType {
        let rank = self.sizes.as_ref().map_or(0, Vec::len);
        let is_axis = |&axis: &i64| usize::try_from(axis).is_ok_and(|axis| axis < rank);
        self.sizes = self.sizes.filter(|_| axes.iter().all(is_axis));
        let mut position = -1;
        self.sizes.iter_mut().for_each(|sizes| {
            sizes.retain(|_| {
                position += 1;
                !axes.contains(&position)
            });
        });
        self
    }

    /// This type; if its element type or its sizes are unknown, with those of `other`.
    #[must_use]
    pub fn completed_by(&self, other: &ValueType) -> ValueType {
        ValueType {
            element: self.element.clone().or_else(|| other.element.clone()),
            sizes: self.sizes.clone().or_else(|| other.sizes.clone()),
        }
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.element.as_deref().unwrap_or("?"))?;
        match &self.sizes {
            None => formatter.write_str("[...]"),
            Some(sizes) => formatter.write_str(&SymbolicSize::list_text(sizes)),
        }
    }
}
