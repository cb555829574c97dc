//! Drawings as tables, with a column for each axis and a row for each operand. A cell shows what happens
//! to an axis: `text` is short, `says` is the label for screen readers.

use core::fmt::Display;

use indim::errors::ShapeError;
#[cfg(feature = "models")]
use indim::formats::{OutlineBroadcast, SymbolicSize, ValueType};
use indim_shape::{AxisOwner, Broadcast, ReductionForm, Shape, SizedAxis, aligned_axes};
use serde::Serialize;

/// Maximum operands that are drawn for a node of a model.
#[cfg(feature = "models")]
const MAX_ROWS: usize = 32;

#[derive(Serialize)]
pub(crate) struct Picture {
    /// The number of columns.
    columns: usize,
    /// Whether columns are axes of the result. Otherwise the shapes are a list, without alignment.
    is_aligned: bool,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    shape: String,
    /// One cell for each column.
    cells: Vec<Cell>,
    is_result: bool,
}

#[derive(Serialize, Clone)]
struct Cell {
    role: Role,
    text: String,
    says: String,
}

/// The content of a cell: the treatment of an axis in a broadcast or reduction, or its part in an error.
#[derive(Serialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Role {
    /// An axis of an operand whose size is that of the result.
    Kept,
    /// An axis of size 1 that is expanded to the size of the result.
    Expanded,
    /// An axis of the result that the operand lacks.
    Repeated,
    /// An axis of the result.
    Result,
    /// An axis of the operand that a reduction combines.
    Reduced,
    /// A reduced axis that the result lacks.
    Gone,
    /// The axis at fault in an error.
    Guilty,
    /// The axis that clashes with the axis at fault.
    Clashing,
    /// Any other axis in an error.
    Plain,
    /// No axis: the shape has none in this column.
    Empty,
}

impl Cell {
    fn new(role: Role, text: impl ToString, says: impl Into<String>) -> Self {
        Cell { role, text: text.to_string(), says: says.into() }
    }

    /// An axis of the result that an operand lacks.
    fn repeated(size: impl Display) -> Self {
        Cell::new(Role::Repeated, format!("× {size}"), format!("repeated {size} times"))
    }

    /// Axis `from` of an operand, of size `own`, on an axis of the result of size `size`.
    fn of_axis(
        from: usize,
        own: impl Display,
        size: impl Display,
        is_kept: bool,
        prefix: &str,
    ) -> Self {
        match is_kept {
            true => {
                let says = format!("axis {from} of size {size}, kept");
                Cell::new(Role::Kept, format!("{prefix}{size}"), says)
            }
            false => {
                let says = format!("axis {from} of size {own}, expanded to {size}");
                Cell::new(Role::Expanded, format!("{prefix}{own} → {size}"), says)
            }
        }
    }
}

impl Picture {
    /// A legal broadcast of operands with these names.
    pub(crate) fn of_broadcast(form: &Broadcast, names: &[(String, String)]) -> Self {
        let rank = form.result().rank();
        let operand = |(index, (name, dtype)): (usize, &(String, String))| Row {
            name: name.clone(),
            shape: format!("{dtype}{}", form.operands()[index]),
            cells: (0..rank).map(|axis| broadcast_cell(form, index, axis)).collect(),
            is_result: false,
        };
        let mut rows: Vec<Row> = names.iter().enumerate().map(operand).collect();
        rows.push(result_row(form.result(), |_| true));
        Picture { columns: rank, is_aligned: true, rows }
    }

    /// A broadcast of a model, whose sizes may have names; `None` if its explicit form is unknown.
    #[cfg(feature = "models")]
    pub(crate) fn of_outlined(broadcast: &OutlineBroadcast) -> Option<Self> {
        let form = broadcast.form()?;
        let columns = form.result.len();
        let row = |(index, (name, value_type)): (usize, &(String, ValueType))| {
            let sizes = value_type.sizes.as_deref().unwrap_or_default();
            let map = form.maps.get(index).map_or(&[][..], |map| &map[..]);
            let cell = |(axis, size): (usize, &SymbolicSize)| {
                let from = map.iter().position(|&to| to == axis);
                match from.and_then(|from| Some((from, sizes.get(from)?))) {
                    None => Cell::repeated(size),
                    Some((from, own)) => Cell::of_axis(from, own, size, own == size, ""),
                }
            };
            let cells = form.result.iter().enumerate().map(cell).collect();
            Row { name: name.clone(), shape: value_type.to_string(), cells, is_result: false }
        };
        let operands = broadcast.operands.iter().take(MAX_ROWS).enumerate();
        let mut rows: Vec<Row> = operands.map(row).collect();
        let sizes: Vec<String> = form.result.iter().map(ToString::to_string).collect();
        let shape = format!("[{}]", sizes.join(", "));
        let result = |size: &String| Cell::new(Role::Result, size, format!("size {size}"));
        let cells = sizes.iter().map(result).collect();
        rows.push(Row { name: "result".to_owned(), shape, cells, is_result: true });
        Some(Picture { columns, is_aligned: true, rows })
    }

    /// A legal reduction.
    pub(crate) fn of_reduction(form: &ReductionForm, name: &(String, String)) -> Self {
        let is_reduced = |axis: usize| form.axes().contains(&axis);
        let cells = form.operand().iter().enumerate().map(|(axis, size)| match is_reduced(axis) {
            true => Cell::new(Role::Reduced, size, format!("axis {axis} of size {size}, reduced")),
            false => Cell::new(Role::Kept, size, format!("axis {axis} of size {size}, kept")),
        });
        let operand = Row {
            name: name.0.clone(),
            shape: format!("{}{}", name.1, form.operand()),
            cells: cells.collect(),
            is_result: false,
        };
        let is_there = |axis: usize| form.keeps_axes() || !is_reduced(axis);
        let sizes: Shape = (0..form.operand().rank())
            .map(|axis| if is_reduced(axis) { 1 } else { form.operand()[axis] })
            .collect();
        let mut result = result_row(&sizes, is_there);
        result.shape = form.result().to_string();
        Picture { columns: form.operand().rank(), is_aligned: true, rows: vec![operand, result] }
    }

    /// Shapes that a rule refuses, in the alignment of that rule.
    pub(crate) fn of_error(error: &ShapeError, names: &[(String, String)]) -> Self {
        let aligned = aligned_axes(error);
        let operands = error.shapes().iter().enumerate().map(|(index, shape)| {
            let (name, dtype) = names.get(index).cloned().unwrap_or_default();
            (AxisOwner::Operand(index), name, dtype, shape)
        });
        let target = error.target().map(|shape| {
            let name = if error.shapes().len() == 1 { "target" } else { "result" };
            (AxisOwner::Result, name.to_owned(), String::new(), shape)
        });
        let parties: Vec<_> = operands.chain(target).collect();
        let ranks = parties.iter().map(|(.., shape)| shape.rank());
        let last = aligned.iter().flatten().flatten().map(|&column| column + 1);
        let columns = ranks.chain(last).max().unwrap_or(0);
        let row = |(index, (owner, name, dtype, shape)): (
            usize,
            &(AxisOwner, String, String, &Shape),
        )| {
            let mut cells = vec![Cell::new(Role::Empty, "", ""); columns];
            for (axis, size) in shape.iter().enumerate() {
                let column = aligned.as_ref().and_then(|maps| maps.get(index)?.get(axis).copied());
                if let Some(cell) = cells.get_mut(column.unwrap_or(axis)) {
                    *cell = error_cell(error, *owner, axis, *size);
                }
            }
            let is_result = *owner == AxisOwner::Result;
            Row { name: name.clone(), shape: format!("{dtype}{shape}"), cells, is_result }
        };
        let rows = parties.iter().enumerate().map(row).collect();
        Picture { columns, is_aligned: aligned.is_some(), rows }
    }
}

fn result_row(sizes: &Shape, is_there: impl Fn(usize) -> bool) -> Row {
    let cell = |(axis, size): (usize, &usize)| match is_there(axis) {
        true => Cell::new(Role::Result, size, format!("size {size}")),
        false => Cell::new(Role::Gone, "", "gone"),
    };
    let cells = sizes.iter().enumerate().map(cell).collect();
    Row { name: "result".to_owned(), shape: sizes.to_string(), cells, is_result: true }
}

/// The cell of an operand on an axis of the result.
fn broadcast_cell(form: &Broadcast, operand: usize, axis: usize) -> Cell {
    let (shape, map, size) =
        (&form.operands()[operand], &form.maps()[operand], form.result()[axis]);
    let Some(from) = map.iter().position(|&to| to == axis) else {
        return Cell::repeated(size);
    };
    let own = shape[from];
    let permuted = if map.is_increasing() { String::new() } else { format!("{from}: ") };
    Cell::of_axis(from, own, size, own == size, &permuted)
}

fn error_cell(error: &ShapeError, owner: AxisOwner, axis: usize, size: usize) -> Cell {
    let is_this = |of: &SizedAxis| (of.owner, of.axis) == (owner, axis);
    let blamed = owner == AxisOwner::Operand(error.operand().unwrap_or(usize::MAX));
    let (role, ending) = match error.violation().clash() {
        Some((this, _)) if is_this(&this) => (Role::Guilty, ", which does not fit"),
        Some((_, other)) if is_this(&other) => (Role::Clashing, ", which it clashes with"),
        None if blamed && error.axis() == Some(axis) => (Role::Guilty, ", which is to blame"),
        _ => (Role::Plain, ""),
    };
    Cell::new(role, size, format!("axis {axis} of size {size}{ending}"))
}
