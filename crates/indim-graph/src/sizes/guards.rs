//! Guards: the parameter sizes that a graph is valid for.

use core::fmt;
use indim_shape::ErrorCode;

use super::classes::PinReason;
use super::derivation::Derivation;
use super::size::Size;
use super::symbols::{Symbols, resolve};
use crate::graph::{Graph, ValueId};
use crate::terminal::printable;

/// Minimum size of a symbol. An axis of size 0 or 1 has no symbol, because other broadcasts are legal for it.
pub(super) const MIN_SYMBOL_SIZE: usize = 2;

/// Maximum size of a symbol, in elements: indices and sizes of a symbol fit in an `i32`.
pub(super) const MAX_SYMBOL_SIZE: usize = i32::MAX as usize;

/// The parameter sizes that a graph is valid for: axes with the same symbol have the same size, from 2 to
/// 2^31 - 1, and an axis with a number has that size. A size that follows from others, such as that of a
/// slice, must be at least 2 too, unless it is a number. Every array of the graph must also fit into memory.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::SymbolicGraph;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [100, 3])?;
/// let v = b.parameter("v", DType::F32, [1, 3])?;
/// let graph = b.finish(&[b.numpy().mul(x, v)?])?;
///
/// let symbolic = SymbolicGraph::new(&graph, &b.size_facts());
/// let guards = symbolic.guards();
/// assert_eq!(guards.to_string(), "x: [n, m], v: [1, m]; n, m >= 2");
/// assert_eq!(guards.symbols(&[&[7, 8], &[1, 8]]), Ok(vec![7, 8]));
/// let error = guards.symbols(&[&[7, 8], &[1, 9]]).unwrap_err();
/// assert_eq!(error.to_string(), "axis 1 of `v` is 9, but must be 8 like axis 1 of `x`");
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Guards {
    pub(super) names: Vec<String>,
    /// The size of each axis of each parameter.
    pub(super) parameters: Vec<Vec<Size>>,
    /// The reason why each of these sizes is a number; not used for symbols.
    pub(super) reasons: Vec<Vec<PinReason>>,
    pub(super) symbol_count: usize,
    /// The symbols that follow from those of the parameters, in order.
    derived: Vec<Derivation<Size>>,
    /// Sizes that must follow from others.
    checks: Vec<(Derivation<Size>, Size)>,
    /// The name of each symbol, if it has one.
    symbol_names: Vec<Option<String>>,
    /// Names of sizes that are numbers, each with the index of a parameter and its axis of this size.
    fixed_names: Vec<(String, usize, usize)>,
    /// Each shape in the graph that has a symbol, with the size in bytes of the widest element type of the
    /// values of this shape, to check that arrays fit into memory.
    pub(super) shapes: Vec<(Vec<Size>, usize)>,
}

impl Guards {
    /// The number of symbols that are sizes of parameters.
    pub fn symbol_count(&self) -> usize {
        self.symbol_count
    }

    /// The size of each axis of each parameter.
    pub fn parameters(&self) -> &[Vec<Size>] {
        &self.parameters
    }

    /// The size of each symbol for these parameter shapes: first those of the parameters, then those that
    /// follow from them, such as the size of a slice.
    ///
    /// # Errors
    /// `guard-not-met`: the first guard that does not hold.
    ///
    /// # Panics
    /// Unless the number of shapes is the number of parameters.
    pub fn symbols(&self, shapes: &[&[usize]]) -> Result<Vec<usize>, GuardError> {
        assert_eq!(shapes.len(), self.parameters.len(), "one shape for each parameter");
        // 0 marks an unknown symbol, because no symbol has this size.
        let mut symbols = vec![0; self.symbol_count];
        for (parameter, (sizes, shape)) in self.parameters.iter().zip(shapes).enumerate() {
            if sizes.len() != shape.len() {
                return Err(self.error(parameter, 0, GuardViolation::Rank { rank: shape.len() }));
            }
            for (axis, (&expected, &size)) in sizes.iter().zip(*shape).enumerate() {
                let violation = match expected {
                    Size::Known(number) if number == size => continue,
                    Size::Known(number) => GuardViolation::Number { size, number },
                    Size::Symbol(symbol) if size != 0 && symbols[symbol] == size => continue,
                    Size::Symbol(symbol)
                        if symbols[symbol] == 0
                            && (MIN_SYMBOL_SIZE..=MAX_SYMBOL_SIZE).contains(&size) =>
                    {
                        symbols[symbol] = size;
                        continue;
                    }
                    Size::Symbol(symbol) if symbols[symbol] == 0 => GuardViolation::Range { size },
                    Size::Symbol(symbol) => {
                        GuardViolation::Unequal { size, symbol, known: symbols[symbol] }
                    }
                };
                return Err(self.error(parameter, axis, violation));
            }
        }
        let error = |kind| GuardError { name: String::new(), axis: 0, kind };
        let symbols = resolve(&self.derived, &self.checks, symbols);
        let symbols = symbols.ok_or_else(|| error(GuardErrorKind::Derived))?;
        match self.symbols_fit(&symbols) {
            true => Ok(symbols),
            false => Err(error(GuardErrorKind::TooLarge)),
        }
    }

    /// Whether every array of the graph fits into memory, for these sizes of the symbols.
    pub(super) fn symbols_fit(&self, symbols: &[usize]) -> bool {
        self.shapes.iter().all(|shape| fits(shape, symbols))
    }

    fn error(&self, parameter: usize, axis: usize, violation: GuardViolation) -> GuardError {
        let kind = match violation {
            GuardViolation::Rank { rank } => {
                GuardErrorKind::Rank { rank, expected: self.parameters[parameter].len() }
            }
            GuardViolation::Number { size, number } => {
                let reason = self.reasons[parameter][axis];
                GuardErrorKind::Number { size, number, reason }
            }
            GuardViolation::Range { size } => GuardErrorKind::Range { size },
            GuardViolation::Unequal { size, symbol, known } => {
                let (first, of_first) = self.first_axis_of(symbol);
                GuardErrorKind::Unequal { size, known, first: self.names[first].clone(), of_first }
            }
        };
        GuardError { name: self.names[parameter].clone(), axis, kind }
    }

    /// The first parameter and axis whose size is this symbol.
    fn first_axis_of(&self, symbol: usize) -> (usize, usize) {
        let place = |sizes: &Vec<Size>| sizes.iter().position(|&size| size == Size::Symbol(symbol));
        let mut places = self.parameters.iter().map(place).enumerate();
        let first = places.find_map(|(parameter, axis)| Some((parameter, axis?)));
        first.expect("invariant: every symbol is the size of an axis of a parameter")
    }

    /// The axes whose sizes are numbers: the parameter's name, the axis, the number, and the reason.
    pub fn pinned(&self) -> impl Iterator<Item = (&str, usize, usize, &'static str)> + '_ {
        let of_axis = move |parameter: usize, axis: usize| match self.parameters[parameter][axis] {
            Size::Known(number) => {
                let reason = self.reasons[parameter][axis];
                Some((self.names[parameter].as_str(), axis, number, reason))
            }
            Size::Symbol(_) => None,
        };
        let of_parameter = move |(parameter, sizes): (usize, &Vec<Size>)| {
            (0..sizes.len()).filter_map(move |axis| of_axis(parameter, axis))
        };
        self.parameters.iter().enumerate().flat_map(of_parameter)
    }
}

/// Whether an array of this shape and element size fits into memory: at most `isize::MAX` bytes. A size of
/// 0 counts as 1, so the other axes of an array without elements are limited too.
fn fits((sizes, bytes): &(Vec<Size>, usize), symbols: &[usize]) -> bool {
    let numbers = sizes.iter().map(|size| size.resolve(symbols).max(1));
    let all = numbers.fold(*bytes, usize::saturating_mul);
    isize::try_from(all).is_ok() && all != usize::MAX
}

/// The default name of a symbol: `n`, `m`, `k`, `l`, `p`, `q`, then `n6`, `n7` and so on.
fn default_name(index: usize) -> String {
    match ["n", "m", "k", "l", "p", "q"].get(index) {
        Some(&name) => name.to_owned(),
        None => format!("n{index}"),
    }
}

impl Guards {
    /// Names a symbol, unless it has a name.
    pub(super) fn name(&mut self, symbol: usize, name: String) {
        self.symbol_names[symbol].get_or_insert(name);
    }

    /// Records the name of a size that is a number, if it is an axis of a parameter.
    pub(super) fn name_number(
        &mut self,
        name: String,
        parameters: &[ValueId],
        value: ValueId,
        axis: usize,
    ) {
        let parameter = parameters.iter().position(|parameter| *parameter == value);
        if let Some(parameter) = parameter
            && !self.fixed_names.iter().any(|(known, ..)| *known == name)
        {
            self.fixed_names.push((name, parameter, axis));
        }
    }

    /// The names of sizes that are numbers, each with a parameter, its axis, and the reason.
    pub fn fixed_names(&self) -> impl Iterator<Item = (&str, &str, usize, &'static str)> + '_ {
        self.fixed_names.iter().map(|(name, parameter, axis)| {
            let reason = self.reasons[*parameter][*axis];
            (name.as_str(), self.names[*parameter].as_str(), *axis, reason)
        })
    }

    fn symbol_name(&self, symbol: usize) -> String {
        if let Some(name) = &self.symbol_names[symbol] {
            return name.clone();
        }
        let is_taken =
            |name: &String| self.symbol_names.iter().flatten().any(|taken| taken == name);
        let before = self.symbol_names[..symbol].iter().filter(|name| name.is_none()).count();
        let mut free = (0..).map(default_name).filter(|name| !is_taken(name));
        free.nth(before).unwrap_or_default()
    }
}

impl fmt::Display for Guards {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = |size: &Size| match size {
            Size::Known(number) => number.to_string(),
            Size::Symbol(symbol) => self.symbol_name(*symbol),
        };
        for (index, (name, sizes)) in self.names.iter().zip(&self.parameters).enumerate() {
            let sizes: Vec<String> = sizes.iter().map(size).collect();
            let comma = if index == 0 { "" } else { ", " };
            write!(formatter, "{comma}{}: [{}]", printable(name), sizes.join(", "))?;
        }
        let symbols: Vec<String> =
            (0..self.symbol_count).map(|symbol| self.symbol_name(symbol)).collect();
        match symbols.is_empty() {
            true => Ok(()),
            false => write!(formatter, "; {} >= {MIN_SYMBOL_SIZE}", symbols.join(", ")),
        }?;
        match self.derived.is_empty() && self.checks.is_empty() {
            true => Ok(()),
            false => formatter.write_str("; slices and reshapes must fit"),
        }
    }
}

/// The guards of a graph. `sizes` has the size of each axis of each value, `reasons` the reason of each
/// axis of each parameter.
pub(super) fn guards(
    graph: &Graph,
    sizes: &[Vec<Size>],
    reasons: Vec<Vec<PinReason>>,
    symbols: &Symbols,
) -> Guards {
    let mut shapes: Vec<(Vec<Size>, usize)> = Vec::new();
    for (value, node) in graph.iter() {
        let (of_node, bytes) = (&sizes[value.index()], node.array_type.dtype.size());
        if of_node.iter().any(|size| matches!(size, Size::Symbol(_))) {
            match shapes.iter_mut().find(|(known, _)| known == of_node) {
                Some((_, widest)) => *widest = bytes.max(*widest),
                None => shapes.push((of_node.clone(), bytes)),
            }
        }
    }
    let of_parameter = |value: &ValueId| sizes[value.index()].clone();
    Guards {
        names: (0..graph.parameters().len()).map(|i| graph.parameter_name(i).to_owned()).collect(),
        parameters: graph.parameters().iter().map(of_parameter).collect(),
        reasons,
        symbol_count: symbols.parameter_count,
        derived: symbols.derived.clone(),
        checks: symbols.checks.clone(),
        symbol_names: vec![None; symbols.parameter_count],
        fixed_names: Vec::new(),
        shapes,
    }
}

/// A guard that a shape violates.
enum GuardViolation {
    Rank { rank: usize },
    Number { size: usize, number: usize },
    Range { size: usize },
    Unequal { size: usize, symbol: usize, known: usize },
}

/// The first guard of a graph that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardError {
    /// The parameter; empty if the error is about intermediate arrays.
    name: String,
    axis: usize,
    kind: GuardErrorKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum GuardErrorKind {
    Rank { rank: usize, expected: usize },
    Number { size: usize, number: usize, reason: &'static str },
    Range { size: usize },
    Unequal { size: usize, known: usize, first: String, of_first: usize },
    Derived,
    TooLarge,
}

impl GuardError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The same code with its explanation.
    pub fn error_code(&self) -> ErrorCode {
        ErrorCode::GUARD_NOT_MET
    }
}

impl fmt::Display for GuardError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GuardError { name, axis, kind } = self;
        let name = printable(name);
        match kind {
            GuardErrorKind::Rank { rank, expected } => {
                write!(formatter, "`{name}` has {rank} axes, the program was made for {expected}")
            }
            GuardErrorKind::Number { size, number, reason } => write!(
                formatter,
                "axis {axis} of `{name}` is {size}, the program was made for {number}: {reason}"
            ),
            GuardErrorKind::Range { size } => write!(
                formatter,
                "axis {axis} of `{name}` is {size}, the program was made for sizes from {MIN_SYMBOL_SIZE} to \
                 {MAX_SYMBOL_SIZE}"
            ),
            GuardErrorKind::Unequal { size, known, first, of_first } => write!(
                formatter,
                "axis {axis} of `{name}` is {size}, but must be {known} like axis {of_first} of `{first}`",
                first = printable(first),
            ),
            GuardErrorKind::Derived => {
                formatter.write_str("a slice or reshape of these sizes needs another program")
            }
            GuardErrorKind::TooLarge => {
                formatter.write_str("an intermediate array would not fit into memory")
            }
        }
    }
}

impl core::error::Error for GuardError {}
