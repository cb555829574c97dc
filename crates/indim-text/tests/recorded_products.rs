//! Products among the recorded calls.

use indim_builder::GraphBuilder;
use indim_graph::{Array, Literal, evaluate};
use indim_ops::DType;
use indim_shape::RuleSet;
use indim_text::{Binding, CallAttribute, CallOperand, Expression, RecordedCall};

type Attributes = Vec<(Option<&'static str>, CallAttribute)>;

fn call(function: &str, operands: &[&str], attributes: Attributes) -> RecordedCall {
    let operands = operands.iter().map(|name| CallOperand::Name((*name).to_owned())).collect();
    let attributes = attributes.into_iter();
    let attributes =
        attributes.map(|(keyword, value)| (keyword.map(str::to_owned), value)).collect();
    RecordedCall { function: function.to_owned(), operands, attributes }
}

fn integers(keyword: &'static str, values: &[i64]) -> (Option<&'static str>, CallAttribute) {
    (Some(keyword), CallAttribute::Integers(values.to_vec()))
}

fn equation(text: &str) -> Attributes {
    vec![(Some("equation"), CallAttribute::Word(text.to_owned()))]
}

/// The type of the result for `x : f32[2, 3]`, `y : f64[3, 4]`, `b : bool[2, 3]`, `k = 2`; or the code of
/// the error.
fn result_of(call: &RecordedCall, rule: Option<&RuleSet>) -> Result<String, &'static str> {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2, 3]).unwrap();
    let y = b.parameter("y", DType::F64, [3, 4]).unwrap();
    let truth = b.parameter("b", DType::Bool, [2, 3]).unwrap();
    let bindings = [
        ("x", Binding::Array(x)),
        ("y", Binding::Array(y)),
        ("b", Binding::Array(truth)),
        ("k", Binding::Number(Literal::Int(2))),
    ];
    let expression = Expression::of_call(call).map_err(|error| error.code())?;
    let value = expression.build_bound(&b, &bindings, rule).map_err(|error| error.code())?;
    Ok(value.array_type().unwrap().to_string())
}

#[test]
fn products_print_as_python_writes_them() {
    let dtype = || vec![(Some("dtype"), CallAttribute::ElementType(DType::F32))];
    let cases = [
        (call("@", &["x", "y"], vec![]), "x @ y", "f64[2, 4]"),
        (call("matmul", &["x", "y"], dtype()), "matmul(x, y, dtype=f32)", "f32[2, 4]"),
        (call("numpy.dot", &["k", "y"], vec![]), "numpy.dot(k, y)", "f64[3, 4]"),
        (call("inner", &["x", "b"], vec![]), "inner(x, b)", "f32[2, 2]"),
        (call("outer", &["b", "b"], vec![]), "outer(b, b)", "bool[6, 6]"),
        (
            call("numpy.vecdot", &["x", "x"], vec![integers("axis", &[0])]),
            "numpy.vecdot(x, x, axis=[0])",
            "f32[3]",
        ),
        (
            call(
                "tensordot",
                &["x", "x"],
                vec![integers("x_axes", &[0]), integers("y_axes", &[0])],
            ),
            "tensordot(x, x, x_axes=[0], y_axes=[0])",
            "f32[3, 3]",
        ),
        (
            call("einsum", &["x", "y"], equation("ij,jk->ki")),
            "einsum(\"ij,jk->ki\", x, y)",
            "f64[4, 2]",
        ),
        (call("einsum", &["x"], equation("ij->")), "einsum(\"ij->\", x)", "f32[]"),
    ];
    for (call, text, array_type) in cases {
        assert_eq!(call.to_string(), text);
        assert_eq!(result_of(&call, None).as_deref(), Ok(array_type), "{text}");
        assert_eq!(result_of(&call, Some(&RuleSet::Numpy)).as_deref(), Ok(array_type), "{text}");
    }
}

#[test]
fn a_product_has_its_values() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I32, [2, 2]).unwrap();
    let expression = Expression::of_call(&call("@", &["x", "x"], vec![])).unwrap();
    let value = expression.build(&b, &[("x", x)], None).unwrap();
    let graph = b.finish(&[value]).unwrap();
    let x = Array::new([2, 2], vec![1, 2, 3, 4]).unwrap();
    assert_eq!(evaluate(&graph, &[x]).unwrap()[0].elements::<i32>(), Ok(&[7, 10, 15, 22][..]));
}

#[test]
fn errors_have_codes() {
    let cases = [
        (call("@", &["x", "x"], vec![]), "size-mismatch"),
        (call("@", &["x", "k"], vec![]), "too-few-axes"),
        (call("inner", &["x"], vec![]), "wrong-operand-count"),
        (call("inner", &["x", "x", "x"], vec![]), "wrong-operand-count"),
        (call("inner", &["x", "x"], vec![integers("axis", &[0])]), "unknown-keyword"),
        (call("tensordot", &["x", "x"], vec![integers("x_axes", &[0])]), "axis-count-mismatch"),
        (call("einsum", &["x", "y"], vec![]), "missing-argument"),
        (call("einsum", &["x", "y"], vec![integers("equation", &[0])]), "unexpected-token"),
        (call("einsum", &["x", "y"], equation("ij,jk->q")), "einsum-equation"),
        (call("einsum", &["x", "y"], equation("ij")), "wrong-operand-count"),
    ];
    for (call, code) in cases {
        assert_eq!(result_of(&call, None), Err(code), "{call}");
    }
    // Rules without promotion require equal types.
    let product = call("@", &["x", "y"], vec![]);
    assert_eq!(result_of(&product, Some(&RuleSet::None)), Err("element-type-mismatch"));
}
