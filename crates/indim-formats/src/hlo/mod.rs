//! HLO's text, as XLA dumps it: `lexer.rs`, then `parser.rs` and `shape.rs` to what `syntax.rs` describes,
//! then `elaborate.rs` to a graph. What opcodes mean says `meaning.rs`, their attributes `attribute.rs`,
//! their constants `literal.rs`, what `bitcast` does `layout.rs`, reducers `reducer.rs`; what is not to be
//! had finds `census.rs`. `writer.rs` is the way back.

mod attribute;
mod census;
mod elaborate;
mod layout;
mod lexer;
mod literal;
mod meaning;
mod parser;
mod reducer;
mod shape;
mod syntax;
mod writer;

use std::collections::HashSet;

use elaborate::Elaborator;
use indim_graph::Graph;
use syntax::{Instruction, Module, Shape};

use crate::error::{FormatError, FormatErrorKind};
use crate::limits::FormatLimits;
use crate::model::{Bound, Input, Model, Program, check_inputs};
use crate::source::Source;
use crate::writer::{WriteOptions, Writer, Written};
use crate::xla::checked_text;
use crate::{ReadOptions, Reader};

/// Reads and writes HLO's text.
pub(crate) struct HloText;

impl Reader for HloText {
    fn read(&self, source: &Source, options: &ReadOptions) -> Result<Box<dyn Model>, FormatError> {
        let text = checked_text(source)?;
        let module = parser::parse(text, &options.limits)?;
        let entry = entry(&module, options.function.as_deref())?;
        census::check(&module, text, entry)?;
        let inputs = inputs(&module, entry, text);
        let outputs = outputs(&module, entry);
        let (source, limits) = (source.clone(), options.limits);
        Ok(Box::new(Hlo { source, module, limits, entry, inputs, outputs }))
    }
}

impl Writer for HloText {
    fn write(
        &self,
        graph: &Graph,
        outputs: &[String],
        options: &WriteOptions,
    ) -> Result<Written, FormatError> {
        writer::write(graph, outputs, options)
    }
}

/// A program in HLO.
struct Hlo {
    source: Source,
    module: Module,
    limits: FormatLimits,
    /// The number of the computation that is the program.
    entry: usize,
    inputs: Vec<Input>,
    outputs: Vec<String>,
}

impl Model for Hlo {
    fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    fn outputs(&self) -> Vec<String> {
        self.outputs.clone()
    }

    fn build(&self, inputs: &[Bound]) -> Result<Program, FormatError> {
        check_inputs(&self.inputs, inputs)?;
        let text = checked_text(&self.source)?;
        let names: Vec<String> = self.inputs.iter().map(|input| input.name.clone()).collect();
        Elaborator::new(&self.module, text, &self.limits).program(self.entry, &names)
    }
}

/// The computation that is the program: the one that is asked for, else `ENTRY`, else the last.
fn entry(module: &Module, asked: Option<&str>) -> Result<usize, FormatError> {
    let last = module.computations.len() - 1;
    let Some(name) = asked else { return Ok(module.entry.unwrap_or(last)) };
    module.by_name.get(name.trim_start_matches('%')).copied().ok_or_else(|| {
        let name = name.to_owned();
        FormatErrorKind::Undefined { what: "computation", name }.nowhere()
    })
}

/// The parameters: one for each array in those of the computation.
fn inputs(module: &Module, entry: usize, text: &str) -> Vec<Input> {
    let computation = &module.computations[entry];
    let (mut inputs, mut names) = (Vec::new(), HashSet::new());
    for &parameter in &computation.parameters {
        let instruction = &computation.instructions[parameter];
        let plain = instruction.name.map_or("", |name| name.of(text)).trim_start_matches('%');
        let users = users_name(instruction, text).filter(|name| !names.contains(*name));
        let name = users.unwrap_or(plain);
        let Some(shape) = &instruction.shape else { continue };
        flatten(name, shape, &mut |name, array_type| {
            let mut unique = name.to_owned();
            while !names.insert(unique.clone()) {
                unique.push('_');
            }
            inputs.push(Input::of_type(unique, array_type));
        });
    }
    inputs
}

/// `metadata={op_name="x"}`: what the user calls a parameter.
fn users_name<'t>(instruction: &Instruction, text: &'t str) -> Option<&'t str> {
    let metadata = instruction.attribute(text, "metadata")?.of(text);
    let (_, name) = metadata.split_once("op_name=\"")?;
    let (name, _) = name.split_once('"')?;
    (!name.is_empty() && !name.contains('\\')).then_some(name)
}

/// The arrays of a type, with a name each. Types are nested as deep as the parser allows.
fn flatten(name: &str, shape: &Shape, found: &mut dyn FnMut(&str, &indim_ops::ArrayType)) {
    match shape {
        Shape::Array(array_type, _) => found(name, array_type),
        Shape::Tuple(parts) => {
            for (index, part) in parts.iter().enumerate() {
                flatten(&format!("{name}.{index}"), part, found);
            }
        }
        Shape::Dynamic(_) | Shape::Other(_) => {}
    }
}

/// `output0`, `output1`, ...: one for each array in the result.
fn outputs(module: &Module, entry: usize) -> Vec<String> {
    let computation = &module.computations[entry];
    let root = &computation.instructions[computation.root];
    let mut count = 0;
    match &root.shape {
        Some(shape) => flatten("", shape, &mut |_, _| count += 1),
        // Without a type, a tuple of arrays, or an array.
        None if root.opcode == "tuple" => count = root.operands.len(),
        None => count = 1,
    }
    (0..count).map(|number| format!("output{number}")).collect()
}
