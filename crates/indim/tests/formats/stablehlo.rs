//! StableHLO text: results of programs, errors, and hostile input.

use crate::support::{read, run};
use indim::formats::{
    FormatError, FormatErrorKind, FormatLimits, InputBinding, ReadOptions, SourceFile, Tolerance,
};
use indim_graph::Array;

fn results(text: &str, inputs: &[Array]) -> Vec<Array> {
    let source = SourceFile::new("text.mlir", text.to_owned());
    let model = read("text.mlir", text).unwrap_or_else(|error| panic!("{}", error.draw(&source)));
    run(model.as_ref(), inputs).unwrap_or_else(|error| panic!("{}", error.draw(&source)))
}

fn error(text: &str) -> FormatError {
    let model = match read("text.mlir", text) {
        Ok(model) => model,
        Err(error) => return error,
    };
    let types = model.inputs().iter().map(|input| input.array_type().expect("types are known"));
    let types: Vec<_> = types.map(indim::formats::InputBinding::Type).collect();
    model.build(&types).expect_err("there is a mistake")
}

/// The code of the error, its line, and its message.
fn mistake(text: &str) -> (&'static str, usize, String) {
    let error = error(text);
    let source = SourceFile::new("text.mlir", text.to_owned());
    let span = error.location.span.clone().expect("it has a place");
    (error.code(), source.line_and_column(span.start).0, error.to_string())
}

fn code_and_line(text: &str) -> (&'static str, usize) {
    let (code, line, _) = mistake(text);
    (code, line)
}

/// A function of one operation on `%x: tensor<3xf32>`; `$T` stands for this type.
fn unary(operation: &str) -> String {
    let text =
        format!("func.func @main(%x: $T) -> $T {{\n  %r = {operation}\n  return %r : $T\n}}");
    text.replace("$T", "tensor<3xf32>")
}

fn f32s<const COUNT: usize>(elements: [f32; COUNT]) -> Array {
    Array::new([COUNT], elements.to_vec()).expect("a list")
}

#[test]
fn both_forms_of_an_operation_are_the_same() {
    let x = [f32s([1.0, -2.0, 3.0])];
    let forms = [
        "stablehlo.clamp %x, %x, %x : $T",
        "stablehlo.clamp %x, %x, %x : ($T, $T, $T) -> tensor<3 x f32>",
        "\"stablehlo.clamp\"(%x, %x, %x) : ($T, $T, $T) -> $T",
        "\"mhlo.clamp\"(%x, %x, %x) {note} : ($T, $T, $T) -> $T",
        "chlo.conj %x : $T -> $T",
        "stablehlo.optimization_barrier %x : $T",
        "stablehlo.custom_call @Sharding(%x) {mhlo.sharding = \"{replicated}\"} : ($T) -> $T",
        "sdy.sharding_constraint %x <@mesh, [{\"a\"}]> : $T",
        "stablehlo.reduce_precision %x, format = e11m52 : $T",
    ];
    for form in forms {
        assert_eq!(results(&unary(form), &x), x, "{form}");
    }
}

#[test]
fn views_take_their_numbers_from_either_form() {
    let text = include_str!("stablehlo/views.mlir");
    let x = Array::new([2, 3], vec![1, 2, 3, 4, 5, 6]).expect("six");
    let found = results(text, &[x]);
    let elements = |index: usize| found[index].elements::<i32>().expect("integers");
    assert_eq!(elements(0), [4, 6]);
    assert_eq!(elements(1), [4, 6]);
    assert_eq!(elements(2), [9, 9, 9, 1, 2, 3, 9, 9, 9, 4, 5, 6]);
    assert_eq!(elements(3), elements(2));
    assert_eq!(elements(4), [1, 4, 2, 5, 3, 6]);
    assert_eq!(elements(5), [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]);
    assert_eq!(elements(6), [1, 2, 3, 3, 4, 5, 6, 6]);
}

#[test]
fn elements_of_constants_are_read_as_mlir_reads_them() {
    let constant = |dense: &str, of: &str| {
        let text = format!(
            "func.func @f() -> {of} {{\n %r = stablehlo.constant {dense} : {of}\n return %r : {of}\n}}"
        );
        results(&text, &[]).remove(0)
    };
    let bits = |array: Array| array.to_le_bytes();
    assert_eq!(bits(constant("dense<0x7FC00001>", "tensor<f32>")), [1, 0, 0xC0, 0x7F]);
    assert_eq!(bits(constant("dense<0x7C>", "tensor<f16>")), [0x7C, 0]);
    assert_eq!(bits(constant("dense<\"0x02\">", "tensor<2xi1>")), [1, 1]);
    assert_eq!(bits(constant("dense<[0xFF, 200, -128]>", "tensor<3xi8>")), [255, 200, 128]);
    assert_eq!(bits(constant("dense<[[], []]>", "tensor<2x0xf32>")), [0u8; 0]);
    assert_eq!(bits(constant("dense<>", "tensor<0x2xf32>")), [0u8; 0]);
    assert_eq!(bits(constant("dense<[1, 0, true]>", "tensor<3xi1>")), [1, 0, 1]);
    assert_eq!(constant("dense<1.>", "tensor<2xf64>").elements::<f64>(), Ok(&[1.0, 1.0][..]));
    let complex = constant("dense<(1.0, 0x7F800000)>", "tensor<complex<f32>>");
    assert_eq!(bits(complex), [1.0f32.to_le_bytes(), f32::INFINITY.to_le_bytes()].concat());
}

#[test]
fn elements_that_do_not_fit_are_refused_at_their_line() {
    let code = |dense: &str, of: &str| {
        let text = format!(
            "func.func @f() -> {of} {{\n\n %r = stablehlo.constant {dense} : {of}\n return %r : {of}\n}}"
        );
        code_and_line(&text)
    };
    for (dense, of) in [
        ("dense<1>", "tensor<f32>"),
        ("dense<1.5>", "tensor<i32>"),
        ("dense<-1>", "tensor<ui8>"),
        ("dense<256>", "tensor<i8>"),
        ("dense<-0x7F800000>", "tensor<f32>"),
        ("dense<0x1FFFF>", "tensor<f16>"),
        ("dense<(1, 2)>", "tensor<complex<f32>>"),
        ("dense<2>", "tensor<i1>"),
        ("dense<true>", "tensor<i32>"),
    ] {
        assert_eq!(code(dense, of), ("bad-element", 3), "{dense} : {of}");
    }
    for (dense, of) in [
        ("dense<[1, 2, 3, 4]>", "tensor<2x2xi32>"),
        ("dense<[[1, 2], [3]]>", "tensor<2x2xi32>"),
        ("dense<[1, 2, 3]>", "tensor<2xi32>"),
        ("dense<\"0x0102\">", "tensor<3xi8>"),
        ("dense<>", "tensor<2xi32>"),
        // A type alone does not make the reader allocate memory.
        ("dense<[1]>", "tensor<1000000000000xi32>"),
    ] {
        assert_eq!(code(dense, of), ("wrong-element-count", 3), "{dense} : {of}");
    }
}

#[test]
fn blobs_stand_at_the_end_of_a_file() {
    let text = |name: &str| {
        format!(
            "func.func @f() -> tensor<2xi16> {{
  %r = stablehlo.constant dense_resource<{name}> : tensor<2xi16>
  return %r : tensor<2xi16>
}}
{{-# dialect_resources: {{ builtin: {{ blob: \"0x020000000100FFFF\" }} }} #-}}"
        )
    };
    assert_eq!(results(&text("blob"), &[])[0].elements::<i16>(), Ok(&[1, -1][..]));
    assert_eq!(code_and_line(&text("other")), ("undefined", 2));
    assert_eq!(code_and_line(&text("__elided__")), ("elided-elements", 2));
}

#[test]
fn tuples_composites_and_maps_are_resolved() {
    let text = include_str!("stablehlo/calls.mlir");
    let error = error(text);
    // A scalar from outside the body of a map does not have the shape that stands for the scalars of the
    // body.
    assert_eq!(error.code(), "shapes-differ", "{error}");
    let text = text.replace("add %s, %n :", "add %s, %s :");
    let inputs = [f32s([2.0, 4.0]), Array::from_scalar(7i32), Array::from_scalar(0.0f32)];
    let found = results(&text, &inputs);
    assert_eq!(found[0], f32s([1.0, 2.0]));
    assert_eq!(found[1].elements::<i32>(), Ok(&[6, 20][..]));
    assert_eq!(found[2..], [f32s([1.0, 2.0]), Array::from_scalar(7i32)]);
    let model = read("text.mlir", &text).expect("it was read before");
    let names: Vec<&str> = model.inputs().iter().map(|input| input.name.as_str()).collect();
    assert_eq!(names, ["p.0", "p.1.0", "n"]);
    assert_eq!(model.outputs(), ["output0", "output1", "output2.0", "output2.1.0"]);
}

/// A gather with these attributes from `x` of sizes 4 and 3, by a list of two indices.
fn gather(attributes: &str, slice_sizes: &str, result: &str) -> String {
    format!(
        "func.func @main(%x: tensor<4x3xf32>, %i: tensor<2x1xi32>) -> tensor<{result}xf32> {{
  %r = \"stablehlo.gather\"(%x, %i) <{{dimension_numbers = #stablehlo.gather<{attributes}>,
    indices_are_sorted = false, slice_sizes = array<i64: {slice_sizes}>}}> :
    (tensor<4x3xf32>, tensor<2x1xi32>) -> tensor<{result}xf32>
  return %r : tensor<{result}xf32>
}}"
    )
}

#[test]
fn gathers_take_elements_along_one_axis() {
    let x = Array::new([4, 3], (0..12).map(|i| i as f32).collect::<Vec<_>>()).expect("twelve");
    // Indices are clamped.
    let inputs = [x, Array::new([2, 1], vec![2i32, -5]).expect("two")];
    let columns = "offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], \
                   index_vector_dim = 1";
    let found = results(&gather(columns, "4, 1", "4x2"), &inputs);
    let expected = [2.0f32, 0.0, 5.0, 3.0, 8.0, 6.0, 11.0, 9.0];
    assert_eq!(found[0].elements::<f32>(), Ok(&expected[..]));
    let rows = "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], \
                index_vector_dim = 1";
    let found = results(&gather(rows, "1, 3", "2x3"), &inputs);
    assert_eq!(found[0].elements::<f32>(), Ok(&[6.0f32, 7.0, 8.0, 0.0, 1.0, 2.0][..]));
    // The axes of the indices can come last.
    let turned = rows.replace("offset_dims = [1]", "offset_dims = [0]");
    let found = results(&gather(&turned, "1, 3", "3x2"), &inputs);
    assert_eq!(found[0].elements::<f32>(), Ok(&[6.0f32, 0.0, 7.0, 1.0, 8.0, 2.0][..]));
}

#[test]
fn wrong_dimension_numbers_of_gathers_are_named() {
    let slices = "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], \
                  index_vector_dim = 1";
    let code = |attributes: &str, sizes: &str| code_and_line(&gather(attributes, sizes, "2x3")).0;
    assert_eq!(
        code(&slices.replace("offset_dims = [1]", "offset_dims = [7]"), "1, 3"),
        "attribute"
    );
    assert_eq!(code(&slices.replace("= [0]", "= [5]"), "1, 3"), "attribute");
    assert_eq!(code(&slices.replace("map = [0]", "map = [0, 1]"), "1, 3"), "attribute");
    assert_eq!(code(&slices.replace("map = [0]", "map = [9]"), "1, 3"), "attribute");
    assert_eq!(code(&slices.replace("dim = 1", "dim = 3"), "1, 3"), "attribute");
    assert_eq!(code(slices, "2, 3"), "attribute");
    assert_eq!(code(slices, "1"), "attribute");
    assert_eq!(code(slices, "1, 4"), "slice-out-of-range");
    assert_eq!(code(slices, "1, 2"), "type-mismatch");
    let batches = "operand_batching_dims = [0], start_indices_batching_dims = [1], ".to_owned();
    assert_eq!(code(&(batches + slices), "1, 3"), "attribute");
}

#[test]
fn complex_numbers_are_squared_without_a_needless_nan_and_ordered_by_their_parts() {
    let complex = |parts: &[(f32, f32)]| {
        let number = |&(re, im): &(f32, f32)| indim_ops::Complex { re, im };
        Array::new([3], parts.iter().map(number).collect::<Vec<_>>()).expect("three")
    };
    let inf = f32::INFINITY;
    let x = complex(&[(-3.4e38, -inf), (3e38, 3e38), (1.0, 2.0)]);
    let y = complex(&[(0.0, 5.0), (3e38, -1.0), (1.0, 3.0)]);
    let text = |operation: &str| {
        let text = format!(
            "func.func @main(%x: $T, %y: $T) -> $T {{\n  %r = {operation}\n  return %r : $T\n}}"
        );
        text.replace("$T", "tensor<3xcomplex<f32>>")
    };
    let run = |operation| results(&text(operation), &[x.clone(), y.clone()]).remove(0);
    let squares = complex(&[(-inf, inf), (0.0, inf), (-3.0, 4.0)]);
    assert_eq!(run("chlo.square %x : $T -> $T"), squares);
    assert_eq!(
        run("stablehlo.maximum %x, %y : $T"),
        complex(&[(0.0, 5.0), (3e38, 3e38), (1.0, 3.0)])
    );
    let least = complex(&[(-3.4e38, -inf), (3e38, -1.0), (1.0, 2.0)]);
    assert_eq!(run("stablehlo.minimum %x, %y : $T"), least);
    for operation in ["stablehlo.cbrt %x : $T", "stablehlo.atan2 %x, %y : $T"] {
        let (code, line, message) = mistake(&text(operation));
        assert_eq!((code, line), ("unsupported", 2));
        assert!(message.contains("of complex numbers"), "{message}");
    }
}

#[test]
fn reductions_begin_with_their_starts() {
    let text = include_str!("stablehlo/reductions.mlir");
    let x = Array::new([2, 3], vec![1, 2, 3, 4, 5, 6]).expect("six");
    let p = Array::new([3], vec![true, false, true]).expect("three");
    let found = results(text, &[x, p, Array::from_scalar(100i32)]);
    assert_eq!(found[0].elements::<i32>(), Ok(&[106, 115][..]));
    assert_eq!(found[1], Array::from_scalar(100i32));
    assert_eq!(found[2..4], [Array::from_scalar(true), Array::from_scalar(false)]);
    assert_eq!(found[4].elements::<i32>(), Ok(&[105, 107, 109][..]));
    assert_eq!(found[5].elements::<i32>(), Ok(&[1, 2, 3][..]));
}

#[test]
fn truth_values_are_added_and_complex_ones_lose_their_imaginary_part() {
    let text = "
func.func @main(%p: tensor<2xi1>, %z: tensor<2xcomplex<f32>>) -> (tensor<2xi1>, tensor<2xi1>, tensor<2xi1>) {
  %0 = stablehlo.add %p, %p : tensor<2xi1>
  %1 = stablehlo.convert %z : (tensor<2xcomplex<f32>>) -> tensor<2xi1>
  %r = stablehlo.real %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %2 = chlo.is_neg_inf %r : tensor<2xf32> -> tensor<2xi1>
  return %0, %1, %2 : tensor<2xi1>, tensor<2xi1>, tensor<2xi1>
}";
    let p = Array::new([2], vec![true, false]).expect("two");
    let z = [(0.0, 1.0), (f32::NEG_INFINITY, 0.0)].map(|(re, im)| indim_ops::c64::new(re, im));
    let found = results(text, &[p.clone(), Array::new([2], z.to_vec()).expect("two")]);
    assert_eq!(found[0], p);
    assert_eq!(found[1].elements::<bool>(), Ok(&[false, true][..]));
    assert_eq!(found[2].elements::<bool>(), Ok(&[false, true][..]));
}

#[test]
fn arguments_have_the_names_that_users_know() {
    let text = include_str!("stablehlo/names.mlir");
    let model = read("text.mlir", text).expect("a program");
    let names: Vec<&str> = model.inputs().iter().map(|input| input.name.as_str()).collect();
    assert_eq!(names, ["x", "y", "2", "3", "4"]);
    assert_eq!(model.outputs(), ["result['loss']", "output1"]);
}

#[test]
fn the_program_is_main_or_the_only_public_function_or_asked_for() {
    let negate = "func.func private @a(%x: tensor<f32>) -> tensor<f32> {
  %r = stablehlo.negate %x : tensor<f32>
  return %r : tensor<f32>
}";
    let same = "func.func @b(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }";
    let third = "func.func @c(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }";
    let one = [Array::from_scalar(1.0f32)];
    assert_eq!(results(&format!("{negate}\n{same}"), &one), one);
    let error = error(&format!("{same}\n{third}"));
    assert_eq!(error.code(), "which-function");
    let options = ReadOptions::new().function("a".to_owned());
    let source = SourceFile::new("text.mlir", format!("{negate}\n{same}\n{third}"));
    let model = indim::formats::read(&source, &options).expect("it was asked for");
    assert_eq!(run(model.as_ref(), &one).expect("it runs"), [Array::from_scalar(-1.0f32)]);
}

#[test]
fn checks_in_a_program_become_expectations() {
    let text = "
func.func @main() {
  %a = stablehlo.constant dense<1.0> : tensor<2xf32>
  check.expect_eq %a, %a : tensor<2xf32>
  check.expect_almost_eq_const %a, dense<1.1> : tensor<2xf32> {tolerance = 0.2 : f64}
  check.expect_almost_eq %a, %a, tolerance = 0.5 : tensor<2xf32>
  \"check.expect_close\"(%a, %a) {max_ulp_difference = 7 : i64} : (tensor<2xf32>, tensor<2xf32>) -> ()
  stablehlo.custom_call @check.expect_almost_eq(%a, %a) {has_side_effect = true}
    : (tensor<2xf32>, tensor<2xf32>) -> ()
  return
}";
    let program = read("text.mlir", text).expect("a program").build(&[]).expect("a graph");
    let tolerances: Vec<Tolerance> =
        program.expectations.iter().map(|expectation| expectation.tolerance).collect();
    let near = |absolute| Tolerance::Close { absolute, relative: 0.0 };
    let close = Tolerance::Ulps { min: 0, max: 7 };
    assert_eq!(tolerances, [Tolerance::Exact, near(0.2), near(0.5), close, near(1e-3)]);
    assert_eq!(program.graph.outputs().len(), 10);
    assert!(program.outputs.is_empty());
}

#[test]
fn one_error_lists_all_unsupported_operations() {
    let text = include_str!("stablehlo/unsupported.mlir");
    let error = error(text);
    assert!(error.is_out_of_scope());
    let FormatErrorKind::UnsupportedOperations(operations) = &error.kind else {
        panic!("{error}");
    };
    let source = SourceFile::new("text.mlir", text.to_owned());
    let line = |place: &indim::formats::Location| {
        source.line_and_column(place.span.clone().expect("a place").start).0
    };
    let found: Vec<(&str, usize, usize)> =
        operations.iter().map(|o| (o.name.as_str(), o.count, line(&o.location))).collect();
    let expected = [
        ("stablehlo.ragged_dot", 2, 2),
        ("stablehlo.cholesky", 1, 9),
        ("stablehlo.sort", 1, 12),
        ("stablehlo.custom_call @mine", 1, 18),
        ("stablehlo.frobnicate", 1, 19),
        ("stablehlo.einsum", 1, 23),
    ];
    assert_eq!(found, expected);
}

#[test]
fn errors_name_unsupported_types() {
    let of = |of: &str| {
        mistake(&format!("func.func @main(%x: {of}) -> {of} {{\n  return %x : {of}\n}}"))
    };
    for name in [
        "tensor<2xi2>",
        "tensor<f8E3M4>",
        "!stablehlo.token",
        "tensor<2x!quant.uniform<i8:f32, 1.0>>",
    ] {
        let (code, line, message) = of(name);
        assert_eq!((code, line), ("unsupported-type", 1), "{message}");
        assert!(message.contains(name), "{message}");
    }
    for name in ["tensor<?x3xf32>", "tensor<*xf32>", "tensor<2xf32, #stablehlo.bounds<3>>"] {
        assert_eq!(of(name).0, "unsupported", "{name}");
    }
    assert_eq!(of("tensor<2xxf32>").0, "unexpected");
    let versioned = "vhlo.func_v1 @main() -> () {\n}";
    let source = SourceFile::new("text.mlir", format!("module {{\n{versioned}\n}}"));
    let error = indim::formats::read(&source, &ReadOptions::default()).map(drop).expect_err("vhlo");
    assert!(error.is_out_of_scope() && error.to_string().contains("vhlo-to-version"), "{error}");
}

#[test]
fn mistakes_have_a_code_and_a_line() {
    for (operation, code) in [
        ("stablehlo.add %x, %nothing : $T", "undefined"),
        ("stablehlo.add %x, %x#1 : $T", "undefined"),
        ("call @nothing(%x) : ($T) -> $T", "undefined"),
        ("stablehlo.add %x : $T", "wrong-count"),
        ("stablehlo.not %x : $T", "element-type-not-allowed"),
        ("stablehlo.convert %x : ($T) -> tensor<4xf32>", "type-mismatch"),
        ("stablehlo.negate %x : (tensor<4xf32>) -> $T", "type-mismatch"),
        ("stablehlo.slice %x [0:4] : ($T) -> tensor<4xf32>", "attribute"),
        ("stablehlo.slice %x [0:3, 0:1] : ($T) -> $T", "slice-rank"),
        ("stablehlo.slice %x : ($T) -> $T", "attribute"),
        ("stablehlo.compare XX, %x, %x : ($T, $T) -> tensor<3xi1>", "attribute"),
        ("stablehlo.compare LT, %x, %x, SIGNED : ($T, $T) -> tensor<3xi1>", "attribute"),
        ("stablehlo.reverse %x, dims = [0, 0] : $T", "axes-not-unique"),
        ("stablehlo.iota dim = 1 : $T", "axis-out-of-range"),
        ("stablehlo.tuple %x : tuple<tensor<4xf32>>", "type-mismatch"),
        ("stablehlo.bitcast_convert %x : ($T) -> tensor<3x3xi16>", "unsupported"),
        ("stablehlo.negate %x : $T, $T]", "unexpected"),
        ("stablehlo.negate %x", "unexpected"),
        ("stablehlo.negate \"%x", "unexpected"),
        ("12", "unexpected"),
    ] {
        let (found, line, message) = mistake(&unary(operation));
        assert_eq!(found, code, "{operation}: {message}");
        assert!(line == 2 || code == "unexpected", "{operation} at line {line}: {message}");
    }
    let twice = unary("stablehlo.negate %x : $T\n  %r = stablehlo.negate %x : $T");
    assert_eq!(code_and_line(&twice), ("duplicate", 3));
    assert_eq!(code_and_line(&twice.replace("return", "//")), ("duplicate", 3));
    let no_return = "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n\n}";
    assert_eq!(code_and_line(no_return), ("unexpected", 3));
}

/// JAX's argmax along the elements of `%x: tensor<4x$E>`. A body for floats compares an extreme with itself
/// to find NaNs.
fn argmax(element: &str, start: &str, order: &str, checks_nan: bool) -> String {
    let compare = |name: &str, direction: &str, operands: &str| {
        format!(
            "    %{name} = stablehlo.compare {direction}, {operands}, {order} : ($S, $S) -> tensor<i1>\n"
        )
    };
    let nan = compare("n", "NE", "%a, %a") + "    %w = stablehlo.or %g, %n : tensor<i1>\n";
    let (nan, wins) = if checks_nan { (nan.as_str(), "%w") } else { ("", "%g") };
    let text = format!(
        "func.func @main(%x: tensor<4x{element}>) -> tensor<i64> {{
  %start = stablehlo.constant dense<{start}> : $S
  %first = stablehlo.constant dense<0> : tensor<i64>
  %count = stablehlo.iota dim = 0 : tensor<4xi64>
  %both:2 = stablehlo.reduce(%x init: %start), (%count init: %first) across dimensions = [0] :
    (tensor<4x{element}>, tensor<4xi64>, $S, tensor<i64>) -> ($S, tensor<i64>)
   reducer(%a: $S, %b: $S) (%i: tensor<i64>, %j: tensor<i64>) {{
{greater}{nan}{equal}    %l = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %f = stablehlo.and %e, %l : tensor<i1>
    %s = stablehlo.or {wins}, %f : tensor<i1>
    %p = stablehlo.select {wins}, %a, %b : tensor<i1>, $S
    %q = stablehlo.select %s, %i, %j : tensor<i1>, tensor<i64>
    stablehlo.return %p, %q : $S, tensor<i64>
  }}
  return %both#1 : tensor<i64>
}}",
        greater = compare("g", "GT", "%a, %b"),
        equal = compare("e", "EQ", "%a, %b"),
    );
    text.replace("$S", &format!("tensor<{element}>"))
}

#[test]
fn an_argmax_of_floats_checks_for_nan_or_runs_its_body() {
    let with_check = argmax("f32", "0xFF800000", "FLOAT", true);
    let x = Array::new([4], vec![1.0, f32::NAN, 3.0, 2.0]).expect("4");
    assert_eq!(results(&with_check, &[x]), [Array::from_scalar(1i64)]);
    // Without it a NaN loses against the next element. The body runs for each pair: 1 and NaN, 3 and 2.
    let x = Array::new([4], vec![1.0, f32::NAN, 3.0, 2.0]).expect("4");
    let without = argmax("f32", "0xFF800000", "FLOAT", false);
    assert_eq!(results(&without, &[x]), [Array::from_scalar(2i64)]);
    // An integer is no NaN.
    for checks_nan in [true, false] {
        let text = argmax("i32", "-2147483648", "SIGNED", checks_nan);
        let x = Array::new([4], vec![1, 7, 3, 7]).expect("4");
        assert_eq!(results(&text, &[x]), [Array::from_scalar(1i64)]);
    }
}

#[test]
fn broadcast_dimensions_of_chlo_must_be_those_of_numpy() {
    // With equal sizes NumPy's rule alone would ignore the list and align `%v` with the last axis.
    let program = |operation: &str, dims: &str, result: &str| {
        format!(
            "func.func @main(%x: tensor<3x3xf32>, %v: tensor<3xf32>) -> tensor<3x3x{result}> {{
  %r = chlo.{operation} %x, %v {{{dims}}} : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3x3x{result}>
  return %r : tensor<3x3x{result}>
}}"
        )
    };
    let compare = "comparison_direction = #chlo<comparison_direction LT>, ";
    for (operation, first, result) in
        [("broadcast_subtract", "", "f32"), ("broadcast_compare", compare, "i1")]
    {
        let with =
            |list| program(operation, &format!("{first}broadcast_dimensions = {list}"), result);
        let (code, line, said) = mistake(&with("array<i64: 0>"));
        assert_eq!((code, line), ("attribute", 2), "{operation}: {said}");
        assert!(said.contains("broadcast_dimensions"), "{said}");
        read("text.mlir", with("array<i64: 1>")).expect("NumPy's alignment");
        assert_eq!(code_and_line(&with("[1, 0]")), ("attribute", 2));
    }
    let x = Array::new([3, 3], vec![1.0f32, 5.0, 1.0, 5.0, 1.0, 5.0, 1.0, 5.0, 1.0]).expect("9");
    let text = program("broadcast_compare", &format!("{compare}broadcast_dimensions = [1]"), "i1");
    let is_less = results(&text, &[x, f32s([2.0, 6.0, 0.0])]);
    let expected = vec![true, true, false, false, true, false, true, true, false];
    assert_eq!(is_less, [Array::new([3, 3], expected).expect("9")]);
}

#[test]
fn functions_that_call_themselves_are_found() {
    let text = "
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %r = call @f(%x) : (tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  %r = call @main(%x) : (tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}";
    assert_eq!(code_and_line(text), ("cycle", 7));
}

#[test]
fn hostile_texts_end_quickly() {
    // Exponential expansion of calls.
    let mut text = String::new();
    for level in 0..100 {
        text += &format!(
            "func.func private @f{level}(%x: tensor<f32>) -> tensor<f32> {{\n\
             %a = call @f{next}(%x) : (tensor<f32>) -> tensor<f32>\n\
             %b = call @f{next}(%a) : (tensor<f32>) -> tensor<f32>\nreturn %b : tensor<f32>\n}}\n",
            next = level + 1
        );
    }
    text +=
        "func.func private @f100(%x: tensor<f32>) -> tensor<f32> {\nreturn %x : tensor<f32>\n}\n";
    text += "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n\
             %a = call @f0(%x) : (tensor<f32>) -> tensor<f32>\nreturn %a : tensor<f32>\n}";
    assert_eq!(error(&text).code(), "limit");
    // Exponential expansion of tuples.
    let mut text = "func.func @main() {\n%t0 = \"stablehlo.tuple\"() : () -> tuple<>\n".to_owned();
    for level in 0..63 {
        text += &format!("%t{} = stablehlo.tuple %t{level}, %t{level}\n", level + 1);
    }
    let doubling = text + "return %t63\n}";
    assert!(matches!(error(&doubling).code(), "limit" | "unexpected" | "wrong-count"));
    // Nesting deeper than any stack.
    for (open, inside) in [
        ("(", ""),
        ("{a = ", "0"),
        ("tuple<", "tensor<f32>"),
        ("\"stablehlo.map\"() ({ ", ""),
        ("module { ", ""),
    ] {
        let nested =
            format!("module {{ func.func @main() attributes {}{inside}", open.repeat(100_000));
        error(&nested);
        error(&format!("func.func @main(%x: {}", open.repeat(100_000)));
        error(&format!("func.func @main() {{ {}", open.repeat(100_000)));
        error(&open.repeat(100_000));
        error(&format!("#a = {}", open.repeat(100_000)));
    }
    // Types larger than their elements.
    for text in [
        "func.func @main() { %a:99999999999999999999 = stablehlo.constant dense<1> : tensor<i32> }",
        "func.func @main(%x: tensor<99999999999999999999xf32>) { return }",
        "func.func @main() {
  %a = stablehlo.iota dim = 0 : tensor<9999999999999x9999999999999xf32>
  return
}",
        "func.func @main() {
  %a = stablehlo.constant dense<1.0> : tensor<9999999999999x9999999999999xf32>
  return
}",
        "#a = #b
#b = #a
func.func @main(%x: tensor<f32>) {
  %a = \"stablehlo.reverse\"(%x) {dimensions = #a} : (tensor<f32>) -> tensor<f32>
  return
}",
    ] {
        error(text);
    }
    let axes = "1x".repeat(10_000);
    assert_eq!(
        error(&format!("func.func @main(%x: tensor<{axes}f32>) {{ return }}")).code(),
        "limit"
    );
}

#[test]
fn constants_beyond_the_limit_are_refused_before_they_are_read() {
    let code = |bytes, value: &str| {
        let text = format!(
            "func.func @main() -> $T {{\n  %r = stablehlo.constant {value} : $T\n  return %r : $T\n}}"
        );
        let limits = FormatLimits { constant_bytes: bytes, ..FormatLimits::default() };
        let options = ReadOptions::new().limits(limits);
        let source = SourceFile::new("text.mlir", text.replace("$T", "tensor<4xi32>"));
        let model = indim::formats::read(&source, &options).expect("a function");
        model.build(&[]).map(drop).map_err(|error| error.code())
    };
    let blob = "dense<\"0x01000000020000000300000004000000\">";
    for value in ["dense<[1, 2, 3, 4]>", blob] {
        assert_eq!(code(16, value), Ok(()));
        assert_eq!(code(15, value), Err("limit"));
    }
    // The last element would be another error.
    for value in ["dense<[1, 2, 3, 4, x]>", "dense<\"0x0100000002000000030000000400000g\">"] {
        assert_eq!(code(15, value), Err("limit"), "{value}");
        assert_ne!(code(20, value), Err("limit"), "{value}");
    }
    // One element for all takes no memory.
    assert_eq!(code(0, "dense<7>"), Ok(()));
}

#[test]
fn a_list_of_an_attribute_is_short_in_each_form() {
    let entries = vec!["0"; 5000].join(", ");
    for list in [
        format!("array<i64: {entries}>"),
        format!("dense<[{entries}]> : tensor<5000xi64>"),
        "dense<0> : tensor<5000xi64>".to_owned(),
    ] {
        let operation = format!("\"stablehlo.reverse\"(%x) {{dimensions = {list}}} : ($T) -> $T");
        let (code, _, said) = mistake(&unary(&operation));
        assert_eq!(code, "attribute", "{said}");
        assert!(said.contains("is not a list of integers"), "{said}");
    }
}

#[test]
fn each_beginning_of_a_text_gives_an_error_or_a_program() {
    let text = include_str!("stablehlo/everything.mlir");
    assert!(read("everything.mlir", text).is_ok());
    for end in 0..text.len() {
        let Some(beginning) = text.get(..end) else { continue };
        if let Ok(model) = read("beginning.mlir", beginning) {
            let types = model.inputs().iter().filter_map(|input| input.array_type());
            let types: Vec<_> = types.map(indim::formats::InputBinding::Type).collect();
            let _either_is_fine = model.build(&types).is_ok();
        }
    }
}

#[test]
fn unused_attributes_give_a_remark() {
    let remarks = |attributes: &str| {
        let text = format!(
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{
               %0 = \"stablehlo.exponential\"(%x) {{{attributes}}} : (tensor<2xf32>) -> tensor<2xf32>
               return %0 : tensor<2xf32>
             }}"
        );
        let model = read("text.mlir", text).expect("a program");
        let types = model.inputs().iter().filter_map(|input| input.array_type());
        let types: Vec<_> = types.map(InputBinding::Type).collect();
        model.build(&types).expect("a program").remarks
    };
    assert!(remarks("").is_empty());
    assert!(remarks("mhlo.frontend_attributes = {a = \"b\"}, sdy.x = 1 : i64").is_empty());
    let found = remarks("dims = array<i64: 0>");
    assert_eq!(found, ["stablehlo.exponential has no attribute `dims`: it is ignored"]);
}
