//! Helpers of the tests of all formats; the reference evaluator runs the programs.
#![allow(dead_code, reason = "each test uses a part")]

pub(crate) mod graphs;
pub(crate) mod ir;
pub(crate) mod npy;
pub(crate) mod npz;
pub(crate) mod onnx;
pub(crate) mod random;
pub(crate) mod samples;
pub(crate) mod xla;

use indim::formats::{FormatError, InputBinding, Model, ModelProgram, ReadOptions, SourceFile};
use indim_graph::{Array, evaluate};

/// The place of an element in row-major order.
pub(crate) fn position(shape: &[usize], index: impl IntoIterator<Item = usize>) -> usize {
    shape.iter().zip(index).fold(0, |position, (size, at)| position * size + at)
}

/// The index of an element in row-major order.
pub(crate) fn unravelled(mut number: usize, shape: &[usize]) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (at, &size) in at.iter_mut().zip(shape).rev() {
        (*at, number) = (number % size, number / size);
    }
    at
}

/// The model in a text or in bytes; `name` is for messages.
pub(crate) fn read(name: &str, content: impl AsRef<[u8]>) -> Result<Box<dyn Model>, FormatError> {
    indim::formats::read(&SourceFile::new(name, content.as_ref().to_vec()), &ReadOptions::default())
}

/// Bindings of the inputs of a model: elements for inputs that determine shapes, types for the others.
pub(crate) fn bounds(model: &dyn Model, inputs: &[Array]) -> Vec<InputBinding> {
    let is_shape = |index: usize| model.inputs().get(index).is_some_and(|input| input.is_shape);
    let bound = |(index, array): (usize, &Array)| match is_shape(index) {
        true => InputBinding::Elements(array.clone()),
        false => InputBinding::Type(array.array_type().clone()),
    };
    inputs.iter().enumerate().map(bound).collect()
}

/// Bindings of inputs whose types the model declares.
pub(crate) fn bounds_of_declared(model: &dyn Model) -> Vec<InputBinding> {
    let types = model.inputs().iter().filter_map(|input| input.array_type());
    types.map(InputBinding::Type).collect()
}

/// The program of a model for these inputs.
pub(crate) fn build(model: &dyn Model, inputs: &[Array]) -> Result<ModelProgram, FormatError> {
    model.build(&bounds(model, inputs))
}

/// The results of a model for these inputs.
pub(crate) fn run(model: &dyn Model, inputs: &[Array]) -> Result<Vec<Array>, FormatError> {
    let program = build(model, inputs)?;
    Ok(evaluate(&program.graph, inputs).expect("the inputs are of the types that were bound"))
}
