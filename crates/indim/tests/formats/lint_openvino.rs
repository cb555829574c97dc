//! Findings about networks of OpenVINO: axes of pdpd, broadcasts onto a target, networks within layers.

use indim::formats::{LintOptions, LintReport, SourceFile, VerdictCounts};

use crate::lint::{found, lint};
use crate::support::ir::{Network, source};

/// A network of one layer on two parameters.
fn two_operands(operation: &str, attributes: &str, shapes: [&str; 2]) -> LintReport {
    let mut network = Network::default();
    for shape in shapes {
        network.parameter("f32", shape, &format!("FP32 {}", shape.replace(',', " ")));
    }
    let result = format!("FP32 {}", shapes[0].replace(',', " "));
    let id = network.add(operation, attributes, &["0", "1"], &[&result]);
    network.result(&id.to_string());
    lint("two.xml", network.text())
}

#[test]
fn axes_of_pdpd_that_openvino_reads_differently_are_suspicious() {
    let codes = |operation: &str, attributes: &str, second: &str| {
        let report = two_operands(operation, attributes, ["4,7,3", second]);
        report.findings().iter().map(|it| it.code.as_str()).collect::<Vec<_>>()
    };
    let pdpd = "auto_broadcast=\"pdpd\"";
    let with_axis = |rule: &str, axis: u8| {
        format!("auto_broadcast=\"{rule}\" auto_broadcast.auto_broadcast_axis=\"{axis}\"")
    };
    assert_eq!(codes("Add-1", pdpd, "3"), ["pdpd-axis"]);
    assert_eq!(codes("Add-1", pdpd, "4,7,3"), [""; 0]);
    assert_eq!(codes("Add-1", &with_axis("pdpd", 2), "3"), [""; 0]);
    assert_eq!(codes("Add-1", &with_axis("pdpd", 1), "7"), [""; 0]);
    // OpenVINO refuses comparisons whose axis matters.
    assert_eq!(codes("Greater-1", &with_axis("pdpd", 0), "4,7"), ["pdpd-axis"]);
    assert_eq!(codes("Greater-1", &with_axis("pdpd", 2), "3"), [""; 0]);
    // The rule numpy has no axis.
    assert_eq!(codes("Add-1", &with_axis("numpy", 1), "7,3"), [""; 0]);
    assert_eq!(codes("Add-1", &with_axis("numpy", 0), "3"), [""; 0]);
    assert_eq!(codes("Add-1", &with_axis("numpy", 1), "3"), [""; 0]);
    let report = two_operands("Add-1", &with_axis("numpy", 0), ["5,5", "5"]);
    assert_eq!(found(&report)[0].0, "pdpd-axis");
    let report = two_operands("Add-1", pdpd, ["4,7,3", "3"]);
    let repair = report.findings()[0].repair.as_deref();
    assert_eq!(repair, Some("write auto_broadcast.auto_broadcast_axis=\"2\""));
}

/// A sum of two parameters whose `shape` has intervals and whose ports leave those sizes open.
fn sum_of_intervals(shapes: [&str; 2], ports: [&str; 2]) -> LintReport {
    let mut network = Network::default();
    for (shape, port) in shapes.into_iter().zip(ports) {
        network.parameter("f32", shape, &format!("FP32 {port}"));
    }
    let id = network.add("Add-1", "", &["0", "1"], &["FP32 -1 8"]);
    network.result(&id.to_string());
    lint("intervals.xml", network.text())
}

#[test]
fn bounds_of_sizes_decide_broadcasts() {
    let verdicts = |first: &str, second: &str| {
        let port = |shape: &str| {
            if shape.contains("..") { "-1 8".to_owned() } else { shape.replace(',', " ") }
        };
        let report = sum_of_intervals([first, second], [&port(first), &port(second)]);
        let VerdictCounts { legal, illegal, legal_if, .. } = report.counts();
        [legal, illegal, legal_if]
    };
    assert_eq!(verdicts("2..5,8", "8,8"), [0, 1, 0]);
    assert_eq!(verdicts("2..5,8", "6..9,8"), [0, 1, 0]);
    assert_eq!(verdicts("2..,8", "1,8"), [1, 0, 0]);
    assert_eq!(verdicts("2..5,8", "4,8"), [0, 0, 1]);
    assert_eq!(verdicts("2..5,8", "5..9,8"), [0, 0, 1]);
    // A size of 1 is repeated, so only the lower bound counts.
    assert_eq!(verdicts("..5,8", "8,8"), [0, 0, 1]);
    assert_eq!(verdicts("1..5,8", "8,8"), [0, 0, 1]);
    assert_eq!(verdicts("3..3,8", "3..3,8"), [1, 0, 0]);
    assert_eq!(verdicts("1..1,8", "2..5,8"), [1, 0, 0]);
    let report = sum_of_intervals(["2..5,8", "8,8"], ["-1 8", "8 8"]);
    assert!(report.to_string().contains("is v0[0] (2..5)"), "{report}");
    let report = sum_of_intervals(["2..5,8", "4,8"], ["-1 8", "4 8"]);
    assert!(report.findings()[0].message.contains("if v0[0] = 4;"), "{report}");
}

#[test]
fn the_port_of_a_parameter_has_its_shape() {
    let report = sum_of_intervals(["2,9", "2,8"], ["2 8", "2 8"]);
    let finding = &report.findings()[0];
    assert_eq!((finding.code.as_str(), finding.node), ("type-mismatch", None));
    assert!(finding.message.contains("is [2, 9], its port has the type f32[2, 8]"), "{report}");
    assert!(!report.passes(false));
    assert_eq!(found(&sum_of_intervals(["?,8", "2..5,8"], ["-1 8", "-1 8"])).len(), 1);
}

/// A product whose operands do not fit, and one whose port states another shape.
#[test]
fn layers_that_do_not_fit_are_errors() {
    let product = |shapes: [&str; 2]| {
        let report =
            two_operands("MatMul-1", "transpose_a=\"false\" transpose_b=\"false\"", shapes);
        found(&report).into_iter().map(|(code, verdict, _)| (code, verdict)).collect::<Vec<_>>()
    };
    assert_eq!(product(["4,8", "8,8"]), []);
    assert_eq!(product(["4,8", "7,8"]), [("size-mismatch", "illegal")]);
    assert_eq!(product(["4,8", "8"]), [("type-mismatch", "illegal")]);
}

/// The findings about a layer whose parameters have these shapes; the size -1 is open. The layer states only
/// its rank.
fn on_open_operands(
    operation: &str,
    attributes: &str,
    shapes: &[&str],
    rank: usize,
) -> Vec<String> {
    let mut network = Network::default();
    let ids: Vec<String> = (0..shapes.len()).map(|id| id.to_string()).collect();
    for shape in shapes {
        let declared = shape.replace("-1", "?");
        network.parameter("f32", &declared, &format!("FP32 {}", shape.replace(',', " ")));
    }
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let id = network.add(operation, attributes, &ids, &[&format!("FP32{}", " -1".repeat(rank))]);
    network.result(&id.to_string());
    let report = lint("open.xml", network.text());
    report.findings().iter().map(|it| format!("{} {}", it.verdict.name(), it.message)).collect()
}

#[test]
fn known_axes_are_compared_beside_open_ones() {
    let product = |first: &str, second: &str| {
        let flags = "transpose_a=\"false\" transpose_b=\"true\"";
        on_open_operands("MatMul-1", flags, &[first, second], 3)
    };
    let ends = |found: &[String], end: &str| found.len() == 1 && found[0].ends_with(end);
    assert_eq!(product("-1,5,8", "1,9,8"), [""; 0]);
    assert_eq!(product("-1,5,8", "9,8"), [""; 0]);
    let found = product("-1,5,8", "9,7");
    assert!(ends(&found, "axis 2 of `v0` (8) meets axis 1 of `v0` (7)"), "{found:?}");
    let found = product("2,-1,8", "3,9,8");
    assert!(ends(&found, "axis 0 of `v0` (2) meets axis 0 of `v0` (3)"), "{found:?}");
    let found = product("-1,5,8", "3,9,8");
    assert!(
        ends(&found, "v0[0] = 3 or v0[0] = 1; the file does not say that this holds"),
        "{found:?}"
    );
    let joined = |second: &str| on_open_operands("Concat-1", "axis=\"-2\"", &["-1,5,8", second], 3);
    assert_eq!(joined("3,6,8").len(), 1);
    assert!(ends(&joined("-1,6,7"), "axis 2 of `v0` (8) meets axis 2 of `v0` (7)"));
    let windows = "strides=\"1,1\" dilations=\"1,1\" pads_begin=\"0,0\" pads_end=\"0,0\"";
    let kernel = |operation: &str, kernel: &str| {
        on_open_operands(operation, windows, &["-1,32,-1,-1", kernel], 4)
    };
    assert_eq!(kernel("Convolution-1", "16,32,3,3"), [""; 0]);
    assert!(ends(&kernel("Convolution-1", "16,8,3,3"), "of `v0` (32) meets axis 1 of `v0` (8)"));
    assert_eq!(kernel("ConvolutionBackpropData-1", "32,16,3,3"), [""; 0]);
    assert_eq!(kernel("ConvolutionBackpropData-1", "16,32,3,3").len(), 1);
    assert_eq!(kernel("GroupConvolution-1", "4,5,8,3,3"), [""; 0]);
    assert!(ends(&kernel("GroupConvolution-1", "4,5,9,3,3"), "meets axes 0, 2 of `v0` (36)"));
    assert_eq!(kernel("GroupConvolutionBackpropData-1", "4,8,5,3,3"), [""; 0]);
    assert_eq!(kernel("GroupConvolutionBackpropData-1", "4,5,8,3,3").len(), 1);
}

/// A layer that keeps the batch, joined with its operand: the batches agree.
#[test]
fn layers_that_keep_the_batch_are_joined_without_a_condition() {
    let resize = "mode=\"nearest\" shape_calculation_mode=\"sizes\"";
    let masks = "begin_mask=\"1,0\" end_mask=\"1,0\"";
    // The operation, its attributes, its lists of integers, and the channels of its result.
    let cases: [(&str, &str, &[&[i64]], usize); 5] = [
        ("Interpolate-11", resize, &[&[8, 8], &[2, 3]], 4),
        ("Pad-1", "pad_mode=\"constant\"", &[&[0, 1, 0, 0], &[0, 0, 0, 0]], 5),
        ("StridedSlice-1", masks, &[&[0, 0], &[0, 2], &[1, 1]], 2),
        ("Tile-1", "", &[&[1, 2, 1, 1]], 8),
        ("AdaptiveAvgPool-8", "", &[&[8, 8]], 4),
    ];
    for (operation, attributes, lists, channels) in cases {
        let mut network = Network::default();
        let x = network.parameter("f32", "?,4,8,8", "FP32 -1 4 8 8").to_string();
        let mut operands = vec![x.clone()];
        operands.extend(lists.iter().map(|list| network.integers(list).to_string()));
        let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
        let port = |channels: usize| format!("FP32 -1 {channels} 8 8");
        let layer = network.add(operation, attributes, &operands, &[&port(channels)]).to_string();
        let results = [&*port(4 + channels)];
        let joined = network.add("Concat-1", "axis=\"1\"", &[&x, &layer], &results);
        network.result(&joined.to_string());
        let file = source(&network.text(), &network.constants);
        let report = LintReport::new(file, &LintOptions::default()).unwrap();
        let found = report.findings().iter().filter(|it| it.code.as_str() == "sizes-may-differ");
        assert_eq!(found.count(), 0, "{operation}: {report}");
    }
}

/// A convolution or pool of an image with open sizes, added to the image.
#[test]
fn windows_of_step_1_with_enough_padding_keep_open_sizes() {
    let conditions = |operation: &str, attributes: &str, kernel: &str| {
        let mut network = Network::default();
        let x = network.parameter("f32", "?,4,?,?", "FP32 -1 4 -1 -1").to_string();
        let mut operands = vec![x.clone()];
        if operation.contains("Conv") {
            let weights = kernel.replace(' ', ",");
            operands
                .push(network.parameter("f32", &weights, &format!("FP32 {kernel}")).to_string());
        }
        let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
        let result = ["FP32 -1 4 -1 -1"];
        let layer = network.add(operation, attributes, &operands, &result).to_string();
        let sum = network.add("Add-1", "auto_broadcast=\"numpy\"", &[&layer, &x], &result);
        network.result(&sum.to_string());
        let report = lint("windows.xml", network.text());
        report.findings().iter().filter(|it| it.code.as_str() == "sizes-may-differ").count()
    };
    let window = |step: u8, dilation: u8, pads: u8, auto_pad: &str| {
        format!(
            "strides=\"{step},{step}\" dilations=\"{dilation},{dilation}\" pads_begin=\"{pads},{pads}\" \
             pads_end=\"{pads},{pads}\" auto_pad=\"{auto_pad}\" kernel=\"3,3\" rounding_type=\"floor\" \
             exclude-pad=\"true\""
        )
    };
    let cases =
        [("Convolution-1", "4 4 3 3"), ("GroupConvolution-1", "4 1 1 3 3"), ("AvgPool-1", "")];
    for (operation, kernel) in cases {
        let count = |attributes: String| conditions(operation, &attributes, kernel);
        assert_eq!(count(window(1, 1, 1, "explicit")), 0, "{operation}");
        assert_eq!(count(window(1, 1, 0, "same_upper")), 0, "{operation}");
        assert_eq!(count(window(1, 1, 1, "valid")), 2, "{operation}");
        assert_eq!(count(window(1, 1, 0, "explicit")), 2, "{operation}");
        assert_eq!(count(window(2, 1, 1, "explicit")), 2, "{operation}");
    }
    let dilated = |pads| conditions("Convolution-1", &window(1, 2, pads, "explicit"), "4 4 3 3");
    assert_eq!([dilated(2), dilated(1)], [0, 2]);
}

/// Operands of recurrent layers that fit, each also with one size changed.
#[test]
fn operands_of_recurrent_layers_are_compared_beside_open_ones() {
    let layers: [(&str, &[&str]); 6] = [
        ("LSTMCell-4", &["-1,10", "-1,32", "-1,32", "128,10", "128,32", "128"]),
        ("GRUCell-3", &["-1,10", "-1,32", "96,10", "96,32", "96"]),
        ("RNNCell-1", &["-1,10", "-1,32", "32,10", "32,32", "32"]),
        (
            "LSTMSequence-5",
            &["-1,20,10", "-1,2,32", "-1,2,32", "-1", "2,128,10", "2,128,32", "2,128"],
        ),
        ("GRUSequence-5", &["-1,20,10", "-1,2,32", "-1", "2,96,10", "2,96,32", "2,96"]),
        ("RNNSequence-5", &["-1,20,10", "-1,2,32", "-1", "2,32,10", "2,32,32", "2,32"]),
    ];
    let errors = |operation: &str, shapes: &[&str]| {
        let found = on_open_operands(operation, "hidden_size=\"32\"", shapes, 2);
        found.iter().filter(|it| it.starts_with("illegal")).count()
    };
    for (operation, shapes) in layers {
        assert_eq!(errors(operation, shapes), 0, "{operation}");
        for (position, from, to) in [(0, ",10", ",11"), (1, ",32", ",31")] {
            let mut wrong = shapes.to_vec();
            let changed = shapes[position].replace(from, to);
            wrong[position] = &changed;
            assert_eq!(errors(operation, &wrong), 1, "{operation} {changed}");
        }
    }
}

/// A layer of `dims` ports, for networks within layers.
fn body_layer(id: usize, operation: &str, data: &str, inputs: &[&str], output: &str) -> String {
    let port = |(id, sizes): (usize, &&str)| {
        let sizes: String = sizes.split(' ').map(|size| format!("<dim>{size}</dim>")).collect();
        format!("<port id=\"{id}\" precision=\"FP32\">{sizes}</port>")
    };
    let inputs: String = inputs.iter().enumerate().map(port).collect();
    let output = if output.is_empty() { String::new() } else { port((9, &output)) };
    format!(
        "<layer id=\"{id}\" name=\"{operation}_{id}\" type=\"{operation}\" version=\"opset1\">\
         <data {data}/><input>{inputs}</input><output>{output}</output></layer>"
    )
}

fn edge(from: usize, to: usize, port: usize) -> String {
    format!("<edge from-layer=\"{from}\" from-port=\"9\" to-layer=\"{to}\" to-port=\"{port}\"/>")
}

/// A network whose layer has a body that adds `[8]` and `second`, inside `element`.
fn looped(operation: &str, element: &str, second: &str) -> String {
    let parameter = |id, sizes: &str| {
        let shape = sizes.replace(' ', ",");
        body_layer(id, "Parameter", &format!("element_type=\"f32\" shape=\"{shape}\""), &[], sizes)
    };
    let add = body_layer(2, "Add", "auto_broadcast=\"numpy\"", &["8", second], "8");
    let result = body_layer(3, "Result", "", &["8"], "");
    let body = format!(
        "<{element}><layers>{}{}{add}{result}</layers><edges>{}{}{}</edges></{element}>",
        parameter(0, "8"),
        parameter(1, second),
        edge(0, 2, 0),
        edge(1, 2, 1),
        edge(2, 3, 0),
    );
    let outer = body_layer(1, operation, "", &["8"], "8").replace("</layer>", &(body + "</layer>"));
    let last = body_layer(2, "Result", "", &["8"], "");
    format!(
        "<?xml version=\"1.0\"?><net name=\"n\" version=\"11\"><layers>{}{outer}{last}</layers>\
         <edges>{}{}</edges></net>",
        parameter(0, "8"),
        edge(0, 1, 0),
        edge(1, 2, 0),
    )
}

#[test]
fn networks_within_layers_of_openvino_are_walked() {
    for (operation, element) in
        [("TensorIterator", "body"), ("Loop", "body"), ("If", "then_body"), ("If", "else_body")]
    {
        let report = lint("loop.xml", looped(operation, element, "7"));
        assert_eq!(found(&report), [("size-mismatch", "illegal", "Add_2".to_owned())]);
        let outline = report.outline();
        let region = format!("/{operation}_1.{element}");
        let inside = outline.nodes.iter().find(|node| node.operator == "Add").unwrap();
        assert_eq!(&*inside.region, region);
        // The layer itself gives the result. `Loop` and `If` are none of the first operation set.
        let last = outline.nodes.last().expect("there are nodes");
        assert_eq!(last.is_opaque, operation != "TensorIterator");
        assert_eq!(last.operator, operation);
        assert_eq!((outline.inputs.len(), outline.outputs.len()), (1, 1));
        let report = lint("loop.xml", looped(operation, element, "8"));
        assert!(report.passes(true) && report.counts().legal == 1, "{report}");
    }
}

#[test]
fn deep_networks_within_layers_end() {
    let mut text = String::new();
    for _ in 0..10_000 {
        text += "<layer id=\"0\" name=\"a\" type=\"If\" version=\"opset8\"><then_body><layers>";
    }
    let text = format!("<net name=\"n\" version=\"11\"><layers>{text}");
    let source = SourceFile::new("deep.xml", text);
    assert!(LintReport::new(source, &LintOptions::default()).is_err());
    let mut text = "<layers/><edges/>".to_owned();
    for _ in 0..200 {
        text = format!(
            "<layers><layer id=\"0\" name=\"a\" type=\"If\" version=\"opset8\"><then_body>{text}</then_body>\
             </layer></layers><edges/>"
        );
    }
    let report = lint("deep.xml", format!("<net name=\"n\" version=\"11\">{text}</net>"));
    assert_eq!(report.outline().nodes.len(), 200);
}

#[test]
fn a_broadcast_of_openvino_onto_its_stated_result_has_a_verdict() {
    let network = |sizes: &str| {
        let mut network = Network::default();
        network.parameter("f32", "7,1", "FP32 7 1");
        network.integers(&[4, 7, 3]);
        let id = network.add("Broadcast-3", "mode=\"numpy\"", &["0", "1"], &[sizes]);
        network.result(&id.to_string());
        lint("broadcast.xml", network.text())
    };
    assert_eq!(network("FP32 4 7 3").counts().legal, 1);
    assert_eq!(network("FP32 4 6 3").counts().illegal, 1);
    // Its target is not read, and the file leaves the result open.
    assert_eq!(network("FP32 -1 7 3").counts(), VerdictCounts::default());
}

#[test]
fn an_explicit_broadcast_of_openvino_has_the_verdict_of_its_axes() {
    let report = |axes: &[i64], has_constants: bool| {
        let mut network = Network::default();
        network.parameter("f32", "7,3", "FP32 7 3");
        network.integers(&[7, 4, 3]);
        network.integers(axes);
        let broadcast = "mode=\"explicit\"";
        let id = network.add("Broadcast-3", broadcast, &["0", "1", "2"], &["FP32 7 4 3"]);
        network.result(&id.to_string());
        let constants = if has_constants { &network.constants[..] } else { &[] };
        let source = source(&network.text(), constants);
        LintReport::new(source, &LintOptions::default()).unwrap().counts()
    };
    let none = VerdictCounts::default();
    assert_eq!(report(&[0, 2], true), VerdictCounts { legal: 1, ..none });
    assert_eq!(report(&[0, 1], true), VerdictCounts { illegal: 1, ..none });
    // Without the file of constants the axes are unknown.
    assert_eq!(report(&[0, 1], false), none);
}

/// The counts of the broadcasts of a network, each of whose values has a name of its own.
fn counts(network: &Network) -> VerdictCounts {
    let source = source(&network.distinct_text(), &network.constants);
    LintReport::new(source, &LintOptions::default()).unwrap().outline().counts()
}

/// An encoder of open batch and length: each residual sum adds values of the same open sizes.
#[test]
fn open_sizes_go_through_the_layers_that_keep_them() {
    let mut network = Network::default();
    let names = |list: &[usize]| list.iter().map(usize::to_string).collect::<Vec<_>>();
    let add =
        |network: &mut Network, operation: &str, attributes: &str, from: &[usize], port: &str| {
            let from = names(from);
            let from: Vec<&str> = from.iter().map(String::as_str).collect();
            network.add(operation, attributes, &from, &[port])
        };
    let ids = network.parameter("i64", "?,1..9", "I64 -1 -1");
    let table = network.parameter("f32", "40,24", "FP32 40 24");
    let zero = network.integers(&[0]);
    let x = add(&mut network, "Gather-8", "batch_dims=\"0\"", &[table, ids, zero], "FP32 -1 -1 24");
    let weights = network.parameter("f32", "24,24", "FP32 24 24");
    let transposed = "transpose_a=\"false\" transpose_b=\"true\"";
    let q = add(&mut network, "MatMul-1", transposed, &[x, weights], "FP32 -1 -1 24");
    let heads = network.integers(&[0, 0, 3, 8]);
    let special = "special_zero=\"true\"";
    let q = add(&mut network, "Reshape-1", special, &[q, heads], "FP32 -1 -1 3 8");
    let order = network.integers(&[0, 2, 1, 3]);
    let q = add(&mut network, "Transpose-1", "", &[q, order], "FP32 -1 3 -1 8");
    let scores = add(&mut network, "MatMul-1", transposed, &[q, q], "FP32 -1 3 -1 -1");
    let mask = network.integers(&[1, 2]);
    let mask = add(&mut network, "Unsqueeze-1", "", &[ids, mask], "FP32 -1 1 1 -1");
    // Keys, and so the columns of the scores, have the length of the mask.
    let numpy = "auto_broadcast=\"numpy\"";
    let scores = add(&mut network, "Add-1", numpy, &[scores, mask], "FP32 -1 3 -1 -1");
    let scores = add(&mut network, "SoftMax-8", "axis=\"-1\"", &[scores], "FP32 -1 3 -1 -1");
    let y = add(&mut network, "MatMul-1", "", &[scores, q], "FP32 -1 3 -1 8");
    let y = add(&mut network, "Transpose-1", "", &[y, order], "FP32 -1 -1 3 8");
    let flat = network.integers(&[0, 0, 24]);
    let y = add(&mut network, "Reshape-1", special, &[y, flat], "FP32 -1 -1 24");
    let y = add(&mut network, "Add-1", numpy, &[y, x], "FP32 -1 -1 24");
    let last = network.integers(&[2]);
    let mean = add(&mut network, "ReduceMean-1", "keep_dims=\"true\"", &[y, last], "FP32 -1 -1 1");
    let y = add(&mut network, "Subtract-1", numpy, &[y, mean], "FP32 -1 -1 24");
    let pair = add(&mut network, "Concat-1", "axis=\"2\"", &[y, x], "FP32 -1 -1 48");
    let first =
        add(&mut network, "ReduceMax-1", "keep_dims=\"false\"", &[pair, last], "FP32 -1 -1");
    let two = network.integers(&[2]);
    let first = add(&mut network, "Unsqueeze-1", "", &[first, two], "FP32 -1 -1 1");
    let y = add(&mut network, "Multiply-1", numpy, &[y, first], "FP32 -1 -1 24");
    network.result(&y.to_string());
    assert_eq!(counts(&network), VerdictCounts { legal: 4, ..VerdictCounts::default() });
    // Another batch is another size.
    let other = network.parameter("f32", "?,24", "FP32 -1 24");
    let two = network.integers(&[1]);
    let other = add(&mut network, "Unsqueeze-1", "", &[other, two], "FP32 -1 1 24");
    let y = add(&mut network, "Add-1", numpy, &[y, other], "FP32 -1 -1 24");
    network.result(&y.to_string());
    assert_eq!(
        counts(&network),
        VerdictCounts { legal: 4, legal_if: 1, ..VerdictCounts::default() }
    );
}

/// A shape from `ShapeOf`, `Gather` and `Concat`: the result has the batch and the length of the operand, and
/// the size that is -1 is what the others leave.
#[test]
fn shapes_that_a_network_computes_keep_the_names_of_sizes() {
    let mut network = Network::default();
    let x = network.parameter("f32", "?,?,24", "FP32 -1 -1 24").to_string();
    let shape = network.add("ShapeOf-3", "output_type=\"i64\"", &[&x], &["I64 3"]).to_string();
    let (zero, both) = (network.integers(&[0]).to_string(), network.integers(&[0, 1]).to_string());
    let gather = "batch_dims=\"0\"";
    let kept = network.add("Gather-8", gather, &[&shape, &both, &zero], &["I64 2"]).to_string();
    let heads = network.integers(&[3, -1]).to_string();
    let target = network.add("Concat-1", "axis=\"0\"", &[&kept, &heads], &["I64 4"]).to_string();
    let special = "special_zero=\"false\"";
    let split = network.add("Reshape-1", special, &[&x, &target], &["FP32 -1 -1 3 -1"]).to_string();
    let minus = network.integers(&[-1]).to_string();
    let flat = network.add("Concat-1", "axis=\"0\"", &[&kept, &minus], &["I64 3"]).to_string();
    let flat = network.add("Reshape-1", special, &[&split, &flat], &["FP32 -1 -1 -1"]).to_string();
    let numpy = "auto_broadcast=\"numpy\"";
    let y = network.add("Add-1", numpy, &[&flat, &x], &["FP32 -1 -1 24"]).to_string();
    let one = network.parameter("f32", "1,1,24", "FP32 1 1 24").to_string();
    let wide = "mode=\"bidirectional\"";
    let wide = network.add("Broadcast-3", wide, &[&one, &shape], &["FP32 -1 -1 -1"]).to_string();
    let y = network.add("Add-1", numpy, &[&y, &wide], &["FP32 -1 -1 24"]);
    network.result(&y.to_string());
    assert_eq!(counts(&network), VerdictCounts { legal: 2, ..VerdictCounts::default() });
}

/// An image is made smaller and as large as before again, as in a U-Net, by sizes that the network computes.
#[test]
fn a_resize_to_computed_sizes_has_these_sizes() {
    let half = "strides=\"2,2\" pads_begin=\"0,0\" pads_end=\"0,0\" kernel=\"2,2\" rounding_type=\"floor\"";
    let resize = "mode=\"nearest\" shape_calculation_mode=\"sizes\" pads_begin=\"0,0,0,0\" \
        pads_end=\"0,0,0,0\"";
    let image = ["FP32 -1 4 -1 -1"];
    for (operation, has_axes) in
        [("Interpolate-11", true), ("Interpolate-11", false), ("Interpolate-4", true)]
    {
        let mut network = Network::default();
        let x = network.parameter("f32", "?,4,?,?", image[0]).to_string();
        let small = network.add("MaxPool-1", half, &[&x], &image).to_string();
        let shape = network.add("ShapeOf-3", "output_type=\"i64\"", &[&x], &["I64 4"]).to_string();
        let (zero, axes) =
            (network.integers(&[0]).to_string(), network.integers(&[2, 3]).to_string());
        let chosen = [&*shape, &axes, &zero];
        let sizes = network.add("Gather-8", "batch_dims=\"0\"", &chosen, &["I64 2"]).to_string();
        let operands = match operation {
            _ if !has_axes => vec![&*small, &shape],
            "Interpolate-4" => vec![&*small, &sizes, &zero, &axes],
            _ => vec![&*small, &sizes, &axes],
        };
        let large = network.add(operation, resize, &operands, &image).to_string();
        let y = network.add("Add-1", "auto_broadcast=\"numpy\"", &[&large, &x], &image);
        network.result(&y.to_string());
        let file = source(&network.text(), &network.constants);
        let report = LintReport::new(file, &LintOptions::default()).unwrap();
        let mut codes = report.findings().iter().map(|it| it.code.as_str());
        assert!(codes.all(|code| code != "sizes-may-differ"), "{operation}: {report}");
    }
}

/// A slice keeps the sizes of the other axes.
#[test]
fn a_slice_keeps_the_open_sizes_of_other_axes() {
    let mut network = Network::default();
    let x = network.parameter("f32", "?,8", "FP32 -1 8").to_string();
    let [start, stop, step, axes] =
        [0, 4, 1, 1].map(|number| network.integers(&[number]).to_string());
    let ports = ["FP32 -1 4"];
    let half = network.add("Slice-8", "", &[&x, &start, &stop, &step, &axes], &ports).to_string();
    let last = network.integers(&[1]).to_string();
    let keep = "keep_dims=\"true\"";
    let sum = network.add("ReduceSum-1", keep, &[&x, &last], &["FP32 -1 1"]).to_string();
    let y = network.add("Add-1", "auto_broadcast=\"numpy\"", &[&half, &sum], &ports);
    network.result(&y.to_string());
    assert_eq!(counts(&network), VerdictCounts { legal: 1, ..VerdictCounts::default() });
}

/// The rule of each layer gives its open batch, so a sum with a value of that batch has no condition.
#[test]
fn the_rule_of_a_layer_gives_its_open_batch() {
    let numpy = "auto_broadcast=\"numpy\"";
    let check = |network: &mut Network, result: usize, port: &str, x: usize| {
        let [result, x] = [result, x].map(|id| id.to_string());
        let y = network.add("Add-1", numpy, &[&result, &x], &[port]);
        network.result(&y.to_string());
        let legal = VerdictCounts { legal: 1, ..VerdictCounts::default() };
        assert_eq!(counts(network), legal);
    };
    let mut network = Network::default();
    let x = network.parameter("f32", "?,5,6", "FP32 -1 5 6");
    let w = network.parameter("f32", "6,6", "FP32 6 6").to_string();
    let equation = "equation=\"bij, jk -> bik\"";
    let y = network.add("Einsum-7", equation, &[&x.to_string(), &w], &["FP32 -1 5 6"]);
    check(&mut network, y, "FP32 -1 5 6", x);

    let mut network = Network::default();
    let x = network.parameter("i64", "?,5", "I64 -1 5");
    let [depth, on, off] = [10, 1, 0].map(|number| network.integers(&[number]).to_string());
    let y = network.add(
        "OneHot-1",
        "axis=\"1\"",
        &[&x.to_string(), &depth, &on, &off],
        &["I64 -1 10 5"],
    );
    let one = network.integers(&[1]).to_string();
    let x = network.add("Unsqueeze-1", "", &[&x.to_string(), &one], &["I64 -1 1 5"]);
    check(&mut network, y, "I64 -1 10 5", x);

    let mut network = Network::default();
    let q = network.parameter("f32", "?,2,5,8", "FP32 -1 2 5 8");
    let ports = ["k", "v"].map(|_| network.parameter("f32", "?,2,7,8", "FP32 -1 2 7 8"));
    let [query, key, value] = [q, ports[0], ports[1]].map(|id| id.to_string());
    let operands = [&*query, &*key, &*value];
    let causal = "causal=\"false\"";
    let port = "FP32 -1 2 5 8";
    let y = network.add("ScaledDotProductAttention-13", causal, &operands, &[port]);
    check(&mut network, y, port, q);

    let mut network = Network::default();
    let x = network.parameter("f32", "?,1,8", "FP32 -1 1 8");
    let target = network.integers(&[4, 8]).to_string();
    let both = "mode=\"bidirectional\"";
    let y = network.add("Broadcast-3", both, &[&x.to_string(), &target], &["FP32 -1 4 8"]);
    check(&mut network, y, "FP32 -1 4 8", x);
}

/// OpenVINO computes the maximum of nothing, which indim refuses to run.
#[test]
fn a_maximum_of_nothing_is_no_error_of_the_network() {
    let mut network = Network::default();
    let x = network.parameter("f32", "2,0", "FP32 2 0").to_string();
    let last = network.integers(&[1]).to_string();
    let y = network.add("ReduceMax-1", "keep_dims=\"false\"", &[&x, &last], &["FP32 2"]);
    network.result(&y.to_string());
    let source = source(&network.distinct_text(), &network.constants);
    let report = LintReport::new(source, &LintOptions::default()).unwrap();
    assert!(report.passes(true), "{report}");
}
