//! Operands with any strides, the definition of a product on scalars, and runs of plans.

use indim_ops::{DType, Level, bf16, f16};
use indim_products::{AxisClass, Product, ProductAxis, ProductPlan, ProductPointers};

/// A generator of random numbers (PCG).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u32 {
        let state = self.0;
        self.0 = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let shifted = (((state >> 18) ^ state) >> 27) as u32;
        shifted.rotate_right((state >> 59) as u32)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.next() as usize % end
    }

    /// A number between -1 and 1.
    pub(crate) fn number(&mut self) -> f64 {
        f64::from(self.next() as i32) / f64::from(1_u32 << 31)
    }

    /// A value that is hard to add: infinities, NaN, zeros, subnormals, and numbers of any size.
    pub(crate) fn hard(&mut self) -> f64 {
        match self.below(12) {
            0 => f64::INFINITY,
            1 => f64::NEG_INFINITY,
            2 => f64::NAN,
            3 => -0.0,
            4 => 0.0,
            5 => 1e-45,
            6 => -1e-39,
            7 => 3e38,
            8 => -f64::from(f32::MIN_POSITIVE),
            9 => 2.0_f64.powi(self.below(200) as i32 - 100) * self.number(),
            _ => self.number(),
        }
    }
}

/// Elements in memory, and the index of the first byte of the element at the origin.
pub(crate) struct Memory {
    pub(crate) bytes: Vec<u8>,
    pub(crate) origin: usize,
}

impl Memory {
    /// Room for every offset of the axes, and nothing before and behind it.
    pub(crate) fn of(axes: &[(usize, isize)], size: usize) -> Memory {
        let ends = axes.iter().map(|&(length, stride)| (length.max(1) as isize - 1) * stride);
        let (mut lowest, mut highest) = (0, 0);
        for end in ends {
            lowest += end.min(0);
            highest += end.max(0);
        }
        let length = (highest - lowest) as usize + size;
        Memory { bytes: vec![0; length], origin: -lowest as usize }
    }

    pub(crate) fn at(&self, offset: isize) -> usize {
        self.origin.checked_add_signed(offset).unwrap()
    }

    pub(crate) fn pointer(&mut self) -> *mut u8 {
        self.bytes.as_mut_ptr().wrapping_add(self.origin)
    }
}

/// The axes of an operand: sizes and strides.
pub(crate) fn strides(
    product: &Product,
    of: impl Fn(&ProductAxis) -> isize,
) -> Vec<(usize, isize)> {
    product.axes.iter().map(|axis| (axis.size, of(axis))).collect()
}

/// Writes a float as an element.
pub(crate) fn write(memory: &mut Memory, offset: isize, dtype: DType, value: f64) {
    let at = memory.at(offset);
    let bytes = encode(dtype, value);
    memory.bytes[at..at + bytes.len()].copy_from_slice(&bytes);
}

/// A float or the low bits of an integer as an element.
fn encode(dtype: DType, value: f64) -> Vec<u8> {
    let integer = value as i64;
    match dtype {
        DType::F16 => f16::from_f64(value).to_bits().to_ne_bytes().to_vec(),
        DType::Bf16 => bf16::from_f64(value).to_bits().to_ne_bytes().to_vec(),
        DType::F32 => (value as f32).to_ne_bytes().to_vec(),
        DType::F64 => value.to_ne_bytes().to_vec(),
        DType::I8 | DType::U8 => (integer as u8).to_ne_bytes().to_vec(),
        DType::I16 | DType::U16 => (integer as u16).to_ne_bytes().to_vec(),
        DType::I32 | DType::U32 => (integer as u32).to_ne_bytes().to_vec(),
        _ => integer.to_ne_bytes().to_vec(),
    }
}

fn float(memory: &Memory, offset: isize, dtype: DType) -> f64 {
    let at = memory.at(offset);
    let bytes = &memory.bytes[at..at + dtype.size()];
    match dtype {
        DType::F16 => f16::from_bits(u16::from_ne_bytes(bytes.try_into().unwrap())).to_f64(),
        DType::Bf16 => bf16::from_bits(u16::from_ne_bytes(bytes.try_into().unwrap())).to_f64(),
        DType::F32 => f64::from(f32::from_ne_bytes(bytes.try_into().unwrap())),
        _ => f64::from_ne_bytes(bytes.try_into().unwrap()),
    }
}

fn integer(memory: &Memory, offset: isize, dtype: DType) -> i128 {
    let at = memory.at(offset);
    let bytes = &memory.bytes[at..at + dtype.size()];
    match dtype {
        DType::I8 => i128::from(bytes[0] as i8),
        DType::U8 => i128::from(bytes[0]),
        DType::I16 => i128::from(i16::from_ne_bytes(bytes.try_into().unwrap())),
        DType::U16 => i128::from(u16::from_ne_bytes(bytes.try_into().unwrap())),
        DType::I32 => i128::from(i32::from_ne_bytes(bytes.try_into().unwrap())),
        DType::U32 => i128::from(u32::from_ne_bytes(bytes.try_into().unwrap())),
        DType::I64 => i128::from(i64::from_ne_bytes(bytes.try_into().unwrap())),
        _ => i128::from(u64::from_ne_bytes(bytes.try_into().unwrap())),
    }
}

macro_rules! definitions {
    ($($name:ident $float:ident)*) => { $(
        /// The definition: blocks of 512, chains of at most 64, eight lanes.
        pub(crate) fn $name(x: &[$float], y: &[$float]) -> f64 {
            let values = x.chunks(512).zip(y.chunks(512)).map(|(x, y)| {
                let chain = |first: usize, step: usize| {
                    let mut sum: $float = 0.0;
                    for index in (first..x.len()).step_by(step) {
                        sum = x[index].mul_add(y[index], sum);
                    }
                    sum
                };
                let value = match x.len() {
                    ..=64 => chain(0, 1),
                    _ => (1..8).fold(chain(0, 8), |sum, lane| sum + chain(lane, 8)),
                };
                f64::from(value) + 0.0
            });
            pairs(values.collect())
        }
    )* };
}

definitions! { defined_f32 f32 defined_f64 f64 }

/// The sum by pairs, neighbours first; an odd value is carried up.
fn pairs(mut values: Vec<f64>) -> f64 {
    while values.len() > 1 {
        values = values.chunks(2).map(|pair| pair[0] + pair.get(1).unwrap_or(&-0.0)).collect();
    }
    values.first().copied().unwrap_or(0.0)
}

/// Every index of some axes, row-major.
pub(crate) fn indices(sizes: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for &size in sizes {
        let longer = |index: &Vec<usize>| -> Vec<Vec<usize>> {
            (0..size).map(|last| [&index[..], &[last]].concat()).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// The result of the definition: the bytes of each element, and its offset.
pub(crate) fn defined(product: &Product, x: &Memory, y: &Memory) -> Vec<(isize, Vec<u8>)> {
    let (summed, kept): (Vec<_>, Vec<_>) =
        product.axes.iter().partition(|axis| axis.class == AxisClass::Summed);
    let sizes = |axes: &[&ProductAxis]| axes.iter().map(|axis| axis.size).collect::<Vec<_>>();
    let offset = |axes: &[&ProductAxis], index: &[usize], of: fn(&ProductAxis) -> isize| {
        axes.iter().zip(index).map(|(axis, &at)| of(axis) * at as isize).sum::<isize>()
    };
    let terms = indices(&sizes(&summed));
    let mut results = vec![];
    for index in indices(&sizes(&kept)) {
        let x_of = |term: &Vec<usize>| {
            offset(&kept, &index, |axis| axis.x) + offset(&summed, term, |axis| axis.x)
        };
        let y_of = |term: &Vec<usize>| {
            offset(&kept, &index, |axis| axis.y) + offset(&summed, term, |axis| axis.y)
        };
        let bytes = if product.compute.is_integer() {
            let term = |term: &Vec<usize>| -> i128 {
                integer(x, x_of(term), product.x).wrapping_mul(integer(y, y_of(term), product.y))
            };
            let sum = terms.iter().map(term).fold(0, i128::wrapping_add);
            sum.to_le_bytes()[..product.out.size()].to_vec()
        } else {
            let xs: Vec<f64> = terms.iter().map(|term| float(x, x_of(term), product.x)).collect();
            let ys: Vec<f64> = terms.iter().map(|term| float(y, y_of(term), product.y)).collect();
            let narrow = |values: &[f64]| values.iter().map(|&it| it as f32).collect::<Vec<f32>>();
            let sum = match product.compute {
                DType::F32 => defined_f32(&narrow(&xs), &narrow(&ys)),
                _ => defined_f64(&xs, &ys),
            };
            encode(product.out, if sum.is_nan() { f64::NAN } else { sum })
        };
        results.push((offset(&kept, &index, |axis| axis.out), bytes));
    }
    results
}

/// Memory aligned to 64 bytes.
pub(crate) struct Aligned {
    bytes: Vec<u8>,
}

impl Aligned {
    pub(crate) fn new(length: usize) -> Aligned {
        // A pattern of NaN, so that nothing relies on zeros.
        Aligned { bytes: vec![0xff; length + 64] }
    }

    pub(crate) fn pointer(&mut self) -> *mut u8 {
        let padding = self.bytes.as_ptr().align_offset(64);
        self.bytes.as_mut_ptr().wrapping_add(padding)
    }
}

/// Runs a plan, tasks of each phase in reverse. Operands are packed as a whole if `is_packed` says so and the
/// plan has a layout for it; these operands are not read after that.
///
/// # Safety
/// Like [`ProductPlan::run`], for operands and result.
pub(crate) unsafe fn run(
    plan: &ProductPlan,
    [x, y]: [*const u8; 2],
    out: *mut u8,
    is_packed: [bool; 2],
) {
    let mut scratch = Aligned::new(plan.scratch_bytes());
    let mut shared = Aligned::new(plan.shared_bytes());
    let mut panels = [0, 1].map(|operand| {
        let layout = plan.packed_layout(operand).filter(|_| is_packed[operand])?;
        let mut panels = Aligned::new(layout.bytes());
        // SAFETY: the caller ensures the operand; the memory has the bytes of the layout.
        unsafe { layout.pack([x, y][operand], panels.pointer()) }
        Some(panels)
    });
    let packed = panels.each_mut().map(|panels| match panels {
        Some(panels) => panels.pointer().cast_const(),
        None => core::ptr::null(),
    });
    let unread = [0, 1].map(|operand| match packed[operand].is_null() {
        true => [x, y][operand],
        false => core::ptr::null(),
    });
    let [x, y] = unread;
    let pointers = ProductPointers { x, y, out, packed, shared: shared.pointer() };
    for phase in 0..plan.phases() {
        for task in (0..plan.tasks(phase)).rev() {
            // SAFETY: the caller ensures operands and result; the buffers have the plan's sizes.
            unsafe { plan.run(phase, task, &pointers, scratch.pointer()) }
        }
    }
}

/// Fills the memory of an operand.
pub(crate) fn fill(memory: &mut Memory, dtype: DType, mut value: impl FnMut() -> f64) {
    let size = dtype.size() as isize;
    let count = memory.bytes.len() as isize / size;
    let first = -(memory.origin as isize);
    for element in 0..count {
        write(memory, first + element * size, dtype, value());
    }
}

/// Compares the result at every level, with one thread and with many, with the definition.
pub(crate) fn check(product: &Product, mut value: impl FnMut() -> f64) {
    let mut x = Memory::of(&strides(product, |axis| axis.x), product.x.size());
    let mut y = Memory::of(&strides(product, |axis| axis.y), product.y.size());
    fill(&mut x, product.x, &mut value);
    fill(&mut y, product.y, &mut value);
    let expected = defined(product, &x, &y);
    for &level in Level::available() {
        for threads in [1, 2, 7] {
            let plan = ProductPlan::new(product, level, threads).unwrap();
            let [scratch, shared] = ProductPlan::max_memory(product, level, threads).unwrap();
            let plans = [plan.packing().map(|(packing, _)| packing), Some(plan)];
            for plan in plans.iter().flatten() {
                let is_within = plan.scratch_bytes() <= scratch && plan.shared_bytes() <= shared;
                assert!(is_within, "{plan:?}");
            }
            let is_packed = match threads {
                1 => [true, true],
                2 => [true, false],
                _ => [false, true],
            };
            let runs = |plan| [[false, false], is_packed].map(|is_packed| (plan, is_packed));
            for (plan, is_packed) in plans.iter().flatten().flat_map(runs) {
                let has_layout = |operand| plan.packed_layout(operand).is_some();
                if is_packed != [false, false] && !(0..2).any(has_layout) {
                    continue;
                }
                let mut out = Memory::of(&strides(product, |axis| axis.out), product.out.size());
                out.bytes.fill(0xa5);
                let operands = [x.pointer().cast_const(), y.pointer().cast_const()];
                // SAFETY: the memory has every offset of the axes.
                unsafe { run(plan, operands, out.pointer(), is_packed) }
                let mut untouched = vec![true; out.bytes.len()];
                for (offset, bytes) in &expected {
                    let at = out.at(*offset);
                    let found = &out.bytes[at..at + bytes.len()];
                    assert_eq!(
                        found, bytes,
                        "at {offset} of {product:?} at {level} by {plan:?}, packed: {is_packed:?}"
                    );
                    untouched[at..at + bytes.len()].fill(false);
                }
                let mut between = out.bytes.iter().zip(&untouched).filter(|(_, is)| **is);
                assert!(between.all(|(&byte, _)| byte == 0xa5), "{product:?}");
            }
        }
    }
}

/// A product of matrices in some element types, all dense and row-major.
pub(crate) fn dense(types: [DType; 4], rows: usize, columns: usize, summed: usize) -> Product {
    let [x, y, compute, out] = types;
    let [xs, ys, os] = [x, y, out].map(|dtype| dtype.size() as isize);
    let (n, k) = (columns as isize, summed as isize);
    let axis = |class, size, x, y, out| ProductAxis { class, size, x, y, out };
    let axes = vec![
        axis(AxisClass::Row, rows, k * xs, 0, n * os),
        axis(AxisClass::Column, columns, 0, ys, os),
        axis(AxisClass::Summed, summed, xs, n * ys, 0),
    ];
    Product { x, y, compute, out, axes }
}
