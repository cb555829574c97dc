//! Numbers that are inputs of a program: they adapt to what they meet, as those of a text do, but a program
//! that is made for one serves others.
//!
//! While an expression is elaborated, a number has the value that was seen first. Where it meets arrays it
//! becomes a parameter of rank 0, of their element type; what numbers make among themselves are numbers too,
//! and computed before a run. An exponent or a number of digits needs the value itself: then the program
//! holds for this value alone, which is a guard.

use core::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indim_builder::{GraphBuilder, Value};
use indim_graph::{Array, GraphError, Literal};
use indim_ops::{BinaryOperator, DType};

use super::folding::{fold_binary, fold_unary};
use super::syntax::UnaryOperator;

/// Whole numbers that are inputs are no larger: as floats they are rounded once at most.
const MOST: u128 = 1 << 53;

/// What is written of a number; one whose text is longer is not.
const LONGEST_TEXT: usize = 60;

/// The numbers of one elaboration.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::Literal;
/// use indim_ops::DType;
/// use indim_text::{Binding, Expression, ParseLimits, Numbers};
///
/// let (b, numbers) = (GraphBuilder::new(), Numbers::default());
/// let x = Binding::Array(b.parameter("x", DType::F16, [3])?);
/// let k = numbers.given("k", Literal::Float(0.5)).unwrap();
/// let expression = Expression::parse("(1 - k) * x", &ParseLimits::default())?;
/// let result = expression.build_bound(&b, &[("x", x), ("k", Binding::Input(k))], None)?;
/// assert_eq!(b.finish(&[result])?.parameters().len(), 2); // `1 - k` is an input of type f16
///
/// let program = numbers.program();
/// let inputs = program.inputs(&[Literal::Float(0.25)]).unwrap();
/// assert_eq!(inputs[0].scalar_text().as_deref(), Some("0.75"));
/// assert!(program.inputs(&[Literal::Int(2)]).is_none()); // made for numbers with a fraction
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Numbers(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    program: NumberProgram,
    /// The parameter that each cast has become.
    parameters: Vec<Value>,
}

/// A number of some [`Numbers`].
#[derive(Clone)]
pub struct Number {
    numbers: Numbers,
    index: usize,
    /// Its operand in the elaboration.
    value: Literal,
    /// Names of the parameters that it becomes.
    name: Arc<str>,
}

/// What the inputs of a program are made of that are numbers, and for which numbers it holds.
#[derive(Debug, Clone, Default)]
pub struct NumberProgram {
    steps: Vec<Step>,
    /// Names of the numbers that are inputs.
    names: Vec<Arc<str>>,
    /// For each step whether it is a whole number.
    are_whole: Vec<bool>,
    casts: Vec<(usize, DType)>,
    guards: Vec<(usize, Literal)>,
}

/// How a number is had.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// The one given at this place.
    Given(usize),
    Literal(Literal),
    Unary(UnaryOperator, usize),
    Binary(BinaryOperator, [usize; 2]),
}

impl Numbers {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a program may take this number as an input: truth values and very large whole numbers are
    /// always part of it.
    pub fn take(number: Literal) -> bool {
        match number {
            Literal::Bool(_) => false,
            Literal::Int(value) => value.unsigned_abs() <= MOST,
            Literal::Float(_) => true,
        }
    }

    /// The next number that is given, and what parameters are called that it becomes. `None` if it is none
    /// that a program [takes](Numbers::take).
    pub fn given(&self, name: &str, value: Literal) -> Option<Number> {
        Numbers::take(value).then(|| {
            let name: Arc<str> = name.into();
            let index = self.state().program.add_given(&name, value);
            Number { numbers: self.clone(), index, value, name }
        })
    }

    /// Facts about the numbers so far.
    pub fn program(&self) -> NumberProgram {
        self.state().program.clone()
    }
}

impl NumberProgram {
    fn add_given(&mut self, name: &Arc<str>, value: Literal) -> usize {
        self.names.push(Arc::clone(name));
        self.add(Step::Given(self.names.len() - 1), value)
    }

    fn add(&mut self, step: Step, value: Literal) -> usize {
        self.steps.push(step);
        self.are_whole.push(matches!(value, Literal::Int(_)));
        self.steps.len() - 1
    }

    /// Whether it neither takes numbers nor asks anything of them.
    pub fn is_empty(&self) -> bool {
        self.casts.is_empty() && self.guards.is_empty()
    }

    /// Whether it holds for these numbers, which are of the kinds that it was made for.
    pub fn holds(&self, given: &[Literal]) -> bool {
        self.is_empty() || self.values(given).is_some()
    }

    /// The inputs behind those that are arrays, each of rank 0; `None` where the program does not hold for
    /// these numbers.
    pub fn inputs(&self, given: &[Literal]) -> Option<Vec<Array>> {
        if self.is_empty() {
            return Some(Vec::new());
        }
        let values = self.values(given)?;
        Some(self.casts.iter().map(|&(step, dtype)| values[step].element(dtype)).collect())
    }

    /// Guards on the numbers in addition to their kinds, in words: `k = 2` where it is made for that number,
    /// `(k > 0) = True` where it is made for such.
    pub fn guards(&self) -> Vec<String> {
        let guard = |(step, value): &(usize, Literal)| format!("{} = {value}", self.text_of(*step));
        self.guards.iter().map(guard).collect()
    }

    fn text_of(&self, step: usize) -> String {
        // Each step is over earlier ones, of which a long one may be over very many.
        let mut texts: Vec<String> = Vec::with_capacity(step + 1);
        for step in &self.steps[..=step] {
            let text = match *step {
                Step::Given(place) => self.names[place].to_string(),
                Step::Literal(literal) => literal.to_string(),
                Step::Unary(operator, x) => format!("{}{}", operator.symbol(), texts[x]),
                Step::Binary(operator, [x, y]) => {
                    format!("({} {} {})", texts[x], operator.symbol(), texts[y])
                }
            };
            texts.push(if text.len() > LONGEST_TEXT { "...".to_owned() } else { text });
        }
        texts.swap_remove(step)
    }

    /// The value of each step, where all guards hold.
    fn values(&self, given: &[Literal]) -> Option<Vec<Literal>> {
        let mut values = Vec::with_capacity(self.steps.len());
        for (step, is_whole) in self.steps.iter().zip(&self.are_whole) {
            let value = match *step {
                Step::Given(place) => *given.get(place)?,
                Step::Literal(literal) => literal,
                Step::Unary(operator, x) => fold_unary(operator, values[x]).ok()?,
                Step::Binary(operator, [x, y]) => {
                    fold_binary(operator, values[x], values[y]).ok()??
                }
            };
            values.push(value);
            // The guard of a truth value or of a large number states its value.
            let is_input = matches!(step, Step::Literal(_))
                || (Numbers::take(value) && matches!(value, Literal::Int(_)) == *is_whole);
            if !is_input && !self.guards.iter().any(|(of, _)| *of == values.len() - 1) {
                return None;
            }
        }
        let is_met = |&(step, value): &(usize, Literal)| is_same_number(values[step], value);
        let fits = |&(step, dtype): &(usize, DType)| values[step].fits(dtype);
        (self.guards.iter().all(is_met) && self.casts.iter().all(fits)).then_some(values)
    }
}

/// Whether two numbers are of one kind and value: -0.0 is not 0.0, and a NaN is itself.
fn is_same_number(x: Literal, y: Literal) -> bool {
    match (x, y) {
        (Literal::Float(x), Literal::Float(y)) => x.to_bits() == y.to_bits(),
        _ => x == y,
    }
}

impl Number {
    /// Its operand in the elaboration.
    pub fn value(&self) -> Literal {
        self.value
    }

    /// Its value, for which the program is made.
    pub fn pin(&self) -> Literal {
        let guard = (self.index, self.value);
        let mut state = self.numbers.state();
        if !state.program.guards.iter().any(|(of, _)| *of == self.index) {
            state.program.guards.push(guard);
        }
        self.value
    }

    /// Whether the program is made for its value.
    pub fn is_pinned(&self) -> bool {
        self.numbers.state().program.guards.iter().any(|(of, _)| *of == self.index)
    }

    /// As an element of `dtype`, which it fits: a parameter of the graph.
    pub(super) fn cast(&self, b: &GraphBuilder, dtype: DType) -> Result<Value, GraphError> {
        let mut state = self.numbers.state();
        let known = state.program.casts.iter().position(|&of| of == (self.index, dtype));
        if let Some(known) = known {
            return Ok(state.parameters[known].clone());
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

    /// The number that an operator makes of it, which is `value` in the elaboration.
    pub(super) fn unary(&self, operator: UnaryOperator, value: Literal) -> Number {
        self.made(Step::Unary(operator, self.index), value)
    }

    /// The number that an operator makes of two, one of which is of [`Numbers`], and which is `value` in the
    /// elaboration.
    pub(super) fn binary(
        operator: BinaryOperator,
        [x, y]: [Result<&Number, Literal>; 2],
        value: Literal,
    ) -> Option<Number> {
        let own = x.or(y).ok()?;
        let place = |of: Result<&Number, Literal>| match of {
            Ok(number) => number.index,
            Err(literal) => own.made(Step::Literal(literal), literal).index,
        };
        let places = [place(x), place(y)];
        Some(own.made(Step::Binary(operator, places), value))
    }

    fn made(&self, step: Step, value: Literal) -> Number {
        let index = self.numbers.state().program.add(step, value);
        Number { numbers: self.numbers.clone(), index, value, name: Arc::clone(&self.name) }
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Number({}: {})", self.name, self.value)
    }
}
