//! Size sources: for each axis of a layer's result, an operand axis of equal size. They give the sizes
//! that the network leaves open.

use crate::call::axis_from_front;
use crate::constants::ShortLists;
use crate::layer::Layer;
use crate::network::Network;

/// For each axis of a result, the operand and its axis that have the same size; `None` if there is no
/// such axis.
pub(super) type SizeSources = Vec<Option<(usize, usize)>>;

/// Layers whose result has the shape of the first operand.
const SAME_SHAPE: &str = "BatchNormInference ConvertLike CumSum GRN GroupNormalization LRN MVN NormalizeL2 \
    PRelu ReverseSequence Roll ScatterElementsUpdate ScatterNDUpdate ScatterUpdate Selu SoftMax Swish";

/// Layers whose result has the batch axis of the first operand.
const SAME_BATCH: &str = "AdaptiveAvgPool AdaptiveMaxPool BinaryConvolution ConvolutionBackpropData \
    DeformableConvolution DepthToSpace ExtractImagePatches GRUCell GridSample \
    GroupConvolutionBackpropData LSTMCell RNNCell ReorgYolo SpaceToDepth";

/// The size sources that all results of a layer share; empty if the operation does not determine them.
/// Lists of axes are read from small constants.
pub(super) fn size_sources(
    network: &Network,
    position: usize,
    lists: &ShortLists<'_>,
) -> SizeSources {
    let layer = &network.layers[position];
    let call = SizeSourceRules { network, layer, lists };
    let is_any = |names: &str| names.split(' ').any(|name| layer.is(name));
    let sources = match layer.operation.to_ascii_lowercase().as_str() {
        _ if is_any(SAME_SHAPE) => call.same_shape(),
        _ if is_any(SAME_BATCH) => call.same_batch(),
        "convolution" => call.windows(call.kernel(2)),
        "groupconvolution" => call.windows(call.kernel(3)),
        "avgpool" | "maxpool" => call.windows(layer.integers("kernel").ok()),
        "concat" => call.without_attribute_axis("axis"),
        "topk" => call.without_attribute_axis("axis"),
        "split" | "variadicsplit" => call.without_axes_of(1),
        "slice" => call.slice(),
        "stridedslice" => call.strided_slice(),
        "pad" => call.pad(),
        "tile" => call.tile(),
        "gatherelements" => call.gather_elements(),
        "transpose" => call.transpose(),
        "gather" => call.gather(),
        "matmul" => call.matmul(),
        "reshape" => call.reshape(),
        "einsum" => call.einsum(),
        "onehot" => call.one_hot(),
        "scaleddotproductattention" => call.attention(),
        "squeeze" => call.squeeze(),
        "unsqueeze" => call.unsqueeze(),
        operation if operation.starts_with("reduce") => call.reduce(),
        _ => None,
    };
    sources.unwrap_or_default()
}

/// A layer, with access to the constants that it reads.
struct SizeSourceRules<'n, 's> {
    network: &'n Network,
    layer: &'n Layer,
    lists: &'n ShortLists<'s>,
}

impl SizeSourceRules<'_, '_> {
    /// The sizes that the port of an operand's source states.
    fn sizes(&self, operand: usize) -> Option<&[Option<usize>]> {
        let source = self.layer.sources.get(operand)?;
        Some(&self.network.layers[source.layer].outputs.get(source.output)?.sizes)
    }

    fn rank(&self, operand: usize) -> Option<usize> {
        Some(self.sizes(operand)?.len())
    }

    fn result_rank(&self) -> Option<usize> {
        Some(self.layer.outputs.first()?.sizes.len())
    }

    /// The axes in a constant operand, counted from the front of `rank` axes.
    fn axes(&self, operand: usize, rank: usize) -> Option<Vec<usize>> {
        self.lists
            .read(self.network, self.layer, operand)?
            .into_iter()
            .map(|axis| axis_from_front(axis, rank))
            .collect()
    }

    fn same_shape(&self) -> Option<SizeSources> {
        Some((0..self.rank(0)?).map(|axis| Some((0, axis))).collect())
    }

    fn same_batch(&self) -> Option<SizeSources> {
        Some((0..self.rank(0)?).map(|axis| (axis == 0).then_some((0, 0))).collect())
    }

    /// The spatial sizes of the weights, which follow `leading` other axes.
    fn kernel(&self, leading: usize) -> Option<Vec<i64>> {
        let sizes = self.sizes(1)?.get(leading..)?;
        sizes.iter().map(|size| i64::try_from((*size)?).ok()).collect()
    }

    /// The batch axis, and the spatial axes along which windows of step 1 are padded by what they lose.
    fn windows(&self, kernel: Option<Vec<i64>>) -> Option<SizeSources> {
        let mut sources = self.same_batch()?;
        let [strides, dilations, before, after] =
            ["strides", "dilations", "pads_begin", "pads_end"]
                .map(|name| self.layer.integers(name).ok());
        let number = |list: &Option<Vec<i64>>, axis: usize, default: i64| {
            list.as_ref().map_or(default, |list| list.get(axis).copied().unwrap_or(default))
        };
        let pads = self.layer.word("auto_pad", "explicit");
        for (axis, size) in kernel.into_iter().flatten().enumerate() {
            let lost = number(&dilations, axis, 1).checked_mul(size.checked_sub(1)?)?;
            let added = match &pads[..] {
                "same_upper" | "same_lower" => lost,
                "valid" => 0,
                _ => number(&before, axis, 0).checked_add(number(&after, axis, 0))?,
            };
            if number(&strides, axis, 1) == 1 && added == lost {
                *sources.get_mut(axis + 2)? = Some((0, axis + 2));
            }
        }
        Some(sources)
    }

    /// All axes of operand 0 except the one that the attribute names.
    fn without_attribute_axis(&self, name: &str) -> Option<SizeSources> {
        let rank = self.rank(0)?;
        let without = axis_from_front(self.layer.integer(name, None).ok()?, rank)?;
        Some((0..rank).map(|axis| (axis != without).then_some((0, axis))).collect())
    }

    /// All axes of operand 0 except those that the constant operand lists.
    fn without_axes_of(&self, operand: usize) -> Option<SizeSources> {
        let rank = self.rank(0)?;
        let without = self.axes(operand, rank)?;
        Some((0..rank).map(|axis| (!without.contains(&axis)).then_some((0, axis))).collect())
    }

    /// All axes of operand 0 except those that operand 4 lists; without it, except the first ones.
    fn slice(&self) -> Option<SizeSources> {
        if self.layer.sources.len() > 4 {
            return self.without_axes_of(4);
        }
        let (rank, sliced) = (self.rank(0)?, (*self.sizes(1)?.first()?)?);
        Some((0..rank).map(|axis| (axis >= sliced).then_some((0, axis))).collect())
    }

    /// The axes that no entry cuts: both masks ignore the bounds, and the step is 1. Entries that add or
    /// remove axes have no sources.
    fn strided_slice(&self) -> Option<SizeSources> {
        let mask = |name: &str| self.layer.integers(name).ok();
        for name in ["new_axis_mask", "shrink_axis_mask", "ellipsis_mask"] {
            if mask(name)?.iter().any(|&bit| bit != 0) {
                return None;
            }
        }
        let (begins, ends) = (mask("begin_mask")?, mask("end_mask")?);
        let steps = match self.layer.sources.len() > 3 {
            true => self.lists.read(self.network, self.layer, 3)?,
            false => Vec::new(),
        };
        let sliced = (*self.sizes(1)?.first()?)?;
        let is_set = |mask: &[i64], axis: usize| mask.get(axis).is_some_and(|&bit| bit != 0);
        let is_whole = |axis: usize| {
            let is_step = steps.get(axis).is_none_or(|&step| step == 1);
            axis >= sliced || (is_set(&begins, axis) && is_set(&ends, axis) && is_step)
        };
        Some((0..self.rank(0)?).map(|axis| is_whole(axis).then_some((0, axis))).collect())
    }

    /// The axes without padding.
    fn pad(&self) -> Option<SizeSources> {
        let before = self.lists.read(self.network, self.layer, 1)?;
        let after = self.lists.read(self.network, self.layer, 2)?;
        let is_kept = before.iter().zip(&after).map(|pair| pair == (&0, &0));
        Some(is_kept.enumerate().map(|(axis, is)| is.then_some((0, axis))).collect())
    }

    /// The axes that are repeated once. More repeats than axes of the operand add axes.
    fn tile(&self) -> Option<SizeSources> {
        let repeats = self.lists.read(self.network, self.layer, 1)?;
        let is_kept = |(axis, &count): (usize, &i64)| (count == 1).then_some((0, axis));
        let has_rank = repeats.len() == self.rank(0)?;
        has_rank.then(|| repeats.iter().enumerate().map(is_kept).collect())
    }

    /// The shape of the indices.
    fn gather_elements(&self) -> Option<SizeSources> {
        Some((0..self.rank(1)?).map(|axis| Some((1, axis))).collect())
    }

    fn transpose(&self) -> Option<SizeSources> {
        let rank = self.rank(0)?;
        let order = self.axes(1, rank)?;
        let order = if order.is_empty() { (0..rank).rev().collect() } else { order };
        Some(order.into_iter().map(|axis| Some((0, axis))).collect())
    }

    /// The axes of the data before the gathered axis, the axes of the indices behind the batch, then the
    /// axes of the data behind the gathered axis.
    fn gather(&self) -> Option<SizeSources> {
        let (data, indices) = (self.rank(0)?, self.rank(1)?);
        let axis = *self.axes(2, data)?.first()?;
        let batch = axis_from_front(self.layer.integer("batch_dims", Some(0)).ok()?, indices + 1)?;
        let before = (0..axis).map(|axis| Some((0, axis)));
        let between = (batch..indices).map(|axis| Some((1, axis)));
        Some(before.chain(between).chain((axis + 1..data).map(|axis| Some((0, axis)))).collect())
    }

    /// A product of stacks of matrices. A batch axis has its size from operand 0, or from operand 1 if
    /// operand 0 lacks the axis or has size 1.
    fn matmul(&self) -> Option<SizeSources> {
        let [first, second] = [self.rank(0)?, self.rank(1)?];
        let rank = self.result_rank().filter(|&rank| rank == first.max(second))?;
        let batch = first.min(second).checked_sub(2).map(|_| rank - 2)?;
        let [a, b] = ["transpose_a", "transpose_b"].map(|name| self.layer.flag(name, Some(false)));
        let row = if a.ok()? { first - 1 } else { first - 2 };
        let column = if b.ok()? { second - 2 } else { second - 1 };
        let of_batch = |axis: usize| {
            let own = |operand: usize, of: usize| Some((operand, (axis + of).checked_sub(rank)?));
            let is_one =
                |(operand, axis): (usize, usize)| self.sizes(operand)?.get(axis).copied()?;
            own(0, first).filter(|&of| is_one(of) != Some(1)).or(own(1, second))
        };
        Some((0..batch).map(of_batch).chain([Some((0, row)), Some((1, column))]).collect())
    }

    /// Each letter of the result has the size of the first operand axis with this letter. An equation with an
    /// ellipsis, or without a result, has no sources.
    fn einsum(&self) -> Option<SizeSources> {
        let equation = self.layer.attribute("equation")?.replace(' ', "");
        let (operands, result) = equation.split_once("->").filter(|_| !equation.contains('.'))?;
        let source = |letter: char| {
            let mut operands = operands.split(',').enumerate();
            operands.find_map(|(operand, axes)| Some((operand, axes.find(letter)?)))
        };
        Some(result.chars().map(source).collect())
    }

    /// The axes of the indices, around the new axis.
    fn one_hot(&self) -> Option<SizeSources> {
        let rank = self.rank(0)?;
        let new = axis_from_front(self.layer.integer("axis", None).ok()?, rank + 1)?;
        let source = |axis: usize| (axis != new).then(|| (0, axis - usize::from(axis > new)));
        Some((0..=rank).map(source).collect())
    }

    /// The axes of the query, and the last axis of the value. A batch axis of size 1 has the size of the key.
    fn attention(&self) -> Option<SizeSources> {
        let [query, key, value] = [self.sizes(0)?, self.sizes(1)?, self.sizes(2)?];
        let rank = self.result_rank().filter(|&rank| query.len() == rank && key.len() == rank)?;
        let source = |axis: usize| match axis + 2 < rank && query[axis] == Some(1) {
            true => Some((1, axis)),
            false => Some((0, axis)),
        };
        let last = (2, value.len().checked_sub(1)?);
        Some((0..rank.checked_sub(1)?).map(source).chain([Some(last)]).collect())
    }

    /// With `special_zero`, a 0 in the target shape keeps the size of operand 0. Other sizes have no
    /// source.
    fn reshape(&self) -> Option<SizeSources> {
        let is_special = self.layer.flag("special_zero", Some(false)).ok()?;
        let rank = self.rank(0)?;
        let pattern = self.lists.read(self.network, self.layer, 1)?;
        let kept_size = |(axis, &size): (usize, &i64)| {
            (is_special && size == 0 && axis < rank).then_some((0, axis))
        };
        Some(pattern.iter().enumerate().map(kept_size).collect())
    }

    fn squeeze(&self) -> Option<SizeSources> {
        let rank = self.rank(0)?;
        let removed = self.axes(1, rank)?;
        Some((0..rank).filter(|axis| !removed.contains(axis)).map(|axis| Some((0, axis))).collect())
    }

    fn unsqueeze(&self) -> Option<SizeSources> {
        let rank = self.result_rank()?;
        let added = self.axes(1, rank)?;
        let mut own = 0..self.rank(0)?;
        let source = |axis: usize| {
            let is_own = !added.contains(&axis);
            is_own.then(|| own.next()).flatten().map(|axis| (0, axis))
        };
        Some((0..rank).map(source).collect())
    }

    /// With `keep_dims` all axes stay in their places. The port states size 1 for the reduced axes, so
    /// their source does not matter.
    fn reduce(&self) -> Option<SizeSources> {
        if self.layer.flag("keep_dims", Some(false)).ok()? {
            return self.same_shape();
        }
        self.squeeze()
    }
}
