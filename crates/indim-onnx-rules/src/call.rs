//! A node with the types of its operands, for its shape rule.

use std::cell::RefCell;

use indim_model::FormatErrorKind;
use indim_model::outline::{NamedCondition, OutlineBroadcast, SymbolicSize, ValueType, Verdict};
use indim_shape::{AnyRule, RuleSet};

use crate::typed_value::TypedValue;
use indim_onnx_file::flatten::FlatNode;
use indim_onnx_file::tensor::Tensors;

/// The reason why a shape rule gives no types.
#[derive(Debug)]
pub(crate) enum RuleError {
    /// The type or the elements of an operand are unknown, or an attribute that the rule needs is
    /// missing.
    Unknown,
    /// The broadcast of the operands is illegal; `RuleCall::broadcasts` has it.
    Broadcast,
    /// The shapes of the operands do not fit the operator.
    Shapes(String),
    /// An attribute is wrong.
    Attribute(FormatErrorKind),
}

impl From<FormatErrorKind> for RuleError {
    fn from(kind: FormatErrorKind) -> Self {
        RuleError::Attribute(kind)
    }
}

pub(crate) type RuleResult = Result<Vec<TypedValue>, RuleError>;

/// A shape rule: infers the types of the results of a node, and the few elements that determine shapes.
pub(crate) type Rule = fn(&RuleCall<'_>) -> RuleResult;

/// A node with the types of its operands.
pub(crate) struct RuleCall<'c> {
    /// The node, with its attributes and version.
    pub(crate) node: &'c FlatNode,
    /// The arrays of attributes.
    pub(crate) tensors: &'c Tensors,
    pub(crate) operands: &'c [Option<TypedValue>],
    /// Name of the first result.
    pub(crate) result: &'c str,
    /// Name of the node and its operator, for messages.
    pub(crate) label: String,
    /// The broadcasts that the shape rule has judged so far.
    pub(crate) broadcasts: RefCell<Vec<OutlineBroadcast>>,
    /// The other conditions on sizes that the shape rule has found so far.
    pub(crate) conditions: RefCell<Vec<NamedCondition>>,
}

/// A single result.
pub(crate) fn single_result(value_type: ValueType) -> RuleResult {
    Ok(vec![TypedValue::of(value_type)])
}

/// A single result with an element type and sizes.
pub(crate) fn array_result(element: &str, sizes: Vec<SymbolicSize>) -> RuleResult {
    single_result(ValueType::new(element, sizes))
}

pub(crate) fn known_size(size: i64) -> SymbolicSize {
    SymbolicSize::known(size)
}

pub(crate) fn shape_error<T>(problem: impl Into<String>) -> Result<T, RuleError> {
    Err(RuleError::Shapes(problem.into()))
}

/// The axis, counted from the end if it is negative; `None` if it is out of range.
pub fn counted_axis(axis: i64, rank: usize) -> Option<usize> {
    let counted = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
    usize::try_from(counted).ok().filter(|&axis| axis < rank)
}

impl RuleCall<'_> {
    pub(crate) fn optional(&self, position: usize) -> Option<&TypedValue> {
        self.operands.get(position)?.as_ref()
    }

    pub(crate) fn operand(&self, position: usize) -> Result<&TypedValue, RuleError> {
        let missing = || RuleError::Shapes(format!("operand {position} is missing"));
        self.optional(position).ok_or_else(missing)
    }

    /// The name of the element type of an operand; `RuleError::Unknown` if the type is unknown.
    pub(crate) fn element(&self, position: usize) -> Result<String, RuleError> {
        let element = &self.operand(position)?.value_type.element;
        element.as_deref().map(str::to_owned).ok_or(RuleError::Unknown)
    }

    /// A type with the element type of an operand, if it is known, and without sizes.
    pub(crate) fn element_type(&self, position: usize) -> ValueType {
        let element = self.optional(position).and_then(|it| it.value_type.element.clone());
        ValueType { element, sizes: None }
    }

    pub(crate) fn sizes(&self, position: usize) -> Result<&[SymbolicSize], RuleError> {
        self.operand(position)?.value_type.sizes.as_deref().ok_or(RuleError::Unknown)
    }

    /// # Errors
    /// `RuleError::Shapes` for another rank.
    pub(crate) fn sizes_of_rank(
        &self,
        position: usize,
        rank: usize,
    ) -> Result<&[SymbolicSize], RuleError> {
        let sizes = self.sizes(position)?;
        match sizes.len() == rank {
            true => Ok(sizes),
            false => {
                shape_error(format!("operand {position} has rank {}, not {rank}", sizes.len()))
            }
        }
    }

    /// The symbolic elements of an operand.
    pub(crate) fn symbols(&self, position: usize) -> Option<Vec<SymbolicSize>> {
        self.optional(position)?.symbols()
    }

    /// The elements of an operand, if all are known numbers.
    pub(crate) fn numbers(&self, position: usize) -> Option<Vec<i64>> {
        self.symbols(position)?.iter().map(SymbolicSize::number).collect()
    }

    /// A list of numbers: an attribute before version `since`, an operand from that version on.
    /// `Ok(None)`: the list is absent.
    ///
    /// # Errors
    /// `RuleError::Unknown` if its elements are unknown.
    pub(crate) fn integer_list(
        &self,
        name: &str,
        position: usize,
        since: i64,
    ) -> Result<Option<Vec<i64>>, RuleError> {
        if self.node.version < since {
            return Ok(self.node.ints(name)?);
        }
        match self.optional(position) {
            None => Ok(None),
            Some(_) => Ok(Some(self.numbers(position).ok_or(RuleError::Unknown)?)),
        }
    }

    /// A new symbol, named after the result and the axis: for a size that depends on data, or whose
    /// expression would be too long.
    pub(crate) fn new_symbol(&self, axis: usize) -> SymbolicSize {
        SymbolicSize::atom(&format!("{}[{axis}]", self.result))
    }

    pub(crate) fn new_symbols(&self, rank: usize) -> Vec<SymbolicSize> {
        (0..rank).map(|axis| self.new_symbol(axis)).collect()
    }

    /// The size, or a new symbol if it is unknown.
    pub(crate) fn or_new_symbol(&self, size: Option<SymbolicSize>, axis: usize) -> SymbolicSize {
        size.unwrap_or_else(|| self.new_symbol(axis))
    }

    /// # Errors
    /// `RuleError::Shapes` for an axis out of range.
    pub(crate) fn axis(&self, axis: i64, rank: usize) -> Result<usize, RuleError> {
        match counted_axis(axis, rank) {
            Some(axis) => Ok(axis),
            None => shape_error(format!("axis {axis} is out of range for rank {rank}")),
        }
    }

    /// Distinct axes, counted from the end if they are negative.
    ///
    /// # Errors
    /// `RuleError::Shapes` for an axis out of range or twice in the list.
    pub(crate) fn distinct_axes(&self, axes: &[i64], rank: usize) -> Result<Vec<usize>, RuleError> {
        let mut distinct = Vec::with_capacity(axes.len().min(rank));
        for &axis in axes {
            let axis = self.axis(axis, rank)?;
            if distinct.contains(&axis) {
                return shape_error(format!("axis {axis} is twice in the list {axes:?}"));
            }
            distinct.push(axis);
        }
        Ok(distinct)
    }

    /// The common size of two axes that must be equal: the first size if it is a number, else the second.
    /// Records the condition if the sizes are not certainly equal.
    ///
    /// # Errors
    /// `RuleError::Shapes` if the sizes always differ.
    pub(crate) fn unify(
        &self,
        (first, second): (&SymbolicSize, &SymbolicSize),
        what: &str,
    ) -> Result<SymbolicSize, RuleError> {
        if !self.may_be_equal(first, second) {
            return shape_error(format!("{what}: {first} and {second} differ"));
        }
        Ok(if first.number().is_some() { first } else { second }.clone())
    }

    /// Checks the shape of an operand: its rank, and its sizes where `sizes` has one. A missing operand, or
    /// one of unknown shape, is correct.
    ///
    /// # Errors
    /// `RuleError::Shapes` with the operand, the axis and both sizes.
    pub(crate) fn expect(
        &self,
        position: usize,
        what: &str,
        sizes: &[Option<&SymbolicSize>],
    ) -> Result<(), RuleError> {
        let Some(operand) = self.optional(position) else { return Ok(()) };
        let Some(own) = &operand.value_type.sizes else { return Ok(()) };
        let name = indim_graph::terminal::printable(&operand.name);
        if own.len() != sizes.len() {
            let (rank, expected) = (own.len(), sizes.len());
            return shape_error(format!("`{name}`, {what}, has rank {rank}, not {expected}"));
        }
        for (axis, (own, expected)) in own.iter().zip(sizes).enumerate() {
            if let Some(expected) = expected
                && !self.may_be_equal(expected, own)
            {
                return shape_error(format!(
                    "axis {axis} of `{name}`, {what}, is {own}, not {expected}"
                ));
            }
        }
        Ok(())
    }

    /// Checks that an operand has known sizes.
    ///
    /// # Errors
    /// Those of [`RuleCall::expect`].
    pub(crate) fn expect_sizes(
        &self,
        position: usize,
        what: &str,
        sizes: &[SymbolicSize],
    ) -> Result<(), RuleError> {
        self.expect(position, what, &sizes.iter().map(Some).collect::<Vec<_>>())
    }

    /// # Errors
    /// `RuleError::Shapes` if operand 0 has a smaller rank.
    pub(crate) fn sizes_of_least_rank(&self, rank: usize) -> Result<&[SymbolicSize], RuleError> {
        let sizes = self.sizes(0)?;
        match sizes.len() >= rank {
            true => Ok(sizes),
            false => shape_error(format!("operand 0 has rank {}, not {rank} or more", sizes.len())),
        }
    }

    /// The first element of an operand.
    pub(crate) fn first_symbol(&self, position: usize) -> Option<SymbolicSize> {
        self.symbols(position)?.first().cloned()
    }

    /// Whether two sizes can be equal. Records the condition if they are not certainly equal.
    pub(crate) fn may_be_equal(&self, first: &SymbolicSize, second: &SymbolicSize) -> bool {
        if first == second {
            return true;
        }
        let may_be_equal = first.may_be_equal(second, 0);
        if may_be_equal {
            self.conditions.borrow_mut().push(NamedCondition::equal(first, second));
        }
        may_be_equal
    }

    /// Whether a size can be at most another one. Records the condition if it is not certainly.
    pub(crate) fn may_be_at_most(&self, size: &SymbolicSize, limit: &SymbolicSize) -> bool {
        if size.is_at_most(limit) {
            return true;
        }
        let are_numbers = size.number().is_some() && limit.number().is_some();
        if let Some(smaller) = size.minimum(limit).filter(|_| !are_numbers) {
            self.conditions.borrow_mut().push(NamedCondition::equal(&smaller, size));
        }
        !are_numbers
    }

    /// Checks a list of parameters, such as scales: one for all, or one for each of `count` indices of an
    /// axis. A missing operand, one of unknown shape, and one of another rank is correct.
    ///
    /// # Errors
    /// `RuleError::Shapes` with the operand and both sizes.
    pub(crate) fn expect_parameters(
        &self,
        position: usize,
        what: &str,
        count: Option<&SymbolicSize>,
    ) -> Result<(), RuleError> {
        let Some(operand) = self.optional(position) else { return Ok(()) };
        let Some([own]) = operand.value_type.sizes.as_deref() else { return Ok(()) };
        if count.is_some_and(|count| self.may_be_equal_or_one(own, count))
            || self.may_be_equal(own, &SymbolicSize::known(1))
        {
            return Ok(());
        }
        let name = indim_graph::terminal::printable(&operand.name);
        let count = count.map_or(String::new(), |count| format!("{count} or "));
        shape_error(format!("`{name}`, {what}, has {own} elements, not {count}1"))
    }

    /// Whether a size can be equal to another one. Records the condition that it is, or that it is 1.
    pub(crate) fn may_be_equal_or_one(&self, own: &SymbolicSize, other: &SymbolicSize) -> bool {
        let one = SymbolicSize::known(1);
        let may_be_equal = own.may_be_equal(other, 0);
        if own != other && *own != one && may_be_equal {
            let ones = if own.may_be_equal(&one, 0) { vec![own.clone()] } else { Vec::new() };
            let condition = NamedCondition { ones, ..NamedCondition::equal(own, other) };
            self.conditions.borrow_mut().push(condition);
        }
        may_be_equal || *own == one
    }

    /// Judges a broadcast and records it. Returns the sizes of the result.
    ///
    /// # Errors
    /// `RuleError::Unknown`, `RuleError::Broadcast`.
    pub(crate) fn broadcast(
        &self,
        rule: impl Into<AnyRule>,
        operands: Vec<(String, ValueType)>,
        target: Option<&[SymbolicSize]>,
    ) -> Result<Vec<SymbolicSize>, RuleError> {
        let judged = OutlineBroadcast::judge(rule.into(), operands, target, &self.label);
        let sizes = match &judged.verdict {
            Verdict::Legal(form) | Verdict::LegalIf(form, _) => Ok(form.result.clone()),
            Verdict::Illegal(_) => Err(RuleError::Broadcast),
            Verdict::Unknown => Err(RuleError::Unknown),
        };
        self.broadcasts.borrow_mut().push(judged);
        sizes
    }

    /// The names and types of operands.
    pub(crate) fn named(&self, positions: &[usize]) -> Result<Vec<(String, ValueType)>, RuleError> {
        let one = |&position: &usize| {
            let operand = self.operand(position)?;
            Ok((indim_graph::terminal::printable(&operand.name), operand.value_type.clone()))
        };
        positions.iter().map(one).collect()
    }

    /// NumPy's broadcast of operands.
    ///
    /// # Errors
    /// Those of [`RuleCall::broadcast`].
    pub(crate) fn numpy(&self, positions: &[usize]) -> Result<Vec<SymbolicSize>, RuleError> {
        self.broadcast(RuleSet::Numpy, self.named(positions)?, None)
    }
}
