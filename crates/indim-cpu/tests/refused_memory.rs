//! If the system refuses executable memory, kernels run without an error. The only test of its process, which
//! cannot undo the setting.
#![cfg(target_os = "linux")]

use core::ffi::{c_int, c_ulong};

use indim_builder::{GraphBuilder, Reduction};
use indim_cpu::{ArrayView, CompileOptions, Executable, ExecutorChoice, KernelFallback, compile};
use indim_graph::Array;
use indim_graph::{Graph, evaluate};
use indim_loops::loop_nest::Access;
use indim_ops::DType;
use indim_targets::machine_code_levels;

unsafe extern "C" {
    fn prctl(option: c_int, first: c_ulong, ...) -> c_int;
}

/// Makes the system refuse to make writable memory executable; returns whether it does, as Linux since 6.3.
fn refuse_executable_memory() -> bool {
    const PR_SET_MDWE: c_int = 65;
    const PR_MDWE_REFUSE_EXEC_GAIN: c_ulong = 1;
    const NONE: c_ulong = 0;
    // SAFETY: the manual states these arguments, and the call changes no existing mapping.
    unsafe { prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, NONE, NONE, NONE) == 0 }
}

/// A nest that computes, and one that folds computed values: `tanh(x) * x` and its sums along rows.
fn graph(sizes: [usize; 2]) -> Graph {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, sizes).unwrap();
    let product = b.mul(b.tanh(&x).unwrap(), &x, &[]).unwrap();
    let sum = b.along(Reduction::Sum, &product, [1]).unwrap();
    b.finish(&[product, sum]).unwrap()
}

fn compiled(graph: &Graph, executor: ExecutorChoice) -> Executable {
    compile(graph, &CompileOptions::new().executor(executor)).unwrap()
}

/// The reason why kernels run each nest, if they do.
fn reasons(executable: &Executable) -> Vec<Option<KernelFallback>> {
    let describe = Access::to_string;
    executable
        .compiled_nests()
        .iter()
        .map(|program| program.machine_code(&describe).err())
        .collect()
}

#[test]
fn blocks_run_without_an_error() {
    let sizes = [40, 3000];
    let graph = graph(sizes);
    if machine_code_levels().is_empty() {
        return;
    }
    let made_before = compiled(&graph, ExecutorChoice::Machine);
    assert!(reasons(&made_before).iter().all(Option::is_none), "there is machine code");
    let x: Vec<f32> = (0..40 * 3000).map(|index| (index % 1009) as f32 * 0.01 - 5.0).collect();
    let view = || [ArrayView::from_slice(sizes, &x).unwrap()];
    let expected = evaluate(&graph, &[Array::new(sizes, x.clone()).unwrap()]).unwrap();
    let check = |executable: &Executable| {
        let results = executable.run(&view()).unwrap();
        for (result, expected) in results.iter().zip(&expected) {
            assert!(result == expected);
        }
    };
    check(&made_before);
    if !refuse_executable_memory() {
        eprintln!("NOT TESTED: this system cannot be asked to refuse executable memory");
        return;
    }
    // Functions compiled before stay.
    check(&made_before);
    for executor in [ExecutorChoice::Machine, ExecutorChoice::Automatic] {
        let executable = compiled(&graph, executor);
        check(&executable);
        let held = executable.held_bytes();
        (0..20).for_each(|_| check(&executable));
        assert_eq!(executable.held_bytes(), held, "it is not tried again");
        let reasons = reasons(&executable);
        assert!(reasons.iter().all(|&it| it == Some(KernelFallback::Memory)), "{reasons:?}");
    }
}
