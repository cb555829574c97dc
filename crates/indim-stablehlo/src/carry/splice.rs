//! The text of the source with the written operations in its entry function. All else stays as it is: the
//! module with its attributes, the declaration of the function, and functions that copied operations name.

use std::collections::HashSet;

use indim_model::{
    FormatError, FormatErrorKind, SourceNames, TextOperation, WrittenModel, line_range,
    merged_texts, remaining_positions, replaced_ranges,
};
use indim_ops::ArrayType;
use indim_text::Span;

use super::CarryingModel;
use super::plan::value_names;
use crate::attribute::unquoted;
use crate::lexer::{Lexer, TokenKind};
use crate::syntax::{Function, SyntaxOperation, Type};
use crate::writer::{list, tensor};
use crate::{StableHlo, parser};
use indim_xla::checked_text;

/// The written text, and the names that its values get in the text of the source.
struct Written<'w> {
    text: &'w str,
    operations: &'w [SyntaxOperation],
    names: SourceNames,
}

/// A value that copied operations read: its name in the source, its type, and its name in the written text.
struct End<'w> {
    name: String,
    array_type: &'w ArrayType,
    value: &'w str,
}

impl CarryingModel {
    /// The text of the source with the operations of `written` in place of those that it computes.
    ///
    /// # Errors
    /// `damaged` if the written text is not one function.
    pub(super) fn spliced(
        &self,
        computed: &StableHlo,
        written: &WrittenModel,
    ) -> Result<String, FormatError> {
        let source = checked_text(&self.source)?;
        let text = core::str::from_utf8(&written.content).map_err(|_| damaged())?;
        let module = parser::parse(text, &self.limits)?;
        let body = module.functions.first().and_then(|function| function.body.as_ref());
        let [operations @ .., returned] = body.map_or(&[][..], |body| &body.operations) else {
            return Err(damaged());
        };
        let part = &computed.module.functions[computed.entry];
        let arguments = body.iter().flat_map(|body| &body.arguments);
        let starts = part.body.iter().flat_map(|body| &body.arguments);
        let inputs = arguments
            .zip(starts)
            .map(|(own, start)| (own.name.of(text).to_owned(), start.name.of(source).to_owned()));
        let source_names = value_names(source, Span::new(0, source.len()));
        let names = SourceNames::new(inputs, "%w", source_names.iter().copied());
        let values = returned.operands.iter().map(|value| value.name.of(text));
        let ends = computed.outputs.iter().zip(&part.results).zip(values);
        let ends: Vec<End<'_>> = ends
            .filter_map(|((name, result), value)| match &result.value_type {
                Type::Array(array_type) => {
                    Some(End { name: format!("%{name}"), array_type, value })
                }
                Type::Tuple(_) | Type::Dynamic(_) | Type::Other(_) => None,
            })
            .collect();
        let mut written = Written { text, operations, names };
        let named = written.name_ends(&ends);
        let mut all: Vec<TextOperation> =
            operations.iter().map(|operation| written.renamed(operation)).collect();
        all.extend(self.aliases(&ends, &named, &written));
        self.with_body(&merged_texts(&self.plan.carried(), &all))
    }

    /// Operations that define the other names: second names of values, and names of several results.
    fn aliases(
        &self,
        ends: &[End<'_>],
        named: &HashSet<&str>,
        written: &Written<'_>,
    ) -> Vec<TextOperation> {
        let mut aliases = Vec::new();
        let mut rest = ends;
        while let Some(first) = rest.first() {
            let group = first.name.split_once('#').map_or(&first.name[..], |(group, _)| group);
            let count = self.plan.count(group).clamp(1, rest.len());
            let (members, behind) = rest.split_at(count);
            rest = behind;
            if !named.contains(&first.name[..]) {
                aliases.push(written.alias(group, members));
            }
        }
        aliases
    }

    /// The text of the source with these operations in the entry function, without the functions that no text
    /// names any more.
    ///
    /// # Errors
    /// `damaged` if the function has no body.
    pub(super) fn with_body(&self, operations: &[&str]) -> Result<String, FormatError> {
        let source = checked_text(&self.source)?;
        let functions = &self.module.functions;
        let body = body_span(&functions[self.entry]).ok_or_else(damaged)?;
        let kept = self.kept_functions(source, body, operations);
        let mut edits = vec![(body.start..body.end, operations.join("\n    "))];
        for (function, kept) in functions.iter().zip(kept) {
            if kept.is_none() {
                let range = function.text.start..function.text.end;
                edits.push((line_range(source, range), String::new()));
            }
        }
        Ok(replaced_ranges(source, edits))
    }

    /// The new position of each function that is the entry or that a text which stays names.
    fn kept_functions(&self, source: &str, body: Span, texts: &[&str]) -> Vec<Option<usize>> {
        let functions = &self.module.functions;
        let named = |text: &str| -> Vec<usize> {
            symbols(text).iter().filter_map(|name| self.module.function(name)).collect()
        };
        let mut kept = vec![self.entry];
        kept.extend(texts.iter().flat_map(|text| named(text)));
        let mut position = 0;
        for (number, function) in functions.iter().enumerate() {
            kept.extend(named(&source[position..function.text.start]));
            if number == self.entry {
                kept.extend(named(&source[function.text.start..body.start]));
                kept.extend(named(&source[body.end..function.text.end]));
            }
            position = function.text.end;
        }
        kept.extend(named(&source[position..]));
        remaining_positions(functions.len(), kept, |number| match number == self.entry {
            true => Vec::new(),
            false => named(functions[number].text.of(source)),
        })
    }
}

impl<'w> Written<'w> {
    /// Gives written values their names in the source, and returns these names: the first one of each value
    /// that is no argument. Names of several results are left out.
    fn name_ends<'e>(&mut self, ends: &'e [End<'w>]) -> HashSet<&'e str> {
        let mut named = HashSet::new();
        for end in ends.iter().filter(|end| !end.name.contains('#')) {
            if self.names.set(end.value, &end.name) {
                named.insert(&end.name[..]);
            }
        }
        named
    }

    /// The new name of a value, which may have the number of a result.
    fn name(&self, value: &str) -> String {
        let (name, number) = value.find('#').map_or((value, ""), |at| value.split_at(at));
        self.names.name(name, name.trim_start_matches('%')) + number
    }

    /// An operation with the new names.
    fn renamed(&self, operation: &SyntaxOperation) -> TextOperation {
        let piece = operation.text;
        let mut lexer = Lexer::new(self.text, piece);
        let (mut text, mut position) = (String::new(), piece.start);
        loop {
            let token = lexer.token();
            match token.kind {
                TokenKind::End => break,
                TokenKind::Value => {
                    text += &self.text[position..token.span.start];
                    text += &self.name(token.span.of(self.text));
                    position = token.span.end;
                }
                _ => {}
            }
        }
        text += &self.text[position..piece.end];
        let reads = value_names(self.text, piece).into_iter().map(|name| self.name(name));
        let results = operation.results.iter().map(|names| self.name(names.name.of(self.text)));
        let (reads, defines) = (reads.collect(), results.collect());
        TextOperation { text, defines, reads, is_carried: false }
    }

    /// The operation that defines a name of the source, for values with other names. Some custom calls take
    /// only constants, so a constant is written again.
    fn alias(&self, group: &str, members: &[End<'_>]) -> TextOperation {
        let is_of = |operation: &&SyntaxOperation| {
            let mut results = operation.results.iter();
            results.any(|names| names.name.of(self.text) == members[0].value)
        };
        let definition = self.operations.iter().find(is_of).filter(|_| members.len() == 1);
        let (text, reads) = match definition.filter(|it| it.name == "stablehlo.constant") {
            Some(constant) => {
                let behind = Span::new(constant.span.start, constant.text.end);
                (format!("{group} = {}", behind.of(self.text)), Vec::new())
            }
            None => {
                let values: Vec<String> = members.iter().map(|end| self.name(end.value)).collect();
                let types = list(members.iter().map(|end| tensor(end.array_type)));
                let count = match members {
                    [end] if !end.name.contains('#') => String::new(),
                    _ => format!(":{}", members.len()),
                };
                let barrier = "stablehlo.optimization_barrier";
                (format!("{group}{count} = {barrier} {} : {types}", list(&values)), values)
            }
        };
        TextOperation { text, defines: vec![group.to_owned()], reads, is_carried: false }
    }
}

/// The operations of a function, without the text around them.
fn body_span(function: &Function) -> Option<Span> {
    let operations = &function.body.as_ref()?.operations;
    Some(operations.first()?.text.to(operations.last()?.text))
}

/// The names in a text that may be those of functions: after `@`, and, as some files have them, without it or
/// in quotes.
fn symbols(text: &str) -> Vec<String> {
    let mut lexer = Lexer::new(text, Span::new(0, text.len()));
    let mut names = Vec::new();
    loop {
        let token = lexer.token();
        match token.kind {
            TokenKind::End => return names,
            TokenKind::Symbol => names.push(unquoted(&token.span.of(text)[1..])),
            TokenKind::Word | TokenKind::String => names.push(unquoted(token.span.of(text))),
            _ => {}
        }
    }
}

fn damaged() -> FormatError {
    let problem = "the written program is not read".to_owned();
    FormatErrorKind::Damaged { problem }.without_location()
}
