//! Programs for arrays of any sizes: what is bound is what would be compiled.
use indim_builder::{Along, AxisFunction, GraphBuilder};
use indim_cpu::{ArrayView, CompileOptions, SymbolicExecutable, compile, compile_symbolic};
use indim_graph::{Graph, SizeFacts, SymbolicGraph};
use indim_ops::DType;

/// The softmax of the rows of a matrix, and what the builder knows of its sizes.
fn softmax(shape: [usize; 2]) -> (Graph, SizeFacts) {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, shape).unwrap();
    let softmax = b.along(AxisFunction::Softmax, &x, &Along::axes(&[-1]), &[]).unwrap();
    (b.finish(&[softmax]).unwrap(), b.size_facts())
}

fn program() -> SymbolicExecutable {
    let (graph, facts) = softmax([4, 3]);
    compile_symbolic(&SymbolicGraph::new(&graph, &facts), &CompileOptions::default()).unwrap()
}

#[test]
fn nests_that_run_together_do_so_for_other_sizes() {
    let program = program();
    for shape in [[300, 1000], [2, 70_000], [1001, 257], [4, 3]] {
        let compiled = compile(&softmax(shape).0, &CompileOptions::default()).unwrap();
        let bound = program.bind(&[&shape]).unwrap();
        assert_eq!(bound.parts().collect::<Vec<_>>(), compiled.parts().collect::<Vec<_>>());
        assert_eq!(bound.forecast(), compiled.forecast());
        assert_eq!(
            (bound.parameters(), bound.outputs()),
            (compiled.parameters(), compiled.outputs())
        );
        let numbers: Vec<f32> = (0..shape[0] * shape[1]).map(|i| (i % 977) as f32 * 0.01).collect();
        let inputs = [ArrayView::from_slice(shape, &numbers).unwrap()];
        // Until machine code is worth its price, and with it.
        for _ in 0..4 {
            let expected = compiled.run(&inputs).unwrap();
            assert!(bound.run(&inputs).unwrap()[0].bytes() == expected[0].bytes(), "{shape:?}");
        }
    }
}

#[test]
fn what_is_bound_is_kept_within_bounds() {
    let program = program();
    let before = program.held_bytes();
    for rows in 2..1000 {
        program.bind(&[&[rows, 7]]).unwrap();
    }
    let held = program.held_bytes() - before;
    assert!(held > 0 && held < 2 << 20, "{held} bytes");
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let program = program();
    let refused = |shape: &[usize]| program.bind(&[shape]).unwrap_err().to_string();
    assert_eq!(
        refused(&[1, 3]),
        "axis 0 of `x` is 1, the program was made for sizes from 2 to 2147483647"
    );
    assert_eq!(refused(&[3]), "`x` has 1 axes, the program was made for 2");
    let most = i32::MAX as usize;
    assert_eq!(refused(&[most, most]), "an array between would not fit into memory");
    let doubles = ArrayView::from_slice([2, 2], &[0.0f64; 4]).unwrap();
    assert_eq!(program.run(&[doubles]).unwrap_err().code(), "input-type");
    assert_eq!(program.run(&[]).unwrap_err().code(), "input-count");
}
