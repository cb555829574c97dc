//! The GNU assembler, if installed, accepts every line in the listings of x86-64: of all operations, and of
//! reductions of their results.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use indim_codegen::{Body, BodyBuilder, Definition, LaneType, Primitive, SsaValue};
use indim_ops::Level;
use indim_ops::{DType, Op, ReduceOp};
use indim_targets::{
    Function, MAX_INTERLEAVE_FACTOR, OperandForm, OperandLayout, can_deinterleave,
    machine_code_levels,
};

/// The distinct instructions of a body without jumps, in the syntax of the GNU assembler.
fn instructions(level: Level, body: &Body) -> BTreeSet<String> {
    let accumulators = if body.folds() { body.outputs.len() } else { 0 };
    let dense = vec![OperandForm::Dense; body.inputs.len() - accumulators];
    let layout = OperandLayout {
        inputs: [dense, vec![OperandForm::Accumulator; accumulators]].concat(),
        is_streamed: vec![false; body.outputs.len()],
        is_in_place: false,
        has_prefetch: true,
    };
    instructions_of(level, body, &layout)
}

/// Like [`instructions`], for an operand layout.
fn instructions_of(level: Level, body: &Body, layout: &OperandLayout) -> BTreeSet<String> {
    let listing = Function::listing(level, body, layout);
    let is_instruction = |line: &&str| line.starts_with("    ") && !line.starts_with("    j");
    listing.lines().filter(is_instruction).map(readable).collect()
}

/// A line without its comment. A memory operand needs a width if no register operand determines it.
fn readable(line: &str) -> String {
    let line = line.split("  ; ").next().unwrap_or(line).replace("[constant]", "[rip+0x100]");
    let (mnemonic, operands) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
    let width = match mnemonic {
        "dec" | "cmp" if operands.trim().starts_with('[') => "qword ptr ",
        "prefetcht0" => "byte ptr ",
        _ => "",
    };
    format!("{mnemonic} {width}{}", operands.trim())
}

/// The bodies of all operations on all types, and of reductions of their results.
fn bodies() -> Vec<Body> {
    let all = Op::ALL.iter().flat_map(|op| DType::ALL.iter().map(move |dtype| (*op, *dtype)));
    let operations = all.filter_map(|(op, dtype)| Definition::Operation(op, dtype).body());
    let of_operation = |body: &Body| {
        let folded = |op, dtype| body.with_folds(&[(op, dtype)]);
        let maximum = folded(ReduceOp::Max, body.outputs[0].0);
        let is_float = matches!(body.outputs[0].0, DType::F32 | DType::F64);
        let [sum, product] = [ReduceOp::Add, ReduceOp::Mul]
            .map(|op| is_float.then(|| folded(op, DType::F64)).flatten());
        [Some(body.clone()), maximum, sum, product].into_iter().flatten()
    };
    operations.flat_map(|body| of_operation(&body).collect::<Vec<Body>>()).collect()
}

/// The instructions of sums of the elements of records.
fn sums_of_records(level: Level) -> BTreeSet<String> {
    let types = [(DType::F32, LaneType::F32), (DType::F64, LaneType::F64)];
    let records = types
        .iter()
        .flat_map(|&it| (2..=MAX_INTERLEAVE_FACTOR as u8).map(move |factor| (it, factor)));
    let instructions = |((dtype, lane), factor): ((DType, LaneType), u8)| {
        let mut builder = BodyBuilder::new(vec![dtype; factor.into()]);
        let members = (0..factor.into())
            .map(|input| builder.push(Primitive::Load { input, component: 0 }, lane, &[]));
        let members: Vec<SsaValue> = members.collect();
        let sum = members[1..]
            .iter()
            .fold(members[0], |sum, &member| builder.push(Primitive::Add, lane, &[sum, member]));
        builder.output(dtype, [sum]);
        let layout = OperandLayout {
            inputs: (0..factor)
                .map(|member| OperandForm::Interleaved { records: 0, member, factor })
                .collect(),
            is_streamed: vec![false],
            is_in_place: false,
            has_prefetch: false,
        };
        instructions_of(level, &builder.finish(), &layout)
    };
    let is_read = |&((dtype, _), factor): &((DType, LaneType), u8)| {
        can_deinterleave(level, dtype, factor.into())
    };
    records.filter(is_read).flat_map(instructions).collect()
}

#[test]
fn the_gnu_assembler_accepts_every_line() {
    let assembler = Command::new("as").arg("--version").stdout(Stdio::null()).status();
    if !assembler.is_ok_and(|status| status.success()) {
        eprintln!("NOT TESTED: the assembler `as` is not installed");
        return;
    }
    let bodies = bodies();
    assert!(bodies.len() > 500, "{}", bodies.len());
    for &level in machine_code_levels() {
        let lines: BTreeSet<String> =
            bodies.iter().flat_map(|body| instructions(level, body)).collect();
        let lines: BTreeSet<String> = lines.into_iter().chain(sums_of_records(level)).collect();
        assert!(lines.len() > 1000, "{}", lines.len());
        let mut assembler = Command::new("as")
            .args(["-o", "/dev/null", "-"])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines: Vec<String> = lines.into_iter().collect();
        let text = format!(".intel_syntax noprefix\n{}\n", lines.join("\n"));
        assembler.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let found = assembler.wait_with_output().unwrap();
        let messages = String::from_utf8_lossy(&found.stderr);
        assert!(
            found.status.success(),
            "{level}: {}",
            messages.chars().take(2000).collect::<String>()
        );
    }
}
