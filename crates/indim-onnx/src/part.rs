//! The part of a model between values that the caller names.

use indim_model::outline::{Outline, ValueType};
use indim_model::{DeclaredSize, FormatError, FormatLimits, Location, ModelInput, ProgramPart};

use super::model::declared;
use super::operators::Step;
use indim_onnx_file::body::{check_many, decoded};
use indim_onnx_file::flatten::{OpaqueStep, ValueNumber, mark_live};
use indim_onnx_file::messages::ValueInfoProto;

/// The values at which the part starts, with their types as far as the outline knows them.
pub(super) fn starts(
    part: &ProgramPart,
    outline: impl FnOnce() -> Result<Outline, FormatError>,
) -> Vec<ModelInput> {
    if part.from.is_empty() {
        return Vec::new();
    }
    // The reader reports errors of the file; here an outline with an error only leaves the types unknown.
    let outline = outline().unwrap_or_default();
    let start = |name: &str| {
        let mut values = outline.values.iter();
        let value = values.find(|value| value.run_name() == Some(name));
        described(name, value.map(|value| &value.value_type))
    };
    part.starts().into_iter().map(start).collect()
}

/// A value at which the part starts or ends. Without a type, its element type and sizes are unknown.
fn described(name: &str, value_type: Option<&ValueType>) -> ModelInput {
    let size = |size: &indim_model::outline::SymbolicSize| {
        let number = size.number().and_then(|number| usize::try_from(number).ok());
        number.map_or(DeclaredSize::Dynamic, DeclaredSize::Known)
    };
    let sizes = value_type.and_then(|it| it.sizes.as_ref());
    ModelInput {
        name: name.to_owned(),
        dtype: value_type.and_then(ValueType::dtype),
        sizes: sizes.map(|sizes| sizes.iter().map(size).collect()),
        has_default: false,
        is_shape: false,
    }
}

/// The outputs of the part: those of the model, or the values at which it ends. They are described in the
/// same form as inputs.
///
/// # Errors
/// Those of the declarations of the outputs.
pub(super) fn outputs(
    part: &ProgramPart,
    infos: &[bytes::Bytes],
    limits: &FormatLimits,
) -> Result<Vec<ModelInput>, FormatError> {
    if part.to.is_empty() {
        return declared(infos, "output", limits);
    }
    check_many("outputs", infos.len(), limits)?;
    let output = |name: &str| {
        for bytes in infos {
            let info: ValueInfoProto = decoded(bytes.clone(), Location::default)?;
            if info.name == name {
                return Ok(declared(core::slice::from_ref(bytes), "output", limits)?.remove(0));
            }
        }
        Ok(described(name, None))
    };
    part.ends().into_iter().map(output).collect()
}

/// Removes the results at which the part starts: their values are inputs, so no node computes them.
pub(super) fn cut_at_starts(nodes: &mut [Step], opaque: &mut [OpaqueStep], given: &[ValueNumber]) {
    let computed = nodes.iter_mut().map(|step| &mut step.node.results);
    let results = computed.chain(opaque.iter_mut().map(|step| &mut step.results));
    for result in results.flatten().filter(|_| !given.is_empty()) {
        *result = result.filter(|number| !given.contains(number));
    }
}

/// Whether an output of the part depends on each value; `None` for the whole model, which keeps all nodes.
pub(super) fn live_values(
    part: &ProgramPart,
    nodes: &[Step],
    opaque: &[OpaqueStep],
    outputs: &[ValueNumber],
    value_count: usize,
) -> Option<Vec<bool>> {
    (!part.is_whole()).then(|| mark_live(nodes, opaque, outputs, 0..value_count))
}
