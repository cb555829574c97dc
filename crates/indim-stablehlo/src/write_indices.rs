//! The writer's gathers, scatters and sorts.

use indim_graph::{Node, SortResult, ValueId};
use indim_ops::{ArrayType, DType, ScatterOp};

use super::writer::{TextWriter, list, tensor};
use indim_xla::legalize::{offset_axes, update_of};
use indim_xla::opcode::order_of;

impl TextWriter<'_> {
    /// A gather along one axis, whose indices XLA clamps.
    pub(super) fn take(&mut self, id: ValueId, axis: usize, node: &Node) {
        let [from, indices] = [0, 1].map(|operand| &self.graph[node.operands[operand]].array_type);
        let rank = indices.shape.rank();
        let offsets = list(offset_axes(from.shape.rank(), axis, rank));
        let size = |(at, &size): (usize, &usize)| if at == axis { 1 } else { size };
        let sizes = list(from.shape.iter().enumerate().map(size));
        let types =
            format!("({}, {}) -> {}", tensor(from), tensor(indices), tensor(&node.array_type));
        let operands = list(node.operands.iter().map(|&operand| self.value(operand)));
        let operation = format!(
            "\"stablehlo.gather\"({operands}) <{{dimension_numbers = #stablehlo.gather<\
             offset_dims = [{offsets}], collapsed_slice_dims = [{axis}], start_index_map = [{axis}], \
             index_vector_dim = {rank}>, indices_are_sorted = false, slice_sizes = array<i64{}>}}>",
            if sizes.is_empty() { sizes } else { format!(": {sizes}") }
        );
        self.operation(id, &operation, &types);
    }

    /// A scatter along one axis, which drops updates out of range.
    pub(super) fn scatter(&mut self, id: ValueId, op: ScatterOp, axis: usize, node: &Node) {
        let types = node.operands.iter().map(|&operand| tensor(&self.graph[operand].array_type));
        let types = format!("({}) -> {}", list(types), tensor(&node.array_type));
        let indices = self.graph[node.operands[1]].array_type.shape.rank();
        let offsets = list(offset_axes(node.array_type.shape.rank(), axis, indices));
        let operands = list(node.operands.iter().map(|&operand| self.value(operand)));
        let (value, number) = (self.value(id), id.index());
        let scalar = tensor(&ArrayType::new(node.array_type.dtype, []));
        self.line(&format!(
            "    {value} = \"stablehlo.scatter\"({operands}) <{{indices_are_sorted = false, \
             scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [{offsets}], \
             inserted_window_dims = [{axis}], scatter_dims_to_operand_dims = [{axis}], \
             index_vector_dim = {indices}>, unique_indices = false}}> ({{"
        ));
        self.line(&format!("    ^bb0(%a{number}: {scalar}, %b{number}: {scalar}):"));
        match update_of(op) {
            None => self.line(&format!("      stablehlo.return %b{number} : {scalar}")),
            Some(name) => {
                self.line(&format!(
                    "      %c{number} = stablehlo.{name} %a{number}, %b{number} : {scalar}"
                ));
                self.line(&format!("      stablehlo.return %c{number} : {scalar}"));
            }
        }
        self.line(&format!("    }}) : {types}"));
    }

    /// A stable sort in JAX's form; positions are sorted with the keys.
    pub(super) fn sort(
        &mut self,
        id: ValueId,
        (axis, descending): (usize, bool),
        result: SortResult,
        node: &Node,
    ) {
        let number = id.index();
        let keys: Vec<ArrayType> =
            node.operands.iter().map(|&key| self.graph[key].array_type.clone()).collect();
        let mut operands: Vec<String> = node.operands.iter().map(|&key| self.value(key)).collect();
        let mut sorted = keys.clone();
        if result == SortResult::Positions {
            let counter = format!("%count{number}");
            let counted = tensor(&node.array_type);
            self.line(&format!("    {counter} = stablehlo.iota dim = {axis} : {counted}"));
            operands.push(counter);
            sorted.push(node.array_type.clone());
        }
        let types = list(sorted.iter().map(tensor));
        let (value, count) = (self.value(id), sorted.len());
        let name = if count == 1 { value.clone() } else { format!("%sorted{number}:{count}") };
        self.line(&format!(
            "    {name} = \"stablehlo.sort\"({}) <{{dimension = {axis} : i64, is_stable = true}}> ({{",
            list(operands)
        ));
        let scalars: Vec<String> =
            sorted.iter().map(|it| tensor(&ArrayType::new(it.dtype, []))).collect();
        let arguments =
            scalars.iter().enumerate().map(|(at, it)| format!("%a{at}: {it}, %b{at}: {it}"));
        self.line(&format!("    ^bb0({}):", list(arguments)));
        let dtypes: Vec<DType> = keys.iter().map(|key| key.dtype).collect();
        self.text.push_str(&comparator(&dtypes, descending));
        self.line(&format!("    }}) : ({types}) -> ({types})"));
        if count > 1 {
            let barrier = format!("stablehlo.optimization_barrier %sorted{number}#{}", count - 1);
            self.line(&format!("    {value} = {barrier} : {}", tensor(&node.array_type)));
        }
    }
}

/// The body of a comparator of pairs of keys, the first key most significant.
fn comparator(keys: &[DType], descending: bool) -> String {
    let direction = if descending { "GT" } else { "LT" };
    let mut body = String::new();
    let mut compared = Vec::with_capacity(keys.len());
    for (at, &dtype) in keys.iter().enumerate() {
        let scalar = tensor(&ArrayType::new(dtype, []));
        let is_float = dtype.is_float();
        let sides = match is_float {
            true => ["a", "b"].map(|side| canonical(&mut body, &format!("%{side}{at}"), dtype)),
            false => ["a", "b"].map(|side| format!("%{side}{at}")),
        };
        let order = order_of(dtype, is_float);
        let types = format!("({scalar}, {scalar}) -> tensor<i1>");
        for (name, direction) in [("lt", direction), ("eq", "EQ")] {
            let is_needed = name == "lt" || at + 1 < keys.len();
            if is_needed {
                body += &format!(
                    "      %{name}{at} = stablehlo.compare {direction}, {}, {}, {order} : {types}\n",
                    sides[0], sides[1]
                );
            }
        }
        compared.push(format!("%lt{at}"));
    }
    let mut result = compared.pop().unwrap_or_default();
    for (at, before) in compared.iter().enumerate().rev() {
        body += &format!("      %and{at} = stablehlo.and %eq{at}, {result} : tensor<i1>\n");
        body += &format!("      %or{at} = stablehlo.or {before}, %and{at} : tensor<i1>\n");
        result = format!("%or{at}");
    }
    body + &format!("      stablehlo.return {result} : tensor<i1>\n")
}

/// Adds to `body` the operations that replace a zero by +0 and a NaN by the canonical NaN in an
/// argument. Returns the name of their result.
fn canonical(body: &mut String, argument: &str, dtype: DType) -> String {
    let scalar = tensor(&ArrayType::new(dtype, []));
    let nan = match dtype {
        DType::F16 => "0x7E00",
        DType::Bf16 => "0x7FC0",
        DType::F32 => "0x7FC00000",
        _ => "0x7FF8000000000000",
    };
    let compare = |direction: &str, with: &str| {
        let types = format!("({scalar}, {scalar}) -> tensor<i1>");
        format!("compare {direction}, {argument}, {with}, FLOAT : {types}")
    };
    let mut line = |name: &str, text: String| {
        *body += &format!("      {argument}_{name} = stablehlo.{text}\n");
    };
    let [zero, number] = ["zero", "number"].map(|name| format!("{argument}_{name}"));
    let select = |name: &str, chosen: &str, other: &str| {
        format!("select {argument}_{name}, {chosen}, {other} : tensor<i1>, {scalar}")
    };
    line("zero", format!("constant dense<0.0> : {scalar}"));
    line("nan", format!("constant dense<{nan}> : {scalar}"));
    line("is_zero", compare("EQ", &zero));
    line("is_nan", compare("NE", argument));
    line("number", select("is_zero", &zero, argument));
    line("key", select("is_nan", &format!("{argument}_nan"), &number));
    format!("{argument}_key")
}
