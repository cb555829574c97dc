//! `indim explain` and `indim convert`.

use indim::broadcast::{RuleChoice, RuleSetName};
use indim::run::Level;
use serde_json::{Value, json};

use crate::run::{Folder, fails, fails_with, indim, succeeds};

fn explained(arguments: &[&str]) -> Value {
    serde_json::from_str(&succeeds(arguments)).expect("valid JSON")
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> =
        value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn an_expression_in_words() {
    let text = succeeds(&["explain", "exp(u) * v", "u=f32[1000,1]", "v=f32[2000]"]);
    for part in ["u", "v", "explicit form", "xla broadcast_dimensions=[1]", "graph {", "peak"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("none: no, none"), "{text}");
}

#[test]
fn sizes_say_for_which_others_a_program_stands() {
    let sizes_of = |program: &str| {
        let text = succeeds(&["explain", program, "x=f32[100,3]", "v=f32[3]", "--sizes"]);
        text.split_once("\nsizes\n").expect("a section").1.to_owned()
    };
    assert_eq!(
        sizes_of("x - mean(v[-2:])"),
        "  x: [n, m], v: [k]; n, m, k >= 2; slices and reshapes must fit\n"
    );
    assert_eq!(
        sizes_of("x - mean(sliding_window_view(v, 2, axis=0))"),
        "  x: [n, m], v: [3]; n, m >= 2\n  axis 0 of `v` is 3: windows of it are taken\n"
    );
    let refused = indim(&["explain", "--rule", "numpy", "f32[2]", "f32[2]", "--sizes"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("--sizes is for expressions"), "{}", refused.stderr);
}

#[test]
fn sizes_may_have_names() {
    let text = succeeds(&["explain", "x + v", "x=f32[n,3]", "v=f32[3]"]);
    let (_, sizes) = text.split_once("\nsizes\n").expect("a section");
    let numbers = "  axis 1 of `x` is 3: it is given as a number\n  axis 0 of `v` is 3: it is given \
                   as a number\n";
    let above = "  above, 211 stands for `n`\n";
    assert_eq!(sizes, format!("  x: [n, 3], v: [3]; n >= 2\n{numbers}{above}"));
    let text = succeeds(&["explain", "x - mean(y)", "x=f32[rows, columns]", "y=f32[columns]"]);
    assert!(text.contains("\n  x: [rows, columns], y: [columns]; rows, columns >= 2\n"), "{text}");

    // Different names are different sizes, unless a rule needs them equal. No named size is 1.
    let text = succeeds(&["explain", "x * y", "x=f32[n,1]", "y=f32[1,m]"]);
    assert!(text.contains("\n  x: [n, 1], y: [1, m]; n, m >= 2\n"), "{text}");
    let text = succeeds(&["explain", "x + y - z", "x=f32[n,3]", "y=f32[m,3]", "z=f32[k,3]"]);
    let equal =
        "  n = m, which a rule needs\n  n = k, which a rule needs\n  above, 211 stands for `n`\n";
    assert!(text.contains("\n  x: [n, 3], y: [n, 3], z: [n, 3]; n >= 2\n"), "{text}");
    assert!(text.ends_with(equal), "{text}");
    let misspelt = fails(&["explain", "x + 1", "x=f99[n]"]);
    assert!(misspelt.starts_with("error[unknown-element-type]: in `x`: `f99`"), "{misspelt}");
    let refused = fails(&["explain", "x + y", "x=f32[n,3]", "y=f32[5,3]"]);
    assert!(refused.starts_with("error[size-mismatch]"), "{refused}");
    assert!(refused.contains("help: 211 stands for `n`"), "{refused}");
    let refused = fails(&["explain", "x + y", "x=f32[n]", "y=f32[227]", "z=f32[m]"]);
    assert!(refused.starts_with("error"), "{refused}");
    succeeds(&["explain", "x + y", "x=f32[n,3]", "y=f32[n,1]"]);
    // The number that stands for a name is not equal to the same number in another type.
    let refused = fails(&["explain", "x + y", "x=f32[n]", "y=f32[211]"]);
    assert!(refused.starts_with("error[size-not-free]"), "{refused}");
    let refused = fails(&["explain", "sliding_window_view(x, 2, axis=0)", "x=f32[n]"]);
    let expected = "error[size-not-free]: the size `n` of axis 0 of `x` is needed as a number: windows \
                    of it are taken\n   = help: write the number in place of `n`\n";
    assert_eq!(refused, expected);
}

/// The output of `--machine-code` for `2 * a + 3 * b`, with this variable set.
fn machine_code(options: &[&str], variable: (&str, &str)) -> String {
    let mut command = crate::run::command();
    command.args(["explain", "--machine-code", "2 * a + 3 * b", "a=f32[1000]", "b=f32[1000]"]);
    command.env_remove("INDIM_LEVEL").env_remove("INDIM_EXECUTOR");
    let found = command.args(options).env(variable.0, variable.1).output().expect("runs");
    String::from_utf8(found.stdout).expect("UTF-8")
}

/// Whether this machine has a target for machine code.
fn has_machine_code() -> bool {
    cfg!(target_arch = "x86_64") && Level::detect() > Level::BASELINE
}

#[test]
fn machine_code_is_listed_below_the_values_it_computes() {
    let text = machine_code(&[], ("INDIM_EXECUTOR", "automatic"));
    let (_, listed) = text.split_once("\nmachine code\n").expect("a section");
    if !has_machine_code() {
        return;
    }
    assert!(listed.starts_with("nest 0:\n"), "{listed}");
    for part in ["is result[i0]", "is a[i0]", "is b[i0]", "vmulps", "vaddps"] {
        assert!(listed.contains(part), "{part}: {listed}");
    }
    let values = listed.lines().filter_map(|line| line.trim().strip_prefix("; v"));
    let mut values: Vec<usize> = values
        .filter_map(|line| line.split_once(" = "))
        .map(|(value, _)| value.parse().expect("a number"))
        .collect();
    values.sort_unstable();
    // Two numbers, two arrays, two products, and a sum; the last has one NaN.
    assert_eq!(values, (0..8).collect::<Vec<_>>(), "{listed}");
    assert_eq!(listed.matches(" = mul.f32 ").count(), 2, "{listed}");
}

#[test]
fn masks_and_repeated_operands_are_listed() {
    if !Level::available().iter().any(|level| level.to_string() == "avx512") {
        eprintln!("not tested: this processor has no AVX-512");
        return;
    }
    let text = machine_code(&[], ("INDIM_LEVEL", "avx512"));
    for part in ["zmm0", "tail:", "kmovq        k7, [rsp", " {k7}{z}, [r", "{k7}, zmm"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let narrower = machine_code(&[], ("INDIM_LEVEL", "avx2"));
    assert!(narrower.contains("ymm0") && !narrower.contains("zmm"), "{narrower}");
}

#[test]
fn why_there_is_no_machine_code_is_said() {
    let blocks = machine_code(&[], ("INDIM_EXECUTOR", "blocks"));
    let reason = "\nmachine code\nnest 0 runs by kernels: kernels were requested\n";
    assert!(blocks.ends_with(reason), "{blocks}");
    let baseline = machine_code(&[], ("INDIM_LEVEL", "baseline"));
    let reason = "\nnest 0 runs by kernels: the requested level is the baseline, ";
    assert_eq!(baseline.contains(reason), has_machine_code(), "{baseline}");
}

#[test]
fn a_rule_has_no_machine_code() {
    let run = indim(&["explain", "--rule", "numpy", "2,3", "3", "--machine-code"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("a rule over shapes has no machine code"), "{run:?}");
}

#[test]
fn machine_code_as_json() {
    let field = |variable| {
        let text = machine_code(&["--json"], variable);
        serde_json::from_str::<Value>(&text).expect("valid JSON")["machine_code"].clone()
    };
    let reason = json!([{ "reason": "kernels were requested" }]);
    assert_eq!(field(("INDIM_EXECUTOR", "blocks")), reason);
    let listed = field(("INDIM_EXECUTOR", "machine"));
    let listing = listed[0]["listing"].as_str();
    assert_eq!(listing.is_some_and(|text| text.contains("vmulps")), has_machine_code(), "{listed}");
}

#[test]
fn a_bare_rule_in_words() {
    let text =
        succeeds(&["explain", "--rule", "pdpd", "--axis", "1", "f32[1,3,224,224]", "f32[3]"]);
    assert!(text.contains("numpy, operand 1 reshaped to [3, 1, 1]"), "{text}");
    assert!(text.contains("dims=[1]"), "{text}");
}

#[test]
fn the_fields_of_json_are_stable() {
    let explained =
        explained(&["explain", "add(x, v, dims=[1])", "x=f32[4,3]", "v=f32[3]", "--json"]);
    let expected = [
        "broadcast_bytes",
        "broadcast_bytes_stand_for",
        "broadcasts",
        "bytes_read",
        "bytes_written",
        "graph",
        "level",
        "loop_nests",
        "outputs",
        "parameters",
        "peak_bytes",
        "programs",
        "reductions",
        "register_bytes",
        "temporary_bytes",
    ];
    assert_eq!(keys(&explained), expected);
    assert_eq!(explained["bytes_read"], 60);
    assert_eq!(explained["bytes_written"], 48);
    assert_eq!(explained["broadcast_bytes"], 12);
    assert_eq!(explained["broadcast_bytes_stand_for"], 48);
    assert_eq!(explained["parameters"][1]["name"], "v");
    assert_eq!(explained["outputs"][0]["shape"], json!([4, 3]));
    let broadcast = &explained["broadcasts"][0];
    assert_eq!(keys(broadcast), ["operands", "operation", "result", "rules", "warning"]);
    assert_eq!(broadcast["operands"][1]["map"], json!([1]));
    assert_eq!(keys(&broadcast["operands"][1]), ["dtype", "map", "name", "shape"]);
}

#[test]
fn a_bare_rule_as_json_is_one_broadcast() {
    let explained = explained(&["explain", "--rule", "numpy", "2,3", "3", "--json"]);
    assert_eq!(keys(&explained), ["operands", "operation", "result", "rules", "warning"]);
    assert_eq!(explained["result"], json!([2, 3]));
}

/// The error of a failing run, as JSON.
fn error_facts(arguments: &[&str]) -> Value {
    let run = indim(&[&["explain", "--json"], arguments].concat());
    assert_eq!((run.code, &*run.stderr), (Some(1), ""), "{run:?}");
    let document: Value = serde_json::from_str(&run.stdout).expect("valid JSON");
    assert_eq!(keys(&document), ["error"]);
    document["error"].clone()
}

#[test]
fn an_error_as_json_is_one_object() {
    for (arguments, error) in [
        (
            &["x + y", "x=f32[2,3]", "y=f32[2]"][..],
            json!({"code": "size-mismatch", "rule": "N2", "operand": "y", "axis": 0,
                "message": "`add` cannot broadcast `y` onto `x` under rule numpy",
                "operands": [{"name": "x", "dtype": "f32", "shape": [2, 3]},
                    {"name": "y", "dtype": "f32", "shape": [2]}],
                "sizes": [{"of": "y", "axis": 0, "size": 2}, {"of": "x", "axis": 1, "size": 3}],
                "help": ["broadcast_dimensions=[0] gives f32[2, 3] (the only axis of `x` of size 2)",
                    "pdpd axis=0 gives the same; so does y reshaped to [2, 1] under numpy"]}),
        ),
        (
            &["--rule", "numpy", "[2,3]", "[4]"],
            json!({"code": "size-mismatch", "rule": "N2", "operand": "operand 1", "axis": 0,
                "message": "`broadcast` cannot broadcast `operand 1` onto `operand 0` under rule numpy",
                "operands": [{"name": "operand 0", "dtype": null, "shape": [2, 3]},
                    {"name": "operand 1", "dtype": null, "shape": [4]}],
                "sizes": [{"of": "operand 1", "axis": 0, "size": 4},
                    {"of": "operand 0", "axis": 1, "size": 3}],
                "help": []}),
        ),
        (
            &["x + z", "x=f32[2]"],
            json!({"code": "unknown-name", "rule": null, "operand": null, "axis": null,
                "message": "nothing is bound to `z`", "operands": [], "sizes": null, "help": []}),
        ),
        (
            &["x + maen", "x=f32[2]", "mean=f32[2]"],
            json!({"code": "unknown-name", "rule": null, "operand": null, "axis": null,
                "message": "nothing is bound to `maen`", "operands": [], "sizes": null,
                "help": ["did you mean `mean`?"]}),
        ),
    ] {
        assert_eq!(error_facts(arguments), error);
    }
    for (arguments, message) in [
        (
            &["--rule", "xla", "f32[2,3]", "f32[2]"][..],
            "`broadcast` cannot broadcast `operand 1` onto `operand 0` under rule xla",
        ),
        (
            &["add(x, y, dims=[0])", "x=f32[2]", "y=i8[2]"],
            "`add` needs equal element types, but `y` is i8, not f32",
        ),
        (
            &["x + y", "x=f32[2"],
            "in `x`: `f32[2` is not a shape; write f32[2, 3], [2, 3] or 2x3, and [] for a scalar",
        ),
    ] {
        assert_eq!(error_facts(arguments)["message"], message);
    }
    let types = error_facts(&["add(x, y, dims=[0])", "x=f32[2]", "y=i8[2]"]);
    assert_eq!((&types["operand"], &types["sizes"]), (&json!("y"), &Value::Null));
    assert_eq!(types["help"], json!(["convert it: f32(y)"]));
    assert_eq!(types["operands"][1]["dtype"], "i8");
}

#[test]
fn an_explicit_broadcast_is_drawn() {
    let folder = Folder::new();
    let path = folder.file("explicit.svg");
    let svg = path.to_str().expect("UTF-8");
    let expression = "broadcast_in_dim(v, shape=[2,3,4], dims=[1])";
    let text = succeeds(&["explain", expression, "v=f32[3]", "--svg", svg]);
    assert!(text.starts_with("broadcast_in_dim(v)\nresult axis"), "{text}");
    let drawing = std::fs::read_to_string(&path).expect("a drawing");
    assert!(!drawing.contains("nothing is broadcast") && drawing.contains("× 4"), "{drawing}");
}

#[test]
fn the_help_lists_the_rules() {
    for command in ["explain", "convert"] {
        let help = succeeds(&[command, "--help"]);
        for rule in RuleSetName::ALL {
            assert!(help.contains(rule.as_str()), "{rule}: {help}");
        }
    }
    let run = indim(&["convert", "--from", "nump", "--to", "xla", "2,3", "3"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("numpy"), "{run:?}");
}

#[test]
fn the_drawing_is_a_document_of_svg() {
    let folder = Folder::new();
    let path = folder.file("outer.svg");
    let svg = path.to_str().expect("UTF-8");
    succeeds(&["explain", "u * v", "u=f32[1000,1]", "v=f32[2000]", "--svg", svg]);
    let drawing = std::fs::read_to_string(&path).expect("a drawing");
    assert!(drawing.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    assert!(drawing.ends_with("</svg>\n"));
    assert!(drawing.contains("1 → 1000") || drawing.contains("1 → 2000"), "{drawing}");
}

#[test]
fn an_error_is_drawn_too() {
    let folder = Folder::new();
    let path = folder.file("error.svg");
    let svg = path.to_str().expect("UTF-8");
    let message = fails(&["explain", "x + y", "x=f32[2]", "y=f32[3]", "--svg", svg]);
    let drawing = std::fs::read_to_string(&path).expect("a drawing");
    for line in message.lines() {
        assert!(drawing.contains(&format!(">{line}</text>")), "{line}: {drawing}");
    }
}

#[test]
fn types_may_come_from_files() {
    let folder = Folder::new();
    let binding = folder.bind("x", "x.npy", &crate::run::npy("<f4", false, "(2, 3)", &[0; 24]));
    assert!(succeeds(&["explain", "x + 1", &binding]).contains("f32[2, 3]"));
}

#[test]
fn errors_of_explain() {
    fails_with("bad-shape", &["explain", "x + 1", "x=[2,3]"]);
    fails_with("bad-shape", &["explain", "x + 1", "x=f32([2,3])"]);
    fails_with("bad-shape", &["explain", "x + 1", "x=[[2,3]]"]);
    fails_with("unknown-name", &["explain", "x + y", "x=f32[2]"]);
    fails_with("unused-name", &["explain", "x + x", "x=f32[2]", "y=f32[2]"]);
    fails_with("size-mismatch", &["explain", "x + y", "x=f32[2]", "y=f32[3]"]);
    let message = fails(&["explain", "--rule", "numpy", "f32[4,2]", "f32[3]"]);
    assert!(message.contains('^'), "{message}");
    assert_eq!(indim(&["explain", "--rule", "bidirectional", "2x3"]).code, Some(2));
    assert_eq!(indim(&["explain"]).code, Some(2));
    fails_with("bad-shape", &["explain", "f32[2,3", "f32[3]"]);
    fails_with("bad-shape", &["explain", "2x3", "three"]);
    // Attributes of a bare rule do not apply to an expression.
    assert_eq!(indim(&["explain", "x + x", "x=f32[2]", "--axis", "1"]).code, Some(2));
}

#[test]
fn outer_products_are_warned_of_on_request() {
    let arguments = ["explain", "u * v", "u=f32[1000,1]", "v=f32[2000]"];
    assert_eq!(indim(&arguments).stderr, "");
    let run = indim(&[&arguments[..], &["--warn-outer-product"]].concat());
    assert!(run.stderr.starts_with("warning[outer-product]: `mul`"), "{}", run.stderr);
}

#[test]
fn convert_says_one_rule_in_the_words_of_another() {
    for (arguments, conversion) in [
        ("--from pdpd --axis 1 --to numpy 1x3x224x224 3", "numpy, operand 1 reshaped to [3, 1, 1]"),
        ("--from pdpd --axis 1 --to xla 1x3x224x224 3", "xla broadcast_dimensions=[1]"),
        ("--from numpy --to xla 2,3 3", "xla broadcast_dimensions=[1]"),
        ("--from xla --dims 0 --to pdpd 2,3 2", "pdpd axis=0"),
        ("--from numpy --to stablehlo 2,3 2,3", "stablehlo"),
    ] {
        let arguments: Vec<&str> = std::iter::once("convert").chain(arguments.split(' ')).collect();
        assert_eq!(succeeds(&arguments), format!("{conversion}\n"));
    }
}

#[test]
fn reductions_are_said_in_the_words_of_another_rule() {
    let convert = |arguments: &str| -> Vec<String> {
        ["convert-reduction"].into_iter().chain(arguments.split(' ')).map(str::to_owned).collect()
    };
    for (arguments, conversion) in [
        (
            "--from numpy --axes=-1 --keepdims true --to xla 4x3",
            "xla dimensions=[1], result reshaped to [4, 1]",
        ),
        ("--from numpy --to stablehlo 4x3", "stablehlo dimensions=[0, 1]"),
        ("--from xla --axes 1,0 --to numpy 4x3", "numpy axis=[0, 1]"),
        ("--from onnx --opset 11 --axes=-2 --to array-api 4x3", "array-api axis=[0] keepdims=True"),
        ("--from onnx --opset 13 --sum --axes-input 1 --to pdpd 4x3", "pdpd axis=[1] keepdim=True"),
        ("--from onnx --noop-with-empty-axes true --to numpy 4x3", "numpy axis=[] keepdims=True"),
        ("--from pdpd --axes 1 --to onnx 4x3", "onnx opset=18 input axes=[1] keepdims=0"),
    ] {
        assert_eq!(succeeds(&convert(arguments)), format!("{conversion}\n"), "{arguments}");
    }
    for (code, arguments) in [
        ("axis-out-of-range", "--from numpy --axes 2 --to xla 4x3"),
        ("axis-negative", "--from xla --axes=-1 --to numpy 4x3"),
        ("axes-misplaced", "--from onnx --opset 13 --axes-input 1 --to numpy 4x3"),
        ("inexpressible", "--from onnx --noop-with-empty-axes true --to openvino 4x3"),
        ("bad-shape", "--from numpy --to xla two"),
    ] {
        fails_with(code, &convert(arguments));
    }
    for (option, arguments) in [
        ("opset", "--from numpy --opset 13 --to xla 4x3"),
        ("keepdims", "--from xla --keepdims true --to numpy 4x3"),
        ("--sum", "--from numpy --sum --to xla 4x3"),
        ("--to", "--from numpy --to numpi 4x3"),
    ] {
        let run = indim(&convert(arguments));
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.stderr.contains(option), "{run:?}");
    }
}

#[test]
fn convert_says_why_it_cannot() {
    fails_with("inexpressible", &["convert", "--from", "numpy", "--to", "none", "2,3", "3"]);
    fails_with("size-mismatch", &["convert", "--from", "numpy", "--to", "xla", "2,3", "2"]);
    fails_with("bad-shape", &["convert", "--from", "numpy", "--to", "xla", "2,3", "two"]);
}

#[test]
fn a_bare_rule_with_a_target_broadcasts_to_it() {
    let text = succeeds(&["explain", "--rule", "numpy", "--target", "2x3", "3"]);
    assert!(text.starts_with("unidirectional target=[2, 3]"), "{text}");
    let text = succeeds(&["explain", "--rule", "pdpd", "--target", "2x3x4", "--axis", "1", "3"]);
    assert!(text.starts_with("pdpd axis=1 target=[2, 3, 4]"), "{text}");
}

#[test]
fn an_attribute_that_a_rule_does_not_have_is_wrong_usage() {
    for foreign in [["--dims", "1"], ["--axis", "0"]] {
        let run = indim(&["explain", "--rule", "numpy", foreign[0], foreign[1], "2x3", "3"]);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.stderr.contains(foreign[0]), "{run:?}");
    }
    let run = indim(&["convert", "--from", "none", "--to", "xla", "--target", "3", "3"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    let expected = "error: --axis: rule numpy takes no `axis`; numpy takes no attributes; `axis` belongs to \
                as-written, pdpd, onnx-legacy\n";
    let run = indim(&["explain", "--rule", "numpy", "--axis", "0", "2x3", "3"]);
    assert!(run.stderr.starts_with(expected), "{run:?}");
}

#[test]
fn without_a_rule_the_attributes_say_it() {
    for (arguments, rule) in [
        (&["2x3", "3"][..], "numpy:"),
        (&["--dims", "0", "2x3", "2"], "xla broadcast_dimensions=[0]:"),
        (&["--axis", "0", "2x3", "2"], "pdpd axis=0:"),
        (&["--rule", "as-written", "--axis", "0", "2x3", "2"], "pdpd axis=0:"),
        (&["--target", "2x3", "3"], "unidirectional target=[2, 3]:"),
    ] {
        let text = succeeds(&[&["explain"], arguments].concat());
        assert!(text.starts_with(rule), "{text}");
    }
    fails_with("wrong-operand-count", &["explain", "--target", "2x3", "3", "3"]);
    let run = indim(&["explain", "--dims", "0", "--axis", "0", "2x3", "2"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert_eq!(
        succeeds(&["convert", "--from", "as-written", "--dims", "0", "--to", "pdpd", "2,3", "2"]),
        "pdpd axis=0\n"
    );
    assert_eq!(
        indim(&["convert", "--from", "numpy", "--to", "as-written", "2,3", "3"]).code,
        Some(2)
    );
}

#[test]
fn every_rule_of_operations_explains_expressions() {
    for rule in RuleChoice::of_operations() {
        let [x, y] = match rule {
            RuleChoice::Named(RuleSetName::Named) => ["x=f32[t:2,y:3]", "y=f32[t:2,y:3]"],
            _ => ["x=f32[2,3]", "y=f32[2,3]"],
        };
        let text = succeeds(&["explain", "--rule", rule.as_str(), "x + y", x, y]);
        assert!(text.contains("add"), "{rule}: {text}");
    }
    let run = indim(&["explain", "--rule", "bidirectional", "x + x", "x=f32[2]"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("onnx-legacy"), "{run:?}");
}
