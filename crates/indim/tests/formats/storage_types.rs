//! Storage types in model files: elements that are packed, literals, and conversions that saturate.

use crate::support;
use crate::support::ir::Network;
use crate::support::onnx::{FLOAT, Message, Model, int, node, tensor, value};
use indim_graph::Array;
use indim_ops::elements::*;

const UINT4: i64 = 21;
const INT4: i64 = 22;

/// The results of an ONNX model of opset 21 without inputs.
fn constants(initializers: Vec<Message>, nodes: Vec<Message>, outputs: &[&str]) -> Vec<Array> {
    let outputs = outputs.iter().map(|name| Message::default().bytes(1, name)).collect();
    let model = Model { opset: 21, initializers, nodes, outputs, ..Model::default() };
    let model = support::read("test.onnx", model.encoded()).unwrap();
    support::run(&*model, &[]).unwrap()
}

/// The code of the error of a model without inputs.
fn code(name: &str, content: &[u8]) -> Option<&'static str> {
    let run = support::read(name, content).and_then(|model| support::run(&*model, &[]));
    run.err().map(|error| error.code())
}

#[test]
fn onnx_packs_two_integers_of_4_bits_in_a_byte() {
    // The first has the low bits; of an odd number of elements the last byte has one.
    let raw = tensor("raw", INT4, &[3]).bytes(9, [0x8f, 0x07]);
    let typed = tensor("typed", UINT4, &[3]).packed(5, &[0x8f, 0x07]);
    let cast = |from, to| node("Cast", &[from], &[to], &[int("to", 6)]);
    let found =
        constants(vec![raw, typed], vec![cast("raw", "a"), cast("typed", "b")], &["a", "b"]);
    assert_eq!(found[0].elements::<i32>().unwrap(), [-1, -8, 7]);
    assert_eq!(found[1].elements::<i32>().unwrap(), [15, 8, 7]);
    let short = Model {
        opset: 21,
        initializers: vec![tensor("raw", INT4, &[3]).bytes(9, [0x8f])],
        nodes: vec![cast("raw", "a")],
        outputs: vec![Message::default().bytes(1, "a")],
        ..Model::default()
    };
    assert_eq!(code("test.onnx", &short.encoded()), Some("wrong-element-count"));
}

/// The table of ONNX's operator `Cast`, for each type and `saturate`.
#[test]
fn onnx_casts_saturate_or_overflow() {
    let numbers = [1e9f32, -1e9, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -0.0, 0.1];
    // The bits of the results, with and without saturation.
    let cases: [(i64, [u8; 7], [u8; 7]); 4] = [
        (
            17,
            [0x7e, 0xfe, 0x7e, 0xfe, 0x7f, 0x80, 0x1d],
            [0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x80, 0x1d],
        ),
        (
            18,
            [0x7f, 0xff, 0x80, 0x80, 0x80, 0x00, 0x25],
            [0x80, 0x80, 0x80, 0x80, 0x80, 0x00, 0x25],
        ),
        (
            19,
            [0x7b, 0xfb, 0x7b, 0xfb, 0x7e, 0x80, 0x2e],
            [0x7c, 0xfc, 0x7c, 0xfc, 0x7e, 0x80, 0x2e],
        ),
        (
            20,
            [0x7f, 0xff, 0x80, 0x80, 0x80, 0x00, 0x32],
            [0x80, 0x80, 0x80, 0x80, 0x80, 0x00, 0x32],
        ),
    ];
    let x = Array::new([7], numbers.to_vec()).unwrap();
    for (to, saturated, overflowed) in cases {
        let results = |attributes: &[Message]| {
            let model = Model::of_node(19, "Cast", &[FLOAT], attributes, 1).encoded();
            let model = support::read("test.onnx", model).unwrap();
            support::run(&*model, std::slice::from_ref(&x)).unwrap()[0].to_le_bytes()
        };
        assert_eq!(results(&[int("to", to)]), saturated, "{to}");
        assert_eq!(results(&[int("to", to), int("saturate", 0)]), overflowed, "{to}");
    }
}

#[test]
fn onnx_quantizes_to_storage_types_and_back() {
    let quantize = |to: i64| {
        let nodes = vec![
            node("QuantizeLinear", &["x", "scale"], &["q"], &[int("output_dtype", to)]),
            node("DequantizeLinear", &["q", "scale"], &["y"], &[]),
        ];
        let model = Model {
            opset: 21,
            inputs: vec![value("x", FLOAT, None), value("scale", FLOAT, None)],
            nodes,
            outputs: vec![Message::default().bytes(1, "q"), Message::default().bytes(1, "y")],
            ..Model::default()
        };
        let model = support::read("test.onnx", model.encoded()).unwrap();
        let x = Array::new([4], vec![0.3f32, -1.0, 100.0, -100.0]).unwrap();
        support::run(&*model, &[x, Array::from_scalar(0.5f32)]).unwrap()
    };
    let [q, y] = &quantize(INT4)[..] else { panic!("two results") };
    assert_eq!(q.elements::<i4>().unwrap(), [1, 14, 7, 8].map(i4::from_bits));
    assert_eq!(y.elements::<f32>().unwrap(), [0.5, -1.0, 3.5, -4.0]);
    let [q, y] = &quantize(17)[..] else { panic!("two results") };
    assert_eq!(
        q.elements::<f8e4m3fn>().unwrap(),
        [0.6, -2.0, 200.0, -200.0].map(f8e4m3fn::from_f64)
    );
    assert_eq!(y.elements::<f32>().unwrap(), [0.3125, -1.0, 96.0, -96.0]);
}

#[test]
fn openvino_packs_two_integers_of_4_bits_in_a_byte() {
    let mut network = Network::default();
    network.constants = vec![0x8f, 0x07, 0x38, 0x40];
    let constant = |network: &mut Network, element, port, shape, offset, size| {
        let attributes = format!(
            "element_type=\"{element}\" shape=\"{shape}\" offset=\"{offset}\" size=\"{size}\""
        );
        let id = network.add("Const-1", &attributes, &[], &[&format!("{port} {shape}")]);
        let converted = network.add(
            "Convert-1",
            "destination_type=\"f32\"",
            &[&id.to_string()],
            &[&format!("FP32 {shape}")],
        );
        network.result(&converted.to_string());
    };
    constant(&mut network, "i4", "I4", 3, 0, 2);
    constant(&mut network, "u4", "U4", 3, 0, 2);
    constant(&mut network, "f8e4m3", "F8E4M3", 2, 2, 2);
    constant(&mut network, "f8e5m2", "F8E5M2", 2, 2, 2);
    let found = support::run(&*network.read().unwrap(), &[]).unwrap();
    let found: Vec<&[f32]> = found.iter().map(|array| array.elements().unwrap()).collect();
    assert_eq!(found, [&[-1.0, -8.0, 7.0][..], &[15.0, 8.0, 7.0], &[1.0, 2.0], &[0.5, 2.0]]);
}

#[test]
fn texts_have_decimals_and_bits() {
    let stablehlo = "func.func @main() -> \
        (tensor<3xf8E4M3FN>, tensor<2xf8E5M2>, tensor<3xi4>, tensor<2xui4>) {\n  \
        %a = stablehlo.constant dense<[0.1, -448.0, 0x7F]> : tensor<3xf8E4M3FN>\n  \
        %b = stablehlo.constant dense<[0x7C, 1.0]> : tensor<2xf8E5M2>\n  \
        %c = stablehlo.constant dense<[-8, 7, -1]> : tensor<3xi4>\n  \
        %d = stablehlo.constant dense<[15, 0]> : tensor<2xui4>\n  \
        return %a, %b, %c, %d : tensor<3xf8E4M3FN>, tensor<2xf8E5M2>, tensor<3xi4>, tensor<2xui4>\n}\n";
    let hlo = "HloModule m\n\nENTRY main {\n  \
        a = f8e4m3fn[3]{0} constant({0.1, -448, nan})\n  b = f8e5m2[2]{0} constant({inf, 1})\n  \
        c = s4[3]{0} constant({-8, 7, -1})\n  d = u4[2]{0} constant({15, 0})\n  \
        ROOT t = (f8e4m3fn[3]{0}, f8e5m2[2]{0}, s4[3]{0}, u4[2]{0}) tuple(a, b, c, d)\n}\n";
    for text in [stablehlo, hlo] {
        let model = support::read("text", text).unwrap_or_else(|error| panic!("{error}"));
        let found = support::run(&*model, &[]).unwrap();
        let bytes: Vec<Vec<u8>> = found.iter().map(Array::to_le_bytes).collect();
        assert_eq!(bytes, [vec![0x1d, 0xfe, 0x7f], vec![0x7c, 0x3c], vec![8, 7, 15], vec![15, 0]]);
    }
    for wrong in ["8", "-9"] {
        let text = stablehlo.replace("[-8, 7, -1]", &format!("[{wrong}, 7, -1]"));
        // An `i4` may be written with all its bits: 8 is -8.
        assert_eq!(code("text", text.as_bytes()), (wrong == "-9").then_some("bad-element"));
        let text = hlo.replace("{-8, 7, -1}", &format!("{{{wrong}, 7, -1}}"));
        assert_eq!(code("text", text.as_bytes()), Some("bad-element"), "{wrong}");
    }
    let overflow = hlo.replace("-448", "-1e9");
    assert_eq!(code("text", overflow.as_bytes()), Some("bad-element"));
}
