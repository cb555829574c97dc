//! Verdicts on broadcasts of symbolic sizes. `indim-shape` decides them; this file names the sizes.

use indim_shape::{AnyRule, AxisMap, Diagnostic, ErrorCode, Shape, SizeCondition, UnknownSizes};

use super::condition::NamedCondition;
use super::illegal::IllegalBroadcast;
use super::size::SymbolicSize;
use super::value_type::ValueType;

/// A broadcast of a node, with its verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct OutlineBroadcast {
    /// The rule.
    pub rule: AnyRule,
    /// Name and type of each operand; for a target rule only of the broadcast array, not of the target.
    pub operands: Vec<(String, ValueType)>,
    /// The verdict.
    pub verdict: Verdict,
}

/// The verdict on a broadcast.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Legal for all sizes.
    Legal(SymbolicForm),
    /// Legal if the conditions hold; the form assumes sizes that meet to be equal.
    LegalIf(SymbolicForm, Vec<NamedCondition>),
    /// Illegal, with the drawn error.
    Illegal(Box<Diagnostic>),
    /// Unknown, because the shape of an operand is unknown.
    Unknown,
}

/// The explicit form of a broadcast of symbolic sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct SymbolicForm {
    /// The size of each axis of the result.
    pub result: Vec<SymbolicSize>,
    /// The result axis of each operand axis, for each operand.
    pub maps: Vec<AxisMap>,
}

impl OutlineBroadcast {
    /// Judges a broadcast of these operands, for a message about `operation`. `target` is the shape of a
    /// target rule.
    pub fn judge(
        rule: AnyRule,
        operands: Vec<(String, ValueType)>,
        target: Option<&[SymbolicSize]>,
        operation: &str,
    ) -> OutlineBroadcast {
        let sizes: Option<Vec<&[SymbolicSize]>> =
            operands.iter().map(|(_, value_type)| value_type.sizes.as_deref()).collect();
        let verdict = match sizes {
            Some(sizes) => verdict(&rule, &operands, &sizes, target, operation),
            None => Verdict::Unknown,
        };
        OutlineBroadcast { rule, operands, verdict }
    }

    /// The explicit form, unless the broadcast is illegal or unknown.
    pub fn form(&self) -> Option<&SymbolicForm> {
        match &self.verdict {
            Verdict::Legal(form) | Verdict::LegalIf(form, _) => Some(form),
            Verdict::Illegal(_) | Verdict::Unknown => None,
        }
    }

    /// Bytes that operands repeat: the bytes of each operand over the whole result, minus its own. `None` if
    /// a size is no number.
    pub fn repeated_bytes(&self) -> Option<u64> {
        let count = |sizes: &[SymbolicSize]| SymbolicSize::product(sizes)?.number();
        let result = count(&self.form()?.result)?;
        let repeated = |(_, value_type): &(String, ValueType)| {
            let own = count(value_type.sizes.as_deref()?)?;
            let size = i64::try_from(value_type.dtype()?.size()).ok()?;
            u64::try_from(result.saturating_sub(own).max(0).saturating_mul(size)).ok()
        };
        self.operands
            .iter()
            .map(repeated)
            .try_fold(0u64, |sum, bytes| Some(sum.saturating_add(bytes?)))
    }

    /// Whether a size of an operand differs from the result's, so that the operand is repeated.
    pub fn expands(&self, operand: usize) -> bool {
        let Some(form) = self.form() else { return false };
        let Some((map, (_, value_type))) = form.maps.get(operand).zip(self.operands.get(operand))
        else {
            return false;
        };
        let Some(sizes) = &value_type.sizes else { return false };
        let is_repeated = |axis: usize| {
            let own = map.iter().position(|&to| to == axis).map(|from| &sizes[from]);
            !form.result[axis].is(1) && own.is_none_or(|own| own.is(1))
        };
        (0..form.result.len()).any(is_repeated)
    }
}

/// Numbers that stand for symbolic sizes: the smallest ones from 2 on, so that the product of sizes
/// stays within the limit of rule E5, `too-large`.
#[derive(Default)]
pub(super) struct Placeholders {
    /// Sizes that are numbers; no placeholder equals one of them.
    known: Vec<i64>,
    /// The placeholder of each symbolic size.
    symbols: Vec<(SymbolicSize, usize)>,
}

impl Placeholders {
    /// The size itself if it is a number, else the placeholder of the symbolic size.
    fn number(&mut self, size: &SymbolicSize) -> usize {
        if let Some(number) = size.number().and_then(|number| usize::try_from(number).ok()) {
            return number;
        }
        if let Some((_, number)) = self.symbols.iter().find(|(known, _)| known == size) {
            return *number;
        }
        let mut number = self.symbols.last().map_or(2, |(_, last)| last + 1);
        while self.known.iter().any(|&known| usize::try_from(known) == Ok(number)) {
            number += 1;
        }
        self.symbols.push((size.clone(), number));
        number
    }

    /// Whether a size has a name.
    pub(super) fn has_symbols(&self) -> bool {
        !self.symbols.is_empty()
    }

    /// The size for which a number stands.
    pub(super) fn size(&self, number: usize) -> SymbolicSize {
        let symbol = self.symbols.iter().find(|(_, known)| *known == number);
        let known = || SymbolicSize::known(i64::try_from(number).unwrap_or(i64::MAX));
        symbol.map_or_else(known, |(size, _)| size.clone())
    }
}

/// The facts about placeholders for sizes whose names are at least `least`.
struct PlaceholderFacts<'p> {
    placeholders: &'p Placeholders,
    least: i64,
}

impl UnknownSizes for PlaceholderFacts<'_> {
    fn is_unknown(&self, size: usize) -> bool {
        self.placeholders.symbols.iter().any(|(_, known)| *known == size)
    }

    fn may_be_equal(&self, first: usize, second: usize) -> bool {
        let [first, second] = [first, second].map(|size| self.placeholders.size(size));
        first.may_be_equal(&second, self.least)
    }
}

/// The verdict on a broadcast of operands of these sizes.
fn verdict(
    rule: &AnyRule,
    operands: &[(String, ValueType)],
    sizes: &[&[SymbolicSize]],
    target: Option<&[SymbolicSize]>,
    operation: &str,
) -> Verdict {
    let mut placeholders = Placeholders::default();
    let all = sizes.iter().copied().chain(target).flatten();
    placeholders.known = all.filter_map(SymbolicSize::number).collect();
    let mut shape = |sizes: &[SymbolicSize]| -> Shape {
        sizes.iter().map(|size| placeholders.number(size)).collect()
    };
    let shapes: Vec<Shape> = sizes.iter().map(|sizes| shape(sizes)).collect();
    let target = target.map(&mut shape);
    let placeholders = &placeholders;
    let elaborated = |least: i64| {
        let facts = PlaceholderFacts { placeholders, least };
        rule.elaborate_if(&shapes, target.as_ref(), facts)
    };
    // Axes without elements are rare: names are 0 only where nothing else is legal.
    let for_empty_axes = |error| match placeholders.has_symbols() {
        true => elaborated(0),
        false => Err(error),
    };
    match elaborated(1).or_else(for_empty_axes) {
        Ok(legal) => {
            let result = legal.form.result().iter().map(|&n| placeholders.size(n)).collect();
            let form = SymbolicForm { result, maps: legal.form.maps().to_vec() };
            let named = |condition: &SizeCondition| named_condition(condition, placeholders);
            let conditions: Vec<NamedCondition> = legal.conditions.iter().map(named).collect();
            match conditions.is_empty() {
                true => Verdict::Legal(form),
                false => Verdict::LegalIf(form, conditions),
            }
        }
        Err(error) => {
            let distinct = match placeholders.has_symbols() {
                true => rule.elaborate_if(&shapes, target.as_ref(), |_| false).err(),
                false => None,
            };
            let distinct = distinct.as_ref().unwrap_or(&error);
            let broadcast =
                IllegalBroadcast { error: &error, distinct, rule, operands, placeholders };
            Verdict::Illegal(Box::new(broadcast.diagnostic(operation)))
        }
    }
}

fn named_condition(condition: &SizeCondition, placeholders: &Placeholders) -> NamedCondition {
    let [first, second] = [condition.first, condition.second].map(|it| placeholders.size(it.size));
    let mut ones = Vec::new();
    if condition.first_may_be_one {
        ones.push(first.clone());
    }
    if condition.second_may_be_one {
        ones.push(second.clone());
    }
    ones.sort();
    let equal = NamedCondition::equal(&first, &second);
    NamedCondition { may_be_equal: condition.may_be_equal, ones, ..equal }
}

/// The error of a shape rule: operands whose shapes do not fit their operator.
pub fn shape_problem(
    operation: &str,
    problem: &str,
    operands: &[(String, ValueType)],
) -> Diagnostic {
    let headline = format!("{operation}: {problem}");
    let mut diagnostic = Diagnostic::new(ErrorCode::OPERAND_SHAPES, headline);
    for (name, value_type) in operands {
        diagnostic.line(format!("   | {name}: {value_type}"));
    }
    diagnostic
}
