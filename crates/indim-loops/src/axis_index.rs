//! The index of an access along one axis of its array, for a point of a nest.

use core::fmt;

use indim_graph::Size;
use smallvec::SmallVec;

use crate::sizes::Sizes;

/// The affine index along one axis of an array: its value at the first point of the nest, plus a term
/// `step * i` for each axis of the nest with which it moves, where `i` is the index along that axis. Only
/// windows have several terms.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AxisIndex {
    /// The index at the first point of the nest, without `size_terms`; negative only if there are some.
    pub start: isize,
    /// The symbolic part of the index at the first point: a slice may begin at a distance from the end of an
    /// axis. `None` in a concrete nest. A pointer, because most indices have no such terms.
    pub size_terms: Option<Box<SizeTerms>>,
    /// The variable terms, in ascending order of their axes, which differ; none if the index is constant.
    pub terms: AxisTerms,
}

/// The variable terms of an index; one is stored inline.
pub type AxisTerms = SmallVec<[AxisTerm; 1]>;

/// A variable term of an index: `step` times the index along `axis` of the nest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AxisTerm {
    /// The axis of the nest.
    pub axis: usize,
    /// Elements per step of the nest; never 0.
    pub step: isize,
}

/// Symbolic terms of an index, in ascending order of their symbols, which differ; one is stored inline.
pub type SizeTerms = SmallVec<[SizeTerm; 1]>;

/// A symbolic term of an index at the first point of the nest: `count` times the size of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SizeTerm {
    /// The symbol.
    pub symbol: usize,
    /// The factor of its size; never 0.
    pub count: isize,
}

impl AxisIndex {
    /// The constant index 0.
    pub fn zero() -> AxisIndex {
        AxisIndex { start: 0, size_terms: None, terms: AxisTerms::new() }
    }

    /// The index `start + step * i`, where `i` is the index along this axis of the nest, of this size.
    pub(crate) fn new(start: isize, step: isize, (axis, size): (usize, Size)) -> AxisIndex {
        let mut terms = AxisTerms::new();
        if size != Size::Known(1) {
            terms.push(AxisTerm { axis, step });
        }
        AxisIndex { start, size_terms: None, terms }
    }

    /// The index of an array axis of this size that moves with an axis of the nest, element by element.
    pub fn identity(axis: usize, size: Size) -> AxisIndex {
        AxisIndex::new(0, 1, (axis, size))
    }

    /// The composition with `walked`: the index along each axis is itself the affine index `walked[axis]`.
    pub(crate) fn compose(&self, walked: &[AxisIndex]) -> AxisIndex {
        let mut index = AxisIndex { terms: AxisTerms::new(), ..self.clone() };
        for &AxisTerm { axis, step } in &self.terms {
            let AxisIndex { start, terms, .. } = &walked[axis];
            index.start = index.start.wrapping_add(step.wrapping_mul(*start));
            for term in walked[axis].size_terms() {
                index.add_size(term.symbol, term.count.wrapping_mul(step));
            }
            terms.iter().for_each(|term| index.add(term.axis, term.step.wrapping_mul(step)));
        }
        index
    }

    /// Adds a term.
    fn add(&mut self, axis: usize, step: isize) {
        match self.terms.binary_search_by_key(&axis, |term| term.axis) {
            Ok(position) => {
                let sum = self.terms[position].step.wrapping_add(step);
                match sum {
                    0 => drop(self.terms.remove(position)),
                    _ => self.terms[position].step = sum,
                }
            }
            Err(position) => self.terms.insert(position, AxisTerm { axis, step }),
        }
    }

    /// The symbolic terms of the index at the first point of the nest.
    pub(crate) fn size_terms(&self) -> &[SizeTerm] {
        self.size_terms.as_deref().map_or(&[], SmallVec::as_slice)
    }

    /// Adds `count` times the size of a symbol to the index at the first point.
    pub(crate) fn add_size(&mut self, symbol: usize, count: isize) {
        let mut terms = self.size_terms.take().unwrap_or_default();
        match terms.binary_search_by_key(&symbol, |term| term.symbol) {
            Ok(position) => {
                let sum = terms[position].count.wrapping_add(count);
                match sum {
                    0 => drop(terms.remove(position)),
                    _ => terms[position].count = sum,
                }
            }
            Err(position) => terms.insert(position, SizeTerm { symbol, count }),
        }
        self.size_terms = Some(terms).filter(|terms| !terms.is_empty());
    }

    /// Adds a size to the index at the first point.
    pub(crate) fn move_by(&mut self, size: Size) {
        match size {
            Size::Known(size) => self.start += size as isize,
            Size::Symbol(symbol) => self.add_size(symbol, 1),
        }
    }

    /// The same index in a larger array that contains this one from `start` on. `start` is constant.
    pub(crate) fn moved_to(&self, start: &AxisIndex) -> AxisIndex {
        let mut moved = AxisIndex { start: self.start + start.start, ..self.clone() };
        for term in start.size_terms() {
            moved.add_size(term.symbol, term.count);
        }
        moved
    }

    /// The index at the first point of the nest, for these sizes of the symbols.
    pub(crate) fn first(&self, sizes: Sizes<'_>) -> isize {
        let size = |term: &SizeTerm| sizes.0[term.symbol] as isize;
        let terms = self.size_terms().iter().map(|term| term.count.wrapping_mul(size(term)));
        terms.fold(self.start, isize::wrapping_add)
    }

    /// Whether the index at the first point of the nest is 0.
    pub(crate) fn starts_at_zero(&self) -> bool {
        self.start == 0 && self.size_terms.is_none()
    }

    /// The term of an index that has one.
    pub fn single_term(&self) -> Option<AxisTerm> {
        match self.terms[..] {
            [term] => Some(term),
            _ => None,
        }
    }

    /// Whether the index moves with an axis of the nest.
    pub fn moves_with(&self, axis: usize) -> bool {
        self.terms.iter().any(|term| term.axis == axis)
    }
}

impl AxisIndex {
    /// The text of the index; `index` names an axis of the nest.
    pub fn to_text(&self, index: impl Fn(usize) -> String) -> String {
        let is_negative = |term: &&AxisTerm| term.step < 0;
        let (back, forth): (Vec<&AxisTerm>, Vec<&AxisTerm>) =
            self.terms.iter().partition(is_negative);
        let product = |term: &&AxisTerm| match term.step.unsigned_abs() {
            1 => index(term.axis),
            distance => format!("{distance}*{}", index(term.axis)),
        };
        let sum = forth.iter().map(product).collect::<Vec<String>>().join("+");
        let start = match (self.starts_at_zero(), forth.is_empty(), back.is_empty()) {
            (_, true, _) => self.start_text(),
            (true, false, true) => sum,
            (false, false, true) => format!("{sum}+{}", self.start_text()),
            (_, false, false) => format!("{}+{sum}", self.start_text()),
        };
        back.iter().map(product).fold(start, |text, product| format!("{text}-{product}"))
    }

    /// The text of the index at the first point of the nest: `9`, `s0-3`.
    fn start_text(&self) -> String {
        let mut text = String::new();
        for &SizeTerm { symbol, count } in self.size_terms() {
            text += match (count < 0, text.is_empty()) {
                (true, _) => "-",
                (false, true) => "",
                (false, false) => "+",
            };
            if count.unsigned_abs() != 1 {
                text += &format!("{}*", count.unsigned_abs());
            }
            text += &format!("s{symbol}");
        }
        match (self.start, text.is_empty()) {
            (start, true) => start.to_string(),
            (0, false) => text,
            (start, false) => format!("{text}{start:+}"),
        }
    }
}

/// The text of the index: `i0`, `i0+1`, `9-i0`, `2*i0+1`, `2*i0+i3`, `3`.
impl fmt::Display for AxisIndex {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.to_text(|axis| format!("i{axis}")))
    }
}
