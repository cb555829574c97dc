//! A column that meets a vector, in formats that write the broadcast in several nodes or leave sizes open.

use crate::lint::{found, lint};
use crate::support::ir::Network;

/// The modules that `jax.jit(f).lower(...).as_text("hlo")` writes for `column - row`.
fn module(column: &str, row: &str, body: &str) -> String {
    format!(
        "HloModule m\n\nENTRY main {{\n  x = {column} parameter(0)\n  t = {row} parameter(1)\n{body}}}\n"
    )
}

#[test]
fn hlo_reshapes_between_its_broadcasts() {
    let body = "\
  sub.7 = f32[8,1] broadcast(x), dimensions={0,1}
  sub.8 = f32[8] reshape(sub.7)
  sub.9 = f32[8,8] broadcast(sub.8), dimensions={0}
  row = f32[1,8] reshape(t)
  sub.10 = f32[1,8] broadcast(row), dimensions={0,1}
  sub.11 = f32[8] reshape(sub.10)
  sub.12 = f32[8,8] broadcast(sub.11), dimensions={1}
  ROOT y = f32[8,8] subtract(sub.9, sub.12)
";
    let report = lint("column.hlo", module("f32[8,1]", "f32[8]", body));
    assert_eq!(found(&report), [("rank-promoted", "suspicious", "y".to_owned())], "{report}");
    let repair = report.findings()[0].repair.as_deref();
    assert_eq!(repair, Some("reshape t to f32[8, 1]: the result is then [8, 1]"));
}

/// `x[:, None] - t` inserts the axis itself, and a reshape to other sizes is no broadcast.
#[test]
fn an_outer_product_on_purpose_is_a_note() {
    let inserted = "\
  column = f32[8,1] reshape(x)
  sub.7 = f32[8,1] broadcast(column), dimensions={0,1}
  sub.8 = f32[8] reshape(sub.7)
  sub.9 = f32[8,8] broadcast(sub.8), dimensions={0}
  sub.12 = f32[8,8] broadcast(t), dimensions={1}
  ROOT y = f32[8,8] subtract(sub.9, sub.12)
";
    let report = lint("inserted.hlo", module("f32[8]", "f32[8]", inserted));
    let notes = found(&report).into_iter().filter(|(code, ..)| *code != "cancelling-reshapes");
    assert_eq!(notes.collect::<Vec<_>>(), [("outer-product", "advice", "y".to_owned())]);
    let reshaped = "\
  flat = f32[8] reshape(x)
  sub.9 = f32[8,8] broadcast(flat), dimensions={0}
  sub.12 = f32[8,8] broadcast(t), dimensions={1}
  ROOT y = f32[8,8] subtract(sub.9, sub.12)
";
    let report = lint("reshaped.hlo", module("f32[4,2]", "f32[8]", reshaped));
    assert_eq!(found(&report), [("outer-product", "advice", "y".to_owned())], "{report}");
}

/// Sizes without names may be the same.
#[test]
fn openvino_leaves_the_sizes_open() {
    let sum = |column: (&str, &str), row: (&str, &str), result: &str| {
        let mut network = Network::default();
        let x = network.parameter("f32", column.0, column.1).to_string();
        let t = network.parameter("f32", row.0, row.1).to_string();
        let y = network.add("Subtract-1", "auto_broadcast=\"numpy\"", &[&x, &t], &[result]);
        network.result(&y.to_string());
        lint("column.xml", network.distinct_text())
    };
    let open = sum(("?,1", "FP32 -1 1"), ("?", "FP32 -1"), "FP32 -1 -1");
    assert_eq!(found(&open)[0].0, "rank-promoted", "{open}");
    assert!(open.findings()[0].repair.as_deref().is_some_and(|it| it.starts_with("reshape ")));
    // A known size and an open one are another fact.
    let other = sum(("?,1", "FP32 -1 1"), ("5", "FP32 5"), "FP32 -1 5");
    assert_eq!(found(&other)[0].0, "outer-product", "{other}");
}
