//! Every kernel gives the bits of the scalar definition: at every level, at awkward lengths, over special and
//! random values, and at any address. It accesses no memory outside its elements.
//!
//! Each source ends at the end of its allocation, so that the address sanitizer reports a read after the
//! last element. `differential.rs` in `indim-cpu` compares whole programs, `movers.rs` there copies.

use indim_kernels::{
    COLUMN_BYTES, ColumnOrder, ColumnRow, FoldedRows, KernelFn, convert_kernel, elementwise_kernel,
    row_fold_function, sort_columns_function,
};
use indim_ops::meaning::reduction::tree;
use indim_ops::{
    Binary, ConvertTo, ConvertVisitor, DType, Element, Level, Op, OpVisitor, ReduceOp, Ternary,
    Unary, bf16, conversion_through, f16, visit_convert,
};

/// Elements of each operand's pool.
const POOL: usize = 1200;
/// Empty blocks, and lengths near multiples of vectors and of unrolled loops.
const LENGTHS: [usize; 16] = [0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 1000];
/// Byte around the results, which no kernel may overwrite.
const GUARD: u8 = 0xA5;
const GUARD_BYTES: usize = 64;

/// A small deterministic generator (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// The stored bits of special values, in the low bytes.
fn special_values(dtype: DType) -> Vec<u128> {
    match dtype {
        DType::F16 => {
            let bits = special_floats().map(|value| u128::from(f16::from_f64(value).to_bits()));
            bits.chain([0x7C01, 0xFE12, 1, 0x83FF, 0x0400, 0x7BFF]).collect()
        }
        DType::Bf16 => {
            let bits = special_floats().map(|value| u128::from(bf16::from_f64(value).to_bits()));
            bits.chain([0x7F81, 0xFFC1, 1, 0x807F, 0x0080, 0x7F7F]).collect()
        }
        DType::C64 => pairs(&special_values(DType::F32), 32),
        DType::C128 => pairs(&special_values(DType::F64), 64),
        DType::F32 => {
            let bits = special_floats().map(|value| u128::from((value as f32).to_bits()));
            // Signalling and negative NaNs with payloads; the ends of the subnormals.
            bits.chain([0x7F80_0001, 0xFFC1_2345, 1, 0x807F_FFFF, 0x7F7F_FFFF]).collect()
        }
        DType::F64 => {
            let bits = special_floats().map(|value| u128::from(value.to_bits()));
            let more = [0x7FF0_0000_0000_0001, 0xFFF8_1234_0000_0000, 1, 0x800F_FFFF_FFFF_FFFF];
            bits.chain(more).chain([f64::MAX.to_bits().into()]).collect()
        }
        // Memory of a user may hold any byte; all but zero are true.
        DType::Bool => vec![0, 1, 2, 0x80, 0xFF],
        _ => {
            let top = 1u128 << (dtype.size() * 8 - 1);
            let small = [0, 1, 2, 3, 7, 8, 31, 32, 63, 64, 100];
            let around = [top, top - 1, top + 1, u128::MAX, u128::MAX - 1, u128::MAX - 6];
            small.into_iter().chain(around).collect()
        }
    }
}

/// Each part in a pair with some other one, in two different orders.
fn pairs(parts: &[u128], width: u32) -> Vec<u128> {
    let other = |index: usize, stride: usize| parts[(index * stride + 3) % parts.len()];
    let neighbours =
        |stride| (0..parts.len()).map(move |index| parts[index] | other(index, stride) << width);
    neighbours(1).chain(neighbours(5)).collect()
}

fn special_floats() -> impl Iterator<Item = f64> {
    let magnitudes = [
        0.0,
        0.49999997,
        0.5,
        1.0,
        1.5,
        2.5,
        3.7,
        127.5,
        255.0,
        256.0,
        8388609.0,
        2147483647.0,
        2147483648.0,
        4294967296.0,
        9223372036854775808.0,
        18446744073709551616.0,
        f64::INFINITY,
        f64::NAN,
        1.1754943508222875e-38,
    ];
    magnitudes.into_iter().flat_map(|magnitude| [magnitude, -magnitude])
}

fn random_value(dtype: DType, random: &mut Random) -> u128 {
    // Half of the values have moderate size, half have random bits.
    let moderate = (random.below(4001) as f64 - 2000.0) / 16.0;
    match (random.below(2), dtype) {
        (0, DType::F16) => f16::from_f64(moderate).to_bits().into(),
        (0, DType::Bf16) => bf16::from_f64(moderate).to_bits().into(),
        (0, DType::F32) => (moderate as f32).to_bits().into(),
        (0, DType::F64) => moderate.to_bits().into(),
        (0, DType::C64) => {
            random_value(DType::F32, random) | random_value(DType::F32, random) << 32
        }
        (0, DType::C128) => {
            random_value(DType::F64, random) | random_value(DType::F64, random) << 64
        }
        (0, _) => random.below(201).wrapping_sub(100) as u128,
        _ => u128::from(random.next()) << 64 | u128::from(random.next()),
    }
}

/// The stored bytes of a pool for operand `index` of a ternary operation: first all pairs of special values
/// of the last two operands, then random values.
fn pool(dtype: DType, index: usize, random: &mut Random) -> Vec<u8> {
    let special = special_values(dtype);
    let mut bytes = Vec::with_capacity(POOL * dtype.size());
    for position in 0..POOL {
        let value = match index {
            // The last two operands form the pairs, so `select` is tested with them, too.
            1 if position < special.len() * special.len() => special[position % special.len()],
            2 if position < special.len() * special.len() => special[position / special.len()],
            0 if random.below(4) != 0 => special[random.below(special.len())],
            _ => random_value(dtype, random),
        };
        bytes.extend(low_bytes(value, dtype.size()));
    }
    bytes
}

/// The lowest `size` bytes of `value` in the byte order of memory.
fn low_bytes(value: u128, size: usize) -> Vec<u8> {
    let mut low = value.to_le_bytes()[..size].to_vec();
    if cfg!(target_endian = "big") {
        low.reverse();
    }
    low
}

/// Element `index` of stored bytes.
fn element<T: Element>(bytes: &[u8], index: usize) -> T {
    let size = size_of::<T::Storage>();
    let stored = &bytes[index * size..(index + 1) * size];
    // SAFETY: the slice has the bytes of one stored element, and any bits are one.
    T::from_storage(unsafe { stored.as_ptr().cast::<T::Storage>().read_unaligned() })
}

fn stored<T: Element>(elements: impl Iterator<Item = T>) -> Vec<u8> {
    T::into_data(elements.collect()).to_ne_bytes()
}

/// Applies the scalar definition to a pool, element by element.
struct Definition<'a> {
    operands: &'a [Vec<u8>],
}

impl OpVisitor for Definition<'_> {
    type Output = Vec<u8>;

    fn unary<O: Unary<T> + 'static, T: Element>(self) -> Vec<u8> {
        stored((0..POOL).map(|index| O::apply(element::<T>(&self.operands[0], index))))
    }

    fn binary<O: Binary<T> + 'static, T: Element>(self) -> Vec<u8> {
        let [x, y] = [&self.operands[0], &self.operands[1]];
        stored((0..POOL).map(|index| O::apply(element::<T>(x, index), element::<T>(y, index))))
    }

    fn ternary<O: Ternary<T> + 'static, T: Element>(self) -> Vec<u8> {
        let [first, x, y] = [&self.operands[0], &self.operands[1], &self.operands[2]];
        stored((0..POOL).map(|index| {
            O::apply(
                element::<O::First>(first, index),
                element::<T>(x, index),
                element::<T>(y, index),
            )
        }))
    }
}

impl ConvertVisitor for Definition<'_> {
    type Output = Vec<u8>;

    fn convert<A: ConvertTo<B>, B: Element>(self) -> Vec<u8> {
        stored((0..POOL).map(|index| element::<A>(&self.operands[0], index).convert()))
    }

    fn convert_through(self, _: DType, _: DType, _: DType) -> Vec<u8> {
        unreachable!("no kernel converts through another type")
    }
}

/// Elements `start..end` of a pool, `misalignment` bytes into an allocation that ends with them.
fn misaligned(
    pool: &[u8],
    start: usize,
    end: usize,
    size: usize,
    misalignment: usize,
) -> Box<[u8]> {
    let mut bytes = vec![GUARD; misalignment];
    bytes.extend_from_slice(&pool[start * size..end * size]);
    bytes.into_boxed_slice()
}

/// A kernel under test, with pools of operands and the results of the definition.
struct Case {
    name: String,
    kernel: KernelFn,
    /// Element size and pool of each operand.
    operands: Vec<(usize, Vec<u8>)>,
    result_size: usize,
    expected: Vec<u8>,
}

impl Case {
    fn check(&self, random: &mut Random) {
        for length in LENGTHS {
            for misalignment in [0, 1, 3] {
                let start = random.below(POOL - length + 1);
                self.check_block(start, length, misalignment);
            }
        }
        // The special values stand at the front.
        self.check_block(0, POOL, 0);
    }

    fn check_block(&self, start: usize, length: usize, misalignment: usize) {
        let misaligned = |(size, pool): &(usize, Vec<u8>)| {
            misaligned(pool, start, start + length, *size, misalignment)
        };
        let blocks: Vec<Box<[u8]>> = self.operands.iter().map(misaligned).collect();
        let mut sources = [core::ptr::null(); 3];
        for (source, block) in sources.iter_mut().zip(&blocks) {
            *source = block[misalignment..].as_ptr();
        }
        let result_bytes = length * self.result_size;
        let first = GUARD_BYTES + misalignment;
        let mut memory = vec![GUARD; first + result_bytes + GUARD_BYTES];
        let destination = memory[first..].as_mut_ptr();
        // SAFETY:
        // - each block has `length` elements of its operand;
        // - `memory` has room for `length` results from `first` on, in an allocation of its own;
        // - the kernel was looked up for a level of this processor.
        unsafe { (self.kernel)(destination, sources, length) }
        let (expected_start, size) = (start * self.result_size, result_bytes);
        let expected = &self.expected[expected_start..expected_start + size];
        let results = &memory[first..first + result_bytes];
        if results != expected {
            self.report(start, results, expected);
        }
        let mut guards = memory[..first].iter().chain(&memory[first + result_bytes..]);
        assert!(guards.all(|&byte| byte == GUARD), "{}: wrote outside {length}", self.name);
    }

    /// Fails with the first element that differs and its operands.
    fn report(&self, start: usize, results: &[u8], expected: &[u8]) {
        let blocks = results.chunks(self.result_size).zip(expected.chunks(self.result_size));
        let (index, (result, expected)) = blocks
            .enumerate()
            .find(|(_, (result, expected))| result != expected)
            .expect("they differ");
        let operands: Vec<&[u8]> = self
            .operands
            .iter()
            .map(|(size, pool)| &pool[(start + index) * size..(start + index + 1) * size])
            .collect();
        panic!(
            "{}: element {index} of operands {operands:02x?} is {result:02x?}, \
             the definition gives {expected:02x?}",
            self.name
        );
    }
}

fn operation_cases(op: Op, dtype: DType, level: Level, random: &mut Random) -> Option<Case> {
    let kernel = elementwise_kernel(op, dtype, level)?;
    let arity = op.arity().count();
    // The last two operands get the pairs of special values.
    let operands: Vec<(usize, Vec<u8>)> = (0..arity)
        .map(|index| {
            let operand = op.operand_dtype(index, dtype);
            (operand.size(), pool(operand, index + 3 - arity, random))
        })
        .collect();
    let pools: Vec<Vec<u8>> = operands.iter().map(|(_, pool)| pool.clone()).collect();
    let expected = op.visit(dtype, Definition { operands: &pools })?;
    let name = format!("{op} {dtype} at {level}");
    Some(Case { name, kernel, operands, result_size: op.result_dtype(dtype).size(), expected })
}

#[test]
fn operations_give_the_bits_of_their_definitions() {
    let mut random = Random(1);
    let mut checked = 0;
    for &op in Op::ALL {
        for &dtype in DType::ALL {
            for &level in Level::available() {
                let case = operation_cases(op, dtype, level, &mut random);
                assert_eq!(case.is_some(), op.takes(dtype), "{op} {dtype}");
                let Some(case) = case else { continue };
                case.check(&mut random);
                checked += 1;
            }
        }
    }
    assert!(checked >= Op::ALL.len() * Level::available().len());
}

/// The kernel has a separate loop for some exponents that all elements share.
#[test]
fn powers_to_one_exponent_give_the_bits_of_the_definition() {
    let mut random = Random(3);
    let exponents = (-10..=40).map(|twice| f64::from(twice) / 2.0);
    for exponent in exponents.chain([0.3, 1e9, f64::NAN, f64::INFINITY]) {
        let stored = [
            (DType::F16, u128::from(f16::from_f64(exponent).to_bits())),
            (DType::Bf16, bf16::from_f64(exponent).to_bits().into()),
            (DType::F32, (exponent as f32).to_bits().into()),
            (DType::F64, exponent.to_bits().into()),
        ];
        for (dtype, bits) in stored {
            let size = dtype.size();
            let pools = [pool(dtype, 1, &mut random), low_bytes(bits, size).repeat(POOL)];
            let expected = Op::Pow.visit(dtype, Definition { operands: &pools }).unwrap();
            for &level in Level::available() {
                let kernel = elementwise_kernel(Op::Pow, dtype, level).unwrap();
                let name = format!("pow {dtype} to {exponent} at {level}");
                let operands = pools.iter().map(|pool| (size, pool.clone())).collect();
                let expected = expected.clone();
                let case = Case { name, kernel, operands, result_size: size, expected };
                case.check_block(0, POOL, 0);
                case.check_block(1, 33, 1);
            }
        }
    }
}

#[test]
fn conversions_give_the_bits_of_their_definitions() {
    let mut random = Random(2);
    for (&from, &to) in
        DType::ALL.iter().flat_map(|from| DType::ALL.iter().map(move |to| (from, to)))
    {
        if conversion_through(from, to).is_some() {
            continue;
        }
        for &level in Level::available() {
            let kernel = convert_kernel(from, to, level);
            // First all special values, then random ones.
            let operands = [pool(from, 1, &mut random)];
            let expected = visit_convert(from, to, Definition { operands: &operands });
            let [pool] = operands;
            let name = format!("{from} to {to} at {level}");
            let operands = vec![(from.size(), pool)];
            Case { name, kernel, operands, result_size: to.size(), expected }.check(&mut random);
        }
    }
}

/// Rows of every short length and of some longer ones; several rows, because only the last ones are read
/// without an over-read.
#[test]
fn rows_are_folded_by_the_tree() {
    let has_kernels = |level: &&Level| {
        row_fold_function(ReduceOp::Add, DType::F32, DType::F64, **level).is_some()
    };
    // The fallback level has none.
    let levels: Vec<&Level> = Level::available().iter().filter(has_kernels).collect();
    assert!(!levels.is_empty() || Level::available() == [Level::BASELINE]);
    for (&level, width) in levels.into_iter().flat_map(|level| {
        let widths = (1..=70).chain([511, 512, 513, 1100]);
        widths.map(move |width| (level, width))
    }) {
        for count in [1, 2, 3, 9] {
            let number =
                |index: usize| (index as f32 * 0.37).sin() * f32::powi(2.0, index as i32 % 23);
            let rows: Box<[f32]> = (0..count * width).map(number).collect();
            let sums = folded::<f32, f64>(ReduceOp::Add, &rows, width, level);
            let largest = folded::<f32, f32>(ReduceOp::Max, &rows, width, level);
            let products = folded::<f32, f64>(ReduceOp::Mul, &rows, width, level);
            let wide_rows: Vec<f64> = rows.iter().map(|&x| f64::from(x) * 1.1).collect();
            let wide_products = folded::<f64, f64>(ReduceOp::Mul, &wide_rows, width, level);
            for (index, row) in rows.chunks(width).enumerate() {
                let wide: Vec<f64> = row.iter().map(|&x| x.into()).collect();
                assert_eq!(sums[index].to_bits(), tree(&wide, 0.0, |x, y| x + y).to_bits());
                assert_eq!(products[index].to_bits(), tree(&wide, 1.0, |x, y| x * y).to_bits());
                let wide = &wide_rows[index * width..(index + 1) * width];
                assert_eq!(wide_products[index].to_bits(), tree(wide, 1.0, |x, y| x * y).to_bits());
                assert_eq!(
                    largest[index],
                    tree(row, f32::NEG_INFINITY, f32::max),
                    "{level} {width}"
                );
            }
        }
    }
}

/// The results of the kernel for rows of `width` elements.
fn folded<S: Element, T: Element + Default>(
    op: ReduceOp,
    rows: &[S],
    width: usize,
    level: Level,
) -> Vec<T> {
    let fold = row_fold_function(op, S::DTYPE, T::DTYPE, level).expect("there is a kernel");
    let count = rows.len() / width;
    let mut results = vec![T::default(); count];
    let stride = (width * size_of::<S>()) as isize;
    let folded = FoldedRows { count, stride, width, starts_from_identity: false };
    // SAFETY:
    // - `rows` has `count` rows of `width` elements, `results` has `count` elements, in different vectors;
    // - `level` is one of this processor.
    unsafe { fold(results.as_mut_ptr().cast(), rows.as_ptr().cast(), folded) }
    results
}

#[test]
fn a_level_is_read_by_its_name_and_only_if_the_processor_has_it() {
    assert_eq!(Level::available().first(), Some(&Level::BASELINE));
    assert_eq!(Level::available().last(), Some(&Level::detect()));
    for level in Level::available() {
        assert_eq!(level.to_string().parse(), Ok(*level));
    }
    let message = "sse9".parse::<Level>().unwrap_err().to_string();
    assert!(message.starts_with("`sse9` is not a level of this processor; it has baseline"));
}

/// Runs the conversion over `operands` at every level; the results must be those of the definition.
fn check_conversion<A: ConvertTo<B>, B: Element>(operands: &[A::Storage]) {
    let from = |&stored: &A::Storage| A::from_storage(stored);
    let expected = stored(operands.iter().map(|operand| from(operand).convert()));
    for &level in Level::available() {
        let kernel = convert_kernel(A::DTYPE, B::DTYPE, level);
        let mut results = vec![GUARD; expected.len()];
        let sources = [operands.as_ptr().cast(), core::ptr::null(), core::ptr::null()];
        // SAFETY:
        // - `results` has room for one result per operand, in another allocation;
        // - `level` is one of this processor.
        unsafe { kernel(results.as_mut_ptr(), sources, operands.len()) }
        let size = B::DTYPE.size();
        let differs = (0..operands.len()).find(|index| {
            let bytes = index * size..(index + 1) * size;
            results[bytes.clone()] != expected[bytes]
        });
        if let Some(index) = differs {
            let operand = &stored(core::iter::once(from(&operands[index])));
            panic!("{} to {} at {level}: {operand:02x?}", A::DTYPE, B::DTYPE);
        }
    }
}

/// All `f32` with these upper 16 bits; the lower 16 bits take every `step`th value.
fn floats(upper: core::ops::Range<u32>, step: usize) -> Vec<f32> {
    let lower = |upper: u32| (0..1 << 16).step_by(step).map(move |lower| upper << 16 | lower);
    upper.flat_map(lower).map(f32::from_bits).collect()
}

#[test]
fn every_half_widens_by_its_definition() {
    let bits: Vec<u16> = (0..=u16::MAX).collect();
    check_conversion::<f16, f32>(
        &bits.iter().map(|&bits| f16::from_bits(bits)).collect::<Vec<_>>(),
    );
    check_conversion::<bf16, f32>(
        &bits.iter().map(|&bits| bf16::from_bits(bits)).collect::<Vec<_>>(),
    );
}

/// Every sign and exponent, NaNs included, with significands at and next to the ties of both types:
/// multiples of 2^12, with the lower bits 0, 1 or all ones.
#[test]
fn floats_at_and_near_ties_narrow_by_their_definition() {
    let floats: Vec<f32> = floats(0..1 << 16, 1 << 12)
        .into_iter()
        .flat_map(|x| [0, 1, 0xfff].map(|lower| f32::from_bits(x.to_bits() | lower)))
        .collect();
    check_conversion::<f32, f16>(&floats);
    check_conversion::<f32, bf16>(&floats);
}

#[test]
#[ignore = "all 2^32 floats, which takes minutes"]
fn every_float_narrows_by_its_definition() {
    for upper in (0..1 << 16).step_by(16) {
        let floats = floats(upper..upper + 16, 1);
        check_conversion::<f32, f16>(&floats);
        check_conversion::<f32, bf16>(&floats);
    }
}

/// Sorts columns at every level: those of integers, of floats without ambiguous elements, and refused ones.
#[test]
fn columns_are_sorted_by_the_network() {
    let mut random = Random(17);
    for length in (0..70).chain([96, 100, 127, 128, 129, 500, 1024]) {
        for is_descending in [false, true] {
            for &level in Level::available() {
                check_columns(DType::F32, length, is_descending, level, &mut random, |bits| {
                    let bits = bits as u32;
                    match f32::from_bits(bits) {
                        0.0 => 0,
                        number if number.is_nan() => f32::NAN.to_bits().into(),
                        _ => bits.into(),
                    }
                });
                check_columns(DType::I64, length, is_descending, level, &mut random, |bits| bits);
                check_columns(DType::U8, length, is_descending, level, &mut random, |bits| bits);
                check_columns(DType::I16, length, is_descending, level, &mut random, |bits| bits);
            }
        }
    }
}

/// Compares columns of random elements, each mapped by `element`, with sorted lists of their keys.
fn check_columns(
    dtype: DType,
    length: usize,
    is_descending: bool,
    level: Level,
    random: &mut Random,
    element: impl Fn(u64) -> u64,
) {
    let size = dtype.size();
    let columns = COLUMN_BYTES / size;
    let lists: Vec<Vec<u64>> = (0..columns)
        .map(|_| (0..length).map(|_| element(random.next() >> (64 - 8 * size))).collect())
        .collect();
    let mut rows = vec![ColumnRow([0; COLUMN_BYTES]); length];
    for (column, list) in lists.iter().enumerate() {
        for (row, element) in rows.iter_mut().zip(list) {
            row.0[column * size..][..size].copy_from_slice(&element.to_le_bytes()[..size]);
        }
    }
    let order = ColumnOrder::new(dtype, is_descending).unwrap();
    let sort = sort_columns_function(size, level).unwrap();
    // SAFETY: `Level::available` has levels of this processor.
    assert!(unsafe { sort(&mut rows, &order) });
    let key = |&bits: &u64| match dtype {
        DType::F32 if f32::from_bits(bits as u32).is_nan() => i64::MAX,
        // Distinct floats compare like this integer.
        DType::F32 if bits >> 31 == 1 => -((bits & 0x7fff_ffff) as i64),
        DType::U8 | DType::F32 => bits as i64,
        DType::I16 => i64::from(bits as i16),
        _ => bits as i64,
    };
    for (column, mut list) in lists.into_iter().enumerate() {
        list.sort_by_key(key);
        if is_descending {
            list.reverse();
        }
        let sorted: Vec<Vec<u8>> =
            rows.iter().map(|row| row.0[column * size..][..size].to_vec()).collect();
        let expected: Vec<Vec<u8>> =
            list.iter().map(|bits| bits.to_le_bytes()[..size].to_vec()).collect();
        assert_eq!(sorted, expected, "{dtype}[{length}] {level} descending {is_descending}");
    }
}

/// Zeros of both signs, and NaNs with different payloads, are equal but not the same.
#[test]
fn columns_with_equal_elements_of_different_bits_are_refused() {
    for &level in Level::available() {
        for bits in [0x8000_0000_u32, 0xffc0_0000, 0x7fc0_0001] {
            let mut rows = [ColumnRow([0; COLUMN_BYTES]); 5];
            rows[3].0[8..12].copy_from_slice(&bits.to_le_bytes());
            let before = rows.map(|row| row.0);
            let order = ColumnOrder::new(DType::F32, false).unwrap();
            let sort = sort_columns_function(4, level).unwrap();
            // SAFETY: `Level::available` has levels of this processor.
            assert!(!unsafe { sort(&mut rows, &order) });
            assert_eq!(rows.map(|row| row.0), before);
        }
    }
    assert_eq!(ColumnOrder::new(DType::C64, false), None);
}
