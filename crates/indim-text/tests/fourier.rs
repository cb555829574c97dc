//! Fourier transforms in expressions: calls, defaults, errors. Their values are tested in `indim-builder`.

use indim_graph::{Array, evaluate};
use indim_ops::c128;
use indim_shape::RuleSet;
use indim_text::catalogue::{EntryKind, entries};
use indim_text::{Expression, ParseLimits};

/// The result for a real `f64[2, 3, 4]`, or the code of the error.
fn result(text: &str) -> Result<Array, &'static str> {
    let b = indim_builder::GraphBuilder::new();
    let numbers = (0..24).map(|index| f64::from(index * index % 17)).collect();
    let x = b.constant(Array::new([2, 3, 4], numbers).unwrap());
    let expression = Expression::parse(text, &ParseLimits::default());
    let value = expression
        .and_then(|expression| expression.build(&b, &[("x", x)], Some(&RuleSet::Numpy)))
        .map_err(|error| error.code())?;
    Ok(evaluate(&b.finish(&[value]).unwrap(), &[]).unwrap().remove(0))
}

#[test]
fn calls_and_defaults() {
    for (text, expected) in [
        ("fft(x)", "c128[2, 3, 4]"),
        ("fft(x, 6)", "c128[2, 3, 6]"),
        ("fft(x, n=[6], axis=0)", "c128[6, 3, 4]"),
        ("fft(f32(x), norm=ortho)", "c64[2, 3, 4]"),
        ("fft(i8(x))", "c128[2, 3, 4]"),
        ("rfft(x, axis=1)", "c128[2, 2, 4]"),
        ("irfft(x)", "f64[2, 3, 6]"),
        ("irfft(x, n=7)", "f64[2, 3, 7]"),
        ("hfft(c64(x), axis=-2)", "f32[2, 4, 4]"),
        ("ihfft(x)", "c128[2, 3, 3]"),
        ("rfft2(x)", "c128[2, 3, 3]"),
        ("irfft2(x, s=[5, 4])", "f64[2, 5, 4]"),
        ("fft2(x, axis=[0, 1])", "c128[2, 3, 4]"),
        ("rfftn(x)", "c128[2, 3, 3]"),
        ("fftn(x, s=[8, 8])", "c128[2, 8, 8]"),
        ("irfftn(x, axis=None)", "f64[2, 3, 6]"),
    ] {
        let result = result(text).unwrap_or_else(|code| panic!("{text}: {code}"));
        assert_eq!(result.array_type().to_string(), expected, "{text}");
    }
    let sums = result("fftn(x)[0, 0, 0] - c128(sum(x))").unwrap();
    assert_eq!(sums.elements::<c128>().unwrap(), [c128::new(0.0, 0.0)]);
    let back = result("max(abs(irfftn(rfftn(x, norm=forward), norm=forward) - x))").unwrap();
    assert!(back.elements::<f64>().unwrap()[0] < 1e-14);
}

#[test]
fn errors() {
    for (text, code) in [
        ("fft(x, n=0)", "fourier-length"),
        ("fft(x, n=-1)", "negative-size"),
        ("fft(x, axis=3)", "axis-out-of-range"),
        ("fft(x, axis=[0, 1])", "unexpected-token"),
        ("fft(x, axis=time)", "unexpected-token"),
        ("fft(x, norm=unitary)", "unexpected-token"),
        ("fft2(x, s=[3])", "fourier-length"),
        ("rfft(c64(x))", "element-type-not-allowed"),
        ("fft()", "wrong-operand-count"),
        ("fft(x, length=3)", "unknown-keyword"),
        ("fft(x, n=3000000000)", "fourier-length"),
    ] {
        assert_eq!(result(text).unwrap_err(), code, "{text}");
    }
}

#[test]
fn every_call_of_the_catalogue_can_be_written() {
    let calls = entries().filter(|entry| entry.kind == EntryKind::Fourier);
    let calls: Vec<String> = calls.map(|entry| entry.call).collect();
    assert_eq!(calls.len(), 14);
    for call in calls {
        let call = call.replace(" n=None,", "").replace(" s=None,", "");
        assert!(result(&call).is_ok(), "{call}");
    }
}
