//! Machine code, compared with the reference evaluator: rows of every length next to guard pages, nests of
//! thousands of operations, the time of tier-up, several threads at once.

use std::collections::BTreeMap;
use std::ptr::NonNull;

use indim_builder::GraphBuilder;
use indim_cpu::{
    ArrayView, ArrayViewMut, CompileOptions, Executable, ExecutorChoice, KernelFallback, Level,
    compile,
};
use indim_graph::{Array, Graph, evaluate};
use indim_loops::loop_nest::Access;
use indim_ops::{ArrayType, DType};
use indim_shape::RuleSet;
use indim_text::{Expression, ParseLimits};

/// Memory between guard pages.
struct Guarded {
    first: NonNull<u8>,
    bytes: usize,
    #[cfg(target_os = "linux")]
    whole: usize,
}

#[cfg(target_os = "linux")]
impl Guarded {
    const PAGE: usize = 4096;

    fn new(bytes: usize) -> Guarded {
        use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};
        let bytes = bytes.next_multiple_of(Guarded::PAGE).max(Guarded::PAGE);
        let whole = bytes + 2 * Guarded::PAGE;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the map is new memory that nothing else uses, and only its first and last page lose access.
        let first = unsafe {
            let map = mmap_anonymous(std::ptr::null_mut(), whole, access, MapFlags::PRIVATE);
            let map = map.unwrap().cast::<u8>();
            mprotect(map.cast(), Guarded::PAGE, MprotectFlags::empty()).unwrap();
            let last = map.add(Guarded::PAGE + bytes).cast();
            mprotect(last, Guarded::PAGE, MprotectFlags::empty()).unwrap();
            NonNull::new(map.add(Guarded::PAGE)).unwrap()
        };
        Guarded { first, bytes, whole }
    }
}

#[cfg(target_os = "linux")]
impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: `new` made this map, and no view of it is left.
        unsafe {
            let map = self.first.as_ptr().sub(Guarded::PAGE);
            rustix::mm::munmap(map.cast(), self.whole).unwrap();
        }
    }
}

/// On other systems: heap memory, which an address sanitizer may guard.
#[cfg(not(target_os = "linux"))]
impl Guarded {
    fn new(bytes: usize) -> Guarded {
        let memory = Box::leak(vec![0u128; bytes.div_ceil(16).max(1)].into_boxed_slice());
        Guarded { first: NonNull::from(&mut memory[0]).cast(), bytes: memory.len() * 16 }
    }
}

impl Guarded {
    /// The address of `bytes` bytes at one of the ends.
    fn place(&self, bytes: usize, at_end: bool) -> NonNull<u8> {
        let offset = if at_end { self.bytes - bytes } else { 0 };
        // SAFETY: the offset is within the memory, because it has at least `bytes`.
        unsafe { self.first.add(offset) }
    }
}

fn options(executor: ExecutorChoice) -> CompileOptions {
    CompileOptions::new().executor(executor)
}

/// A graph compiled to machine code, at every level that has a code generator.
fn machines(graph: &Graph) -> impl Iterator<Item = (Level, Executable)> {
    let has_code = |level: &&Level| **level > Level::BASELINE || Level::available().len() == 1;
    Level::available().iter().filter(has_code).map(|&level| {
        let options = options(ExecutorChoice::Machine).level(level);
        (level, compile(graph, &options).unwrap())
    })
}

/// The graph of expressions over parameters of these types.
fn graph(texts: &[&str], types: &[(&str, DType, Vec<usize>)]) -> Graph {
    let b = GraphBuilder::new();
    let parameters: Vec<_> = types
        .iter()
        .map(|(name, dtype, sizes)| (*name, b.parameter(name, *dtype, &sizes[..])))
        .collect();
    let parameters: Vec<_> =
        parameters.into_iter().map(|(name, value)| (name, value.unwrap())).collect();
    let results: Vec<_> = texts
        .iter()
        .map(|text| {
            let expression = Expression::parse(text, &ParseLimits::default()).unwrap();
            expression.build(&b, &parameters, Some(&RuleSet::Numpy)).unwrap()
        })
        .collect();
    b.finish(&results).unwrap()
}

/// Numbers of any type, some of them special.
fn numbers(dtype: DType, sizes: &[usize], seed: usize) -> Array {
    let b = GraphBuilder::new();
    let count: usize = sizes.iter().product();
    let special = [0.0, -0.0, f64::NAN, f64::INFINITY, -1e39, 1e-42, 255.0, -3.5];
    let number = |index: usize| match (index * 7 + seed) % 11 {
        place @ 0..8 if index.is_multiple_of(3) => special[place],
        _ => ((index * 7919 + seed * 31) % 1009) as f64 * 0.13 - 40.0,
    };
    let x = b.constant(Array::new([count], (0..count).map(number).collect::<Vec<f64>>()).unwrap());
    let shaped = b.reshape(b.convert(x, dtype).unwrap(), sizes).unwrap();
    evaluate(&b.finish(&[shaped]).unwrap(), &[]).unwrap().remove(0)
}

/// Runs over arguments and results that lie between guarded pages, at their ends or at their beginnings.
fn run_guarded(executable: &Executable, arguments: &[Array], at_end: bool) -> Vec<Vec<u8>> {
    let memory = |array_type: &ArrayType| {
        let bytes = array_type.shape.byte_count(array_type.dtype.size()).unwrap();
        let memory = Guarded::new(bytes);
        let place = memory.place(bytes, at_end);
        (memory, place, bytes)
    };
    let given: Vec<_> = arguments.iter().map(|argument| memory(argument.array_type())).collect();
    let results: Vec<_> = executable.outputs().iter().map(memory).collect();
    let strides = |of: &ArrayType| indim_cpu::row_major_byte_strides(of);
    let inputs: Vec<ArrayView<'_>> = arguments
        .iter()
        .zip(&given)
        .map(|(argument, (_, place, bytes))| {
            let elements = argument.bytes().to_vec();
            let of = argument.array_type();
            // SAFETY: `place` has room for the elements, in memory that outlives the views.
            unsafe {
                std::ptr::copy_nonoverlapping(elements.as_ptr(), place.as_ptr(), *bytes);
                ArrayView::from_raw(of.clone(), strides(of), *place)
            }
        })
        .collect();
    let outputs = executable.outputs().iter().zip(&results);
    // SAFETY: `place` has room for the elements, in memory that outlives the views and that no other view
    // has.
    let output = |(of, (_, place, _)): (&ArrayType, &(Guarded, NonNull<u8>, usize))| unsafe {
        ArrayViewMut::from_raw(of.clone(), strides(of), *place)
    };
    let mut outputs: Vec<ArrayViewMut<'_>> = outputs.map(output).collect();
    executable.run_into(&inputs, &mut outputs).unwrap();
    drop(outputs);
    // SAFETY: the run has written these bytes.
    let written = |(_, place, bytes): &(Guarded, NonNull<u8>, usize)| unsafe {
        std::slice::from_raw_parts(place.as_ptr(), *bytes).to_vec()
    };
    results.iter().map(written).collect()
}

fn check_guarded(texts: &[&str], types: &[(&str, DType, Vec<usize>)]) {
    let graph = graph(texts, types);
    let arguments: Vec<Array> = types
        .iter()
        .enumerate()
        .map(|(seed, (_, dtype, sizes))| numbers(*dtype, sizes, seed))
        .collect();
    let expected = evaluate(&graph, &arguments).unwrap();
    for (level, executable) in machines(&graph) {
        for at_end in [true, false] {
            let found = run_guarded(&executable, &arguments, at_end);
            for (index, (found, expected)) in found.iter().zip(&expected).enumerate() {
                let bytes = expected.bytes().to_vec();
                assert!(
                    *found == bytes,
                    "{level}: output {index} of {texts:?} over {types:?}, {at_end}"
                );
            }
        }
    }
}

#[test]
fn rows_of_every_length_access_only_their_elements() {
    use DType::*;
    for n in (0..=70).chain([95, 96, 97, 127, 128, 129, 191, 193, 255, 257]) {
        let vector = vec![n];
        check_guarded(
            &["x * y + 0.5", "x > y", "where(x > y, x, exp(y))"],
            &[("x", F32, vector.clone()), ("y", F32, vector.clone())],
        );
        check_guarded(
            &["f32(u) * 0.25 - f32(h)", "u + 3", "f64(u) * d"],
            &[("u", U8, vector.clone()), ("h", F16, vector.clone()), ("d", F64, vector.clone())],
        );
        check_guarded(
            &["z * conj(z) + 1", "abs(z)", "i // 7 + f64(i) * 0.5"],
            &[("z", C64, vector.clone()), ("i", I32, vector.clone())],
        );
    }
}

#[test]
fn rows_and_columns_of_every_length_are_read_in_place() {
    for n in (1..=40).chain([63, 64, 65, 130, 600]) {
        check_guarded(
            &["x * r + c * x", "x - c", "sum(x * r, axis=1)", "sum(x * c, axis=0)"],
            &[
                ("x", DType::F32, vec![5, n]),
                ("r", DType::F32, vec![n]),
                ("c", DType::F32, vec![5, 1]),
            ],
        );
    }
}

#[test]
fn short_axes_access_only_their_elements() {
    use DType::*;
    for n in (1..=40).chain([47, 48, 49, 63, 64, 65, 100, 130, 600]) {
        for length in 2..=9 {
            let rows = vec![n, length];
            check_guarded(
                &[
                    "sum(x, axis=1)",
                    "max(x, axis=1)",
                    "sum(square(x - v), axis=1)",
                    "sum(d, axis=1)",
                    "min(d * 2, axis=1)",
                    "max(i, axis=1)",
                    "sum(i64(u) * i, axis=1)",
                    "any(x > v, axis=1)",
                ],
                &[
                    ("x", F32, rows.clone()),
                    ("d", F64, rows.clone()),
                    ("i", I32, rows.clone()),
                    ("u", U8, rows),
                    ("v", F32, vec![length]),
                ],
            );
            check_guarded(
                &["sum(m, axis=1)", "max(m * w, axis=1)", "sum(square(p - q), axis=2)"],
                &[
                    ("m", F32, vec![3, length, n]),
                    ("w", F32, vec![n]),
                    ("p", F32, vec![20, 1, length]),
                    ("q", F32, vec![1, n, length]),
                ],
            );
        }
    }
}

#[test]
fn folded_values_are_read_in_place() {
    use DType::*;
    for n in [9, 31, 32, 33, 40, 64, 65, 100, 256, 300, 513, 1025, 2600] {
        for rows in [3, 37, 600] {
            check_guarded(
                &[
                    "sum(x * y, axis=1)",
                    "sum(x * y, axis=0)",
                    "max(x - y, axis=1)",
                    "max(x - c, axis=0)",
                    "any(x > y)",
                    "count_nonzero(x * r > c, axis=0)",
                    "sum(i64(u) * 3)",
                    "min(x * r + c, axis=1)",
                ],
                &[
                    ("x", F32, vec![rows, n]),
                    ("y", F32, vec![rows, n]),
                    ("r", F32, vec![n]),
                    ("c", F32, vec![rows, 1]),
                    ("u", U8, vec![rows, n]),
                ],
            );
        }
    }
}

#[test]
fn results_may_lie_over_their_operands() {
    for n in (1..=70).chain([128, 500, 5000]) {
        let types = [("x", DType::F32, vec![n]), ("y", DType::F32, vec![n])];
        let graph = graph(&["x + y * 2", "x * x - y"], &types);
        let arguments = [0, 1].map(|seed| numbers(DType::F32, &[n], seed));
        let expected = evaluate(&graph, &arguments).unwrap();
        let machines: Vec<(Level, Executable)> = machines(&graph).collect();
        let of_orders = |order: [usize; 2]| machines.iter().map(move |it| (it, order));
        for ((level, executable), order) in [[0, 1], [1, 0]].into_iter().flat_map(of_orders) {
            let memory = [n, n].map(|n| Guarded::new(4 * n));
            let places = [0, 1].map(|index| memory[index].place(4 * n, true));
            for (argument, place) in arguments.iter().zip(&places) {
                let bytes = argument.bytes().to_vec();
                // SAFETY: `place` has room for the elements.
                unsafe {
                    std::ptr::copy_nonoverlapping(bytes.as_ptr(), place.as_ptr(), bytes.len());
                }
            }
            let of = ArrayType::new(DType::F32, [n]);
            // SAFETY: the memory outlives the views, and only they access it.
            let inputs = places.map(|p| unsafe { ArrayView::from_raw(of.clone(), vec![4], p) });
            // SAFETY: the memory outlives the views, and each output is over a different place.
            let mut outputs = order
                .map(|index| unsafe { ArrayViewMut::from_raw(of.clone(), vec![4], places[index]) });
            executable.run_into(&inputs, &mut outputs).unwrap();
            for (place, expected) in order.iter().map(|&index| places[index]).zip(&expected) {
                // SAFETY: the run has written these bytes.
                let found = unsafe { std::slice::from_raw_parts(place.as_ptr(), 4 * n) };
                let bytes = expected.bytes().to_vec();
                assert!(found == bytes, "{level}: {n} elements, {order:?}");
            }
        }
    }
}

#[test]
fn nests_of_thousands_of_operations_give_the_same_bits() {
    // Every value is live until its second use, much later.
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [100]).unwrap();
    let y = b.parameter("y", DType::I32, [100]).unwrap();
    let mut floats = vec![x];
    let mut integers = vec![y];
    for index in 0..2500 {
        let (one, other) = (&floats[index / 2], &floats[index]);
        let condition = b.gt(one, other, &[0]).unwrap();
        let half = b.mul(one, other, &[0]).unwrap() * 0.5;
        floats.push(b.select(condition, half, one).unwrap());
        integers.push(b.xor(&integers[index / 3], &integers[index], &[0]).unwrap() + 1);
    }
    let last = b.convert(&integers[2500], DType::F32).unwrap();
    let total = b.add(&floats[2500], last, &[0]).unwrap();
    let graph = b.finish(&[&total, &integers[1700]]).unwrap();
    let arguments = [numbers(DType::F32, &[100], 0), numbers(DType::I32, &[100], 1)];
    let expected = evaluate(&graph, &arguments).unwrap();
    let inputs = [0, 1].map(|index| ArrayView::from(&arguments[index]));
    for (level, executable) in machines(&graph) {
        for (result, expected) in executable.run(&inputs).unwrap().iter().zip(&expected) {
            assert!(result == expected, "{level}");
        }
    }
}

#[test]
fn machine_code_is_generated_once_the_budget_pays() {
    let types = [("x", DType::F32, vec![16])];
    let graph = graph(&["exp(x) * x + 1"], &types);
    let x = numbers(DType::F32, &[16], 3);
    let expected = evaluate(&graph, std::slice::from_ref(&x)).unwrap();
    let automatic = compile(&graph, &options(ExecutorChoice::Automatic)).unwrap();
    let held = automatic.held_bytes();
    let mut runs = 0;
    while automatic.held_bytes() == held && runs < 100_000 {
        let result = automatic.run(&[ArrayView::from(&x)]).unwrap().remove(0);
        assert!(result == expected[0], "run {runs}");
        runs += 1;
    }
    if indim_targets::machine_code_levels().is_empty() {
        assert_eq!(automatic.held_bytes(), held);
        return;
    }
    // The first run is too small for tier-up.
    assert!((2..100_000).contains(&runs), "{runs} runs");
    let result = automatic.run(&[ArrayView::from(&x)]).unwrap().remove(0);
    assert!(result == expected[0]);

    let blocks = compile(&graph, &options(ExecutorChoice::Blocks)).unwrap();
    let held = blocks.held_bytes();
    for _ in 0..=runs {
        blocks.run(&[ArrayView::from(&x)]).unwrap();
    }
    assert_eq!(blocks.held_bytes(), held);
}

/// The listings of the nests of an expression over `x`, `y: f32[40, 30]` and `i: i64[40]`.
fn listed(text: &str, sizes: [usize; 2]) -> Vec<Result<String, KernelFallback>> {
    let xs = ["x", "y"].map(|name| (name, DType::F32, sizes.to_vec()));
    let types = [&xs[..], &[("i", DType::I64, vec![40])]].concat();
    // Passes replace values without elements by constants.
    let optimize = !sizes.contains(&0);
    let options = options(ExecutorChoice::Machine).optimize(optimize);
    let executable = compile(&graph(&[text], &types), &options).unwrap();
    let held = executable.held_bytes();
    let describe = |access: &Access| access.to_string();
    let programs = executable.compiled_nests().iter();
    let listed = programs.map(|program| program.machine_code(&describe)).collect();
    assert_eq!(executable.held_bytes(), held, "nothing is kept");
    listed
}

#[test]
fn nests_have_a_listing_or_the_reason_for_kernels() {
    if listed("x + y", [40, 30]) == [Err(KernelFallback::Processor)] {
        return;
    }
    let listing = |text: &str| listed(text, [40, 30]).remove(0).expect("machine code");
    let sum = listing("x * y + x");
    assert_eq!(sum.matches(" = add.f32 ").count(), 1, "{sum}");
    assert_eq!(sum.matches(" = load.f32 ").count(), 2, "{sum}");
    // Each function in use is listed once, and no other.
    assert_eq!(sum.matches("output 0 is ").count(), 1, "{sum}");
    assert!(listing("sum(x * y, axis=1)").contains("output 0 is reduce_add to "));
    let folded = listed("sum(x * y, axis=1)", [40, 320]).remove(0).expect("machine code");
    let are_folded = folded.contains(" holds lanes of output 0");
    assert!(are_folded || cfg!(not(target_arch = "x86_64")), "{folded}");
    let searched = listed("argmax(x * y, axis=1)", [40, 300]).remove(0).expect("machine code");
    assert!(searched.contains("output 0 is argmax to "), "{searched}");
    assert!(listing("x[i] * 2").contains("input 0 is elements gathered from "));
    let reasons = [
        ("transpose(x)", [40, 30], KernelFallback::NoOperation),
        ("sum(x)", [40, 30], KernelFallback::NoOperation),
        ("x[i]", [40, 30], KernelFallback::NoOperation),
        ("argmax(x, axis=1)", [40, 300], KernelFallback::ArgReduction),
        ("x * y", [0, 30], KernelFallback::NoElements),
    ];
    for (text, sizes, reason) in reasons {
        assert_eq!(listed(text, sizes)[0], Err(reason), "{text}");
    }
}

#[test]
fn a_large_first_run_has_machine_code() {
    let types = [("x", DType::F32, vec![1_000_000])];
    let graph = graph(&["x * x + 1"], &types);
    let executable = compile(&graph, &options(ExecutorChoice::Automatic)).unwrap();
    let held = executable.held_bytes();
    let x = vec![3.0f32; 1_000_000];
    let result = executable.run(&[ArrayView::from_slice([1_000_000], &x).unwrap()]).unwrap();
    assert!(result[0].elements::<f32>().unwrap().iter().all(|&y| y == 10.0));
    assert_eq!(executable.held_bytes() > held, !indim_targets::machine_code_levels().is_empty());
}

#[test]
fn the_baseline_of_a_better_processor_has_kernels() {
    let graph = graph(&["x * x + 1"], &[("x", DType::F32, vec![1000])]);
    let x = numbers(DType::F32, &[1000], 2);
    for &level in Level::available() {
        let executable = compile(&graph, &options(ExecutorChoice::Machine).level(level)).unwrap();
        let held = executable.held_bytes();
        executable.run(&[ArrayView::from(&x)]).unwrap();
        let is_allowed = level > Level::BASELINE || Level::detect() == Level::BASELINE;
        let is_made = is_allowed && !indim_targets::machine_code_levels().is_empty();
        assert_eq!(executable.held_bytes() > held, is_made, "{level}");
        assert_eq!(
            executable.compiled_nests()[0].machine_code(&Access::to_string).is_ok(),
            is_made,
            "{level}"
        );
    }
}

#[test]
fn more_layouts_than_functions_are_computed() {
    // Each operand may be one element or many: more layouts than `MAX_FUNCTIONS`.
    let names = ["a", "b", "c", "d", "e", "f"];
    let n = 200;
    let types: Vec<_> = names.iter().map(|&name| (name, DType::F64, vec![n])).collect();
    let graph = graph(&["a + b * c - d / e * f"], &types);
    let executable = compile(&graph, &options(ExecutorChoice::Machine)).unwrap();
    let mut results: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    for _ in 0..2 {
        for singles in 0..1u32 << names.len() {
            let is_single = |index: usize| singles >> index & 1 == 1;
            let many = |index: usize| numbers(DType::F64, &[n], index);
            let arrays: Vec<Array> = (0..names.len()).map(many).collect();
            let bytes: Vec<Vec<u8>> = arrays.iter().map(|it| it.bytes().to_vec()).collect();
            let view = |index: usize| {
                let stride = if is_single(index) { 0 } else { 8 };
                let of = ArrayType::new(DType::F64, [n]);
                ArrayView::from_bytes(of, vec![stride], &bytes[index], 0).unwrap()
            };
            let inputs: Vec<ArrayView<'_>> = (0..names.len()).map(view).collect();
            let result = executable.run(&inputs).unwrap()[0].bytes().to_vec();
            let expected = results.entry(singles).or_insert_with(|| {
                let repeated = |index: usize| match is_single(index) {
                    true => {
                        let bytes = arrays[index].to_le_bytes()[..8].repeat(n);
                        let data = indim_ops::ArrayData::from_le_bytes(DType::F64, &bytes);
                        Array::from_data([n], data).unwrap()
                    }
                    false => arrays[index].clone(),
                };
                let arguments: Vec<Array> = (0..names.len()).map(repeated).collect();
                evaluate(&graph, &arguments).unwrap()[0].bytes().to_vec()
            });
            assert!(result == *expected, "{singles:b}");
        }
    }
}

#[test]
fn threads_may_run_a_nest_during_its_compilation() {
    let n = 3000;
    let graph = graph(&["tanh(x) * x - 1"], &[("x", DType::F32, vec![n])]);
    let x = numbers(DType::F32, &[n], 5);
    let expected = evaluate(&graph, std::slice::from_ref(&x)).unwrap();
    for executor in [ExecutorChoice::Machine, ExecutorChoice::Automatic] {
        let executable = compile(&graph, &options(executor)).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let result = executable.run(&[ArrayView::from(&x)]).unwrap();
                        assert!(result[0] == expected[0]);
                    }
                });
            }
        });
    }
}
