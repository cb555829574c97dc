//! Cases as StableHLO text in the generic form, because the pretty form cannot state mismatched types.

use indim_ops::{ArrayType, DType};

use super::KitCase;

pub(super) fn file(case: &KitCase) -> String {
    let types: Vec<String> = case.draft.types().iter().map(type_text).collect();
    let result = type_text(&case.stated_result());
    let names: Vec<String> = (0..types.len()).map(|index| format!("%x{index}")).collect();
    let arguments: Vec<String> =
        names.iter().zip(&types).map(|(name, it)| format!("{name}: {it}")).collect();
    let (name, attributes) = match case.operation() {
        None => ("broadcast_in_dim", dims_text(case.draft.dims.as_deref().unwrap_or_default())),
        Some(operation) => match operation.stablehlo {
            (name, None) => (name, String::new()),
            (name, Some(direction)) => (
                name,
                format!(" {{comparison_direction = #stablehlo<comparison_direction {direction}>}}"),
            ),
        },
    };
    let (arguments, names, types) = (arguments.join(", "), names.join(", "), types.join(", "));
    format!(
        "func.func @main({arguments}) -> {result} {{\n  \
         %y = \"stablehlo.{name}\"({names}){attributes} : ({types}) -> {result}\n  \
         return %y : {result}\n}}\n"
    )
}

fn dims_text(dims: &[i64]) -> String {
    let dims: Vec<String> = dims.iter().map(i64::to_string).collect();
    let colon = if dims.is_empty() { "" } else { ": " };
    format!(" {{broadcast_dimensions = array<i64{colon}{}>}}", dims.join(", "))
}

/// The text of a type, such as `tensor<2x3xf32>`.
fn type_text(array_type: &ArrayType) -> String {
    let sizes: String = array_type.shape.iter().map(|size| format!("{size}x")).collect();
    let dtype = if array_type.dtype == DType::Bool { "i1" } else { array_type.dtype.name() };
    format!("tensor<{sizes}{dtype}>")
}
