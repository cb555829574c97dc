//! The text form of graphs: printing, parsing, and errors with their place.

#![allow(clippy::unwrap_used)]

#[path = "../../indim-builder/tests/random/mod.rs"]
mod random;

use indim_builder::{GraphBuilder, Reduction};
use indim_graph::{Array, evaluate, verify};
use indim_text::{parse_graph, parse_graph_up_to_rank};
use random::random_graph;

const EXAMPLE: &str = r#"graph {
  %0 = parameter "x" : f32[4, 3]
  %1 = parameter "v" : f32[3]
  %2 = broadcast_in_dim %1 dims=[1] : f32[4, 3]
  %3 = add %0, %2 : f32[4, 3]
  %4 = constant : f32[4] { 1.5, nan, -inf, -0.0 }
  %5 = iota axis=1 : i32[2, 3]
  %6 = reshape %5 : i32[6]
  %7 = convert %6 : f64[6]
  return %3, %4, %7
}"#;

#[test]
fn the_example_reads_back_as_it_is_written() {
    assert_eq!(parse_graph(EXAMPLE).unwrap().to_string(), EXAMPLE);
}

#[test]
fn random_graphs_read_back_as_they_are_printed() {
    for seed in 0..1500 {
        let (graph, arguments) = random_graph(seed);
        verify(&graph).unwrap();
        let text = graph.to_string();
        let parsed = parse_graph(&text).unwrap_or_else(|error| panic!("{}", error.draw(&text)));
        assert_eq!(parsed, graph, "seed {seed}");
        assert_eq!(parsed.to_string(), text, "seed {seed}");
        let results = evaluate(&graph, &arguments).unwrap();
        assert_eq!(evaluate(&parsed, &arguments).unwrap(), results, "seed {seed}");
        let optimized = indim_graph::optimize(&graph);
        verify(&optimized).unwrap();
        assert_eq!(evaluate(&optimized, &arguments).unwrap(), results, "seed {seed}");
    }
}

#[test]
fn long_constants_take_several_lines_and_keep_their_bits() {
    let b = GraphBuilder::new();
    let bits = [0x7fc0_0001, 0xffc0_0000, 0x7fc0_0000, 1, 0x8000_0000, 0x7f7f_ffff];
    let elements: Vec<f32> =
        (0..100_000).map(|i| f32::from_bits(bits[i % 6] ^ (i as u32 / 6))).collect();
    let graph = b.finish(&[b.constant(Array::new([100_000], elements).unwrap())]).unwrap();
    let text = graph.to_string();
    assert_eq!(text.lines().count(), 3 + 2 + 100_000 / 16);
    assert_eq!(parse_graph(&text).unwrap(), graph);
}

/// The divisors of two means stay separate constants, because each depends on its own sizes.
#[test]
fn equal_constants_stay_apart() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", indim_ops::DType::F32, [2, 8]).unwrap();
    let mean = |x| b.along(Reduction::Mean, x, [1]).unwrap();
    let means = [mean(&x), mean(&b.neg(&x).unwrap())];
    let text = b.finish(&means).unwrap().to_string();
    assert_eq!(text.matches("constant : f64[] { 8.0 }").count(), 2, "{text}");
    assert_eq!(parse_graph(&text).unwrap().to_string(), text);
}

#[test]
fn names_may_be_free_and_equal_nodes_become_one() {
    let text = "graph { %x = parameter \"x\" : f32[] %a = neg %x : f32[] %b = negate %x : f32[] \
                return %a, %b }";
    let graph = parse_graph(text).unwrap();
    assert_eq!(graph.len(), 2);
    assert_eq!(graph.outputs()[0], graph.outputs()[1]);
    assert_eq!(parse_graph("graph{return}").unwrap().to_string(), "graph {\n  return\n}");
}

#[test]
fn the_rank_of_every_array_is_limited() {
    let text = |rank: usize| {
        let ones = vec!["1"; rank].join(", ");
        let dims: Vec<String> = (0..rank).map(|axis| axis.to_string()).collect();
        let dims = dims.join(", ");
        format!(
            "graph {{\n  %0 = parameter \"x\" : f32[{ones}]\n  %1 = broadcast_in_dim %0 dims=[{dims}] : \
             f32[{ones}]\n  return %1\n}}"
        )
    };
    assert_eq!(parse_graph(&text(64)).unwrap().to_string(), text(64));
    assert_eq!(mistake(&text(65)), ("rank-limit", 2, 27));
    let error = parse_graph(&text(65)).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("an array has at most 64 axes: merge axes, or remove axes of size 1"),
        "{error}"
    );
    let graph = parse_graph_up_to_rank(&text(1000), 1000).unwrap();
    assert_eq!(graph.to_string(), text(1000));
}

/// Code and place of the error in `text`.
fn mistake(text: &str) -> (&'static str, usize, usize) {
    let error = parse_graph(text).unwrap_err();
    (error.code(), error.line, error.column)
}

/// Code and place of an error in the line after a parameter `%0 : f32[2, 3]`.
fn mistake_in(line: &str) -> (&'static str, usize) {
    let text = format!("graph {{\n%0 = parameter \"x\" : f32[2, 3]\n{line}\nreturn %0\n}}");
    let (code, at, column) = mistake(&text);
    assert_eq!(at, 3, "{text}");
    (code, column)
}

#[test]
fn mistakes_have_a_code_and_a_place() {
    assert_eq!(mistake(""), ("unexpected", 1, 1));
    assert_eq!(mistake("graph {\n}"), ("unexpected", 2, 1));
    assert_eq!(mistake("graph { return } x"), ("unexpected", 1, 18));
    assert_eq!(mistake("graph { return %1 }"), ("undefined-value", 1, 16));
    // A space character of three bytes.
    assert_eq!(mistake("graph { return %\u{3000}1 }"), ("undefined-value", 1, 16));
    assert_eq!(mistake_in("%0 = neg %0 : f32[2, 3]"), ("duplicate-value", 1));
    assert_eq!(mistake_in("%1 = neg %1 : f32[2, 3]"), ("undefined-value", 10));
    assert_eq!(mistake_in("%1 = nix %0 : f32[2, 3]"), ("unknown-operation", 6));
    assert_eq!(mistake_in("%1 = neg %0 : f31[2, 3]"), ("unknown-element-type", 15));
    assert_eq!(mistake_in("%1 = parameter \"x\" : f32[]"), ("duplicate-parameter", 16));
    assert_eq!(mistake_in("%1 = parameter \"\\q\" : f32[]").0, "unexpected");
    assert_eq!(mistake_in("%1 = parameter \"\\u{d800}\" : f32[]").0, "unexpected");
    assert_eq!(
        mistake_in("%1 = parameter \"y\" : f32[99999999999999999999]"),
        ("number-too-large", 26)
    );
    assert_eq!(mistake_in("%1 = constant : f32[2] { 1.0, x }"), ("bad-element", 31));
    assert_eq!(mistake_in("%1 = constant : u8[1] { 256 }"), ("bad-element", 25));
    assert_eq!(mistake_in("%1 = constant : f32[1] { nan(0x1) }"), ("bad-element", 26));
    assert_eq!(mistake_in("%1 = constant : f32[2] { 1.0 }").0, "wrong-element-count");
    assert_eq!(mistake_in("%1 = constant : c64[1] { 1.0 }").0, "bad-element");
}

#[test]
fn nodes_that_break_an_invariant_are_refused_where_they_stand() {
    assert_eq!(mistake_in("%1 = neg %0 : f32[2]"), ("operand-shape", 6));
    assert_eq!(mistake_in("%1 = neg %0 : f64[2, 3]"), ("result-type", 6));
    assert_eq!(mistake_in("%1 = add %0 : f32[2, 3]"), ("wrong-operand-count", 6));
    assert_eq!(mistake_in("%1 = neg %0, %0, %0, %0 : f32[2, 3]"), ("wrong-operand-count", 6));
    assert_eq!(mistake_in("%1 = popcnt %0 : f32[2, 3]"), ("element-type-not-allowed", 6));
    assert_eq!(
        mistake_in("%1 = broadcast_in_dim %0 dims=[0] : f32[2, 3]"),
        ("dims-length-mismatch", 6)
    );
    assert_eq!(
        mistake_in("%1 = broadcast_in_dim %0 dims=[0, 0] : f32[2, 3]"),
        ("dims-not-unique", 6)
    );
    assert_eq!(
        mistake_in("%1 = broadcast_in_dim %0 dims=[0, 9] : f32[2, 3]"),
        ("dim-out-of-range", 6)
    );
    assert_eq!(
        mistake_in("%1 = broadcast_in_dim %0 dims=[1, 0] : f32[2, 3]"),
        ("size-mismatch", 6)
    );
    assert_eq!(mistake_in("%1 = reshape %0 : f32[7]"), ("reshape-element-count", 6));
    assert_eq!(mistake_in("%1 = iota axis=1 : f32[4]"), ("axis-out-of-range", 6));
}

#[test]
fn sizes_are_refused_before_anything_is_allocated() {
    let huge = "1152921504606846976, 1152921504606846976";
    assert_eq!(mistake_in(&format!("%1 = parameter \"y\" : f32[{huge}]")), ("too-large", 6));
    assert_eq!(
        mistake_in(&format!("%1 = constant : f32[{huge}] {{ 1.0 }}")).0,
        "wrong-element-count"
    );
    assert_eq!(
        mistake_in("%1 = constant : u8[1152921504606846976] { 1 }").0,
        "wrong-element-count"
    );
}

#[test]
fn a_mistake_is_drawn_under_its_line() {
    let text =
        "graph {\n  %0 = parameter \"x\" : f32[3]\n  %1 = add %0, %7 : f32[3]\n  return %1\n}";
    let drawing = parse_graph(text).unwrap_err().draw(text);
    assert_eq!(
        drawing,
        "error[undefined-value]: line 3, column 16: no earlier line defines `%7`\n \
         3 |   %1 = add %0, %7 : f32[3]\n   |                ^^\n"
    );
}

#[test]
fn no_cut_or_changed_text_panics() {
    for end in (0..EXAMPLE.len()).filter(|&end| EXAMPLE.is_char_boundary(end)) {
        parse_graph(&EXAMPLE[..end]).unwrap_err();
        for replacement in ["\"", "[", "%", "\u{1f}", "é", "9"] {
            let changed = format!("{}{replacement}{}", &EXAMPLE[..end], &EXAMPLE[end + 1..]);
            if let Err(error) = parse_graph(&changed) {
                error.draw(&changed);
            }
        }
    }
}
