//! Goes through all nodes of a model: graphs, functions and regions, each with its own names.
//!
//! Each node counts against the limit on operations, each region and call against a limit on depth, so
//! that the walk of every file ends.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use indim_graph::Array;
use indim_graph::terminal::printable;
use indim_model::outline::{
    Outline, OutlineOptions, OutlineValue, SizeNames, TypeSource, ValueType,
};
use indim_model::{FormatError, FormatErrorKind, FormatLimits, Location, SourceFile};

use super::repeated::{is_evenly_spaced, repeated_axes};
use super::scope::{Scope, StatedType, value_of};
use crate::model::{OPSETS_SINCE, functions_of};
use indim_onnx_file::body::{
    BodyNode, GraphBody, ModelFunction, NodeAttributes, check_many, decoded,
};
use indim_onnx_file::flatten::{Functions, address_of, address_of_call, node_location};
use indim_onnx_file::inlined::{called_function, check_inlined};
use indim_onnx_file::messages::{GraphProto, ModelProto, OperatorSetIdProto, TensorProto};
use indim_onnx_file::sparse::sparse_header;
use indim_onnx_file::tensor::Tensors;
use indim_onnx_rules::{TypedValue, header, small_array};

/// Maximum depth of nested regions and calls: each level takes a part of the stack.
const MAX_DEPTH: usize = 60;

/// Maximum number of kept elements of all values together, so that many nodes with short lists do not
/// fill the memory.
const MAX_KEPT_ELEMENTS: usize = 1 << 22;

/// Goes through the nodes of one model.
pub(super) struct Walker<'m> {
    pub(super) functions: &'m Functions,
    pub(super) limits: &'m FormatLimits,
    pub(super) options: &'m OutlineOptions,
    pub(super) tensors: Tensors,
    pub(super) outline: Outline,
    /// Known elements of each value of the outline, if they are few.
    pub(super) arrays: Vec<Option<Array>>,
    /// The types of the elements of sequences, by the values of the outline.
    pub(super) items: HashMap<usize, ValueType>,
    pub(super) scopes: Vec<Scope>,
    pub(super) size_names: SizeNames,
    /// The outputs of the bodies of the current node.
    pub(super) body_outputs: Vec<usize>,
    /// Keeps the attributes alive, because `tensors` caches arrays by the addresses of attributes.
    kept: Vec<Arc<GraphBody>>,
    /// Work units so far, which count against the limit on operations.
    work: usize,
    /// Loop bodies so far that were walked twice.
    pub(super) second_walks: usize,
    /// Elements that may still be kept.
    elements_left: usize,
}

/// The outline of a model.
///
/// # Errors
/// `damaged`, `limit`, `undefined`, `duplicate`, `cycle`.
pub(crate) fn outline(
    proto: ModelProto,
    source: &SourceFile,
    limits: &FormatLimits,
    options: &OutlineOptions,
) -> Result<Outline, FormatError> {
    let missing = || FormatErrorKind::Unexpected { expected: "a model with a graph".to_owned() };
    let graph = proto.graph.ok_or_else(|| missing().without_location())?;
    let functions = functions_of(&proto.functions, limits)?;
    let mut opsets = proto.opset_import;
    if opsets.is_empty() && proto.ir_version < OPSETS_SINCE {
        opsets.push(OperatorSetIdProto { domain: String::new(), version: 1 });
    }
    let mut walker = Walker {
        functions: &functions,
        limits,
        options,
        tensors: Tensors::new(source, limits),
        outline: Outline::default(),
        arrays: Vec::new(),
        items: HashMap::new(),
        scopes: Vec::new(),
        size_names: SizeNames::default(),
        body_outputs: Vec::new(),
        kept: Vec::new(),
        work: 0,
        second_walks: 0,
        elements_left: MAX_KEPT_ELEMENTS,
    };
    let body = Arc::new(GraphBody::new(&graph.node, &opsets, limits)?);
    check_inlined(&body, &functions, limits)?;
    walker.enter(Scope::new(body, Arc::from("")))?;
    walker.outline.inputs = walker.inputs(&graph, None)?;
    walker.graph(&graph)?;
    walker.outline.outputs = walker.outputs(&graph)?;
    Ok(walker.outline)
}

impl Walker<'_> {
    /// # Errors
    /// `limit`.
    pub(super) fn enter(&mut self, scope: Scope) -> Result<(), FormatError> {
        if self.scopes.len() >= MAX_DEPTH {
            let kind = FormatErrorKind::Limit { what: "regions and calls", limit: MAX_DEPTH };
            return Err(kind.at(Location::described(format!("region {}", scope.region))));
        }
        self.kept.push(scope.body.clone());
        self.scopes.push(scope);
        Ok(())
    }

    pub(super) fn scope(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("invariant: a scope is open")
    }

    pub(super) fn new_value(&mut self, mut value: OutlineValue, array: Option<Array>) -> usize {
        let listed = value.elements.as_ref().map_or(0, Vec::len);
        let count = listed + array.as_ref().map_or(0, |array| array.element_count());
        let is_kept = count <= self.elements_left;
        match is_kept {
            true => self.elements_left -= count,
            false => value.elements = None,
        }
        value.is_internal = self.scopes.len() > 1;
        let called = self.scope().address.as_deref().filter(|address| !address.is_empty());
        value.address = called.and_then(|address| address_of(address, &value.name));
        value.is_evenly_spaced = array.as_ref().is_some_and(is_evenly_spaced);
        self.outline.values.push(value);
        self.arrays.push(array.filter(|_| is_kept));
        self.outline.values.len() - 1
    }

    /// # Errors
    /// `limit`.
    pub(super) fn count(&mut self, work: usize) -> Result<(), FormatErrorKind> {
        self.work = self.work.saturating_add(work);
        let limit = self.limits.operations;
        match self.work > limit {
            true => Err(FormatErrorKind::Limit { what: "operations, with calls inlined,", limit }),
            false => Ok(()),
        }
    }

    /// Defines the inputs of a graph. A region's inputs have the types of `given`, as far as these are known.
    pub(super) fn inputs(
        &mut self,
        graph: &GraphProto,
        given: Option<&[TypedValue]>,
    ) -> Result<Vec<usize>, FormatError> {
        check_many("inputs", graph.input.len(), self.limits)?;
        let mut inputs = Vec::with_capacity(graph.input.len());
        for (position, bytes) in graph.input.iter().enumerate() {
            let stated = StatedType::decode(bytes, "input", self.limits)?;
            let mut value = stated.value();
            let mut item = stated.item.clone();
            let given = given.and_then(|given| given.get(position));
            if let Some(given) = given {
                value.value_type = given.value_type.completed_by(&value.value_type);
                value.elements = given.elements.clone();
                item = given.item.clone().or(item);
            }
            if let Some(declared) = self.declared(&value.name) {
                value.value_type = declared;
            }
            let name = value.name.clone();
            let index = self.new_value(value, given.and_then(|given| given.array.clone()));
            self.items.extend(item.map(|item| (index, item)));
            let defined = self.scope().define(&name, Some(index));
            defined.map_err(|kind| kind.at(Location::described("an input".to_owned())))?;
            inputs.push(index);
        }
        Ok(inputs)
    }

    /// The type that the caller declares for a name.
    pub(super) fn declared(&self, name: &str) -> Option<ValueType> {
        let mut declared = self.options.declared.iter();
        declared.find(|(known, _)| known == name).map(|(_, value_type)| value_type.clone())
    }

    /// Goes through a graph whose inputs are defined.
    pub(super) fn graph(&mut self, graph: &GraphProto) -> Result<(), FormatError> {
        check_many("values", graph.value_info.len(), self.limits)?;
        for (what, infos) in [("value", &graph.value_info), ("output", &graph.output)] {
            for bytes in infos {
                let stated = StatedType::decode(bytes, what, self.limits)?;
                self.scope().state(stated);
            }
        }
        self.initializers(graph)?;
        self.nodes()
    }

    fn initializers(&mut self, graph: &GraphProto) -> Result<(), FormatError> {
        let (dense, sparse) = (&graph.initializer, &graph.sparse_initializer);
        check_many("initializers", dense.len().saturating_add(sparse.len()), self.limits)?;
        let mut names = HashSet::new();
        for (index, bytes) in dense.iter().chain(sparse).enumerate() {
            let location = || Location::described(format!("initializer {index}"));
            let is_sparse = index >= dense.len();
            let tensor: TensorProto = match is_sparse {
                true => sparse_header(&decoded(bytes.clone(), location)?),
                false => decoded(bytes.clone(), location)?,
            };
            self.tensors.check(&tensor).map_err(|kind| kind.at(location()))?;
            if !names.insert(tensor.name.clone()) {
                let (what, name) = ("initializer", tensor.name);
                return Err(FormatErrorKind::Duplicate { what, name }.at(location()));
            }
            // An input with a default keeps its declared type.
            if self.scope().local(&tensor.name).is_some() {
                continue;
            }
            let value_type = header(&tensor);
            let array = if is_sparse { None } else { small_array(&self.tensors, &tensor) };
            let value = OutlineValue {
                name: tensor.name.clone(),
                value_type,
                source: TypeSource::File,
                is_constant: true,
                repeated_axes: repeated_axes(&tensor),
                ..OutlineValue::default()
            };
            let number = self.new_value(value, array);
            self.scope().define(&tensor.name, Some(number)).map_err(|kind| kind.at(location()))?;
        }
        Ok(())
    }

    /// All nodes of the innermost scope.
    pub(super) fn nodes(&mut self) -> Result<(), FormatError> {
        let body = self.scope().body.clone();
        for (index, node) in body.nodes.iter().enumerate() {
            self.node(&body, index, node)?;
        }
        Ok(())
    }

    fn node(
        &mut self,
        body: &GraphBody,
        index: usize,
        node: &Arc<BodyNode>,
    ) -> Result<(), FormatError> {
        let opset = body.opset(&node.proto.domain);
        let within = self.scope().within();
        let location = node_location(node, index, opset, within.as_deref());
        self.count(node.work()).map_err(|kind| kind.at(location.clone()))?;
        let operands = node.proto.input.iter().map(|name| value_of(&self.scopes, name));
        let operands: Result<Vec<Option<usize>>, _> = operands.collect();
        let operands = operands.map_err(|kind| kind.at(location.clone()))?;
        let attributes = node.resolved(&self.scope().arguments);
        match called_function(self.functions, node) {
            Some(function) => self.call(function, node, &operands, &attributes, &location),
            None => self.operator((index, node), operands, attributes, location),
        }
    }

    /// Goes through the function that a node calls.
    fn call(
        &mut self,
        function: &Arc<ModelFunction>,
        node: &Arc<BodyNode>,
        operands: &[Option<usize>],
        attributes: &NodeAttributes,
        location: &Location,
    ) -> Result<(), FormatError> {
        let name: Arc<str> = Arc::from(function.shown.as_str());
        if self.scopes.iter().any(|scope| scope.function.as_deref() == Some(&name[..])) {
            let name = function.shown.clone();
            return Err(FormatErrorKind::Cycle { name }.at(location.clone()));
        }
        self.count(function.work()).map_err(|kind| kind.at(location.clone()))?;
        let region = format!("{}/{name}", self.scope().region);
        let caller = match (node.proto.name.as_str(), node.proto.output.first()) {
            ("", Some(result)) => format!("the node of `{result}`"),
            (name, _) => format!("`{name}`"),
        };
        let place = format!("the function {name}, called by {}", printable(&caller));
        let scope = Scope::new(function.body.clone(), Arc::from(region.as_str()));
        let mut scope = scope.placed(place, self.scope());
        scope.arguments = function.arguments(attributes);
        (scope.function, scope.is_function) = (Some(name), true);
        let address = self.scope().address.clone();
        scope.address = address.and_then(|address| address_of_call(&address, &node.proto.output));
        for (position, input) in function.inputs.iter().enumerate() {
            let value = operands.get(position).copied().flatten();
            scope.define(input, value).map_err(|kind| kind.at(location.clone()))?;
        }
        self.enter(scope)?;
        self.nodes()?;
        let results: Result<Vec<Option<usize>>, _> =
            function.outputs.iter().map(|name| value_of(&self.scopes, name)).collect();
        self.scopes.pop();
        let results = results.map_err(|kind| kind.at(location.clone()))?;
        for (result, name) in results.into_iter().zip(&node.proto.output) {
            if !name.is_empty() {
                self.scope().define(name, result).map_err(|kind| kind.at(location.clone()))?;
                self.name_result(name, result);
            }
        }
        Ok(())
    }

    /// Gives the result of a function the name that the main graph uses for it.
    fn name_result(&mut self, name: &str, result: Option<usize>) {
        let is_graph = self.scopes.len() == 1;
        let value = result.map(|result| &mut self.outline.values[result]);
        if let Some(value) = value.filter(|value| is_graph && value.is_internal) {
            name.clone_into(&mut value.name);
            (value.is_internal, value.address) = (false, None);
        }
    }

    /// The values of a graph's outputs.
    fn outputs(&mut self, graph: &GraphProto) -> Result<Vec<usize>, FormatError> {
        let mut outputs = Vec::with_capacity(graph.output.len());
        for bytes in &graph.output {
            let stated = StatedType::decode(bytes, "output", self.limits)?;
            let name = &stated.input.name;
            let location = || Location::described(format!("output {name}"));
            let value = value_of(&self.scopes, name).map_err(|kind| kind.at(location()))?;
            outputs.extend(value);
        }
        Ok(outputs)
    }
}

/// Conversion of values for shape rules.
impl Walker<'_> {
    /// The value `index` of the outline, as an operand of a shape rule.
    pub(super) fn typed(&self, index: usize) -> TypedValue {
        let value = &self.outline.values[index];
        TypedValue {
            name: value.name.clone(),
            value_type: value.value_type.clone(),
            elements: value.elements.clone(),
            array: self.arrays[index].clone(),
            item: self.items.get(&index).cloned(),
        }
    }
}
