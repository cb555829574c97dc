//! Scaled dot-product attention, for ONNX's `Attention`.

use indim_builder::{ReduceOptions, Reduction, Value};
use indim_graph::{GraphError, Literal};
use indim_ops::DType;
use indim_shape::ReductionRuleName;

/// Attention over `[batch, heads, length, width]`.
#[derive(Debug, Clone)]
pub struct Attention {
    /// The queries.
    pub query: Value,
    /// The keys; a head serves as many heads of the queries as their counts divide into.
    pub key: Value,
    /// The values, with the heads and length of the keys.
    pub value: Value,
    /// A number for each score, added to it, `-inf` for keys that a query does not see. It has the shape of
    /// the scores, `[batch, heads, length, length of the keys]`.
    pub bias: Option<Value>,
    /// The factor of the scores. Queries and keys are each multiplied by its root.
    pub scale: f64,
    /// The limit of the scores, which become `softcap * tanh(score / softcap)`; 0 for none.
    pub softcap: f64,
    /// The element type in which the softmax is computed.
    pub precision: DType,
}

/// The result of an attention with its intermediate values.
#[derive(Debug, Clone)]
pub struct AttentionValues {
    /// The result, `[batch, heads, length, width of the values]`.
    pub result: Value,
    /// Products of queries and keys.
    pub products: Value,
    /// The products after `softcap`.
    pub capped: Value,
    /// The scores: the capped products plus the bias.
    pub scores: Value,
    /// The softmax of the scores.
    pub probabilities: Value,
}

/// Computes an attention: `softmax(softcap(q √s · (k √s)ᵀ) + bias) · v`. A row whose bias is -inf throughout,
/// or whose scores are, is 0.
///
/// # Errors
/// Errors of the builder, such as `size-mismatch` for other widths of queries and keys.
pub fn attend(attention: &Attention) -> Result<AttentionValues, GraphError> {
    let Attention { query, key, value, .. } = attention;
    let (b, array_type) = (query.builder(), query.array_type()?);
    let (heads, dtype) = (array_type.shape[1], array_type.dtype);
    let [key, value] = [repeat_heads(key, heads)?, repeat_heads(value, heads)?];
    let root = attention.scale.sqrt();
    let products = b.matmul(query * root, b.transpose(key * root, &[0, 1, 3, 2])?)?;
    let capped = match attention.softcap > 0.0 {
        true => (&products / attention.softcap).tanh() * attention.softcap,
        false => products.clone(),
    };
    let scores = match &attention.bias {
        Some(bias) => &capped + bias,
        None => capped.clone(),
    };
    let computed = b.convert(&scores, attention.precision)?;
    let mut probabilities = guarded_softmax(&computed)?;
    if let Some(bias) = &attention.bias {
        let is_masked = is_least(&largest(bias)?)?;
        let is_masked = b.broadcast_in_dim(is_masked, &[0, 1, 2, 3], scores.array_type()?.shape)?;
        let zero = b.literal(Literal::Int(0), attention.precision)?;
        probabilities = is_masked.select(zero, probabilities);
    }
    let probabilities = b.convert(probabilities, dtype)?;
    let result = b.matmul(&probabilities, value)?;
    Ok(AttentionValues { result, products, capped, scores, probabilities })
}

/// Each head repeated, so that there are `heads`.
fn repeat_heads(x: &Value, heads: usize) -> Result<Value, GraphError> {
    let (b, shape) = (x.builder(), x.array_type()?.shape);
    let own = shape[1];
    if own == heads || own == 0 || !heads.is_multiple_of(own) {
        return Ok(x.clone());
    }
    let sizes = [shape[0], own, heads / own, shape[2], shape[3]];
    let repeated = b.broadcast_in_dim(x, &[0, 1, 3, 4], sizes)?;
    b.reshape(repeated, [shape[0], heads, shape[2], shape[3]])
}

/// The largest element along the last axis, which stays with size 1.
fn largest(x: &Value) -> Result<Value, GraphError> {
    reduce_last(Reduction::Max, x)
}

fn reduce_last(reduction: Reduction, x: &Value) -> Result<Value, GraphError> {
    let last = x.array_type()?.shape.rank() as i64 - 1;
    let options = ReduceOptions::axes(vec![last]).keepdims(true).rule(ReductionRuleName::Xla);
    x.builder().along(reduction, x, &options)
}

/// Whether elements are -inf.
fn is_least(x: &Value) -> Result<Value, GraphError> {
    let b = x.builder();
    let least = b.literal(Literal::Float(f64::NEG_INFINITY), x.array_type()?.dtype)?;
    b.numpy().eq(x, least)
}

/// The softmax along the last axis; 0 for a row of -inf.
fn guarded_softmax(x: &Value) -> Result<Value, GraphError> {
    let b = x.builder();
    let largest = largest(x)?;
    let shift = is_least(&largest)?.select(0, &largest);
    let powers = b.numpy().sub(x, shift)?.exp();
    let sum = reduce_last(Reduction::Sum, &powers)?;
    b.numpy().div(powers, sum.eq(0).select(1, &sum))
}
