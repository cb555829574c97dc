//! Models with sizes that depend on data, run in stages.
//!
//! A stage ends at a node such as `NonZero`, whose results have sizes from data, and at a value that
//! determines shapes and is computed from data. The next stage is compiled for what was found.

use std::collections::HashMap;

use indim_cpu::{Array, ArrayView, RunOptions};
use indim_model::outline::{
    Outline, OutlineOptions, OutlineStage, SymbolicSize, ValueIndex, ValueType,
};
use indim_model::{
    DeclaredSize, FormatErrorKind, ModelFormat, ModelInput, ProgramPart, ReadOptions, SourceFile,
};

use super::data_node::{DataNode, NodeContext};
use super::error::LoadError;
use super::loaded::LoadedModel;
use super::registry::outline;

/// Maximum number of nodes in all stages together, since each stage reads the whole file.
const MAX_NODES_OF_STAGES: usize = 1 << 18;

/// A model in stages. Each stage but the last ends at nodes whose sizes depend on data, or at values from
/// data that determine shapes.
#[derive(Debug)]
pub struct StagedModel {
    stages: Vec<ModelStage>,
    last: LoadedModel,
    inputs: Vec<ModelInput>,
    /// The model as one program if it has stages, or the error of reading it as one.
    whole: Option<Result<LoadedModel, LoadError>>,
}

/// A stage: the program that computes values and the operands of nodes, and the nodes.
#[derive(Debug)]
struct ModelStage {
    /// `None` if all operands are known before.
    model: Option<LoadedModel>,
    nodes: Vec<NamedNode>,
}

/// A node with the names of its operands and results.
#[derive(Debug)]
struct NamedNode {
    node: DataNode,
    operands: Vec<Option<String>>,
    results: Vec<Option<String>>,
}

impl StagedModel {
    /// Loads a model in stages: a single one, unless it computes a shape from data, or has nodes whose sizes
    /// depend on data, outside loops and branches: `NonZero`, `Unique`, `NonMaxSuppression`, and ONNX's
    /// `Compress`.
    ///
    /// # Errors
    /// Those of [`LoadedModel::from_source`]; `limit` if the file has many stages and nodes: more than
    /// 262,144, each stage counted with all nodes of the file.
    pub fn from_source(
        source: SourceFile,
        options: &ReadOptions,
    ) -> Result<StagedModel, LoadError> {
        let whole = LoadedModel::from_source(source.clone(), options);
        let is_single = match &whole {
            Ok(model) => !model.needs_stages(),
            Err(error) => !matches!(error.code(), "unsupported-op" | "depends-on-data"),
        };
        let outline = match is_single {
            true => None,
            false => outline(&source, options, &OutlineOptions::default()).ok(),
        };
        let is_onnx = ModelFormat::of(source.bytes()) == Some(ModelFormat::Onnx);
        let ends = outline.as_ref().and_then(|it| stage_ends(it, &options.part, is_onnx));
        let (Some(outline), Some(ends)) = (outline, ends.filter(|ends| !ends.is_empty())) else {
            return whole.map(StagedModel::of_one);
        };
        if outline.nodes.len().saturating_mul(ends.len()) > MAX_NODES_OF_STAGES {
            if let Ok(whole) = whole {
                return Ok(StagedModel::of_one(whole));
            }
            let kind =
                FormatErrorKind::Limit { what: "nodes in stages", limit: MAX_NODES_OF_STAGES };
            return Err(LoadError::new(kind.without_location(), &source));
        }
        match (StagedModel::in_stages(&source, options, &outline, ends), whole) {
            // The program and its stages have the same inputs, bound by position.
            (Ok(staged), Ok(whole)) => {
                let inputs = whole.inputs().to_vec();
                Ok(StagedModel { inputs, whole: Some(Ok(whole)), ..staged })
            }
            (Ok(staged), whole) => Ok(StagedModel { whole: Some(whole), ..staged }),
            // The program may run all the same, because a shape can depend on a part of its inputs.
            (Err(_), Ok(whole)) => Ok(StagedModel::of_one(whole)),
            (Err(error), Err(_)) => Err(error),
        }
    }

    fn in_stages(
        source: &SourceFile,
        options: &ReadOptions,
        outline: &Outline,
        ends: Vec<StageEnd>,
    ) -> Result<StagedModel, LoadError> {
        let part = |from: &[String], to: &[String]| {
            let part = ProgramPart { from: from.to_vec(), to: to.to_vec() };
            LoadedModel::from_source(source.clone(), &options.clone().part(part))
        };
        let mut known = options.part.from.clone();
        let mut stages = Vec::with_capacity(ends.len());
        for (mut requested, nodes) in ends {
            requested.retain(|name| !known.contains(name));
            let model = match requested.is_empty() {
                true => None,
                false => Some(part(&known, &requested)?),
            };
            let results = nodes.iter().flat_map(|node| node.results.iter().flatten().cloned());
            known.extend(requested.into_iter().chain(results));
            stages.push(ModelStage { model, nodes });
        }
        let last = part(&known, &options.part.to)?;
        let inputs = inputs(outline, &options.part, &stages, &last);
        Ok(StagedModel { stages, last, inputs, whole: None })
    }

    fn of_one(last: LoadedModel) -> StagedModel {
        let inputs = last.inputs().to_vec();
        StagedModel { stages: Vec::new(), last, inputs, whole: None }
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

    /// The model as one program. A program with shapes from data can be built only if the elements from which
    /// they are computed are given.
    ///
    /// # Errors
    /// `unsupported-op` if it has nodes whose sizes depend on data; `depends-on-data`.
    pub fn whole(&self) -> Result<&LoadedModel, LoadError> {
        match &self.whole {
            None => Ok(&self.last),
            Some(Ok(whole)) => Ok(whole),
            Some(Err(error)) => Err(error.clone().between_stages(self.stage_ends())),
        }
    }

    /// The values at which stages end: operands of nodes whose sizes depend on data, and values that
    /// determine shapes.
    fn stage_ends(&self) -> Vec<String> {
        let of_nodes = |stage: &ModelStage| -> Vec<String> {
            let operands = stage.nodes.iter().flat_map(|node| node.operands.iter().flatten());
            operands
                .chain(stage.nodes.iter().flat_map(|node| node.results.iter().flatten()))
                .cloned()
                .collect()
        };
        let ends = self.stages.iter().flat_map(|stage| {
            let outputs = stage.model.iter().flat_map(LoadedModel::outputs).cloned();
            outputs.chain(of_nodes(stage)).collect::<Vec<_>>()
        });
        let inputs: Vec<&String> = self.inputs.iter().map(|input| &input.name).collect();
        let mut seen = std::collections::HashSet::new();
        ends.filter(|name| !inputs.contains(&name) && seen.insert(name.clone())).collect()
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
            for node in &stage.nodes {
                let results = node.compute(&self.last, &given, &values, options)?;
                values.extend(results);
            }
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

impl NamedNode {
    /// The node `number` of an outline; `None` if indim does not compute it, or a value has no name.
    fn of(outline: &Outline, number: usize, is_onnx: bool) -> Option<NamedNode> {
        let node = &outline.nodes[number];
        let names = |values: &[Option<ValueIndex>]| -> Option<Vec<Option<String>>> {
            let name = |value: &Option<ValueIndex>| match value {
                None => Some(None),
                Some(value) => name_of(outline, *value).map(Some),
            };
            values.iter().map(name).collect()
        };
        let (operands, results) = (names(&node.operands)?, names(&node.results)?);
        Some(NamedNode { node: DataNode::of(node, is_onnx)?, operands, results })
    }

    /// The named results, from values of stages, or else given ones.
    fn compute(
        &self,
        model: &LoadedModel,
        given: &HashMap<&str, &ArrayView<'_>>,
        values: &HashMap<String, Array>,
        options: &RunOptions<'_>,
    ) -> Result<Vec<(String, Array)>, LoadError> {
        let operand = |name: &Option<String>| {
            let name = name.as_ref()?;
            let own = values.get(name).map(ArrayView::from);
            own.or_else(|| given.get(name.as_str()).map(|&view| view.clone()))
        };
        let operands: Vec<Option<ArrayView<'_>>> = self.operands.iter().map(operand).collect();
        let results = self.node.compute(&NodeContext { model, options }, &operands)?;
        let named = self.results.iter().zip(results);
        Ok(named.filter_map(|(name, array)| Some((name.clone()?, array))).collect())
    }
}

/// The end of a stage: the names of the values that its program computes, and its nodes.
type StageEnd = (Vec<String>, Vec<NamedNode>);

fn name_of(outline: &Outline, value: ValueIndex) -> Option<String> {
    outline.values[value].run_name().map(str::to_owned)
}

/// The end of each stage but the last. `None` if a stage cannot compute an opaque node that the part needs.
fn stage_ends(outline: &Outline, part: &ProgramPart, is_onnx: bool) -> Option<Vec<StageEnd>> {
    let end = |stage: OutlineStage| {
        let nodes = stage.nodes.iter().map(|&number| NamedNode::of(outline, number, is_onnx));
        let nodes = nodes.collect::<Option<Vec<NamedNode>>>()?;
        let values = stage.values.iter().map(|&value| name_of(outline, value));
        let operands =
            nodes.iter().flat_map(|node| node.operands.iter().flatten().cloned().map(Some));
        let mut requested = values.chain(operands).collect::<Option<Vec<String>>>()?;
        requested.sort_unstable();
        requested.dedup();
        Some((requested, nodes))
    };
    outline.stages(part).into_iter().map(end).collect()
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
        .chain(
            stages.iter().flat_map(|stage| &stage.nodes).flat_map(|it| it.results.iter().flatten()),
        )
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
