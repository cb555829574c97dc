//! Metadata of models: kept in a written file of the same format, named in notes if it is dropped.

use indim::formats::{
    LoadedModel, ModelFormat, ReadOptions, SourceFile, WriteOptions, WrittenModel,
};

use crate::support::onnx::{FLOAT, Message, Model, floats, node, value};

/// The model as `format`, with the nodes that indim lacks copied if the format is its own.
fn written(source: &SourceFile, format: ModelFormat) -> WrittenModel {
    let options = ReadOptions::default();
    let write = |model: &LoadedModel| {
        let inputs = model.declared().unwrap_or_else(|error| panic!("{error}"));
        model.write(format, &inputs, &WriteOptions::default())
    };
    let loaded = LoadedModel::from_source(source.clone(), &options);
    let written = loaded.and_then(|model| write(&model)).or_else(|error| {
        let carrying = LoadedModel::carrying(source.clone(), &options, format, &error);
        carrying.expect("a model that is copied").and_then(|model| write(&model))
    });
    written.unwrap_or_else(|error| panic!("{error}"))
}

fn property(key: &str, value: &str) -> Message {
    Message::default().bytes(1, key).bytes(2, value)
}

/// `y = abs(x) * w`, by an operator that indim lacks or not, with properties of the model, the graph and both
/// nodes, and annotations of `x` and of the value between the nodes.
fn annotated(operator: &str) -> SourceFile {
    let own = |node: Message, key: &str| {
        [node.as_ref(), Message::default().bytes(9, property(key, "1")).as_ref()].concat()
    };
    let rows = Some(&["2", "3"][..]);
    let model = Model {
        opset: 18,
        inputs: vec![value("x", FLOAT, rows)],
        initializers: vec![floats("w", &[3], &[0.5, -1.0, 2.0])],
        outputs: vec![value("y", FLOAT, rows)],
        ..Model::default()
    };
    let nodes = [
        own(node("Abs", &["x"], &["inner"], &[]), "of-abs"),
        own(node(operator, &["inner", "w"], &["y"], &[]), "of-last"),
    ];
    let annotation =
        |name: &str| Message::default().bytes(1, name).bytes(2, property("SCALE_TENSOR", "w"));
    let graph = nodes.iter().fold(Message::default(), |graph, node| graph.bytes(1, node));
    let graph = graph.bytes(14, annotation("x")).bytes(14, annotation("inner"));
    let graph = graph.bytes(16, property("graph-key", "graph-value"));
    let fields = Message::default().bytes(7, graph).bytes(14, property("author", "Ada"));
    // Fields of a message that is appended join those of the one before.
    SourceFile::new("model.onnx", [model.encoded(), fields.as_ref().to_vec()].concat())
}

fn count(content: &[u8], text: &str) -> usize {
    content.windows(text.len()).filter(|part| *part == text.as_bytes()).count()
}

#[test]
fn onnx_keeps_its_properties_and_annotations() {
    let copy = written(&annotated("my.Foreign"), ModelFormat::Onnx);
    for (text, expected) in [("author", 1), ("Ada", 1), ("graph-value", 1), ("SCALE_TENSOR", 2)] {
        assert_eq!(count(&copy.content, text), expected, "{text}");
    }
    // The copied node keeps its properties; the other one is written anew.
    assert_eq!((count(&copy.content, "of-last"), count(&copy.content, "of-abs")), (1, 0));
    assert_eq!(copy.dropped, ["metadata_props of 1 node"]);
    assert_eq!(copy.carried.len(), 1);
    // A second copy has what the first one has.
    let again = written(&SourceFile::new("copy.onnx", copy.content), ModelFormat::Onnx);
    assert_eq!((count(&again.content, "Ada"), again.dropped), (1, vec![]));

    // Inner values have new names in a model that is written as a whole.
    let whole = written(&annotated("Mul"), ModelFormat::Onnx);
    assert_eq!((count(&whole.content, "Ada"), count(&whole.content, "graph-value")), (1, 1));
    let [annotations, nodes] = &whole.dropped[..] else { panic!("{:?}", whole.dropped) };
    assert!(annotations.starts_with("quantization_annotation of "), "{annotations}");
    assert_eq!(nodes, "metadata_props of 2 nodes");
}

#[test]
fn another_format_drops_metadata_and_names_it() {
    let other = written(&annotated("Mul"), ModelFormat::StableHlo);
    let expected = [
        "metadata_props of the model: author",
        "metadata_props of the graph: graph-key",
        "quantization_annotation of 2 values",
        "metadata_props of 2 nodes",
    ];
    assert_eq!(other.dropped, expected);
    assert!(written(&annotated("Mul"), ModelFormat::Onnx).warnings.is_empty());
}

/// A network of a layer that indim lacks behind one that it computes, with metadata of both and of the
/// network.
const NETWORK: &str = r#"<net name="n" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2,3" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></output></layer>
<layer id="1" name="a" type="Abs" version="opset1"><rt_info><attribute name="of_abs" value="1"/></rt_info>
<input><port id="0"><dim>2</dim><dim>3</dim></port></input>
<output><port id="1" precision="FP32"><dim>2</dim><dim>3</dim></port></output></layer>
<layer id="2" name="y" type="LAST" version="extension">
<rt_info><attribute name="of_last" value="1"/></rt_info>
<input><port id="0"><dim>2</dim><dim>3</dim></port></input>
<output><port id="1" precision="FP32"><dim>2</dim><dim>3</dim></port></output></layer>
<layer id="3" name="r" type="Result" version="opset1">
<input><port id="0"><dim>2</dim><dim>3</dim></port></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>
<edge from-layer="2" from-port="1" to-layer="3" to-port="0"/></edges>
<rt_info><author value="Ada"/></rt_info></net>"#;

#[test]
fn openvino_keeps_its_information() {
    let network = |last: &str| SourceFile::new("n.xml", NETWORK.replace("LAST", last));
    let copy = written(&network("Foreign"), ModelFormat::OpenVino);
    let counts = |written: &WrittenModel| {
        ["<author value=\"Ada\"/>", "of_last", "of_abs"].map(|text| count(&written.content, text))
    };
    assert_eq!(
        (counts(&copy), &copy.dropped[..]),
        ([1, 1, 0], &["rt_info of layers: 1".to_owned()][..])
    );
    let again = written(&SourceFile::new("n.xml", copy.content), ModelFormat::OpenVino);
    assert_eq!((counts(&again), &again.dropped[..]), ([1, 1, 0], &[][..]));

    let known = NETWORK.replace("extension", "opset1");
    let known = SourceFile::new("n.xml", known.replace("LAST", "Exp"));
    let whole = written(&known, ModelFormat::OpenVino);
    assert_eq!(
        (counts(&whole), &whole.dropped[..]),
        ([1, 0, 0], &["rt_info of layers: 2".to_owned()][..])
    );
    let other = written(&known, ModelFormat::Onnx);
    assert_eq!(other.dropped, ["rt_info of the network", "rt_info of layers: 2"]);
}
