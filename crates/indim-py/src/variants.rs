//! The compiled variants of a computation, found by operand types.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use indim::DType;

use crate::computation::Compiled;
use crate::operand::{Operand, OperandType};

/// So many variants are kept; beyond that the oldest goes.
const MAX_VARIANTS: usize = 256;

/// Variants, in the order in which they came.
#[derive(Default)]
pub(crate) struct Variants {
    /// With what [`mixed`] makes of their sizes.
    all: VecDeque<(u64, Arc<Compiled>)>,
    /// The newest of each such number. Others have other numbers among their operands.
    newest: HashMap<u64, Arc<Compiled>>,
    /// The last variant, which is usually requested again.
    last: Option<Arc<Compiled>>,
}

impl Variants {
    /// The variant for these operands that `fits`.
    pub(crate) fn find(
        &mut self,
        operands: &[Operand<'_>],
        fits: impl Fn(&Compiled) -> bool,
    ) -> Option<Arc<Compiled>> {
        if let Some(last) = self.last.as_ref().filter(|last| fits(last)) {
            return Some(Arc::clone(last));
        }
        let of_array = |operand: &Operand<'_>| match operand {
            Operand::Array(array) => mixed_array(array.dtype(), array.sizes()),
            Operand::Number(_) | Operand::Constant(_) => NUMBER,
        };
        let sizes = mixed(operands.iter().map(of_array));
        let newest = self.newest.get(&sizes)?;
        let is_it = |(of, compiled): &&(u64, Arc<Compiled>)| *of == sizes && fits(compiled);
        let found = match fits(newest) {
            true => newest,
            false => &self.all.iter().rev().find(is_it)?.1,
        };
        self.last = Some(Arc::clone(found));
        self.last.clone()
    }

    /// Keeps a variant; returns one that is kept no longer.
    pub(crate) fn keep(&mut self, compiled: &Arc<Compiled>) -> Option<Arc<Compiled>> {
        let of_array = |of: &OperandType| match of {
            OperandType::Array(of) => mixed_array(of.dtype, &of.shape),
            OperandType::Input(_) | OperandType::Number(_) => NUMBER,
        };
        let sizes = mixed(compiled.types.iter().map(of_array));
        let gone = if self.all.len() >= MAX_VARIANTS { self.remove_oldest() } else { None };
        self.all.push_back((sizes, Arc::clone(compiled)));
        self.newest.insert(sizes, Arc::clone(compiled));
        self.last = Some(Arc::clone(compiled));
        gone
    }

    /// Forgets the oldest.
    pub(crate) fn remove_oldest(&mut self) -> Option<Arc<Compiled>> {
        let (sizes, oldest) = self.all.pop_front()?;
        if self.newest.get(&sizes).is_some_and(|newest| Arc::ptr_eq(newest, &oldest)) {
            self.newest.remove(&sizes);
        }
        // The next request is unlikely to be for this variant.
        self.last.take_if(|last| Arc::ptr_eq(last, &oldest));
        Some(oldest)
    }

    /// The variants, the oldest first.
    pub(crate) fn iter(
        &self,
    ) -> impl DoubleEndedIterator<Item = &Arc<Compiled>> + ExactSizeIterator {
        self.all.iter().map(|(_, compiled)| compiled)
    }
}

/// The key of a number, which needs a further comparison.
const NUMBER: u64 = 1;

fn mixed_array(dtype: DType, sizes: &[usize]) -> u64 {
    mixed([dtype as u64].into_iter().chain(sizes.iter().map(|&size| size as u64)))
}

/// One number made of several, by the function of Fowler, Noll and Vo. Others may make the same one, so that
/// what they are made of is compared.
fn mixed(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0xcbf2_9ce4_8422_2325, |mixed, number| {
        (mixed ^ number).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
