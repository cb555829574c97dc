//! Recognition of the body of a reduction as one of indim's reductions, and of a scatter as its updates.
//!
//! Bodies of reductions, scatters and sorts become text, such as `add(0,1)`, and the text is compared
//! with that of known bodies.

use indim_ops::{DType, Fact, Op, ReduceOp};

/// Maximum bytes of a term; no known body is longer.
const MAX_TERM_BYTES: usize = 8192;

/// The text of JAX's `logaddexp`: a NaN, or a difference of equal infinities, stays.
const LOG_ADD_EXP: &str = "select(ne(sub(0,1),sub(0,1)),add(0,1),\
                           add(log1p(exp(neg(abs(sub(0,1))))),max(0,1)))";

/// The reason for which reductions by [`Reducer::NotAssociative`] are refused.
pub const NOT_ASSOCIATIVE: &str =
    "its body is not associative, so its result depends on an order that XLA does not define";

/// The body of a reduction, scatter or sort as terms: each argument, constant and operation adds one.
#[derive(Debug, Default)]
pub struct ReducerBody {
    /// Text of each term, `add(0,1)`; `None` for terms that no known body has.
    terms: Vec<Option<String>>,
}

/// A recognised reduction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reducer {
    /// Folds: one independent reduction per operand.
    Folds(Vec<Op>),
    /// An arg-reduction: the extreme of the first operand, and the second operand at its position, the
    /// smallest at ties.
    ArgReduction(ReduceOp),
    /// `logaddexp` of one operand, as JAX writes it.
    LogSumExp,
    /// One operation whose result depends on the order, which XLA does not define; so it is refused.
    NotAssociative(Op),
}

/// How a scatter combines an update with an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// The update replaces the element.
    Set,
    /// An operation on both.
    Fold(Op),
}

impl ReducerBody {
    /// The term of a constant 0.
    pub const ZERO: &str = "zero";

    /// The term of a constant NaN.
    pub const NAN: &str = "nan";

    /// Adds a constant; only 0, NaN and the largest numbers of signed integers are terms of known bodies.
    pub fn constant(&mut self, value: Option<f64>) -> usize {
        let largest = |value: f64| {
            let bits = [16_u32, 32, 64].into_iter().find(|&bits| value == largest_integer(bits));
            bits.map(|bits| format!("max{bits}"))
        };
        self.add(match value {
            Some(0.0) => Some(Self::ZERO.to_owned()),
            Some(value) if value.is_nan() => Some(Self::NAN.to_owned()),
            Some(value) => largest(value),
            None => None,
        })
    }

    /// Adds a bitcast to a signed integer type.
    pub fn bitcast(&mut self, to: DType, operands: &[usize]) -> usize {
        let operand = match operands {
            &[operand] if matches!(to, DType::I16 | DType::I32 | DType::I64) => self.term(operand),
            _ => None,
        };
        let term = operand.map(|operand| format!("bits{}({operand})", 8 * to.size()));
        self.add(term.filter(|term| term.len() <= MAX_TERM_BYTES))
    }

    /// The text of a term; `None` for terms that no known body has.
    pub fn term(&self, term: usize) -> Option<&str> {
        self.terms.get(term)?.as_deref()
    }

    /// Adds an argument: accumulators first, then as many elements; or the pairs of elements of a sort.
    pub fn argument(&mut self, number: usize) -> usize {
        self.add(Some(number.to_string()))
    }

    /// Adds an operation on earlier terms; `None` is an operation outside the table.
    pub fn operation(&mut self, op: Option<Op>, operands: &[usize]) -> usize {
        let operand = |&term: &usize| self.terms.get(term)?.as_deref();
        let operands: Option<Vec<&str>> = operands.iter().map(operand).collect();
        let term = op.zip(operands).map(|(op, operands)| {
            let mut operands = operands;
            if op.is(Fact::Commutative) {
                operands.sort_unstable();
            }
            format!("{}({})", op.name(), operands.join(","))
        });
        self.add(term.filter(|term| term.len() <= MAX_TERM_BYTES))
    }

    fn add(&mut self, term: Option<String>) -> usize {
        self.terms.push(term);
        self.terms.len() - 1
    }

    /// Recognises the body that returns these terms; `None` for any other body. `element` is the type of the
    /// first argument.
    pub fn reducer(&self, results: &[usize], element: Option<DType>) -> Option<Reducer> {
        let result = |&term: &usize| self.terms.get(term)?.as_deref();
        let results: Vec<&str> = results.iter().map(result).collect::<Option<_>>()?;
        if let [extreme, position] = results[..]
            && let Some(op) = arg_reduction(extreme, position, element)
        {
            return Some(Reducer::ArgReduction(op));
        }
        if results == [LOG_ADD_EXP] {
            return Some(Reducer::LogSumExp);
        }
        if let [result] = results[..]
            && let Some(op) = not_associative(result)
        {
            return Some(Reducer::NotAssociative(op));
        }
        let count = results.len();
        let fold = |(number, result): (usize, &&str)| fold(result, number, number + count);
        results.iter().enumerate().map(fold).collect::<Option<_>>().map(Reducer::Folds)
    }

    /// Recognises the body of a scatter that returns these terms: one independent update per operand.
    pub fn updates(&self, results: &[usize]) -> Option<Vec<Update>> {
        let count = results.len();
        let update = |(number, &term): (usize, &usize)| {
            let result = self.terms.get(term)?.as_deref()?;
            match result == (number + count).to_string() {
                true => Some(Update::Set),
                false => fold(result, number, number + count).map(Update::Fold),
            }
        };
        results.iter().enumerate().map(update).collect()
    }
}

/// The largest signed integer of this many bits, rounded.
fn largest_integer(bits: u32) -> f64 {
    ((1_i128 << (bits - 1)) - 1) as f64
}

/// The operation that folds the element into the accumulator, if the term `result` is such an operation
/// on both.
fn fold(result: &str, accumulator: usize, element: usize) -> Option<Op> {
    const FOLDS: [Op; 7] = [Op::Add, Op::Mul, Op::Max, Op::Min, Op::And, Op::Or, Op::Xor];
    let mut arguments = [accumulator.to_string(), element.to_string()];
    arguments.sort_unstable();
    let [first, second] = arguments;
    FOLDS.into_iter().find(|op| result == format!("{}({first},{second})", op.name()))
}

/// The operation on both arguments that is not associative, if the term `result` is one.
fn not_associative(result: &str) -> Option<Op> {
    const OPS: [Op; 5] = [Op::Sub, Op::Div, Op::Rem, Op::Pow, Op::Atan2];
    let is_result = |op: &Op| ["0,1", "1,0"].iter().any(|order| result == format!("{op}({order})"));
    OPS.into_iter().find(is_result)
}

/// The arg-reduction of a body in JAX's form. Without its check for NaN, as JAX writes it for integers, a NaN
/// loses against every element after it; so a body for floats must have the check.
fn arg_reduction(extreme: &str, position: &str, element: Option<DType>) -> Option<ReduceOp> {
    let arg_reductions = [("gt", ReduceOp::ArgMax), ("lt", ReduceOp::ArgMin)];
    let has_no_nan = element.is_some_and(|dtype| dtype.is_integer() || dtype == DType::Bool);
    let found = arg_reductions.into_iter().find(|(comparison, _)| {
        let ordinary = has_no_nan.then(|| format!("{comparison}(0,2)"));
        let with_nan = format!("or({comparison}(0,2),ne(0,0))");
        ordinary.iter().chain([&with_nan]).any(|first_wins| {
            let both = ["and(eq(0,2),lt(1,3))", first_wins];
            let either =
                [format!("or({},{})", both[0], both[1]), format!("or({},{})", both[1], both[0])];
            extreme == format!("select({first_wins},0,2)")
                && either.iter().any(|either| position == format!("select({either},1,3)"))
        })
    });
    found.map(|(_, op)| op)
}

/// The reduction that folds elements of this type by `op`; for booleans a sum is `any`, a product `all`.
pub fn reduction_of(op: Op, dtype: DType) -> Option<ReduceOp> {
    Some(match (op, dtype) {
        (Op::Add, DType::Bool) => ReduceOp::Or,
        (Op::Mul, DType::Bool) => ReduceOp::And,
        (Op::Add, _) => ReduceOp::Add,
        (Op::Mul, _) => ReduceOp::Mul,
        (Op::Max, _) => ReduceOp::Max,
        (Op::Min, _) => ReduceOp::Min,
        (Op::And, _) => ReduceOp::And,
        (Op::Or, _) => ReduceOp::Or,
        (Op::Xor, _) => ReduceOp::Xor,
        _ => return None,
    })
}
