//! `indim run`, `indim check` and `indim explain` on model files.

use crate::run::{Folder, ORDER, f32_bytes, fails, fails_with, indim, npy, succeeds};

const ADD: &str = "\
func.func @main(%x: tensor<2x3xf32> loc(\"x\"), %v: tensor<3xf32> loc(\"v\")) -> tensor<2x3xf32> {
  %0 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.add %x, %0 : tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
";

/// A program with two results, which the reader names.
const TWO: &str = "\
func.func @main(%x: tensor<2xf32> loc(\"x\")) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  %1 = stablehlo.multiply %x, %x : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
";

const CHECKED: &str = "\
func.func @main() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.add %0, %0 : tensor<2xf32>
  check.expect_eq_const %1, dense<[2.0, 4.0]> : tensor<2xf32>
  return
}
";

/// A folder with a file that contains this text, and the path of the file.
fn file(name: &str, text: &str) -> (Folder, String) {
    let folder = Folder::new();
    std::fs::write(folder.file(name), text).expect("the file is written");
    let path = folder.file(name).display().to_string();
    (folder, path)
}

const X: &str = "f32([[1, 2, 3], [4, 5, 6]])";
const V: &str = "f32([10, 20, 30])";

#[test]
fn a_program_runs_on_sources_by_position_and_by_name() {
    // The content of the file determines the format, not its name.
    let (_folder, path) = file("add.txt", ADD);
    let expected = "[[11. 22. 33.]\n [14. 25. 36.]]\n";
    assert_eq!(succeeds(&["run", &path, X, V]), expected);
    assert_eq!(succeeds(&["run", &path, &format!("v={V}"), X]), expected);
    assert_eq!(
        succeeds(&["run", &path, X, V, "--format", "json"]),
        "{\"dtype\":\"f32\",\"shape\":[2,3],\"data\":[11.0,22.0,33.0,14.0,25.0,36.0]}\n"
    );
}

#[test]
fn results_are_written_to_files() {
    let (folder, path) = file("two.mlir", TWO);
    let input = npy(&format!("{ORDER}f4"), false, "(2,)", &f32_bytes(&[3.0, 4.0]));
    std::fs::write(folder.file("x.npy"), input).expect("the file is written");
    let x = folder.file("x.npy").display().to_string();
    let at = |name: &str| folder.file(name).display().to_string();
    assert!(
        fails(&["run", &path, &x, "-o", &at("one.npy")])
            .contains("2 results cannot go to one file")
    );
    succeeds(&["run", &path, &x, "-o", &at("both.npz")]);
    fails_with("several-results", &["run", &path, &x, "-o", &at("results")]);
    succeeds(&["run", &path, &x, "-o", &at("results/")]);
    succeeds(&["run", &path, &x, "-o", &at("results")]);
    let mut names: Vec<String> = std::fs::read_dir(folder.file("results"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names.len(), 2, "{names:?}");
    let second = folder.file("results").join(&names[1]).display().to_string();
    assert_eq!(succeeds(&["eval", "x", &format!("x={second}")]), "[ 9. 16.]\n");
    let name = names[1].strip_suffix(".npy").expect("a .npy file");
    succeeds(&["run", &path, &x, "-o", &format!("{name}={}", at("second.npy"))]);
    assert_eq!(succeeds(&["eval", "x", &format!("x={}", at("second.npy"))]), "[ 9. 16.]\n");
    fails_with("unknown-result", &["run", &path, &x, "-o", &format!("w={}", at("w.npy"))]);
}

#[test]
fn an_array_of_zarr_is_replaced_by_the_only_result() {
    let (folder, path) = file("add.mlir", ADD);
    let result = folder.file("sum.zarr");
    for _ in 0..2 {
        succeeds(&["run", &path, X, V, "-o", &result.display().to_string()]);
    }
    let names = std::fs::read_dir(&result).expect("a folder");
    let names: Vec<_> = names.map(|entry| entry.expect("an entry").file_name()).collect();
    assert!(names.contains(&"zarr.json".into()), "{names:?}");
    assert!(names.iter().all(|name| !name.to_string_lossy().ends_with(".npy")), "{names:?}");
}

#[test]
fn what_does_not_fit_is_said_with_the_inputs_there_are() {
    let (_folder, path) = file("add.mlir", ADD);
    let inputs = "the inputs are x: f32[2, 3], v: f32[3]";
    for (code, arguments) in [
        ("input-missing", vec![X]),
        ("input-count", vec![X, V, V]),
        ("unknown-name", vec![X, "w=f32([1, 2, 3])"]),
        ("input-type", vec![X, "f32([1, 2])"]),
        ("input-type", vec![X, "f64([1, 2, 3])"]),
    ] {
        let all: Vec<&str> = ["run", &path].into_iter().chain(arguments).collect();
        let message = fails(&all);
        assert!(message.starts_with(&format!("error[{code}]")), "{message}");
        assert!(message.contains(inputs), "{message}");
    }
    fails_with("duplicate-name", &["run", &path, &format!("x={X}"), &format!("x={X}")]);
}

#[test]
fn a_folder_that_is_made_for_results_does_not_stay_empty() {
    let (folder, path) = file("two.mlir", TWO);
    let results = format!("{}/", folder.file("results").display());
    // Both errors remove the folder: the first occurs before it is made, the second after.
    fails_with("input-type", &["run", &path, "f32([1, 2, 3])", "-o", &results]);
    assert!(!folder.file("results").exists());
    let x = folder.bind("x", "x.npy", &npy("<f4", false, "(2,)", &[0; 4]));
    fails(&["run", &path, &x, "-o", &results]);
    assert!(!folder.file("results").exists());
}

#[test]
fn a_literal_takes_the_declared_type_where_it_loses_nothing() {
    let (_folder, path) = file("add.mlir", ADD);
    let expected = "[[11. 22. 33.]\n [14. 25. 36.]]\n";
    let sources = ["[[1, 2, 3], [4, 5, 6]]", "[10, 20, 30.0]"];
    assert_eq!(succeeds(&["run", &path, sources[0], sources[1]]), expected);
    assert!(succeeds(&["explain", &path, sources[0], sources[1]]).starts_with("add(x, v)"));
    for inexact in ["[10, 20, 0.1]", "[10, 20, 16777217]"] {
        let message = fails(&["run", &path, sources[0], inexact]);
        assert!(message.starts_with("error[input-type]"), "{message}");
        assert!(message.contains(&format!("= help: write v='f32({inexact})'")), "{message}");
    }
    // A literal with an explicit type keeps it.
    let message = fails(&["run", &path, sources[0], "f64([1, 2, 3])"]);
    assert!(message.starts_with("error[input-type]") && !message.contains("write v="), "{message}");
}

#[test]
fn faults_of_the_program_come_before_missing_inputs() {
    let wrong = ADD.replace("stablehlo.add", "stablehlo.ragged_dot");
    let (_folder, path) = file("wrong.mlir", &wrong);
    for inputs in [&[][..], &[X]] {
        let arguments: Vec<&str> = ["run", &path].iter().chain(inputs).copied().collect();
        fails_with("unsupported-op", &arguments);
    }
    let (_folder, path) = file("add.mlir", ADD);
    let message = fails(&["run", &path, X]);
    assert!(
        message.starts_with("error[input-missing]: the input v is not given: f32[3]"),
        "{message}"
    );
    let advice = "= help: write v=FILE.npy, or elements: v='f32([1, 2, 3])'";
    assert!(message.contains(advice), "{message}");
    assert_eq!(indim(&["run", &path, X, "v=f32([1, 2, 3])"]).code, Some(0));
}

#[test]
fn a_file_is_refused_with_its_line() {
    let (_folder, path) = file("wrong.mlir", &ADD.replace("stablehlo.add", "stablehlo.ragged_dot"));
    let message = fails(&["run", &path, X, V]);
    assert!(message.starts_with("error[unsupported-op]: stablehlo.ragged_dot"), "{message}");
    assert!(message.contains("wrong.mlir:3:"), "{message}");
    let (_folder, path) = file("text.txt", "nothing that is known\n");
    fails_with("unknown-format", &["run", &path]);
    fails_with("io", &["run", "no/such/file.onnx"]);
}

#[test]
fn broadcasts_are_explained_with_their_places() {
    let (_folder, path) = file("add.mlir", ADD);
    let text = succeeds(&["explain", &path]);
    assert!(text.starts_with("add(x, v)\n  --> "), "{text}");
    assert!(text.contains("add.mlir:3:"), "{text}");
    assert!(text.contains("\n  by stablehlo broadcast_in_dim dims=[1] of v, "), "{text}");
    let json = succeeds(&["explain", &path, "--json"]);
    assert!(json.contains("\"place\":"), "{json}");
    let run = indim(&["explain", &path, "--rule", "numpy"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
}

#[test]
fn one_of_several_functions_is_explained() {
    let doubled = "func.func @twice(%x: tensor<2xf32> loc(\"x\")) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
";
    let (_folder, path) =
        file("several.mlir", &(doubled.to_owned() + &ADD.replace("main", "bias")));
    let message = fails(&["explain", &path]);
    assert!(message.starts_with("error[which-function]: "), "{message}");
    assert!(message.contains("--function NAME"), "{message}");
    let text = succeeds(&["explain", &path, "--function", "bias"]);
    assert!(text.starts_with("add(x, v)\n"), "{text}");
    assert!(!succeeds(&["explain", &path, "--function", "twice"]).contains("add(x, v)"));
    let usage = indim(&["explain", "x + v", "x=f32[2]", "v=f32[2]", "--function", "f"]);
    assert_eq!(usage.code, Some(2), "{}", usage.stderr);
    assert!(usage.stderr.contains("--function is for a program in a file"), "{}", usage.stderr);
}

#[test]
fn programs_that_say_what_they_give_are_checked() {
    let (folder, right) = file("right.mlir", CHECKED);
    let wrong = CHECKED.replace("[2.0, 4.0]", "[2.0, 5.0]");
    let pieces = format!("{CHECKED}// -----\n{wrong}// -----\n{ADD}");
    std::fs::write(folder.file("pieces.mlir"), pieces).expect("the file is written");
    let told = succeeds(&["check", &right]);
    assert_eq!(told, format!("passed: {right}\n1 passed, 0 failed, 0 out of scope\n"));
    let pieces = folder.file("pieces.mlir").display().to_string();
    let run = indim(&["check", "--quiet", &right, &pieces]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stdout.contains(&format!("failed: {pieces}:8\n   {pieces}:11:")), "{}", run.stdout);
    assert!(run.stdout.contains("1 of 2 elements, the first at 1: 4.0 where 5.0 belongs"));
    assert!(run.stdout.contains(&format!("out of scope: {pieces}:15\n")), "{}", run.stdout);
    assert!(run.stdout.ends_with("2 passed, 1 failed, 1 out of scope\n"), "{}", run.stdout);
    fails_with("several-programs", &["run", &pieces]);
    fails_with("no-test", &["check", &folder.path().display().to_string()]);
}

#[test]
fn a_program_is_written_for_another_system() {
    let (folder, path) = file("add.mlir", ADD);
    let xml = folder.file("add.xml").display().to_string();
    succeeds(&["convert", &path, "--to", "openvino", "-o", &xml]);
    assert_eq!(folder.names(), ["add.bin", "add.mlir", "add.xml"]);
    assert_eq!(succeeds(&["run", &xml, X, V]), "[[11. 22. 33.]\n [14. 25. 36.]]\n");
    fails_with("output-needed", &["convert", &path, "--to", "openvino"]);
}

#[test]
fn the_name_of_a_written_program_is_one_of_its_format() {
    let (folder, path) = file("add.mlir", ADD);
    let onnx = folder.file("add.onnx").display().to_string();
    let message = fails(&["convert", &path, "--to", "openvino", "-o", &onnx]);
    assert!(message.starts_with("error[unknown-format]"), "{message}");
    assert!(message.contains("is written as .xml"), "{message}");
    assert_eq!(folder.names(), ["add.mlir"]);
    succeeds(&["convert", &path, "--to", "onnx", "-o", &onnx]);
}

#[test]
fn a_path_is_never_an_expression() {
    let folder = Folder::new();
    let missing = folder.file("nofile.onnx").display().to_string();
    for path in ["nofile.onnx", "models/nofile.mlir", &missing] {
        let message = fails(&["explain", path]);
        assert!(message.starts_with("error[io]"), "{message}");
        assert!(message.contains(path), "{message}");
    }
    // The file exists, so it is read, although it is not a model.
    let text = folder.file("notes").display().to_string();
    std::fs::write(&text, "1, 2\n").expect("the folder is there");
    fails_with("unknown-format", &["explain", &text]);
}

#[test]
fn what_a_format_lacks_is_composed_and_said_or_refused() {
    let text = ADD.replace("stablehlo.add %x, %0", "stablehlo.log_plus_one %0");
    let (folder, path) = file("log.mlir", &text);
    let xml = folder.file("log.xml").display().to_string();
    let run = indim(&["convert", &path, "--to", "openvino", "-o", &xml]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.starts_with("note[composed]: log1p x1, written as "), "{}", run.stderr);
    std::fs::remove_file(&xml).expect("it was written");
    let message = fails(&["convert", &path, "--to", "openvino", "--exact", "-o", &xml]);
    assert!(message.starts_with("error[unsupported-op]: log1p"), "{message}");
    assert!(!folder.names().contains(&"log.xml".to_owned()));
}

#[test]
fn what_indim_lacks_is_copied_into_the_same_format_or_refused() {
    let foreign = "%1 = stablehlo.custom_call @foreign(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>";
    let text =
        ADD.replace("  return %1", "  %2 = stablehlo.negate %1 : tensor<2x3xf32>\n  return %2");
    let text = text.replace("%1 = stablehlo.add %x, %0 : tensor<2x3xf32>", foreign);
    let (folder, path) = file("source.mlir", &text);
    let copy = folder.file("copy.mlir").display().to_string();
    let run = indim(&["convert", &path, "--to", "stablehlo", "-o", &copy]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let note = "note[carried]: stablehlo.custom_call @foreign x1, as in the source\n";
    assert_eq!(run.stderr, note);
    let written = std::fs::read_to_string(&copy).expect("it was written");
    assert!(written.contains(foreign), "{written}");
    let message = fails(&["convert", &path, "--to", "hlo"]);
    assert!(message.starts_with("error[unsupported-op]"), "{message}");
    assert!(message.contains("--to stablehlo copies these operations"), "{message}");
    assert_eq!(
        succeeds(&["run", &copy, "--from", &format!("1={X}"), "--to", "2"]),
        "[[-1. -2. -3.]\n [-4. -5. -6.]]\n"
    );
}

#[test]
fn shapes_and_programs_are_told_apart() {
    let (_folder, path) = file("add.mlir", ADD);
    for arguments in [["convert", "2x3", "--to", "xla"], ["convert", &path, "--to", "xla"]] {
        let run = indim(&arguments);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
    }
    let run = indim(&["convert", "--from", "numpy", "--to", "onnx", "2x3", "3"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("onnx is a format of files"), "{}", run.stderr);
}

/// A bias on an unstated axis, after an operation that indim does not compute.
const BIAS: &str = "\
func.func @main(%x: tensor<4x16xf32>, %w: tensor<16x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.mine %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = stablehlo.add %1, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
";

#[test]
fn lint_names_the_line_and_fails() {
    let (_folder, path) = file("bias.mlir", BIAS);
    let run = indim(&["lint", &path]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stdout.contains("bias.mlir:5:"), "{}", run.stdout);
    let last = "1 broadcast: 0 legal, 1 illegal, 0 legal if, 0 unknown; \
        other nodes: 0 illegal, 0 legal if, 1 not judged (first stablehlo.mine 1)\n";
    assert!(run.stdout.ends_with(last), "{}", run.stdout);
    let run = indim(&["lint", &path, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    let finding = &json["files"][0]["findings"][0];
    assert_eq!((&finding["verdict"], &finding["line"]), (&"illegal".into(), &5.into()));

    let (_folder, clean) = file("add.mlir", ADD);
    assert!(succeeds(&["lint", "--strict", &clean]).ends_with("0 unknown\n"));
    let two = indim(&["lint", &clean, &path]);
    assert_eq!(two.code, Some(1));
    let usage = indim(&["lint", &clean, "--declare", "y"]);
    assert_eq!(usage.code, Some(2), "{}", usage.stderr);
}

#[test]
fn explain_writes_a_page_of_any_model() {
    let (folder, path) = file("<bias> & more.mlir", BIAS);
    let run = indim(&["explain", &path, "--html", "-"]);
    assert_eq!(run.code, Some(1), "a broadcast is illegal");
    assert!(run.stderr.contains("1 illegal"), "{}", run.stderr);
    let page = run.stdout;
    assert!(page.contains("<title>") && page.contains("&lt;bias&gt; &amp; more.mlir"), "{page}");
    assert!(!page.contains("<bias>"), "names are escaped: {page}");
    assert!(page.contains("3 nodes, 1 opaque; 1 broadcast: 0 legal, 1 illegal"), "{page}");
    // Each link of a finding has its node, and only the page's own parts are loaded.
    let links: Vec<&str> =
        page.split("href=\"#").skip(1).filter_map(|it| it.split('"').next()).collect();
    assert_eq!(links, ["n2"]);
    assert!(links.iter().all(|link| page.contains(&format!("id=\"{link}\""))));
    assert!(
        page.contains("default-src 'none'") && !page.contains("src=") && !page.contains("http://")
    );
    let document = folder.file("page.html").display().to_string();
    let run = indim(&["explain", &path, "--html", &document]);
    assert_eq!((run.code, run.stdout), (Some(1), String::new()));
    assert_eq!(std::fs::read_to_string(&document).expect("the page"), page);
    let usage = indim(&["explain", "x + v", "x=f32[2]", "v=f32[2]", "--html", "-"]);
    assert_eq!(usage.code, Some(2), "{}", usage.stderr);
}

#[test]
fn check_fails_for_an_illegal_program_around_operations_that_are_not_computed() {
    let (_folder, path) = file("bias.mlir", BIAS);
    let run = indim(&["check", &path]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(
        run.stdout.starts_with("failed: ") && run.stdout.contains("bias.mlir:5:"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.ends_with("0 passed, 1 failed, 0 out of scope\n"), "{}", run.stdout);
    let legal =
        BIAS.replace("(tensor<4x8xf32>, tensor<8xf32>)", "(tensor<4x8xf32>, tensor<4x8xf32>)");
    let (_folder, path) =
        file("legal.mlir", &legal.replace("%b: tensor<8xf32>", "%b: tensor<4x8xf32>"));
    let text = succeeds(&["check", &path]);
    assert!(text.ends_with("0 passed, 0 failed, 1 out of scope\n"), "{text}");
}

#[test]
fn check_fails_for_an_illegal_program_with_open_sizes() {
    let layer = |number: usize, name: &str, kind: &str, inside: &str| {
        format!(
            "<layer id=\"{number}\" name=\"{name}\" type=\"{kind}\" version=\"opset1\">{inside}</layer>"
        )
    };
    let port = |number: usize, sizes: &[i64]| {
        let sizes: String = sizes.iter().map(|size| format!("<dim>{size}</dim>")).collect();
        format!("<port id=\"{number}\" precision=\"FP32\">{sizes}</port>")
    };
    let program = |bias: i64| {
        let (x, b) = ([-1, 8], [bias]);
        let data = |shape: &str| format!("<data shape=\"{shape}\" element_type=\"f32\"/>");
        let output = |number, sizes: &[i64]| format!("<output>{}</output>", port(number, sizes));
        let input = |ports: &str| format!("<input>{ports}</input>");
        let rule = "<data auto_broadcast=\"numpy\"/>";
        let layers = [
            layer(0, "x", "Parameter", &(data("?,8") + &output(0, &x))),
            layer(1, "b", "Parameter", &(data(&bias.to_string()) + &output(0, &b))),
            layer(
                2,
                "sum",
                "Add",
                &(rule.to_owned() + &input(&(port(0, &x) + &port(1, &b))) + &output(2, &x)),
            ),
            layer(3, "y", "Result", &input(&port(0, &x))),
        ];
        let edge = |[from, port, to, place]: [usize; 4]| {
            format!(
                "<edge from-layer=\"{from}\" from-port=\"{port}\" to-layer=\"{to}\" to-port=\"{place}\"/>"
            )
        };
        let edges = [[0, 0, 2, 0], [1, 0, 2, 1], [2, 2, 3, 0]].map(edge);
        format!(
            "<net name=\"m\" version=\"11\"><layers>{}</layers><edges>{}</edges></net>",
            layers.concat(),
            edges.concat()
        )
    };
    let (_folder, illegal) = file("illegal.xml", &program(7));
    let run = indim(&["check", &illegal]);
    assert_eq!(run.code, Some(1), "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.starts_with("failed: ") && run.stdout.contains("sum"), "{}", run.stdout);
    let (_folder, legal) = file("legal.xml", &program(8));
    assert!(succeeds(&["check", &legal]).ends_with("0 passed, 0 failed, 1 out of scope\n"));
}

#[test]
fn explain_outlines_branches_that_are_nested_too_deeply_to_run() {
    let branch = |inside: String, depth: usize| {
        format!(
            "%r{depth} = \"stablehlo.if\"(%c) ({{ {inside} }}, {{ stablehlo.return %x : tensor<2xf32> }}) : \
             (tensor<i1>) -> tensor<2xf32>\n  stablehlo.return %r{depth} : tensor<2xf32>"
        )
    };
    let nested = (1..=20).fold("stablehlo.return %x : tensor<2xf32>".to_owned(), branch);
    let body =
        nested.strip_suffix("stablehlo.return %r20 : tensor<2xf32>").expect("the last return");
    let program = format!(
        "func.func @main(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {{\n  {body}return %r20 : \
         tensor<2xf32>\n}}\n"
    );
    let (_folder, path) = file("deep.mlir", &program);
    assert!(indim(&["run", &path]).stderr.contains("more nested loops and branches"));
    let text = succeeds(&["explain", &path]);
    assert!(text.contains("r20 (stablehlo.if)"), "{text}");
}

/// Required properties of a log, a run, a rule, a result and a location in the SARIF standard.
#[test]
fn lint_writes_a_sarif_log() {
    let (folder, path) = file("a bias.mlir", BIAS);
    let broken = folder.file("broken.xml").display().to_string();
    std::fs::write(&broken, "<net").expect("the file is written");
    let run = indim(&["lint", &path, &broken, "--sarif"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(1), ""));
    let log: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    assert!(
        log["$schema"].as_str().is_some_and(|schema| schema.ends_with("sarif-schema-2.1.0.json"))
    );
    let [run] = &log["runs"].as_array().expect("runs")[..] else { panic!("{log}") };
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "indim");
    let rules = driver["rules"].as_array().expect("rules");
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), 2, "{log}");
    for result in results {
        let index = result["ruleIndex"].as_u64().expect("an index");
        let rule = &rules[usize::try_from(index).expect("an index")];
        assert_eq!(rule["id"], result["ruleId"]);
        let is_text = |text: &serde_json::Value| text.as_str().is_some_and(|it| !it.is_empty());
        assert!(
            ["shortDescription", "fullDescription", "help"]
                .iter()
                .all(|it| is_text(&rule[it]["text"]))
        );
        assert!(is_text(&result["message"]["text"]), "{result}");
        assert_eq!(result["level"], "error");
        let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        let uri = uri.as_str().expect("a URI");
        assert!(!uri.contains(' ') && !uri.contains('\\'), "{uri}");
        assert!(uri.ends_with("a%20bias.mlir") || uri.ends_with("broken.xml"), "{uri}");
    }
    let region = &results[0]["locations"][0]["physicalLocation"]["region"];
    // `stablehlo.add` is in line 5, from column 8 on, and the end is behind its last character.
    let keys = ["startLine", "startColumn", "endLine", "endColumn"];
    assert_eq!(keys.map(|key| region[key].as_u64()), [Some(5), Some(8), Some(5), Some(21)]);
    let (_folder, clean) = file("add.mlir", ADD);
    let log: serde_json::Value =
        serde_json::from_str(&succeeds(&["lint", "--sarif", &clean])).expect("JSON");
    assert_eq!(log["runs"][0]["results"], serde_json::json!([]));
    assert_eq!(indim(&["lint", "--sarif", "--json", &path]).code, Some(2));
}

/// A review tool shows the message only, so it has the axes, both sizes and the repair.
#[test]
fn the_message_of_a_sarif_result_has_axes_sizes_and_the_repair() {
    let text = "\
func.func @main(%x: tensor<4x2x8xf32>, %b: tensor<2xf32>) -> tensor<4x2x8xf32> {
  %0 = chlo.broadcast_add %x, %b : (tensor<4x2x8xf32>, tensor<2xf32>) -> tensor<4x2x8xf32>
  return %0 : tensor<4x2x8xf32>
}
";
    let (_folder, path) = file("bias.mlir", text);
    let log: serde_json::Value =
        serde_json::from_str(&indim(&["lint", &path, "--sarif"]).stdout).expect("JSON");
    let message = &log["runs"][0]["results"][0]["message"];
    let sentence = message["text"].as_str().expect("a text");
    assert!(
        sentence
            .contains(": axis 0 of `b` is 2, axis 2 of `x` is 8. Help: reshape b to f32[2, 1].")
    );
    let drawing = message["markdown"].as_str().expect("a drawing");
    assert!(drawing.contains("   b : f32[      2]\n"), "{drawing}");
    let report = indim(&["lint", &path, "--json"]).stdout;
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["files"][0]["findings"][0]["repair"], "reshape b to f32[2, 1]");
}

#[test]
fn explain_draws_around_operations_that_are_not_computed() {
    let (_folder, path) = file("bias.mlir", BIAS);
    let run = indim(&["explain", &path]);
    let (code, text) = (run.code, run.stdout);
    assert_eq!(code, Some(1), "a broadcast is illegal");
    assert!(text.contains("opaque 1 (stablehlo.mine)\n  0: f32[4, 8] -> 1: f32[4, 8]"), "{text}");
    assert!(text.ends_with("1 not judged (first stablehlo.mine 1)\n"), "{text}");
}
