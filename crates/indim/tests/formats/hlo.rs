//! HLO text: results of programs, errors, and hostile input.

use crate::support::{read, run};
use indim::formats::{FormatError, FormatErrorKind, InputBinding, SourceFile};
use indim_graph::Array;

fn results(text: &str, inputs: &[Array]) -> Vec<Array> {
    let source = SourceFile::new("text.hlo", text.to_owned());
    let model = read("text.hlo", text).unwrap_or_else(|error| panic!("{}", error.draw(&source)));
    run(model.as_ref(), inputs).unwrap_or_else(|error| panic!("{}", error.draw(&source)))
}

fn error(text: &str) -> FormatError {
    let model = match read("text.hlo", text) {
        Ok(model) => model,
        Err(error) => return error,
    };
    let types = model.inputs().iter().map(|input| input.array_type().expect("types are known"));
    let types: Vec<_> = types.map(InputBinding::Type).collect();
    model.build(&types).expect_err("there is a mistake")
}

fn code_and_line(text: &str) -> (&'static str, usize) {
    let error = error(text);
    let source = SourceFile::new("text.hlo", text.to_owned());
    let span = error.location.span.clone().unwrap_or_else(|| panic!("{error} has no place"));
    (error.code(), source.line_and_column(span.start).0)
}

/// A module whose entry applies one instruction to `x = f32[2,3]`, on line 4.
fn unary(instruction: &str) -> String {
    format!("HloModule m\nENTRY e {{\n  x = f32[2,3] parameter(0)\n  ROOT r = {instruction}\n}}")
}

fn matrix() -> Array {
    Array::new([2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).expect("six")
}

#[test]
fn nested_instructions_need_no_types() {
    let text = "f { p = f32[] parameter(0) one = f32[] constant(1) ROOT r = f32[] add(p, one) }
ENTRY %e.1 (x: f32[2,3]) -> f32[2,3] {
  %x = f32[2,3]{1,0} parameter(0) /* the only one */
  m = f32[2,3] map(x), dimensions={0,1}, to_apply=f
  ROOT r = multiply(f32[2,3] negate(f32[2,3]{1,0} %x), m)
}";
    let found = results(text, &[matrix()]);
    let expected = [-2.0f32, -6.0, -12.0, -20.0, -30.0, -42.0];
    assert_eq!(found[0].elements::<f32>(), Ok(&expected[..]));
}

#[test]
fn tuples_go_through_parameters_calls_and_results() {
    let text = "f {
  t = (f32[2,3], (s32[])) parameter(0)
  ROOT r = ((f32[2,3], (s32[])), pred[]) tuple(t, pred[] constant(true))
}
ENTRY e {
  t = (f32[2,3], (s32[])) parameter(0), metadata={op_name=\"params\"}
  c = ((f32[2,3], (s32[])), pred[]) call(t), to_apply=f
  u = (f32[2,3], (s32[])) get-tuple-element(c), index=0
  x = f32[2,3] get-tuple-element(u), index=0
  ROOT r = (f32[2,3], (f32[2,3], (s32[])), (s8[2], u8[])) tuple(x, u, (s8[2], u8[]) constant(({1, -2}, 3)))
}";
    let model = read("text.hlo", text).expect("a program");
    let names: Vec<&str> = model.inputs().iter().map(|input| input.name.as_str()).collect();
    assert_eq!(names, ["params.0", "params.1.0"]);
    assert_eq!(model.outputs().len(), 5);
    let found = run(model.as_ref(), &[matrix(), Array::from_scalar(7i32)]).expect("it runs");
    assert_eq!(found[..3], [matrix(), matrix(), Array::from_scalar(7i32)]);
    assert_eq!(found[3].elements::<i8>(), Ok(&[1, -2][..]));
    assert_eq!(found[4], Array::from_scalar(3u8));
}

#[test]
fn bitcasts_follow_the_layouts() {
    let transposed = [1.0f32, 4.0, 2.0, 5.0, 3.0, 6.0];
    let same = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    for (instruction, expected) in [
        ("f32[3,2]{1,0} bitcast(x)", &same),
        ("f32[3,2]{0,1} bitcast(x)", &transposed),
        ("f32[3,1,2]{0,1,2} bitcast(x)", &transposed),
        ("f32[6]{0} bitcast(x)", &same),
    ] {
        let found = results(&unary(instruction), &[matrix()]);
        assert_eq!(found[0].elements::<f32>(), Ok(&expected[..]), "{instruction}");
    }
    let bits = results(&unary("s32[3,2]{0,1} bitcast(x)"), &[matrix()]);
    let expected = transposed.map(|x| x.to_bits() as i32);
    assert_eq!(bits[0].elements::<i32>(), Ok(&expected[..]));
    assert_eq!(code_and_line(&unary("f32[6]{0:T(128)} bitcast(x)")), ("unsupported", 4));
    assert_eq!(code_and_line(&unary("f16[2,6] bitcast(x)")).1, 4);
}

#[test]
fn views_and_their_attributes() {
    let f32s = |instruction: &str| {
        let found = results(&unary(instruction), &[matrix()]);
        found[0].elements::<f32>().expect("floats").to_vec()
    };
    assert_eq!(f32s("f32[1,2] slice(x), slice={[1:2], [0:3:2]}"), [4.0, 6.0]);
    assert_eq!(f32s("f32[3,2] transpose(x), dimensions={1,0}"), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    assert_eq!(f32s("f32[2,3] reverse(x), dimensions={0,1}"), [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]);
    let padded = f32s("f32[3,3] pad(x, f32[] constant(9)), padding=0_0_1x-1_1");
    assert_eq!(padded, [2.0, 3.0, 9.0, 9.0, 9.0, 9.0, 5.0, 6.0, 9.0]);
    let twice = f32s("f32[2,6] concatenate(x, f32[2,3] negate(x)), dimensions={1}");
    assert_eq!(twice[..6], [1.0, 2.0, 3.0, -1.0, -2.0, -3.0]);
    let rows = f32s("f32[2,2,3] broadcast(x), dimensions={1,2}");
    assert_eq!(rows[..6], rows[6..]);
    let coarse = f32s("f32[2,3] reduce-precision(x), exponent_bits=8, mantissa_bits=0");
    // Ties go to even mantissas: 2 has an even one, 4 an odd one.
    assert_eq!(coarse, [1.0, 2.0, 2.0, 4.0, 4.0, 8.0]);
}

#[test]
fn constants_are_of_their_type() {
    let constant = |of: &str, literal: &str| {
        results(&format!("ENTRY e {{\nROOT c = {of} constant({literal})\n}}"), &[]).remove(0)
    };
    let bits = |array: Array| array.to_le_bytes();
    assert_eq!(bits(constant("f32[]", "nan(0x400001)")), [1, 0, 0xC0, 0x7F]);
    assert_eq!(bits(constant("f16[2]", "{-nan, -inf}")), [0, 0xFE, 0, 0xFC]);
    assert_eq!(bits(constant("bf16[]", "0.1001")), [0xCD, 0x3D]);
    assert_eq!(bits(constant("c64[1]", "{(1, -0)}")), [0, 0, 0x80, 0x3F, 0, 0, 0, 0x80]);
    assert_eq!(bits(constant("pred[2,2]", "{ {0, 1}, {true, false} }")), [0, 1, 1, 0]);
    assert_eq!(bits(constant("f32[2,0]", "{ {}, {} }")), [0u8; 0]);
    for (of, literal, code) in [
        ("f16[]", "70000", "bad-element"),
        ("u8[]", "-1", "bad-element"),
        ("f32[]", "1e39", "bad-element"),
        ("f32[]", ".5", "bad-element"),
        ("f32[]", "0x7F", "bad-element"),
        ("s64[]", "9223372036854775808", "bad-element"),
        ("c64[]", "1", "bad-element"),
        ("f32[2,2]", "1", "wrong-element-count"),
        ("f32[2,2]", "{1, 2, 3, 4}", "wrong-element-count"),
        ("f32[2]", "{1, 2, 3}", "wrong-element-count"),
        ("f32[999999999999]", "{1}", "wrong-element-count"),
        ("f32[20]", "{...}", "elided-elements"),
        ("f32[]", "1, 2", "unexpected"),
    ] {
        let text = format!("ENTRY e {{\n\nROOT c = {of} constant({literal})\n}}");
        assert_eq!(code_and_line(&text), (code, 3), "{of} constant({literal})");
    }
}

#[test]
fn mistakes_have_a_code_and_a_line() {
    for (instruction, code) in [
        ("f32[2,3] add(x, y)", "undefined"),
        ("f32[2,3] add(x)", "wrong-count"),
        ("f32[2,3] add(x, f32[] constant(1))", "shapes-differ"),
        ("f16[2,3] add(x, x)", "type-mismatch"),
        ("f32[3,2] reshape(x), metadata={", "unexpected"),
        ("f32[7] reshape(x)", "reshape-element-count"),
        ("f32[2,3] negate(x), dimensions={0}", "attribute"),
        ("f32[2,3] negate(x), metadata={op_name=\"n\"}, mode=fast", "attribute"),
        ("reshape(x)", "unexpected"),
        ("f32[2,3] transpose(x), dimensions={0,0}", "not-a-permutation"),
        ("f32[2,3,2] broadcast(x), dimensions={0,2}", "size-mismatch"),
        ("f32[2,2] slice(x), slice={[0:2], [0:5]}", "attribute"),
        ("f32[2,2] slice(x)", "attribute"),
        ("pred[2,3] compare(x, x)", "attribute"),
        ("f32[2] reduce(x, f32[] constant(0)), dimensions={1}", "attribute"),
        ("f32[2,3] call(x), to_apply=nothing", "undefined"),
        ("f32[2,<=3] negate(x)", "unsupported"),
        ("f32[2,3]{0,0} negate(x)", "attribute"),
        ("s2[2,3] convert(x)", "unsupported-type"),
        ("token[] after-all()", "unsupported-op"),
        ("f32[2,3] is_finite(x)", "unsupported-op"),
        ("f32[2,3] custom-call(x), custom_call_target=\"mine\"", "unsupported-op"),
    ] {
        let (found, line) = code_and_line(&unary(instruction));
        assert_eq!(found, code, "{instruction}");
        assert!(line == 4 || code == "unexpected", "{instruction} at line {line}");
    }
    for (text, code) in [
        ("ENTRY e {\n  x = f32[] parameter(1)\n  ROOT r = f32[] negate(x)\n}", "attribute"),
        ("ENTRY e {\n  x = f32[] parameter(0)\n  ROOT y = f32[] parameter(0)\n}", "attribute"),
        ("ENTRY e {\n  x = f32[] parameter(0)\n  ROOT x = f32[] negate(x)\n}", "duplicate"),
        ("ENTRY e {\n}", "unexpected"),
        ("HloModule m", "unexpected"),
        ("ENTRY e {\n  x = f32[] parameter(0)", "unexpected"),
        ("ENTRY e {\n  x = f32[] parameter(0) /* ", "unexpected"),
    ] {
        assert_eq!(code_and_line(text).0, code, "{text}");
    }
}

#[test]
fn one_error_lists_all_unsupported_operations() {
    let text = "HloModule m
sub { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] subtract(a, b) }
fused {
  a = f32[2,2] parameter(0)
  ROOT r = f32[2,2] ragged-dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
ENTRY e {
  x = f32[2,2] parameter(0)
  d = f32[2,2] ragged-dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  f = f32[2,2] fusion(d), kind=kOutput, calls=fused
  s = f32[2,2] sort(f), dimensions={0}, to_apply=sub
  ROOT r = f32[2] reduce(s, f32[] constant(0)), dimensions={1}, to_apply=sub
}";
    let error = error(text);
    assert!(error.is_out_of_scope());
    let FormatErrorKind::UnsupportedOperations(operations) = &error.kind else {
        panic!("{error}");
    };
    let found: Vec<(&str, usize)> = operations.iter().map(|o| (o.name.as_str(), o.count)).collect();
    assert_eq!(found, [("ragged-dot", 2), ("sort", 1), ("reduce", 1)]);
}

#[test]
fn hostile_texts_end_quickly() {
    // Exponential expansion of calls.
    let mut text = "f0 { ROOT p = f32[] parameter(0) }\n".to_owned();
    for level in 1..100 {
        let below = level - 1;
        text += &format!(
            "f{level} {{ p = f32[] parameter(0) a = f32[] call(p), to_apply=f{below} \
             ROOT b = f32[] call(a), to_apply=f{below} }}\n"
        );
    }
    assert_eq!(error(&text).code(), "limit");
    // Exponential expansion of empty tuples.
    let mut text = "ENTRY e {\nt0 = () tuple()\n".to_owned();
    for level in 1..64 {
        text += &format!("t{level} = tuple(t{below}, t{below})\n", below = level - 1);
    }
    assert_eq!(error(&format!("{text}}}")).code(), "limit");
    let branch = "r = conditional(p, t63, t63), branch_computations={c, c}\n}";
    let text = text.replacen("ENTRY e {\n", "ENTRY e {\np = s32[] parameter(0)\n", 1) + branch;
    assert_eq!(error(&format!("c {{ ROOT p = () parameter(0) }}\n{text}")).code(), "limit");
    // Nesting deeper than any stack.
    for open in ["(", "f32[] negate(", "{", "((f32[], "] {
        let open = open.repeat(100_000);
        error(&format!("ENTRY e {{ r = {open}"));
        error(&format!("ENTRY e {{ r = f32[] negate({open}"));
        error(&format!("HloModule m, a={open}"));
        error(&format!("ENTRY e {{ r = f32[] constant({open}"));
    }
    for text in [
        "ENTRY e { ROOT r = f32[99999999999999999999] iota(), iota_dimension=0 }",
        "ENTRY e { ROOT r = f32[9999999999,9999999999] iota(), iota_dimension=0 }",
        "ENTRY e { x = f32[] parameter(99999999999999999999) }",
    ] {
        error(text);
    }
}

#[test]
fn each_beginning_of_a_text_gives_an_error_or_a_program() {
    let text = "HloModule m, entry_computation_layout={(f32[2,3]{1,0}, /*index=1*/s32[])->f32[2]{0}}

FileNames
1 \"a.py\"

StackFrames
1 {file_location_id=1 parent_frame_id=1}

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %r = f32[] add(%a, %b), metadata={op_name=\"jit(f)/{odd} \\\"name\\\"\"}
}

ENTRY %e (x: f32[2,3], n: s32[]) -> f32[2] {
  %x = f32[2,3]{1,0} parameter(0)
  %n = s32[] parameter(1)
  %c = f32[2,3]{0,1} constant({ { 1, -2.5e-3, nan }, { inf, (0), 1 } })
  ROOT %r = f32[2]{0} reduce(f32[2,3]{1,0} negate(%x), f32[] constant(-0)), dimensions={1}, to_apply=%add
}";
    for end in 0..=text.len() {
        if let Ok(model) = read("beginning.hlo", &text[..end]) {
            let types = model.inputs().iter().filter_map(|input| input.array_type());
            let types: Vec<_> = types.map(InputBinding::Type).collect();
            let _either_is_fine = model.build(&types).is_ok();
        }
    }
}

#[test]
fn gathers_take_elements_along_one_axis() {
    let text = unary(
        "f32[2,2] gather(x, s32[2,1] constant({{2},{0}})), offset_dims={0}, \
         collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, slice_sizes={2,1}",
    );
    assert_eq!(results(&text, &[matrix()])[0].elements::<f32>(), Ok(&[3.0f32, 1.0, 6.0, 4.0][..]));
    let pairs = text.replace("start_index_map={1}", "start_index_map={0,1}");
    assert_eq!(code_and_line(&pairs), ("attribute", 4));
}
