//! The plan of a copy: the operations of the entry function that are copied, not written anew.

use std::collections::HashMap;

use indim_model::{FormatError, FormatErrorKind, TextOperation};
use indim_text::Span;

use crate::attribute::AttributeReader;
use crate::lexer::{Lexer, TokenKind};
use crate::lowering;
use crate::syntax::{Module, Signature, SyntaxOperation, Type};
use crate::unsupported::UnsupportedSet;

/// The operations of the entry function. Names of values have their `%`; `%0` names all results of `%0:2`.
pub(super) struct Plan {
    pub(super) operations: Vec<TextOperation>,
    /// The number of results of each name.
    counts: HashMap<String, usize>,
}

impl Plan {
    /// Plans the copy of a function.
    ///
    /// # Errors
    /// `undefined`, `duplicate`, `type-mismatch`: a copy of the operations would be as wrong as they are.
    pub(super) fn of(
        module: &Module,
        attributes: &AttributeReader<'_>,
        entry: usize,
    ) -> Result<Plan, FormatError> {
        let set = UnsupportedSet::to_carry(module, attributes);
        let mut scope = Scope { text: attributes.text, values: HashMap::new() };
        let mut operations = Vec::new();
        if let Some(body) = &module.functions[entry].body {
            for argument in &body.arguments {
                scope.define(argument.name, vec![Some(&argument.value_type)])?;
            }
            for operation in &body.operations {
                let has_arrays = scope.reads_arrays(operation)?;
                let reads = scope.reads(operation);
                let is_carried = scope.define_results(operation)? || !has_arrays;
                operations.push(TextOperation {
                    text: operation.text.of(scope.text).to_owned(),
                    defines: operation.results.iter().map(|it| scope.name(it.name)).collect(),
                    reads,
                    is_carried: is_carried || set.is_unsupported(operation),
                });
            }
        }
        let counts = scope.values.iter().map(|(name, types)| ((*name).to_owned(), types.len()));
        Ok(Plan { operations, counts: counts.collect() })
    }

    /// The number of results of a name.
    pub(super) fn count(&self, name: &str) -> usize {
        self.counts.get(name).copied().unwrap_or(1)
    }

    /// Names of values, without `%`: one for each result of each name, such as `0#1` of `%0:2`.
    pub(super) fn value_names(&self, names: &[String]) -> Vec<String> {
        let of_name = |name: &String| {
            let plain = name.trim_start_matches('%');
            match self.count(name) {
                1 => vec![plain.to_owned()],
                count => (0..count).map(|index| format!("{plain}#{index}")).collect(),
            }
        };
        names.iter().flat_map(of_name).collect()
    }

    /// The copied operations.
    pub(super) fn carried(&self) -> Vec<TextOperation> {
        self.operations.iter().filter(|operation| operation.is_carried).cloned().collect()
    }

    /// The texts of the copied operations.
    pub(super) fn carried_texts(&self) -> Vec<&str> {
        let carried = self.operations.iter().filter(|operation| operation.is_carried);
        carried.map(|operation| operation.text.as_str()).collect()
    }
}

/// The values of the function up to an operation, with the type of each result of a name. A type that the
/// text does not state is `None`.
struct Scope<'m> {
    text: &'m str,
    values: HashMap<&'m str, Vec<Option<&'m Type>>>,
}

impl<'m> Scope<'m> {
    fn name(&self, span: Span) -> String {
        span.of(self.text).to_owned()
    }

    fn define(&mut self, name: Span, types: Vec<Option<&'m Type>>) -> Result<(), FormatError> {
        match self.values.insert(name.of(self.text), types) {
            None => Ok(()),
            Some(_) => {
                let kind = FormatErrorKind::Duplicate { what: "value", name: self.name(name) };
                Err(kind.in_text(name.start..name.end))
            }
        }
    }

    /// Defines the results of an operation. Returns whether there are none, or not only arrays.
    fn define_results(&mut self, operation: &'m SyntaxOperation) -> Result<bool, FormatError> {
        let mut first = 0;
        let mut has_others = operation.results.is_empty();
        for names in &operation.results {
            let types = (first..first + names.count).map(|at| operation.result_type(at));
            let types: Vec<Option<&Type>> = types.collect();
            has_others |= types.iter().any(|it| !matches!(it, Some(Type::Array(_))));
            first += names.count;
            self.define(names.name, types)?;
        }
        Ok(has_others)
    }

    /// Whether all operands are arrays, and each has the type that the operation states.
    fn reads_arrays(&self, operation: &SyntaxOperation) -> Result<bool, FormatError> {
        let stated = match &operation.signature {
            Signature::Function(operands, _) if operands.len() == operation.operands.len() => {
                &operands[..]
            }
            _ => &[],
        };
        // Some names after an operation of unknown syntax belong to its regions.
        let is_generic = operation.span.of(self.text).starts_with('"');
        let is_known = is_generic || lowering::is_known(&operation.name);
        let mut are_arrays = true;
        for (at, used) in operation.operands.iter().enumerate() {
            let range = used.name.start..used.name.end;
            let value = self.values.get(used.name.of(self.text));
            let Some(&value) = value.and_then(|types| types.get(used.index)) else {
                if is_known {
                    let (what, name) = ("value", self.name(used.name));
                    return Err(FormatErrorKind::Undefined { what, name }.in_text(range));
                }
                are_arrays = false;
                continue;
            };
            if let (Some(Type::Array(known)), Some(Type::Array(stated))) = (value, stated.get(at))
                && known != stated
                && is_known
            {
                let (stated, inferred) = (stated.to_string(), known.to_string());
                return Err(FormatErrorKind::TypeMismatch { stated, inferred }.in_text(range));
            }
            are_arrays &= matches!(value, Some(Type::Array(_)));
        }
        Ok(are_arrays)
    }

    /// The values of the function that an operation reads, also in its regions: every name in its text that
    /// the function has defined. A name that only a region of an isolated operation has is read too many; it
    /// costs a value that nothing uses.
    fn reads(&self, operation: &SyntaxOperation) -> Vec<String> {
        let names = value_names(self.text, operation.text);
        names.into_iter().filter(|name| self.values.contains_key(name)).map(str::to_owned).collect()
    }
}

/// The names of values in a text, without the number of a result.
pub(super) fn value_names(text: &str, piece: Span) -> Vec<&str> {
    let mut lexer = Lexer::new(text, piece);
    let mut names = Vec::new();
    loop {
        let token = lexer.token();
        match token.kind {
            TokenKind::End => return names,
            TokenKind::Value => {
                let name = token.span.of(text);
                names.push(name.split_once('#').map_or(name, |(name, _)| name));
            }
            _ => {}
        }
    }
}
