//! StableHLO's text, which is MLIR: `lexer.rs`, then `parser/` to what `syntax.rs` describes, then
//! `elaborate.rs` and `results.rs` to a graph. What operations mean says `meaning.rs`, their attributes
//! `attribute.rs`, their constants `dense.rs`, their reducers `reducer.rs`; what is not to be had finds
//! `census.rs`. `writer.rs` is the way back.

mod attribute;
mod census;
mod dense;
mod elaborate;
mod lexer;
mod meaning;
mod parser;
mod reducer;
mod results;
mod syntax;
mod writer;

use std::collections::HashSet;

use attribute::{Attributes, find, unquoted};
use elaborate::Elaborator;
use indim_graph::Graph;
use indim_model::{
    Bound, FormatError, FormatErrorKind, FormatLimits, Location, Model, ModelInput, ModelProgram,
    ReadOptions, Reader, SourceFile, WriteOptions, Writer, WrittenModel, check_inputs,
};
use indim_text::Span;
use lexer::{Lexer, TokenKind};
use syntax::{Argument, Function, Module, Type};

use crate::checked_text;

/// Reads and writes StableHLO's text.
#[derive(Debug, Clone, Copy)]
pub struct StableHloText;

impl Reader for StableHloText {
    fn read(
        &self,
        source: &SourceFile,
        options: &ReadOptions,
    ) -> Result<Box<dyn Model>, FormatError> {
        let text = checked_text(source)?;
        let module = parser::parse(text, &options.limits)?;
        let entry = entry(&module, options.function.as_deref())?;
        let attributes = Attributes::new(text, &module);
        census::check(&module, &attributes, entry)?;
        let function = &module.functions[entry];
        let inputs = inputs(function, &attributes);
        let outputs = outputs(function, &attributes);
        let (source, limits) = (source.clone(), options.limits);
        Ok(Box::new(StableHlo { source, module, limits, entry, inputs, outputs }))
    }

    fn operations(&self) -> Vec<String> {
        meaning::names()
    }
}

impl Writer for StableHloText {
    fn write(
        &self,
        graph: &Graph,
        outputs: &[String],
        options: &WriteOptions,
    ) -> Result<WrittenModel, FormatError> {
        writer::write(graph, outputs, options)
    }
}

/// A program in StableHLO.
struct StableHlo {
    source: SourceFile,
    module: Module,
    limits: FormatLimits,
    /// The number of the function that is the program.
    entry: usize,
    inputs: Vec<ModelInput>,
    outputs: Vec<String>,
}

impl Model for StableHlo {
    fn inputs(&self) -> &[ModelInput] {
        &self.inputs
    }

    fn outputs(&self) -> Vec<String> {
        self.outputs.clone()
    }

    fn build(&self, inputs: &[Bound]) -> Result<ModelProgram, FormatError> {
        check_inputs(&self.inputs, inputs)?;
        let attributes = Attributes::new(checked_text(&self.source)?, &self.module);
        let names: Vec<String> = self.inputs.iter().map(|input| input.name.clone()).collect();
        let elaborator = Elaborator::new(&self.module, attributes, &self.limits);
        elaborator.program(self.entry, &names, &self.outputs)
    }

    /// Of an operation, by the byte where its name begins.
    fn place(&self, number: usize) -> Location {
        Location::text(number..number)
    }
}

/// The function that is the program: the one that is asked for, else `@main`, else the only public one, else
/// the only one.
fn entry(module: &Module, asked: Option<&str>) -> Result<usize, FormatError> {
    let undefined = |name: &str| {
        let name = format!("@{name}");
        FormatErrorKind::Undefined { what: "function", name }.nowhere()
    };
    if let Some(name) = asked {
        let name = name.trim_start_matches('@');
        return module.function(name).ok_or_else(|| undefined(name));
    }
    if let Some(main) = module.function("main") {
        return Ok(main);
    }
    let functions = module.functions.iter().enumerate();
    let public: Vec<usize> =
        functions.filter(|(_, function)| function.is_public).map(|(number, _)| number).collect();
    match (&public[..], module.functions.len()) {
        ([only], _) => Ok(*only),
        (_, 1) => Ok(0),
        (_, 0) => Err(undefined("main")),
        _ => {
            let names = module.functions.iter().take(20).map(|f| format!("@{}", f.name));
            Err(FormatErrorKind::WhichFunction { names: names.collect() }.nowhere())
        }
    }
}

/// The parameters: one for each array in the arguments.
fn inputs(function: &Function, attributes: &Attributes<'_>) -> Vec<ModelInput> {
    let arguments = function.body.iter().flat_map(|body| &body.arguments);
    let (mut inputs, mut names) = (Vec::new(), HashSet::new());
    for argument in arguments {
        let mut name = argument_name(argument, attributes);
        // Two arguments may be called the same by their users, but not in the text.
        if names.contains(&name) {
            name = plain_name(argument, attributes);
        }
        flatten(&name, &argument.value_type, &mut |name, array_type| {
            let mut unique = name.to_owned();
            while !names.insert(unique.clone()) {
                unique.push('_');
            }
            inputs.push(ModelInput::of_type(unique, array_type));
        });
    }
    inputs
}

/// The arrays of a type, with a name each. Types are nested as deep as the parser allows.
fn flatten(name: &str, value: &Type, found: &mut dyn FnMut(&str, &indim_ops::ArrayType)) {
    match value {
        Type::Array(array_type) => found(name, array_type),
        Type::Tuple(parts) => {
            for (index, part) in parts.iter().enumerate() {
                flatten(&format!("{name}.{index}"), part, found);
            }
        }
        Type::Dynamic(_) | Type::Other(_) => {}
    }
}

fn plain_name(argument: &Argument, attributes: &Attributes<'_>) -> String {
    argument.name.of(attributes.text).trim_start_matches('%').to_owned()
}

/// What the user calls an argument: `loc("x")`, where that is a name; else its name in the text.
fn argument_name(argument: &Argument, attributes: &Attributes<'_>) -> String {
    let named = argument.location.and_then(|location| located_name(location, attributes));
    named.filter(|name| !name.is_empty()).unwrap_or_else(|| plain_name(argument, attributes))
}

/// The name that a location gives: `"x"`, `"x"(#loc3)`, `#loc1`; no place in a file: `"f.py":1:2`.
fn located_name(location: Span, attributes: &Attributes<'_>) -> Option<String> {
    let mut lexer = Lexer::new(attributes.text, attributes.resolved(location));
    let mut first = lexer.token();
    // An alias stands for `loc(..)`.
    if first.span.of(attributes.text) == "loc" {
        lexer.token();
        first = lexer.token();
    }
    let is_name = first.kind == TokenKind::String && lexer.token().kind != TokenKind::Mark(b':');
    is_name.then(|| unquoted(first.span.of(attributes.text)))
}

/// What JAX calls the results, or `output0`, `output1`, ...; of a tuple one for each array in it.
fn outputs(function: &Function, attributes: &Attributes<'_>) -> Vec<String> {
    let (mut outputs, mut names) = (Vec::new(), HashSet::new());
    for (number, result) in function.results.iter().enumerate() {
        let info = find(&result.attributes, "jax.result_info");
        let info = info.map(|span| unquoted(span.of(attributes.text)));
        let info = info.filter(|name| !name.is_empty() && !names.contains(name));
        let name = info.unwrap_or_else(|| format!("output{number}"));
        names.insert(name.clone());
        flatten(&name, &result.value_type, &mut |name, _| outputs.push(name.to_owned()));
    }
    outputs
}
