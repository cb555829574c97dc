//! The operation table of `docs/formats.md` matches the readers and the writers.

use crate::support::graphs::{self, broadcasts, functions_along, views};
use indim::formats::{ModelFormat, WriteOptions, operations, write};
use indim_builder::{Composition, GraphBuilder};
use indim_graph::{Graph, TakeMode};
use indim_model::Epsilon;
use indim_ops::{DType, ReduceOp, SearchSide};
use indim_shape::RuleSet;

/// A graph of each composition of a float.
fn compositions() -> Vec<Graph> {
    let composed = |&composition: &Composition| {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F32, [2, 3]).ok()?;
        let value = b.compose(composition, &[x], &[], &RuleSet::None).ok()?;
        b.finish(&[value]).ok()
    };
    let taken = |_: &Composition, name: &str| !name.starts_with("reduce");
    let all = Composition::ALL.iter().filter(|it| taken(it, it.name()));
    all.filter_map(composed).collect()
}

/// Indexed elements, arg-reductions, bit casts, and a normalisation of images.
fn others() -> Vec<Graph> {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2, 3]).unwrap();
    let i = b.parameter("i", DType::I32, [2]).unwrap();
    let slope = b.parameter("slope", DType::F32, [3]).unwrap();
    let image = b.parameter("image", DType::F32, [2, 3, 4]).unwrap();
    let standard = indim_model::standardise(&image, &[2], Epsilon::InsideRoot(1e-5)).unwrap();
    let scale = b.broadcast_in_dim(&slope, &[1], [2, 3, 4]).unwrap();
    let values = [
        standard * &scale + &scale,
        b.take(&x, &i, 1, TakeMode::Error).unwrap(),
        b.scatter_add(&x, &i, &x, 0, TakeMode::Error).unwrap(),
        b.reduce(ReduceOp::ArgMax, &x, 1).unwrap(),
        b.reduce(ReduceOp::ArgMin, &x, 1).unwrap(),
        b.reduce(ReduceOp::Min, &x, 1).unwrap(),
        b.reduce(ReduceOp::Or, x.gt(0), 1).unwrap(),
        b.bitcast(&x, DType::I32).unwrap(),
        b.scan(ReduceOp::Add, &x, 1, false, false).unwrap(),
        b.scan(ReduceOp::Mul, &x, 1, true, true).unwrap(),
        b.sort(&x, 1, false).unwrap(),
        b.search_sorted(&slope, &x, SearchSide::Left).unwrap(),
        b.prelu(&x, &slope, &[1]).unwrap(),
        b.clamp(-1.5, &x, 1.0).unwrap(),
        b.elementwise(indim_ops::Op::Complex, &[&x, &x], &RuleSet::None).unwrap(),
    ];
    values.iter().map(|value| b.finish(core::slice::from_ref(value)).unwrap()).collect()
}

/// Matrix products, with transposed operands and a transposed result.
fn products() -> Vec<Graph> {
    let product = |equation: &str| {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F32, [2, 2, 2]).unwrap();
        let y = b.parameter("y", DType::F32, [2, 2]).unwrap();
        b.finish(&[b.einsum(equation, &[&x, &y]).unwrap()]).unwrap()
    };
    let matrices = || {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F32, [2, 2]).unwrap();
        b.finish(&[b.einsum("ki,kj->ij", &[&x, &x]).unwrap()]).unwrap()
    };
    vec![product("bij,jk->bik"), product("bij,jk->kib"), matrices()]
}

/// The contents of all files written from these graphs.
fn files(format: ModelFormat) -> Vec<Vec<u8>> {
    let operations = graphs::operations().into_iter().map(|(_, _, case)| case.graph);
    let along = functions_along().into_iter().map(|(_, case)| case.graph);
    let graphs = operations.chain(along).chain([broadcasts().graph, views().graph]);
    let graphs: Vec<Graph> =
        graphs.chain(compositions()).chain(others()).chain(products()).collect();
    let opsets: &[Option<u32>] =
        if format == ModelFormat::Onnx { &[None, Some(28)] } else { &[None] };
    let all = graphs.iter().flat_map(|graph| opsets.iter().map(move |&opset| (graph, opset)));
    let one = |(graph, opset): (&Graph, Option<u32>)| {
        let names: Vec<String> = (0..graph.outputs().len()).map(|i| format!("y{i}")).collect();
        let options = WriteOptions::new().opset(opset);
        write(format, graph, &names, &options).ok().map(|written| written.content)
    };
    all.filter_map(one).collect()
}

/// Byte sequences by which a file names an operation.
fn marks(format: ModelFormat, name: &str) -> Vec<Vec<u8>> {
    match format {
        ModelFormat::Onnx => vec![[&[4 << 3 | 2, name.len() as u8], name.as_bytes()].concat()],
        ModelFormat::OpenVino => vec![format!("type=\"{name}\"").into_bytes()],
        ModelFormat::Hlo => vec![format!(" {name}(").into_bytes()],
        _ => [" ", "(", "<", "\""].map(|end| format!("{name}{end}").into_bytes()).to_vec(),
    }
}

/// The rows of the table: the operations of each format, and whether the writer supports them.
fn table() -> String {
    let mut table = "| format | operations |\n|---|---|\n".to_owned();
    for format in ModelFormat::ALL {
        let files = files(format);
        let is_in = |mark: &[u8]| {
            files.iter().any(|file| file.windows(mark.len()).any(|bytes| bytes == mark))
        };
        let is_written = |name: &String| marks(format, name).iter().any(|mark| is_in(mark));
        let mut names = operations(format);
        names.sort();
        let (written, read): (Vec<_>, Vec<_>) = names.into_iter().partition(is_written);
        for (names, how) in [(written, "read and written"), (read, "read only")] {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            table += &format!("| {format}, {how} | {} |\n", names.join(" "));
        }
    }
    table
}

#[test]
fn the_page_lists_the_operations_that_are_read_and_written() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats.md");
    let page = std::fs::read_to_string(path).expect("the page is there");
    let table = table();
    assert!(page.contains(&table), "docs/formats.md is to have this table:\n{table}");
}
