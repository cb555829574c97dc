//! A network read from a file: its inputs, constants and layers.

use std::collections::HashSet;

use indim_graph::Array;
use indim_model::{
    DeclaredSize, FormatError, FormatErrorKind, FormatLimits, InputBinding, Location, Model,
    ModelInput, ModelProgram, ReadOptions, SourceFile, WrittenModel,
};

use crate::attribute_table;
use crate::build::build;
use crate::constants::Constants;
use crate::element_type::element_type;
use crate::layer::Layer;
use crate::metadata::with_metadata;
use crate::network::Network;
use crate::operation::{Lowering, Operation};
use crate::survey::{NetworkRows, Survey};

/// A network from which graphs are built.
pub(super) struct IrModel {
    pub(super) network: Network,
    /// The rows of the table of operations (`operation.rs`) and the constants of the layers.
    pub(super) plan: NetworkPlan,
    pub(super) inputs: Vec<ModelInput>,
    /// Positions of the layers that are inputs.
    pub(super) parameters: Vec<usize>,
    /// Positions of the layers that are outputs, with their names.
    pub(super) results: Vec<(usize, String)>,
    /// Remarks about the file.
    pub(super) remarks: Vec<String>,
    pub(super) limits: FormatLimits,
    source: SourceFile,
    /// Whether a loop or branch computes a value that determines shapes.
    has_computed_shape: bool,
}

/// The rows of the table of operations and the constants of a network and of its bodies.
pub(super) struct NetworkPlan {
    /// The table row of each layer.
    pub(super) operations: Vec<&'static Operation>,
    /// The elements of each constant layer.
    pub(super) constants: Vec<Option<Array>>,
    /// The plan of each body.
    pub(super) bodies: Vec<NetworkPlan>,
}

impl NetworkPlan {
    /// Reads the constants. The recursion is bounded by the limit on the depth of the XML.
    fn read(
        network: &Network,
        rows: NetworkRows,
        constants: &mut Constants<'_>,
    ) -> Result<NetworkPlan, FormatError> {
        let NetworkRows { operations, bodies } = rows;
        let mut arrays = vec![None; operations.len()];
        for (position, row) in operations.iter().enumerate() {
            if matches!(row.lowering, Lowering::Constant) {
                arrays[position] = Some(constants.read(&network.layers[position])?);
            }
        }
        let bodies = network.bodies.iter().zip(bodies);
        let bodies = bodies.map(|(body, rows)| NetworkPlan::read(&body.network, rows, constants));
        Ok(NetworkPlan { bodies: bodies.collect::<Result<_, _>>()?, operations, constants: arrays })
    }
}

impl IrModel {
    /// # Errors
    /// Returns the errors of the file that do not depend on its inputs.
    pub(super) fn read(source: &SourceFile, options: &ReadOptions) -> Result<IrModel, FormatError> {
        let network = Network::read(text(source)?, &options.limits)?.part(&options.part)?;
        let model = IrModel::of(network, source, &options.limits)?;
        match model.results.is_empty() {
            true => {
                let expected = "a layer of type Result".to_owned();
                Err(FormatErrorKind::Unexpected { expected }.without_location())
            }
            false => Ok(model),
        }
    }

    /// The model of a network, which may have no results.
    ///
    /// # Errors
    /// Those of [`IrModel::read`].
    pub(super) fn of(
        network: Network,
        source: &SourceFile,
        limits: &FormatLimits,
    ) -> Result<IrModel, FormatError> {
        let Survey { rows, is_shape, has_computed_shape } = Survey::of(&network)?;
        let plan = NetworkPlan::read(&network, rows, &mut Constants::new(source, limits))?;
        let mut model = IrModel {
            inputs: Vec::new(),
            parameters: Vec::new(),
            results: Vec::new(),
            remarks: [pdpd_remark(&network.layers), attribute_table::remark(&network.layers)]
                .into_iter()
                .flatten()
                .collect(),
            limits: *limits,
            source: source.clone(),
            has_computed_shape,
            plan,
            network,
        };
        model.find_inputs(&is_shape)?;
        model.find_results();
        Ok(model)
    }

    /// Positions of the layers whose lowering `is_meant` accepts.
    fn layers(&self, is_meant: fn(Lowering) -> bool) -> Vec<usize> {
        let all = self.plan.operations.iter().enumerate();
        all.filter(|(_, row)| is_meant(row.lowering)).map(|(position, _)| position).collect()
    }

    fn find_inputs(&mut self, is_shape: &[bool]) -> Result<(), FormatError> {
        self.parameters = self.layers(|lowering| matches!(lowering, Lowering::Parameter));
        let mut used_names: HashSet<&str> = HashSet::new();
        for &position in &self.parameters {
            let layer = &self.network.layers[position];
            let own = layer.outputs.iter().flat_map(|port| &port.names).chain([&layer.name]);
            let Some(name) = own.into_iter().find(|name| used_names.insert(name)) else {
                let name = layer.name.clone();
                return Err(FormatErrorKind::Duplicate { what: "input", name }.at(layer.location()));
            };
            let mut input = declared(layer, &self.limits).map_err(|kind| layer.fault(kind))?;
            (input.name, input.is_shape) = (name.clone(), is_shape[position]);
            self.inputs.push(input);
        }
        Ok(())
    }

    /// Names each result by the first name of its value that no earlier result has, or like its own layer if
    /// there is none.
    fn find_results(&mut self) {
        let mut used_names: HashSet<&str> = HashSet::new();
        for position in self.layers(|lowering| matches!(lowering, Lowering::Result)) {
            let layer = &self.network.layers[position];
            let source = &layer.sources[0];
            let names = &self.network.layers[source.layer].outputs[source.output].names;
            let unused_name = names.iter().find(|name| used_names.insert(name));
            let name = unused_name.unwrap_or(&layer.name).clone();
            self.results.push((position, name));
        }
    }
}

/// The remark about layers of the PDPD rule without an axis.
fn pdpd_remark(layers: &[Layer]) -> Option<String> {
    let mut without_axis = layers.iter().filter(|layer| layer.is_without_pdpd_axis());
    let first = without_axis.next()?.described();
    let others = match without_axis.count() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    Some(format!(
        "{first}{others}: of the pdpd rule without an axis, read as -1, as OpenVINO documents it; its own \
         reader takes 0"
    ))
}

/// The file as text; all of it must be text.
pub(super) fn text(source: &SourceFile) -> Result<&str, FormatError> {
    let text = source.text();
    match text.len() == source.bytes().len() {
        true => Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
        false => {
            let problem = "this is no UTF-8".to_owned();
            Err(FormatErrorKind::Damaged { problem }.in_text(text.len()..text.len()))
        }
    }
}

/// The declaration of the input that a `Parameter` layer makes, still without a name.
pub(crate) fn declared(
    layer: &Layer,
    limits: &FormatLimits,
) -> Result<ModelInput, FormatErrorKind> {
    let dtype = element_type(layer.text("element_type")?.trim())?;
    let shape = layer.text("shape")?.trim();
    let sizes = match shape {
        "..." => None,
        "" => Some(Vec::new()),
        _ => {
            let sizes = shape.split(',').take(limits.rank + 1).map(size);
            Some(sizes.collect::<Result<Vec<DeclaredSize>, FormatErrorKind>>()?)
        }
    };
    if sizes.as_ref().is_some_and(|sizes| sizes.len() > limits.rank) {
        return Err(FormatErrorKind::Limit { what: "axes", limit: limits.rank });
    }
    Ok(ModelInput { name: String::new(), dtype, sizes, has_default: false, is_shape: false })
}

/// Parses a size: `3`, `?`, `-1`, or `1..5`, where either bound can be missing.
fn size(text: &str) -> Result<DeclaredSize, FormatErrorKind> {
    let wrong = || FormatErrorKind::attribute("shape", "is not a list of sizes");
    let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
    match (text.trim(), text.split_once("..")) {
        ("?" | "-1", _) => Ok(DeclaredSize::Dynamic),
        (text, None) => Ok(DeclaredSize::Known(number(text)?)),
        (_, Some((min, max))) => {
            let min = if min.trim().is_empty() { 0 } else { number(min)? };
            let max = match max.trim() {
                "" | "?" => None,
                max => Some(number(max)?),
            };
            Ok(DeclaredSize::Range { min, max })
        }
    }
}

impl Model for IrModel {
    /// Location of a layer by its position.
    fn location(&self, number: usize) -> Location {
        self.network.layers.get(number).map_or_else(Location::default, Layer::location)
    }

    fn inputs(&self) -> &[ModelInput] {
        &self.inputs
    }

    fn outputs(&self) -> Vec<String> {
        self.results.iter().map(|(_, name)| name.clone()).collect()
    }

    fn needs_stages(&self) -> bool {
        self.has_computed_shape || self.inputs.iter().any(|it| it.is_shape && !it.is_short_list())
    }

    fn build(&self, inputs: &[InputBinding]) -> Result<ModelProgram, FormatError> {
        build(self, inputs)
    }

    fn with_metadata(
        &self,
        written: WrittenModel,
        is_own_format: bool,
    ) -> Result<WrittenModel, FormatError> {
        with_metadata(text(&self.source)?, &self.limits, written, is_own_format)
    }
}
