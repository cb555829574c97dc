//! Inlines the calls of a model's functions into its graph, in encoded form: a node keeps all its fields, and
//! the constants that it has in external files become part of it.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use indim_model::{FormatErrorKind, FormatLimits};
use prost::Message as _;

use super::wire::{Field, decode, fields, push, replaced, text_of};
use crate::body::domain_of;
use crate::messages::{ModelProto, NodeProto, OperatorSetIdProto, TensorProto};
use crate::tensor::Tensors;

/// Maximum depth of calls and bodies: each level takes a part of the stack.
const MAX_DEPTH: usize = 60;

/// Separates the first result of a call from the names inside the function, unless names of the file have
/// these characters.
const SEPARATOR: &str = "::";

/// Whether an operator of ONNX means the same in two opsets.
pub type IsSameOperator<'a> = &'a dyn Fn(&str, i64, i64) -> bool;

type FunctionName = (String, String, String);

/// A function in encoded form.
#[derive(Default)]
struct Function {
    inputs: Vec<String>,
    outputs: Vec<String>,
    nodes: Vec<Bytes>,
    /// Attributes with a default, encoded.
    defaults: Vec<(String, Vec<u8>)>,
    opsets: HashMap<String, i64>,
}

/// The names and attributes of the nodes of a graph or of a called function.
#[derive(Clone, Default)]
struct Scope {
    /// New names. Any other name begins with `prefix`.
    names: HashMap<String, String>,
    prefix: String,
    /// The attributes to which nodes can refer, encoded.
    attributes: HashMap<String, Vec<u8>>,
    /// The operator sets of the function, if they differ from those of the model.
    opsets: HashMap<String, i64>,
}

/// The state of the inlining of one model.
struct Inliner<'m> {
    functions: HashMap<FunctionName, Function>,
    opsets: HashMap<String, i64>,
    is_same: IsSameOperator<'m>,
    tensors: &'m Tensors,
    limits: &'m FormatLimits,
    separator: String,
    open_calls: Vec<FunctionName>,
    depth: usize,
    /// Nodes and bytes so far, which count against the limits.
    work: usize,
    bytes: usize,
}

/// Inlines all calls of functions, also in bodies of loops and branches. The value `t` of the call whose
/// first result is `y` has the name `y::t`. `is_same` compares operators of functions that import another
/// opset than the model.
///
/// # Errors
/// `damaged`, `limit`, `cycle`; `unsupported` if a function's operator means something else in the model's
/// opset; the errors of constants in external files.
pub fn inline_functions(
    model: &mut ModelProto,
    tensors: &Tensors,
    limits: &FormatLimits,
    is_same: IsSameOperator<'_>,
) -> Result<(), FormatErrorKind> {
    let mut functions = HashMap::new();
    for bytes in &model.functions {
        let (name, function) = Function::decode(bytes)?;
        functions.insert(name, function);
    }
    let Some(graph) = &mut model.graph else { return Ok(()) };
    let opset = |it: &OperatorSetIdProto| (domain_of(&it.domain).to_owned(), it.version);
    let opsets: HashMap<String, i64> = model.opset_import.iter().map(opset).collect();
    let separator = free_separator(&graph.node, &functions)?;
    let mut inliner = Inliner {
        functions,
        opsets,
        is_same,
        tensors,
        limits,
        separator,
        open_calls: Vec::new(),
        depth: 0,
        work: 0,
        bytes: 0,
    };
    let nodes = core::mem::take(&mut graph.node);
    graph.node = inliner.nodes(nodes.iter().map(|node| &node[..]), &Scope::default())?;
    // The operator sets that only functions import.
    let known: HashSet<&str> = model.opset_import.iter().map(|it| domain_of(&it.domain)).collect();
    let mut added: Vec<OperatorSetIdProto> = inliner
        .opsets
        .iter()
        .filter(|(domain, _)| !known.contains(domain.as_str()))
        .map(|(domain, &version)| OperatorSetIdProto { domain: domain.clone(), version })
        .collect();
    added.sort_unstable_by(|a, b| a.domain.cmp(&b.domain));
    model.opset_import.extend(added);
    model.functions.clear();
    Ok(())
}

/// A separator that no name of the nodes contains.
fn free_separator(
    nodes: &[Bytes],
    functions: &HashMap<FunctionName, Function>,
) -> Result<String, FormatErrorKind> {
    let mut separator = SEPARATOR.to_owned();
    if functions.is_empty() {
        return Ok(separator);
    }
    let of_functions = functions.values().flat_map(|function| &function.nodes);
    for node in nodes.iter().chain(of_functions) {
        lengthen(&mut separator, node, MAX_DEPTH)?;
    }
    Ok(separator)
}

/// Lengthens the separator until no name of the node and of its bodies, up to this depth, contains it.
fn lengthen(separator: &mut String, node: &[u8], depth: usize) -> Result<(), FormatErrorKind> {
    for field in fields(node)? {
        match field.number {
            1 | 2 => {
                let name = field.text()?;
                while name.contains(&separator[..]) {
                    separator.push(':');
                }
            }
            5 if depth > 0 => {
                for part in fields(field.bytes())?.iter().filter(|it| matches!(it.number, 6 | 11)) {
                    for inner in fields(part.bytes())?.iter().filter(|it| it.number == 1) {
                        lengthen(separator, inner.bytes(), depth - 1)?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

impl Function {
    fn decode(bytes: &Bytes) -> Result<(FunctionName, Function), FormatErrorKind> {
        let mut function = Function::default();
        let (mut domain, mut name, mut overload) = (String::new(), String::new(), String::new());
        for field in fields(bytes)? {
            match field.number {
                1 => name = field.text()?.to_owned(),
                4 => function.inputs.push(field.text()?.to_owned()),
                5 => function.outputs.push(field.text()?.to_owned()),
                7 => function.nodes.push(bytes.slice_ref(field.bytes())),
                9 => {
                    let opset: OperatorSetIdProto = decode(field.bytes())?;
                    function.opsets.insert(domain_of(&opset.domain).to_owned(), opset.version);
                }
                10 => domain = domain_of(field.text()?).to_owned(),
                11 => {
                    let attribute = bytes.slice_ref(field.bytes());
                    function.defaults.push((text_of(&attribute, 1)?, attribute.to_vec()));
                }
                13 => overload = field.text()?.to_owned(),
                _ => {}
            }
        }
        Ok(((domain, name, overload), function))
    }
}

impl Scope {
    fn renamed(&self, name: &str) -> String {
        match self.names.get(name) {
            Some(new) => new.clone(),
            None if name.is_empty() => String::new(),
            None => [&self.prefix, name].concat(),
        }
    }

    fn is_main(&self) -> bool {
        self.prefix.is_empty()
    }
}

impl Inliner<'_> {
    /// The nodes of a graph, with the nodes of called functions in place of the calls.
    fn nodes<'b>(
        &mut self,
        nodes: impl Iterator<Item = &'b [u8]>,
        scope: &Scope,
    ) -> Result<Vec<Bytes>, FormatErrorKind> {
        if self.depth >= MAX_DEPTH {
            return Err(FormatErrorKind::Limit { what: "calls and bodies", limit: MAX_DEPTH });
        }
        self.depth += 1;
        let mut inlined = Vec::new();
        for node in nodes {
            let fields = fields(node)?;
            let text = |number: u64| {
                let field = fields.iter().rev().find(|field| field.number == number);
                field.map_or(Ok(""), Field::text)
            };
            let domain = domain_of(text(7)?);
            let called = (domain.to_owned(), text(4)?.to_owned(), text(8)?.to_owned());
            match self.functions.contains_key(&called) {
                true => self.call(&fields, called, scope, &mut inlined)?,
                false => {
                    self.check_opset(domain, &called.1, scope)?;
                    inlined.push(self.node(node, scope)?);
                }
            }
        }
        self.depth -= 1;
        Ok(inlined)
    }

    /// Counts a node of this size.
    fn count(&mut self, bytes: usize) -> Result<(), FormatErrorKind> {
        self.work += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        let (operations, file_bytes) = (self.limits.operations, self.limits.file_bytes);
        if self.work > operations {
            let what = "operations, with calls inlined,";
            return Err(FormatErrorKind::Limit { what, limit: operations });
        }
        match self.bytes > file_bytes {
            true => {
                let what = "bytes of nodes, with calls inlined,";
                Err(FormatErrorKind::Limit { what, limit: file_bytes })
            }
            false => Ok(()),
        }
    }

    /// Checks that an operator of a function means the same under the operator sets of the model.
    fn check_opset(
        &mut self,
        domain: &str,
        operator: &str,
        scope: &Scope,
    ) -> Result<(), FormatErrorKind> {
        let Some(&stated) = scope.opsets.get(domain) else { return Ok(()) };
        let of_model = *self.opsets.entry(domain.to_owned()).or_insert(stated);
        let is_same = domain.is_empty() && (self.is_same)(operator, stated, of_model);
        match stated == of_model || is_same {
            true => Ok(()),
            false => Err(FormatErrorKind::Unsupported {
                what: format!(
                    "{operator} of opset {stated} in a function of a model with opset {of_model} is"
                ),
            }),
        }
    }

    fn node(&mut self, node: &[u8], scope: &Scope) -> Result<Bytes, FormatErrorKind> {
        self.count(node.len())?;
        let mut copy = Vec::with_capacity(node.len());
        for field in fields(node)? {
            match field.number {
                1 | 2 => push(&mut copy, field.number, scope.renamed(field.text()?).as_bytes()),
                3 if !scope.is_main() && !field.bytes().is_empty() => {
                    push(&mut copy, 3, [&scope.prefix, field.text()?].concat().as_bytes());
                }
                5 => {
                    let attribute = self.attribute(field.bytes(), scope)?;
                    attribute.iter().for_each(|content| push(&mut copy, 5, content));
                }
                _ => copy.extend_from_slice(field.whole),
            }
        }
        self.count(copy.len().saturating_sub(node.len()))?;
        Ok(copy.into())
    }

    /// An attribute of a node; `None` for a reference to an attribute that the call omits.
    fn attribute(
        &mut self,
        attribute: &[u8],
        scope: &Scope,
    ) -> Result<Option<Vec<u8>>, FormatErrorKind> {
        let all = fields(attribute)?;
        if let Some(referred) = all.iter().find(|it| it.number == 21 && !it.bytes().is_empty()) {
            let name = all.iter().find(|field| field.number == 1);
            let Some(stated) = scope.attributes.get(referred.text()?) else { return Ok(None) };
            self.count(stated.len())?;
            let mut copy = Vec::with_capacity(stated.len());
            push(&mut copy, 1, name.map_or(&[][..], Field::bytes));
            let others = fields(stated)?;
            let others = others.iter().filter(|field| field.number != 1);
            others.for_each(|field| copy.extend_from_slice(field.whole));
            return Ok(Some(copy));
        }
        let copy = replaced(attribute, |field| match field.number {
            5 | 10 => self.tensor(field.bytes(), None),
            6 | 11 => self.body(field.bytes(), scope).map(Some),
            _ => Ok(None),
        });
        copy.map(Some)
    }

    /// A tensor with a new name, and with its elements if they are in an external file; `None` if it stays.
    fn tensor(
        &mut self,
        tensor: &[u8],
        name: Option<String>,
    ) -> Result<Option<Vec<u8>>, FormatErrorKind> {
        let all = fields(tensor)?;
        let is_external = all.iter().any(|it| it.number == 14 && it.whole.last() == Some(&1));
        if is_external {
            let mut decoded: TensorProto = decode(tensor)?;
            self.tensors.embed(&mut decoded)?;
            self.count(decoded.raw_data.as_ref().map_or(0, Bytes::len))?;
            decoded.name = name.unwrap_or(decoded.name);
            return Ok(Some(decoded.encode_to_vec()));
        }
        let Some(name) = name else { return Ok(None) };
        let renamed =
            |field: &Field<'_>| Ok((field.number == 8).then(|| name.clone().into_bytes()));
        replaced(tensor, renamed).map(Some)
    }

    /// The body of a loop or branch.
    fn body(&mut self, graph: &[u8], scope: &Scope) -> Result<Vec<u8>, FormatErrorKind> {
        let all = fields(graph)?;
        let scope = &without_shadowed(&all, scope)?;
        let nodes = all.iter().filter(|field| field.number == 1).map(Field::bytes);
        let mut copy = Vec::with_capacity(graph.len());
        self.nodes(nodes, scope)?.iter().for_each(|node| push(&mut copy, 1, node));
        let named = |message: &[u8], number: u64| {
            replaced(message, |field| match field.number == number {
                true => Ok(Some(scope.renamed(field.text()?).into_bytes())),
                false => Ok(None),
            })
        };
        for field in all.iter().filter(|field| field.number != 1) {
            let content = match field.number {
                5 => {
                    let name = text_of(field.bytes(), 8)?;
                    let name = (!scope.is_main()).then(|| scope.renamed(&name));
                    self.tensor(field.bytes(), name)?
                }
                _ if scope.is_main() => None,
                11..=13 => Some(named(field.bytes(), 1)?),
                15 => Some(replaced(field.bytes(), |part| match part.number {
                    1 => named(part.bytes(), 8).map(Some),
                    _ => Ok(None),
                })?),
                _ => None,
            };
            match content {
                Some(content) => push(&mut copy, field.number, &content),
                None => copy.extend_from_slice(field.whole),
            }
        }
        Ok(copy)
    }

    /// The nodes of the function that a node calls, appended to `inlined`.
    fn call(
        &mut self,
        node: &[Field<'_>],
        called: FunctionName,
        scope: &Scope,
        inlined: &mut Vec<Bytes>,
    ) -> Result<(), FormatErrorKind> {
        if self.open_calls.contains(&called) {
            return Err(FormatErrorKind::Cycle { name: called.1 });
        }
        let names = |number: u64| {
            let all = node.iter().filter(|field| field.number == number);
            all.map(|it| Ok(scope.renamed(it.text()?))).collect::<Result<Vec<_>, FormatErrorKind>>()
        };
        let (operands, results) = (names(1)?, names(2)?);
        // A call without results computes nothing that a node could read.
        let Some(first) = results.iter().find(|name| !name.is_empty()) else { return Ok(()) };
        let mut inner = Scope { prefix: [first, &self.separator[..]].concat(), ..Scope::default() };
        for field in node.iter().filter(|field| field.number == 5) {
            if let Some(attribute) = self.attribute(field.bytes(), scope)? {
                inner.attributes.insert(text_of(&attribute, 1)?, attribute);
            }
        }
        let function = &self.functions[&called];
        let (nodes, outputs) = (function.nodes.clone(), function.outputs.clone());
        for (name, attribute) in &function.defaults {
            inner.attributes.entry(name.clone()).or_insert_with(|| attribute.clone());
        }
        for (position, input) in function.inputs.iter().enumerate() {
            let operand = operands.get(position).cloned().unwrap_or_default();
            inner.names.insert(input.clone(), operand);
        }
        inner.opsets.clone_from(&function.opsets);
        // An output that is an input, or that the function gives twice, is a copy.
        let mut copies = Vec::new();
        for (output, result) in outputs.iter().zip(&results).filter(|(_, name)| !name.is_empty()) {
            match inner.names.contains_key(output) {
                true => copies.push((output.clone(), result.clone())),
                false => drop(inner.names.insert(output.clone(), result.clone())),
            }
        }
        self.open_calls.push(called);
        inlined.extend(self.nodes(nodes.iter().map(|node| &node[..]), &inner)?);
        self.open_calls.pop();
        for (output, result) in copies {
            let (input, output) = (vec![inner.renamed(&output)], vec![result]);
            let op_type = "Identity".to_owned();
            let copy = NodeProto { input, output, op_type, ..NodeProto::default() };
            inlined.push(copy.encode_to_vec().into());
        }
        Ok(())
    }
}

/// The scope of a body: names that the body defines hide those of the function around it.
fn without_shadowed(graph: &[Field<'_>], scope: &Scope) -> Result<Scope, FormatErrorKind> {
    let mut inner = scope.clone();
    if inner.names.is_empty() {
        return Ok(inner);
    }
    for field in graph {
        let defined = match field.number {
            1 => (field.bytes(), 2),
            5 => (field.bytes(), 8),
            11 => (field.bytes(), 1),
            _ => continue,
        };
        for part in fields(defined.0)?.iter().filter(|part| part.number == defined.1) {
            inner.names.remove(part.text()?);
        }
    }
    Ok(inner)
}
