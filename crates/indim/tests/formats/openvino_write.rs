//! Graphs written as OpenVINO IR; read back, they give the same results.

use crate::random;
use crate::support;
use crate::support::graphs::Case;
use crate::support::ir;
use crate::support::samples::tolerance;
use indim::formats::{
    FormatError, FormatErrorKind, ModelFormat, Tolerance, WriteOptions, WrittenModel, write,
};
use indim_builder::{GraphBuilder, ReduceOptions, Reduction};
use indim_graph::{Array, Graph, TakeMode, evaluate};
use indim_ops::{Arity, DType, Element, Op, ReduceOp, ScatterOp, SearchSide, bf16, f16};
use indim_shape::RuleSet;

fn written(graph: &Graph, exact: bool) -> Result<WrittenModel, FormatError> {
    let names: Vec<String> = (0..graph.outputs().len()).map(|index| format!("y{index}")).collect();
    write(ModelFormat::OpenVino, graph, &names, &WriteOptions::new().exact(exact))
}

/// The results of the written model.
fn read_back(written: &WrittenModel, arguments: &[Array]) -> Vec<Array> {
    let text = std::str::from_utf8(&written.content).unwrap();
    let constants = &written.external_file.as_ref().unwrap().1;
    let source = ir::source(text, constants);
    let read = ir::read(text, constants);
    let model = read.unwrap_or_else(|error| panic!("{}\n{text}", error.draw(&source)));
    let program = model.build(&support::bounds(&*model, arguments));
    let program = program.unwrap_or_else(|error| panic!("{}\n{text}", error.draw(&source)));
    evaluate(&program.graph, arguments).unwrap()
}

/// Writes a graph and compares results: equal elements, or close ones if the writer decomposed an
/// operation.
fn round_trip(name: &str, graph: &Graph, arguments: &[Array]) -> Result<WrittenModel, FormatError> {
    let written = written(graph, false)?;
    let expected = evaluate(graph, arguments).unwrap();
    let found = read_back(&written, arguments);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        let rule = match written.composed.is_empty() {
            true => Tolerance::Exact,
            false => tolerance(expected.dtype()),
        };
        assert_eq!(rule.compare(found, expected), None, "{name} {:?}", written.composed);
    }
    Ok(written)
}

/// Small numbers of a type; none is 0 if `from` is positive.
fn numbers(dtype: DType, shape: &[usize], from: i32) -> Array {
    let count: usize = shape.iter().product();
    let number = |index: usize| f64::from(from) + index as f64 * 0.75;
    macro_rules! array {
        (@one $kind:ident) => { |index| number(index) as $kind };
        ($($kind:ident)*) => {
            match dtype {
                $(dtype if dtype == <$kind as Element>::DTYPE => {
                    Array::new(shape, (0..count).map(array!(@one $kind)).collect())
                })*
                DType::F16 => {
                    Array::new(shape, (0..count).map(|index| f16::from_f32(number(index) as f32)).collect())
                }
                DType::Bf16 => {
                    Array::new(shape, (0..count).map(|index| bf16::from_f32(number(index) as f32)).collect())
                }
                _ => Array::new(shape, (0..count).map(|index| index % 3 == 0).collect::<Vec<bool>>()),
            }
        };
    }
    array!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64).unwrap()
}

fn is_real(dtype: DType) -> bool {
    !matches!(dtype, DType::C64 | DType::C128) && !dtype.is_storage()
}

/// An operation on a matrix and, if it has more operands, a row and a column.
fn operation(op: Op, dtype: DType) -> (Graph, Vec<Array>) {
    let b = GraphBuilder::new();
    let shapes: [&[usize]; 3] = [&[2, 3], &[3], &[2, 1]];
    let mut arguments = Vec::new();
    let operands: Vec<_> = (0..op.arity().count())
        .map(|index| {
            let dtype = op.operand_dtype(index, dtype);
            arguments.push(numbers(dtype, shapes[index], index as i32));
            b.parameter(&format!("x{index}"), dtype, shapes[index]).unwrap()
        })
        .collect();
    let rule = if op.arity() == Arity::Unary { RuleSet::None } else { RuleSet::Numpy };
    let value = b.elementwise(op, &operands, &rule).unwrap();
    (b.finish(&[value]).unwrap(), arguments)
}

#[test]
fn every_operation_is_written_or_refused() {
    let (mut written, mut composed, mut refused) = (0, 0, Vec::new());
    for &op in Op::ALL {
        for &dtype in DType::ALL.iter().filter(|&&dtype| op.takes(dtype) && is_real(dtype)) {
            let (graph, arguments) = operation(op, dtype);
            if !is_real(graph[graph.outputs()[0]].array_type.dtype) {
                continue;
            }
            match round_trip(&format!("{op:?} {dtype}"), &graph, &arguments) {
                Ok(file) if file.composed.is_empty() => written += 1,
                Ok(_) => composed += 1,
                Err(error) => {
                    assert_eq!(error.code(), "unsupported-op");
                    refused.push(op.name());
                }
            }
        }
    }
    refused.dedup();
    eprintln!("{written} written, {composed} composed, refused: {refused:?}");
    let missing = [
        "popcnt",
        "clz",
        "imag",
        "erf_inv",
        "lgamma",
        "digamma",
        "trigamma",
        "atan2",
        "copysign",
        "nextafter",
        "mulhi",
        "shr_arithmetic",
        "shr_logical",
        "total_eq",
        "total_ne",
        "total_lt",
        "total_le",
        "total_gt",
        "total_ge",
    ];
    assert_eq!(refused, missing);
}

fn has_extreme_of_nothing(graph: &Graph) -> bool {
    let is_extreme = |op: ReduceOp| matches!(op, ReduceOp::Max | ReduceOp::Min);
    graph.iter().any(|(_, node)| match node.kind {
        indim_graph::NodeKind::Reduce { op, axis } if is_extreme(op) => {
            graph[node.operands[0]].array_type.shape[axis] == 0
        }
        _ => false,
    })
}

#[test]
fn random_graphs_come_back_as_they_were() {
    let (mut same, mut refused) = (0, 0);
    for seed in 0..3000 {
        let (graph, arguments) = random::random_graph(seed);
        let written = match written(&graph, true) {
            Ok(written) => written,
            Err(error) => {
                assert!(error.is_out_of_scope(), "{error}");
                refused += 1;
                continue;
            }
        };
        let takes = graph.iter().any(|(_, node)| node.kind.name() == "take");
        // OpenVINO defines no extreme of an empty array of integers.
        if takes || has_extreme_of_nothing(&graph) {
            continue;
        }
        let expected = evaluate(&graph, &arguments).unwrap();
        for (found, expected) in read_back(&written, &arguments).iter().zip(&expected) {
            assert_eq!(Tolerance::Exact.compare(found, expected), None, "seed {seed}");
        }
        same += 1;
    }
    eprintln!("{same} graphs came back, {refused} were refused");
    assert!(same > 100);
}

#[test]
fn gathers_scatters_sorts_and_searches_come_back() {
    let sort = |dtype: DType, descending: bool| {
        let b = GraphBuilder::new();
        let x = b.parameter("x", dtype, [2, 3]).unwrap();
        let table = b.sort(b.reshape(&x, [6]).unwrap(), 0, false).unwrap();
        let outputs = [
            b.sort(&x, 1, descending).unwrap(),
            b.argsort(&x, 0, descending).unwrap(),
            b.search_sorted(&table, &x, SearchSide::Left).unwrap(),
            b.search_sorted(&table, &x, SearchSide::Right).unwrap(),
        ];
        let graph = b.finish(&outputs).unwrap();
        Case { name: format!("sort-{dtype}"), graph, arguments: vec![numbers(dtype, &[2, 3], 0)] }
    };
    let sorts = DType::ALL.iter().filter(|&&dtype| is_real(dtype));
    let sorts = sorts.flat_map(|&dtype| [true, false].map(|descending| sort(dtype, descending)));
    let indexed = support::graphs::gathers().into_iter().chain(support::graphs::scatters());
    let is_all_real =
        |case: &Case| case.graph.iter().all(|(_, node)| is_real(node.array_type.dtype));
    for case in indexed.filter(is_all_real).chain(sorts) {
        let file = written(&case.graph, false).unwrap_or_else(|e| panic!("{}: {e}", case.name));
        let expected = evaluate(&case.graph, &case.arguments).unwrap();
        for (found, expected) in read_back(&file, &case.arguments).iter().zip(&expected) {
            assert_eq!(Tolerance::Exact.compare(found, expected), None, "{}", case.name);
        }
    }
}

#[test]
fn large_unsigned_indices_do_not_count_from_the_end() {
    for (mode, indices) in support::graphs::large_indices() {
        let graph = support::graphs::gather_of_five(mode, &indices);
        let file = written(&graph, false).unwrap();
        let constants = &file.external_file.as_ref().unwrap().1;
        let model = ir::read(std::str::from_utf8(&file.content).unwrap(), constants).unwrap();
        let program = support::build(&*model, &[]).ok();
        let found = program.and_then(|program| evaluate(&program.graph, &[]).ok());
        // OpenVINO has 0 for an index that is an error here.
        let zeros = Array::new([indices.len()], vec![0.0f32; indices.len()]).unwrap();
        let expected = evaluate(&graph, &[]).unwrap_or(vec![zeros]);
        assert_eq!(found, Some(expected), "{mode} {indices:?}");
    }
}

#[test]
fn reductions_come_back() {
    for &op in ReduceOp::ALL {
        for &dtype in DType::ALL.iter().filter(|&&dtype| op.takes(dtype) && is_real(dtype)) {
            let b = GraphBuilder::new();
            let x = b.parameter("x", dtype, [2, 3]).unwrap();
            let graph = b.finish(&[b.reduce(op, x, 1).unwrap()]).unwrap();
            let arguments = [numbers(dtype, &[2, 3], 0)];
            match round_trip(op.name(), &graph, &arguments) {
                Ok(written) => assert!(written.composed.is_empty()),
                Err(error) => assert_eq!(error.code(), "unsupported-op"),
            }
        }
    }
}

#[test]
fn reductions_one_after_another_are_one() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2, 3, 4, 2]).unwrap();
    let one = b.reduce(ReduceOp::Max, &x, 3).unwrap();
    let two = b.reduce(ReduceOp::Max, b.reduce(ReduceOp::Max, &one, 1).unwrap(), 0).unwrap();
    let arguments = [numbers(DType::F32, &[2, 3, 4, 2], 0)];
    let count = |graph: &Graph| {
        let file = round_trip("reductions", graph, &arguments).unwrap();
        String::from_utf8(file.content).unwrap().matches("type=\"ReduceMax\"").count()
    };
    assert_eq!(count(&b.finish(&[&two]).unwrap()), 1);
    // A value with another use stays a separate reduction.
    assert_eq!(count(&b.finish(&[&two, &one]).unwrap()), 2);
}

#[test]
fn idioms_become_one_operation() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2, 3]).unwrap();
    let along = ReduceOptions::axes([-1]);
    let softmax = b.along(Reduction::Softmax, &x, &along).unwrap();
    let mean = b.along(Reduction::Mean, &x, ReduceOptions::default()).unwrap();
    let product = b.along(Reduction::Prod, &x, &along).unwrap();
    let [softplus, clamped] = [b.softplus(&x).unwrap(), b.clamp(-1.5, &x, 1.0).unwrap()];
    let log_softmax = b.along(Reduction::LogSoftmax, &x, [0]).unwrap();
    let results = [softmax, log_softmax, mean, product, softplus, clamped];
    let graph = b.finish(&results).unwrap();
    let file = round_trip("idioms", &graph, &[numbers(DType::F32, &[2, 3], -2)]).unwrap();
    assert!(file.composed.is_empty(), "{:?}", file.composed);
    let text = String::from_utf8(file.content).unwrap();
    for operation in ["SoftMax", "LogSoftmax", "ReduceMean", "ReduceProd", "SoftPlus", "Clamp"] {
        assert_eq!(text.matches(&format!("type=\"{operation}\"")).count(), 1, "{operation}");
    }
    assert!(!text.contains("FP64") && !text.contains("Maximum") && !text.contains("Exp"));
    assert!(
        !file.warnings.iter().any(|warning| warning.contains("doubles")),
        "{:?}",
        file.warnings
    );
    // A mean is a sum divided by the number of its elements, and by no other number.
    let sum = b.along(Reduction::Sum, b.convert(&x, DType::F64).unwrap(), &along).unwrap();
    let graph = b.finish(&[b.convert(sum / 2, DType::F32).unwrap()]).unwrap();
    let file = round_trip("no mean", &graph, &[numbers(DType::F32, &[2, 3], -2)]).unwrap();
    assert!(String::from_utf8(file.content).unwrap().contains("FP64"));
}

#[test]
fn normalisations_are_mvn() {
    for dtype in [DType::F32, DType::F64] {
        let b = GraphBuilder::new();
        let x = b.parameter("x", dtype, [2, 3, 4]).unwrap();
        let [gain, bias] = ["g", "b"].map(|name| b.parameter(name, dtype, [4]).unwrap());
        let operands = [x, gain, bias];
        let along = ReduceOptions::axes([-1]);
        let normalized =
            b.along_of(Reduction::LayerNorm, &operands, &along, &RuleSet::None).unwrap();
        let graph = b.finish(&[normalized]).unwrap();
        let file = written(&graph, true).unwrap();
        let arguments =
            [numbers(dtype, &[2, 3, 4], -2), numbers(dtype, &[4], 1), numbers(dtype, &[4], 0)];
        let [found] = &read_back(&file, &arguments)[..] else { panic!("one result") };
        let expected = evaluate(&graph, &arguments).unwrap();
        assert_eq!(tolerance(dtype).compare(found, &expected[0]), None);
        let text = String::from_utf8(file.content).unwrap();
        assert!(text.contains("type=\"MVN\"") && text.contains("eps_mode=\"inside_sqrt\""));
        assert!(!text.contains("Reduce") && !text.contains("Sqrt"), "{text}");
    }
}

#[test]
fn functions_of_neural_networks_have_their_names() {
    for dtype in [DType::F32, DType::F16, DType::F64, DType::Bf16] {
        let b = GraphBuilder::new();
        let x = b.parameter("x", dtype, [2, 3]).unwrap();
        let slope = b.parameter("slope", dtype, [3]).unwrap();
        let values = [
            ("Gelu", b.gelu(&x).unwrap()),
            ("Gelu", b.gelu_tanh(&x).unwrap()),
            ("Elu", b.elu(&x, 0.7).unwrap()),
            ("Elu", b.selu(&x).unwrap()),
            ("Mish", b.mish(&x).unwrap()),
            ("HSwish", b.hard_swish(&x).unwrap()),
            ("SoftSign", b.softsign(&x).unwrap()),
            ("Swish", b.swish(&x, 1.0).unwrap()),
            ("Swish", b.swish(&x, 0.3).unwrap()),
            ("HardSigmoid", b.hard_sigmoid(&x, 0.3, 0.6).unwrap()),
            ("ReLU", b.relu(&x).unwrap()),
            ("PReLU", b.prelu(&x, &slope, &[1]).unwrap()),
        ];
        let arguments = [numbers(dtype, &[2, 3], -2), numbers(dtype, &[3], 1)];
        for (name, value) in values {
            let file = round_trip(name, &b.finish(&[value]).unwrap(), &arguments).unwrap();
            assert!(file.composed.is_empty());
            let text = String::from_utf8(file.content).unwrap();
            assert!(text.contains(&format!("type=\"{name}\"")), "{name}");
            assert!(!text.contains("Select") && !text.contains("Erf"), "{name}");
        }
    }
}

#[test]
fn operands_are_aligned_before_a_broadcast() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2, 3, 4]).unwrap();
    let v = b.parameter("v", DType::F32, [3]).unwrap();
    let w = b.parameter("w", DType::F32, [4, 2]).unwrap();
    let turned = b.broadcast_in_dim(w, &[2, 0], [2, 3, 4]).unwrap();
    let sum = b.add(b.add(x, &v, &[1]).unwrap(), turned, &[]).unwrap();
    // Neither operand has the first axis.
    let alone = b.broadcast_in_dim(&v, &[1], [5, 3]).unwrap();
    let doubled = b.add(&alone, &alone, &[]).unwrap();
    let graph = b.finish(&[sum, doubled]).unwrap();
    let arguments = [
        numbers(DType::F32, &[2, 3, 4], 0),
        numbers(DType::F32, &[3], 1),
        numbers(DType::F32, &[4, 2], 2),
    ];
    let written = round_trip("placing", &graph, &arguments).unwrap();
    let text = String::from_utf8(written.content).unwrap();
    let count = |operation: &str| text.matches(&format!("type=\"{operation}\"")).count();
    assert_eq!((count("Broadcast"), count("Transpose")), (1, 1));
}

#[test]
fn decompositions_are_listed_or_refused() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2]).unwrap();
    let graph = b.finish(&[b.exp2(b.exp2(x).unwrap()).unwrap()]).unwrap();
    let file = written(&graph, false).unwrap();
    assert_eq!((file.composed[0].operation.as_str(), file.composed[0].count), ("exp2", 2));
    let FormatErrorKind::UnsupportedOperations(all) = written(&graph, true).unwrap_err().kind
    else {
        panic!("another mistake")
    };
    assert_eq!((all[0].name.as_str(), all[0].count), ("exp2", 2));
}

#[test]
fn names_of_the_graph_are_kept_with_any_characters() {
    let b = GraphBuilder::new();
    let x = b.parameter("a,b<\"&\\\n", DType::F32, [2]).unwrap();
    let graph = b.finish(&[&x, &x]).unwrap();
    let file = written(&graph, true).unwrap();
    let model = ir::read(std::str::from_utf8(&file.content).unwrap(), &[]).unwrap();
    assert_eq!(model.inputs()[0].name, "a,b<\"&\\\n");
    assert_eq!(model.outputs().len(), 2);
}

#[test]
fn complex_numbers_and_storage_types_are_refused() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::C64, [2]).unwrap();
    let graph = b.finish(&[b.exp(x).unwrap()]).unwrap();
    assert_eq!(written(&graph, false).unwrap_err().code(), "unsupported-type");
    for &dtype in DType::ALL.iter().filter(|dtype| dtype.is_storage()) {
        let b = GraphBuilder::new();
        let x = b.parameter("x", dtype, [2]).unwrap();
        let graph = b.finish(&[b.convert(x, DType::F32).unwrap()]).unwrap();
        assert_eq!(written(&graph, false).unwrap_err().code(), "unsupported-type");
    }
}

#[test]
fn a_scatter_without_updates_is_its_operand() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [4]).unwrap();
    let shape = [1 << 40, 1 << 40, 0];
    let indices = b.parameter("indices", DType::I64, shape).unwrap();
    let updates = b.parameter("updates", DType::F32, shape).unwrap();
    let result = b.scatter(ScatterOp::Add, &x, &indices, &updates, 0, TakeMode::Error).unwrap();
    let text = written(&b.finish(&[result]).unwrap(), false).unwrap().content;
    assert!(!String::from_utf8(text).unwrap().contains("Scatter"));
}
