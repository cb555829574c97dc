//! Choices shared by generators of random graphs: the one in this folder, and that of `indim-cpu`'s tests.

use indim_builder::{GraphBuilder, Value};
use indim_graph::{AxisSlice, AxisWindow, ScatterMode, TakeMode};
use indim_ops::{ArrayType, DType, DTypeClass, Op, ReduceOp, ScatterOp};
use indim_shape::{RuleSet, Shape};

/// A source of choices: a function that returns a number below a limit, which is at least 1.
pub(crate) struct Choices<'a>(pub(crate) &'a mut dyn FnMut(usize) -> usize);

impl Choices<'_> {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.0)(limit.max(1))
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// A pseudo-random function (SplitMix64). The same seed makes the same choices on every machine.
pub(crate) fn pseudo_random(mut state: u64) -> impl FnMut(usize) -> usize {
    move |limit| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % limit as u64) as usize
    }
}

/// A shape that broadcasts to `full` under numpy: some sizes become 1, some leading axes vanish.
pub(crate) fn partial_shape(choices: &mut Choices<'_>, full: &[usize]) -> Shape {
    let dropped = if choices.chance(30) { choices.below(full.len() + 1) } else { 0 };
    full[dropped..].iter().map(|&size| if choices.chance(40) { 1 } else { size }).collect()
}

/// `x` converted or bitcast to another element type.
pub(crate) fn random_conversion(choices: &mut Choices<'_>, b: &GraphBuilder, x: Value) -> Value {
    let dtype = *choices.pick(DType::ALL);
    match choices.chance(50) {
        true => b.bitcast(&x, dtype).unwrap_or(x),
        false => b.convert(x, dtype).unwrap(),
    }
}

/// `x`, which has axes, reduced along one, sometimes through a wider type like a sum.
pub(crate) fn random_reduction(choices: &mut Choices<'_>, b: &GraphBuilder, x: Value) -> Value {
    let ArrayType { dtype, shape } = x.array_type().unwrap();
    let axis = choices.below(shape.rank()) as i64;
    let takes: Vec<ReduceOp> = ReduceOp::ALL
        .iter()
        .copied()
        .filter(|op| op.takes(dtype) || op.takes(wide(dtype)))
        .collect();
    let op = *choices.pick(&takes);
    let wide = if op.takes(dtype) && choices.chance(50) { dtype } else { wide(dtype) };
    let operand = b.convert(&x, if op.takes(wide) { wide } else { dtype }).unwrap();
    // An arg-reduction of no elements is refused.
    let Ok(reduced) = b.reduce(op, operand, axis) else { return x };
    if choices.chance(40) {
        return reduced;
    }
    let mut kept = shape.to_vec();
    kept[axis as usize] = 1;
    // With an axis of size 1, the result broadcasts with the other values.
    b.reshape(reduced, kept).unwrap()
}

/// A view of `x`, which has axes: a slice, a reversal, windows, a concatenation of parts, or a gather by
/// constant indices, by `x` itself, or by another of `values`.
pub(crate) fn random_view(
    choices: &mut Choices<'_>,
    b: &GraphBuilder,
    values: &[Value],
    x: Value,
) -> Value {
    let shape = x.array_type().unwrap().shape;
    let axis = choices.below(shape.rank());
    let size = shape[axis];
    let along = |slice: AxisSlice| {
        let mut slices: Vec<AxisSlice> = shape.iter().map(|&size| AxisSlice::whole(size)).collect();
        slices[axis] = slice;
        b.slice(&x, &slices).unwrap()
    };
    match choices.below(11) {
        9 | 10 => random_window(choices, b, x, axis),
        5 | 6 => random_take(choices, b, x, axis),
        8 => {
            let indices = choices.pick(values).clone();
            taken_by(choices, b, x, axis, indices)
        }
        0 => b.reverse(&x, &[axis as i64]).unwrap(),
        1 => b.roll(&x, choices.below(9) as i64 - 4, axis as i64).unwrap(),
        // The result broadcasts with the other values.
        2 if size > 0 => along(AxisSlice::new(choices.below(size), 1, 1)),
        3 => {
            let slice = random_slice(choices, size);
            let (rest, sliced) = (size - slice.count(), along(slice));
            let mut widths = vec![(0, 0, 0); shape.rank()];
            let front = choices.below(rest + 1);
            widths[axis] = (front as i64, (rest - front) as i64, 0);
            let zero = b.convert(b.scalar(0u8), x.array_type().unwrap().dtype).unwrap();
            b.pad(sliced, zero, &widths).unwrap()
        }
        4 => {
            let cut = choices.below(size + 1);
            let front = b.reverse(along(AxisSlice::new(0, cut, 1)), &[axis as i64]).unwrap();
            let back = along(AxisSlice::new(cut, size - cut, 1));
            let parts = if choices.chance(50) { [front, back] } else { [back, front] };
            b.concatenate(&parts, axis as i64).unwrap()
        }
        _ => along(random_slice(choices, size)),
    }
}

/// Windows of `x` along `axis`, or a moving extreme or sum, with which other values broadcast more often.
fn random_window(choices: &mut Choices<'_>, b: &GraphBuilder, x: Value, axis: usize) -> Value {
    let ArrayType { dtype, shape } = x.array_type().unwrap();
    let size = 1 + choices.below(shape[axis].max(1));
    let window = AxisWindow::new(size, 1 + choices.below(3), 1 + choices.below(2));
    let count = shape.iter().fold(size, |count, &size| count.saturating_mul(size));
    if count > MAX_ELEMENTS || shape.rank() > 7 {
        return x;
    }
    // A window that does not fit leaves no positions; padding makes room for them.
    let mut widths = vec![(0, 0, 0); shape.rank()];
    widths[axis] = (choices.below(2) as i64, choices.below(window.span()) as i64, 0);
    let zero = b.convert(b.scalar(0u8), dtype).unwrap();
    let padded = if choices.chance(50) { b.pad(&x, zero, &widths).unwrap() } else { x.clone() };
    let windows = b.window(padded, axis as i64, window).unwrap();
    match choices.below(3) {
        0 => windows,
        1 => {
            // The windows of a window: an index with three terms.
            let inside = AxisWindow::new(1 + choices.below(size), 1, 1);
            let inner = b.window(&windows, axis as i64, inside).unwrap();
            let last = AxisSlice::new(size - 1, 1, 1);
            let shape = inner.array_type().unwrap().shape;
            let mut slices: Vec<AxisSlice> =
                shape.iter().map(|&size| AxisSlice::whole(size)).collect();
            slices[shape.rank() - 2] = last;
            b.slice(inner, &slices).unwrap()
        }
        _ => {
            let takes: Vec<ReduceOp> =
                ReduceOp::ALL.iter().copied().filter(|op| op.takes(dtype)).collect();
            match takes.is_empty() {
                true => windows,
                false => {
                    let last = shape.rank() as i64;
                    b.reduce(*choices.pick(&takes), &windows, last).unwrap_or(windows)
                }
            }
        }
    }
}

/// A gather from `x` by one index for each element of its axis, constant or from `x` itself; or a scatter of
/// these elements to `x`.
fn random_take(choices: &mut Choices<'_>, b: &GraphBuilder, x: Value, axis: usize) -> Value {
    let ArrayType { dtype, shape } = x.array_type().unwrap();
    let size = shape[axis];
    let integers: Vec<DType> =
        DType::ALL.iter().copied().filter(|dtype| dtype.is_integer()).collect();
    let index = *choices.pick(&integers);
    let counted = b.iota(DType::I64, [size], 0).unwrap();
    let known =
        b.reverse(b.sub(counted, choices.below(size + 1) as i64, &[]).unwrap(), &[0]).unwrap();
    if shape.rank() == 1 && dtype != DType::Bool && choices.chance(50) {
        let mode = *choices.pick(&[TakeMode::Clip, TakeMode::Wrap]);
        return b.take(&x, b.convert(&x, index).unwrap(), 0, mode).unwrap_or(x);
    }
    let (indices, modes) = match index.size() == 8 && index != DType::U64 {
        // From -size on, so that every element may be selected.
        true => (known, &TakeMode::ALL[..]),
        false => (b.convert(known, index).unwrap(), &TakeMode::ALL[1..]),
    };
    let mode = *choices.pick(modes);
    let Ok(taken) = b.take(&x, &indices, axis as i64, mode) else { return x };
    if !choices.chance(30) {
        return taken;
    }
    let ops: Vec<ScatterOp> = ScatterOp::ALL.into_iter().filter(|op| op.takes(dtype)).collect();
    if ops.is_empty() {
        return taken;
    }
    let mode = if choices.chance(25) { ScatterMode::Drop } else { mode.into() };
    b.scatter(*choices.pick(&ops), &x, indices, taken, axis as i64, mode).unwrap()
}

/// Maximum elements of a value of a random graph.
const MAX_ELEMENTS: usize = 100_000;

/// A gather from `x` along `axis` by another value, which often is an integer already.
fn taken_by(
    choices: &mut Choices<'_>,
    b: &GraphBuilder,
    x: Value,
    axis: usize,
    indices: Value,
) -> Value {
    let (table, by) = (x.array_type().unwrap().shape, indices.array_type().unwrap());
    let others = (0..table.rank()).filter(|&other| other != axis).map(|other| table[other]);
    let count = others.chain(by.shape.iter().copied()).fold(1, usize::saturating_mul);
    if count > MAX_ELEMENTS {
        return x;
    }
    let indices = match by.dtype.is_integer() {
        true => indices,
        false => b.convert(indices, DType::I32).unwrap(),
    };
    let mode = *choices.pick(&[TakeMode::Clip, TakeMode::Wrap]);
    b.take(&x, indices, axis as i64, mode).unwrap_or(x)
}

/// A random slice of an axis of this size.
fn random_slice(choices: &mut Choices<'_>, size: usize) -> AxisSlice {
    let mut end = || Some(choices.below(2 * size + 3) as i64 - size as i64 - 1);
    let (start, stop) = (end(), end());
    let (start, stop) = (start.filter(|_| choices.chance(70)), stop.filter(|_| choices.chance(70)));
    let step = *choices.pick(&[1, 1, 1, 2, 3, -1, -1, -2]);
    AxisSlice::python(start, stop, Some(step), size).unwrap()
}

/// `x`, or its numbers in a type that computes if it has a storage type.
pub(crate) fn computable(b: &GraphBuilder, x: Value) -> Value {
    let dtype = x.array_type().unwrap().dtype;
    if dtype.is_storage() { b.convert(x, DType::F32).unwrap() } else { x }
}

fn wide(dtype: DType) -> DType {
    match dtype.class() {
        DTypeClass::Float => DType::F64,
        DTypeClass::Complex => DType::C128,
        DTypeClass::Unsigned => DType::U64,
        _ => DType::I64,
    }
}

/// A random operation `among` these that accepts the element type of `x`, its last operand.
pub(crate) fn random_operation(
    choices: &mut Choices<'_>,
    b: &GraphBuilder,
    values: &[Value],
    x: Value,
    among: &[Op],
) -> Value {
    let own = x.array_type().unwrap().dtype;
    // Storage types have few operations.
    let x = if among.iter().any(|op| op.takes(own)) { x } else { computable(b, x) };
    let dtype = x.array_type().unwrap().dtype;
    let takes: Vec<Op> = among.iter().copied().filter(|op| op.takes(dtype)).collect();
    let op = *choices.pick(&takes);
    let operands: Vec<Value> = (0..op.arity().count())
        .map(|index| {
            let operand = if index + 1 == op.arity().count() {
                x.clone()
            } else {
                choices.pick(values).clone()
            };
            b.convert(operand, op.operand_dtype(index, dtype)).unwrap()
        })
        .collect();
    // Operands that broadcast against transposed ones would grow exponentially.
    if broadcast_count(&operands) > MAX_ELEMENTS {
        return x;
    }
    // If the shapes do not broadcast, for example after a transposition, `x` stays.
    b.elementwise(op, &operands, &RuleSet::Numpy).unwrap_or(x)
}

/// The number of elements to which values broadcast under numpy, if they do.
fn broadcast_count(values: &[Value]) -> usize {
    let shapes: Vec<Shape> = values.iter().map(|it| it.array_type().unwrap().shape).collect();
    let rank = shapes.iter().map(Shape::rank).max().unwrap_or(0);
    let size = |axis: usize| {
        let sizes = shapes.iter().filter_map(|shape| shape.iter().rev().nth(axis));
        sizes.copied().max().unwrap_or(1)
    };
    (0..rank).map(size).fold(1, usize::saturating_mul)
}
