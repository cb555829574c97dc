//! Wrong arguments: every public safe function returns an error and accesses no memory outside the caller's
//! arrays.

#![forbid(unsafe_code)]

use indim_builder::{GraphBuilder, Value};
use indim_cpu::{
    ArrayView, ArrayViewMut, CompileOptions, Executable, Level, Order, RunError, compile,
    row_major_byte_strides,
};
use indim_graph::{Array, Graph, Node, NodeKind, Operands, ValueId};
use indim_kernels::elementwise_kernel;
use indim_ops::{ArrayData, ArrayType, DType, Op};
use indim_shape::{AxisMap, Shape};

fn node(kind: NodeKind, operands: &[usize], dtype: DType, shape: &[usize]) -> Node {
    let operands: Vec<ValueId> = operands.iter().map(|&index| ValueId::from_index(index)).collect();
    Node { kind, operands: Operands::new(&operands), array_type: ArrayType::new(dtype, shape) }
}

fn parameter(dtype: DType, shape: &[usize]) -> Node {
    node(NodeKind::Parameter { index: 0, name: "x".to_owned() }, &[], dtype, shape)
}

/// The code with which `guilty` is refused after a parameter `x : f32[4]`.
fn refused(guilty: Node) -> &'static str {
    let outputs = vec![ValueId::from_index(1)];
    Graph::from_nodes(vec![parameter(DType::F32, &[4]), guilty], outputs).unwrap_err().code()
}

#[test]
fn a_graph_that_reads_out_of_bounds_is_refused() {
    let onto = |axes: &[usize]| NodeKind::BroadcastInDim(AxisMap::from(axes.to_vec()));
    let neg = || NodeKind::Elementwise(Op::Neg);
    let cases = [
        // Several ways to read past the end of the operand.
        (node(neg(), &[0], DType::F32, &[4_000_000]), "operand-shape"),
        (node(NodeKind::Convert, &[0], DType::F64, &[4_000_000]), "operand-shape"),
        (node(NodeKind::Reshape, &[0], DType::F32, &[4_000_000]), "reshape-element-count"),
        (node(onto(&[0]), &[0], DType::F32, &[4_000_000]), "size-mismatch"),
        (node(onto(&[7]), &[0], DType::F32, &[4]), "dim-out-of-range"),
        (node(onto(&[]), &[0], DType::F32, &[4]), "dims-length-mismatch"),
        (node(neg(), &[0], DType::F64, &[4]), "result-type"),
        (node(NodeKind::Reshape, &[0], DType::C128, &[4]), "result-type"),
        (node(NodeKind::Bitcast, &[0], DType::F64, &[4]), "bitcast-width"),
        // A bool that is neither 0 nor 1.
        (node(NodeKind::Bitcast, &[0], DType::Bool, &[4]), "bitcast-width"),
        // Operands that do not exist, that come later, or that are the node itself.
        (node(NodeKind::Elementwise(Op::Add), &[0], DType::F32, &[4]), "wrong-operand-count"),
        (node(neg(), &[1], DType::F32, &[4]), "operand-not-earlier"),
        (node(neg(), &[99], DType::F32, &[4]), "operand-not-earlier"),
        // A constant with fewer elements than its type has, and a parameter that is not bound.
        (
            node(NodeKind::Constant(Array::from_scalar(1.0f32)), &[], DType::F32, &[4_000_000]),
            "result-type",
        ),
        (
            node(NodeKind::Parameter { index: 9, name: "y".into() }, &[], DType::F32, &[4]),
            "parameter-index",
        ),
        (node(NodeKind::Iota { axis: 3 }, &[], DType::F32, &[4]), "axis-out-of-range"),
        (
            node(
                NodeKind::Iota { axis: 0 },
                &[],
                DType::F32,
                &[isize::MAX as usize, isize::MAX as usize],
            ),
            "too-large",
        ),
    ];
    for (guilty, code) in cases {
        assert_eq!(refused(guilty), code);
    }
    let outputs = vec![ValueId::from_index(7)];
    let error = Graph::from_nodes(vec![parameter(DType::F32, &[4])], outputs).unwrap_err();
    assert_eq!(error.code(), "unknown-output");
}

#[test]
fn arrays_have_as_many_elements_as_their_shapes() {
    assert!(Array::new([4], vec![1.0f32; 3]).is_err());
    assert!(Array::from_data([4_000_000], ArrayData::F64(vec![1.0])).is_err());
    assert!(Array::from_scalar(1.0f32).reshaped(Shape::from([2])).is_err());
    let huge = [usize::MAX, usize::MAX];
    assert!(Array::new(huge, vec![1.0f32]).is_err());
    // The product is 1 modulo 2^64 (or 2^32).
    assert!(Array::new([usize::MAX, usize::MAX], vec![1u8]).is_err());
}

#[test]
fn a_view_lies_inside_its_memory() {
    let bytes = [0u8; 64];
    let view = |shape: &[usize], strides: &[isize], offset| {
        let array_type = ArrayType::new(DType::F32, shape);
        ArrayView::from_bytes(array_type, strides.to_vec(), &bytes, offset)
            .map_err(|error| error.code())
            .err()
    };
    assert_eq!(view(&[16], &[4], 0), None);
    for (shape, strides, offset) in [
        (&[17][..], &[4][..], 0),
        (&[16], &[4], 4),
        (&[16], &[4], usize::MAX),
        (&[16], &[-4], 0),
        (&[2], &[isize::MAX], 0),
        (&[2], &[isize::MIN], 0),
        (&[3], &[isize::MIN], 0),
        (&[2, 2, 2], &[isize::MAX, isize::MAX, 4], 0),
        (&[2, 2], &[isize::MAX, isize::MIN], 0),
    ] {
        assert_eq!(view(shape, strides, offset), Some("out-of-bounds"), "{shape:?} {strides:?}");
    }
    assert_eq!(view(&[4, 4], &[4], 0), Some("stride-count"));
    assert_eq!(view(&[usize::MAX, 2], &[0, 0], 0), Some("too-large"));
    assert!(ArrayView::from_slice([5], &[1.0f32; 4]).is_err());

    let mut writable = [0u8; 64];
    let array_type = ArrayType::new(DType::F32, [2, 8]);
    let shared = ArrayViewMut::from_bytes(array_type, vec![0, 4], &mut writable, 0);
    assert_eq!(shared.unwrap_err().code(), "shared-elements");
    assert!(ArrayViewMut::from_slice([5], &mut [1.0f32; 4]).is_err());
}

fn of_one(
    dtype: DType,
    shape: &[usize],
    function: impl Fn(&GraphBuilder, Value) -> Vec<Value>,
) -> Executable {
    let b = GraphBuilder::new();
    let x = b.parameter("x", dtype, shape).unwrap();
    let graph = b.finish(&function(&b, x)).unwrap();
    compile(&graph, &CompileOptions::default()).unwrap()
}

#[test]
fn arrays_without_elements_may_have_any_strides() {
    let doubled = of_one(DType::F32, &[3, 0], |b, x| vec![b.add(&x, &x, &[0, 1]).unwrap()]);
    for order in [Order::C, Order::F, Order::A, Order::K] {
        let strides = vec![isize::MIN, isize::MAX];
        let array_type = ArrayType::new(DType::F32, [3, 0]);
        let x = ArrayView::from_bytes(array_type, strides, &[], usize::MAX).unwrap();
        assert!(doubled.output_byte_strides(order, std::slice::from_ref(&x)).is_ok());
        assert!(doubled.run(&[x]).unwrap()[0].bytes().is_empty());
    }
}

#[test]
fn runs_refuse_arguments_that_do_not_fit() {
    let negated = of_one(DType::F32, &[4, 4], |_, x| vec![-x]);
    let short = [1.0f32; 4];
    let wrong: [&[ArrayView<'_>]; 4] = [
        &[],
        &[ArrayView::from_slice([4], &short).unwrap()],
        &[ArrayView::from_slice([1, 4], &short).unwrap()],
        &[ArrayView::from_slice([4, 1], &[1.0f64; 4]).unwrap()],
    ];
    for inputs in wrong {
        let code = if inputs.is_empty() { "input-count" } else { "input-type" };
        assert_eq!(negated.run(inputs).unwrap_err().code(), code);
        for order in [Order::C, Order::F, Order::A, Order::K] {
            assert_eq!(negated.output_byte_strides(order, inputs).unwrap_err().code(), code);
        }
    }
    let x = [1.0f32; 16];
    let inputs = [ArrayView::from_slice([4, 4], &x).unwrap()];
    let mut small = [0.0f32; 4];
    let mut outputs = [ArrayViewMut::from_slice([1, 4], &mut small).unwrap()];
    let error: RunError = negated.run_into(&inputs, &mut outputs).unwrap_err();
    assert_eq!(error.code(), "output-type");
    assert_eq!(negated.run_into(&inputs, &mut []).unwrap_err().code(), "output-count");
}

#[test]
fn a_bool_may_have_any_bits_and_results_are_0_and_1() {
    let bytes: Vec<u8> = (0..=255).collect();
    let array_type = ArrayType::new(DType::Bool, [16, 16]);
    let executable = of_one(DType::Bool, &[16, 16], |b, x| {
        let column = b.transpose(&x, &[1, 0]).unwrap();
        vec![
            x.clone(),
            column.clone(),
            b.and(&x, &column, &[0, 1]).unwrap(),
            b.xor(&x, &column, &[0, 1]).unwrap(),
            b.not(&x).unwrap(),
            b.select(&x, &x, column).unwrap(),
            b.reshape(x, [256]).unwrap(),
        ]
    });
    for strides in [row_major_byte_strides(&array_type), vec![1, 16]] {
        let x = ArrayView::from_bytes(array_type.clone(), strides, &bytes, 0).unwrap();
        for buffer in executable.run(&[x]).unwrap() {
            assert!(buffer.bytes().iter().all(|&byte| byte <= 1));
        }
    }
}

#[test]
fn only_levels_of_this_processor_exist() {
    for name in ["avx2", "baseline", "avx10", ""] {
        match name.parse::<Level>() {
            Ok(level) => assert!(Level::available().contains(&level)),
            Err(error) => assert!(error.to_string().contains(name)),
        }
    }
}

#[test]
fn no_kernel_exists_for_types_that_an_operation_does_not_take() {
    for op in Op::ALL {
        for &dtype in DType::ALL {
            // The look-up of a kernel is safe; its call is not.
            let _ = elementwise_kernel(*op, dtype, Level::detect());
        }
    }
    assert!(elementwise_kernel(Op::And, DType::F32, Level::BASELINE).is_none());
}
