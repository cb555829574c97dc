//! Cases as HLO text.

use indim_ops::{ArrayType, DType};

use super::KitCase;

pub(super) fn file(case: &KitCase) -> String {
    let types = case.draft.types();
    let parameter = |(index, it): (usize, &ArrayType)| {
        format!("  x{index} = {} parameter({index})\n", type_text(it))
    };
    let parameters: String = types.iter().enumerate().map(parameter).collect();
    let names: Vec<String> = (0..types.len()).map(|index| format!("x{index}")).collect();
    let (name, attributes) = match case.operation() {
        None => ("broadcast", dims_text(case.draft.dims.as_deref().unwrap_or_default())),
        // HLO and StableHLO have the same names.
        Some(operation) => match operation.stablehlo {
            (name, None) => (name, String::new()),
            (name, Some(direction)) => (name, format!(", direction={direction}")),
        },
    };
    let (names, result) = (names.join(", "), type_text(&case.stated_result()));
    format!(
        "HloModule case\n\nENTRY main {{\n{parameters}  ROOT y = {result} {name}({names}){attributes}\n}}\n"
    )
}

fn dims_text(dims: &[i64]) -> String {
    let dims: Vec<String> = dims.iter().map(i64::to_string).collect();
    format!(", dimensions={{{}}}", dims.join(","))
}

/// The text of a type, such as `f32[2,3]`.
fn type_text(array_type: &ArrayType) -> String {
    let sizes: Vec<String> = array_type.shape.iter().map(ToString::to_string).collect();
    let dtype = match array_type.dtype {
        DType::Bool => "pred",
        DType::I32 => "s32",
        dtype => dtype.name(),
    };
    format!("{dtype}[{}]", sizes.join(","))
}
