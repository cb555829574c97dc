//! A cache of executables, by the sizes to which they are bound.

use std::collections::VecDeque;
use std::sync::Arc;

use foldhash::HashMap;
use indim_loops::MemoryUse;
use smallvec::SmallVec;

use crate::run::compiled_program::{DenseBindings, SymbolSizes};
use crate::run::executable::Executable;

/// Bytes of all cached executables above which the oldest are evicted. The newest stays, even if it alone
/// has more.
const MAX_BYTES: usize = 1 << 20;

/// A cache of executables. The key is the size of each symbol.
#[derive(Debug, Default)]
pub(crate) struct BindingCache {
    executables: HashMap<SymbolSizes, CachedExecutable>,
    /// Cache keys, oldest first.
    keys: VecDeque<SymbolSizes>,
    /// The entry of the last hit or insertion, because most calls repeat the sizes of the call before.
    last_hit: Option<(SymbolSizes, Arc<Executable>)>,
    bytes: usize,
    /// The last binding. The next binding reuses its nests whose sizes are equal.
    last_bound: Option<Arc<DenseBindings>>,
}

/// An executable and its bytes, without those of the shared program.
#[derive(Debug)]
struct CachedExecutable {
    executable: Arc<Executable>,
    bytes: usize,
}

impl BindingCache {
    /// The executable for these sizes.
    pub(crate) fn find(&mut self, sizes: &[usize]) -> Option<Arc<Executable>> {
        if let Some((last, executable)) = &self.last_hit
            && **last == *sizes
        {
            return Some(Arc::clone(executable));
        }
        let (sizes, CachedExecutable { executable, .. }) = self.executables.get_key_value(sizes)?;
        self.last_hit = Some((sizes.clone(), Arc::clone(executable)));
        Some(Arc::clone(executable))
    }

    /// The last binding, even if its executable is not cached.
    pub(crate) fn last_bound(&self) -> Option<Arc<DenseBindings>> {
        self.last_bound.clone()
    }

    /// Records the last binding.
    pub(crate) fn set_last_bound(&mut self, bound: &Arc<DenseBindings>) {
        self.last_bound = Some(Arc::clone(bound));
    }

    /// Inserts an executable of `bytes` bytes. Returns the evicted executables and the previous last hit,
    /// which the caller drops after it releases the lock.
    pub(crate) fn insert(
        &mut self,
        sizes: SymbolSizes,
        executable: &Arc<Executable>,
        bytes: usize,
    ) -> SmallVec<[Arc<Executable>; 2]> {
        let mut evicted = SmallVec::new();
        self.set_last_bound(&executable.program.bindings);
        // Another thread may have bound the same sizes meanwhile.
        if self.executables.contains_key(&sizes) {
            return evicted;
        }
        self.bytes += bytes;
        while self.bytes > MAX_BYTES
            && let Some(oldest) = self.keys.pop_front()
        {
            let Some(oldest) = self.executables.remove(&oldest) else { continue };
            self.bytes -= oldest.bytes;
            evicted.push(oldest.executable);
        }
        let entry = CachedExecutable { executable: Arc::clone(executable), bytes };
        self.executables.insert(sizes.clone(), entry);
        evicted.extend(
            self.last_hit.replace((sizes.clone(), Arc::clone(executable))).map(|last| last.1),
        );
        self.keys.push_back(sizes);
        evicted
    }

    /// Bytes of all cached executables; of the last binding if the cache is empty.
    pub(crate) fn held_bytes(&self) -> usize {
        let mut memory_use = MemoryUse::default();
        let bound = self.last_bound.iter().filter(|_| self.executables.is_empty());
        bound.for_each(|bound| bound.count_bytes(&mut memory_use));
        self.bytes + memory_use.bytes()
    }
}
