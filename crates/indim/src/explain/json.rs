//! Explanations as JSON.

use serde_json::{Value, json};

use super::{ExplainedBroadcast, Explanation};

/// A whole explanation as text.
pub(super) fn explanation(explanation: &Explanation) -> String {
    let (graph, executable) = (&explanation.graph, &explanation.executable);
    let forecast = explanation.forecast();
    let types = |types: &[indim_graph::ArrayType]| -> Value {
        types.iter().map(|t| json!({"dtype": t.dtype.name(), "shape": t.shape.sizes()})).collect()
    };
    let (unique, stands_for) = explanation.broadcast_bytes();
    let names = (0..executable.parameters().len()).map(|index| graph.parameter_name(index));
    let parameters: Vec<Value> = names
        .zip(executable.parameters())
        .map(|(name, t)| json!({"name": name, "dtype": t.dtype.name(), "shape": t.shape.sizes()}))
        .collect();
    json!({
        "parameters": parameters,
        "outputs": types(executable.outputs()),
        "broadcasts": explanation.broadcasts().iter().map(broadcast).collect::<Vec<_>>(),
        "graph": graph.to_string(),
        "loop_nests": executable.nests().iter().map(ToString::to_string).collect::<Vec<_>>(),
        "level": executable.level().to_string(),
        "programs": executable.programs().iter().map(ToString::to_string).collect::<Vec<_>>(),
        "bytes_read": forecast.bytes_read,
        "broadcast_bytes": unique,
        "broadcast_bytes_stand_for": stands_for,
        "bytes_written": forecast.bytes_written,
        "temporary_bytes": forecast.temporary_bytes,
        "register_bytes": forecast.register_bytes,
        "peak_bytes": forecast.peak_bytes(1),
    })
    .to_string()
}

/// One broadcast.
pub(super) fn broadcast(explained: &ExplainedBroadcast) -> Value {
    let form = explained.form();
    let operand = |((name, dtype), (shape, map)): (
        &(String, String),
        (&indim_shape::Shape, &indim_shape::AxisMap),
    )| {
        json!({"name": name, "dtype": dtype, "shape": shape.sizes(), "map": &map[..]})
    };
    let operands = explained.labels().iter().zip(form.operands().iter().zip(form.maps()));
    let rules = explained.under_other_rules().into_iter().map(|(rule, said)| match said {
        Ok(said) => json!({"rule": rule.as_str(), "ok": true, "attributes": said}),
        Err(reason) => json!({"rule": rule.as_str(), "ok": false, "reason": reason}),
    });
    json!({
        "operation": explained.operation(),
        "operands": operands.map(operand).collect::<Vec<_>>(),
        "result": form.result().sizes(),
        "rules": rules.collect::<Vec<_>>(),
        "warning": explained.outer_product_warning(),
    })
}
