//! Sums of products by the executable: every spelling, any strides, levels and numbers of threads, against a
//! definition of the order of summation written here.

use indim_builder::{GraphBuilder, Index, Value};
use indim_cpu::{Array, ArrayView, CompileOptions, Level, RunOptions, Threads, compile};
use indim_graph::{Graph, evaluate};
use indim_ops::{DType, ReduceOp, bf16, f16};
use indim_shape::ContractionRule;

#[path = "executors/mod.rs"]
mod executors;

/// Pseudo-random numbers (a linear congruential generator).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }

    /// A number of either sign, whose products need more bits than an `f32` has.
    fn number(&mut self) -> f32 {
        (self.below(2_000_001) as f32 - 1_000_000.0) / 700_001.0
    }

    fn floats(&mut self, sizes: &[usize]) -> Array {
        let count: usize = sizes.iter().product();
        Array::new(sizes, (0..count).map(|_| self.number()).collect::<Vec<f32>>()).unwrap()
    }
}

/// The sum of products: one chain up to 64, else eight lanes, in blocks of 512, which are added in pairs.
fn definition(x: &[f32], y: &[f32]) -> f64 {
    let chain = |first: usize, step: usize, x: &[f32], y: &[f32]| {
        let mut sum = 0.0_f32;
        let mut index = first;
        while index < x.len() {
            sum = x[index].mul_add(y[index], sum);
            index += step;
        }
        sum
    };
    let mut values = Vec::new();
    for (x, y) in x.chunks(512).zip(y.chunks(512)) {
        let value = if x.len() <= 64 {
            chain(0, 1, x, y)
        } else {
            let lanes: Vec<f32> = (0..8).map(|lane| chain(lane, 8, x, y)).collect();
            lanes[1..].iter().fold(lanes[0], |sum, lane| sum + lane)
        };
        values.push(f64::from(value) + 0.0);
    }
    while values.len() > 1 {
        values = values.chunks(2).map(|pair| pair.iter().sum()).collect();
    }
    values.first().copied().unwrap_or(0.0)
}

/// A factor is read in its type before all widening conversions, even if one of them is a result.
#[test]
fn chained_conversions_of_a_reduction() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I8, [4, 5]).unwrap();
    let y = b.parameter("y", DType::I32, [4, 3]).unwrap();
    let wider = b.convert(b.reduce(ReduceOp::Max, &x, 1).unwrap(), DType::I16).unwrap();
    let widest = b.convert(&wider, DType::I32).unwrap();
    let product = b.matmul(widest, y).unwrap();
    let graph = b.finish(&[wider, product]).unwrap();
    let arguments = [
        Array::new([4, 5], (0_i8..20).collect()).unwrap(),
        Array::new([4, 3], (0_i32..12).collect()).unwrap(),
    ];
    let expected = evaluate(&graph, &arguments).unwrap();
    let inputs: Vec<ArrayView<'_>> = arguments.iter().map(ArrayView::from).collect();
    for optimize in [false, true] {
        let options = CompileOptions::new().optimize(optimize);
        assert_eq!(compile(&graph, &options).unwrap().run(&inputs).unwrap(), expected);
    }
}

fn run(graph: &Graph, arguments: &[Array]) -> Array {
    let inputs: Vec<ArrayView<'_>> = arguments.iter().map(ArrayView::from).collect();
    let executable = compile(graph, &CompileOptions::default()).unwrap();
    executable.run(&inputs).unwrap().remove(0)
}

/// The graph of a product of parameters with these sizes.
fn graph_of(
    sizes: [&[usize]; 2],
    build: impl FnOnce(&GraphBuilder, &Value, &Value) -> Value,
) -> Graph {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, sizes[0]).unwrap();
    let y = b.parameter("y", DType::F32, sizes[1]).unwrap();
    let product = build(&b, &x, &y);
    b.finish(&[product]).unwrap()
}

#[test]
fn matrices_have_the_bits_of_the_definition() {
    let mut random = Random(1);
    let shapes = [(1, 1, 1), (2, 3, 4), (5, 7, 64), (6, 17, 65), (13, 33, 511), (3, 5, 513)];
    let large =
        [(3, 4, 5000), (70, 66, 130), (1, 40, 700), (40, 1, 700), (2, 2, 0), (200, 150, 70)];
    for (rows, columns, length) in shapes.into_iter().chain(large) {
        let graph =
            graph_of([&[rows, length], &[length, columns]], |b, x, y| b.matmul(x, y).unwrap());
        let (x, y) = (random.floats(&[rows, length]), random.floats(&[length, columns]));
        let result = run(&graph, &[x.clone(), y.clone()]);
        let (x, y) = (x.elements::<f32>().unwrap(), y.elements::<f32>().unwrap());
        for (index, element) in result.elements::<f32>().unwrap().iter().enumerate() {
            let (row, column) = (index / columns, index % columns);
            let column: Vec<f32> = (0..length).map(|k| y[k * columns + column]).collect();
            let row = &x[row * length..(row + 1) * length];
            let expected = definition(row, &column) as f32;
            assert_eq!(element.to_bits(), expected.to_bits(), "{rows} {columns} {length} {index}");
            let exact: f64 = row.iter().zip(&column).map(|(x, y)| f64::from(x * y)).sum();
            let magnitude: f64 =
                row.iter().zip(&column).map(|(x, y)| f64::from((x * y).abs())).sum();
            assert!((f64::from(*element) - exact).abs() <= magnitude * 80.0 / 16_777_216.0);
        }
    }
}

/// A product of two values.
type Spelling<'a> = &'a dyn Fn(&GraphBuilder, &Value, &Value) -> Value;

#[test]
fn every_spelling_gives_the_same_bits() {
    let mut random = Random(2);
    let (rows, columns, length) = (9, 11, 600);
    let (x, y) = (random.floats(&[rows, length]), random.floats(&[length, columns]));
    let sizes: [&[usize]; 2] = [&[rows, length], &[length, columns]];
    let matmul = graph_of(sizes, |b, x, y| b.matmul(x, y).unwrap());
    let expected = run(&matmul, &[x.clone(), y.clone()]);
    let spellings: [Spelling<'_>; 6] = [
        &|b, x, y| b.dot(x, y).unwrap(),
        &|b, x, y| b.inner(x, b.transpose(y, &[1, 0]).unwrap()).unwrap(),
        &|b, x, y| b.tensordot(x, y, &[1], &[0]).unwrap(),
        &|b, x, y| b.einsum("ij,jk", &[x, y]).unwrap(),
        &|b, x, y| {
            let [x, y] = [x, y].map(|of| b.transpose(of, &[1, 0]).unwrap());
            b.transpose(b.matmul(y, x).unwrap(), &[1, 0]).unwrap()
        },
        // Rows one by one.
        &|b, x, y| {
            let row = |row: i64| b.matmul(b.index(x, &[Index::At(row)]).unwrap(), y).unwrap();
            b.stack(&(0..9).map(row).collect::<Vec<Value>>(), 0).unwrap()
        },
    ];
    for (index, spelling) in spellings.into_iter().enumerate() {
        let graph = graph_of(sizes, spelling);
        assert_eq!(run(&graph, &[x.clone(), y.clone()]), expected, "spelling {index}");
    }
}

#[test]
fn batches_broadcast_like_numpy() {
    let mut random = Random(3);
    let sizes: [&[usize]; 2] = [&[4, 1, 3, 6], &[5, 6, 2]];
    let (x, y) = (random.floats(sizes[0]), random.floats(sizes[1]));
    let graph = graph_of(sizes, |b, x, y| b.matmul(x, y).unwrap());
    let result = run(&graph, &[x.clone(), y.clone()]);
    assert_eq!(result.array_type().to_string(), "f32[4, 5, 3, 2]");
    let (x, y) = (x.elements::<f32>().unwrap(), y.elements::<f32>().unwrap());
    for (index, element) in result.elements::<f32>().unwrap().iter().enumerate() {
        let (column, row, right, left) = (index % 2, index / 2 % 3, index / 6 % 5, index / 30);
        let row = &x[(left * 3 + row) * 6..][..6];
        let column: Vec<f32> = (0..6).map(|k| y[(right * 6 + k) * 2 + column]).collect();
        assert_eq!(*element, definition(row, &column) as f32);
    }
}

#[test]
fn threads_levels_and_passes_change_no_bit() {
    let mut random = Random(4);
    // Several regions; one region whose sum is split; many small products.
    for (left, right) in [
        (&[300, 200][..], &[200, 250][..]),
        (&[8, 40_000], &[40_000, 9]),
        (&[200, 12, 40], &[200, 40, 13]),
    ] {
        let graph = graph_of([left, right], |b, x, y| b.matmul(x, y).unwrap());
        let arguments = [random.floats(left), random.floats(right)];
        let inputs: Vec<ArrayView<'_>> = arguments.iter().map(ArrayView::from).collect();
        let expected = run(&graph, &arguments);
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for level in [Level::BASELINE, Level::detect()] {
                let options = CompileOptions::new().level(level).optimize(threads > 1);
                let executable = compile(&graph, &options).unwrap();
                let run = RunOptions::default().threads(Threads::Pool(&pool));
                let result = executable.run_with(&inputs, &run).unwrap();
                assert_eq!(result[0], expected, "{left:?} {threads} threads");
            }
        }
    }
}

#[test]
fn element_types_follow_the_definition() {
    let mut random = Random(5);
    for dtype in DType::ALL.iter().copied().filter(|dtype| !dtype.is_storage()) {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F32, [7, 90]).unwrap();
        let y = b.parameter("y", DType::F32, [90, 5]).unwrap();
        let [x, y] = [x, y].map(|of| b.convert(of, dtype).unwrap());
        let graph = b.finish(&[b.matmul(x, y).unwrap()]).unwrap();
        let arguments = [random.floats(&[7, 90]), random.floats(&[90, 5])];
        let expected = evaluate(&graph, &arguments).unwrap();
        assert_eq!(run(&graph, &arguments), expected[0], "{dtype}");
        assert_eq!(expected[0].dtype(), dtype);
    }
}

#[test]
fn halves_are_summed_in_f32_and_rounded_once() {
    let numbers: Vec<f16> = (0..300).map(|i| f16::from_f64(f64::from(i) * 0.01)).collect();
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F16, [300]).unwrap();
    let wide = b.product(&ContractionRule::Dot, &x, &x, Some(DType::F32)).unwrap();
    let graph = b.finish(&[b.dot(&x, &x).unwrap(), wide]).unwrap();
    let argument = Array::new([300], numbers.clone()).unwrap();
    let executable = compile(&graph, &CompileOptions::default()).unwrap();
    let results = executable.run(&[ArrayView::from(&argument)]).unwrap();
    let widened: Vec<f32> = numbers.iter().map(|x| x.to_f32()).collect();
    let sum = definition(&widened, &widened);
    assert_eq!(results[0].elements::<f16>(), Ok(&[f16::from_f64(sum)][..]));
    assert_eq!(results[1].elements::<f32>(), Ok(&[sum as f32][..]));
    assert_ne!(bf16::from_f64(sum).to_f32(), sum as f32);
}

#[test]
fn wider_results_convert_the_operands_first() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I8, [1, 3]).unwrap();
    let y = b.parameter("y", DType::I8, [3, 1]).unwrap();
    let rule = ContractionRule::Matmul;
    let wide = b.product(&rule, &x, &y, Some(DType::I32)).unwrap();
    let graph = b.finish(&[wide, b.matmul(&x, &y).unwrap()]).unwrap();
    let x = Array::new([1, 3], vec![-128_i8, 127, 100]).unwrap();
    let y = Array::new([3, 1], vec![127_i8, 127, -128]).unwrap();
    let inputs = [ArrayView::from(&x), ArrayView::from(&y)];
    let results = compile(&graph, &CompileOptions::default()).unwrap().run(&inputs).unwrap();
    let sum = -128 * 127 + 127 * 127 - 100 * 128;
    assert_eq!(results[0].elements::<i32>(), Ok(&[sum][..]));
    assert_eq!(results[1].elements::<i8>(), Ok(&[sum as i8][..]));
}

#[test]
fn a_product_with_several_uses_is_written_everywhere() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [3, 4]).unwrap();
    let y = b.parameter("y", DType::F32, [4, 2]).unwrap();
    let product = b.matmul(&x, &y).unwrap();
    let both = b.concatenate(&[&product, &product], 0).unwrap();
    let flat = b.reshape(&product, [6]).unwrap();
    let outputs = [product.clone(), both, b.exp(flat).unwrap(), product];
    let graph = b.finish(&outputs).unwrap();
    let mut random = Random(6);
    let arguments = [random.floats(&[3, 4]), random.floats(&[4, 2])];
    let inputs: Vec<ArrayView<'_>> = arguments.iter().map(ArrayView::from).collect();
    let expected = evaluate(&graph, &arguments).unwrap();
    for executor in executors::EXECUTORS {
        let options = CompileOptions::new().executor(executor);
        assert_eq!(compile(&graph, &options).unwrap().run(&inputs).unwrap(), expected);
    }
}

#[test]
fn einsum_of_several_operands_has_the_bits_of_its_products() {
    let mut random = Random(7);
    for (equation, sizes) in [
        ("bij,bjk,bk->bi", vec![vec![3, 4, 5], vec![3, 5, 6], vec![3, 6]]),
        ("ij,jk,kl,lm->im", vec![vec![2, 9], vec![9, 3], vec![3, 8], vec![8, 2]]),
        ("ii->i", vec![vec![4, 4]]),
        ("ii", vec![vec![4, 4]]),
        ("iji->j", vec![vec![3, 5, 3]]),
        ("ij->ji", vec![vec![3, 5]]),
        ("ijk->", vec![vec![3, 5, 2]]),
        ("i,j->ji", vec![vec![3], vec![4]]),
        ("ii,ij->j", vec![vec![3, 3], vec![3, 4]]),
        ("ik,kj", vec![vec![3, 1], vec![7, 4]]),
        ("...ij,...jk->...ik", vec![vec![2, 1, 3, 4], vec![5, 4, 2]]),
        ("i...,i...->...", vec![vec![6, 2, 3], vec![6, 1, 3]]),
        ("ia,ib->ab", vec![vec![600, 3], vec![600, 2]]),
        ("ij,k->i", vec![vec![3, 4], vec![5]]),
    ] {
        let b = GraphBuilder::new();
        let parameter = |(index, sizes): (usize, &Vec<usize>)| {
            b.parameter(&format!("p{index}"), DType::F32, &sizes[..]).unwrap()
        };
        let operands: Vec<Value> = sizes.iter().enumerate().map(parameter).collect();
        let graph = b.finish(&[b.einsum(equation, &operands).unwrap()]).unwrap();
        let arguments: Vec<Array> = sizes.iter().map(|sizes| random.floats(sizes)).collect();
        let result = run(&graph, &arguments);
        assert_eq!(result, evaluate(&graph, &arguments).unwrap()[0], "{equation}");
        let exact = naive_einsum(equation, &sizes, &arguments);
        for (element, exact) in result.elements::<f32>().unwrap().iter().zip(&exact) {
            assert!((f64::from(*element) - exact).abs() < 1e-3, "{equation}: {element} {exact}");
        }
        assert_eq!(result.element_count(), exact.len(), "{equation}");
    }
}

/// `einsum` as nested loops over all labels, in `f64`. Each `...` stands for two axes `Y` and `Z`; an operand
/// may lack `Y`.
fn naive_einsum(equation: &str, sizes: &[Vec<usize>], arguments: &[Array]) -> Vec<f64> {
    let (inputs, output) = match equation.split_once("->") {
        Some((inputs, output)) => (inputs, output.to_owned()),
        None => {
            let mut letters: Vec<char> = equation
                .chars()
                .filter(|c| equation.matches(*c).count() == 1 && *c != ',')
                .collect();
            letters.sort_unstable();
            (equation, letters.into_iter().collect())
        }
    };
    let expand = |term: &str, rank: usize| {
        let more = rank + 3 - term.len();
        term.replace("...", &"YZ"[2_usize.saturating_sub(more)..])
    };
    let terms: Vec<String> = inputs
        .split(',')
        .zip(sizes)
        .map(
            |(term, sizes)| {
                if term.contains('.') { expand(term, sizes.len()) } else { term.to_owned() }
            },
        )
        .collect();
    let has_two = terms.iter().any(|term| term.contains('Y'));
    let output = output.replace("...", if has_two { "YZ" } else { "Z" });
    let mut labels: Vec<char> = output.chars().collect();
    for label in terms.iter().flat_map(|term| term.chars()) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    let size_of = |label: char| {
        let all = terms.iter().zip(sizes).flat_map(|(term, sizes)| term.chars().zip(sizes));
        all.filter(|(of, _)| *of == label).map(|(_, size)| *size).max().unwrap()
    };
    let extents: Vec<usize> = labels.iter().map(|&label| size_of(label)).collect();
    let kept: usize = extents[..output.chars().count()].iter().product();
    let total: usize = extents.iter().product();
    let mut results = vec![0.0; kept];
    for point in 0..total {
        let mut rest = point;
        let mut index = vec![0; labels.len()];
        for axis in (0..labels.len()).rev() {
            (index[axis], rest) = (rest % extents[axis], rest / extents[axis]);
        }
        let mut product = 1.0;
        for ((term, sizes), argument) in terms.iter().zip(sizes).zip(arguments) {
            let mut position = 0;
            for (label, &size) in term.chars().zip(sizes) {
                let at = index[labels.iter().position(|&of| of == label).unwrap()];
                position = position * size + if size == 1 { 0 } else { at };
            }
            product *= f64::from(argument.elements::<f32>().unwrap()[position]);
        }
        results[point / (total / kept)] += product;
    }
    results
}
