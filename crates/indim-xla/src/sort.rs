//! Sorts: recognition of comparators, and their lowering.

use indim_builder::{GraphBuilder, Value};
use indim_graph::TakeMode;
use indim_model::FormatErrorKind;
use indim_ops::DType;

use super::reducer::ReducerBody;
use super::value::{ArrayFact, ArrayValue};

/// Keys of a comparator that are recognised together.
const MAX_KEYS: usize = 3;

/// A recognised comparator: the operands that are compared, the first most significant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparator {
    /// The positions of the keys among the operands of the sort.
    pub keys: Vec<usize>,
    /// Whether the greatest element comes first.
    pub descending: bool,
}

impl Comparator {
    /// Recognises the comparator that returns `result`, for `count` sorted operands: one comparison of the
    /// elements of a key, or those of the first keys in JAX's form. Elements may be compared in the total
    /// order if the body first replaces zeros and NaNs by one each, as JAX does.
    pub fn of(body: &ReducerBody, result: usize, count: usize) -> Option<Comparator> {
        let text = body.term(result)?;
        let single = (0..count).map(|key| vec![key]);
        let several = (2..=MAX_KEYS.min(count)).map(|keys| (0..keys).collect());
        single.chain(several).find_map(|keys: Vec<usize>| {
            let is_meant =
                |descending: &bool| forms(&keys, *descending).iter().any(|it| it == text);
            let descending = [false, true].into_iter().find(is_meant)?;
            Some(Comparator { keys, descending })
        })
    }
}

/// The texts of the comparisons by these keys.
fn forms(keys: &[usize], descending: bool) -> Vec<String> {
    let [first, rest @ ..] = keys else { return Vec::new() };
    let (plain, total) = if descending { ("gt", "total_gt") } else { ("lt", "total_lt") };
    let sides = [2 * first, 2 * first + 1].map(|argument| argument.to_string());
    let one = sides.each_ref().map(|side| canonical(side));
    let mut compared = vec![
        (format!("{plain}({},{})", sides[0], sides[1]), sides.clone()),
        (format!("{plain}({},{})", one[0], one[1]), one.clone()),
        (format!("{total}({},{})", one[0], one[1]), one),
    ];
    if rest.is_empty() {
        return compared.into_iter().map(|(text, _)| text).collect();
    }
    let rest = forms(rest, descending);
    let mut all = Vec::new();
    for (before, mut sides) in compared.drain(..) {
        sides.sort_unstable();
        for equal in ["eq", "total_eq"].map(|eq| format!("{eq}({},{})", sides[0], sides[1])) {
            all.extend(rest.iter().map(|rest| {
                let both = commutative("and", [&equal, rest]);
                commutative("or", [&before, &both])
            }));
        }
    }
    all
}

fn commutative(op: &str, mut operands: [&str; 2]) -> String {
    operands.sort_unstable();
    format!("{op}({},{})", operands[0], operands[1])
}

/// An argument with its zeros and NaNs replaced by one each.
fn canonical(argument: &str) -> String {
    let is_zero = commutative("eq", [argument, ReducerBody::ZERO]);
    let zero = ReducerBody::ZERO;
    let number = format!("select({is_zero},{zero},{argument})");
    format!("select(ne({argument},{argument}),{},{number})", ReducerBody::NAN)
}

/// The results of `sort`: the operands in the order of the keys along an axis; a negative one counts from the
/// end. A sort that need not be stable is stable too.
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
    let sorted = |(place, operand): (usize, &ArrayValue)| -> Result<Value, FormatErrorKind> {
        let value = &operand.value;
        let is_key = place == first;
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
