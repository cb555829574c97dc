//! The writer of HLO text: the computations that instructions apply, and one `ENTRY`.

use std::collections::BTreeMap;

use indim_graph::{Array, Graph, Node, NodeKind, ValueId};
use indim_model::{FormatError, Notes, WriteOptions, WrittenModel};
use indim_ops::{ArrayType, DType, Op, ReduceOp};

use super::shape::type_name;
use crate::legalize::{legalize, ranges, reducer_of, scan_padding, search_of};
use crate::opcode::{direction_of, name_of};
use indim_model::dot_plan::{DotPlan, WrittenDot};
use indim_model::element::{NumberText, numbers, part_of};

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
    let legal = legalize(graph, false, &mut notes)?;
    let is_named = |(number, name): (usize, &String)| *name == format!("output{number}");
    if !outputs.iter().enumerate().all(is_named) {
        notes.warning("HLO has no names for outputs");
    }
    let plan = DotPlan::of(&legal, &mut notes);
    let (composed, warnings) = notes.finish(options.exact)?;
    let mut text = TextWriter { graph: &legal, plan, lines: Vec::new(), applied: BTreeMap::new() };
    let content = text.program().into_bytes();
    Ok(WrittenModel { content, composed, warnings, ..WrittenModel::default() })
}

pub(super) fn shape(array_type: &ArrayType) -> String {
    format!("{}[{}]", type_name(array_type.dtype), list(array_type.shape.iter(), ","))
}

pub(super) fn scalar(dtype: DType) -> String {
    shape(&ArrayType::new(dtype, []))
}

pub(super) fn list<T: ToString>(items: impl IntoIterator<Item = T>, between: &str) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(between)
}

/// The elements of a constant, in nested braces. Legalisation replaces constants without elements.
fn literal(array: &Array) -> String {
    let parts: Vec<String> = numbers(array).into_iter().map(|n| number(n, array.dtype())).collect();
    let mut parts: Vec<String> = match part_of(array.dtype()) == array.dtype() {
        true => parts,
        false => parts.chunks_exact(2).map(|pair| format!("({}, {})", pair[0], pair[1])).collect(),
    };
    for &size in array.shape().sizes().iter().rev() {
        parts = parts.chunks(size).map(|part| format!("{{{}}}", part.join(", "))).collect();
    }
    parts.join(", ")
}

fn number(number: NumberText, dtype: DType) -> String {
    let (bits, is_negative, is_nan) = match number {
        NumberText::Finite(text) => return text,
        NumberText::NotFinite { bits, is_negative, is_nan } => (bits, is_negative, is_nan),
    };
    let sign = if is_negative { "-" } else { "" };
    let mantissa = match part_of(dtype) {
        DType::F64 => 52,
        DType::F32 => 23,
        DType::F16 => 10,
        DType::F8E5m2 => 2,
        // `f8e4m3fn` has one NaN of each sign; the other storage types have a single NaN.
        DType::F8E4m3fn => return format!("{sign}nan"),
        dtype if dtype.is_storage() => return "nan".to_owned(),
        _ => 7,
    };
    let payload = bits & ((1 << mantissa) - 1);
    match is_nan {
        false => format!("{sign}inf"),
        true if payload == 1 << (mantissa - 1) => format!("{sign}nan"),
        true => format!("{sign}nan({payload:#x})"),
    }
}

pub(super) struct TextWriter<'g> {
    pub(super) graph: &'g Graph,
    plan: DotPlan,
    /// Instructions of the entry: the name, and the text after it.
    lines: Vec<(String, String)>,
    /// Computations that reductions, scans, scatters and sorts apply: the body by name.
    pub(super) applied: BTreeMap<String, String>,
}

impl TextWriter<'_> {
    fn program(&mut self) -> String {
        for (id, node) in self.graph.iter() {
            match self.plan.product(id).cloned() {
                Some(product) => self.product(id, &product),
                None if self.plan.is_needed(id) => self.node(id, node),
                None => {}
            }
        }
        let outputs = self.graph.outputs();
        let root = match outputs {
            [output] => value(*output),
            _ => {
                let types = list(outputs.iter().map(|&id| shape(&self.graph[id].array_type)), ", ");
                let values = list(outputs.iter().map(|&id| value(id)), ", ");
                self.line("results", format!("({types}) tuple({values})"));
                "results".to_owned()
            }
        };
        let mut text = "HloModule main\n\n".to_owned();
        for (name, body) in &self.applied {
            text += &format!("{name} {{\n{body}}}\n\n");
        }
        text += "ENTRY main {\n";
        for (name, instruction) in &self.lines {
            let mark = if *name == root { "ROOT " } else { "" };
            text += &format!("  {mark}{name} = {instruction}\n");
        }
        text + "}\n"
    }

    pub(super) fn line(&mut self, name: impl Into<String>, instruction: String) {
        self.lines.push((name.into(), instruction));
    }

    fn node(&mut self, id: ValueId, node: &Node) {
        let operands = list(node.operands.iter().map(|&operand| value(operand)), ", ");
        let result = shape(&node.array_type);
        let instruction = match &node.kind {
            NodeKind::Parameter { index, name } => {
                let is_plain = |c: char| !c.is_control() && c != '"' && c != '\\';
                let metadata = match !name.is_empty() && name.chars().all(is_plain) {
                    true => format!(", metadata={{op_name=\"{name}\"}}"),
                    false => String::new(),
                };
                format!("{result} parameter({index}){metadata}")
            }
            NodeKind::Constant(array) => format!("{result} constant({})", literal(array)),
            NodeKind::Iota { axis } => format!("{result} iota(), iota_dimension={axis}"),
            NodeKind::Elementwise(op) => {
                let Some(operation) = elementwise(*op, &operands) else { return };
                format!("{result} {operation}")
            }
            NodeKind::Convert => format!("{result} convert({operands})"),
            NodeKind::Bitcast => format!("{result} bitcast-convert({operands})"),
            NodeKind::BroadcastInDim(map) => self.broadcast(id, node, map),
            NodeKind::Reshape => format!("{result} reshape({operands})"),
            NodeKind::Concatenate { axis } => {
                format!("{result} concatenate({operands}), dimensions={{{axis}}}")
            }
            NodeKind::Slice(slices) => match ranges(slices) {
                Some(ranges) => {
                    let range =
                        |[start, limit, step]: [usize; 3]| format!("[{start}:{limit}:{step}]");
                    let ranges = list(ranges.into_iter().map(range), ", ");
                    format!("{result} slice({operands}), slice={{{ranges}}}")
                }
                None => {
                    let backwards = slices.iter().enumerate().filter(|(_, s)| s.step() < 0);
                    let axes = list(backwards.map(|(axis, _)| axis), ",");
                    format!("{result} reverse({operands}), dimensions={{{axes}}}")
                }
            },
            NodeKind::Reduce { op, axis } => match self.reduce(id, *op, *axis, node) {
                Some(instruction) => instruction,
                None => return,
            },
            NodeKind::Take { axis, .. } => self.take(*axis, node),
            NodeKind::Scatter { op, axis, .. } => self.scatter(*op, *axis, node),
            NodeKind::Sort { axis, descending, result } => {
                self.sort(id, (*axis, *descending), *result, node)
            }
            // In a legalised graph each contraction is written as a product, and the other kinds here do
            // not occur.
            NodeKind::Window { .. }
            | NodeKind::Contract { .. }
            | NodeKind::SearchSorted { .. }
            | NodeKind::While { .. }
            | NodeKind::Branch { .. } => return,
            NodeKind::Scan { op, axis, reverse, .. } => {
                match self.scan(id, *op, (*axis, *reverse), node) {
                    Some(instruction) => instruction,
                    None => return,
                }
            }
        };
        self.line(value(id), instruction);
    }

    /// Writes a matrix product: conversions of operands and reshapes that drop axes of size 1, a `dot`,
    /// and a transposition of its result.
    fn product(&mut self, id: ValueId, product: &WrittenDot) {
        let form = &product.form;
        let [x, y] = [0, 1].map(|index| self.factor(id, product, index));
        let axes = &form.dimensions;
        let lists = [
            ("lhs_batch_dims", &axes.lhs_batch),
            ("lhs_contracting_dims", &axes.lhs_contracting),
            ("rhs_batch_dims", &axes.rhs_batch),
            ("rhs_contracting_dims", &axes.rhs_contracting),
        ];
        let written = lists.into_iter().filter(|(_, axes)| !axes.is_empty());
        let attributes: String =
            written.map(|(name, axes)| format!(", {name}={{{}}}", list(axes, ","))).collect();
        let result = shape(&ArrayType::new(product.result, form.result.clone()));
        let dot = format!("{result} dot({x}, {y}){attributes}");
        if form.order.is_sorted() {
            return self.line(value(id), dot);
        }
        let name = format!("{}.dot", value(id));
        self.line(&name, dot);
        let (result, order) = (shape(&self.graph[id].array_type), list(&form.order, ","));
        self.line(value(id), format!("{result} transpose({name}), dimensions={{{order}}}"));
    }

    /// Writes the conversion and the reshape of an operand of a product, and returns its name.
    fn factor(&mut self, id: ValueId, product: &WrittenDot, index: usize) -> String {
        let operand = product.form.operands[index];
        let from = &self.graph[operand].array_type;
        let (mut name, mut at) = (value(operand), from.clone());
        if from.dtype != product.operands {
            at.dtype = product.operands;
            let wide = format!("{}.wide{index}", value(id));
            self.line(&wide, format!("{} convert({name})", shape(&at)));
            name = wide;
        }
        if at.shape != product.form.shapes[index] {
            at.shape = product.form.shapes[index].clone();
            let shrunk = format!("{}.shrunk{index}", value(id));
            self.line(&shrunk, format!("{} reshape({name})", shape(&at)));
            name = shrunk;
        }
        name
    }

    /// A broadcast. A reshape before it removes axes of size 1 that expand, because HLO's broadcast only
    /// adds axes.
    fn broadcast(&mut self, id: ValueId, node: &Node, map: &[usize]) -> String {
        let operand = &self.graph[node.operands[0]].array_type;
        let sizes = node.array_type.shape.sizes();
        let stays = |axis: usize| operand.shape.sizes()[axis] == sizes[map[axis]];
        let kept: Vec<usize> = (0..map.len()).filter(|&axis| stays(axis)).collect();
        let mut from = value(node.operands[0]);
        if kept.len() < map.len() {
            let shrunk: Vec<usize> = kept.iter().map(|&axis| operand.shape.sizes()[axis]).collect();
            let shrunk = shape(&ArrayType::new(operand.dtype, shrunk));
            let name = format!("{}.shrunk", value(id));
            self.line(&name, format!("{shrunk} reshape({from})"));
            from = name;
        }
        let dims = list(kept.iter().map(|&axis| map[axis]), ",");
        format!("{} broadcast({from}), dimensions={{{dims}}}", shape(&node.array_type))
    }

    /// Defines the computation `apply`, which applies an operation to two numbers.
    pub(super) fn apply(&mut self, apply: &str, number: &str, name: &str) {
        self.applied.entry(apply.to_owned()).or_insert_with(|| {
            format!(
                "  a = {number} parameter(0)\n  b = {number} parameter(1)\n  \
                 ROOT r = {number} {name}(a, b)\n"
            )
        });
    }

    /// A scan as a `reduce-window` with windows as long as the axis; legalisation has made the scan
    /// inclusive.
    fn scan(
        &mut self,
        id: ValueId,
        op: ReduceOp,
        (axis, reverse): (usize, bool),
        node: &Node,
    ) -> Option<String> {
        let (operand, ArrayType { dtype, shape: sizes }) =
            (value(node.operands[0]), &node.array_type);
        let (name, first) = reducer_of(op, *dtype)?;
        let (number, start) = (scalar(*dtype), format!("{}.start", value(id)));
        let apply = format!("{}.{}", op.name(), type_name(*dtype));
        self.line(&start, format!("{number} constant({})", literal(&first)));
        self.apply(&apply, &number, name);
        let size = (0..sizes.rank()).map(|other| if other == axis { sizes[axis] } else { 1 });
        let padding = scan_padding(sizes, axis, reverse);
        let padding = list(padding.iter().map(|[low, high]| format!("{low}_{high}")), "x");
        let (result, size) = (shape(&node.array_type), list(size, "x"));
        Some(format!(
            "{result} reduce-window({operand}, {start}), window={{size={size} pad={padding}}}, \
             to_apply={apply}"
        ))
    }

    fn reduce(&mut self, id: ValueId, op: ReduceOp, axis: usize, node: &Node) -> Option<String> {
        let operand = value(node.operands[0]);
        let from = &self.graph[node.operands[0]].array_type;
        let (number, result) = (scalar(from.dtype), shape(&node.array_type));
        let start = format!("{}.start", value(id));
        let apply = format!("{}.{}", op.name(), type_name(from.dtype));
        if let Some((name, first)) = reducer_of(op, from.dtype) {
            self.line(&start, format!("{number} constant({})", literal(&first)));
            self.apply(&apply, &number, name);
            return Some(format!(
                "{result} reduce({operand}, {start}), dimensions={{{axis}}}, to_apply={apply}"
            ));
        }
        let (direction, first) = search_of(op, from.dtype)?;
        self.line(&start, format!("{number} constant({})", literal(&first)));
        let (count, zero) = (format!("{}.count", value(id)), format!("{}.zero", value(id)));
        let indices = shape(&ArrayType::new(DType::I64, from.shape.clone()));
        self.line(&count, format!("{indices} iota(), iota_dimension={axis}"));
        self.line(&zero, "s64[] constant(0)".to_owned());
        self.applied
            .entry(apply.clone())
            .or_insert_with(|| arg_reduction_body(from.dtype, direction));
        let extreme = shape(&ArrayType::new(from.dtype, node.array_type.shape.clone()));
        let both = format!("{}.both", value(id));
        self.line(
            &both,
            format!(
                "({extreme}, {result}) reduce({operand}, {count}, {start}, {zero}), \
                 dimensions={{{axis}}}, to_apply={apply}"
            ),
        );
        Some(format!("{result} get-tuple-element({both}), index=1"))
    }
}

pub(super) fn value(id: ValueId) -> String {
    format!("v{}", id.index())
}

fn elementwise(op: Op, operands: &str) -> Option<String> {
    if let Some((direction, is_total)) = direction_of(op) {
        let order = if is_total { ", type=TOTALORDER" } else { "" };
        return Some(format!("compare({operands}), direction={direction}{order}"));
    }
    let (name, _) = name_of(op)?;
    Some(format!("{}({operands})", name.replace('_', "-")))
}

/// The body of JAX's argmax or argmin: the first of equal extremes wins, and the first of NaNs.
fn arg_reduction_body(dtype: DType, direction: &str) -> String {
    let number = scalar(dtype);
    let (nan, wins) = match dtype.is_float() {
        true => ("  n = pred[] compare(a, a), direction=NE\n  w = pred[] or(g, n)\n", "w"),
        false => ("", "g"),
    };
    format!(
        "  a = {number} parameter(0)
  i = s64[] parameter(1)
  b = {number} parameter(2)
  j = s64[] parameter(3)
  g = pred[] compare(a, b), direction={direction}
{nan}  e = pred[] compare(a, b), direction=EQ
  l = pred[] compare(i, j), direction=LT
  f = pred[] and(e, l)
  s = pred[] or({wins}, f)
  x = {number} select({wins}, a, b)
  y = s64[] select(s, i, j)
  ROOT r = ({number}, s64[]) tuple(x, y)
"
    )
}
