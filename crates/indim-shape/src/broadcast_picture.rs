//! The drawing of a legal broadcast as text: the result's axes as columns, under each of them the
//! operands' axes that land there. Mistakes are drawn in `picture.rs`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use crate::explicit::Broadcast;
use crate::picture::OperandLabel;

/// The picture of a broadcast, of several lines. Operands without a label go by position.
///
/// ```
/// use indim_shape::{OperandLabel, RuleSet, Shape, draw_broadcast};
///
/// let shapes = [Shape::from([2, 1, 4]), Shape::from([3, 1])];
/// let broadcast = RuleSet::Numpy.elaborate(&shapes)?;
/// let labels = ["x", "y"].map(|name| OperandLabel { name, element_type: "f32" });
/// assert_eq!(
///     draw_broadcast(&broadcast, &labels),
///     "\
/// result axis  0   1   2
/// x : f32      2   1*  4
/// y : f32      .   3   1*
/// result       2   3   4
///
/// n kept   1* expanded from 1   . repeated
/// "
/// );
/// # Ok::<(), indim_shape::ShapeError>(())
/// ```
pub fn draw_broadcast(broadcast: &Broadcast, operands: &[OperandLabel<'_>]) -> String {
    let result = broadcast.result();
    if result.is_scalar() {
        return "every operand and the result are scalars\n".to_string();
    }
    let axes = (0..result.rank()).map(|axis| axis.to_string()).collect();
    let mut lines = vec![("result axis".to_string(), axes)];
    for operand in 0..broadcast.operands().len() {
        lines.push((line_name(operand, operands), cells(broadcast, operand)));
    }
    lines.push(("result".to_string(), result.iter().map(|size| size.to_string()).collect()));
    let mut text = draw_table(&lines);
    text += &legend(broadcast, &lines);
    text
}

fn line_name(operand: usize, labels: &[OperandLabel<'_>]) -> String {
    match labels.get(operand) {
        Some(OperandLabel { name, element_type: "" }) => name.to_string(),
        Some(OperandLabel { name, element_type }) => format!("{name} : {element_type}"),
        None => format!("operand {operand}"),
    }
}

/// What one operand has under each axis of the result. The axis is named where the map permutes.
fn cells(broadcast: &Broadcast, operand: usize) -> Vec<String> {
    let (shape, map) = (&broadcast.operands()[operand], &broadcast.maps()[operand]);
    let mut cells = vec![".".to_string(); broadcast.result().rank()];
    for (axis, (&size, &result_axis)) in shape.iter().zip(map.iter()).enumerate() {
        let named = if map.is_increasing() { String::new() } else { format!("{axis}:") };
        let mark = if size == broadcast.result()[result_axis] { "" } else { "*" };
        cells[result_axis] = format!("{named}{size}{mark}");
    }
    cells
}

/// Sizes right-aligned in their columns; a mark stands behind its size.
fn draw_table(lines: &[(String, Vec<String>)]) -> String {
    let name_width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let columns = lines.first().map_or(0, |(_, cells)| cells.len());
    let unmarked = |cell: &str| cell.trim_end_matches('*').len();
    let mut widths = vec![0; columns];
    for (_, cells) in lines {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = unmarked(cell).max(*width);
        }
    }
    let mut text = String::new();
    for (name, cells) in lines {
        let mut line = format!("{name:name_width$}");
        for (cell, &width) in cells.iter().zip(&widths) {
            let (size, mark) = cell.split_at(unmarked(cell));
            line += &format!("  {size:>width$}{mark:1}");
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// What the marks that occur mean.
fn legend(broadcast: &Broadcast, lines: &[(String, Vec<String>)]) -> String {
    let operand_cells =
        || lines[1..lines.len() - 1].iter().flat_map(|(_, cells)| cells.iter().map(String::as_str));
    let mut entries = Vec::new();
    if operand_cells().any(|cell| cell != "." && !cell.ends_with('*')) {
        entries.push("n kept");
    }
    if operand_cells().any(|cell| cell.ends_with('*')) {
        entries.push("1* expanded from 1");
    }
    if operand_cells().any(|cell| cell == ".") {
        entries.push(". repeated");
    }
    if broadcast.maps().iter().any(|map| !map.is_increasing()) {
        entries.push("i:n axis i of the operand");
    }
    match entries.is_empty() {
        true => String::new(),
        false => format!("\n{}\n", entries.join("   ")),
    }
}
