//! Programs with instructions that indim cannot compute or write: the other instructions are a program of
//! their own, and these instructions are copied, as they are, into the text that is written from it. All else
//! of the source stays: the header, the parameters, and the computations that copied instructions name.

use std::collections::HashSet;

use indim_model::{
    FormatError, FormatErrorKind, InputBinding, Location, Model, ModelBuilder, ModelFormat,
    ModelInput, ModelProgram, ProgramPart, ReadOptions, SourceFile, SourceNames, TextOperation,
    WrittenModel, crossing_values, line_range, merged_texts, name_counts, remaining_positions,
    replaced_ranges,
};
use indim_text::Span;

use super::lexer::{Lexer, TokenKind};
use super::parser;
use super::syntax::{Computation, HloShape, Instruction, Module};
use super::unsupported::unsupported_instructions;
use super::{HloModel, entry, parsed, writer};
use crate::checked_text;

/// A program without the instructions that are copied.
struct CarryingModel {
    source: SourceFile,
    module: Module,
    entry: usize,
    options: ReadOptions,
    /// The instructions of the entry; the last item reads the result.
    operations: Vec<TextOperation>,
    /// The instructions that are written anew, as a part of the program; `None` if all are copied.
    computed: Option<HloModel>,
}

/// Reads a program around the instructions that are copied.
///
/// # Errors
/// The errors in the file; `unsupported` for a protobuf, for another computation than the entry, and for
/// instructions without names.
pub(super) fn read(
    source: &SourceFile,
    options: &ReadOptions,
) -> Result<Box<dyn Model>, FormatError> {
    let unsupported = |what: &str| {
        let what = format!("copying instructions of {what} is");
        Err(FormatErrorKind::Unsupported { what }.without_location())
    };
    if ModelFormat::is_binary(source.bytes()) {
        return unsupported("a protobuf");
    }
    let (module, text) = parsed(source, options)?;
    let number = entry(&module, options.function.as_deref())?;
    if number != entry(&module, None)? {
        return unsupported("a computation that is not the entry");
    }
    let Some(operations) = operations(&module, text.get()?, number) else {
        return unsupported("an entry with instructions in place of operands");
    };
    let (from, to) = (crossing_values(&operations, true), crossing_values(&operations, false));
    let computed = match to.is_empty() {
        true => None,
        false => {
            let part = options.clone().carries(false).part(ProgramPart { from, to });
            Some(HloModel::read(source, &part)?)
        }
    };
    let (source, options) = (source.clone(), options.clone());
    Ok(Box::new(CarryingModel { source, module, entry: number, options, operations, computed }))
}

/// The instructions of a computation, and a last item that reads its result; `None` if one has no name.
fn operations(module: &Module, text: &str, number: usize) -> Option<Vec<TextOperation>> {
    let Computation { instructions, root, .. } = &module.computations[number];
    let is_opaque = &unsupported_instructions(module, text, number, true)[number];
    let is_plain = |instruction: &Instruction| match &instruction.shape {
        Some(shape @ (HloShape::Array(..) | HloShape::Tuple(_))) => !shape.has_own_layout(),
        _ => false,
    };
    let mut operations = Vec::with_capacity(instructions.len() + 1);
    for (at, instruction) in instructions.iter().enumerate() {
        let mut parts =
            instruction.operands.iter().map(|&it| &instructions[it]).chain([instruction]);
        let is_parameter = instruction.opcode == "parameter";
        operations.push(TextOperation {
            text: root_mark(at == *root).to_owned() + instruction.text.of(text),
            defines: vec![instruction.plain_name(text)?.to_owned()],
            reads: reads(instruction, instructions, text)?,
            is_carried: is_opaque[at] || is_parameter || !parts.all(is_plain),
        });
    }
    carry_with_tuples(&mut operations, instructions, *root);
    let reads = vec![instructions[*root].plain_name(text)?.to_owned()];
    operations.push(TextOperation { reads, is_carried: true, ..TextOperation::default() });
    Some(operations)
}

/// Carries what gives or reads a tuple if the other side is carried: a part starts and ends at arrays.
fn carry_with_tuples(operations: &mut [TextOperation], all: &[Instruction], root: usize) {
    let is_tuple = |at: usize| matches!(all[at].shape, Some(HloShape::Tuple(_)));
    operations[root].is_carried |= is_tuple(root);
    let mut is_changed = true;
    while is_changed {
        is_changed = false;
        for (at, instruction) in all.iter().enumerate() {
            for &operand in instruction.operands.iter().filter(|&&operand| is_tuple(operand)) {
                if operations[operand].is_carried != operations[at].is_carried {
                    (operations[operand].is_carried, operations[at].is_carried) = (true, true);
                    is_changed = true;
                }
            }
        }
    }
}

/// The instructions whose results or effects an instruction needs; `None` if one has no name.
fn reads(instruction: &Instruction, all: &[Instruction], text: &str) -> Option<Vec<String>> {
    let operands = instruction.operands.iter().map(|&operand| all[operand].plain_name(text));
    let before = instruction.attribute(text, "control-predecessors");
    let before = before.into_iter().flat_map(|value| parser::name_spans(value, text));
    let before = before.map(|span| Some(span.of(text).trim_start_matches('%')));
    operands.chain(before).map(|name| name.map(str::to_owned)).collect()
}

const fn root_mark(is_root: bool) -> &'static str {
    if is_root { "ROOT " } else { "" }
}

/// The words of a text, without `%`, each with its span.
fn words(text: &str, piece: Span) -> impl Iterator<Item = (&str, Span)> {
    let mut lexer = Lexer::new(text, piece);
    let tokens = core::iter::from_fn(move || Some(lexer.token()));
    tokens.take_while(|token| token.kind != TokenKind::End).filter_map(move |token| {
        let word = token.span.of(text).trim_start_matches('%');
        (token.kind == TokenKind::Word).then_some((word, token.span))
    })
}

/// The text of a piece, with new names for the words that have one. `%` precedes each: without it a name such
/// as `inf` is a number.
fn renamed(text: &str, piece: Span, new_name: impl Fn(&str) -> Option<String>) -> String {
    let edit = |(word, Span { start, end }): (&str, Span)| {
        Some((start - piece.start..end - piece.start, format!("%{}", new_name(word)?)))
    };
    replaced_ranges(piece.of(text), words(text, piece).filter_map(edit).collect())
}

impl CarryingModel {
    /// The written instructions with their names in the source, and the computations that they apply.
    ///
    /// # Errors
    /// `damaged` if the written text is not read.
    fn written(
        &self,
        computed: &HloModel,
        text: &str,
    ) -> Result<(Vec<TextOperation>, String), FormatError> {
        let source = checked_text(&self.source)?;
        let module = parser::parse(text, &self.options.limits)?;
        let own_entry = entry(&module, None)?;
        let (own, part) =
            (&module.computations[own_entry], &computed.module.computations[computed.entry]);
        let own_name = |at: usize| own.instructions[at].plain_name(text).unwrap_or_default();
        let start_name =
            |at: usize| part.instructions[at].plain_name(source).unwrap_or_default().to_owned();
        let inputs = own.parameters.iter().zip(&part.parameters);
        let inputs = inputs.map(|(&own, &start)| (own_name(own).to_owned(), start_name(start)));
        let in_use: Vec<&str> =
            words(source, Span::new(0, source.len())).map(|(word, _)| word).collect();
        let mut names = SourceNames::new(inputs, "w", in_use.into_iter());
        let results = match &computed.outputs[..] {
            [_] => vec![own.root],
            _ => own.instructions[own.root].operands.clone(),
        };
        let ends = computed.outputs.iter().zip(results);
        let aliases: Vec<(&String, usize)> =
            ends.filter(|(end, result)| !names.set(own_name(*result), end)).collect();
        let named: HashSet<&str> = (0..own.instructions.len()).map(own_name).collect();
        let new_name = |word: &str| {
            let is_own = named.contains(word) || module.by_name.contains_key(word);
            is_own.then(|| names.name(word, word))
        };
        let operation = |at: usize, name: String| {
            let instruction = &own.instructions[at];
            let behind = Span::new(instruction.name.map_or(0, |it| it.end), instruction.text.end);
            let text =
                format!("{}%{name}{}", self.root_mark(&name), renamed(text, behind, new_name));
            let reads = instruction.operands.iter().map(|&it| own_name(it));
            let reads = reads.map(|name| names.name(name, name)).collect();
            TextOperation { text, defines: vec![name], reads, is_carried: false }
        };
        let written = (0..own.instructions.len()).filter(|&at| {
            own.instructions[at].opcode != "parameter"
                && (at != own.root || computed.outputs.len() == 1)
        });
        let mut operations: Vec<TextOperation> =
            written.map(|at| operation(at, names.name(own_name(at), own_name(at)))).collect();
        for (end, at) in aliases {
            let name = names.name(own_name(at), own_name(at));
            operations.push(
                match (&own.instructions[at].opcode[..], &own.instructions[at].shape) {
                    // Some custom calls take only constants.
                    ("constant", _) => operation(at, end.clone()),
                    (_, Some(HloShape::Array(array_type, _))) => TextOperation {
                        text: format!(
                            "{}%{end} = {} copy(%{name})",
                            self.root_mark(end),
                            writer::shape(array_type)
                        ),
                        defines: vec![end.clone()],
                        reads: vec![name],
                        is_carried: false,
                    },
                    _ => continue,
                },
            );
        }
        let applied = module.computations.iter().enumerate().filter(|(at, _)| *at != own_entry);
        let applied = applied.map(|(_, it)| {
            renamed(text, it.text, |word| {
                module.by_name.contains_key(word).then(|| names.name(word, word))
            }) + "\n\n"
        });
        Ok((operations, applied.collect()))
    }

    fn root_mark(&self, name: &str) -> &'static str {
        let root = self.operations.last().and_then(|result| result.reads.first());
        root_mark(root.is_some_and(|root| root == name))
    }

    /// The text of the source with these instructions in its entry and these computations before it, without
    /// the computations that no text names any more.
    fn spliced(&self, written: &[TextOperation], applied: String) -> Result<String, FormatError> {
        let source = checked_text(&self.source)?;
        let computations = &self.module.computations;
        let carried: Vec<TextOperation> =
            self.operations.iter().filter(|it| it.is_carried).cloned().collect();
        let mut texts = merged_texts(&carried, written);
        // The last item is the result, which has no text.
        texts.pop();
        let named = |text: &str| -> Vec<usize> {
            let words = words(text, Span::new(0, text.len()));
            words.filter_map(|(word, _)| self.module.by_name.get(word).copied()).collect()
        };
        let mut kept: Vec<usize> = carried.iter().flat_map(|it| named(&it.text)).collect();
        kept.push(self.entry);
        let kept = remaining_positions(computations.len(), kept, |at| match at == self.entry {
            true => Vec::new(),
            false => named(computations[at].text.of(source)),
        });
        let Computation { text, body, .. } = &computations[self.entry];
        let mut edits = vec![(text.start..text.start, applied)];
        edits.push((body.start..body.end, format!("\n  {}\n", texts.join("\n  "))));
        for (computation, kept) in computations.iter().zip(kept) {
            if kept.is_none() {
                let range = computation.text.start..computation.text.end;
                edits.push((line_range(source, range), String::new()));
            }
        }
        Ok(replaced_ranges(source, edits))
    }

    /// The opcodes of the copied instructions, with the number of each; custom calls have their targets.
    fn operators(&self) -> Result<Vec<(String, usize)>, FormatError> {
        let text = checked_text(&self.source)?;
        let instructions = self.module.computations[self.entry].instructions.iter();
        let carried = instructions.zip(&self.operations).filter(|(_, it)| it.is_carried);
        let carried = carried.filter(|(instruction, _)| instruction.opcode != "parameter");
        Ok(name_counts(carried.map(|(instruction, _)| {
            let target = instruction.attribute(text, "custom_call_target");
            let target = target.map_or_else(String::new, |it| format!(" {}", it.of(text)));
            instruction.opcode.clone() + &target
        })))
    }
}

impl Model for CarryingModel {
    fn inputs(&self) -> &[ModelInput] {
        self.computed.as_ref().map_or(&[], |computed| computed.inputs())
    }

    fn outputs(&self) -> Vec<String> {
        let count = self.computed.as_ref().map_or(0, |computed| computed.outputs.len());
        (0..count).map(|number| format!("output{number}")).collect()
    }

    fn build(&self, inputs: &[InputBinding]) -> Result<ModelProgram, FormatError> {
        match &self.computed {
            Some(computed) => computed.build(inputs),
            None => ModelBuilder::new(&self.options.limits).finish(Vec::new(), Vec::new()),
        }
    }

    fn carries(&self) -> bool {
        true
    }

    fn complete(
        &self,
        written: WrittenModel,
        _: &[InputBinding],
    ) -> Result<WrittenModel, FormatError> {
        let (operations, applied) = match &self.computed {
            Some(computed) => {
                let text = String::from_utf8_lossy(&written.content);
                self.written(computed, &text)?
            }
            None => (Vec::new(), String::new()),
        };
        let content = self.spliced(&operations, applied)?.into_bytes();
        Ok(WrittenModel { content, carried: self.operators()?, ..written })
    }

    fn location(&self, number: usize) -> Location {
        Location::text(number..number)
    }
}
