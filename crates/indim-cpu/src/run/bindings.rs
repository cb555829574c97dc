//! What a program is bound to: executables by the sizes that its symbols stand for.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use smallvec::SmallVec;

use crate::run::executable::Executable;

/// So many bytes are kept in all; beyond that the oldest goes.
const MOST_BYTES: usize = 1 << 20;

/// What symbols stand for.
pub(crate) type SymbolSizes = SmallVec<[usize; 4]>;

/// Executables by the sizes that they are bound to, bounded in bytes.
#[derive(Debug, Default)]
pub(crate) struct Bindings {
    executables: HashMap<SymbolSizes, Arc<Executable>>,
    /// In the order in which they came.
    sizes: VecDeque<SymbolSizes>,
    /// What was found last, which is most often asked for again.
    last: Option<(SymbolSizes, Arc<Executable>)>,
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
        let (sizes, executable) = self.executables.get_key_value(sizes)?;
        self.last = Some((sizes.clone(), Arc::clone(executable)));
        Some(Arc::clone(executable))
    }

    /// Keeps an executable; returns those that are kept no longer, to be dropped without the lock.
    pub(crate) fn keep(
        &mut self,
        sizes: SymbolSizes,
        executable: &Arc<Executable>,
    ) -> SmallVec<[Arc<Executable>; 2]> {
        let mut gone = SmallVec::new();
        // Another thread may have bound the same meanwhile.
        if self.executables.contains_key(&sizes) {
            return gone;
        }
        self.bytes += executable.held_bytes;
        while self.bytes > MOST_BYTES
            && let Some(oldest) = self.sizes.pop_front()
        {
            let oldest = self.executables.remove(&oldest);
            gone.extend(oldest.inspect(|oldest| self.bytes -= oldest.held_bytes));
        }
        self.executables.insert(sizes.clone(), Arc::clone(executable));
        gone.extend(self.last.replace((sizes.clone(), Arc::clone(executable))).map(|last| last.1));
        self.sizes.push_back(sizes);
        gone
    }

    /// The bytes of all executables.
    pub(crate) fn held_bytes(&self) -> usize {
        self.bytes
    }
}
