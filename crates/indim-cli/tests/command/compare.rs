//! `indim compare`: dumps in folders and archives, verdicts and exit codes.

use crate::run::{Folder, fails, indim, succeeds};

const PROGRAM: &str = "\
func.func @main(%x: tensor<2xf32> loc(\"x\")) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  %1 = stablehlo.custom_call @foreign(%0) : (tensor<2xf32>) -> tensor<2xf32>
  %2 = stablehlo.multiply %1, %0 : tensor<2xf32>
  %3 = stablehlo.negate %2 : tensor<2xf32>
  return %3 : tensor<2xf32>
}
";

/// A folder with the program, and a dump in which 2 is wrong if `wrong`.
fn dumped(wrong: bool) -> (Folder, String, String) {
    let folder = Folder::new();
    let program = folder.file("program.mlir");
    std::fs::write(&program, PROGRAM).expect("the file is written");
    let (program, values) = (program.display().to_string(), folder.file("values"));
    std::fs::create_dir(&values).expect("the folder is made");
    let write = |name: &str, literal: &str| {
        let path = values.join(name).display().to_string();
        succeeds(&["eval", "x", &format!("x={literal}"), "-o", &path]);
    };
    write("0.npy", "f32([2, 4])");
    write("1.npy", "f32([10, 20])");
    write("2.npy", if wrong { "f32([20.000002, 80])" } else { "f32([20, 80])" });
    write("3.npy", if wrong { "f32([-20.000002, -80])" } else { "f32([-20, -80])" });
    (folder, program, values.display().to_string())
}

#[test]
fn a_dump_of_equal_values_agrees() {
    let (_folder, program, values) = dumped(false);
    assert_eq!(
        succeeds(&["compare", &program, "--dump", &values, "x=f32([1, 2])", "--all"]),
        "agrees   0 (stablehlo.add): 0 ulp\n\
         agrees   2 (stablehlo.multiply): 0 ulp\n\
         agrees   3 (stablehlo.negate): 0 ulp\n\
         3 values compared, 0 different; the others are equal\n\
         given, because nothing computes it here: 1 (stablehlo.custom_call @foreign)\n"
    );
    let without = succeeds(&["compare", &program, "--dump", &values]);
    assert!(without.starts_with("2 values compared, 0 different"), "{without}");
    assert!(without.contains("the dump lacks a value: 0 needs x\n"), "{without}");
}

#[test]
fn the_first_difference_is_named_with_its_node() {
    let (_folder, program, values) = dumped(true);
    let given = ["compare", &program, "--dump", &values, "x=f32([1, 2])", "--ulps"];
    let run = indim(&[&given[..], &["0"]].concat());
    assert_eq!(run.code, Some(1));
    let place = format!("  --> {program}:4:8\n");
    let found =
        "   1 of 2 elements, the first at 0: 20.0 where 20.000002 belongs, at most 1 ulp apart\n";
    let text = format!("first difference: `2` of stablehlo.multiply\n{place}{found}");
    assert!(run.stdout.starts_with(&text), "{}", run.stdout);
    assert!(run.stdout.contains("3 values compared, 1 different"), "{}", run.stdout);
    let near = succeeds(&[&given[..], &["1"]].concat());
    assert!(near.contains("0 different; the others by at most 1 ulp (`2`)\n"), "{near}");
}

#[test]
fn only_floats_differ_by_units_in_the_last_place() {
    let folder = Folder::new();
    let (program, values) = (folder.file("program.mlir"), folder.file("values"));
    let text = "\
func.func @main(%x: tensor<2xi32> loc(\"x\")) -> tensor<2xi1> {
  %0 = stablehlo.add %x, %x : tensor<2xi32>
  %1 = stablehlo.compare LT, %0, %x, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
  return %1 : tensor<2xi1>
}
";
    std::fs::write(&program, text).expect("the file is written");
    std::fs::create_dir(&values).expect("the folder is made");
    let write = |name: &str, literal: &str| {
        let path = values.join(name).display().to_string();
        succeeds(&["eval", "x", &format!("x={literal}"), "-o", &path]);
    };
    write("0.npy", "i32([2, 7])");
    write("1.npy", "bool([true, false])");
    let [program, dump] = [&program, &values].map(|path| path.display().to_string());
    let run = indim(&["compare", &program, "--dump", &dump, "x=i32([1, 2])", "--all"]);
    let expected = format!(
        "differs  0 (stablehlo.add): difference 3\n\
         differs  1 (stablehlo.compare): difference 1\n\
         first difference: `0` of stablehlo.add\n  --> {program}:2:8\n   \
         1 of 2 elements, the first at 1: 4 where 7 belongs, at most 3 apart\n\
         2 values compared, 2 different\n"
    );
    assert_eq!((run.code, run.stdout), (Some(1), expected));
    write("0.npy", "i32([2, 4])");
    write("1.npy", "bool([false, false])");
    let agreeing = succeeds(&["compare", &program, "--dump", &dump, "x=i32([1, 2])", "--all"]);
    assert!(agreeing.starts_with("agrees   0 (stablehlo.add): difference 0\n"), "{agreeing}");
}

const HLO: &str = "\
HloModule m

ENTRY main {
  x = f32[2]{0} parameter(0)
  s = f32[2]{0} add(x, x)
  ROOT p = f32[2]{0} multiply(s, x)
}
";

#[test]
fn an_archive_is_a_dump() {
    let folder = Folder::new();
    let program = folder.file("program.hlo");
    std::fs::write(&program, HLO).expect("the file is written");
    let program = program.display().to_string();
    for archive in ["values.npz", "values.safetensors"] {
        let archive = folder.file(archive).display().to_string();
        let statements = "s = x + x; p = s * x; a = x * 1; s, p, a";
        succeeds(&["eval", statements, "x=f32([1.5, -2])", "-o", &archive]);
        let text = succeeds(&["compare", &program, "--dump", &archive, "x=f32([1.5, -2])"]);
        assert_eq!(
            text,
            "2 values compared, 0 different; the others are equal\n\
             not compared, because no value has the name: a\n"
        );
    }
}

#[test]
fn a_dump_without_values_is_an_error() {
    let (folder, program, _) = dumped(false);
    let empty = folder.file("empty");
    std::fs::create_dir(&empty).expect("the folder is made");
    let message = fails(&["compare", &program, "--dump", &empty.display().to_string()]);
    assert!(message.starts_with("error[nothing-compared]"), "{message}");
    let x = empty.join("y.npy").display().to_string();
    succeeds(&["eval", "x", "x=1", "-o", &x]);
    let message = fails(&["compare", &program, "--dump", &empty.display().to_string()]);
    assert!(message.contains("no value has the name: y"), "{message}");
    let missing = folder.file("missing").display().to_string();
    assert!(fails(&["compare", &program, "--dump", &missing]).starts_with("error[io]"));
}
