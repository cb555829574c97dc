//! `indim explain` on models with illegal nodes: every form shows the whole model, with the node marked.

use serde_json::Value;

use crate::run::{Folder, indim};

/// A bias on an unstated axis, which no runtime can add.
const BIAS: &str = "\
func.func @main(%x: tensor<4x8x2xf32>, %b: tensor<8xf32>) -> tensor<4x8x2xf32> {
  %0 = stablehlo.exponential %x : tensor<4x8x2xf32>
  %1 = chlo.broadcast_add %0, %b : (tensor<4x8x2xf32>, tensor<8xf32>) -> tensor<4x8x2xf32>
  %2 = stablehlo.negate %1 : tensor<4x8x2xf32>
  return %2 : tensor<4x8x2xf32>
}
";

/// An HLO module with a sum of two shapes.
const SUM: &str = "\
HloModule m

ENTRY main {
  x = f32[4,8] parameter(0)
  b = f32[8] parameter(1)
  ROOT y = f32[4,8] add(x, b)
}
";

/// A layer that adds two shapes.
const LAYERS: &str = r#"<net name="n" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="4,8" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>4</dim><dim>8</dim></port></output></layer>
<layer id="1" name="b" type="Parameter" version="opset1"><data shape="4" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>4</dim></port></output></layer>
<layer id="2" name="sum" type="Add" version="opset1"><data auto_broadcast="numpy"/>
<input><port id="0"><dim>4</dim><dim>8</dim></port><port id="1"><dim>4</dim></port></input>
<output><port id="2" precision="FP32"><dim>4</dim><dim>8</dim></port></output></layer>
<layer id="3" name="r" type="Result" version="opset1">
<input><port id="0"><dim>4</dim><dim>8</dim></port></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/></edges></net>"#;

fn file(name: &str, text: &str) -> (Folder, String) {
    let folder = Folder::new();
    std::fs::write(folder.file(name), text).expect("the file is written");
    let path = folder.file(name).display().to_string();
    (folder, path)
}

/// The marked node of each drawing.
fn drawn(svg: &str) -> Vec<&str> {
    let titles = svg.split("<text class=\"title\"").skip(1);
    let titles = titles.map(|it| it.split('<').next().expect("a title"));
    titles.filter_map(|it| it.split('>').nth(1)?.strip_suffix(": illegal")).collect()
}

#[test]
fn each_form_shows_the_whole_model_and_the_illegal_node() {
    let models = [("bias.mlir", BIAS, 3, 1), ("sum.hlo", SUM, 1, 0), ("sum.xml", LAYERS, 1, 0)];
    for (name, text, nodes, illegal) in models {
        let (folder, path) = file(name, text);
        let text = indim(&["explain", &path]);
        assert_eq!(text.code, Some(1), "{}", text.stderr);
        assert!(text.stdout.ends_with("1 illegal, 0 legal if, 0 unknown\n"), "{}", text.stdout);

        let json = indim(&["explain", &path, "--json"]);
        let object: Value = serde_json::from_str(&json.stdout).expect("JSON");
        assert_eq!((json.code, json.stderr.as_str()), (Some(1), ""));
        let marked: Vec<bool> =
            object["nodes"].as_array().expect("a list").iter().map(marks).collect();
        assert_eq!(marked.len(), nodes, "{object}");
        assert!((0..nodes).all(|node| marked[node] == (node == illegal)), "{object}");
        assert_eq!(object["findings"][0]["node_index"], illegal);
        let broadcast = &object["nodes"][illegal]["broadcasts"][0];
        assert!(
            broadcast["drawing"].as_str().is_some_and(|it| it.starts_with("error[")),
            "{object}"
        );
        assert!(
            text.stderr.starts_with(&format!(
                "error[{}]",
                object["error"]["code"].as_str().expect("a code")
            ))
        );

        let svg = indim(&["explain", &path, "--svg", "-"]);
        assert_eq!((svg.code, &svg.stderr), (Some(1), &text.stderr));
        assert_eq!(drawn(&svg.stdout).len(), 1, "{}", svg.stdout);
        assert!(svg.stdout.contains("<rect class=\"illegal\""), "{}", svg.stdout);

        let page = folder.file("page.html").display().to_string();
        let html = indim(&["explain", &path, "--html", &page]);
        assert_eq!((html.code, &html.stderr), (Some(1), &text.stderr));
        let page = std::fs::read_to_string(&page).expect("the page");
        assert_eq!(page.matches("<details class=\"node").count(), nodes, "{page}");
        assert!(page.contains(&format!("<a href=\"#n{illegal}\">")), "{page}");
        assert_eq!(page.matches("<b class=\"illegal\">illegal</b>").count(), 1, "{page}");
    }
}

fn marks(node: &Value) -> bool {
    node["is_illegal"].as_bool().expect("a boolean")
}

/// The drawing has opaque nodes and illegal ones.
#[test]
fn opaque_nodes_are_drawn_next_to_illegal_ones() {
    let text = BIAS.replace("stablehlo.exponential", "stablehlo.mine");
    let text = text.replace("mine %x :", "mine %x : (tensor<4x8x2xf32>) ->");
    let (_folder, path) = file("mine.mlir", &text);
    let svg = indim(&["explain", &path, "--svg", "-"]);
    assert!(svg.stdout.contains("opaque 0 (stablehlo.mine)"), "{}", svg.stdout);
    assert_eq!(drawn(&svg.stdout), ["1 (chlo.broadcast_add)"]);
    let json: Value =
        serde_json::from_str(&indim(&["explain", &path, "--json"]).stdout).expect("JSON");
    assert_eq!(json["nodes"][0]["is_opaque"], true);
    assert_eq!(json["other_nodes"]["first_not_judged"], "stablehlo.mine 0");
}
