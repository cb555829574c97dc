//! Which instructions become chains, and with which links.

use indim_builder::GraphBuilder;
use indim_loops::lower;
use indim_ops::{Fact, Op};
use indim_shape::RuleSet;
use indim_text::{Expression, Limits};

use super::*;
use indim_kernels::chain::{chain_operations, mask_operations};

/// The tasks of an expression over f32 vectors: `k2` is a kernel, `[...]` a chain.
fn tasks(text: &str) -> String {
    let expression = Expression::parse(text, &Limits::default()).unwrap();
    let b = GraphBuilder::new();
    let parameter = |name: &String| (name.clone(), b.parameter(name, DType::F32, [8]).unwrap());
    let names: Vec<_> = expression.names().iter().map(|n| parameter(&n.to_string())).collect();
    let arguments: Vec<_> =
        names.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    let value = expression.build(&b, &arguments, Some(&RuleSet::Numpy)).unwrap();
    let loops = lower(&b.finish(&[value]).unwrap());
    let nest = loops.nests.last().unwrap();
    let describe = |task: &Task| match task {
        Task::Kernel(index) => format!("k{index}"),
        Task::Chain(chain) => {
            let links: Vec<String> = chain.links.iter().map(describe_link).collect();
            format!("[{}]", links.join(" "))
        }
    };
    find_tasks(nest).iter().map(describe).collect::<Vec<_>>().join(" ")
}

fn describe_link(link: &Link) -> String {
    match *link {
        Link::Load(Accumulator::Values, operand) => operand.to_string(),
        Link::Load(_, operand) => format!("?{operand}"),
        Link::Save(_, place) => format!(">s{place}"),
        Link::Unary(_, op) => op.to_string(),
        Link::Test(_) => "bool".to_owned(),
        Link::Spread => "spread".to_owned(),
        Link::Binary { op, operand, accumulator_is_second: true, .. } => {
            format!("{operand}{op}")
        }
        Link::Binary { op, operand, .. } => format!("{op}{operand}"),
        Link::WriteMask => "!".to_owned(),
    }
}

#[test]
fn a_sequence_of_operations_is_one_chain() {
    assert_eq!(tasks("(x - m) * s + b"), "[a0 suba1 mula2 adda3]");
    assert_eq!(tasks("m - sqrt(x)"), "[a0 sqrt a1sub]");
}

#[test]
fn where_both_operands_are_trees_one_is_saved() {
    assert_eq!(tasks("(x + y) / (x - y)"), "[a0 adda1 >s0 a0 suba1 s0div]");
    // The tree that saves more comes first, so that fewer are saved at a time.
    assert_eq!(
        tasks("(x + y) / ((x - y) * (x / y))"),
        "[a0 suba1 >s0 a0 diva1 s0mul >s0 a0 adda1 divs0]"
    );
}

#[test]
fn costly_operations_stand_alone() {
    assert_eq!(tasks("exp(x + y) * y"), "[a0 adda1] k1 [t1 mula1]");
    // The sum is needed by the kernel too.
    assert_eq!(tasks("exp(x + y) * (x + y)"), "[a0 adda1] k1 [t1 mult0]");
}

#[test]
fn results_used_twice_are_saved() {
    assert_eq!(tasks("(x + y) * (x + y)"), "[a0 adda1 >s0 muls0]");
    assert_eq!(tasks("(x + y) * ((x + y) - x)"), "[a0 adda1 >s0 suba0 s0mul]");
    assert_eq!(
        tasks("(x * x - y * y) / (x * x + y * y)"),
        "[a0 mula0 >s0 a1 mula1 >s1 s0sub >s2 s0 adds1 s2div]"
    );
    // A saved accumulator's place is used again after its last use.
    assert_eq!(
        tasks("sqrt((x + y) * (x + y)) * sqrt((x - y) * (x - y))"),
        "[a0 adda1 >s0 muls0 sqrt >s0 a0 suba1 >s1 muls1 sqrt s0mul]"
    );
}

#[test]
fn a_comparison_sets_the_mask_and_a_selection_goes_by_it() {
    assert_eq!(tasks("x * y > 2.5 * y"), "[a0 mula1 >s0 a2 mula1 s0gt !]");
    assert_eq!(tasks("where(x < y, x + y, x)"), "[a0 lta1 a0 adda1 selecta0]");
    assert_eq!(
        tasks("where(x < y, x * y, x) + where(x < y, y, x)"),
        "[a0 lta1 >s0 a0 mula1 selecta0 >s1 ?s0 a1 selecta0 s1add]"
    );
    // The chosen operand needs the mask for itself, so it comes first.
    assert_eq!(
        tasks("where(x < y, where(x < 1, x, 1), y)"),
        "[a0 lta2 a0 selecta2 >s0 a0 lta1 s0 selecta1]"
    );
}

#[test]
fn conditions_are_composed_in_the_mask() {
    assert_eq!(tasks("where((x > 0) & (y < 1), x, y)"), "[a0 gta1 >s0 a2 lta3 s0and a0 selecta2]");
    assert_eq!(tasks("(x > 0) & ~(y < 1)"), "[a0 gta1 >s0 a2 lta3 not s0and !]");
    assert_eq!(tasks("where(u8(x) & 4 != 0, x, y)"), "k0 [?t0 anda1 nea2 a0 selecta3]");
    assert_eq!(tasks("f32(x > y) * x"), "[a0 gta1 spread mula0]");
    // Conditions on different types meet in the widest.
    assert_eq!(tasks("(x > 0) & (f64(y) < 1)"), "[a0 gta1 !] [a2 lta3 t0and !]");
    assert_eq!(tasks("bool(u8(x)) & (u8(y) != 0)"), "k0 k2 [t0 bool >s0 t2 nea2 s0and !]");
}

#[test]
fn a_conversion_to_bool_sets_the_mask() {
    assert_eq!(tasks("where(x - y, x, y)"), "[a0 suba1 bool a0 selecta1]");
    assert_eq!(tasks("bool(x)"), "[a0 bool !]");
}

#[test]
fn a_value_of_another_type_is_converted_as_it_is_loaded() {
    assert_eq!(tasks("f32(f64(x) * 2)"), "[a0 mula1] k2");
    // As often as it is wanted in the accumulator.
    assert_eq!(
        tasks("(f64(x) - f64(y)) / (f64(x) + f64(y))"),
        "[a0 >s0 a1 s0sub >s1 a1 s0add s1div]"
    );
}

#[test]
fn long_trees_are_cut() {
    let text = (0..80).fold("x".to_owned(), |text, _| format!("({text} + y)"));
    let tasks = tasks(&text);
    assert_eq!(tasks.matches('[').count(), 2, "{tasks}");
    assert_eq!(tasks.matches("adda1").count(), 80);
}

#[test]
fn chains_are_made_of_the_cheap_operations() {
    let is_in_a_chain = |op: Op| {
        DType::ALL.iter().any(|&dtype| {
            chain_operations(dtype).contains(&op) || mask_operations(dtype).contains(&op)
        })
    };
    for &op in Op::ALL {
        assert_eq!(op.is(Fact::Cheap), is_in_a_chain(op), "{op}");
    }
}
