//! What a program is bound to: executables by the sizes that its symbols stand for.

use std::collections::VecDeque;
use std::sync::Arc;

use foldhash::HashMap;
use indim_loops::MemoryUse;
use smallvec::SmallVec;

use crate::run::coded::{BoundNests, SymbolSizes};
use crate::run::executable::Executable;

/// So many bytes are kept in all; beyond that the oldest goes.
const MAX_BYTES: usize = 1 << 20;

/// Executables by the sizes that they are bound to, bounded in bytes.
#[derive(Debug, Default)]
pub(crate) struct Bindings {
    executables: HashMap<SymbolSizes, Kept>,
    /// In the order in which they came.
    sizes: VecDeque<SymbolSizes>,
    /// What was found last, which is most often asked for again.
    last: Option<(SymbolSizes, Arc<Executable>)>,
    bytes: usize,
    /// What was bound last, of which the next one may take something over.
    bound_before: Option<Arc<BoundNests>>,
}

/// An executable, and the bytes that it holds beside what all share.
#[derive(Debug)]
struct Kept {
    executable: Arc<Executable>,
    bytes: usize,
}

impl Bindings {
    /// The executable for these sizes.
    pub(crate) fn find(&mut self, sizes: &[usize]) -> Option<Arc<Executable>> {
        if let Some((last, executable)) = &self.last
            && **last == *sizes
        {
            return Some(Arc::clone(executable));
        }
        let (sizes, Kept { executable, .. }) = self.executables.get_key_value(sizes)?;
        self.last = Some((sizes.clone(), Arc::clone(executable)));
        Some(Arc::clone(executable))
    }

    /// What was bound last, by whomever it is kept.
    pub(crate) fn bound_before(&self) -> Option<Arc<BoundNests>> {
        self.bound_before.clone()
    }

    /// Remembers what was bound last.
    pub(crate) fn remember(&mut self, bound: &Arc<BoundNests>) {
        self.bound_before = Some(Arc::clone(bound));
    }

    /// Keeps an executable, which holds so many bytes; returns those that are kept no longer, to be dropped
    /// without the lock.
    pub(crate) fn keep(
        &mut self,
        sizes: SymbolSizes,
        executable: &Arc<Executable>,
        bytes: usize,
    ) -> SmallVec<[Arc<Executable>; 2]> {
        let mut gone = SmallVec::new();
        self.remember(&executable.nests.bound);
        // Another thread may have bound the same meanwhile.
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
        let kept = Kept { executable: Arc::clone(executable), bytes };
        self.executables.insert(sizes.clone(), kept);
        gone.extend(self.last.replace((sizes.clone(), Arc::clone(executable))).map(|last| last.1));
        self.sizes.push_back(sizes);
        gone
    }

    /// The bytes of all executables, and of what was bound last where none of them is kept.
    pub(crate) fn held_bytes(&self) -> usize {
        let mut held = MemoryUse::default();
        let bound = self.bound_before.iter().filter(|_| self.executables.is_empty());
        bound.for_each(|bound| bound.count_bytes(&mut held));
        self.bytes + held.bytes()
    }
}
