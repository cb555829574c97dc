//! Fourier transforms in StableHLO and HLO: values computed by hand, and lengths that do not fit.

use crate::support;
use indim_graph::Array;
use indim_ops::c64;

fn run(name: &str, program: &str, input: &Array) -> Result<Array, String> {
    let model = support::read(name, program).map_err(|error| error.to_string())?;
    let results = support::run(&*model, core::slice::from_ref(input));
    Ok(results.map_err(|error| error.to_string())?.remove(0))
}

/// The transform of `x` by StableHLO's two forms and by HLO, which must agree.
fn transform(name: &str, lengths: &str, types: [&str; 4], x: &Array) -> Result<Array, String> {
    let [from, to, from_hlo, to_hlo] = types;
    let forms = [
        format!("stablehlo.fft %x, type = {name}, length = [{lengths}]"),
        format!(
            "\"stablehlo.fft\"(%x) {{fft_length = array<i64: {lengths}>, \
             fft_type = #stablehlo<fft_type {name}>}}"
        ),
    ];
    let programs = forms.map(|form| {
        format!(
            "func.func @main(%x: tensor<{from}>) -> tensor<{to}> {{
               %r = {form} : (tensor<{from}>) -> tensor<{to}>
               return %r : tensor<{to}>
             }}"
        )
    });
    let hlo = format!(
        "HloModule m
         ENTRY main {{
           x = {from_hlo} parameter(0)
           ROOT r = {to_hlo} fft(x), fft_type={name}, fft_length={{{lengths}}}
         }}"
    );
    let found = run("f.hlo", &hlo, x);
    for program in &programs {
        match (run("f.mlir", program, x), &found) {
            (Ok(array), Ok(found)) => assert_eq!(array, *found, "{program}"),
            (array, found) => assert!(array.is_err() && found.is_err(), "{program}"),
        }
    }
    found
}

fn complex(shape: &[usize], parts: &[(f32, f32)]) -> Array {
    let numbers = parts.iter().map(|&(re, im)| c64::new(re, im));
    Array::new(shape, numbers.collect::<Vec<_>>()).unwrap()
}

#[test]
fn real_numbers() {
    let x = Array::new([4], vec![1_f32, 2.0, 3.0, 4.0]).unwrap();
    let half = complex(&[3], &[(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0)]);
    let types = ["4xf32", "3xcomplex<f32>", "f32[4]", "c64[3]"];
    assert_eq!(transform("RFFT", "4", types, &x), Ok(half.clone()));
    let types = ["3xcomplex<f32>", "4xf32", "c64[3]", "f32[4]"];
    assert_eq!(transform("IRFFT", "4", types, &half), Ok(x));
}

#[test]
fn complex_numbers_along_two_axes() {
    // A batch of two transforms of 2 by 2 numbers.
    let x = complex(
        &[2, 2, 2],
        &[(1., 0.), (2., 0.), (3., 0.), (4., 1.), (0., 0.), (0., 0.), (0., 8.), (0., 0.)],
    );
    let sums =
        [[(10., 1.), (-2., -1.), (-4., -1.), (0., 1.)], [(0., 8.), (0., 8.), (0., -8.), (0., -8.)]];
    let spectrum = complex(&[2, 2, 2], &sums.concat());
    let types = ["2x2x2xcomplex<f32>", "2x2x2xcomplex<f32>", "c64[2,2,2]", "c64[2,2,2]"];
    assert_eq!(transform("FFT", "2, 2", types, &x), Ok(spectrum.clone()));
    assert_eq!(transform("IFFT", "2, 2", types, &spectrum), Ok(x));
}

#[test]
fn lengths_that_do_not_fit_and_unknown_types_are_errors() {
    let x = complex(&[4], &[(1.0, 0.0); 4]);
    let types = ["4xcomplex<f32>", "4xcomplex<f32>", "c64[4]", "c64[4]"];
    let problem = |name: &str, lengths: &str| transform(name, lengths, types, &x).unwrap_err();
    assert!(problem("FFT", "3").contains("needs the sizes [3]"), "{}", problem("FFT", "3"));
    assert!(problem("FFT", "0").contains("1 to 3 numbers above 0"));
    assert!(problem("FFT", "1, 1, 1, 4").contains("1 to 3 numbers above 0"));
    assert!(problem("DCT", "4").contains("is not FFT, IFFT, RFFT or IRFFT"));
    let real = Array::new([4], vec![0_f32; 4]).unwrap();
    let types = ["4xf32", "4xf32", "f32[4]", "f32[4]"];
    let error = transform("IRFFT", "4", types, &real).unwrap_err();
    assert!(error.contains("needs the sizes [3]"), "{error}");
}
