//! The cells of the record: every operation and conversion at every element type, and the digest of its
//! results.
//!
//! The test here and `examples/self_check.rs` use this file.

use indim_builder::{GraphBuilder, Value};
use indim_cpu::{ArrayView, CompileOptions, compile};
use indim_graph::{Array, Graph, evaluate};
use indim_ops::{DType, Op};
use indim_shape::RuleSet;

use crate::values;

/// A graph of one node, and the arguments on which it runs.
pub(crate) struct Cell {
    pub(crate) name: String,
    graph: Graph,
    arguments: Vec<Array>,
}

impl Cell {
    fn new(
        name: String,
        arguments: Vec<Array>,
        node: impl Fn(&GraphBuilder, &[Value]) -> Value,
    ) -> Self {
        let b = GraphBuilder::new();
        let parameters: Vec<Value> = arguments
            .iter()
            .enumerate()
            .map(|(index, argument)| {
                b.parameter(&format!("x{index}"), argument.dtype(), argument.shape().clone())
                    .unwrap()
            })
            .collect();
        let graph = b.finish(&[node(&b, &parameters)]).unwrap();
        Cell { name, graph, arguments }
    }

    fn of_operation(op: Op, dtype: DType) -> Self {
        let dtypes: Vec<DType> =
            (0..op.arity().count()).map(|index| op.operand_dtype(index, dtype)).collect();
        Cell::new(format!("{op} {dtype}"), values::combined(&dtypes), |b, operands| {
            b.elementwise(op, operands, &RuleSet::None).unwrap()
        })
    }

    fn of_conversion(from: DType, to: DType) -> Self {
        Cell::new(format!("convert {from} {to}"), values::combined(&[from]), |b, operands| {
            b.convert(&operands[0], to).unwrap()
        })
    }

    /// The digest by the reference evaluator.
    pub(crate) fn reference(&self) -> u64 {
        digest(&evaluate(&self.graph, &self.arguments).unwrap()[0])
    }

    /// The digest by an executor.
    pub(crate) fn executed(&self, options: &CompileOptions) -> u64 {
        let inputs: Vec<ArrayView<'_>> = self.arguments.iter().map(ArrayView::from).collect();
        let results = compile(&self.graph, options).unwrap().run(&inputs).unwrap();
        digest(&results[0])
    }
}

/// The hash of the little-endian bytes (Fowler, Noll and Vo, FNV-1a).
fn digest(array: &Array) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    array.to_le_bytes().into_iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Every cell, in the order of the record.
pub(crate) fn cells() -> impl Iterator<Item = Cell> {
    let operations = Op::ALL.iter().flat_map(|&op| {
        let taken = DType::ALL.iter().filter(move |&&dtype| op.takes(dtype));
        taken.map(move |&dtype| Cell::of_operation(op, dtype))
    });
    let conversions = DType::ALL
        .iter()
        .flat_map(|&from| DType::ALL.iter().map(move |&to| Cell::of_conversion(from, to)));
    operations.chain(conversions)
}
