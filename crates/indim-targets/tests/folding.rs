//! Machine code of bodies that fold gives the bits of the interpreter: every reduction on every type, for
//! many numbers of columns, rows and units, and all operand forms.

use indim_codegen::{Body, BodyBuilder, LaneType, Primitive, SsaValue};
use indim_ops::Level;
use indim_ops::{DType, ReduceOp};
use indim_targets::{
    FoldArgs, Function, OperandForm, OperandLayout, TargetError, machine_code_levels,
};

/// A pseudo-random generator with a fixed seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// The bits of an element: special values, small numbers, or any bits.
    fn word(&mut self, dtype: DType) -> u64 {
        let special = [0.0, -0.0, 1.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e300, 1e-310];
        let number = match self.below(8) {
            0 => special[self.below(special.len())],
            _ => (self.below(4000) as f64 - 2000.0) / 7.0,
        };
        match dtype {
            DType::Bool => self.next() & 1,
            DType::F32 => (number as f32).to_bits().into(),
            DType::F64 => number.to_bits(),
            dtype => self.next() & (u64::MAX >> (64 - 8 * dtype.size())),
        }
    }
}

/// The computation whose results are folded.
#[derive(Debug, Clone, Copy)]
enum Producer {
    Read,
    SquaredDifference,
    Less,
    /// Uses many registers and leaves few for accumulators.
    Polynomial,
}

/// A body over two elements of a type, or over one for `Producer::Read`.
fn producer(level: Producer, dtype: DType) -> (Body, DType) {
    let (lane, _) = LaneType::of_element(dtype);
    let count = if matches!(level, Producer::Read) { 1 } else { 2 };
    let mut builder = BodyBuilder::new(vec![dtype; count]);
    let inputs: Vec<SsaValue> = (0..count as u32)
        .map(|input| builder.push(Primitive::Load { input, component: 0 }, lane, &[]))
        .collect();
    let (value, result) = match level {
        Producer::Read => (inputs[0], dtype),
        Producer::SquaredDifference => {
            let difference = builder.push(Primitive::Sub, lane, &inputs);
            (builder.push(Primitive::Mul, lane, &[difference; 2]), dtype)
        }
        Producer::Less => (builder.push(Primitive::Less, LaneType::Bool, &inputs), DType::Bool),
        Producer::Polynomial => {
            let powers: Vec<SsaValue> = (0..12).fold(vec![inputs[0]], |mut powers, _| {
                let last = powers[powers.len() - 1];
                powers.push(builder.push(Primitive::Mul, lane, &[last, inputs[1]]));
                powers
            });
            let sum = powers
                .iter()
                .rev()
                .fold(inputs[1], |sum, &power| builder.push(Primitive::Sub, lane, &[power, sum]));
            (sum, dtype)
        }
    };
    builder.output(result, [value]);
    (builder.finish(), result)
}

/// Extents of a fold.
#[derive(Debug, Clone, Copy)]
struct Size {
    units: usize,
    rows: usize,
    columns: usize,
}

/// Bytes before and after each operand. Code may read those before.
const MARGIN: usize = 256;

fn is_available() -> bool {
    !machine_code_levels().is_empty()
}

/// Folds by machine code of each target, and compares with the interpreter.
fn check(
    body: &Body,
    forms: &[OperandForm],
    size: Size,
    starts_from_identity: bool,
    random: &mut Random,
) {
    let seed = random.next();
    for &level in machine_code_levels() {
        check_on(level, body, forms, size, starts_from_identity, &mut Random(seed));
    }
}

fn check_on(
    level: Level,
    body: &Body,
    forms: &[OperandForm],
    size: Size,
    starts_from_identity: bool,
    random: &mut Random,
) {
    let accumulators = core::iter::repeat_n(OperandForm::Accumulator, body.outputs.len());
    let inputs: Vec<OperandForm> = forms.iter().copied().chain(accumulators).collect();
    let has_prefetch = random.below(2) == 0;
    let layout = OperandLayout {
        inputs,
        is_streamed: vec![false; body.outputs.len()],
        is_in_place: false,
        has_prefetch,
    };
    let function = match Function::compile(level, body, &layout) {
        Err(TargetError::Unsupported) => panic!("{body} is not covered"),
        function => function.unwrap(),
    };
    let Size { units, rows, columns } = size;
    let mut memory: Vec<Vec<u8>> = Vec::new();
    let mut strides: Vec<[usize; 2]> = Vec::new();
    for (dtype, _) in &body.outputs {
        memory.push(elements(*dtype, units * columns, random));
        strides.push([columns * dtype.size(), 0]);
    }
    for (dtype, form) in body.inputs.iter().zip(forms) {
        let row = if *form == OperandForm::Dense { columns + random.below(3) } else { 1 };
        let (row, unit) = if *form == OperandForm::UnitScalar { (0, 0) } else { (row, row * rows) };
        memory.push(elements(*dtype, units * rows * row.max(1), random));
        strides.push([unit * dtype.size(), row * dtype.size()]);
    }
    let before = memory.clone();
    let operands: Vec<*mut u8> =
        memory.iter_mut().map(|bytes| bytes[MARGIN..].as_mut_ptr()).collect();
    let flat: Vec<isize> =
        [0, 1].iter().flat_map(|&of| strides.iter().map(move |it| it[of] as isize)).collect();
    let folded = FoldArgs {
        strides: &flat,
        units,
        rows,
        columns,
        starts_from_identity,
        reduces_lanes: false,
    };
    // SAFETY:
    // - the body folds;
    // - each operand has memory for all units, rows and columns, with a margin before it;
    // - operands are distinct vectors, which this thread owns.
    unsafe { function.fold(&operands, folded) }
    for unit in 0..units {
        for column in 0..columns {
            let mut held: Vec<u64> = (0..body.outputs.len())
                .map(|output| match starts_from_identity {
                    true => body.identities[output],
                    false => read(&before[output], body.outputs[output].0, unit * columns + column),
                })
                .collect();
            for row in 0..rows {
                let mut at: Vec<[u64; 2]> = Vec::new();
                for (input, form) in forms.iter().enumerate() {
                    let operand = body.outputs.len() + input;
                    let [unit_stride, row_stride] = strides[operand];
                    let dtype = body.inputs[input];
                    let dense = if *form == OperandForm::Dense { column } else { 0 };
                    let first = (unit * unit_stride + row * row_stride) / dtype.size();
                    at.push([read(&before[operand], dtype, first + dense), 0]);
                }
                at.extend(held.iter().map(|&bits| [bits, 0]));
                held = body.interpret(&at).iter().map(|lanes| lanes[0]).collect();
            }
            for (output, expected) in held.into_iter().enumerate() {
                let dtype = body.outputs[output].0;
                let found = read(&memory[output], dtype, unit * columns + column);
                let mask = u64::MAX >> (64 - 8 * dtype.size());
                assert!(
                    found == expected & mask || are_nans(dtype, found, expected & mask),
                    "{level}: output {output}: {found:x}, not {expected:x}, at {column} of {unit} of \
                     {size:?}, {starts_from_identity}, {layout:?}\n{body}\n{}",
                    Function::listing(level, body, &layout)
                );
            }
        }
    }
    for (output, (dtype, _)) in body.outputs.iter().enumerate() {
        let end = MARGIN + units * columns * dtype.size();
        assert!(memory[output][end..] == before[output][end..], "written after the end\n{body}");
        assert!(
            memory[output][..MARGIN] == before[output][..MARGIN],
            "written before the start\n{body}"
        );
    }
}

fn elements(dtype: DType, count: usize, random: &mut Random) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..MARGIN).map(|_| random.next() as u8 & 1).collect();
    for _ in 0..count {
        bytes.extend_from_slice(&random.word(dtype).to_le_bytes()[..dtype.size()]);
    }
    bytes
}

fn read(bytes: &[u8], dtype: DType, index: usize) -> u64 {
    let mut word = [0; 8];
    let at = MARGIN + index * dtype.size();
    word[..dtype.size()].copy_from_slice(&bytes[at..at + dtype.size()]);
    u64::from_le_bytes(word)
}

fn are_nans(dtype: DType, x: u64, y: u64) -> bool {
    match dtype {
        DType::F32 => f32::from_bits(x as u32).is_nan() && f32::from_bits(y as u32).is_nan(),
        DType::F64 => f64::from_bits(x).is_nan() && f64::from_bits(y).is_nan(),
        _ => false,
    }
}

const TYPES: [DType; 11] = [
    DType::Bool,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F32,
    DType::F64,
];

/// The accumulator types of a reduction of elements of a type.
fn accumulators(op: ReduceOp, source: DType) -> impl Iterator<Item = DType> {
    let widens = move |dtype: &DType| *dtype == source || op.widens(source, *dtype);
    TYPES.into_iter().filter(move |dtype| op.takes(*dtype)).filter(widens)
}

#[test]
fn every_reduction_on_every_type() {
    if !is_available() {
        return;
    }
    let mut random = Random(1);
    for source in TYPES {
        for level in
            [Producer::Read, Producer::SquaredDifference, Producer::Less, Producer::Polynomial]
        {
            if source == DType::Bool && !matches!(level, Producer::Read) {
                continue;
            }
            let (body, result) = producer(level, source);
            for &op in ReduceOp::ALL.iter().filter(|op| !op.is_arg_reduction()) {
                for dtype in accumulators(op, result) {
                    let Some(folding) = body.with_folds(&[(op, dtype)]) else {
                        panic!("{op} of {dtype} is not folded")
                    };
                    for _ in 0..4 {
                        let forms: Vec<OperandForm> = (0..folding.non_accumulator_input_count())
                            .map(|_| {
                                [
                                    OperandForm::Dense,
                                    OperandForm::RowScalar,
                                    OperandForm::UnitScalar,
                                ][random.below(3)]
                            })
                            .collect();
                        let size = Size {
                            units: 1 + random.below(3),
                            rows: 1 + random.below(20),
                            columns: 1 + random.below(100),
                        };
                        check(&folding, &forms, size, random.below(2) == 0, &mut random);
                    }
                }
            }
        }
    }
}

#[test]
fn every_number_of_columns() {
    if !is_available() {
        return;
    }
    let mut random = Random(2);
    let (body, _) = producer(Producer::SquaredDifference, DType::F32);
    let sum = body.with_folds(&[(ReduceOp::Add, DType::F64)]).unwrap();
    let maximum = body.with_folds(&[(ReduceOp::Max, DType::F32)]).unwrap();
    for columns in 1..=200 {
        let size = Size { units: 2, rows: 1 + columns % 17, columns };
        for folding in [&sum, &maximum] {
            for starts_from_identity in [false, true] {
                check(
                    folding,
                    &[OperandForm::Dense, OperandForm::Dense],
                    size,
                    starts_from_identity,
                    &mut random,
                );
                check(
                    folding,
                    &[OperandForm::Dense, OperandForm::UnitScalar],
                    size,
                    starts_from_identity,
                    &mut random,
                );
            }
        }
    }
}

/// Combines the lanes of a unit in the order of the tree: by halves, then the last four one after another.
fn join(mut lanes: Vec<f64>, op: ReduceOp) -> f64 {
    let combine = |x: f64, y: f64| if op == ReduceOp::Mul { x * y } else { x + y };
    for half in [16, 8, 4] {
        for lane in 0..half {
            lanes[lane] = combine(lanes[lane], lanes[lane + half]);
        }
    }
    lanes[..4].iter().copied().reduce(combine).unwrap()
}

/// Folds dense units of 32 columns with combined lanes, and compares with the interpreter.
fn check_lane_reduction(
    level: Level,
    body: &Body,
    ops: &[ReduceOp],
    rows: usize,
    random: &mut Random,
) {
    const UNITS: usize = 5;
    const COLUMNS: usize = 32;
    /// Distance between the results of units, in elements.
    const APART: usize = 3;
    let accumulators = core::iter::repeat_n(OperandForm::Accumulator, ops.len());
    let inputs = core::iter::repeat_n(OperandForm::Dense, body.non_accumulator_input_count())
        .chain(accumulators);
    let streams = vec![false; ops.len()];
    let layout = OperandLayout {
        inputs: inputs.collect(),
        is_streamed: streams,
        is_in_place: false,
        has_prefetch: false,
    };
    let function = Function::compile(level, body, &layout).unwrap();
    assert!(function.can_reduce_lanes(), "{level}: {body}");
    let nodes = vec![elements(DType::F64, UNITS * APART, random); ops.len()];
    let read_from = &body.inputs[..body.non_accumulator_input_count()];
    let of_input = |dtype: &DType| elements(*dtype, UNITS * rows * COLUMNS, random);
    let mut memory: Vec<Vec<u8>> =
        nodes.into_iter().chain(read_from.iter().map(of_input)).collect();
    let before = memory.clone();
    let operands: Vec<*mut u8> =
        memory.iter_mut().map(|bytes| bytes[MARGIN..].as_mut_ptr()).collect();
    let row = |dtype: &DType| (COLUMNS * dtype.size()) as isize;
    let mut strides = vec![(APART * size_of::<f64>()) as isize; ops.len()];
    strides.extend(read_from.iter().map(|dtype| row(dtype) * rows as isize));
    strides.extend(core::iter::repeat_n(0, ops.len()).chain(read_from.iter().map(row)));
    let strides = &strides[..];
    let folded = FoldArgs {
        strides,
        units: UNITS,
        rows,
        columns: COLUMNS,
        starts_from_identity: true,
        reduces_lanes: true,
    };
    // SAFETY:
    // - the body folds, and the assertion above allows joining;
    // - each input has memory for all units, rows and columns, each output for a result per unit;
    // - operands are distinct vectors, which this thread owns.
    unsafe { function.fold(&operands, folded) }
    for unit in 0..UNITS {
        let lanes: Vec<Vec<u64>> = (0..COLUMNS)
            .map(|column| {
                let rows = (0..rows).map(|row| (unit * rows + row) * COLUMNS + column);
                rows.fold(body.identities.clone(), |held, element| {
                    let sources = before[ops.len()..].iter().zip(read_from);
                    let read = sources.map(|(bytes, dtype)| [read(bytes, *dtype, element), 0]);
                    let at: Vec<[u64; 2]> =
                        read.chain(held.iter().map(|&bits| [bits, 0])).collect();
                    body.interpret(&at).iter().map(|lanes| lanes[0]).collect()
                })
            })
            .collect();
        for (output, &op) in ops.iter().enumerate() {
            let lanes = lanes.iter().map(|lane| f64::from_bits(lane[output])).collect();
            let expected = join(lanes, op).to_bits();
            let found = read(&memory[output], DType::F64, unit * APART);
            assert!(
                found == expected || are_nans(DType::F64, found, expected),
                "{level}: {found:x}, not {expected:x}, of unit {unit} of output {output}, {rows} rows\n\
                 {body}\n{}",
                Function::listing(level, body, &layout)
            );
            let between = MARGIN + (unit * APART + 1) * size_of::<f64>();
            let next = between + (APART - 1) * size_of::<f64>();
            assert_eq!(memory[output][between..next], before[output][between..next]);
        }
    }
}

/// Only code for x86-64 combines lanes; NEON leaves them to the caller.
#[test]
fn lanes_of_sums_and_products_become_one() {
    let mut random = Random(4);
    let can_reduce_lanes = |_: &&Level| cfg!(target_arch = "x86_64") && is_available();
    for &level in machine_code_levels().iter().filter(can_reduce_lanes) {
        for source in [DType::F32, DType::F64] {
            for producer_kind in [Producer::Read, Producer::SquaredDifference] {
                let (body, _) = producer(producer_kind, source);
                for op in [ReduceOp::Add, ReduceOp::Mul] {
                    let folding = body.with_folds(&[(op, DType::F64)]).unwrap();
                    for rows in 1..=16 {
                        check_lane_reduction(level, &folding, &[op], rows, &mut random);
                    }
                }
            }
        }
    }
}

#[test]
fn several_outputs_fold_together() {
    if !is_available() {
        return;
    }
    let mut builder = BodyBuilder::new(vec![DType::F32]);
    let x = builder.push(Primitive::Load { input: 0, component: 0 }, LaneType::F32, &[]);
    let square = builder.push(Primitive::Mul, LaneType::F32, &[x, x]);
    builder.output(DType::F32, [x]);
    builder.output(DType::F32, [square]);
    builder.output(DType::F32, [x]);
    let folds =
        [(ReduceOp::Add, DType::F64), (ReduceOp::Add, DType::F64), (ReduceOp::Fmin, DType::F32)];
    let body = builder.finish().with_folds(&folds).unwrap();
    let mut random = Random(3);
    for columns in [5, 32, 100] {
        let size = Size { units: 3, rows: 16, columns };
        check(&body, &[OperandForm::Dense], size, true, &mut random);
        check(&body, &[OperandForm::RowScalar], size, false, &mut random);
    }
}
