//! Shape rules of convolutions, pooling and resampling.

use indim_model::outline::{SymbolicSize, ValueType};
use indim_model::spatial_windows::MAX_NUMBER;

use crate::call::{RuleCall, RuleError, RuleResult, array_result, known_size, shape_error};
use crate::typed_value::TypedValue;

/// Kernel, strides, dilations and pads along the spatial axes.
pub(crate) struct Windows {
    kernel: Vec<SymbolicSize>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
    /// Pads before and behind each axis.
    pads: Vec<(i64, i64)>,
    auto_pad: String,
}

impl Windows {
    pub(crate) fn new(
        call: &RuleCall<'_>,
        kernel: Vec<SymbolicSize>,
    ) -> Result<Windows, RuleError> {
        let rank = kernel.len();
        let list = |name: &str, count: usize, default: i64| {
            let list = call.node.ints(name)?.unwrap_or_else(|| vec![default; count]);
            match list.len() == count && list.iter().all(|n| (0..=MAX_NUMBER).contains(n)) {
                true => Ok::<Vec<i64>, RuleError>(list),
                false => shape_error(format!("{name} is {list:?} for {rank} spatial axes")),
            }
        };
        let pads = list("pads", 2 * rank, 0)?;
        let pads = (0..rank).map(|axis| (pads[axis], pads[axis + rank])).collect();
        let (strides, dilations) = (list("strides", rank, 1)?, list("dilations", rank, 1)?);
        if strides.iter().chain(&dilations).any(|&n| n == 0) {
            return shape_error("strides and dilations are at least 1");
        }
        let auto_pad = call.node.text("auto_pad", "NOTSET")?;
        Ok(Windows { kernel, strides, dilations, pads, auto_pad })
    }

    /// The number of elements from the first to the last of a dilated kernel along an axis.
    fn dilated_kernel(&self, axis: usize) -> Option<SymbolicSize> {
        let dilation = known_size(self.dilations[axis]);
        self.kernel[axis].plus(&known_size(-1))?.times(&dilation)?.plus(&known_size(1))
    }

    /// The number of windows along an axis.
    fn count(&self, axis: usize, size: &SymbolicSize, ceils: bool) -> Option<SymbolicSize> {
        let (stride, (before, behind)) = (self.strides[axis], self.pads[axis]);
        match &self.auto_pad[..] {
            "SAME_UPPER" | "SAME_LOWER" => {
                return size.plus(&known_size(stride - 1))?.floor_divided(stride);
            }
            "VALID" => {
                let rest = size.minus(&self.dilated_kernel(axis)?)?;
                let round = if ceils { stride - 1 } else { 0 };
                return rest.plus(&known_size(stride + round))?.floor_divided(stride);
            }
            _ => {}
        }
        let rest = size.plus(&known_size(before + behind))?.minus(&self.dilated_kernel(axis)?)?;
        let round = if ceils { stride - 1 } else { 0 };
        let count = rest.plus(&known_size(stride + round))?.floor_divided(stride)?;
        // With `ceil_mode`, a last window that would start in the padding behind the axis is dropped.
        match (ceils, count.number(), size.number()) {
            (true, Some(n), Some(size))
                if (n - 1).saturating_mul(stride) >= size.saturating_add(before) =>
            {
                Some(known_size(n - 1))
            }
            _ => Some(count),
        }
    }

    /// The number of windows along each spatial axis.
    pub(crate) fn window_counts(
        &self,
        call: &RuleCall<'_>,
        spatial: &[SymbolicSize],
        ceils: bool,
    ) -> Result<Vec<SymbolicSize>, RuleError> {
        let mut window_counts = Vec::with_capacity(spatial.len());
        for (axis, size) in spatial.iter().enumerate() {
            let count = self.count(axis, size, ceils);
            if count.as_ref().and_then(SymbolicSize::number).is_some_and(|count| count < 0) {
                return shape_error(format!(
                    "the kernel {} is larger than axis {} ({size}) with its pads",
                    self.kernel[axis],
                    axis + 2
                ));
            }
            window_counts.push(call.or_new_symbol(count, axis + 2));
        }
        Ok(window_counts)
    }
}

/// The spatial sizes of the kernel of a convolution, from `kernel_shape` and the weights, which must
/// agree.
fn kernel(call: &RuleCall<'_>, weights: &[SymbolicSize]) -> Result<Vec<SymbolicSize>, RuleError> {
    let spatial = weights.get(2..).unwrap_or(&[]);
    if spatial.iter().any(|size| size.is(0)) {
        return shape_error("the weights have no elements along a spatial axis");
    }
    match call.node.ints("kernel_shape")? {
        None => Ok(spatial.to_vec()),
        Some(stated) if stated.len() != spatial.len() => {
            shape_error(format!("kernel_shape is {stated:?} for {} spatial axes", spatial.len()))
        }
        Some(stated) => {
            let pair = |(stated, size): (i64, &SymbolicSize)| {
                call.unify((&known_size(stated), size), "kernel_shape and the weights")
            };
            stated.into_iter().zip(spatial).map(pair).collect()
        }
    }
}

/// The sizes of a convolution of the operands `data` and `weights`.
fn convolved_sizes(
    call: &RuleCall<'_>,
    (data, weights): (usize, usize),
) -> Result<Vec<SymbolicSize>, RuleError> {
    let x = call.sizes(data)?;
    if x.len() < 3 {
        return shape_error(format!("a convolution takes rank 3 or more, not {}", x.len()));
    }
    let w = call.sizes_of_rank(weights, x.len())?;
    let groups = call.node.int("group", 1)?;
    if !(1..=MAX_NUMBER).contains(&groups) {
        return shape_error(format!("group is {groups}"));
    }
    let (channels, taken) = (&x[1], w[1].times(&known_size(groups)));
    if let Some(taken) = taken.filter(|taken| !call.may_be_equal(channels, taken)) {
        return shape_error(format!(
            "the operand has {channels} channels, the weights take {taken}"
        ));
    }
    if w[0].number().is_some_and(|out| out % groups != 0) {
        return shape_error(format!("{} channels do not divide by {groups} groups", w[0]));
    }
    let windows = Windows::new(call, kernel(call, w)?)?;
    let mut sizes = vec![x[0].clone(), w[0].clone()];
    sizes.extend(windows.window_counts(call, &x[2..], false)?);
    Ok(sizes)
}

pub(crate) fn convolution(call: &RuleCall<'_>) -> RuleResult {
    let sizes = convolved_sizes(call, (0, 1))?;
    if call.optional(2).is_some() {
        call.expect(2, "the bias", &[Some(&sizes[1])])?;
    }
    array_result(&call.element(0)?, sizes)
}

/// `ConvInteger`: sums in 32 bits.
pub(crate) fn convolution_integer(call: &RuleCall<'_>) -> RuleResult {
    array_result("i32", convolved_sizes(call, (0, 1))?)
}

/// `QLinearConv`: the convolution of operands 0 and 3, in the type of the result's zero point.
pub(crate) fn convolution_quantized(call: &RuleCall<'_>) -> RuleResult {
    let sizes = convolved_sizes(call, (0, 3))?;
    for position in [1, 2, 6, 7] {
        if call.sizes(position).is_ok_and(|sizes| !sizes.is_empty()) {
            call.expect(position, "a scale or zero point", &[Some(&known_size(1))])?;
        }
    }
    for position in [4, 5] {
        call.expect_parameters(position, "a scale or zero point of the weights", Some(&sizes[1]))?;
    }
    call.expect(8, "the bias", &[Some(&sizes[1])])?;
    array_result(&call.element(7)?, sizes)
}

pub(crate) fn transposed_convolution(call: &RuleCall<'_>) -> RuleResult {
    let x = call.sizes(0)?;
    if x.len() < 3 {
        return shape_error(format!("a convolution takes rank 3 or more, not {}", x.len()));
    }
    let w = call.sizes_of_rank(1, x.len())?;
    call.unify((&x[1], &w[0]), "the channels of the operand and the weights")?;
    let windows = Windows::new(call, kernel(call, w)?)?;
    let rank = x.len() - 2;
    let more = call.node.ints("output_padding")?.unwrap_or_else(|| vec![0; rank]);
    let stated = call.node.ints("output_shape")?.unwrap_or_default();
    if more.len() != rank || more.iter().any(|n| !(0..=MAX_NUMBER).contains(n)) {
        return shape_error(format!("output_padding is {more:?} for {rank} spatial axes"));
    }
    let channels = w[1].times(&known_size(call.node.int("group", 1)?));
    call.expect(2, "the bias", &[channels.as_ref()])?;
    let mut sizes = vec![x[0].clone(), call.or_new_symbol(channels, 1)];
    for axis in 0..rank {
        let stride = known_size(windows.strides[axis]);
        let size = || match (stated.len() >= rank, &windows.auto_pad[..]) {
            (true, _) => Some(known_size(stated[stated.len() - rank + axis])),
            (false, "SAME_UPPER" | "SAME_LOWER") => x[axis + 2].times(&stride),
            (false, auto_pad) => {
                let (before, behind) = windows.pads[axis];
                let pads = if auto_pad == "VALID" { 0 } else { before + behind };
                let steps = x[axis + 2].plus(&known_size(-1))?.times(&stride)?;
                steps.plus(&windows.dilated_kernel(axis)?)?.plus(&known_size(more[axis] - pads))
            }
        };
        sizes.push(call.or_new_symbol(size(), axis + 2));
    }
    array_result(&call.element(0)?, sizes)
}

/// Pooling: the pooled values, and for `MaxPool` their indices.
pub(crate) fn pool(call: &RuleCall<'_>) -> RuleResult {
    let x = call.sizes(0)?;
    let kernel = call.node.ints("kernel_shape")?.ok_or(RuleError::Unknown)?;
    if x.len() < 3
        || kernel.len() != x.len() - 2
        || kernel.iter().any(|n| !(1..=MAX_NUMBER).contains(n))
    {
        return shape_error(format!("kernel_shape is {kernel:?} for rank {}", x.len()));
    }
    let windows = Windows::new(call, kernel.into_iter().map(known_size).collect())?;
    let ceils = call.node.int("ceil_mode", 0)? != 0;
    let mut sizes = x[..2].to_vec();
    sizes.extend(windows.window_counts(call, &x[2..], ceils)?);
    let pooled = TypedValue::of(ValueType::new(&call.element(0)?, sizes.clone()));
    Ok(vec![pooled, TypedValue::of(ValueType::new("i64", sizes))])
}

/// Pooling over all axes except the first two.
pub(crate) fn global_pool(call: &RuleCall<'_>) -> RuleResult {
    let sizes = match call.node.operator {
        "GlobalLpPool" => call.sizes_of_least_rank(3)?,
        _ => call.sizes(0)?,
    };
    let size =
        |(axis, size): (usize, &SymbolicSize)| if axis < 2 { size.clone() } else { known_size(1) };
    array_result(&call.element(0)?, sizes.iter().enumerate().map(size).collect())
}

/// `RoiAlign`, `MaxRoiPool`: a grid of the same size for each region of the image (operand 1).
pub(crate) fn regions(call: &RuleCall<'_>) -> RuleResult {
    let (x, rois) = (call.sizes_of_rank(0, 4)?, call.sizes_of_rank(1, 2)?);
    match call.node.operator {
        "MaxRoiPool" => call.expect(1, "the regions", &[None, Some(&known_size(5))])?,
        _ => {
            call.expect(1, "the regions", &[None, Some(&known_size(4))])?;
            call.expect(2, "the images of the regions", &[Some(&rois[0])])?;
        }
    }
    let (rows, columns) = match call.node.ints("pooled_shape")? {
        Some(shape) if shape.len() == 2 => (shape[0], shape[1]),
        Some(shape) => return shape_error(format!("pooled_shape is {shape:?}")),
        None => (call.node.int("output_height", 1)?, call.node.int("output_width", 1)?),
    };
    let sizes = vec![rois[0].clone(), x[1].clone(), known_size(rows), known_size(columns)];
    array_result(&call.element(0)?, sizes)
}

/// `Resize` and `Upsample`: the sizes in an operand, or the operand's sizes times scales.
pub(crate) fn resize(call: &RuleCall<'_>) -> RuleResult {
    let x = call.sizes(0)?;
    let (element, version) = (call.element(0)?, call.node.version);
    let axes = call.node.ints("axes")?.unwrap_or_else(|| (0..x.len() as i64).collect());
    let axes = call.distinct_axes(&axes, x.len())?;
    let is_plain = call.node.text("keep_aspect_ratio_policy", "stretch")? == "stretch";
    let mut sizes = x.to_vec();
    let is_given = |position| {
        call.optional(position).is_some_and(|given| {
            given.value_type.sizes.as_ref().is_none_or(|sizes| !sizes.iter().any(|n| n.is(0)))
        })
    };
    let count = known_size(axes.len() as i64);
    if version >= 11 && !is_given(2) && !is_given(3) {
        return shape_error("the node has neither scales nor sizes");
    }
    if version >= 11 && is_given(3) {
        call.expect(3, "the sizes", &[Some(&count)])?;
        let given = call.symbols(3).filter(|given| given.len() == axes.len());
        let ratio = if is_plain { None } else { common_ratio(call, x, &axes, given.as_deref())? };
        for (position, &axis) in axes.iter().enumerate() {
            let size = match is_plain {
                true => given.as_ref().map(|given| given[position].clone()),
                // ONNX rounds halves up.
                false => ratio
                    .zip(x[axis].number())
                    .map(|(ratio, size)| known_size((ratio * size as f64 + 0.5).floor() as i64)),
            };
            let number = size.as_ref().and_then(SymbolicSize::number);
            if let Some(number @ ..=0) = number.filter(|_| is_plain) {
                return shape_error(format!("axis {axis} of the result has {number} elements"));
            }
            sizes[axis] = call.or_new_symbol(size, axis);
        }
        return array_result(&element, sizes);
    }
    let position = if version >= 11 { 2 } else { 1 };
    let scales: Option<Vec<f64>> = match call.node.floats("scales")? {
        Some(scales) => Some(scales.iter().map(|&scale| f64::from(scale)).collect()),
        None => {
            call.expect(position, "the scales", &[Some(&count)])?;
            call.optional(position).and_then(TypedValue::floats)
        }
    };
    if let Some(scales) = &scales {
        if scales.len() != axes.len() {
            return shape_error(format!("{} scales for {count} axes", scales.len()));
        }
        if let Some(scale) = scales.iter().find(|&&scale| scale <= 0.0) {
            return shape_error(format!("a scale is {scale}"));
        }
    }
    for (position, &axis) in axes.iter().enumerate() {
        let scale = scales.as_ref().map(|scales| scales[position]);
        let size = scale.and_then(|scale| scale_size(&x[axis], scale));
        sizes[axis] = call.or_new_symbol(size, axis);
    }
    array_result(&element, sizes)
}

/// The scale of all axes by `keep_aspect_ratio_policy`: the smallest or largest of those that the sizes
/// ask for. `None` if a size is no number.
fn common_ratio(
    call: &RuleCall<'_>,
    x: &[SymbolicSize],
    axes: &[usize],
    given: Option<&[SymbolicSize]>,
) -> Result<Option<f64>, RuleError> {
    let ratio = |(axis, size): (&usize, &SymbolicSize)| {
        Some(size.number()? as f64 / x[*axis].number().filter(|&size| size > 0)? as f64)
    };
    let ratios: Option<Vec<f64>> =
        given.and_then(|given| axes.iter().zip(given).map(ratio).collect());
    let policy = call.node.text("keep_aspect_ratio_policy", "stretch")?;
    let choose = if policy == "not_larger" { f64::min } else { f64::max };
    Ok(ratios.and_then(|ratios| ratios.into_iter().reduce(choose)))
}

/// A size times a scale, rounded down.
fn scale_size(size: &SymbolicSize, scale: f64) -> Option<SymbolicSize> {
    match size.number() {
        // The scale is an `f32`, as is the product in other systems.
        Some(number) => Some(known_size((number as f32 * scale as f32).floor() as i64)),
        None if scale.fract() == 0.0 && scale.abs() < 1e6 => size.times(&known_size(scale as i64)),
        // A multiple of 1/16 is exact, so rounding cannot change the result.
        None if (16.0 * scale).fract() == 0.0 && (0.0..1e6).contains(&scale) => {
            let (mut factor, mut divisor) = ((16.0 * scale) as i64, 16);
            while factor % 2 == 0 && divisor > 1 {
                (factor, divisor) = (factor / 2, divisor / 2);
            }
            size.times(&known_size(factor))?.floor_divided(divisor)
        }
        None => None,
    }
}

/// `GridSample`: the channels of the operand, sampled at each coordinate vector of the grid.
pub(crate) fn grid_sample(call: &RuleCall<'_>) -> RuleResult {
    let (x, grid) = (call.sizes(0)?, call.sizes(1)?);
    if x.len() < 3 || grid.len() != x.len() {
        return shape_error(format!("ranks {} and {} of operand and grid", x.len(), grid.len()));
    }
    call.unify((&x[0], &grid[0]), "the batches of operand and grid")?;
    let rank = known_size(x.len() as i64 - 2);
    call.unify((&rank, &grid[grid.len() - 1]), "the spatial axes and the last axis of the grid")?;
    let mut sizes = x[..2].to_vec();
    sizes.extend(grid[1..grid.len() - 1].iter().cloned());
    array_result(&call.element(0)?, sizes)
}

/// `MaxUnpool`: the inverse of a pooling.
pub(crate) fn unpool(call: &RuleCall<'_>) -> RuleResult {
    let x = call.sizes(0)?;
    let element = call.element(0)?;
    call.expect_sizes(1, "the indices", x)?;
    if call.optional(2).is_some() {
        return array_result(&element, crate::creation::shape_of_elements(call, 2)?);
    }
    let kernel = call.node.ints("kernel_shape")?.ok_or(RuleError::Unknown)?;
    if x.len() < 3 || kernel.len() != x.len() - 2 {
        return shape_error(format!("kernel_shape is {kernel:?} for rank {}", x.len()));
    }
    let windows = Windows::new(call, kernel.into_iter().map(known_size).collect())?;
    let mut sizes = x[..2].to_vec();
    for axis in 0..x.len() - 2 {
        let (before, behind) = windows.pads[axis];
        let steps = x[axis + 2]
            .plus(&known_size(-1))
            .and_then(|n| n.times(&known_size(windows.strides[axis])));
        let size =
            steps.and_then(|n| n.plus(&windows.kernel[axis])?.plus(&known_size(-before - behind)));
        sizes.push(call.or_new_symbol(size, axis + 2));
    }
    array_result(&element, sizes)
}

/// `DeformConv`: a convolution with an offset, and a weight in the mask, for each element of each window.
pub(crate) fn deformable_convolution(call: &RuleCall<'_>) -> RuleResult {
    let sizes = convolved_sizes(call, (0, 1))?;
    let weights = call.sizes(1)?;
    let groups = known_size(call.node.int("offset_group", 1)?);
    let taps = SymbolicSize::product(&weights[2..]).and_then(|taps| taps.times(&groups));
    let offsets = taps.as_ref().and_then(|taps| taps.times(&known_size(sizes.len() as i64 - 2)));
    let per_window = |count| -> Vec<Option<&SymbolicSize>> {
        [Some(&sizes[0]), count].into_iter().chain(sizes[2..].iter().map(Some)).collect()
    };
    call.expect(2, "the offsets", &per_window(offsets.as_ref()))?;
    call.expect(3, "the bias", &[Some(&sizes[1])])?;
    call.expect(4, "the mask", &per_window(taps.as_ref()))?;
    array_result(&call.element(0)?, sizes)
}

/// `CausalConvWithState`: each channel is convolved with its own kernel; the state has the last elements.
pub(crate) fn causal_convolution(call: &RuleCall<'_>) -> RuleResult {
    let (x, weights) = (call.sizes_of_rank(0, 3)?.to_vec(), call.sizes_of_rank(1, 3)?);
    call.expect(1, "the weights", &[Some(&x[1]), Some(&known_size(1)), None])?;
    call.expect(2, "the bias", &[Some(&x[1])])?;
    let before = call.or_new_symbol(weights[2].plus(&known_size(-1)), 2);
    let state = vec![x[0].clone(), x[1].clone(), before];
    call.expect_sizes(3, "the state", &state)?;
    let element = call.element(0)?;
    let typed = |sizes| TypedValue::of(ValueType::new(&element, sizes));
    Ok(vec![typed(x), typed(state)])
}
