//! Products in expressions: `@`, its precedence, and the functions; recorded calls print and build the same.

use indim_builder::GraphBuilder;
use indim_graph::{Array, Graph, evaluate};
use indim_ops::DType;
use indim_shape::RuleSet;
use indim_text::catalogue::{EntryKind, entries};
use indim_text::{
    Binding, CallAttribute, CallOperand, ExprError, Expression, ParseLimits, RecordedCall,
};

fn built(expression: &Expression) -> Result<Graph, ExprError> {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I32, [2, 3]).unwrap();
    let y = b.parameter("y", DType::I32, [3, 2]).unwrap();
    let v = b.parameter("v", DType::I64, [3]).unwrap();
    let bindings = [("x", x), ("y", y), ("v", v)].map(|(name, of)| (name, Binding::Array(of)));
    let value = expression.build_bound(&b, &bindings, Some(&RuleSet::Numpy))?;
    Ok(b.finish(&[value]).unwrap())
}

/// The result for `x: i32[2, 3]`, `y: i32[3, 2]`, `v: i64[3]`.
fn result(text: &str) -> Array {
    let expression = Expression::parse(text, &ParseLimits::default());
    let graph = expression.and_then(|expression| built(&expression));
    let graph = graph.unwrap_or_else(|error| panic!("{}", error.draw(text)));
    let arguments = [
        Array::new([2, 3], vec![1, 2, 3, 4, 5, 6]).unwrap(),
        Array::new([3, 2], vec![1, 0, 0, 1, 10, 100]).unwrap(),
        Array::new([3], vec![1_i64, -1, 2]).unwrap(),
    ];
    evaluate(&graph, &arguments).unwrap().remove(0)
}

fn integers(text: &str) -> (Vec<usize>, Vec<i64>) {
    let result = result(text);
    let elements = match result.dtype() {
        DType::I64 => result.elements::<i64>().unwrap().to_vec(),
        _ => result.elements::<i32>().unwrap().iter().map(|&element| element.into()).collect(),
    };
    (result.shape().to_vec(), elements)
}

#[test]
fn products_are_numpys() {
    for (text, shape, elements) in [
        ("x @ y", &[2, 2][..], &[31, 302, 64, 605][..]),
        ("matmul(x, y)", &[2, 2], &[31, 302, 64, 605]),
        ("x @ v", &[2], &[5, 11]),
        ("v @ y", &[2], &[21, 199]),
        ("v @ v", &[], &[6]),
        ("matvec(x, v)", &[2], &[5, 11]),
        ("vecmat(v, y)", &[2], &[21, 199]),
        ("inner(x, x)", &[2, 2], &[14, 32, 32, 77]),
        ("outer(v, v)", &[3, 3], &[1, -1, 2, -1, 1, -2, 2, -2, 4]),
        ("tensordot(x, y, axes=1)", &[2, 2], &[31, 302, 64, 605]),
        ("tensordot(x, y, 1)", &[2, 2], &[31, 302, 64, 605]),
        ("tensordot(x, y, axes=[[1, 0], [0, 1]])", &[], &[636]),
        ("tensordot(x, y, axes=(0, 1))", &[3, 3], &[1, 4, 410, 2, 5, 520, 3, 6, 630]),
        ("tensordot(x, x)", &[], &[91]),
        ("einsum(\"ij,jk->ik\", x, y)", &[2, 2], &[31, 302, 64, 605]),
        ("einsum('ij,jk->ki', x, y)", &[2, 2], &[31, 64, 302, 605]),
        ("einsum(\"ij,jk,j->\", x, y, v)", &[], &[5 - 7 + 2 * 990]),
        ("einsum(\"ij->j\", x)", &[3], &[5, 7, 9]),
    ] {
        assert_eq!(integers(text), (shape.to_vec(), elements.to_vec()), "{text}");
    }
}

#[test]
fn the_operator_has_the_precedence_of_a_product_and_groups_to_the_left() {
    for (text, same) in [
        ("2 * x @ y", "(2 * x) @ y"),
        ("x @ y * 2", "(x @ y) * 2"),
        ("1 + x @ y", "1 + (x @ y)"),
        ("-x @ y", "(-x) @ y"),
        ("x @ y @ x", "(x @ y) @ x"),
        ("x @ y ** 2", "x @ (y ** 2)"),
        ("x @ y == x", "(x @ y) == x"),
    ] {
        let parse = |text| Expression::parse(text, &ParseLimits::default()).unwrap();
        let graphs = [text, same].map(|text| built(&parse(text)).map_err(|error| error.code()));
        assert_eq!(graphs[0], graphs[1], "{text}");
    }
}

#[test]
fn element_types_are_promoted_or_asked_for() {
    assert_eq!(result("x @ v").dtype(), DType::I64);
    assert_eq!(result("matmul(x, y, dtype=f64)").dtype(), DType::F64);
    assert_eq!(result("einsum(\"ij,jk\", x, y, dtype=i64)").dtype(), DType::I64);
}

#[test]
fn every_call_of_the_catalogue_can_be_written() {
    let calls: Vec<String> = entries()
        .filter(|entry| entry.kind == EntryKind::Product)
        .map(|entry| entry.call)
        .collect();
    assert_eq!(calls.len(), 7, "{calls:?}");
    for call in calls {
        let call = match &call[..6] {
            "matvec" => call.replace(", y", ", v"),
            "vecmat" => call.replace("(x,", "(v,"),
            "inner(" | "tensor" => call.replace(", y,", ", x,"),
            _ => call,
        };
        result(&call.replace(", dtype", ", dtype=i64"));
    }
}

#[test]
fn recorded_calls_print_and_build_as_texts() {
    let name = |name: &str| CallOperand::Name(name.to_owned());
    let equation = CallAttribute::Word("ij,jk->ik".to_owned());
    let axes = |axis| CallAttribute::Integers(vec![axis]);
    let f64 = CallAttribute::ElementType(DType::F64);
    let keyword = |keyword: &str, value| (Some(keyword.to_owned()), value);
    for (function, attributes, text) in [
        ("@", vec![], "x @ y"),
        ("matmul", vec![keyword("dtype", f64.clone())], "matmul(x, y, dtype=f64)"),
        (
            "einsum",
            vec![keyword("equation", equation), keyword("dtype", f64)],
            "einsum(\"ij,jk->ik\", x, y, dtype=f64)",
        ),
        (
            "tensordot",
            vec![keyword("x_axes", axes(1)), keyword("y_axes", axes(0))],
            "tensordot(x, y, x_axes=[1], y_axes=[0])",
        ),
    ] {
        let operands = vec![name("x"), name("y")];
        let call = RecordedCall { function: function.to_owned(), operands, attributes };
        assert_eq!(call.to_string(), text);
        let recorded = built(&Expression::of_call(&call).unwrap()).unwrap();
        let parsed = Expression::parse(text, &ParseLimits::default()).unwrap();
        assert_eq!(recorded, built(&parsed).unwrap());
    }
}
