//! The compiled variants of a computation, found by operand types.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use indim::DType;

use crate::computation::CompiledVariant;
use crate::operand::{Operand, OperandType};

/// Maximum number of variants of a computation; beyond it the oldest is evicted.
const MAX_VARIANTS: usize = 256;

/// The variants of one computation.
#[derive(Default)]
pub(crate) struct Variants {
    /// From the oldest to the newest, each with the hash of its types and sizes.
    variants: VecDeque<(u64, Arc<CompiledVariant>)>,
    /// The newest variant of each hash. Variants of equal hash differ in the numbers among their
    /// operands or in the types of `out`; seldom in types and sizes, if hashes collide.
    newest: HashMap<u64, Arc<CompiledVariant>>,
    /// The last variant, which is usually requested again.
    last: Option<Arc<CompiledVariant>>,
}

impl Variants {
    /// The variant for these operands that `fits`.
    pub(crate) fn find(
        &mut self,
        operands: &[Operand<'_>],
        fits: impl Fn(&CompiledVariant) -> bool,
    ) -> Option<Arc<CompiledVariant>> {
        if let Some(last) = self.last.as_ref().filter(|last| fits(last)) {
            return Some(Arc::clone(last));
        }
        let of_array = |operand: &Operand<'_>| match operand {
            Operand::Array(array) => array_hash(array.dtype(), array.sizes()),
            Operand::Number(_) | Operand::Constant(_) => NUMBER_HASH,
        };
        let key = hash(operands.iter().map(of_array));
        let newest = self.newest.get(&key)?;
        let is_match =
            |(hash, compiled): &&(u64, Arc<CompiledVariant>)| *hash == key && fits(compiled);
        let found = match fits(newest) {
            true => newest,
            false => &self.variants.iter().rev().find(is_match)?.1,
        };
        self.last = Some(Arc::clone(found));
        self.last.clone()
    }

    /// Adds a variant; returns an evicted one.
    pub(crate) fn insert(
        &mut self,
        compiled: &Arc<CompiledVariant>,
    ) -> Option<Arc<CompiledVariant>> {
        let of_array = |of: &OperandType| match of {
            OperandType::Array(of) => array_hash(of.dtype, &of.shape),
            OperandType::Input(_) | OperandType::Number(_) => NUMBER_HASH,
        };
        let key = hash(compiled.types.iter().map(of_array));
        let evicted = if self.variants.len() >= MAX_VARIANTS { self.remove_oldest() } else { None };
        self.variants.push_back((key, Arc::clone(compiled)));
        self.newest.insert(key, Arc::clone(compiled));
        self.last = Some(Arc::clone(compiled));
        evicted
    }

    /// Removes the oldest variant.
    pub(crate) fn remove_oldest(&mut self) -> Option<Arc<CompiledVariant>> {
        let (key, oldest) = self.variants.pop_front()?;
        if self.newest.get(&key).is_some_and(|newest| Arc::ptr_eq(newest, &oldest)) {
            self.newest.remove(&key);
        }
        // The next request is unlikely to be for this variant.
        self.last.take_if(|last| Arc::ptr_eq(last, &oldest));
        Some(oldest)
    }

    /// The variants, the oldest first.
    pub(crate) fn iter(
        &self,
    ) -> impl DoubleEndedIterator<Item = &Arc<CompiledVariant>> + ExactSizeIterator {
        self.variants.iter().map(|(_, compiled)| compiled)
    }
}

/// The hash of a number, whose value is compared later.
const NUMBER_HASH: u64 = 1;

fn array_hash(dtype: DType, sizes: &[usize]) -> u64 {
    hash([dtype as u64].into_iter().chain(sizes.iter().map(|&size| size as u64)))
}

/// The FNV-1a hash over words. Hashes can collide, so the caller also compares types and sizes.
fn hash(words: impl Iterator<Item = u64>) -> u64 {
    words
        .fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3))
}
