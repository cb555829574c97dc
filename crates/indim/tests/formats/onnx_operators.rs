//! ONNX operators under the opsets that changed them; expected values computed by hand.

use crate::support;
use crate::support::onnx::{
    BOOL, FLOAT, INT64, Message, Model, float, int, ints, node, text, value,
};
use indim_graph::Array;

fn floats(shape: &[usize], elements: &[f32]) -> Array {
    Array::new(shape, elements.to_vec()).expect("the elements fill the shape")
}

fn list(elements: &[i64]) -> Array {
    Array::new([elements.len()], elements.to_vec()).expect("the elements fill the shape")
}

/// ONNX's number of the element type of an array.
fn element_type(array: &Array) -> i64 {
    match array.dtype() {
        indim_ops::DType::F32 => FLOAT,
        indim_ops::DType::I64 => INT64,
        indim_ops::DType::Bool => BOOL,
        indim_ops::DType::U8 => 2,
        indim_ops::DType::I32 => 6,
        indim_ops::DType::U64 => 13,
        dtype => panic!("{dtype} is not among the types of this test"),
    }
}

/// The results of one node, or the code of the error.
fn results(
    opset: i64,
    operator: &str,
    inputs: &[Array],
    attributes: &[Message],
    count: usize,
) -> Result<Vec<Array>, &'static str> {
    let types: Vec<i64> = inputs.iter().map(element_type).collect();
    let model = Model::of_node(opset, operator, &types, attributes, count).encoded();
    let model = support::read("test.onnx", &model).map_err(|error| error.code())?;
    support::run(&*model, inputs).map_err(|error| error.code())
}

fn result(opset: i64, operator: &str, inputs: &[Array], attributes: &[Message]) -> Array {
    let results = results(opset, operator, inputs, attributes, 1);
    results.unwrap_or_else(|code| panic!("{operator}, opset {opset}: {code}")).remove(0)
}

fn code(opset: i64, operator: &str, inputs: &[Array], attributes: &[Message]) -> &'static str {
    results(opset, operator, inputs, attributes, 1).expect_err("an error is expected")
}

#[test]
fn broadcasts_are_explicit_before_opset_7_and_numpys_since() {
    let (x, y) = (floats(&[2, 3], &[1., 2., 3., 4., 5., 6.]), floats(&[2], &[10., 20.]));
    let operands = [x, y];
    let onto_rows = result(6, "Add", &operands, &[int("broadcast", 1), int("axis", 0)]);
    assert_eq!(onto_rows, floats(&[2, 3], &[11., 12., 13., 24., 25., 26.]));
    assert_eq!(code(6, "Add", &operands, &[]), "shapes-differ");
    assert_eq!(code(7, "Add", &operands, &[int("broadcast", 1), int("axis", 0)]), "attribute");
    assert_eq!(code(7, "Add", &operands, &[]), "size-mismatch");
    let operands = [operands[0].clone(), floats(&[3], &[10., 20., 30.])];
    assert_eq!(result(7, "Add", &operands, &[]), floats(&[2, 3], &[11., 22., 33., 14., 25., 36.]));
    // Before opset 8 the operands of variadic operators had equal shapes.
    assert_eq!(code(7, "Sum", &operands, &[]), "shapes-differ");
    assert_eq!(
        result(8, "Mean", &operands, &[]),
        floats(&[2, 3], &[5.5, 11., 16.5, 7., 12.5, 18.])
    );
}

#[test]
fn an_operator_is_refused_before_the_opset_that_introduced_it() {
    let x = [floats(&[1], &[0.5])];
    assert_eq!(code(19, "Gelu", &x, &[]), "operator-too-new");
    assert_eq!(code(7, "Erf", &x, &[]), "operator-too-new");
    assert!(results(9, "Erf", &x, &[], 1).is_ok());
    assert_eq!(code(29, "Erf", &x, &[]), "unsupported");
    assert_eq!(code(21, "NonZero", &x, &[]), "unsupported-op");
}

#[test]
fn magnitudes_are_of_all_numbers() {
    let unsigned = Array::new([3], vec![0_u8, 7, 255]).unwrap();
    let signed = Array::new([3], vec![-7_i32, i32::MAX, i32::MIN]).unwrap();
    for opset in [6, 13] {
        assert_eq!(result(opset, "Abs", core::slice::from_ref(&unsigned), &[]), unsigned);
        let large = Array::new([1], vec![u64::MAX]).unwrap();
        assert_eq!(result(opset, "Abs", core::slice::from_ref(&large), &[]), large);
        let found = result(opset, "Abs", core::slice::from_ref(&signed), &[]);
        assert_eq!(found, Array::new([3], vec![7_i32, i32::MAX, i32::MIN]).unwrap());
    }
    assert_eq!(result(13, "Abs", &[floats(&[2], &[-0.0, -2.5])], &[]), floats(&[2], &[0.0, 2.5]));
    let truth = Array::new([1], vec![true]).unwrap();
    assert!(results(13, "Abs", &[truth], &[], 1).is_err());
}

/// Arrays without elements may have sizes whose product overflows.
#[test]
fn sizes_beyond_64_bits_are_an_error_and_not_negative() {
    let large = ["0", "1099511627776", "1099511627776"];
    for (operator, sizes, expected) in [
        ("Size", vec!["0", "7"], Ok(Array::from_scalar(0_i64))),
        ("Shape", vec!["0", "7"], Ok(list(&[0, 7]))),
        ("Size", large.to_vec(), Ok(Array::from_scalar(0_i64))),
        ("Shape", large.to_vec(), Err("unexpected")),
        ("Size", large[1..].to_vec(), Err("too-large")),
    ] {
        let model = Model {
            opset: 13,
            inputs: vec![value("x", 2, Some(&sizes))],
            nodes: vec![node("Flatten", &["x"], &["m"], &[]), node(operator, &["m"], &["y"], &[])],
            outputs: vec![Message::default().bytes(1, "y")],
            ..Model::default()
        };
        let model = support::read("test.onnx", model.encoded()).unwrap();
        let built = model.build(&support::bounds_of_declared(&*model));
        let found = built.map_err(|error| error.code()).map(|program| {
            let x = program.graph.parameters().iter().map(|&x| &program.graph[x].array_type);
            let x: Vec<Array> =
                x.map(|x| Array::zeros(x.dtype, x.shape.clone()).unwrap()).collect();
            indim_graph::evaluate(&program.graph, &x).unwrap().remove(0)
        });
        assert_eq!(found, expected, "{operator} of {sizes:?}");
    }
}

#[test]
fn softmax_normalises_all_axes_from_one_on_before_opset_13() {
    let x = [floats(&[1, 2, 2], &[0.; 4])];
    assert_eq!(result(12, "Softmax", &x, &[]), floats(&[1, 2, 2], &[0.25; 4]));
    assert_eq!(result(12, "Softmax", &x, &[int("axis", 2)]), floats(&[1, 2, 2], &[0.5; 4]));
    assert_eq!(result(13, "Softmax", &x, &[int("axis", 1)]), floats(&[1, 2, 2], &[0.5; 4]));
    let x = [floats(&[2, 3], &[1., 3., 3., 2., 0., 1.])];
    let largest = floats(&[2, 3], &[0., 1., 0., 1., 0., 0.]);
    assert_eq!(result(13, "Hardmax", &x, &[]), largest);
    let one = floats(&[2, 3], &[0., 1., 0., 0., 0., 0.]);
    assert_eq!(result(11, "Hardmax", &x, &[int("axis", 0)]), one);
}

#[test]
fn reductions_take_axes_as_an_attribute_then_as_an_operand() {
    let x = floats(&[2, 2], &[1., 2., 3., 4.]);
    let of_x = [x.clone()];
    let with_axes = [x, list(&[-1])];
    let columns = floats(&[2], &[3., 7.]);
    let dropped = int("keepdims", 0);
    assert_eq!(result(12, "ReduceSum", &of_x, &[ints("axes", &[1]), dropped.clone()]), columns);
    assert_eq!(result(13, "ReduceSum", &with_axes, &[dropped]), columns);
    assert_eq!(code(13, "ReduceSum", &of_x, &[ints("axes", &[1])]), "axes-misplaced");
    assert_eq!(code(10, "ReduceSum", &of_x, &[ints("axes", &[-1])]), "axis-negative");
    assert_eq!(result(17, "ReduceMax", &of_x, &[ints("axes", &[-1])]), floats(&[2, 1], &[2., 4.]));
    assert_eq!(result(18, "ReduceMax", &with_axes, &[]), floats(&[2, 1], &[2., 4.]));
    // Without axes the reduction covers all of them, or none; with none only its element-wise part remains.
    assert_eq!(result(18, "ReduceSumSquare", &of_x, &[]), floats(&[1, 1], &[30.]));
    let none = int("noop_with_empty_axes", 1);
    let squares = floats(&[2, 2], &[1., 4., 9., 16.]);
    assert_eq!(result(18, "ReduceSumSquare", &of_x, &[none]), squares);
}

#[test]
fn means_of_integers_are_integers_and_empty_reductions_have_values() {
    let axes = list(&[0]);
    let mean = result(18, "ReduceMean", &[list(&[2, 3, 2]), axes.clone()], &[int("keepdims", 0)]);
    assert_eq!(mean, Array::from_scalar(2i64));
    let nothing = [floats(&[0], &[]), axes];
    for (operator, expected) in [
        ("ReduceSum", 0.0),
        ("ReduceProd", 1.0),
        ("ReduceMax", f32::NEG_INFINITY),
        ("ReduceMin", f32::INFINITY),
        ("ReduceLogSumExp", f32::NEG_INFINITY),
    ] {
        let found = result(18, operator, &nothing, &[int("keepdims", 0)]);
        assert_eq!(found, Array::from_scalar(expected), "{operator}");
    }
}

#[test]
fn norms_of_unsigned_integers_need_no_magnitudes() {
    let x = Array::new([2], vec![3u64, 4]).unwrap();
    for (operator, expected) in [("ReduceL1", 7u64), ("ReduceL2", 5)] {
        let norm = result(18, operator, core::slice::from_ref(&x), &[int("keepdims", 0)]);
        assert_eq!(norm, Array::from_scalar(expected), "{operator}");
        let no_axes = [int("noop_with_empty_axes", 1)];
        assert_eq!(result(18, operator, core::slice::from_ref(&x), &no_axes), x, "{operator}");
    }
}

#[test]
fn clip_takes_attributes_then_operands() {
    let x = floats(&[4], &[-2., 0., 2., f32::INFINITY]);
    let attributes = [float("min", -1.0), float("max", 1.0)];
    let both = floats(&[4], &[-1., 0., 1., 1.]);
    assert_eq!(result(6, "Clip", core::slice::from_ref(&x), &attributes), both);
    let bound = |number: f32| Array::from_scalar(number);
    assert_eq!(result(11, "Clip", &[x.clone(), bound(-1.0), bound(1.0)], &[]), both);
    // If the bounds are exchanged, the upper one wins; without bounds infinities stay.
    assert_eq!(
        result(13, "Clip", &[x.clone(), bound(1.0), bound(-1.0)], &[]),
        floats(&[4], &[-1.; 4])
    );
    assert_eq!(
        result(13, "Clip", &[x, bound(0.0)], &[]),
        floats(&[4], &[0., 0., 2., f32::INFINITY])
    );
}

#[test]
fn remainders_and_powers_keep_their_types() {
    let (x, y) = (list(&[-7, 7, -7, 7]), list(&[3, -3, -3, 3]));
    assert_eq!(result(13, "Mod", &[x.clone(), y.clone()], &[]), list(&[2, -2, -1, 1]));
    assert_eq!(result(13, "Mod", &[x, y], &[int("fmod", 1)]), list(&[-1, 1, -1, 1]));
    let (x, y) = (floats(&[2], &[-7., 5.]), floats(&[2], &[3., f32::NEG_INFINITY]));
    assert_eq!(code(13, "Mod", &[x.clone(), y.clone()], &[]), "attribute");
    assert_eq!(result(28, "Mod", &[x, y], &[]), floats(&[2], &[2., f32::NEG_INFINITY]));
    // An integer to a fractional power is computed as a float and truncated.
    let whole = [Array::new([2], vec![2i32, 10]).unwrap(), floats(&[2], &[0.5, 0.5])];
    assert_eq!(result(12, "Pow", &whole, &[]), Array::new([2], vec![1i32, 3]).unwrap());
    let large = [list(&[3]), list(&[39])];
    assert_eq!(result(12, "Pow", &large, &[]), list(&[3i64.pow(39)]));
    // The last 64 bits of -3 to the power of 2^63 + 1.
    let odd = [Array::from_scalar(-3i32), Array::from_scalar((1u64 << 63) + 1)];
    assert_eq!(result(12, "Pow", &odd, &[]), Array::from_scalar(-3i32));
}

#[test]
fn slopes_lie_on_channels_before_opset_7_and_on_the_last_axes_from_it_on() {
    let x = floats(&[1, 2, 2], &[-1., -1., -1., 2.]);
    let slope = floats(&[2], &[10., 100.]);
    let operands = [x, slope];
    assert_eq!(result(6, "PRelu", &operands, &[]), floats(&[1, 2, 2], &[-10., -10., -100., 2.]));
    assert_eq!(result(7, "PRelu", &operands, &[]), floats(&[1, 2, 2], &[-10., -100., -10., 2.]));
}

#[test]
fn sizes_are_copied_left_open_or_nothing() {
    let x = floats(&[2, 3], &[1., 2., 3., 4., 5., 6.]);
    let reshaped = |opset, sizes: &[i64], attributes: &[Message]| {
        result(opset, "Reshape", &[x.clone(), list(sizes)], attributes).shape().to_vec()
    };
    assert_eq!(reshaped(5, &[0, -1, 1], &[]), [2, 3, 1]);
    assert_eq!(reshaped(13, &[-1], &[]), [6]);
    assert_eq!(code(13, "Reshape", &[x.clone(), list(&[-1, -1])], &[]), "attribute");
    assert_eq!(code(13, "Reshape", &[x.clone(), list(&[4, -1])], &[]), "attribute");
    assert_eq!(code(13, "Reshape", &[x.clone(), list(&[1, 2, 0])], &[]), "attribute");
    assert_eq!(
        code(14, "Reshape", &[x.clone(), list(&[0, 3])], &[int("allowzero", 1)]),
        "reshape-element-count"
    );
    let empty = [floats(&[0, 3], &[]), list(&[3, 0])];
    assert_eq!(result(14, "Reshape", &empty, &[int("allowzero", 1)]).shape().to_vec(), [3, 0]);
    let first = result(1, "Reshape", &[x], &[ints("shape", &[3, -1])]);
    assert_eq!(first.shape().to_vec(), [3, 2]);
}

#[test]
fn slices_clamp_and_walk_backwards() {
    let x = list(&[0, 1, 2, 3, 4]);
    let sliced = |start: i64, end: i64, step: i64| {
        let operands = [x.clone(), list(&[start]), list(&[end]), list(&[0]), list(&[step])];
        result(13, "Slice", &operands, &[])
    };
    assert_eq!(sliced(1, i64::MAX, 2), list(&[1, 3]));
    assert_eq!(sliced(-1, i64::MIN, -2), list(&[4, 2, 0]));
    assert_eq!(sliced(3, 1, 1), list(&[]));
    let attributes = [ints("starts", &[-3]), ints("ends", &[-1])];
    assert_eq!(result(9, "Slice", core::slice::from_ref(&x), &attributes), list(&[2, 3]));
    let zero = [x, list(&[0]), list(&[1]), list(&[0]), list(&[0])];
    assert_eq!(code(13, "Slice", &zero, &[]), "zero-step");
}

#[test]
fn parts_are_equal_or_the_last_is_smaller() {
    let x = [list(&[0, 1, 2, 3, 4])];
    assert_eq!(results(13, "Split", &x, &[], 2), Err("attribute"));
    let parts = results(18, "Split", &x, &[int("num_outputs", 2)], 2);
    assert_eq!(parts, Ok(vec![list(&[0, 1, 2]), list(&[3, 4])]));
    let parts = results(11, "Split", &x, &[ints("split", &[1, 4])], 2);
    assert_eq!(parts, Ok(vec![list(&[0]), list(&[1, 2, 3, 4])]));
    let given = [x[0].clone(), list(&[4, 1])];
    assert_eq!(results(13, "Split", &given, &[], 2), Ok(vec![list(&[0, 1, 2, 3]), list(&[4])]));
    assert_eq!(results(13, "Split", &[x[0].clone(), list(&[4, 2])], &[], 2), Err("attribute"));
}

#[test]
fn padding_is_all_beginnings_then_all_ends() {
    let x = floats(&[1, 2], &[1., 2.]);
    let padded = floats(&[2, 3], &[9., 9., 9., 1., 2., 9.]);
    let attributes = [ints("pads", &[1, 0, 0, 1]), float("value", 9.0)];
    assert_eq!(result(2, "Pad", core::slice::from_ref(&x), &attributes), padded);
    let operands = [x.clone(), list(&[1, 0, 0, 1]), Array::from_scalar(9.0f32)];
    assert_eq!(result(11, "Pad", &operands, &[]), padded);
    // Negative padding crops; since opset 18 padding can be limited to some axes.
    let operands = [x.clone(), list(&[-1, 1]), Array::from_scalar(0.0f32), list(&[-1])];
    assert_eq!(result(18, "Pad", &operands, &[]), floats(&[1, 2], &[2., 0.]));
}

#[test]
fn ranges_tiles_and_triangles() {
    let range = |start: i64, limit: i64, delta: i64| {
        result(11, "Range", &[start, limit, delta].map(Array::from_scalar), &[])
    };
    assert_eq!(range(3, 9, 3), list(&[3, 6]));
    assert_eq!(range(10, 4, -2), list(&[10, 8, 6]));
    assert_eq!(range(1, 1, 1), list(&[]));
    assert_eq!(code(11, "Range", &[0i64, 1, 0].map(Array::from_scalar), &[]), "attribute");
    let x = floats(&[2, 2], &[1., 2., 3., 4.]);
    let tiled = floats(&[2, 4], &[1., 2., 1., 2., 3., 4., 3., 4.]);
    assert_eq!(result(6, "Tile", &[x.clone(), list(&[1, 2])], &[]), tiled);
    let below = result(14, "Trilu", &[x.clone(), Array::from_scalar(-1i64)], &[int("upper", 0)]);
    assert_eq!(below, floats(&[2, 2], &[0., 0., 3., 0.]));
    assert_eq!(result(9, "EyeLike", &[x], &[int("k", 1)]), floats(&[2, 2], &[0., 1., 0., 0.]));
}

#[test]
fn normalisations_bring_mean_0_and_deviation_1() {
    let x = floats(&[1, 2, 2], &[1., 3., 10., 30.]);
    let channel = |first: f32, second: f32| floats(&[2], &[first, second]);
    let (scale, bias) = (channel(1., 2.), channel(0., 5.));
    let tiny = float("epsilon", 1e-12);
    let operands = [x.clone(), scale.clone(), bias.clone()];
    let expected = floats(&[1, 2, 2], &[-1., 1., 3., 7.]);
    assert_eq!(
        result(6, "InstanceNormalization", &operands, core::slice::from_ref(&tiny)),
        expected
    );
    let groups = [int("num_groups", 2), tiny.clone()];
    assert_eq!(result(21, "GroupNormalization", &operands, &groups), expected);
    assert_eq!(result(18, "GroupNormalization", &operands, &groups), expected);
    let statistics = [x, scale, bias, channel(2., 20.), channel(1., 100.)];
    assert_eq!(
        result(15, "BatchNormalization", &statistics, core::slice::from_ref(&tiny)),
        expected
    );
    assert_eq!(result(6, "BatchNormalization", &statistics, &[int("is_test", 1), tiny]), expected);
    assert_eq!(code(6, "BatchNormalization", &statistics, &[]), "unsupported-op");
    let rows = floats(&[2, 2], &[3., 4., 0., 0.]);
    assert_eq!(result(22, "LpNormalization", &[rows], &[]), floats(&[2, 2], &[0.6, 0.8, 0., 0.]));
}

#[test]
fn attributes_of_another_kind_are_refused() {
    let x = [floats(&[1], &[0.5])];
    assert_eq!(code(6, "Elu", &x, &[int("alpha", 1)]), "attribute");
    assert_eq!(code(20, "Gelu", &x, &[text("approximate", "sigmoid")]), "attribute");
    assert_eq!(code(13, "Cast", &x, &[int("to", 8)]), "unsupported-op");
    assert_eq!(code(1, "Cast", &x, &[text("to", "STRING")]), "unsupported-type");
    // Some writers omit a number that is 0 and write only its kind.
    let zero = Message::default().bytes(1, "axis").int(20, 2);
    assert_eq!(result(13, "Flatten", &[list(&[1, 2])], &[zero]).shape().to_vec(), [1, 2]);
}

#[test]
fn truth_values_are_no_numbers() {
    let x = Array::new([1], vec![true]).unwrap();
    let operands = [x.clone(), x];
    assert_eq!(code(14, "Add", &operands, &[]), "element-type-not-allowed");
    assert!(results(7, "And", &operands, &[], 1).is_ok());
    let whole = [list(&[1]), list(&[1])];
    assert_eq!(code(7, "And", &whole, &[]), "element-type-not-allowed");
}

#[test]
fn attributes_of_other_versions_are_refused() {
    let x = [floats(&[2], &[1., 2.]), floats(&[2], &[3., 4.])];
    let one = core::slice::from_ref(&x[0]);
    // Attributes of earlier or later versions, or of other operators.
    assert_eq!(code(7, "Add", &x, &[int("broadcast", 1)]), "attribute");
    assert_eq!(code(13, "Squeeze", one, &[ints("axes", &[0])]), "attribute");
    // The error of misplaced axes names the rule of reductions.
    assert_eq!(code(13, "ReduceSum", one, &[ints("axes", &[0])]), "axes-misplaced");
    assert_eq!(code(11, "ReduceSum", one, &[int("noop_with_empty_axes", 1)]), "attribute");
    assert_eq!(code(11, "Relu", one, &[float("alpha", 0.5)]), "attribute");
    assert_eq!(code(18, "Elu", one, &[float("alpah", 0.5)]), "attribute");
    assert_eq!(code(18, "Elu", one, &[float("alpha", 0.5), float("alpha", 1.0)]), "duplicate");
    // A hint for an obsolete memory planner, and an attribute for the writer's own use.
    assert!(results(5, "Relu", one, &[ints("consumed_inputs", &[0])], 1).is_ok());
    assert!(results(18, "Elu", one, &[int("__of_mine", 1)], 1).is_ok());
    let model = Model::of_node(18, "Elu", &[FLOAT], &[float("alpah", 0.5)], 1).encoded();
    let error = support::read("test.onnx", &model).err().expect("there is a mistake");
    let problem = "the attribute alpah is none of Elu in version 6, which has alpha";
    assert_eq!(error.to_string(), problem);
    assert_eq!(error.location.described.as_deref(), Some("node 0 (Elu, opset 18)"));
}

fn bytes(elements: &[u8]) -> Array {
    Array::new([elements.len()], elements.to_vec()).expect("the elements fill the shape")
}

#[test]
fn searches_give_the_first_or_the_last_extreme() {
    let x = floats(&[2, 3], &[1., 3., 3., -2., -2., 5.]);
    let search = |operator, attributes: &[Message]| {
        result(13, operator, core::slice::from_ref(&x), attributes)
    };
    let rows = [int("axis", -1), int("keepdims", 0)];
    assert_eq!(search("ArgMax", &rows), list(&[1, 2]));
    let last = [int("axis", 1), int("keepdims", 0), int("select_last_index", 1)];
    assert_eq!(search("ArgMax", &last), list(&[2, 2]));
    assert_eq!(search("ArgMin", &last), list(&[0, 1]));
    // The first axis is searched; `keepdims` keeps it.
    let columns = Array::new([1, 3], vec![0i64, 0, 1]).unwrap();
    assert_eq!(search("ArgMax", &[]), columns);
    assert_eq!(code(11, "ArgMax", &[x], &last), "attribute");
}

#[test]
fn gathers_take_data_by_data() {
    let table = floats(&[3, 2], &[1., 2., 3., 4., 5., 6.]);
    let taken = result(13, "Gather", &[table.clone(), list(&[2, -3])], &[]);
    assert_eq!(taken, floats(&[2, 2], &[5., 6., 1., 2.]));
    let columns = result(13, "Gather", &[table, list(&[1])], &[int("axis", 1)]);
    assert_eq!(columns, floats(&[3, 1], &[2., 4., 6.]));
}

/// The examples of ONNX's operator pages.
#[test]
fn gathers_by_elements_and_vectors() {
    let table = floats(&[3, 3], &[1., 2., 3., 4., 5., 6., 7., 8., 9.]);
    let indices = Array::new([2, 3], vec![1i64, -1, 0, 2, 0, -3]).unwrap();
    let taken = result(13, "GatherElements", &[table.clone(), indices.clone()], &[int("axis", 0)]);
    assert_eq!(taken, floats(&[2, 3], &[4., 8., 3., 7., 2., 3.]));
    let longer = Array::new([1, 4], vec![0i64; 4]).unwrap();
    assert_eq!(code(13, "GatherElements", &[table.clone(), longer], &[]), "slice-out-of-range");
    let pairs = Array::new([2, 2], vec![0i64, 0, 1, -1]).unwrap();
    let taken = result(13, "GatherND", &[table.clone(), pairs], &[]);
    assert_eq!(taken, floats(&[2], &[1., 6.]));
    let cube = floats(&[2, 2, 2], &[0., 1., 2., 3., 4., 5., 6., 7.]);
    let rows = Array::new([2, 1], vec![1i64, 0]).unwrap();
    let taken = result(13, "GatherND", &[cube, rows], &[int("batch_dims", 1)]);
    assert_eq!(taken, floats(&[2, 2], &[2., 3., 4., 5.]));
}

#[test]
fn scatters_by_elements_and_vectors() {
    let row = floats(&[1, 5], &[1., 2., 3., 4., 5.]);
    let indices = Array::new([1, 2], vec![1i64, 1]).unwrap();
    let inputs = [row, indices, floats(&[1, 2], &[1.1, 2.5])];
    let scattered = |opset: i64, operator: &str, reduction: Option<&str>| {
        let axis = int("axis", 1);
        let attributes: Vec<Message> = [Some(axis), reduction.map(|name| text("reduction", name))]
            .into_iter()
            .flatten()
            .collect();
        result(opset, operator, &inputs, &attributes)
    };
    let with = |element: f32| floats(&[1, 5], &[1., element, 3., 4., 5.]);
    assert_eq!(scattered(9, "Scatter", None), with(2.5));
    assert_eq!(scattered(18, "ScatterElements", Some("none")), with(2.5));
    assert_eq!(
        scattered(16, "ScatterElements", Some("add")),
        with((2f64 + 1.1f32 as f64 + 2.5) as f32)
    );
    assert_eq!(scattered(18, "ScatterElements", Some("max")), with(2.5));
    assert_eq!(scattered(18, "ScatterElements", Some("min")), with(1.1));
    let early = [int("axis", 1), text("reduction", "max")];
    assert_eq!(code(16, "ScatterElements", &inputs, &early), "attribute");
    let data = list(&[1, 2, 3, 4, 5, 6, 7, 8]);
    let places = Array::new([4, 1], vec![4i64, 3, 1, 7]).unwrap();
    let inputs = [data, places, list(&[9, 10, 11, 12])];
    assert_eq!(result(18, "ScatterND", &inputs, &[]), list(&[1, 11, 3, 10, 9, 6, 7, 12]));
    let product = result(18, "ScatterND", &inputs, &[text("reduction", "mul")]);
    assert_eq!(product, list(&[1, 22, 3, 40, 45, 6, 7, 96]));
}

#[test]
fn one_hot_values_stand_along_a_new_axis() {
    let inputs = [list(&[1, -1, 7]), list(&[3]), floats(&[2], &[0.5, 2.])];
    let (off, on) = (0.5, 2.0);
    let expected = floats(&[3, 3], &[off, on, off, off, off, on, off, off, off]);
    assert_eq!(result(11, "OneHot", &inputs, &[]), expected);
    // In an early version, indices did not count from the end.
    let expected = floats(&[3, 3], &[off, off, off, on, off, off, off, off, off]);
    assert_eq!(result(9, "OneHot", &inputs, &[int("axis", 0)]), expected);
    // Indices can be floats.
    let inputs = [floats(&[1], &[1.]), list(&[2]), list(&[0, 1])];
    assert_eq!(result(11, "OneHot", &inputs, &[]), Array::new([1, 2], vec![0i64, 1]).unwrap());
    // Unsigned indices from 2^63 on are large; they do not count from the end.
    let indices = Array::new([3], vec![1u64, u64::MAX, 1 << 63]).unwrap();
    let expected = Array::new([3, 2], vec![0i64, 1, 0, 0, 0, 0]).unwrap();
    for opset in [9, 11] {
        let inputs = [indices.clone(), list(&[2]), list(&[0, 1])];
        assert_eq!(result(opset, "OneHot", &inputs, &[]), expected);
    }
    let depth = Array::new([1], vec![1u64 << 63]).unwrap();
    assert_eq!(code(11, "OneHot", &[indices, depth, list(&[0, 1])], &[]), "too-large");
}

#[test]
fn quantized_elements_saturate_and_come_back() {
    let x = floats(&[6], &[0., 2.5, 3.5, -2., 1000., -1000.]);
    let scalar = |number: f32| floats(&[], &[number]);
    let zero = Array::from_scalar(128u8);
    let quantized = result(13, "QuantizeLinear", &[x.clone(), scalar(1.), zero.clone()], &[]);
    assert_eq!(quantized, bytes(&[128, 130, 132, 126, 255, 0]));
    let back = result(13, "DequantizeLinear", &[quantized, scalar(0.5), zero], &[]);
    assert_eq!(back, floats(&[6], &[0., 1., 2., -1., 63.5, -64.]));
    // Without a zero point the results are bytes.
    assert_eq!(result(10, "QuantizeLinear", &[x, scalar(1.)], &[]).dtype(), indim_ops::DType::U8);
    let matrix = floats(&[2, 2], &[2., 2., 6., 6.]);
    let rows = [matrix.clone(), floats(&[2], &[1., 2.])];
    let by_row = result(21, "QuantizeLinear", &rows, &[int("axis", 0)]);
    assert_eq!(by_row.elements::<u8>(), Ok(&[2u8, 2, 3, 3][..]));
    let columns = result(13, "QuantizeLinear", &rows, &[]);
    assert_eq!(columns.elements::<u8>(), Ok(&[2u8, 1, 6, 3][..]));
    assert_eq!(code(21, "QuantizeLinear", &rows, &[int("block_size", 2)]), "unsupported-op");
    // indim lacks the element type FLOAT4E2M1.
    let float4 = [int("output_dtype", 23)];
    assert_eq!(code(23, "QuantizeLinear", &rows, &float4), "unsupported-op");
    assert_eq!(code(12, "QuantizeLinear", &rows, &[]), "attribute");
    let wide_zero = [floats(&[1], &[1.0]), scalar(1.0), Array::from_scalar(0i32)];
    assert_eq!(code(13, "QuantizeLinear", &wide_zero, &[]), "element-type-not-allowed");
}
