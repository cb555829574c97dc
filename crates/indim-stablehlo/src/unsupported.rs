//! Unsupported operations and types: one error lists all operations; another has the first type.

use std::collections::HashSet;

use indim_model::{FormatError, FormatErrorKind, Location, UnsupportedOperations};

use super::approximate_top_k::ApproximateTopK;
use super::attribute::AttributeReader;
use super::lowering::{ExpectOperation, Lowering};
use super::reducer;
use super::syntax::{Block, Module, SyntaxOperation, Type};
use indim_xla::reducer::{NOT_ASSOCIATIVE, Reducer};
use indim_xla::select_scatter::UNKNOWN_BODIES;

/// Checks the function `entry` and all functions that it calls.
///
/// # Errors
/// `unsupported-op`, with all operations; then `unsupported-type`, `unsupported` for the first type.
pub(super) fn check(
    module: &Module,
    attributes: &AttributeReader<'_>,
    entry: usize,
) -> Result<(), FormatError> {
    let mut walk = UnsupportedWalk::new(module, attributes);
    walk.enqueue(entry);
    while let Some(number) = walk.worklist.pop() {
        let function = &module.functions[number];
        function.results.iter().for_each(|result| walk.value_type(&result.value_type));
        if let Some(body) = &function.body {
            body.arguments.iter().for_each(|argument| walk.value_type(&argument.value_type));
            walk.block(body, false);
        }
    }
    walk.unsupported.check()?;
    walk.first_type.map_or(Ok(()), Err)
}

/// The refused operations of a module: operations that indim does not support, operations with such a
/// one in their regions, and calls of functions that contain one.
pub(super) struct UnsupportedSet<'m> {
    module: &'m Module,
    attributes: &'m AttributeReader<'m>,
    carries: bool,
    /// For each function, whether it contains a refused operation.
    is_unsupported: Vec<bool>,
    /// For each function, the functions that call it.
    callers: Vec<Vec<usize>>,
}

impl<'m> UnsupportedSet<'m> {
    pub(super) fn of(module: &'m Module, attributes: &'m AttributeReader<'m>) -> Self {
        UnsupportedSet::new(module, attributes, false)
    }

    /// The operations that a copy of the program keeps as they are: also those that the writer lacks, and
    /// those that mean more than their result to other programs.
    pub(super) fn to_carry(module: &'m Module, attributes: &'m AttributeReader<'m>) -> Self {
        UnsupportedSet::new(module, attributes, true)
    }

    fn new(module: &'m Module, attributes: &'m AttributeReader<'m>, carries: bool) -> Self {
        let (is_unsupported, callers) = (vec![false; module.functions.len()], Vec::new());
        let mut unsupported_set =
            UnsupportedSet { module, attributes, carries, is_unsupported, callers };
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); module.functions.len()];
        let mut worklist = Vec::new();
        for (number, function) in module.functions.iter().enumerate() {
            let operations = function.body.iter().flat_map(|body| &body.operations);
            for operation in operations {
                let (is_own, called) = unsupported_set.find_unsupported(operation);
                called.into_iter().for_each(|called| callers[called].push(number));
                if is_own && !core::mem::replace(&mut unsupported_set.is_unsupported[number], true)
                {
                    worklist.push(number);
                }
            }
        }
        while let Some(number) = worklist.pop() {
            for &caller in &callers[number] {
                if !core::mem::replace(&mut unsupported_set.is_unsupported[caller], true) {
                    worklist.push(caller);
                }
            }
        }
        unsupported_set.callers = callers;
        unsupported_set
    }

    /// A function that calls itself, directly or through others.
    pub(super) fn recursive_function(&self) -> Option<usize> {
        let mut callees: Vec<Vec<usize>> = vec![Vec::new(); self.callers.len()];
        for (number, callers) in self.callers.iter().enumerate() {
            callers.iter().for_each(|&caller| callees[caller].push(number));
        }
        let mut callees_left: Vec<usize> = callees.iter().map(Vec::len).collect();
        let calls_nothing = |&number: &usize| callees_left[number] == 0;
        let mut worklist: Vec<usize> = (0..callees_left.len()).filter(calls_nothing).collect();
        // A function is done when all functions that it calls are.
        while let Some(number) = worklist.pop() {
            for &caller in &self.callers[number] {
                callees_left[caller] -= 1;
                if callees_left[caller] == 0 {
                    worklist.push(caller);
                }
            }
        }
        // Each function left calls another one left, so that a walk comes back to one of its functions.
        let is_left = |number: usize| callees_left[number] > 0;
        let mut at = (0..callees_left.len()).find(|&number| is_left(number))?;
        let mut is_visited = vec![false; callees.len()];
        while !core::mem::replace(&mut is_visited[at], true) {
            at = *callees[at].iter().find(|&&callee| is_left(callee))?;
        }
        Some(at)
    }

    /// Whether an operation is refused, itself or because of a function that it calls.
    pub(super) fn is_unsupported(&self, operation: &SyntaxOperation) -> bool {
        let (is_own, called) = self.find_unsupported(operation);
        is_own || called.into_iter().any(|called| self.is_unsupported[called])
    }

    /// Whether the operation, its body or an operation in its regions is unsupported, and the indices of
    /// the functions that it calls.
    fn find_unsupported(&self, operation: &SyntaxOperation) -> (bool, Vec<usize>) {
        let mut walk = UnsupportedWalk::new(self.module, self.attributes);
        walk.carries = self.carries;
        walk.any_operation(operation, false);
        let has_type = self.carries && walk.first_type.is_some();
        (has_type || walk.unsupported.check().is_err(), walk.worklist)
    }
}

struct UnsupportedWalk<'m> {
    module: &'m Module,
    attributes: &'m AttributeReader<'m>,
    /// Whether to refuse the operations that a copy of the program keeps.
    carries: bool,
    unsupported: UnsupportedOperations,
    /// The error of the first unsupported type in the text.
    first_type: Option<FormatError>,
    reached: HashSet<usize>,
    /// Worklist of called functions.
    worklist: Vec<usize>,
}

impl<'m> UnsupportedWalk<'m> {
    fn new(module: &'m Module, attributes: &'m AttributeReader<'m>) -> Self {
        let (unsupported, reached, worklist) =
            (UnsupportedOperations::default(), HashSet::new(), Vec::new());
        let (carries, first_type) = (false, None);
        UnsupportedWalk { module, attributes, carries, unsupported, first_type, reached, worklist }
    }

    /// Adds a function to the worklist, once.
    fn enqueue(&mut self, function: usize) {
        if self.reached.insert(function) {
            self.worklist.push(function);
        }
    }

    /// Adds the function in an attribute to the worklist; an undefined one is reported at the call.
    fn enqueue_attribute(&mut self, operation: &SyntaxOperation, name: &str) {
        if let Some(span) = self.attributes.optional(operation, name)
            && let Some(function) = self.module.function(&self.attributes.name(span))
        {
            self.enqueue(function);
        }
    }

    /// Notes the first unsupported type in the text.
    fn value_type(&mut self, value_type: &Type) {
        let (kind, span) = match value_type {
            Type::Array(_) => return,
            // The recursion is bounded by the parser's nesting limit.
            Type::Tuple(parts) => return parts.iter().for_each(|part| self.value_type(part)),
            Type::Dynamic(span) => {
                let what = "sizes that are not known, `?`, are".to_owned();
                (FormatErrorKind::Unsupported { what }, span)
            }
            Type::Other(span) => {
                let name = span.of(self.attributes.text).to_owned();
                (FormatErrorKind::UnsupportedType { name }, span)
            }
        };
        let start = |error: &FormatError| error.location.span.as_ref().map_or(0, |span| span.start);
        if self.first_type.as_ref().is_none_or(|first| span.start < start(first)) {
            self.first_type = Some(kind.in_text(span.start..span.end));
        }
    }

    fn add(&mut self, operation: &SyntaxOperation, name: &str, reason: Option<&str>) {
        let location = Location::text(operation.span.start..operation.span.end);
        self.unsupported.add(name, reason.map(str::to_owned), location);
    }

    /// Checks the operations of a block. The recursion is bounded by the parser's nesting limit.
    fn block(&mut self, block: &Block, is_map: bool) {
        block.operations.iter().for_each(|operation| self.any_operation(operation, is_map));
    }

    fn any_operation(&mut self, operation: &SyntaxOperation, is_map: bool) {
        let Some(lowering) = Lowering::of(&operation.name) else {
            return self.add(operation, &operation.name, None);
        };
        operation.signature.types().for_each(|value_type| self.value_type(value_type));
        if is_map && !lowering.is_elementwise() {
            self.add(operation, &operation.name, Some("it stands in the body of a map"));
        }
        if self.carries && is_more_than_its_result(operation, lowering) {
            self.add(operation, &operation.name, None);
        }
        self.operation(operation, lowering);
    }

    fn operation(&mut self, operation: &SyntaxOperation, lowering: Lowering) {
        match lowering {
            Lowering::Call => self.enqueue_attribute(operation, "callee"),
            Lowering::Composite => self.enqueue_attribute(operation, "decomposition"),
            Lowering::Map => operation.regions.iter().for_each(|region| self.block(region, true)),
            Lowering::While | Lowering::Case | Lowering::If => {
                operation.regions.iter().for_each(|region| self.block(region, false));
            }
            Lowering::Reduce | Lowering::ReduceWindow => {
                match reducer::of(operation, self.attributes) {
                    Some(Reducer::NotAssociative(_)) => {
                        self.add(operation, &operation.name, Some(NOT_ASSOCIATIVE));
                    }
                    Some(_) => {}
                    None => operation.regions.iter().for_each(|region| self.block(region, false)),
                }
            }
            Lowering::Sort if reducer::comparator_of(operation, self.attributes).is_none() => {
                let reason = "its body is not one comparison of a pair";
                self.add(operation, &operation.name, Some(reason));
            }
            Lowering::Scatter if reducer::updates_of(operation, self.attributes).is_none() => {
                let reason = "its body is not the update, or a sum, product, maximum or minimum of each pair";
                self.add(operation, &operation.name, Some(reason));
            }
            Lowering::SelectAndScatter
                if reducer::select_and_scatter_of(operation, self.attributes).is_none() =>
            {
                self.add(operation, &operation.name, Some(UNKNOWN_BODIES));
            }
            Lowering::CustomCall => {
                let target = call_target(operation, self.attributes);
                let is_top_k = target == ApproximateTopK::TARGET
                    && ApproximateTopK::of(operation, self.attributes, self.module).is_some();
                let is_check = ExpectOperation::of(&target).is_some();
                if target != "Sharding" && !is_check && !is_top_k {
                    self.add(operation, &format!("{} @{target}", operation.name), None);
                }
            }
            _ => {}
        }
    }
}

/// Whether the writer lacks an operation, or the operation tells other programs more than its result: a
/// check, or a placement of data on devices.
fn is_more_than_its_result(operation: &SyntaxOperation, lowering: Lowering) -> bool {
    let is_kept = matches!(
        lowering,
        Lowering::While
            | Lowering::Case
            | Lowering::If
            | Lowering::CustomCall
            | Lowering::Expect(_)
    );
    is_kept
        || operation.name.starts_with("sdy.")
        || operation.attributes.iter().any(|attribute| attribute.name.contains('.'))
}

/// The function that a custom call names.
pub(super) fn call_target(operation: &SyntaxOperation, attributes: &AttributeReader<'_>) -> String {
    let target = attributes.optional(operation, "call_target_name");
    target.map(|span| attributes.name(span)).unwrap_or_default()
}
