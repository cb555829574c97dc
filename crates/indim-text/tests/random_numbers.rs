//! Random numbers in expressions: calls, defaults, errors. Their values are tested in `indim-builder`.

use indim_graph::{Array, evaluate};
use indim_shape::RuleSet;
use indim_text::catalogue::{EntryKind, entries};
use indim_text::{Expression, ParseLimits};

/// The result for the key 42, or the code of the error.
fn result(text: &str) -> Result<Array, &'static str> {
    let b = indim_builder::GraphBuilder::new();
    let key = b.constant(Array::new([2], vec![0u32, 42]).unwrap());
    let expression = Expression::parse(text, &ParseLimits::default());
    let value = expression
        .and_then(|expression| expression.build(&b, &[("key", key)], Some(&RuleSet::Numpy)))
        .map_err(|error| error.code())?;
    Ok(evaluate(&b.finish(&[value]).unwrap(), &[]).unwrap().remove(0))
}

#[test]
fn calls_and_defaults() {
    for (text, expected) in [
        ("random_bits(key, shape=[2])", "u32[2]"),
        ("random_bits(key, [2, 3], u8)", "u8[2, 3]"),
        ("random_uniform(key, shape=[])", "f32[]"),
        ("random_uniform(key, shape=[4], dtype=bf16)", "bf16[4]"),
        ("random_normal(key, shape=[4], dtype=f64)", "f64[4]"),
        ("random_split(key)", "u32[2, 2]"),
        ("random_split(key, shape=[3])[1]", "u32[2]"),
        ("random_fold_in(key, 7)", "u32[2]"),
        ("random_bits(random_fold_in(key, i64(7)), shape=[1])", "u32[1]"),
    ] {
        let result = result(text).unwrap_or_else(|code| panic!("{text}: {code}"));
        assert_eq!(result.array_type().to_string(), expected, "{text}");
    }
    let bits = result("random_bits(key, shape=[2])").unwrap();
    assert_eq!(bits.elements::<u32>().unwrap(), [2098992034, 2919706841]);
}

#[test]
fn errors() {
    for (text, code) in [
        ("random_bits(key)", "missing-argument"),
        ("random_bits(key, shape=[-1])", "negative-size"),
        ("random_bits(key, shape=[2], dtype=f32)", "element-type-not-allowed"),
        ("random_bits(f32(key), shape=[2])", "random-key"),
        ("random_bits(key[0], shape=[2])", "random-key"),
        ("random_fold_in(key, key)", "reshape-element-count"),
        ("random_uniform(key, shape=[9000000000, 9000000000])", "too-large"),
    ] {
        assert_eq!(result(text).unwrap_err(), code, "{text}");
    }
}

#[test]
fn every_call_of_the_catalogue_can_be_written() {
    let calls = entries().filter(|entry| entry.kind == EntryKind::Random);
    let calls: Vec<String> = calls.map(|entry| entry.call).collect();
    assert_eq!(calls.len(), 5);
    for call in calls {
        let call = call.replace("shape,", "shape=[2],").replace("data", "3");
        result(&call).unwrap_or_else(|code| panic!("{call}: {code}"));
    }
}
