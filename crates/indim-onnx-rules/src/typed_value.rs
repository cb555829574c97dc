//! Values during inference: their types and their few known elements; sequences; values that are one of two.

use indim_graph::Array;
use indim_model::integers;
use indim_model::outline::{SymbolicSize, ValueType};
use indim_ops::DType;

/// Maximum number of elements that the inference keeps of one value. Lists from which models compute
/// shapes, such as sizes, axes and indices, are shorter.
pub(crate) const MAX_ELEMENTS: usize = 1024;

/// An operand or a result of a node: its type, and its elements if they are few, because shapes may be
/// computed from them.
#[derive(Debug, Clone, Default)]
pub struct TypedValue {
    /// Name in the file.
    pub name: String,
    /// Type, as far as it is known.
    pub value_type: ValueType,
    /// Symbolic elements of a short list of integers or booleans, such as the result of `Shape`.
    pub elements: Option<Vec<SymbolicSize>>,
    /// All elements, if they are few and known.
    pub array: Option<Array>,
    /// The type of the elements of a sequence.
    pub item: Option<ValueType>,
}

impl TypedValue {
    /// A value with this type.
    pub fn of(value_type: ValueType) -> TypedValue {
        TypedValue { value_type, ..TypedValue::default() }
    }

    /// The value with these elements, unless there are too many.
    #[must_use]
    pub fn with_elements(mut self, elements: Option<Vec<SymbolicSize>>) -> TypedValue {
        self.elements = elements.filter(|elements| elements.len() <= MAX_ELEMENTS);
        self
    }

    /// The symbolic elements, or else the known elements as numbers. `None` if elements are unknown or
    /// not whole numbers.
    pub fn symbols(&self) -> Option<Vec<SymbolicSize>> {
        if let Some(elements) = &self.elements {
            return Some(elements.clone());
        }
        let array = self.array.as_ref()?;
        let numbers = match array.dtype() {
            DType::F32 => whole(array.elements::<f32>().ok()?.iter().map(|&n| f64::from(n)))?,
            DType::F64 => whole(array.elements::<f64>().ok()?.iter().copied())?,
            DType::Bool => array.elements::<bool>().ok()?.iter().map(|&b| i64::from(b)).collect(),
            _ => integers(array)?,
        };
        Some(numbers.into_iter().map(SymbolicSize::known).collect())
    }

    /// The known elements as floats.
    pub(crate) fn floats(&self) -> Option<Vec<f64>> {
        let array = self.array.as_ref()?;
        match array.dtype() {
            DType::F32 => Some(array.elements::<f32>().ok()?.iter().map(|&n| n.into()).collect()),
            DType::F64 => Some(array.elements::<f64>().ok()?.to_vec()),
            _ => None,
        }
    }
}

fn whole(numbers: impl Iterator<Item = f64>) -> Option<Vec<i64>> {
    // Just below 2^53; larger `f64` skip integers.
    let one = |n: f64| (n.fract() == 0.0 && n.abs() < 9e15).then_some(n as i64);
    numbers.map(one).collect()
}

/// Part of the names of sizes that differ between the elements of a sequence.
pub(crate) const OF_EACH: &str = ".each";

impl TypedValue {
    /// A sequence of elements of one type.
    pub fn sequence(item: ValueType, length: SymbolicSize) -> TypedValue {
        let value_type = ValueType::new(&format!("seq({item})"), vec![length]);
        TypedValue { item: Some(item), value_type, ..TypedValue::default() }
    }

    /// The value that is one of two, as that of an `If` or of a state. Elements of an empty sequence have
    /// the type of the other one.
    #[must_use]
    pub fn joined(&self, other: &TypedValue, name: &str) -> TypedValue {
        let (Some(item), Some(other_item)) = (&self.item, &other.item) else {
            return TypedValue::of(join_types(&self.value_type, &other.value_type, name));
        };
        let [length, other_length] = [self, other].map(TypedValue::length);
        let joined =
            match (length.is_some_and(|it| it.is(0)), other_length.is_some_and(|it| it.is(0))) {
                (true, false) => other_item.completed_by(item),
                (false, true) => item.completed_by(other_item),
                _ => join_types(item, other_item, &format!("{name}{OF_EACH}")),
            };
        let length = length.filter(|length| Some(*length) == other_length).cloned();
        TypedValue::sequence(joined, length.unwrap_or_else(|| SymbolicSize::open(name, 0)))
    }

    /// The length of a sequence.
    pub(crate) fn length(&self) -> Option<&SymbolicSize> {
        self.value_type.sizes.as_ref()?.first()
    }
}

/// The type of a value that has one of two types, as that of an `If` or of a state. Sizes that differ
/// become new symbols, named after `name`; a rank or element type that differs is unknown.
pub(crate) fn join_types(first: &ValueType, second: &ValueType, name: &str) -> ValueType {
    let sizes = match (&first.sizes, &second.sizes) {
        (Some(a), Some(b)) if a.len() == b.len() => {
            let open = |axis| SymbolicSize::atom(&format!("{name}[{axis}]"));
            let size = |(axis, (a, b)): (usize, (&SymbolicSize, &SymbolicSize))| {
                if a == b { a.clone() } else { open(axis) }
            };
            Some(a.iter().zip(b).enumerate().map(size).collect())
        }
        _ => None,
    };
    let element = first.element.clone().filter(|_| first.element == second.element);
    ValueType { element, sizes }
}
