//! Properties of every legal graph: it verifies, its printed form parses to the same graph, and an
//! executable gives the bits of the reference evaluator, unless an index is out of range. Called by the
//! targets that read expressions, programs and graph texts.

use indim::explain::Explanation;
use indim::print::array_text;
use indim::text::parse_graph;
use indim::{
    Array, ArrayType, ArrayView, CompileOptions, DType, Graph, GraphBuilder, compile, reference,
};
use indim_graph::{EvalError, optimize, verify};

/// Maximum number of elements of all values of a graph that is run: a short text may describe terabytes.
const MAXIMUM_ELEMENTS: usize = 1 << 14;

/// Checks a graph.
pub(crate) fn check(graph: &Graph) {
    verify(graph).unwrap();
    let text = graph.to_string();
    let parsed = parse_graph(&text).unwrap_or_else(|error| panic!("{}", error.draw(&text)));
    assert_eq!(parsed.to_string(), text);
    let optimized = optimize(graph);
    verify(&optimized).unwrap();
    let explanation = Explanation::new(graph, &CompileOptions::default()).unwrap();
    explanation.to_svg();
    explanation.to_json();
    let elements = graph.iter().map(|(_, node)| node.array_type.shape.element_count().unwrap());
    if elements.fold(0, usize::saturating_add) <= MAXIMUM_ELEMENTS {
        check_run(graph, &parsed);
    }
}

fn check_run(graph: &Graph, parsed: &Graph) {
    let types = graph.parameters().iter().map(|&id| &graph[id].array_type);
    let arguments: Vec<Array> = types.map(argument).collect();
    let expected = match reference::evaluate(graph, &arguments) {
        // The evaluator also computes unused values. An executable does not, so it may succeed here.
        Err(EvalError::IndexOutOfRange { .. }) => return,
        expected => expected.unwrap(),
    };
    assert_eq!(reference::evaluate(parsed, &arguments).unwrap(), expected);
    let inputs: Vec<ArrayView<'_>> = arguments.iter().map(ArrayView::from).collect();
    for optimize in [false, true] {
        let options = CompileOptions::new().optimize(optimize);
        let results = compile(graph, &options).unwrap().run(&inputs).unwrap();
        for (result, expected) in results.iter().zip(&expected) {
            assert_eq!(result.clone(), *expected, "optimize {optimize}");
            assert!(!array_text(result).is_empty());
        }
    }
}

/// An array whose elements count from 0, converted to its element type.
fn argument(array_type: &ArrayType) -> Array {
    let b = GraphBuilder::new();
    let count = array_type.shape.element_count().unwrap();
    let numbers = b.iota(DType::I64, [count], 0).unwrap();
    let shaped = b.reshape(numbers, &array_type.shape).unwrap();
    let graph = b.finish(&[b.convert(shaped, array_type.dtype).unwrap()]).unwrap();
    reference::evaluate(&graph, &[]).unwrap().remove(0)
}
