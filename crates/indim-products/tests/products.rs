//! Products compared with the definition, bit for bit, at every level, for one thread and many.

mod common;

use indim_ops::{DType, Level};
use indim_products::{AxisClass, Product, ProductAxis, ProductPlan};

use common::{Random, check, dense};

const F32: [DType; 4] = [DType::F32; 4];
const F64: [DType; 4] = [DType::F64; 4];

/// A step through long lists of cases. Without optimisation every eighth runs; release tests run all.
const STEP: usize = if cfg!(debug_assertions) { 8 } else { 1 };

#[test]
fn every_length_of_the_sum() {
    let mut random = Random(1);
    for length in (0..1100).step_by(STEP) {
        check(&dense(F32, 3, 2, length), || random.number());
    }
    for length in (0..1100).step_by(7 * STEP) {
        check(&dense(F64, 3, 2, length), || random.number());
    }
}

#[test]
fn lengths_near_nodes_of_the_tree() {
    let mut random = Random(2);
    for power in 1..6 {
        let node = 512_usize << power;
        for distance in [0, 1, 7, 8, 63, 64, 65] {
            for length in [node - distance, node + distance] {
                check(&dense(F32, 2, 9, length), || random.number());
            }
        }
        check(&dense(F64, 2, 9, node + 65), || random.number());
    }
}

#[test]
fn every_tile() {
    let mut random = Random(3);
    for rows in 1..=13 {
        for columns in 1..=33 {
            for length in [5, 70] {
                check(&dense(F32, rows, columns, length), || random.number());
            }
            check(&dense(F64, rows, columns, 66), || random.number());
        }
    }
    // Tiles of vectors of 512 bits have up to 48 columns.
    for (rows, columns) in [(8, 47), (9, 48), (3, 49), (7, 63), (17, 97)] {
        for types in [F32, F64, [DType::I32; 4], [DType::I64; 4]] {
            check(&dense(types, rows, columns, 5), || random.number());
            check(&dense(types, rows, columns, 70), || random.number());
        }
    }
}

#[test]
fn dot_products() {
    let mut random = Random(12);
    for (rows, columns) in [(1, 1), (1, 5), (3, 8), (2, 21), (4, 30), (40, 1)] {
        for length in
            [65, 71, 512, 519, 577, 1024, 1500, 4100, 9000].into_iter().step_by(STEP.min(3))
        {
            for types in [F32, F64, [DType::I32; 4], [DType::I64; 4]] {
                check(&contiguous(types, rows, columns, length), || random.number());
            }
        }
    }
}

#[test]
fn scaled_rows() {
    let mut random = Random(13);
    let mut shapes = Vec::new();
    for (rows, columns) in [(1, 8), (1, 65), (2, 257), (3, 300), (4, 523), (1, 1030), (70, 2)] {
        for length in [65, 512, 519, 1500] {
            for types in [F32, F64, [DType::I32; 4], [DType::I64; 4]] {
                shapes.push(dense(types, rows, columns, length));
            }
        }
    }
    for product in shapes.iter().step_by(STEP + 2) {
        check(product, || random.number());
    }
    check(&dense(F32, 2, 30, 9000), || random.number());
    check(&dense(F32, 1, 300, 2100), || random.hard());
}

/// A batch of `results` single dot products, with strides in elements: of `x` and `y` along the batch, then
/// of `x` and `y` along the summed index.
fn batch_of_dots(types: [DType; 4], [results, length]: [usize; 2], strides: [isize; 4]) -> Product {
    let [x, y, compute, out] = types;
    let bytes = [x, y, out].map(|dtype| dtype.size() as isize);
    let axes = vec![
        axis(AxisClass::Batch, results, [strides[0], strides[1], 1], bytes),
        axis(AxisClass::Summed, length, [strides[2], strides[3], 0], bytes),
    ];
    Product { x, y, compute, out, axes }
}

/// A register tile for each of many single results takes up to a hundred times as long.
#[test]
fn batches_of_short_dot_products_run_along_the_batch() {
    let method = |product: &Product| {
        let plan = ProductPlan::new(product, Level::detect(), 1).unwrap();
        format!("{plan:?}").split("method: ").nth(1).unwrap().split(',').next().unwrap().to_owned()
    };
    for length in [1, 3, 64, 100, 512] {
        let dense = length as isize;
        let product = batch_of_dots(F32, [1000, length], [dense, dense, 1, 1]);
        assert_eq!(method(&product), "BatchDots", "{length}");
        // A product of one factor is a stencil.
        let expected = if length == 1 { "Stencils" } else { "ColumnDots" };
        assert_eq!(method(&contiguous(F32, 1000, 1, length)), expected, "{length}");
    }
    // Each result packs its factors if they are widened: a few do, register tiles pack them once for all.
    let matrices = |dtype: DType, side: usize, length: usize| {
        let (n, k) = (side as isize, length as isize);
        let bytes = [dtype.size() as isize; 3];
        let axes = vec![
            axis(AxisClass::Batch, 1000, [n * k, n * k, n * n], bytes),
            axis(AxisClass::Row, side, [k, 0, n], bytes),
            axis(AxisClass::Column, side, [0, 1, 1], bytes),
            axis(AxisClass::Summed, length, [1, n, 0], bytes),
        ];
        let compute = if dtype == DType::F16 { DType::F32 } else { dtype };
        method(&Product { x: dtype, y: dtype, compute, out: dtype, axes })
    };
    for dtype in [DType::I8, DType::U8, DType::F16] {
        assert_eq!(matrices(dtype, 4, 8), "Tiles", "{dtype}");
        assert_eq!(matrices(dtype, 3, 3), "BatchDots", "{dtype}");
    }
    assert_eq!(matrices(DType::F32, 4, 8), "BatchDots");
}

/// Lengths of one block: within a group of indices, a chain, and a block.
const BLOCK_LENGTHS: [usize; 15] = [1, 2, 3, 4, 5, 7, 10, 63, 64, 65, 72, 100, 130, 511, 512];

#[test]
fn batches_of_dot_products() {
    let mut random = Random(21);
    for results in [8, 9, 16, 31, 33] {
        for length in BLOCK_LENGTHS.into_iter().step_by(STEP.min(2)) {
            let dense = length as isize;
            let across = results as isize;
            let layouts = [
                [dense, dense, 1, 1],
                [1, 1, across, across],
                [1, dense, across, 1],
                [dense, 0, 1, 1],
                [0, dense, 1, 1],
                [0, 0, 1, 1],
                [0, 1, 0, across],
                [2 * dense, -dense, 2, 1],
                [-2, dense + 1, -2 * across, 1],
            ];
            for strides in layouts {
                check(&batch_of_dots(F32, [results, length], strides), || random.number());
                check(&batch_of_dots(F64, [results, length], strides), || random.hard());
            }
        }
    }
}

#[test]
fn batches_of_dot_products_of_every_type() {
    use DType::{Bf16, F16, F32, F64, I8, I16, I32, I64, U8, U32};
    let mut random = Random(22);
    let all = [
        [F16, F16, F32, F16],
        [Bf16, F32, F32, Bf16],
        [F32, F32, F32, F64],
        [F32, F64, F64, F32],
        [I8, I8, I32, I8],
        [I8, U8, I32, I32],
        [I16, I8, I32, I16],
        [I32; 4],
        [U32; 4],
        [I64; 4],
        [U8, I64, I64, I64],
    ];
    for types in all {
        for length in BLOCK_LENGTHS.into_iter().step_by(STEP.min(3)) {
            let dense = length as isize;
            let product = batch_of_dots(types, [37, length], [dense, dense, 1, 1]);
            check(&product, || 100.0 * random.number());
            let product = batch_of_dots(types, [9, length], [-1, 0, 9, 1]);
            check(&product, || 100.0 * random.number());
        }
    }
}

#[test]
fn batches_of_several_axes() {
    let mut random = Random(23);
    for [slow, fast] in [[3, 5], [5, 3], [2, 17], [9, 8], [8, 1]] {
        for length in [3, 65] {
            let (fast_, dense) = (fast as isize, length as isize);
            let bytes = [4; 3];
            let axes = vec![
                axis(AxisClass::Batch, slow, [fast_ * dense + 2, fast_ * dense, fast_ + 1], bytes),
                axis(AxisClass::Batch, fast, [dense, dense, 1], bytes),
                axis(AxisClass::Summed, length, [1, 1, 0], bytes),
            ];
            let [x, y, compute, out] = F32;
            check(&Product { x, y, compute, out, axes }, || random.number());
        }
    }
}

/// Small matrices, whose products are computed result by result along the batch.
#[test]
fn batches_of_small_matrices() {
    let mut random = Random(24);
    for [rows, columns, length] in
        [[2, 2, 2], [3, 3, 3], [1, 4, 5], [4, 4, 4], [5, 1, 9], [4, 4, 16]]
    {
        for types in [F32, F64, [DType::I32; 4], [DType::I8; 4]] {
            let types = if types[0] == DType::I8 {
                [DType::I8, DType::I8, DType::I32, DType::I8]
            } else {
                types
            };
            for matrices in
                [dense(types, rows, columns, length), contiguous(types, rows, columns, length)]
            {
                let mut product = matrices;
                let bytes = [types[0], types[1], types[3]].map(|dtype| dtype.size() as isize);
                let sizes = [rows * length, columns * length, rows * columns];
                product
                    .axes
                    .insert(0, axis(AxisClass::Batch, 19, sizes.map(|size| size as isize), bytes));
                check(&product, || 10.0 * random.number());
            }
        }
    }
}

/// Products of a matrix and a vector, whose results are columns of one row.
#[test]
fn matrices_and_vectors() {
    let mut random = Random(25);
    for columns in [8, 9, 25, 40] {
        for length in BLOCK_LENGTHS.into_iter().step_by(STEP.min(2)) {
            for types in [F32, F64, [DType::I32; 4], [DType::I64; 4]] {
                check(&contiguous(types, 1, columns, length), || random.number());
                check(&contiguous(types, columns, 1, length), || random.hard());
            }
            // The vector has gaps.
            let mut product = contiguous(F32, 1, columns, length);
            product.axes[2].x *= 3;
            check(&product, || random.number());
        }
    }
}

/// Both operands are contiguous along the summed index.
fn contiguous(types: [DType; 4], rows: usize, columns: usize, length: usize) -> Product {
    let mut product = dense(types, rows, columns, length);
    let size = types[1].size() as isize;
    for axis in &mut product.axes {
        match axis.class {
            AxisClass::Column => axis.y = length as isize * size,
            AxisClass::Summed => axis.y = size,
            _ => {}
        }
    }
    product
}

#[test]
fn regions_and_pieces() {
    let mut random = Random(4);
    for (rows, columns, length) in
        [(150, 70, 40), (65, 130, 600), (40, 50, 5000), (1, 1500, 30), (1300, 1, 30), (2, 2, 9000)]
    {
        check(&dense(F32, rows, columns, length), || random.number());
    }
    check(&dense(F64, 70, 40, 700), || random.number());
}

#[test]
fn special_values() {
    let mut random = Random(5);
    for length in [1, 3, 64, 65, 513, 600] {
        for types in [F32, F64] {
            check(&dense(types, 9, 17, length), || random.hard());
        }
        // Most sums of hard values are NaN; few hard values leave more of them finite.
        check(&dense(F32, 9, 17, length), || match random.below(length + 1) {
            0 => random.hard(),
            _ => random.number(),
        });
        // Chains that underflow.
        check(&dense(F32, 9, 17, length), || random.number() * 1e-22);
        check(&dense(F32, 9, 17, length), || -0.0 * random.number());
    }
}

/// An axis of this size whose strides are in elements of `size` bytes.
fn axis(class: AxisClass, size: usize, strides: [isize; 3], bytes: [isize; 3]) -> ProductAxis {
    let [x, y, out] = [0, 1, 2].map(|operand: usize| strides[operand] * bytes[operand]);
    ProductAxis { class, size, x, y, out }
}

#[test]
fn random_axes_and_strides() {
    let mut random = Random(6);
    for _ in (0..80).step_by(STEP) {
        check(&random_product(&mut random, F32), || 0.5);
        let product = random_product(&mut random, F32);
        check(&product, || random.number());
        let product = random_product(&mut random, F64);
        check(&product, || random.number());
    }
}

/// A product of up to two axes of each class, in any order of memory, with gaps, reversed and repeated axes.
fn random_product(random: &mut Random, types: [DType; 4]) -> Product {
    let [x, y, compute, out] = types;
    let bytes = [x, y, out].map(|dtype| dtype.size() as isize);
    let mut classes = vec![];
    for class in [AxisClass::Batch, AxisClass::Row, AxisClass::Column, AxisClass::Summed] {
        classes.extend(vec![class; random.below(3)]);
    }
    for last in (1..classes.len()).rev() {
        classes.swap(last, random.below(last + 1));
    }
    let mut axes: Vec<ProductAxis> = classes
        .iter()
        .map(|&class| {
            let longest = if class == AxisClass::Summed { 40 } else { 12 };
            axis(class, random.below(longest) + usize::from(random.below(20) > 0), [0; 3], bytes)
        })
        .collect();
    // Each operand has an order of its axes of its own.
    for (operand, &size) in bytes.iter().enumerate() {
        let mut order: Vec<usize> = (0..axes.len()).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, random.below(last + 1));
        }
        let mut stride = size * (1 + isize::from(random.below(4) == 0));
        for index in order {
            let axis = &mut axes[index];
            let is_absent = match axis.class {
                AxisClass::Batch => false,
                AxisClass::Row => operand == 1,
                AxisClass::Column => operand == 0,
                AxisClass::Summed => operand == 2,
            };
            if is_absent {
                continue;
            }
            let is_repeated = operand != 2 && random.below(8) == 0;
            let sign = if random.below(5) == 0 { -1 } else { 1 };
            let own = if is_repeated { 0 } else { sign * stride };
            match operand {
                0 => axis.x = own,
                1 => axis.y = own,
                _ => axis.out = own,
            }
            if !is_repeated {
                stride *= axis.size.max(1) as isize;
                stride += size * isize::from(random.below(6) == 0);
            }
        }
    }
    Product { x, y, compute, out, axes }
}

#[test]
fn convolutions() {
    let mut random = Random(14);
    let rounds = if cfg!(debug_assertions) { 24 } else { 300 };
    for round in 0..rounds {
        let types = [F32, F32, F64, [DType::I32; 4]][round % 4];
        let convolution = RandomConvolution::new(&mut random);
        check(&convolution.product(types, random.below(2) == 0), || random.number());
    }
}

#[test]
fn depthwise_convolutions_share_loads() {
    let mut random = Random(15);
    let (heights, widths) = if cfg!(debug_assertions) { (3, 12) } else { (7, 40) };
    let all = (1..=heights).flat_map(|height| (1..=widths).map(move |width| [height, width]));
    for (round, positions) in all.enumerate() {
        let convolution = RandomConvolution {
            batch: 1 + round % 2,
            groups: 3,
            channels: 1,
            features: 1,
            positions: [positions[0], positions[1] * if cfg!(debug_assertions) { 3 } else { 1 }],
            kernel: [3, 3],
            stride: 1 + round / 2 % 2,
            dilation: 1 + round / 3 % 2,
        };
        check(&convolution.product([F32, F64][round / 5 % 2], false), || random.number());
    }
}

/// A run can be stopped only between its tasks.
#[test]
fn tasks_of_long_convolutions_are_bounded() {
    let convolution = |positions, kernel, stride| RandomConvolution {
        batch: 1,
        groups: 1,
        channels: 1,
        features: 1,
        positions,
        kernel,
        stride,
        dilation: 1,
    };
    let signal = convolution([1, 1 << 24], [1, 9], 2).product(F32, false);
    for &level in Level::available() {
        let plan = ProductPlan::new(&signal, level, 1).unwrap();
        let multiply_adds = plan.task_multiply_adds();
        assert!(multiply_adds <= 1 << 24, "{multiply_adds} at {level}");
    }
    let mut random = Random(16);
    check(&convolution([2, 17_000], [3, 3], 1).product(F32, false), || random.number());
}

/// The sizes of a convolution of two spatial axes, with groups.
#[derive(Debug)]
struct RandomConvolution {
    batch: usize,
    groups: usize,
    channels: usize,
    features: usize,
    positions: [usize; 2],
    kernel: [usize; 2],
    stride: usize,
    dilation: usize,
}

impl RandomConvolution {
    fn new(random: &mut Random) -> Self {
        let is_depthwise = random.below(2) == 0;
        let few = |random: &mut Random, end: usize| 1 + random.below(end);
        RandomConvolution {
            batch: few(random, 2),
            groups: few(random, 3),
            channels: if is_depthwise { 1 } else { few(random, 9) },
            features: if is_depthwise { few(random, 2) } else { few(random, 20) },
            positions: [few(random, 4), few(random, 40)],
            kernel: [few(random, 3), few(random, 5)],
            stride: few(random, 3),
            dilation: few(random, 2),
        }
    }

    /// The sum of products of windows, of a dense array with the channels before or behind the spatial axes,
    /// and a dense kernel.
    fn product(&self, types: [DType; 4], is_channels_last: bool) -> Product {
        let [x, y, compute, out] = types;
        let size = |axis: usize| {
            (self.positions[axis] - 1) * self.stride + (self.kernel[axis] - 1) * self.dilation + 1
        };
        let (channels, features) = (self.groups * self.channels, self.groups * self.features);
        let (height, width, [rows, columns]) = (size(0), size(1), self.positions);
        let [down, across] = self.kernel;
        // Strides in elements: batch, group, channel or feature, down, across.
        let x_strides = match is_channels_last {
            true => [height * width * channels, self.channels, 1, width * channels, channels],
            false => {
                let plane = height * width;
                [channels * plane, self.channels * plane, plane, width, 1]
            }
        };
        let out_strides = match is_channels_last {
            true => [rows * columns * features, self.features, 1, columns * features, features],
            false => {
                let plane = rows * columns;
                [features * plane, self.features * plane, plane, columns, 1]
            }
        };
        let filter = self.channels * down * across;
        let of = |class, count, [of_x, of_y, of_out]: [usize; 3]| {
            axis(
                class,
                count,
                [of_x, of_y, of_out].map(|stride| stride as isize),
                [x, y, out].map(|dtype| dtype.size() as isize),
            )
        };
        let (stride, dilation) = (self.stride, self.dilation);
        let axes = vec![
            of(
                AxisClass::Batch,
                self.groups,
                [x_strides[1], self.features * filter, out_strides[1]],
            ),
            of(AxisClass::Row, self.batch, [x_strides[0], 0, out_strides[0]]),
            of(AxisClass::Column, self.features, [0, filter, out_strides[2]]),
            of(AxisClass::Row, rows, [x_strides[3] * stride, 0, out_strides[3]]),
            of(AxisClass::Row, columns, [x_strides[4] * stride, 0, out_strides[4]]),
            of(AxisClass::Summed, down, [x_strides[3] * dilation, across, 0]),
            of(AxisClass::Summed, across, [x_strides[4] * dilation, 1, 0]),
            of(AxisClass::Summed, self.channels, [x_strides[2], down * across, 0]),
        ];
        Product { x, y, compute, out, axes }
    }
}

#[test]
fn element_types() {
    use DType::{Bf16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    let mut random = Random(7);
    for types in [
        [F16, F16, F32, F16],
        [Bf16, Bf16, F32, Bf16],
        [Bf16, F16, F32, F32],
        [F32, F32, F32, F64],
        [F32, F32, F32, F16],
        [F32, F32, F64, F64],
        [F32, F64, F64, F32],
        [F16, F32, F32, F64],
    ] {
        for (rows, columns, length) in [(7, 18, 30), (18, 7, 600), (1, 20, 70), (9, 9, 5000)] {
            check(&dense(types, rows, columns, length), || random.number());
            check(&dense(types, rows, columns, length), || match random.below(40) {
                0 => random.hard(),
                _ => random.number(),
            });
        }
    }
    for types in [
        [I8, I8, I32, I32],
        [U8, I8, I32, I32],
        [I8, I8, I8, I8],
        [U16, U16, U16, U16],
        [I16, I16, I16, I16],
        [I32; 4],
        [U32; 4],
        [I64; 4],
        [U64; 4],
        [U8, I32, I64, I64],
    ] {
        for (rows, columns, length) in [(7, 18, 30), (18, 7, 600), (1, 20, 70), (9, 9, 5000)] {
            check(&dense(types, rows, columns, length), || {
                f64::from(random.next() as i32) * 2.0_f64.powi(random.below(32) as i32)
            });
        }
    }
}

/// The element types of products of bytes with sums of 32 bits: each pair of signs.
const BYTES: [[DType; 4]; 4] = [
    [DType::I8, DType::I8, DType::I32, DType::I32],
    [DType::I8, DType::U8, DType::I32, DType::I32],
    [DType::U8, DType::I8, DType::I32, DType::I32],
    [DType::U8, DType::U8, DType::I32, DType::I32],
];

#[test]
fn products_of_bytes() {
    let mut random = Random(15);
    let lengths = [1, 4, 5, 66, 3, 64, 2, 7, 63, 129];
    for types in BYTES {
        for (rows, columns) in [(1, 1), (3, 17), (9, 49), (20, 5)] {
            for length in lengths.into_iter().step_by(STEP.min(3)) {
                let dense = dense(types, rows, columns, length);
                check(&dense, || f64::from(random.next() as i8));
                let contiguous = contiguous(types, rows, columns, length);
                check(&contiguous, || f64::from(random.next() as i8));
            }
        }
        // Pieces of the sum.
        check(&dense(types, 2, 3, 9001), || f64::from(random.next() as i8));
    }
    // Whole tiles of bytes, and parts of them.
    for (types, (rows, columns)) in BYTES.into_iter().zip([(16, 17), (33, 16), (50, 35), (32, 80)])
    {
        for length in [64, 192] {
            check(&dense(types, rows, columns, length), || f64::from(random.next() as i8));
            check(&contiguous(types, columns, rows, length), || f64::from(random.next() as i8));
            let narrow = [types[0], types[1], types[2], DType::I16];
            check(&dense(narrow, rows, columns, length), || f64::from(random.next() as i8));
        }
    }
    check(&dense(BYTES[0], 16, 16, 8192 + 128), || f64::from(random.next() as i8));
    check(&dense(BYTES[3], 17, 18, 640), || 255.0);
    // Regions.
    check(&dense(BYTES[0], 150, 130, 9), || f64::from(random.next() as i8));
    check(&dense(BYTES[3], 40, 50, 131), || f64::from(random.next() as i8));
}

#[test]
fn extreme_bytes() {
    for types in BYTES {
        for value in [-128, 127, 0, -1] {
            check(&contiguous(types, 9, 18, 130), || f64::from(value));
            check(&dense(types, 1, 2, 9001), || f64::from(value));
        }
    }
    // 255² * 70 000 exceeds 32 bits, so the sum wraps, like -128² * 140 000.
    check(&dense(BYTES[3], 1, 1, 70_001), || 255.0);
    check(&dense(BYTES[0], 1, 1, 140_003), || -128.0);
}

#[test]
fn bytes_at_any_strides() {
    use DType::{I8, I16, I64, U8, U16, U32};
    let mut random = Random(16);
    let others = [[I8, I8, I8, I8], [U8, U8, U8, U8], [I8, U8, I16, I8], [U8, U8, U32, U16]];
    for types in BYTES.into_iter().chain(others).chain([[U8, I8, I64, I64], [I8, I16, I16, I16]]) {
        for _ in (0..24).step_by(STEP) {
            check(&random_product(&mut random, types), || f64::from(random.next() as i8));
        }
        for _ in (0..8).step_by(STEP) {
            let convolution = RandomConvolution::new(&mut random);
            let is_channels_last = random.below(2) == 0;
            check(&convolution.product(types, is_channels_last), || f64::from(random.next() as i8));
        }
    }
}

#[test]
fn products_without_a_plan_are_errors() {
    use indim_ops::Level;
    use indim_products::{ProductError, ProductPlan};

    let mut product = dense(F32, 2, 2, 2);
    product.axes[2].out = 4;
    let plan = |product: &Product| ProductPlan::new(product, Level::detect(), 1).map(|_| ());
    assert_eq!(plan(&product), Err(ProductError::Stride { axis: 2 }));
    let huge = 1 << (usize::BITS * 5 / 8);
    assert_eq!(plan(&dense(F32, huge, huge, 1)), Err(ProductError::TooLarge));
    let mixed = Product { out: DType::I32, ..dense(F32, 2, 2, 2) };
    assert!(matches!(plan(&mixed), Err(ProductError::ElementTypes { .. })));
}

#[test]
fn layouts_of_packed_operands() {
    let types = [F32, F64, [DType::I32; 4], [DType::I64; 4], BYTES[0], BYTES[3]];
    for (types, &level) in types
        .iter()
        .flat_map(|types| indim_ops::Level::available().iter().map(move |level| (types, level)))
    {
        let layout = |product: &Product, operand: usize, threads: usize| {
            let plan = ProductPlan::new(product, level, threads).unwrap();
            plan.packed_layout(operand)
        };
        // The layout depends neither on threads, which split this sum, nor on the number of rows.
        let few = dense(*types, 40, 20, 9001);
        let alone = layout(&few, 1, 1);
        let bytes = alone.as_ref().map(|layout| layout.bytes());
        assert!(bytes.is_some_and(|bytes| bytes >= 20 * 9001 * types[1].size()), "{bytes:?}");
        assert_eq!(alone, layout(&few, 1, 7));
        assert_eq!(alone, layout(&dense(*types, 500, 20, 9001), 1, 2));
        assert_ne!(alone, layout(&dense(*types, 40, 21, 9001), 1, 1));
        assert_ne!(alone, layout(&dense(*types, 40, 20, 9000), 1, 1));
    }
    // Few rows are read in place, and a broadcast along the batch is packed once.
    let level = indim_ops::Level::detect();
    let layout = |product: &Product| ProductPlan::new(product, level, 1).unwrap().packed_layout(1);
    assert_eq!(layout(&dense(F32, 1, 300, 700)), None);
    let mut product = dense(F32, 30, 50, 70);
    let bytes = layout(&product).map(|layout| layout.bytes());
    let batch = ProductAxis { class: AxisClass::Batch, size: 3, x: 8400, y: 0, out: 6000 };
    product.axes.insert(0, batch);
    assert_eq!(layout(&product).map(|layout| layout.bytes()), bytes);
    product.axes[0].y = 14_000;
    assert_eq!(layout(&product).map(|layout| layout.bytes()), bytes.map(|bytes| 3 * bytes));
    check(&product, || 0.25);
    product.axes[0].y = 0;
    check(&product, || 0.25);
}
