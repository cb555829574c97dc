//! Loops of known length: the condition compares a counter with a known number, and each step adds a known
//! number to the counter.

use indim_graph::{Array, Graph, NodeKind, Region, ValueId};
use indim_ops::{DType, DTypeClass, Op};

/// The counter and the number of steps of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TripCount {
    /// The number of the state that counts.
    pub(super) counter: usize,
    pub(super) dtype: DType,
    /// The value of the counter in the first step.
    pub(super) start: i128,
    /// The number that each step adds; not 0.
    pub(super) stride: i128,
    pub(super) steps: usize,
}

impl TripCount {
    /// The trip count of a loop with these known integers among its operands; `None` if it is not known.
    pub(super) fn of(
        condition: &Region,
        body: &Region,
        operands: &[Option<i128>],
    ) -> Option<TripCount> {
        let (condition, body) = (condition.graph(), body.graph());
        let known: Vec<Option<i128>> = (0..operands.len())
            .map(|index| if is_constant_state(body, index) { operands[index] } else { None })
            .collect();
        let in_condition = known_integers(condition, &known);
        let result = &condition[condition.outputs()[0]];
        let NodeKind::Elementwise(op) = result.kind else { return None };
        let &[left, right] = &result.operands[..] else { return None };
        let (op, counter, end) = match in_condition[right.index()] {
            Some(end) => (op, counter_of(condition, left)?, end),
            None => (mirrored(op)?, counter_of(condition, right)?, in_condition[left.index()]?),
        };
        let stride = stride_of(body, counter, &known)?;
        let start = operands[counter]?;
        let steps = step_count(op, start, end, stride)?;
        let dtype = condition[condition.parameters()[counter]].array_type.dtype;
        let (low, high) = integer_range(dtype)?;
        let last = start.checked_add(stride.checked_mul(steps)?)?;
        let fits = |number: i128| (low..=high).contains(&number);
        let steps = usize::try_from(i64::try_from(steps).ok()?).ok()?;
        (stride != 0 && fits(last) && fits(stride.abs())).then_some(TripCount {
            counter,
            dtype,
            start,
            stride,
            steps,
        })
    }
}

/// Whether each step returns operand `index` of a loop unchanged.
pub(super) fn is_constant_state(body: &Graph, index: usize) -> bool {
    body.outputs().get(index).is_none_or(|output| body.parameters()[index] == *output)
}

/// The integers that are known among the values of a graph, given those of its parameters: scalar constants,
/// and conversions, sums, differences and products of them.
pub(super) fn known_integers(graph: &Graph, parameters: &[Option<i128>]) -> Vec<Option<i128>> {
    let mut known: Vec<Option<i128>> = Vec::with_capacity(graph.len());
    for (_, node) in graph.iter() {
        let operand = |index: usize| known[node.operands[index].index()];
        let binary = |combine: fn(i128, i128) -> Option<i128>| combine(operand(0)?, operand(1)?);
        let integer = match &node.kind {
            NodeKind::Parameter { index, .. } => parameters[*index],
            NodeKind::Constant(array) => integer(array),
            NodeKind::Convert | NodeKind::Reshape | NodeKind::BroadcastInDim(_) => operand(0),
            NodeKind::Elementwise(Op::Add) => binary(i128::checked_add),
            NodeKind::Elementwise(Op::Sub) => binary(i128::checked_sub),
            NodeKind::Elementwise(Op::Mul) => binary(i128::checked_mul),
            _ => None,
        };
        let range = integer_range(node.array_type.dtype);
        let fits = |number: &i128| range.is_some_and(|(low, high)| (low..=high).contains(number));
        known.push(integer.filter(|number| node.array_type.shape.is_scalar() && fits(number)));
    }
    known
}

/// The index of the state that `value` reads, directly or converted to a wider type; `None` for other values.
fn counter_of(condition: &Graph, value: ValueId) -> Option<usize> {
    let node = &condition[value];
    match &node.kind {
        NodeKind::Parameter { index, .. } => node.array_type.shape.is_scalar().then_some(*index),
        NodeKind::Convert => {
            let operand = node.operands[0];
            let (low, high) = integer_range(condition[operand].array_type.dtype)?;
            let (wider_low, wider_high) = integer_range(node.array_type.dtype)?;
            let is_same = wider_low <= low && high <= wider_high;
            let is_parameter = matches!(condition[operand].kind, NodeKind::Parameter { .. });
            if is_same && is_parameter { counter_of(condition, operand) } else { None }
        }
        _ => None,
    }
}

/// The known number that each step adds to a state.
fn stride_of(body: &Graph, state: usize, known: &[Option<i128>]) -> Option<i128> {
    let next = &body[*body.outputs().get(state)?];
    let &[left, right] = &next.operands[..] else { return None };
    let known = known_integers(body, known);
    let counter = body.parameters()[state];
    match next.kind {
        NodeKind::Elementwise(Op::Add) if left == counter => known[right.index()],
        NodeKind::Elementwise(Op::Add) if right == counter => known[left.index()],
        NodeKind::Elementwise(Op::Sub) if left == counter => known[right.index()]?.checked_neg(),
        _ => None,
    }
}

/// The comparison with exchanged operands.
fn mirrored(op: Op) -> Option<Op> {
    match op {
        Op::Lt => Some(Op::Gt),
        Op::Le => Some(Op::Ge),
        Op::Gt => Some(Op::Lt),
        Op::Ge => Some(Op::Le),
        Op::Ne => Some(Op::Ne),
        _ => None,
    }
}

/// How often `op` of a counter and `end` is true; `None` if it stays true.
fn step_count(op: Op, start: i128, end: i128, stride: i128) -> Option<i128> {
    let upwards = |first: i128, end: i128, stride: i128| match first < end {
        false => Some(0),
        true if stride <= 0 => None,
        true => Some(end.checked_sub(first)?.checked_add(stride - 1)? / stride),
    };
    match op {
        Op::Lt => upwards(start, end, stride),
        Op::Le => upwards(start, end.checked_add(1)?, stride),
        Op::Gt => upwards(start.checked_neg()?, end.checked_neg()?, stride.checked_neg()?),
        Op::Ge => {
            let end = end.checked_sub(1)?;
            upwards(start.checked_neg()?, end.checked_neg()?, stride.checked_neg()?)
        }
        Op::Ne => {
            let distance = end.checked_sub(start)?;
            let steps = distance.checked_div(stride)?;
            (steps >= 0 && distance.checked_rem(stride) == Some(0)).then_some(steps)
        }
        _ => None,
    }
}

/// The smallest and the greatest number of a type of integers.
fn integer_range(dtype: DType) -> Option<(i128, i128)> {
    let bits = dtype.bits();
    match dtype.class() {
        DTypeClass::Signed => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        DTypeClass::Unsigned => Some((0, (1 << bits) - 1)),
        _ => None,
    }
}

/// The element of a scalar array of integers.
fn integer(array: &Array) -> Option<i128> {
    macro_rules! read {
        ($($variant:ident $type:ident;)*) => {
            match array.dtype() {
                $(DType::$variant => array.scalar::<$type>().ok().map(i128::from),)*
                _ => None,
            }
        };
    }
    read! { I8 i8; I16 i16; I32 i32; I64 i64; U8 u8; U16 u16; U32 u32; U64 u64; }
}
