//! Builds the program of a model for inputs of known types: node by node, with constant folding of known
//! values.

use std::sync::Arc;

use indim_builder::Value;
use indim_graph::Array;
use indim_ops::ArrayType;

use super::call::{Call, LoweringResult};
use super::elementwise;
use super::model::OnnxModel;
use super::operators::{Lowering, Operator, Step};
use super::reductions;
use indim_model::shape_values::{KnownValue, fold_known_operands};
use indim_model::{
    FormatError, FormatErrorKind, InputBinding, Location, ModelBuilder, ModelProgram, RuleNote,
    check_inputs,
};
use indim_onnx_file::flatten::{FlatNode, ValueNumber};
use indim_onnx_file::tensor::Tensors;
use indim_onnx_file::types::declared_at;

/// Maximum number of values that an error lists.
const MAX_CHAIN: usize = 8;

/// The builder of one program.
pub(super) struct ProgramBuilder<'m> {
    model: &'m OnnxModel,
    pub(super) model_builder: ModelBuilder,
    pub(super) tensors: Arc<Tensors>,
    pub(super) values: Vec<Option<KnownValue>>,
    /// Position of the current node in the list of the model.
    number: usize,
}

impl<'m> ProgramBuilder<'m> {
    pub(super) fn new(model: &'m OnnxModel) -> Self {
        ProgramBuilder {
            model,
            model_builder: ModelBuilder::new(&model.limits),
            tensors: Arc::new(Tensors::new(&model.source, &model.limits)),
            values: vec![None; model.value_count],
            number: 0,
        }
    }

    /// # Errors
    /// Those of [`crate::Model::build`].
    pub(super) fn program(mut self, given: &[InputBinding]) -> Result<ModelProgram, FormatError> {
        let types = check_inputs(&self.model.inputs, given)?;
        self.model.remarks.iter().for_each(|remark| self.model_builder.remark(remark));
        for (position, array_type) in types.into_iter().enumerate() {
            if let Some(array_type) = array_type {
                self.input(position, array_type, &given[position])?;
            }
        }
        for initializer in &self.model.initializers {
            // A bound input overrides its default.
            if self.values[initializer.number].is_none() {
                let location = || initializer.location();
                let array = initializer.array(&self.tensors).map_err(|kind| kind.at(location()))?;
                self.values[initializer.number] = Some(self.constant(array, location)?);
            }
        }
        let model = self.model;
        for (number, step) in model.nodes.iter().enumerate() {
            self.number = number;
            self.step(step)?;
        }
        self.finish()
    }

    /// Builds a node of the list, or of a body of the current node.
    pub(super) fn step(&mut self, step: &Step) -> Result<(), FormatError> {
        self.model_builder.operation(self.number, || step.node.location())?;
        match step.operator.lowering {
            Lowering::Control => self.control(step),
            _ => self.node(&step.node, step.operator),
        }
    }

    /// The value of an operand for the current builder. In the body of a loop or branch, known elements
    /// become a constant of the body; other values from outside are captured.
    pub(super) fn operand(
        &self,
        number: ValueNumber,
    ) -> Result<Option<KnownValue>, FormatErrorKind> {
        let Some(known) = &self.values[number] else { return Ok(None) };
        if !self.model_builder.is_in_region() {
            return Ok(Some(known.clone()));
        }
        let builder = &self.model_builder.builder;
        Ok(Some(match &known.elements {
            Some(array) => KnownValue::constant(builder, array.clone()),
            None => builder.local(&known.value)?.into(),
        }))
    }

    fn input(
        &mut self,
        position: usize,
        array_type: ArrayType,
        bound: &InputBinding,
    ) -> Result<(), FormatError> {
        let input = &self.model.inputs[position];
        let ArrayType { dtype, shape } = array_type;
        let value = self.model_builder.builder.parameter(&input.name, dtype, shape);
        let location = || declared_at("input", &input.name);
        let value = value.map_err(|error| FormatErrorKind::from(error).at(location()))?;
        self.values[self.model.input_numbers[position]] = Some(match bound {
            InputBinding::Elements(array) if input.is_shape => {
                let name = indim_graph::terminal::printable(&input.name);
                self.model_builder.remark(format!(
                    "the program is valid for these elements of the input {name}, which determine shapes"
                ));
                KnownValue::with_elements(value, array.clone())
            }
            _ => value.into(),
        });
        Ok(())
    }

    pub(super) fn constant(
        &mut self,
        array: Array,
        location: impl FnOnce() -> Location,
    ) -> Result<KnownValue, FormatError> {
        let value = self.model_builder.constant(array.clone(), location)?;
        Ok(KnownValue::with_elements(value, array))
    }

    fn node(&mut self, node: &FlatNode, operator: &Operator) -> Result<(), FormatError> {
        let location = || node.location();
        let lowering = &operator.lowering;
        let operand = |number: &Option<ValueNumber>| match *number {
            // Only the type of the operand matters, so a body does not capture its value.
            Some(number) if operator.signature.reads_types => Ok(self.values[number].clone()),
            Some(number) => self.operand(number),
            None => Ok(None),
        };
        let operands = node.operands.iter().map(operand).collect::<Result<Vec<_>, _>>();
        let operands = operands.map_err(|kind| kind.at(location()))?;
        let tensors = &self.tensors;
        let builder = self.model_builder.builder.clone();
        let rule = RuleNote::default();
        let call = Call { builder: &builder, node, operands: &operands, tensors, rule: &rule };
        let results = match lowering {
            Lowering::Constant => {
                let array = call.node.constant(call.tensors).map_err(|kind| kind.at(location()))?;
                vec![self.constant(array, location)?]
            }
            _ => {
                let results = lower_and_fold(lowering, &call);
                results.map_err(|kind| self.with_value_chain(kind, node).at(location()))?
            }
        };
        self.model_builder.rule(rule.take());
        if node.results.len() > results.len() {
            let expected = format!("at most {}", results.len());
            let given = node.results.len();
            return Err(FormatErrorKind::Count { what: "results", expected, given }.at(location()));
        }
        for (known, number) in results.into_iter().zip(&node.results) {
            // The builder defers errors of Rust operators on values, such as `x + y`, until a type is
            // read: here.
            known
                .value
                .array_type()
                .map_err(|error| FormatErrorKind::from(error).at(location()))?;
            if let Some(number) = number {
                self.values[*number] = Some(known);
            }
        }
        Ok(())
    }

    /// Completes `depends-on-data`, which names an unknown operand, by the chain of values from which
    /// that operand is computed. The operand is the last of the chain.
    fn with_value_chain(&self, kind: FormatErrorKind, node: &FlatNode) -> FormatErrorKind {
        let FormatErrorKind::DependsOnData { chain } = &kind else { return kind };
        let Some(name) = chain.first() else { return kind };
        let inputs = node.node.proto.input.iter();
        let mut unknown_operand = inputs.zip(&node.operands).find(|(input, _)| *input == name);
        let mut names = vec![];
        let mut rest = &self.model.nodes[..];
        while let Some((name, Some(number))) = unknown_operand.filter(|_| names.len() < MAX_CHAIN) {
            let produces = |step: &Step| step.node.results.contains(&Some(*number));
            let Some(position) = rest.iter().rposition(produces) else {
                names.push(indim_graph::terminal::printable(name));
                break;
            };
            let producer = &rest[position].node;
            let name = indim_graph::terminal::printable(name);
            names.push(format!("{name}, made by {}", producer.operator));
            rest = &rest[..position];
            let mut operands = producer.node.proto.input.iter().zip(&producer.operands);
            unknown_operand =
                operands.find(|(_, operand)| operand.is_some_and(|o| self.is_unknown(o)));
        }
        names.reverse();
        FormatErrorKind::DependsOnData { chain: names }
    }

    fn is_unknown(&self, number: ValueNumber) -> bool {
        self.values[number].as_ref().is_none_or(|known| known.elements.is_none())
    }

    fn finish(mut self) -> Result<ModelProgram, FormatError> {
        let mut outputs: Vec<(String, Value)> = Vec::new();
        for (output, number) in self.model.outputs.iter().zip(&self.model.output_numbers) {
            let Some(known) = &self.values[*number] else {
                let undefined =
                    FormatErrorKind::Undefined { what: "value", name: output.name.clone() };
                return Err(undefined.at(declared_at("output", &output.name)));
            };
            let found = known
                .value
                .array_type()
                .map_err(|e| FormatErrorKind::from(e).without_location())?;
            if output.dtype.is_some_and(|dtype| dtype != found.dtype) {
                let (stated, inferred) = (output.declared(), found.to_string());
                let kind = FormatErrorKind::TypeMismatch { stated, inferred };
                return Err(kind.at(declared_at("output", &output.name)));
            }
            if output.array_type().is_some_and(|stated| stated != found) {
                let (name, stated) =
                    (indim_graph::terminal::printable(&output.name), output.declared());
                self.model_builder
                    .remark(format!("the output {name} is {found}; the file says {stated}"));
            }
            outputs.push((output.name.clone(), known.value.clone()));
        }
        self.model_builder.finish(outputs, Vec::new())
    }
}

/// The results of a node: constants if the elements of all operands are known and the results are small.
pub(super) fn lower_and_fold(lowering: &Lowering, call: &Call<'_>) -> LoweringResult {
    let folded_arrays = fold_known_operands(call.operands, |builder, operands| {
        lower(lowering, &Call { builder, operands, ..*call })
    });
    match folded_arrays {
        Some(arrays) => {
            Ok(arrays.into_iter().map(|array| KnownValue::constant(call.builder, array)).collect())
        }
        None => lower(lowering, call),
    }
}

fn lower(lowering: &Lowering, call: &Call<'_>) -> LoweringResult {
    match lowering {
        Lowering::Unary(op) => elementwise::unary(call, *op),
        Lowering::Binary(op, takes) => elementwise::binary(call, *op, *takes),
        Lowering::Fold(op) => elementwise::fold(call, *op).map(|value| vec![value.into()]),
        Lowering::Composition(composition) => elementwise::composition(call, *composition),
        Lowering::Reduction(reduction) => reductions::reduce(call, *reduction),
        Lowering::GlobalPool(function) => reductions::pool(call, *function),
        Lowering::Constant => {
            Ok(vec![KnownValue::constant(call.builder, call.node.constant(call.tensors)?)])
        }
        // Never reached: `control.rs` builds loops and branches, and `infer/control.rs` infers their
        // types.
        Lowering::Control => {
            let what = format!("{} outside a model is", call.node.operator);
            Err(FormatErrorKind::Unsupported { what })
        }
        Lowering::Function(lower) => lower(call),
    }
}
