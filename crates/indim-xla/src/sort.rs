//! Sorts: recognition of comparators, and their lowering.

use indim_builder::{GraphBuilder, Value};
use indim_graph::TakeMode;
use indim_model::FormatErrorKind;
use indim_ops::DType;

use super::reducer::ReducerBody;
use super::value::{ArrayFact, ArrayValue};

/// A recognised comparator of a sort.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparator {
    /// The positions of the keys among the operands of the sort, the first most significant.
    pub keys: Vec<usize>,
    /// Whether the greatest element comes first.
    pub descending: bool,
}

impl Comparator {
    /// Recognises the comparator whose body returns the term `result`, for a sort of `count` operands. It
    /// compares one operand, or the first operands lexicographically in JAX's form. A comparison in the total
    /// order is recognised only if the body first replaces all zeros by one zero and all NaNs by one NaN, as
    /// JAX does.
    pub fn of(body: &ReducerBody, result: usize, count: usize) -> Option<Comparator> {
        let text = body.term(result)?;
        let single = |descending: bool| {
            let mut keys = (0..count).filter(|&key| is_last(text, key, descending));
            keys.next().map(|key| Comparator { keys: vec![key], descending })
        };
        let several = |descending: bool| {
            let keys = leading_keys(text, count, descending)?;
            Some(Comparator { keys: (0..keys).collect(), descending })
        };
        [false, true]
            .into_iter()
            .find_map(|descending| single(descending).or_else(|| several(descending)))
    }
}

/// A comparison of the elements of a key, as text.
struct ComparisonText {
    /// The comparison.
    before: String,
    /// Its two operands.
    sides: [String; 2],
}

/// The texts of all recognised comparisons of one key.
fn comparisons(key: usize, descending: bool) -> Vec<ComparisonText> {
    let (plain, total) = if descending { ("gt", "total_gt") } else { ("lt", "total_lt") };
    let sides = [2 * key, 2 * key + 1].map(|argument| argument.to_string());
    let canonical_sides = sides.each_ref().map(|side| canonical(side));
    let ordered = |bits: u32| canonical_sides.each_ref().map(|side| ordered_bits(side, bits));
    let mut texts = vec![(plain, sides), (plain, canonical_sides.clone())];
    texts.extend([16, 32, 64].map(|bits| (plain, ordered(bits))));
    texts.push((total, canonical_sides));
    let text = |(op, sides): (&str, [String; 2])| ComparisonText {
        before: format!("{op}({},{})", sides[0], sides[1]),
        sides,
    };
    texts.into_iter().map(text).collect()
}

/// Whether a text is the comparison of this key alone, which is the last one of a comparison by several
/// keys.
fn is_last(text: &str, key: usize, descending: bool) -> bool {
    comparisons(key, descending).iter().any(|comparison| comparison.before == text)
}

/// The number of keys, from 2 on, by which a text compares in JAX's form: `k0 < or (k0 = and (k1 < ..))`.
fn leading_keys(text: &str, count: usize, descending: bool) -> Option<usize> {
    let mut rest = text;
    for key in 0..count {
        if key > 0 && is_last(rest, key, descending) {
            return Some(key + 1);
        }
        rest =
            comparisons(key, descending).iter().find_map(|ComparisonText { before, sides }| {
                let conjunction = other_operand(rest, "or", before)?;
                let mut sides = sides.clone();
                sides.sort_unstable();
                ["eq", "total_eq"].into_iter().find_map(|equal| {
                    other_operand(
                        conjunction,
                        "and",
                        &format!("{equal}({},{})", sides[0], sides[1]),
                    )
                })
            })?;
    }
    None
}

/// The other operand of a commutative operation with the operand `known`; `None` for another text.
fn other_operand<'t>(text: &'t str, op: &str, known: &str) -> Option<&'t str> {
    let operands = text.strip_prefix(op)?.strip_prefix('(')?.strip_suffix(')')?;
    let before = || operands.strip_prefix(known)?.strip_prefix(',');
    before().or_else(|| operands.strip_suffix(known)?.strip_suffix(','))
}

fn commutative(op: &str, mut operands: [&str; 2]) -> String {
    operands.sort_unstable();
    format!("{op}({},{})", operands[0], operands[1])
}

/// The text of an argument whose zeros and NaNs are replaced by one zero and one NaN.
fn canonical(argument: &str) -> String {
    let is_zero = commutative("eq", [argument, ReducerBody::ZERO]);
    let zero = ReducerBody::ZERO;
    let number = format!("select({is_zero},{zero},{argument})");
    format!("select(ne({argument},{argument}),{},{number})", ReducerBody::NAN)
}

/// The text of a float's bits as a signed integer in the total order, as XLA compiles `total_lt`.
fn ordered_bits(float: &str, bits: u32) -> String {
    let number = format!("bits{bits}({float})");
    let flipped = commutative("xor", [&number, &format!("max{bits}")]);
    format!("select(lt({number},{}),{flipped},{number})", ReducerBody::ZERO)
}

/// The results of `sort`: all operands, sorted by the keys along an axis. A negative axis counts from the
/// end. The sort is stable even if the file does not demand it.
///
/// # Errors
/// Errors of the builder.
pub fn sort(
    b: &GraphBuilder,
    comparator: &Comparator,
    operands: &[ArrayValue],
    axis: i64,
) -> Result<Vec<Value>, FormatErrorKind> {
    let Comparator { keys, descending } = comparator;
    let rank = operands[keys[0]].value.array_type()?.shape.rank() as i64;
    let axis = if axis < 0 { axis + rank } else { axis };
    let keys: Vec<Value> = keys.iter().map(|&key| operands[key].value.clone()).collect();
    let positions = b.argsort_by(&keys, axis, *descending)?;
    let first = comparator.keys[0];
    let sorted = |(index, operand): (usize, &ArrayValue)| -> Result<Value, FormatErrorKind> {
        let value = &operand.value;
        let is_key = index == first;
        Ok(match (&operand.fact, &keys[..]) {
            (ArrayFact::Iota(along), _) if *along == axis => {
                b.convert(&positions, value.array_type()?.dtype)?
            }
            (_, [_]) if is_key => b.sort(value, axis, *descending)?,
            _ => b.take_along_axis(value, &positions, axis, TakeMode::Clip)?,
        })
    };
    operands.iter().enumerate().map(sorted).collect()
}

/// The `count` greatest elements along the last axis, and their positions as `i32`.
///
/// # Errors
/// `attribute` for a negative count, and errors of the builder.
pub fn top_k(x: &Value, count: i64) -> Result<[Value; 2], FormatErrorKind> {
    let count = usize::try_from(count)
        .map_err(|_| FormatErrorKind::attribute("k", "is not a number of elements"))?;
    let b = x.builder();
    let axis = x.array_type()?.shape.rank() as i64 - 1;
    let [values, positions] = b.top_k(x, count, axis, true)?;
    Ok([values, b.convert(positions, DType::I32)?])
}
