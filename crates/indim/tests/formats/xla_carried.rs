//! Programs with operations that indim lacks, written as StableHLO and HLO: with a known operation in place
//! of the foreign one, the written program computes what the source computes; JAX reads what is written.

use std::path::Path;
use std::process::Command;

use crate::support;
use indim::formats::{LoadError, LoadedModel, ModelFormat, ReadOptions, SourceFile, WriteOptions};
use indim_graph::Array;

const MLIR: ModelFormat = ModelFormat::StableHlo;
const HLO: ModelFormat = ModelFormat::Hlo;

/// The program around the operations that indim lacks.
fn carrying(format: ModelFormat, text: &str) -> Result<LoadedModel, LoadError> {
    let (source, options) =
        (SourceFile::new("source", text.as_bytes().to_vec()), ReadOptions::new());
    let error = match LoadedModel::from_source(source.clone(), &options) {
        Ok(model) => model.write(format, &model.declared()?, &WriteOptions::new()).err(),
        Err(error) => Some(error),
    };
    let error = error.expect("the source has operations that indim lacks");
    LoadedModel::carrying(source, &options, format, &error).unwrap_or(Err(error))
}

/// The written text, and the copied operations with their numbers.
fn written(format: ModelFormat, text: &str) -> Result<(String, Vec<(String, usize)>), LoadError> {
    let model = carrying(format, text)?;
    let written = model.write(format, &model.declared()?, &WriteOptions::new())?;
    // The names are those of the source.
    assert!(!written.warnings.iter().any(|warning| warning.contains("names")));
    Ok((String::from_utf8(written.content).expect("a text"), written.carried))
}

fn copied(format: ModelFormat, text: &str) -> (String, Vec<(String, usize)>) {
    written(format, text).unwrap_or_else(|error| panic!("{}\n{text}", error.draw()))
}

/// The results, with a square root in place of the foreign operation.
fn run(text: &str, inputs: &[Array]) -> Vec<Array> {
    let text =
        text.replace("\"acme.foreign\"", "\"stablehlo.sqrt\"").replace(" foreign(", " sqrt(");
    let model = support::read("text", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    support::run(&*model, inputs).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The text written once, and once more from what was written; each computes the same as the source.
fn agrees(format: ModelFormat, text: &str, inputs: &[Array]) -> String {
    let expected = run(text, inputs);
    let (first, carried) = copied(format, text);
    assert_eq!(run(&first, inputs), expected, "{first}");
    let (second, again) = copied(format, &first);
    assert_eq!(run(&second, inputs), expected, "{second}");
    assert_eq!(again, carried);
    first
}

fn numbers(sizes: &[usize], first: f32) -> Array {
    let count: usize = sizes.iter().product();
    let elements: Vec<f32> = (0..count).map(|at| first + (at * 7 % 5) as f32).collect();
    Array::new(sizes, elements).expect("as many as the sizes say")
}

/// Calls, loops, branches, several results, second names of values, and operations without a reader.
const STABLEHLO: &str = r##"#where = loc("here.py":1:2)
module @source attributes {mhlo.num_partitions = 1 : i32} {
  sdy.mesh @mesh = <["i"=2]>
  func.func private @unused(%x: tensor<3xf32>) -> tensor<3xf32> {
    return %x : tensor<3xf32>
  }
  func.func private @inner(%x: tensor<3xf32>) -> tensor<3xf32> {
    %0 = "acme.foreign"(%x) : (tensor<3xf32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
  func.func private @outer(%x: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.abs %x : tensor<3xf32>
    %1 = call @inner(%0) : (tensor<3xf32>) -> tensor<3xf32>
    return %1 : tensor<3xf32>
  }
  func.func public @main(%x: tensor<3xf32> {mhlo.sharding = "{replicated}"}, %flag: tensor<i32>,
      %spare: tensor<2xf32>) -> (tensor<3xf32> {jax.result_info = "first"}, tensor<3xf32>,
      tensor<3xf32>) attributes {jax.kept = true} {
    %one = stablehlo.constant dense<1.0> : tensor<3xf32>
    %same = stablehlo.constant dense<1.0> : tensor<3xf32>
    %w1 = stablehlo.add %x, %one : tensor<3xf32>
    %again = stablehlo.add %x, %same : tensor<3xf32>
    %0 = "acme.foreign"(%w1) {kind = #acme.kind<"a, %b">, where = dense<[1, 2]> : tensor<2xi64>}
        : (tensor<3xf32>) -> tensor<3xf32> loc(#where)
    %1 = "acme.foreign"(%again) : (tensor<3xf32>) -> tensor<3xf32>
    %2 = "acme.foreign"(%same) : (tensor<3xf32>) -> tensor<3xf32>
    %sorted:2 = "stablehlo.sort"(%0, %1) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
      %less = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    }) : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    %3 = "acme.foreign"(%sorted#1) : (tensor<3xf32>) -> tensor<3xf32>
    %4 = call @outer(%3) : (tensor<3xf32>) -> tensor<3xf32>
    %start = stablehlo.constant dense<0> : tensor<i32>
    %loop:2 = stablehlo.while(%i = %start, %v = %4) : tensor<i32>, tensor<3xf32>
     cond {
      %stop = stablehlo.constant dense<2> : tensor<i32>
      %less = stablehlo.compare LT, %i, %stop, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    } do {
      %step = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %step : tensor<i32>
      %more = "acme.foreign"(%v) : (tensor<3xf32>) -> tensor<3xf32>
      %sum = stablehlo.add %more, %2 : tensor<3xf32>
      stablehlo.return %next, %sum : tensor<i32>, tensor<3xf32>
    }
    %choice = "stablehlo.case"(%flag) ({
      %5 = stablehlo.negate %loop#1 : tensor<3xf32>
      stablehlo.return %5 : tensor<3xf32>
    }, {
      %5 = "acme.foreign"(%loop#1) : (tensor<3xf32>) -> tensor<3xf32>
      stablehlo.return %5 : tensor<3xf32>
    }) : (tensor<i32>) -> tensor<3xf32>
    %end = stablehlo.multiply %choice, %sorted#0 : tensor<3xf32>
    return %end, %sorted#0, %x : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  }
}
"##;

#[test]
fn stablehlo_is_written_around_what_indim_lacks() {
    for flag in [0, 1] {
        let inputs = [numbers(&[3], 1.0), Array::from_scalar(flag), numbers(&[2], 0.0)];
        let text = agrees(MLIR, STABLEHLO, &inputs);
        for kept in [
            "%0 = \"acme.foreign\"(%w1) {kind = #acme.kind<\"a, %b\">, where = dense<[1, 2]> : \
             tensor<2xi64>}\n        : (tensor<3xf32>) -> tensor<3xf32> loc(#where)",
            "#where = loc(\"here.py\":1:2)",
            "module @source attributes {mhlo.num_partitions = 1 : i32} {",
            "sdy.mesh @mesh = <[\"i\"=2]>",
            "@inner",
            "%x: tensor<3xf32> {mhlo.sharding = \"{replicated}\"}, %flag: tensor<i32>,",
            "attributes {jax.kept = true} {",
            "%sorted:2 = stablehlo.optimization_barrier ",
        ] {
            assert!(text.contains(kept), "{kept}\n{text}");
        }
        assert!(!text.contains("@unused"), "{text}");
    }
    let (_, carried) = copied(MLIR, STABLEHLO);
    let names = [("acme.foreign", 4), ("func.call @outer", 1), ("stablehlo.case", 1)];
    let names = names.into_iter().chain([("stablehlo.while", 1)]);
    assert_eq!(carried, names.map(|(name, count)| (name.to_owned(), count)).collect::<Vec<_>>());
}

/// Texts of operations that stay as they are, each with the operand `%0` and nothing that reads it.
const KEPT: [&str; 8] = [
    "%t = stablehlo.custom_call @tuples(%0) : (tensor<3xf32>) -> tuple<tensor<3xf32>, tensor<i32>>\n    \
     %u = stablehlo.get_tuple_element %t[0] : (tuple<tensor<3xf32>, tensor<i32>>) -> tensor<3xf32>",
    "%t = stablehlo.custom_call @open(%0) {api_version = 4 : i32} : (tensor<3xf32>) -> tensor<?xf32>\n    \
     %u = stablehlo.abs %t : tensor<?xf32>",
    "stablehlo.custom_call @log(%0) {has_side_effect = true} : (tensor<3xf32>) -> ()",
    "%t:2 = stablehlo.custom_call @two(%0) {backend_config = \"\\22}\", output_operand_aliases = \
     [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, \
     operand_tuple_indices = []>]} : (tensor<3xf32>) -> (tensor<3xf32>, tensor<i32>)",
    "%t = stablehlo.custom_call @calls(%0) {called_computations = [@called]} : (tensor<3xf32>) -> \
     tensor<3xf32>",
    "%t = stablehlo.abs %0 {mhlo.frontend_attributes = {k = \"v\"}} : tensor<3xf32>",
    "%t = sdy.sharding_constraint %0 <@mesh, [{\"i\"}]> : tensor<3xf32>",
    "%t = acme.body(%0) args (%arg9: tensor<1xf32>) {\n      %s = acme.half %arg9 : tensor<1xf32>\n      \
     acme.return %s : tensor<1xf32>\n    } : (tensor<3xf32>) -> tensor<3xf32>\n    \
     %u = stablehlo.custom_call @after(%t) : (tensor<3xf32>) -> tensor<3xf32>",
];

fn around(operations: &str) -> String {
    format!(
        "module @m {{
  sdy.mesh @mesh = <[\"i\"=3]>
  func.func private @called(%x: tensor<f32>) -> tensor<f32> {{
    return %x : tensor<f32>
  }}
  func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {{
    %0 = stablehlo.add %x, %x : tensor<3xf32>
    \"acme.first\"(%0) : (tensor<3xf32>) -> ()
    {operations}
    \"acme.last\"(%0) : (tensor<3xf32>) -> ()
    %1 = stablehlo.multiply %0, %x : tensor<3xf32>
    return %1 : tensor<3xf32>
  }}
}}
"
    )
}

#[test]
fn operations_of_stablehlo_keep_their_texts_and_order() {
    for operations in KEPT {
        let (text, carried) = copied(MLIR, &around(operations));
        let find = |piece: &str| text.find(piece).unwrap_or_else(|| panic!("{piece}\n{text}"));
        let order =
            ["%0 = stablehlo.add %x, %x", "\"acme.first\"(%0)", operations, "\"acme.last\"(%0)"];
        let places = order.map(find);
        assert!(places.is_sorted(), "{text}");
        assert_eq!(text.contains("@called("), operations.contains("@called"), "{text}");
        assert_eq!(copied(MLIR, &text), (text.clone(), carried));
    }
    // A type behind the regions of an operation is the one of its result.
    let text = around(KEPT[7])
        .replace("%0, %x : tensor<3xf32>\n    return", "%t, %x : tensor<3xf32>\n    return");
    assert!(copied(MLIR, &text).0.contains("%1 = stablehlo.multiply %t, %x"), "{text}");
}

#[test]
fn a_function_of_copied_operations_alone_stays() {
    let text = "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n  \
                %0 = stablehlo.custom_call @f(%x) : (tensor<?xf32>) -> tensor<?xf32>\n    \
                return %0 : tensor<?xf32>\n}\n";
    let carried = vec![("stablehlo.custom_call @f".to_owned(), 1)];
    assert_eq!(copied(MLIR, text), (text.to_owned(), carried));
}

#[test]
fn what_cannot_be_copied_is_refused() {
    let foreign = "%9 = \"acme.foreign\"(%0) : (tensor<3xf32>) -> tensor<3xf32>";
    let of_mlir = |text: String| written(MLIR, &text).unwrap_err().code();
    let text = around(foreign);
    assert_eq!(of_mlir(format!("module {{\n{text}}}")), "unsupported");
    assert_eq!(of_mlir(text.replace("foreign\"(%0)", "foreign\"(%7)")), "undefined");
    assert_eq!(
        of_mlir(
            text.replace(
                "(%0) : (tensor<3xf32>) -> tensor<3",
                "(%0) : (tensor<2xf32>) -> tensor<3"
            )
        ),
        "type-mismatch"
    );
    assert_eq!(of_mlir(text.replace("%9 =", "%0 =")), "duplicate");
    let of_hlo = |text: &str| written(HLO, text).unwrap_err().code();
    let nested = "HloModule m\nENTRY main {\n  x = f32[2] parameter(0)\n  \
                  ROOT y = f32[2] add(f32[2] abs(x), x)\n}\n";
    assert_eq!(of_hlo(&nested.replace("abs(", "foreign(")), "unsupported");
}

/// Calls, loops, branches, tuples, an own layout, and an order that is not that of the results.
const HLO_TEXT: &str = r#"HloModule source, num_partitions=1,
  entry_computation_layout={(f32[3]{0}, s32[], f32[2,3]{0,1})->(f32[3]{0}, f32[3]{0})}

unused (x: f32[3]) -> f32[3] {
  ROOT x = f32[3] parameter(0)
}

inner {
  x = f32[3]{0} parameter(0)
  ROOT y = f32[3]{0} foreign(x)
}

%outer (x: f32[3]) -> f32[3] {
  %x = f32[3]{0} parameter(0)
  ROOT %y = f32[3]{0} call(f32[3]{0} %x), to_apply=inner
}

condition {
  state = (s32[], f32[3]{0}) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  stop = s32[] constant(2)
  ROOT less = pred[] compare(i, stop), direction=LT
}

body {
  state = (s32[], f32[3]{0}) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  v = f32[3]{0} get-tuple-element(state), index=1
  more = f32[3]{0} foreign(v)
  ROOT both = (s32[], f32[3]{0}) tuple(next, more)
}

negated {
  x = f32[3]{0} parameter(0)
  ROOT y = f32[3]{0} negate(x)
}

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  v3 = f32[3]{0} parameter(0), metadata={op_name="x"}
  flag = s32[] parameter(1), sharding={replicated}
  wide = f32[2,3]{0,1} parameter(2)
  one = f32[3]{0} constant({1, 1, 1})
  same = f32[3]{0} constant({1, 1, 1})
  w1 = f32[3]{0} add(v3, one)
  %inf = f32[3]{0} subtract(same, v3)
  %first = f32[3]{0} foreign(w1), metadata={op_name="w1 (again)"}, backend_config={"a": "}"}
  second = f32[3]{0} foreign(%inf)
  third = f32[3]{0} foreign(same)
  sum = f32[3]{0} add(%first, second)
  zero = f32[] constant(0)
  abs = f32[2,3]{0,1} abs(wide)
  columns = f32[3]{0} reduce(abs, zero), dimensions={0}, to_apply=add
  total = f32[] reduce(sum, zero), dimensions={0}, to_apply=add
  totals = f32[3]{0} broadcast(total), dimensions={}
  called = f32[3]{0} call(sum), to_apply=outer, control-predecessors={%third, %inf}
  start = s32[] constant(0)
  state = (s32[], f32[3]{0}) tuple(start, called)
  loop = (s32[], f32[3]{0}) while(state), condition=condition, body=body
  result = f32[3]{0} get-tuple-element(loop), index=1
  choice = f32[3]{0} conditional(flag, result, columns), branch_computations={negated, inner}
  scaled = f32[3]{0} multiply(choice, totals)
  ROOT results = (f32[3]{0}, f32[3]{0}) tuple(scaled, third)
}
"#;

#[test]
fn hlo_is_written_around_what_indim_lacks() {
    for flag in [0, 1] {
        let inputs = [numbers(&[3], 1.0), Array::from_scalar(flag), numbers(&[2, 3], 2.0)];
        let text = agrees(HLO, HLO_TEXT, &inputs);
        for kept in [
            "HloModule source, num_partitions=1,\n  entry_computation_layout={(f32[3]{0}, s32[],",
            "%first = f32[3]{0} foreign(w1), metadata={op_name=\"w1 (again)\"}, \
             backend_config={\"a\": \"}\"}",
            "flag = s32[] parameter(1), sharding={replicated}",
            "inner {",
            "control-predecessors={%third, %inf}",
            // Without the sign this name is a number.
            "%inf = f32[3] ",
            "ROOT results = (f32[3]{0}, f32[3]{0}) tuple(scaled, third)",
        ] {
            assert!(text.contains(kept), "{kept}\n{text}");
        }
        assert!(!text.contains("unused"), "{text}");
    }
    // A result that is computed is the root.
    let text = HLO_TEXT.replace("ROOT results", "results").replace("scaled = ", "ROOT scaled = ");
    let text = text.replace("  results = (f32[3]{0}, f32[3]{0}) tuple(scaled, third)\n", "");
    let inputs = [numbers(&[3], 1.0), Array::from_scalar(1_i32), numbers(&[2, 3], 2.0)];
    assert!(agrees(HLO, &text, &inputs).contains("ROOT %scaled = f32[3] multiply("));
}

/// Damaged copies of a text: lines, characters or the rest are missing or changed.
fn damaged(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut texts = Vec::new();
    for at in 0..lines.len() {
        let mut fewer = lines.clone();
        fewer.remove(at);
        texts.push(fewer.join("\n"));
        let mut swapped = lines.clone();
        swapped.swap(at, (at + 1) % lines.len());
        texts.push(swapped.join("\n"));
    }
    for at in (0..text.len()).step_by(23) {
        texts.push(text[..at].to_owned());
        for new in ["", "%", "}", "\"", "#1", "é"] {
            texts.push(format!("{}{new}{}", &text[..at], &text[at + 1..]));
        }
    }
    texts
}

#[test]
fn what_is_written_from_a_damaged_text_is_read_again() {
    let mut count = 0;
    let mlir = [STABLEHLO.to_owned(), around(&KEPT.join("\n    ").replace("%t", "%t0"))];
    let sources = mlir.iter().map(|text| (MLIR, &text[..])).chain([(HLO, HLO_TEXT)]);
    for (format, text) in sources {
        for text in damaged(text) {
            let source = SourceFile::new("damaged", text.clone().into_bytes());
            let options = ReadOptions::new();
            let Err(error) = LoadedModel::from_source(source.clone(), &options) else { continue };
            let Some(Ok(model)) = LoadedModel::carrying(source, &options, format, &error) else {
                continue;
            };
            let Ok(inputs) = model.declared() else { continue };
            let Ok(written) = model.write(format, &inputs, &WriteOptions::new()) else { continue };
            let new = String::from_utf8(written.content).expect("a text");
            let again = self::written(format, &new);
            again.unwrap_or_else(|error| panic!("{}\n{text}\n-----\n{new}", error.draw()));
            count += 1;
        }
    }
    assert!(count > 200, "{count}");
}

/// Runs if the environment variable names a Python with jax.
#[test]
fn jax_reads_its_programs_with_copied_operations() {
    let Some(python) = std::env::var_os("INDIM_JAX_PYTHON") else {
        eprintln!("skipped: INDIM_JAX_PYTHON names no Python with jax");
        return;
    };
    let folder = std::env::temp_dir().join(format!("indim-carried-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/formats/support/xla_carried.py");
    let call = |step: &str| {
        let mut command = Command::new(&python);
        let run = command.arg(script).arg(step).arg(&folder).output().expect("the script starts");
        eprintln!("{}", String::from_utf8_lossy(&run.stdout));
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    };
    call("make");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("the folder of the script") {
        let path = entry.expect("a file").path();
        let format = if has_extension(&path, "hlo") { HLO } else { MLIR };
        let text = std::fs::read_to_string(&path).expect("a text");
        let (new, carried) = copied(format, &text);
        assert!(!carried.is_empty());
        assert_eq!(copied(format, &new).1, carried, "{new}");
        std::fs::write(format!("{}.new", path.display()), new).expect("a file");
        count += 1;
    }
    call("check");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    assert!(count >= 40, "{count}");
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}
