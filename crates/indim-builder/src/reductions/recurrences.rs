//! Scans by an associative function, composed in runs of 16: cumulative `logsumexp` and linear recurrences.

use indim_graph::{AxisSlice, GraphError};
use indim_ops::{DType, DTypeClass, ReduceOp};
use indim_shape::TargetRule;

use super::context::ReductionContext;
use crate::builder::{BuildResult, GraphBuilder, Value};

/// Elements that are combined one after another; the totals of the runs are scanned in runs again.
const RUN: usize = 16;

/// Arrays of one shape, whose elements are combined together.
type Arrays = Vec<Value>;

/// The scan of arrays along an axis.
struct RunScan<'a> {
    builder: &'a GraphBuilder,
    axis: usize,
    /// Combines the elements of arrays with those of others, which follow them.
    combine: &'a dyn Fn(&[Value], &[Value]) -> Arrays,
}

impl RunScan<'_> {
    /// For each position along the axis, the combination of the elements up to it.
    ///
    /// Within a run the elements are combined one after another. The combination of all earlier runs is
    /// computed in the same way from their totals, and combined from the left. So the order depends on
    /// positions only, and later elements change no result.
    fn scan(&self, arrays: &[Value]) -> Result<Arrays, GraphError> {
        let size = arrays[0].array_type()?.shape[self.axis];
        let count = if size > RUN { size / RUN } else { 0 };
        let (mut parts, mut total) = (Vec::new(), None);
        if count > 0 {
            let within =
                self.one_after_another(arrays, |i| AxisSlice::new(i, count, RUN as isize), RUN)?;
            let totals = self.scan(&within[RUN - 1])?;
            let within: Result<Vec<_>, _> =
                within.iter().map(|arrays| self.expand(arrays)).collect();
            let within = self.join(&within?, self.axis + 1)?;
            let before = self.expand(&self.slice(&totals, AxisSlice::new(0, count - 1, 1))?)?;
            let others =
                self.follow(&before, &self.slice(&within, AxisSlice::new(1, count - 1, 1))?)?;
            let first = self.slice(&within, AxisSlice::new(0, 1, 1))?;
            parts.push(self.merge(&self.join(&[first, others], self.axis)?)?);
            total = Some(self.slice(&totals, AxisSlice::new(count - 1, 1, 1))?);
        }
        let whole = count * RUN;
        if whole < size {
            let at = |i| AxisSlice::new(whole + i, 1, 1);
            let rest = self.join(&self.one_after_another(arrays, at, size - whole)?, self.axis)?;
            parts.push(total.map_or_else(|| Ok(rest.clone()), |total| self.follow(&total, &rest))?);
        }
        self.join(&parts, self.axis)
    }

    /// The combinations of the first `count` slices, one after another.
    fn one_after_another(
        &self,
        arrays: &[Value],
        slice: impl Fn(usize) -> AxisSlice,
        count: usize,
    ) -> Result<Vec<Arrays>, GraphError> {
        let mut results: Vec<Arrays> = Vec::with_capacity(count);
        for i in 0..count {
            let slice = self.slice(arrays, slice(i))?;
            results.push(
                results.last().map_or_else(|| slice.clone(), |last| (self.combine)(last, &slice)),
            );
        }
        Ok(results)
    }

    /// The combinations of `before`, broadcast, and `later`.
    fn follow(&self, before: &[Value], later: &[Value]) -> Result<Arrays, GraphError> {
        let broadcast = |(before, later): (&Value, &Value)| {
            let dims: Vec<i64> = (0..later.array_type()?.shape.rank() as i64).collect();
            self.builder.broadcast_like(before, &dims, later)
        };
        let before: Result<Arrays, _> = before.iter().zip(later).map(broadcast).collect();
        Ok((self.combine)(&before?, later))
    }

    /// A slice of each array along the axis.
    fn slice(&self, arrays: &[Value], slice: AxisSlice) -> Result<Arrays, GraphError> {
        arrays.iter().map(|array| self.builder.slice_axis(array, self.axis, slice)).collect()
    }

    /// The arrays with an axis of size 1 after the scanned axis.
    fn expand(&self, arrays: &[Value]) -> Result<Arrays, GraphError> {
        self.reshape(arrays, |sizes| sizes.insert(self.axis + 1, 1))
    }

    /// The arrays with the axis after the scanned axis merged into it.
    fn merge(&self, arrays: &[Value]) -> Result<Arrays, GraphError> {
        self.reshape(arrays, |sizes| sizes[self.axis] *= sizes.remove(self.axis + 1))
    }

    fn reshape(
        &self,
        arrays: &[Value],
        change: impl Fn(&mut Vec<usize>),
    ) -> Result<Arrays, GraphError> {
        let reshape = |array: &Value| {
            let mut sizes = array.array_type()?.shape.to_vec();
            change(&mut sizes);
            self.builder.reshape_units(array, sizes)
        };
        arrays.iter().map(reshape).collect()
    }

    /// The parts of each array, concatenated along `axis`.
    fn join(&self, parts: &[Arrays], axis: usize) -> Result<Arrays, GraphError> {
        let join = |of: usize| {
            let parts: Vec<&Value> = parts.iter().map(|arrays| &arrays[of]).collect();
            self.builder.concatenate(&parts, axis as i64)
        };
        (0..parts[0].len()).map(join).collect()
    }
}

impl ReductionContext<'_> {
    /// The array with the axis in the order of the scan.
    fn in_scan_order(&self, array: &Value, axis: usize, reverse: bool) -> BuildResult {
        if reverse { self.builder().reverse(array, &[axis as i64]) } else { Ok(array.clone()) }
    }

    /// `start`, the first element of the line, and the other elements of `array`.
    fn with_first(&self, start: Value, array: &Value, axis: usize) -> BuildResult {
        let count = array.array_type()?.shape[axis] - 1;
        let others = self.builder().slice_axis(array, axis, AxisSlice::new(1, count, 1))?;
        self.builder().concatenate(&[start, others], axis as i64)
    }
}

pub(super) fn cumlogsumexp(
    call: &ReductionContext<'_>,
    reverse: bool,
    exclusive: bool,
) -> BuildResult {
    let (b, masked) = (call.builder(), call.mask(ReduceOp::Max, &call.x)?);
    let (line, axis) = call.scanned_line(&masked)?;
    if line.array_type()?.shape[axis] == 0 {
        return Ok(line);
    }
    b.pin(&line, axis, "its elements are combined in runs");
    let wide = call.in_scan_order(&line.convert(DType::F64), axis, reverse)?;
    let combine = |before: &[Value], later: &[Value]| vec![before[0].logaddexp(&later[0])];
    let mut result = RunScan { builder: b, axis, combine: &combine }.scan(&[wide])?.remove(0);
    if exclusive {
        let mut widths = vec![(0, 0, 0); result.array_type()?.shape.rank()];
        widths[axis] = (1, -1, 0);
        result = b.pad(result, f64::NEG_INFINITY, &widths)?;
    }
    b.convert(call.in_scan_order(&result, axis, reverse)?, call.dtype())
}

pub(super) fn linear_recurrence(call: &ReductionContext<'_>, reverse: bool) -> BuildResult {
    let (b, axis) = (call.builder(), call.axes[0]);
    b.pin(&call.x, axis, "its elements are combined in runs");
    if call.array_type.shape[axis] == 0 {
        return Ok(call.others[0].clone());
    }
    let wide = match call.dtype().class() {
        DTypeClass::Float => DType::F64,
        DTypeClass::Complex => DType::C128,
        _ => call.dtype(),
    };
    let prepare = |array: &Value| call.in_scan_order(&array.convert(wide), axis, reverse);
    let (factors, mut terms) = (prepare(&call.x)?, prepare(&call.others[0])?);
    if let Some(initial) = &call.options.initial {
        let initial = initial.element(b, call.dtype())?;
        let shape = call.result_shape();
        let initial = b.broadcast_onto(initial, &TargetRule::Unidirectional, shape)?;
        let initial = b.reshape_units(initial, call.keepdims_shape())?.convert(wide);
        let first = |array| b.slice_axis(array, axis, AxisSlice::new(0, 1, 1));
        terms = call.with_first(first(&factors)? * initial + first(&terms)?, &terms, axis)?;
    }
    // (a, b) and then (c, d) are (a * c, c * b + d).
    let combine = |before: &[Value], later: &[Value]| {
        vec![&before[0] * &later[0], &later[0] * &before[1] + &later[1]]
    };
    let results = RunScan { builder: b, axis, combine: &combine }.scan(&[factors, terms])?;
    b.convert(call.in_scan_order(&results[1], axis, reverse)?, call.dtype())
}
