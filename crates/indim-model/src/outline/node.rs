//! Nodes and values of an outline.

use core::ops::Range;
use std::sync::Arc;

use indim_shape::Diagnostic;

use super::broadcast::{OutlineBroadcast, Verdict};
use super::condition::NamedCondition;
use super::size::SymbolicSize;
use super::value_type::ValueType;
use crate::error::Location;

/// Index of a value of an outline.
pub type ValueIndex = usize;

/// A node of a model: an operation that indim computes, or an opaque one.
#[derive(Debug, Clone, Default)]
pub struct OutlineNode {
    /// Name in the file; may be empty.
    pub name: String,
    /// Operator, with its domain: `MatMul`, `com.acme.Foo`.
    pub operator: String,
    /// Place in the file.
    pub location: Location,
    /// Path of the region or function that holds the node, empty for the graph itself:
    /// `/If.then_branch`.
    pub region: Arc<str>,
    /// The operands; `None` for a missing optional one.
    pub operands: Vec<Option<ValueIndex>>,
    /// The results; `None` for an unnamed one.
    pub results: Vec<Option<ValueIndex>>,
    /// Attributes as short text.
    pub attributes: Vec<(String, String)>,
    /// Whether indim has no lowering for the node.
    pub is_opaque: bool,
    /// The nodes of its bodies, which are in the list before it; empty unless it is a loop or branch.
    pub bodies: Range<usize>,
    /// Values from outside its bodies that the bodies read.
    pub captured: Vec<ValueIndex>,
    /// Positions of the operands whose elements determine shapes or axes.
    pub shape_operands: &'static [usize],
    /// Whether its results depend only on the types of its operands.
    pub reads_types: bool,
    /// The kind of the node, as far as findings need it.
    pub role: NodeRole,
    /// Broadcasts of its operands.
    pub broadcasts: Vec<OutlineBroadcast>,
    /// Conditions on sizes other than those of a broadcast, such as the inner sizes of a product.
    pub conditions: Vec<NamedCondition>,
    /// Errors of the node other than in a broadcast: operands that do not fit its operator.
    pub problems: Vec<Diagnostic>,
}

impl OutlineNode {
    /// The values that the node reads: its operands, and those that its bodies capture.
    pub fn read(&self) -> impl Iterator<Item = ValueIndex> {
        self.operands.iter().flatten().chain(&self.captured).copied()
    }

    /// Whether no runtime can compute the node: a broadcast is illegal, or its operands do not fit.
    pub fn is_illegal(&self) -> bool {
        let is_illegal = |it: &OutlineBroadcast| matches!(it.verdict, Verdict::Illegal(_));
        !self.problems.is_empty() || self.broadcasts.iter().any(is_illegal)
    }
}

/// The operator of a node with its name, for messages: `Add scores`.
///
/// ```
/// use indim_model::outline::operator_label;
///
/// assert_eq!(operator_label("Add", "scores"), "Add scores");
/// assert_eq!(operator_label("Add", ""), "Add");
/// ```
pub fn operator_label(operator: &str, name: &str) -> String {
    match name {
        "" => operator.to_owned(),
        name => format!("{operator} {}", indim_graph::terminal::printable(name)),
    }
}

/// The kinds of nodes that findings distinguish.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum NodeRole {
    /// A computation of each element.
    Elementwise,
    /// A comparison or a logical operation of each element.
    Predicate,
    /// A conversion or identity, which keeps shape and axes.
    SameShape,
    /// A broadcast to a larger shape by a node of its own: `Expand`, `Tile`, `Broadcast`.
    Expand,
    /// A change of shape that keeps the order of elements: `Reshape`, `Squeeze`, `Unsqueeze`, `Flatten`.
    Reshape,
    /// A permutation of axes: the operand axis of each result axis.
    Transpose(Vec<usize>),
    /// A convolution or pooling: results with the channels on this axis.
    Channels(usize),
    /// A constant or a counted sequence.
    Constant,
    /// Any other node.
    #[default]
    Other,
}

/// A value of a model.
#[derive(Debug, Clone, Default)]
pub struct OutlineValue {
    /// Name in the file.
    pub name: String,
    /// Type, as far as it is known.
    pub value_type: ValueType,
    /// Elements of a short list of integers that builds shapes.
    pub elements: Option<Vec<SymbolicSize>>,
    /// Source of the type.
    pub source: TypeSource,
    /// Whether the value is a constant of the file.
    pub is_constant: bool,
    /// Axes along which the elements of a constant repeat, as far as its elements are read.
    pub repeated_axes: Vec<usize>,
    /// Whether the elements are known and evenly spaced, as coordinates are.
    pub is_evenly_spaced: bool,
    /// The node that makes the value.
    pub producer: Option<usize>,
    /// Whether the value lies inside a region or a function, or is no array.
    pub is_internal: bool,
    /// Name at which a run can start or end, if the value lies inside a called function: `y::t` for the
    /// value `t` of the call whose first result is `y`.
    pub address: Option<Arc<str>>,
}

impl OutlineValue {
    /// The name at which a run can start or end; `None` for a value of a body, and one without a name.
    ///
    /// ```
    /// use indim_model::outline::OutlineValue;
    ///
    /// let value = |is_internal, address: Option<&str>| {
    ///     let (name, address) = ("t".to_owned(), address.map(Into::into));
    ///     OutlineValue { name, is_internal, address, ..OutlineValue::default() }
    /// };
    /// assert_eq!(value(false, None).run_name(), Some("t"));
    /// assert_eq!(value(true, Some("y::t")).run_name(), Some("y::t"));
    /// assert_eq!(value(true, None).run_name(), None);
    /// ```
    pub fn run_name(&self) -> Option<&str> {
        match &self.address {
            Some(address) => Some(address),
            None => Some(self.name.as_str()).filter(|name| !self.is_internal && !name.is_empty()),
        }
    }
}

/// The source of the type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TypeSource {
    /// An input or constant of the file.
    File,
    /// The lowering or the shape rule of the node.
    Rule,
    /// A declaration of the caller.
    Declared,
    /// The type is not fully known, and no node is the cause.
    #[default]
    Unknown,
    /// The type is not fully known, and the node with this index is the first cause.
    UnknownBecauseOf(usize),
}
