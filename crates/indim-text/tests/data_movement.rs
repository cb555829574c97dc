//! Python's index syntax and the data movement functions: results and errors.

use indim_builder::GraphBuilder;
use indim_graph::{Array, Literal, evaluate};
use indim_ops::DType;
use indim_shape::RuleSet;
use indim_text::catalogue::{EntryKind, entries};
use indim_text::{Binding, ExprError, Expression, ParseLimits};

const X: [i32; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

/// The result for `x: i32[3, 4]`, `v: i32[3]`, `lut: f32[4]`, `c: bool[3, 4]`, `k = 2`.
fn result(text: &str) -> Result<Array, ExprError> {
    let b = GraphBuilder::new();
    let parameter = |name: &str, dtype, shape: &[usize]| {
        (name.to_owned(), Binding::Array(b.parameter(name, dtype, shape).unwrap()))
    };
    let mut bindings = vec![
        parameter("x", DType::I32, &[3, 4]),
        parameter("v", DType::I32, &[3]),
        parameter("lut", DType::F32, &[4]),
        parameter("c", DType::Bool, &[3, 4]),
    ];
    bindings.push(("k".to_owned(), Binding::Number(Literal::Int(2))));
    let bindings: Vec<(&str, Binding)> =
        bindings.iter().map(|(name, binding)| (name.as_str(), binding.clone())).collect();
    let expression = Expression::parse(text, &ParseLimits::default())?;
    let value = expression.build_bound(&b, &bindings, Some(&RuleSet::Numpy))?;
    let arguments = [
        Array::new([3, 4], X.to_vec()).unwrap(),
        Array::new([3], vec![2, 0, -1]).unwrap(),
        Array::new([4], vec![0.5f32, 1.5, 2.5, 3.5]).unwrap(),
        Array::new([3, 4], vec![true; 12]).unwrap(),
    ];
    Ok(evaluate(&b.finish(&[value]).unwrap(), &arguments).unwrap().remove(0))
}

fn of(text: &str) -> (Vec<usize>, Vec<i32>) {
    let result = result(text).unwrap_or_else(|error| panic!("{}", error.draw(text)));
    let elements =
        result.elements::<i32>().unwrap_or_else(|_| panic!("{text} is {}", result.array_type()));
    (result.shape().to_vec(), elements.to_vec())
}

#[test]
fn starts_of_a_dynamic_slice_are_counted() {
    for (text, expected) in [
        ("dynamic_slice(x, v, sizes=[1, 1])", "takes one entry for each of 2 axes, not 3"),
        (
            "dynamic_slice(x, v[:2][:, newaxis], sizes=[1, 1])",
            "must be a vector with a start for each axis",
        ),
    ] {
        let message = result(text).expect_err(text).to_string();
        assert!(message.contains(expected), "{message}");
    }
    assert_eq!(of("dynamic_slice(x, v[:2], sizes=[1, 1])"), (vec![1, 1], vec![8]));
}

#[test]
fn indices_are_pythons() {
    for (text, shape, elements) in [
        ("x[0]", &[4][..], &[0, 1, 2, 3][..]),
        ("x[-1, 2]", &[], &[10]),
        ("x[1:]", &[2, 4], &[4, 5, 6, 7, 8, 9, 10, 11]),
        ("x[:, 1:3]", &[3, 2], &[1, 2, 5, 6, 9, 10]),
        ("x[::-2, ::3]", &[2, 2], &[8, 11, 0, 3]),
        ("x[..., -1]", &[3], &[3, 7, 11]),
        ("x[5:, 0]", &[0], &[]),
        ("v[:, None]", &[3, 1], &[2, 0, -1]),
        ("v[None, ::-1, newaxis]", &[1, 3, 1], &[-1, 0, 2]),
        ("x[k]", &[4], &[8, 9, 10, 11]),
        ("x[v]", &[3, 4], &[8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11]),
        ("x[:, v]", &[3, 3], &[2, 0, 3, 6, 4, 7, 10, 8, 11]),
        ("x[v, 0]", &[3], &[8, 0, 8]),
        ("x[v, v]", &[3], &[10, 0, 11]),
        ("x[v[:, None], v]", &[3, 3], &[10, 8, 11, 2, 0, 3, 10, 8, 11]),
        ("x[None, v, v + 1]", &[1, 3], &[11, 1, 8]),
        ("x[v, None, v]", &[3, 1], &[10, 0, 11]),
        ("x[:, None, 0, None][v, 0, 0]", &[3], &[8, 0, 8]),
        ("x[:, :, None][v, :, v * 0]", &[3, 4], &[8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11]),
        ("x[None][v * 0, :, v]", &[3, 3], &[2, 6, 10, 0, 4, 8, 3, 7, 11]),
        ("x[v + 0 * v, 1:][0]", &[3], &[9, 10, 11]),
        ("x[1:] - x[:-1]", &[2, 4], &[4; 8]),
        ("-x[0, 1] ** 2", &[], &[-1]),
        ("(x + 1)[0][0]", &[], &[1]),
        ("x[0,]", &[4], &[0, 1, 2, 3]),
        ("x[ 1 : 2 , ... ]", &[1, 4], &[4, 5, 6, 7]),
    ] {
        if text == "x[v, 0]" {
            // NumPy broadcasts an integer index with an array index. Indexing one axis after the other gives
            // the same.
            assert_eq!(of("x[v][:, 0]"), (shape.to_vec(), elements.to_vec()));
        }
        assert_eq!(of(text), (shape.to_vec(), elements.to_vec()), "{text}");
    }
}

#[test]
fn functions_are_numpys() {
    for (text, shape, elements) in [
        ("flip(v)", &[3][..], &[-1, 0, 2][..]),
        ("flip(x, axis=1)[0]", &[4], &[3, 2, 1, 0]),
        ("flip(x)[0]", &[4], &[11, 10, 9, 8]),
        ("concatenate([v, v + 1])", &[6], &[2, 0, -1, 3, 1, 0]),
        ("concat([x, v[:, None], x[:, :1]], axis=-1)[2]", &[6], &[8, 9, 10, 11, -1, 8]),
        ("concatenate([x[0], x[1]], 0)", &[8], &[0, 1, 2, 3, 4, 5, 6, 7]),
        ("concatenate([x[:2, :1], v], axis=None)", &[5], &[0, 4, 2, 0, -1]),
        ("stack([v, -v], axis=1)", &[3, 2], &[2, -2, 0, 0, -1, 1]),
        ("stack([v, v,])", &[2, 3], &[2, 0, -1, 2, 0, -1]),
        ("roll(v, 1)", &[3], &[-1, 2, 0]),
        ("roll(x, [1, -1], axis=[0, 1])[0]", &[4], &[9, 10, 11, 8]),
        ("roll(x, 5)[0]", &[4], &[7, 8, 9, 10]),
        ("pad(v, 1)", &[5], &[0, 2, 0, -1, 0]),
        ("pad(v, [2, 0], mode=edge)", &[5], &[2, 2, 2, 0, -1]),
        ("pad(v, (1, 4), wrap)", &[8], &[-1, 2, 0, -1, 2, 0, -1, 2]),
        ("pad(v, [0, 2], mode=constant, constant_values=7)", &[5], &[2, 0, -1, 7, 7]),
        ("pad(x[:1, :2], [[1, 0], [0, 1]])", &[2, 3], &[0, 0, 0, 0, 1, 0]),
        ("sliding_window_view(v, 2)", &[2, 2], &[2, 0, 0, -1]),
        ("sliding_window_view(x, 2, axis=-1, stride=2)[0]", &[2, 2], &[0, 1, 2, 3]),
        ("sliding_window_view(x, window_shape=2, axis=0, dilation=2)[0, 1]", &[2], &[1, 9]),
        ("sliding_window_view(x, [3, 3])[0, 1, 2]", &[3], &[9, 10, 11]),
        ("max(sliding_window_view(x[0], 3), axis=1)", &[2], &[2, 3]),
        ("take(x, v)", &[3], &[2, 0, 11]),
        ("take(x, v, axis=None)", &[3], &[2, 0, 11]),
        ("take(x, v, axis=1)[0]", &[3], &[2, 0, 3]),
        ("take(x, v * 5, axis=1, mode=clip)[0]", &[3], &[3, 0, 0]),
        ("take(x, v * 5, axis=1, mode=wrap)[0]", &[3], &[2, 0, 3]),
        ("take_along_axis(x, v[:, None])", &[3, 1], &[2, 4, 11]),
        ("take_along_axis(x, v[:, None], axis=0)[1]", &[4], &[0, 1, 2, 3]),
        ("take_along_axis(x, v * 9, None, clip)", &[3], &[11, 0, 0]),
        ("take_along_axis(x, v[:, None] * 5, mode=wrap)", &[3, 1], &[2, 4, 11]),
        ("scatter_set(v * 0, v, v + 5)", &[3], &[5, 0, 4]),
        ("scatter_add(v, v * 0, 5)", &[3], &[17, 0, -1]),
        ("scatter_mul(v, v * 0, v + 3)", &[3], &[60, 0, -1]),
        ("scatter_max(x, v[1:2], 9 * v[:, None], axis=1)[:, 0]", &[3], &[18, 4, 8]),
        ("scatter_min(v, v + 1, -3, mode=drop)", &[3], &[-3, -3, -1]),
        ("scatter_add(v, v * 9, 1, mode=clip)", &[3], &[4, 0, 0]),
        ("dynamic_slice(x, v[:2], sizes=[2, 3])", &[2, 3], &[4, 5, 6, 8, 9, 10]),
        ("dynamic_slice(v, v[2:], [2])", &[2], &[0, -1]),
        ("dynamic_update_slice(v, v[:2] + 5, v[2:])", &[3], &[2, 7, 5]),
        ("diff(v)", &[2], &[-2, -1]),
        ("diff(x, n=2, axis=0)", &[1, 4], &[0; 4]),
        ("diff(v, 5)", &[0], &[]),
        ("expand_dims(v, [0, -1])", &[1, 3, 1], &[2, 0, -1]),
        ("squeeze(x[:1])", &[4], &[0, 1, 2, 3]),
        ("squeeze(x[:1, :, None], axis=-1)", &[1, 4], &[0, 1, 2, 3]),
        ("sort(v)", &[3], &[-1, 0, 2]),
        ("sort(x, axis=0, descending=True)[0]", &[4], &[8, 9, 10, 11]),
        ("sort(-x, axis=None)[:3]", &[3], &[-11, -10, -9]),
    ] {
        assert_eq!(of(text), (shape.to_vec(), elements.to_vec()), "{text}");
    }
    for (text, positions) in [
        ("argsort(v)", &[2i64, 1, 0][..]),
        ("argsort(v * 0, descending=True)", &[0, 1, 2]),
        ("lexsort([v, v * v - v])", &[1, 2, 0]),
        ("searchsorted(x[0], v + 0.5)", &[3, 1, 0]),
        ("searchsorted(x[0], v, side=right)", &[3, 1, 0]),
        ("search_sorted(x[0], v, left)", &[2, 0, 0]),
    ] {
        assert_eq!(result(text).unwrap().elements::<i64>(), Ok(positions), "{text}");
    }
    let looked_up = result("lut[x[:1]]").unwrap();
    assert_eq!(looked_up.elements::<f32>(), Ok(&[0.5f32, 1.5, 2.5, 3.5][..]));
    let promoted = result("concatenate([v, lut])").unwrap();
    assert_eq!(promoted.array_type().to_string(), "f64[7]");
    // The type is promoted over all operands at once: pairwise, i8 and u16 give i32, and i32 with f16 gives
    // f64.
    let many = result("stack([i8(v), u16(v), f16(v)])").unwrap();
    assert_eq!(many.array_type().to_string(), "f32[3, 3]");
}

#[test]
fn every_call_of_the_catalogue_can_be_written() {
    let functions = entries().filter(|entry| entry.kind == EntryKind::DataMovement);
    let calls: Vec<String> = functions.map(|entry| entry.call).collect();
    assert!(calls.len() > 8, "{calls:?}");
    for call in calls {
        // Placeholder names in the documented calls stand for these values.
        let values = [
            ("indices, updates", "v, 1"),
            ("update, starts", "x, v[:2]"),
            ("starts, sizes", "v[:2], [1, 2]"),
            ("take_along_axis(x, indices", "take_along_axis(x, v[:, None]"),
            ("start:stop:step", "2:0:-1"),
            ("[x, y]", "[x, x]"),
            ("x, axis)", "x, axis=0)"),
            ("shift", "1"),
            ("pad_width", "2"),
            ("window_shape", "[2, 2]"),
            ("indices", "v"),
            ("table", "v"),
        ];
        let text = values.iter().fold(call, |text, (name, value)| text.replace(name, value));
        assert!(result(&text).is_ok(), "{text}");
    }
}

#[test]
fn mistakes_are_drawn_at_their_place() {
    for (text, code, place) in [
        ("x + v[3]", "index-out-of-range", "[3]"),
        ("x[0, 0, 0]", "too-many-indices", "[0, 0, 0]"),
        ("x[..., ...]", "several-ellipses", "[..., ...]"),
        ("x[::0]", "zero-step", "[::0]"),
        ("x[1.5]", "bad-index", "1.5"),
        ("x[lut]", "element-type-not-allowed", "[lut]"),
        ("x[c]", "element-type-not-allowed", "[c]"),
        ("x[v, x]", "size-mismatch", "[v, x]"),
        ("x[v, c]", "element-type-not-allowed", "[v, c]"),
        ("take_along_axis(x, v)", "index-rank", "take_along_axis"),
        ("take_along_axis(x, x[:2])", "size-mismatch", "take_along_axis"),
        ("take_along_axis(x, x, axis=2)", "axis-out-of-range", "take_along_axis"),
        ("scatter_add(v, v[:1], v)", "size-mismatch", "scatter_add"),
        ("scatter_max(v, lut, 1)", "element-type-not-allowed", "scatter_max"),
        ("scatter_set(v, v[:1], lut[:1])", "element-type-mismatch", "scatter_set"),
        ("dynamic_slice(x, v, [1, 1])", "slice-rank", "dynamic_slice"),
        ("dynamic_slice(x, lut[:2], [1, 1])", "element-type-not-allowed", "dynamic_slice"),
        ("dynamic_slice(x, v[:2], [4, 1])", "slice-out-of-range", "dynamic_slice"),
        ("dynamic_slice(x, v[:2], [-1, 1])", "negative-size", "[-1, 1]"),
        ("dynamic_slice(x, v[:2])", "missing-argument", "dynamic_slice"),
        ("dynamic_update_slice(x, v, v[:2])", "slice-rank", "dynamic_update_slice"),
        ("x[v:]", "unexpected-token", ":"),
        ("x[:v]", "unexpected-token", "v"),
        ("x[]", "unexpected-token", "]"),
        ("x[0", "unclosed", "["),
        ("x[v", "unclosed", "["),
        ("x[(0]", "unexpected-token", "]"),
        ("x)", "unexpected-token", ")"),
        ("x]", "unexpected-token", "]"),
        ("[x]", "unexpected-token", "["),
        ("x[99999999999999999999]", "number-too-large", "99999999999999999999"),
        ("concatenate(x, x)", "unexpected-token", "x"),
        ("concatenate([x, v])", "concatenate-shape", "concatenate"),
        ("concatenate([])", "nothing-to-concatenate", "concatenate"),
        ("concatenate([x, x", "unclosed", "("),
        ("concatenate([x, x)", "unexpected-token", ")"),
        ("concatenate([x, x] x)", "unexpected-token", "x"),
        ("concatenate([x], axis=2)", "axis-out-of-range", "concatenate"),
        ("stack([x, v])", "stack-shape", "stack"),
        ("pad(v, 9, mode=reflect)", "pad-width", "pad"),
        ("pad(v, 1, mode=mirror)", "unexpected-token", "mode=mirror"),
        ("pad(v, [1, 2, 3])", "unexpected-token", "[1, 2, 3]"),
        ("pad(x, [[1, 2], [3, 4], [5, 6]])", "slice-rank", "pad"),
        ("pad(v, 1, constant_values=2.5)", "literal-kind", "pad"),
        ("take(x, lut)", "element-type-not-allowed", "take"),
        ("take(x, v, mode=wrapped)", "unexpected-token", "mode=wrapped"),
        ("roll(x, [1, 2, 3], axis=[0, 1])", "bad-argument", "roll"),
        ("sliding_window_view(v, 4)", "window-too-large", "sliding_window_view"),
        ("sliding_window_view(v, 0)", "bad-window", "sliding_window_view"),
        ("sliding_window_view(v, -1)", "negative-size", "-1"),
        ("sliding_window_view(v, 2, stride=0)", "bad-argument", "sliding_window_view"),
        ("sliding_window_view(x, 2)", "bad-argument", "sliding_window_view"),
        ("sliding_window_view(v, 2, axis=1)", "axis-out-of-range", "sliding_window_view"),
        ("flip(x, axis=[0, 0])", "axes-not-unique", "flip"),
        ("diff(x, n=65)", "bad-argument", "diff"),
        ("squeeze(x, axis=0)", "squeezed-size", "squeeze"),
        ("expand_dims(v)", "missing-argument", "expand_dims"),
        ("expand_dims(v, 2)", "axis-out-of-range", "expand_dims"),
        ("sort(x, axis=2)", "axis-out-of-range", "sort"),
        ("argsort(x, descending=1)", "bad-argument", "argsort"),
        ("lexsort([x, v])", "shapes-differ", "lexsort"),
        ("searchsorted(x, v)", "table-rank", "searchsorted"),
        ("searchsorted(v, x, side=middle)", "unexpected-token", "side=middle"),
    ] {
        let error = result(text).expect_err(text);
        assert_eq!(
            (error.code(), &text[error.span.clone()]),
            (code, place),
            "{text}\n{}",
            error.draw(text)
        );
    }
    let text = "x[c]";
    let drawn = result(text).unwrap_err().draw(text);
    assert!(drawn.contains("where(c, x, y)"), "{drawn}");
    let text = "x[lut]";
    let drawn = result(text).unwrap_err().draw(text);
    assert!(drawn.contains("i64(lut)"), "{drawn}");
}
