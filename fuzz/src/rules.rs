//! The rule sets: elaboration is compared with the naive oracle of `indim-shape`'s tests. Each explicit
//! form is checked again, converted to every rule set and drawn; each repair of an error is tried, and
//! the error is drawn.

use indim_shape::{
    Broadcast, RuleSet, RuleSetName, Shape, ShapeError, TargetRule, check_broadcast_in_dim,
    convert_broadcast, draw_broadcast, draw_error, find_repairs, surprising_outer_product,
};
use naive::oracle;

use crate::choices::choices;

#[path = "../../crates/indim-shape/tests/common/mod.rs"]
mod naive;

/// Maximum number of elements of a shape that is not hostile: the oracle visits every element.
const MAXIMUM_ELEMENTS: usize = 36;

/// Makes shapes and a rule of the bytes.
pub fn run(bytes: &[u8]) {
    let mut next = choices(bytes);
    // One input in eight has sizes and attributes that no array has. The rules must not panic on them;
    // the oracle does not judge them.
    let hostile = next(8) == 7;
    let count = 1 + next(4);
    let shapes: Vec<Shape> = (0..count).map(|_| shape(&mut next, hostile)).collect();
    if next(3) == 0 {
        let rule = target_rule(&mut next, hostile);
        let (data, target) = (&shapes[0], shapes.get(1).unwrap_or(&shapes[0]));
        let elaborated = rule.elaborate(data, target);
        let agrees = || oracle::agree(&elaborated, &oracle::target(&rule, data, target));
        assert!(hostile || agrees(), "{rule} {data} {target}: {elaborated:?}");
        check(elaborated);
    } else {
        let rule = rule_set(&mut next, hostile);
        let elaborated = rule.elaborate(&shapes);
        let agrees = || oracle::agree(&elaborated, &oracle::elementwise(&rule, &shapes));
        assert!(hostile || agrees(), "{rule} {shapes:?}: {elaborated:?}");
        check(elaborated);
    }
}

fn shape(next: &mut impl FnMut(usize) -> usize, hostile: bool) -> Shape {
    if hostile {
        let sizes = [0, 1, 2, 3, 1 << 20, 1 << 32, isize::MAX as usize, usize::MAX];
        return (0..next(80)).map(|_| sizes[next(sizes.len())]).collect();
    }
    let mut elements = 1;
    let mut size = || {
        let size = [1, 2, 1, 3, 2, 0][next(6)];
        let size = if elements * size > MAXIMUM_ELEMENTS { 1 } else { size };
        elements *= size.max(1);
        size
    };
    let sizes: Vec<usize> = (0..8).map(|_| size()).collect();
    sizes[..next(sizes.len())].into()
}

/// A list of axes; in half of the cases they increase.
fn list(next: &mut impl FnMut(usize) -> usize, hostile: bool) -> Vec<i64> {
    let length = next(8);
    let increases = next(2) == 0;
    let mut list: Vec<i64> = (0..length).map(|_| attribute(next, hostile)).collect();
    if increases {
        list.sort_unstable();
        list.dedup();
    }
    list
}

fn attribute(next: &mut impl FnMut(usize) -> usize, hostile: bool) -> i64 {
    let extremes = [i64::MIN, -2, i64::MAX, 1 << 32];
    match hostile {
        true => extremes[next(extremes.len())],
        false => next(11) as i64 - 2,
    }
}

fn axis(next: &mut impl FnMut(usize) -> usize, hostile: bool) -> Option<i64> {
    (next(4) > 0).then(|| attribute(next, hostile))
}

fn rule_set(next: &mut impl FnMut(usize) -> usize, hostile: bool) -> RuleSet {
    match next(8) {
        0 => RuleSet::None,
        1 => RuleSet::Numpy,
        2 => RuleSet::StableHlo,
        3 => RuleSet::StableHloSelect,
        4 => RuleSet::Pdpd { axis: axis(next, hostile) },
        5 => RuleSet::OnnxLegacy { broadcast: next(4) > 0, axis: axis(next, hostile) },
        _ => RuleSet::Xla { dims: list(next, hostile) },
    }
}

fn target_rule(next: &mut impl FnMut(usize) -> usize, hostile: bool) -> TargetRule {
    match next(8) {
        0 => TargetRule::Unidirectional,
        1 => TargetRule::Bidirectional,
        2 => TargetRule::XlaBroadcast,
        3 => TargetRule::Pdpd { axis: axis(next, hostile) },
        4 => TargetRule::Explicit { axes: list(next, hostile) },
        5 => TargetRule::XlaBroadcastInDim { dims: list(next, hostile) },
        6 => TargetRule::StableHloBroadcastInDim { dims: list(next, hostile) },
        _ => TargetRule::HloBroadcast { dims: list(next, hostile) },
    }
}

fn check(elaborated: Result<Broadcast, ShapeError>) {
    match elaborated {
        Ok(form) => check_form(&form),
        Err(error) => check_error(&error),
    }
}

/// The form is legal by the rules of the explicit form, and its conversion to each rule set that can
/// express it is the same broadcast.
fn check_form(form: &Broadcast) {
    let dims = |map: &indim_shape::AxisMap| map.iter().map(|&axis| axis as i64).collect();
    let all: Vec<Vec<i64>> = form.maps().iter().map(dims).collect();
    for (operand, dims) in form.operands().iter().zip(&all) {
        check_broadcast_in_dim(operand, dims, form.result()).unwrap();
    }
    let rebuilt = Broadcast::explicit(form.operands(), &all, form.result().clone());
    assert_eq!(rebuilt.as_ref(), Ok(form));
    draw_broadcast(form, &[]);
    surprising_outer_product(form, 10);
    for name in RuleSetName::ALL {
        let Ok(expressed) = convert_broadcast(form, name) else { continue };
        let elaborated = expressed.elaborate(form.operands()).unwrap();
        assert_eq!(elaborated.result(), form.result(), "{form:?} as {expressed}");
        if expressed.reshapes.iter().all(Option::is_none) {
            assert_eq!(elaborated, *form, "{expressed}");
        } else if is_small(form.result()) {
            assert_eq!(naive::reads(&elaborated), naive::reads(form), "{form:?} as {expressed}");
        }
    }
}

/// Whether the shape has at most 2^12 indices, so that `naive::reads` may list them; an axis of size 0
/// counts as one of size 1.
fn is_small(shape: &Shape) -> bool {
    shape.iter().fold(1_usize, |count, &size| count.saturating_mul(size.max(1))) <= 1 << 12
}

/// Checks the texts of an error, its drawing and its repairs.
fn check_error(error: &ShapeError) {
    assert!(!error.to_string().contains('\n') && !error.label().is_empty());
    assert!(draw_error(error, "add", &[]).starts_with(&format!("error[{}]", error.code())));
    for repair in find_repairs(error) {
        let form = repair.elaborate(error.shapes()).unwrap();
        assert_eq!(form.result(), &repair.result);
    }
}
