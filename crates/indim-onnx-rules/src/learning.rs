//! Shape rules of the domain `ai.onnx.ml`: trees, linear models, and the preparation of features.

use indim_model::outline::{SymbolicSize, ValueType};
use indim_onnx_file::types::element_name;

use crate::call::{
    RuleCall, RuleError, RuleResult, array_result, known_size, shape_error, single_result,
};
use crate::typed_value::TypedValue;

/// The number of elements of the first list attribute that the node has.
fn list_length(call: &RuleCall<'_>, names: &[&str]) -> Option<i64> {
    let lists = names.iter().filter_map(|name| call.node.attributes.get(name));
    let lengths = lists.map(|list| list.ints.len() + list.strings.len() + list.floats.len());
    lengths.map(|length| length as i64).find(|&length| length > 0)
}

/// Examples: the rows of operand 0. A list is one example.
fn examples(call: &RuleCall<'_>) -> Result<SymbolicSize, RuleError> {
    match call.sizes(0)? {
        [_] => Ok(known_size(1)),
        [rows, _] => Ok(rows.clone()),
        sizes => shape_error(format!("operand 0 has rank {}, not 1 or 2", sizes.len())),
    }
}

/// Operand 0 as floats, such as `Scaler` and `Normalizer`.
pub(crate) fn floats(call: &RuleCall<'_>) -> RuleResult {
    array_result("f32", call.sizes(0)?.to_vec())
}

/// The regressors: a number for each example and target.
pub(crate) fn regressor(call: &RuleCall<'_>) -> RuleResult {
    let name = if call.node.operator == "LinearRegressor" { "targets" } else { "n_targets" };
    let targets = known_size(call.node.int(name, 1)?);
    array_result("f32", vec![examples(call)?, targets])
}

/// `TreeEnsemble`: a number of the operand's type for each example and target.
pub(crate) fn trees(call: &RuleCall<'_>) -> RuleResult {
    let targets = known_size(call.node.int("n_targets", 1)?);
    array_result(&call.element(0)?, vec![call.sizes_of_rank(0, 2)?[0].clone(), targets])
}

/// The classifiers: a label for each example, and a score for each example and class.
pub(crate) fn classifier(call: &RuleCall<'_>) -> RuleResult {
    let examples = examples(call)?;
    let is_text = list_length(call, &["classlabels_strings"]).is_some();
    let labels = ["classlabels_strings", "classlabels_ints", "classlabels_int64s"];
    // The scores of a support vector machine without probabilities are those of pairs of classes.
    let has_pairs =
        call.node.operator == "SVMClassifier" && list_length(call, &["prob_a"]).is_none();
    let classes = list_length(call, &labels).filter(|_| !has_pairs).map(known_size);
    let label = ValueType::new(if is_text { "string" } else { "i64" }, vec![examples.clone()]);
    let scores = ValueType::new("f32", vec![examples, call.or_new_symbol(classes, 1)]);
    Ok(vec![TypedValue::of(label), TypedValue::of(scores)])
}

/// `ArrayFeatureExtractor`: elements of the last axis. A list is one row.
pub(crate) fn features(call: &RuleCall<'_>) -> RuleResult {
    let x = call.sizes(0)?;
    let Some((_, before)) = x.split_last() else {
        return shape_error("operand 0 is a scalar");
    };
    let count = call.sizes(1).ok().and_then(SymbolicSize::product);
    let count = call.or_new_symbol(count, x.len() - 1);
    let rows = if before.is_empty() { vec![known_size(1)] } else { before.to_vec() };
    array_result(&call.element(0)?, [rows, vec![count]].concat())
}

/// `FeatureVectorizer`: the features of all operands, side by side.
pub(crate) fn vectorizer(call: &RuleCall<'_>) -> RuleResult {
    let given = call.node.ints("inputdimensions")?;
    let stated = given.and_then(|list| list.iter().try_fold(0i64, |sum, n| sum.checked_add(*n)));
    let sizes: Result<Vec<_>, _> = (0..call.operands.len()).map(|at| call.sizes(at)).collect();
    let features = sizes?.iter().try_fold(known_size(0), |sum, sizes| sum.plus(sizes.last()?));
    let count = stated.map(known_size).or(features);
    array_result("f32", vec![examples(call)?, call.or_new_symbol(count, 1)])
}

/// `OneHotEncoder`: a number for each category, along a new last axis.
pub(crate) fn categories(call: &RuleCall<'_>) -> RuleResult {
    let mut sizes = call.sizes(0)?.to_vec();
    let count = list_length(call, &["cats_int64s", "cats_strings"]).map(known_size);
    sizes.push(call.or_new_symbol(count, sizes.len()));
    array_result("f32", sizes)
}

/// `LabelEncoder`, `CategoryMapper`: a value for each key.
pub(crate) fn encoder(call: &RuleCall<'_>) -> RuleResult {
    let values = [("values_strings", "string"), ("values_int64s", "i64"), ("values_floats", "f32")];
    let listed = values.iter().find(|(name, _)| list_length(call, &[name]).is_some());
    let element = match (listed, call.node.tensor("values_tensor")?) {
        (Some((_, element)), _) => (*element).to_owned(),
        (None, Some(tensor)) => element_name(tensor.data_type.into()),
        // Texts become numbers, and numbers texts.
        (None, None) if call.element(0)? == "string" => "i64".to_owned(),
        (None, None) => "string".to_owned(),
    };
    array_result(&element, call.sizes(0)?.to_vec())
}

/// `ZipMap`: a map from classes to scores for each example.
pub(crate) fn maps(call: &RuleCall<'_>) -> RuleResult {
    let is_text = list_length(call, &["classlabels_strings"]).is_some();
    let key = if is_text { "string" } else { "i64" };
    single_result(ValueType::new(&format!("map({key}, f32)"), vec![examples(call)?]))
}
