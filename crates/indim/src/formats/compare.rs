//! Comparison of a model with the values that another runtime computed.
//!
//! Each value is computed from the nearest values of the dump, so an early difference does not hide a
//! later one, and values after a node that indim does not compute are compared too.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use indim_cpu::{ArrayView, CompileOptions, compile};
use indim_graph::Graph;
use indim_model::outline::{Outline, OutlineNode, OutlineOptions, ValueIndex};
use indim_model::{
    Distance, InputBinding, Mismatch, ProgramPart, ReadOptions, SourceFile, Tolerance,
    largest_distance,
};

use super::error::LoadError;
use super::loaded::LoadedModel;
use super::registry::outline;

/// The size of the groups in which values are compared, in bytes: one run computes values until their
/// results have this size together.
const GROUP_BYTES: usize = 1 << 28;

/// The values of a model, compared with those of another runtime.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct DumpComparison {
    /// The compared values, in the order of the program.
    pub compared: Vec<ComparedValue>,
    /// The results in the dump of nodes that indim does not compute, in the order of the program. They
    /// are not compared; later values are computed from them.
    pub opaque: Vec<OpaqueValue>,
    /// Names of the values in the dump that cannot be computed, because the dump lacks a value that they
    /// need: each with the name of that value.
    pub lacking: Vec<(String, String)>,
    /// Names in the dump that no value of the program has, and names of values inside regions.
    pub unknown: Vec<String>,
}

/// A value that was compared.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ComparedValue {
    /// Name of the value.
    pub name: String,
    /// Operator of its node, with its domain.
    pub operator: String,
    /// Location of its node.
    pub place: String,
    /// The largest distance of two elements. `None` for arrays of different types.
    pub distance: Option<Distance>,
    /// The difference, if it exceeds the tolerance.
    pub difference: Option<Mismatch>,
}

/// The result of an operation that indim does not compute.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpaqueValue {
    /// Name of the value.
    pub name: String,
    /// Operator of its node, with its domain.
    pub operator: String,
}

impl DumpComparison {
    /// Computes each value of `dump` from the other values of `dump`, and compares both. The dump holds
    /// values of the program, and the inputs that they need. An array in it has the name of its value, or
    /// this name without leading `/`, or with `_` for every character that is no letter, digit, `.`, `-`
    /// or `_`.
    ///
    /// ```
    /// use indim::formats::{DumpComparison, ReadOptions, SourceFile, Tolerance};
    /// use indim::{Array, ArrayView};
    ///
    /// let text = "
    /// func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    ///   %0 = stablehlo.add %x, %x : tensor<2xf32>
    ///   %1 = stablehlo.exponential %0 : tensor<2xf32>
    ///   return %1 : tensor<2xf32>
    /// }";
    /// let source = SourceFile::new("exp.mlir", text);
    /// let array = |elements: [f32; 2]| Array::new([2], elements.to_vec());
    /// let (x, sum, result) = (array([0.0, 1.0])?, array([0.0, 2.5])?, array([1.0, 12.182494])?);
    /// let dump = [("x", &x), ("0", &sum), ("1", &result)];
    /// let dump = dump.map(|(name, array)| (name.to_owned(), ArrayView::from(array)));
    /// let close = Tolerance::Close { absolute: 0.0, relative: 1e-5 };
    /// let comparison = DumpComparison::new(&source, &ReadOptions::default(), &dump, close)?;
    /// // 1 + 1 is 2; the exponential of the given 2.5 is as expected.
    /// assert_eq!(comparison.first_difference().unwrap().name, "0");
    /// assert_eq!(comparison.compared[1].difference, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`LoadedModel::from_source`], [`LoadedModel::compiled`] and [`LoadedModel::run`].
    pub fn new(
        source: &SourceFile,
        options: &ReadOptions,
        dump: &[(String, ArrayView<'_>)],
        tolerance: Tolerance,
    ) -> Result<DumpComparison, LoadError> {
        let outline = outline(source, options, &OutlineOptions::default())
            .map_err(|error| LoadError::new(error, source))?;
        let (dump, unknown) = match_names(&outline, dump);
        let plan = DumpPlan::new(&outline, &dump);
        let mut comparison = DumpComparison { unknown, ..plan.comparison };
        if plan.to.is_empty() {
            return Ok(comparison);
        }
        let name = |&value: &ValueIndex| outline.values[value].name.clone();
        let part = ProgramPart { from: plan.from, to: plan.to.iter().map(name).collect() };
        let model = LoadedModel::from_source(source.clone(), &options.clone().part(part))?;
        let arrays: HashMap<&str, &ArrayView<'_>> = dump
            .iter()
            .map(|(&value, &view)| (outline.values[value].name.as_str(), view))
            .collect();
        let expected = plan.to.iter().map(|value| dump[value]).collect();
        let compared = DumpRun::new(&model, &arrays, expected)?.compare(tolerance)?;
        for (value, (distance, difference)) in plan.to.iter().zip(compared) {
            let node = outline.values[*value].producer.map(|producer| &outline.nodes[producer]);
            comparison.compared.push(ComparedValue {
                name: name(value),
                operator: node.map_or_else(String::new, |node| node.operator.clone()),
                place: node.map_or_else(String::new, |node| node.location.shown(source)),
                distance,
                difference,
            });
        }
        Ok(comparison)
    }

    /// The first value in the order of the program that differs.
    pub fn first_difference(&self) -> Option<&ComparedValue> {
        self.compared.iter().find(|value| value.difference.is_some())
    }
}

/// The arrays of a dump by their values.
type Dump<'n, 'd> = HashMap<ValueIndex, &'n ArrayView<'d>>;

/// Assigns the arrays of a dump to values; also returns the names that fit no value. File names may differ
/// from the names of values: they lack a leading `/`, and have `_` for characters that some file systems
/// forbid.
fn match_names<'n, 'd>(
    outline: &Outline,
    dump: &'n [(String, ArrayView<'d>)],
) -> (Dump<'n, 'd>, Vec<String>) {
    // The first value of each name.
    let mut exact: HashMap<&str, ValueIndex> = HashMap::new();
    for (index, value) in outline.values.iter().enumerate() {
        if !value.is_internal && !value.name.is_empty() {
            exact.entry(&value.name).or_insert(index);
        }
    }
    // The value of each spelling of a name; `None` for a spelling that several values share.
    let mut spelled: HashMap<String, Option<ValueIndex>> = HashMap::new();
    for (name, &value) in &exact {
        for spelling in HashSet::from([name.trim_start_matches('/').to_owned(), in_file_name(name)])
        {
            spelled.entry(spelling).and_modify(|it| *it = None).or_insert(Some(value));
        }
    }
    let (mut matched, mut unknown) = (HashMap::new(), Vec::new());
    for (name, view) in dump {
        let value = exact.get(name.as_str()).copied();
        let value = value.or_else(|| spelled.get(name.as_str()).copied().flatten());
        match value.map(|value| matched.entry(value)) {
            Some(Entry::Vacant(place)) => drop(place.insert(view)),
            _ => unknown.push(name.clone()),
        }
    }
    (matched, unknown)
}

/// The name with `_` for each character that is no letter, digit, `.`, `-` or `_`.
fn in_file_name(name: &str) -> String {
    let replaced = |c: char| if c.is_alphanumeric() || ".-_".contains(c) { c } else { '_' };
    name.chars().map(replaced).collect()
}

/// The values that a run takes from the dump, and the values that it computes.
struct DumpPlan {
    /// Names of the values that the dump gives and the run does not compute: results of opaque nodes, and
    /// values that need a value which the dump lacks.
    from: Vec<String>,
    /// The computed values, in the order of the program.
    to: Vec<ValueIndex>,
    comparison: DumpComparison,
}

impl DumpPlan {
    fn new(outline: &Outline, dump: &Dump<'_, '_>) -> DumpPlan {
        let comparison = DumpComparison::default();
        let mut plan = DumpPlan { from: Vec::new(), to: Vec::new(), comparison };
        let mut lacks: Vec<Option<ValueIndex>> = vec![None; outline.values.len()];
        for &input in outline.inputs.iter().filter(|input| !dump.contains_key(input)) {
            lacks[input] = (!outline.values[input].is_constant).then_some(input);
        }
        for node in &outline.nodes {
            plan.add(outline, node, dump, &mut lacks);
        }
        plan
    }

    /// Adds the results of a node. `lacks` has, for each value that is neither computable nor in the
    /// dump, the value that the dump would have to hold.
    fn add(
        &mut self,
        outline: &Outline,
        node: &OutlineNode,
        dump: &Dump<'_, '_>,
        lacks: &mut [Option<ValueIndex>],
    ) {
        let lacking = node.operands.iter().flatten().find_map(|&operand| lacks[operand]);
        for &result in node.results.iter().flatten() {
            let name = &outline.values[result].name;
            match (dump.contains_key(&result), lacking) {
                (false, _) => lacks[result] = node.is_opaque.then_some(result).or(lacking),
                (true, _) if node.is_opaque => {
                    self.from.push(name.clone());
                    let (name, operator) = (name.clone(), node.operator.clone());
                    self.comparison.opaque.push(OpaqueValue { name, operator });
                }
                (true, Some(lacking)) => {
                    self.from.push(name.clone());
                    let lacking = outline.values[lacking].name.clone();
                    self.comparison.lacking.push((name.clone(), lacking));
                }
                (true, None) if outline.values[result].is_constant => {}
                (true, None) => self.to.push(result),
            }
        }
    }
}

/// A run of a model in which each node reads the values of a dump.
struct DumpRun<'m, 'd> {
    model: &'m LoadedModel,
    /// The array of the dump for each output.
    expected: Vec<&'m ArrayView<'d>>,
    /// The graph of the part. It computes each output, but nodes that use an output read a parameter
    /// instead, which holds the value of the dump.
    graph: Graph,
    /// The arrays of the parameters.
    given: Vec<ArrayView<'d>>,
}

/// The largest distance of two arrays, and their difference if it exceeds the tolerance.
type Compared = (Option<Distance>, Option<Mismatch>);

impl<'m, 'd> DumpRun<'m, 'd> {
    /// The run of a part of a model. `arrays` has the arrays of the dump by the names of their values,
    /// among them those of the inputs; `expected` has the array of each output.
    fn new(
        model: &'m LoadedModel,
        arrays: &HashMap<&str, &'m ArrayView<'d>>,
        expected: Vec<&'m ArrayView<'d>>,
    ) -> Result<Self, LoadError> {
        let (mut bindings, mut given) = (Vec::new(), Vec::new());
        for (index, input) in model.inputs().iter().enumerate() {
            bindings.push(match arrays.get(input.name.as_str()) {
                Some(&view) => {
                    given.push(view.clone());
                    model.bound_input(index, view)?
                }
                None => InputBinding::Default,
            });
        }
        let graph = model.program(&bindings)?.graph.with_outputs(0..model.outputs().len());
        let has_type = |output: usize| {
            *expected[output].array_type() == graph[graph.outputs()[output]].array_type
        };
        let (graph, added) = graph.with_output_parameters(has_type);
        given.extend(added.into_iter().map(|output| expected[output].clone()));
        Ok(DumpRun { model, expected, graph, given })
    }

    /// Computes the outputs in groups, and compares each with the dump.
    fn compare(&self, tolerance: Tolerance) -> Result<Vec<Compared>, LoadError> {
        let mut compared = Vec::new();
        while compared.len() < self.graph.outputs().len() {
            let group = compared.len()..self.group_end(compared.len());
            let executable =
                compile(&self.graph.with_outputs(group.clone()), &CompileOptions::default());
            let run = executable.map_err(|error| self.model.error(error))?.run(&self.given);
            let results = run.map_err(|error| self.model.error(error))?;
            for (found, expected) in results.iter().zip(&self.expected[group]) {
                let expected = self.model.elements(expected)?;
                compared.push((
                    largest_distance(found, &expected),
                    tolerance.compare(found, &expected),
                ));
            }
        }
        Ok(compared)
    }

    /// The end of the group of outputs that begins at `first`: at least one output.
    fn group_end(&self, first: usize) -> usize {
        let outputs = self.graph.outputs();
        let mut bytes = 0usize;
        let mut end = first;
        while end < outputs.len() && (end == first || bytes < GROUP_BYTES) {
            let array_type = &self.graph[outputs[end]].array_type;
            let size = array_type.shape.byte_count(array_type.dtype.size());
            bytes = bytes.saturating_add(size.unwrap_or(usize::MAX));
            end += 1;
        }
        end
    }
}
