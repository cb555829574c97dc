//! The memory of compilation, counted by an allocator, is at most the bound that `memory_limit` is compared
//! with. The memory of an executable is as it reports.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use indim_builder::GraphBuilder;
use indim_cpu::{CompileError, CompileOptions, Executable, compile};
use indim_graph::{Array, Graph};
use indim_ops::DType;
use indim_shape::Shape;
use indim_text::{Expression, ParseLimits};

/// Counts allocated bytes, with the overhead of a usual allocator.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn counted(layout: Layout) -> usize {
    (layout.size() + 8).next_multiple_of(16).max(32)
}

// SAFETY: each method forwards to the system's allocator, which meets the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(counted(layout), Ordering::Relaxed) + counted(layout);
        PEAK.fetch_max(held, Ordering::Relaxed);
        // SAFETY: the caller has the obligations of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(counted(layout), Ordering::Relaxed);
        // SAFETY: the caller has the obligations of `GlobalAlloc::dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The graph of a text over `x` and `y` of one shape and `v`, whose first axis has size 1.
fn graph(text: &str, rank: usize) -> Graph {
    let full: Shape = (0..rank).map(|axis| if axis < 2 { 3 } else { 1 }).collect();
    let row: Shape = (0..rank).map(|axis| if axis == 1 { 3 } else { 1 }).collect();
    let b = GraphBuilder::new();
    let expression = Expression::parse(text, &ParseLimits::default()).unwrap();
    let values: Vec<_> = expression
        .names()
        .into_iter()
        .map(|name| {
            (name, b.parameter(name, DType::F64, if name == "v" { &row } else { &full }).unwrap())
        })
        .collect();
    b.finish(&[expression.build(&b, &values, None).unwrap()]).unwrap()
}

/// The bound that compilation reports, from the error of a limit that is too small.
fn promised(graph: &Graph) -> usize {
    let mut min_bytes = 0;
    loop {
        let options = CompileOptions::new().memory_limit(min_bytes);
        match compile(graph, &options) {
            Ok(_) => return min_bytes,
            Err(CompileError::MemoryLimit { bytes, limit }) => {
                assert!(bytes > limit);
                min_bytes = bytes;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// A constant that many operations read.
fn folded() -> Graph {
    let b = GraphBuilder::new();
    let numbers: Vec<f64> = (0..1024).map(f64::from).collect();
    let mut value = b.constant(Array::new([1024], numbers).unwrap());
    for _ in 0..500 {
        value = b.sin(&value).unwrap();
    }
    b.finish(&[value]).unwrap()
}

fn texts() -> Vec<(String, String)> {
    let ones = |rank: usize| format!("[3,3{}]", ",1".repeat(rank - 2));
    let flat = |piece: &dyn Fn(usize) -> String| {
        let pieces: String = (1..2000).map(piece).collect();
        format!("x{pieces}")
    };
    let tower = |open: &str, close: &dyn Fn(usize) -> String| {
        let closing: String = (0..400).map(close).collect();
        format!("{}x{closing}", open.repeat(400))
    };
    [
        ("one", "x".to_owned()),
        ("few", "x * y + v".to_owned()),
        ("sums", flat(&|k| format!("+x*{k}"))),
        ("sines", flat(&|k| format!("+sin(x*{k})"))),
        ("choices", flat(&|k| format!("+where(x<{k},x,y)"))),
        ("conversions", flat(&|k| format!(".astype(f{})", if k % 2 == 0 { 64 } else { 32 }))),
        ("rows", flat(&|k| format!("+v*{k}"))),
        ("temporaries", flat(&|k| format!("+y*sin(v*{k})"))),
        ("parameters", flat(&|k| format!("+a{k}"))),
        (
            "reshapes",
            tower("reshape(", &|k| format!(",{})", ones(if k % 2 == 0 { 63 } else { 64 }))),
        ),
        (
            "moves",
            tower("reshape(sin(", &|k| {
                if k % 2 == 0 { "),[9])".into() } else { "),[3,3])".into() }
            }),
        ),
        ("transpositions", tower("transpose(sin(", &|_| "))".into())),
    ]
    .into_iter()
    .map(|(name, text)| (name.to_owned(), text))
    .collect()
}

// The only test of this program, because the allocator counts the memory of all its threads.
#[test]
fn compilation_holds_at_most_its_bound() {
    drop(compile(&graph("x + 1", 2), &CompileOptions::default()));
    let ranks = [2, 64];
    let of_texts = texts().into_iter().flat_map(|(name, text)| {
        ranks.map(|rank| (format!("{name}, rank {rank}"), graph(&text, rank)))
    });
    let mut wrong = Vec::new();
    for (name, graph) in of_texts.chain([("folded".to_owned(), folded())]) {
        let promised = promised(&graph);
        let before = HELD.load(Ordering::Relaxed);
        PEAK.store(before, Ordering::Relaxed);
        let executable: Executable = compile(&graph, &CompileOptions::default()).unwrap();
        let peak = PEAK.load(Ordering::Relaxed) - before;
        let held = HELD.load(Ordering::Relaxed) - before;
        let reported = executable.held_bytes();
        let fits = peak <= promised && promised <= 16 * peak + 4096;
        let is_true = reported * 5 >= held * 4 && reported <= 2 * held + 4096;
        if !fits || !is_true {
            wrong.push(format!(
                "{name}: took {peak} of {promised}, holds {held} and reports {reported}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
