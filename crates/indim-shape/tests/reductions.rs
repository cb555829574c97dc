//! Reduction rules: every label, the defaults of each system, and conversion between rules.

use indim_shape::{
    OnnxAxes, OnnxReduction, ReductionForm, ReductionRule, ReductionRuleName, Shape,
    convert_reduction, find_reduction_repairs,
};
use proptest::prelude::*;

fn numpy(axis: &[i64], keepdims: bool) -> ReductionRule {
    ReductionRule::Numpy { axis: Some(axis.to_vec()), keepdims }
}

fn array_api(axis: &[i64]) -> ReductionRule {
    ReductionRule::ArrayApi { axis: Some(axis.to_vec()), keepdims: false }
}

fn xla(dimensions: &[i64]) -> ReductionRule {
    ReductionRule::Xla { dimensions: dimensions.to_vec() }
}

fn openvino(axes: &[i64]) -> ReductionRule {
    ReductionRule::OpenVino { axes: axes.to_vec(), keep_dims: false }
}

fn pdpd(axis: &[i64]) -> ReductionRule {
    ReductionRule::Pdpd { axis: Some(axis.to_vec()), keepdim: false }
}

fn onnx(opset: u32, axes: OnnxAxes) -> OnnxReduction {
    OnnxReduction { axes, ..OnnxReduction::new(opset, false) }
}

fn attribute(axes: &[i64]) -> OnnxAxes {
    OnnxAxes::Attribute(axes.to_vec())
}

fn input(axes: &[i64]) -> OnnxAxes {
    OnnxAxes::Input(axes.to_vec())
}

/// The axes and the result's shape.
fn form(rule: &ReductionRule, operand: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let form = rule.elaborate(&Shape::from(operand)).expect("the rule takes this");
    (form.axes().to_vec(), form.result().to_vec())
}

fn refusal(rule: ReductionRule, operand: &[usize]) -> (&'static str, &'static str) {
    let error = rule.elaborate(&Shape::from(operand)).expect_err("the rule refuses this");
    (error.label(), error.code())
}

#[test]
fn every_label_has_a_case_on_each_side() {
    let operand = [4, 3, 2];
    assert_eq!(form(&numpy(&[-3], false), &operand), (vec![0], vec![3, 2]));
    for rule in
        [numpy(&[-4], false), array_api(&[3]), xla(&[3]), openvino(&[-4]), pdpd(&[i64::MIN])]
    {
        assert_eq!(refusal(rule, &operand), ("R1", "axis-out-of-range"));
    }
    assert_eq!(form(&xla(&[2, 0]), &operand), (vec![0, 2], vec![3]));
    assert_eq!(refusal(xla(&[2, -3]), &operand), ("R2", "axis-negative"));
    let stablehlo = ReductionRule::StableHlo { dimensions: vec![-1] };
    assert_eq!(refusal(stablehlo, &operand), ("R2", "axis-negative"));
    for rule in [numpy(&[1, -2], false), xla(&[1, 1]), openvino(&[0, -3]), pdpd(&[2, 2])] {
        assert_eq!(refusal(rule, &operand), ("R3", "axes-not-unique"));
    }
    assert_eq!(form(&numpy(&[], false), &operand), (vec![], operand.to_vec()));
    assert_eq!(refusal(openvino(&[]), &operand), ("R4", "axes-missing"));
    assert_eq!(refusal(pdpd(&[]), &operand), ("R4", "axes-missing"));
}

#[test]
fn a_scalar_has_two_axes_in_numpy_alone() {
    assert_eq!(form(&numpy(&[0], true), &[]), (vec![], vec![]));
    assert_eq!(form(&numpy(&[-1], false), &[]), (vec![], vec![]));
    assert_eq!(refusal(numpy(&[1], false), &[]), ("R1", "axis-out-of-range"));
    assert_eq!(refusal(numpy(&[0, -1], false), &[]), ("R3", "axes-not-unique"));
    assert_eq!(refusal(array_api(&[0]), &[]), ("R1", "axis-out-of-range"));
    let all = ReductionRule::ArrayApi { axis: None, keepdims: false };
    assert_eq!(form(&all, &[]), (vec![], vec![]));
}

#[test]
fn onnx_goes_by_its_opset() {
    let operand = [4, 3];
    let under = |onnx: OnnxReduction| ReductionRule::Onnx(onnx);
    assert_eq!(form(&under(onnx(11, attribute(&[-1]))), &operand), (vec![1], vec![4, 1]));
    assert_eq!(refusal(under(onnx(10, attribute(&[-1]))), &operand), ("R2", "axis-negative"));
    assert_eq!(form(&under(onnx(17, attribute(&[0]))), &operand).1, [1, 3]);
    assert_eq!(form(&under(onnx(18, input(&[0]))), &operand).1, [1, 3]);
    assert_eq!(refusal(under(onnx(18, attribute(&[0]))), &operand), ("R5", "axes-misplaced"));
    assert_eq!(refusal(under(onnx(17, input(&[0]))), &operand), ("R5", "axes-misplaced"));
    let sum = OnnxReduction { is_sum: true, ..onnx(13, input(&[0])) };
    assert_eq!(form(&under(sum), &operand).1, [1, 3]);
    for axes in [OnnxAxes::Absent, input(&[])] {
        let all = onnx(18, axes.clone());
        assert_eq!(form(&under(all.clone()), &operand).1, [1, 1]);
        let dropped = OnnxReduction { keepdims: false, ..all.clone() };
        assert_eq!(form(&under(dropped), &operand).1, []);
        let noop = OnnxReduction { noop_with_empty_axes: true, ..all };
        assert_eq!(form(&under(noop), &operand), (vec![], operand.to_vec()));
    }
    let noop = OnnxReduction { noop_with_empty_axes: true, ..onnx(17, OnnxAxes::Absent) };
    assert_eq!(refusal(under(noop), &operand), ("R6", "foreign-attribute"));
    assert_eq!(refusal(under(onnx(18, input(&[1, -1]))), &operand), ("R3", "axes-not-unique"));
}

#[test]
fn advice_names_what_works() {
    let advice = |rule: ReductionRule, operand: &[usize]| {
        rule.elaborate(&Shape::from(operand)).unwrap_err().advice()
    };
    assert_eq!(advice(xla(&[-1]), &[4, 3]), "write 1, the same axis from the front");
    assert_eq!(advice(xla(&[-3]), &[4, 3]), "count axes from the front");
    assert_eq!(advice(xla(&[2]), &[4, 3]), "name an axis from 0 to 1");
    assert_eq!(advice(array_api(&[0]), &[]), "a scalar has no axes: leave them out");
    let misplaced = ReductionRule::Onnx(onnx(18, attribute(&[0])));
    let expected = "axes are an attribute before opset 18, and an input since then";
    assert_eq!(advice(misplaced, &[3]), expected);
}

/// Every reduction of a shape: each set of axes, kept or removed.
fn forms(operand: &Shape) -> Vec<ReductionForm> {
    let rank = operand.rank();
    let axes_of =
        |set: usize| (0..rank).filter(move |axis| set >> axis & 1 == 1).map(|axis| axis as i64);
    let rules = (0..1 << rank).flat_map(|set: usize| {
        [false, true].map(|keepdims| numpy(&axes_of(set).collect::<Vec<i64>>(), keepdims))
    });
    rules.map(|rule| rule.elaborate(operand).unwrap()).collect()
}

proptest! {
    #[test]
    fn conversion_keeps_the_meaning(sizes in prop::collection::vec(0usize..4, 0..5)) {
        let operand = Shape::from(sizes);
        for form in forms(&operand) {
            // The definition, axis by axis.
            let mut expected = Vec::new();
            for (axis, &size) in operand.iter().enumerate() {
                match form.axes().contains(&axis) {
                    true if form.keeps_axes() => expected.push(1),
                    true => {}
                    false => expected.push(size),
                }
            }
            prop_assert_eq!(&form.result().to_vec(), &expected);
            for &name in ReductionRuleName::ALL {
                match convert_reduction(&form, name) {
                    Ok(converted) => {
                        let elaborated = converted.rule.elaborate(&operand).unwrap();
                        prop_assert_eq!(elaborated.axes(), form.axes());
                        prop_assert_eq!(converted.result(&operand).unwrap(), form.result());
                        prop_assert!(converted.to_string().starts_with(name.as_str()));
                    }
                    Err(reason) => prop_assert!(form.axes().is_empty(), "{}", reason),
                }
            }
        }
    }

    #[test]
    fn no_list_makes_a_panic(
        sizes in prop::collection::vec(0usize..4, 0..4),
        axes in prop::collection::vec(prop_oneof![-5i64..5, any::<i64>()], 0..4),
        opset in 1u32..20,
        noop: bool,
    ) {
        let operand = Shape::from(sizes);
        let in_onnx = |axes| ReductionRule::Onnx(OnnxReduction {
            noop_with_empty_axes: noop, ..onnx(opset, axes)
        });
        let rules = [
            numpy(&axes, noop), array_api(&axes), xla(&axes), openvino(&axes), pdpd(&axes),
            in_onnx(attribute(&axes)), in_onnx(input(&axes)),
        ];
        for rule in rules {
            if let Err(error) = rule.elaborate(&operand) {
                prop_assert!(!error.advice().is_empty() && !error.diagnostic("sum").to_string().is_empty());
            }
        }
    }
}

/// All rules that list axes, with lists of up to two axes, on operands of rank up to three.
#[test]
fn repairs_are_legal_and_of_the_same_rule() {
    let axes: Vec<i64> = (-4..5).collect();
    let pairs = axes.iter().flat_map(|&a| axes.iter().map(move |&b| vec![a, b]));
    let lists: Vec<Vec<i64>> =
        core::iter::once(vec![]).chain(axes.iter().map(|&a| vec![a])).chain(pairs).collect();
    let (mut refused, mut repaired) = (0, 0);
    for (list, rank) in lists.iter().flat_map(|list| (0..4).map(move |rank| (list, rank))) {
        let operand: Shape = (0..rank).map(|axis| axis + 2).collect();
        let of_onnx = [1, 11, 13, 18].map(|opset| {
            ReductionRule::Onnx(OnnxReduction {
                axes: OnnxAxes::Attribute(list.clone()),
                noop_with_empty_axes: true,
                ..OnnxReduction::new(opset, false)
            })
        });
        let named = ReductionRuleName::ALL.iter().map(|name| name.rule(Some(list), false, rank));
        for rule in named.chain(of_onnx) {
            let Err(error) = rule.elaborate(&operand) else { continue };
            refused += 1;
            let repairs = find_reduction_repairs(&error);
            repaired += usize::from(!repairs.is_empty());
            for repair in repairs {
                let form = repair.elaborate(&operand).expect("a repair is legal");
                assert_eq!(core::mem::discriminant(&repair), core::mem::discriminant(&rule));
                assert_eq!(
                    form.keeps_axes(),
                    matches!(&rule, ReductionRule::Onnx(onnx) if onnx.keepdims)
                );
            }
        }
    }
    assert!(repaired * 3 > refused, "{repaired} of {refused}");
}
