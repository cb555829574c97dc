//! Shape rules of operators on texts and pictures.

use indim_model::outline::ValueType;

use crate::call::{RuleCall, RuleResult, array_result, known_size, shape_error, single_result};
use crate::typed_value::TypedValue;

pub(crate) fn string_concat(call: &RuleCall<'_>) -> RuleResult {
    array_result("string", call.numpy(&[0, 1])?)
}

/// `StringSplit`: a row of words for each text, filled with empty words, and the number of words.
pub(crate) fn string_split(call: &RuleCall<'_>) -> RuleResult {
    let sizes = call.sizes(0)?.to_vec();
    let words = [sizes.clone(), vec![call.new_symbol(sizes.len())]].concat();
    Ok(["string", "i64"]
        .into_iter()
        .zip([words, sizes])
        .map(|(element, sizes)| TypedValue::of(ValueType::new(element, sizes)))
        .collect())
}

/// `StringNormalizer`: a list of texts, or one row of them, without the stop words.
pub(crate) fn string_normalizer(call: &RuleCall<'_>) -> RuleResult {
    let mut sizes = call.sizes(0)?.to_vec();
    let is_row =
        sizes.len() == 1 || sizes.len() == 2 && call.may_be_equal(&sizes[0], &known_size(1));
    let last = sizes.len().wrapping_sub(1);
    if !is_row || sizes[last].is(0) {
        return shape_error("the texts have the shape [C] or [1, C]");
    }
    if call.node.attributes.get("stopwords").is_some() {
        sizes[last] = call.new_symbol(last);
    }
    single_result(ValueType::new("string", sizes))
}

/// `TfIdfVectorizer`: a frequency for each n-gram of a list, or for each row of a matrix.
pub(crate) fn frequencies(call: &RuleCall<'_>) -> RuleResult {
    let mut sizes = call.sizes(0)?.to_vec();
    if !(1..=2).contains(&sizes.len()) {
        return shape_error(format!("operand 0 has rank {}, not 1 or 2", sizes.len()));
    }
    let indexes = call.node.ints("ngram_indexes")?.unwrap_or_default();
    let count = indexes.into_iter().max().and_then(|last| last.checked_add(1)).map(known_size);
    let last = sizes.len() - 1;
    sizes[last] = call.or_new_symbol(count, last);
    array_result("f32", sizes)
}

/// `ImageDecoder`: rows, columns and channels.
pub(crate) fn picture(call: &RuleCall<'_>) -> RuleResult {
    let is_grey = call.node.text("pixel_format", "RGB")? == "Grayscale";
    let channels = known_size(if is_grey { 1 } else { 3 });
    array_result("u8", vec![call.new_symbol(0), call.new_symbol(1), channels])
}
