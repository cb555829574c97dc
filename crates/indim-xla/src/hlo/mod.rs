//! HLO as XLA dumps it: text or protobuf.
//!
//! Read in this order:
//!
//! * `lexer.rs`, `parser.rs`, `shape.rs`: parse text to the syntax tree in `syntax.rs`; `proto/`: decodes a
//!   protobuf to the same tree.
//! * `unsupported.rs`: finds unsupported operations; `elaborate.rs`: builds the graph, `regions.rs` that of
//!   loops and branches.
//! * `part.rs`: the instructions between named values; `outline.rs`: every instruction with its stated type.
//! * `lowering.rs`: the table of opcodes; `attribute.rs`, `gather.rs`: attributes; `literal.rs`: constants;
//!   `layout.rs`: bitcasts; `reducer.rs`: reducers.
//! * `carry.rs`: programs with instructions that are copied into the file written from them.
//! * `writer.rs`: the writer; `write_indices.rs`: its gathers, scatters and sorts.

mod attribute;
mod carry;
mod elaborate;
mod gather;
mod layout;
mod lexer;
mod literal;
mod lowering;
mod outline;
mod parser;
mod part;
mod proto;
mod reducer;
mod regions;
mod shape;
mod syntax;
mod unsupported;
mod write_indices;
mod writer;

use std::collections::HashSet;

use elaborate::Elaborator;
use indim_graph::Graph;
use indim_model::outline::{Outline, OutlineOptions};
use indim_model::{
    FormatError, FormatErrorKind, FormatLimits, InputBinding, Location, Model, ModelFormat,
    ModelInput, ModelProgram, ReadOptions, Reader, SourceFile, WriteOptions, Writer, WrittenModel,
    check_inputs,
};
use part::PartNames;
use proto::SyntheticText;
use syntax::{HloShape, Instruction, Module};

use crate::checked_text;

/// The reader of HLO text and protobufs, and the writer of HLO text.
#[derive(Debug, Clone, Copy)]
pub struct Hlo;

impl Reader for Hlo {
    fn read(
        &self,
        source: &SourceFile,
        options: &ReadOptions,
    ) -> Result<Box<dyn Model>, FormatError> {
        match options.carries {
            true => carry::read(source, options),
            false => Ok(Box::new(HloModel::read(source, options)?)),
        }
    }

    fn outline(
        &self,
        source: &SourceFile,
        options: &ReadOptions,
        _: &OutlineOptions,
    ) -> Result<Outline, FormatError> {
        let (module, text) = parsed(source, options)?;
        let outlined = || {
            let entry = entry(&module, options.function.as_deref())?;
            Ok(outline::outline(&module, text.get()?, entry, &|span| text.location(span.start)))
        };
        outlined().map_err(|error| text.locate_error(error))
    }

    fn operations(&self) -> Vec<String> {
        lowering::names()
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

/// The module of a file, and the text that its spans refer to.
fn parsed(source: &SourceFile, options: &ReadOptions) -> Result<(Module, SourceText), FormatError> {
    if ModelFormat::is_binary(source.bytes()) {
        let (module, synthetic_text) = proto::read(&source.shared_bytes(), &options.limits)?;
        return Ok((module, SourceText::SyntheticText(synthetic_text)));
    }
    let module = parser::parse(checked_text(source)?, &options.limits)?;
    Ok((module, SourceText::File(source.clone())))
}

/// The text that spans refer to.
enum SourceText {
    /// The file itself.
    File(SourceFile),
    /// Text synthesised from a protobuf.
    SyntheticText(SyntheticText),
}

impl SourceText {
    fn get(&self) -> Result<&str, FormatError> {
        match self {
            SourceText::File(source) => checked_text(source),
            SourceText::SyntheticText(synthetic_text) => Ok(&synthetic_text.text),
        }
    }

    /// Location of an instruction; `number` is the byte offset of its opcode.
    fn location(&self, number: usize) -> Location {
        match self {
            SourceText::File(_) => Location::text(number..number),
            SourceText::SyntheticText(synthetic_text) => synthetic_text.described(number),
        }
    }

    /// The error with its locations in the file.
    fn locate_error(&self, error: FormatError) -> FormatError {
        match self {
            SourceText::File(_) => error,
            SourceText::SyntheticText(synthetic_text) => synthetic_text.error(error),
        }
    }
}

/// A program in HLO.
struct HloModel {
    text: SourceText,
    module: Module,
    limits: FormatLimits,
    /// Index of the entry computation.
    entry: usize,
    inputs: Vec<ModelInput>,
    outputs: Vec<String>,
}

impl HloModel {
    fn read(source: &SourceFile, options: &ReadOptions) -> Result<HloModel, FormatError> {
        let (mut module, text) = parsed(source, options)?;
        let names = part::restrict(&mut module, &text, options)?;
        HloModel::new(module, text, (options, names))
    }

    fn new(
        module: Module,
        text: SourceText,
        (options, names): (&ReadOptions, PartNames),
    ) -> Result<HloModel, FormatError> {
        let found = || {
            let (text, entry) = (text.get()?, entry(&module, options.function.as_deref())?);
            unsupported::check(&module, text, entry)?;
            Ok((entry, inputs(&module, entry, text, &names), outputs(&module, entry, &names)))
        };
        let (entry, inputs, outputs) = found().map_err(|error| text.locate_error(error))?;
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

    fn build(&self, inputs: &[InputBinding]) -> Result<ModelProgram, FormatError> {
        check_inputs(&self.inputs, inputs)?;
        let names: Vec<String> = self.inputs.iter().map(|input| input.name.clone()).collect();
        let elaborator = Elaborator::new(&self.module, self.text.get()?, &self.limits);
        elaborator
            .program(self.entry, &names, &self.outputs)
            .map_err(|error| self.text.locate_error(error))
    }

    /// Location of an instruction; `number` is the byte offset of its opcode.
    fn location(&self, number: usize) -> Location {
        self.text.location(number)
    }
}

/// The entry computation: the one in the options, else the one with `ENTRY`, else the last.
fn entry(module: &Module, entry_name: Option<&str>) -> Result<usize, FormatError> {
    let last = module.computations.len() - 1;
    let Some(name) = entry_name else { return Ok(module.entry.unwrap_or(last)) };
    module.by_name.get(name.trim_start_matches('%')).copied().ok_or_else(|| {
        let name = name.to_owned();
        FormatErrorKind::Undefined { what: "computation", name }.without_location()
    })
}

/// The inputs: one for each array in the parameters of the computation.
fn inputs(module: &Module, entry: usize, text: &str, part_names: &PartNames) -> Vec<ModelInput> {
    let computation = &module.computations[entry];
    let (mut inputs, mut names) = (Vec::new(), HashSet::new());
    for &parameter in &computation.parameters {
        let instruction = &computation.instructions[parameter];
        let plain = instruction.plain_name(text).unwrap_or_default();
        let users = user_name(instruction, text).filter(|name| !names.contains(*name));
        let name = part_names.start_name(parameter).or(users).unwrap_or(plain);
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

/// `metadata={op_name="x"}`: the user's name of a parameter.
fn user_name<'t>(instruction: &Instruction, text: &'t str) -> Option<&'t str> {
    let metadata = instruction.attribute(text, "metadata")?.of(text);
    let (_, name) = metadata.split_once("op_name=\"")?;
    let (name, _) = name.split_once('"')?;
    (!name.is_empty() && !name.contains('\\')).then_some(name)
}

/// Visits the arrays of a type with their names. The recursion is bounded by the parser's nesting limit.
fn flatten(name: &str, shape: &HloShape, found: &mut dyn FnMut(&str, &indim_ops::ArrayType)) {
    match shape {
        HloShape::Array(array_type, _) => found(name, array_type),
        HloShape::Tuple(parts) => {
            for (index, part) in parts.iter().enumerate() {
                flatten(&format!("{name}.{index}"), part, found);
            }
        }
        HloShape::Dynamic(_) | HloShape::Other(_) => {}
    }
}

/// The names of the outputs: those that the caller asks for, else `output0`, `output1`, ..., one for
/// each array in the result.
fn outputs(module: &Module, entry: usize, part_names: &PartNames) -> Vec<String> {
    if !part_names.ends.is_empty() {
        return part_names.ends.clone();
    }
    let computation = &module.computations[entry];
    let root = &computation.instructions[computation.root];
    let mut count = 0;
    match &root.shape {
        Some(shape) => flatten("", shape, &mut |_, _| count += 1),
        // Without a type the root is a tuple of arrays or an array.
        None if root.opcode == "tuple" => count = root.operands.len(),
        None => count = 1,
    }
    (0..count).map(|number| format!("output{number}")).collect()
}
