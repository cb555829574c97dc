//! The part of the entry function between values that the caller names.

use std::collections::HashSet;

use indim_model::{FormatError, FormatErrorKind, ProgramPart};
use indim_text::Span;

use crate::syntax::{
    Argument, Block, Function, FunctionResult, Signature, SyntaxOperation, Type, ValueUse,
};

/// A value by its name in the text and its number among the results of that name.
type ValueKey<'t> = (&'t str, usize);

impl Function {
    /// Restricts the function to a part: its first values become arguments, its last values results, and
    /// operations that the results do not need are removed. `argument_name` gives the user's name of an
    /// argument.
    ///
    /// # Errors
    /// `undefined`; `unsupported` for a part that ends at a value that is not an array.
    pub(super) fn restrict(
        &mut self,
        text: &str,
        part: &ProgramPart,
        argument_name: &dyn Fn(&Argument) -> String,
    ) -> Result<(), FormatError> {
        let Some(body) = self.body.as_mut().filter(|_| !part.is_whole()) else { return Ok(()) };
        let find = |name: &&str| BlockValue::find(body, (text, argument_name), name);
        let ends = part.ends().iter().map(find).collect::<Result<Vec<BlockValue>, _>>()?;
        let starts = part.starts().iter().map(find).collect::<Result<Vec<BlockValue>, _>>()?;
        if !ends.is_empty() {
            self.results = return_values(body, ends)?;
        }
        let mut kept = HashSet::new();
        for value in starts {
            kept.extend(make_argument(body, text, &value));
        }
        retain_needed(body, text, &kept);
        Ok(())
    }
}

/// A value of a block.
struct BlockValue {
    used: ValueUse,
    value_type: Type,
    /// Whether the caller named an argument by its name in the text, not by the user's name.
    is_plain_argument: bool,
}

impl BlockValue {
    /// Finds a value by name: first among the results, then among the arguments, by the user's name or
    /// by the name in the text.
    fn find(
        block: &Block,
        (text, argument_name): (&str, &dyn Fn(&Argument) -> String),
        name: &str,
    ) -> Result<BlockValue, FormatError> {
        let (group, index) = split(name);
        let plain = |span: Span| span.of(text).trim_start_matches('%');
        let results = block.operations.iter().flat_map(|operation| {
            let mut first = 0;
            operation.results.iter().map(move |names| {
                first += names.count;
                (operation, names, first - names.count)
            })
        });
        for (operation, names, first) in results {
            let is_named = plain(names.name) == group && index.unwrap_or(0) < names.count;
            if is_named && index.is_some() == (names.count > 1) {
                let index = index.unwrap_or(0);
                let value_type = operation.result_type(first + index).cloned();
                let value_type = value_type.unwrap_or(Type::Other(operation.span));
                let used = ValueUse { name: names.name, index };
                return Ok(BlockValue { used, value_type, is_plain_argument: false });
            }
        }
        let has_user_name = |argument: &&Argument| argument_name(argument) == name;
        let has_text_name = |argument: &&Argument| plain(argument.name) == name;
        let user_named = block.arguments.iter().find(has_user_name);
        let argument = user_named.or_else(|| block.arguments.iter().find(has_text_name));
        let undefined = || FormatErrorKind::undefined_value(name).without_location();
        let argument = argument.ok_or_else(undefined)?;
        Ok(BlockValue {
            used: ValueUse { name: argument.name, index: 0 },
            value_type: argument.value_type.clone(),
            is_plain_argument: user_named.is_none(),
        })
    }
}

/// `0#1` is result 1 of the results `%0`.
fn split(name: &str) -> (&str, Option<usize>) {
    let name = name.trim_start_matches('%');
    let parts = name.split_once('#').and_then(|(group, index)| Some((group, index.parse().ok()?)));
    parts.map_or((name, None), |(group, index)| (group, Some(index)))
}

/// Turns a value into an argument. Returns the text of its name, or `None` if no operation uses it.
fn make_argument<'t>(block: &mut Block, text: &'t str, value: &BlockValue) -> Option<&'t str> {
    let own = value.used.name.of(text);
    let has_same_name = |argument: &&mut Argument| argument.name.of(text) == own;
    if let Some(argument) = block.arguments.iter_mut().find(has_same_name) {
        argument.location = argument.location.filter(|_| !value.is_plain_argument);
        return Some(own);
    }
    let groups = block.operations.iter().flat_map(|it| &it.results);
    let mut group = groups.filter(|names| names.name.of(text) == own);
    let is_several = group.any(|names| names.count > 1);
    // The uses `%0#1` of one result of several are renamed: their whole text becomes the name of the
    // argument.
    let name = match is_several {
        true => rename_uses(block, text, (own, value.used.index))?,
        false => value.used.name,
    };
    if !is_several {
        for names in block.operations.iter_mut().map(|operation| &mut operation.results) {
            names.retain(|names| names.name.of(text) != own);
        }
    }
    block.arguments.push(Argument { name, value_type: value.value_type.clone(), location: None });
    Some(name.of(text))
}

/// Renames the uses of one result of several to their own text. The recursion is bounded by the parser's
/// nesting limit.
fn rename_uses(block: &mut Block, text: &str, value: ValueKey<'_>) -> Option<Span> {
    let suffix = format!("#{}", value.1);
    let mut found = None;
    for operation in &mut block.operations {
        for used in &mut operation.operands {
            let Span { start, end } = used.name;
            let is_value = (used.name.of(text), used.index) == value;
            if is_value && text[end..].starts_with(&suffix) {
                *used = ValueUse { name: Span { start, end: end + suffix.len() }, index: 0 };
                found = Some(used.name);
            }
        }
        for region in &mut operation.regions {
            found = rename_uses(region, text, value).or(found);
        }
    }
    found
}

/// Makes the values the operands of the block's last operation. Returns the results of its function.
fn return_values(
    block: &mut Block,
    values: Vec<BlockValue>,
) -> Result<Vec<FunctionResult>, FormatError> {
    let mut results = Vec::with_capacity(values.len());
    let mut operands = Vec::with_capacity(values.len());
    for BlockValue { used, value_type, .. } in values {
        if !matches!(value_type, Type::Array(_)) {
            let Span { start, end } = used.name;
            return Err(FormatErrorKind::end_without_array().in_text(start..end));
        }
        operands.push(used);
        results.push(FunctionResult { value_type, attributes: Vec::new() });
    }
    if let Some(last) = block.operations.last_mut() {
        last.operands = operands;
        last.signature = Signature::None;
    }
    Ok(results)
}

/// Keeps the operations and arguments that the last operation needs, and the arguments in `kept`.
fn retain_needed(block: &mut Block, text: &str, kept: &HashSet<&str>) {
    let mut needed: HashSet<ValueKey<'_>> = HashSet::new();
    let mut is_needed: Vec<bool> = Vec::with_capacity(block.operations.len());
    for (position, operation) in block.operations.iter().rev().enumerate() {
        let mut names = operation.results.iter();
        let is_live = position == 0
            || names.any(|names| {
                (0..names.count).any(|index| needed.contains(&(names.name.of(text), index)))
            });
        if is_live {
            add_uses(operation, text, &mut needed);
        }
        is_needed.push(is_live);
    }
    let mut is_needed_in_order = is_needed.into_iter().rev();
    block.operations.retain(|_| is_needed_in_order.next() == Some(true));
    let is_used = |name: &str| needed.contains(&(name, 0)) || kept.contains(name);
    block.arguments.retain(|argument| is_used(argument.name.of(text)));
}

/// Adds the values that an operation and its regions use. The recursion is bounded by the parser's
/// nesting limit.
fn add_uses<'t>(operation: &SyntaxOperation, text: &'t str, needed: &mut HashSet<ValueKey<'t>>) {
    needed.extend(operation.operands.iter().map(|used| (used.name.of(text), used.index)));
    for operation in operation.regions.iter().flat_map(|region| &region.operations) {
        add_uses(operation, text, needed);
    }
}
