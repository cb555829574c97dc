//! Builds the graph of a network for inputs of known types.

use std::collections::HashSet;

use indim_builder::Value;
use indim_graph::Array;
use indim_ops::ArrayType;

use crate::call::{Call, LoweringResult};
use crate::element_type::element_type;
use crate::layer::{Edge, Layer, Port};
use crate::model::{IrModel, NetworkPlan};
use crate::network::Network;
use crate::operation::{Lowering, Operation};
use indim_model::shape_values::{KnownValue, fold_known_operands};
use indim_model::{
    FormatError, FormatErrorKind, InputBinding, ModelBuilder, ModelProgram, RuleNote, check_inputs,
};

pub(super) fn build(model: &IrModel, inputs: &[InputBinding]) -> Result<ModelProgram, FormatError> {
    let mut frame = Frame::new(&model.network, &model.plan);
    let mut building = ProgramBuilder::new(model, inputs, &mut frame)?;
    building.run(&mut frame)?;
    building.finish(&frame)
}

/// A network during its build: that of the file, or the body of a loop or branch.
pub(super) struct Frame<'m> {
    pub(super) network: &'m Network,
    pub(super) plan: &'m NetworkPlan,
    /// The results of each layer built so far; `None` for a result of a loop or branch that no layer
    /// reads.
    pub(super) values: Vec<Vec<Option<KnownValue>>>,
    /// The outputs that some layer reads, each as layer and output. Without loops and branches, which need
    /// all of them, first outputs are left out.
    pub(super) read: HashSet<(usize, usize)>,
}

impl<'m> Frame<'m> {
    pub(super) fn new(network: &'m Network, plan: &'m NetworkPlan) -> Frame<'m> {
        let edges = network.layers.iter().flat_map(|layer| &layer.sources);
        let edges = edges.filter(|edge| edge.output > 0 || !network.bodies.is_empty());
        Frame {
            network,
            plan,
            values: vec![Vec::new(); network.layers.len()],
            read: edges.map(|edge| (edge.layer, edge.output)).collect(),
        }
    }

    /// The source value of an edge.
    pub(super) fn source(&self, edge: &Edge) -> LoweringResult<KnownValue> {
        let nothing = || FormatErrorKind::Count {
            what: "results",
            expected: "more".to_owned(),
            given: self.values[edge.layer].len(),
        };
        self.values[edge.layer].get(edge.output).cloned().flatten().ok_or_else(nothing)
    }
}

/// The builder of the program of one model.
pub(super) struct ProgramBuilder<'m> {
    model: &'m IrModel,
    pub(super) model_builder: ModelBuilder,
    /// Whether some input has no known rank; a port without sizes can then have any rank.
    has_open_rank: bool,
    /// Position of the current layer in the whole network: for a layer of a body, the position of the
    /// outermost loop or branch around it.
    number: usize,
    /// The number of bodies around the current layer.
    pub(super) depth: usize,
}

impl<'m> ProgramBuilder<'m> {
    fn new(
        model: &'m IrModel,
        inputs: &[InputBinding],
        frame: &mut Frame<'m>,
    ) -> Result<Self, FormatError> {
        let types = check_inputs(&model.inputs, inputs)?;
        let mut model_builder = ModelBuilder::new(&model.limits);
        for ((position, input), (array_type, bound)) in
            model.parameters.iter().zip(&model.inputs).zip(types.into_iter().zip(inputs))
        {
            let layer = &model.network.layers[*position];
            model_builder.operation(*position, || layer.location())?;
            let Some(ArrayType { dtype, shape }) = array_type else { continue };
            let value = model_builder.builder.parameter(&input.name, dtype, shape);
            let value = value.map_err(|error| layer.fault(error.into()))?;
            frame.values[*position].push(Some(match bound {
                InputBinding::Elements(array) if input.is_shape => {
                    KnownValue::with_elements(value, array.clone())
                }
                _ => KnownValue::from(value),
            }));
        }
        model.remarks.iter().for_each(|remark| model_builder.remark(remark));
        let has_open_rank = model.inputs.iter().any(|input| input.sizes.is_none());
        Ok(ProgramBuilder { model, model_builder, has_open_rank, number: 0, depth: 0 })
    }

    /// Builds the layers of a network whose parameters have values.
    pub(super) fn run(&mut self, frame: &mut Frame<'m>) -> Result<(), FormatError> {
        let is_whole = core::ptr::eq(frame.network, &raw const self.model.network);
        for &position in &frame.network.order {
            let layer = &frame.network.layers[position];
            let lowering = frame.plan.operations[position].lowering;
            self.number = if is_whole { position } else { self.number };
            if !matches!(lowering, Lowering::Parameter) {
                self.model_builder.operation(self.number, || layer.location())?;
            }
            let results = match lowering {
                Lowering::Control => self.control(frame, position)?,
                _ => {
                    let rule = RuleNote::default();
                    let results = self.layer(frame, position, &rule);
                    self.model_builder.rule(rule.take());
                    results.map_err(|kind| layer.fault(kind))?
                }
            };
            self.check_results(layer, &results)?;
            frame.values[position] = results;
        }
        Ok(())
    }

    /// Builds a layer whose operands have been built; returns its results.
    fn layer(
        &mut self,
        frame: &mut Frame<'m>,
        position: usize,
        rule: &RuleNote,
    ) -> LoweringResult<Vec<Option<KnownValue>>> {
        let layer = &frame.network.layers[position];
        let operation = frame.plan.operations[position];
        let operands: Vec<KnownValue> = layer
            .sources
            .iter()
            .map(|source| frame.source(source))
            .collect::<LoweringResult<_>>()?;
        let constant = |array| Some(KnownValue::constant(&self.model_builder.builder, array));
        let limits = &self.model.limits;
        let builder = &self.model_builder.builder;
        let reads_second = frame.read.contains(&(position, 1));
        let call = Call { builder, layer, operands: &operands, limits, rule, reads_second };
        match operation.lowering {
            Lowering::Parameter => return Ok(core::mem::take(&mut frame.values[position])),
            Lowering::Result => return Ok(Vec::new()),
            Lowering::Constant => {
                let array = frame.plan.constants[position].clone();
                return Ok(array.into_iter().map(constant).collect());
            }
            Lowering::Shape(shape) => return Ok(vec![constant(shape(&call)?)]),
            _ => {}
        }
        match fold_constants(operation, &call) {
            Some(arrays) => Ok(arrays.into_iter().map(constant).collect()),
            None => {
                let values = operation.lower(&call)?.into_iter();
                Ok(values.map(|value| Some(KnownValue::from(value))).collect())
            }
        }
    }

    /// Checks the results of a layer against the types of its ports.
    fn check_results(
        &self,
        layer: &Layer,
        results: &[Option<KnownValue>],
    ) -> Result<(), FormatError> {
        let is_output = results.is_empty();
        // The positions of `MaxPool` are computed only if a layer reads them.
        let lacks_positions = layer.is("MaxPool") && layer.outputs.len() == 2 && results.len() == 1;
        if !is_output && !lacks_positions && results.len() != layer.outputs.len() {
            let (expected, given) = (results.len().to_string(), layer.outputs.len());
            let kind = FormatErrorKind::Count { what: "output ports", expected, given };
            return Err(kind.at(layer.location()));
        }
        for (held, port) in results.iter().zip(&layer.outputs) {
            let Some(held) = held else { continue };
            self.check_port(port, held).map_err(|kind| match kind {
                FormatErrorKind::TypeMismatch { .. } => kind.at(layer.port_location(port)),
                kind => layer.fault(kind),
            })?;
        }
        Ok(())
    }

    fn check_port(&self, port: &Port, held: &KnownValue) -> LoweringResult<()> {
        let inferred = held.value.array_type()?;
        let rank = inferred.shape.rank();
        if rank > self.model.limits.rank {
            let limit = self.model.limits.rank;
            return Err(FormatErrorKind::Limit { what: "axes", limit });
        }
        let precision = match &port.precision {
            Some(precision) => element_type(precision)?,
            None => None,
        };
        let is_open = port.sizes.is_empty() && self.has_open_rank;
        let sizes = port.sizes.iter().zip(inferred.shape.iter());
        let fits = is_open
            || port.sizes.len() == rank
                && sizes.into_iter().all(|(said, size)| said.is_none_or(|said| said == *size));
        if fits && precision.is_none_or(|dtype| dtype == inferred.dtype) {
            return Ok(());
        }
        let dtype = precision.map_or("?", |dtype| dtype.name());
        let size = |size: &Option<usize>| size.map_or("?".to_owned(), |size| size.to_string());
        let sizes = port.sizes.iter().map(size).collect::<Vec<_>>().join(", ");
        let (stated, inferred) = (format!("{dtype}[{sizes}]"), inferred.to_string());
        Err(FormatErrorKind::TypeMismatch { stated, inferred })
    }

    fn finish(self, frame: &Frame<'_>) -> Result<ModelProgram, FormatError> {
        let mut outputs: Vec<(String, Value)> = Vec::with_capacity(self.model.results.len());
        for (position, name) in &self.model.results {
            let layer = &self.model.network.layers[*position];
            let held = frame.source(&layer.sources[0]).map_err(|kind| layer.fault(kind))?;
            outputs.push((name.clone(), held.value));
        }
        self.model_builder.finish(outputs, Vec::new())
    }
}

/// The results of a call as constants, if the elements of all operands are known and the results are
/// small.
fn fold_constants(operation: &Operation, call: &Call<'_>) -> Option<Vec<Array>> {
    let operands: Vec<Option<KnownValue>> = call.operands.iter().cloned().map(Some).collect();
    fold_known_operands(&operands, |builder, operands| {
        let operands: Vec<KnownValue> = operands.iter().flatten().cloned().collect();
        let values = operation.lower(&Call { builder, operands: &operands, ..*call })?;
        LoweringResult::Ok(values.into_iter().map(KnownValue::from).collect())
    })
}
