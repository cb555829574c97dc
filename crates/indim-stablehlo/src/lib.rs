//! StableHLO text in MLIR.
//!
//! Read in this order:
//!
//! * `lexer.rs`, `parser/`: parse text to the syntax tree in `syntax.rs`.
//! * `part.rs`: the operations between named values; `unsupported.rs`: finds unsupported operations;
//!   `elaborate.rs`, `results.rs`, `reductions.rs` and `regions.rs`: build the graph.
//! * `outline.rs`: every operation with its stated types; `size_sources.rs` and `shape_lists.rs`: sizes that
//!   they leave open; `axis_pairs.rs`: operand axes whose sizes must agree.
//! * `lowering.rs`: the table of operations; `attribute.rs`: attributes; `dense.rs`: constants;
//!   `dot.rs`: matrix products; `gather.rs`: gathers and scatters; `windows.rs`: convolutions and
//!   reductions of windows; `reducer.rs`: reducers; `approximate_top_k.rs`: the custom call of JAX's
//!   `approx_max_k`.
//! * `writer.rs`: the writer; `write_indices.rs`: its gathers, scatters and sorts.
//! * `carry/`: programs with operations that are copied into the file written from them.
//!
//! `indim-xla` has the operations that StableHLO shares with HLO.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod approximate_top_k;
mod attribute;
mod axis_pairs;
mod carry;
mod dense;
mod dot;
mod elaborate;
mod gather;
mod lexer;
mod lowering;
mod outline;
mod parser;
mod part;
mod reducer;
mod reductions;
mod regions;
mod results;
mod shape_lists;
mod size_sources;
mod syntax;
mod unsupported;
mod windows;
mod write_indices;
mod writer;

use std::collections::HashSet;

use attribute::{AttributeReader, find, unquoted};
use elaborate::Elaborator;
use indim_graph::Graph;
use indim_model::outline::{Outline, OutlineOptions};
use indim_model::{
    FormatError, FormatErrorKind, FormatLimits, InputBinding, Location, Model, ModelInput,
    ModelProgram, ProgramPart, ReadOptions, Reader, SourceFile, WriteOptions, Writer, WrittenModel,
    check_inputs,
};
use indim_text::Span;
use lexer::{Lexer, TokenKind};
use syntax::{Argument, Function, Module, Type};

use indim_xla::checked_text;

/// The reader and writer of StableHLO text.
#[derive(Debug, Clone, Copy)]
pub struct StableHloText;

impl Reader for StableHloText {
    fn read(
        &self,
        source: &SourceFile,
        options: &ReadOptions,
    ) -> Result<Box<dyn Model>, FormatError> {
        match options.carries {
            true => carry::read(source, options),
            false => Ok(Box::new(StableHlo::read(source, options)?)),
        }
    }

    fn outline(
        &self,
        source: &SourceFile,
        options: &ReadOptions,
        _: &OutlineOptions,
    ) -> Result<Outline, FormatError> {
        let text = checked_text(source)?;
        let module = parser::parse(text, &options.limits)?;
        let entry = entry(&module, options.function.as_deref())?;
        outline::outline(&module, &AttributeReader::new(text, &module), entry)
    }

    fn operations(&self) -> Vec<String> {
        lowering::names()
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
    /// Index of the entry function.
    entry: usize,
    inputs: Vec<ModelInput>,
    outputs: Vec<String>,
}

impl StableHlo {
    fn read(source: &SourceFile, options: &ReadOptions) -> Result<StableHlo, FormatError> {
        let text = checked_text(source)?;
        let mut module = parser::parse(text, &options.limits)?;
        let entry = entry(&module, options.function.as_deref())?;
        restrict(&mut module, entry, text, &options.part)?;
        let attributes = AttributeReader::new(text, &module);
        unsupported::check(&module, &attributes, entry)?;
        let function = &module.functions[entry];
        let inputs = inputs(function, &attributes);
        let outputs = match options.part.to.is_empty() {
            true => outputs(function, &attributes),
            false => options.part.ends().into_iter().map(str::to_owned).collect(),
        };
        let (source, limits) = (source.clone(), options.limits);
        Ok(StableHlo { source, module, limits, entry, inputs, outputs })
    }
}

impl Model for StableHlo {
    fn inputs(&self) -> &[ModelInput] {
        &self.inputs
    }

    fn outputs(&self) -> Vec<String> {
        self.outputs.clone()
    }

    fn build(&self, inputs: &[InputBinding]) -> Result<ModelProgram, FormatError> {
        check_inputs(&self.inputs, inputs)?;
        let attributes = AttributeReader::new(checked_text(&self.source)?, &self.module);
        let names: Vec<String> = self.inputs.iter().map(|input| input.name.clone()).collect();
        let elaborator = Elaborator::new(&self.module, attributes, &self.limits);
        elaborator.program(self.entry, &names, &self.outputs)
    }

    /// Location of an operation; `number` is the byte offset of its name.
    fn location(&self, number: usize) -> Location {
        Location::text(number..number)
    }
}

/// The entry function: the one in the options, else `@main`, else the only public one, else the only one.
fn entry(module: &Module, entry_name: Option<&str>) -> Result<usize, FormatError> {
    let undefined = |name: &str| {
        let name = format!("@{name}");
        FormatErrorKind::Undefined { what: "function", name }.without_location()
    };
    if let Some(name) = entry_name {
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
            Err(FormatErrorKind::WhichFunction { names: names.collect() }.without_location())
        }
    }
}

/// Restricts the entry function to a part of it.
fn restrict(
    module: &mut Module,
    entry: usize,
    text: &str,
    part: &ProgramPart,
) -> Result<(), FormatError> {
    let Module { functions, aliases, resources, constants, .. } = module;
    let attributes = AttributeReader { text, aliases, resources, constants };
    functions[entry].restrict(text, part, &|argument| argument_name(argument, &attributes))
}

/// The inputs: one for each array in the arguments.
fn inputs(function: &Function, attributes: &AttributeReader<'_>) -> Vec<ModelInput> {
    let arguments = function.body.iter().flat_map(|body| &body.arguments);
    let (mut inputs, mut names) = (Vec::new(), HashSet::new());
    for argument in arguments {
        let mut name = argument_name(argument, attributes);
        // User names of arguments can collide; names in the text cannot.
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

/// Visits the arrays of a type with their names. The recursion is bounded by the parser's nesting limit.
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

fn plain_name(argument: &Argument, attributes: &AttributeReader<'_>) -> String {
    argument.name.of(attributes.text).trim_start_matches('%').to_owned()
}

/// The user's name of an argument, `loc("x")`, if its location is a name; else its name in the text.
fn argument_name(argument: &Argument, attributes: &AttributeReader<'_>) -> String {
    let named = argument.location.and_then(|location| located_name(location, attributes));
    named.filter(|name| !name.is_empty()).unwrap_or_else(|| plain_name(argument, attributes))
}

/// The name in a location: `"x"`, `"x"(#loc3)`, `#loc1`; `None` for a position in a file, `"f.py":1:2`.
fn located_name(location: Span, attributes: &AttributeReader<'_>) -> Option<String> {
    let mut lexer = Lexer::new(attributes.text, attributes.resolved(location));
    let mut first = lexer.token();
    // An alias includes the `loc(..)`.
    if first.span.of(attributes.text) == "loc" {
        lexer.token();
        first = lexer.token();
    }
    let is_name = first.kind == TokenKind::String && lexer.token().kind != TokenKind::Mark(b':');
    is_name.then(|| unquoted(first.span.of(attributes.text)))
}

/// JAX's names of the results, or `output0`, `output1`, ...; a tuple has one for each array.
fn outputs(function: &Function, attributes: &AttributeReader<'_>) -> Vec<String> {
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
