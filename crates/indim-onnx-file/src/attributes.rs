//! Typed access to the attributes of a node.

use std::sync::Arc;

use indim_graph::Array;
use indim_model::FormatErrorKind;
use indim_ops::Element;
use indim_shape::RuleSet;

use crate::flatten::FlatNode;
use crate::messages::{AttributeProto, TensorProto};
use crate::tensor::Tensors;

/// The kind of an attribute, with its number in `AttributeProto`. Old files omit the number, which then
/// reads as 0.
#[derive(Clone, Copy)]
enum AttributeKind {
    Float = 1,
    Int = 2,
    Text = 3,
    Tensor = 4,
    Floats = 6,
    Ints = 7,
    Texts = 8,
}

impl AttributeKind {
    const fn expected(self) -> &'static str {
        match self {
            AttributeKind::Float => "is not a number",
            AttributeKind::Int => "is not a whole number",
            AttributeKind::Text => "is not text",
            AttributeKind::Tensor => "is not an array",
            AttributeKind::Floats => "is not a list of numbers",
            AttributeKind::Ints => "is not a list of whole numbers",
            AttributeKind::Texts => "is not a list of texts",
        }
    }
}

type AttributeResult<T> = Result<T, FormatErrorKind>;

impl FlatNode {
    /// The attribute with this name, if the node has it.
    ///
    /// # Errors
    /// `attribute`: the attribute has another kind.
    fn attribute(
        &self,
        name: &str,
        kind: AttributeKind,
    ) -> AttributeResult<Option<&Arc<AttributeProto>>> {
        let attribute = self.attributes.get(name);
        match attribute.filter(|attribute| ![0, kind as i32].contains(&attribute.r#type)) {
            Some(_) => Err(FormatErrorKind::attribute(name, kind.expected())),
            None => Ok(attribute),
        }
    }

    /// The value of an attribute that is not a list; `field` reads it. Some writers omit a value of 0 and
    /// write only the kind.
    fn scalar_attribute<'a, T: Default>(
        &'a self,
        name: &str,
        kind: AttributeKind,
        field: impl Fn(&'a AttributeProto) -> Option<T>,
    ) -> AttributeResult<Option<T>> {
        let Some(attribute) = self.attribute(name, kind)? else { return Ok(None) };
        match (field(attribute), attribute.r#type) {
            (Some(value), _) => Ok(Some(value)),
            (None, 0) => Err(FormatErrorKind::attribute(name, kind.expected())),
            (None, _) => Ok(Some(T::default())),
        }
    }

    /// An attribute that is a whole number, if the node has it.
    ///
    /// # Errors
    /// `attribute`: it has another kind.
    pub fn optional_int(&self, name: &str) -> AttributeResult<Option<i64>> {
        self.scalar_attribute(name, AttributeKind::Int, |attribute| attribute.i)
    }

    /// An attribute that is a whole number, or its default.
    ///
    /// # Errors
    /// `attribute`: it has another kind.
    pub fn int(&self, name: &str, default: i64) -> AttributeResult<i64> {
        Ok(self.optional_int(name)?.unwrap_or(default))
    }

    /// An attribute that is a whole number.
    ///
    /// # Errors
    /// `attribute`: the attribute is missing or has another kind.
    pub fn required_int(&self, name: &str) -> AttributeResult<i64> {
        self.optional_int(name)?.ok_or_else(|| FormatErrorKind::attribute(name, "is missing"))
    }

    /// An attribute that is a list of whole numbers, if the node has it.
    ///
    /// # Errors
    /// `attribute`: it has another kind.
    pub fn ints(&self, name: &str) -> AttributeResult<Option<Vec<i64>>> {
        Ok(self.attribute(name, AttributeKind::Ints)?.map(|attribute| attribute.ints.clone()))
    }

    /// An attribute that is a number, if the node has it.
    ///
    /// # Errors
    /// `attribute`: it has another kind.
    pub fn optional_float(&self, name: &str) -> AttributeResult<Option<f64>> {
        self.scalar_attribute(name, AttributeKind::Float, |attribute| attribute.f.map(f64::from))
    }

    /// A float attribute. The default is an `f32`, as are numbers in files: 0.2 becomes 0.20000000298.
    ///
    /// # Errors
    /// `attribute`: it has another kind.
    pub fn float(&self, name: &str, default: f32) -> AttributeResult<f64> {
        Ok(self.optional_float(name)?.unwrap_or(default.into()))
    }

    /// An attribute that is a list of numbers, if the node has it.
    ///
    /// # Errors
    /// `attribute`: it has another kind.
    pub fn floats(&self, name: &str) -> AttributeResult<Option<&[f32]>> {
        Ok(self.attribute(name, AttributeKind::Floats)?.map(|attribute| &attribute.floats[..]))
    }

    /// An attribute that is text, or its default.
    ///
    /// # Errors
    /// `attribute`: it has another kind.
    pub fn text(&self, name: &str, default: &str) -> AttributeResult<String> {
        let bytes =
            self.scalar_attribute(name, AttributeKind::Text, |attribute| attribute.s.clone())?;
        let Some(bytes) = bytes else { return Ok(default.to_owned()) };
        let text = String::from_utf8(bytes.to_vec());
        text.map_err(|_| FormatErrorKind::attribute(name, AttributeKind::Text.expected()))
    }

    /// An attribute that is a list of texts, if the node has it.
    ///
    /// # Errors
    /// `attribute`: it has another kind.
    pub fn texts(&self, name: &str) -> AttributeResult<Option<Vec<String>>> {
        let Some(attribute) = self.attribute(name, AttributeKind::Texts)? else { return Ok(None) };
        let text = |bytes: &bytes::Bytes| String::from_utf8(bytes.to_vec());
        let texts = attribute.strings.iter().map(text).collect::<Result<Vec<_>, _>>();
        texts
            .map(Some)
            .map_err(|_| FormatErrorKind::attribute(name, AttributeKind::Texts.expected()))
    }

    /// An attribute that is an array, if the node has it.
    ///
    /// # Errors
    /// `attribute`: it has another kind.
    pub fn tensor(&self, name: &str) -> AttributeResult<Option<&TensorProto>> {
        let Some(attribute) = self.attribute(name, AttributeKind::Tensor)? else { return Ok(None) };
        let missing = || FormatErrorKind::attribute(name, AttributeKind::Tensor.expected());
        attribute.t.as_ref().map(Some).ok_or_else(missing)
    }
}

/// Facts that follow from the attributes alone.
impl FlatNode {
    /// The broadcast rule of binary operators; before opset 7 the attributes `broadcast` and `axis` state it.
    ///
    /// # Errors
    /// `attribute`.
    pub fn broadcast_rule(&self) -> AttributeResult<RuleSet> {
        if self.version >= 7 {
            return Ok(RuleSet::Numpy);
        }
        let (broadcast, axis) = (self.int("broadcast", 0)? != 0, self.optional_int("axis")?);
        Ok(RuleSet::OnnxLegacy { broadcast, axis })
    }

    /// The array of a node `Constant`.
    ///
    /// # Errors
    /// `attribute` if the node states no value; those of [`Tensors::array`].
    pub fn constant(&self, tensors: &Tensors) -> AttributeResult<Array> {
        if let Some(tensor) = self.tensor("value")? {
            return tensors.attribute_array(tensor);
        }
        if let Some(number) = self.optional_float("value_float")? {
            return Ok(Array::from_scalar(number as f32));
        }
        if let Some(number) = self.optional_int("value_int")? {
            return Ok(Array::from_scalar(number));
        }
        if let Some(numbers) = self.floats("value_floats")? {
            return list_array(numbers.to_vec());
        }
        match self.ints("value_ints")? {
            Some(numbers) => list_array(numbers),
            None => Err(FormatErrorKind::attribute("value", "is missing")),
        }
    }
}

fn list_array<T: Element>(elements: Vec<T>) -> AttributeResult<Array> {
    let count = elements.len();
    Array::from_data([count], T::into_data(elements))
        .map_err(|_| FormatErrorKind::attribute("value", "is not an array"))
}
