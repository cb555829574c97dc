//! Hostile input: enormous ranks and sizes, endless and deeply nested texts, absurd numbers.
//!
//! Each gives an error or a result, within seconds and without a panic.

use crate::run::{Folder, fails, fails_with, indim, indim_with_input, npy, succeeds};

fn nested(depth: usize) -> String {
    format!("{}x{}", "(".repeat(depth), ")".repeat(depth))
}

/// The code of the error of an expression, whose text must fit a command line.
#[track_caller]
fn eval_code(expression: &str) -> String {
    let message = fails(&["eval", expression, "x=f32[1,2]"]);
    message.split_once("]: ").map_or("", |(code, _)| &code["error[".len()..]).to_owned()
}

#[test]
fn deep_texts() {
    assert_eq!(eval_code(&nested(50_000)), "too-deep");
    assert_eq!(eval_code(&format!("{}x", "-".repeat(100_000))), "too-deep");
    assert_eq!(eval_code(&format!("{}x", "exp(".repeat(25_000))), "too-deep");
    assert_eq!(eval_code(&"(".repeat(100_000)), "too-deep");
    assert_eq!(eval_code(&format!("{}x", "x**".repeat(33_000))), "too-deep");
}

#[test]
fn long_texts() {
    // Linux limits an argument to 128 KiB.
    let sum = vec!["x"; 30_000].join("+");
    assert_eq!(succeeds(&["eval", &sum, "x=f32[1,2]"]), "[30000. 60000.]\n");
    let chain = vec!["x"; 5_000].join(" * 0.5 + ");
    assert!(succeeds(&["eval", &chain, "x=f32[1,2]"]).starts_with('['));
    let literal = format!("x=[{}]", vec!["1"; 60_000].join(","));
    assert!(succeeds(&["eval", "x", &literal]).starts_with("[1 1 1 ..."));
}

#[test]
fn many_different_operations() {
    // No two terms are equal, so all of them are computed.
    let terms: Vec<String> = (0..5_000).map(|i| format!("sqrt(x + {i}) * y")).collect();
    let expression = terms.join(" + ");
    let printed = succeeds(&["eval", &expression, "x=f64[1,2]", "y=f64[[1],[2]]"]);
    assert_eq!(printed.lines().count(), 2);
}

#[test]
fn absurd_numbers() {
    let digits = "9".repeat(100_000);
    fails(&["eval", &format!("x + {digits}"), "x=i32[1]"]);
    fails(&["eval", "x + 1", &format!("x={digits}")]);
    fails(&["eval", "x + 1", &format!("x=[{}", "[".repeat(100_000))]);
    assert_eq!(succeeds(&["eval", "x + 1e999", "x=i32[1]"]), "[inf]\n");
    assert_eq!(succeeds(&["eval", "x + 1e999", "x=f32[1]"]), "[inf]\n");
    fails_with("literal-out-of-range", &["eval", "x + 300", "x=u8[1]"]);
}

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "sizes of words of 64 bits")]
fn sizes_that_no_memory_holds() {
    for shape in
        ["f32[9223372036854775807]", "f32[4611686018427387904, 4]", "u8[9223372036854775807, 2]"]
    {
        fails_with("too-large", &["explain", "x + 1", &format!("x={shape}")]);
    }
    fails_with("too-large", &["explain", "x + y", "x=u8[4611686018427387904, 1]", "y=u8[4]"]);
    fails_with("too-large", &["explain", "--rule", "numpy", "[9223372036854775807,1]", "[2]"]);
    // A size of 64 bits, and zeros among sizes whose product overflows.
    succeeds(&["explain", "x + 1", "x=u8[9223372036854775807]"]);
    succeeds(&["explain", "x + 1", "x=f32[0, 9223372036854775807, 9223372036854775807]"]);
    fails(&["eval", "iota(u8, [9223372036854775807], axis=0)"]);
    fails(&["eval", "broadcast_to(x, [9223372036854775807])", "x=u8[1]"]);
}

#[test]
fn ranks_above_64() {
    let ones = |rank: usize| vec!["1"; rank].join(",");
    let shape = |rank: usize| format!("x=f32[{}]", ones(rank));
    assert!(succeeds(&["explain", "x + 1", &shape(64)]).contains("add"));
    fails_with("rank-limit", &["explain", "x + 1", &shape(65)]);
    fails_with("rank-limit", &["explain", "--rule", "numpy", &ones(65), "2"]);
    let twos = vec!["2"; 61].join(",");
    fails_with("too-large", &["explain", "x + 1", &format!("x=f32[{twos}]")]);
    let value = |rank: usize| format!("reshape(x, [{}]) + x", ones(rank));
    succeeds(&["eval", &value(64), "x=f32[5]"]);
    fails_with("rank-limit", &["eval", &value(65), "x=f32[5]"]);
    let deep = format!("x={}1{}", "[".repeat(70), "]".repeat(70));
    fails_with("rank-limit", &["eval", "x + 1", &deep]);
}

#[test]
fn hostile_headers() {
    let folder = Folder::new();
    let axes = vec!["1"; 60_00].join(", ");
    let binding = folder.bind("x", "x.npy", &npy("<f4", false, &format!("({axes})"), &[0; 4]));
    assert_ne!(indim(&["eval", "x + 1", &binding]).code, Some(101));
    let mut endless = b"\x93NUMPY\x02\x00".to_vec();
    endless.extend(u32::MAX.to_le_bytes());
    endless.extend(b"{'descr': ");
    let binding = folder.bind("x", "y.npy", &endless);
    fails(&["eval", "x", &binding]);
}

#[test]
fn hostile_cases() {
    let cases = [
        format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)),
        format!("{{\"rule\":\"numpy\",\"operands\":[{{\"shape\":[{}1]}}]}}", "1,".repeat(10_000)),
        r#"{"rule":"numpy","operands":[{"shape":[9223372036854775807]},{"shape":[2,1]}]}"#.to_owned(),
        r#"{"rule":"numpy","operands":[{"shape":[1e400]}]}"#.to_owned(),
        r#"{"rule":"numpy","operands":[{"shape":[-1]}]}"#.to_owned(),
        r#"{"rule":"pdpd","axis":9223372036854775807,"operands":[{"shape":[1]},{"shape":[1]}]}"#.to_owned(),
        concat!(
            r#"{"rule":"xla","op":"add","operands":["#,
            r#"{"dtype":"f32","shape":[4000000000],"data":[1]},{"dtype":"f32","shape":[],"data":[1]}]}"#,
        )
        .to_owned(),
    ];
    let run = indim_with_input(&["oracle"], cases.join("\n").as_bytes());
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let verdicts: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(verdicts.len(), cases.len());
    for index in [0, 2, 3, 4, 5, 6] {
        assert!(
            verdicts[index].starts_with("{\"ok\":false"),
            "{}: {}",
            cases[index],
            verdicts[index]
        );
    }
}

#[test]
fn hostile_attributes() {
    for arguments in [
        "--rule xla --dims 9223372036854775807 2x3 3",
        "--rule xla --dims -9223372036854775808 2x3 3",
        "--rule pdpd --axis 9223372036854775807 2x3 3",
        "--rule pdpd --axis -9223372036854775808 2x3 3",
        "--rule explicit --dims 18446744073709551615 --target 2x3 3",
    ] {
        let run =
            indim(&std::iter::once("explain").chain(arguments.split(' ')).collect::<Vec<_>>());
        assert!(matches!(run.code, Some(1 | 2)), "{arguments}: {run:?}");
        assert!(run.stderr.starts_with("error"), "{arguments}: {run:?}");
    }
}
