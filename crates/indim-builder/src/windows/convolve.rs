//! Convolutions, also grouped, strided, dilated and transposed ones.

use indim_graph::{AxisWindow, GraphError, Literal, PaddedWindow};
use indim_ops::DType;
use indim_shape::Shape;

use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::operand::Operand;

/// The role of each axis of an array of a convolution: StableHLO's dimension numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConvolutionAxes {
    /// The batch axis; in a kernel, the axis of the result's features.
    pub batch: usize,
    /// The feature axis; in a kernel, the axis of the operand's features.
    pub feature: usize,
    /// The spatial axes.
    pub spatial: Vec<usize>,
}

impl ConvolutionAxes {
    /// Batch, features, then the spatial axes: `NCHW`, and `OIHW` for kernels.
    pub fn leading(spatial: usize) -> Self {
        ConvolutionAxes { batch: 0, feature: 1, spatial: (2..spatial + 2).collect() }
    }

    /// The axes in the order batch, feature, spatial axes.
    fn order(&self) -> impl Iterator<Item = usize> + '_ {
        [self.batch, self.feature].into_iter().chain(self.spatial.iter().copied())
    }

    /// Whether the axes are those of an array of this rank, each once.
    fn is_of_rank(&self, rank: usize) -> bool {
        let mut order: Vec<usize> = self.order().collect();
        order.sort_unstable();
        order.into_iter().eq(0..rank)
    }
}

/// The parameters of a convolution: the axes of its arrays, the windows of the spatial axes, and groups.
///
/// The kernel determines the sizes of windows; [`PaddedWindow::size`] is ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Convolution {
    /// The axes of the operand.
    pub operand: ConvolutionAxes,
    /// The axes of the kernel.
    pub kernel: ConvolutionAxes,
    /// The axes of the result.
    pub result: ConvolutionAxes,
    /// The windows of each spatial axis, in the order of the axes' `spatial` lists.
    pub windows: Vec<PaddedWindow>,
    /// Number of groups of features: each group is convolved with its own part of the kernel.
    pub feature_groups: usize,
    /// Number of groups of the batch: each group is convolved with its own part of the kernel.
    pub batch_groups: usize,
}

impl Convolution {
    /// A convolution of `NCHW` by `OIHW` with these windows, without groups.
    pub fn new(windows: Vec<PaddedWindow>) -> Self {
        let axes = ConvolutionAxes::leading(windows.len());
        Convolution {
            operand: axes.clone(),
            kernel: axes.clone(),
            result: axes,
            windows,
            feature_groups: 1,
            batch_groups: 1,
        }
    }
}

/// Letters for the axes in the `einsum` equation of a convolution.
struct Labels {
    next: u8,
}

impl Labels {
    /// The next letter; `None` after 52.
    fn next_label(&mut self) -> Option<char> {
        let label = self.next;
        self.next += 1;
        match label {
            0..26 => Some(char::from(b'a' + label)),
            26..52 => Some(char::from(b'A' + label - 26)),
            _ => None,
        }
    }
}

impl GraphBuilder {
    /// A convolution: StableHLO's `convolution`, ONNX's `Conv` and `ConvTranspose`.
    ///
    /// The windows of the padded operand are a view. The result is a contraction of this view with the
    /// kernel; its sums run over the spatial axes and the features, in row-major order. `dtype` is the
    /// element type of the result; the default is the operands' type, as in [`GraphBuilder::product`].
    ///
    /// ```
    /// use indim_builder::{Convolution, GraphBuilder};
    /// use indim_graph::PaddedWindow;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [1, 1, 4])?;
    /// let kernel = b.parameter("kernel", DType::F32, [1, 1, 3])?;
    /// let window = PaddedWindow { low: 1, high: 1, ..PaddedWindow::default() };
    /// let result = b.convolution(&x, &kernel, &Convolution::new(vec![window]), None)?;
    /// let graph = b.finish(&[result])?;
    /// let x = Array::new([1, 1, 4], vec![1.0f32, 2.0, 3.0, 4.0])?;
    /// let kernel = Array::new([1, 1, 3], vec![1.0f32, 10.0, 100.0])?;
    /// let expected = Ok(&[210.0f32, 321.0, 432.0, 43.0][..]);
    /// assert_eq!(evaluate(&graph, &[x, kernel])?[0].elements::<f32>(), expected);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// TY2; `convolution-shape` if axes, features or groups do not fit; `bad-window`; `slice-out-of-range`
    /// if negative padding removes more elements than an axis has; E5 `too-large`.
    #[track_caller]
    pub fn convolution(
        &self,
        x: impl Operand,
        kernel: impl Operand,
        convolution: &Convolution,
        dtype: Option<DType>,
    ) -> BuildResult {
        const NAME: &str = "convolution";
        let ids = self.ids_of(NAME, &[x.into_arg(), kernel.into_arg()], 0)?;
        self.check_types(NAME, &ids)?;
        let [x, kernel] = [self.value(ids[0]), self.value(ids[1])];
        let shapes = [self.type_of(ids[0]).shape, self.type_of(ids[1]).shape];
        if let Some(shape_problem) = shape_problem(convolution, [&shapes[0], &shapes[1]]) {
            return Err(self.window_error(NAME, &[&x, &kernel], shape_problem));
        }
        let mut windows = convolution.windows.clone();
        for (window, &axis) in windows.iter_mut().zip(&convolution.kernel.spatial) {
            window.size = shapes[1][axis];
        }
        let [x, kernel] = [
            self.leading_order(&x, &convolution.operand)?,
            self.leading_order(&kernel, &convolution.kernel)?,
        ];
        // An axis of size 0 cannot be divided into groups.
        if shapes.iter().any(|shape| shape.contains(&0)) {
            return self.empty_convolution(&x, &kernel, convolution, &windows, dtype);
        }
        let result = self.convolve_leading(&x, &kernel, convolution, &windows, dtype)?;
        self.stated_order(&result, &convolution.result)
    }

    /// Transposes to the order batch, feature, spatial axes.
    fn leading_order(&self, value: &Value, axes: &ConvolutionAxes) -> BuildResult {
        let order: Vec<i64> = axes.order().map(|axis| axis as i64).collect();
        self.transpose(value, &order)
    }

    /// Transposes from the order batch, feature, spatial axes to the order that `axes` states.
    fn stated_order(&self, value: &Value, axes: &ConvolutionAxes) -> BuildResult {
        let order: Vec<usize> = axes.order().collect();
        let position = |axis| order.iter().position(|&of| of == axis).unwrap_or(axis) as i64;
        self.transpose(value, &(0..order.len()).map(position).collect::<Vec<i64>>())
    }

    /// The result of a convolution of an array or kernel without elements: zeros, or no elements.
    fn empty_convolution(
        &self,
        x: &Value,
        kernel: &Value,
        convolution: &Convolution,
        windows: &[PaddedWindow],
        dtype: Option<DType>,
    ) -> BuildResult {
        let (of_x, of_kernel) = (x.array_type()?, kernel.array_type()?.shape);
        let mut sizes = vec![of_x.shape[0] / convolution.batch_groups, of_kernel[0]];
        let spatial = of_x.shape[2..].iter();
        sizes.extend(spatial.zip(windows).map(|(&size, window)| window.positions(size)));
        let zero = self.literal(Literal::Int(0), dtype.unwrap_or(of_x.dtype))?;
        self.stated_order(&self.broadcast_in_dim(zero, &[], sizes)?, &convolution.result)
    }

    /// The convolution of operands in the order batch, feature, spatial.
    #[track_caller]
    fn convolve_leading(
        &self,
        x: &Value,
        kernel: &Value,
        convolution: &Convolution,
        windows: &[PaddedWindow],
        dtype: Option<DType>,
    ) -> BuildResult {
        let operands = [x, kernel];
        let [mut view, mut kernel] = self.windows_and_kernel(x, kernel, windows)?;
        let of_kernel = kernel.array_type()?.shape;
        let too_many_axes = || {
            let shape_problem = "it has too many spatial axes".to_owned();
            self.window_error("convolution", &operands, shape_problem)
        };
        if of_kernel[0] == convolution.feature_groups && of_kernel[1] == 1 {
            // Each feature of the result depends on one feature of the operand only, so no axis is
            // divided into groups.
            let equation = depthwise_equation(windows.len()).ok_or_else(too_many_axes)?;
            let sizes: Vec<usize> = [of_kernel[0]].iter().chain(&of_kernel[2..]).copied().collect();
            return self.einsum_as(&equation, &[view, self.reshape(&kernel, sizes)?], dtype);
        }
        let groups = convolution.feature_groups.max(convolution.batch_groups);
        let group_axis = match (convolution.feature_groups, convolution.batch_groups) {
            (2.., _) => Some(1),
            (_, 2..) => Some(0),
            _ => None,
        };
        // Windows that do not overlap divide an axis into groups as a view, for any strides.
        let split_groups = |value: &Value, axis: usize| {
            let size = value.array_type()?.shape[axis] / groups;
            self.window(value, axis as i64, AxisWindow::new(size.max(1), size.max(1), 1))
        };
        if let Some(axis) = group_axis {
            (view, kernel) = (split_groups(&view, axis)?, split_groups(&kernel, 0)?);
        }
        if group_axis != Some(1) {
            // The sum runs over the elements of a window and the features, which vary fastest, so the axis
            // of the features becomes the last.
            let rank = view.array_type()?.shape.rank() as i64;
            let order: Vec<i64> = [0].into_iter().chain(2..rank).chain([1]).collect();
            view = self.transpose(view, &order)?;
        }
        let Some(equation) = equation(windows.len(), group_axis) else {
            return Err(too_many_axes());
        };
        let result = self.einsum_as(&equation, &[view, kernel], dtype)?;
        if group_axis.is_none() {
            return Ok(result);
        }
        // The axes are batch, groups, features of a group, spatial axes: groups and features become one.
        let mut sizes = result.array_type()?.shape.to_vec();
        let features = sizes.remove(2);
        sizes[1] *= features;
        self.reshape(result, sizes)
    }

    /// The windows of the padded operand, as a view, and the kernel, reversed along axes with reversed
    /// windows.
    #[track_caller]
    fn windows_and_kernel(
        &self,
        x: &Value,
        kernel: &Value,
        windows: &[PaddedWindow],
    ) -> Result<[Value; 2], GraphError> {
        let axes: Vec<(usize, PaddedWindow)> =
            windows.iter().enumerate().map(|(axis, window)| (axis + 2, *window)).collect();
        let zero = self.literal(Literal::Int(0), x.array_type()?.dtype)?;
        let mut view = self.padded_windows(x, &zero, &axes)?;
        let mut kernel = kernel.clone();
        for (axis, window) in axes {
            view = self.window(&view, axis as i64, window.window())?;
            if window.is_reversed {
                kernel = self.reverse(&kernel, &[axis as i64])?;
            }
        }
        Ok([view, kernel])
    }
}

/// The `einsum` equation of a depthwise convolution: windows, and a kernel without the axis of features.
fn depthwise_equation(spatial: usize) -> Option<String> {
    let mut labels = Labels { next: 0 };
    let [batch, feature] = [labels.next_label()?, labels.next_label()?];
    let list =
        |labels: &mut Labels| (0..spatial).map(|_| labels.next_label()).collect::<Option<String>>();
    let (positions, elements) = (list(&mut labels)?, list(&mut labels)?);
    Some(format!(
        "{batch}{feature}{positions}{elements},{feature}{elements}->{batch}{feature}{positions}"
    ))
}

/// The `einsum` equation of windows and kernel; `group_axis` is the axis of the operand that is divided
/// into groups: 0 for the batch, 1 for the features. `None` if the equation has more axes than letters.
fn equation(spatial: usize, group_axis: Option<usize>) -> Option<String> {
    let mut labels = Labels { next: 0 };
    let [batch, channel, feature, group] =
        [labels.next_label()?, labels.next_label()?, labels.next_label()?, labels.next_label()?];
    let list =
        |labels: &mut Labels| (0..spatial).map(|_| labels.next_label()).collect::<Option<String>>();
    let (positions, elements) = (list(&mut labels)?, list(&mut labels)?);
    Some(match group_axis {
        None => format!(
            "{batch}{positions}{elements}{channel},{feature}{channel}{elements}->\
             {batch}{feature}{positions}"
        ),
        // The axis of the groups replaces that of the features; the features of a group are the last axis.
        Some(1) => format!(
            "{batch}{group}{positions}{elements}{channel},{group}{channel}{elements}{feature}->\
             {batch}{group}{feature}{positions}"
        ),
        Some(_) => format!(
            "{group}{positions}{elements}{batch}{channel},{group}{channel}{elements}{feature}->\
             {batch}{group}{feature}{positions}"
        ),
    })
}

/// The reason why arrays of these shapes cannot be convolved, for the error; `None` if they can.
fn shape_problem(convolution: &Convolution, [x, kernel]: [&Shape; 2]) -> Option<String> {
    let Convolution { operand, kernel: of_kernel, result, windows, feature_groups, batch_groups } =
        convolution;
    let rank = windows.len() + 2;
    for (what, shape) in [("operand", x), ("kernel", kernel)] {
        if shape.rank() != rank {
            return Some(format!("the {what} has rank {}, not {rank}", shape.rank()));
        }
    }
    if ![operand, of_kernel, result].iter().all(|axes| axes.is_of_rank(rank)) {
        return Some(format!("its axes are not 0 to {}, each once", rank - 1));
    }
    if *feature_groups == 0 || *batch_groups == 0 || (*feature_groups > 1 && *batch_groups > 1) {
        return Some(format!("it has {feature_groups} feature and {batch_groups} batch groups"));
    }
    let (features, in_features) = (x[operand.feature], kernel[of_kernel.feature]);
    if in_features.checked_mul(*feature_groups) != Some(features) {
        return Some(format!(
            "the operand has {features} features, the kernel takes {in_features} in {feature_groups} groups"
        ));
    }
    let (result_features, groups) = (kernel[of_kernel.batch], (*feature_groups).max(*batch_groups));
    if result_features % groups != 0 {
        return Some(format!(
            "{result_features} features of the result do not divide into {groups} groups"
        ));
    }
    let batch = x[operand.batch];
    (batch % batch_groups != 0)
        .then(|| format!("a batch of {batch} does not divide into {batch_groups} groups"))
}
