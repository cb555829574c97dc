//! Attributes of a Zarr array that change the meaning of its elements: missing values, scale and offset.

use indim_graph::terminal::printable;
use indim_ops::DType;
use serde_json::{Map, Value};

/// Warnings about attributes that are not applied, with the expression that applies them.
pub(super) fn remarks(attributes: &Map<String, Value>, dtype: DType) -> Vec<String> {
    let number = |name: &str| attributes.get(name).filter(|value| value.is_number());
    let (scale, offset) = (number("scale_factor"), number("add_offset"));
    let missing = ["_FillValue", "missing_value"].iter().find_map(|name| {
        let value = attributes
            .get(*name)
            .and_then(|value| value.as_array().map_or(Some(value), |v| v.first()))?;
        value.is_number().then_some((*name, value))
    });
    let mut names = names_of(attributes, ["scale_factor", "add_offset"]);
    names.extend(missing.map(|(name, _)| name));
    if names.is_empty() {
        return Vec::new();
    }
    let float =
        if dtype.size() <= 2 && !matches!(dtype, DType::F16 | DType::Bf16) { "f32" } else { "f64" };
    let mut expression = format!("{float}(x)");
    if let Some(scale) = scale {
        expression = format!("{expression} * {float}({scale})");
    }
    if let Some(offset) = offset {
        expression = format!("{expression} + {float}({offset})");
    }
    if let Some((_, value)) = missing {
        expression = format!("where(x == {value}, {float}(nan), {expression})");
    }
    vec![format!(
        "its attributes {} are not applied; `{}` does, with its name for x",
        names.join(", "),
        printable(&expression)
    )]
}

fn names_of<'a>(attributes: &Map<String, Value>, names: [&'a str; 2]) -> Vec<&'a str> {
    names.into_iter().filter(|name| attributes.get(*name).is_some_and(Value::is_number)).collect()
}
