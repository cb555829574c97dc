//! Times of the loop nests of runs, collected while `indim.profile()` is active.
//!
//! Without it a run reads one flag, and no clock.

use core::ops::Range;
use core::time::Duration;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use indim::explain::nest_texts;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::computation::CompiledVariant;

static IS_ACTIVE: AtomicBool = AtomicBool::new(false);
static PROGRAMS: Mutex<Vec<ProfiledProgram>> = Mutex::new(Vec::new());

/// Maximum number of programs of a profile: each keeps its machine code.
const MAX_PROGRAMS: usize = 4096;

/// The runs of one program.
struct ProfiledProgram {
    compiled: Arc<CompiledVariant>,
    label: String,
    runs: usize,
    total: Duration,
    parts: Vec<(Range<usize>, Duration)>,
}

/// The times of one run.
pub(crate) struct RunTimes {
    parts: Mutex<Vec<(Range<usize>, Duration)>>,
    started: Instant,
}

impl RunTimes {
    /// The times of a run that starts now, if a profile is active.
    pub(crate) fn start() -> Option<Self> {
        let times = || RunTimes { parts: Mutex::default(), started: Instant::now() };
        IS_ACTIVE.load(Ordering::Relaxed).then(times)
    }

    /// Adds the time of a nest or group.
    pub(crate) fn add(&self, nests: &Range<usize>, time: Duration) {
        locked(&self.parts).push((nests.clone(), time));
    }

    /// Adds the run to those of its program.
    pub(crate) fn finish(self, compiled: &Arc<CompiledVariant>, label: String) {
        let total = self.started.elapsed();
        let parts = self.parts.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut programs = locked(&PROGRAMS);
        let known = programs.iter_mut().find(|known| {
            Arc::ptr_eq(&known.compiled, compiled) && known.label == label && known.has(&parts)
        });
        if let Some(known) = known {
            known.runs += 1;
            known.total += total;
            known.parts.iter_mut().zip(parts).for_each(|(sum, (_, time))| sum.1 += time);
        } else if programs.len() < MAX_PROGRAMS {
            let compiled = Arc::clone(compiled);
            programs.push(ProfiledProgram { compiled, label, runs: 1, total, parts });
        }
    }
}

impl ProfiledProgram {
    /// Whether another run has the same parts; one that ended early has fewer.
    fn has(&self, parts: &[(Range<usize>, Duration)]) -> bool {
        self.parts.iter().map(|(nests, _)| nests).eq(parts.iter().map(|(nests, _)| nests))
    }

    fn describe(&self) -> ProgramDescription {
        let executable = &self.compiled.executable;
        let texts = nest_texts(executable);
        let part = |(nests, time): &(Range<usize>, Duration)| {
            let bytes = executable.bytes_of_nests(nests.clone());
            (texts[nests.clone()].concat(), bytes, time.as_secs_f64())
        };
        let parameters = executable.parameter_names().iter().zip(executable.parameters());
        let inputs = parameters.map(|(name, of)| format!("{name}: {of}")).collect();
        let (seconds, parts) = (self.total.as_secs_f64(), self.parts.iter().map(part).collect());
        (self.label.clone(), inputs, self.runs, seconds, parts)
    }
}

/// A program for `indim/_profile.py`: its name, its inputs, the number of runs, their seconds, and for each
/// nest or group its text, the bytes of a run (`None` for a loop or branch), and the seconds of all runs.
type ProgramDescription = (String, Vec<String>, usize, f64, Vec<(String, Option<usize>, f64)>);

/// Begins a profile.
#[pyfunction]
pub(crate) fn _start_profile() -> PyResult<()> {
    if IS_ACTIVE.swap(true, Ordering::Relaxed) {
        return Err(PyRuntimeError::new_err(
            "a profile is active already, and there is one at a time",
        ));
    }
    Ok(())
}

/// Ends the profile; returns its programs.
#[pyfunction]
pub(crate) fn _end_profile(py: Python<'_>) -> Vec<ProgramDescription> {
    IS_ACTIVE.store(false, Ordering::Relaxed);
    let programs = core::mem::take(&mut *locked(&PROGRAMS));
    py.detach(|| programs.iter().map(ProfiledProgram::describe).collect())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
