//! `evaluate`: named inputs, the cache between calls, and errors.

use indim::{Array, ArrayView, Input, evaluate, evaluate_all};

fn floats(result: indim::Array) -> Vec<f32> {
    result.into_vec().expect("the result is of f32")
}

#[test]
fn names_bind_arrays_of_any_kind_and_numbers() {
    let x = Array::new([2, 2], vec![1.0f32, 2.0, 3.0, 4.0]).unwrap();
    let column = [10.0f32, 20.0];
    let doubled = evaluate("x * 2", [("x", &x)]).unwrap();
    let inputs = [
        ("v", Input::from(&column)),
        ("d", Input::from(&doubled)),
        ("k", Input::from(0.5)),
        ("x", Input::from(&x)),
    ];
    let result = evaluate("add(d, v, dims=[0]) + x * k", inputs).unwrap();
    assert_eq!(floats(result), [12.5, 15.0, 27.5, 30.0]);
    // A number adapts to the array's type: `x + k` stays `f32`.
    assert_eq!(
        floats(evaluate("x + k", [("x", (&column).into()), ("k", Input::from(1))]).unwrap()),
        [11.0, 21.0]
    );
}

#[test]
fn what_is_kept_holds_for_the_same_types_shapes_and_numbers_alone() {
    let run = |x: ArrayView<'_>, k: Input<'_>| {
        evaluate("where(x > 0, x, copysign(k, x))", [("x", x.into()), ("k", k)]).unwrap()
    };
    for _ in 0..3 {
        assert_eq!(
            run((&[1.0f64, -1.0]).into(), 0.0.into()).elements::<f64>().unwrap(),
            [1.0, 0.0]
        );
        assert_eq!(
            run((&[1.0f64, -1.0]).into(), 3.0.into()).elements::<f64>().unwrap(),
            [1.0, -3.0]
        );
        assert_eq!(floats(run((&[1.0f32, -1.0, 2.0]).into(), 3.0.into())), [1.0, -3.0, 2.0]);
        let infinite =
            evaluate("1 / (x * k)", [("x", (&[1.0f64]).into()), ("k", Input::from(-0.0))]);
        assert_eq!(infinite.unwrap().elements::<f64>().unwrap(), [f64::NEG_INFINITY]);
        let infinite =
            evaluate("1 / (x * k)", [("x", (&[1.0f64]).into()), ("k", Input::from(0.0))]);
        assert_eq!(infinite.unwrap().elements::<f64>().unwrap(), [f64::INFINITY]);
    }
}

/// Sizes beyond those that a program for all sizes accepts.
#[test]
#[cfg(target_pointer_width = "64")]
fn long_axes_follow_short_ones() {
    let shape = |of: &indim::Array| of.array_type().shape.to_vec();
    let empty: [f64; 0] = [];
    for size in [2, 1 << 31, 3, (1 << 31) + 1, 0, 1, (1 << 31) - 1, 1 << 31] {
        let x = ArrayView::from_slice([0, size], &empty).unwrap();
        assert_eq!(shape(&evaluate("x - 1", [("x", x)]).unwrap()), [0, size]);
    }
    let one = [7u8];
    for size in [5, 1 << 31, 6, 1 << 33, 7] {
        let x = ArrayView::from_bytes(
            indim::ArrayType::new(indim::DType::U8, [size, 3]),
            vec![0, 0],
            &one,
            0,
        );
        let result = evaluate("sum(i32(x[:4]) - 5, axis=0)", [("x", x.unwrap())]).unwrap();
        assert_eq!(result.elements::<i64>(), Ok(&[8; 3][..]), "{size}");
    }
    // The intermediate array of f64 would be too large if it had a row.
    for sizes in [[4, 5], [(1 << 31) - 1, (1 << 31) - 2], [3, 4]] {
        let x = ArrayView::from_slice([0, sizes[0], sizes[1]], &[0u8; 0]).unwrap();
        assert_eq!(evaluate("sum(x * 0.5)", [("x", x)]).unwrap().elements(), Ok(&[0.0][..]));
    }
}

/// More texts than the cache keeps, from several threads, twice.
#[test]
fn many_texts_at_once_are_right() {
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for number in (0..100).chain(0..100) {
                    let text = format!("x + {}", number * (thread + 1));
                    let result = evaluate(&text, [("x", &[1.0f32])]).unwrap();
                    assert_eq!(floats(result), [(number * (thread + 1) + 1) as f32]);
                }
            });
        }
    });
}

#[test]
fn mistakes_are_drawn_with_the_line_of_the_caller() {
    let (x, y) = ([1.0f32, 2.0], [1.0f32, 2.0, 3.0]);
    let inputs = || [("x", Input::from(&x)), ("y", Input::from(&y))];
    let cases = [
        (line!(), "size-mismatch", evaluate("x + y", inputs())),
        (line!(), "unknown-name", evaluate("x + z + y", inputs())),
        (line!(), "unused-input", evaluate("x + x", inputs())),
        (line!(), "duplicate-input", evaluate("x + x", [("x", &x), ("x", &x)])),
    ];
    for (line, code, result) in cases {
        let error = result.unwrap_err();
        let shown = format!("{error:?}");
        let mut lines = shown.lines();
        assert!(lines.next().unwrap().starts_with(&format!("error[{code}]: ")), "{shown}");
        assert!(
            lines.next().unwrap().starts_with(&format!("  --> {}:{line}:", file!())),
            "{shown}"
        );
    }
    let shown = format!("{:?}", evaluate("x + y", inputs()).unwrap_err());
    assert!(shown.contains("   | x + y\n") && shown.contains("axis 0 of `"), "{shown}");
}

#[test]
fn several_results_are_one_program_of_the_same_text() {
    let text = "low, high = min(x), max(x)";
    let inputs = || [("x", &[4.0, 2.0, 6.0])];
    for _ in 0..2 {
        let results = evaluate_all(text, inputs()).unwrap();
        let elements: Vec<&[f64]> = results.iter().map(|of| of.elements().unwrap()).collect();
        assert_eq!(elements, [[2.0], [6.0]]);
        let error = evaluate(text, inputs()).unwrap_err();
        assert_eq!(error.code(), "several-results");
        assert!(error.draw().contains("`evaluate_all`"), "{}", error.draw());
    }
    assert_eq!(evaluate_all("2 * x", inputs()).unwrap().len(), 1);
    let error = evaluate("low = 1; x + low", [("x", 1), ("low", 2)]).unwrap_err();
    assert_eq!(error.code(), "assigned-input");
}

/// Numbers of a text and of the caller become subnormal `f32`, and the program serves other threads.
#[test]
#[cfg(target_arch = "x86_64")]
fn numbers_are_converted_in_the_default_floating_point_environment() {
    use std::arch::asm;

    const DEFAULT: u32 = 0x1f80;
    const FLUSH_TO_ZERO: u32 = DEFAULT | 0x8040;
    let set = |word: u32| {
        // SAFETY: reads the four bytes of `word`, none of whose reserved bits are set.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const word) }
    };
    let bits = || {
        let inputs = [("x", Input::from(&[1.0f32, 3.0])), ("k", Input::from(3e-40))];
        let results = floats(evaluate("x * 1e-40 + k", inputs).unwrap());
        results.into_iter().map(f32::to_bits).collect::<Vec<u32>>()
    };
    let flushing = || {
        set(FLUSH_TO_ZERO);
        let bits = bits();
        set(DEFAULT);
        bits
    };
    let first = std::thread::scope(|scope| scope.spawn(flushing).join().unwrap());
    let subnormal = |k: f32| (k * 1e-40f32 + 3e-40f32).to_bits();
    assert_eq!(first, [subnormal(1.0), subnormal(3.0)]);
    assert_eq!(bits(), first);
}
