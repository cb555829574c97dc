//! The writer's gathers, scatters and sorts.

use core::fmt::Write as _;

use indim_graph::{Node, SortResult, ValueId};
use indim_ops::{ArrayType, DType, ScatterOp};

use super::shape::type_name;
use super::writer::{TextWriter, list, scalar, shape, value};
use crate::legalize::{offset_axes, update_of};

impl TextWriter<'_> {
    /// A gather along one axis, whose indices XLA clamps.
    pub(super) fn take(&self, axis: usize, node: &Node) -> String {
        let [from, indices] = [0, 1].map(|at| &self.graph[node.operands[at]].array_type.shape);
        let offsets = list(offset_axes(from.rank(), axis, indices.rank()), ",");
        let size = |(at, &size): (usize, &usize)| if at == axis { 1 } else { size };
        let sizes = list(from.iter().enumerate().map(size), ",");
        let operands = list(node.operands.iter().map(|&operand| value(operand)), ", ");
        format!(
            "{} gather({operands}), offset_dims={{{offsets}}}, collapsed_slice_dims={{{axis}}}, \
             start_index_map={{{axis}}}, index_vector_dim={}, slice_sizes={{{sizes}}}",
            shape(&node.array_type),
            indices.rank()
        )
    }

    /// A scatter along one axis, which drops updates out of range.
    pub(super) fn scatter(&mut self, op: ScatterOp, axis: usize, node: &Node) -> String {
        let dtype = node.array_type.dtype;
        let number = scalar(dtype);
        let apply = match update_of(op) {
            Some(name) => {
                let apply = format!("{name}.{}", type_name(dtype));
                self.apply(&apply, &number, name);
                apply
            }
            None => {
                let apply = format!("update.{}", type_name(dtype));
                self.applied.entry(apply.clone()).or_insert_with(|| {
                    format!("  a = {number} parameter(0)\n  ROOT b = {number} parameter(1)\n")
                });
                apply
            }
        };
        let indices = self.graph[node.operands[1]].array_type.shape.rank();
        let offsets = list(offset_axes(node.array_type.shape.rank(), axis, indices), ",");
        let operands = list(node.operands.iter().map(|&operand| value(operand)), ", ");
        format!(
            "{} scatter({operands}), update_window_dims={{{offsets}}}, \
             inserted_window_dims={{{axis}}}, scatter_dims_to_operand_dims={{{axis}}}, \
             index_vector_dim={indices}, to_apply={apply}",
            shape(&node.array_type)
        )
    }

    /// A stable sort in JAX's form; positions are sorted with the keys.
    pub(super) fn sort(
        &mut self,
        id: ValueId,
        (axis, descending): (usize, bool),
        result: SortResult,
        node: &Node,
    ) -> String {
        let keys: Vec<ArrayType> =
            node.operands.iter().map(|&key| self.graph[key].array_type.clone()).collect();
        let mut operands: Vec<String> = node.operands.iter().map(|&key| value(key)).collect();
        let mut sorted = keys.clone();
        if result == SortResult::Positions {
            let counter = format!("{}.count", value(id));
            let counted = shape(&node.array_type);
            self.line(&counter, format!("{counted} iota(), iota_dimension={axis}"));
            operands.push(counter);
            sorted.push(node.array_type.clone());
        }
        let dtypes: Vec<DType> = sorted.iter().map(|it| it.dtype).collect();
        let names = list(dtypes.iter().map(|&dtype| type_name(dtype)), ".");
        let order = if descending { "greater" } else { "less" };
        let apply = format!("{order}{}.{names}", keys.len());
        self.applied
            .entry(apply.clone())
            .or_insert_with(|| comparator(&dtypes, keys.len(), descending));
        let types = list(sorted.iter().map(shape), ", ");
        let attributes = format!("dimensions={{{axis}}}, is_stable=true, to_apply={apply}");
        let operands = list(operands, ", ");
        if sorted.len() == 1 {
            return format!("{types} sort({operands}), {attributes}");
        }
        let both = format!("{}.sorted", value(id));
        self.line(&both, format!("({types}) sort({operands}), {attributes}"));
        let (result, last) = (shape(&node.array_type), sorted.len() - 1);
        format!("{result} get-tuple-element({both}), index={last}")
    }
}

/// The body of a comparator of pairs of elements of the operands. The first `keys` operands are
/// compared, the first one most significant.
fn comparator(operands: &[DType], keys: usize, descending: bool) -> String {
    let direction = if descending { "GT" } else { "LT" };
    let mut body = String::new();
    for (at, &dtype) in operands.iter().enumerate() {
        for (side, name) in ["a", "b"].iter().enumerate() {
            let number = scalar(dtype);
            let _ = writeln!(body, "  {name}{at} = {number} parameter({})", 2 * at + side);
        }
    }
    for (at, &dtype) in operands[..keys].iter().enumerate() {
        let sides = ["a", "b"].map(|side| match dtype.is_float() {
            true => canonical(&mut body, &format!("{side}{at}"), dtype),
            false => format!("{side}{at}"),
        });
        let sides = list(sides, ", ");
        let order = if dtype.is_float() { ", type=TOTALORDER" } else { "" };
        let root = if keys == 1 { "ROOT " } else { "" };
        let _ = writeln!(
            body,
            "  {root}lt{at} = pred[] compare({sides}), direction={direction}{order}"
        );
        if at + 1 < keys {
            let _ = writeln!(body, "  eq{at} = pred[] compare({sides}), direction=EQ{order}");
        }
    }
    let mut result = format!("lt{}", keys - 1);
    for at in (0..keys - 1).rev() {
        let root = if at == 0 { "ROOT " } else { "" };
        let _ = writeln!(body, "  and{at} = pred[] and(eq{at}, {result})");
        let _ = writeln!(body, "  {root}or{at} = pred[] or(lt{at}, and{at})");
        result = format!("or{at}");
    }
    body
}

/// Adds to `body` the instructions that replace a zero by +0 and a NaN by the canonical NaN in an
/// argument. Returns the name of their result.
fn canonical(body: &mut String, argument: &str, dtype: DType) -> String {
    let number = scalar(dtype);
    let _ = write!(
        body,
        "  {argument}.zero = {number} constant(0)
  {argument}.nan = {number} constant(nan)
  {argument}.is_zero = pred[] compare({argument}, {argument}.zero), direction=EQ
  {argument}.is_nan = pred[] compare({argument}, {argument}), direction=NE
  {argument}.number = {number} select({argument}.is_zero, {argument}.zero, {argument})
  {argument}.key = {number} select({argument}.is_nan, {argument}.nan, {argument}.number)
"
    );
    format!("{argument}.key")
}
