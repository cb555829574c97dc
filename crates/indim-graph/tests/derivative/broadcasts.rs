//! Broadcasts and reshapes are linear: their pullback is the adjoint, exactly.

use indim_graph::Value;

use super::{Argument, pullback, value};

/// Every way to give `count` items in order, each once, out of `of`.
fn arrangements(count: usize, of: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let shorter = arrangements(count - 1, of);
    let extended = |known: &Vec<usize>| {
        let free = (0..of).filter(|axis| !known.contains(axis));
        free.map(|axis| [&known[..], &[axis]].concat()).collect::<Vec<_>>()
    };
    shorter.iter().flat_map(extended).collect()
}

/// Small integers, of which sums are exact.
fn integers(seed: usize, count: usize) -> Vec<f64> {
    (0..count).map(|index| ((index * 7 + seed * 5) % 11) as f64 - 4.0).collect()
}

fn check_adjoint(name: &str, function: super::Function<'_>, shape: &[usize]) {
    let count = shape.iter().product();
    let u = integers(1, count);
    let argument = [Argument(shape.to_vec(), u.clone())];
    let moved: Vec<f64> = value(function, &argument);
    let cotangent = integers(2, moved.len());
    let back = pullback(function, &argument, &cotangent).remove(0);
    assert_eq!(super::dot(&cotangent, &moved), super::dot(&back, &u), "{name}");
    // Both sides of the equation could be 0 for another reason.
    let expected = (0..count).map(|index| {
        let mut unit = vec![0.0; count];
        unit[index] = 1.0;
        super::dot(&cotangent, &value(function, &[Argument(shape.to_vec(), unit)]))
    });
    assert_eq!(back, expected.collect::<Vec<f64>>(), "{name}");
}

/// Each map of up to 3 axes onto up to 3, with every choice of axes that are expanded or have size 1 already.
#[test]
fn every_map_of_rank_3_is_pulled_back_by_its_adjoint() {
    let sizes = [2usize, 3, 4];
    let mut checked = 0;
    for rank in 0..=3 {
        for ones in 0..1 << rank {
            let result: Vec<usize> =
                (0..rank).map(|axis| if ones >> axis & 1 == 1 { 1 } else { sizes[axis] }).collect();
            for map in (0..=rank).flat_map(|count| arrangements(count, rank)) {
                for expanded in 0..1 << map.len() {
                    let size = |(from, &to): (usize, &usize)| {
                        if expanded >> from & 1 == 1 { 1 } else { result[to] }
                    };
                    let shape: Vec<usize> = map.iter().enumerate().map(size).collect();
                    let dims: Vec<i64> = map.iter().map(|&axis| axis as i64).collect();
                    let function = |x: &[Value]| {
                        x[0].builder().broadcast_in_dim(&x[0], &dims, &result[..]).unwrap()
                    };
                    check_adjoint(
                        &format!("{shape:?} by {map:?} to {result:?}"),
                        &function,
                        &shape,
                    );
                    checked += 1;
                }
            }
        }
    }
    assert_eq!(checked, 1 + 2 * 3 + 4 * 13 + 8 * 79);
}

#[test]
fn an_axis_of_size_0_sums_to_nothing() {
    let function = |x: &[Value]| x[0].builder().broadcast_in_dim(&x[0], &[1], [0, 2]).unwrap();
    let argument = [Argument(vec![2], vec![1.0, 2.0])];
    assert_eq!(pullback::<f64, f64>(&function, &argument, &[]), [[0.0, 0.0]]);
}

#[test]
fn elements_go_back_to_their_places() {
    let reshape = |x: &[Value]| x[0].builder().reshape(&x[0], [3, 4]).unwrap();
    check_adjoint("reshape", &reshape, &[2, 6]);
    let transpose = |x: &[Value]| x[0].builder().transpose(&x[0], &[2, 0, 1]).unwrap();
    check_adjoint("transpose", &transpose, &[2, 3, 4]);
}

/// The sum of a broadcast is taken in double precision: in `f32` it would stop at 2^24.
#[test]
fn sums_of_cotangents_do_not_stall() {
    let count = (1 << 24) + 2;
    let function = |x: &[Value]| x[0].builder().broadcast(&x[0], &[(1 << 24) + 2]).unwrap();
    let argument = [Argument(vec![], vec![1.0f32])];
    let back = pullback(&function, &argument, &vec![1.0f32; count]);
    assert_eq!(back, [[count as f32]]);
}
