//! Programs with operations that indim cannot compute or write: the other operations are a program of their
//! own, and these operations are copied, as they are, into the text that is written from it.
//!
//! * `plan.rs`: which operations are copied.
//! * `splice.rs`: the text of the source with the written operations in its function.

mod plan;
mod splice;

use indim_graph::terminal::printable;
use indim_model::{
    FormatError, FormatErrorKind, FormatLimits, InputBinding, Location, Model, ModelBuilder,
    ModelInput, ModelProgram, ProgramPart, ReadOptions, SourceFile, WrittenModel, crossing_values,
    name_counts,
};

use crate::attribute::AttributeReader;
use crate::lowering::Lowering;
use crate::syntax::{Module, SyntaxOperation};
use crate::unsupported::call_target;
use crate::{StableHlo, entry, parser};
use indim_xla::checked_text;
use plan::Plan;

/// A program without the operations that are copied.
struct CarryingModel {
    source: SourceFile,
    module: Module,
    limits: FormatLimits,
    /// Index of the entry function.
    entry: usize,
    plan: Plan,
    /// The operations that are written anew, as a part of the program; `None` if all are copied.
    computed: Option<StableHlo>,
}

/// Reads a program around the operations that are copied.
///
/// # Errors
/// The errors in the file; `unsupported` for nested modules.
pub(super) fn read(
    source: &SourceFile,
    options: &ReadOptions,
) -> Result<Box<dyn Model>, FormatError> {
    let text = checked_text(source)?;
    let module = parser::parse(text, &options.limits)?;
    let entry = entry(&module, options.function.as_deref())?;
    if module.is_nested {
        let what = "copying operations of nested modules is".to_owned();
        return Err(FormatErrorKind::Unsupported { what }.without_location());
    }
    let plan = Plan::of(&module, &AttributeReader::new(text, &module), entry)?;
    let part = ProgramPart {
        from: plan.value_names(&crossing_values(&plan.operations, true)),
        to: plan.value_names(&crossing_values(&plan.operations, false)),
    };
    let computed = match part.to.is_empty() {
        true => None,
        false => Some(StableHlo::read(source, &options.clone().carries(false).part(part))?),
    };
    let (source, limits) = (source.clone(), options.limits);
    Ok(Box::new(CarryingModel { source, module, limits, entry, plan, computed }))
}

impl CarryingModel {
    /// The names of the copied operations, with the number of each.
    fn operators(&self) -> Result<Vec<(String, usize)>, FormatError> {
        let attributes = AttributeReader::new(checked_text(&self.source)?, &self.module);
        let body = self.module.functions[self.entry].body.iter();
        let operations = body.flat_map(|body| &body.operations).zip(&self.plan.operations);
        let carried = operations.filter(|(_, planned)| planned.is_carried);
        let names = carried.filter_map(|(operation, _)| {
            let lowering = Lowering::of(&operation.name);
            let is_return = lowering == Some(Lowering::Return);
            (!is_return).then(|| operator(operation, lowering, &attributes))
        });
        Ok(name_counts(names))
    }
}

/// The name of an operation, with the function that it calls.
fn operator(
    operation: &SyntaxOperation,
    lowering: Option<Lowering>,
    attributes: &AttributeReader<'_>,
) -> String {
    let name = &operation.name;
    let called = match lowering {
        Some(Lowering::CustomCall) => Some(call_target(operation, attributes)),
        Some(Lowering::Call) => {
            attributes.optional(operation, "callee").map(|span| attributes.name(span))
        }
        _ => None,
    };
    called.map_or_else(|| name.clone(), |called| format!("{name} @{}", printable(&called)))
}

impl Model for CarryingModel {
    fn inputs(&self) -> &[ModelInput] {
        self.computed.as_ref().map_or(&[], |computed| computed.inputs())
    }

    fn outputs(&self) -> Vec<String> {
        self.computed.as_ref().map_or_else(Vec::new, Model::outputs)
    }

    fn build(&self, inputs: &[InputBinding]) -> Result<ModelProgram, FormatError> {
        match &self.computed {
            Some(computed) => computed.build(inputs),
            None => ModelBuilder::new(&self.limits).finish(Vec::new(), Vec::new()),
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
        let content = match &self.computed {
            Some(computed) => self.spliced(computed, &written)?,
            None => self.with_body(&self.plan.carried_texts())?,
        };
        let carried = self.operators()?;
        Ok(WrittenModel { content: content.into_bytes(), carried, ..written })
    }

    fn location(&self, number: usize) -> Location {
        Location::text(number..number)
    }
}
