//! Lists from which a program computes shapes (`get_dimension_size`, `reshape`, `concatenate`), with the
//! names of open sizes, and the sizes that they give to dynamic operations.
//!
//! A function that one operation calls has the lists and sizes of its operands: JAX writes the size of an
//! open batch as an argument of the function.

use std::collections::HashMap;

use indim_model::integers;
use indim_model::outline::{Outline, SymbolicSize, ValueIndex};

use crate::attribute::AttributeReader;
use crate::dense::Dense;
use crate::syntax::{Block, Module, SyntaxOperation};

/// Maximum number of elements of one list. Shapes and parts of shapes are shorter.
const MAX_ELEMENTS: usize = 64;

/// The list and the sizes of an operand of a call, as far as they are known.
#[derive(Default, Clone)]
pub(super) struct CallArgument {
    pub(super) elements: Option<Vec<SymbolicSize>>,
    pub(super) sizes: Vec<Option<SymbolicSize>>,
}

/// The elements of the lists that depend on sizes, and of short constants, by value.
#[derive(Default)]
pub(super) struct ShapeLists {
    elements: HashMap<ValueIndex, Vec<SymbolicSize>>,
    /// The number of operations that call each function.
    callers: HashMap<String, usize>,
    arguments: HashMap<String, Vec<CallArgument>>,
}

/// An operation with its operands in an outline.
pub(super) struct ListedOperation<'a, 't> {
    pub(super) operation: &'a SyntaxOperation,
    pub(super) attributes: &'a AttributeReader<'t>,
    pub(super) outline: &'a Outline,
    pub(super) operands: &'a [Option<ValueIndex>],
}

impl ShapeLists {
    pub(super) fn new(module: &Module, attributes: &AttributeReader<'_>) -> Self {
        let mut callers = HashMap::new();
        let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
        bodies.for_each(|body| count_calls(body, attributes, &mut callers));
        ShapeLists { callers, ..ShapeLists::default() }
    }

    /// The lists and sizes of the arguments of a function, if one operation calls it and came before.
    pub(super) fn arguments(&self, function: &str) -> Vec<CallArgument> {
        self.arguments.get(function).cloned().unwrap_or_default()
    }

    pub(super) fn define(&mut self, value: ValueIndex, elements: Option<Vec<SymbolicSize>>) {
        if let Some(elements) = elements.filter(|elements| elements.len() <= MAX_ELEMENTS) {
            self.elements.insert(value, elements);
        }
    }

    fn list(&self, at: &ListedOperation<'_, '_>, operand: usize) -> Option<&Vec<SymbolicSize>> {
        self.elements.get(&(*at.operands.get(operand)?)?)
    }

    /// The elements of the first result, if the operation computes them from sizes and short constants.
    pub(super) fn computed(&self, at: &ListedOperation<'_, '_>) -> Option<Vec<SymbolicSize>> {
        let list = |operand: usize| self.list(at, operand);
        let paired = |compute: fn(&SymbolicSize, &SymbolicSize) -> Option<SymbolicSize>| {
            let (first, second) = (list(0)?, list(1)?);
            let pairs = first.iter().zip(second).map(|(a, b)| compute(a, b));
            if first.len() == second.len() { pairs.collect() } else { None }
        };
        match short_name(at.operation) {
            "constant" => at.constant(),
            "get_dimension_size" => Some(vec![at.dimension_size()?]),
            "reshape" | "convert" => list(0).cloned(),
            "broadcast_in_dim" if at.has_one_element() => list(0).cloned(),
            "concatenate" => {
                let parts = (0..at.operands.len()).map(list).collect::<Option<Vec<_>>>()?;
                Some(parts.into_iter().flatten().take(MAX_ELEMENTS + 1).cloned().collect())
            }
            "add" => paired(SymbolicSize::plus),
            "subtract" => paired(SymbolicSize::minus),
            "multiply" => paired(SymbolicSize::times),
            _ => None,
        }
    }

    /// The sizes of the first result of a dynamic operation, as far as its lists give them.
    pub(super) fn sizes(&self, at: &ListedOperation<'_, '_>) -> Vec<Option<SymbolicSize>> {
        let whole = |operand: usize| -> Option<Vec<Option<SymbolicSize>>> {
            Some(self.list(at, operand)?.iter().cloned().map(Some).collect())
        };
        let sizes = match short_name(at.operation) {
            "dynamic_broadcast_in_dim" | "dynamic_reshape" => whole(1),
            "dynamic_iota" => whole(0),
            // Offset axes alone have the sizes of the slice, in their order.
            "dynamic_gather" => whole(2),
            "real_dynamic_slice" => self.sliced(at),
            _ => None,
        };
        sizes.unwrap_or_default()
    }

    /// `ceil((limit - start) / stride)` for each axis.
    fn sliced(&self, at: &ListedOperation<'_, '_>) -> Option<Vec<Option<SymbolicSize>>> {
        let (starts, limits) = (self.list(at, 1)?, self.list(at, 2)?);
        let strides = self.list(at, 3)?;
        let size = |((start, limit), stride): ((&SymbolicSize, &SymbolicSize), &SymbolicSize)| {
            let (length, stride) = (limit.minus(start)?, stride.number().filter(|&it| it > 0)?);
            length.plus(&SymbolicSize::known(stride - 1))?.floor_divided(stride)
        };
        Some(starts.iter().zip(limits).zip(strides).map(size).collect())
    }

    /// Records the operands of a call of a function that has no other caller.
    pub(super) fn record_call(&mut self, at: &ListedOperation<'_, '_>) {
        let Some(function) = callee(at.operation, at.attributes) else { return };
        if self.callers.get(&function) != Some(&1) {
            return;
        }
        let argument = |&operand: &Option<ValueIndex>| {
            let Some(value) = operand else { return CallArgument::default() };
            let sizes = at.outline.value(value).value_type.sizes.clone().unwrap_or_default();
            CallArgument {
                elements: self.elements.get(&value).cloned(),
                sizes: sizes.into_iter().map(Some).collect(),
            }
        };
        let arguments = at.operands.iter().map(argument).collect();
        self.arguments.insert(function, arguments);
    }
}

impl ListedOperation<'_, '_> {
    /// The elements of a short constant of integers.
    fn constant(&self) -> Option<Vec<SymbolicSize>> {
        let array_type = self.operation.first_array_type()?;
        let count = array_type.shape.element_count().ok()?;
        if !array_type.dtype.is_integer() || array_type.shape.rank() > 1 || count > MAX_ELEMENTS {
            return None;
        }
        let value = self.attributes.optional(self.operation, "value")?;
        let array =
            Dense::read_all(self.attributes, value, Some(array_type), MAX_ELEMENTS).ok()??;
        let elements = integers(&array)?;
        Some(elements.into_iter().map(SymbolicSize::known).collect())
    }

    fn dimension_size(&self) -> Option<SymbolicSize> {
        let axis = self.attributes.integer(self.operation, "dimension").ok();
        let axis = axis.or_else(|| self.pretty_axis())?;
        let value = self.outline.value((*self.operands.first()?)?);
        value.value_type.sizes.as_ref()?.get(usize::try_from(axis).ok()?).cloned()
    }

    /// The axis in the pretty form, `get_dimension_size %x, dim = 0 : ..`: the parser keeps no attributes
    /// of an operation without a lowering.
    fn pretty_axis(&self) -> Option<i64> {
        let parts = self.attributes.text.get(self.operation.span.end..)?.split(':').next()?;
        let (_, axis) = parts.split_once("dim")?;
        axis.trim_start().strip_prefix('=')?.trim().parse().ok()
    }

    fn has_one_element(&self) -> bool {
        let array_type = self.operation.first_array_type();
        array_type.is_some_and(|it| it.shape.element_count() == Ok(1))
    }
}

/// The name without its dialect.
fn short_name(operation: &SyntaxOperation) -> &str {
    operation.name.rsplit('.').next().unwrap_or_default()
}

/// The function that an operation calls.
fn callee(operation: &SyntaxOperation, attributes: &AttributeReader<'_>) -> Option<String> {
    if short_name(operation) != "call" {
        return None;
    }
    attributes.optional(operation, "callee").map(|span| attributes.name(span))
}

/// Counts the calls in a block and its regions. The recursion is bounded by the parser's nesting limit.
fn count_calls(
    block: &Block,
    attributes: &AttributeReader<'_>,
    callers: &mut HashMap<String, usize>,
) {
    for operation in &block.operations {
        if let Some(function) = callee(operation, attributes) {
            *callers.entry(function).or_default() += 1;
        }
        operation.regions.iter().for_each(|region| count_calls(region, attributes, callers));
    }
}
