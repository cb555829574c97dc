//! Memory order of new outputs. `run/` of `indim-cpu` calls it.

use std::sync::OnceLock;

use indim_loops::loop_nest::LoopNests;
use indim_loops::memory_order::MemoryOrder;
use indim_loops::strides::order::{dense_strides, is_column_major};
use indim_ops::ArrayType;

use crate::view::ArrayView;

/// Memory order of new outputs, with the values of NumPy's `order`.
///
/// ```
/// assert_eq!(indim_arrays::Order::default(), indim_arrays::Order::C);
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
pub struct OutputOrders(OnceLock<MemoryOrder>);

impl OutputOrders {
    /// The dense strides in bytes of each output in this order; `None` for row-major. The result is empty if
    /// all are row-major. The nests are those of the graph, for any sizes.
    pub fn strides(
        &self,
        loops: &LoopNests,
        outputs: &[ArrayType],
        order: Order,
        inputs: &[ArrayView<'_>],
    ) -> Vec<Option<Vec<isize>>> {
        // One axis has one order.
        if outputs.iter().all(|output| output.shape.rank() < 2) {
            return Vec::new();
        }
        let is_reversed = match order {
            Order::C => false,
            Order::F => true,
            Order::A => {
                let is_reversed = |x: &ArrayView<'_>| is_column_major(x.array_type(), x.strides());
                !inputs.is_empty() && inputs.iter().all(is_reversed)
            }
            Order::K => {
                let followed = self.0.get_or_init(|| MemoryOrder::new(loops));
                if inputs.iter().all(ArrayView::is_row_major) {
                    return followed.of_row_major_inputs(outputs);
                }
                return followed.strides(outputs, |parameter| inputs[parameter].strides().to_vec());
            }
        };
        let reversed = |output: &ArrayType| {
            let axes: Vec<usize> = (0..output.shape.rank()).rev().collect();
            dense_strides(output, &axes)
        };
        match is_reversed {
            true => outputs.iter().map(reversed).collect(),
            false => Vec::new(),
        }
    }
}
