//! Fourier transforms compared with the reference evaluator, bit for bit, at every level, for one thread and
//! several.

use indim_builder::{FourierOptions, GraphBuilder};
use indim_cpu::{CompileOptions, Level, RunOptions, Threads, compile};
use indim_graph::{Array, evaluate};
use indim_ops::fourier::function::FourierTransform;
use indim_ops::{DType, c64};

use FourierTransform::{Fft, Hfft, Ifft, Ihfft, Irfft, Rfft};

#[test]
fn every_level_and_number_of_threads_gives_the_bits_of_the_definition() {
    let cases: [(&[usize], &[i64], FourierTransform); 9] = [
        (&[1], &[0], Fft),
        (&[3, 1024], &[1], Fft),
        (&[5, 60, 7], &[1, 0], Ifft),
        (&[2, 67], &[1], Fft),
        (&[40, 30], &[0, 1], Rfft),
        (&[3, 101], &[1], Rfft),
        (&[12, 4, 3], &[0], Irfft),
        (&[33, 5], &[0], Hfft),
        (&[2500], &[0], Ihfft),
    ];
    for (shape, axes, transform) in cases {
        let count: usize = shape.iter().product();
        let number = |index: usize| ((index * 7919) % 1013) as f32 / 300.0 - 1.5;
        let is_real = matches!(transform, Rfft | Ihfft);
        let x = match is_real {
            true => Array::new(shape, (0..count).map(number).collect::<Vec<f32>>()),
            false => Array::new(
                shape,
                (0..count).map(|index| c64::new(number(index), number(index + 500))).collect(),
            ),
        };
        let x = x.unwrap();
        let b = GraphBuilder::new();
        let parameter =
            b.parameter("x", if is_real { DType::F32 } else { DType::C64 }, shape).unwrap();
        let wide = b.convert(&parameter, if is_real { DType::F64 } else { DType::C128 }).unwrap();
        let options = FourierOptions { axes: axes.to_vec(), ..FourierOptions::default() };
        let results = [parameter, wide].map(|x| b.fourier(&x, transform, &options).unwrap());
        let graph = b.finish(&results).unwrap();
        let expected = evaluate(&graph, core::slice::from_ref(&x)).unwrap();
        for &level in Level::available() {
            let executable = compile(&graph, &CompileOptions::new().level(level)).unwrap();
            for threads in [1, 2, 7] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let options = RunOptions::new().threads(Threads::Pool(&pool));
                let results = executable.run_with(&[x.view()], &options).unwrap();
                assert_eq!(
                    results, expected,
                    "{transform:?} of {shape:?} at {level}, {threads} threads"
                );
            }
        }
    }
}
