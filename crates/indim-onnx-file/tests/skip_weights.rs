//! Copies of ONNX files without their large constants: other parts stay, also damage, and few bytes are read.

use bytes::Bytes;
use indim_onnx_file::messages::{
    AttributeProto, GraphProto, ModelProto, NodeProto, StringStringEntryProto, TensorProto,
};
use indim_onnx_file::{SkippedModel, WeightSkipper};
use prost::Message as _;

/// Gives a skipper the ranges that it wants; returns the result and the number of bytes it read.
fn skip(file: &[u8]) -> (SkippedModel, usize) {
    let mut skipper = WeightSkipper::new("m.onnx", file.len() as u64);
    let mut read = 0;
    while let Some(range) = skipper.wanted() {
        let bytes = &file[range.start as usize..range.end as usize];
        skipper.give(bytes).expect("the rest is small");
        read += bytes.len();
        assert!(read <= 3 * file.len() + (1 << 20), "the ranges end");
    }
    (skipper.finish(), read)
}

fn tensor(name: &str, raw: Vec<u8>) -> TensorProto {
    let dims = vec![raw.len() as i64 / 4];
    TensorProto {
        name: name.to_owned(),
        dims,
        data_type: 1,
        raw_data: Some(raw.into()),
        ..TensorProto::default()
    }
}

fn encoded(message: &impl prost::Message) -> Bytes {
    message.encode_to_vec().into()
}

/// A model with these constants, and a node whose attribute is the last one.
fn model(tensors: &[TensorProto]) -> ModelProto {
    let value = AttributeProto {
        name: "value".to_owned(),
        t: tensors.last().cloned(),
        ..Default::default()
    };
    let node = NodeProto {
        op_type: "Constant".to_owned(),
        output: vec!["c".to_owned()],
        attribute: vec![value],
        ..NodeProto::default()
    };
    let graph = GraphProto {
        name: "g".to_owned(),
        node: vec![encoded(&node)],
        initializer: tensors.iter().map(encoded).collect(),
        ..GraphProto::default()
    };
    ModelProto { ir_version: 8, graph: Some(graph), ..ModelProto::default() }
}

fn decoded(skipped: &SkippedModel) -> GraphProto {
    let model = ModelProto::decode(&*skipped.content).expect("a model");
    assert_eq!(model.ir_version, 8);
    model.graph.expect("a graph")
}

fn entry<'t>(tensor: &'t TensorProto, key: &str) -> Option<&'t str> {
    let entries = tensor.external_data.iter();
    entries.clone().find(|entry| entry.key == key).map(|entry| entry.value.as_str())
}

#[test]
fn large_constants_are_not_read() {
    let numbers: Vec<u8> = (0..4_000_000u32).flat_map(|number| number.to_le_bytes()).collect();
    let tensors = [tensor("small", vec![7; 64]), tensor("weights", numbers.clone())];
    let file = model(&tensors).encode_to_vec();
    let (skipped, read) = skip(&file);
    assert_eq!((skipped.constants, skipped.constant_bytes), (2, 32_000_000));
    assert!(read < 2_000_000 && skipped.content.len() < 1000, "{read}");
    let graph = decoded(&skipped);
    assert_eq!(TensorProto::decode(graph.initializer[0].clone()), Ok(tensors[0].clone()));
    let node = NodeProto::decode(graph.node[0].clone()).expect("a node");
    assert_eq!((&*node.op_type, &*node.output[0]), ("Constant", "c"));
    let in_node = node.attribute[0].t.clone().expect("a tensor");
    let in_graph = TensorProto::decode(graph.initializer[1].clone()).expect("a tensor");
    for tensor in [in_graph, in_node] {
        assert_eq!(
            (tensor.raw_data, tensor.dims, tensor.data_location),
            (None, vec![4_000_000], 1)
        );
    }
    let in_graph = TensorProto::decode(graph.initializer[1].clone()).expect("a tensor");
    assert_eq!(
        (entry(&in_graph, "location"), entry(&in_graph, "length")),
        (Some("m.onnx"), Some("16000000"))
    );
    let offset: usize =
        entry(&in_graph, "offset").and_then(|it| it.parse().ok()).expect("an offset");
    assert_eq!(file[offset..offset + 16_000_000], numbers);
}

#[test]
fn typed_elements_are_skipped_and_external_ones_stay() {
    let floats = TensorProto {
        float_data: vec![1.5; 100_000],
        raw_data: None,
        ..tensor("f", vec![0; 400_000])
    };
    let at = |key: &str, value: &str| StringStringEntryProto {
        key: key.to_owned(),
        value: value.to_owned(),
    };
    let external = TensorProto {
        data_location: 1,
        external_data: vec![at("location", "w.bin"), at("offset", "4")],
        ..tensor("e", vec![0; 100_000])
    };
    let skipped = skip(&model(&[floats, external]).encode_to_vec()).0;
    assert!(skipped.has_typed_elements);
    assert!(!skip(&model(&[tensor("w", vec![0; 400_000])]).encode_to_vec()).0.has_typed_elements);
    let graph = decoded(&skipped);
    let [floats, external] = [0, 1]
        .map(|index| TensorProto::decode(graph.initializer[index].clone()).expect("a tensor"));
    assert_eq!((floats.float_data.len(), entry(&floats, "length")), (0, None));
    assert_eq!((entry(&floats, "location"), floats.data_location), (Some("m.onnx"), 1));
    assert_eq!((entry(&external, "location"), external.external_data.len()), (Some("w.bin"), 2));
}

#[test]
fn files_without_large_constants_stay_as_they_are() {
    let file = model(&[tensor("small", vec![7; 64])]).encode_to_vec();
    assert_eq!(skip(&file).0, SkippedModel { content: file, ..SkippedModel::default() });
    // The second raw field of a message replaces the first one.
    let mut twice = tensor("w", vec![1; 100_000]).encode_to_vec();
    let second = TensorProto { raw_data: Some(vec![2; 8].into()), ..TensorProto::default() };
    twice.extend(second.encode_to_vec());
    let graph = GraphProto { initializer: vec![twice.into()], ..GraphProto::default() };
    let file = ModelProto { ir_version: 8, graph: Some(graph), ..ModelProto::default() };
    let kept = decoded(&skip(&file.encode_to_vec()).0);
    let kept = TensorProto::decode(kept.initializer[0].clone()).expect("a tensor");
    assert_eq!((kept.raw_data.as_deref(), kept.data_location), (Some(&[2; 8][..]), 0));
}

#[test]
fn a_file_that_is_large_without_constants_is_refused() {
    let graph = GraphProto { node: vec![vec![0; 1 << 16].into(); 1100], ..GraphProto::default() };
    let file = ModelProto { graph: Some(graph), ..ModelProto::default() }.encode_to_vec();
    let mut skipper = WeightSkipper::new("m.onnx", file.len() as u64);
    let refused = loop {
        let range = skipper.wanted().expect("the limit is reached before the end");
        match skipper.give(&file[range.start as usize..range.end as usize]) {
            Ok(()) => {}
            Err(error) => break error,
        }
    };
    assert_eq!(refused.code(), "limit");
}

/// Any change or cut gives a result that decodes exactly if the file does.
#[test]
fn damage_stays_damage() {
    let file = model(&[tensor("w", vec![1; 70_000])]).encode_to_vec();
    let decodes = |bytes: &[u8]| ModelProto::decode(bytes).is_ok();
    // Bytes of the elements need no test, only those around them.
    let places = (0..60).chain(69_990..70_120).chain(file.len() - 60..file.len());
    for place in places {
        assert_eq!(
            decodes(&skip(&file[..place]).0.content),
            decodes(&file[..place]),
            "cut {place}"
        );
        for byte in [0x00, 0x08, 0x0a, 0x7f, 0x80, 0xff] {
            let mut changed = file.clone();
            changed[place] = byte;
            let (skipped, _) = skip(&changed);
            let is_group = ModelProto::decode(&*changed).is_ok() && skipped.content.is_empty();
            assert!(!is_group, "{place} {byte}");
            let (found, expected) = (decodes(&skipped.content), decodes(&changed));
            assert!(found || !expected, "{place}: {byte} is damage for the skipper alone");
        }
    }
}

/// The place of skipped elements is not part of a field whose length is too large.
#[test]
fn damage_after_skipped_elements_stays_damage() {
    for missing in 1..100 {
        let mut damaged = tensor("w", vec![1; 70_000]).encode_to_vec();
        // A name of `missing + 2` bytes, of which the tensor has 2.
        damaged.extend([8 << 3 | 2, missing + 2, b'a', b'b']);
        let graph = GraphProto { initializer: vec![damaged.into()], ..GraphProto::default() };
        let file = ModelProto { graph: Some(graph), ..ModelProto::default() }.encode_to_vec();
        let (skipped, _) = skip(&file);
        let graph = ModelProto::decode(&*skipped.content).expect("a model").graph.expect("a graph");
        assert!(TensorProto::decode(graph.initializer[0].clone()).is_err(), "{missing}");
        assert_eq!(skipped.constants, 1);
    }
}

#[test]
fn long_strings_stay() {
    let strings = TensorProto {
        string_data: vec![vec![b'a'; 100_000].into(), Bytes::from_static(b"b")],
        raw_data: None,
        ..tensor("s", vec![0; 8])
    };
    let file = model(&[strings]).encode_to_vec();
    assert_eq!(skip(&file).0.content, file);
}

#[test]
fn nested_messages_end() {
    // Graphs in attributes of nodes, 100 deep around one large constant.
    let mut graph = GraphProto {
        initializer: vec![encoded(&tensor("w", vec![1; 70_000]))],
        ..Default::default()
    };
    for _ in 0..100 {
        let body = AttributeProto { g: Some(encoded(&graph)), ..AttributeProto::default() };
        let node = NodeProto { attribute: vec![body], ..NodeProto::default() };
        graph = GraphProto { node: vec![encoded(&node)], ..GraphProto::default() };
    }
    let file = ModelProto { ir_version: 8, graph: Some(graph), ..ModelProto::default() };
    let (skipped, _) = skip(&file.encode_to_vec());
    assert_eq!(skipped.content, file.encode_to_vec(), "deep messages are copied");
}
