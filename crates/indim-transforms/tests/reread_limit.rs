//! A graph that transposes its values many times is not cut.

#![allow(clippy::unwrap_used)]

use indim_builder::GraphBuilder;
use indim_ops::DType;
use indim_transforms::chunks::{Cuts, stages};

#[test]
fn values_in_many_orders_are_refused() {
    let b = GraphBuilder::new();
    let mut sum = b.parameter("x", DType::F32, [8; 5]).unwrap();
    // A rotation and a swap generate all 120 orders of five axes.
    for step in 0..60 {
        let order = if step % 2 == 0 { [1, 2, 3, 4, 0] } else { [1, 0, 2, 3, 4] };
        let turned = b.transpose(&sum, &order).unwrap();
        sum = sum + turned;
    }
    let graph = b.finish(&[sum]).unwrap();
    let cuts = Cuts::of(&graph);
    let whole = vec![false; cuts.cuts().len()];
    assert!(stages(&graph, &cuts, &whole).is_ok());
    let error = stages(&graph, &cuts, &vec![true; whole.len()]).unwrap_err();
    assert_eq!(error.code(), "too-many-readings");
}
