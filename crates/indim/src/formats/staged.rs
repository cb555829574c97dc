//! Models with sizes that depend on data, run in stages.
//!
//! A node such as `NonZero` ends a stage: its operands are computed, then the node itself, and the next
//! stage is compiled for the sizes that it found.

use std::collections::HashMap;

use indim_cpu::{Array, ArrayView, RunOptions};
use indim_model::outline::{
    Outline, OutlineNode, OutlineOptions, SymbolicSize, ValueIndex, ValueType,
};
use indim_model::{
    DeclaredSize, FormatErrorKind, ModelInput, ProgramPart, ReadOptions, SourceFile,
};

use super::data_node::{DataNode, NodeContext};
use super::error::LoadError;
use super::loaded::LoadedModel;
use super::registry::outline;

/// Maximum number of nodes in all stages together, since each stage reads the whole file.
const MAX_NODES_OF_STAGES: usize = 1 << 18;

/// A model in stages. Each stage but the last ends at a node whose sizes depend on data.
#[derive(Debug)]
pub struct StagedModel {
    stages: Vec<ModelStage>,
    last: LoadedModel,
    inputs: Vec<ModelInput>,
    options: ReadOptions,
}

/// A stage: the program that computes the operands of a node, and the node.
#[derive(Debug)]
struct ModelStage {
    /// `None` if all operands are known before.
    model: Option<LoadedModel>,
    node: DataNode,
    operands: Vec<Option<String>>,
    results: Vec<Option<String>>,
}

impl StagedModel {
    /// Loads a model in stages: a single one, unless it has nodes whose sizes depend on data, outside loops,
    /// branches and functions: ONNX's `NonZero`, `Compress` and `Unique`, OpenVINO's `NonZero` and `Unique`.
    ///
    /// # Errors
    /// Those of [`LoadedModel::from_source`]; `limit` if the file has many stages and nodes: more than
    /// 262,144, each stage counted with all nodes of the file.
    pub fn from_source(
        source: SourceFile,
        options: &ReadOptions,
    ) -> Result<StagedModel, LoadError> {
        let error = match LoadedModel::from_source(source.clone(), options) {
            Ok(last) => {
                let inputs = last.inputs().to_vec();
                let (stages, options) = (Vec::new(), options.clone());
                return Ok(StagedModel { stages, last, inputs, options });
            }
            Err(error) if error.code() == "unsupported-op" => error,
            Err(error) => return Err(error),
        };
        let outline = outline(&source, options, &OutlineOptions::default()).ok();
        let nodes = outline.as_ref().and_then(|outline| data_nodes(outline, &options.part));
        let (Some(outline), Some(nodes)) = (outline, nodes) else { return Err(error) };
        if outline.nodes.len().saturating_mul(nodes.len()) > MAX_NODES_OF_STAGES {
            let kind =
                FormatErrorKind::Limit { what: "nodes in stages", limit: MAX_NODES_OF_STAGES };
            return Err(LoadError::new(kind.without_location(), &source));
        }
        let part = |from: &[String], to: &[String]| {
            let part = ProgramPart { from: from.to_vec(), to: to.to_vec() };
            LoadedModel::from_source(source.clone(), &options.clone().part(part))
        };
        let mut known = options.part.from.clone();
        let mut stages = Vec::with_capacity(nodes.len());
        for (node, operands, results) in nodes {
            let mut requested: Vec<String> = operands.iter().flatten().cloned().collect();
            requested.retain(|name| !known.contains(name));
            requested.sort_unstable();
            requested.dedup();
            let model = match requested.is_empty() {
                true => None,
                false => Some(part(&known, &requested)?),
            };
            known.extend(requested.into_iter().chain(results.iter().flatten().cloned()));
            stages.push(ModelStage { model, node, operands, results });
        }
        let last = part(&known, &options.part.to)?;
        let inputs = inputs(&outline, &options.part, &stages, &last);
        Ok(StagedModel { stages, last, inputs, options: options.clone() })
    }

    /// The inputs of the whole model, in positional order.
    pub fn inputs(&self) -> &[ModelInput] {
        &self.inputs
    }

    /// The names of the outputs.
    pub fn outputs(&self) -> &[String] {
        self.last.outputs()
    }

    /// Whether the model has more than one stage.
    pub fn has_stages(&self) -> bool {
        !self.stages.is_empty()
    }

    /// The model as one program.
    ///
    /// # Errors
    /// `unsupported-op` if it has several stages.
    pub fn whole(&self) -> Result<&LoadedModel, LoadError> {
        if self.stages.is_empty() {
            return Ok(&self.last);
        }
        let source = self.last.source().clone();
        LoadedModel::from_source(source, &self.options).map(|_| &self.last)
    }

    /// The program of the last stage. Its inputs are inputs of the model, and values of earlier stages.
    pub fn last(&self) -> &LoadedModel {
        &self.last
    }

    /// Runs the model; `None` is an input with its default.
    ///
    /// ```
    /// # #[cfg(feature = "openvino")] {
    /// use indim::formats::{ReadOptions, SourceFile, StagedModel};
    /// use indim::{Array, ArrayView};
    ///
    /// let network = r#"<net name="n" version="11"><layers>
    /// <layer id="0" name="x" type="Parameter" version="opset1"><data element_type="f32" shape="3"/>
    /// <output><port id="0" precision="FP32" names="x"><dim>3</dim></port></output></layer>
    /// <layer id="1" name="i" type="NonZero" version="opset3"><data output_type="i64"/>
    /// <input><port id="0"><dim>3</dim></port></input>
    /// <output><port id="1" precision="I64" names="i"><dim>1</dim><dim>-1</dim></port></output></layer>
    /// <layer id="2" name="r" type="Result" version="opset1">
    /// <input><port id="0"><dim>1</dim><dim>-1</dim></port></input></layer></layers>
    /// <edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
    /// <edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>"#;
    /// let source = SourceFile::new("n.xml", network);
    /// let model = StagedModel::from_source(source, &ReadOptions::default()).unwrap();
    /// let x = Array::new([3], vec![0.0f32, 2.0, -1.0]).unwrap();
    /// let results = model.run(&[Some(ArrayView::from(&x))]).unwrap();
    /// assert_eq!(results[0].elements::<i64>().unwrap(), [1, 2]);
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`LoadedModel::run`].
    pub fn run(&self, inputs: &[Option<ArrayView<'_>>]) -> Result<Vec<Array>, LoadError> {
        self.run_with(inputs, &RunOptions::default())
    }

    /// Like [`StagedModel::run`], with options.
    ///
    /// # Errors
    /// Like [`StagedModel::run`].
    pub fn run_with(
        &self,
        inputs: &[Option<ArrayView<'_>>],
        options: &RunOptions<'_>,
    ) -> Result<Vec<Array>, LoadError> {
        let values = self.run_stages(inputs, options)?;
        let given = views(self.last.inputs(), &self.given(inputs), &values);
        self.last.run_with(&given, options)
    }

    /// Runs all stages but the last; returns the values that they computed, by their names.
    ///
    /// # Errors
    /// Like [`StagedModel::run`].
    pub fn run_stages(
        &self,
        inputs: &[Option<ArrayView<'_>>],
        options: &RunOptions<'_>,
    ) -> Result<HashMap<String, Array>, LoadError> {
        let given = self.given(inputs);
        let mut values: HashMap<String, Array> = HashMap::new();
        for stage in &self.stages {
            if let Some(model) = &stage.model {
                let results = model.run_with(&views(model.inputs(), &given, &values), options)?;
                values.extend(model.outputs().iter().cloned().zip(results));
            }
            let operand = |name: &Option<String>| {
                let name = name.as_ref()?;
                let own = values.get(name).map(ArrayView::from);
                own.or_else(|| given.get(name.as_str()).map(|&view| view.clone()))
            };
            let operands: Vec<Option<ArrayView<'_>>> = stage.operands.iter().map(operand).collect();
            let context = NodeContext { model: &self.last, options };
            let results = stage.node.compute(&context, &operands)?;
            let named = stage.results.iter().zip(results);
            let named: Vec<(String, Array)> =
                named.filter_map(|(name, array)| Some((name.clone()?, array))).collect();
            values.extend(named);
        }
        Ok(values)
    }

    /// The given inputs by their names.
    fn given<'v, 'a>(
        &self,
        inputs: &'v [Option<ArrayView<'a>>],
    ) -> HashMap<&str, &'v ArrayView<'a>> {
        let named = self.inputs.iter().zip(inputs);
        named.filter_map(|(input, view)| Some((input.name.as_str(), view.as_ref()?))).collect()
    }
}

/// The arrays of some inputs: values of stages, or else given ones.
fn views<'v>(
    inputs: &[ModelInput],
    given: &HashMap<&str, &'v ArrayView<'v>>,
    values: &'v HashMap<String, Array>,
) -> Vec<Option<ArrayView<'v>>> {
    let view = |input: &ModelInput| match values.get(&input.name) {
        Some(array) => Some(ArrayView::from(array)),
        None => given.get(input.name.as_str()).map(|&view| view.clone()),
    };
    inputs.iter().map(view).collect()
}

/// A node with the names of its operands and results.
type NamedNode = (DataNode, Vec<Option<String>>, Vec<Option<String>>);

/// The nodes that end stages. `None` if a stage cannot compute an opaque node that the part needs.
fn data_nodes(outline: &Outline, part: &ProgramPart) -> Option<Vec<NamedNode>> {
    let needed = outline.needed_nodes(part);
    let opaque =
        outline.nodes.iter().zip(needed).filter(|(node, needed)| *needed && node.is_opaque);
    let name = |value: &Option<ValueIndex>| match value {
        None => Some(None),
        Some(value) => {
            let value = &outline.values[*value];
            let is_named = !value.is_internal && !value.name.is_empty();
            is_named.then(|| Some(value.name.clone()))
        }
    };
    let named = |(node, _): (&OutlineNode, bool)| {
        // A node of a region has no value at which a part may end.
        let data_node = DataNode::of(node).filter(|_| node.region.is_empty())?;
        let operands = node.operands.iter().map(name).collect::<Option<Vec<_>>>()?;
        let results = node.results.iter().map(name).collect::<Option<Vec<_>>>()?;
        Some((data_node, operands, results))
    };
    opaque.map(named).collect()
}

/// The inputs of all stages that no earlier stage computes: those of the file in its order, then others. The
/// inputs of a whole file include those that no node reads.
fn inputs(
    outline: &Outline,
    part: &ProgramPart,
    stages: &[ModelStage],
    last: &LoadedModel,
) -> Vec<ModelInput> {
    let order = outline.inputs.iter().map(|&input| &outline.values[input].name);
    let models = stages.iter().filter_map(|stage| stage.model.as_ref());
    let computed: Vec<&String> = models
        .clone()
        .flat_map(LoadedModel::outputs)
        .chain(stages.iter().flat_map(|stage| stage.results.iter().flatten()))
        .collect();
    let of_file: Vec<&String> = order.chain(&part.from).collect();
    let declared: Vec<&ModelInput> = models.chain([last]).flat_map(LoadedModel::inputs).collect();
    let mut inputs: Vec<ModelInput> = Vec::new();
    let is_whole = part.from.is_empty() && part.to.is_empty();
    let of_name = |name: &String| {
        let found = declared.iter().find(|input| input.name == *name).copied().cloned();
        found.or_else(|| {
            let mut unread = outline.inputs.iter().map(|&input| &outline.values[input]);
            let unread = unread.find(|value| is_whole && value.name == *name)?;
            Some(unread_input(name, &unread.value_type))
        })
    };
    let others = declared.iter().filter(|input| !computed.contains(&&input.name)).copied().cloned();
    for input in of_file.into_iter().filter_map(of_name).chain(others) {
        if inputs.iter().all(|known| known.name != input.name) {
            inputs.push(input);
        }
    }
    inputs
}

/// An input that no stage reads.
fn unread_input(name: &str, value_type: &ValueType) -> ModelInput {
    let size = |size: &SymbolicSize| {
        let number = size.number().and_then(|number| usize::try_from(number).ok());
        number.map_or(DeclaredSize::Dynamic, DeclaredSize::Known)
    };
    ModelInput {
        name: name.to_owned(),
        dtype: value_type.dtype(),
        sizes: value_type.sizes.as_ref().map(|sizes| sizes.iter().map(size).collect()),
        has_default: false,
        is_shape: false,
    }
}
