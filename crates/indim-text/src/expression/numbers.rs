//! Numbers that are inputs of a program: they adapt to the types of arrays like literals, but the program
//! is valid for other values too.
//!
//! During elaboration, a number has the value of the first call. If it is combined with an array, it
//! becomes a parameter of rank 0 with the array's element type. Operators on numbers alone give numbers,
//! which are computed before each run. An operation that needs the value itself, such as a power or a
//! rounding to a number of digits, adds a guard: the program is valid for this value only.

use core::fmt;
use core::mem::{Discriminant, discriminant};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indim_builder::{GraphBuilder, Value};
use indim_graph::{Array, GraphError, Literal};
use indim_ops::{BinaryOperator, DType};

use super::folding::{fold_binary, fold_unary};
use super::syntax::UnaryOperator;

/// Largest whole number that is an input: `f64` represents all whole numbers up to this exactly, so a
/// conversion rounds only once.
const MAX_WHOLE_INPUT: u128 = 1 << 53;

/// Maximum bytes of a number's text in a guard; `...` replaces longer texts.
const MAX_TEXT_BYTES: usize = 60;

/// The numbers of one elaboration that are inputs.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::Literal;
/// use indim_ops::DType;
/// use indim_text::{Binding, Expression, ParseLimits, Numbers};
///
/// let (b, numbers) = (GraphBuilder::new(), Numbers::default());
/// let x = Binding::Array(b.parameter("x", DType::F16, [3])?);
/// let k = numbers.input("k", Literal::Float(0.5)).unwrap();
/// let expression = Expression::parse("(1 - k) * x", &ParseLimits::default())?;
/// let result = expression.build_bound(&b, &[("x", x), ("k", Binding::Input(k))], None)?;
/// assert_eq!(b.finish(&[result])?.parameters().len(), 2); // `1 - k` is an input of type f16
///
/// let program = numbers.program();
/// let inputs = program.inputs(&[Literal::Float(0.25)]).unwrap();
/// assert_eq!(inputs[0].scalar_text().as_deref(), Some("0.75"));
/// assert!(program.inputs(&[Literal::Int(2)]).is_none()); // compiled for floats
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Numbers(Arc<Mutex<NumbersState>>);

#[derive(Debug, Default)]
struct NumbersState {
    program: NumberProgram,
    /// The parameter of each cast.
    parameters: Vec<Value>,
}

/// A number of [`Numbers`]: an input, or computed from inputs and literals.
#[derive(Clone)]
pub struct Number {
    numbers: Numbers,
    index: usize,
    /// Its value in the elaboration.
    value: Literal,
    /// The name of its parameters.
    name: Arc<str>,
}

/// The computation of a program's scalar inputs from numbers, and the guards on the numbers.
#[derive(Debug, Clone, Default)]
pub struct NumberProgram {
    steps: Vec<NumberStep>,
    /// The names of the inputs.
    names: Vec<Arc<str>>,
    /// The kind of each step's result in the elaboration.
    kinds: Vec<Discriminant<Literal>>,
    /// The step and the element type of each scalar input of the graph: its parameters of rank 0.
    casts: Vec<(usize, DType)>,
    /// Steps that must have these values.
    guards: Vec<(usize, Literal)>,
}

/// A step of the computation: its result is a number.
#[derive(Debug, Clone, Copy)]
enum NumberStep {
    /// The number at this position of the inputs.
    Input(usize),
    Literal(Literal),
    Unary(UnaryOperator, usize),
    Binary(BinaryOperator, [usize; 2]),
}

impl Numbers {
    fn state(&self) -> MutexGuard<'_, NumbersState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this number can be an input. Truth values and whole numbers above 2^53 are always constants.
    pub fn accepts(number: Literal) -> bool {
        match number {
            Literal::Bool(_) => false,
            Literal::Int(value) => value.unsigned_abs() <= MAX_WHOLE_INPUT,
            Literal::Float(_) | Literal::Complex(_) => true,
        }
    }

    /// Adds an input; `name` is the name of its parameters. `None` if the number cannot be an
    /// [input](Numbers::accepts).
    pub fn input(&self, name: &str, value: Literal) -> Option<Number> {
        Numbers::accepts(value).then(|| {
            let name: Arc<str> = name.into();
            let index = self.state().program.add_input(&name, value);
            Number { numbers: self.clone(), index, value, name }
        })
    }

    /// The program of the numbers so far.
    pub fn program(&self) -> NumberProgram {
        self.state().program.clone()
    }
}

impl NumberProgram {
    fn add_input(&mut self, name: &Arc<str>, value: Literal) -> usize {
        self.names.push(Arc::clone(name));
        self.add(NumberStep::Input(self.names.len() - 1), value)
    }

    fn add(&mut self, step: NumberStep, value: Literal) -> usize {
        self.steps.push(step);
        self.kinds.push(discriminant(&value));
        self.steps.len() - 1
    }

    /// Whether the program has neither scalar inputs nor guards.
    pub fn is_empty(&self) -> bool {
        self.casts.is_empty() && self.guards.is_empty()
    }

    /// Whether the program is valid for these numbers, which must have the kinds of the numbers that it was
    /// built for.
    pub fn is_valid_for(&self, given: &[Literal]) -> bool {
        self.is_empty() || self.values(given).is_some()
    }

    /// The scalar inputs, which follow the array inputs; each has rank 0. `None` if the program is not valid
    /// for these numbers.
    pub fn inputs(&self, given: &[Literal]) -> Option<Vec<Array>> {
        if self.is_empty() {
            return Some(Vec::new());
        }
        let values = self.values(given)?;
        Some(self.casts.iter().map(|&(step, dtype)| values[step].element(dtype)).collect())
    }

    /// The texts of the guards, in addition to the numbers' kinds: `k = 2` for a pinned number, `(k > 0) =
    /// True` for a pinned comparison.
    pub fn guards(&self) -> Vec<String> {
        let guard = |(step, value): &(usize, Literal)| format!("{} = {value}", self.text_of(*step));
        self.guards.iter().map(guard).collect()
    }

    fn text_of(&self, step: usize) -> String {
        // Steps refer to earlier steps, so a text may grow exponentially; long texts become `...`.
        let mut texts: Vec<String> = Vec::with_capacity(step + 1);
        for step in &self.steps[..=step] {
            let text = match *step {
                NumberStep::Input(position) => self.names[position].to_string(),
                NumberStep::Literal(literal) => literal.to_string(),
                NumberStep::Unary(operator, x) => format!("{}{}", operator.symbol(), texts[x]),
                NumberStep::Binary(operator, [x, y]) => {
                    format!("({} {} {})", texts[x], operator.symbol(), texts[y])
                }
            };
            texts.push(if text.len() > MAX_TEXT_BYTES { "...".to_owned() } else { text });
        }
        texts.swap_remove(step)
    }

    /// The value of each step, if all guards hold.
    fn values(&self, given: &[Literal]) -> Option<Vec<Literal>> {
        let mut values = Vec::with_capacity(self.steps.len());
        for (step, kind) in self.steps.iter().zip(&self.kinds) {
            let value = match *step {
                NumberStep::Input(position) => *given.get(position)?,
                NumberStep::Literal(literal) => literal,
                NumberStep::Unary(operator, x) => fold_unary(operator, values[x]).ok()?,
                NumberStep::Binary(operator, [x, y]) => {
                    fold_binary(operator, values[x], values[y]).ok()??
                }
            };
            values.push(value);
            // A truth value or a large number is a constant of the program, and a number of another kind
            // than in the elaboration changes the types. Both are valid only under a guard.
            let is_input = matches!(step, NumberStep::Literal(_))
                || (Numbers::accepts(value) && discriminant(&value) == *kind);
            if !is_input && !self.guards.iter().any(|(other, _)| *other == values.len() - 1) {
                return None;
            }
        }
        let is_guard_met = |&(step, value): &(usize, Literal)| values[step].is_identical(value);
        let fits = |&(step, dtype): &(usize, DType)| values[step].fits(dtype);
        (self.guards.iter().all(is_guard_met) && self.casts.iter().all(fits)).then_some(values)
    }
}

impl Number {
    /// Its value in the elaboration.
    pub fn value(&self) -> Literal {
        self.value
    }

    /// Pins the number: adds the guard that the program is valid for this value only, and returns the
    /// value.
    pub fn pin(&self) -> Literal {
        let guard = (self.index, self.value);
        let mut state = self.numbers.state();
        if !state.program.guards.iter().any(|(other, _)| *other == self.index) {
            state.program.guards.push(guard);
        }
        self.value
    }

    /// Whether the number is pinned to its value.
    pub fn is_pinned(&self) -> bool {
        self.numbers.state().program.guards.iter().any(|(other, _)| *other == self.index)
    }

    /// The parameter of rank 0 for this number as an element of `dtype`. The number fits `dtype`.
    pub(super) fn cast(&self, b: &GraphBuilder, dtype: DType) -> Result<Value, GraphError> {
        let mut state = self.numbers.state();
        let existing = state.program.casts.iter().position(|&other| other == (self.index, dtype));
        if let Some(existing) = existing {
            return Ok(state.parameters[existing].clone());
        }
        let mut name = self.name.to_string();
        while b.has_parameter(&name) {
            name.push('_');
        }
        let parameter = b.parameter(&name, dtype, [])?;
        state.program.casts.push((self.index, dtype));
        state.parameters.push(parameter.clone());
        Ok(parameter)
    }

    /// The result of a unary operator; `value` is the value of the result in the elaboration.
    pub(super) fn unary(&self, operator: UnaryOperator, value: Literal) -> Number {
        self.derive(NumberStep::Unary(operator, self.index), value)
    }

    /// The result of a binary operator on two operands, each a number of [`Numbers`] or a literal;
    /// `value` is the value of the result in the elaboration. `None` if both are literals.
    pub(super) fn binary(
        operator: BinaryOperator,
        [x, y]: [Result<&Number, Literal>; 2],
        value: Literal,
    ) -> Option<Number> {
        let owner = x.or(y).ok()?;
        let index_of = |other: Result<&Number, Literal>| match other {
            Ok(number) => number.index,
            Err(literal) => owner.derive(NumberStep::Literal(literal), literal).index,
        };
        let operand_indices = [index_of(x), index_of(y)];
        Some(owner.derive(NumberStep::Binary(operator, operand_indices), value))
    }

    fn derive(&self, step: NumberStep, value: Literal) -> Number {
        let index = self.numbers.state().program.add(step, value);
        Number { numbers: self.numbers.clone(), index, value, name: Arc::clone(&self.name) }
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Number({}: {})", self.name, self.value)
    }
}
