//! A cache of executables by the sizes to which they are bound.

use std::collections::VecDeque;
use std::sync::Arc;

use foldhash::HashMap;
use indim_loops::MemoryUse;
use smallvec::SmallVec;

use crate::run::compiled_program::{DenseBindings, SymbolSizes};
use crate::run::executable::Executable;

/// Upper bound of the bytes of all cached executables; beyond it the oldest is evicted.
const MAX_BYTES: usize = 1 << 20;

/// A cache of executables, keyed by the sizes of the symbols and bounded in bytes.
#[derive(Debug, Default)]
pub(crate) struct BindingCache {
    executables: HashMap<SymbolSizes, CachedExecutable>,
    /// Cache keys, oldest first.
    sizes: VecDeque<SymbolSizes>,
    /// The entry of the last hit or insertion: most calls repeat the sizes of the call before.
    last: Option<(SymbolSizes, Arc<Executable>)>,
    bytes: usize,
    /// The most recent binding: the next one reuses its nests whose sizes are equal.
    bound_before: Option<Arc<DenseBindings>>,
}

/// An executable and its bytes, without those shared by all.
#[derive(Debug)]
struct CachedExecutable {
    executable: Arc<Executable>,
    bytes: usize,
}

impl BindingCache {
    /// The executable for these sizes.
    pub(crate) fn find(&mut self, sizes: &[usize]) -> Option<Arc<Executable>> {
        if let Some((last, executable)) = &self.last
            && **last == *sizes
        {
            return Some(Arc::clone(executable));
        }
        let (sizes, CachedExecutable { executable, .. }) = self.executables.get_key_value(sizes)?;
        self.last = Some((sizes.clone(), Arc::clone(executable)));
        Some(Arc::clone(executable))
    }

    /// The most recent binding, even if its executable is not cached.
    pub(crate) fn bound_before(&self) -> Option<Arc<DenseBindings>> {
        self.bound_before.clone()
    }

    /// Records the most recent binding.
    pub(crate) fn remember(&mut self, bound: &Arc<DenseBindings>) {
        self.bound_before = Some(Arc::clone(bound));
    }

    /// Inserts an executable of `bytes` bytes and returns the evicted ones, which the caller drops after it
    /// has released the lock.
    pub(crate) fn keep(
        &mut self,
        sizes: SymbolSizes,
        executable: &Arc<Executable>,
        bytes: usize,
    ) -> SmallVec<[Arc<Executable>; 2]> {
        let mut gone = SmallVec::new();
        self.remember(&executable.nests.bound);
        // Another thread may have bound the same sizes meanwhile.
        if self.executables.contains_key(&sizes) {
            return gone;
        }
        self.bytes += bytes;
        while self.bytes > MAX_BYTES
            && let Some(oldest) = self.sizes.pop_front()
        {
            let Some(oldest) = self.executables.remove(&oldest) else { continue };
            self.bytes -= oldest.bytes;
            gone.push(oldest.executable);
        }
        let kept = CachedExecutable { executable: Arc::clone(executable), bytes };
        self.executables.insert(sizes.clone(), kept);
        gone.extend(self.last.replace((sizes.clone(), Arc::clone(executable))).map(|last| last.1));
        self.sizes.push_back(sizes);
        gone
    }

    /// Bytes of all cached executables; of the most recent binding if the cache is empty.
    pub(crate) fn held_bytes(&self) -> usize {
        let mut held = MemoryUse::default();
        let bound = self.bound_before.iter().filter(|_| self.executables.is_empty());
        bound.for_each(|bound| bound.count_bytes(&mut held));
        self.bytes + held.bytes()
    }
}
