//! Models with sizes that depend on data, run in stages.
//!
//! A node such as `NonZero` ends a stage: its operands are computed, then the node itself, and the next
//! stage is compiled for the sizes that it found.

use std::collections::HashMap;

use indim_builder::{GraphBuilder, Value};
use indim_cpu::{Array, ArrayView, CompileOptions, RunOptions, compile};
use indim_graph::signature::existing_axis;
use indim_graph::{AxisSlice, GraphError, TakeMode};
use indim_model::outline::{Outline, OutlineNode, OutlineOptions, ValueIndex};
use indim_model::{FormatErrorKind, ModelInput, ProgramPart, ReadOptions, SourceFile};
use indim_ops::{ArrayType, DType};

use super::error::LoadError;
use super::loaded::LoadedModel;
use super::registry::outline;

/// Maximum number of parts without elements that `Unique` counts: 16 Mi, so 128 MiB of indices.
const MAX_EMPTY_PARTS: usize = 1 << 24;

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

/// A node whose sizes depend on the elements of its operands.
#[derive(Debug, Clone)]
struct DataNode {
    kind: DataNodeKind,
    axis: Option<i64>,
    /// Whether `Unique` sorts its elements.
    is_sorted: bool,
    /// The types of the results after the first one.
    index_type: DType,
    count_type: DType,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum DataNodeKind {
    NonZero,
    Compress,
    Unique,
}

impl DataNode {
    /// The node, if its operator is one whose sizes depend on data.
    fn of(node: &OutlineNode) -> Option<DataNode> {
        let kind = match node.operator.as_str() {
            "NonZero" => DataNodeKind::NonZero,
            "Compress" => DataNodeKind::Compress,
            "Unique" => DataNodeKind::Unique,
            _ => return None,
        };
        let text = |name: &str| {
            let found = node.attributes.iter().find(|(known, _)| known == name);
            found.map(|(_, text)| text.as_str())
        };
        let index_type = |name: &str| match text(name) {
            Some("i32") => DType::I32,
            _ => DType::I64,
        };
        let index_name =
            if kind == DataNodeKind::NonZero { "output_type" } else { "index_element_type" };
        Some(DataNode {
            kind,
            axis: match text("axis") {
                Some(axis) => Some(axis.parse().ok()?),
                None => None,
            },
            is_sorted: !matches!(text("sorted"), Some("0" | "false")),
            index_type: index_type(index_name),
            count_type: index_type("count_element_type"),
        })
    }
}

impl StagedModel {
    /// Loads a model in stages: a single one, unless it has nodes whose sizes depend on data, outside loops,
    /// branches and functions: ONNX's `NonZero`, `Compress` and `Unique`, OpenVINO's `NonZero` and `Unique`.
    ///
    /// # Errors
    /// Those of [`LoadedModel::from_source`].
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
            let results = stage.node.compute(&self.last, &operands)?;
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

/// The inputs of all stages that no earlier stage computes: those of the file in its order, then others.
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
    let of_name = |name: &String| declared.iter().find(|input| input.name == *name).copied();
    let others = declared.iter().filter(|input| !computed.contains(&&input.name)).copied();
    for input in of_file.into_iter().filter_map(of_name).chain(others) {
        if inputs.iter().all(|known| known.name != input.name) {
            inputs.push(input.clone());
        }
    }
    inputs
}

impl DataNode {
    /// The results of the node. `model` is for errors.
    fn compute(
        &self,
        model: &LoadedModel,
        operands: &[Option<ArrayView<'_>>],
    ) -> Result<Vec<Array>, LoadError> {
        let operand = |position: usize| {
            operands.get(position).and_then(Option::as_ref).ok_or_else(|| {
                let expected = format!("at least {}", position + 1);
                let given = operands.iter().flatten().count();
                model.error(
                    FormatErrorKind::Count { what: "operands", expected, given }.without_location(),
                )
            })
        };
        match self.kind {
            DataNodeKind::NonZero => self.non_zero(model, operand(0)?),
            DataNodeKind::Compress => self.compress(model, operand(0)?, operand(1)?),
            DataNodeKind::Unique => {
                let axis = match operands.get(1).and_then(Option::as_ref) {
                    Some(axis) => {
                        let axis = run(model, &[axis], |b, x| {
                            Ok(vec![b.reshape(b.convert(&x[0], DType::I64)?, [1])?])
                        })?;
                        Some(numbers(&axis[0])[0])
                    }
                    None => self.axis,
                };
                self.unique(model, operand(0)?, axis)
            }
        }
    }

    /// The positions of the elements that are not 0: a row for each axis.
    fn non_zero(&self, model: &LoadedModel, x: &ArrayView<'_>) -> Result<Vec<Array>, LoadError> {
        let of_x = x.array_type().clone();
        let count = of_x.shape.element_count().unwrap_or(0);
        let mask = run(model, &[x], |b, x| {
            let flat = b.reshape(&x[0], [count])?;
            Ok(vec![if of_x.dtype == DType::Bool { flat } else { flat.ne(0) }])
        })?;
        let positions = true_positions(&mask[0]);
        let mut rows = Vec::with_capacity(of_x.shape.rank() * positions.len());
        // Without positions the product of sizes may be too large.
        for axis in (0..of_x.shape.rank()).filter(|_| !positions.is_empty()) {
            let stride: usize = of_x.shape[axis + 1..].iter().product();
            rows.extend(positions.iter().map(|&at| at / stride as i64 % of_x.shape[axis] as i64));
        }
        let sizes = vec![of_x.shape.rank(), positions.len()];
        Ok(vec![indices(model, sizes, rows, self.index_type)?])
    }

    /// The parts along an axis, or the elements, for which the condition is true.
    fn compress(
        &self,
        model: &LoadedModel,
        x: &ArrayView<'_>,
        condition: &ArrayView<'_>,
    ) -> Result<Vec<Array>, LoadError> {
        let mask = run(model, &[condition], |b, x| Ok(vec![b.convert(&x[0], DType::Bool)?]))?;
        let positions = indices_of(model, true_positions(&mask[0]))?;
        parts(model, x, &positions, self.axis).map(|part| vec![part])
    }

    /// The distinct elements, or the distinct parts along an axis; the position of the first of each, the
    /// position of each one among the distinct ones, and their counts. NaNs are equal, and greatest.
    fn unique(
        &self,
        model: &LoadedModel,
        x: &ArrayView<'_>,
        axis: Option<i64>,
    ) -> Result<Vec<Array>, LoadError> {
        let of_x = x.array_type().clone();
        let ranks = ranks(model, x)?;
        let rank = of_x.shape.rank();
        let (rows, inner) = match axis {
            None => (ranks.len(), 1),
            Some(axis) => {
                let axis = existing_axis(axis, rank).map_err(|kind| {
                    let error = GraphError::new(kind, "Unique", Vec::new());
                    model.error(FormatErrorKind::from(error).without_location())
                })?;
                let rows = of_x.shape[axis];
                if ranks.is_empty() && rows > MAX_EMPTY_PARTS {
                    let limit = MAX_EMPTY_PARTS;
                    let kind = FormatErrorKind::Limit { what: "parts without elements", limit };
                    return Err(model.error(kind.without_location()));
                }
                let inner = of_x.shape[axis + 1..].iter();
                (rows, if ranks.is_empty() { 0 } else { inner.product() })
            }
        };
        let outer = ranks.len() / (rows * inner).max(1);
        let row = |row: usize| {
            let ranks = &ranks;
            (0..outer * inner).map(move |at| ranks[(at / inner * rows + row) * inner + at % inner])
        };
        let mut order: Vec<usize> = (0..rows).collect();
        order.sort_by(|&a, &b| row(a).cmp(row(b)));
        // The first row of each group, and the number of rows.
        let mut groups: Vec<(usize, i64)> = Vec::new();
        let mut group_of = vec![0; rows];
        for (at, &current) in order.iter().enumerate() {
            match at.checked_sub(1).is_some_and(|before| row(order[before]).eq(row(current))) {
                true => groups.last_mut().expect("a group before").1 += 1,
                false => groups.push((current, 1)),
            }
            group_of[current] = groups.len() - 1;
        }
        let mut place: Vec<usize> = (0..groups.len()).collect();
        if !self.is_sorted {
            let mut by_first = place.clone();
            by_first.sort_by_key(|&group| groups[group].0);
            by_first.iter().enumerate().for_each(|(at, &group)| place[group] = at);
            groups.sort_unstable();
        }
        let firsts: Vec<i64> = groups.iter().map(|&(first, _)| first as i64).collect();
        let inverse = group_of.iter().map(|&group| place[group] as i64).collect();
        let counts = groups.iter().map(|&(_, count)| count).collect();
        let found = parts(model, x, &indices_of(model, firsts.clone())?, axis)?;
        let list = |numbers: Vec<i64>, dtype| indices(model, vec![numbers.len()], numbers, dtype);
        Ok(vec![
            found,
            list(firsts, self.index_type)?,
            list(inverse, self.index_type)?,
            list(counts, self.count_type)?,
        ])
    }
}

/// The rank of each element among the distinct elements.
fn ranks(model: &LoadedModel, x: &ArrayView<'_>) -> Result<Vec<i64>, LoadError> {
    let count = x.array_type().shape.element_count().unwrap_or(0);
    if count == 0 {
        return Ok(Vec::new());
    }
    let found = run(model, &[x], |b, x| {
        let x = match x[0].array_type()?.dtype {
            DType::Bool => b.convert(&x[0], DType::U8)?,
            _ => x[0].clone(),
        };
        let flat = b.reshape(x, [count])?;
        let order = b.convert(b.argsort(&flat, 0, false)?, DType::I64)?;
        let sorted = b.take(&flat, &order, 0, TakeMode::Clip)?;
        let slice = |first: usize| b.slice(&sorted, &[AxisSlice::new(first, count - 1, 1)]);
        let (before, after) = (slice(0)?, slice(1)?);
        let differs = match flat.array_type()?.dtype.is_float() {
            true => before.ne(&after) & !(before.is_nan() & after.is_nan()),
            false => before.ne(&after),
        };
        Ok(vec![order, differs])
    })?;
    let differs =
        found[1].elements::<bool>().expect("a mask").iter().map(|&differs| i64::from(differs));
    let mut ranks = vec![0; count];
    let mut current = 0;
    for (&position, differs) in numbers(&found[0]).iter().zip([0].into_iter().chain(differs)) {
        current += differs;
        ranks[position as usize] = current;
    }
    Ok(ranks)
}

/// The parts of an array at positions along an axis, or the elements at positions of the flat array.
fn parts(
    model: &LoadedModel,
    x: &ArrayView<'_>,
    positions: &Array,
    axis: Option<i64>,
) -> Result<Array, LoadError> {
    let of_x = x.array_type().clone();
    let found = run(model, &[x, &ArrayView::from(positions)], |b, values| {
        let x = match axis {
            None => b.reshape(&values[0], [of_x.shape.element_count().unwrap_or(0)])?,
            Some(_) => values[0].clone(),
        };
        let axis = axis.unwrap_or(0);
        let shape = x.array_type()?.shape;
        // Nothing is taken from an axis without elements.
        let is_empty = positions.element_count() == 0;
        Ok(vec![match existing_axis(axis, shape.rank()) {
            Ok(at) if is_empty => {
                let mut slices: Vec<AxisSlice> =
                    shape.iter().map(|&n| AxisSlice::whole(n)).collect();
                slices[at] = AxisSlice::new(0, 0, 1);
                b.slice(&x, &slices)?
            }
            _ => b.take(&x, &values[1], axis, TakeMode::Error)?,
        }])
    })?;
    Ok(found.into_iter().next().expect("one result"))
}

/// The positions of true elements.
fn true_positions(mask: &Array) -> Vec<i64> {
    let elements = mask.elements::<bool>().expect("a mask").iter().enumerate();
    elements.filter_map(|(position, &is_true)| is_true.then_some(position as i64)).collect()
}

fn numbers(array: &Array) -> &[i64] {
    array.elements().expect("an array of i64")
}

fn indices_of(model: &LoadedModel, positions: Vec<i64>) -> Result<Array, LoadError> {
    indices(model, vec![positions.len()], positions, DType::I64)
}

/// An array of integers.
fn indices(
    model: &LoadedModel,
    sizes: Vec<usize>,
    numbers: Vec<i64>,
    dtype: DType,
) -> Result<Array, LoadError> {
    let array = match dtype {
        DType::I32 => Array::new(sizes, numbers.into_iter().map(|n| n as i32).collect::<Vec<_>>()),
        _ => Array::new(sizes, numbers),
    };
    array.map_err(|error| {
        model.error(FormatErrorKind::Unexpected { expected: error.to_string() }.without_location())
    })
}

/// Runs a small graph over arrays.
fn run(
    model: &LoadedModel,
    arrays: &[&ArrayView<'_>],
    build: impl FnOnce(&GraphBuilder, &[Value]) -> Result<Vec<Value>, GraphError>,
) -> Result<Vec<Array>, LoadError> {
    let graph = || {
        let b = GraphBuilder::new();
        let mut values = Vec::with_capacity(arrays.len());
        for (position, array) in arrays.iter().enumerate() {
            let ArrayType { dtype, shape } = array.array_type().clone();
            values.push(b.parameter(&position.to_string(), dtype, shape)?);
        }
        b.finish(&build(&b, &values)?)
    };
    let graph = graph().map_err(|e| model.error(FormatErrorKind::from(e).without_location()))?;
    let compiled =
        compile(&graph, &CompileOptions::default()).map_err(|error| model.error(error))?;
    let views: Vec<ArrayView<'_>> = arrays.iter().map(|&view| view.clone()).collect();
    Ok(compiled.run(&views).map_err(|error| model.error(error))?.to_vec())
}
