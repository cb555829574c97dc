//! The first index of a slice as a sum of symbolic sizes and a number.

/// Maximum number of different symbols in a first index. A concatenation of more parts of different sizes has
/// a derivative for known sizes only.
const MAX_TERMS: usize = 2;

/// The first index of a slice as a sum of symbolic sizes and a number: `n - 3` is the start of the last three
/// of `n` elements.
///
/// ```
/// use indim_graph::SymbolicStart;
///
/// let third_from_end = SymbolicStart::new(-3, [(0, 1)]).unwrap();
/// assert_eq!((third_from_end.constant(), third_from_end.terms().next()), (-3, Some((0, 1))));
/// assert_eq!(SymbolicStart::new(0, [(0, 1), (1, 1), (2, 1), (3, 1)]), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SymbolicStart {
    constant: isize,
    /// Symbols in ascending order, each with its factor; the factor 0 marks an unused place. Short integers
    /// keep errors that name a slice small.
    terms: [(u16, i16); MAX_TERMS],
}

impl SymbolicStart {
    /// The start without symbols of a slice whose first index is fixed.
    pub(super) const FIXED: SymbolicStart =
        SymbolicStart { constant: 0, terms: [(0, 0); MAX_TERMS] };

    /// Whether the start depends on a symbol.
    pub(super) const fn has_symbols(&self) -> bool {
        self.terms[0].1 != 0
    }

    /// The sum of a number and of symbols, each with its factor; `None` for too many symbols.
    pub fn new(
        constant: isize,
        terms: impl IntoIterator<Item = (usize, isize)>,
    ) -> Option<SymbolicStart> {
        let mut sum: Vec<(u16, i16)> = Vec::with_capacity(MAX_TERMS);
        for (symbol, factor) in terms {
            let (symbol, factor) = (u16::try_from(symbol).ok()?, i16::try_from(factor).ok()?);
            match sum.binary_search_by_key(&symbol, |term| term.0) {
                Ok(place) => sum[place].1 = sum[place].1.checked_add(factor)?,
                Err(place) => sum.insert(place, (symbol, factor)),
            }
        }
        sum.retain(|term| term.1 != 0);
        if sum.len() > MAX_TERMS {
            return None;
        }
        let mut terms = [(0, 0); MAX_TERMS];
        terms[..sum.len()].copy_from_slice(&sum);
        Some(SymbolicStart { constant, terms })
    }

    /// The number.
    pub const fn constant(&self) -> isize {
        self.constant
    }

    /// The symbols, each with its factor.
    pub fn terms(&self) -> impl Iterator<Item = (usize, isize)> + '_ {
        let terms = self.terms.iter().filter(|term| term.1 != 0);
        terms.map(|&(symbol, factor)| (symbol as usize, factor as isize))
    }

    /// This start and `step` times the start `later` of a slice of the slice; `None` for too many symbols.
    pub(super) fn then(&self, step: isize, later: &SymbolicStart) -> Option<SymbolicStart> {
        let steps = later.terms().map(|(symbol, factor)| (symbol, factor.wrapping_mul(step)));
        let constant = self.constant.wrapping_add(step.wrapping_mul(later.constant));
        SymbolicStart::new(constant, self.terms().chain(steps))
    }
}
