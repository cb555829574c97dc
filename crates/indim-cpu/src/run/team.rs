//! A fork-join in which the caller starts at once and helpers join when they are awake. Holds unsafe code.
//!
//! An idle worker of a pool sleeps, and takes tens of microseconds to wake. So the caller never hands a task
//! over and never waits for a worker to wake: it waits only for helpers that have joined. A later helper
//! finds the task closed and leaves.
//!
//! Each calling thread has one team for all its tasks. A job in the queue of a pool names the team, not the
//! task. So a worker that wakes late helps with the current task of the caller, and in a busy pool the queue
//! has at most as many jobs of a caller as it wants helpers.
//!
//! Waking a worker costs the caller 3 to 30 microseconds, and the worker starts after 20 to 40. A worker
//! that has just finished still polls and starts within 1 or 2 microseconds. (Measured on a virtual machine
//! with two cores, the worker idle for 0.2 and for 5 milliseconds.) So the caller wakes sleeping workers for
//! long tasks, and for short tasks only in a burst.

use core::any::Any;
use core::cell::Cell;
use core::hint::spin_loop;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use rayon::ThreadPool;

use crate::run::float_environment::DefaultFloatEnvironment;

/// One ticket in [`Team::state`]: permission for a helper to join. The bits below count the helpers at work.
const TICKET: u64 = 1 << 32;

/// Number of workers that each new helper wakes. A wake-up is a system call of some microseconds, so the
/// caller wakes one worker and helpers wake the others.
const WAKES_PER_HELPER: usize = 2;

/// Rounds for which the caller spins for helpers before it sleeps: some 20 microseconds, the time of a chunk.
const MAX_SPINS: usize = 1000;

/// Work of a task, in bytes moved, that pays for waking helpers: some 40 to 150 microseconds. After a pause
/// of 5 milliseconds, `exp` of 512 KiB (9 MiB of work) took 52 to 90 microseconds with two threads, and 42 to
/// 55 with one.
const WAKE_BYTES: usize = 12 * 1024 * 1024;

/// Work of a burst of short tasks, in bytes moved, that pays for waking helpers for the rest of the burst.
const BURST_BYTES: usize = 32 * 1024 * 1024;

/// The longest pause within a burst: the time for which an idle worker polls before it sleeps.
const AWAKE_TIME: Duration = Duration::from_micros(16);

thread_local! {
    /// The caller of this thread between tasks. Empty during a task, so a nested task has a separate caller.
    static CALLER: Cell<Option<Caller>> = const { Cell::new(None) };
}

/// A thread that runs tasks: its team, and its current burst of short tasks.
pub(crate) struct Caller {
    team: Arc<Team>,
    /// Time at which the last task ended.
    burst_end: Instant,
    /// Work of the short tasks of the burst that woke no helper, in bytes moved.
    burst_bytes: usize,
}

impl Caller {
    /// The caller of this thread, for helpers from `pool`, or from the current pool if it is `None`.
    pub(crate) fn of_this_thread(pool: Option<&ThreadPool>) -> Caller {
        let pool = pool.map_or(0, |pool| ptr::from_ref(pool).addr());
        let last_caller = CALLER.try_with(Cell::take).ok().flatten();
        // Jobs in the queue of another pool would not bring helpers from this one.
        last_caller.filter(|caller| caller.team.pool == pool).unwrap_or_else(|| Caller {
            team: Arc::new(Team::new(pool)),
            burst_end: Instant::now(),
            burst_bytes: 0,
        })
    }

    /// Stores the caller for the next task of this thread.
    pub(crate) fn store_for_thread(mut self) {
        self.burst_end = Instant::now();
        let _ = CALLER.try_with(|stored| stored.set(Some(self)));
    }

    /// Whether a task of this much work, in bytes moved, pays for helpers.
    pub(crate) fn pays_for_helpers(&mut self, bytes: usize) -> bool {
        if bytes >= WAKE_BYTES || self.team.is_awake() {
            return true;
        }
        if self.burst_end.elapsed() > AWAKE_TIME {
            self.burst_bytes = 0;
        }
        self.burst_bytes = self.burst_bytes.saturating_add(bytes);
        let repays = self.burst_bytes >= BURST_BYTES;
        if repays {
            self.burst_bytes = 0;
        }
        repays
    }

    /// Calls `work` with 0 on this thread, and with 1, 2, ... on up to `helpers` workers of the pool that
    /// join. Returns when all of them have returned, with the payload of a helper that panicked.
    pub(crate) fn run(
        &self,
        helpers: usize,
        pool: Option<&ThreadPool>,
        work: &(dyn Fn(usize) + Sync),
    ) -> Option<Panic> {
        let task = Task { work, helpers, panic: Mutex::new(None) };
        let open = self.team.open(&task);
        self.team.queue_jobs(1, |team| match pool {
            Some(pool) => pool.spawn(move || team.help()),
            None => rayon::spawn(move || team.help()),
        });
        work(0);
        drop(open);
        task.panic.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

type Panic = Box<dyn Any + Send>;

/// The helpers of one calling thread, and its current task.
struct Team {
    /// Tickets, and the number of helpers at work; zero between tasks.
    state: AtomicU64,
    /// The task, valid while `state` is not zero.
    task: AtomicPtr<Task<'static>>,
    /// Jobs in the queue of the pool that no worker has started.
    queued: AtomicUsize,
    created: Instant,
    /// Time at which a helper last left, in nanoseconds after `created`; 0 if none has.
    last_help: AtomicU64,
    /// Address of the pool of the jobs, as its identity; 0 for the current pool.
    pool: usize,
    caller: Thread,
}

/// A task. `work` returns when no chunk is left to start.
struct Task<'a> {
    work: &'a (dyn Fn(usize) + Sync),
    helpers: usize,
    panic: Mutex<Option<Panic>>,
}

impl Team {
    fn new(pool: usize) -> Team {
        Team {
            state: AtomicU64::new(0),
            task: AtomicPtr::new(ptr::null_mut()),
            queued: AtomicUsize::new(0),
            created: Instant::now(),
            last_help: AtomicU64::new(0),
            pool,
            caller: thread::current(),
        }
    }

    /// Whether a helper is awake: queued, or polling after a task.
    fn is_awake(&self) -> bool {
        let last_help = self.last_help.load(Ordering::Relaxed);
        let now = self.created.elapsed().as_nanos() as u64;
        self.queued.load(Ordering::Relaxed) > 0
            || last_help > 0 && now.saturating_sub(last_help) < AWAKE_TIME.as_nanos() as u64
    }

    /// Lets helpers join `task` until the result is dropped. The drop waits for helpers that have joined.
    fn open<'a>(&'a self, task: &'a Task<'a>) -> OpenTask<'a> {
        let tickets = u64::try_from(task.helpers).unwrap_or(u64::MAX).min(u64::from(u32::MAX));
        self.task.store(ptr::from_ref(task).cast_mut().cast(), Ordering::Relaxed);
        self.state.store(tickets * TICKET, Ordering::Release);
        OpenTask(self)
    }

    /// Queues at most `limit` jobs, as long as tickets are left for them.
    fn queue_jobs(self: &Arc<Self>, limit: usize, spawn: impl Fn(Arc<Team>)) {
        for _ in 0..limit {
            let tickets = (self.state.load(Ordering::Relaxed) / TICKET) as usize;
            let queue = |queued| (queued < tickets).then_some(queued + 1);
            if self.queued.fetch_update(Ordering::Relaxed, Ordering::Relaxed, queue).is_err() {
                break;
            }
            spawn(Arc::clone(self));
        }
    }

    /// Helps with the open task, on a worker.
    fn help(self: Arc<Self>) {
        self.queued.fetch_sub(1, Ordering::Relaxed);
        self.join();
        let now = self.created.elapsed().as_nanos() as u64;
        self.last_help.store(now, Ordering::Relaxed);
    }

    /// Takes a ticket of the open task and helps with it; does nothing if no ticket is left.
    fn join(self: &Arc<Self>) {
        let join = |state: u64| (state >= TICKET).then(|| state - TICKET + 1);
        let Ok(before) = self.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, join) else {
            return;
        };
        let helper = Helper(self);
        self.queue_jobs(WAKES_PER_HELPER, |team| rayon::spawn(move || team.help()));
        // SAFETY:
        // - `open` stored the pointer before it released the tickets, and this helper acquired one of them;
        // - the task lives until `OpenTask` is dropped, which waits until `state` no longer counts this
        //   helper.
        let task = unsafe { &*self.task.load(Ordering::Relaxed) };
        let number = task.helpers - (before / TICKET) as usize + 1;
        let work = || {
            let _environment = DefaultFloatEnvironment::enter();
            (task.work)(number);
        };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
            *task.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
        }
        // From here on the task may be gone; the job keeps the team alive.
        drop(helper);
    }
}

/// A helper at work: the state of its team counts it until it is dropped, also by a panic, so that the caller
/// never waits for a helper that is gone.
struct Helper<'a>(&'a Team);

impl Drop for Helper<'_> {
    fn drop(&mut self) {
        if self.0.state.fetch_sub(1, Ordering::Release) == 1 {
            self.0.caller.unpark();
        }
    }
}

/// A task that helpers may join.
struct OpenTask<'a>(&'a Team);

impl Drop for OpenTask<'_> {
    fn drop(&mut self) {
        let state = &self.0.state;
        state.fetch_and(TICKET - 1, Ordering::Relaxed);
        let mut rounds = 0;
        while state.load(Ordering::Acquire) != 0 {
            match rounds < MAX_SPINS {
                true => spin_loop(),
                // The token of an earlier `unpark` costs one more round.
                false => thread::park(),
            }
            rounds += 1;
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/team.rs"]
mod tests;
