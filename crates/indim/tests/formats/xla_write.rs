//! Graphs written as StableHLO and as HLO; read back, they give the same results.

use std::process::Command;

use crate::random;
use crate::support;
use crate::support::graphs::{gather_of_five, gathers, products, scatters, sorts};
use crate::support::samples::tolerance;
use indim::formats::{
    FormatError, ModelFormat, SourceFile, Tolerance, WriteOptions, WrittenModel, write,
};
use indim_builder::GraphBuilder;
use indim_graph::{Array, AxisSlice, Graph, TakeMode, evaluate};
use indim_ops::{Arity, DType, DTypeClass, Op, ReduceOp};
use indim_shape::RuleSet;

const FORMATS: [ModelFormat; 2] = [ModelFormat::StableHlo, ModelFormat::Hlo];

fn written(format: ModelFormat, graph: &Graph, exact: bool) -> Result<WrittenModel, FormatError> {
    let names: Vec<String> =
        (0..graph.outputs().len()).map(|index| format!("output{index}")).collect();
    write(format, graph, &names, &WriteOptions::new().exact(exact))
}

/// The results of the written model.
fn read_back(format: ModelFormat, written: &WrittenModel, arguments: &[Array]) -> Vec<Array> {
    let text = String::from_utf8(written.content.clone()).expect("a text");
    assert_eq!(ModelFormat::of(text.as_bytes()), Some(format), "{text}");
    let source = SourceFile::new("written", text.clone());
    let run = support::read("written", &text).and_then(|model| support::run(&*model, arguments));
    run.unwrap_or_else(|error| panic!("{}\n{text}", error.draw(&source)))
}

/// Writes a graph and compares results: equal elements, or close ones if the writer decomposed an
/// operation.
fn round_trip(
    format: ModelFormat,
    name: &str,
    graph: &Graph,
    arguments: &[Array],
) -> Result<WrittenModel, FormatError> {
    let written = written(format, graph, false)?;
    let expected = evaluate(graph, arguments).expect("it runs");
    let found = read_back(format, &written, arguments);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        let rule = match written.composed.is_empty() {
            true => Tolerance::Exact,
            false => tolerance(expected.dtype()),
        };
        let difference = rule.compare(found, expected);
        assert_eq!(difference, None, "{format} {name} {:?}", written.composed);
    }
    Ok(written)
}

/// Numbers of a type in this shape, special values included.
fn numbers(dtype: DType, shape: [usize; 2]) -> Array {
    let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0];
    let plain = [-3.5, -2.0, -1.0, -0.5, 0.25, 1.0, 1.5, 2.0, 3.0, 7.0];
    let all: Vec<f64> = match dtype.class() {
        DTypeClass::Float => special.into_iter().chain(plain).collect(),
        DTypeClass::Storage if dtype.is_float8() => special.into_iter().chain(plain).collect(),
        _ => plain.into_iter().chain([0.0, 127.0, -128.0, 4.0, 5.0]).collect(),
    };
    let b = GraphBuilder::new();
    let list = b.parameter("list", DType::F64, shape).expect("a parameter");
    let value = match dtype.class() {
        DTypeClass::Complex => {
            let part = b.convert(&list, if dtype == DType::C64 { DType::F32 } else { DType::F64 });
            let part = part.expect("a float");
            b.complex(&part, b.reverse(&part, &[0]).expect("an axis"), &[]).expect("two parts")
        }
        _ => b.convert(&list, dtype).expect("a number"),
    };
    let graph = b.finish(&[value]).expect("a graph");
    let list = Array::new(shape, all).expect("15 numbers");
    evaluate(&graph, &[list]).expect("it runs").remove(0)
}

/// An operation on a column and, if it has more operands, on rows.
fn operation(op: Op, dtype: DType) -> (Graph, Vec<Array>) {
    let b = GraphBuilder::new();
    let mut arguments = Vec::new();
    let operands: Vec<_> = (0..op.arity().count())
        .map(|index| {
            let dtype = op.operand_dtype(index, dtype);
            let shape = if index == 0 { [15, 1] } else { [1, 15] };
            arguments.push(numbers(dtype, shape));
            b.parameter(&format!("x{index}"), dtype, shape).expect("a parameter")
        })
        .collect();
    let rule = if op.arity() == Arity::Unary { RuleSet::None } else { RuleSet::Numpy };
    let value = b.elementwise(op, &operands, &rule).expect("it takes them");
    (b.finish(&[value]).expect("a graph"), arguments)
}

#[test]
fn every_operation_is_written_or_refused() {
    for format in FORMATS {
        let (mut written, mut composed, mut refused) = (0, Vec::new(), Vec::new());
        for &op in Op::ALL {
            for &dtype in DType::ALL.iter().filter(|&&dtype| op.takes(dtype)) {
                let (graph, arguments) = operation(op, dtype);
                match round_trip(format, &format!("{op:?} {dtype}"), &graph, &arguments) {
                    Ok(file) if file.composed.is_empty() => written += 1,
                    Ok(_) => composed.push(op.name()),
                    Err(error) => {
                        assert_eq!(error.code(), "unsupported-op", "{error}");
                        refused.push(op.name());
                    }
                }
            }
        }
        composed.dedup();
        refused.dedup();
        eprintln!("{format}: {written} written, composed {composed:?}, refused {refused:?}");
        // The first eight of complex numbers.
        let missing: &[&str] = match format {
            ModelFormat::Hlo => &[
                "asin",
                "acos",
                "atan",
                "sinh",
                "cosh",
                "asinh",
                "acosh",
                "atanh",
                "erf_inv",
                "lgamma",
                "digamma",
                "trigamma",
                "nextafter",
            ],
            _ => &["trigamma"],
        };
        assert_eq!(refused, missing);
    }
}

#[test]
fn every_conversion_and_reduction_comes_back() {
    for format in FORMATS {
        for &from in DType::ALL {
            let arguments = [numbers(from, [3, 5])];
            let b = GraphBuilder::new();
            let x = b.parameter("x", from, [3, 5]).expect("a parameter");
            let mut outputs: Vec<_> =
                DType::ALL.iter().map(|&to| b.convert(&x, to).expect("a conversion")).collect();
            for &op in ReduceOp::ALL.iter().filter(|op| op.takes(from)) {
                outputs.push(b.reduce(op, &x, 0).expect("an axis"));
                outputs.push(b.reduce(op, &x, 1).expect("an axis"));
            }
            let graph = b.finish(&outputs).expect("a graph");
            round_trip(format, from.name(), &graph, &arguments).expect("all can be written");
        }
    }
}

#[test]
fn constants_come_back_bit_for_bit() {
    for format in FORMATS {
        for &dtype in DType::ALL {
            let b = GraphBuilder::new();
            let array = numbers(dtype, [15, 1]);
            let long = evaluate(
                &{
                    let b = GraphBuilder::new();
                    let counted = b.iota(DType::I32, [150], 0).expect("an axis");
                    b.finish(&[b.convert(counted, dtype).expect("a number")]).expect("a graph")
                },
                &[],
            );
            let empty =
                Array::from_data([2, 0, 3], indim_ops::ArrayData::from_le_bytes(dtype, &[]));
            let all = [array, long.expect("it runs").remove(0), empty.expect("nothing")];
            let values: Vec<_> = all.iter().map(|array| b.constant(array.clone())).collect();
            let graph = b.finish(&values).expect("a graph");
            let file = written(format, &graph, true).expect("constants can be written");
            assert_eq!(read_back(format, &file, &[]), all, "{format} {dtype}");
        }
        let b = GraphBuilder::new();
        let nans = [0x7FC00001u32, 0xFFC00000, 0x7F800001].map(f32::from_bits);
        let array = Array::new([3], nans.to_vec()).expect("three");
        let graph = b.finish(&[b.constant(array.clone())]).expect("a graph");
        let file = written(format, &graph, true).expect("constants can be written");
        assert_eq!(read_back(format, &file, &[]), [array]);
    }
}

#[test]
fn views_and_broadcasts_come_back() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I32, [2, 3]).expect("a parameter");
    let v = b.parameter("v", DType::I32, [1, 3]).expect("a parameter");
    let whole = AxisSlice::whole(2);
    let outputs = [
        b.broadcast_in_dim(&v, &[2, 0], [3, 4, 5]).expect("a broadcast"),
        b.transpose(&x, &[1, 0]).expect("a permutation"),
        b.slice(&x, &[whole, AxisSlice::new(2, 2, -2)]).expect("a slice"),
        b.slice(&x, &[AxisSlice::new(0, 0, 1), AxisSlice::new(1, 2, 1)]).expect("a slice"),
        b.reverse(&x, &[0, 1]).expect("axes"),
        b.concatenate(&[&x, &v], 0).expect("equal rows"),
        b.reshape(&x, [3, 1, 2]).expect("as many"),
        b.iota(DType::I32, [2, 3], 1).expect("an axis"),
        x.clone(),
        x.clone(),
    ];
    let graph = b.finish(&outputs).expect("a graph");
    let array = |shape: [usize; 2], from: i32| {
        let count = shape.iter().product::<usize>() as i32;
        Array::new(shape, (from..from + count).collect()).expect("all of them")
    };
    for format in FORMATS {
        let arguments = [array([2, 3], 1), array([1, 3], 10)];
        let file = round_trip(format, "views", &graph, &arguments).expect("all can be written");
        assert!(file.composed.is_empty() && file.warnings.is_empty());
    }
}

#[test]
fn gathers_scatters_and_sorts_come_back() {
    for format in FORMATS {
        for case in [gathers(), scatters(), sorts()].into_iter().flatten() {
            let file = round_trip(format, &case.name, &case.graph, &case.arguments);
            let file = file.unwrap_or_else(|error| panic!("{format} {}: {error}", case.name));
            // Composed operations give equal elements too.
            let expected = evaluate(&case.graph, &case.arguments).expect("it runs");
            let found = read_back(format, &file, &case.arguments);
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!(Tolerance::Exact.compare(found, expected), None, "{}", case.name);
            }
        }
    }
}

#[test]
fn differences_from_xla_are_warnings() {
    let warns_of_clamping = |mode: TakeMode| {
        let graph = gather_of_five(mode, &[1]);
        let file = written(ModelFormat::Hlo, &graph, true).expect("a file");
        file.warnings.iter().any(|warning| warning.contains("clamps"))
    };
    assert!(warns_of_clamping(TakeMode::Error) && !warns_of_clamping(TakeMode::Clip));
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::C64, [3]).expect("a parameter");
    let graph = b.finish(&[b.sort(&x, 0, false).expect("an axis")]).expect("a graph");
    for format in FORMATS {
        let error = written(format, &graph, false).expect_err("complex numbers");
        assert!(error.to_string().contains("sort"), "{error}");
    }
}

#[test]
fn random_graphs_come_back_as_they_were() {
    for format in FORMATS {
        let (mut same, mut refused) = (0, 0);
        for seed in 0..2000 {
            let (graph, arguments) = random::random_graph(seed);
            match round_trip_exactly(format, seed, &graph, &arguments) {
                true => same += 1,
                false => refused += 1,
            }
        }
        eprintln!("{format}: {same} graphs came back, {refused} were refused");
        assert!(same > 500);
    }
}

fn round_trip_exactly(format: ModelFormat, seed: u64, graph: &Graph, arguments: &[Array]) -> bool {
    let written = match written(format, graph, true) {
        Ok(written) => written,
        Err(error) => {
            assert!(error.is_out_of_scope(), "{error}");
            return false;
        }
    };
    let expected = evaluate(graph, arguments).expect("it runs");
    for (found, expected) in read_back(format, &written, arguments).iter().zip(&expected) {
        assert_eq!(Tolerance::Exact.compare(found, expected), None, "{format} seed {seed}");
    }
    true
}

/// Operations that XLA computes differently from StableHLO's specification: it uses only six bits of an
/// integer exponent.
const DIFFERENT_IN_XLA: [(Op, DType); 1] = [(Op::Pow, DType::I32)];

/// Replaces zeros by 0.75: XLA's digamma of 0 is NaN, indim's an infinity, like SciPy's.
fn replace_zeros(array: &mut Array) {
    let numbers = array.elements::<f32>().expect("digamma is compared in f32").iter();
    let numbers: Vec<f32> = numbers.map(|&x| if x == 0.0 { 0.75 } else { x }).collect();
    *array = Array::new(array.shape().clone(), numbers).expect("as many");
}

/// Graphs for XLA, with names.
fn for_xla() -> Vec<(String, Graph, Vec<Array>)> {
    let mut cases = Vec::new();
    for dtype in [DType::F32, DType::I32] {
        for &op in Op::ALL.iter().filter(|op| op.takes(dtype)) {
            if !DIFFERENT_IN_XLA.contains(&(op, dtype)) {
                let (graph, mut arguments) = operation(op, dtype);
                if op == Op::Digamma {
                    arguments.iter_mut().for_each(replace_zeros);
                }
                cases.push((format!("{}-{dtype}", op.name()), graph, arguments));
            }
        }
        let b = GraphBuilder::new();
        let x = b.parameter("x", dtype, [3, 5]).expect("a parameter");
        let takes = ReduceOp::ALL.iter().filter(|op| op.takes(dtype));
        let mut outputs: Vec<_> = takes.map(|&op| b.reduce(op, &x, 1).expect("an axis")).collect();
        outputs.push(b.constant(numbers(dtype, [5, 3])));
        let graph = b.finish(&outputs).expect("a graph");
        cases.push((format!("reductions-{dtype}"), graph, vec![numbers(dtype, [3, 5])]));
    }
    let others = [products(), gathers(), scatters(), sorts()].into_iter().flatten();
    cases.extend(others.map(|case| (case.name.replace(' ', "-"), case.graph, case.arguments)));
    cases
}

/// Runs if the environment variable names a Python with jax.
#[test]
fn xla_computes_the_same() {
    let Some(python) = std::env::var_os("INDIM_JAX_PYTHON") else {
        eprintln!("skipped: INDIM_JAX_PYTHON names no Python with jax");
        return;
    };
    let folder = std::env::temp_dir().join(format!("indim-xla-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut index = String::new();
    for (name, graph, arguments) in for_xla() {
        let results = evaluate(&graph, &arguments).expect("it runs");
        let mut line = arguments.len().to_string();
        for (number, array) in arguments.iter().chain(&results).enumerate() {
            let file = format!("{name}.{number}");
            std::fs::write(folder.join(&file), array.to_le_bytes()).expect("a file");
            let sizes: Vec<String> = array.shape().iter().map(|size| size.to_string()).collect();
            line += &format!("\t{file}:{}:{}", array.dtype(), sizes.join("x"));
        }
        for (format, extension) in [(ModelFormat::StableHlo, "mlir"), (ModelFormat::Hlo, "hlo")] {
            // HLO's mulhi has no counterpart in the conversion that XLA's Python uses for HLO.
            let is_written = format != ModelFormat::Hlo || !name.starts_with("mulhi");
            if let (true, Ok(file)) = (is_written, written(format, &graph, false)) {
                let path = folder.join(format!("{name}.{extension}"));
                std::fs::write(path, file.content).expect("a file");
                index += &format!("{name}.{extension}\t{line}\n");
            }
        }
    }
    std::fs::write(folder.join("index.tsv"), index).expect("a file");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/formats/support/xla_runtime.py");
    let run = Command::new(python).arg(script).arg(&folder).output().expect("the script starts");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    eprintln!("{}", String::from_utf8_lossy(&run.stdout));
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn names_of_the_graph_are_kept_with_any_characters() {
    let b = GraphBuilder::new();
    let x = b.parameter("a,%b<\"é\\\n", DType::F32, [2]).expect("a parameter");
    let y = b.parameter("y z", DType::F32, [2]).expect("a parameter");
    let graph = b.finish(&[&x, &y]).expect("a graph");
    let names = ["sum \"1\"".to_owned(), "two".to_owned()];
    let file =
        write(ModelFormat::StableHlo, &graph, &names, &WriteOptions::default()).expect("a file");
    let model = support::read("written", &file.content).expect("it was written here");
    let inputs: Vec<&str> = model.inputs().iter().map(|input| input.name.as_str()).collect();
    assert_eq!(inputs, ["a,%b<\"é\\\n", "y z"]);
    assert_eq!(model.outputs(), names);
    let file = write(ModelFormat::Hlo, &graph, &names, &WriteOptions::default()).expect("a file");
    let model = support::read("written", &file.content).expect("it was written here");
    let inputs: Vec<&str> = model.inputs().iter().map(|input| input.name.as_str()).collect();
    assert_eq!(inputs, ["v0", "y z"]);
    assert_eq!(file.warnings, ["HLO has no names for outputs"]);
}

#[test]
fn decompositions_are_listed_or_refused() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2]).expect("a parameter");
    let graph = b.finish(&[x.exp2().exp2()]).expect("a graph");
    for format in FORMATS {
        let file = written(format, &graph, false).expect("a file");
        assert_eq!((file.composed[0].operation.as_str(), file.composed[0].count), ("exp2", 2));
        assert_eq!(written(format, &graph, true).expect_err("exp2").code(), "unsupported-op");
    }
}
