//! The writer of StableHLO text in pretty form: one function, `@main`.

use core::fmt::Write as _;

use indim_graph::{Array, Graph, Node, NodeKind, ValueId};
use indim_model::{FormatError, Notes, WriteOptions, WrittenModel};
use indim_ops::{ArrayType, DType, Op, ReduceOp};
use indim_shape::Shape;

use super::parser::type_name;
use indim_model::dot_plan::{DotPlan, WrittenDot};
use indim_model::element::{NumberText, numbers, part_of};
use indim_xla::legalize::{legalize, ranges, reducer_of, scan_padding, search_of};
use indim_xla::opcode::{Dialect, direction_of, name_of, order_of};

/// Maximum number of elements of a constant that is written as a list. A larger one is written as
/// hexadecimal bytes, unless all its elements are equal.
const MAX_LIST_LENGTH: usize = 100;

/// The text of a graph.
///
/// # Errors
/// `unsupported-op`.
pub(super) fn write(
    graph: &Graph,
    outputs: &[String],
    options: &WriteOptions,
) -> Result<WrittenModel, FormatError> {
    let mut notes = Notes::default();
    let legal = legalize(graph, true, &mut notes)?;
    let plan = DotPlan::of(&legal, &mut notes);
    let (composed, warnings) = notes.finish(options.exact)?;
    let mut text = TextWriter { graph: &legal, plan, text: String::new() };
    text.program(outputs, &options.name);
    Ok(WrittenModel {
        content: text.text.into_bytes(),
        external_file: None,
        composed,
        warnings,
        ..WrittenModel::default()
    })
}

pub(super) fn tensor(array_type: &ArrayType) -> String {
    let sizes: String = array_type.shape.iter().map(|size| format!("{size}x")).collect();
    format!("tensor<{sizes}{}>", type_name(array_type.dtype))
}

fn typed(dtype: DType, shape: &Shape) -> String {
    tensor(&ArrayType::new(dtype, shape.clone()))
}

fn quoted(name: &str) -> String {
    let mut text = String::from("\"");
    for byte in name.bytes() {
        match byte {
            b'"' | b'\\' | 0..0x20 | 0x7f => drop(write!(text, "\\{byte:02X}")),
            0x80.. => drop(write!(text, "\\{byte:02X}")),
            _ => text.push(byte as char),
        }
    }
    text + "\""
}

pub(super) fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

/// `dense<..>` without the type.
fn dense(array: &Array) -> String {
    let bytes = array.to_le_bytes();
    let size = array.dtype().size();
    let count = array.element_count();
    let is_splat = count > 0 && bytes.chunks_exact(size).all(|element| element == &bytes[..size]);
    if !is_splat && count > MAX_LIST_LENGTH {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        return format!("dense<\"0x{digits}\">");
    }
    let width = 2 * part_of(array.dtype()).size();
    let number = |number: NumberText| match number {
        NumberText::Finite(text) => text,
        NumberText::NotFinite { bits, .. } => format!("0x{bits:0width$X}"),
    };
    let parts: Vec<String> = numbers(array).into_iter().map(number).collect();
    let elements: Vec<String> = match part_of(array.dtype()) == array.dtype() {
        true => parts,
        false => parts.chunks_exact(2).map(|pair| format!("({},{})", pair[0], pair[1])).collect(),
    };
    match (count, is_splat) {
        (0, _) => "dense<>".to_owned(),
        (_, true) => format!("dense<{}>", elements[0]),
        _ => format!("dense<{}>", nested(elements, array.shape().sizes())),
    }
}

/// Nested lists of elements, one level per axis.
fn nested(elements: Vec<String>, sizes: &[usize]) -> String {
    let mut parts = elements;
    for &size in sizes.iter().rev() {
        parts = parts.chunks(size).map(|part| format!("[{}]", part.join(", "))).collect();
    }
    parts.join(", ")
}

pub(super) struct TextWriter<'g> {
    pub(super) graph: &'g Graph,
    plan: DotPlan,
    pub(super) text: String,
}

impl TextWriter<'_> {
    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn program(&mut self, outputs: &[String], name: &str) {
        let parameters = self.graph.parameters().iter().enumerate().map(|(index, &id)| {
            let name = quoted(self.graph.parameter_name(index));
            format!("{}: {} loc({name})", self.value(id), tensor(&self.graph[id].array_type))
        });
        let parameters = list(parameters);
        let results = self.graph.outputs().iter().zip(outputs).map(|(&id, name)| {
            let name = quoted(name);
            format!("{} {{jax.result_info = {name}}}", tensor(&self.graph[id].array_type))
        });
        let results = list(results);
        self.line(&format!("module @{} {{", quoted(name)));
        self.line(&format!("  func.func public @main({parameters}) -> ({results}) {{"));
        for (id, node) in self.graph.iter() {
            match self.plan.product(id).cloned() {
                Some(product) => self.product(id, &product),
                None if self.plan.is_needed(id) => self.node(id, node),
                None => {}
            }
        }
        let returned = list(self.graph.outputs().iter().map(|&id| self.value(id)));
        let types = list(self.graph.outputs().iter().map(|&id| tensor(&self.graph[id].array_type)));
        match returned.is_empty() {
            true => self.line("    return"),
            false => self.line(&format!("    return {returned} : {types}")),
        }
        self.line("  }\n}");
    }

    pub(super) fn value(&self, id: ValueId) -> String {
        match &self.graph[id].kind {
            NodeKind::Parameter { index, .. } => format!("%arg{index}"),
            _ => id.to_string(),
        }
    }

    /// Writes an operation with its types after a colon.
    pub(super) fn operation(&mut self, id: ValueId, operation: &str, types: &str) {
        let value = self.value(id);
        self.line(&format!("    {value} = {operation} : {types}"));
    }

    fn node(&mut self, id: ValueId, node: &Node) {
        let operands = list(node.operands.iter().map(|&operand| self.value(operand)));
        let result = tensor(&node.array_type);
        let from = list(node.operands.iter().map(|&id| tensor(&self.graph[id].array_type)));
        let function = format!("({from}) -> {result}");
        match &node.kind {
            // In a legalised graph each contraction is written as a product. Parameters are the
            // function's arguments. The other kinds here do not occur.
            NodeKind::Parameter { .. }
            | NodeKind::Window { .. }
            | NodeKind::Contract { .. }
            | NodeKind::SearchSorted { .. }
            | NodeKind::While { .. }
            | NodeKind::Branch { .. } => {}
            NodeKind::Take { axis, .. } => self.take(id, *axis, node),
            NodeKind::Scatter { op, axis, .. } => self.scatter(id, *op, *axis, node),
            NodeKind::Sort { axis, descending, result } => {
                self.sort(id, (*axis, *descending), *result, node);
            }
            NodeKind::Scan { op, axis, reverse, .. } => self.scan(id, *op, (*axis, *reverse), node),
            NodeKind::Constant(array) => {
                let operation = format!("stablehlo.constant {}", dense(array));
                self.operation(id, &operation, &result);
            }
            NodeKind::Iota { axis } => {
                self.operation(id, &format!("stablehlo.iota dim = {axis}"), &result);
            }
            NodeKind::Elementwise(op) => self.elementwise(id, *op, node, &operands),
            NodeKind::Convert => {
                self.operation(id, &format!("stablehlo.convert {operands}"), &function);
            }
            NodeKind::Bitcast => {
                self.operation(id, &format!("stablehlo.bitcast_convert {operands}"), &function);
            }
            NodeKind::BroadcastInDim(map) => {
                let dims = list(map.iter());
                let operation = format!("stablehlo.broadcast_in_dim {operands}, dims = [{dims}]");
                self.operation(id, &operation, &function);
            }
            NodeKind::Reshape => {
                self.operation(id, &format!("stablehlo.reshape {operands}"), &function);
            }
            NodeKind::Concatenate { axis } => {
                let operation = format!("stablehlo.concatenate {operands}, dim = {axis}");
                self.operation(id, &operation, &function);
            }
            NodeKind::Slice(slices) => match ranges(slices) {
                Some(ranges) => {
                    let range =
                        |[start, limit, step]: [usize; 3]| format!("{start}:{limit}:{step}");
                    let ranges = list(ranges.into_iter().map(range));
                    let operation = format!("stablehlo.slice {operands} [{ranges}]");
                    self.operation(id, &operation, &function);
                }
                None => {
                    let backwards = slices.iter().enumerate().filter(|(_, s)| s.step() < 0);
                    let dims = list(backwards.map(|(axis, _)| axis));
                    let operation = format!("stablehlo.reverse {operands}, dims = [{dims}]");
                    self.operation(id, &operation, &result);
                }
            },
            NodeKind::Reduce { op, axis } => self.reduce(id, *op, *axis, node),
        }
    }

    /// Writes a matrix product: conversions of operands and reshapes that drop axes of size 1, a
    /// `dot_general`, and a transposition of its result.
    fn product(&mut self, id: ValueId, product: &WrittenDot) {
        let WrittenDot { form, operands, result } = product;
        let number = id.index();
        let names = [0, 1].map(|index| self.factor(id, product, index));
        let types = list(form.shapes.iter().map(|shape| typed(*operands, shape)));
        let dot = typed(*result, &form.result);
        let axes = &form.dimensions;
        let mut operation = format!("stablehlo.dot_general {}", list(&names));
        if !axes.lhs_batch.is_empty() {
            let (lhs, rhs) = (list(&axes.lhs_batch), list(&axes.rhs_batch));
            operation += &format!(", batching_dims = [{lhs}] x [{rhs}]");
        }
        let (lhs, rhs) = (list(&axes.lhs_contracting), list(&axes.rhs_contracting));
        operation += &format!(", contracting_dims = [{lhs}] x [{rhs}]");
        let function = format!("({types}) -> {dot}");
        if form.order.is_sorted() {
            return self.operation(id, &operation, &function);
        }
        self.line(&format!("    %dot{number} = {operation} : {function}"));
        let operation = format!("stablehlo.transpose %dot{number}, dims = [{}]", list(&form.order));
        let result = tensor(&self.graph[id].array_type);
        self.operation(id, &operation, &format!("({dot}) -> {result}"));
    }

    /// Writes the conversion and the reshape of an operand of a product, and returns its name.
    fn factor(&mut self, id: ValueId, product: &WrittenDot, index: usize) -> String {
        let operand = product.form.operands[index];
        let from = self.graph[operand].array_type.clone();
        let shape = &product.form.shapes[index];
        let mut name = self.value(operand);
        let mut step = |writer: &mut Self, operation: &str, from: &str, to: &str| {
            let result = format!("%{operation}{index}_{}", id.index());
            writer.line(&format!("    {result} = stablehlo.{operation} {name} : ({from}) -> {to}"));
            name = result;
        };
        if from.dtype != product.operands {
            let to = typed(product.operands, &from.shape);
            step(self, "convert", &tensor(&from), &to);
        }
        if from.shape != *shape {
            let (wide, to) = (typed(product.operands, &from.shape), typed(product.operands, shape));
            step(self, "reshape", &wide, &to);
        }
        name
    }

    fn elementwise(&mut self, id: ValueId, op: Op, node: &Node, operands: &str) {
        let types: Vec<&ArrayType> =
            node.operands.iter().map(|&operand| &self.graph[operand].array_type).collect();
        let result = tensor(&node.array_type);
        let from = list(types.iter().map(|array_type| tensor(array_type)));
        let function = format!("({from}) -> {result}");
        if let Some((direction, is_total)) = direction_of(op) {
            let order = order_of(types[0].dtype, is_total);
            let operation = format!("stablehlo.compare {direction}, {operands}, {order}");
            return self.operation(id, &operation, &function);
        }
        let Some((name, dialect)) = name_of(op) else { return };
        if dialect != Dialect::StableHlo {
            return self.operation(
                id,
                &format!("chlo.{name} {operands}"),
                &format!("{from} -> {result}"),
            );
        }
        let are_equal = types.iter().all(|&array_type| *array_type == node.array_type);
        let types = match op {
            Op::Select => format!("{}, {result}", tensor(types[0])),
            Op::Complex => result,
            _ if are_equal => result,
            _ => function,
        };
        self.operation(id, &format!("stablehlo.{name} {operands}"), &types);
    }

    fn reduce(&mut self, id: ValueId, op: ReduceOp, axis: usize, node: &Node) {
        let operand = self.value(node.operands[0]);
        let from = &self.graph[node.operands[0]].array_type;
        let scalar = tensor(&ArrayType::new(from.dtype, []));
        let (from_text, result) = (tensor(from), tensor(&node.array_type));
        let number = id.index();
        if let Some((name, start)) = reducer_of(op, from.dtype) {
            let start = dense(&start);
            self.line(&format!("    %start{number} = stablehlo.constant {start} : {scalar}"));
            let operation = format!(
                "stablehlo.reduce({operand} init: %start{number}) applies stablehlo.{name} across \
                 dimensions = [{axis}]"
            );
            return self.operation(id, &operation, &format!("({from_text}, {scalar}) -> {result}"));
        }
        self.arg_reduction(id, op, axis, node);
    }

    /// Writes a scan as a `reduce_window` with windows as long as the axis; legalisation has made the
    /// scan inclusive.
    fn scan(&mut self, id: ValueId, op: ReduceOp, (axis, reverse): (usize, bool), node: &Node) {
        let ArrayType { dtype, shape } = &node.array_type;
        let Some((name, start)) = reducer_of(op, *dtype) else { return };
        let (operand, value, number) = (self.value(node.operands[0]), self.value(id), id.index());
        let (scalar, result) = (tensor(&ArrayType::new(*dtype, [])), tensor(&node.array_type));
        let ones = list(shape.iter().map(|_| 1));
        let sizes = (0..shape.rank()).map(|other| if other == axis { shape[axis] } else { 1 });
        let sizes = list(sizes);
        let pairs = scan_padding(shape, axis, reverse).into_iter();
        let padding = list(pairs.map(|[low, high]| format!("[{low}, {high}]")));
        let start = dense(&start);
        self.line(&format!("    %start{number} = stablehlo.constant {start} : {scalar}"));
        self.line(&format!(
            "    {value} = \"stablehlo.reduce_window\"({operand}, %start{number}) <{{\
             base_dilations = array<i64: {ones}>, padding = dense<[{padding}]> : tensor<{}x2xi64>, \
             window_dilations = array<i64: {ones}>, window_dimensions = array<i64: {sizes}>, \
             window_strides = array<i64: {ones}>}}> ({{",
            shape.rank()
        ));
        self.line(&format!("    ^bb0(%a{number}: {scalar}, %b{number}: {scalar}):"));
        self.line(&format!(
            "      %c{number} = stablehlo.{name} %a{number}, %b{number} : {scalar}"
        ));
        self.line(&format!("      stablehlo.return %c{number} : {scalar}"));
        self.line(&format!("    }}) : ({result}, {scalar}) -> {result}"));
    }

    /// JAX's argmax and argmin: a reduction of the elements together with their indices.
    fn arg_reduction(&mut self, id: ValueId, op: ReduceOp, axis: usize, node: &Node) {
        let from = &self.graph[node.operands[0]].array_type;
        let Some((direction, start)) = search_of(op, from.dtype) else { return };
        let (operand, value, number) = (self.value(node.operands[0]), self.value(id), id.index());
        let scalar = tensor(&ArrayType::new(from.dtype, []));
        let indices = tensor(&ArrayType::new(DType::I64, from.shape.clone()));
        let extreme = tensor(&ArrayType::new(from.dtype, node.array_type.shape.clone()));
        let (from_text, result) = (tensor(from), tensor(&node.array_type));
        let body = search_body(from.dtype, &scalar, direction);
        let start = dense(&start);
        self.line(&format!("    %start{number} = stablehlo.constant {start} : {scalar}"));
        self.line(&format!("    %first{number} = stablehlo.constant dense<0> : tensor<i64>"));
        self.line(&format!("    %count{number} = stablehlo.iota dim = {axis} : {indices}"));
        self.line(&format!(
            "    %both{number}:2 = stablehlo.reduce({operand} init: %start{number}), \
             (%count{number} init: %first{number}) across dimensions = [{axis}] : \
             ({from_text}, {indices}, {scalar}, tensor<i64>) -> ({extreme}, {result})"
        ));
        self.line(&format!(
            "     reducer(%a: {scalar}, %b: {scalar}) (%i: tensor<i64>, %j: tensor<i64>) {{"
        ));
        self.line(&format!("{body}    }}"));
        let barrier = format!("stablehlo.optimization_barrier %both{number}#1");
        self.line(&format!("    {value} = {barrier} : {result}"));
    }
}

/// The body of JAX's argmax or argmin: the first of equal extremes wins, and the first of NaNs.
fn search_body(dtype: DType, scalar: &str, direction: &str) -> String {
    let order = order_of(dtype, false);
    let compare = |name: &str, direction: &str, operands: &str| {
        let types = format!("({scalar}, {scalar}) -> tensor<i1>");
        format!("      {name} = stablehlo.compare {direction}, {operands}, {order} : {types}\n")
    };
    let mut body = compare("%g", direction, "%a, %b");
    let wins = if dtype.is_float() { "%w" } else { "%g" };
    if dtype.is_float() {
        body += &compare("%n", "NE", "%a, %a");
        body += "      %w = stablehlo.or %g, %n : tensor<i1>\n";
    }
    body += &compare("%e", "EQ", "%a, %b");
    let indices = "(tensor<i64>, tensor<i64>) -> tensor<i1>";
    body += &format!("      %l = stablehlo.compare LT, %i, %j, SIGNED : {indices}\n");
    body + &format!(
        "      %f = stablehlo.and %e, %l : tensor<i1>
      %s = stablehlo.or {wins}, %f : tensor<i1>
      %x = stablehlo.select {wins}, %a, %b : tensor<i1>, {scalar}
      %y = stablehlo.select %s, %i, %j : tensor<i1>, tensor<i64>
      stablehlo.return %x, %y : {scalar}, tensor<i64>\n"
    )
}
