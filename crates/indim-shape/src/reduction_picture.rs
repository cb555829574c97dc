//! The table that draws a reduction: one column for each axis of the operand.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;

use crate::broadcast_picture::{TableRow, draw_table, row_name};
use crate::message::OperandLabel;
use crate::reduction_form::ReductionForm;

/// The drawing of a reduction, of several lines. An operand without a label is named by position.
///
/// ```
/// use indim_shape::{OperandLabel, ReductionRule, Shape, draw_reduction};
///
/// let form = ReductionRule::Xla { dimensions: vec![1] }.elaborate(&Shape::from([4, 30, 2]))?;
/// assert_eq!(
///     draw_reduction(&form, Some(OperandLabel::new("x", "f32"))),
///     "\
/// operand axis  0    1   2
/// x : f32       4   30*  2
/// result        4    .   2
///
/// n* reduced   . gone
/// "
/// );
/// # Ok::<(), indim_shape::ReductionError>(())
/// ```
pub fn draw_reduction(form: &ReductionForm, label: Option<OperandLabel<'_>>) -> String {
    let operand = form.operand();
    if operand.is_scalar() {
        return "the operand and the result are scalars\n".to_string();
    }
    let is_reduced = |axis: usize| form.axes().contains(&axis);
    let row = |cell: &dyn Fn(usize) -> String| (0..operand.rank()).map(cell).collect();
    let mark = |axis: usize| if is_reduced(axis) { "*" } else { "" };
    let reduced_size = if form.keeps_axes() { "1" } else { "." };
    let result_size = |axis: usize| match is_reduced(axis) {
        true => reduced_size.to_string(),
        false => operand[axis].to_string(),
    };
    let (name, name_width) = row_name(0, label.as_slice());
    let sizes = row(&|axis| format!("{}{}", operand[axis], mark(axis)));
    let rows = vec![
        TableRow::new("operand axis".to_string(), row(&|axis| axis.to_string())),
        TableRow { name, name_width, cells: sizes },
        TableRow::new("result".to_string(), row(&result_size)),
    ];
    let legend = match (form.axes().is_empty(), form.keeps_axes()) {
        (true, _) => "",
        (false, true) => "\nn* reduced to 1\n",
        (false, false) => "\nn* reduced   . gone\n",
    };
    draw_table(&rows) + legend
}
