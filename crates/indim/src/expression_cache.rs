//! The cache of compiled expressions: programs for fixed shapes, and, from the second shape on, programs for
//! all sizes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indim_builder::{GraphBuilder, Value};
use indim_cpu::{
    Array, ArrayView, CompileOptions, Executable, RunError, SymbolicExecutable, compile,
    compile_symbolic, in_default_float_environment,
};
use indim_graph::{Literal, SymbolicGraph};
use indim_ops::{ArrayType, DType};
use indim_text::{Binding, Expression, NumberProgram, Numbers, ParseLimits};

use crate::evaluate::EvaluateErrorKind;
use crate::input::Input;

/// Maximum number of cache entries; the least recently used is evicted first.
const MAX_ENTRIES: usize = 64;

/// Maximum length of a cached text, in bytes: programs of longer texts take too much memory to keep.
const MAX_TEXT_BYTES: usize = 4096;

/// Maximum number of programs for fixed shapes in a cache entry, and of programs for all sizes; the
/// oldest of each is evicted first.
const MAX_PROGRAMS: usize = 16;

type Inputs<'i, 'a> = &'i [(&'i str, Input<'a>)];

/// An executable bound to the sizes of its inputs, with the values of those inputs that are numbers.
pub(crate) struct BoundExpression {
    executable: Arc<Executable>,
    numbers: Vec<Array>,
}

impl BoundExpression {
    /// The number of results.
    pub(crate) fn result_count(&self) -> usize {
        self.executable.outputs().len()
    }

    /// The results for these inputs.
    pub(crate) fn run(&self, inputs: &[(&str, Input<'_>)]) -> Result<Vec<Array>, RunError> {
        let arrays = inputs.iter().filter_map(|(_, input)| match input {
            Input::Array(view) => Some(view.clone()),
            Input::Number(_) => None,
        });
        let numbers = self.numbers.iter().map(ArrayView::from);
        self.executable.run(&arrays.chain(numbers).collect::<Vec<ArrayView<'_>>>())
    }
}

/// The part of an input that belongs to the cache key.
#[derive(Debug, Clone, Copy, PartialEq)]
enum InputKind {
    Array {
        dtype: DType,
        rank: usize,
    },
    /// An integer up to 2^53 in magnitude: an input of the program.
    WholeNumber,
    /// A float, whole or not: an input of the program.
    Float,
    /// A complex number: an input of the program.
    Complex,
    /// A truth value or a larger integer: a constant of the program, so its value belongs to the key.
    Constant(Literal),
}

impl InputKind {
    fn of(input: &Input<'_>) -> Self {
        match input {
            Input::Array(view) => {
                let ArrayType { dtype, shape } = view.array_type();
                InputKind::Array { dtype: *dtype, rank: shape.rank() }
            }
            Input::Number(number) if !Numbers::accepts(*number) => InputKind::Constant(*number),
            Input::Number(Literal::Int(_)) => InputKind::WholeNumber,
            Input::Number(Literal::Complex(_)) => InputKind::Complex,
            Input::Number(_) => InputKind::Float,
        }
    }
}

/// A cache entry: the programs of one text for inputs of given kinds.
struct CacheEntry {
    text: String,
    inputs: Vec<(String, InputKind)>,
    /// Programs for fixed shapes.
    fixed: Vec<FixedShapeProgram>,
    /// Programs for all sizes, each with its number program.
    symbolic: Vec<(Arc<SymbolicExecutable>, NumberProgram)>,
}

struct FixedShapeProgram {
    shapes: Vec<Vec<usize>>,
    executable: Arc<Executable>,
    numbers: NumberProgram,
}

impl CacheEntry {
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

/// The cache; the last used entry is at the end.
static CACHE: Mutex<Vec<CacheEntry>> = Mutex::new(Vec::new());

/// The locked cache. A panic leaves the cache consistent.
fn cache() -> MutexGuard<'static, Vec<CacheEntry>> {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The result of a cache lookup.
enum CacheLookup {
    /// A program for these inputs.
    Hit(BoundExpression),
    /// Programs for all sizes, which are not yet bound, each with the arrays of its number inputs.
    /// `is_known`: the entry has a program for other fixed shapes that is valid for these numbers.
    Candidates { symbolic: Vec<(Arc<SymbolicExecutable>, Vec<Array>)>, is_known: bool },
}

/// The program for a text and these inputs, from the cache if possible.
pub(crate) fn program(
    text: &str,
    inputs: Inputs<'_, '_>,
) -> Result<BoundExpression, EvaluateErrorKind> {
    // Numbers are converted here, and other threads may use the cached program, so the caller's rounding
    // mode must not influence either.
    in_default_float_environment(|| find_or_compile(text, inputs))
}

fn find_or_compile(
    text: &str,
    inputs: Inputs<'_, '_>,
) -> Result<BoundExpression, EvaluateErrorKind> {
    let given = numbers(inputs);
    let is_known = match look_up(text, inputs, &given) {
        CacheLookup::Hit(program) => return Ok(program),
        CacheLookup::Candidates { symbolic, is_known } => {
            for (executable, numbers) in symbolic {
                if let Some(executable) = bind(&executable, inputs, numbers.len()) {
                    return Ok(BoundExpression { executable, numbers });
                }
            }
            is_known
        }
    };
    let BuiltExpression { b, results, numbers: program } = build(text, inputs)?;
    let graph = b.finish(&results)?;
    let numbers = program.inputs(&given);
    let numbers =
        numbers.expect("invariant: a program is valid for the numbers that it was built for");
    if is_known {
        let symbolic = SymbolicGraph::new(&graph, &b.size_facts());
        if symbolic.guards().symbol_count() > 0 {
            let symbolic = Arc::new(compile_symbolic(&symbolic, &CompileOptions::default())?);
            let executable = bind(&symbolic, inputs, numbers.len());
            let executable = executable.expect("invariant: the first sizes meet the guards");
            add_program(text, inputs, |entry| push(&mut entry.symbolic, (symbolic, program)));
            return Ok(BoundExpression { executable, numbers });
        }
    }
    let executable = Arc::new(compile(&graph, &CompileOptions::default())?);
    let (shapes, fixed) = (shapes(inputs).map(<[usize]>::to_vec).collect(), executable.clone());
    let fixed = FixedShapeProgram { shapes, executable: fixed, numbers: program };
    add_program(text, inputs, |entry| push(&mut entry.fixed, fixed));
    Ok(BoundExpression { executable, numbers })
}

/// The program for all sizes, bound to the sizes of these inputs; `None` if they do not meet its guards.
/// The last `number_count` inputs of the program are scalars, which hold numbers.
fn bind(
    executable: &SymbolicExecutable,
    inputs: Inputs<'_, '_>,
    number_count: usize,
) -> Option<Arc<Executable>> {
    let none: &[usize] = &[];
    let numbers = core::iter::repeat_n(none, number_count);
    executable.bind(&shapes(inputs).chain(numbers).collect::<Vec<&[usize]>>()).ok()
}

/// Looks for a program in the cache.
fn look_up(text: &str, inputs: Inputs<'_, '_>, given: &[Literal]) -> CacheLookup {
    let mut cache = cache();
    let Some(place) = cache.iter().rposition(|entry| entry.is_for(text, inputs)) else {
        return CacheLookup::Candidates { symbolic: Vec::new(), is_known: false };
    };
    cache[place..].rotate_left(1);
    let entry = &cache[cache.len() - 1];
    let mut is_known = false;
    for fixed in entry.fixed.iter().rev() {
        let Some(numbers) = fixed.numbers.inputs(given) else { continue };
        if shapes(inputs).zip(&fixed.shapes).all(|(shape, known)| shape == known) {
            let executable = Arc::clone(&fixed.executable);
            return CacheLookup::Hit(BoundExpression { executable, numbers });
        }
        is_known = true;
    }
    let symbolic =
        entry.symbolic.iter().rev().filter_map(|(executable, program)| {
            Some((Arc::clone(executable), program.inputs(given)?))
        });
    CacheLookup::Candidates { symbolic: symbolic.collect(), is_known }
}

/// Adds a program to the entry of this text and these kinds of inputs; evicts the oldest entry at capacity.
fn add_program(text: &str, inputs: Inputs<'_, '_>, add: impl FnOnce(&mut CacheEntry)) {
    if text.len() > MAX_TEXT_BYTES {
        return;
    }
    let mut cache = cache();
    let place = cache.iter().rposition(|entry| entry.is_for(text, inputs));
    let mut oldest = None;
    let place = place.unwrap_or_else(|| {
        let kinds = inputs.iter().map(|(name, input)| ((*name).to_owned(), InputKind::of(input)));
        let (fixed, symbolic) = (Vec::new(), Vec::new());
        let entry = CacheEntry { text: text.to_owned(), inputs: kinds.collect(), fixed, symbolic };
        oldest = (cache.len() >= MAX_ENTRIES).then(|| cache.remove(0));
        cache.push(entry);
        cache.len() - 1
    });
    add(&mut cache[place]);
    drop(cache);
    // Freeing programs may take long, so the evicted entry is dropped after the lock is released.
    drop(oldest);
}

/// Adds a program; evicts the oldest at capacity.
fn push<T>(programs: &mut Vec<T>, program: T) {
    if programs.len() >= MAX_PROGRAMS {
        programs.remove(0);
    }
    programs.push(program);
}

/// The numbers that are inputs of the program; numbers that are constants of it are left out.
fn numbers(inputs: Inputs<'_, '_>) -> Vec<Literal> {
    let number = |(_, input): &(&str, Input<'_>)| match input {
        Input::Number(number) if Numbers::accepts(*number) => Some(*number),
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

/// The graph of a text under construction, its results, and the program that computes its number inputs.
struct BuiltExpression {
    b: GraphBuilder,
    results: Vec<Value>,
    numbers: NumberProgram,
}

fn build(text: &str, inputs: Inputs<'_, '_>) -> Result<BuiltExpression, EvaluateErrorKind> {
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
                numbers.input(name, *number).map_or(Binding::Number(*number), Binding::Input)
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
    Ok(BuiltExpression { b, results, numbers })
}
