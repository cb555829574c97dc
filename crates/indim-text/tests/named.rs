//! Expressions under rule `named`, compared with element-by-element arithmetic over named coordinates.

use indim_builder::GraphBuilder;
use indim_graph::{Array, evaluate};
use indim_ops::DType;
use indim_shape::RuleSet;
use indim_text::{Expression, ParseLimits};

const BY_NAME: RuleSet = RuleSet::Named { names: Vec::new() };

/// An array with named axes.
type Named<'a> = (&'a str, &'a [(&'a str, usize)], &'a [f64]);

/// The names of the axes, the sizes and the elements of a result; or the drawn error.
fn evaluated(text: &str, inputs: &[Named<'_>]) -> Result<(String, Vec<usize>, Vec<f64>), String> {
    let b = GraphBuilder::new();
    let values: Vec<_> = inputs
        .iter()
        .map(|(name, axes, _)| (*name, b.named_parameter(name, DType::F64, axes).unwrap()))
        .collect();
    let expression =
        Expression::parse(text, &ParseLimits::default()).map_err(|error| error.draw(text))?;
    let result = expression.build(&b, &values, Some(&BY_NAME)).map_err(|error| error.draw(text))?;
    let graph = b.finish(core::slice::from_ref(&result)).unwrap();
    let arrays: Vec<Array> = inputs
        .iter()
        .map(|(_, axes, elements)| {
            let shape: Vec<usize> = axes.iter().map(|(_, size)| *size).collect();
            Array::new(shape, elements.to_vec()).unwrap()
        })
        .collect();
    let results = evaluate(&graph, &arrays).unwrap();
    let elements = results[0].elements::<f64>().unwrap().to_vec();
    Ok((result.axis_names().to_string(), results[0].shape().to_vec(), elements))
}

const X: Named<'_> = ("x", &[("t", 2), ("y", 3)], &[1.0, 2.0, 3.0, 4.0, 5.0, 7.0]);
const Y: Named<'_> = ("m", &[("y", 3)], &[10.0, 20.0, 30.0]);
const T: Named<'_> = ("w", &[("z", 2), ("t", 2)], &[1.0, 2.0, 3.0, 4.0]);

#[test]
fn the_order_of_the_text_is_the_order_of_axes() {
    let (names, shape, elements) = evaluated("x - m", &[X, Y]).unwrap();
    assert_eq!((names.as_str(), &shape[..]), ("[t, y]", &[2, 3][..]));
    assert_eq!(elements, [-9.0, -18.0, -27.0, -6.0, -15.0, -23.0]);
    let (names, shape, elements) = evaluated("m - x", &[X, Y]).unwrap();
    assert_eq!((names.as_str(), &shape[..]), ("[y, t]", &[3, 2][..]));
    assert_eq!(elements, [9.0, 6.0, 18.0, 15.0, 27.0, 23.0]);
}

#[test]
fn a_whole_expression_over_three_names() {
    let (names, shape, elements) = evaluated("where(x > 3, x * w, m) + 0.5", &[X, Y, T]).unwrap();
    assert_eq!((names.as_str(), &shape[..]), ("[t, y, z]", &[2, 3, 2][..]));
    let mut expected = Vec::new();
    for t in 0..2 {
        for y in 0..3 {
            for z in 0..2 {
                let (x, w, m) = (X.2[t * 3 + y], T.2[z * 2 + t], Y.2[y]);
                expected.push(if x > 3.0 { x * w } else { m } + 0.5);
            }
        }
    }
    assert_eq!(elements, expected);
}

#[test]
fn axes_are_reduced_by_their_names() {
    let (names, _, elements) = evaluated("x - mean(x, axis=t)", &[X]).unwrap();
    assert_eq!(names, "[t, y]");
    assert_eq!(elements, [-1.5, -1.5, -2.0, 1.5, 1.5, 2.0]);
    let (names, _, elements) = evaluated("sum(x * w, axis=[t, y])", &[X, T]).unwrap();
    assert_eq!(
        (names.as_str(), &elements[..]),
        ("[z]", &[6.0 + 2.0 * 16.0, 18.0 + 4.0 * 16.0][..])
    );
    let (names, _, elements) = evaluated("sum(x, t)", &[X]).unwrap();
    assert_eq!((names.as_str(), &elements[..]), ("[y]", &[5.0, 7.0, 10.0][..]));
    let (names, _, elements) = evaluated("vecdot(x, m, axis=y)", &[X, Y]).unwrap();
    assert_eq!((names.as_str(), &elements[..]), ("[t]", &[140.0, 350.0][..]));
}

#[test]
fn what_selects_elements_meets_them_by_name() {
    let selected = ("m", Y.1, &[1.0, 0.0, 1.0][..]);
    let (_, _, elements) = evaluated("sum(x, axis=y, where=m > 0)", &[X, selected]).unwrap();
    assert_eq!(elements, [4.0, 11.0]);
    let turned: Named<'_> = ("s", &[("y", 3), ("t", 2)], &[1.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
    let (_, _, elements) = evaluated("sum(x, axis=y, where=s > 0)", &[X, turned]).unwrap();
    assert_eq!(elements, [4.0, 7.0]);
    let drawn = evaluated("sum(x, axis=y, where=w > 0)", &[X, T]).unwrap_err();
    assert!(drawn.starts_with("error[unknown-axis-name]"), "{drawn}");
    let drawn = evaluated("sum(x, axis=t, initial=m)", &[X, Y]).unwrap_err();
    assert!(drawn.starts_with("error[unknown-axis-name]"), "{drawn}");
}

#[test]
fn clip_has_the_axes_of_what_is_clipped_first() {
    let (names, shape, elements) = evaluated("clip(x, m, 25)", &[X, Y]).unwrap();
    assert_eq!((names.as_str(), &shape[..]), ("[t, y]", &[2, 3][..]));
    assert_eq!(elements, [10.0, 20.0, 25.0, 10.0, 20.0, 25.0]);
}

#[test]
fn elements_are_promoted_as_under_numpy() {
    let b = GraphBuilder::new();
    let x = b.named_parameter("x", DType::I32, &[("t", 2), ("y", 3)]).unwrap();
    let m = b.named_parameter("m", DType::F32, &[("y", 3)]).unwrap();
    let values = [("x", x), ("m", m)];
    let built = |text: &str| {
        let expression = Expression::parse(text, &ParseLimits::default()).unwrap();
        expression.build(&b, &values, Some(&BY_NAME)).unwrap().array_type().unwrap().to_string()
    };
    for (text, expected) in [
        ("x + m", "f64[2, 3]"),
        ("m / 2", "f32[3]"),
        ("x / 2", "f64[2, 3]"),
        ("sum(x, axis=t)", "i64[3]"),
        ("exp(x)", "f64[2, 3]"),
        ("concatenate([x, x * 0.5])", "f64[4, 3]"),
        ("hypot(x, m)", "f64[2, 3]"),
    ] {
        assert_eq!(built(text), expected, "{text}");
    }
}

#[test]
fn what_has_no_name_meets_nothing() {
    let drawn = evaluated("x[..., None] * m", &[X, Y]).unwrap_err();
    assert!(drawn.starts_with("error[axis-name-missing]"), "{drawn}");
    // An axis without a name is legal next to numbers, and passes through functions.
    let (names, ..) = evaluated("exp(x[..., None]) ** -1 * 2", &[X]).unwrap();
    assert_eq!(names, "[t, y, ?]");
    let drawn = evaluated("add(x, m, dims=[1])", &[X, Y]).unwrap_err();
    assert!(drawn.starts_with("error[foreign-attribute]"), "{drawn}");
}

/// Only sizes and positions of axes determine which axes a product sums; names follow the result's axes.
#[test]
fn operands_of_products_do_not_meet_by_name() {
    let (names, shape, elements) = evaluated("w @ x", &[T, X]).unwrap();
    assert_eq!((names.as_str(), &shape[..]), ("[z, y]", &[2, 3][..]));
    assert_eq!(elements, [9.0, 12.0, 17.0, 19.0, 26.0, 37.0]);
    let (names, _, elements) = evaluated("w @ w", &[T]).unwrap();
    assert_eq!((names.as_str(), &elements[..]), ("[z, t]", &[7.0, 10.0, 15.0, 22.0][..]));
    const TURNED: Named<'_> = ("u", &[("t", 2), ("z", 2)], &[1.0, 10.0, 100.0, 1000.0]);
    let (names, _, elements) = evaluated("einsum('ij,ij->ij', w, u)", &[T, TURNED]).unwrap();
    assert_eq!((names.as_str(), &elements[..]), ("[?, ?]", &[1.0, 20.0, 300.0, 4000.0][..]));
}

#[test]
fn lists_of_names_are_read_within_limits() {
    let refused = |text: &str| Expression::parse(text, &ParseLimits::default()).unwrap_err().code();
    assert_eq!(refused(&format!("sum(x, axis=[{}])", vec!["t"; 65].join(","))), "rank-limit");
    for text in ["sum(x, axis=[t, 0])", "sum(x, axis=[t)", "sum(x, axis=[t u])", "sum(x, axis=t.u)"]
    {
        refused(text);
    }
    let none = Expression::parse("sum(x, axis=None)", &ParseLimits::default()).unwrap();
    assert_eq!(none.names(), ["x"]);
    let by_name = Expression::parse("sum(x, axis=(t, y))", &ParseLimits::default()).unwrap();
    assert_eq!(by_name.names(), ["x"]);
}
