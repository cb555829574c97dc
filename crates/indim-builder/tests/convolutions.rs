//! Convolutions and pools against sums over indices, written here.

use indim_builder::{Convolution, ConvolutionAxes, GraphBuilder, PoolDivisor};
use indim_graph::{Array, PaddedWindow, evaluate};
use indim_ops::{DType, ReduceOp, f16};

/// Pseudo-random numbers (a linear congruential generator).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }

    fn numbers(&mut self, count: usize) -> Vec<i32> {
        (0..count).map(|_| self.below(201) as i32 - 100).collect()
    }

    fn window(&mut self, size: usize) -> PaddedWindow {
        PaddedWindow {
            size,
            stride: 1 + self.below(3),
            dilation: 1 + self.below(2),
            base_dilation: 1 + self.below(3),
            low: self.below(4) as i64 - 1,
            high: self.below(4) as i64 - 1,
            is_reversed: self.below(2) == 1,
        }
    }
}

/// The index of an axis that element `element` of the window at `position` reads; `None` in the padding.
fn read(window: &PaddedWindow, position: usize, element: usize, size: usize) -> Option<usize> {
    let padded = (position * window.stride + element * window.dilation) as i64 - window.low;
    let is_element = padded >= 0 && padded % window.base_dilation as i64 == 0;
    let index = usize::try_from(padded / window.base_dilation as i64).ok()?;
    (is_element && index < size).then_some(index)
}

/// The number of windows of an axis, by trying each.
fn positions(window: &PaddedWindow, size: usize) -> usize {
    let dilated = if size == 0 { 0 } else { (size - 1) * window.base_dilation + 1 };
    let padded = (dilated as i64 + window.low + window.high).max(0) as usize;
    let last = |position: usize| position * window.stride + (window.size - 1) * window.dilation;
    (0..).take_while(|&position| last(position) < padded).count()
}

/// The convolution of `[batch, features, size, size]` arrays by a sum over all indices.
fn naive(
    (x, shape): (&[i32], [usize; 4]),
    (kernel, of_kernel): (&[i32], [usize; 4]),
    windows: &[PaddedWindow; 2],
    [feature_groups, batch_groups]: [usize; 2],
) -> (Vec<i32>, [usize; 4]) {
    let [batch, features, height, width] = shape;
    let [made, taken, rows, columns] = of_kernel;
    let (per_feature_group, per_batch_group) = (made / feature_groups, made / batch_groups);
    let sizes =
        [batch / batch_groups, made, positions(&windows[0], height), positions(&windows[1], width)];
    let mut results = Vec::new();
    let kernel_index = |window: &PaddedWindow, element: usize, size: usize| match window.is_reversed
    {
        true => size - 1 - element,
        false => element,
    };
    for n in 0..sizes[0] {
        for f in 0..made {
            let source = n + if batch_groups > 1 { f / per_batch_group * sizes[0] } else { 0 };
            let first = if feature_groups > 1 { f / per_feature_group * taken } else { 0 };
            for (o0, o1) in (0..sizes[2]).flat_map(|o0| (0..sizes[3]).map(move |o1| (o0, o1))) {
                let mut sum = 0_i32;
                for (t0, t1) in (0..rows).flat_map(|t0| (0..columns).map(move |t1| (t0, t1))) {
                    let row = read(&windows[0], o0, t0, height);
                    let column = read(&windows[1], o1, t1, width);
                    let (Some(row), Some(column)) = (row, column) else { continue };
                    let k0 = kernel_index(&windows[0], t0, rows);
                    let k1 = kernel_index(&windows[1], t1, columns);
                    for c in 0..taken {
                        let x =
                            x[((source * features + first + c) * height + row) * width + column];
                        sum += x * kernel[((f * taken + c) * rows + k0) * columns + k1];
                    }
                }
                results.push(sum);
            }
        }
    }
    (results, sizes)
}

#[test]
fn convolutions_are_sums_of_products_over_indices() {
    let random = &mut Random(7);
    for case in 0..120 {
        let groups = [[1, 1], [2, 1], [1, 2], [3, 1]][case % 4];
        let [feature_groups, batch_groups] = groups;
        let taken = 1 + random.below(3);
        let batch = batch_groups * (1 + random.below(2));
        let shape = [batch, taken * feature_groups, 3 + random.below(4), 3 + random.below(4)];
        let made = feature_groups * batch_groups * (1 + random.below(2));
        let of_kernel = [made, taken, 1 + random.below(3), 1 + random.below(3)];
        let windows = [random.window(of_kernel[2]), random.window(of_kernel[3])];
        let x = random.numbers(shape.iter().product());
        let kernel = random.numbers(of_kernel.iter().product());
        let (expected, sizes) = naive((&x, shape), (&kernel, of_kernel), &windows, groups);

        let b = GraphBuilder::new();
        let parameter = |name, shape: [usize; 4]| b.parameter(name, DType::I32, shape).unwrap();
        let (value, weights) = (parameter("x", shape), parameter("kernel", of_kernel));
        let convolution =
            Convolution { feature_groups, batch_groups, ..Convolution::new(windows.to_vec()) };
        let leading = b.convolution(&value, &weights, &convolution, None).unwrap();
        // The same with channels last, and a kernel of `[rows, columns, in, out]`.
        let last = ConvolutionAxes { batch: 0, feature: 3, spatial: vec![1, 2] };
        let convolution = Convolution {
            operand: last.clone(),
            kernel: ConvolutionAxes { batch: 3, feature: 2, spatial: vec![0, 1] },
            result: last,
            ..convolution
        };
        let turned = b.transpose(&value, &[0, 2, 3, 1]).unwrap();
        let weights = b.transpose(&weights, &[2, 3, 1, 0]).unwrap();
        let trailing = b.convolution(turned, weights, &convolution, None).unwrap();
        let trailing = b.transpose(trailing, &[0, 3, 1, 2]).unwrap();
        let graph = b.finish(&[leading, trailing]).unwrap();
        let arguments = [Array::new(shape, x).unwrap(), Array::new(of_kernel, kernel).unwrap()];
        for found in evaluate(&graph, &arguments).unwrap() {
            assert_eq!(
                found,
                Array::new(sizes, expected.clone()).unwrap(),
                "{windows:?} {groups:?}"
            );
        }
    }
}

#[test]
fn a_kernel_without_elements_makes_zeros() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2, 3, 5]).unwrap();
    let kernel = b.parameter("kernel", DType::F32, [4, 3, 0]).unwrap();
    let convolution = Convolution::new(vec![PaddedWindow::default()]);
    let result = b.convolution(&x, kernel, &convolution, None).unwrap();
    assert_eq!(result.array_type().unwrap().to_string(), "f32[2, 4, 6]");
    let nothing = b.parameter("nothing", DType::F32, [2, 0, 5]).unwrap();
    let kernel = b.parameter("k", DType::F32, [4, 0, 3]).unwrap();
    let sums = b.convolution(nothing, kernel, &convolution, None).unwrap();
    let graph = b.finish(&[sums]).unwrap();
    let arguments: Vec<Array> = graph
        .parameters()
        .iter()
        .map(|&parameter| {
            let shape = graph[parameter].array_type.shape.clone();
            let count = shape.element_count().unwrap();
            Array::new(shape, vec![1.0_f32; count]).unwrap()
        })
        .collect();
    let found = evaluate(&graph, &arguments).unwrap();
    assert_eq!(found, [Array::new([2, 4, 3], vec![0.0_f32; 24]).unwrap()]);
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let code = |x: &[usize], kernel: &[usize], groups: [usize; 2]| {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F32, x).unwrap();
        let kernel = b.parameter("kernel", DType::F32, kernel).unwrap();
        let [feature_groups, batch_groups] = groups;
        let windows = vec![PaddedWindow::default()];
        let convolution = Convolution { feature_groups, batch_groups, ..Convolution::new(windows) };
        b.convolution(x, kernel, &convolution, None).map_err(|error| error.code())
    };
    assert!(code(&[2, 4, 5], &[6, 2, 3], [2, 1]).is_ok());
    for (x, kernel, groups) in [
        (&[2, 3, 5][..], &[6, 4, 3][..], [1, 1]),
        (&[2, 4, 5], &[5, 2, 3], [2, 1]),
        (&[3, 4, 5], &[6, 4, 3], [1, 2]),
        (&[2, 4, 5], &[6, 2, 3], [0, 1]),
        (&[2, 4, 5], &[6, 2, 3], [2, 2]),
        (&[2, 4, 5, 5], &[6, 4, 3], [1, 1]),
        (&[2, 4, 5], &[6, 4, 3, 3], [1, 1]),
    ] {
        assert_eq!(code(x, kernel, groups).unwrap_err(), "convolution-shape", "{x:?} {kernel:?}");
    }
}

/// The elements of the windows of a `[rows, columns]` array, in row-major order; padding is `None`.
fn windows_of(shape: [usize; 2], windows: &[PaddedWindow; 2]) -> Vec<Vec<Option<[usize; 2]>>> {
    let mut all = Vec::new();
    for o0 in 0..positions(&windows[0], shape[0]) {
        for o1 in 0..positions(&windows[1], shape[1]) {
            let element = |t: usize| {
                let (t0, t1) = (t / windows[1].size, t % windows[1].size);
                let row = read(&windows[0], o0, t0, shape[0])?;
                Some([row, read(&windows[1], o1, t1, shape[1])?])
            };
            all.push((0..windows[0].size * windows[1].size).map(element).collect());
        }
    }
    all
}

#[test]
fn pools_reduce_the_elements_of_their_windows() {
    let random = &mut Random(11);
    for _ in 0..60 {
        let shape = [3 + random.below(4), 3 + random.below(5)];
        let sizes = [1 + random.below(3), 1 + random.below(3)];
        let windows = sizes.map(|size| PaddedWindow { is_reversed: false, ..random.window(size) });
        let numbers = random.numbers(shape[0] * shape[1]);
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::I32, shape).unwrap();
        let axes = [(0, windows[0]), (1, windows[1])];
        let ten = b.scalar(10_i32);
        let outputs = [
            b.reduce_window(&x, ReduceOp::Max, None, &axes).unwrap(),
            b.reduce_window(&x, ReduceOp::Add, None, &axes).unwrap(),
            b.reduce_window(&x, ReduceOp::Min, Some(&ten), &axes).unwrap(),
            b.average_pool(x.convert(DType::F64), &axes, PoolDivisor::Padded, &[0, 0]).unwrap(),
            b.reduce_window(x.convert(DType::F16), ReduceOp::Max, None, &axes).unwrap(),
            b.average_pool(x.convert(DType::F32), &axes, PoolDivisor::Padded, &[0, 0]).unwrap(),
        ];
        let graph = b.finish(&outputs).unwrap();
        let found = evaluate(&graph, &[Array::new(shape, numbers.clone()).unwrap()]).unwrap();
        let of = |index: &[usize; 2]| numbers[index[0] * shape[1] + index[1]];
        let all = windows_of(shape, &windows);
        let elements = |window: &Vec<Option<[usize; 2]>>| {
            window.iter().flatten().map(of).collect::<Vec<i32>>()
        };
        let each = |reduce: &dyn Fn(Vec<i32>) -> i32| {
            all.iter().map(|window| reduce(elements(window))).collect::<Vec<i32>>()
        };
        let max = each(&|window| window.into_iter().max().unwrap_or(i32::MIN));
        assert_eq!(found[0].elements::<i32>(), Ok(&max[..]), "{windows:?}");
        let sum = each(&|window| window.into_iter().sum());
        assert_eq!(found[1].elements::<i32>(), Ok(&sum[..]));
        let min = each(&|window| window.into_iter().min().unwrap_or(10).min(10));
        assert_eq!(found[2].elements::<i32>(), Ok(&min[..]));
        let size = (sizes[0] * sizes[1]) as f64;
        let average: Vec<f64> = sum.iter().map(|&sum| f64::from(sum) / size).collect();
        assert_eq!(found[3].elements::<f64>(), Ok(&average[..]));
        let max = each(&|window| window.into_iter().max().unwrap_or(i32::MIN));
        let half: Vec<f32> =
            found[4].elements::<f16>().unwrap().iter().map(|x| x.to_f32()).collect();
        let is_max = |(half, max): (&f32, &i32)| match *max {
            i32::MIN => *half == f32::NEG_INFINITY,
            max => *half == max as f32,
        };
        assert!(half.iter().zip(&max).all(is_max), "{half:?} {max:?}");
        let average: Vec<f32> = average.iter().map(|&average| average as f32).collect();
        assert_eq!(found[5].elements::<f32>(), Ok(&average[..]));
    }
}

#[test]
fn averages_count_elements_or_padding() {
    let random = &mut Random(5);
    for _ in 0..40 {
        let shape = [2 + random.below(4), 2 + random.below(4)];
        let mut windows = [0, 0].map(|_| PaddedWindow {
            low: random.below(2) as i64,
            high: random.below(2) as i64,
            base_dilation: 1,
            is_reversed: false,
            dilation: 1,
            ..random.window(2)
        });
        let beyond = [random.below(2), random.below(2)];
        (0..2).for_each(|axis| windows[axis].high += beyond[axis] as i64);
        let numbers = random.numbers(shape[0] * shape[1]);
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::I32, shape).unwrap().convert(DType::F64);
        let axes = [(0, windows[0]), (1, windows[1])];
        let average = |divisor| b.average_pool(&x, &axes, divisor, &beyond).unwrap();
        let outputs = [average(PoolDivisor::Elements), average(PoolDivisor::Padded)];
        let graph = b.finish(&outputs).unwrap();
        let found = evaluate(&graph, &[Array::new(shape, numbers.clone()).unwrap()]).unwrap();
        let mut position = 0;
        for o0 in 0..positions(&windows[0], shape[0]) {
            for o1 in 0..positions(&windows[1], shape[1]) {
                let (mut sum, mut elements, mut padded) = (0, 0, 0);
                for (t0, t1) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let index = [
                        (o0 * windows[0].stride + t0) as i64 - windows[0].low,
                        (o1 * windows[1].stride + t1) as i64 - windows[1].low,
                    ];
                    let is_padded = |axis: usize| {
                        let end = shape[axis] as i64 + windows[axis].high - beyond[axis] as i64;
                        index[axis] < end
                    };
                    let is_inside = |axis: usize| (0..shape[axis] as i64).contains(&index[axis]);
                    padded += i32::from(is_padded(0) && is_padded(1));
                    if is_inside(0) && is_inside(1) {
                        elements += 1;
                        sum += numbers[index[0] as usize * shape[1] + index[1] as usize];
                    }
                }
                let quotient = |count: i32| f64::from(sum) / f64::from(count);
                let of = |output: usize| found[output].elements::<f64>().unwrap()[position];
                assert!(of(0) == quotient(elements) || elements == 0, "{windows:?}");
                assert!(of(1) == quotient(padded) || padded == 0, "{windows:?}");
                position += 1;
            }
        }
    }
}

#[test]
fn an_average_of_too_many_padded_windows_is_an_error() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [1 << 25]).unwrap();
    let average = |window: PaddedWindow, divisor| b.average_pool(&x, &[(0, window)], divisor, &[0]);
    let window = PaddedWindow { size: 3, ..PaddedWindow::default() };
    // Whole windows have one divisor.
    assert!(average(window, PoolDivisor::Elements).is_ok());
    let padded = PaddedWindow { low: 1, high: 1, ..window };
    assert!(average(padded, PoolDivisor::Padded).is_ok());
    let error = average(padded, PoolDivisor::Elements).unwrap_err();
    assert_eq!(error.code(), "convolution-shape");
    assert!(error.to_string().contains("more than 16777216 positions"), "{error}");
}
