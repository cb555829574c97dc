//! Expressions that are kept compiled: for the shapes of a first call, and, once there have been others, for
//! all sizes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indim_builder::{GraphBuilder, Value};
use indim_cpu::{
    ArrayView, Buffer, CompileOptions, Executable, RunError, SymbolicExecutable, compile,
    compile_symbolic, in_default_float_environment,
};
use indim_graph::{Array, Literal, SymbolicGraph};
use indim_ops::{ArrayType, DType};
use indim_text::{Binding, Expression, NumberProgram, Numbers, ParseLimits};

use crate::evaluate::EvaluateErrorKind;
use crate::input::Input;

/// So many expressions are kept for inputs of some kinds, those that were used last.
const KEPT: usize = 64;

/// The text of an expression that is kept is no longer: its program would take much memory.
const LONGEST_KEPT: usize = 4096;

/// So many programs are kept of each; beyond that the oldest goes.
const MAX_PROGRAMS: usize = 16;

type Inputs<'i, 'a> = &'i [(&'i str, Input<'a>)];

/// What is run for some inputs: the program bound to their sizes, and what their numbers are to it.
pub(crate) struct Program {
    executable: Arc<Executable>,
    numbers: Vec<Array>,
}

impl Program {
    /// How many results there are.
    pub(crate) fn result_count(&self) -> usize {
        self.executable.outputs().len()
    }

    /// The results for these inputs.
    pub(crate) fn run(&self, inputs: &[(&str, Input<'_>)]) -> Result<Vec<Buffer>, RunError> {
        let arrays = inputs.iter().filter_map(|(_, input)| match input {
            Input::Array(view) => Some(view.clone()),
            Input::Number(_) => None,
        });
        let numbers = self.numbers.iter().map(ArrayView::from_array);
        self.executable.run(&arrays.chain(numbers).collect::<Vec<ArrayView<'_>>>())
    }
}

/// What differs between expressions that are kept apart, of an input.
#[derive(Debug, Clone, Copy, PartialEq)]
enum InputKind {
    Array { dtype: DType, rank: usize },
    WholeNumber,
    Fraction,
    Constant(Literal),
}

impl InputKind {
    fn of(input: &Input<'_>) -> Self {
        match input {
            Input::Array(view) => {
                let ArrayType { dtype, shape } = view.array_type();
                InputKind::Array { dtype: *dtype, rank: shape.rank() }
            }
            Input::Number(number) if !Numbers::take(*number) => InputKind::Constant(*number),
            Input::Number(Literal::Int(_)) => InputKind::WholeNumber,
            Input::Number(_) => InputKind::Fraction,
        }
    }
}

/// The programs of a text for inputs of some kinds.
struct Kept {
    text: String,
    inputs: Vec<(String, InputKind)>,
    /// For the shapes of some call.
    alone: Vec<Alone>,
    /// For all sizes, and what numbers are to it.
    for_any: Vec<(Arc<SymbolicExecutable>, NumberProgram)>,
}

struct Alone {
    shapes: Vec<Vec<usize>>,
    executable: Arc<Executable>,
    numbers: NumberProgram,
}

impl Kept {
    fn is_for(&self, text: &str, inputs: Inputs<'_, '_>) -> bool {
        let is_same =
            |((name, kind), (given, input)): (&(String, InputKind), &(&str, Input<'_>))| {
                name == given && *kind == InputKind::of(input)
            };
        self.text == text
            && self.inputs.len() == inputs.len()
            && self.inputs.iter().zip(inputs).all(is_same)
    }
}

/// The last used is at the end.
static CACHE: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// A panic leaves the list whole.
fn cache() -> MutexGuard<'static, Vec<Kept>> {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a lookup finds.
enum Found {
    /// A program that fits.
    Program(Program),
    /// Those for all sizes, to be bound to those of the inputs, with what numbers are to them; and whether
    /// there is one for other sizes.
    Others { for_any: Vec<(Arc<SymbolicExecutable>, Vec<Array>)>, is_known: bool },
}

/// The program for a text and these inputs, compiled if none is kept.
pub(crate) fn program(text: &str, inputs: Inputs<'_, '_>) -> Result<Program, EvaluateErrorKind> {
    // Numbers are converted, and the program may serve other threads.
    in_default_float_environment(|| kept_or_compiled(text, inputs))
}

fn kept_or_compiled(text: &str, inputs: Inputs<'_, '_>) -> Result<Program, EvaluateErrorKind> {
    let given = numbers(inputs);
    let is_known = match found(text, inputs, &given) {
        Found::Program(program) => return Ok(program),
        Found::Others { for_any, is_known } => {
            for (executable, numbers) in for_any {
                if let Some(executable) = bound(&executable, inputs, numbers.len()) {
                    return Ok(Program { executable, numbers });
                }
            }
            is_known
        }
    };
    let Built { b, results, numbers: program } = built(text, inputs)?;
    let graph = b.finish(&results)?;
    let numbers = program.inputs(&given);
    let numbers = numbers.expect("invariant: a program holds for what it was made for");
    if is_known {
        let symbolic = SymbolicGraph::new(&graph, &b.size_facts());
        if symbolic.guards().symbol_count() > 0 {
            let for_any = Arc::new(compile_symbolic(&symbolic, &CompileOptions::default())?);
            let executable = bound(&for_any, inputs, numbers.len());
            let executable = executable.expect("invariant: the first sizes meet the guards");
            keep(text, inputs, |kept| push(&mut kept.for_any, (for_any, program)));
            return Ok(Program { executable, numbers });
        }
    }
    let executable = Arc::new(compile(&graph, &CompileOptions::default())?);
    let (shapes, alone) = (shapes(inputs).map(<[usize]>::to_vec).collect(), executable.clone());
    let alone = Alone { shapes, executable: alone, numbers: program };
    keep(text, inputs, |kept| push(&mut kept.alone, alone));
    Ok(Program { executable, numbers })
}

/// The program for all sizes, for those of the inputs, if these meet its guards; its last inputs are numbers.
fn bound(
    executable: &SymbolicExecutable,
    inputs: Inputs<'_, '_>,
    number_count: usize,
) -> Option<Arc<Executable>> {
    let none: &[usize] = &[];
    let numbers = core::iter::repeat_n(none, number_count);
    executable.bind(&shapes(inputs).chain(numbers).collect::<Vec<&[usize]>>()).ok()
}

/// Looks for a program.
fn found(text: &str, inputs: Inputs<'_, '_>, given: &[Literal]) -> Found {
    let mut cache = cache();
    let Some(place) = cache.iter().rposition(|kept| kept.is_for(text, inputs)) else {
        return Found::Others { for_any: Vec::new(), is_known: false };
    };
    cache[place..].rotate_left(1);
    let kept = &cache[cache.len() - 1];
    let mut is_known = false;
    for alone in kept.alone.iter().rev() {
        let Some(numbers) = alone.numbers.inputs(given) else { continue };
        if shapes(inputs).zip(&alone.shapes).all(|(shape, known)| shape == known) {
            let executable = Arc::clone(&alone.executable);
            return Found::Program(Program { executable, numbers });
        }
        is_known = true;
    }
    let for_any =
        kept.for_any.iter().rev().filter_map(|(executable, program)| {
            Some((Arc::clone(executable), program.inputs(given)?))
        });
    Found::Others { for_any: for_any.collect(), is_known }
}

/// Keeps what was compiled.
fn keep(text: &str, inputs: Inputs<'_, '_>, add: impl FnOnce(&mut Kept)) {
    if text.len() > LONGEST_KEPT {
        return;
    }
    let mut cache = cache();
    let place = cache.iter().rposition(|kept| kept.is_for(text, inputs));
    let mut oldest = None;
    let place = place.unwrap_or_else(|| {
        let kinds = inputs.iter().map(|(name, input)| ((*name).to_owned(), InputKind::of(input)));
        let (alone, for_any) = (Vec::new(), Vec::new());
        let kept = Kept { text: text.to_owned(), inputs: kinds.collect(), alone, for_any };
        oldest = (cache.len() >= KEPT).then(|| cache.remove(0));
        cache.push(kept);
        cache.len() - 1
    });
    add(&mut cache[place]);
    drop(cache);
    // What may take long to free is freed after the lock.
    drop(oldest);
}

/// Adds a program in the place of the oldest, where there are too many.
fn push<T>(programs: &mut Vec<T>, program: T) {
    if programs.len() >= MAX_PROGRAMS {
        programs.remove(0);
    }
    programs.push(program);
}

/// The numbers that are inputs.
fn numbers(inputs: Inputs<'_, '_>) -> Vec<Literal> {
    let number = |(_, input): &(&str, Input<'_>)| match input {
        Input::Number(number) if Numbers::take(*number) => Some(*number),
        _ => None,
    };
    inputs.iter().filter_map(number).collect()
}

/// The shapes of the arrays.
fn shapes<'i>(inputs: Inputs<'i, '_>) -> impl Iterator<Item = &'i [usize]> {
    inputs.iter().filter_map(|(_, input)| match input {
        Input::Array(view) => Some(view.array_type().shape.sizes()),
        Input::Number(_) => None,
    })
}

/// The nodes of a text.
struct Built {
    b: GraphBuilder,
    results: Vec<Value>,
    numbers: NumberProgram,
}

fn built(text: &str, inputs: Inputs<'_, '_>) -> Result<Built, EvaluateErrorKind> {
    let refuse = |error| EvaluateErrorKind::Expression { text: text.to_owned(), error };
    let expression =
        Expression::parse(text, &ParseLimits::default()).map_err(|e| refuse(Box::new(e)))?;
    let (b, numbers) = (GraphBuilder::new(), Numbers::default());
    let mut bindings = Vec::with_capacity(inputs.len());
    for (index, (name, input)) in inputs.iter().enumerate() {
        if !expression.mentions(name) && !expression.assigns(name) {
            return Err(EvaluateErrorKind::UnusedInput { name: (*name).to_owned() });
        }
        if inputs[..index].iter().any(|(earlier, _)| earlier == name) {
            return Err(EvaluateErrorKind::DuplicateInput { name: (*name).to_owned() });
        }
        let binding = match input {
            Input::Number(number) => {
                numbers.given(name, *number).map_or(Binding::Number(*number), Binding::Input)
            }
            Input::Array(view) => {
                let ArrayType { dtype, shape } = view.array_type().clone();
                Binding::Array(b.parameter(name, dtype, shape)?)
            }
        };
        bindings.push((*name, binding));
    }
    let results = expression.build_results(&b, &bindings, None).map_err(|e| refuse(Box::new(e)))?;
    let numbers = numbers.program();
    Ok(Built { b, results, numbers })
}
