//! Recorded bodies give the bits of the definitions on Rust's scalars and of the reference evaluator, before
//! and after simplification, for any NaNs that arithmetic makes.

use std::collections::HashMap;
use std::sync::Arc;

use indim_builder::GraphBuilder;
use indim_codegen::{Definition, LaneType, NestBody, record_nest, record_nest_with_constants};
use indim_graph::{Array, Graph, TakeMode, evaluate};
use indim_loops::loop_nest::{BufferId, InstructionKind, Local, LoopNest};
use indim_loops::lower;
use indim_ops::elements::*;
use indim_ops::{
    AnyLane, ArrayData, ArrayType, DType, Element, Fold, FoldVisitor, Op, ReduceOp, ScalarBackend,
    for_each_element,
};
use indim_shape::RuleSet;

#[allow(dead_code, reason = "other tests choose views and reductions too")]
#[path = "../../indim-builder/tests/random/choices.rs"]
mod choices;
#[path = "../../indim-ops/tests/recording/special.rs"]
mod special;

use choices::{Choices, pseudo_random, random_conversion, random_operation};
use special::{lane_count, special_values};

/// The words of elements of these types, from the words of all their lanes in order.
fn elements(dtypes: &[DType], words: &[u64]) -> Vec<[u64; 2]> {
    let mut rest = words.iter().copied();
    let mut next = || rest.next().expect("a word for each lane");
    let element = |&dtype: &DType| match lane_count(dtype) {
        1 => [next(), 0],
        _ => [next(), next()],
    };
    dtypes.iter().map(element).collect()
}

/// Little-endian bytes of an element.
fn bytes(dtype: DType, words: [u64; 2]) -> Vec<u8> {
    let size = dtype.size() / lane_count(dtype);
    words[..lane_count(dtype)].iter().flat_map(|word| word.to_le_bytes()[..size].to_vec()).collect()
}

/// The words of an element from its little-endian bytes.
fn words(dtype: DType, bytes: &[u8]) -> [u64; 2] {
    let size = dtype.size() / lane_count(dtype);
    let mut words = [0; 2];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks(size)) {
        *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    }
    words
}

macro_rules! define_scalars {
    ($($variant:ident $type:ident $class:ident;)*) => {
        /// The element of these words, as a scalar.
        fn scalar(dtype: DType, element: [u64; 2]) -> AnyLane<ScalarBackend> {
            let bytes = bytes(dtype, element);
            match dtype {
                $(DType::$variant => AnyLane::$variant(<$type>::read_bytes(&bytes)),)*
            }
        }

        /// The words of a scalar.
        fn scalar_words(any: AnyLane<ScalarBackend>) -> [u64; 2] {
            let mut bytes = Vec::new();
            match any {
                $(AnyLane::$variant(x) => x.write_bytes(&mut bytes),)*
            }
            words(any.dtype(), &bytes)
        }
    };
}

for_each_element!(define_scalars);

/// The NaNs of a processor that makes them with any sign and payload.
fn random_nans(seed: u64) -> impl FnMut(LaneType, u64) -> u64 {
    let mut random = pseudo_random(seed);
    move |lane, _| {
        let bits = random(usize::MAX) as u64;
        match lane {
            LaneType::F32 => (bits & 0xffff_ffff) | 0x7fc0_0000,
            _ => bits | 0x7ff8 << 48,
        }
    }
}

/// All combinations of special values, as words of the lanes.
fn combinations(dtypes: &[DType]) -> Vec<Vec<u64>> {
    let appended = |combinations: Vec<Vec<u64>>, &dtype: &DType| -> Vec<Vec<u64>> {
        let values = special_values(dtype, dtypes.len());
        let with_each = |words: Vec<u64>| {
            values.iter().map(move |value| [&words[..], value].concat()).collect::<Vec<_>>()
        };
        combinations.into_iter().flat_map(with_each).collect()
    };
    dtypes.iter().fold(vec![vec![]], appended)
}

/// Compares the body of a definition, before and after simplification, with the definition on scalars.
fn check(
    definition: Definition,
    scalar: &dyn Fn(&[AnyLane<ScalarBackend>]) -> AnyLane<ScalarBackend>,
) {
    let body = definition.body().expect("the operation takes the type");
    let simplified = (*body).clone().simplified();
    for body in [&*body, &simplified] {
        assert_eq!(body.verify(), Ok(()), "{definition:?}\n{body}");
    }
    let dtypes = &body.inputs;
    for (seed, combination) in combinations(dtypes).iter().enumerate() {
        let elements = elements(dtypes, combination);
        let operands =
            dtypes.iter().zip(&elements).map(|(&dtype, &words)| self::scalar(dtype, words));
        let expected = [scalar_words(scalar(&operands.collect::<Vec<_>>()))];
        assert_eq!(body.interpret(&elements), expected, "{definition:?} of {elements:x?}\n{body}");
        let found = simplified.interpret_with_nans(&elements, &mut random_nans(seed as u64));
        assert_eq!(found, expected, "{definition:?} of {elements:x?}, simplified\n{simplified}");
    }
}

#[test]
fn recorded_operations_give_the_bits_of_scalars() {
    for &op in Op::ALL {
        for &dtype in DType::ALL.iter().filter(|&&dtype| op.takes(dtype)) {
            let fits = "operands of the signature's types";
            check(Definition::Operation(op, dtype), &|operands| op.apply(operands).expect(fits));
        }
    }
    assert!(Definition::Operation(Op::Sqrt, DType::I8).body().is_none());
}

#[test]
fn recorded_conversions_give_the_bits_of_scalars() {
    for &from in DType::ALL {
        for &to in DType::ALL {
            check(Definition::Conversion(from, to), &|operands| operands[0].convert(to));
        }
    }
}

/// Compares the combination of a reduction with its definition on scalars, except for the bits of NaNs.
struct FoldCheck(Definition);

impl FoldVisitor for FoldCheck {
    type Output = ();

    fn fold<F: Fold<T>, T: Element>(self) {
        let body = self.0.body().expect("the reduction takes the type");
        assert_eq!(body.verify(), Ok(()), "{body}");
        let canonical = |words: [u64; 2]| scalar_words(scalar(T::DTYPE, words).convert(T::DTYPE));
        for combination in combinations(&[T::DTYPE; 2]) {
            let elements = elements(&[T::DTYPE; 2], &combination);
            let [x, y] = [0, 1].map(|index| T::read_bytes(&bytes(T::DTYPE, elements[index])));
            let expected = scalar_words(T::into_any(F::combine::<ScalarBackend>(x, y)));
            let found = body.interpret(&elements)[0];
            assert_eq!(canonical(found), canonical(expected), "{:?} of {elements:x?}", self.0);
        }
    }
}

#[test]
fn recorded_folds_combine_as_scalars_do() {
    for &op in ReduceOp::ALL {
        for &dtype in DType::ALL {
            let definition = Definition::Fold(op, dtype);
            match op.visit(dtype, FoldCheck(definition)) {
                Some(()) => assert!(!op.is_arg_reduction()),
                None => assert!(definition.body().is_none()),
            }
        }
    }
    assert!(Definition::Fold(ReduceOp::Add, DType::F64).body().is_some());
}

/// A random graph on arrays of one element, and special values as its arguments.
fn random_graph(choices: &mut Choices<'_>) -> (Graph, Vec<Array>) {
    let b = GraphBuilder::new();
    let (mut values, mut arguments) = (Vec::new(), Vec::new());
    let only = choices.chance(40).then(|| *choices.pick(&[DType::F32, DType::F64, DType::F16]));
    let special = |choices: &mut Choices<'_>| {
        let dtype = only.unwrap_or_else(|| *choices.pick(DType::ALL));
        let values = special_values(dtype, 1);
        let words = choices.pick(&values).clone();
        array(dtype, elements(&[dtype], &words)[0])
    };
    for index in 0..1 + choices.below(4) {
        let argument = special(choices);
        let ArrayType { dtype, shape } = argument.array_type().clone();
        values.push(b.parameter(&format!("p{index}"), dtype, shape).unwrap());
        arguments.push(argument);
    }
    for _ in 0..1 + choices.below(12) {
        let x = choices.pick(&values).clone();
        values.push(match choices.below(10) {
            0 => b.constant(special(choices)),
            1 => random_conversion(choices, &b, x),
            _ => random_operation(choices, &b, &values, x, Op::ALL),
        });
    }
    let outputs = values.split_off(values.len().saturating_sub(3));
    (b.finish(&outputs).unwrap(), arguments)
}

fn array(dtype: DType, element: [u64; 2]) -> Array {
    Array::from_data([1], ArrayData::from_le_bytes(dtype, &bytes(dtype, element))).unwrap()
}

fn element(array: &Array) -> [u64; 2] {
    words(array.dtype(), &array.to_le_bytes())
}

/// Runs the nests of a graph whose arrays have one element; returns the outputs.
fn run_nests(graph: &Graph, arguments: &[Array], seed: u64) -> Vec<[u64; 2]> {
    let nests = lower(graph);
    let mut memory: HashMap<BufferId, [u64; 2]> = HashMap::new();
    for (index, argument) in arguments.iter().enumerate() {
        memory.insert(BufferId::Parameter(index), element(argument));
    }
    for (index, constant) in nests.constants.iter().enumerate() {
        memory.insert(BufferId::Constant(index), element(constant));
    }
    for nest in &nests.nests {
        // Even seeds make constants part of the body; odd ones read them as inputs.
        let constants = if seed.is_multiple_of(2) { &nests.constants[..] } else { &[] };
        let recorded = record_nest_with_constants(nest, constants);
        let read = |local: &Local| match *local {
            Local::Access(index) => memory[&nest.accesses[index].buffer],
            Local::Instruction(_) => panic!("the nest has no gather"),
        };
        let results = recorded.as_ref().map_or(vec![], |NestBody { body, inputs, .. }| {
            assert_eq!(body.verify(), Ok(()), "{nest}\n{body}");
            let inputs: Vec<[u64; 2]> = inputs.iter().map(read).collect();
            body.interpret_with_nans(&inputs, &mut random_nans(seed))
        });
        let value = |local: Local| match local {
            Local::Access(_) => read(&local),
            Local::Instruction(_) => {
                let outputs = &recorded.as_ref().expect("a nest that computes").outputs;
                results[outputs.iter().position(|&output| output == local).expect("an output")]
            }
        };
        let stored: Vec<_> =
            nest.stores.iter().map(|store| (store.target.buffer, value(store.source))).collect();
        memory.extend(stored);
    }
    (0..nests.outputs.len()).map(|index| memory[&BufferId::Output(index)]).collect()
}

#[test]
fn recorded_nests_give_the_bits_of_the_reference_evaluator() {
    let mut computed = 0;
    for seed in 0..800 {
        let mut choices = pseudo_random(seed);
        let (graph, arguments) = random_graph(&mut Choices(&mut choices));
        let expected: Vec<[u64; 2]> =
            evaluate(&graph, &arguments).unwrap().iter().map(element).collect();
        for nans in 0..4 {
            let found = run_nests(&graph, &arguments, nans);
            assert_eq!(found, expected, "seed {seed}\n{graph}");
        }
        computed += lower(&graph).nests.iter().filter(|nest| record_nest(nest).is_some()).count();
    }
    assert!(computed > 600, "{computed}");
}

/// The one nest of a graph, and its constants.
fn nest(graph: &Graph) -> (Arc<LoopNest>, Vec<Array>) {
    let nests = lower(graph);
    assert_eq!(nests.nests.len(), 1);
    (Arc::clone(&nests.nests[0]), nests.constants)
}

#[test]
fn only_stored_values_are_recorded() {
    let b = GraphBuilder::new();
    let [x, y] = ["x", "y"].map(|name| b.parameter(name, DType::F32, [4]).unwrap());
    let sum = &x + &y;
    // The product of an integer and the constant 0 does not read the integer.
    let zero = b.mul(b.convert(&y, DType::I32).unwrap(), 0, &[]).unwrap();
    let (nest, constants) = nest(&b.finish(&[sum.clone(), x.clone(), zero, sum.sqrt()]).unwrap());
    let NestBody { body, inputs, outputs } = record_nest_with_constants(&nest, &constants).unwrap();
    assert_eq!((inputs.len(), outputs.len()), (2, 3), "{nest}\n{body}");
    let results = body.interpret(&[[0x4080_0000, 0], [0x40a0_0000, 0]]);
    assert_eq!(results, [[0x4110_0000, 0], [0, 0], [0x4040_0000, 0]], "{nest}\n{body}");
}

#[test]
fn results_of_bf16_stay_in_32_bits_between_operations() {
    let b = GraphBuilder::new();
    let [x, y] = ["x", "y"].map(|name| b.parameter(name, DType::Bf16, [1]).unwrap());
    let zero = b.constant(array(DType::Bf16, [0, 0]));
    let operation = |op, operands: &[_]| b.elementwise(op, operands, &RuleSet::Numpy).unwrap();
    let product = operation(Op::Mul, &[x, y.clone()]);
    let sum = operation(Op::Add, &[product, y]);
    let larger = operation(Op::Max, &[operation(Op::Neg, &[sum]), zero]);
    let (nest, constants) = nest(&b.finish(&[larger]).unwrap());
    let NestBody { body, .. } = record_nest_with_constants(&nest, &constants).unwrap();
    let text = body.to_string();
    // Two inputs are widened, one output is narrowed, and product and sum are rounded by two additions each.
    let counts = ["= cast.i16.i32", "= cast.i32.i16", "= add.i32", "= canonical", "round"]
        .map(|piece| text.matches(piece).count());
    assert_eq!(counts, [2, 1, 4, 0, 0], "{text}");
    let known = scalar(DType::Bf16, [0, 0]);
    let of = |op: Op, operands: &[_]| op.apply(operands).unwrap();
    for words in combinations(&[DType::Bf16; 2]) {
        let [x, y] = [words[0], words[1]].map(|word| scalar(DType::Bf16, [word, 0]));
        let sum = of(Op::Add, &[of(Op::Mul, &[x, y]), y]);
        let expected = scalar_words(of(Op::Max, &[of(Op::Neg, &[sum]), known]));
        let found =
            body.interpret_with_nans(&elements(&[DType::Bf16; 2], &words), &mut random_nans(7));
        assert_eq!(found, [expected], "{words:x?}\n{body}");
    }
}

#[test]
fn extremes_with_constants_have_few_instructions() {
    let constants = [0.0, -0.0, 1.0, -2.5, 3e-310, f64::INFINITY, f64::NAN];
    for (op, dtype) in
        [Op::Max, Op::Min].into_iter().flat_map(|op| [(op, DType::F32), (op, DType::F64)])
    {
        for (constant, is_first) in constants.into_iter().flat_map(|c| [(c, true), (c, false)]) {
            let b = GraphBuilder::new();
            let x = b.parameter("x", dtype, [1]).unwrap();
            let bits = match dtype {
                DType::F32 => (constant as f32).to_bits().into(),
                _ => constant.to_bits(),
            };
            let known = b.constant(array(dtype, [bits, 0]));
            let operands = if is_first { [known, x] } else { [x, known] };
            let extreme = b.elementwise(op, &operands, &RuleSet::Numpy).unwrap();
            let (nest, constants) = nest(&b.finish(&[extreme]).unwrap());
            let NestBody { body, inputs, .. } =
                record_nest_with_constants(&nest, &constants).unwrap();
            // Two comparisons (less, NaN), two selects and their operands.
            let is_short = body.instructions.len() <= 7;
            assert!(is_short || bits.count_ones() == 1, "{op} {constant}\n{body}");
            for words in special_values(dtype, 1) {
                let x = scalar(dtype, [words[0], 0]);
                let known = scalar(dtype, [bits, 0]);
                let operands = if is_first { [known, x] } else { [x, known] };
                let expected = scalar_words(op.apply(&operands).unwrap());
                let found = body.interpret(&vec![[words[0], 0]; inputs.len()]);
                assert_eq!(found, [expected], "{op} {constant} {words:x?}\n{body}");
            }
        }
    }
}

#[test]
fn gathered_elements_are_inputs() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [4]).unwrap();
    let indices = b.parameter("indices", DType::I32, [4]).unwrap();
    let taken = b.take(&x, &indices, 0, TakeMode::Clip).unwrap();
    let (copied, _) = nest(&b.finish(std::slice::from_ref(&taken)).unwrap());
    assert_eq!(record_nest(&copied), None, "nothing is computed: {copied}");
    let (nest, constants) = nest(&b.finish(&[&taken + 1.0, taken]).unwrap());
    let recorded = record_nest_with_constants(&nest, &constants).unwrap();
    let [Local::Instruction(taken)] = recorded.inputs[..] else { panic!("{nest}") };
    assert!(matches!(nest.instructions[taken].kind, InstructionKind::Take { .. }));
    assert_eq!(recorded.outputs.len(), 1);
    assert_eq!(recorded.body.interpret(&[[0x3f80_0000, 0]]), [[0x4000_0000, 0]]);
    // The same nest with computed indices has no body.
    let mut by_computed = (*nest).clone();
    Arc::make_mut(&mut by_computed.instructions)[taken].operands[1] = Local::Instruction(taken);
    assert_eq!(record_nest(&by_computed), None);
}
