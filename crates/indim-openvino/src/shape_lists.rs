//! Lists from which a network computes shapes (`ShapeOf`, `Gather`, `Concat`, `Reshape`), with the names of
//! open sizes.

use std::collections::HashMap;

use indim_model::outline::{Outline, SymbolicSize, ValueIndex};

use crate::call::axis_from_front;
use crate::constants::ShortLists;
use crate::layer::Layer;
use crate::network::Network;

/// Maximum number of elements of one list. Shapes and parts of shapes are shorter.
const MAX_ELEMENTS: usize = 64;

/// The elements of the lists that depend on the sizes of arrays, by value.
#[derive(Default)]
pub(super) struct ShapeLists {
    elements: HashMap<ValueIndex, Vec<SymbolicSize>>,
}

/// A layer with its operands in an outline.
pub(super) struct LayerOperands<'n, 's> {
    pub(super) network: &'n Network,
    pub(super) layer: &'n Layer,
    pub(super) operands: &'n [Option<ValueIndex>],
    pub(super) lists: &'n ShortLists<'s>,
}

impl ShapeLists {
    /// Records the elements of the first result of a layer, if the layer computes them from sizes.
    pub(super) fn record(
        &mut self,
        outline: &Outline,
        at: &LayerOperands<'_, '_>,
        result: ValueIndex,
    ) {
        let elements = match at.layer.is("ShapeOf") {
            true => at.sizes(outline, 0).map(<[_]>::to_vec),
            false => self.computed(at),
        };
        if let Some(elements) = elements.filter(|elements| elements.len() <= MAX_ELEMENTS) {
            self.elements.insert(result, elements);
        }
    }

    fn computed(&self, at: &LayerOperands<'_, '_>) -> Option<Vec<SymbolicSize>> {
        let is_known = |value: &ValueIndex| self.elements.contains_key(value);
        if !at.operands.iter().flatten().any(is_known) {
            return None;
        }
        let list = |operand: usize| self.list(at, operand);
        match at.layer.operation.as_str() {
            "Convert" | "Reshape" | "Squeeze" | "Unsqueeze" => list(0),
            "Concat" => {
                Some((0..at.operands.len()).map(list).collect::<Option<Vec<_>>>()?.concat())
            }
            "Gather" => {
                let (data, positions) = (list(0)?, at.constant(1)?);
                let position = |position| axis_from_front(position, data.len());
                positions.into_iter().map(|it| Some(data[position(it)?].clone())).collect()
            }
            "Add" => paired(&list(0)?, &list(1)?, SymbolicSize::plus),
            "Subtract" => paired(&list(0)?, &list(1)?, SymbolicSize::minus),
            "Multiply" => paired(&list(0)?, &list(1)?, SymbolicSize::times),
            _ => None,
        }
    }

    /// The elements of an operand: a list computed from sizes, or a short constant.
    fn list(&self, at: &LayerOperands<'_, '_>, operand: usize) -> Option<Vec<SymbolicSize>> {
        let value = (*at.operands.get(operand)?)?;
        match self.elements.get(&value) {
            Some(elements) => Some(elements.clone()),
            None => Some(at.constant(operand)?.into_iter().map(SymbolicSize::known).collect()),
        }
    }

    /// The sizes of the result of a `Reshape`, `Broadcast` or `Interpolate` to a shape that the network
    /// computes.
    pub(super) fn sizes(
        &self,
        outline: &Outline,
        at: &LayerOperands<'_, '_>,
    ) -> Option<Vec<Option<SymbolicSize>>> {
        let is_reshape = at.layer.is("Reshape");
        if at.layer.is("Interpolate") {
            return self.interpolated(at, at.sizes(outline, 0)?);
        }
        if !is_reshape && !at.layer.is("Broadcast") {
            return None;
        }
        let (target, operand) = (self.list(at, 1)?, at.sizes(outline, 0)?);
        if is_reshape {
            return reshaped(operand, &target, at.layer.flag("special_zero", Some(false)).ok()?);
        }
        let is_two_way = at.layer.word("mode", "numpy") == "bidirectional";
        Some(broadcast(operand, &target, is_two_way))
    }

    /// The axes that are not resized keep their sizes; the others have those of operand 1, unless it has
    /// scales.
    fn interpolated(
        &self,
        at: &LayerOperands<'_, '_>,
        operand: &[SymbolicSize],
    ) -> Option<Vec<Option<SymbolicSize>>> {
        let pads = ["pads_begin", "pads_end"].map(|name| at.layer.integers(name).ok());
        if at.layer.version == "opset1"
            || pads.iter().any(|it| it.iter().flatten().any(|&n| n != 0))
        {
            return None;
        }
        let has_sizes = at.layer.word("shape_calculation_mode", "sizes") == "sizes";
        let target = self.list(at, 1).filter(|_| has_sizes);
        let position = if at.layer.version == "opset4" { 3 } else { 2 };
        let axes = match at.operands.len() > position {
            true => at.constant(position)?,
            false => (0..operand.len() as i64).collect(),
        };
        let mut sizes: Vec<_> = operand.iter().cloned().map(Some).collect();
        for (number, axis) in axes.into_iter().enumerate() {
            let size = target.as_ref().and_then(|target| target.get(number).cloned());
            *sizes.get_mut(axis_from_front(axis, operand.len())?)? = size;
        }
        Some(sizes)
    }
}

impl LayerOperands<'_, '_> {
    fn sizes<'o>(&self, outline: &'o Outline, operand: usize) -> Option<&'o [SymbolicSize]> {
        outline.value((*self.operands.get(operand)?)?).value_type.sizes.as_deref()
    }

    fn constant(&self, operand: usize) -> Option<Vec<i64>> {
        self.lists.read(self.network, self.layer, operand)
    }
}

/// The results for pairs of elements; a single element is paired with each one of the other list.
fn paired(
    first: &[SymbolicSize],
    second: &[SymbolicSize],
    compute: fn(&SymbolicSize, &SymbolicSize) -> Option<SymbolicSize>,
) -> Option<Vec<SymbolicSize>> {
    let count = first.len().max(second.len());
    let at = |list: &[SymbolicSize], index: usize| match list {
        [one] => Some(one.clone()),
        list => list.get(index).cloned(),
    };
    (0..count).map(|index| compute(&at(first, index)?, &at(second, index)?)).collect()
}

/// A 0 in the target keeps the size of the operand if `is_special`; a -1 is what the other sizes leave.
fn reshaped(
    operand: &[SymbolicSize],
    target: &[SymbolicSize],
    is_special: bool,
) -> Option<Vec<Option<SymbolicSize>>> {
    let kept = |(axis, size): (usize, &SymbolicSize)| match is_special && size.is(0) {
        true => operand.get(axis).cloned(),
        false => Some(size.clone()),
    };
    let sizes: Vec<SymbolicSize> = target.iter().enumerate().map(kept).collect::<Option<_>>()?;
    let others = SymbolicSize::product(sizes.iter().filter(|size| !size.is(-1)));
    let all = SymbolicSize::product(operand);
    let rest = all.zip(others).and_then(|(all, others)| all.divided_exactly(&others));
    let size = |size: SymbolicSize| if size.is(-1) { rest.clone() } else { Some(size) };
    Some(sizes.into_iter().map(size).collect())
}

/// The sizes of the target; where both can expand, those that are certain.
fn broadcast(
    operand: &[SymbolicSize],
    target: &[SymbolicSize],
    is_two_way: bool,
) -> Vec<Option<SymbolicSize>> {
    let rank = if is_two_way { operand.len().max(target.len()) } else { target.len() };
    let one = SymbolicSize::known(1);
    let size = |axis: usize| {
        let of = |sizes: &[SymbolicSize]| match (axis + sizes.len()).checked_sub(rank) {
            Some(own) => sizes[own].clone(),
            None => one.clone(),
        };
        let (own, wanted) = (of(operand), of(target));
        match () {
            () if !is_two_way || own.is(1) || own == wanted => Some(wanted),
            () if wanted.is(1) => Some(own),
            () => None,
        }
    };
    (0..rank).map(size).collect()
}
