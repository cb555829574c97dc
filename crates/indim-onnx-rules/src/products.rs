//! Shape rules of matrix products, `Einsum` and `Attention`.

use indim_model::outline::{SymbolicSize, ValueType};
use indim_shape::{RuleSet, TargetRule};

use crate::call::{RuleCall, RuleError, RuleResult, array_result, known_size, shape_error};
use crate::typed_value::TypedValue;

pub(crate) fn mat_mul(call: &RuleCall<'_>) -> RuleResult {
    let sizes = product(call, 0, 1)?;
    array_result(&call.element(0)?, sizes)
}

/// `MatMulInteger`: sums in 32 bits.
pub(crate) fn mat_mul_integer(call: &RuleCall<'_>) -> RuleResult {
    let sizes = product(call, 0, 1)?;
    check_quantized(call, (0, true), &[2])?;
    check_quantized(call, (1, false), &[3])?;
    array_result("i32", sizes)
}

/// `QLinearMatMul`: the product of operands 0 and 3, in the type of the result's zero point.
pub(crate) fn mat_mul_quantized(call: &RuleCall<'_>) -> RuleResult {
    let sizes = product(call, 0, 3)?;
    check_quantized(call, (0, true), &[1, 2])?;
    check_quantized(call, (3, false), &[4, 5])?;
    // A product with a vector has one axis less: if it has rows, they are its last axis.
    let has_vector = [0, 3].iter().any(|&of| call.sizes(of).is_ok_and(|sizes| sizes.len() == 1));
    let rows = sizes.iter().rev().nth(usize::from(!has_vector));
    for position in [6, 7] {
        call.expect_parameters(position, "a scale or zero point of the result", rows)?;
    }
    array_result(&call.element(7)?, sizes)
}

/// Checks the scales and zero points of a matrix: one, or one for each of its rows or columns. Those of a
/// vector are not checked.
fn check_quantized(
    call: &RuleCall<'_>,
    (matrix, are_rows): (usize, bool),
    parameters: &[usize],
) -> Result<(), RuleError> {
    let sizes = call.sizes(matrix)?;
    let [.., rows, columns] = sizes else { return Ok(()) };
    let count = if are_rows { rows } else { columns };
    let mut parameters = parameters.iter();
    parameters.try_for_each(|&it| call.expect_parameters(it, "a scale or zero point", Some(count)))
}

/// NumPy's `matmul`: the batch axes broadcast.
fn product(
    call: &RuleCall<'_>,
    first: usize,
    second: usize,
) -> Result<Vec<SymbolicSize>, RuleError> {
    let (a, b) = (call.sizes(first)?, call.sizes(second)?);
    let ([.., inner], [.., _]) = (a, b) else {
        return shape_error("a scalar has no matrix product");
    };
    let other = if b.len() == 1 { &b[0] } else { &b[b.len() - 2] };
    call.unify((inner, other), "the inner sizes")?;
    let batch = |sizes: &[SymbolicSize]| sizes[..sizes.len().saturating_sub(2)].to_vec();
    let (rows, columns) = (batch(a), batch(b));
    let mut sizes = match rows.is_empty() || columns.is_empty() {
        true => [rows, columns].concat(),
        false => batch_sizes(call, [(first, rows), (second, columns)])?,
    };
    if a.len() > 1 {
        sizes.push(a[a.len() - 2].clone());
    }
    if b.len() > 1 {
        sizes.push(b[b.len() - 1].clone());
    }
    Ok(sizes)
}

/// The batch sizes of a product: those of both operands, broadcast by NumPy's rule.
fn batch_sizes(
    call: &RuleCall<'_>,
    batches: [(usize, Vec<SymbolicSize>); 2],
) -> Result<Vec<SymbolicSize>, RuleError> {
    let mut operands = Vec::new();
    for (position, sizes) in batches {
        let operand = call.operand(position)?;
        let element = operand.value_type.element.clone();
        let name = format!("batch of {}", indim_graph::terminal::printable(&operand.name));
        operands.push((name, ValueType { element, sizes: Some(sizes) }));
    }
    call.broadcast(RuleSet::Numpy, operands, None)
}

pub(crate) fn gemm(call: &RuleCall<'_>) -> RuleResult {
    let matrix = |position: usize, name: &str| {
        let sizes = call.sizes_of_rank(position, 2)?;
        let (rows, columns) = (sizes[0].clone(), sizes[1].clone());
        Ok::<_, RuleError>(match call.node.int(name, 0)? != 0 {
            true => (columns, rows),
            false => (rows, columns),
        })
    };
    let ((rows, inner), (other, columns)) = (matrix(0, "transA")?, matrix(1, "transB")?);
    call.unify((&inner, &other), "the inner sizes")?;
    let sizes = vec![rows, columns];
    if call.optional(2).is_some() {
        let is_broadcast = call.node.version >= 7 || call.node.int("broadcast", 0)? != 0;
        match is_broadcast {
            true => {
                let rule = TargetRule::Unidirectional;
                call.broadcast(rule, call.named(&[2])?, Some(&sizes))?;
            }
            false => {
                call.sizes_of_rank(2, 2)?;
            }
        }
    }
    array_result(&call.element(0)?, sizes)
}

/// `Einsum`: the equation has a letter for each axis, and `...` for axes that broadcast.
pub(crate) fn einsum(call: &RuleCall<'_>) -> RuleResult {
    let equation: String =
        call.node.text("equation", "")?.chars().filter(|c| !c.is_whitespace()).collect();
    let (inputs, output) = match equation.split_once("->") {
        Some((inputs, output)) => (inputs.to_owned(), Some(output.to_owned())),
        None => (equation.clone(), None),
    };
    let terms: Vec<&str> = inputs.split(',').collect();
    if terms.len() != call.operands.len() {
        return shape_error(format!("{} terms for {} operands", terms.len(), call.operands.len()));
    }
    let mut letters: Vec<(char, SymbolicSize)> = Vec::new();
    let mut ellipsis: Vec<(String, ValueType)> = Vec::new();
    for (position, term) in terms.iter().enumerate() {
        let sizes = call.sizes(position)?;
        let (before, after) = match term.split_once("...") {
            Some((before, after)) => (before, Some(after)),
            None => (*term, None),
        };
        let named = before.chars().count() + after.map_or(0, |after| after.chars().count());
        let open = sizes.len().checked_sub(named);
        let Some(open) = open.filter(|&open| after.is_some() || open == 0) else {
            return shape_error(format!(
                "term {position} has {named} axes for rank {}",
                sizes.len()
            ));
        };
        let first = before.chars().zip(sizes);
        let last = after.unwrap_or("").chars().zip(&sizes[before.chars().count() + open..]);
        for (letter, size) in first.chain(last) {
            match letters.iter_mut().find(|(known, _)| *known == letter) {
                // A size of 1 broadcasts, as in NumPy.
                Some((_, known)) if known.is(1) => *known = size.clone(),
                Some(_) if size.is(1) => {}
                Some((_, known)) => {
                    *known = call.unify((known, size), &format!("the sizes of `{letter}`"))?;
                }
                None => letters.push((letter, size.clone())),
            }
        }
        if after.is_some() {
            let start = before.chars().count();
            let value_type =
                ValueType { element: None, sizes: Some(sizes[start..start + open].to_vec()) };
            ellipsis.push((format!("... of operand {position}"), value_type));
        }
    }
    let ranks = ellipsis.iter().filter_map(|(_, it)| it.sizes.as_ref().map(Vec::len));
    let ranks: Vec<usize> = ranks.collect();
    // NumPy broadcasts them; ONNX's inference and ONNX Runtime refuse the node.
    if let Some(other) = ranks.iter().find(|&&rank| rank != ranks[0]) {
        return shape_error(format!("`...` stands for {} axes, then for {other}", ranks[0]));
    }
    let open = match ellipsis.len() {
        0 => Vec::new(),
        1 => ellipsis.swap_remove(0).1.sizes.unwrap_or_default(),
        _ => call.broadcast(RuleSet::Numpy, ellipsis, None)?,
    };
    let output = output.unwrap_or_else(|| implicit_output(&inputs));
    let mut sizes = Vec::new();
    let mut rest = output.as_str();
    while let Some(letter) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("...") {
            sizes.extend(open.iter().cloned());
            rest = after;
            continue;
        }
        match letters.iter().find(|(known, _)| *known == letter) {
            Some((_, size)) => sizes.push(size.clone()),
            None => return shape_error(format!("the letter `{letter}` is in no term")),
        }
        rest = &rest[letter.len_utf8()..];
    }
    array_result(&call.element(0)?, sizes)
}

/// The letters that occur once, sorted, behind the ellipsis.
fn implicit_output(inputs: &str) -> String {
    let mut letters: Vec<char> = inputs.chars().filter(|c| c.is_alphabetic()).collect();
    letters.retain(|letter| inputs.matches(*letter).count() == 1);
    letters.sort_unstable();
    let dots = if inputs.contains("...") { "..." } else { "" };
    format!("{dots}{}", letters.into_iter().collect::<String>())
}

/// `Attention` of opset 23: queries, keys and values of rank 3 or 4, with a cache.
pub(crate) fn attention(call: &RuleCall<'_>) -> RuleResult {
    let (q, k, v) = (call.sizes(0)?, call.sizes(1)?, call.sizes(2)?);
    if q.len() != k.len() || k.len() != v.len() || !(3..=4).contains(&q.len()) {
        return shape_error("queries, keys and values have one rank, 3 or 4");
    }
    let element = call.element(0)?;
    let heads = |name: &str| Ok::<_, RuleError>(known_size(call.node.int(name, 1)?.max(1)));
    let (q_heads, kv_heads) = (heads("q_num_heads")?, heads("kv_num_heads")?);
    // The layout is [batch, heads, length, width].
    let split = |sizes: &[SymbolicSize], heads: &SymbolicSize| match sizes {
        [batch, length, width] => {
            let count = heads.number().unwrap_or(1);
            if width.number().is_some_and(|width| width % count != 0) {
                return shape_error(format!("{width} elements do not divide by {heads} heads"));
            }
            let width = width.divided_exactly(heads).or_else(|| width.floor_divided(count));
            let width = call.or_new_symbol(width, 3);
            Ok([batch.clone(), heads.clone(), length.clone(), width])
        }
        _ => Ok([0, 1, 2, 3].map(|axis| sizes[axis].clone())),
    };
    let [q4, k4, v4] = [split(q, &q_heads)?, split(k, &kv_heads)?, split(v, &kv_heads)?];
    let pairs = [(&q4[0], &k4[0]), (&q4[0], &v4[0]), (&q4[3], &k4[3])];
    let names = ["the batches of queries and keys", "the batches of queries and values"];
    let names = names.into_iter().chain(["the widths of queries and keys"]);
    for (pair, name) in pairs.into_iter().zip(names) {
        call.unify(pair, name)?;
    }
    call.unify((&k4[1], &v4[1]), "the heads of keys and values")?;
    call.unify((&k4[2], &v4[2]), "the lengths of keys and values")?;
    if let (Some(queries), Some(keys)) = (q4[1].number(), k4[1].number())
        && (keys == 0 || queries % keys != 0)
    {
        return shape_error(format!("{queries} heads of queries for {keys} heads of keys"));
    }
    let past = call.optional(4).and_then(|past| past.value_type.sizes.as_ref()?.get(2).cloned());
    let of_past = |own: &[SymbolicSize; 4], position, what| {
        let sizes = [Some(&own[0]), Some(&own[1]), past.as_ref(), Some(&own[3])];
        call.expect(position, what, &sizes)
    };
    of_past(&k4, 4, "the cached keys")?;
    of_past(&v4, 5, "the cached values")?;
    let total = match (call.optional(4), &past) {
        (Some(_), Some(past)) => call.or_new_symbol(past.plus(&k4[2]), 2),
        (Some(_), None) => call.new_symbol(2),
        (None, _) => k4[2].clone(),
    };
    if let Ok(mask) = call.sizes(3).map(<[SymbolicSize]>::to_vec) {
        let target = [&q4[0], &q4[1], &q4[2], &total].map(SymbolicSize::clone);
        attention_mask(call, &mask, &target)?;
    }
    let result = match q.len() {
        4 => vec![q4[0].clone(), q4[1].clone(), q4[2].clone(), v4[3].clone()],
        _ => vec![q4[0].clone(), q4[2].clone(), call.or_new_symbol(q4[1].times(&v4[3]), 2)],
    };
    let cache = |own: &[SymbolicSize; 4]| {
        vec![own[0].clone(), own[1].clone(), total.clone(), own[3].clone()]
    };
    let scores = vec![q4[0].clone(), q4[1].clone(), q4[2].clone(), total.clone()];
    let types = [result, cache(&k4), cache(&v4), scores];
    Ok(types.map(|sizes| TypedValue::of(ValueType::new(&element, sizes))).into())
}

/// Checks the mask of `Attention`, which broadcasts to the scores. Its last axis may be shorter.
fn attention_mask(
    call: &RuleCall<'_>,
    mask: &[SymbolicSize],
    scores: &[SymbolicSize; 4],
) -> Result<(), RuleError> {
    if !(1..=4).contains(&mask.len()) {
        return shape_error(format!("the mask has rank {}, not 1 to 4", mask.len()));
    }
    let target = &scores[4 - mask.len()..];
    let pairs = mask.iter().zip(target).enumerate().take(mask.len() - 1);
    for (axis, (own, score)) in pairs.filter(|(_, (own, _))| !own.is(1)) {
        if !call.may_be_equal(own, score) {
            return shape_error(format!("axis {axis} of the mask is {own}, not {score} or 1"));
        }
    }
    match (mask.last().and_then(SymbolicSize::number), scores[3].number()) {
        (Some(own), Some(total)) if own > total => {
            shape_error(format!("axis {} of the mask is {own}, more than {total}", mask.len() - 1))
        }
        _ => Ok(()),
    }
}

/// `LinearAttention`: queries, keys and values with their heads in the last axis; the state has a matrix
/// for each head.
pub(crate) fn linear_attention(call: &RuleCall<'_>) -> RuleResult {
    let q = call.sizes_of_rank(0, 3)?;
    let (k, v) = (call.sizes_of_rank(1, 3)?, call.sizes_of_rank(2, 3)?);
    let [q_heads, heads] = ["q_num_heads", "kv_num_heads"].map(|name| call.node.required_int(name));
    let (q_heads, heads) = (q_heads?, heads?);
    if heads <= 0 || q_heads <= 0 || q_heads % heads != 0 {
        return shape_error(format!("{q_heads} heads of queries for {heads} heads of keys"));
    }
    for (sizes, count) in [(q, q_heads), (k, heads), (v, heads)] {
        if sizes[2].number().is_some_and(|width| width % count != 0) {
            return shape_error(format!("{} elements do not divide by {count} heads", sizes[2]));
        }
    }
    let [width, value_width] = [k, v].map(|sizes| {
        let exact = sizes[2].divided_exactly(&known_size(heads));
        exact.or_else(|| sizes[2].floor_divided(heads))
    });
    let queries = width.as_ref().and_then(|width| width.times(&known_size(q_heads)));
    call.expect(0, "the queries", &[None, None, queries.as_ref()])?;
    call.expect(1, "the keys", &[Some(&q[0]), Some(&q[1]), None])?;
    call.expect(2, "the values", &[Some(&q[0]), Some(&q[1]), None])?;
    let (width, value_width) = (call.or_new_symbol(width, 2), call.or_new_symbol(value_width, 3));
    let all = call.or_new_symbol(value_width.times(&known_size(q_heads)), 2);
    let state = vec![q[0].clone(), known_size(heads), width, value_width];
    call.expect_sizes(3, "the state", &state)?;
    let element = call.element(0)?;
    let state_element = if call.optional(3).is_some() { call.element(3)? } else { element.clone() };
    let result = ValueType::new(&element, vec![q[0].clone(), q[1].clone(), all]);
    Ok(vec![TypedValue::of(result), TypedValue::of(ValueType::new(&state_element, state))])
}
