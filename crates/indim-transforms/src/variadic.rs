//! Variadic reductions: several operands are reduced together by a body of scalars, like XLA's `reduce` and
//! `reduce_window`.
//!
//! The body is recorded once; `vmap` applies it to whole arrays.

use std::borrow::Cow;

use indim_builder::{GraphBuilder, NodeAccess, RegionBody, Value};
use indim_graph::signature::existing_axis;
use indim_graph::{
    AxisSlice, AxisWindow, Graph, GraphError, GraphErrorKind, PaddedWindow, Region, RegionMismatch,
};
use indim_ops::ArrayType;
use indim_shape::Shape;

use crate::{BuildResult, Vectorize};

/// The name of the operation in errors.
const REDUCE: &str = "reduce";

/// One value for each operand, all of the same shape.
type Arrays = Vec<Value>;

/// A reduction of `n` operands by a body: a graph of `n` accumulators and `n` elements, all scalars, with
/// `n` results.
///
/// Elements are combined by pairs, neighbours first; an odd last one is carried up. So the order is a
/// balanced tree over the positions, which depends on the size only: the bits are the same for any number
/// of threads. The elements keep their order, so a body needs to be associative, not commutative. Several
/// axes are reduced one after another, the last one first. At the end the body combines the initial values,
/// as accumulators, with the result.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::{Array, evaluate};
/// use indim_ops::{ArrayType, DType};
/// use indim_transforms::VariadicReduction;
///
/// // The product of complex numbers in two arrays.
/// let b = GraphBuilder::new();
/// let [x, y] = ["x", "y"].map(|name| b.parameter(name, DType::F32, [3]).unwrap());
/// let scalar = ArrayType::new(DType::F32, []);
/// let (inner, s) = b.begin_region(&[scalar.clone(), scalar.clone(), scalar.clone(), scalar])?;
/// let (real, imag) = (&s[0] * &s[2] - &s[1] * &s[3], &s[0] * &s[3] + &s[1] * &s[2]);
/// let body = inner.end_region(&[real, imag])?;
/// let initial = [b.scalar(1.0f32), b.scalar(0.0f32)];
/// let product = VariadicReduction::new(&b, &body, &[x, y], &initial)?.reduce(&[0])?;
/// let graph = b.finish(&product)?;
/// let array = |elements: [f32; 3]| Array::new([3], elements.to_vec());
/// let results = evaluate(&graph, &[array([0.0, 2.0, 1.0])?, array([1.0, 0.0, 1.0])?])?;
/// assert_eq!(results[0].scalar::<f32>(), Ok(-2.0)); // i * 2 * (1 + i)
/// assert_eq!(results[1].scalar::<f32>(), Ok(2.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct VariadicReduction<'a> {
    builder: &'a GraphBuilder,
    body: &'a Graph,
    /// The outer values that the last parameters of the body stand for.
    captured: Vec<Value>,
    operands: &'a [Value],
    initial: &'a [Value],
    shape: Shape,
}

impl<'a> VariadicReduction<'a> {
    /// The reduction of operands of one shape from initial values, which are scalars.
    ///
    /// # Errors
    /// `wrong-operand-count` without operands, or for another number of initial values; `argument-type`;
    /// `region-type` if parameters or results of the body are not scalars of the operands' element types, or
    /// have another number; `foreign-value`.
    #[track_caller]
    pub fn new(
        builder: &'a GraphBuilder,
        body: &'a RegionBody,
        operands: &'a [Value],
        initial: &'a [Value],
    ) -> BuildResult<Self> {
        let mut ids = Vec::with_capacity(operands.len() + initial.len());
        for value in operands.iter().chain(initial) {
            ids.push(builder.id(REDUCE, value)?);
        }
        let shape = operands.first().map_or_else(|| Ok(Shape::scalar()), shape_of)?;
        let (graph, captured) = body.parts(builder);
        let reduction =
            VariadicReduction { builder, body: graph, captured, operands, initial, shape };
        reduction.check().map_err(|kind| builder.error(REDUCE, &ids, kind))?;
        Ok(reduction)
    }

    fn check(&self) -> Result<(), GraphErrorKind> {
        let count = self.operands.len();
        let parameters = self.body.parameters().len() - self.captured.len();
        check_count("parameters", 2 * count, parameters)?;
        check_count("results", count, self.body.outputs().len())?;
        if count == 0 || self.initial.len() != count {
            let (expected, given) = (2 * count.max(1), count + self.initial.len());
            return Err(GraphErrorKind::WrongOperandCount { expected, given });
        }
        for (index, (operand, initial)) in self.operands.iter().zip(self.initial).enumerate() {
            let type_of = |value: &Value| value.array_type().map_err(|error| error.kind);
            let dtype = type_of(operand)?.dtype;
            let (whole, scalar) =
                (ArrayType::new(dtype, self.shape.clone()), ArrayType::new(dtype, []));
            for (operand, found, expected) in [
                (index, type_of(operand)?, whole),
                (count + index, type_of(initial)?, scalar.clone()),
            ] {
                if found != expected {
                    return Err(GraphErrorKind::ArgumentType { operand, expected });
                }
            }
            let (parameters, results) = (self.body.parameters(), self.body.outputs());
            for (what, index, id) in [
                ("parameter", index, parameters[index]),
                ("parameter", count + index, parameters[count + index]),
                ("result", index, results[index]),
            ] {
                let found = &self.body[id].array_type;
                if *found != scalar {
                    return Err(GraphErrorKind::RegionType(Box::new(RegionMismatch {
                        region: "body".to_owned(),
                        place: format!("{what} {index}"),
                        expected: scalar,
                        found: found.clone(),
                    })));
                }
            }
        }
        Ok(())
    }

    /// Upper bound of the number of nodes that a reduction along axes, or of windows, of these sizes adds.
    pub fn max_node_count(&self, sizes: impl IntoIterator<Item = usize>) -> usize {
        // The body runs at most twice on each level of the tree, for the pairs and for the odd last element,
        // and once for the initial values.
        let levels = sizes.into_iter().map(|size| size.max(1).ilog2() as usize + 1);
        let applications = 2 * levels.sum::<usize>() + 1;
        let nodes = Region::new(self.body.clone()).node_count() + 8 * self.operands.len();
        nodes.saturating_mul(applications)
    }

    /// The reduction along these axes, which are removed. No elements give the initial values.
    ///
    /// # Errors
    /// `axis-out-of-range`, `axes-not-unique`; those of the body's nodes.
    #[track_caller]
    pub fn reduce(&self, axes: &[i64]) -> BuildResult<Vec<Value>> {
        let fail = |kind| GraphError::new(kind, REDUCE, Vec::new());
        let rank = self.shape.rank();
        let checked = axes.iter().map(|&axis| existing_axis(axis, rank));
        let mut descending: Vec<usize> = checked.collect::<Result<_, _>>().map_err(fail)?;
        descending.sort_unstable_by(|a, b| b.cmp(a));
        if descending.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(fail(GraphErrorKind::AxesNotUnique { axes: axes.to_vec() }));
        }
        if self.shape.contains(&0) {
            let kept = (0..rank).filter(|axis| !descending.contains(axis));
            let kept: Vec<usize> = kept.map(|axis| self.shape[axis]).collect();
            return self.initial_arrays(&kept);
        }
        let mut arrays = self.operands.to_vec();
        for axis in descending {
            arrays = self.reduce_axis(arrays, axis)?;
        }
        self.with_initial(&arrays)
    }

    /// The reduction of each window of these axes; the padding has the initial values.
    ///
    /// # Errors
    /// `axis-out-of-range`, `bad-window`; `slice-out-of-range` if negative padding removes more elements than
    /// an axis has; E5 `too-large`; those of the body's nodes.
    #[track_caller]
    pub fn reduce_windows(&self, windows: &[(usize, PaddedWindow)]) -> BuildResult<Vec<Value>> {
        let rank = self.shape.rank();
        let fail = |kind| GraphError::new(kind, "reduce_window", Vec::new());
        let (mut widths, mut sizes) = (vec![(0, 0, 0); rank], self.shape.to_vec());
        for &(axis, window) in windows {
            let axis = existing_axis(axis as i64, rank).map_err(fail)?;
            if window.size == 0 || window.stride == 0 || window.dilation == 0 {
                return Err(fail(GraphErrorKind::BadWindow { window: window.window() }));
            }
            widths[axis] = (window.low, window.high, window.base_dilation.saturating_sub(1));
            sizes[axis] = window.positions(sizes[axis]);
        }
        if sizes.contains(&0) {
            return self.initial_arrays(&sizes);
        }
        let padded = self.operands.iter().zip(self.initial);
        let padded = padded.map(|(operand, initial)| self.builder.pad(operand, initial, &widths));
        let mut arrays: Arrays = padded.collect::<Result<_, _>>()?;
        let mut windows = windows.to_vec();
        windows.sort_by_key(|(axis, _)| core::cmp::Reverse(*axis));
        for (axis, window) in windows {
            arrays = self.reduce_windows_of_axis(arrays, axis, window.window())?;
        }
        self.with_initial(&arrays)
    }

    /// Combines the elements along an axis, which has some, by pairs, and removes the axis.
    fn reduce_axis(&self, mut arrays: Arrays, axis: usize) -> BuildResult<Arrays> {
        // The odd last element, which follows the elements of `arrays`.
        let mut last: Option<Arrays> = None;
        loop {
            let mut sizes = shape_of(&arrays[0])?.to_vec();
            let (pairs, size) = (sizes[axis] / 2, sizes[axis]);
            if size % 2 == 1 {
                let odd = self.slice(&arrays, axis, AxisSlice::new(size - 1, 1, 1))?;
                last = Some(self.followed(odd, last)?);
            }
            if pairs == 0 {
                sizes.remove(axis);
                let reshape = |array: &Value| self.builder.reshape(array, &sizes[..]);
                let last = last.expect("invariant: the last size is odd, 1");
                return last.iter().map(reshape).collect();
            }
            let [first, second] = [0, 1].map(|start| AxisSlice::new(start, pairs, 2));
            let [first, second] = [first, second].map(|slice| self.slice(&arrays, axis, slice));
            arrays = self.combine(&first?, &second?)?;
        }
    }

    /// Combines the elements of each window by the tree of [`VariadicReduction::reduce`], so that windows
    /// share blocks of `2^level` elements.
    fn reduce_windows_of_axis(
        &self,
        mut blocks: Arrays,
        axis: usize,
        window: AxisWindow,
    ) -> BuildResult<Arrays> {
        let (size, dilation) = (window.size(), window.dilation());
        let positions = window.positions(shape_of(&blocks[0])?[axis]);
        let mut last: Option<Arrays> = None;
        for level in 0..=size.ilog2() {
            let is_top = level == size.ilog2();
            let step = if is_top && level > 0 { 1 } else { window.stride() as isize };
            if size >> level & 1 == 1 {
                // The elements of a window before its block of this level.
                let before = size >> level >> 1 << level << 1;
                let slice = AxisSlice::new(before * dilation, positions, step);
                last = Some(self.followed(self.slice(&blocks, axis, slice)?, last)?);
            }
            if !is_top {
                let offset = dilation << level;
                // The blocks of the top level are needed only at the first element of each window.
                let (count, step) = match level + 1 == size.ilog2() {
                    true => (positions, step),
                    false => (shape_of(&blocks[0])?[axis] - offset, 1),
                };
                let at = |start| self.slice(&blocks, axis, AxisSlice::new(start, count, step));
                blocks = self.combine(&at(0)?, &at(offset)?)?;
            }
        }
        Ok(last.expect("invariant: the top bit of a size is 1"))
    }

    /// `arrays` combined with the elements that follow them, if any.
    fn followed(&self, arrays: Arrays, next: Option<Arrays>) -> BuildResult<Arrays> {
        next.map_or(Ok(arrays.clone()), |next| self.combine(&arrays, &next))
    }

    fn with_initial(&self, arrays: &[Value]) -> BuildResult<Arrays> {
        self.combine(&self.initial_arrays(&shape_of(&arrays[0])?)?, arrays)
    }

    /// The initial values, broadcast.
    fn initial_arrays(&self, sizes: &[usize]) -> BuildResult<Arrays> {
        let broadcast = |value| self.builder.broadcast_in_dim(value, &[], sizes);
        self.initial.iter().map(broadcast).collect()
    }

    fn slice(&self, arrays: &[Value], axis: usize, slice: AxisSlice) -> BuildResult<Arrays> {
        let slice = |array: &Value| {
            let shape = shape_of(array)?;
            let mut slices: Vec<_> = shape.iter().map(|&size| AxisSlice::whole(size)).collect();
            slices[axis] = slice;
            self.builder.slice(array, &slices)
        };
        arrays.iter().map(slice).collect()
    }

    /// The results of the body for each pair of elements.
    fn combine(&self, accumulators: &[Value], elements: &[Value]) -> BuildResult<Arrays> {
        let shape = shape_of(&accumulators[0])?;
        let count = accumulators.len();
        let mut in_axes = vec![Some(0); 2 * count];
        in_axes.resize(2 * count + self.captured.len(), None);
        let mut body = Cow::Borrowed(self.body);
        for &size in shape.iter().rev() {
            body = Cow::Owned(body.vmap(size, &in_axes, &vec![Some(0); count])?);
        }
        let arguments = accumulators.iter().chain(elements).chain(&self.captured);
        self.builder.inline(&body, &arguments.cloned().collect::<Vec<_>>())
    }
}

fn shape_of(value: &Value) -> BuildResult<Shape> {
    Ok(value.array_type()?.shape)
}

fn check_count(counted: &'static str, expected: usize, given: usize) -> Result<(), GraphErrorKind> {
    match expected == given {
        true => Ok(()),
        false => {
            let region = "body".to_owned();
            Err(GraphErrorKind::RegionCount { region, counted, expected, given })
        }
    }
}
