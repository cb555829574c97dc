//! HLO protobufs: modules that XLA wrote, in `hlo_proto/`, give XLA's results and the graph of their text;
//! errors and hostile input.

use std::path::{Path, PathBuf};

use crate::support::onnx::Message;
use crate::support::samples::mismatches;
use crate::support::{npz, read, run};
use indim::formats::{FormatError, FormatErrorKind, InputBinding, Model, ModelFormat, SourceFile};
use indim_graph::Array;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/hlo_proto").join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).expect("the file is there")
}

fn model(name: &str) -> Box<dyn Model> {
    model_of(name, &bytes(name))
}

fn model_of(name: &str, content: &[u8]) -> Box<dyn Model> {
    let source = SourceFile::new(name, content.to_vec());
    read(name, content).unwrap_or_else(|error| panic!("{}", error.draw(&source)))
}

fn types(model: &dyn Model) -> Vec<InputBinding> {
    let types = model.inputs().iter().map(|input| input.array_type().expect("types are known"));
    types.map(InputBinding::Type).collect()
}

fn error(content: &[u8]) -> FormatError {
    let built = read("module.hlo.pb", content).and_then(|model| model.build(&types(&*model)));
    built.map(drop).expect_err("there is a mistake")
}

/// A length-delimited field of a message.
fn field(number: u64, content: &[u8]) -> Vec<u8> {
    Message::default().bytes(number, content).as_ref().to_vec()
}

/// A varint field.
fn number(number: u64, value: u64) -> Vec<u8> {
    Message::default().int(number, value as i64).as_ref().to_vec()
}

/// A computation of these instructions; the last one is its root.
fn computation(id: u64, instructions: &[Vec<u8>]) -> Vec<u8> {
    let numbered = instructions.iter().enumerate().map(|(id, instruction)| {
        field(2, &[&instruction[..], &number(35, id as u64 + 1)].concat())
    });
    let all: Vec<u8> = numbered.flatten().collect();
    let root = number(6, instructions.len() as u64);
    field(3, &[field(1, format!("c{id}").as_bytes()), all, number(5, id), root].concat())
}

fn instruction(name: &str, opcode: &str, shape: &[u8]) -> Vec<u8> {
    [field(1, name.as_bytes()), field(2, opcode.as_bytes()), field(3, shape)].concat()
}

/// A module of computations; `entry` is the identifier of the program.
fn module(computations: &[Vec<u8>], entry: u64) -> Vec<u8> {
    [field(1, b"m"), field(2, b"entry"), computations.concat(), number(6, entry)].concat()
}

fn scalar() -> Vec<u8> {
    number(2, 11)
}

#[test]
fn a_message_and_its_text_are_one_program() {
    for name in ["everything", "constants", "convolutions", "tuples", "softmax_lowered", "softmax"]
    {
        let [message, text] = ["hlo.pb", "hlo"].map(|kind| model(&format!("{name}.{kind}")));
        assert_eq!(message.inputs(), text.inputs(), "{name}");
        assert_eq!(message.outputs(), text.outputs(), "{name}");
        let [message, text] =
            [&message, &text].map(|model| model.build(&types(&**model)).expect("a program").graph);
        assert_eq!(message.to_string(), text.to_string(), "{name}");
        assert_eq!(message, text, "{name}");
    }
}

#[test]
fn messages_give_what_xla_computes() {
    for name in ["everything", "constants", "convolutions", "softmax_lowered", "softmax"] {
        let model = model(&format!("{name}.hlo.pb"));
        let graph = model.build(&types(&*model)).expect("a program").graph;
        let names = |all: Vec<indim_ops::DType>| -> Vec<String> {
            all.into_iter().map(|dtype| dtype.to_string()).collect()
        };
        let given = names(model.inputs().iter().filter_map(|input| input.dtype).collect());
        let expected =
            names(graph.outputs().iter().map(|&id| graph[id].array_type.dtype).collect());
        let arrays = path(&format!("{name}.npz"));
        let found = run(&*model, &npz::read(&arrays, "input", &given)).expect("it runs");
        let wrong = mismatches(&found, &npz::read(&arrays, "output", &expected));
        assert!(wrong.is_empty(), "{name}: {}", wrong.join("; "));
    }
}

#[test]
fn sorts_are_those_of_their_text() {
    let vector = [number(2, 11), number(3, 4)].concat();
    let scalar = |index: u64| [instruction("p", "parameter", &scalar()), number(9, index)].concat();
    let less = [
        instruction("l", "compare", &number(2, 1)),
        number(36, 1),
        number(36, 2),
        field(63, b"LT"),
    ];
    let sort = [instruction("s", "sort", &vector), number(14, 0), number(36, 1), number(38, 1)];
    let comparator = computation(1, &[scalar(0), scalar(1), less.concat()]);
    let x = [instruction("x", "parameter", &vector), number(9, 0)].concat();
    let message = module(&[comparator, computation(7, &[x, sort.concat()])], 7);
    let text = "HloModule m\nc1 {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  \
                ROOT l = pred[] compare(a, b), direction=LT\n}\nENTRY c7 {\n  \
                x = f32[4] parameter(0)\n  ROOT s = f32[4] sort(x), dimensions={0}, to_apply=c1\n}";
    let all = [model_of("m.hlo.pb", &message), model_of("m.hlo", text.as_bytes())];
    let [message, text] = all.map(|model| model.build(&types(&*model)).expect("a program").graph);
    assert_eq!(message.to_string(), text.to_string());
}

#[test]
fn gathers_and_scatters_are_those_of_their_text() {
    let shape = |kind: u64, sizes: &[u64]| {
        sizes.iter().fold(number(2, kind), |shape, &size| [shape, number(3, size)].concat())
    };
    let parameter = |index: u64, shape: &[u8]| {
        [instruction(&format!("p{index}"), "parameter", shape), number(9, index)].concat()
    };
    let element = shape(11, &[]);
    let sum = [instruction("s", "add", &element), number(36, 1), number(36, 2)].concat();
    let function = computation(1, &[parameter(0, &element), parameter(1, &element), sum]);
    // The operand, indices with a batch axis, their result, and a start.
    let (x, i, r) = (shape(11, &[2, 5, 4]), shape(4, &[2, 3, 1]), shape(11, &[2, 3, 4]));
    let start = shape(4, &[]);
    let gathered = [(1, 2), (2, 1), (3, 1), (4, 2), (5, 0), (6, 0)];
    let scattered = [(1, 2), (2, 1), (3, 1), (4, 2), (5, 0), (6, 0)];
    let numbers = |fields: &[(u64, u64)]| {
        fields.iter().flat_map(|&(tag, it)| number(tag, it)).collect::<Vec<u8>>()
    };
    let operands = |ids: &[u64]| ids.iter().flat_map(|&id| number(36, id)).collect::<Vec<u8>>();
    let sizes =
        |tag: u64| [1, 1, 4].iter().flat_map(|&size| number(tag, size)).collect::<Vec<u8>>();
    let gather = [
        instruction("r", "gather", &r),
        operands(&[1, 2]),
        field(33, &numbers(&gathered)),
        sizes(34),
    ];
    let scatter = [
        instruction("c", "scatter", &x),
        operands(&[1, 2, 4]),
        field(48, &numbers(&scattered)),
        number(38, 1),
    ];
    let slice = [
        instruction("d", "dynamic-slice", &shape(11, &[1, 1, 4])),
        operands(&[5, 3, 3, 3]),
        sizes(20),
    ];
    let update = [instruction("u", "dynamic-update-slice", &x), operands(&[5, 6, 3, 3, 3])];
    let all = [
        parameter(0, &x),
        parameter(1, &i),
        parameter(2, &start),
        gather.concat(),
        scatter.concat(),
        slice.concat(),
        update.concat(),
    ];
    let message = module(&[function, computation(7, &all)], 7);
    let text = "HloModule m\nc1 {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  \
                ROOT s = f32[] add(a, b)\n}\nENTRY c7 {\n  p0 = f32[2,5,4] parameter(0)\n  \
                p1 = s32[2,3,1] parameter(1)\n  p2 = s32[] parameter(2)\n  \
                r = f32[2,3,4] gather(p0, p1), offset_dims={2}, collapsed_slice_dims={1}, \
                start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, \
                index_vector_dim=2, slice_sizes={1,1,4}\n  \
                c = f32[2,5,4] scatter(p0, p1, r), update_window_dims={2}, inserted_window_dims={1}, \
                scatter_dims_to_operand_dims={1}, input_batching_dims={0}, \
                scatter_indices_batching_dims={0}, index_vector_dim=2, to_apply=c1\n  \
                d = f32[1,1,4] dynamic-slice(c, p2, p2, p2), dynamic_slice_sizes={1,1,4}\n  \
                ROOT u = f32[2,5,4] dynamic-update-slice(c, d, p2, p2, p2)\n}";
    let all = [model_of("m.hlo.pb", &message), model_of("m.hlo", text.as_bytes())];
    let [message, text] = all.map(|model| model.build(&types(&*model)).expect("a program").graph);
    assert_eq!(message.to_string(), text.to_string());
}

#[test]
fn products_are_those_of_their_text() {
    let shape = |sizes: &[i64]| {
        let sizes = sizes.iter().map(|&size| Message::default().int(3, size));
        sizes.fold(number(2, 11), |shape, size| [shape, size.as_ref().to_vec()].concat())
    };
    let parameter = |name: &str, index: u64, sizes: &[i64]| {
        [instruction(name, "parameter", &shape(sizes)), number(9, index)].concat()
    };
    // The summed axes of both operands, then their batch axes.
    let axes = [number(1, 2), number(2, 0), number(3, 0), number(4, 2)].concat();
    let content = |algorithm: u64| {
        let dot = [
            instruction("r", "dot", &shape(&[2, 3, 5])),
            field(30, &axes),
            number(36, 1),
            number(36, 2),
            field(51, &number(2, algorithm)),
        ];
        let parameters = [parameter("x", 0, &[2, 3, 4]), parameter("y", 1, &[4, 5, 2])];
        module(&[computation(7, &[&parameters[..], &[dot.concat()]].concat())], 7)
    };
    let text = |algorithm: &str| {
        format!(
            "HloModule m\nENTRY c7 {{\n  x = f32[2,3,4] parameter(0)\n  y = f32[4,5,2] parameter(1)\n  \
             ROOT r = f32[2,3,5] dot(x, y), lhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, \
             rhs_batch_dims={{2}}, rhs_contracting_dims={{0}}{algorithm}\n}}"
        )
    };
    for (number, name) in [(0, ""), (11, ", algorithm=dot_f32_f32_f32")] {
        let message = model_of("module.hlo.pb", &content(number));
        let text = model_of("module.hlo", text(name).as_bytes());
        let [message, text] =
            [&message, &text].map(|model| model.build(&types(&**model)).expect("a program").graph);
        assert_eq!(message, text);
    }
    assert_eq!(error(&content(9)).code(), "unsupported");
    assert_eq!(error(&content(99)).code(), "attribute");
}

#[test]
fn wrong_axes_and_groups_of_convolutions_are_errors() {
    let numbers = |fields: &[(u64, u64)]| -> Vec<u8> {
        fields.iter().flat_map(|&(tag, it)| number(tag, it)).collect()
    };
    let shape = |sizes: [u64; 3]| numbers(&[(2, 11), (3, sizes[0]), (3, sizes[1]), (3, sizes[2])]);
    let parameter = |name: &str, index: u64, sizes| {
        [instruction(name, "parameter", &shape(sizes)), number(9, index)].concat()
    };
    let content = |axes: &[(u64, u64)], groups: &[(u64, u64)]| {
        let convolution = [
            instruction("r", "convolution", &shape([2, 4, 3])),
            field(15, &field(1, &numbers(&[(1, 3), (2, 1), (5, 1), (6, 1)]))),
            field(16, &numbers(axes)),
            numbers(&[(36, 1), (36, 2)]),
            numbers(groups),
        ];
        let parameters = [parameter("x", 0, [2, 4, 5]), parameter("k", 1, [4, 4, 3])];
        module(&[computation(7, &[&parameters[..], &[convolution.concat()]].concat())], 7)
    };
    // `bf0_oi0->bf0`: the axes of the kernel, of the operand, and of the result.
    let axes = [(4, 0), (3, 1), (6, 2), (7, 0), (8, 1), (11, 2), (9, 0), (10, 1), (12, 2)];
    for groups in [&[][..], &[(50, 1), (58, 1)], &[(50, 0)]] {
        let model = model_of("m.hlo.pb", &content(&axes, groups));
        let graph = model.build(&types(&*model)).expect("a program").graph;
        let x = Array::new([2, 4, 5], vec![1.0_f32; 40]).unwrap();
        let k = Array::new([4, 4, 3], vec![0.5_f32; 48]).unwrap();
        assert_eq!(graph.outputs().len(), 1);
        assert_eq!(
            run(&*model, &[x, k]).unwrap()[0],
            Array::new([2, 4, 3], vec![6.0_f32; 24]).unwrap()
        );
    }
    assert_eq!(error(&content(&axes, &[(50, 2)])).code(), "convolution-shape");
    assert_eq!(error(&content(&axes, &[(58, 3)])).code(), "convolution-shape");
    // Two axes with one number, an axis outside of the array, a negative one, too many axes, none.
    let with = |axis: (u64, u64)| [&axes[..], &[axis]].concat();
    let many: Vec<(u64, u64)> = (0..1000).map(|axis| (6, axis)).collect();
    let wrong = [with((3, 0)), with((10, 3)), with((7, u64::MAX)), many, Vec::new()];
    for axes in wrong {
        assert_eq!(error(&content(&axes, &[])).code(), "attribute");
    }
}

#[test]
fn a_module_may_be_alone_or_in_what_xla_dumps() {
    let alone = bytes("everything.hlo.pb");
    let dumped = [field(1, &alone), field(3, b"")].concat();
    for content in [&alone, &dumped] {
        assert_eq!(ModelFormat::of(content), Some(ModelFormat::Hlo));
        assert_eq!(ModelFormat::of(&content[..16]), Some(ModelFormat::Hlo));
    }
    let [alone, dumped] = [&alone, &dumped].map(|content| model_of("module", content));
    let [alone, dumped] =
        [&alone, &dumped].map(|m| m.build(&types(&**m)).expect("a program").graph);
    assert_eq!(alone, dumped);
}

#[test]
fn mistakes_name_the_instruction() {
    let replaced = |from: &[u8], to: &[u8]| {
        let mut content = bytes("everything.hlo.pb");
        let place = content.windows(from.len()).position(|found| found == from).expect("there");
        content[place..place + to.len()].copy_from_slice(to);
        content
    };
    let described = |error: &FormatError| error.location.described.clone().expect("a place");
    let unknown = error(&replaced(b"\x07reverse", b"\x07outfeed"));
    assert_eq!(unknown.code(), "unsupported-op");
    assert_eq!(described(&unknown), "instruction `flipped` (outfeed) of `main`");
    assert!(unknown.is_out_of_scope());
    let direction = error(&replaced(b"\x02LT", b"\x02XY"));
    assert_eq!(direction.code(), "attribute");
    assert_eq!(described(&direction), "instruction `less` (compare) of `main`");
    // A type of XLA that indim lacks: `f8e4m3`, whose number is 28.
    let f8 = [number(2, 28), field(3, &[2, 3])].concat();
    let content = module(&[computation(1, &[instruction("x", "parameter", &f8)])], 1);
    let f8 = error(&content);
    let FormatErrorKind::UnsupportedType { name } = &f8.kind else { panic!("{f8}") };
    assert_eq!(name, "f8e4m3[2, 3]");
    assert_eq!(described(&f8), "instruction `x` (parameter) of `c1`");
}

#[test]
fn modules_are_whole() {
    let x = instruction("x", "parameter", &scalar());
    let with = |fields: Vec<u8>| [instruction("y", "negate", &scalar()), fields].concat();
    let code = |instructions: &[Vec<u8>]| error(&module(&[computation(1, instructions)], 1)).code();
    let sound = module(&[computation(1, &[x.clone(), with(number(36, 1))])], 1);
    model_of("sound", &sound);
    assert_eq!(code(&[x.clone(), with(number(36, 7))]), "undefined");
    // An instruction that is its own operand.
    assert_eq!(code(&[x.clone(), with(number(36, 2))]), "undefined");
    assert_eq!(code(&[x.clone(), with(Vec::new())]), "wrong-count");
    assert_eq!(code(&[x.clone(), x.clone()]), "attribute");
    assert_eq!(code(&[instruction("c", "constant", &scalar())]), "elided-elements");
    let literal =
        |literal: &[u8]| [instruction("c", "constant", &scalar()), field(8, literal)].concat();
    assert_eq!(code(&[literal(b"")]), "wrong-element-count");
    assert_eq!(code(&[literal(&field(1, &field(3, &[2])))]), "type-mismatch");
    assert_eq!(code(&[literal(b"\x08")]), "damaged");
    let calls = [instruction("y", "call", &scalar()), number(36, 1), number(38, 1)].concat();
    assert_eq!(code(&[x.clone(), calls]), "undefined");
    assert_eq!(error(&module(&[computation(1, &[x])], 2)).code(), "undefined");
    assert_eq!(error(&module(&[], 1)).code(), "undefined");
}

#[test]
fn damaged_messages_give_an_error_or_a_program() {
    for name in ["everything.hlo.pb", "tuples.hlo.pb", "softmax.hlo.pb"] {
        let content = bytes(name);
        for end in 0..content.len() {
            read_without_panic(&content[..end]);
        }
        for place in 0..content.len() {
            let mut changed = content.clone();
            changed[place] ^= 1 << (place % 8);
            read_without_panic(&changed);
        }
    }
}

fn read_without_panic(content: &[u8]) {
    if let Ok(model) = read("changed.hlo.pb", content) {
        let types = model.inputs().iter().filter_map(|input| input.array_type());
        let types: Vec<_> = types.map(InputBinding::Type).collect();
        let _either_is_fine = model.build(&types).is_ok();
    }
}

#[test]
fn hostile_messages_end_quickly() {
    // Exponential expansion of calls.
    let parameter = instruction("x", "parameter", &scalar());
    let call = |operand: u64, called: u64| {
        [instruction("y", "call", &scalar()), number(36, operand), number(38, called)].concat()
    };
    let mut computations = vec![computation(0, std::slice::from_ref(&parameter))];
    for level in 1..100 {
        let calls = [parameter.clone(), call(1, level - 1), call(2, level - 1)];
        computations.push(computation(level, &calls));
    }
    assert_eq!(error(&module(&computations, 99)).code(), "limit");
    // Types nested deeper than any stack, and a type with more elements than memory can hold.
    let deep = (0..2000).fold(scalar(), |inner, _| [number(2, 13), field(4, &inner)].concat());
    let wide = [number(2, 13), field(4, b"").repeat(1_000_000)].concat();
    let huge = [number(2, 11), number(3, u64::MAX >> 1).repeat(2)].concat();
    let high = [number(2, 11), field(3, &[1; 100_000])].concat();
    for (shape, code) in [(deep, "limit"), (wide, "limit"), (huge, "too-large"), (high, "limit")] {
        let content = module(&[computation(1, &[instruction("x", "parameter", &shape)])], 1);
        assert_eq!(error(&content).code(), code);
    }
    // More instructions than the limit.
    let many = field(3, &field(2, b"").repeat(1_000_000));
    assert_eq!(error(&module(&[many], 1)).code(), "limit");
}
