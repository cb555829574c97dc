//! Models: the report is that of the command, few bytes are read, and hostile files are answered.

use std::path::PathBuf;

use indim::formats::{LintOptions, LintReport, SourceFile};
use indim_web::{MAX_RANGE_BYTES, ModelReader};
use serde_json::{Value, json};

/// A file of a user.
type Given<'g> = (&'g str, &'g [u8]);

/// Opens a model with the files next to it. Returns the last answer, and the number of bytes read.
fn open(reader: &mut ModelReader, files: &[Given<'_>]) -> (Value, usize) {
    let described = |(name, bytes): &Given<'_>| json!({"name": name, "bytes": bytes.len()});
    let mut request = described(&files[0]);
    request["others"] = files[1..].iter().map(described).collect();
    let mut answer = read(&reader.open(&request.to_string()));
    let mut bytes_read = 0;
    while let Some(wanted) = answer.get("wanted") {
        let (_, bytes) =
            files.iter().find(|(name, _)| wanted["file"] == *name).expect("a given file");
        let number = |name: &str| wanted[name].as_u64().expect("a number") as usize;
        let bytes = &bytes[number("start")..number("end")];
        assert!((1..=MAX_RANGE_BYTES).contains(&bytes.len()), "{}", bytes.len());
        bytes_read += bytes.len();
        answer = read(&reader.give(bytes));
    }
    (answer, bytes_read)
}

fn opened(name: &str, bytes: &[u8]) -> Value {
    open(&mut ModelReader::default(), &[(name, bytes)]).0
}

fn read(answer: &str) -> Value {
    serde_json::from_str(answer).expect("an answer is JSON")
}

fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The models of the site, and a protobuf of HLO.
fn samples() -> Vec<(String, Vec<u8>)> {
    let folder = std::fs::read_dir(repository("site/models")).expect("the examples of the site");
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.expect("an entry").path()).collect();
    paths.push(repository("crates/indim/tests/formats/hlo_proto/softmax.hlo.pb"));
    let name = |path: &PathBuf| path.file_name().expect("a name").to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), std::fs::read(path).expect("a file"))).collect()
}

/// A protobuf field of bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length > 0x7f {
        field.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    field.push(length as u8);
    [field, bytes.to_vec()].concat()
}

/// ONNX with a constant `w` of type `f32[count]` in `raw` bytes, which `Relu` takes.
fn onnx(count: u8, raw: &[u8]) -> Vec<u8> {
    let tensor = [&[0x08, count, 0x10, 1][..], &field(8, b"w"), &field(9, raw)].concat();
    let node = [field(1, b"w"), field(2, b"y"), field(4, b"Relu")].concat();
    let output = [field(1, b"y"), field(2, &field(1, &[0x08, 1]))].concat();
    let graph = [field(1, &node), field(5, &tensor), field(12, &output)].concat();
    [vec![0x08, 8], field(7, &graph), field(8, &[0x10, 17])].concat()
}

#[test]
fn the_report_is_that_of_the_command() {
    let formats: Vec<String> = samples()
        .iter()
        .map(|(name, bytes)| {
            let mut reader = ModelReader::default();
            let (answer, _) = open(&mut reader, &[(name, bytes)]);
            let source = SourceFile::new(&**name, bytes.clone());
            let report = LintReport::new(source, &LintOptions::new()).expect("a model");
            let text =
                |form: &str| read(&reader.text(&json!({"form": form}).to_string()))["text"].clone();
            assert_eq!(text("text"), report.to_string());
            assert_eq!(
                (text("html"), text("svg")),
                (report.to_html().into(), report.to_svg().into())
            );
            assert_eq!(answer["nodes"], report.outline().nodes.len());
            assert_eq!(
                answer["findings"].as_array().expect("a list").len(),
                report.findings().len()
            );
            answer["format"].as_str().expect("a name").to_owned()
        })
        .collect();
    for format in ["onnx", "openvino", "stablehlo", "hlo"] {
        assert!(formats.iter().any(|found| found == format), "no sample of {format}");
    }
}

/// A model with an illegal node opens in each format, and the node is marked.
#[test]
fn illegal_models_of_each_format_are_opened() {
    let stablehlo = "func.func @main(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
%0 = stablehlo.negate %x : tensor<4x8xf32>
%1 = stablehlo.add %0, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
return %1 : tensor<4x8xf32>
}";
    let hlo = "HloModule m

ENTRY main {
  x = f32[4,8] parameter(0)
  b = f32[8] parameter(1)
  a = f32[4,8] negate(x)
  ROOT y = f32[4,8] add(a, b)
}
";
    // The order of the axes of the `Transpose` is read from the external file.
    let ir = NETWORK.replace("<dim>3</dim><dim>-1</dim>", "<dim>7</dim><dim>3</dim>");
    let ir = ir.replace("<dim>-1</dim><dim>3</dim>", "<dim>2</dim><dim>3</dim>");
    let order = [[0u8; 8], 1i64.to_le_bytes(), 0i64.to_le_bytes()].concat();
    let files: [(&[Given<'_>], usize); 3] = [
        (&[("m.mlir", stablehlo.as_bytes())], 1),
        (&[("m.hlo", hlo.as_bytes())], 1),
        (&[("m.xml", ir.as_bytes()), ("m.bin", &order)], 1),
    ];
    for (files, illegal) in files {
        let mut reader = ModelReader::default();
        let (answer, _) = open(&mut reader, files);
        assert_eq!(
            (&answer["ok"], &answer["findings"][0]["node"]),
            (&true.into(), &illegal.into())
        );
        let nodes = read(&reader.nodes(r#"{"first": 0, "count": 500}"#));
        let marks = nodes["nodes"].as_array().expect("a list").iter().map(|it| &it["is_illegal"]);
        assert_eq!(marks.collect::<Vec<_>>(), [&json!(false), &json!(true)], "{nodes}");
        let svg = read(&reader.text(r#"{"form": "svg"}"#));
        assert!(svg["text"].as_str().unwrap().contains("<rect class=\"illegal\""), "{svg}");
    }
}

#[test]
fn nodes_are_described_and_found() {
    let (name, bytes) =
        samples().into_iter().find(|(name, _)| name == "bias.onnx").expect("the example");
    let mut reader = ModelReader::default();
    let (answer, _) = open(&mut reader, &[(&name, &bytes)]);
    let counts = json!({"legal": 0, "illegal": 1, "legal_if": 0, "unknown": 0});
    assert_eq!((&answer["counts"], &answer["nodes"]), (&counts, &json!(3)));
    let finding = &answer["findings"][0];
    assert_eq!((&finding["code"], &finding["node"]), (&json!("size-mismatch"), &json!(1)));
    assert_eq!(finding["repair"], "reshape conv1.bias to f32[16, 1, 1]");
    let nodes = read(&reader.nodes(r#"{"first": 1, "count": 500}"#));
    assert_eq!((&nodes["first"], nodes["nodes"].as_array().unwrap().len()), (&json!(1), 2));
    assert_eq!(
        (&nodes["nodes"][0]["label"], &nodes["nodes"][0]["is_illegal"]),
        (&json!("/conv1/bias/Add"), &json!(true))
    );
    assert_eq!(nodes["nodes"][1]["is_illegal"], false);
    let found =
        |text: &str| read(&reader.search(&json!({"text": text}).to_string()))["found"].clone();
    assert_eq!(found("CONV1.BIAS"), json!([1]));
    assert_eq!(found("f32[N, 16"), json!([0, 1, 2]));
    assert_eq!(found("nothing"), json!([]));
    let node = read(&reader.node(r#"{"node": 1}"#));
    assert_eq!(
        node["operands"],
        json!(["/Conv_output_0: f32[N, 16, 8, 8]", "conv1.bias: f32[16]"])
    );
    assert!(node["verdicts"].as_str().unwrap().contains("numpy: illegal"), "{node}");
    for request in [r#"{"node": 3}"#, r#"{"node": -1}"#, "{}", "", "["] {
        assert_eq!(read(&reader.node(request))["code"], "bad-request");
    }
    assert_eq!(read(&reader.text(r#"{"form": "exe"}"#))["code"], "bad-request");
    assert_eq!(
        read(&reader.search(&json!({"text": "x".repeat(201)}).to_string()))["code"],
        "bad-request"
    );
}

#[test]
fn broadcasts_of_open_sizes_are_drawn() {
    let input = |name: &[u8], sizes: &[Vec<u8>]| {
        let sizes: Vec<u8> = sizes.iter().flat_map(|size| field(1, size)).collect();
        let array = [vec![0x08, 1], field(2, &sizes)].concat();
        field(11, &[field(1, name), field(2, &field(1, &array))].concat())
    };
    let (n, three) = (field(2, b"N"), vec![0x08, 3]);
    let node = [field(1, b"x"), field(1, b"v"), field(2, b"y"), field(4, b"Add")].concat();
    let inputs = [input(b"x", &[n, three.clone()]), input(b"v", &[three])].concat();
    let graph = [field(1, &node), inputs].concat();
    let file = [vec![0x08, 8], field(7, &graph), field(8, &[0x10, 17])].concat();
    let mut reader = ModelReader::default();
    let (answer, _) = open(&mut reader, &[("m.onnx", &file)]);
    assert_eq!(answer["counts"]["legal"], 1, "{answer}");
    let node = read(&reader.node(r#"{"node": 0}"#));
    let rows = &node["broadcasts"][0]["picture"]["rows"];
    assert_eq!(rows[1]["cells"][0]["text"], "× N", "{node}");
    assert_eq!(rows[1]["cells"][1]["says"], "axis 0 of size 3, kept", "{node}");
    assert_eq!((&rows[2]["shape"], &rows[2]["is_result"]), (&json!("[N, 3]"), &json!(true)));
}

#[test]
fn weights_are_not_read() {
    let file = onnx(0, &[]);
    assert_eq!(opened("m.onnx", &file)["skipped"]["count"], 0);
    let raw = vec![7; 40_000_000];
    let tensor =
        [&[0x08, 0x80, 0xad, 0xe2, 0x04, 0x10, 1][..], &field(8, b"w"), &field(9, &raw)].concat();
    let graph = field(5, &tensor);
    let file = [vec![0x08, 8], field(7, &graph), field(8, &[0x10, 17])].concat();
    let (answer, bytes_read) = open(&mut ModelReader::default(), &[("m.onnx", &file)]);
    assert_eq!(answer["skipped"], json!({"count": 1, "bytes": 40_000_000}), "{answer}");
    assert!(bytes_read < 1_000_000, "{bytes_read}");
    // As for the command, the number of bytes must fit the type.
    let wrong = opened("m.onnx", &onnx(3, &[7; 100_000]));
    assert_eq!(wrong["code"], "wrong-element-count");
    let report =
        LintReport::new(SourceFile::new("m.onnx", onnx(3, &[7; 100_000])), &LintOptions::new());
    assert_eq!(wrong["text"], report.unwrap_err().diagnostic().to_string());
}

/// An IR with a `Transpose` whose order of axes is in the external file.
const NETWORK: &str = r#"<net name="n" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="?,3" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>-1</dim><dim>3</dim></port></output></layer>
<layer id="1" name="order" type="Const" version="opset1">
<data element_type="i64" shape="2" offset="8" size="16"/>
<output><port id="0" precision="I64"><dim>2</dim></port></output></layer>
<layer id="2" name="turned" type="Transpose" version="opset1">
<input><port id="0" precision="FP32"><dim>-1</dim><dim>3</dim></port>
<port id="1" precision="I64"><dim>2</dim></port></input>
<output><port id="2" precision="FP32"><dim>3</dim><dim>-1</dim></port></output></layer>
<layer id="3" name="r" type="Result" version="opset1">
<input><port id="0"><dim>3</dim><dim>-1</dim></port></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/></edges></net>"#;

#[test]
fn external_files_are_read_in_part() {
    let mut constants = vec![0; 1_000_000];
    constants[8..24].copy_from_slice(&[[1i64.to_le_bytes(), 0i64.to_le_bytes()]].concat().concat());
    let outputs = |files: &[Given<'_>]| {
        let (answer, bytes_read) = open(&mut ModelReader::default(), files);
        assert_eq!(answer["ok"], true, "{answer}");
        (answer["outputs"].clone(), bytes_read)
    };
    let xml = ("m.xml", NETWORK.as_bytes());
    let (with_constants, bytes_read) = outputs(&[xml, ("m.bin", &constants)]);
    let (without, bytes_without) = outputs(&[xml]);
    assert_eq!(bytes_read, bytes_without + 16, "one short list is read");
    // With the order of the axes, the open size of the result is that of the operand.
    assert_ne!(with_constants, without);
    // A file of another name, and one that is too short, change nothing.
    assert_eq!(outputs(&[xml, ("other.bin", &constants)]).0, without);
    assert_eq!(outputs(&[xml, ("m.bin", &constants[..20])]).0, without);
}

#[test]
fn what_is_no_model_is_refused() {
    let mut reader = ModelReader::default();
    for request in
        ["", "{}", "[]", r#"{"name": "m", "bytes": -1}"#, r#"{"name": "m", "bytes": 1, "x": 2}"#]
    {
        assert_eq!(read(&reader.open(request))["code"], "bad-request");
        assert_eq!(read(&reader.give(b""))["code"], "bad-request");
    }
    for request in [reader.nodes(r#"{"first":0,"count":1}"#), reader.search(r#"{"text":"x"}"#)] {
        assert_eq!(read(&request)["code"], "bad-request");
    }
    for (bytes, code) in [
        (&b""[..], "unknown-format"),
        (b"\x93NUMPY\x01\x00", "unknown-format"),
        (b"ML\xefR\x00", "unknown-format"),
        (b"hello", "unknown-format"),
        (b"\x08\x08\x3a\xff\xff\xff\x7f", "damaged"),
        (b"func.func @main(", "unexpected"),
        (b"<net", "damaged"),
    ] {
        let answer = opened("m", bytes);
        assert_eq!((&answer["ok"], &answer["code"]), (&json!(false), &json!(code)), "{answer}");
    }
    // A file of terabytes is refused by its beginning.
    let huge = json!({"name": "m.mlir", "bytes": 1u64 << 42}).to_string();
    reader.open(&huge);
    let text = [&b"module {"[..], &vec![b' '; (1 << 16) - 8]].concat();
    let answer = read(&reader.give(&text));
    assert_eq!(answer["code"], "limit", "{answer}");
    assert!(answer["text"].as_str().unwrap().contains("67108864"), "{answer}");
    // The page gave other bytes than were wanted.
    reader.open(r#"{"name": "m.mlir", "bytes": 10}"#);
    assert_eq!(read(&reader.give(b"module"))["code"], "bad-request");
    assert_eq!(read(&reader.give(b"module {}."))["code"], "bad-request", "the file is closed");
}

#[test]
fn deep_files_are_refused() {
    let deep = format!("module {{ {} }}", "\"a.b\"() ({ ".repeat(5000));
    assert_eq!(opened("m.mlir", deep.as_bytes())["code"], "limit");
    let deep = "<a>".repeat(5000);
    assert_eq!(opened("m.xml", deep.as_bytes())["ok"], false);
}

/// Any cut and any change of the samples is answered.
#[test]
fn damaged_files_are_answered() {
    for (name, bytes) in samples() {
        let step = bytes.len() / 150 + 1;
        for place in (0..bytes.len()).step_by(step) {
            opened(&name, &bytes[..place]);
            for byte in [0x00, 0x7f, 0xff, b'<', b'9'] {
                let mut changed = bytes.clone();
                changed[place] = byte;
                assert!(opened(&name, &changed)["ok"].is_boolean());
            }
        }
    }
}
