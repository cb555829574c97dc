//! The table that draws a legal broadcast: one column for each axis of the result, one row for each operand.
//! `picture.rs` draws errors.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use crate::explicit::Broadcast;
use crate::message::OperandLabel;

/// The drawing of a broadcast, of several lines. Operands without a label are named by position.
///
/// ```
/// use indim_shape::{OperandLabel, RuleSet, Shape, draw_broadcast};
///
/// let shapes = [Shape::from([2, 1, 4]), Shape::from([3, 1])];
/// let broadcast = RuleSet::Numpy.elaborate(&shapes)?;
/// let labels = ["x", "y"].map(|name| OperandLabel::new(name, "f32"));
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
    let mut rows = vec![TableRow::new("result axis".to_string(), axes)];
    for operand in 0..broadcast.operands().len() {
        let (name, name_width) = row_name(operand, operands);
        rows.push(TableRow { name, name_width, cells: cells(broadcast, operand) });
    }
    let sizes = result.iter().map(|size| size.to_string()).collect();
    rows.push(TableRow::new("result".to_string(), sizes));
    let mut text = draw_table(&rows);
    text += &legend(broadcast, &rows);
    text
}

/// One row of the table.
pub(crate) struct TableRow {
    pub(crate) name: String,
    /// The display width of the name, in columns.
    pub(crate) name_width: usize,
    pub(crate) cells: Vec<String>,
}

impl TableRow {
    /// A row with an ASCII name.
    pub(crate) fn new(name: String, cells: Vec<String>) -> Self {
        TableRow { name_width: name.len(), name, cells }
    }
}

/// The name of an operand's row, and its width.
pub(crate) fn row_name(operand: usize, labels: &[OperandLabel<'_>]) -> (String, usize) {
    let Some(label) = labels.get(operand) else {
        let name = format!("operand {operand}");
        let width = name.len();
        return (name, width);
    };
    let element_type = match label.element_type {
        "" => String::new(),
        element_type => format!(" : {element_type}"),
    };
    (format!("{}{element_type}", label.name), label.width + element_type.len())
}

/// The cells of one operand, one for each axis of the result. A cell states the operand's axis if the map
/// permutes.
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

/// The table with right-aligned sizes; a mark follows its size.
pub(crate) fn draw_table(rows: &[TableRow]) -> String {
    let name_width = rows.iter().map(|row| row.name_width).max().unwrap_or(0);
    let columns = rows.first().map_or(0, |row| row.cells.len());
    let unmarked = |cell: &str| cell.trim_end_matches('*').len();
    let mut widths = vec![0; columns];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(&row.cells) {
            *width = unmarked(cell).max(*width);
        }
    }
    let mut text = String::new();
    for row in rows {
        let mut line = format!("{}{}", row.name, " ".repeat(name_width - row.name_width));
        for (cell, &width) in row.cells.iter().zip(&widths) {
            let (size, mark) = cell.split_at(unmarked(cell));
            line += &format!("  {size:>width$}{mark:1}");
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// The legend of the marks that occur.
fn legend(broadcast: &Broadcast, rows: &[TableRow]) -> String {
    let operand_cells =
        || rows[1..rows.len() - 1].iter().flat_map(|row| row.cells.iter().map(String::as_str));
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
