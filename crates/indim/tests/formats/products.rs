//! Matrix products: read from files, against the naive definition; written, and read back with the same bits.

use crate::support;
use crate::support::ir::{self, Network};
use crate::support::onnx::{FLOAT, INT64, Message, Model, float, int, run_node, text};
use crate::support::random::Random;
use crate::support::samples::tolerance;
use indim::formats::{ModelFormat, Tolerance, WriteOptions, WrittenModel, write};
use indim_builder::{GraphBuilder, Value};
use indim_graph::{Array, Graph, evaluate};
use indim_ops::DType;

const FORMATS: [ModelFormat; 4] =
    [ModelFormat::StableHlo, ModelFormat::Hlo, ModelFormat::OpenVino, ModelFormat::Onnx];

impl Random {
    fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    fn shuffled(&mut self, mut items: Vec<char>) -> Vec<char> {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
        items
    }

    /// Numbers from -3 to 3; fractions unless `is_whole`.
    fn array(&mut self, shape: &[usize], dtype: DType, is_whole: bool) -> Array {
        let scale = if is_whole { 1.0 } else { 0.37 };
        let count = shape.iter().product();
        let numbers: Vec<f64> = (0..count).map(|_| (self.below(7) as f64 - 3.0) * scale).collect();
        converted(&Array::new(shape, numbers).unwrap(), dtype)
    }
}

fn converted(array: &Array, dtype: DType) -> Array {
    let b = GraphBuilder::new();
    let value = b.convert(b.constant(array.clone()), dtype).unwrap();
    evaluate(&b.finish(&[value]).unwrap(), &[]).unwrap().remove(0)
}

fn doubles(array: &Array) -> Vec<f64> {
    converted(array, DType::F64).elements::<f64>().unwrap().to_vec()
}

/// The product of two arrays whose axes are named by letters, by its definition.
fn naive(equation: &str, operands: [&Array; 2]) -> (Vec<usize>, Vec<f64>) {
    let (inputs, output) = equation.split_once("->").unwrap();
    let (x, y) = inputs.split_once(',').unwrap();
    let mut letters: Vec<char> = output.chars().collect();
    letters.extend(x.chars().chain(y.chars()).filter(|letter| !output.contains(*letter)));
    letters.dedup();
    let mut distinct: Vec<char> = Vec::new();
    letters.into_iter().for_each(|letter| {
        if !distinct.contains(&letter) {
            distinct.push(letter);
        }
    });
    let shapes = operands.map(|operand| operand.shape().to_vec());
    let size = |letter: char| {
        let of = |term: &str, shape: &[usize]| term.find(letter).map(|axis| shape[axis]);
        of(x, &shapes[0]).into_iter().chain(of(y, &shapes[1])).max().unwrap()
    };
    let sizes: Vec<usize> = distinct.iter().map(|&letter| size(letter)).collect();
    let kept = output.len();
    let result: Vec<usize> = sizes[..kept].to_vec();
    let elements = operands.map(doubles);
    let mut sums = vec![0.0; result.iter().product()];
    for number in 0..sizes.iter().product::<usize>() {
        let mut rest = number;
        let mut index = vec![0; sizes.len()];
        for axis in (0..sizes.len()).rev() {
            index[axis] = rest % sizes[axis];
            rest /= sizes[axis];
        }
        let element = |operand: usize, term: &str| {
            let axes = term.chars().zip(&shapes[operand]);
            let place = axes.fold(0, |place, (letter, &size)| {
                let position = distinct.iter().position(|&known| known == letter).unwrap();
                place * size + if size == 1 { 0 } else { index[position] }
            });
            elements[operand][place]
        };
        let place = (0..kept).fold(0, |place, axis| place * sizes[axis] + index[axis]);
        sums[place] += element(0, x) * element(1, y);
    }
    (result, sums)
}

/// Asserts that a result is the naive product.
fn check_naive(name: &str, found: &Array, equation: &str, operands: [&Array; 2]) {
    let (shape, sums) = naive(equation, operands);
    assert_eq!(found.shape().to_vec(), shape, "{name}");
    assert_eq!(doubles(found), sums, "{name}");
}

fn written(format: ModelFormat, graph: &Graph) -> WrittenModel {
    let names: Vec<String> = (0..graph.outputs().len()).map(|i| format!("output{i}")).collect();
    write(format, graph, &names, &WriteOptions::default())
        .unwrap_or_else(|error| panic!("{format}: {error}"))
}

/// The results of a written model.
fn read_back(format: ModelFormat, written: &WrittenModel, arguments: &[Array]) -> Vec<Array> {
    let content = &written.content;
    let model = match &written.external_file {
        Some((_, constants)) if format == ModelFormat::OpenVino => {
            ir::read(std::str::from_utf8(content).unwrap(), constants)
        }
        _ => support::read("written", content),
    };
    let run = model.and_then(|model| support::run(&*model, arguments));
    run.unwrap_or_else(|error| panic!("{format}: {error}\n{}", String::from_utf8_lossy(content)))
}

/// Writes a graph in each format that has its types, and compares the results of the files: equal bits,
/// unless a note says that the writer composes the product.
fn round_trip(name: &str, graph: &Graph, arguments: &[Array]) -> Vec<WrittenModel> {
    let expected = evaluate(graph, arguments).unwrap();
    let is_complex = expected[0].dtype().class() == indim_ops::DTypeClass::Complex;
    let formats = FORMATS.iter().filter(|&&format| {
        !is_complex || matches!(format, ModelFormat::StableHlo | ModelFormat::Hlo)
    });
    formats
        .map(|&format| {
            let written = written(format, graph);
            let found = read_back(format, &written, arguments);
            for (found, expected) in found.iter().zip(&expected) {
                let rule = match written.composed.is_empty() {
                    true => Tolerance::Exact,
                    false if expected.dtype() == DType::F64 => tolerance(DType::F32),
                    false => tolerance(expected.dtype()),
                };
                let difference = rule.compare(found, expected);
                assert_eq!(difference, None, "{format} {name} {:?}", written.composed);
            }
            written
        })
        .collect()
}

/// Letters of the axes: in both operands and the result, in one of them, and summed.
fn random_equation(random: &mut Random) -> (String, String, String) {
    let take = |letters: &str, count: usize| letters.chars().take(count).collect::<Vec<char>>();
    let batch = take("ab", random.one_of(&[0, 0, 1, 2]));
    let rows = take("mn", random.below(3));
    let columns = take("pq", random.below(3));
    let summed = take("kl", random.one_of(&[1, 1, 1, 2]));
    let x = random.shuffled([batch.clone(), rows.clone(), summed.clone()].concat());
    let y = random.shuffled([batch.clone(), summed, columns.clone()].concat());
    let result = random.shuffled([batch, rows, columns].concat());
    let text = |letters: Vec<char>| letters.into_iter().collect::<String>();
    (text(x), text(y), text(result))
}

const TYPES: [DType; 13] = [
    DType::F32,
    DType::F32,
    DType::F32,
    DType::F64,
    DType::F16,
    DType::Bf16,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::Bool,
    DType::C64,
];

#[test]
fn random_products_come_back_with_their_bits() {
    let mut random = Random(7);
    for case in 0..120 {
        let (x, y, result) = random_equation(&mut random);
        let dtype = random.one_of(&TYPES);
        let lengths = [random.one_of(&[1, 2, 3, 65, 130]), random.one_of(&[1, 2, 3])];
        let others: Vec<usize> = (0..6).map(|_| random.one_of(&[1, 2, 3])).collect();
        let size = |letter: char| match "kl".find(letter) {
            Some(place) => lengths[place],
            None => others["abmnpq".find(letter).unwrap()],
        };
        let shapes = [&x, &y].map(|term| term.chars().map(size).collect::<Vec<usize>>());
        let equation = format!("{x},{y}->{result}");
        let b = GraphBuilder::new();
        let operands = [
            b.parameter("x", dtype, shapes[0].clone()),
            b.parameter("y", dtype, shapes[1].clone()),
        ];
        let operands = operands.map(Result::unwrap);
        let product = b.einsum(&equation, &operands).unwrap();
        let graph = b.finish(&[product]).unwrap();
        let arguments = shapes.map(|shape| random.array(&shape, dtype, false));
        let name = format!("case {case}: {equation} of {dtype} {lengths:?} {others:?}");
        let files = round_trip(&name, &graph, &arguments);
        let is_exact = dtype != DType::C64;
        assert!(files.iter().all(|file| file.composed.is_empty() == is_exact), "{name}");
    }
}

#[test]
fn random_matmuls_with_broadcast_batches_come_back_with_their_bits() {
    let mut random = Random(11);
    for case in 0..60 {
        let dtype = random.one_of(&TYPES[..12]);
        let [m, k, n] =
            [random.one_of(&[1, 2, 5]), random.one_of(&[0, 1, 3, 70]), random.one_of(&[1, 3])];
        let batch = [random.one_of(&[1, 2]), random.one_of(&[1, 3])];
        let mut shape = |rows: usize, columns: usize, vector: usize| -> Vec<usize> {
            let sizes = batch.map(|size| if random.below(3) == 0 { 1 } else { size });
            match random.below(4) {
                0 => vec![vector],
                1 => vec![rows, columns],
                2 => vec![sizes[1], rows, columns],
                _ => vec![sizes[0], sizes[1], rows, columns],
            }
        };
        let shapes = [shape(m, k, k), shape(k, n, k)];
        let b = GraphBuilder::new();
        let x = b.parameter("x", dtype, shapes[0].clone()).unwrap();
        let y = b.parameter("y", dtype, shapes[1].clone()).unwrap();
        let graph = b.finish(&[b.matmul(&x, &y).unwrap()]).unwrap();
        let arguments = shapes.each_ref().map(|shape| random.array(shape, dtype, false));
        let name = format!("case {case}: {dtype} {shapes:?}");
        let files = round_trip(&name, &graph, &arguments);
        assert!(files.iter().all(|file| file.composed.is_empty()), "{name}");
    }
}

/// Sums of products that no file has as one operation: a factor is constant along the summed axis, the sum
/// stays in double precision, or both are broadcast to the result.
#[test]
fn other_sums_of_products_are_composed_with_a_note() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [3, 70]).unwrap();
    let v = b.parameter("v", DType::F32, [3]).unwrap();
    let along = b.broadcast_in_dim(&v, &[0], [3, 70]).unwrap();
    let constant = b.contract(&x, along, 1).unwrap();
    let wide = b.contract(&x, &x, 1).unwrap();
    let [first, second] = [0, 1].map(|_| b.broadcast_in_dim(&x, &[1, 2], [2, 3, 70]).unwrap());
    let repeated = b.contract(first, second, 1).unwrap();
    let both = b.contract(&x, &x, 2).unwrap().convert(DType::F32);
    let arguments =
        [Random(3).array(&[3, 70], DType::F32, false), Random(5).array(&[3], DType::F32, false)];
    for (name, value, notes) in [
        ("constant", constant.convert(DType::F32), 1),
        ("wide", wide, 1),
        ("repeated", repeated.convert(DType::F32), 1),
        ("both", both, 0),
    ] {
        let graph = b.finish(&[value, x.clone(), v.clone()]).unwrap();
        let graph = indim_graph::remove_unused(&graph);
        for file in round_trip(name, &graph, &arguments) {
            assert_eq!(file.composed.len(), notes, "{name} {:?}", file.composed);
        }
    }
}

#[test]
fn a_product_is_one_operation_of_each_format() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2, 5, 3]).unwrap();
    let y = b.parameter("y", DType::F32, [4, 3]).unwrap();
    let product = b.matmul(&x, b.transpose(&y, &[1, 0]).unwrap()).unwrap();
    let graph = b.finish(&[product]).unwrap();
    let text = |format| String::from_utf8_lossy(&written(format, &graph).content).into_owned();
    let stablehlo = text(ModelFormat::StableHlo);
    let line = "stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [1] : \
                (tensor<2x5x3xf32>, tensor<4x3xf32>) -> tensor<2x5x4xf32>";
    assert!(stablehlo.contains(line), "{stablehlo}");
    assert!(!stablehlo.contains("broadcast") && !stablehlo.contains("transpose"), "{stablehlo}");
    let hlo = text(ModelFormat::Hlo);
    let line = "f32[2,5,4] dot(v0, v1), lhs_contracting_dims={2}, rhs_contracting_dims={1}";
    assert!(hlo.contains(line), "{hlo}");
    let ir = text(ModelFormat::OpenVino);
    assert!(ir.contains(r#"transpose_b="true""#) && !ir.contains("Transpose"), "{ir}");
    let onnx = text(ModelFormat::Onnx);
    assert!(onnx.contains("MatMul") && !onnx.contains("Reshape"), "{onnx}");

    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [3, 5]).unwrap();
    let y = b.parameter("y", DType::F32, [3, 4]).unwrap();
    let graph = b.finish(&[b.matmul(b.transpose(&x, &[1, 0]).unwrap(), &y).unwrap()]).unwrap();
    let onnx = String::from_utf8_lossy(&written(ModelFormat::Onnx, &graph).content).into_owned();
    assert!(onnx.contains("Gemm") && !onnx.contains("Transpose"), "{onnx}");
}

#[test]
fn onnx_matmul_and_einsum() {
    let mut random = Random(1);
    for (equation, shapes) in [
        ("k,k->", [&[3][..], &[3]]),
        ("mk,k->m", [&[2, 3], &[3]]),
        ("k,kn->n", [&[3], &[3, 4]]),
        ("mk,kn->mn", [&[2, 3], &[3, 4]]),
        ("amk,kn->amn", [&[5, 2, 3], &[3, 4]]),
        ("abmk,abkn->abmn", [&[5, 1, 2, 3], &[1, 2, 3, 4]]),
        ("mk,kn->mn", [&[2, 0], &[0, 4]]),
    ] {
        for dtype in [DType::F32, DType::I32, DType::I64] {
            let [x, y] = shapes.map(|shape| random.array(shape, dtype, true));
            let found = run_node(13, "MatMul", &[x.clone(), y.clone()], &[]).unwrap();
            assert_eq!(found.dtype(), dtype);
            check_naive("MatMul", &found, equation, [&x, &y]);
            let attributes = [text("equation", equation)];
            let found = run_node(12, "Einsum", &[x.clone(), y.clone()], &attributes).unwrap();
            check_naive("Einsum", &found, equation, [&x, &y]);
        }
    }
    let [x, y] = [random.array(&[2, 3], DType::F32, true), random.array(&[2, 4], DType::F32, true)];
    assert_eq!(run_node(13, "MatMul", &[x.clone(), y.clone()], &[]), Err("size-mismatch"));
    let implicit = [text("equation", "ij, ik")];
    let found = run_node(12, "Einsum", &[x.clone(), y.clone()], &implicit).unwrap();
    check_naive("Einsum", &found, "ij,ik->jk", [&x, &y]);
    let wrong = [text("equation", "ij,jk->ik")];
    assert_eq!(run_node(12, "Einsum", &[x.clone(), y], &wrong), Err("size-mismatch"));
    let bytes = random.array(&[3], DType::U8, true);
    assert_eq!(
        run_node(13, "MatMul", &[bytes.clone(), bytes], &[]),
        Err("element-type-not-allowed")
    );
    assert_eq!(run_node(11, "Einsum", &[x], &[text("equation", "ij->i")]), Err("operator-too-new"));
}

#[test]
fn onnx_gemm() {
    let mut random = Random(2);
    let [a, b] = [random.array(&[3, 2], DType::F32, true), random.array(&[4, 3], DType::F32, true)];
    let turned = [int("transA", 1), int("transB", 1)];
    let found = run_node(11, "Gemm", &[a.clone(), b.clone()], &turned).unwrap();
    check_naive("Gemm", &found, "km,nk->mn", [&a, &b]);
    let product = doubles(&found);
    for (shape, opset, extra) in [
        (&[4][..], 13, None),
        (&[2, 1], 9, None),
        (&[], 7, None),
        (&[2, 4], 6, None),
        (&[4], 6, Some(int("broadcast", 1))),
    ] {
        let c = random.array(shape, DType::F32, true);
        let attributes: Vec<Message> = turned
            .iter()
            .cloned()
            .chain([float("alpha", 0.5), float("beta", -2.0)])
            .chain(extra)
            .collect();
        let found = run_node(opset, "Gemm", &[a.clone(), b.clone(), c.clone()], &attributes);
        let bias = doubles(&c);
        let at = |row: usize, column: usize| match shape {
            [] => bias[0],
            [_] => bias[column],
            [_, 1] => bias[row],
            _ => bias[row * 4 + column],
        };
        let expected: Vec<f64> =
            (0..8).map(|i| 0.5 * product[i] - 2.0 * at(i / 4, i % 4)).collect();
        assert_eq!(doubles(&found.unwrap()), expected, "opset {opset}, bias {shape:?}");
    }
    let row = random.array(&[4], DType::F32, true);
    let inputs = [a.clone(), b.clone(), row];
    assert_eq!(run_node(6, "Gemm", &inputs, &turned), Err("shapes-differ"));
    assert_eq!(
        run_node(6, "Gemm", &inputs[..2], &turned).map(|found| doubles(&found)),
        Ok(product.clone())
    );
    let nothing = Array::new([4], vec![f32::NAN; 4]).unwrap();
    let attributes = [turned[0].clone(), turned[1].clone(), float("beta", 0.0)];
    let found = run_node(13, "Gemm", &[a.clone(), b, nothing], &attributes).unwrap();
    assert_eq!(doubles(&found), product);
    let cube = random.array(&[1, 2, 3], DType::F32, true);
    assert_eq!(run_node(13, "Gemm", &[a, cube], &[]), Err("unexpected"));
}

/// A factor such as 0.5 that an integer type cannot represent is an error, and is not truncated.
#[test]
fn onnx_gemm_of_integers() {
    let a = Array::new([1, 2], vec![3, 4]).unwrap();
    let b = Array::new([2, 1], vec![5, 6]).unwrap();
    let c = Array::new([1, 1], vec![7]).unwrap();
    let inputs = [a, b, c];
    let gemm = |alpha: f32, beta: f32| {
        run_node(13, "Gemm", &inputs, &[float("alpha", alpha), float("beta", beta)])
    };
    for (alpha, beta, expected) in [
        (2.0, -3.0, 2 * 39 - 3 * 7),
        (0.0, 1.0, 7),
        (-1.0, 0.0, -39),
        (1.0, 16_777_216.0, 39 + 7 * 16_777_216),
        (-2_147_483_648.0, 0.0, i32::MIN),
    ] {
        assert_eq!(
            gemm(alpha, beta),
            Ok(Array::new([1, 1], vec![expected]).unwrap()),
            "{alpha} {beta}"
        );
    }
    for (alpha, beta) in
        [(0.5, 1.0), (2.0, -1.5), (2_147_483_648.0, 1.0), (1.0, f32::INFINITY), (f32::NAN, 1.0)]
    {
        assert_eq!(gemm(alpha, beta), Err("unsupported"), "{alpha} {beta}");
    }
    let model = Model::of_node(13, "Gemm", &[INT64; 2], &[float("alpha", 2.5)], 1).encoded();
    let squares = [1_i64, 2].map(|n| Array::new([1, 1], vec![n]).unwrap());
    let run = support::read("test.onnx", &model).and_then(|model| support::run(&*model, &squares));
    let message = run.unwrap_err().to_string();
    assert!(message.contains("Gemm of i64 with alpha = 2.5"), "{message}");
}

fn bytes(shape: &[usize], elements: &[u8]) -> Array {
    Array::new(shape, elements.to_vec()).unwrap()
}

fn scale(factor: f32) -> Array {
    Array::from_scalar(factor)
}

/// Expected values are those of ONNX's own examples.
#[test]
fn onnx_products_of_quantised_integers() {
    let a = bytes(&[4, 3], &[11, 7, 3, 10, 6, 2, 9, 5, 1, 8, 4, 0]);
    let b = bytes(&[3, 2], &[1, 4, 2, 5, 3, 6]);
    let zero = |number: u8| bytes(&[1], &[number]);
    let inputs = [a.clone(), b.clone(), zero(12), zero(0)];
    let found = run_node(10, "MatMulInteger", &inputs, &[]).unwrap();
    let expected = vec![-38, -83, -44, -98, -50, -113, -56, -128];
    assert_eq!(found, Array::new([4, 2], expected).unwrap());
    // A zero point of each row and of each column.
    let inputs = [a, b, bytes(&[4], &[11, 10, 9, 8]), bytes(&[2], &[1, 4])];
    let found = run_node(10, "MatMulInteger", &inputs, &[]).unwrap();
    assert_eq!(found, Array::new([4, 2], vec![-20; 8]).unwrap());

    let a = bytes(&[2, 4], &[208, 236, 0, 238, 3, 214, 255, 29]);
    let b = bytes(&[4, 3], &[152, 51, 244, 60, 26, 255, 0, 127, 246, 127, 254, 247]);
    let inputs = [
        a,
        scale(0.0066),
        bytes(&[], &[113]),
        b,
        scale(0.00705),
        bytes(&[], &[114]),
        scale(0.0107),
        bytes(&[], &[118]),
    ];
    let found = run_node(21, "QLinearMatMul", &inputs, &[]).unwrap();
    assert_eq!(found, bytes(&[2, 3], &[168, 115, 255, 1, 66, 151]));
}

/// Zero points of every shape and sign, compared with the definition in 64 bits.
#[test]
fn zero_points_of_integer_products() {
    let mut random = Random(8);
    let (rows, length, columns) = (5, 23, 6);
    // The number of zero points: none, one, or one for each row or column. A known zero is left out.
    let counts = |many: usize| [None, Some(1), Some(many)];
    let mut numbers = |count: usize, is_signed: bool| -> Vec<i64> {
        let lowest = if is_signed { -128 } else { 0 };
        (0..count).map(|_| random.below(256) as i64 + lowest).collect()
    };
    for (signs, of_a) in [[false, false], [false, true], [true, false], [true, true]]
        .into_iter()
        .flat_map(|signs| counts(rows).map(|count| (signs, count)))
    {
        for of_b in counts(columns) {
            let (a, b) = (numbers(rows * length, signs[0]), numbers(length * columns, signs[1]));
            let zeros = [of_a, of_b].map(|count| count.unwrap_or(0));
            let zeros = [numbers(zeros[0], signs[0]), numbers(zeros[1], signs[1])];
            let array = |shape: &[usize], numbers: &[i64], signed: bool| match signed {
                true => Array::new(shape, numbers.iter().map(|&it| it as i8).collect::<Vec<_>>()),
                false => Array::new(shape, numbers.iter().map(|&it| it as u8).collect::<Vec<_>>()),
            };
            let mut inputs = vec![
                array(&[rows, length], &a, signs[0]).unwrap(),
                array(&[length, columns], &b, signs[1]).unwrap(),
            ];
            // An operand before a stated one cannot be left out, so it is zero.
            for (side, zeros) in zeros.iter().enumerate() {
                let zeros = if zeros.is_empty() { &[0][..] } else { zeros };
                inputs.push(array(&[zeros.len()], zeros, signs[side]).unwrap());
            }
            let zero = |zeros: &[i64], at: usize| *zeros.get(at).or(zeros.first()).unwrap_or(&0);
            let element = |index: usize| {
                let (row, column) = (index / columns, index % columns);
                let product = |k: usize| {
                    (a[row * length + k] - zero(&zeros[0], row))
                        * (b[k * columns + column] - zero(&zeros[1], column))
                };
                (0..length).map(product).sum::<i64>() as i32
            };
            let expected: Vec<i32> = (0..rows * columns).map(element).collect();
            let found = run_node(10, "MatMulInteger", &inputs, &[]).unwrap();
            assert_eq!(found, Array::new([rows, columns], expected).unwrap(), "{signs:?}");
        }
    }
}

#[test]
fn stablehlo_dots() {
    let mut random = Random(3);
    let generic = "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], \
                   rhs_batching_dimensions = [2], lhs_contracting_dimensions = [2], \
                   rhs_contracting_dimensions = [0]>";
    let batched = format!("\"stablehlo.dot_general\"(%x, %y) <{{{generic}}}>");
    let old =
        format!("\"mhlo.dot_general\"(%x, %y) {{{}}}", generic.replace("#stablehlo", "#mhlo"));
    let algorithm = "algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, \
                     accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, \
                     num_primitive_operations = 1, allow_imprecise_accumulation = false>";
    let precise = format!(
        "stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], \
         precision = [DEFAULT, DEFAULT], {algorithm}"
    );
    for (operation, equation, x, y) in [
        (
            "stablehlo.dot_general %x, %y, batching_dims = [0] x [2], contracting_dims = [2] x [0], \
             precision = [HIGHEST, DEFAULT]",
            "bmk,knb->bmn",
            &[2, 3, 4][..],
            &[4, 5, 2][..],
        ),
        (&batched, "bmk,knb->bmn", &[2, 3, 4], &[4, 5, 2]),
        (&old, "bmk,knb->bmn", &[2, 3, 4], &[4, 5, 2]),
        (&precise, "mk,kn->mn", &[2, 3], &[3, 4]),
        (
            "stablehlo.dot_general %x, %y, contracting_dims = [1, 0] x [0, 2]",
            "lkm,knl->mn",
            &[2, 3, 4],
            &[3, 5, 2],
        ),
        ("stablehlo.dot_general %x, %y, contracting_dims = [] x []", "m,n->mn", &[2], &[3]),
        ("stablehlo.dot %x, %y, precision = [DEFAULT, DEFAULT]", "mk,k->m", &[2, 3], &[3]),
        ("stablehlo.dot %x, %y", "k,kn->n", &[3], &[3, 2]),
    ] {
        for [from, to] in [["f32", "f32"], ["i8", "i32"], ["f32", "f64"]] {
            if operation.contains("algorithm") && from != "f32" {
                continue;
            }
            let dtype = if from == "i8" { DType::I8 } else { DType::F32 };
            let arguments = [random.array(x, dtype, true), random.array(y, dtype, true)];
            let (result, _) = naive(equation, [&arguments[0], &arguments[1]]);
            let tensor = |shape: &[usize], of: &str| {
                let sizes: String = shape.iter().map(|size| format!("{size}x")).collect();
                format!("tensor<{sizes}{of}>")
            };
            let (x, y, result) = (tensor(x, from), tensor(y, from), tensor(&result, to));
            let program = format!(
                "func.func @main(%x: {x}, %y: {y}) -> {result} {{\n  \
                 %0 = {operation} : ({x}, {y}) -> {result}\n  return %0 : {result}\n}}"
            );
            let model = support::read("dot.mlir", &program);
            let model = model.unwrap_or_else(|error| panic!("{error}\n{program}"));
            let found = support::run(&*model, &arguments);
            let found = found.unwrap_or_else(|error| panic!("{error}\n{program}")).remove(0);
            let remarks = support::build(&*model, &arguments).unwrap().remarks;
            assert!(remarks.is_empty(), "{remarks:?}");
            check_naive(&program, &found, equation, [&arguments[0], &arguments[1]]);
        }
    }
}

/// The code of the error of a program of one product, or its result for ones.
fn dot(operation: &str, types: [&str; 3]) -> Result<Array, &'static str> {
    let [x, y, result] = types;
    let program = format!(
        "func.func @main(%x: {x}, %y: {y}) -> {result} {{\n  \
         %0 = {operation} : ({x}, {y}) -> {result}\n  return %0 : {result}\n}}"
    );
    let model = support::read("dot.mlir", &program).map_err(|error| error.code())?;
    let types: Vec<_> = model.inputs().iter().map(|input| input.array_type().unwrap()).collect();
    let ones: Vec<Array> = types
        .iter()
        .map(|of| {
            let count = of.shape.iter().product();
            converted(&Array::new(of.shape.clone(), vec![1.0f64; count]).unwrap(), of.dtype)
        })
        .collect();
    Ok(support::run(&*model, &ones).map_err(|error| error.code())?.remove(0))
}

#[test]
fn algorithms_that_round_operands_or_sums_are_refused() {
    let of = |operand: &str, sum: &str, operations: usize| {
        format!(
            "stablehlo.dot_general %x, %y, contracting_dims = [0] x [0], algorithm = \
             <lhs_precision_type = {operand}, rhs_precision_type = {operand}, accumulation_type = {sum}, \
             lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = {operations}, \
             allow_imprecise_accumulation = false>"
        )
    };
    let f32s = ["tensor<3xf32>", "tensor<3xf32>", "tensor<f32>"];
    let bf16s = ["tensor<3xbf16>", "tensor<3xbf16>", "tensor<bf16>"];
    for (operand, sum, operations, types, is_read) in [
        ("f32", "f32", 1, f32s, true),
        ("f64", "f64", 1, f32s, true),
        ("tf32", "f32", 1, f32s, false),
        ("tf32", "f32", 3, f32s, false),
        ("bf16", "f32", 1, f32s, false),
        ("bf16", "f32", 1, bf16s, true),
        ("bf16", "bf16", 1, bf16s, false),
        ("f32", "f32", 1, ["tensor<3xf64>", "tensor<3xf64>", "tensor<f64>"], false),
    ] {
        let found = dot(&of(operand, sum, operations), types).map(|found| doubles(&found));
        let expected = if is_read { Ok(vec![3.0]) } else { Err("unsupported") };
        assert_eq!(found, expected, "{operand} {sum} {operations} {types:?}");
    }
}

#[test]
fn mistakes_of_dots_have_their_codes() {
    let pair = ["tensor<2x3xf32>", "tensor<2x3xf32>"];
    let to = |result| [pair[0], pair[1], result];
    for (operation, types, code) in [
        (
            "dot_general %x, %y, contracting_dims = [1] x [0]",
            to("tensor<2x3xf32>"),
            "size-mismatch",
        ),
        (
            "dot_general %x, %y, contracting_dims = [1] x [1]",
            to("tensor<2x3xf32>"),
            "type-mismatch",
        ),
        (
            "dot_general %x, %y, contracting_dims = [2] x [1]",
            to("tensor<2x2xf32>"),
            "axis-out-of-range",
        ),
        ("dot_general %x, %y, contracting_dims = [1] x 1", to("tensor<2x2xf32>"), "attribute"),
        ("dot %x, %y", ["tensor<1x2x3xf32>", "tensor<3xf32>", "tensor<1x2xf32>"], "unexpected"),
    ] {
        assert_eq!(dot(&format!("stablehlo.{operation}"), types), Err(code), "{operation}");
    }
}

#[test]
fn hlo_dots() {
    let mut random = Random(4);
    for (attributes, equation, x, y) in [
        (
            "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={2}, rhs_contracting_dims={0}, \
             operand_precision={highest,highest}",
            "bmk,knb->bmn",
            &[2, 3, 4][..],
            &[4, 5, 2][..],
        ),
        (
            "lhs_contracting_dims={1}, rhs_contracting_dims={0}, algorithm=dot_f32_f32_f32",
            "mk,kn->mn",
            &[2, 3],
            &[3, 4],
        ),
        ("lhs_contracting_dims={}, rhs_contracting_dims={}", "m,n->mn", &[2], &[3]),
    ] {
        let arguments = [x, y].map(|shape| random.array(shape, DType::F32, true));
        let (result, _) = naive(equation, [&arguments[0], &arguments[1]]);
        let shape = |sizes: &[usize]| {
            let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
            format!("f32[{}]", sizes.join(","))
        };
        let (x, y, result) = (shape(x), shape(y), shape(&result));
        let program = format!(
            "HloModule m\nENTRY e {{\n  x = {x} parameter(0)\n  y = {y} parameter(1)\n  \
             ROOT r = {result} dot(x, y), {attributes}\n}}"
        );
        let model = support::read("dot.hlo", &program);
        let model = model.unwrap_or_else(|error| panic!("{error}\n{program}"));
        let found = support::run(&*model, &arguments).unwrap().remove(0);
        check_naive(&program, &found, equation, [&arguments[0], &arguments[1]]);
    }
    let code = |rest: &str| {
        let program = format!(
            "HloModule m\nENTRY e {{\n  x = f32[3] parameter(0)\n  ROOT r = f32[] dot(x, x), \
             lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}{rest}\n}}"
        );
        let model = support::read("dot.hlo", &program).map_err(|error| error.code())?;
        support::build(&*model, &[random_vector()]).map(|_| ()).map_err(|error| error.code())
    };
    assert_eq!(code(""), Ok(()));
    assert_eq!(code(", algorithm=dot_tf32_tf32_f32"), Err("unsupported"));
    assert_eq!(code(", algorithm=fast"), Err("attribute"));
    assert_eq!(code(", sparsity={L.0}"), Err("attribute"));
}

fn random_vector() -> Array {
    Random(9).array(&[3], DType::F32, true)
}

/// Operands of different types, which HLO allows: they are multiplied in the wider one.
#[test]
fn hlo_dots_of_two_types() {
    let program = "HloModule m
ENTRY e {
  x = s8[2] parameter(0)
  y = f32[2] parameter(1)
  ROOT r = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
}";
    let model = support::read("dot.hlo", program).unwrap();
    let arguments =
        [Array::new([2], vec![3i8, -4]).unwrap(), Array::new([2], vec![0.5f32, 2.0]).unwrap()];
    assert_eq!(support::run(&*model, &arguments), Ok(vec![Array::from_scalar(-6.5f32)]));
}

/// The result may be narrower than an operand: only the sum is rounded to it.
#[test]
fn hlo_dots_of_two_types_round_to_a_narrower_result_once() {
    let dot = |types: [&str; 3], x: &[f64], y: &[f64]| {
        let [of_x, of_y, result] = types;
        let size = x.len();
        let program = format!(
            "HloModule m\nENTRY e {{\n  x = {of_x}[{size}] parameter(0)\n  \
             y = {of_y}[{size}] parameter(1)\n  \
             ROOT r = {result}[] dot(x, y), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}\n}}"
        );
        let model = support::read("dot.hlo", &program).unwrap();
        let types = model.inputs();
        let arguments: Vec<Array> = types
            .iter()
            .zip([x, y])
            .map(|(input, numbers)| {
                let array = Array::new([size], numbers.to_vec()).unwrap();
                converted(&array, input.array_type().unwrap().dtype)
            })
            .collect();
        doubles(&support::run(&*model, &arguments).unwrap()[0])
    };
    // A bf16 has 8 binary digits: it represents 1.5, the sum of products, but not 257 and 255.5.
    let (x, y) = ([257.0, 255.5], [1.0, -1.0]);
    for types in [["f32", "bf16", "bf16"], ["f32", "f16", "bf16"], ["f64", "bf16", "f16"]] {
        assert_eq!(dot(types, &x, &y), [1.5], "{types:?}");
    }
    assert_eq!(dot(["bf16", "f32", "bf16"], &y, &x), [1.5]);
    // Neither of f16 and bf16 represents all elements of the other: 2^100 is no f16, 1025 no bf16.
    assert_eq!(
        dot(["bf16", "f16", "f32"], &[2f64.powi(100)], &[1025.0]),
        [1025.0 * 2f64.powi(100)]
    );
    assert_eq!(dot(["f16", "bf16", "bf16"], &[1025.0, 1024.0], &[1.0, -1.0]), [1.0]);
}

#[test]
fn openvino_matmul_and_einsum() {
    let mut random = Random(5);
    for (layer, attributes, equation, x, y) in [
        ("MatMul-1", "", "mk,kn->mn", &[2, 3][..], &[3, 4][..]),
        (
            "MatMul-1",
            "transpose_a=\"true\" transpose_b=\"true\"",
            "amk,nm->akn",
            &[5, 3, 2],
            &[4, 3],
        ),
        // A vector has nothing to transpose.
        ("MatMul-1", "transpose_a=\"true\" transpose_b=\"true\"", "k,nk->n", &[3], &[4, 3]),
        ("MatMul-1", "transpose_b=\"true\"", "mk,k->m", &[4, 3], &[3]),
        ("MatMul-1", "transpose_a=\"false\"", "abmk,abkn->abmn", &[5, 1, 2, 3], &[2, 3, 4]),
        ("Einsum-7", "equation=\"abk,akc->abc\"", "abk,akc->abc", &[2, 3, 4], &[2, 4, 5]),
        ("Einsum-7", "equation=\"k,k->\"", "k,k->", &[3], &[3]),
    ] {
        // The letters of an operand of lower rank are its last ones.
        let equation = match (equation, y) {
            ("abmk,abkn->abmn", [_, _, _]) => "abmk,bkn->abmn",
            ("amk,nm->akn", _) => "akm,nk->amn",
            (equation, _) => equation,
        };
        let arguments = [x, y].map(|shape| random.array(shape, DType::F32, true));
        let (result, _) = naive(equation, [&arguments[0], &arguments[1]]);
        let sizes = |shape: &[usize], separator: &str| {
            shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(separator)
        };
        let port = |shape: &[usize]| format!("FP32 {}", sizes(shape, " "));
        let mut network = Network::default();
        let x = network.parameter("f32", &sizes(x, ","), &port(x)).to_string();
        let y = network.parameter("f32", &sizes(y, ","), &port(y)).to_string();
        let product = network.add(layer, attributes, &[&x, &y], &[&port(&result)]).to_string();
        network.result(&product);
        let model = network.read().unwrap_or_else(|error| panic!("{layer} {attributes}: {error}"));
        let found = support::run(&*model, &arguments).unwrap().remove(0);
        check_naive(
            &format!("{layer} {attributes}"),
            &found,
            equation,
            [&arguments[0], &arguments[1]],
        );
    }
}

#[test]
fn broadcasts_of_products_have_rules() {
    let mut network = Network::default();
    let x = network.parameter("f32", "2,3", "FP32 2 3").to_string();
    let product =
        network.add("MatMul-1", "transpose_b=\"true\"", &[&x, &x], &["FP32 2 2"]).to_string();
    network.result(&product);
    let model = network.read().unwrap();
    let program = support::build(&*model, &[Random(1).array(&[2, 3], DType::F32, true)]).unwrap();
    let rules: Vec<String> =
        program.origins.iter().filter_map(|it| it.rule.as_ref().map(ToString::to_string)).collect();
    assert_eq!(rules, ["matmul"]);
    // A node with several broadcasts under different rules has none.
    for (operands, rules) in [(2, &["matmul"][..]), (3, &[])] {
        let model = Model::of_node(13, "Gemm", &[FLOAT; 3][..operands], &[], 1).encoded();
        let model = support::read("test.onnx", &model).unwrap();
        let ones =
            [&[2, 2][..], &[2, 2], &[2]].map(|shape| Random(1).array(shape, DType::F32, true));
        let program = support::build(&*model, &ones[..operands]).unwrap();
        let found = program.origins.iter().filter_map(|it| it.rule.as_ref());
        assert_eq!(found.map(ToString::to_string).collect::<Vec<_>>(), rules);
    }
}

/// Three factors are multiplied in pairs.
#[test]
fn onnx_einsum_of_three_operands() {
    let mut random = Random(6);
    let operands =
        [&[2, 3][..], &[3, 4], &[4, 2]].map(|shape| random.array(shape, DType::F32, true));
    let found = run_node(12, "Einsum", &operands, &[text("equation", "ij,jk,kl->il")]).unwrap();
    let first = run_node(13, "MatMul", &operands[..2], &[]).unwrap();
    check_naive("Einsum", &found, "ij,jk->ik", [&first, &operands[2]]);
    let b = GraphBuilder::new();
    let values: Vec<Value> = operands.iter().map(|operand| b.constant(operand.clone())).collect();
    let direct = b.finish(&[b.einsum("ij,jk,kl->il", &values).unwrap()]).unwrap();
    assert_eq!(evaluate(&direct, &[]).unwrap(), [found]);
}
