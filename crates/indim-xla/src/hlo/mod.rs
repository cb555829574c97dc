//! HLO, as XLA dumps it: read as a text by `lexer.rs`, `parser.rs` and `shape.rs`, or as a message by
//! `proto/`, to what `syntax.rs` describes, then by `elaborate.rs` to a graph. What opcodes mean says
//! `meaning.rs`, their attributes `attribute.rs`, their constants `literal.rs`, what `bitcast` does
//! `layout.rs`, reducers `reducer.rs`; what is not to be had finds `census.rs`. `writer.rs` is the way back.

mod attribute;
mod census;
mod elaborate;
mod layout;
mod lexer;
mod literal;
mod meaning;
mod parser;
mod proto;
mod reducer;
mod shape;
mod syntax;
mod writer;

use std::collections::HashSet;

use elaborate::Elaborator;
use indim_graph::Graph;
use indim_model::{
    Bound, FormatError, FormatErrorKind, FormatLimits, Location, Model, ModelFormat, ModelInput,
    ModelProgram, ReadOptions, Reader, SourceFile, WriteOptions, Writer, WrittenModel,
    check_inputs,
};
use proto::Spelled;
use syntax::{Instruction, Module, Shape};

use crate::checked_text;

/// Reads HLO, as a text and as a message, and writes its text.
#[derive(Debug, Clone, Copy)]
pub struct Hlo;

impl Reader for Hlo {
    fn read(
        &self,
        source: &SourceFile,
        options: &ReadOptions,
    ) -> Result<Box<dyn Model>, FormatError> {
        let (module, text) = match ModelFormat::is_binary(source.bytes()) {
            true => {
                let (module, spelled) = proto::read(&source.shared_bytes(), &options.limits)?;
                (module, Text::Spelled(spelled))
            }
            false => {
                let module = parser::parse(checked_text(source)?, &options.limits)?;
                (module, Text::File(source.clone()))
            }
        };
        Ok(Box::new(HloModel::new(module, text, options)?))
    }

    fn operations(&self) -> Vec<String> {
        meaning::names()
    }
}

impl Writer for Hlo {
    fn write(
        &self,
        graph: &Graph,
        outputs: &[String],
        options: &WriteOptions,
    ) -> Result<WrittenModel, FormatError> {
        writer::write(graph, outputs, options)
    }
}

/// What spans are places in.
enum Text {
    /// A text.
    File(SourceFile),
    /// What a message says.
    Spelled(Spelled),
}

impl Text {
    fn get(&self) -> Result<&str, FormatError> {
        match self {
            Text::File(source) => checked_text(source),
            Text::Spelled(spelled) => Ok(&spelled.text),
        }
    }

    /// An error with its places as they are in the file.
    fn placed(&self, error: FormatError) -> FormatError {
        match self {
            Text::File(_) => error,
            Text::Spelled(spelled) => spelled.error(error),
        }
    }
}

/// A program in HLO.
struct HloModel {
    text: Text,
    module: Module,
    limits: FormatLimits,
    /// The number of the computation that is the program.
    entry: usize,
    inputs: Vec<ModelInput>,
    outputs: Vec<String>,
}

impl HloModel {
    fn new(module: Module, text: Text, options: &ReadOptions) -> Result<HloModel, FormatError> {
        let found = || {
            let (text, entry) = (text.get()?, entry(&module, options.function.as_deref())?);
            census::check(&module, text, entry)?;
            Ok((entry, inputs(&module, entry, text), outputs(&module, entry)))
        };
        let (entry, inputs, outputs) = found().map_err(|error| text.placed(error))?;
        Ok(HloModel { text, module, limits: options.limits, entry, inputs, outputs })
    }
}

impl Model for HloModel {
    fn inputs(&self) -> &[ModelInput] {
        &self.inputs
    }

    fn outputs(&self) -> Vec<String> {
        self.outputs.clone()
    }

    fn build(&self, inputs: &[Bound]) -> Result<ModelProgram, FormatError> {
        check_inputs(&self.inputs, inputs)?;
        let names: Vec<String> = self.inputs.iter().map(|input| input.name.clone()).collect();
        let elaborator = Elaborator::new(&self.module, self.text.get()?, &self.limits);
        elaborator.program(self.entry, &names).map_err(|error| self.text.placed(error))
    }

    /// Of an instruction, by the byte where its opcode is spelled.
    fn place(&self, number: usize) -> Location {
        match &self.text {
            Text::File(_) => Location::text(number..number),
            Text::Spelled(spelled) => spelled.described(number),
        }
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
fn inputs(module: &Module, entry: usize, text: &str) -> Vec<ModelInput> {
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
            inputs.push(ModelInput::of_type(unique, array_type));
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
