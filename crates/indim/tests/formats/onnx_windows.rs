//! ONNX convolutions and pools, against loops over indices written here.

use crate::support::onnx::{Message, int, ints, run_node, text};
use crate::support::random::Random;
use indim_graph::Array;

impl Random {
    fn bytes(&mut self, shape: &[usize]) -> Array {
        let count = shape.iter().product();
        Array::new(shape, (0..count).map(|_| self.below(256) as u8).collect::<Vec<u8>>()).unwrap()
    }
}

/// One spatial axis: kernel, stride, dilation, pads.
#[derive(Debug, Clone, Copy)]
struct Axis {
    kernel: usize,
    stride: usize,
    dilation: usize,
    pads: [usize; 2],
}

impl Axis {
    fn random(random: &mut Random) -> Axis {
        let [stride, dilation] = [1 + random.below(3), 1 + random.below(2)];
        let pads = [random.below(2), random.below(2)];
        Axis { kernel: 1 + random.below(3), stride, dilation, pads }
    }

    fn span(&self) -> usize {
        (self.kernel - 1) * self.dilation + 1
    }

    /// The number of windows, by trying each.
    fn count(&self, size: usize) -> usize {
        let fits = |o: usize| o * self.stride + self.span() <= size + self.pads[0] + self.pads[1];
        (0..).take_while(|&o| fits(o)).count()
    }

    /// The index that element `t` of window `o` reads.
    fn index(&self, o: usize, t: usize, size: usize) -> Option<usize> {
        let index = (o * self.stride + t * self.dilation).checked_sub(self.pads[0])?;
        (index < size).then_some(index)
    }
}

fn attributes(axes: &[Axis; 2]) -> Vec<Message> {
    let list =
        |of: &dyn Fn(&Axis) -> usize| axes.iter().map(|a| of(a) as i64).collect::<Vec<i64>>();
    let pads = [list(&|a| a.pads[0]), list(&|a| a.pads[1])].concat();
    vec![
        ints("kernel_shape", &list(&|a| a.kernel)),
        ints("strides", &list(&|a| a.stride)),
        ints("dilations", &list(&|a| a.dilation)),
        ints("pads", &pads),
    ]
}

fn numbers(array: &Array) -> &[f32] {
    array.elements().unwrap()
}

#[test]
fn convolutions_are_sums_over_indices() {
    let random = &mut Random(3);
    for case in 0..40 {
        let axes = [Axis::random(random), Axis::random(random)];
        let groups = 1 + case % 3;
        let (taken, made) = (1 + random.below(3), groups * (1 + random.below(2)));
        let (batch, height, width) =
            (1 + random.below(2), 5 + random.below(3), 5 + random.below(3));
        let x = random.floats(&[batch, taken * groups, height, width]);
        let w = random.floats(&[made, taken, axes[0].kernel, axes[1].kernel]);
        let bias = random.floats(&[made]);
        let attributes = [attributes(&axes), vec![int("group", groups as i64)]].concat();
        let found =
            run_node(13, "Conv", &[x.clone(), w.clone(), bias.clone()], &attributes).unwrap();
        let counts = [axes[0].count(height), axes[1].count(width)];
        let mut expected = Vec::new();
        for (n, f) in (0..batch).flat_map(|n| (0..made).map(move |f| (n, f))) {
            for (o0, o1) in (0..counts[0]).flat_map(|a| (0..counts[1]).map(move |b| (a, b))) {
                let mut sum = numbers(&bias)[f];
                for t in 0..axes[0].kernel * axes[1].kernel {
                    let (t0, t1) = (t / axes[1].kernel, t % axes[1].kernel);
                    let rows = axes[0].index(o0, t0, height);
                    let Some((row, column)) = rows.zip(axes[1].index(o1, t1, width)) else {
                        continue;
                    };
                    for c in 0..taken {
                        let channel = f / (made / groups) * taken + c;
                        let of_x = ((n * taken * groups + channel) * height + row) * width + column;
                        let of_w = (f * taken + c) * axes[0].kernel * axes[1].kernel + t;
                        sum += numbers(&x)[of_x] * numbers(&w)[of_w];
                    }
                }
                expected.push(sum);
            }
        }
        let expected = Array::new([batch, made, counts[0], counts[1]], expected).unwrap();
        assert_eq!(found, expected, "{axes:?}, {groups} groups");
    }
}

/// A transposed convolution adds each element times the weights at the positions that would read the element.
#[test]
fn transposed_convolutions_scatter_their_weights() {
    let random = &mut Random(4);
    for case in 0..40 {
        let axes = [Axis::random(random), Axis::random(random)];
        let groups = 1 + case % 2;
        let (taken, made) = (1 + random.below(2), 1 + random.below(2));
        let sizes = [2 + random.below(3), 2 + random.below(3)];
        let more: [usize; 2] = core::array::from_fn(|a| random.below(axes[a].stride));
        let x = random.floats(&[1, taken * groups, sizes[0], sizes[1]]);
        let w = random.floats(&[taken * groups, made, axes[0].kernel, axes[1].kernel]);
        let result: [i64; 2] = core::array::from_fn(|a| {
            let whole = axes[a].stride * (sizes[a] - 1) + axes[a].span() + more[a];
            whole as i64 - (axes[a].pads[0] + axes[a].pads[1]) as i64
        });
        if result.iter().any(|&size| size <= 0) {
            continue;
        }
        let mut attributes = [attributes(&axes), vec![int("group", groups as i64)]].concat();
        attributes.push(ints("output_padding", &more.map(|n| n as i64)));
        let found = run_node(11, "ConvTranspose", &[x.clone(), w.clone()], &attributes).unwrap();
        let [rows, columns] = result.map(|size| size as usize);
        let mut expected = vec![0.0_f32; made * groups * rows * columns];
        for c in 0..taken * groups {
            for i in 0..sizes[0] * sizes[1] {
                for t in 0..axes[0].kernel * axes[1].kernel {
                    let (i0, i1) = (i / sizes[1], i % sizes[1]);
                    let (t0, t1) = (t / axes[1].kernel, t % axes[1].kernel);
                    let place = |axis: usize, i: usize, t: usize| {
                        (i * axes[axis].stride + t * axes[axis].dilation)
                            .checked_sub(axes[axis].pads[0])
                    };
                    let (Some(row), Some(column)) = (place(0, i0, t0), place(1, i1, t1)) else {
                        continue;
                    };
                    if row >= rows || column >= columns {
                        continue;
                    }
                    for f in 0..made {
                        let of_w = (c * made + f) * axes[0].kernel * axes[1].kernel + t;
                        let to = ((c / taken * made + f) * rows + row) * columns + column;
                        expected[to] +=
                            numbers(&x)[c * sizes[0] * sizes[1] + i] * numbers(&w)[of_w];
                    }
                }
            }
        }
        let expected = Array::new([1, made * groups, rows, columns], expected).unwrap();
        assert_eq!(found, expected, "{axes:?}, {groups} groups, {more:?}");
    }
}

fn row(elements: &[f32]) -> Array {
    Array::new([1, 1, elements.len()], elements.to_vec()).unwrap()
}

#[test]
fn padding_by_name_puts_an_odd_element_at_one_end() {
    let x = row(&[1.0, 2.0, 3.0, 4.0]);
    let w = row(&[1.0, 10.0]);
    let conv = |operator: &str, attributes: &[Message]| {
        run_node(13, operator, &[x.clone(), w.clone()], attributes)
    };
    let upper = [text("auto_pad", "SAME_UPPER")];
    let lower = [text("auto_pad", "SAME_LOWER")];
    assert_eq!(conv("Conv", &upper), Ok(row(&[21.0, 32.0, 43.0, 4.0])));
    assert_eq!(conv("Conv", &lower), Ok(row(&[10.0, 21.0, 32.0, 43.0])));
    assert_eq!(conv("Conv", &[text("auto_pad", "VALID")]), Ok(row(&[21.0, 32.0, 43.0])));
    assert_eq!(conv("Conv", &[text("auto_pad", "OTHER")]), Err("attribute"));
    // One element of the five is removed.
    assert_eq!(conv("ConvTranspose", &upper), Ok(row(&[1.0, 12.0, 23.0, 34.0])));
    assert_eq!(conv("ConvTranspose", &lower), Ok(row(&[12.0, 23.0, 34.0, 40.0])));
    let stated = [ints("output_shape", &[6])];
    assert_eq!(conv("ConvTranspose", &stated), Ok(row(&[1.0, 12.0, 23.0, 34.0, 40.0, 0.0])));
    assert_eq!(conv("Conv", &[ints("pads", &[0, -1])]), Err("attribute"));
    assert_eq!(conv("Conv", &[ints("kernel_shape", &[3])]), Err("attribute"));
    assert_eq!(conv("Conv", &[ints("dilations", &[4])]), Err("attribute"));
    assert_eq!(conv("Conv", &[int("group", 0)]), Err("attribute"));
    let wide = Array::new([1, 2, 2], vec![1.0_f32; 4]).unwrap();
    assert_eq!(run_node(13, "Conv", &[x.clone(), wide], &[]), Err("convolution-shape"));
}

#[test]
fn integers_are_convolved_less_their_zero_points() {
    let random = &mut Random(9);
    let (x, w) = (random.bytes(&[1, 2, 5]), random.bytes(&[3, 2, 2]));
    let zero = Array::from_scalar(7_u8);
    let zeros = Array::new([3], vec![1_u8, 128, 255]).unwrap();
    let pads = [ints("pads", &[1, 0])];
    let found =
        run_node(10, "ConvInteger", &[x.clone(), w.clone(), zero, zeros.clone()], &pads).unwrap();
    let of = |array: &Array, index: usize| i32::from(array.elements::<u8>().unwrap()[index]);
    let mut expected = Vec::new();
    for (f, o) in (0..3).flat_map(|f| (0..5).map(move |o| (f, o))) {
        let mut sum = 0;
        for (c, t) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            // The padding has the zero point.
            let Some(i) = (o + t as usize).checked_sub(1) else { continue };
            sum += (of(&x, c * 5 + i) - 7) * (of(&w, (f * 2 + c) * 2 + t as usize) - of(&zeros, f));
        }
        expected.push(sum);
    }
    assert_eq!(found, Array::new([1, 3, 5], expected).unwrap());
}

#[test]
fn a_quantised_convolution_is_rounded_to_its_scale() {
    let random = &mut Random(9);
    let (x, w) = (random.bytes(&[1, 2, 5]), random.bytes(&[3, 2, 2]));
    let (zeros, bias) = ([3_u8, 250, 128], [-40_i32, 0, 900]);
    let (scale_x, scales_w, scale_y) = (0.5_f32, [0.25_f32, 0.125, 0.5], 64.0_f32);
    let inputs = [
        x.clone(),
        Array::from_scalar(scale_x),
        Array::from_scalar(7_u8),
        w.clone(),
        Array::new([3], scales_w.to_vec()).unwrap(),
        Array::new([3], zeros.to_vec()).unwrap(),
        Array::from_scalar(scale_y),
        Array::from_scalar(100_u8),
        Array::new([3], bias.to_vec()).unwrap(),
    ];
    let found = run_node(10, "QLinearConv", &inputs, &[]).unwrap();
    let of = |array: &Array, index: usize| i32::from(array.elements::<u8>().unwrap()[index]);
    let mut expected = Vec::new();
    for (f, o) in (0..3).flat_map(|f| (0..4).map(move |o| (f, o))) {
        let product = |(c, t): (usize, usize)| {
            (of(&x, c * 5 + o + t) - 7) * (of(&w, (f * 2 + c) * 2 + t) - i32::from(zeros[f]))
        };
        let sum: i32 = [(0, 0), (0, 1), (1, 0), (1, 1)].into_iter().map(product).sum();
        // The scales are powers of two, so only the last step rounds.
        let scaled = (sum + bias[f]) as f32 * (scale_x * scales_w[f] / scale_y);
        expected.push((scaled.round_ties_even() + 100.0).clamp(0.0, 255.0) as u8);
    }
    assert_eq!(found, Array::new([1, 3, 4], expected).unwrap());
}

#[test]
fn pools_take_the_elements_of_their_windows() {
    let random = &mut Random(8);
    for _ in 0..40 {
        let axes = [Axis::random(random), Axis::random(random)];
        // A window that has only padding has no average.
        let axes =
            axes.map(|a| Axis { pads: a.pads.map(|n| n.min(a.kernel - 1)), dilation: 1, ..a });
        let sizes = [4 + random.below(3), 4 + random.below(3)];
        let x = random.floats(&[1, 1, sizes[0], sizes[1]]);
        let mut attributes = attributes(&axes);
        let max = run_node(12, "MaxPool", core::slice::from_ref(&x), &attributes).unwrap();
        attributes.remove(2);
        let average = run_node(11, "AveragePool", core::slice::from_ref(&x), &attributes).unwrap();
        attributes.push(int("count_include_pad", 1));
        let padded = run_node(11, "AveragePool", core::slice::from_ref(&x), &attributes).unwrap();
        let counts = [axes[0].count(sizes[0]), axes[1].count(sizes[1])];
        for position in 0..counts[0] * counts[1] {
            let (o0, o1) = (position / counts[1], position % counts[1]);
            let elements = (0..axes[0].kernel * axes[1].kernel).filter_map(|t| {
                let (t0, t1) = (t / axes[1].kernel, t % axes[1].kernel);
                let row = axes[0].index(o0, t0, sizes[0])?;
                Some(numbers(&x)[row * sizes[1] + axes[1].index(o1, t1, sizes[1])?])
            });
            let elements: Vec<f32> = elements.collect();
            let largest = elements.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            assert_eq!(numbers(&max)[position], largest, "{axes:?}");
            let sum: f64 = elements.iter().map(|&element| f64::from(element)).sum();
            let of = |count: usize| (sum / count as f64) as f32;
            assert_eq!(numbers(&average)[position], of(elements.len()), "{axes:?}");
            assert_eq!(numbers(&padded)[position], of(axes[0].kernel * axes[1].kernel), "{axes:?}");
        }
    }
}

/// Values of ONNX Runtime 1.32, which a last window in the padding, counts and NaN decide.
#[test]
fn pools_round_up_and_skip_nan_as_onnx_runtime_does() {
    let x = row(&[1.0, 2.0, 3.0, 4.0, 5.0]);
    let attributes = |count: i64, ceil: i64| {
        vec![
            ints("kernel_shape", &[3]),
            ints("pads", &[1, 1]),
            ints("strides", &[2]),
            int("count_include_pad", count),
            int("ceil_mode", ceil),
        ]
    };
    let pool = |operator: &str, attributes: &[Message]| {
        run_node(19, operator, core::slice::from_ref(&x), attributes)
    };
    // The last window of four would begin in the padding.
    assert_eq!(pool("AveragePool", &attributes(1, 1)), Ok(row(&[1.0, 3.0, 3.0])));
    assert_eq!(pool("AveragePool", &attributes(0, 1)), Ok(row(&[1.5, 3.0, 4.5])));
    let ceiled = [ints("kernel_shape", &[3]), ints("strides", &[3]), int("ceil_mode", 1)];
    let average = [&ceiled[..], &[int("count_include_pad", 1)]].concat();
    // Averages do not count the padding that rounding up adds.
    assert_eq!(pool("AveragePool", &average), Ok(row(&[2.0, 4.5])));
    assert_eq!(pool("MaxPool", &ceiled), Ok(row(&[3.0, 5.0])));
    assert_eq!(pool("MaxPool", &ceiled[..2]), Ok(row(&[3.0])));
    let x = row(&[1.0, f32::NAN, 3.0, 2.0]);
    let pairs = [ints("kernel_shape", &[2]), ints("strides", &[2])];
    assert_eq!(run_node(12, "MaxPool", &[x], &pairs), Ok(row(&[1.0, 3.0])));
    assert_eq!(pool("MaxPool", &[]), Err("attribute"));
    assert_eq!(run_node(9, "MaxPool", &[row(&[1.0])], &ceiled), Err("attribute"));
}
