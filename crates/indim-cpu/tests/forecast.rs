//! The memory that a run reads, writes and holds is known before the run, and limited before it allocates.
//!
//! The numbers are computed by hand; an f32 has 4 bytes.

use indim_builder::{GraphBuilder, Value};
use indim_cpu::{
    ArrayView, ArrayViewMut, CompileOptions, Executable, MemoryPiece, RunError, RunOptions, compile,
};
use indim_graph::TakeMode;
use indim_ops::DType;

fn executable(builder: &GraphBuilder, outputs: &[Value]) -> Executable {
    compile(&builder.finish(outputs).unwrap(), &CompileOptions::default()).unwrap()
}

/// `x + v` with `x: f32[4, 3]` and `v: f32[3]`.
fn row_bias() -> Executable {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [4, 3]).unwrap();
    let v = b.parameter("v", DType::F32, [3]).unwrap();
    executable(&b, &[b.add(x, v, &[1]).unwrap()])
}

/// `exp(u)[:, None] * tanh(v)[None, :] + x` with `x: f32[64, 32]`: three nests.
fn outer_product() -> Executable {
    let b = GraphBuilder::new();
    let u = b.parameter("u", DType::F32, [64]).unwrap();
    let v = b.parameter("v", DType::F32, [32]).unwrap();
    let x = b.parameter("x", DType::F32, [64, 32]).unwrap();
    let u = b.broadcast_in_dim(b.exp(u).unwrap(), &[0], [64, 32]).unwrap();
    let v = b.broadcast_in_dim(b.tanh(v).unwrap(), &[1], [64, 32]).unwrap();
    executable(&b, &[u * v + x])
}

/// `exp` of more and more axes: four nests; each reads the result of the nest before it.
fn growing(size: usize) -> Executable {
    let b = GraphBuilder::new();
    let mut y = b.exp(b.parameter("x1", DType::F32, [size]).unwrap()).unwrap();
    for rank in 2..=4 {
        let shape = vec![size; rank];
        let x = b.parameter(&format!("x{rank}"), DType::F32, shape.clone()).unwrap();
        let dims: Vec<i64> = (0..rank as i64 - 1).collect();
        y = b.exp(b.broadcast_in_dim(y, &dims, shape).unwrap() + x).unwrap();
    }
    executable(&b, &[y])
}

#[test]
fn a_broadcast_operand_is_read_once_and_needs_no_memory() {
    let forecast = row_bias().forecast();
    assert_eq!(forecast.bytes_read, 4 * 3 * 4 + 3 * 4);
    assert_eq!(forecast.bytes_written, 4 * 3 * 4);
    assert_eq!(forecast.temporary_bytes, 0);
}

#[test]
fn temporaries_that_one_nest_reads_are_live_together() {
    let executable = outer_product();
    assert_eq!(executable.nests().len(), 3);
    let forecast = executable.forecast();
    assert_eq!(forecast.bytes_read, (64 + 32 + 64 * 32) * 4);
    assert_eq!(forecast.bytes_written, 64 * 32 * 4);
    assert_eq!(forecast.temporary_bytes, (64 + 32) * 4);
}

#[test]
fn a_temporary_makes_room_after_its_last_use() {
    let executable = growing(8);
    assert_eq!(executable.nests().len(), 4);
    let forecast = executable.forecast();
    assert_eq!(forecast.bytes_read, (8 + 64 + 512 + 4096) * 4);
    assert_eq!(forecast.bytes_written, 4096 * 4);
    // The temporaries of 2 and of 3 axes are live together; that of 1 axis is dead before the last is
    // written.
    assert_eq!(forecast.temporary_bytes, (64 + 512) * 4);

    let inputs: Vec<Vec<f32>> = (1..=4u32)
        .map(|rank| (0..8usize.pow(rank)).map(|i| -1.0 - (i % 7) as f32 / 8.0).collect())
        .collect();
    let views: Vec<ArrayView<'_>> = inputs
        .iter()
        .enumerate()
        .map(|(index, input)| ArrayView::from_slice(vec![8; index + 1], input).unwrap())
        .collect();
    let results = executable.run(&views).unwrap();
    for (index, &result) in results[0].elements::<f32>().unwrap().iter().enumerate() {
        let mut expected = 0.0f32;
        for (input, shift) in inputs.iter().zip([9, 6, 3, 0]) {
            expected = (expected + input[index >> shift]).exp();
        }
        assert!((result - expected).abs() <= 1e-6 * expected, "{result} and {expected}");
    }
}

#[test]
fn counters_count_as_memory() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [100]).unwrap();
    let unused = b.parameter("unused", DType::F32, [1000]).unwrap();
    let _ = unused;
    let forecast = executable(&b, &[b.iota(DType::F32, [100], 0).unwrap() + x]).forecast();
    assert_eq!(forecast.bytes_read, 100 * 4, "what no nest reads is not read");
    assert_eq!(forecast.temporary_bytes, 100 * 4);
}

#[test]
fn the_limit_counts_outputs_temporaries_and_registers() {
    let executable = outer_product();
    let (u, v, x) = ([0.5f32; 64], [0.5f32; 32], [0.5f32; 64 * 32]);
    let inputs = [
        ArrayView::from_slice([64], &u).unwrap(),
        ArrayView::from_slice([32], &v).unwrap(),
        ArrayView::from_slice([64, 32], &x).unwrap(),
    ];
    let forecast = executable.forecast();
    let peak = forecast.peak_bytes(1);
    assert_eq!(peak, 64 * 32 * 4 + (64 + 32) * 4 + forecast.register_bytes);
    // The program itself counts, too.
    let peak = peak + executable.held_bytes();
    let limited = |limit| RunOptions::new().memory_limit(limit);
    executable.run_with(&inputs, &limited(peak)).unwrap();
    let error = executable.run_with(&inputs, &limited(peak - 1)).unwrap_err();
    let RunError::MemoryLimit { bytes, limit, .. } = error else { panic!("{error}") };
    assert_eq!((bytes, limit), (peak, peak - 1));

    // Outputs of the caller do not count, unless they overlap an input and are copied.
    let mut result = [0.0f32; 64 * 32];
    let own = peak - 64 * 32 * 4;
    let mut outputs = [ArrayViewMut::from_slice([64, 32], &mut result).unwrap()];
    executable.run_into_with(&inputs, &mut outputs, &limited(own)).unwrap();
    let error = executable.run_into_with(&inputs, &mut outputs, &limited(own - 1)).unwrap_err();
    assert_eq!(error.code(), "memory-limit");
}

#[test]
fn the_registers_of_all_threads_count() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [1 << 20]).unwrap();
    let executable = executable(&b, &[b.exp(x).unwrap()]);
    assert!(executable.is_parallel());
    let peak = executable.forecast().peak_bytes(3);
    assert_eq!(peak, (4 << 20) + 3 * executable.forecast().register_bytes);
    let x = vec![0.5f32; 1 << 20];
    let inputs = [ArrayView::from_slice([1 << 20], &x).unwrap()];
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let peak = peak + executable.held_bytes();
    for (limit, fits) in [(peak, true), (peak - 1, false)] {
        let options = RunOptions::new().memory_limit(limit);
        assert_eq!(pool.install(|| executable.run_with(&inputs, &options)).is_ok(), fits);
    }
}

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "sizes of words of 64 bits")]
fn a_run_too_large_for_any_machine_is_refused_by_name() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [1 << 20, 1]).unwrap();
    let y = b.parameter("y", DType::F32, [1 << 20]).unwrap();
    let shape = [1 << 20, 1 << 20];
    let x = b.broadcast_in_dim(x, &[0, 1], shape).unwrap();
    let y = b.broadcast_in_dim(y, &[1], shape).unwrap();
    let executable = executable(&b, &[x + y]);
    let x = vec![0.5f32; 1 << 20];
    let inputs = [
        ArrayView::from_slice([1 << 20, 1], &x).unwrap(),
        ArrayView::from_slice([1 << 20], &x).unwrap(),
    ];
    let options = RunOptions::new().memory_limit(1 << 30);
    let error = executable.run_with(&inputs, &options).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("output 0, f32[1048576, 1048576], with 4398046511104 bytes"), "{text}");
    let RunError::MemoryLimit { largest: MemoryPiece::Array { name, .. }, .. } = error else {
        panic!("{text}")
    };
    assert_eq!(name, "output 0");
}

/// A repeated array counts its own elements, and a table at most the gathered elements.
#[test]
fn numbers_and_tables_are_no_work_for_threads() {
    let elements = 64 * 1024 / 4;
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [elements]).unwrap();
    let polynomial = (1..=10).fold(x.clone(), |y, k| y * &x + f64::from(k));
    assert!(!executable(&b, &[polynomial]).is_parallel());

    let b = GraphBuilder::new();
    let table = b.parameter("table", DType::F32, [1 << 22]).unwrap();
    let indices = b.parameter("indices", DType::I32, [8]).unwrap();
    let taken = b.take(&table, indices, 0, TakeMode::Clip).unwrap();
    assert!(!executable(&b, &[taken]).is_parallel());
    assert!(executable(&b, &[table + 1.0]).is_parallel());
}
