//! Precomputed axes of nests over dense arrays equal those computed from sizes and strides.

use std::sync::Arc;

use indim_builder::{GraphBuilder, Value};
use indim_graph::{AxisSlice, SymbolicGraph};
use indim_loops::dense_nest::DenseNest;
use indim_loops::loop_nest::{LoopNest, LoopNests};
use indim_loops::resize::{NestStrides, SizedNest, Sizes};
use indim_loops::{lower, lower_shaped};
use indim_ops::{DType, ReduceOp};

/// Sizes whose products all differ.
const SHAPE: [usize; 3] = [3, 5, 7];

/// All lists of different axes, in any order.
fn lists_of_axes() -> Vec<Vec<usize>> {
    let mut lists = vec![vec![]];
    let mut first = 0;
    while first < lists.len() {
        let longer = (0..3).filter(|axis| !lists[first].contains(axis));
        let longer: Vec<Vec<usize>> =
            longer.map(|axis| [&lists[first][..], &[axis]].concat()).collect();
        lists.extend(longer);
        first += 1;
    }
    lists
}

/// An input with these axes, broadcast to the whole shape.
fn over(b: &GraphBuilder, name: &str, dtype: DType, axes: &[usize]) -> Value {
    let sizes: Vec<usize> = axes.iter().map(|&axis| SHAPE[axis]).collect();
    let x = b.parameter(name, dtype, sizes).unwrap();
    let mut order: Vec<usize> = (0..axes.len()).collect();
    order.sort_by_key(|&place| axes[place]);
    let order: Vec<i64> = order.iter().map(|&place| place as i64).collect();
    let mut dims: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
    dims.sort_unstable();
    b.broadcast_in_dim(b.transpose(x, &order).unwrap(), &dims, SHAPE).unwrap()
}

/// Compares precomputed with computed axes; returns whether the nest has precomputed axes.
fn check(nest: &Arc<LoopNest>, sizes: Sizes<'_>) -> bool {
    let Some(known) = DenseNest::new(nest) else { return false };
    let known = SizedNest::new(nest, sizes).with_dense_nest(Some(&known));
    let found = SizedNest::new(nest, sizes);
    assert_eq!(known.bytes_moved(), found.bytes_moved(), "{nest}");
    match nest.reduced {
        None => {
            let [known, found] = [&known, &found].map(|nest| nest.coalesced(NestStrides::Dense));
            assert_eq!(known, found, "{nest}");
        }
        Some(reduced) => {
            let [known, found] = [&known, &found]
                .map(|nest| nest.reduced_axes(reduced, NestStrides::Dense).unwrap());
            assert_eq!(
                (known.kept, known.reduced_strides),
                (found.kept, found.reduced_strides),
                "{nest}"
            );
            assert_eq!((known.length, known.main), (found.length, found.main), "{nest}");
        }
    }
    true
}

/// The nests of a product, whose first factor may have smaller elements.
fn nests(x_type: DType, reduced: Option<i64>, x: &[usize], y: &[usize]) -> LoopNests {
    let b = GraphBuilder::new();
    let (x, y) = (over(&b, "x", x_type, x), over(&b, "y", DType::F64, y));
    let product = b.convert(x, DType::F64).unwrap() * y;
    let result = match reduced {
        None => product,
        Some(axis) => b.reduce(ReduceOp::Add, &product, axis).unwrap(),
    };
    lower(&b.finish(&[result]).unwrap())
}

#[test]
fn precomputed_axes_equal_those_from_strides() {
    let lists = lists_of_axes();
    let mut known = 0;
    for reduced in [None, Some(0), Some(1), Some(2)] {
        for (x, y) in lists.iter().flat_map(|x| lists.iter().map(move |y| (x, y))) {
            for x_type in [DType::F64, DType::U8] {
                let nests = nests(x_type, reduced, x, y);
                known += nests.nests.iter().filter(|nest| check(nest, Sizes::default())).count();
            }
        }
    }
    // 16 lists; reductions need an operand of all axes.
    assert!(known >= 2 * (256 + 3 * 100), "{known}");
}

#[test]
fn slices_have_no_precomputed_axes() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, SHAPE).unwrap();
    let part =
        b.slice(&x, &[AxisSlice::new(1, 2, 1), AxisSlice::whole(5), AxisSlice::whole(7)]).unwrap();
    let program = lower(&b.finish(&[-part]).unwrap());
    assert!(DenseNest::new(&program.nests[0]).is_none());
}

#[test]
fn precomputed_axes_are_valid_for_other_sizes() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [100, 200]).unwrap();
    let v = b.parameter("v", DType::F64, [200]).unwrap();
    let graph = b.finish(&[b.add(x, v, &[1]).unwrap()]).unwrap();
    let symbolic = SymbolicGraph::new(&graph, &b.size_facts());
    let program = lower_shaped(&symbolic.shaped());
    for concrete in [[11, 13], [13, 11], [2, 1 << 20]] {
        assert!(check(&program.nests[0], Sizes(&concrete)));
    }
}
