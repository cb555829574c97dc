//! What a program is bound to: executables by the sizes that its symbols stand for.

use std::collections::VecDeque;
use std::sync::Arc;

use foldhash::HashMap;
use smallvec::SmallVec;

use crate::run::executable::Executable;
use crate::run::nests::SymbolSizes;

/// So many bytes are kept in all; beyond that the oldest goes.
const MOST_BYTES: usize = 1 << 20;

/// Executables by the sizes that they are bound to, bounded in bytes.
#[derive(Debug, Default)]
pub(crate) struct Bindings {
    executables: HashMap<SymbolSizes, Kept>,
    /// In the order in which they came.
    sizes: VecDeque<SymbolSizes>,
    /// What was found last, which is most often asked for again.
    last: Option<(SymbolSizes, Arc<Executable>)>,
    bytes: usize,
}

/// An executable, and the bytes that it holds beside what all share.
#[derive(Debug)]
struct Kept {
    executable: Arc<Executable>,
    bytes: usize,
}

impl Bindings {
    /// The executable for these sizes; where there is none, the last one.
    pub(crate) fn find(
        &mut self,
        sizes: &[usize],
    ) -> Result<Arc<Executable>, Option<Arc<Executable>>> {
        if let Some((last, executable)) = &self.last
            && **last == *sizes
        {
            return Ok(Arc::clone(executable));
        }
        let Some((sizes, kept)) = self.executables.get_key_value(sizes) else {
            return Err(self.last());
        };
        self.last = Some((sizes.clone(), Arc::clone(&kept.executable)));
        Ok(Arc::clone(&kept.executable))
    }

    /// The executable that was found or kept last.
    pub(crate) fn last(&self) -> Option<Arc<Executable>> {
        self.last.as_ref().map(|(_, executable)| Arc::clone(executable))
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
        // Another thread may have bound the same meanwhile.
        if self.executables.contains_key(&sizes) {
            return gone;
        }
        self.bytes += bytes;
        while self.bytes > MOST_BYTES
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

    /// The bytes of all executables.
    pub(crate) fn held_bytes(&self) -> usize {
        self.bytes
    }
}
