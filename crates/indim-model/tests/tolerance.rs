//! The comparison of results by units in the last place.

use indim_graph::Array;

use indim_model::Tolerance;

#[test]
fn the_largest_ulp_difference_admits_infinities_of_other_signs() {
    let agrees = |found: f32, expected: f32, max| {
        let [found, expected] = [found, expected].map(Array::from_scalar);
        Tolerance::Ulps { min: 0, max }.compare(&found, &expected).is_none()
    };
    let inf = f32::INFINITY;
    for (found, expected) in [(inf, -inf), (inf, 1.0), (f32::NAN, 1.0), (1.0, f32::NAN)] {
        assert!(agrees(found, expected, u64::MAX), "{found} and {expected}");
        assert!(!agrees(found, expected, u64::MAX - 1), "{found} and {expected}");
    }
    for same in [inf, -inf, f32::NAN, 0.5] {
        assert!(agrees(same, same, 0), "{same}");
    }
    assert!(agrees(0.0, -0.0, 0) && agrees(1.0, 1.0 + f32::EPSILON, 1));
}
