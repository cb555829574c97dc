//! Simplification and constant folding preserve the bits of random bodies; the verifier rejects invalid
//! bodies.

use std::sync::Arc;

use indim_codegen::{
    Body, BodyBuilder, BodyError, Definition, LaneType, Primitive, SsaInstruction, SsaValue,
};
use indim_ops::{DType, Op};

#[allow(dead_code, reason = "other tests choose nodes of graphs")]
#[path = "../../indim-builder/tests/random/choices.rs"]
mod choices;
#[path = "unit/primitives.rs"]
mod primitives;
#[path = "../../indim-ops/tests/recording/special.rs"]
mod special;

use choices::{Choices, pseudo_random};
use primitives::PRIMITIVES;
use special::{lane_count, special_values};

/// The element types that are one lane type.
const DTYPES: [DType; 11] = [
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

fn lane(dtype: DType) -> LaneType {
    assert_eq!(lane_count(dtype), 1);
    LaneType::of_element(dtype).0
}

fn instruction(primitive: Primitive, lane: LaneType, operands: &[SsaValue]) -> SsaInstruction {
    let mut given = [SsaValue(0); 3];
    given[..operands.len()].copy_from_slice(operands);
    SsaInstruction { primitive, lane, operands: given }
}

/// Appends an instruction if the body stays valid.
fn push(body: &mut Body, given: SsaInstruction) -> Option<SsaValue> {
    body.instructions.push(given);
    if body.verify().is_err() {
        body.instructions.pop();
        return None;
    }
    Some(SsaValue(body.instructions.len() as u32 - 1))
}

/// A constant: neutral elements and powers of two, or a special value of the type.
fn constant(choices: &mut Choices<'_>, dtype: DType) -> u64 {
    let values = special_values(dtype, 1);
    let ones = u64::MAX >> (64 - 8 * dtype.size());
    let neutral = match dtype {
        DType::Bool => [0, 1, 0, 1],
        DType::F32 => [0, 1 << 31, 1f32.to_bits().into(), (-0.25f32).to_bits().into()],
        DType::F64 => [0, 1 << 63, 1f64.to_bits(), 1024f64.to_bits()],
        _ => [0, 1, ones, 4],
    };
    match choices.chance(60) {
        true => *choices.pick(&neutral),
        false => choices.pick(&values)[0],
    }
}

/// Makes a float canonical; returns other values unchanged.
fn canonical(body: &mut Body, value: SsaValue) -> SsaValue {
    let lane = body.lane(value);
    match lane.is_float() {
        true => push(body, instruction(Primitive::Canonical, lane, &[value])).expect("a float"),
        false => value,
    }
}

/// A random body over few types, so that most values can be operands; its last values are the outputs. The
/// bits of NaNs from arithmetic are unspecified, so NaNs are made canonical: either at once, or where a
/// float becomes an integer or an output.
fn random_body(choices: &mut Choices<'_>) -> Body {
    let is_canonical_at_once = choices.chance(50);
    let mut dtypes = vec![DType::Bool, *choices.pick(&DTYPES), *choices.pick(&DTYPES)];
    dtypes.push(if choices.chance(50) { DType::F32 } else { *choices.pick(&DTYPES) });
    let table = [1 << 63 | 1, 2, 300, 70_000].repeat(if choices.chance(50) { 1 } else { 128 });
    let mut body = Body { inputs: dtypes.clone(), tables: vec![table.into()], ..Body::default() };
    let mut values: Vec<SsaValue> = Vec::new();
    for (input, &dtype) in dtypes.iter().enumerate() {
        let load = Primitive::Load { input: input as u32, component: 0 };
        for primitive in [load, Primitive::Constant(constant(choices, dtype))] {
            values.extend(push(&mut body, instruction(primitive, lane(dtype), &[])));
        }
    }
    while values.len() < 28 {
        let primitive = *choices.pick(&PRIMITIVES);
        let result = lane(*choices.pick(&dtypes));
        let recent = &values[values.len().saturating_sub(12)..];
        let mut operands: Vec<SsaValue> =
            (0..primitive.operand_count()).map(|_| *choices.pick(recent)).collect();
        if primitive == Primitive::Bits && !is_canonical_at_once {
            operands[0] = canonical(&mut body, operands[0]);
        }
        let value = push(&mut body, instruction(primitive, result, &operands));
        let is_made = primitive.can_create_nan() || primitive == Primitive::WidenF16;
        let is_made = is_made && is_canonical_at_once;
        values.extend(value.map(|value| if is_made { canonical(&mut body, value) } else { value }));
    }
    for &value in &values[22..] {
        let value = if is_canonical_at_once { value } else { canonical(&mut body, value) };
        let is_type = |&dtype: &DType| lane(dtype) == body.lane(value);
        let dtype = DTYPES.into_iter().find(is_type).expect("a type of one lane");
        body.outputs.push((dtype, [value, SsaValue(0)]));
    }
    body
}

#[test]
fn simplified_bodies_give_the_same_bits() {
    let mut fewer = 0;
    for seed in 0..6000 {
        let mut choices = pseudo_random(seed);
        let choices = &mut Choices(&mut choices);
        let body = random_body(choices);
        assert_eq!(body.verify(), Ok(()), "{body}");
        let simplified = body.clone().simplified();
        assert_eq!(simplified.verify(), Ok(()), "seed {seed}\n{body}\n{simplified}");
        for point in 0..12 {
            let inputs: Vec<[u64; 2]> = body
                .inputs
                .iter()
                .map(|&dtype| [choices.pick(&special_values(dtype, 1))[0], 0])
                .collect();
            let mut random = pseudo_random(seed ^ point);
            let mut made = |lane: LaneType, _: u64| match lane {
                LaneType::F32 => random(1 << 32) as u64 | 0x7fc0_0000,
                _ => random(usize::MAX) as u64 | 0x7ff8 << 48,
            };
            let found = simplified.interpret_with_nans(&inputs, &mut made);
            let expected = body.interpret(&inputs);
            assert_eq!(found, expected, "seed {seed}, {inputs:x?}\n{body}\n{simplified}");
        }
        fewer += usize::from(simplified.instructions.len() < body.instructions.len());
    }
    assert!(fewer > 5000, "{fewer}");
}

/// The line of the value that `build` makes from inputs of these types.
fn folded(dtypes: &[DType], build: impl Fn(&mut BodyBuilder, &[SsaValue]) -> SsaValue) -> String {
    let mut builder = BodyBuilder::new(dtypes.to_vec());
    let load = |(input, &dtype): (usize, &DType)| {
        builder.push(Primitive::Load { input: input as u32, component: 0 }, lane(dtype), &[])
    };
    let inputs: Vec<SsaValue> = dtypes.iter().enumerate().map(load).collect();
    let value = build(&mut builder, &inputs);
    let body = builder.finish();
    let text = body.to_string();
    text.lines().nth(value.index()).expect("a line for each value").to_owned()
}

#[test]
fn instructions_without_effect_are_removed() {
    use LaneType::{Bool, F32, F64, I8, I32, U8};
    use Primitive::{Add, Bits, Cast, Constant, Div, Mul, Not, Select, Sub};
    let quotient = folded(&[DType::F32], |builder, x| {
        let four = builder.push(Constant(4f32.to_bits().into()), F32, &[]);
        builder.push(Div, F32, &[x[0], four])
    });
    assert_eq!(quotient, "v3 = mul.f32 v0, v2", "a power of two has an exact reciprocal");
    let third = folded(&[DType::F32], |builder, x| {
        let three = builder.push(Constant(3f32.to_bits().into()), F32, &[]);
        builder.push(Div, F32, &[x[0], three])
    });
    assert_eq!(third, "v2 = div.f32 v0, v1");
    let plus_zero = folded(&[DType::F64], |builder, x| {
        let zero = builder.push(Constant(0), F64, &[]);
        builder.push(Add, F64, &[zero, x[0]])
    });
    assert_eq!(plus_zero, "v2 = add.f64 v0, v1", "-0 + 0 = 0");
    let minus_zero = folded(&[DType::F64], |builder, x| {
        let zero = builder.push(Constant(0), F64, &[]);
        builder.push(Sub, F64, &[x[0], zero])
    });
    assert_eq!(minus_zero, "v0 = load.f64 input 0");
    let halved = folded(&[DType::U8], |builder, x| {
        let two = builder.push(Constant(2), U8, &[]);
        builder.push(Div, U8, &[x[0], two])
    });
    assert_eq!(halved, "v3 = shift_right_logical.u8 v0, v2");
    let shifted = folded(&[DType::U8], |builder, x| {
        let [one, three] = [1, 3].map(|bits| builder.push(Constant(bits), U8, &[]));
        let less = builder.push(Sub, U8, &[x[0], three]);
        builder.push(Add, U8, &[less, one])
    });
    assert_eq!(shifted, "v6 = add.u8 v0, v5", "254");
    let there_and_back = folded(&[DType::I8], |builder, x| {
        let wide = builder.push(Cast, I32, &[x[0]]);
        builder.push(Cast, U8, &[wide])
    });
    assert_eq!(there_and_back, "v2 = bits.i8.u8 v0");
    let lost = folded(&[DType::I32], |builder, x| {
        let narrow = builder.push(Cast, I8, &[x[0]]);
        builder.push(Cast, I32, &[narrow])
    });
    assert_eq!(lost, "v2 = cast.i8.i32 v1");
    let chosen = folded(&[DType::Bool, DType::F32], |builder, x| {
        let not = builder.push(Not, Bool, &[x[0]]);
        let one = builder.push(Constant(1f32.to_bits().into()), F32, &[]);
        let same = builder.push(Mul, F32, &[x[1], one]);
        let bits = builder.push(Bits, I32, &[same]);
        let same = builder.push(Bits, F32, &[bits]);
        let other = builder.push(Add, F32, &[same, same]);
        builder.push(Select, F32, &[not, same, other])
    });
    assert_eq!(chosen, "v6 = select.f32 v0, v5, v1");
}

#[test]
fn minima_and_maxima_need_no_canonicalisation() {
    for op in [Op::Max, Op::Min, Op::Clamp] {
        for dtype in [DType::F32, DType::F64] {
            let body = Definition::Operation(op, dtype).body().expect("an operation on floats");
            let simplified = (*body).clone().simplified().to_string();
            assert!(body.to_string().contains("canonical"), "{body}");
            assert!(!simplified.contains("canonical"), "{simplified}");
        }
    }
}

#[test]
fn possible_nans_are_made_canonical() {
    use LaneType::{Bool, F32, I32};
    use Primitive::{And, Bits, Canonical, Equal, Less, Select};
    // If `x` equals `y`, their bitwise `and` is a number. The `and` of `x` and `z` may be a NaN.
    for (compared, condition, is_kept) in [(1, Equal, false), (2, Equal, true), (1, Less, true)] {
        let mut builder = BodyBuilder::new(vec![DType::F32; 3]);
        let [x, y, z] =
            [0, 1, 2].map(|input| builder.push(Primitive::Load { input, component: 0 }, F32, &[]));
        let is_true = builder.push(condition, Bool, &[x, [x, y, z][compared]]);
        let [bits_of_x, bits_of_y] = [x, y].map(|value| builder.push(Bits, I32, &[value]));
        let both = builder.push(And, I32, &[bits_of_x, bits_of_y]);
        let both = builder.push(Bits, F32, &[both]);
        let zero = builder.push(Primitive::Constant(0), F32, &[]);
        let [is_x, is_z] = [x, z].map(|value| builder.push(Equal, Bool, &[value, value]));
        let number = builder.push(Select, F32, &[is_z, z, zero]);
        let chosen = builder.push(Select, F32, &[is_true, both, number]);
        let chosen = builder.push(Select, F32, &[is_x, chosen, zero]);
        let canonical = builder.push(Canonical, F32, &[chosen]);
        builder.output(DType::F32, [canonical]);
        let body = builder.finish().simplified().to_string();
        assert_eq!(body.contains("canonical"), is_kept, "{compared} {condition:?}\n{body}");
    }
}

#[test]
fn the_verifier_rejects_invalid_bodies() {
    let load = |lane| instruction(Primitive::Load { input: 0, component: 0 }, lane, &[]);
    let float = LaneType::F32;
    let of = |instructions: Vec<SsaInstruction>| Body {
        instructions,
        tables: vec![Arc::from([1, 2, 3])],
        inputs: vec![DType::F32],
        outputs: vec![(DType::F32, [SsaValue(0), SsaValue(0)])],
        identities: vec![],
    };
    let add = |operand| instruction(Primitive::Add, float, &[SsaValue(0), operand]);
    assert_eq!(of(vec![load(float), add(SsaValue(0))]).verify(), Ok(()));
    let folding = |identities| Body { identities, ..of(vec![load(float), add(SsaValue(0))]) };
    assert_eq!(folding(vec![0]).verify(), Ok(()));
    assert_eq!(folding(vec![0, 0]).verify(), Err(BodyError::Output(0)));
    let wrong = [
        (vec![load(float), add(SsaValue(1))], BodyError::UseBeforeDefinition(SsaValue(1))),
        (
            vec![load(float), instruction(Primitive::And, float, &[SsaValue(0), SsaValue(0)])],
            BodyError::Types(SsaValue(1)),
        ),
        (
            vec![
                load(float),
                instruction(Primitive::Add, LaneType::F64, &[SsaValue(0), SsaValue(0)]),
            ],
            BodyError::Types(SsaValue(1)),
        ),
        (vec![load(LaneType::I32)], BodyError::Input(SsaValue(0))),
        (
            vec![instruction(Primitive::Load { input: 0, component: 1 }, float, &[])],
            BodyError::Input(SsaValue(0)),
        ),
        (
            vec![instruction(Primitive::Constant(1 << 32), float, &[])],
            BodyError::Constant(SsaValue(0)),
        ),
        (
            vec![
                instruction(Primitive::Constant(2), LaneType::I8, &[]),
                instruction(Primitive::Lookup { table: 0 }, LaneType::I8, &[SsaValue(0)]),
            ],
            BodyError::Table(SsaValue(1)),
        ),
        (vec![], BodyError::Output(0)),
        (vec![instruction(Primitive::Constant(0), LaneType::I32, &[])], BodyError::Output(0)),
    ];
    for (instructions, error) in wrong {
        let body = of(instructions);
        assert_eq!(body.verify(), Err(error), "{body}");
    }
}
