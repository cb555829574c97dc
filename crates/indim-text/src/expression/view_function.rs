//! The functions that show arrays otherwise or put them together, in one table: what a call of each takes,
//! and what it means. What they become is in `views.rs`.

use super::function::{Attribute, Parameter};

/// One of these functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ViewFunction {
    Concatenate,
    Stack,
    Flip,
    Roll,
    Pad,
    Take,
    Diff,
    ExpandDims,
    Squeeze,
}

/// A row of the table.
#[derive(Debug)]
pub(crate) struct View {
    function: ViewFunction,
    /// The name.
    pub(crate) name: &'static str,
    /// The other names.
    pub(crate) aliases: &'static [&'static str],
    /// The names of the operands; one name stands for a list where `call` has one.
    pub(crate) operands: &'static [&'static str],
    /// Parameters behind the operands, in order.
    attributes: &'static [Attribute],
    /// A call, with the defaults.
    pub(crate) call: &'static str,
    /// The element types.
    pub(crate) types: &'static str,
    /// Meaning.
    pub(crate) doc: &'static str,
}

/// Every one of these functions.
pub(crate) const VIEWS: &[View] = &[
    View {
        function: ViewFunction::Concatenate,
        name: "concatenate",
        aliases: &["concat"],
        operands: &["x", "y"],
        attributes: &[Attribute::Axis],
        call: "concatenate([x, y], axis=0)",
        types: "any",
        doc: "The arrays one after another along an axis, each written in place; `None` takes them flat. \
              Under the numpy rule in their common type, elsewhere of one type.",
    },
    View {
        function: ViewFunction::Stack,
        name: "stack",
        aliases: &[],
        operands: &["x", "y"],
        attributes: &[Attribute::Axis],
        call: "stack([x, y], axis=0)",
        types: "any",
        doc: "Arrays of one shape along a new axis. Types as for `concatenate`.",
    },
    View {
        function: ViewFunction::Flip,
        name: "flip",
        aliases: &[],
        operands: &["x"],
        attributes: &[Attribute::Axes],
        call: "flip(x, axis=None)",
        types: "any",
        doc: "The elements in reverse order along the axes, by default all. It moves nothing.",
    },
    View {
        function: ViewFunction::Roll,
        name: "roll",
        aliases: &[],
        operands: &["x"],
        attributes: &[Attribute::Shift, Attribute::Axes],
        call: "roll(x, shift, axis=None)",
        types: "any",
        doc: "The elements moved on by `shift` along the axis, or in row-major order; those that leave it \
              come in at its other end. Several shifts are for an axis each.",
    },
    View {
        function: ViewFunction::Pad,
        name: "pad",
        aliases: &[],
        operands: &["x"],
        attributes: &[Attribute::Widths, Attribute::Mode, Attribute::Argument("constant_values")],
        call: "pad(x, pad_width, mode=constant, constant_values=0)",
        types: "any",
        doc: "More elements in front of axes and behind them: `pad_width` is `1`, `[1, 2]` or \
              `[[1, 2], [0, 3]]`. `constant` writes one real number; `edge` repeats the outermost element, \
              `wrap` goes on at the other end; `reflect` and `symmetric` mirror, without and with the \
              outermost element, up to the size of the axis. Negative widths take elements away, under \
              `constant` alone.",
    },
    View {
        function: ViewFunction::Take,
        name: "take",
        aliases: &[],
        operands: &["x", "indices"],
        attributes: &[Attribute::Axis, Attribute::Mode],
        call: "take(x, indices, axis=None, mode=error)",
        types: "any; indices S U",
        doc: "The elements whose numbers along the axis, or in row-major order, `indices` names, in the \
              shape of `indices`. An index that names none is an error before anything is written, negative \
              ones count from the end; under `clip` it names the nearest, negative ones the first; under \
              `wrap` it counts around.",
    },
    View {
        function: ViewFunction::Diff,
        name: "diff",
        aliases: &[],
        operands: &["x"],
        attributes: &[Attribute::Argument("n"), Attribute::Axis],
        call: "diff(x, n=1, axis=-1)",
        types: "any",
        doc: "Each element less the one before it along the axis, `n` times, at most 64; of truth values \
              whether the two differ. Integers wrap.",
    },
    View {
        function: ViewFunction::ExpandDims,
        name: "expand_dims",
        aliases: &[],
        operands: &["x"],
        attributes: &[Attribute::Axes],
        call: "expand_dims(x, axis)",
        types: "any",
        doc: "New axes of size 1, which have the numbers `axis` in the result.",
    },
    View {
        function: ViewFunction::Squeeze,
        name: "squeeze",
        aliases: &[],
        operands: &["x"],
        attributes: &[Attribute::Axes],
        call: "squeeze(x, axis=None)",
        types: "any",
        doc: "Without the axes, by default without all of size 1; another size is an error.",
    },
];

impl ViewFunction {
    pub(super) fn from_name(name: &str) -> Option<ViewFunction> {
        let row = VIEWS.iter().find(|row| row.name == name || row.aliases.contains(&name))?;
        Some(row.function)
    }

    fn row(self) -> &'static View {
        VIEWS.iter().find(|row| row.function == self).unwrap_or(&VIEWS[0])
    }

    pub(super) fn name(self) -> &'static str {
        self.row().name
    }

    /// Whether the operands are given as a list.
    pub(super) fn takes_list(self) -> bool {
        matches!(self, ViewFunction::Concatenate | ViewFunction::Stack)
    }

    /// Whether no axis means the elements in row-major order.
    pub(super) fn takes_flat(self) -> bool {
        matches!(self, ViewFunction::Concatenate | ViewFunction::Take)
    }

    /// The argument at a position of a call.
    pub(super) fn parameter(self, position: usize) -> Option<Parameter> {
        let row = self.row();
        let operands = if self.takes_list() { 1 } else { row.operands.len() };
        match position.checked_sub(operands) {
            None => Some(Parameter::Operand),
            Some(position) => row.attributes.get(position).copied().map(Parameter::Attribute),
        }
    }
}
