//! Calls of one expression with varying shapes and numbers. Cached programs give the same bits and
//! errors as a program that is compiled for one call alone. Sizes reach beyond 2^31: an array of such a
//! size has no elements, or repeats one element by strides of 0.

use std::sync::atomic::{AtomicUsize, Ordering};

use indim::graph::{Literal, Node, NodeKind, SymbolicGraph};
use indim::run::compile_symbolic;
use indim::text::{Binding, Expression, ParseLimits};
use indim::{
    ArrayType, ArrayView, CompileOptions, DType, Graph, GraphBuilder, Input, compile, evaluate_all,
};

use crate::choices::choices;

/// Maximum number of elements of each value of a call that is run; a larger call is only compiled.
const MAX_ELEMENTS: usize = 1 << 14;

/// Sizes of axes. A symbol can stand for a size from 2 to 2^31 - 1.
const SIZES: [u64; 16] = [
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    32,
    33,
    100,
    SIZE_LIMIT - 2,
    SIZE_LIMIT - 1,
    SIZE_LIMIT,
    SIZE_LIMIT + 1,
    1 << 32,
    1 << 40,
];
/// One more than the largest size for which a symbol can stand.
const SIZE_LIMIT: u64 = 1 << 31;

const DTYPES: [DType; 5] = [DType::F64, DType::U8, DType::F32, DType::I64, DType::Bool];

const NUMBERS: [Literal; 10] = [
    Literal::Float(0.5),
    Literal::Int(2),
    Literal::Int(0),
    Literal::Int(-1),
    Literal::Float(-0.0),
    Literal::Float(f64::NAN),
    Literal::Float(f64::INFINITY),
    Literal::Int(300),
    Literal::Int(1 << 53),
    Literal::Bool(true),
];

const LEAVES: [&str; 8] = ["x", "v", "k", "x", "1", "0.5", "-3", "x"];
const OPERATORS: [&str; 10] = ["-", "+", "*", "/", "//", "%", "**", "<", "==", "&"];

/// Functions of one operand, which stands for each `#`.
const FUNCTIONS: [&str; 28] = [
    "exp(#)",
    "abs(#)",
    "f64(#)",
    "where(# > 1, #, 0)",
    "sum(#)",
    "sum(#, axis=0)",
    "max(#, axis=-1, keepdims=True)",
    "argmax(#, axis=-1)",
    "argmin(#)",
    "mean(#, axis=-1)",
    "std(#)",
    "softmax(#, axis=-1)",
    "sum(#, axis=0, exact=True)",
    "(#)[:2]",
    "(#)[1:]",
    "(#)[0]",
    "(#)[-1]",
    "(#)[::-1]",
    "(#)[..., None]",
    "(#)[..., :3]",
    "transpose(#)",
    "reshape(#, [-1])",
    "roll(#, 1, axis=0)",
    "concatenate([#, #], axis=0)",
    "stack([#, #], axis=0)",
    "take(#, [0, -1], axis=0)",
    "take(v, i64(#), axis=0)",
    "broadcast_to(#, [2, 3])",
];

/// Makes an expression of the bytes, and checks two to six calls of it.
pub fn run(bytes: &[u8]) {
    let next = &mut choices(bytes);
    // Spaces at the end make the texts of 500 successive inputs different, so each input has cache
    // entries of its own.
    static INPUTS: AtomicUsize = AtomicUsize::new(0);
    let place = INPUTS.fetch_add(1, Ordering::Relaxed) % 500;
    let text = format!("{}{}", text(next, 3), " ".repeat(place));
    let text = match next(3) {
        0 => format!("first = {text}; first, sum(first)"),
        _ => text,
    };
    let Ok(expression) = Expression::parse(&text, &ParseLimits::default()) else { return };
    let (dtype, rank) = (DTYPES[next(DTYPES.len())], 2 - next(3) % 2);
    for _ in 0..2 + next(5) {
        Call::chosen(next, dtype, rank).check(&text, &expression);
    }
}

/// An expression, nested at most `depth` deep.
fn text(next: &mut dyn FnMut(usize) -> usize, depth: usize) -> String {
    match (depth, next(5)) {
        (0, _) | (_, 4) => LEAVES[next(LEAVES.len())].to_owned(),
        (_, 0 | 1) => {
            let operator = OPERATORS[next(OPERATORS.len())];
            let (left, right) = (text(next, depth - 1), text(next, depth - 1));
            format!("({left}) {operator} ({right})")
        }
        _ => {
            let function = FUNCTIONS[next(FUNCTIONS.len())];
            function.replace('#', &text(next, depth - 1))
        }
    }
}

/// The inputs of one call.
struct Call {
    x: ArrayType,
    v: ArrayType,
    k: Literal,
    /// The bytes of the elements of both arrays.
    bytes: Vec<u8>,
}

impl Call {
    fn chosen(next: &mut dyn FnMut(usize) -> usize, dtype: DType, rank: usize) -> Call {
        let mut sizes: Vec<usize> = Vec::new();
        for _ in 0..rank {
            let size = usize::try_from(SIZES[next(SIZES.len())]).unwrap_or(usize::MAX / 8);
            // Equal sizes may be one symbol.
            let size = if next(4) == 3 { sizes.last().copied().unwrap_or(size) } else { size };
            sizes.push(size);
        }
        let last = match next(4) {
            0 => 1,
            1 => 3,
            _ => sizes[rank - 1],
        };
        let k = NUMBERS[next(NUMBERS.len())];
        let bytes = (0..MAX_ELEMENTS * 8).map(|index| u8::from(index % 3 != 0)).collect();
        let (x, v) = (ArrayType::new(dtype, sizes), ArrayType::new(DType::F32, [last]));
        Call { x, v, k, bytes }
    }

    /// A view of this type: dense up to [`MAX_ELEMENTS`], else with strides of 0, so that it repeats its
    /// first element.
    fn view(&self, array_type: &ArrayType) -> Option<ArrayView<'_>> {
        let size = array_type.dtype.size();
        let mut strides = vec![0; array_type.shape.rank()];
        if array_type.shape.element_count().ok()? <= MAX_ELEMENTS {
            let mut stride = size.cast_signed();
            for (axis, &size) in array_type.shape.iter().enumerate().rev() {
                strides[axis] = stride;
                stride = stride.saturating_mul(size.cast_signed());
            }
        }
        ArrayView::from_bytes(array_type.clone(), strides, &self.bytes, 0).ok()
    }

    fn check(&self, text: &str, expression: &Expression) {
        let (Some(x), Some(v)) = (self.view(&self.x), self.view(&self.v)) else { return };
        let all = [("x", Input::from(x)), ("v", Input::from(v)), ("k", Input::Number(self.k))];
        let is_named = |(name, _): &(&'static str, Input<'_>)| expression.mentions(name);
        let inputs: Vec<(&str, Input<'_>)> = all.into_iter().filter(is_named).collect();
        let (b, mut bindings) = (GraphBuilder::new(), Vec::new());
        for (name, input) in &inputs {
            let binding = match input {
                Input::Array(view) => {
                    let ArrayType { dtype, shape } = view.array_type();
                    Binding::Array(b.parameter(name, *dtype, shape).unwrap())
                }
                _ => Binding::Number(self.k),
            };
            bindings.push((*name, binding));
        }
        let values = match expression.build_results(&b, &bindings, None) {
            Ok(values) => values,
            Err(error) => {
                let found = evaluate_all(text, inputs).expect_err(error.code());
                assert_eq!(found.code(), error.code(), "{text}");
                return;
            }
        };
        let graph = b.finish(&values).unwrap();
        check_symbolic(&SymbolicGraph::new(&graph, &b.size_facts()));
        if is_small(&graph) {
            check_run(text, &graph, inputs);
        }
    }
}

/// A program for all sizes also serves the sizes that it was made from: its graph, resized to them, is
/// the original graph, and they meet its guards.
fn check_symbolic(symbolic: &SymbolicGraph) {
    let graph = symbolic.graph();
    let shapes = graph.parameters().iter().map(|&value| graph[value].array_type.shape.sizes());
    let shapes: Vec<&[usize]> = shapes.collect();
    let symbols = symbolic.guards().symbols(&shapes).unwrap();
    assert_eq!(symbolic.resized(&symbols), *graph);
    compile_symbolic(symbolic, &CompileOptions::default()).unwrap().bind(&shapes).unwrap();
}

/// `evaluate_all`, which uses cached programs, gives the results or the error of a program that is
/// compiled for this call alone.
fn check_run(text: &str, graph: &Graph, inputs: Vec<(&str, Input<'_>)>) {
    let arrays = inputs.iter().filter_map(|(_, input)| match input {
        Input::Array(view) => Some(view.clone()),
        _ => None,
    });
    let arrays: Vec<ArrayView<'_>> = arrays.collect();
    let expected = compile(graph, &CompileOptions::default()).unwrap().run(&arrays);
    match (evaluate_all(text, inputs), expected) {
        (Ok(found), Ok(expected)) => {
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!(found.clone(), expected.clone(), "{text}");
            }
        }
        (Err(found), Err(expected)) => assert_eq!(found.code(), expected.code(), "{text}"),
        (found, expected) => panic!("{text}: {found:?} is not {expected:?}"),
    }
}

/// Whether each node computes, reads and returns at most [`MAX_ELEMENTS`]. Parameters, slices and
/// broadcasts compute nothing and may be larger.
fn is_small(graph: &Graph) -> bool {
    let few = |value| {
        let count = graph[value].array_type.shape.element_count();
        count.is_ok_and(|count: usize| count <= MAX_ELEMENTS)
    };
    let is_small = |(value, node): (_, &Node)| match node.kind {
        NodeKind::Parameter { .. } | NodeKind::Slice(_) | NodeKind::BroadcastInDim(_) => true,
        NodeKind::Take { .. } => few(value) && few(node.operands[1]),
        _ => few(value) && node.operands.iter().all(|&operand| few(operand)),
    };
    graph.iter().all(is_small) && graph.outputs().iter().all(|&output| few(output))
}
