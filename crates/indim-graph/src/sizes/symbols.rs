//! The symbols of a graph: one for each class of axes whose size varies, and the number that represents each
//! in the passes.

use foldhash::{HashMap, HashMapExt, HashSet};

use super::classes::{Axis, SizeClasses};
use super::derivation::Derivation;
use super::guards::{MAX_SYMBOL_SIZE, MIN_SYMBOL_SIZE};
use super::size::Size;
use crate::graph::{Graph, ValueId};

/// The symbols of a graph.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    /// The symbol of each class that has one.
    of_class: HashMap<usize, usize>,
    /// The number of symbols that are sizes of parameters: the first ones. The others are derived.
    pub(super) parameter_count: usize,
    /// The derivations of the other symbols, in order. The sources of each are symbols before it.
    pub(super) derived: Vec<Derivation<Size>>,
    /// Sizes with a derivation that does not define them: it must give the same number.
    pub(super) checks: Vec<(Derivation<Size>, Size)>,
    /// The number that represents each symbol.
    pub(super) representatives: Vec<usize>,
}

/// The smallest representative size: above the sizes that passes treat specially, and small, so that products
/// of sizes are small.
const MIN_REPRESENTATIVE: usize = 67;

/// Maximum common multiple of the numbers that divide sizes.
const MAX_MODULUS: usize = 1 << 16;

/// Maximum number of representatives that are tried for each symbol.
const MAX_ATTEMPTS: usize = 64;

impl Symbols {
    /// Finds the symbols; `None` if some size depends on the inputs in an unsupported way. Merges classes
    /// whose sizes are equal for all sizes of the parameters.
    pub(super) fn find(graph: &Graph, classes: &mut SizeClasses) -> Option<Symbols> {
        // Terminates: each iteration pins a class or merges two classes.
        loop {
            let mut symbols = Symbols::of_parameters(graph, classes);
            if !symbols.derive(graph, classes)? {
                continue;
            }
            if !symbols.has_all(graph, classes) {
                return None;
            }
            if symbols.represent(graph, classes)? {
                return Some(symbols);
            }
        }
    }

    /// The number of symbols.
    pub(super) fn count(&self) -> usize {
        self.parameter_count + self.derived.len()
    }

    /// The size of an axis.
    pub(super) fn size(
        &self,
        graph: &Graph,
        classes: &mut SizeClasses,
        (value, axis): Axis,
    ) -> Size {
        match self.of_class.get(&classes.class(value, axis)) {
            Some(&symbol) => Size::Symbol(symbol),
            None => Size::Known(graph[value].array_type.shape[axis]),
        }
    }

    /// A symbol for each class that contains an axis of a parameter and is not a number, in the order of the
    /// axes.
    fn of_parameters(graph: &Graph, classes: &mut SizeClasses) -> Symbols {
        let mut of_class: HashMap<usize, usize> = HashMap::new();
        for &parameter in graph.parameters() {
            for axis in 0..graph[parameter].array_type.shape.rank() {
                let class = classes.class(parameter, axis);
                if classes.reason(class).is_none() {
                    let next = of_class.len();
                    of_class.entry(class).or_insert(next);
                }
            }
        }
        Symbols { parameter_count: of_class.len(), of_class, ..Symbols::default() }
    }

    /// Adds the derived symbols. `Some(false)` if a class was pinned, so that the symbols must be found
    /// again; `None` if a source has no size.
    fn derive(&mut self, graph: &Graph, classes: &mut SizeClasses) -> Option<bool> {
        let mut pending = classes.derivations().to_vec();
        while !pending.is_empty() {
            let (count, mut waiting) = (pending.len(), Vec::new());
            for (axis, derivation) in core::mem::take(&mut pending) {
                let is_ready = derivation.sources().all(|source| self.has_size(classes, source));
                if !is_ready {
                    waiting.push((axis, derivation));
                } else if !self.add_derived(graph, classes, axis, &derivation) {
                    return Some(false);
                }
            }
            // A node that occurs several times may come before a source of a later derivation.
            if waiting.len() == count {
                return None;
            }
            pending = waiting;
        }
        Some(true)
    }

    /// Whether an axis has a symbol or is a number.
    fn has_size(&self, classes: &mut SizeClasses, (value, axis): Axis) -> bool {
        let class = classes.class(value, axis);
        classes.reason(class).is_some() || self.of_class.contains_key(&class)
    }

    /// Adds the symbol of a derived size, or a check; `false` if its class was pinned.
    fn add_derived(
        &mut self,
        graph: &Graph,
        classes: &mut SizeClasses,
        (value, axis): Axis,
        derivation: &Derivation<Axis>,
    ) -> bool {
        let resolved = derivation.map(|source| self.size(graph, classes, source));
        let class = classes.class(value, axis);
        let is_number = classes.reason(class).is_some();
        if resolved.is_known() {
            if !is_number {
                classes.pin(value, axis, "it follows from sizes that are numbers");
            }
            return is_number;
        }
        if is_number || self.of_class.contains_key(&class) {
            let size = self.size(graph, classes, (value, axis));
            self.checks.push((resolved, size));
        } else {
            self.of_class.insert(class, self.count());
            self.derived.push(resolved);
        }
        true
    }

    /// Whether each axis has a symbol or is a number.
    fn has_all(&self, graph: &Graph, classes: &mut SizeClasses) -> bool {
        graph.iter().all(|(value, node)| {
            (0..node.array_type.shape.rank()).all(|axis| self.has_size(classes, (value, axis)))
        })
    }

    /// Chooses the representatives: they differ from each other and from every number in the graph, so
    /// passes, which compare numbers, find no two sizes equal that differ in some binding. `Some(false)` if
    /// two classes with equal sizes were merged, or a class whose size never varies was pinned, so that the
    /// symbols must be found again.
    fn represent(&mut self, graph: &Graph, classes: &mut SizeClasses) -> Option<bool> {
        let numbers = self.numbers(graph, classes);
        let own = self.own_sizes(graph, classes);
        let mut last: Option<Vec<usize>> = None;
        for attempt in 0..MAX_ATTEMPTS {
            let Some(all) = self.candidates(&own, &numbers, attempt) else { continue };
            let pairs = equal_pairs(&all);
            if pairs.is_empty() && !all.iter().any(|size| numbers.contains(size)) {
                self.representatives = all;
                return Some(true);
            }
            // Equal at two different points. The derivations are checked at each binding.
            if let Some(last) = &last {
                if !pairs.is_empty() && equal_pairs(last) == pairs {
                    self.merge(graph, classes, &pairs);
                    return Some(false);
                }
                let is_number = |symbol: &usize| {
                    all[*symbol] == last[*symbol] && numbers.contains(&all[*symbol])
                };
                let fixed: Vec<usize> =
                    (self.parameter_count..all.len()).filter(is_number).collect();
                if !fixed.is_empty() {
                    self.pin(graph, classes, &fixed);
                    return Some(false);
                }
            }
            last = Some(all);
        }
        None
    }

    /// The numbers in the graph.
    fn numbers(&self, graph: &Graph, classes: &mut SizeClasses) -> HashSet<usize> {
        let sizes = sizes(graph, classes, self);
        sizes.iter().flatten().filter_map(|size| size.known()).collect()
    }

    /// The size of each symbol of the parameters in the graph itself.
    fn own_sizes(&self, graph: &Graph, classes: &mut SizeClasses) -> Vec<usize> {
        let mut own = vec![0; self.parameter_count];
        for &parameter in graph.parameters() {
            for (axis, &size) in graph[parameter].array_type.shape.iter().enumerate() {
                if let Size::Symbol(symbol) = self.size(graph, classes, (parameter, axis)) {
                    own[symbol] = size;
                }
            }
        }
        own
    }

    /// Sizes of all symbols that meet the checks; `None` if these do not.
    fn candidates(
        &self,
        own: &[usize],
        numbers: &HashSet<usize>,
        attempt: usize,
    ) -> Option<Vec<usize>> {
        if self.derived.is_empty() && self.checks.is_empty() {
            let distinct = (MIN_REPRESENTATIVE..).filter(|size| !numbers.contains(size));
            return Some(distinct.take(self.parameter_count).collect());
        }
        let free = self.free_sizes(own, attempt)?;
        let is_checked = |symbol: usize| {
            self.checks.iter().any(|(derivation, size)| {
                *size == Size::Symbol(symbol) && !derivation.sources().any(|of| of == *size)
            })
        };
        let mut sizes: Vec<Option<usize>> =
            (0..free.len()).map(|symbol| (!is_checked(symbol)).then_some(free[symbol])).collect();
        // A size that a check states follows from the others, unless they follow from it.
        while let Some(unknown) = sizes.iter().position(Option::is_none) {
            let stated = self.checks.iter().find_map(|(derivation, size)| {
                let symbol = size.symbol().filter(|&symbol| sizes.get(symbol) == Some(&None))?;
                let known = derivation.sources().all(|of| {
                    of.symbol().is_none_or(|of| sizes.get(of).is_some_and(Option::is_some))
                });
                let known_sizes: Vec<usize> = sizes.iter().map(|size| size.unwrap_or(0)).collect();
                known.then(|| Some((symbol, derivation.resolve(&known_sizes)?)))?
            });
            let (symbol, size) = stated.unwrap_or((unknown, free[unknown]));
            sizes[symbol] = Some(size);
        }
        resolve(&self.derived, &self.checks, sizes.into_iter().flatten().collect())
    }

    /// Sizes for the symbols of parameters. They have the same remainders as the sizes of the graph by every
    /// number that divides sizes, so quotients are whole; they are far apart, so that a sum with an offset
    /// never equals another size. They grow with squares: sizes that are proportional at one attempt, such
    /// as `n` and `2 * n`, are not proportional at the others.
    fn free_sizes(&self, own: &[usize], attempt: usize) -> Option<Vec<usize>> {
        let divisors = self.derivations().map(Derivation::divisor);
        // The common multiple suffices, unless a quotient is divided again.
        let modulus = match attempt % 2 {
            0 => divisors.fold(1, common_multiple),
            _ => divisors.fold(1, usize::saturating_mul),
        };
        let offset = self.derivations().map(Derivation::largest_offset).max().unwrap_or(0);
        if modulus > MAX_MODULUS || offset > MAX_SYMBOL_SIZE {
            return None;
        }
        let apart = (2 * offset + MIN_REPRESENTATIVE).div_ceil(modulus);
        let size = |(symbol, own): (usize, &usize)| {
            let place = symbol + 1;
            own % modulus + modulus * (apart * place + attempt * place * place)
        };
        Some(own.iter().enumerate().map(size).collect())
    }

    fn derivations(&self) -> impl Iterator<Item = &Derivation<Size>> {
        self.derived.iter().chain(self.checks.iter().map(|(derivation, _)| derivation))
    }

    /// Joins the classes of pairs of symbols.
    fn merge(&self, graph: &Graph, classes: &mut SizeClasses, pairs: &[(usize, usize)]) {
        let axes = self.axes(graph, classes);
        for &(first, second) in pairs {
            if let (Some(first), Some(second)) = (axes[first], axes[second]) {
                classes.join(first, second);
            }
        }
    }

    /// Pins the classes of symbols whose sizes never vary.
    fn pin(&self, graph: &Graph, classes: &mut SizeClasses, symbols: &[usize]) {
        let axes = self.axes(graph, classes);
        for (value, axis) in symbols.iter().filter_map(|&symbol| axes[symbol]) {
            classes.pin(value, axis, "it follows from sizes that are numbers");
        }
    }

    /// The first axis of each symbol.
    fn axes(&self, graph: &Graph, classes: &mut SizeClasses) -> Vec<Option<Axis>> {
        let mut axes: Vec<Option<Axis>> = vec![None; self.count()];
        for (value, node) in graph.iter() {
            for axis in 0..node.array_type.shape.rank() {
                if let Size::Symbol(symbol) = self.size(graph, classes, (value, axis)) {
                    axes[symbol].get_or_insert((value, axis));
                }
            }
        }
        axes
    }
}

/// The least common multiple of two numbers of at least 1; saturates.
fn common_multiple(first: usize, second: usize) -> usize {
    let (mut divisor, mut rest) = (first, second);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (first / divisor).saturating_mul(second)
}

/// The sizes of all symbols from those of the parameters; `None` if a derivation has no result, a check
/// fails, or a size is too small for a symbol.
pub(super) fn resolve(
    derived: &[Derivation<Size>],
    checks: &[(Derivation<Size>, Size)],
    of_parameters: Vec<usize>,
) -> Option<Vec<usize>> {
    let mut symbols = of_parameters;
    for derivation in derived {
        let size = derivation.resolve(&symbols)?;
        symbols.push(Some(size).filter(|size| (MIN_SYMBOL_SIZE..=MAX_SYMBOL_SIZE).contains(size))?);
    }
    let holds = |(derivation, size): &(Derivation<Size>, Size)| {
        derivation.resolve(&symbols) == Some(size.resolve(&symbols))
    };
    checks.iter().all(holds).then_some(symbols)
}

/// The pairs of positions with equal sizes.
fn equal_pairs(sizes: &[usize]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (second, size) in sizes.iter().enumerate() {
        if let Some(first) = sizes[..second].iter().position(|other| other == size) {
            pairs.push((first, second));
        }
    }
    pairs
}

/// The sizes of each value's axes.
pub(super) fn sizes(graph: &Graph, classes: &mut SizeClasses, symbols: &Symbols) -> Vec<Vec<Size>> {
    let of_value = |(value, rank): (ValueId, usize)| {
        (0..rank).map(|axis| symbols.size(graph, classes, (value, axis))).collect()
    };
    graph.iter().map(|(value, node)| (value, node.array_type.shape.rank())).map(of_value).collect()
}
