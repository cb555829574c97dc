//! The table of functions that rearrange, join, gather, scatter, sort or search arrays: parameters and
//! documentation. `data_movement.rs` elaborates them.

use indim_ops::ScatterOp;

use super::parameter::{AttributeKey, CallParameter};

/// A function that rearranges, joins, gathers, scatters, sorts or searches arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DataMovementFunction {
    Concatenate,
    Stack,
    Flip,
    Roll,
    Pad,
    SlidingWindowView,
    Take,
    TakeAlongAxis,
    Scatter(ScatterOp),
    DynamicSlice,
    DynamicUpdateSlice,
    Diff,
    ExpandDims,
    Squeeze,
    Sort,
    Argsort,
    Lexsort,
    SearchSorted,
}

/// A row of the table.
#[derive(Debug)]
pub(crate) struct DataMovementRow {
    function: DataMovementFunction,
    /// The name.
    pub(crate) name: &'static str,
    /// The other names.
    pub(crate) aliases: &'static [&'static str],
    /// The names of the operands; examples of list entries if the function takes a list.
    pub(crate) operands: &'static [&'static str],
    /// The parameters after the operands, in order.
    attributes: &'static [AttributeKey],
    /// A call with the defaults.
    pub(crate) call: &'static str,
    /// The element types, by the classes of `docs/ops.md`: P is `bool`, S signed, U unsigned, F float, C
    /// complex.
    pub(crate) types: &'static str,
    /// The documentation.
    pub(crate) doc: &'static str,
}

/// The table.
pub(crate) const DATA_MOVEMENT: &[DataMovementRow] = &[
    DataMovementRow {
        function: DataMovementFunction::Concatenate,
        name: "concatenate",
        aliases: &["concat"],
        operands: &["x", "y"],
        attributes: &[AttributeKey::Axis],
        call: "concatenate([x, y], axis=0)",
        types: "any",
        doc: "Joins arrays along an axis; each is written directly to its place in the result. `None` \
              flattens them first. The numpy rule promotes element types; other rules require equal types.",
    },
    DataMovementRow {
        function: DataMovementFunction::Stack,
        name: "stack",
        aliases: &[],
        operands: &["x", "y"],
        attributes: &[AttributeKey::Axis],
        call: "stack([x, y], axis=0)",
        types: "any",
        doc: "Joins arrays of equal shape along a new axis. Types as for `concatenate`.",
    },
    DataMovementRow {
        function: DataMovementFunction::Flip,
        name: "flip",
        aliases: &[],
        operands: &["x"],
        attributes: &[AttributeKey::Axes],
        call: "flip(x, axis=None)",
        types: "any",
        doc: "Reverses the elements along the axes, by default all. It copies nothing.",
    },
    DataMovementRow {
        function: DataMovementFunction::Roll,
        name: "roll",
        aliases: &[],
        operands: &["x"],
        attributes: &[AttributeKey::Shift, AttributeKey::Axes],
        call: "roll(x, shift, axis=None)",
        types: "any",
        doc: "Moves the elements by `shift` along the axis; `None` moves all elements in row-major order. \
              Elements that leave one end enter at the other. Several shifts need one axis each.",
    },
    DataMovementRow {
        function: DataMovementFunction::Pad,
        name: "pad",
        aliases: &[],
        operands: &["x"],
        attributes: &[
            AttributeKey::Widths,
            AttributeKey::Mode,
            AttributeKey::Argument("constant_values"),
        ],
        call: "pad(x, pad_width, mode=constant, constant_values=0)",
        types: "any",
        doc: "Adds elements before and after axes: `pad_width` is `1`, `[1, 2]` or `[[1, 2], [0, 3]]`. \
              `constant` adds one real number; `edge` repeats the outermost element; `wrap` continues from \
              the other end; `reflect` and `symmetric` mirror without and with the outermost element, up to \
              the size of the axis. Negative widths remove elements, with `constant` only.",
    },
    DataMovementRow {
        function: DataMovementFunction::SlidingWindowView,
        name: "sliding_window_view",
        aliases: &[],
        operands: &["x"],
        attributes: &[
            AttributeKey::WindowShape,
            AttributeKey::Axes,
            AttributeKey::Argument("stride"),
            AttributeKey::Argument("dilation"),
        ],
        call: "sliding_window_view(x, window_shape, axis=None, stride=1, dilation=1)",
        types: "any",
        doc: "The windows along the axes, by default all: their positions replace the axes, and their \
              elements are new last axes. It copies nothing. A reduction of the new axes is a moving sum or \
              extreme. Windows begin at each `stride`-th element, and their elements are `dilation` apart.",
    },
    DataMovementRow {
        function: DataMovementFunction::Take,
        name: "take",
        aliases: &[],
        operands: &["x", "indices"],
        attributes: &[AttributeKey::Axis, AttributeKey::Mode],
        call: "take(x, indices, axis=None, mode=error)",
        types: "any; indices S U",
        doc: "Gathers the elements at `indices` along the axis, by default in row-major order; the indices' \
              shape replaces the axis. With `error`, negative indices count from the end, and an index \
              out of range is an error before anything is written. `clip` takes the nearest element, the \
              first for a negative index; `wrap` takes the index modulo the size.",
    },
    DataMovementRow {
        function: DataMovementFunction::TakeAlongAxis,
        name: "take_along_axis",
        aliases: &[],
        operands: &["x", "indices"],
        attributes: &[AttributeKey::Axis, AttributeKey::Mode],
        call: "take_along_axis(x, indices, axis=-1, mode=error)",
        types: "any; indices S U",
        doc: "Gathers along the axis by an index for each element of the result, such as the result of \
              `argsort`. The indices have the rank of `x`; other axes broadcast. `axis=None` flattens `x`. \
              Modes as for `take`.",
    },
    DataMovementRow {
        function: DataMovementFunction::Scatter(ScatterOp::Set),
        name: "scatter_set",
        aliases: &[],
        operands: &["x", "indices", "updates"],
        attributes: &[AttributeKey::Axis, AttributeKey::Mode],
        call: "scatter_set(x, indices, updates, axis=0, mode=error)",
        types: "any; indices S U",
        doc: "Replaces each element at an index by its last update. Updates broadcast to the shape of \
              `take` with these indices, and are combined in row-major order. `drop` drops updates at \
              indices out of range; other modes as for `take`.",
    },
    DataMovementRow {
        function: DataMovementFunction::Scatter(ScatterOp::Add),
        name: "scatter_add",
        aliases: &[],
        operands: &["x", "indices", "updates"],
        attributes: &[AttributeKey::Axis, AttributeKey::Mode],
        call: "scatter_add(x, indices, updates, axis=0, mode=error)",
        types: "S U F C; indices S U",
        doc: "Adds updates to elements: floats in double precision, rounded once; integers wrap. Order \
              and modes as for `scatter_set`.",
    },
    DataMovementRow {
        function: DataMovementFunction::Scatter(ScatterOp::Mul),
        name: "scatter_mul",
        aliases: &[],
        operands: &["x", "indices", "updates"],
        attributes: &[AttributeKey::Axis, AttributeKey::Mode],
        call: "scatter_mul(x, indices, updates, axis=0, mode=error)",
        types: "S U F C; indices S U",
        doc: "Multiplies elements by updates: floats in double precision, rounded once. Order and \
              modes as for `scatter_set`.",
    },
    DataMovementRow {
        function: DataMovementFunction::Scatter(ScatterOp::Min),
        name: "scatter_min",
        aliases: &[],
        operands: &["x", "indices", "updates"],
        attributes: &[AttributeKey::Axis, AttributeKey::Mode],
        call: "scatter_min(x, indices, updates, axis=0, mode=error)",
        types: "P S U F; indices S U",
        doc: "The smallest of an element and its updates; NaN if one of them is NaN. Order and modes as \
              for `scatter_set`.",
    },
    DataMovementRow {
        function: DataMovementFunction::Scatter(ScatterOp::Max),
        name: "scatter_max",
        aliases: &[],
        operands: &["x", "indices", "updates"],
        attributes: &[AttributeKey::Axis, AttributeKey::Mode],
        call: "scatter_max(x, indices, updates, axis=0, mode=error)",
        types: "P S U F; indices S U",
        doc: "The largest of an element and its updates; NaN if one of them is NaN. Order and modes as \
              for `scatter_set`.",
    },
    DataMovementRow {
        function: DataMovementFunction::DynamicSlice,
        name: "dynamic_slice",
        aliases: &[],
        operands: &["x", "starts"],
        attributes: &[AttributeKey::Sizes],
        call: "dynamic_slice(x, starts, sizes)",
        types: "any; starts S U",
        doc: "The slice of these sizes at `starts`, an array with a start for each axis of `x`. A negative \
              start counts from the end; then each is clamped so that the slice is within `x`, as in JAX.",
    },
    DataMovementRow {
        function: DataMovementFunction::DynamicUpdateSlice,
        name: "dynamic_update_slice",
        aliases: &[],
        operands: &["x", "update", "starts"],
        attributes: &[],
        call: "dynamic_update_slice(x, update, starts)",
        types: "any; starts S U",
        doc: "`x` with the slice at `starts` replaced by `update`, which has an axis for each of `x`. Starts \
              as for `dynamic_slice`.",
    },
    DataMovementRow {
        function: DataMovementFunction::Diff,
        name: "diff",
        aliases: &[],
        operands: &["x"],
        attributes: &[AttributeKey::Argument("n"), AttributeKey::Axis],
        call: "diff(x, n=1, axis=-1)",
        types: "any",
        doc: "The difference of each element and the one before it along the axis, `n` times, at most 64. \
              For truth values, whether the two differ. Integers wrap.",
    },
    DataMovementRow {
        function: DataMovementFunction::ExpandDims,
        name: "expand_dims",
        aliases: &[],
        operands: &["x"],
        attributes: &[AttributeKey::Axes],
        call: "expand_dims(x, axis)",
        types: "any",
        doc: "Inserts axes of size 1 at the positions `axis` of the result.",
    },
    DataMovementRow {
        function: DataMovementFunction::Squeeze,
        name: "squeeze",
        aliases: &[],
        operands: &["x"],
        attributes: &[AttributeKey::Axes],
        call: "squeeze(x, axis=None)",
        types: "any",
        doc: "Removes the axes, by default all of size 1. Another size is an error.",
    },
    DataMovementRow {
        function: DataMovementFunction::Sort,
        name: "sort",
        aliases: &[],
        operands: &["x"],
        attributes: &[AttributeKey::Axis, AttributeKey::Argument("descending")],
        call: "sort(x, axis=-1, descending=False)",
        types: "any",
        doc: "Sorts the elements along the axis; `None` flattens first. The sort is stable, -0 equals +0, \
              and NaN is greater than every number. Complex numbers are ordered by their real parts, then \
              by their imaginary parts. `descending` keeps the order of equal elements.",
    },
    DataMovementRow {
        function: DataMovementFunction::Argsort,
        name: "argsort",
        aliases: &[],
        operands: &["x"],
        attributes: &[AttributeKey::Axis, AttributeKey::Argument("descending")],
        call: "argsort(x, axis=-1, descending=False)",
        types: "any",
        doc: "The positions along the axis in the order of `sort`, as `i64`.",
    },
    DataMovementRow {
        function: DataMovementFunction::Lexsort,
        name: "lexsort",
        aliases: &[],
        operands: &["x", "y"],
        attributes: &[AttributeKey::Axis],
        call: "lexsort([x, y], axis=-1)",
        types: "any",
        doc: "The positions along the axis that sort by several keys, the last of the list most significant, \
              as in NumPy. The keys have one shape and any types.",
    },
    DataMovementRow {
        function: DataMovementFunction::SearchSorted,
        name: "searchsorted",
        aliases: &["search_sorted"],
        operands: &["table", "x"],
        attributes: &[AttributeKey::Side],
        call: "searchsorted(table, x, side=left)",
        types: "any",
        doc: "For each element of `x`, the position as `i64` at which a sorted table with one axis would \
              take it: before equal elements for `left`, after them for `right`. The numpy rule promotes \
              element types; other rules require equal types.",
    },
];

impl DataMovementFunction {
    pub(super) fn from_name(name: &str) -> Option<DataMovementFunction> {
        let row =
            DATA_MOVEMENT.iter().find(|row| row.name == name || row.aliases.contains(&name))?;
        Some(row.function)
    }

    fn row(self) -> &'static DataMovementRow {
        DATA_MOVEMENT.iter().find(|row| row.function == self).unwrap_or(&DATA_MOVEMENT[0])
    }

    pub(super) fn name(self) -> &'static str {
        self.row().name
    }

    /// Whether the operands are given as a list.
    pub(super) fn takes_list(self) -> bool {
        matches!(
            self,
            DataMovementFunction::Concatenate
                | DataMovementFunction::Stack
                | DataMovementFunction::Lexsort
        )
    }

    /// Whether `axis=None` flattens the operands in row-major order.
    pub(super) fn flattens_without_axis(self) -> bool {
        matches!(
            self,
            DataMovementFunction::Concatenate
                | DataMovementFunction::Take
                | DataMovementFunction::TakeAlongAxis
                | DataMovementFunction::Sort
                | DataMovementFunction::Argsort
        )
    }

    /// The parameter at a position of a call.
    pub(super) fn parameter(self, position: usize) -> Option<CallParameter> {
        let row = self.row();
        let operands = if self.takes_list() { 1 } else { row.operands.len() };
        match position.checked_sub(operands) {
            None => Some(CallParameter::Operand),
            Some(position) => row.attributes.get(position).copied().map(CallParameter::Attribute),
        }
    }
}
