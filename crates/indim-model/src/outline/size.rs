//! Symbolic sizes: polynomials with integer coefficients over names.

use core::fmt;
use std::sync::Arc;

use crate::model::DeclaredSize;

/// Maximum terms of a polynomial. Shape subgraphs of real models have one or two; the limit keeps hostile
/// ones cheap.
const MAX_TERMS: usize = 16;

/// Maximum names in one product, for the same reason.
const MAX_FACTORS: usize = 8;

/// Maximum bytes of one name, with the expressions inside it.
const MAX_NAME_BYTES: usize = 200;

/// A size of an axis that may depend on names: `N`, `2*N + 1`, `floor((N + 1)/2)`. Equal texts are equal
/// sizes.
///
/// ```
/// use indim_model::outline::SymbolicSize;
///
/// let n = SymbolicSize::named("N");
/// let doubled = n.times(&SymbolicSize::known(2)).unwrap();
/// assert_eq!(doubled.plus(&SymbolicSize::known(-1)).unwrap().to_string(), "2*N - 1");
/// assert_eq!(doubled.divided_exactly(&n), Some(SymbolicSize::known(2)));
/// let half = n.plus(&SymbolicSize::known(1)).unwrap().floor_divided(2).unwrap();
/// assert_eq!(half.to_string(), "floor((N + 1)/2)");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SymbolicSize(Polynomial);

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Polynomial {
    Known(i64),
    /// Sorted products of names, each with its coefficient; the constant has no names and is last.
    Terms(Arc<[Term]>),
}

/// A product of sorted names, with its coefficient, which is not 0.
type Term = (Vec<Name>, i64);

/// The name of a size, and its bounds if the file states some.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Name {
    text: Arc<str>,
    bounds: Option<Bounds>,
}

/// The smallest and the largest number that a size may be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Bounds {
    min: i64,
    max: Option<i64>,
}

impl Name {
    /// Whether this is an expression, such as `floor(N/2)`.
    fn is_expression(&self) -> bool {
        self.text.contains('(')
    }

    /// The bounds of the name, which is a number from `least` on if the file states none.
    fn bounds(&self, least: i64) -> Bounds {
        self.bounds.unwrap_or(Bounds { min: least, max: None })
    }
}

impl SymbolicSize {
    /// A number. Sizes are not negative, but intermediate results may be.
    pub fn known(size: i64) -> Self {
        SymbolicSize(Polynomial::Known(size))
    }

    /// A size with a name. A sum in the name, such as `past + 1`, is a sum of sizes.
    pub fn named(name: &str) -> Self {
        let part = |part: &str| match part.trim().parse::<i64>() {
            Ok(number) => SymbolicSize::known(number),
            Err(_) => SymbolicSize::atom(part.trim()),
        };
        let parts: Vec<SymbolicSize> = name.split(" + ").map(part).collect();
        let sum = parts.iter().skip(1).try_fold(parts[0].clone(), |sum, part| sum.plus(part));
        sum.unwrap_or_else(|| SymbolicSize::atom(name))
    }

    /// A size that is one name.
    pub fn atom(name: &str) -> Self {
        let mut end = name.len().min(MAX_NAME_BYTES);
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        let text = Arc::from(indim_graph::terminal::printable(&name[..end]));
        SymbolicSize(Polynomial::Terms([(vec![Name { text, bounds: None }], 1)].into()))
    }

    /// The same name for a size between two numbers, both inclusive; an expression stays as it is.
    ///
    /// ```
    /// use indim_model::outline::SymbolicSize;
    ///
    /// let size = SymbolicSize::open("x", 0).within(2, Some(5));
    /// assert!(size.may_be_equal(&SymbolicSize::known(5), 0));
    /// assert!(!size.may_be_equal(&SymbolicSize::known(8), 0));
    /// assert!(!size.may_be_equal(&SymbolicSize::open("y", 0).within(6, None), 0));
    /// assert_eq!(size.within(3, Some(3)), SymbolicSize::known(3));
    /// ```
    #[must_use]
    pub fn within(&self, min: usize, max: Option<usize>) -> Self {
        let number = |bound: usize| i64::try_from(bound).unwrap_or(i64::MAX);
        if max == Some(min) {
            return SymbolicSize::known(number(min));
        }
        let bounds = Some(Bounds { min: number(min), max: max.map(number) });
        match self.name() {
            Some(text) => {
                let name = Name { text: Arc::from(text), bounds };
                SymbolicSize(Polynomial::Terms([(vec![name], 1)].into()))
            }
            None => self.clone(),
        }
    }

    /// The size of an axis that the file leaves open, named by its value and axis: `x[0]`.
    ///
    /// ```
    /// use indim_model::outline::SymbolicSize;
    ///
    /// assert_eq!(SymbolicSize::open("x", 0).to_string(), "x[0]");
    /// assert!(SymbolicSize::open("x", 0).is_open() && !SymbolicSize::named("N").is_open());
    /// ```
    pub fn open(value: &str, axis: usize) -> Self {
        SymbolicSize::atom(&format!("{value}[{axis}]"))
    }

    /// Whether the file leaves the size open; see [`SymbolicSize::open`].
    pub fn is_open(&self) -> bool {
        match &self.0 {
            Polynomial::Known(_) => false,
            Polynomial::Terms(terms) => match &terms[..] {
                [(names, 1)] => names.len() == 1 && names[0].text.ends_with(']'),
                _ => false,
            },
        }
    }

    /// The size with the bounds that the file states: `x[0] (2..5)`.
    pub(super) fn with_bounds(&self) -> String {
        let Polynomial::Terms(terms) = &self.0 else { return self.to_string() };
        let [(names, 1)] = &terms[..] else { return self.to_string() };
        let [Name { bounds: Some(Bounds { min, max }), .. }] = &names[..] else {
            return self.to_string();
        };
        format!("{self} ({min}..{})", max.map_or(String::new(), |max| max.to_string()))
    }

    /// The declared size; `name` names a size that the file leaves open.
    pub fn declared(size: &DeclaredSize, name: impl FnOnce() -> String) -> Self {
        match size {
            DeclaredSize::Known(size) => {
                SymbolicSize::known(i64::try_from(*size).unwrap_or(i64::MAX))
            }
            DeclaredSize::Symbol(name) => SymbolicSize::named(name),
            DeclaredSize::Range { min, max } => SymbolicSize::atom(&name()).within(*min, *max),
            DeclaredSize::Dynamic => SymbolicSize::atom(&name()),
        }
    }

    /// The text of a shape: `[N, 3]`.
    pub(crate) fn list_text(sizes: &[SymbolicSize]) -> String {
        let sizes: Vec<String> = sizes.iter().map(SymbolicSize::to_string).collect();
        format!("[{}]", sizes.join(", "))
    }

    /// The number, if the size does not depend on names.
    pub fn number(&self) -> Option<i64> {
        match self.0 {
            Polynomial::Known(size) => Some(size),
            Polynomial::Terms(_) => None,
        }
    }

    /// Whether this is the number.
    pub fn is(&self, size: i64) -> bool {
        self.number() == Some(size)
    }

    /// The sum; `None` if it has more than `MAX_TERMS` terms, or a coefficient overflows.
    pub fn plus(&self, other: &Self) -> Option<Self> {
        SymbolicSize::sum(self.terms().into_iter().chain(other.terms()))
    }

    /// The difference; `None` as for the sum.
    pub fn minus(&self, other: &Self) -> Option<Self> {
        self.plus(&other.times(&SymbolicSize::known(-1))?)
    }

    /// The product; `None` if it has too many terms or names, or a coefficient overflows.
    pub fn times(&self, other: &Self) -> Option<Self> {
        let (ours, theirs) = (self.terms(), other.terms());
        let mut products = Vec::new();
        for (names, factor) in &ours {
            for (more, other) in &theirs {
                let mut names = names.clone();
                names.extend(more.iter().cloned());
                names.sort();
                if names.len() > MAX_FACTORS {
                    return None;
                }
                products.push((names, factor.checked_mul(*other)?));
            }
        }
        SymbolicSize::sum(products.into_iter())
    }

    /// The product of sizes; `None` as for [`SymbolicSize::times`].
    pub fn product<'s>(sizes: impl IntoIterator<Item = &'s SymbolicSize>) -> Option<Self> {
        sizes.into_iter().try_fold(SymbolicSize::known(1), |product, size| product.times(size))
    }

    /// The quotient, if the division has no remainder. A divisor of several terms divides only itself.
    pub fn divided_exactly(&self, divisor: &Self) -> Option<Self> {
        let terms = divisor.terms();
        let [(names, by)] = &terms[..] else {
            return (self == divisor && !terms.is_empty()).then(|| SymbolicSize::known(1));
        };
        let mut quotient = Vec::new();
        for (mut left, factor) in self.terms() {
            for name in names {
                let position = left.iter().position(|known| known == name)?;
                left.remove(position);
            }
            (factor.checked_rem(*by)? == 0).then_some(())?;
            quotient.push((left, factor.checked_div(*by)?));
        }
        SymbolicSize::sum(quotient.into_iter())
    }

    /// Whether no values of the names make this size a multiple of `divisor`: the names cancel, and the
    /// numbers have a remainder. A divisor that is 0 divides nothing, so names that may be 0 do not matter.
    ///
    /// ```
    /// use indim_model::outline::SymbolicSize;
    ///
    /// let times = |number| SymbolicSize::named("N").times(&SymbolicSize::known(number)).unwrap();
    /// assert!(times(24).never_divides_by(&times(5)) && !times(24).never_divides_by(&times(6)));
    /// assert!(!times(24).never_divides_by(&SymbolicSize::known(5)));
    /// ```
    pub fn never_divides_by(&self, divisor: &Self) -> bool {
        let terms = divisor.terms();
        let [(names, by)] = &terms[..] else { return false };
        let Some(product) = SymbolicSize::sum([(names.clone(), 1)].into_iter()) else {
            return false;
        };
        let rest = self.divided_exactly(&product).and_then(|rest| rest.number());
        rest.and_then(|rest| rest.checked_rem(*by)).is_some_and(|remainder| remainder != 0)
    }

    /// The quotient, rounded down, by a positive number.
    pub fn floor_divided(&self, divisor: i64) -> Option<Self> {
        if divisor <= 0 {
            return None;
        }
        if let Some(number) = self.number() {
            return Some(SymbolicSize::known(number.div_euclid(divisor)));
        }
        let exact = self.divided_exactly(&SymbolicSize::known(divisor));
        exact.or_else(|| SymbolicSize::checked_atom(format!("floor(({self})/{divisor})")))
    }

    /// The smaller one of two sizes.
    pub fn minimum(&self, other: &Self) -> Option<Self> {
        match (self.number(), other.number(), self.minus(other)?.number()) {
            (Some(a), Some(b), _) => Some(SymbolicSize::known(a.min(b))),
            (.., Some(difference)) => Some(if difference <= 0 { self } else { other }.clone()),
            _ => SymbolicSize::checked_atom(format!("min({self}, {other})")),
        }
    }

    /// Whether the size is at most another one for all values of their names.
    ///
    /// ```
    /// use indim_model::outline::SymbolicSize;
    ///
    /// let (n, limit) = (SymbolicSize::named("N"), SymbolicSize::known(128));
    /// assert!(n.minimum(&limit).unwrap().is_at_most(&n));
    /// assert!(!limit.is_at_most(&n));
    /// ```
    pub fn is_at_most(&self, other: &Self) -> bool {
        let difference = self.minus(other).and_then(|difference| difference.number());
        let is_nothing = self.number().is_some_and(|size| size <= 0);
        is_nothing
            || difference.is_some_and(|difference| difference <= 0)
            || self.limit_of(other).is_some()
    }

    /// The size of the result where two sizes meet in a broadcast and at least one of them is unknown:
    /// the name `broadcast(N, M)`.
    pub fn broadcast(&self, other: &Self) -> Self {
        let (first, second) = if self <= other { (self, other) } else { (other, self) };
        let joined = SymbolicSize::checked_atom(format!("broadcast({first}, {second})"));
        joined.unwrap_or_else(|| first.clone())
    }

    /// The name, if the size is one name.
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Polynomial::Terms(terms) => match &terms[..] {
                [(names, 1)] if names.len() == 1 => names.first().map(|name| &*name.text),
                _ => None,
            },
            Polynomial::Known(_) => None,
        }
    }

    /// Whether two sizes can be equal if each name is a number from `least` on, which is 0 or 1.
    ///
    /// ```
    /// use indim_model::outline::SymbolicSize;
    ///
    /// let n = SymbolicSize::named("N");
    /// let next = n.plus(&SymbolicSize::known(1)).unwrap();
    /// assert!(!n.may_be_equal(&next, 0) && n.may_be_equal(&SymbolicSize::named("M"), 1));
    /// ```
    pub fn may_be_equal(&self, other: &Self, least: i64) -> bool {
        let Some(difference) = self.minus(other) else { return true };
        if let Some(number) = difference.number() {
            return number == 0;
        }
        let terms = difference.terms();
        // A rounded quotient can be 0 although its names are not.
        let is_expression = |(names, _): &Term| names.iter().any(Name::is_expression);
        let is_empty = self.is(0) || other.is(0);
        let least = if is_empty || terms.iter().any(is_expression) { 0 } else { least };
        if !may_be_zero(&terms, least) {
            return false;
        }
        if let Some((_, value)) = solved(&terms) {
            return value.is_some_and(|value| value >= least);
        }
        let has_sign = |sign: i64| terms.iter().all(|(_, factor)| factor.signum() == sign);
        let has_constant = terms.iter().any(|(names, _)| names.is_empty());
        !(has_sign(1) || has_sign(-1)) || (least == 0 && !has_constant)
    }

    /// The number if each name stands for `number`; `None` for a name that is an expression, such as
    /// `floor(N/2)`.
    ///
    /// ```
    /// use indim_model::outline::SymbolicSize;
    ///
    /// let n = SymbolicSize::named("N");
    /// let next = n.times(&n).unwrap().plus(&SymbolicSize::known(1)).unwrap();
    /// assert_eq!(next.with_names_as(3), Some(10));
    /// assert_eq!(n.plus(&next).unwrap().floor_divided(2).unwrap().with_names_as(3), None);
    /// ```
    pub fn with_names_as(&self, number: i64) -> Option<i64> {
        let mut sum = 0i64;
        for (names, factor) in self.terms() {
            if names.iter().any(Name::is_expression) {
                return None;
            }
            let power = number.checked_pow(u32::try_from(names.len()).ok()?)?;
            sum = sum.checked_add(power.checked_mul(factor)?)?;
        }
        Some(sum)
    }

    /// The equation of two sizes as text, solved for a name if the equation has only one.
    pub(super) fn equation(&self, other: &Self) -> String {
        for (one, bound) in [(self, other), (other, self)] {
            if let Some(limit) = one.limit_of(bound) {
                return match bound.number() {
                    Some(_) => format!("{limit} >= {bound}"),
                    None => format!("{bound} <= {limit}"),
                };
            }
        }
        let terms = self.minus(other).map(|it| it.terms()).unwrap_or_default();
        match solved(&terms) {
            Some((names, Some(value))) => format!("{} = {value}", product_text(names)),
            _ => format!("{self} = {other}"),
        }
    }

    /// The other size of a minimum of `bound` and another size; `None` if this is no such minimum.
    fn limit_of(&self, bound: &Self) -> Option<&str> {
        let arguments = self.name()?.strip_prefix("min(")?.strip_suffix(')')?;
        let bound = bound.to_string();
        let first = || arguments.strip_suffix(&bound)?.strip_suffix(", ");
        let second = || arguments.strip_prefix(&bound)?.strip_prefix(", ");
        first().or_else(second)
    }

    fn checked_atom(name: String) -> Option<Self> {
        (name.len() <= MAX_NAME_BYTES).then(|| SymbolicSize::atom(&name))
    }

    fn terms(&self) -> Vec<Term> {
        match &self.0 {
            Polynomial::Known(0) => Vec::new(),
            Polynomial::Known(size) => vec![(Vec::new(), *size)],
            Polynomial::Terms(terms) => terms.to_vec(),
        }
    }

    fn sum(terms: impl Iterator<Item = Term>) -> Option<Self> {
        let mut sum: Vec<Term> = Vec::new();
        for (names, factor) in terms {
            match sum.iter_mut().find(|(known, _)| *known == names) {
                Some((_, total)) => *total = total.checked_add(factor)?,
                None => sum.push((names, factor)),
            }
        }
        sum.retain(|(_, factor)| *factor != 0);
        if sum.len() > MAX_TERMS {
            return None;
        }
        // More names first; the constant is last.
        sum.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.0.cmp(&b.0)));
        Some(SymbolicSize(match &sum[..] {
            [] => Polynomial::Known(0),
            [(names, factor)] if names.is_empty() => Polynomial::Known(*factor),
            _ => Polynomial::Terms(sum.into()),
        }))
    }
}

/// The product of names in an equation `factor * names + constant = 0`, and its value, if that is an integer.
fn solved(terms: &[Term]) -> Option<(&[Name], Option<i64>)> {
    let (names, factor, constant) = match terms {
        [(names, factor)] => (names, *factor, 0),
        [(names, factor), (none, constant)] if none.is_empty() => (names, *factor, *constant),
        _ => return None,
    };
    let is_exact = constant.checked_rem(factor)? == 0;
    let value = constant.checked_div(factor)?.checked_neg()?;
    (!names.is_empty()).then_some((&names[..], is_exact.then_some(value)))
}

/// Whether the bounds that the file states leave room for a sum of 0. Without such bounds they always do.
fn may_be_zero(terms: &[Term], least: i64) -> bool {
    if terms.iter().flat_map(|(names, _)| names).all(|name| name.bounds.is_none()) {
        return true;
    }
    // The least and the largest sum; `None` is unbounded, also where a number overflows.
    let (mut min, mut max) = (Some(0i64), Some(0i64));
    for (names, factor) in terms {
        let bounds = names.iter().map(|name| name.bounds(least));
        let (low, high) = bounds.fold((Some(*factor), Some(*factor)), |(low, high), bounds| {
            let least = |product: i64| product.checked_mul(bounds.min);
            let largest = |product: i64| product.checked_mul(bounds.max?);
            match *factor > 0 {
                true => (low.and_then(least), high.and_then(largest)),
                false => (low.and_then(largest), high.and_then(least)),
            }
        });
        let added = |sum: Option<i64>, bound: Option<i64>| sum?.checked_add(bound?);
        (min, max) = (added(min, low), added(max, high));
    }
    min.is_none_or(|min| min <= 0) && max.is_none_or(|max| max >= 0)
}

fn product_text(names: &[Name]) -> String {
    names.iter().map(|name| &*name.text).collect::<Vec<_>>().join("*")
}

impl fmt::Display for SymbolicSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Polynomial::Terms(terms) = &self.0 else {
            return write!(formatter, "{}", self.number().unwrap_or_default());
        };
        for (position, (names, factor)) in terms.iter().enumerate() {
            match (position, *factor < 0) {
                (0, false) => {}
                (0, true) => write!(formatter, "-")?,
                (_, false) => write!(formatter, " + ")?,
                (_, true) => write!(formatter, " - ")?,
            }
            let factor = factor.unsigned_abs();
            match (names.is_empty(), factor) {
                (true, _) => write!(formatter, "{factor}")?,
                (false, 1) => write!(formatter, "{}", product_text(names))?,
                (false, _) => write!(formatter, "{factor}*{}", product_text(names))?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for SymbolicSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
