//! Complete drawings.

use indim_shape::{
    Broadcast, OperandLabel, RuleSet, Shape, TargetRule, draw_broadcast, draw_error,
};

fn labels<'a>(names: &[&'a str]) -> Vec<OperandLabel<'a>> {
    names.iter().map(|name| OperandLabel::new(name, "f32")).collect()
}

fn refused(rule: RuleSet, shapes: &[&[usize]], operation: &str, names: &[&str]) -> String {
    let shapes: Vec<Shape> = shapes.iter().map(|&sizes| Shape::from(sizes)).collect();
    draw_error(&rule.elaborate(&shapes).expect_err("a refusal is drawn"), operation, &labels(names))
}

#[test]
fn a_bias_under_numpy() {
    let drawing = refused(RuleSet::Numpy, &[&[1, 3, 224, 224], &[3]], "add", &["x", "bias"]);
    let expected = "\
error[size-mismatch]: `add` cannot broadcast `bias` onto `x` under rule numpy
   x    : f32[1, 3, 224, 224]
   bias : f32[             3]
                           ^ axis 0 of `bias` is 3, axis 3 of `x` is 224
   = rule N2: right-aligned axes must be equal, or one of them 1
   = help: broadcast_dimensions=[1] gives f32[1, 3, 224, 224] (the only axis of `x` of size 3)
   = help: pdpd axis=1 gives the same; so does bias reshaped to [3, 1, 1] under numpy
";
    assert_eq!(drawing, expected);
}

#[test]
fn no_list_under_xla() {
    let drawing = refused(RuleSet::Xla { dims: vec![] }, &[&[2, 3], &[3]], "add", &["X", "v"]);
    let expected = "\
error[rank-mismatch-without-dims]: `add` cannot broadcast `v` onto `X` under rule xla
   X : f32[2, 3]
   v : f32[3]
   = note: `v` has fewer axes than `X`, and broadcast_dimensions does not place them
   = rule X4: for different ranks, broadcast_dimensions places the axes of the smaller operand
   = help: broadcast_dimensions=[1] gives f32[2, 3] (the only axis of `X` of size 3)
   = help: pdpd axis=1 gives the same; so does numpy
";
    assert_eq!(drawing, expected);
}

#[test]
fn pdpd_stands_where_the_axis_says() {
    let shapes: [&[usize]; 2] = [&[2, 3, 400, 5], &[3, 40]];
    let drawing = refused(RuleSet::Pdpd { axis: Some(1) }, &shapes, "mul", &["A", "B"]);
    let expected = "\
error[size-mismatch]: `mul` cannot broadcast `B` onto `A` under rule pdpd axis=1
   A : f32[2, 3, 400, 5]
   B : f32[   3,  40]
                  ^^ axis 1 of `B` is 40, axis 2 of `A` is 400
   = rule P5: only the broadcast operand expands: each of its sizes is 1 or that of the axis it maps to
";
    assert_eq!(drawing, expected);
}

#[test]
fn a_target_and_no_labels() {
    let rule = TargetRule::Unidirectional;
    let error = rule.elaborate(&Shape::from([3]), &Shape::from([3, 4])).unwrap_err();
    let expected = "\
error[size-mismatch]: `broadcast` cannot broadcast operand 0 to [3, 4] under rule unidirectional
   operand 0 : [   3]
                   ^ axis 0 of operand 0 is 3, axis 1 of the target is 4
   target    : [3, 4]
   = rule T1: right-aligned, a size of the data is 1 or that of the target
   = help: explicit axes_mapping=[0] gives [3, 4] (the only axis of the target of size 3)
   = help: operand 0 reshaped to [3, 1] under unidirectional gives the same
";
    assert_eq!(draw_error(&error, "broadcast", &[]), expected);
}

#[test]
fn a_legal_broadcast() {
    let shapes = [Shape::from([1, 3, 224, 224]), Shape::from([3])];
    let form = RuleSet::Xla { dims: vec![1] }.elaborate(&shapes).unwrap();
    let expected = "\
result axis  0   1     2     3
x : f32      1   3   224   224
bias : f32   .   3     .     .
result       1   3   224   224

n kept   . repeated
";
    assert_eq!(draw_broadcast(&form, &labels(&["x", "bias"])), expected);
}

#[test]
fn a_permuting_broadcast() {
    let data = [Shape::from([2, 1])];
    let form = Broadcast::explicit(&data, &[vec![2, 1]], Shape::from([5, 3, 2])).unwrap();
    let expected = "\
result axis  0     1     2
x : f32      .   1:1*  0:2
result       5     3     2

n kept   1* expanded from 1   . repeated   i:n axis i of the operand
";
    assert_eq!(draw_broadcast(&form, &labels(&["x"])), expected);
}

#[test]
fn scalars_have_no_columns() {
    let form = RuleSet::Numpy.elaborate(&[Shape::scalar(), Shape::scalar()]).unwrap();
    assert_eq!(draw_broadcast(&form, &[]), "every operand and the result are scalars\n");
}
