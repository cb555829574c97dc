//! `indim eval`: results, rules, output files, threads, and drawn errors.

use std::fs;

use crate::run::{Folder, f32_bytes, fails, fails_with, indim, npy, succeeds};
#[cfg(target_os = "linux")]
use crate::run::{binary, finish, is_emulated};
#[cfg(target_os = "linux")]
use std::process::Command;

#[test]
fn prints_as_numpy_does() {
    for (expression, printed) in [
        ("f32([1, 2.5, -3])", "[ 1.   2.5 -3. ]"),
        ("[[1, 2], [3, 40]] > 2", "[[False False]\n [ True  True]]"),
        ("i32[5]", "[5]"),
        ("1.5", "1.5"),
        ("[nan, inf, -inf, 0.1]", "[ nan  inf -inf  0.1]"),
        ("f64[1e-10, 1]", "[1.e-10 1.e+00]"),
    ] {
        // Expressions have no array literals, but the source of an input has.
        let (source, expression) = match expression.strip_prefix("f32(") {
            Some(rest) => (rest.trim_end_matches(')'), "f32(x)"),
            None if expression.ends_with("> 2") => (expression.trim_end_matches(" > 2"), "x > 2"),
            None => (expression, "+x"),
        };
        let printed = format!("{printed}\n");
        assert_eq!(succeeds(&["eval", expression, &format!("x={source}")]), printed);
    }
}

#[test]
fn long_arrays_are_summarised() {
    let printed = succeeds(&["eval", "iota(i64, [2000], axis=0)"]);
    assert_eq!(printed, "[   0    1    2 ... 1997 1998 1999]\n");
}

#[test]
fn the_rule_option_rules_every_operation() {
    let operands = ["x=f32[[1,2],[3,4]]", "y=f32[10,20]"];
    let eval = |rule: &str, expression: &str| {
        let arguments = ["eval", "--rule", rule, expression, operands[0], operands[1]];
        indim(&arguments)
    };
    assert_eq!(eval("numpy", "x + y").stdout, "[[11. 22.]\n [13. 24.]]\n");
    assert_eq!(eval("pdpd", "add(x, y, axis=0)").stdout, "[[11. 12.]\n [23. 24.]]\n");
    assert_eq!(eval("xla", "add(x, y, dims=[0])").stdout, "[[11. 12.]\n [23. 24.]]\n");
    assert_eq!(eval("onnx-legacy", "x + y").stdout, "[[11. 22.]\n [13. 24.]]\n");
    assert_eq!(eval("onnx-legacy", "add(x, y, axis=0)").stdout, "[[11. 12.]\n [23. 24.]]\n");
    let equal = "x + broadcast_in_dim(y, shape=[2,2], dims=[0])";
    assert_eq!(eval("stablehlo", equal).stdout, "[[11. 12.]\n [23. 24.]]\n");
    for rule in ["as-written", "numpy", "pdpd", "onnx-legacy"] {
        assert_eq!(eval(rule, "x + y").stdout, "[[11. 22.]\n [13. 24.]]\n", "{rule}");
    }
    assert_eq!(eval("as-written", "add(x, y, axis=0)").stdout, "[[11. 12.]\n [23. 24.]]\n");
    assert_eq!(eval("as-written", "add(x, y, dims=[0])").stdout, "[[11. 12.]\n [23. 24.]]\n");
    for (rule, expression, code) in [
        ("none", "x + y", "shapes-differ"),
        ("xla", "x + y", "rank-mismatch-without-dims"),
        ("xla", "add(x, y, axis=0)", "foreign-attribute"),
        ("numpy", "add(x, y, axis=0)", "foreign-attribute"),
        ("numpy", "add(x, y, dims=[0])", "foreign-attribute"),
        ("as-written", "add(x, y, dims=[0], axis=0)", "conflicting-attributes"),
        ("stablehlo", "x + y", "shapes-differ"),
        ("stablehlo", "add(x, y, dims=[0])", "foreign-attribute"),
        ("onnx-legacy", "y + x", "rank-too-large"),
        ("pdpd", "y + x", "rank-too-large"),
    ] {
        let run = eval(rule, expression);
        assert_eq!(run.code, Some(1));
        assert!(run.stderr.starts_with(&format!("error[{code}]")), "{rule}: {}", run.stderr);
    }
}

#[test]
fn an_attribute_of_another_rule_is_refused_with_what_belongs() {
    let arguments = ["eval", "--rule", "numpy", "add(x, y, dims=[0])", "x=[[1,2]]", "y=[1]"];
    let error = fails(&arguments);
    assert_eq!(
        error,
        "\
error[foreign-attribute]: rule numpy takes no `dims`
   | add(x, y, dims=[0])
   |           ^^^^^^^^
   = help: numpy takes no attributes; `dims` belongs to as-written, xla
"
    );
}

#[test]
fn output_files_read_back() {
    let folder = Folder::new();
    let path = folder.file("y.npy");
    let output = path.to_str().expect("UTF-8");
    assert_eq!(succeeds(&["eval", "x * 2", "x=f32[[1,2],[3,4]]", "-o", output]), "");
    let elements = [2.0f32, 4.0, 6.0, 8.0].map(f32::to_ne_bytes).concat();
    // Files are written in native byte order.
    let descr = if cfg!(target_endian = "little") { "<f4" } else { ">f4" };
    assert_eq!(fs::read(&path).expect("a file"), npy(descr, false, "(2, 2)", &elements));
    assert_eq!(succeeds(&["eval", "y", &format!("y={output}")]), "[[2. 4.]\n [6. 8.]]\n");
    assert_eq!(folder.names(), ["y.npy"]);
}

#[test]
fn the_output_may_be_the_input() {
    let folder = Folder::new();
    let binding = folder.bind("x", "x.npy", &npy("<f4", false, "(2,)", &f32_bytes(&[1.0, 2.0])));
    let path = folder.file("x.npy");
    succeeds(&["eval", "x + 1", &binding, "-o", path.to_str().expect("UTF-8")]);
    assert_eq!(succeeds(&["eval", "x", &binding]), "[2. 3.]\n");
}

#[test]
fn an_old_file_survives_a_failure() {
    let folder = Folder::new();
    let path = folder.file("y.npy");
    let output = path.to_str().expect("UTF-8");
    fs::write(&path, b"old").expect("written");
    // Shapes without a match, and sizes that exceed every memory.
    fails_with("size-mismatch", &["eval", "x + y", "x=[1,2]", "y=[1,2,3]", "-o", output]);
    fails(&["eval", "iota(u8, [4000000000000000], axis=0)", "-o", output]);
    assert_eq!(fs::read(&path).expect("a file"), b"old");
    assert_eq!(folder.names(), ["y.npy"]);
}

#[test]
fn a_result_that_cannot_be_put_in_place_leaves_nothing_behind() {
    let folder = Folder::new();
    fs::create_dir(folder.file("y.npy")).expect("a folder");
    let path = folder.file("y.npy");
    fails_with("not-a-file", &["eval", "x", "x=[1]", "-o", path.to_str().expect("UTF-8")]);
    assert_eq!(folder.names(), ["y.npy"]);
    let nowhere = folder.file("no/such/y.npy");
    fails_with("io", &["eval", "x", "x=[1]", "-o", nowhere.to_str().expect("UTF-8")]);
    let message = fails(&["eval", "x", "x=[1]", "-o", nowhere.to_str().expect("UTF-8")]);
    assert!(message.contains(&format!("{}: there is no folder", nowhere.display())), "{message}");
    assert!(!message.contains(".indim-"), "the temporary file is not the user's: {message}");
}

#[test]
fn output_goes_to_standard_output_on_request() {
    let output = crate::run::command().args(["eval", "x", "x=u8[1,2,3]", "-o", "-"]).output();
    let expected = npy("|u1", false, "(3,)", &[1, 2, 3]);
    assert_eq!(output.expect("runs").stdout, expected);
}

#[test]
fn the_bits_are_those_of_any_number_of_threads() {
    let folder = Folder::new();
    let mut files = Vec::new();
    for threads in ["1", "2", "7"] {
        let path = folder.file(threads);
        let expression =
            "sin(iota(f32, [300, 1000], axis=1)) * exp(iota(f32, [300, 1000], axis=0) / 300)";
        let output = path.to_str().expect("UTF-8");
        succeeds(&["eval", expression, "--threads", threads, "-o", output]);
        files.push(fs::read(&path).expect("a file"));
    }
    assert!(files[0].len() > 300 * 1000 * 4);
    assert_eq!(files[0], files[1]);
    assert_eq!(files[0], files[2]);
}

#[test]
fn the_bits_are_those_of_every_level() {
    let expression = "tanh(iota(f32, [1000], axis=0) / 100) ** 3";
    let at = |level: &str| {
        let mut command = crate::run::command();
        command.args(["eval", expression, "-o", "-"]).env("INDIM_LEVEL", level);
        command.output().expect("runs")
    };
    let detected = crate::run::command().args(["eval", expression, "-o", "-"]).output();
    let detected = detected.expect("runs").stdout;
    assert!(detected.len() > 4000);
    assert!(at("baseline").stdout == detected);
    let unknown = at("mmx");
    assert_eq!(unknown.status.code(), Some(1));
    assert!(unknown.stderr.starts_with(b"error[level]"));
}

#[test]
fn the_bits_are_those_of_every_executor() {
    let expression = "tanh(iota(f32, [1000], axis=0) / 100) ** 3";
    let by = |executor: &str| {
        let mut command = crate::run::command();
        command.args(["eval", expression, "-o", "-"]).env("INDIM_EXECUTOR", executor);
        command.output().expect("runs")
    };
    let blocks = by("blocks").stdout;
    assert!(blocks.len() > 4000);
    assert!(by("machine").stdout == blocks);
    assert!(by("automatic").stdout == blocks);
    let unknown = by("gpu");
    assert_eq!(unknown.status.code(), Some(1));
    let message = String::from_utf8(unknown.stderr).expect("UTF-8");
    assert!(
        message.starts_with("error[unknown-executor]: INDIM_EXECUTOR: `gpu` is not"),
        "{message}"
    );
}

#[test]
fn errors_are_drawn_with_a_caret_under_the_axis() {
    let message = fails(&["eval", "x + bias", "x=f32[[[1,2],[3,4],[5,6]]]", "bias=f32[1,2,3]"]);
    let expected = "\
error[size-mismatch]: `add` cannot broadcast `bias` onto `x` under rule numpy
   | x + bias
   |   ^
   x    : f32[1, 3, 2]
   bias : f32[      3]
                    ^ axis 0 of `bias` is 3, axis 2 of `x` is 2
   = rule N2: right-aligned axes must be equal, or one of them 1
   = help: broadcast_dimensions=[1] gives f32[1, 3, 2] (the only axis of `x` of size 3)
   = help: pdpd axis=1 gives the same; so does bias reshaped to [3, 1] under numpy
";
    assert_eq!(message, expected);
}

#[test]
fn errors_of_the_text_point_at_it() {
    for (expression, code, position) in [
        ("x + ", "unexpected-token", 4),
        ("x + sqrtt(x)", "unknown-function", 4),
        ("x + yy", "unknown-name", 4),
        ("add(x, 1, dimz=[0])", "unknown-keyword", 10),
    ] {
        let message = fails(&["eval", expression, "x=[1,2]"]);
        let mut lines = message.lines();
        let first = lines.next().unwrap_or_default();
        assert!(first.starts_with(&format!("error[{code}]")), "{expression}: {message}");
        assert_eq!(lines.next(), Some(format!("   | {}", expression.trim_end()).as_str()));
        let caret = lines.next().and_then(|line| line.find('^'));
        assert_eq!(caret, Some("   | ".len() + position), "{message}");
    }
}

#[test]
fn names_are_bound_once_and_used() {
    fails_with("unknown-name", &["eval", "x + y", "x=1"]);
    fails_with("unused-name", &["eval", "x + 1", "x=1", "y=2"]);
    fails_with("duplicate-name", &["eval", "x + 1", "x=1", "x=2"]);
    fails_with("bad-binding", &["eval", "x + 1", "x"]);
    fails_with("bad-binding", &["eval", "x + 1", "=1"]);
}

#[test]
fn an_expression_may_begin_with_a_minus() {
    assert_eq!(succeeds(&["eval", "-x ** 2", "x=[1,2]"]), "[-1 -4]\n");
    assert_eq!(succeeds(&["eval", "--rule", "none", "-x", "x=[1,2]"]), "[-1 -2]\n");
    assert!(succeeds(&["explain", "-x", "x=f32[2]"]).contains("neg"));
}

#[test]
fn wrong_usage_is_exit_code_2() {
    for arguments in [
        &["eval"][..],
        &[],
        &["evaluate", "x"],
        &["eval", "x", "x=1", "--threads", "0"],
        &["eval", "x", "x=1", "--threads", "many"],
        &["eval", "x", "x=1", "--threads", "1000000"],
        &["eval", "x", "x=1", "--rule", "torch"],
        &["eval", "x", "x=1", "--no-such-option"],
        &["eval", "--ruel", "xla", "x", "x=1"],
        &["explain", "x", "x=f32[]", "--jsno"],
        &["convert", "2x3", "3"],
        &["oracle", "case"],
    ] {
        let run = indim(arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{arguments:?}");
        assert!(run.stderr.contains("--help") || run.stderr.contains("Usage"), "{}", run.stderr);
    }
}

#[test]
fn help_and_version_are_no_errors() {
    assert!(succeeds(&["--version"]).starts_with("indim 0."));
    for subcommand in ["eval", "explain", "convert", "oracle"] {
        assert!(succeeds(&[subcommand, "--help"]).contains("Usage: indim"), "{subcommand}");
    }
}

#[test]
fn outer_products_are_warned_of_on_request() {
    let expression = "reshape(iota(f32, [100], axis=0), [100, 1]) * iota(f32, [100], axis=0)";
    assert_eq!(indim(&["eval", expression]).stderr, "");
    let run = indim(&["eval", expression, "--warn-outer-product"]);
    assert_eq!(run.code, Some(0));
    assert!(run.stderr.starts_with("warning[outer-product]: `mul`"), "{}", run.stderr);
    assert_eq!(run.stdout, indim(&["eval", expression]).stdout);
}

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "sizes of words of 64 bits")]
fn a_run_beyond_the_memory_limit_is_refused() {
    let expression = ["eval", "a + b", "a=f32[[1],[2]]", "b=f32[1,2,3]"];
    let with_limit = |limit: &'static str| {
        let mut arguments = expression.to_vec();
        arguments.extend(["--memory-limit", limit]);
        arguments
    };
    assert_eq!(succeeds(&with_limit("1MiB")), "[[2. 3. 4.]\n [3. 4. 5.]]\n");
    let error = fails(&with_limit("20B"));
    assert!(error.starts_with("error[memory-limit]: to compile the graph takes "), "{error}");
    assert!(error.contains(" bytes of memory, the limit is 20: raise the limit"), "{error}");

    // Four times 2^40 bytes, more memory than a machine has.
    let iota = "iota(f32, [1048576, 1048576], axis=0)";
    let error = fails(&["eval", iota, "--memory-limit", "2GiB"]);
    let largest = "output 0, f32[1048576, 1048576], with 4398046511104 bytes";
    assert!(error.starts_with("error[memory-limit]: the run needs "), "{error}");
    assert!(error.contains(largest), "{error}");
    assert_eq!(indim(&["eval", iota, "--memory-limit", "2 apples"]).code, Some(2));
}

#[test]
fn a_misspelt_name_is_told_from_one_too_many() {
    let error = fails(&["eval", "x - maen", "x=[1,2]", "mean=2"]);
    assert!(error.starts_with("error[unknown-name]: nothing is bound to `maen`"), "{error}");
    assert!(error.contains("= help: did you mean `mean`?"), "{error}");
    let error = fails(&["eval", "x - 1", "x=[1,2]", "mean=2"]);
    let expected =
        "error[unused-name]: `mean` does not occur in the expression\n   = help: its names are `x`";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn a_bad_literal_names_its_binding() {
    let error = fails(&["eval", "x + weight", "x=1", "weight=[1, 2, [3]]"]);
    assert!(error.starts_with("error[ragged-literal]: in `weight`: "), "{error}");
    let error = fails(&["eval", "x + weight", "x=1", "weight=./no such file"]);
    assert!(error.starts_with("error[no-such-source]: in `weight`: "), "{error}");
}

#[test]
#[cfg(target_os = "linux")]
fn threads_that_the_system_cannot_start() {
    if is_emulated() {
        return;
    }
    // Stacks of 256 MiB: the system refuses a thread while there is address space for small allocations. With
    // small stacks one of these could fail first, which ends the process.
    let script = "ulimit -v 2000000; export RUST_MIN_STACK=268435456
        exec \"$0\" eval 'x + 1' x=1.0 --threads \"$1\"";
    let run = |threads| finish(Command::new("sh").args(["-c", script]).arg(binary()).arg(threads));
    assert_eq!(run("1").stdout, "2.0\n");
    let refused = run("1024");
    assert!(
        refused.stderr.starts_with("error[threads]: the system cannot start"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("\n   = help: use fewer"), "{}", refused.stderr);
}
