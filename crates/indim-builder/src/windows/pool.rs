//! Reductions of windows: XLA's `reduce_window`, average and maximum pooling.

use indim_graph::{Array, GraphErrorKind, PaddedWindow};
use indim_ops::{ArrayType, DType, DTypeClass, ReduceOp};
use indim_shape::{RuleSet, sort_few_by_key};

use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::operand::Operand;

/// The divisor of an average pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolDivisor {
    /// The number of elements of the window that are not padding.
    Elements,
    /// The number of elements of the window, including padding that the model states. Padding that only
    /// rounds the number of windows up is not counted.
    Padded,
}

impl GraphBuilder {
    /// XLA's `reduce_window`: reduces the elements of each window of some axes by `op`. `init` is the first
    /// operand of the reduction and the value of the padding; the default is the identity of `op`.
    ///
    /// Sums and products of floats and complex numbers are computed axis by axis, from the last to the
    /// first, in `f64` or `c128`, and rounded once.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::PaddedWindow;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::{DType, ReduceOp};
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [4])?;
    /// let window = PaddedWindow { size: 2, stride: 2, low: 1, high: 1, ..PaddedWindow::default() };
    /// let max = b.reduce_window(&x, ReduceOp::Max, None, &[(0, window)])?;
    /// let graph = b.finish(&[max])?;
    /// let x = Array::new([4], vec![-1.0f32, 2.0, 3.0, -4.0])?;
    /// assert_eq!(evaluate(&graph, &[x])?[0].elements::<f32>(), Ok(&[-1.0f32, 3.0, -4.0][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// TY1, TY2; `axis-out-of-range`, `bad-window`; `slice-out-of-range` if negative padding removes more
    /// elements than an axis has; E5 `too-large`.
    #[track_caller]
    pub fn reduce_window(
        &self,
        x: impl Operand,
        op: ReduceOp,
        init: Option<&Value>,
        windows: &[(usize, PaddedWindow)],
    ) -> BuildResult {
        let reduced = self.reduced_windows("reduce_window", x, op, init, windows)?;
        let dtype = reduced.dtype;
        let value = match init {
            None => reduced.value,
            Some(init) => {
                let ArrayType { dtype, shape } = reduced.value.array_type()?;
                let init = self.broadcast_in_dim(self.convert(init, dtype)?, &[], shape)?;
                self.elementwise(op.operation(), &[init, reduced.value], &RuleSet::None)?
            }
        };
        self.convert(value, dtype)
    }

    /// The average of each window. For each axis, `rounding` is the number of trailing padding elements that
    /// only round the number of windows up; [`PoolDivisor::Padded`] does not count them.
    ///
    /// ```
    /// use indim_builder::{GraphBuilder, PoolDivisor};
    /// use indim_graph::PaddedWindow;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [3])?;
    /// let window = PaddedWindow { size: 2, low: 1, high: 1, ..PaddedWindow::default() };
    /// let average = |divisor| b.average_pool(&x, &[(0, window)], divisor, &[0]);
    /// let outputs = [average(PoolDivisor::Elements)?, average(PoolDivisor::Padded)?];
    /// let graph = b.finish(&outputs)?;
    /// let results = evaluate(&graph, &[Array::new([3], vec![2.0f32, 4.0, 6.0])?])?;
    /// assert_eq!(results[0].elements::<f32>(), Ok(&[2.0f32, 3.0, 5.0, 6.0][..]));
    /// assert_eq!(results[1].elements::<f32>(), Ok(&[1.0f32, 3.0, 5.0, 3.0][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Like [`GraphBuilder::reduce_window`]; `convolution-shape` for more than 2^24 positions of windows with
    /// padding.
    #[track_caller]
    pub fn average_pool(
        &self,
        x: impl Operand,
        windows: &[(usize, PaddedWindow)],
        divisor: PoolDivisor,
        rounding: &[usize],
    ) -> BuildResult {
        let id = self.operand_id("average_pool", x)?;
        let of_x = self.type_of(id);
        let reduced =
            self.reduced_windows("average_pool", self.value(id), ReduceOp::Add, None, windows)?;
        let sums = self.convert(reduced.value, DType::F64)?;
        let mut all = Vec::with_capacity(windows.len());
        for (position, &(axis, window)) in windows.iter().enumerate() {
            let rounding = rounding.get(position).copied().unwrap_or(0);
            let counts = counts(&window, of_x.shape[axis], divisor, rounding).ok_or_else(|| {
                let problem = format!("padded windows have more than {MAX_COUNTS} positions");
                self.window_error("average_pool", &[&sums], problem)
            })?;
            all.push((axis, counts));
        }
        let divisors = self.divisors(&sums, all)?;
        self.convert(sums / divisors, of_x.dtype)
    }

    /// The product of the counts of all axes, in the shape of the sums. `counts` has a count for each
    /// position along each axis; an axis with equal counts becomes a scalar factor.
    #[track_caller]
    fn divisors(&self, sums: &Value, counts: Vec<(usize, Vec<f64>)>) -> BuildResult {
        let shape = sums.array_type()?.shape;
        let (mut common, mut divisors) = (1.0, None::<Value>);
        for (axis, counts) in counts {
            let first = counts.first().copied().unwrap_or(1.0);
            if counts.iter().all(|&count| count == first) {
                common *= first;
                continue;
            }
            let counts = Array::new([counts.len()], counts).map_err(|_| {
                let problem = "its windows have too many positions".to_owned();
                self.window_error("average_pool", &[sums], problem)
            })?;
            let counts = self.broadcast_in_dim(self.constant(counts), &[axis as i64], &shape)?;
            divisors = Some(match divisors {
                None => counts,
                Some(divisors) => divisors * counts,
            });
        }
        match divisors {
            None => self.broadcast_in_dim(self.scalar(common), &[], &shape),
            Some(divisors) => Ok(divisors * common),
        }
    }

    /// Reduces the windows. Sums and products of floats and complex numbers keep the wide type in which
    /// they were computed.
    #[track_caller]
    fn reduced_windows(
        &self,
        operation: &'static str,
        x: impl Operand,
        op: ReduceOp,
        init: Option<&Value>,
        windows: &[(usize, PaddedWindow)],
    ) -> Result<ReducedWindows, indim_graph::GraphError> {
        let id = self.operand_id(operation, x)?;
        let ArrayType { dtype, shape } = self.type_of(id);
        if let Some(&(axis, _)) = windows.iter().find(|(axis, _)| *axis >= shape.rank()) {
            let (axis, rank) = (axis as i64, shape.rank());
            let kind = GraphErrorKind::AxisOutOfRange { axis, rank };
            return Err(self.error(operation, &[id], kind));
        }
        let wide = match dtype.class() {
            DTypeClass::Float if op.is_ordered(DType::F64) => DType::F64,
            DTypeClass::Complex if op.is_ordered(DType::C128) => DType::C128,
            _ => dtype,
        };
        let padding = match (init, Array::identity(op, wide)) {
            (Some(init), _) => init.clone(),
            (None, Some(identity)) => self.convert(self.constant(identity), dtype)?,
            (None, None) => {
                let kind = GraphErrorKind::ElementTypeNotAllowed { operand: 0, dtype };
                return Err(self.error(operation, &[id], kind));
            }
        };
        let mut value = self.padded_windows(&self.value(id), &padding, windows)?;
        let mut windows: Vec<(usize, PaddedWindow)> = windows.to_vec();
        sort_few_by_key(&mut windows, |(axis, _)| core::cmp::Reverse(*axis));
        if !op.is_ordered(wide) {
            // The order of the axes has no effect then. The last axis comes last, when fewer rows are
            // left, because its windows take more time than those of other axes.
            windows.reverse();
        }
        // Reduces one axis after another, so that overlapping windows share the reductions along earlier
        // axes.
        for (axis, window) in windows {
            if window.size == 1 && window.stride == 1 {
                continue;
            }
            let view = self.window(&value, axis as i64, window.window())?;
            value = self.reduce(op, self.convert(view, wide)?, shape.rank() as i64)?;
        }
        Ok(ReducedWindows { value, dtype })
    }
}

/// Reduced windows, and the element type of the operand.
struct ReducedWindows {
    value: Value,
    dtype: DType,
}

/// Maximum number of counts of an axis: 128 MiB of `f64`.
const MAX_COUNTS: usize = 1 << 24;

/// For each window of an axis of `size` elements, the number of elements that the divisor counts. A
/// single number if all elements of all windows count; `None` for more than [`MAX_COUNTS`] windows.
fn counts(
    window: &PaddedWindow,
    size: usize,
    divisor: PoolDivisor,
    rounding: usize,
) -> Option<Vec<f64>> {
    let padded = window.padded(size) as i128;
    let (first, end) = match divisor {
        PoolDivisor::Padded => (0, padded - rounding as i128),
        PoolDivisor::Elements => (i128::from(window.low), padded - i128::from(window.high)),
    };
    let (whole, stride) = (window.size as i128, window.stride as i128);
    let dilation = (window.dilation as i128).max(1);
    let count = |position: usize| {
        let start = position as i128 * stride;
        // The number of elements of the window before an index.
        let before = |index: i128| ((index - start + dilation - 1) / dilation).clamp(0, whole);
        before(end) - before(first)
    };
    let positions = window.positions(size);
    if count(0) == whole && count(positions.saturating_sub(1)) == whole {
        return Some(vec![whole as f64]);
    }
    (positions <= MAX_COUNTS).then(|| (0..positions).map(|at| count(at).max(0) as f64).collect())
}
