//! Expressions over small arrays. The first byte chooses the rule and the use of the other bytes: below
//! 128 they are the text; from there on they are choices that generate a text that parses, of one
//! statement below 192 and of several from 192 on.

use indim::graph::{Literal, Op};
use indim::text::{Expression, ParseLimits};
use indim::{DType, GraphBuilder, RuleSet};

use crate::choices::choices;
use crate::engine;

/// Reads the bytes as an expression, builds it, and checks the graph.
pub fn run(bytes: &[u8]) {
    let Some((&choice, text)) = bytes.split_first() else { return };
    let text = match choice < 128 {
        true => String::from_utf8_lossy(text).into_owned(),
        false if choice < 192 => well_formed(&mut choices(text), 4),
        false => statements(&mut choices(text)),
    };
    // Low limits on depth and nodes, so that short inputs reach them too.
    let limits = ParseLimits::new().text_bytes(4096).depth(40).nodes(200);
    let b = GraphBuilder::new();
    let parameter = |name: &'static str, dtype, shape: &[usize]| {
        (name, indim::text::Binding::Array(b.parameter(name, dtype, shape).unwrap()))
    };
    let bindings = [
        parameter("x", DType::F32, &[2, 3]),
        parameter("v", DType::F32, &[3]),
        parameter("i", DType::I8, &[3]),
        parameter("k", DType::U64, &[2, 1]),
        parameter("c", DType::Bool, &[3]),
        parameter("z", DType::C64, &[]),
        parameter("h", DType::F16, &[2, 1, 3]),
        parameter("e", DType::F64, &[0, 3]),
        ("n", indim::text::Binding::Number(Literal::Float(0.5))),
    ];
    let built = Expression::parse(&text, &limits)
        .and_then(|expression| expression.build_results(&b, &bindings, rule(choice).as_ref()));
    match built {
        Ok(values) => engine::check(&b.finish(&values).unwrap()),
        Err(error) => {
            assert!(text.get(error.span.clone()).is_some(), "{error:?}");
            assert!(error.draw(&text).starts_with("error["), "{error:?}");
            assert!(!error.code().is_empty());
        }
    }
}

/// Two named values; the second depends on the first.
fn statements(next: &mut dyn FnMut(usize) -> usize) -> String {
    let (first, second) = (well_formed(next, 3), well_formed(next, 3));
    format!("first = {first}\nsecond = first + ({second}); second, first")
}

/// An expression that parses, nested at most `depth` deep.
fn well_formed(next: &mut dyn FnMut(usize) -> usize, depth: usize) -> String {
    const LEAVES: [&str; 16] =
        ["x", "v", "i", "k", "c", "z", "h", "e", "n", "0", "1", "-3", "300", "2.5", "True", "inf"];
    const OPERATORS: [&str; 19] = [
        "+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==",
        "!=", "+",
    ];
    let dtype = DType::ALL[next(DType::ALL.len())];
    if depth == 0 {
        return LEAVES[next(LEAVES.len())].to_owned();
    }
    match next(6) {
        0 => LEAVES[next(LEAVES.len())].to_owned(),
        1 => {
            let operator = OPERATORS[next(OPERATORS.len())];
            let (x, y) = (well_formed(next, depth - 1), well_formed(next, depth - 1));
            format!("({x}) {operator} ({y})")
        }
        2 => format!("{dtype}({})", well_formed(next, depth - 1)),
        3 => format!("({}).astype({dtype})", well_formed(next, depth - 1)),
        _ => {
            let op = Op::ALL[next(Op::ALL.len())];
            let operands: Vec<String> =
                (0..op.arity().count()).map(|_| well_formed(next, depth - 1)).collect();
            format!("{}({})", op.name(), operands.join(", "))
        }
    }
}

fn rule(choice: u8) -> Option<RuleSet> {
    match choice % 9 {
        0 => Some(RuleSet::None),
        1 => Some(RuleSet::Numpy),
        2 => Some(RuleSet::Xla { dims: Vec::new() }),
        3 => Some(RuleSet::StableHlo),
        4 => Some(RuleSet::Pdpd { axis: None }),
        5 => Some(RuleSet::Pdpd { axis: Some(0) }),
        6 => Some(RuleSet::OnnxLegacy { broadcast: true, axis: None }),
        7 => Some(RuleSet::Named { names: Vec::new() }),
        _ => None,
    }
}
