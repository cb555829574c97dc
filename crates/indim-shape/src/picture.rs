//! The drawing of a shape error as text: headline, aligned shapes, the axis at fault, the rule, and repairs.
//!
//! `message.rs` and `repair.rs` have the texts; `broadcast_picture.rs` draws legal broadcasts.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use crate::axis_map::AxisMap;
use crate::axis_names::AxisNames;
use crate::error::ShapeError;
use crate::message::{OperandLabel, OperandNames, SizeTexts, requirement, write_message};
use crate::repair::{Repair, find_repairs};
use crate::rule::{AnyRule, RuleSet, TargetRule};
use crate::rule_set::maps_by_name;
use crate::shape::Shape;
use crate::violation::{AxisOwner, SizedAxis, Violation};
use crate::{Diagnostic, Mark, MarkedLine};

/// Maximum distinct broadcasts that help lines offer, each in at most two lines.
const MAX_HELP_BROADCASTS: usize = 3;

/// The drawing of an error, of several lines. Operands without a label are named by position.
///
/// ```
/// use indim_shape::{OperandLabel, RuleSet, Shape, draw_error};
///
/// let shapes = [Shape::from([2, 3]), Shape::from([2])];
/// let error = RuleSet::Numpy.elaborate(&shapes).unwrap_err();
/// let labels = ["x", "v"].map(|name| OperandLabel::new(name, "f32"));
/// assert_eq!(
///     draw_error(&error, "add", &labels),
///     "\
/// error[size-mismatch]: `add` cannot broadcast `v` onto `x` under rule numpy
///    x : f32[2, 3]
///    v : f32[   2]
///               ^ axis 0 of `v` is 2, axis 1 of `x` is 3
///    = rule N2: right-aligned axes must be equal, or one of them 1
///    = help: broadcast_dimensions=[0] gives f32[2, 3] (the only axis of `x` of size 2)
///    = help: pdpd axis=0 gives the same; so does v reshaped to [2, 1] under numpy
/// "
/// );
/// ```
pub fn draw_error(error: &ShapeError, operation: &str, operands: &[OperandLabel<'_>]) -> String {
    diagnose(error, operation, operands).to_string()
}

/// The diagnostic that [`draw_error`] prints.
///
/// ```
/// use indim_shape::{OperandLabel, RuleSet, Shape, diagnose};
///
/// let error = RuleSet::Numpy.elaborate(&[Shape::from([2, 3]), Shape::from([2])]).unwrap_err();
/// let labels = ["x", "v"].map(|name| OperandLabel::new(name, "f32"));
/// let diagnostic = diagnose(&error, "add", &labels);
/// assert_eq!(diagnostic.code, "size-mismatch");
/// assert_eq!(diagnostic.headline, "`add` cannot broadcast `v` onto `x` under rule numpy");
/// assert_eq!(diagnostic.remarks[0].0, "rule N2");
/// ```
pub fn diagnose(error: &ShapeError, operation: &str, operands: &[OperandLabel<'_>]) -> Diagnostic {
    diagnose_with_repairs(error, operation, operands, &find_repairs(error))
}

/// The diagnostic of [`diagnose`] with only these repairs, for callers that have searched them or show
/// others.
///
/// ```
/// use indim_shape::{OperandLabel, RuleSet, Shape, diagnose_with_repairs};
///
/// let error = RuleSet::Numpy.elaborate(&[Shape::from([2, 3]), Shape::from([2])]).unwrap_err();
/// let labels = ["x", "v"].map(|name| OperandLabel::new(name, "f32"));
/// let diagnostic = diagnose_with_repairs(&error, "add", &labels, &[]);
/// assert!(diagnostic.remarks.iter().all(|(title, _)| title != "help"));
/// ```
pub fn diagnose_with_repairs(
    error: &ShapeError,
    operation: &str,
    operands: &[OperandLabel<'_>],
    repairs: &[Repair],
) -> Diagnostic {
    let names = OperandNames::of_labels(operands, error.rule());
    diagnosed(error, operation, &names, repairs)
}

/// The diagnostic of [`diagnose`] without repairs, for sizes with names: `sizes` has the texts of those that
/// are not numbers.
///
/// ```
/// use indim_shape::{OperandLabel, RuleSet, Shape, SizedAxis, diagnose_named_sizes};
///
/// // 7 stands for the size N.
/// let error = RuleSet::Numpy.elaborate(&[Shape::from([7, 3]), Shape::from([2])]).unwrap_err();
/// let labels = ["x", "v"].map(|name| OperandLabel::new(name, "f32"));
/// let name = |of: SizedAxis| (of.size == 7).then(|| "N".to_string());
/// let diagnostic = diagnose_named_sizes(&error, "add", &labels, &name);
/// assert_eq!(diagnostic.lines[0].text, "   x : f32[N, 3]");
/// assert_eq!(diagnostic.lines[1].text, "   v : f32[   2]");
/// ```
pub fn diagnose_named_sizes(
    error: &ShapeError,
    operation: &str,
    operands: &[OperandLabel<'_>],
    sizes: SizeTexts<'_>,
) -> Diagnostic {
    let names = OperandNames::of_labels(operands, error.rule()).with_sizes(sizes);
    diagnosed(error, operation, &names, &[])
}

fn diagnosed(
    error: &ShapeError,
    operation: &str,
    names: &OperandNames<'_>,
    repairs: &[Repair],
) -> Diagnostic {
    let headline = format!("`{operation}` {}", headline(error, names));
    let mut diagnostic = Diagnostic::new(error.error_code(), headline);
    let mut message = String::new();
    write_message(&mut message, error, names).expect("invariant: writing to a string succeeds");
    diagnostic.lines = shape_lines(error, names, &message);
    if diagnostic.lines.iter().all(|line| line.mark.is_none()) {
        diagnostic.remark("note", message);
    }
    diagnostic.remark(format!("rule {}", error.label()), requirement(error));
    add_help(&mut diagnostic, (error, repairs), names);
    diagnostic
}

fn headline(error: &ShapeError, names: &OperandNames<'_>) -> String {
    // The shapes in the drawing show the axis names, so the headline omits them.
    let rule = match error.rule() {
        AnyRule::Elementwise(RuleSet::Named { .. }) => "rule named".to_string(),
        rule => rule.to_string(),
    };
    match (error.violation(), error.shapes(), error.target()) {
        (Violation::TooLarge { .. }, ..) => {
            format!("makes an array that is too large under {rule}")
        }
        (Violation::OperandCount { .. }, ..) => format!("is not defined under {rule}"),
        (Violation::AxisNameMissing { operand, .. }, ..)
        | (Violation::AxisNameRepeated { operand, .. }, ..)
        | (Violation::DimsLength { operand, .. }, [_], None) => {
            format!("cannot match the axes of {} by name under {rule}", names.operand(*operand))
        }
        (_, [_], Some(target)) => {
            format!("cannot broadcast {} to {target} under {rule}", names.operand(0))
        }
        (violation, shapes, _) => {
            let operand = violation.operand().unwrap_or(shapes.len().saturating_sub(1));
            let target = match (violation.clash(), shapes) {
                (Some((_, other)), _) => match other.owner {
                    AxisOwner::Operand(other) => names.operand(other),
                    AxisOwner::Result => "the result".to_string(),
                },
                (None, [_, _]) => names.operand(1 - operand),
                (None, _) => "the others".to_string(),
            };
            format!("cannot broadcast {} onto {target} under {rule}", names.operand(operand))
        }
    }
}

/// The shape of an operand or target, as a line of the drawing.
struct ShapeRow<'a> {
    name: String,
    name_width: usize,
    element_type: &'a str,
    /// The text of each axis: its size, and its name under rule `named`.
    axes: Vec<String>,
    /// The column of each axis; `None` if the rule does not align this shape.
    columns: Option<Vec<usize>>,
}

/// The lines of shapes, with a mark below the axis at fault, if the violation has one.
fn shape_lines(error: &ShapeError, names: &OperandNames<'_>, message: &str) -> Vec<MarkedLine> {
    let rows = rows(error, names);
    let widths = column_widths(&rows);
    let name_width = rows.iter().map(|row| row.name_width).max().unwrap_or(0);
    let type_width = rows.iter().map(|row| row.element_type.chars().count()).max().unwrap_or(0);
    let line = |(position, row): (usize, &ShapeRow<'_>)| {
        let blank = " ".repeat(name_width - row.name_width);
        let prefix = format!("   {}{blank} : {:>type_width$}", row.name, row.element_type);
        let prefix_width = "    : ".len() + name_width + type_width;
        let (shape, spans) = shape_text(row, &widths);
        let marked_axis = error.operand().filter(|&operand| operand == position).and(error.axis());
        let mark = marked_axis.and_then(|axis| spans.get(axis)).map(|&(offset, width)| {
            let (indent, message) = (prefix_width + offset, message.to_string());
            Mark { margin: "", indent, width, message }
        });
        MarkedLine { text: prefix + &shape, mark }
    };
    rows.iter().enumerate().map(line).collect()
}

/// The operands in order, then the target or the result of the explicit form.
fn rows<'a>(error: &'a ShapeError, names: &OperandNames<'a>) -> Vec<ShapeRow<'a>> {
    let mut columns = aligned_axes(error);
    let target_columns = columns.as_mut().and_then(|columns| columns.pop());
    let mut rows: Vec<ShapeRow<'a>> = Vec::new();
    for (operand, shape) in error.shapes().iter().enumerate() {
        let columns = columns.as_ref().map(|columns| columns[operand].clone());
        let (name, element_type) = (names.plain_name(operand), names.element_type(operand));
        let name_width = names.width(operand);
        let axes = axis_texts(error, names, operand, shape);
        rows.push(ShapeRow { name, name_width, element_type, axes, columns });
    }
    if let Some(shape) = error.target() {
        let is_target = matches!(error.rule(), AnyRule::Target(_));
        let name = if is_target { "target" } else { "result" }.to_string();
        let name_width = name.len();
        let size = |(axis, &size): (usize, &usize)| names.size(SizedAxis::result(axis, size));
        let axes = shape.iter().enumerate().map(size).collect();
        rows.push(ShapeRow { name, name_width, element_type: "", axes, columns: target_columns });
    }
    rows
}

/// The text of each axis of an operand.
fn axis_texts(
    error: &ShapeError,
    names: &OperandNames<'_>,
    operand: usize,
    shape: &Shape,
) -> Vec<String> {
    let axis_names = match error.rule() {
        AnyRule::Elementwise(RuleSet::Named { names }) => names.get(operand),
        _ => None,
    };
    let text = |(axis, &size): (usize, &usize)| {
        let size = names.size(SizedAxis::operand(operand, axis, size));
        match axis_names.and_then(|names| names.escaped(axis)) {
            Some(name) => format!("{name}: {size}"),
            None => size,
        }
    };
    shape.iter().enumerate().map(text).collect()
}

/// The columns in which axes are drawn, as the rule aligns them: a list for each operand, then one for the
/// target, which is empty without a target. `None` if the attributes are too wrong to align the axes, and
/// for the explicit form and XLA's `Broadcast`, which are drawn without columns.
///
/// ```
/// use indim_shape::{RuleSet, Shape, aligned_axes};
///
/// let error = RuleSet::Numpy.elaborate(&[Shape::from([4, 30]), Shape::from([20])]).unwrap_err();
/// assert_eq!(aligned_axes(&error), Some(vec![vec![0, 1], vec![1], vec![]]));
/// ```
pub fn aligned_axes(error: &ShapeError) -> Option<Vec<Vec<usize>>> {
    let shapes = error.shapes();
    let target_rank = error.target().map_or(0, |target| target.rank());
    let rank = shapes.iter().map(|shape| shape.rank()).max()?.max(target_rank);
    let mut columns = match error.rule() {
        AnyRule::Elementwise(rule) => elementwise_columns(rule, shapes, rank)?,
        AnyRule::Target(rule) => match shapes {
            [data] => vec![target_columns(rule, data, target_rank, rank)?],
            _ => return None,
        },
        AnyRule::ExplicitForm => return None,
    };
    columns.push((rank - target_rank..rank).collect());
    Some(columns)
}

fn elementwise_columns(rule: &RuleSet, shapes: &[Shape], rank: usize) -> Option<Vec<Vec<usize>>> {
    if let RuleSet::Named { names } = rule {
        return named_columns(names, shapes);
    }
    let full = |shape: &Shape| shape.rank() == rank;
    let columns = |shape: &Shape| match rule {
        RuleSet::Numpy => Some(trailing_columns(shape, rank)),
        RuleSet::Xla { dims } if !dims.is_empty() && !full(shape) => {
            listed_columns(dims, shape, rank)
        }
        RuleSet::Pdpd { axis } | RuleSet::OnnxLegacy { axis, .. } => {
            let anchor = &shapes[usize::from(shapes.len() == 3)];
            match shape == anchor {
                true => Some((0..shape.rank()).collect()),
                false => consecutive_columns(*axis, shape, anchor.rank()),
            }
        }
        _ => (full(shape) || shape.is_scalar()).then(|| trailing_columns(shape, rank)),
    };
    shapes.iter().map(columns).collect()
}

/// The columns of named axes; `None` if a map permutes or does not cover its operand.
fn named_columns(names: &[AxisNames], shapes: &[Shape]) -> Option<Vec<Vec<usize>>> {
    let maps = maps_by_name(names, shapes.len());
    let is_drawn =
        |(map, shape): (&AxisMap, &Shape)| map.len() == shape.rank() && map.is_increasing();
    let are_drawn = maps.iter().zip(shapes).all(is_drawn);
    are_drawn.then(|| maps.iter().map(|map| map.to_vec()).collect())
}

fn target_columns(
    rule: &TargetRule,
    data: &Shape,
    target_rank: usize,
    rank: usize,
) -> Option<Vec<usize>> {
    match rule {
        TargetRule::Unidirectional | TargetRule::Bidirectional => {
            Some(trailing_columns(data, rank))
        }
        TargetRule::Pdpd { axis } => consecutive_columns(*axis, data, target_rank),
        TargetRule::Explicit { axes: dims }
        | TargetRule::XlaBroadcastInDim { dims }
        | TargetRule::StableHloBroadcastInDim { dims }
        | TargetRule::HloBroadcast { dims } => listed_columns(dims, data, target_rank),
        TargetRule::XlaBroadcast => None,
    }
}

/// The last of `rank` columns, one for each axis of the shape.
fn trailing_columns(shape: &Shape, rank: usize) -> Vec<usize> {
    (rank - shape.rank()..rank).collect()
}

/// Consecutive columns from `axis` on, or the last ones, of a shape of rank `target`; `None` if they do not
/// fit.
fn consecutive_columns(axis: Option<i64>, shape: &Shape, target: usize) -> Option<Vec<usize>> {
    let free_columns = target.checked_sub(shape.rank())?;
    let start = match axis.unwrap_or(-1) {
        -1 => free_columns,
        axis => usize::try_from(axis).ok().filter(|&start| start <= free_columns)?,
    };
    Some((start..start + shape.rank()).collect())
}

/// The columns that a list names, if it has an entry per axis, in increasing order.
fn listed_columns(dims: &[i64], shape: &Shape, rank: usize) -> Option<Vec<usize>> {
    let column = |&dim: &i64| usize::try_from(dim).ok().filter(|&dim| dim < rank);
    let columns: Vec<usize> = dims.iter().map(column).collect::<Option<_>>()?;
    let is_drawable =
        columns.len() == shape.rank() && columns.windows(2).all(|pair| pair[0] < pair[1]);
    is_drawable.then_some(columns)
}

fn column_widths(rows: &[ShapeRow<'_>]) -> Vec<usize> {
    let mut widths = Vec::new();
    for row in rows {
        let columns = row.columns.iter().flatten();
        for (&column, text) in columns.zip(&row.axes) {
            if widths.len() <= column {
                widths.resize(column + 1, 0);
            }
            widths[column] = widths[column].max(text.chars().count());
        }
    }
    widths
}

/// The shape in brackets, each size right-aligned in its column, and for each axis its offset and width.
fn shape_text(row: &ShapeRow<'_>, widths: &[usize]) -> (String, Vec<(usize, usize)>) {
    let mut text = String::from("[");
    let mut spans = Vec::with_capacity(row.axes.len());
    let mut column = 0;
    for (axis, of_axis) in row.axes.iter().enumerate() {
        if axis > 0 {
            text += ", ";
        }
        let width = of_axis.chars().count();
        if let Some(columns) = &row.columns {
            for skipped in &widths[column..columns[axis]] {
                text += &" ".repeat(skipped + 2);
            }
            text += &" ".repeat(widths[columns[axis]] - width);
            column = columns[axis] + 1;
        }
        spans.push((text.chars().count(), width));
        text += of_axis;
    }
    text.push(']');
    (text, spans)
}

/// For each distinct broadcast a help line with the first repair and its reason, and one with the other
/// repairs.
fn add_help(
    diagnostic: &mut Diagnostic,
    (error, repairs): (&ShapeError, &[Repair]),
    names: &OperandNames<'_>,
) {
    let element_type = common_element_type(error, names);
    for same_broadcast in
        repairs.chunk_by(|a, b| a.broadcast_number == b.broadcast_number).take(MAX_HELP_BROADCASTS)
    {
        let (first, others) =
            same_broadcast.split_first().expect("invariant: a chunk is not empty");
        let (action, reason) = (first.action(names), first.reason_text(names));
        diagnostic.help(format!("{action} gives {element_type}{}{reason}", first.result));
        if let Some((second, more)) = others.split_first() {
            let mut text = format!("{} gives the same", second.action(names));
            for other in more {
                text += &format!("; so does {}", other.action(names));
            }
            diagnostic.help(text);
        }
    }
}

/// The element type, if all operands have the same; else an empty string.
fn common_element_type<'a>(error: &ShapeError, names: &OperandNames<'a>) -> &'a str {
    let first = names.element_type(0);
    let is_common = (0..error.shapes().len()).all(|k| names.element_type(k) == first);
    if is_common { first } else { "" }
}
