//! Messages of shape errors: the violation in one clause, and the requirement of the violated rule.
//!
//! `Display` names operands by position; `picture.rs` uses their names.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::error::ShapeError;
use crate::rule::{AnyRule, RuleSet, TargetRule};
use crate::shape::Shape;
use crate::violation::{AxisOwner, SizedAxis, Violation};

/// The name, element type and width of an operand in a drawing.
///
/// ```
/// use indim_shape::OperandLabel;
///
/// assert_eq!(OperandLabel::new("größe", "f32").width, 5);
/// let wide = OperandLabel { width: 4, ..OperandLabel::new("大小", "") };
/// assert_eq!((wide.name, wide.width), ("大小", 4));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct OperandLabel<'a> {
    /// The user's name of the operand.
    pub name: &'a str,
    /// The element type; may be empty.
    pub element_type: &'a str,
    /// The display width of the name, in columns. This crate has no Unicode tables, so the caller computes
    /// the width of wide characters.
    pub width: usize,
}

impl<'a> OperandLabel<'a> {
    /// A name whose characters are one column wide.
    pub fn new(name: &'a str, element_type: &'a str) -> Self {
        OperandLabel { name, element_type, width: name.chars().count() }
    }
}

/// The texts of sizes; `None` for a size that is shown as its number.
pub type SizeTexts<'a> = &'a dyn Fn(SizedAxis) -> Option<String>;

/// The names of operands, result and sizes in a message.
pub(crate) struct OperandNames<'a> {
    labels: &'a [OperandLabel<'a>],
    result: &'static str,
    sizes: SizeTexts<'a>,
}

impl<'a> OperandNames<'a> {
    /// `operand 0`, `operand 1`, ...
    pub(crate) fn by_position(rule: &AnyRule) -> Self {
        OperandNames::of_labels(&[], rule)
    }

    /// The names of the labels, in back quotes.
    pub(crate) fn of_labels(labels: &'a [OperandLabel<'a>], rule: &AnyRule) -> Self {
        let result = match rule {
            AnyRule::Target(_) => "the target",
            _ => "the result",
        };
        OperandNames { labels, result, sizes: &|_| None }
    }

    /// The same names, with texts of sizes.
    pub(crate) fn with_sizes(self, sizes: SizeTexts<'a>) -> Self {
        OperandNames { sizes, ..self }
    }

    /// The text of a size.
    pub(crate) fn size(&self, of: SizedAxis) -> String {
        (self.sizes)(of).unwrap_or_else(|| of.size.to_string())
    }

    /// The text of the shape of an operand: `[2, 3]`.
    fn shape(&self, operand: usize, shape: &Shape) -> String {
        let size =
            |(axis, &size): (usize, &usize)| self.size(SizedAxis::operand(operand, axis, size));
        format!("[{}]", shape.iter().enumerate().map(size).collect::<Vec<_>>().join(", "))
    }

    pub(crate) fn operand(&self, operand: usize) -> String {
        match self.labels.get(operand) {
            Some(label) => format!("`{}`", label.name),
            None => format!("operand {operand}"),
        }
    }

    /// The name without back quotes, for lists of shapes.
    pub(crate) fn plain_name(&self, operand: usize) -> String {
        match self.labels.get(operand) {
            Some(label) => label.name.to_string(),
            None => format!("operand {operand}"),
        }
    }

    /// The width of [`OperandNames::plain_name`], in columns.
    pub(crate) fn width(&self, operand: usize) -> usize {
        match self.labels.get(operand) {
            Some(label) => label.width,
            None => self.plain_name(operand).len(),
        }
    }

    pub(crate) fn element_type(&self, operand: usize) -> &'a str {
        self.labels.get(operand).map_or("", |label| label.element_type)
    }

    pub(crate) fn owner(&self, owner: AxisOwner) -> String {
        match owner {
            AxisOwner::Operand(operand) => self.operand(operand),
            AxisOwner::Result => self.result.to_string(),
        }
    }
}

impl fmt::Display for ShapeError {
    /// One line: the violation, the label, and the requirement of the rule.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_message(formatter, self, &OperandNames::by_position(self.rule()))?;
        write!(formatter, " ({}: {})", self.label(), requirement(self))
    }
}

/// The violation, in one clause.
pub(crate) fn write_message(
    out: &mut dyn fmt::Write,
    error: &ShapeError,
    names: &OperandNames<'_>,
) -> fmt::Result {
    use Violation as V;
    let name = |operand: usize| names.operand(operand);
    if let Some((this, other)) = error.violation().clash() {
        let (whose, others) = (names.owner(this.owner), names.owner(other.owner));
        let [axis, other_axis] = [this, other].map(|axis| axis_text(error, axis));
        let (size, other_size) = (names.size(this), names.size(other));
        return write!(
            out,
            "axis {axis} of {whose} is {size}, axis {other_axis} of {others} is {other_size}"
        );
    }
    match *error.violation() {
        V::MapCount { maps } => {
            let given = if error.label() == "E1" { "maps" } else { "lists of names" };
            write!(out, "{maps} {given} were given for {} operands", error.shapes().len())
        }
        V::DimsLength { operand, rank, length } if error.label() == "D4" => {
            write!(out, "{} has rank {rank}, but {length} names", name(operand))
        }
        V::AxisNameMissing { operand, axis } => {
            write!(out, "axis {axis} of {} has no name", name(operand))
        }
        V::AxisNameRepeated { operand, axis, first } => {
            let axis_name = axis_text(error, SizedAxis::operand(operand, axis, 0));
            write!(out, "axes {first} and {axis} of {} are both named {axis_name}", name(operand))
        }
        V::DimsLength { operand, rank, length } => write!(
            out,
            "{} has rank {rank}, but the list of dimensions has length {length}",
            name(operand)
        ),
        V::DimOutOfRange { operand, axis, dim, rank }
        | V::DimTooLarge { operand, axis, dim, rank } => write!(
            out,
            "axis {axis} of {} is mapped to axis {dim}, which a shape of rank {rank} does not have",
            name(operand)
        ),
        V::DimsNotUnique { operand, axis, dim } => write!(
            out,
            "axis {axis} of {} is mapped to axis {dim}, like another of its axes",
            name(operand)
        ),
        V::DimNegative { operand, axis, dim } => {
            write!(out, "axis {axis} of {} is mapped to axis {dim}", name(operand))
        }
        V::DimsNotStrictlyIncreasing { operand, axis, dim, previous } => write!(
            out,
            "axis {axis} of {} is mapped to axis {dim}, the axis before it to axis {previous}",
            name(operand)
        ),
        V::SameRankDimsNotIdentity { rank } => {
            write!(out, "both operands have rank {rank}, but broadcast_dimensions is given")
        }
        V::RankMismatchWithoutDims { smaller } => write!(
            out,
            "{} has fewer axes than {}, and broadcast_dimensions does not place them",
            name(smaller),
            name(1 - smaller)
        ),
        V::DimsNotTaken { length } => {
            write!(out, "broadcast_dimensions of length {length} is given")
        }
        ref other => write_shape_message(out, other, error, names),
    }
}

/// An axis in a message: its name under rule `named`, else its position.
fn axis_text(error: &ShapeError, of: SizedAxis) -> String {
    let named = match (error.rule(), of.owner) {
        (AnyRule::Elementwise(RuleSet::Named { names }), AxisOwner::Operand(operand)) => {
            names.get(operand).and_then(|names| names.escaped(of.axis))
        }
        _ => None,
    };
    named.map_or_else(|| of.axis.to_string(), |name| format!("`{name}`"))
}

/// The clause of a violation that concerns whole shapes.
fn write_shape_message(
    out: &mut dyn fmt::Write,
    violation: &Violation,
    error: &ShapeError,
    names: &OperandNames<'_>,
) -> fmt::Result {
    use Violation as V;
    let name = |operand: usize| names.operand(operand);
    let shapes = error.shapes();
    match *violation {
        V::TooLarge { ref shape, element_size: 1 } => {
            write!(out, "the number of elements of {shape} does not fit the address space")
        }
        V::TooLarge { ref shape, element_size } => write!(
            out,
            "an array of shape {shape} with elements of {element_size} bytes does not fit the address space"
        ),
        V::ShapesDiffer { operand, axis: Some(axis) } => write!(
            out,
            "axis {axis} of {} is {}, axis {axis} of {} is {}",
            name(operand),
            names.size(SizedAxis::operand(operand, axis, shapes[operand][axis])),
            name(0),
            names.size(SizedAxis::operand(0, axis, shapes[0][axis]))
        ),
        V::ShapesDiffer { operand, axis: None } => write!(
            out,
            "{} has rank {}, {} has rank {}",
            name(operand),
            shapes[operand].rank(),
            name(0),
            shapes[0].rank()
        ),
        V::ImplicitBroadcastUnsupported { operand } => write!(
            out,
            "{} of shape {} is not a scalar and differs from the others' shape",
            name(operand),
            names.shape(operand, &shapes[operand])
        ),
        V::RankTooLarge { operand, rank, onto } => write!(
            out,
            "{} has rank {rank}, and is broadcast onto a shape of rank {onto}",
            name(operand)
        ),
        V::AxisOutOfRange { operand, axis, rank, onto } => write!(
            out,
            "axis={axis} leaves no room for {} of rank {rank} in a shape of rank {onto}",
            name(operand)
        ),
        V::OperandCount { given } => write!(out, "{} does not take {given} operands", error.rule()),
        _ => Ok(()),
    }
}

/// The requirement of the violated rule.
pub(crate) fn requirement(error: &ShapeError) -> &'static str {
    use Violation as V;
    match (error.violation(), error.label()) {
        (V::MapCount { .. }, "E1") => "give one map per operand",
        (V::MapCount { .. } | V::DimsLength { .. }, "D4") => "name each axis of each operand, once",
        (V::RankTooLarge { .. }, _) => "the rank is at most that of the shape broadcast onto",
        (V::DimOutOfRange { .. }, _) => "every named axis exists, counting from 0",
        (V::DimsNotUnique { .. }, _) => "no axis of the result is named twice by one operand",
        (V::DimsNotStrictlyIncreasing { .. }, _) => {
            "the list of dimensions is strictly increasing; transpose the operand instead"
        }
        (V::DimsNotTaken { .. }, _) => "only operations on two operands take broadcast_dimensions",
        (V::OperandCount { .. }, "T") => "one operand is broadcast to a target",
        (V::OperandCount { .. }, _) => "use another rule set, or fewer operations at once",
        (V::DimsLength { .. }, label) if label != "X3" => {
            "give one entry per axis of the operand that is broadcast"
        }
        (V::AxisOutOfRange { .. }, "L") => "axis counts from 0, and the operand fits behind it",
        (_, label) => requirement_of_label(label, error.rule()),
    }
}

fn requirement_of_label(label: &str, rule: &AnyRule) -> &'static str {
    match (label, rule) {
        ("E4", AnyRule::Target(TargetRule::HloBroadcast { .. })) => {
            "an operand axis has the size of its result axis; nothing expands"
        }
        ("E4", _) => "an operand axis has size 1 or the size of its result axis",
        ("E5", _) => "the number of elements and the number of bytes fit in isize",
        ("O1", _) => "all operands have the same shape; nothing is broadcast",
        ("N2", _) => "right-aligned axes must be equal, or one of them 1",
        ("X2", _) => {
            "for equal ranks, leave broadcast_dimensions empty or name every axis in order"
        }
        ("X3", _) => "a scalar broadcasts to any shape, and takes no broadcast_dimensions",
        ("X4", _) => {
            "for different ranks, broadcast_dimensions places the axes of the smaller operand"
        }
        ("X6", _) => "every entry names an axis of the larger operand, counting from 0",
        ("X7", _) => "an axis and the axis it is mapped to must be equal, or one of them 1",
        ("X9", _) => "axes of equal ranks must be equal, or one of them 1",
        ("XT", _) => "each operand is a scalar or has the shape that the others have",
        ("D1", _) => "the axes of an operand have distinct names: give one of them another name",
        ("D3", _) => "axes of the same name have the same size; 1 does not expand",
        ("D4", _) => "axes match by name: name each axis; only a scalar has no names",
        ("P2", _) => "axis is -1, or from 0 to the rank of the shape broadcast onto",
        ("P4", _) => {
            "axis plus the operand's rank, ones included, is at most the rank of the shape broadcast onto"
        }
        ("P5", _) => {
            "only the broadcast operand expands: each of its sizes is 1 or that of the axis it maps to"
        }
        ("T1", _) => "right-aligned, a size of the data is 1 or that of the target",
        ("T2", _) => "right-aligned axes of data and target must be equal, or one of them 1",
        ("T3", _) => "a size of the data is 1 or that of its target axis",
        _ => "the second operand has one element or is a run of the first operand's axes",
    }
}
