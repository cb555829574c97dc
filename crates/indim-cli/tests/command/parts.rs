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
