//! Graphs written as ONNX models; read back, they compute the same results.

use crate::support;
use crate::support::graphs::{
    Case, broadcasts, functions_along, numbers, operations, products, sum_of_nothing, views,
};
use crate::support::onnx::{self, StoredModel, run_in_onnx_runtime};
use crate::support::samples::mismatches;
use indim::formats::{FormatError, ModelFormat, WriteOptions, WrittenModel, write};
use indim_builder::{Composition, GraphBuilder, ReduceOptions, Reduction, Value};
use indim_graph::{Array, AxisWindow, Graph, Literal, TakeMode, evaluate, remove_unused};
use indim_ops::{ArrayData, DType, DTypeClass, Op};
use indim_shape::RuleSet;

fn written(graph: &Graph, opset: u32) -> Result<WrittenModel, FormatError> {
    let names: Vec<String> = (0..graph.outputs().len()).map(|i| format!("result{i}")).collect();
    write(ModelFormat::Onnx, graph, &names, &WriteOptions::new().opset(opset))
}

/// Asserts that the model computes the results of the graph.
fn check(case: &Case, opset: u32) {
    let Case { name, graph, arguments } = case;
    let written = written(graph, opset).unwrap_or_else(|error| panic!("{name}: {error}"));
    let model = support::read("written.onnx", &written.content);
    let model = model.unwrap_or_else(|error| panic!("{name}: {error} {:?}", error.location));
    let found = support::run(&*model, arguments).unwrap_or_else(|error| panic!("{name}: {error}"));
    let differences = mismatches(&found, &evaluate(graph, arguments).unwrap());
    assert!(differences.is_empty(), "{name}, opset {opset}: {differences:?}");
}

/// Operations on real numbers without an ONNX operator.
const REFUSED: &[Op] = &[
    Op::Clz,
    Op::Digamma,
    Op::ErfInv,
    Op::Imag,
    Op::Lgamma,
    Op::Mulhi,
    Op::Nextafter,
    Op::Popcnt,
    Op::ShrArithmetic,
    Op::TotalEq,
    Op::TotalGe,
    Op::TotalGt,
    Op::TotalLe,
    Op::TotalLt,
    Op::TotalNe,
    Op::Trigamma,
    Op::Complex,
];

/// Whether no value of this type is written.
fn is_refused(dtype: DType) -> bool {
    matches!(dtype.class(), DTypeClass::Complex | DTypeClass::Storage)
}

/// The supported operations on real numbers.
fn written_operations() -> Vec<Case> {
    let is_written = |op: Op, dtype: DType| !REFUSED.contains(&op) && !is_refused(dtype);
    let all = operations().into_iter();
    all.filter(|(op, dtype, _)| is_written(*op, *dtype)).map(|(_, _, case)| case).collect()
}

#[test]
fn operations_are_operators_or_made_of_them() {
    let cases = written_operations();
    assert!(cases.len() > 300, "{} operations on types", cases.len());
    for case in cases {
        [18, 21, 28].into_iter().for_each(|opset| check(&case, opset));
    }
}

#[test]
fn operations_without_an_operator_are_refused() {
    for (op, dtype, case) in operations() {
        if REFUSED.contains(&op) || is_refused(dtype) {
            let error = written(&case.graph, 21).expect_err(&case.name);
            assert_eq!(error.code(), "unsupported-op", "{}", case.name);
        }
    }
}

#[test]
fn broadcasts_are_numpys_where_axes_end_last_and_moved_there_else() {
    check(&broadcasts(), 21);
}

#[test]
fn views_and_reductions() {
    check(&views(), 18);
    check(&views(), 28);
    check(&sum_of_nothing(), 21);
}

/// Compositions with their ONNX operators and the opsets that introduced these.
fn functions() -> Vec<(&'static str, u32, Case)> {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [12]).unwrap();
    let composed = |composition, numbers: &[f64]| {
        let numbers: Vec<_> = numbers.iter().map(|&n| Some(Literal::Float(n))).collect();
        b.compose(composition, std::slice::from_ref(&x), &numbers, &RuleSet::None).unwrap()
    };
    let all = [
        ("Elu", 18, composed(Composition::Elu, &[0.75])),
        ("HardSigmoid", 18, composed(Composition::HardSigmoid, &[0.25, 0.375])),
        ("Softsign", 18, composed(Composition::Softsign, &[])),
        ("HardSwish", 18, composed(Composition::HardSwish, &[])),
        ("Mish", 18, composed(Composition::Mish, &[])),
        ("Gelu", 20, composed(Composition::Gelu, &[])),
        ("Gelu", 20, composed(Composition::GeluTanh, &[])),
        ("Swish", 24, composed(Composition::Swish, &[1.5])),
    ];
    let case = |(name, since, value): (&'static str, u32, Value)| {
        let graph = remove_unused(&b.finish(&[value]).unwrap()).into_owned();
        (
            name,
            since,
            Case { name: name.to_owned(), graph, arguments: vec![numbers(DType::F32, 12, 0)] },
        )
    };
    all.into_iter().map(case).collect()
}

#[test]
fn compositions_are_one_operator_where_the_opset_has_it() {
    for (operator, since, case) in functions() {
        for opset in [18, 20, 21, 24, 28] {
            check(&case, opset);
            let written = written(&case.graph, opset).unwrap();
            let has =
                |name: &str| written.content.windows(name.len()).any(|it| it == name.as_bytes());
            assert_eq!(has(operator), opset >= since, "{operator}, opset {opset}");
            if opset >= since {
                assert!(written.composed.is_empty() && !has("Mul"), "{operator}, opset {opset}");
            }
        }
    }
}

/// Whether a model has a node of this operator.
fn has_node(written: &WrittenModel, operator: &str) -> bool {
    let field = [&[4 << 3 | 2, operator.len() as u8], operator.as_bytes()].concat();
    written.content.windows(field.len()).any(|bytes| bytes == field)
}

/// Operators in the decomposition of a normalisation or a softmax.
const PARTS: [&str; 7] = ["BitCast", "Cast", "Div", "Exp", "Mul", "ReduceMax", "Sub"];

#[test]
fn functions_along_axes_are_one_operator() {
    for (operator, case) in functions_along() {
        for opset in [18, 21, 28] {
            check(&case, opset);
            let written = written(&case.graph, opset).unwrap();
            assert!(has_node(&written, operator), "{operator}");
            let parts: Vec<_> = PARTS.iter().filter(|part| has_node(&written, part)).collect();
            assert!(parts.is_empty() && written.composed.is_empty(), "{operator}: {parts:?}");
        }
    }
}

#[test]
fn functions_without_an_operator_are_composed_without_bit_casts() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2, 3, 4]).unwrap();
    let half = b.parameter("half", DType::F16, [2, 3, 4]).unwrap();
    // No operator has separate axes or a selection; the sum of 16-bit floats is computed in a wide type.
    let selected = ReduceOptions::axes([1]).selected(x.gt(0));
    let outputs = [
        b.along(Reduction::Softmax, &x, [0, 2]).unwrap(),
        b.along(Reduction::LogSumExp, &x, &selected).unwrap(),
        b.along(Reduction::LogSumExp, &half, [1]).unwrap(),
    ];
    let graph = b.finish(&outputs).unwrap();
    let arguments = [DType::F32, DType::F16]
        .map(|dtype| numbers(dtype, 24, 0).reshaped([2, 3, 4]).unwrap())
        .to_vec();
    check(&Case { name: "composed".to_owned(), graph: graph.clone(), arguments }, 18);
    assert!(!has_node(&written(&graph, 18).unwrap(), "Softmax"));
}

#[test]
fn normalisations_of_a_model_are_written_as_they_were() {
    let one_input = [onnx::FLOAT];
    let three = [onnx::FLOAT; 3];
    let epsilon = [onnx::float("epsilon", 1e-3)];
    let flattened = [onnx::int("axis", 1)];
    let models: [(i64, &str, &[i64], &[onnx::Message]); 5] = [
        (17, "LayerNormalization", &three, &epsilon),
        (22, "InstanceNormalization", &three, &epsilon),
        (13, "LogSoftmax", &one_input, &[]),
        // All axes from the second on are normalised together.
        (9, "Softmax", &one_input, &flattened),
        (13, "Relu", &one_input, &[]),
    ];
    for (opset, operator, types, attributes) in models {
        let shapes: [&[usize]; 3] = match operator {
            "InstanceNormalization" => [&[2, 3, 4], &[3], &[3]],
            _ => [&[2, 3, 4], &[4], &[4]],
        };
        let arguments: Vec<Array> = shapes[..types.len()]
            .iter()
            .map(|&shape| {
                let count = shape.iter().product();
                let numbers = (0..count).map(|index| index as f32 * 0.25 - 1.0).collect::<Vec<_>>();
                Array::new(shape, numbers).unwrap()
            })
            .collect();
        let content = onnx::Model::of_node(opset, operator, types, attributes, 1).encoded();
        let model = support::read("model.onnx", &content).unwrap();
        let graph = support::build(&*model, &arguments).unwrap().graph;
        let options = WriteOptions::new().source_opset(model.opset());
        let written = write(ModelFormat::Onnx, &graph, &["y".to_owned()], &options).unwrap();
        assert!(has_node(&written, operator), "{operator}");
        let parts: Vec<_> = PARTS.iter().filter(|part| has_node(&written, part)).collect();
        assert!(parts.is_empty(), "{operator}: {parts:?}");
        let read_back = support::read("written.onnx", &written.content).unwrap();
        assert_eq!(read_back.opset(), Some(u32::try_from(opset.max(18)).unwrap()));
        let found = support::run(&*read_back, &arguments).unwrap();
        let differences = mismatches(&found, &evaluate(&graph, &arguments).unwrap());
        assert!(differences.is_empty(), "{operator}: {differences:?}");
    }
}

#[test]
fn the_default_opset_is_the_first_that_supports_the_program() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2]).unwrap();
    let n = b.parameter("n", DType::I32, [2]).unwrap();
    let bits = b.bitcast(&x, DType::I32).unwrap();
    let shifted = b.shr_arithmetic(&n, 1, &[]).unwrap();
    let opset_of = |value: &Value, source_opset| {
        let graph = b.finish(core::slice::from_ref(value)).unwrap();
        let options = WriteOptions::new().source_opset(source_opset);
        let written = write(ModelFormat::Onnx, &graph, &["y".to_owned()], &options).unwrap();
        support::read("written.onnx", &written.content).unwrap().opset()
    };
    assert_eq!(opset_of(&x.exp(), None), Some(21));
    assert_eq!(opset_of(&x.exp(), Some(7)), Some(18));
    assert_eq!(opset_of(&x.exp(), Some(23)), Some(23));
    assert_eq!(opset_of(&bits, None), Some(26));
    assert_eq!(opset_of(&bits, Some(27)), Some(27));
    assert_eq!(opset_of(&shifted, None), Some(28));
}

/// Runs if the environment variable names a Python with onnx and onnxruntime.
#[test]
fn onnx_runtime_computes_the_same() {
    let functions = functions().into_iter().map(|(_, _, case)| case);
    let cases = written_operations().into_iter().chain([broadcasts(), views(), sum_of_nothing()]);
    let along = functions_along().into_iter().map(|(_, case)| case);
    let cases = cases.chain(functions).chain(along).chain(products());
    let models = cases.flat_map(|case| {
        [18, 21].map(|opset| StoredModel {
            name: format!("{} {opset}", case.name),
            content: written(&case.graph, opset).unwrap().content,
            inputs: case.arguments.clone(),
            outputs: evaluate(&case.graph, &case.arguments).unwrap(),
        })
    });
    run_in_onnx_runtime("written", models);
}

#[test]
fn decompositions_are_listed_or_refused() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2]).unwrap();
    let graph = b.finish(&[x.exp2() + x.exp2().log2() + b.erfc(&x).unwrap()]).unwrap();
    let listed = written(&graph, 21).unwrap().composed;
    let names: Vec<(&str, usize)> =
        listed.iter().map(|c| (c.operation.as_str(), c.count)).collect();
    assert_eq!(names, [("erfc", 1), ("exp2", 1), ("log2", 1)]);
    let exact = WriteOptions::new().exact(true);
    let error = write(ModelFormat::Onnx, &graph, &["y".to_owned()], &exact).unwrap_err();
    assert_eq!(error.code(), "unsupported-op");
    let old = WriteOptions::new().opset(7);
    assert_eq!(
        write(ModelFormat::Onnx, &graph, &["y".to_owned()], &old).unwrap_err().code(),
        "unsupported"
    );
}

#[test]
fn elements_that_are_taken_come_back() {
    for mode in TakeMode::ALL {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F32, [4, 3]).unwrap();
        let i = b.parameter("i", DType::I32, [2]).unwrap();
        let taken = b.take(&x, &i, 0, mode).unwrap();
        let searched = b.reduce(indim_ops::ReduceOp::ArgMax, &x, 1).unwrap();
        let graph = b.finish(&[taken, searched]).unwrap();
        let x = Array::new([4, 3], (0..12).map(|i| (i % 5) as f32).collect::<Vec<_>>()).unwrap();
        let i = Array::new([2], if mode == TakeMode::Error { [3, -1] } else { [9, -6] }.to_vec());
        let arguments = vec![x, i.unwrap()];
        check(&Case { name: format!("take {}", mode.name()), graph, arguments }, 21);
    }
}

#[test]
fn large_unsigned_indices_do_not_count_from_the_end() {
    for (mode, indices) in support::graphs::large_indices() {
        let graph = support::graphs::gather_of_five(mode, &indices);
        let model = support::read("take.onnx", &written(&graph, 21).unwrap().content).unwrap();
        let program = support::build(&*model, &[]).unwrap();
        let found = evaluate(&program.graph, &[]).ok();
        assert_eq!(found, evaluate(&graph, &[]).ok(), "{mode} {indices:?}");
    }
}

#[test]
fn powers_with_large_exponents_come_back() {
    let b = GraphBuilder::new();
    let [x, y] = ["x", "y"].map(|name| b.parameter(name, DType::U64, [6]).unwrap());
    let graph = b.finish(&[x.pow(y)]).unwrap();
    let bases = vec![3u64, 2, 1, 0, u64::MAX, 5];
    let exponents = vec![u64::MAX, 1 << 63, 1 << 63, (1 << 63) + 1, u64::MAX, (1 << 62) + 7];
    let arguments = [bases, exponents].map(|elements| Array::new([6], elements).unwrap()).to_vec();
    check(&Case { name: "powers".to_owned(), graph, arguments }, 18);
}

#[test]
fn constants_keep_their_bits_and_stand_once() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2]).unwrap();
    let payload =
        Array::from_data([2], ArrayData::F32(vec![f32::from_bits(0x7fc0_0123), -0.0])).unwrap();
    let constant = b.constant(payload.clone());
    let graph = b.finish(&[b.add(&x, &constant, &[]).unwrap(), constant]).unwrap();
    let model = support::read("c.onnx", written(&graph, 21).unwrap().content).unwrap();
    let results = support::run(&*model, &[numbers(DType::F32, 2, 0)]).unwrap();
    assert_eq!(results[1], payload);
}

/// The writer moves the axis to the front and back, and widens and narrows floats.
#[test]
fn a_scatter_is_one_operator() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2, 4, 3]).unwrap();
    let i = b.parameter("i", DType::I64, [5]).unwrap();
    let u = b.parameter("u", DType::F32, [2, 5, 3]).unwrap();
    let graph = b.finish(&[b.scatter_add(&x, &i, &u, 1, TakeMode::Error).unwrap()]).unwrap();
    let written = written(&graph, 18).unwrap();
    let text = String::from_utf8_lossy(&written.content).into_owned();
    let count = |name: &str| text.matches(name).count();
    assert_eq!([count("ScatterND"), count("Transpose"), count("Cast")], [1, 3, 3]);
}

#[test]
fn operations_on_a_refused_window_do_not_panic() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [1000]).unwrap();
    // Windows of up to 256 elements become slices.
    let windows = b.window(&x, 0, AxisWindow::new(300, 300, 1)).unwrap();
    let graph = b.finish(&[windows.exp()]).unwrap();
    let error = written(&graph, 21).unwrap_err();
    assert_eq!(error.code(), "unsupported-op");
    assert!(error.to_string().contains("window"), "{error}");
}
