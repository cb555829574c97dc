//! Damaged and hostile OpenVINO files: each ends early in an error.

use crate::support::ir::{self, Network};
use indim::formats::{FormatLimits, InputBinding, Model, ModelFormat, ReadOptions};

/// The error code of a file, found once its inputs have their declared types.
fn code(text: &str, constants: &[u8]) -> Option<&'static str> {
    code_within(&ReadOptions::default(), text, constants)
}

/// Like [`code`], with another limit of operations.
fn code_of_operations(operations: usize, text: &str, constants: &[u8]) -> Option<&'static str> {
    let limits = FormatLimits { operations, ..FormatLimits::default() };
    code_within(&ReadOptions::new().limits(limits), text, constants)
}

fn code_within(options: &ReadOptions, text: &str, constants: &[u8]) -> Option<&'static str> {
    let source = ir::source(text, constants);
    let read = indim::formats::read_as(ModelFormat::OpenVino, &source, options);
    let error = match read.and_then(|model| build(&*model)) {
        Err(error) => error,
        Ok(()) => return None,
    };
    // Every error can be drawn.
    assert!(error.draw(&source).starts_with("error["));
    Some(error.code())
}

fn build(model: &dyn Model) -> Result<(), indim::formats::FormatError> {
    let types = model.inputs().iter().map(|input| input.array_type());
    match types.collect::<Option<Vec<_>>>() {
        Some(types) => {
            let bounds: Vec<InputBinding> = types.into_iter().map(InputBinding::Type).collect();
            model.build(&bounds).map(|_| ())
        }
        None => Ok(()),
    }
}

/// A network of one operation on a parameter and integer lists.
fn operation(name: &str, attributes: &str, shape: &str, lists: &[&[i64]]) -> Network {
    let mut network = Network::default();
    let port = format!("FP32 {}", shape.replace(',', " "));
    let mut sources = vec![network.parameter("f32", shape, &port).to_string()];
    sources.extend(lists.iter().map(|list| network.integers(list).to_string()));
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let id = network.add(name, attributes, &sources, &["FP32 1"]);
    network.result(&id.to_string());
    network
}

/// A network with some operations of each kind.
fn example() -> Network {
    let mut network = Network::default();
    let x = network.parameter("f32", "2,3", "FP32 2 3").to_string();
    let c = network.floats("3", &[1., 2., 3.]).to_string();
    let sum = network.add("Add-1", "auto_broadcast=\"numpy\"", &[&x, &c], &["FP32 2 3"]);
    let clamped = network.add("Clamp-1", "min=\"0\" max=\"6\"", &[&sum.to_string()], &["FP32 2 3"]);
    let axes = network.integers(&[-1]).to_string();
    let total = network.add(
        "ReduceSum-1",
        "keep_dims=\"false\"",
        &[&clamped.to_string(), &axes],
        &["FP32 2"],
    );
    network.result(&total.to_string());
    network
}

#[test]
fn a_file_that_ends_early_is_damaged() {
    let (text, constants) = (example().text(), example().constants);
    assert_eq!(code(&text, &constants), None);
    for end in 0..text.trim_end().len() {
        assert!(code(&text[..end], &constants).is_some(), "{}", &text[..end]);
    }
    for end in 0..constants.len() {
        assert_eq!(code(&text, &constants[..end]), Some("file-beside"));
    }
}

/// Deterministic pseudorandom numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }
}

#[test]
fn no_change_of_a_file_makes_the_reader_panic() {
    let (text, constants) = (example().text(), example().constants);
    let pieces =
        ["-1", "9", "<", ">", "\"", "opset", "0", "?", "..", "&", "Concat", "2147483648", "\n"];
    let (mut numbers, mut refused) = (Numbers(1), 0);
    for _ in 0..5000 {
        let mut changed = text.clone();
        for _ in 0..=numbers.below(3) {
            let start = numbers.below(changed.len());
            let end = (start + numbers.below(4)).min(changed.len());
            changed.replace_range(start..end, pieces[numbers.below(pieces.len())]);
        }
        refused += usize::from(code(&changed, &constants).is_some());
    }
    assert!(refused > 1000);
}

#[test]
fn elements_may_not_be_nested_deeply() {
    for depth in [20_000, 1_000_000] {
        let text =
            format!("<net version=\"11\">{}{}</net>", "<a>".repeat(depth), "</a>".repeat(depth));
        assert_eq!(code(&text, &[]), Some("limit"));
        assert_eq!(code(&text[..text.len() / 2], &[]), Some("damaged"));
    }
}

#[test]
fn slow_xml_is_limited() {
    let attributes: String = (0..200_000).map(|n| format!(" a{n}=\"\"")).collect();
    let namespaces: String = (0..20_000).map(|n| format!("<a xmlns:b{n}=\"{n}\">")).collect();
    let texts = [
        format!("<net version=\"11\"{attributes}/>"),
        format!("<net version=\"11\">{namespaces}"),
        "<a/>".repeat(70_000),
        "=".repeat(7_000_000),
    ];
    for text in texts {
        let text = format!("<net>{text}");
        assert_eq!(code_of_operations(1000, &text, &[]), Some("limit"), "{}", &text[..40]);
    }
}

#[test]
fn entities_are_not_expanded() {
    let bomb = "<!DOCTYPE net [<!ENTITY a \"&#97;\"><!ENTITY b \"&a;&a;&a;\">]><net version=\"11\">&b;</net>";
    assert_eq!(code(bomb, &[]), Some("damaged"));
}

#[test]
fn constants_are_not_larger_than_their_file() {
    let layer = |shape: &str, offset: &str, size: &str| {
        let mut network = Network::default();
        let attributes =
            format!("element_type=\"f32\" shape=\"{shape}\" offset=\"{offset}\" size=\"{size}\"");
        let id = network.add("Const-1", &attributes, &[], &["FP32 -1"]);
        network.result(&id.to_string());
        code(&network.text(), &[0; 8])
    };
    assert_eq!(layer("2", "0", "8"), None);
    let largest = u64::MAX.to_string();
    for (shape, offset, size, expected) in [
        ("2", "1", "8", "file-beside"),
        ("2", &largest[..], "8", "file-beside"),
        ("2", "0", &largest, "file-beside"),
        ("3", "0", "8", "wrong-element-count"),
        ("4611686018427387904", "0", "8", "wrong-element-count"),
        ("4611686018427387904,4611686018427387904", "0", "8", "wrong-element-count"),
        ("-2", "0", "8", "attribute"),
        ("2", "-1", "8", "attribute"),
        (&"1,".repeat(70)[..139], "0", "8", "limit"),
    ] {
        assert_eq!(layer(shape, offset, size), Some(expected), "{shape} {offset} {size}");
    }
}

#[test]
fn a_file_of_constants_is_not_read_again_and_again() {
    let mut network = Network::default();
    for offset in 0..1000 {
        let attributes =
            format!("element_type=\"u8\" shape=\"100000\" offset=\"{offset}\" size=\"100000\"");
        network.add("Const-1", &attributes, &[], &["U8 100000"]);
    }
    network.result("0");
    assert_eq!(code(&network.text(), &[0; 101_000]), Some("limit"));
}

#[test]
fn sizes_are_refused_before_there_are_elements() {
    const MANY: i64 = 1 << 60;
    let cases: [(&str, &str, &str, &[&[i64]]); 9] = [
        ("Tile-1", "", "2", &[&[MANY]]),
        ("Tile-1", "", "2,2", &[&[MANY, MANY]]),
        ("Broadcast-3", "mode=\"numpy\"", "1", &[&[MANY, MANY]]),
        ("Pad-1", "pad_mode=\"constant\"", "1", &[&[MANY], &[MANY]]),
        ("Reshape-1", "special_zero=\"false\"", "2", &[&[MANY, MANY, -1]]),
        ("Split-1", "num_splits=\"1152921504606846976\"", "2", &[&[0]]),
        ("VariadicSplit-1", "", "2", &[&[0], &[i64::MAX, i64::MAX]]),
        ("Slice-8", "", "2", &[&[i64::MIN], &[i64::MAX], &[i64::MIN], &[0]]),
        ("Unsqueeze-1", "", "2", &[&[0; 200]]),
    ];
    for (name, attributes, shape, lists) in cases {
        let network = operation(name, attributes, shape, lists);
        assert!(code(&network.text(), &network.constants).is_some(), "{name}");
    }
}

#[test]
fn ranges_are_refused_before_there_are_elements() {
    for numbers in [[0, i64::MAX, 1], [0, 1, 0], [i64::MIN, i64::MAX, 1]] {
        let mut network = Network::default();
        let sources = numbers.map(|number| network.integers(&[number]).to_string());
        let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
        let id = network.add("Range-4", "output_type=\"i64\"", &sources, &["I64 -1"]);
        network.result(&id.to_string());
        assert!(code(&network.text(), &network.constants).is_some(), "{numbers:?}");
    }
}

#[test]
fn long_chains_do_not_recurse_and_cycles_are_found() {
    let mut network = Network::default();
    network.parameter("f32", "2", "FP32 2");
    for source in 0..50_000 {
        network.add("ReLU-1", "", &[&source.to_string()], &["FP32 2"]);
    }
    network.result("50000");
    assert_eq!(code(&network.arranged(|layers| layers.reverse()), &[]), None);

    let mut network = Network::default();
    for source in 0..10_000 {
        let source = ((source + 1) % 10_000).to_string();
        network.add("ReLU-1", "", &[&format!("{source}:1")], &["FP32 2"]);
    }
    network.result("0");
    assert_eq!(code(&network.text(), &[]), Some("cycle"));
}

#[test]
fn there_are_limits_on_layers_and_edges_fit_ports() {
    let mut network = example();
    let text = network.text();
    let edge = "<edge from-layer=\"0\" from-port=\"0\" to-layer=\"2\" to-port=\"0\"/>";
    assert!(text.contains(edge));
    for (other, expected) in [
        ("", "unexpected"),
        (&format!("{edge}{edge}")[..], "duplicate"),
        (&edge.replace("from-layer=\"0\"", "from-layer=\"77\""), "undefined"),
        (&edge.replace("to-port=\"0\"", "to-port=\"5\""), "undefined"),
        (&edge.replace("to-port=\"0\"", ""), "attribute"),
    ] {
        assert_eq!(code(&text.replace(edge, other), &network.constants), Some(expected));
    }
    for source in 0..1000 {
        network.add("ReLU-1", "", &[&source.to_string()], &["FP32 2"]);
    }
    assert_eq!(code_of_operations(1000, &network.text(), &network.constants), Some("limit"));
}
