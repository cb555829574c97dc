//! `indim run` of a part of a program: `--from`, `--to`, and the advice of a refused program.

use crate::run::{Folder, fails, indim, succeeds};

const FOREIGN: &str = "\
func.func @main(%x: tensor<2xf32> loc(\"x\"), %k: tensor<2xf32> loc(\"k\")) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  %1:2 = stablehlo.custom_call @foreign(%0) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %2 = stablehlo.multiply %1#0, %1#1 : tensor<2xf32>
  %3 = stablehlo.add %2, %k : tensor<2xf32>
  return %3 : tensor<2xf32>
}
";

fn foreign() -> (Folder, String) {
    let folder = Folder::new();
    let path = folder.file("foreign.mlir");
    std::fs::write(&path, FOREIGN).expect("the file is written");
    (folder, path.display().to_string())
}

#[test]
fn a_refused_program_says_which_values_make_it_run() {
    let (_folder, path) = foreign();
    let message = fails(&["run", &path, "f32([1, 2])", "f32([3, 4])"]);
    let note = "note: the program runs if given 1#0: f32[2], 1#1: f32[2]";
    assert!(message.contains(note), "{message}");
    let help = "help: compute them elsewhere and write --from '1#0'=FILE.npy --from '1#1'=FILE.npy";
    assert!(message.contains(help), "{message}");
    // With one of them it asks for the other.
    let message = fails(&["run", &path, "f32([3, 4])", "--from", "1#0=f32([1, 2])"]);
    assert!(message.contains("write --from '1#1'=FILE.npy\n"), "{message}");
}

#[test]
fn a_part_runs_from_values_to_values() {
    let (folder, path) = foreign();
    assert_eq!(succeeds(&["run", &path, "f32([1, 2])", "--to", "0"]), "[2. 4.]\n");
    let first = folder.file("first.npy").display().to_string();
    succeeds(&["run", &path, "f32([1, 2])", "--to", "0", "-o", &first]);
    let from = format!("1#0={first}");
    let given = ["run", &path, "--from", &from, "--from", "1#1=[10, 20]"];
    assert_eq!(succeeds(&[&given[..], &["k=[0.5, 0.25]"]].concat()), "[20.5  80.25]\n");
    // The part ends before `k`, so that the program does not take it.
    assert_eq!(succeeds(&[&given[..], &["--to", "2"]].concat()), "[20. 80.]\n");
    let message = fails(&[&given[..], &["--to", "2", "k=[1, 2]"]].concat());
    assert!(message.contains("no input is called `k`"), "{message}");
}

#[test]
fn names_of_values_that_do_not_exist_are_refused() {
    let (_folder, path) = foreign();
    let message = fails(&["run", &path, "--from", "9=[1, 2]", "--to", "2"]);
    assert!(message.starts_with("error[undefined]: no value is called 9"), "{message}");
    let usage = indim(&["run", &path, "--from", "file.npy"]);
    assert_eq!(usage.code, Some(2));
    assert!(usage.stderr.contains("--from takes NAME=SOURCE"), "{}", usage.stderr);
    let twice = fails(&["run", &path, "--from", "2=[1, 2]", "--from", "2=[1, 2]", "k=[1, 2]"]);
    assert!(twice.contains("the input `2` is bound twice"), "{twice}");
}

#[test]
fn a_program_with_opaque_nodes_is_drawn() {
    let (folder, path) = foreign();
    let drawing = folder.file("model.svg");
    succeeds(&["explain", &path, "--svg", &drawing.display().to_string()]);
    let drawn = std::fs::read_to_string(&drawing).expect("a drawing");
    // The opaque node is a box with its types; only the legend shows a kept axis, as nothing is repeated.
    assert_eq!(drawn.matches("class=\"opaque\"").count(), 1, "{drawn}");
    assert!(drawn.contains("opaque 1#0 (stablehlo.custom_call @foreign)"), "{drawn}");
    assert!(
        drawn.contains("→ 1#1: f32[2]") && drawn.matches("class=\"kept\"").count() == 1,
        "{drawn}"
    );
}

const POSITIONS: &str = r#"<net name="n" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data element_type="f32" shape="4"/>
<output><port id="0" precision="FP32" names="x"><dim>4</dim></port></output></layer>
<layer id="1" name="i" type="NonZero" version="opset3"><data output_type="i64"/>
<input><port id="0"><dim>4</dim></port></input>
<output><port id="1" precision="I64" names="i"><dim>1</dim><dim>-1</dim></port></output></layer>
<layer id="2" name="f" type="Parameter" version="opset1"><data element_type="i64" shape="1,1"/>
<output><port id="0" precision="I64" names="f"><dim>1</dim><dim>1</dim></port></output></layer>
<layer id="3" name="m" type="Multiply" version="opset1">
<input><port id="0"><dim>1</dim><dim>-1</dim></port><port id="1"><dim>1</dim><dim>1</dim></port></input>
<output><port id="2" precision="I64" names="m"><dim>1</dim><dim>-1</dim></port></output></layer>
<layer id="4" name="r" type="Result" version="opset1">
<input><port id="0"><dim>1</dim><dim>-1</dim></port></input></layer></layers>
<edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="1" from-port="1" to-layer="3" to-port="0"/>
<edge from-layer="2" from-port="0" to-layer="3" to-port="1"/>
<edge from-layer="3" from-port="2" to-layer="4" to-port="0"/></edges></net>"#;

#[test]
fn a_model_with_sizes_from_data_runs_in_stages() {
    let folder = Folder::new();
    let path = folder.file("positions.xml");
    std::fs::write(&path, POSITIONS).expect("the file is written");
    let path = path.display().to_string();
    let found = succeeds(&["run", &path, "f32([0, 2, -1, 0])", "f=i64([[10]])"]);
    assert_eq!(found, "[[10 20]]\n");
    // A literal takes the type of its input, and the result goes into a file.
    let file = folder.file("m.npy").display().to_string();
    succeeds(&["run", &path, "[0, 0, 0, 7]", "[[3]]", "-o", &file]);
    assert_eq!(succeeds(&["eval", "m", &format!("m={file}")]), "[[9]]\n");
    assert_eq!(succeeds(&["run", &path, "[1, 1, 0, 0]", "--to", "i"]), "[[0 1]]\n");
    let message = fails(&["run", &path, "[1, 1]", "[[3]]"]);
    assert!(message.contains("error[input-type]"), "{message}");
    let message = fails(&["run", &path, "[1, 1, 0, 0]"]);
    assert!(message.contains("error[input-missing]"), "{message}");
    let message = fails(&["convert", &path, "--to", "onnx"]);
    assert!(message.contains("error[unsupported-op]"), "{message}");
}
