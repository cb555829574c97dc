//! Machine code gives the bits of the interpreter: every primitive on every type for special values, and
//! random bodies, for many row lengths and all operand layouts.

use indim_codegen::{Body, LaneType, Primitive, SsaInstruction, SsaValue};
use indim_ops::DType;
use indim_ops::{InstructionSet, Level};
use indim_targets::{Function, OperandForm, OperandLayout, machine_code_levels};

const LANES: [(LaneType, DType); 11] = [
    (LaneType::Bool, DType::Bool),
    (LaneType::I8, DType::I8),
    (LaneType::I16, DType::I16),
    (LaneType::I32, DType::I32),
    (LaneType::I64, DType::I64),
    (LaneType::U8, DType::U8),
    (LaneType::U16, DType::U16),
    (LaneType::U32, DType::U32),
    (LaneType::U64, DType::U64),
    (LaneType::F32, DType::F32),
    (LaneType::F64, DType::F64),
];

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

    fn among<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// The bits of an element: special values, small numbers, or any bits.
    fn word(&mut self, lane: LaneType) -> u64 {
        let small = self.below(40) as i64 - 20;
        match (lane, self.below(3)) {
            (LaneType::Bool, _) => self.next() & 1,
            (LaneType::F32, 0) => self.among(&special_f32()).to_bits().into(),
            (LaneType::F64, 0) => self.among(&special_f64()).to_bits(),
            (LaneType::F32, 1) => (small as f32 * 0.375).to_bits().into(),
            (LaneType::F64, 1) => (small as f64 * 0.375).to_bits(),
            (_, 0) => self.among(&[
                0,
                1,
                u64::MAX,
                1 << 63,
                1 << 31,
                1 << 15,
                1 << 7,
                0x7fff_ffff_ffff_ffff,
            ]),
            (_, 1) => small as u64,
            _ => self.next(),
        }
    }
}

fn special_f32() -> [f32; 24] {
    let subnormal = f32::from_bits(3);
    let nan = f32::from_bits(0xffc1_2345);
    [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        127.5,
        255.5,
        65535.5,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        nan,
        subnormal,
        -subnormal,
        f32::MAX,
        f32::MIN_POSITIVE,
        2147483648.0,
        -2147483904.0,
        4294967296.0,
        1.8446744e19,
    ]
}

fn special_f64() -> [f64; 24] {
    let subnormal = f64::from_bits(3);
    let nan = f64::from_bits(0xfff8_0000_1234_5678);
    [
        0.0,
        -0.0,
        1.0,
        -1.5,
        0.5,
        -0.5,
        2.5,
        2147483647.5,
        -2147483648.5,
        4294967295.5,
        9.3e18,
        -9.3e18,
        9.2e18,
        -9.2e18,
        1.8e19,
        1.9e19,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        nan,
        subnormal,
        f64::MAX,
        1e300,
        4503599627370497.5,
    ]
}

/// A body under construction, without rewrites.
#[derive(Default)]
struct Builder(Body);

impl Builder {
    fn push(&mut self, primitive: Primitive, lane: LaneType, operands: &[SsaValue]) -> SsaValue {
        let mut all = [SsaValue(0); 3];
        all[..operands.len()].copy_from_slice(operands);
        self.0.instructions.push(SsaInstruction { primitive, lane, operands: all });
        SsaValue(self.0.instructions.len() as u32 - 1)
    }

    fn input(&mut self, dtype: DType) -> Vec<SsaValue> {
        let input = self.0.inputs.len() as u32;
        self.0.inputs.push(dtype);
        let (lane, count) = LaneType::of_element(dtype);
        (0..count)
            .map(|part| self.push(Primitive::Load { input, component: part as u8 }, lane, &[]))
            .collect()
    }

    /// Makes a float canonical: the bits of NaNs from arithmetic are unspecified.
    fn canonical(&mut self, value: SsaValue) -> SsaValue {
        match self.0.lane(value) {
            lane if lane.is_float() => self.push(Primitive::Canonical, lane, &[value]),
            _ => value,
        }
    }

    fn output(&mut self, dtype: DType, value: SsaValue) {
        let value = self.canonical(value);
        self.0.outputs.push((dtype, [value; 2]));
    }
}

/// The primitives whose last operand has this type, with the types of their results.
fn primitives(lane: LaneType) -> Vec<(Primitive, LaneType)> {
    use Primitive::*;
    let mut all: Vec<(Primitive, LaneType)> = Vec::new();
    let same = |primitives: &[Primitive]| primitives.iter().map(|&p| (p, lane)).collect::<Vec<_>>();
    all.extend(same(&[Select]));
    all.extend([(Equal, LaneType::Bool), (Less, LaneType::Bool)]);
    match lane {
        LaneType::Bool => all.extend(same(&[And, Or, Xor, Not])),
        LaneType::F32 | LaneType::F64 => {
            all.extend(same(&[
                Add, Sub, Mul, Div, Rem, MulAdd, Sqrt, Abs, Neg, Floor, Ceil, Trunc, RoundEven,
                Canonical,
            ]));
        }
        _ => {
            all.extend(same(&[
                Add,
                Sub,
                Mul,
                MulHigh,
                Div,
                Rem,
                And,
                Or,
                Xor,
                Not,
                ShiftLeft,
                ShiftRightLogical,
                ShiftRightArithmetic,
                LeadingZeros,
                CountOnes,
                Lookup { table: 0 },
            ]));
            all.push((LessUnsigned, LaneType::Bool));
        }
    }
    match lane {
        LaneType::I16 => all.push((WidenF16, LaneType::F32)),
        LaneType::F32 => all.extend([(RoundToF16, LaneType::I16), (RoundBf16, LaneType::F32)]),
        _ => {}
    }
    if lane != LaneType::Bool {
        all.extend(LANES[1..].iter().map(|&(to, _)| (Cast, to)));
        let is_same_width = |to: &&(LaneType, DType)| to.0.size() == lane.size();
        all.extend(LANES[1..].iter().filter(is_same_width).map(|&(to, _)| (Bits, to)));
    }
    all
}

fn table() -> std::sync::Arc<[u64]> {
    (0..16u64).map(|index| index.wrapping_mul(0x1234_5678_9abc_def1)).collect()
}

/// The level AVX-512, if this machine has it.
fn avx512() -> Option<Level> {
    let levels = machine_code_levels().iter().copied();
    levels.into_iter().find(|level| level.instruction_set() == InstructionSet::Avx512)
}

/// Whether this machine runs a target. Prints a message if it lacks AVX-512.
fn is_available() -> bool {
    if cfg!(target_arch = "x86_64") && avx512().is_none() {
        eprintln!("skipped: this processor has no AVX-512");
    }
    !machine_code_levels().is_empty()
}

/// Runs a body as machine code of each target, and compares all elements with the interpreter.
fn check(body: &Body, layout: &OperandLayout, rows: usize, elements: usize, random: &mut Random) {
    let seed = random.next();
    for &level in machine_code_levels() {
        check_on(level, body, layout, rows, elements, &mut Random(seed));
    }
}

fn check_on(
    level: Level,
    body: &Body,
    layout: &OperandLayout,
    rows: usize,
    elements: usize,
    random: &mut Random,
) {
    let function = Function::compile(level, body, layout).unwrap();
    let inputs: Vec<Vec<[u64; 2]>> = body
        .inputs
        .iter()
        .zip(&layout.inputs)
        .map(|(&dtype, &form)| {
            let (lane, _) = LaneType::of_element(dtype);
            let count = rows * if form == OperandForm::Dense { elements } else { 1 };
            (0..count).map(|_| [random.word(lane), random.word(lane)]).collect()
        })
        .collect();
    let mut memory: Vec<Vec<u8>> = Vec::new();
    let mut strides = Vec::new();
    // Operands begin at any element of a cache line.
    let mut starts: Vec<usize> = Vec::new();
    for (dtype, _) in &body.outputs {
        starts.push(random.below(64 / dtype.size()) * dtype.size());
        memory.push(vec![0xa5; starts[starts.len() - 1] + rows * elements * dtype.size() + 64]);
        strides.push((elements * dtype.size()) as isize);
    }
    for (words, (&dtype, &form)) in inputs.iter().zip(body.inputs.iter().zip(&layout.inputs)) {
        let (lane, count) = LaneType::of_element(dtype);
        let bytes = words
            .iter()
            .flat_map(|word| word[..count].iter())
            .flat_map(|word| word.to_le_bytes()[..lane.size()].to_vec());
        starts.push(random.below(64 / dtype.size()) * dtype.size());
        memory.push(vec![0xa5; starts[starts.len() - 1]].into_iter().chain(bytes).collect());
        strides.push(if form == OperandForm::Dense {
            (elements * dtype.size()) as isize
        } else {
            dtype.size() as isize
        });
    }
    let first = |(bytes, &start): (&mut Vec<u8>, &usize)| bytes[start..].as_mut_ptr();
    let mut operands: Vec<*mut u8> = memory.iter_mut().zip(&starts).map(first).collect();
    // SAFETY:
    // - each operand has memory for `rows` rows of its elements;
    // - operands are distinct vectors, which this thread owns.
    unsafe { function.run(&mut operands, &strides, rows, elements) }
    for point in 0..rows * elements {
        let at: Vec<[u64; 2]> = inputs
            .iter()
            .zip(&layout.inputs)
            .map(|(words, form)| match form {
                OperandForm::Dense => words[point],
                _ => words[point / elements],
            })
            .collect();
        let expected = body.interpret(&at);
        for (output, (dtype, _)) in body.outputs.iter().enumerate() {
            let (lane, count) = LaneType::of_element(*dtype);
            for (part, expected) in expected[output][..count].iter().enumerate() {
                let at_byte = starts[output] + point * dtype.size() + part * lane.size();
                let mut word = [0; 8];
                word[..lane.size()]
                    .copy_from_slice(&memory[output][at_byte..at_byte + lane.size()]);
                let found = u64::from_le_bytes(word);
                let mask = u64::MAX >> (64 - 8 * lane.size());
                assert_eq!(
                    found,
                    expected & mask,
                    "{level}: output {output} part {part} at {point} of {rows} x {elements}, \
                     {layout:?}, {at:x?}\n{body}\n{}",
                    Function::listing(level, body, layout)
                );
            }
        }
    }
    for (output, (dtype, _)) in body.outputs.iter().enumerate() {
        let (before, rest) = memory[output].split_at(starts[output]);
        let mut outside = before.iter().chain(&rest[rows * elements * dtype.size()..]);
        assert!(outside.all(|&byte| byte == 0xa5), "written out of bounds\n{body}");
    }
}

fn layout(body: &Body, single: usize, random: &mut Random) -> OperandLayout {
    let form = |input: usize| {
        if single >> input & 1 == 1 { OperandForm::RowScalar } else { OperandForm::Dense }
    };
    OperandLayout {
        inputs: (0..body.inputs.len()).map(form).collect(),
        is_streamed: body.outputs.iter().map(|_| random.below(4) == 0).collect(),
        is_in_place: random.below(4) == 0,
        has_prefetch: false,
    }
}

#[test]
fn every_primitive_on_every_type() {
    if !is_available() {
        return;
    }
    let mut random = Random(1);
    for (lane, dtype) in LANES {
        for (primitive, result) in primitives(lane) {
            // A second output of a narrower or wider type changes the number of registers per value.
            for other in [None, Some(DType::U8), Some(DType::F64)] {
                let mut builder = Builder::default();
                builder.0.tables.push(table());
                let count = primitive.operand_count();
                let operands: Vec<SsaValue> = (0..count)
                    .map(|position| {
                        let is_condition = primitive == Primitive::Select && position == 0;
                        builder.input(if is_condition { DType::Bool } else { dtype })[0]
                    })
                    .collect();
                let value = builder.push(primitive, result, &operands);
                let (_, to) = LANES.into_iter().find(|&(lane, _)| lane == result).unwrap();
                builder.output(to, value);
                if let Some(other) = other {
                    let value = builder.input(other)[0];
                    builder.output(other, value);
                }
                let body = builder.0;
                for single in 0..1 << count {
                    let layout = layout(&body, single, &mut random);
                    let elements = random.among(&[1, 7, 64, 100, 150, 4200]);
                    check(&body, &layout, 2, elements, &mut random);
                }
            }
        }
    }
}

/// A random body of about `length` primitives.
fn random_body(random: &mut Random, length: usize) -> Body {
    let mut builder = Builder::default();
    builder.0.tables.push(table());
    let mut values: Vec<SsaValue> = Vec::new();
    let wide = random.below(3) > 0;
    let lanes: Vec<(LaneType, DType)> =
        LANES.into_iter().filter(|_| wide || random.below(2) == 0).collect();
    let lanes = if lanes.is_empty() { LANES.to_vec() } else { lanes };
    for _ in 0..1 + random.below(5) {
        let dtype = match random.below(6) {
            0 => DType::C64,
            1 => DType::C128,
            _ => random.among(&lanes).1,
        };
        values.extend(builder.input(dtype));
    }
    for _ in 0..length {
        let (lane, _) = random.among(&lanes);
        let (primitive, result) = random.among(&primitives(lane));
        let operands: Vec<SsaValue> = (0..primitive.operand_count())
            .map(|position| {
                let wanted = match (primitive, position) {
                    (Primitive::Select, 0) => LaneType::Bool,
                    _ => lane,
                };
                let fit: Vec<SsaValue> = values
                    .iter()
                    .copied()
                    .filter(|&value| builder.0.lane(value) == wanted)
                    .collect();
                match fit.is_empty() || random.below(8) == 0 {
                    true => {
                        let bits = random.word(wanted);
                        let bits = bits & u64::MAX >> (64 - 8 * wanted.size());
                        builder.push(Primitive::Constant(bits), wanted, &[])
                    }
                    false => random.among(&fit),
                }
            })
            .collect();
        let operands: Vec<SsaValue> = match primitive {
            Primitive::Bits => vec![builder.canonical(operands[0])],
            _ => operands,
        };
        values.push(builder.push(primitive, result, &operands));
    }
    if random.below(2) == 0 {
        extremes_and_nans(random, &mut builder, &mut values);
    }
    for _ in 0..1 + random.below(4) {
        let value = random.among(&values);
        let lane = builder.0.lane(value);
        let other: Vec<SsaValue> =
            values.iter().copied().filter(|&value| builder.0.lane(value) == lane).collect();
        let second = random.among(&other);
        match (lane, random.below(2)) {
            (LaneType::F32 | LaneType::F64, 0) => {
                let parts = [value, second].map(|value| builder.canonical(value));
                builder
                    .0
                    .outputs
                    .push((if lane == LaneType::F32 { DType::C64 } else { DType::C128 }, parts));
            }
            _ => builder
                .output(LANES.into_iter().find(|&(known, _)| known == lane).unwrap().1, value),
        }
    }
    builder.0
}

/// Adds primitives that form patterns: minima and maxima, NaN tests of two floats, negated comparisons, and
/// fused multiply-adds with negated operands.
fn extremes_and_nans(random: &mut Random, builder: &mut Builder, values: &mut Vec<SsaValue>) {
    for _ in 0..4 {
        let x = random.among(values);
        let lane = builder.0.lane(x);
        let same: Vec<SsaValue> =
            values.iter().copied().filter(|&value| builder.0.lane(value) == lane).collect();
        let y = random.among(&same);
        let less = builder.push(Primitive::Less, LaneType::Bool, &[x, y]);
        let [is_nan, is_nan_too] = [x, y].map(|x| {
            let equal = builder.push(Primitive::Equal, LaneType::Bool, &[x, x]);
            builder.push(Primitive::Not, LaneType::Bool, &[equal])
        });
        let negated = match lane.is_float() {
            true => builder.push(Primitive::Neg, lane, &[x]),
            false => x,
        };
        values.push(match random.below(6) {
            4 if lane.is_float() => builder.push(Primitive::MulAdd, lane, &[negated, y, x]),
            5 if lane.is_float() => builder.push(Primitive::MulAdd, lane, &[y, negated, negated]),
            0 => builder.push(Primitive::Select, lane, &[less, x, y]),
            1 => builder.push(Primitive::Select, lane, &[less, y, x]),
            2 => builder.push(Primitive::Or, LaneType::Bool, &[is_nan, is_nan_too]),
            _ => builder.push(Primitive::Not, LaneType::Bool, &[less]),
        });
    }
}

#[test]
fn patterns_may_read_row_invariants() {
    if !is_available() {
        return;
    }
    let mut builder = Builder::default();
    let [single, dense] = [0, 1].map(|_| builder.input(DType::F32)[0]);
    let doubled = builder.push(Primitive::Add, LaneType::F32, &[single, single]);
    let [is_nan, is_nan_too] = [doubled, dense].map(|x| {
        let equal = builder.push(Primitive::Equal, LaneType::Bool, &[x, x]);
        builder.push(Primitive::Not, LaneType::Bool, &[equal])
    });
    let either = builder.push(Primitive::Or, LaneType::Bool, &[is_nan, is_nan_too]);
    builder.output(DType::Bool, either);
    let negated = builder.push(Primitive::Neg, LaneType::F32, &[doubled]);
    let product = builder.push(Primitive::MulAdd, LaneType::F32, &[negated, dense, dense]);
    builder.output(DType::F32, product);
    let mut random = Random(3);
    let layout = layout(&builder.0, 1, &mut random);
    check(&builder.0, &layout, 20, 40, &mut random);
}

#[test]
fn rows_of_every_length() {
    if !is_available() {
        return;
    }
    let mut random = Random(5);
    let types = [
        [DType::U8, DType::I8],
        [DType::Bool, DType::U16],
        [DType::F32, DType::U8],
        [DType::C64, DType::F32],
        [DType::F64, DType::I16],
        [DType::C128, DType::Bool],
    ];
    for inputs in types {
        let mut builder = Builder::default();
        let lanes = inputs.map(|dtype| builder.input(dtype));
        for (dtype, lanes) in inputs.into_iter().zip(lanes) {
            match *lanes {
                [x] => builder.output(dtype, x),
                _ => {
                    let parts = [lanes[1], lanes[0]].map(|part| builder.canonical(part));
                    builder.0.outputs.push((dtype, parts));
                }
            }
            if builder.0.lane(lanes[0]) != LaneType::Bool {
                let less = builder.push(Primitive::Less, LaneType::Bool, &[lanes[0]; 2]);
                builder.output(DType::Bool, less);
            }
        }
        for elements in (1..=135).chain((136..=280).step_by(9)) {
            let layout = layout(&builder.0, 0, &mut random);
            check(&builder.0, &layout, 2, elements, &mut random);
        }
    }
}

#[test]
fn long_rows_begin_at_any_address() {
    if !is_available() {
        return;
    }
    let mut random = Random(11);
    let types = [DType::U8, DType::I16, DType::F32, DType::F64, DType::C64, DType::C128];
    for (index, dtype) in types.into_iter().enumerate() {
        for is_compared in [false, true] {
            let mut builder = Builder::default();
            let [x, y] = [0, 1].map(|_| builder.input(dtype)[0]);
            let lane = builder.0.lane(x);
            match is_compared {
                // The output is too narrow to be the aligned operand.
                true => {
                    let value = builder.push(Primitive::Less, LaneType::Bool, &[x, y]);
                    builder.output(DType::Bool, value);
                }
                false => {
                    let value = builder.push(Primitive::Add, lane, &[x, y]);
                    let (_, to) = LANES.into_iter().find(|&(it, _)| it == lane).unwrap();
                    builder.output(to, value);
                }
            }
            let body = builder.0;
            let layout = OperandLayout {
                inputs: vec![
                    OperandForm::Dense,
                    if index % 2 == 0 { OperandForm::Dense } else { OperandForm::RowScalar },
                ],
                is_streamed: vec![false],
                is_in_place: false,
                has_prefetch: false,
            };
            // Rows of 3136 elements have the alignment of the first row; those of 3100 have it for some
            // types.
            for (rows, elements) in [(1, 3333), (1, 3072), (3, 3136), (2, 3100)] {
                (0..4).for_each(|_| check(&body, &layout, rows, elements, &mut random));
            }
        }
    }
}

#[test]
fn bitwise_operations_on_three_integers_are_one_instruction() {
    use Primitive::{And, Not, Or, Xor};
    if !is_available() {
        return;
    }
    let mut random = Random(13);
    for (lane, dtype) in LANES.into_iter().filter(|(lane, _)| !lane.is_float()) {
        for (first, second) in
            [And, Or, Xor].into_iter().flat_map(|p| [(p, And), (p, Or), (p, Xor)])
        {
            for is_kept in [false, true] {
                let mut builder = Builder::default();
                let [x, y] = [0, 1].map(|_| builder.input(dtype)[0]);
                let bits = if lane == LaneType::Bool { 1 } else { 0x5a };
                let constant = builder.push(Primitive::Constant(bits), lane, &[]);
                let inner = builder.push(first, lane, &[x, y]);
                let opposite = builder.push(Not, lane, &[inner]);
                let outer = builder.push(second, lane, &[opposite, constant]);
                let reused = builder.push(first, lane, &[outer, y]);
                builder.output(dtype, reused);
                if is_kept {
                    builder.output(dtype, inner);
                }
                let body = builder.0;
                let layout = layout(&body, 0, &mut random);
                check(&body, &layout, 2, 150, &mut random);
                if lane != LaneType::Bool
                    && let Some(level) = avx512()
                {
                    let listing = Function::listing(level, &body, &layout);
                    assert!(listing.contains("vpternlogq"), "{listing}");
                    assert!(is_kept || !listing.contains("vpxor"), "{listing}");
                }
            }
        }
    }
}

#[test]
fn dependency_chains_have_steps_of_four_registers() {
    if !is_available() {
        return;
    }
    let mut random = Random(12);
    for dtype in [DType::U8, DType::I32, DType::F32, DType::F64] {
        let mut builder = Builder::default();
        let x = builder.input(dtype)[0];
        let lane = builder.0.lane(x);
        let mut value = x;
        for bits in 1..12 {
            let constant = builder.push(Primitive::Constant(bits), lane, &[]);
            value = builder.push(Primitive::Mul, lane, &[value, x]);
            value = builder.push(Primitive::Add, lane, &[value, constant]);
        }
        builder.output(dtype, value);
        let body = builder.0;
        for single in [0, 1] {
            for elements in [1, 31, 64, 65, 127, 300, 1000] {
                let layout = layout(&body, single, &mut random);
                check(&body, &layout, 3, elements, &mut random);
            }
        }
    }
}

#[test]
fn a_dependency_chain_may_end_in_a_cast_through_doubles() {
    if !is_available() {
        return;
    }
    let mut random = Random(14);
    let mut builder = Builder::default();
    let x = builder.input(DType::F32)[0];
    let chain =
        (0..20).fold(x, |value, _| builder.push(Primitive::Add, LaneType::F32, &[value, x]));
    let cast = builder.push(Primitive::Cast, LaneType::U32, &[chain]);
    builder.output(DType::U32, cast);
    for elements in [1, 31, 64, 300] {
        let layout = layout(&builder.0, 0, &mut random);
        check(&builder.0, &layout, 3, elements, &mut random);
    }
}

#[test]
fn random_bodies() {
    if !is_available() {
        return;
    }
    let mut random = Random(2);
    for round in 0..1000 {
        let length = if round % 50 == 0 { 400 } else { 1 + random.below(30) };
        let body = random_body(&mut random, length);
        let single = random.below(1 << body.inputs.len());
        let layout = layout(&body, single, &mut random);
        let rows = 1 + random.below(3);
        let elements = 1 + random.below(150) + if random.below(8) == 0 { 4096 } else { 0 };
        check(&body, &layout, rows, elements, &mut random);
    }
}

#[test]
fn a_row_may_have_more_constants_than_there_are_registers() {
    if !is_available() {
        return;
    }
    let mut random = Random(4);
    for round in 0..100 {
        let mut builder = Builder::default();
        // A chain of values, which reads all constants again and again.
        let mut value = builder.input(DType::F32)[0];
        let singles = 8 + round % 40;
        let numbers: Vec<SsaValue> = (0..singles).map(|_| builder.input(DType::F32)[0]).collect();
        let conditions: Vec<SsaValue> = (0..4).map(|_| builder.input(DType::Bool)[0]).collect();
        for _ in 0..4 * singles {
            let [x, y] = [0, 1].map(|_| random.among(&numbers));
            let condition = match random.below(2) {
                0 => random.among(&conditions),
                _ => builder.push(Primitive::Less, LaneType::Bool, &[value, x]),
            };
            let (primitive, operands) = match random.below(6) {
                0 => (Primitive::Select, [condition, value, y]),
                1 => (Primitive::Select, [condition, y, value]),
                2 => (Primitive::MulAdd, [value, x, y]),
                3 => (Primitive::MulAdd, [x, y, value]),
                4 => (Primitive::MulAdd, [x, value, x]),
                _ => {
                    let less = builder.push(Primitive::Less, LaneType::Bool, &[value, y]);
                    let chosen = builder.push(Primitive::Select, LaneType::F32, &[less, x, y]);
                    (Primitive::Select, [condition, chosen, value])
                }
            };
            value = builder.push(primitive, LaneType::F32, &operands);
        }
        builder.output(DType::F32, value);
        let body = builder.0;
        let all_but_the_first = usize::MAX << 1;
        let layout = layout(&body, all_but_the_first, &mut random);
        check(&body, &layout, 2, 20, &mut random);
    }
}

/// A chain of primitives on one type: each reads the value before it, and `shared` values.
fn chain(
    builder: &mut Builder,
    shared: &[SsaValue],
    length: usize,
    random: &mut Random,
) -> SsaValue {
    let lane = builder.0.lane(shared[0]);
    let is_number = |(primitive, result): &(Primitive, LaneType)| {
        *result == lane && !matches!(primitive, Primitive::Select | Primitive::Bits)
    };
    let all: Vec<(Primitive, LaneType)> = primitives(lane).into_iter().filter(is_number).collect();
    let mut values = vec![random.among(shared)];
    for _ in 0..length {
        let (primitive, result) = random.among(&all);
        let mut operands = vec![values[values.len() - 1]];
        while operands.len() < primitive.operand_count() {
            let is_shared = random.below(3) == 0;
            operands.push(random.among(if is_shared { shared } else { &values }));
        }
        let value = builder.push(primitive, result, &operands);
        values.push(value);
    }
    values[values.len() - 1]
}

/// The condition of a select: a boolean input, or a comparison that may have one result for all elements.
fn condition(builder: &mut Builder, x: SsaValue, random: &mut Random) -> SsaValue {
    if random.below(2) == 0 {
        return builder.input(DType::Bool)[0];
    }
    let lane = builder.0.lane(x);
    let bits = random.word(lane) & u64::MAX >> (64 - 8 * lane.size());
    let bound = builder.push(Primitive::Constant(bits), lane, &[]);
    builder.push(Primitive::Less, LaneType::Bool, &[x, bound])
}

/// Long arms of a select are skipped if no lane takes them.
#[test]
fn arms_that_no_lane_takes() {
    if !is_available() {
        return;
    }
    let mut random = Random(6);
    let mut skips = 0;
    for _ in 0..60 {
        let (_, dtype) = random.among(&LANES[1..]);
        let mut builder = Builder::default();
        builder.0.tables.push(table());
        let shared: Vec<SsaValue> = (0..3).map(|_| builder.input(dtype)[0]).collect();
        let condition = condition(&mut builder, shared[0], &mut random);
        let lengths = [8 + random.below(160), 8 + random.below(160)];
        let [on_true, on_false] =
            lengths.map(|length| chain(&mut builder, &shared, length, &mut random));
        // A value that lives across both arms.
        let across = chain(&mut builder, &shared, 5, &mut random);
        let lane = builder.0.lane(across);
        let chosen = builder.push(Primitive::Select, lane, &[condition, on_true, on_false]);
        let sum = builder.push(Primitive::Add, lane, &[chosen, across]);
        builder.output(dtype, sum);
        builder.output(dtype, chosen);
        let body = builder.0;
        let single = random.below(1 << body.inputs.len());
        let layout = layout(&body, single, &mut random);
        for &level in machine_code_levels() {
            let listing = Function::listing(level, &body, &layout);
            skips += listing.matches("skipped_1:").count();
        }
        let elements = random.among(&[1, 3, 16, 100, 150]);
        check(&body, &layout, 6, elements, &mut random);
    }
    assert!(skips > 20, "{skips} functions skip an arm");
}
