//! Memory order of new outputs.

use std::sync::OnceLock;

use indim_arrays::{ArrayView, dense_byte_strides, is_column_major};
use indim_graph::Size;
use indim_loops::input_axes::InputAxes;
use indim_loops::loop_nest::LoopNests;
use indim_ops::ArrayType;
use indim_shape::Shape;

/// Memory order of new outputs, with the values of NumPy's `order`.
///
/// ```
/// assert_eq!(indim_cpu::Order::default(), indim_cpu::Order::C);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Order {
    /// Row-major.
    #[default]
    C,
    /// Column-major.
    F,
    /// Column-major if every input is, else row-major.
    A,
    /// The order of the inputs: axes sorted by stride, if the inputs agree; else row-major.
    K,
}

/// The memory orders of a graph's outputs. Their dependence on the inputs is computed at the first use.
#[derive(Debug, Default)]
pub(crate) struct OutputOrders(OnceLock<InputOrder>);

impl OutputOrders {
    /// The dense strides in bytes of each output in this order; `None` for row-major. The result is empty
    /// if all outputs are row-major. `loops` are the nests of the graph, for any sizes.
    pub(crate) fn strides(
        &self,
        loops: &LoopNests,
        outputs: &[ArrayType],
        order: Order,
        inputs: &[ArrayView<'_>],
    ) -> Vec<Option<Vec<isize>>> {
        // An array with fewer than two axes has only one order.
        if outputs.iter().all(|output| output.shape.rank() < 2) {
            return Vec::new();
        }
        let is_reversed = match order {
            Order::C => false,
            Order::F => true,
            Order::A => {
                let is_reversed =
                    |x: &ArrayView<'_>| is_column_major(x.array_type(), x.byte_strides());
                !inputs.is_empty() && inputs.iter().all(is_reversed)
            }
            Order::K => {
                let followed = self.0.get_or_init(|| InputOrder::new(loops));
                if inputs.iter().all(ArrayView::is_row_major) {
                    return followed.of_row_major_inputs(outputs);
                }
                return followed
                    .strides(outputs, |parameter| inputs[parameter].byte_strides().to_vec());
            }
        };
        let reversed = |output: &ArrayType| {
            let axes: Vec<usize> = (0..output.shape.rank()).rev().collect();
            dense_byte_strides(output, &axes)
        };
        match is_reversed {
            true => outputs.iter().map(reversed).collect(),
            false => Vec::new(),
        }
    }
}

/// The order [`Order::K`] of a graph's outputs, for any sizes and strides of the inputs.
#[derive(Debug)]
struct InputOrder {
    axes: InputAxes,
    /// The cached axes of the outputs for row-major inputs, the common case.
    of_row_major_inputs: Vec<Vec<usize>>,
}

impl InputOrder {
    /// The memory order for the graph of these nests.
    fn new(loops: &LoopNests) -> Self {
        let axes = InputAxes::of(loops);
        // The order of the strides of a row-major array is the same for all sizes of at least 2.
        let size = |size: &Size| size.known().unwrap_or(2);
        let row_major = |parameter: usize| {
            let shape = loops.parameters[parameter].shape.iter().map(size);
            shape.collect::<Shape>().row_major_strides()
        };
        InputOrder { of_row_major_inputs: axes.output_axes(row_major), axes }
    }

    /// Like [`InputOrder::strides`], for row-major inputs.
    fn of_row_major_inputs(&self, outputs: &[ArrayType]) -> Vec<Option<Vec<isize>>> {
        strides(outputs, &self.of_row_major_inputs)
    }

    /// For each output, the strides in bytes of a dense array of this type in the memory order of the inputs;
    /// `None` for row-major. `input_strides` returns the strides of an input.
    fn strides(
        &self,
        outputs: &[ArrayType],
        input_strides: impl Fn(usize) -> Vec<isize>,
    ) -> Vec<Option<Vec<isize>>> {
        strides(outputs, &self.axes.output_axes(input_strides))
    }
}

fn strides(outputs: &[ArrayType], axes: &[Vec<usize>]) -> Vec<Option<Vec<isize>>> {
    outputs.iter().zip(axes).map(|(output, axes)| dense_byte_strides(output, axes)).collect()
}
