//! The GNU assembler, if installed, assembles each line of a NEON listing to the bytes of the encoder.

use std::io::Write;
use std::process::{Command, Stdio};

use indim_codegen::Definition;
use indim_ops::{DType, Op, ReduceOp};

use super::*;
use indim_codegen::layout::OperandForm;

/// Assembles a text by the GNU assembler; `None`, with a message, if it is not installed.
fn assembled(text: &str) -> Option<Vec<u8>> {
    let name =
        format!("indim-assembled-{}-{:?}.o", std::process::id(), std::thread::current().id());
    let object = std::env::temp_dir().join(name);
    let assembler = Command::new("aarch64-linux-gnu-as")
        .args(["-o".as_ref(), object.as_os_str(), "-".as_ref()])
        .stdin(Stdio::piped())
        .spawn();
    let Ok(mut assembler) = assembler else {
        eprintln!("NOT TESTED: the assembler aarch64-linux-gnu-as is not installed");
        return None;
    };
    assembler.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(assembler.wait().unwrap().success(), "it does not assemble");
    let copied = Command::new("aarch64-linux-gnu-objcopy")
        .args(["-O", "binary", "-j", ".text"])
        .args([object.as_os_str(), object.as_os_str()])
        .status();
    assert!(copied.unwrap().success());
    let bytes = std::fs::read(&object).unwrap();
    std::fs::remove_file(&object).unwrap();
    Some(bytes)
}

/// Compares encoded instructions with their assembled texts.
fn compare(bytes: &[u8], text: &str) {
    let Some(expected) = assembled(text) else { return };
    let is_instruction = |line: &&str| !line.is_empty() && !line.ends_with(':');
    let lines: Vec<&str> = text.lines().filter(is_instruction).collect();
    assert_eq!(bytes.len(), 4 * lines.len());
    for ((found, expected), line) in bytes.chunks(4).zip(expected.chunks(4)).zip(lines) {
        assert_eq!(found, expected, "{line}");
    }
    assert_eq!(bytes.len(), expected.len());
}

#[test]
fn texts_of_the_table_assemble_to_the_encodings() {
    let mut bytes: Vec<u8> = Vec::new();
    let mut text = String::new();
    for (family, size) in opcode::ALL.iter().flat_map(|it| it.sizes.iter().map(move |&n| (it, n))) {
        let opcode = family.of(size);
        if opcode.is_gather() {
            continue;
        }
        for (real, other) in [(0, 31), (7, 16), (21, 2), (31, 0)] {
            let mut assembler = assembler::Assembler::new(None);
            if opcode.is_move() {
                let (base, displacement) = (assembler::STACK, size as u32 * u32::from(other));
                assembler.vector_move(opcode, real, (base, displacement), String::new);
                text += &assembler::move_text(opcode, real, base, displacement);
                text.push('\n');
                bytes.extend(assembler.finish());
                continue;
            }
            // No instruction operates on one 64-bit lane in half a register.
            for is_wide in [false, true].into_iter().filter(|&is_wide| is_wide || size < 8) {
                let mut assembler = assembler::Assembler::new(None);
                let second = (opcode.source_count() == 2).then_some(real / 2);
                let sources = [Some(other), second];
                let amount = 1 + real % (8 * size as u8 - 1);
                let encoded = opcode.with(is_wide, amount, real, sources);
                assembler.vector(encoded);
                bytes.extend(assembler.finish());
                text += &encoded.text();
                text.push('\n');
            }
        }
    }
    compare(&bytes, &text);
}

/// Appends the instructions of a listing, with labels made unique by `number`.
fn assembly(listing: &str, number: usize, text: &mut String) {
    for line in listing.lines() {
        let line = line.split(';').next().unwrap_or_default().trim();
        let has_label = line.starts_with("b ") || line.starts_with("b.") || line.starts_with("cb");
        match line.strip_suffix(':') {
            Some(label) => *text += &format!("{label}_in_{number}:\n"),
            None if has_label => *text += &format!("{line}_in_{number}\n"),
            None if line.is_empty() => {}
            None => *text += &format!("{line}\n"),
        }
    }
}

/// The code of several functions, and the text of their listings with unique labels.
#[derive(Default)]
struct Functions {
    bytes: Vec<u8>,
    text: String,
    count: usize,
}

impl Functions {
    fn add(&mut self, code: &CompiledCode, listing: &str) {
        self.bytes.extend(&code.bytes[code.entry..]);
        assembly(listing, self.count, &mut self.text);
        self.count += 1;
    }
}

fn layout(inputs: Vec<OperandForm>, body: &Body) -> OperandLayout {
    let is_streamed = vec![false; body.outputs.len()];
    OperandLayout { inputs, is_streamed, is_in_place: false, has_prefetch: false }
}

#[test]
fn listings_assemble_to_the_code() {
    let mut functions = Functions::default();
    let mut folding = 0;
    for (&op, &dtype) in Op::ALL.iter().flat_map(|op| DType::ALL.iter().map(move |it| (op, it))) {
        let Some(body) = Definition::Operation(op, dtype).body() else { continue };
        let inputs = body.inputs.len();
        for first in [OperandForm::Dense, OperandForm::RowScalar] {
            let mut forms = vec![OperandForm::Dense; inputs];
            forms[0] = first;
            let mut listing = String::new();
            let code = Neon.compile(&body, &layout(forms, &body), Some(&mut listing)).unwrap();
            functions.add(&code, &listing);
        }
        let Some(body) = body.with_folds(&[(ReduceOp::Max, body.outputs[0].0)]) else { continue };
        let mut forms = vec![OperandForm::Dense; inputs];
        forms.push(OperandForm::Accumulator);
        let mut listing = String::new();
        if let Some(code) = Neon.compile(&body, &layout(forms, &body), Some(&mut listing)) {
            functions.add(&code, &listing);
            folding += 1;
        }
    }
    assert!(functions.count > 500 && folding > 100, "{} functions", functions.count);
    compare(&functions.bytes, &functions.text);
}

#[test]
fn some_encodings_match_the_manual() {
    let of = |opcode: opcode::Opcode, sources| opcode.with(true, 3, 1, sources);
    let two = [Some(2), Some(3)];
    let known = [
        (of(opcode::ADD_FLOAT.of(4), two), 0x4e23_d441, "fadd    v1.4s, v2.4s, v3.4s"),
        (of(opcode::MUL_ADD.of(8), two), 0x4e63_cc41, "fmla    v1.2d, v2.2d, v3.2d"),
        (of(opcode::BITWISE_SELECT.of(1), two), 0x6e63_1c41, "bsl     v1.16b, v2.16b, v3.16b"),
        (of(opcode::SHIFT_LEFT.of(2), [Some(2), None]), 0x4f13_5441, "shl     v1.8h, v2.8h, #3"),
        (of(opcode::BROADCAST.of(8), [Some(2), None]), 0x4e08_0441, "dup     v1.2d, v2.d[0]"),
        (of(opcode::EXTEND_FLOAT.of(2), [Some(2), None]), 0x0e21_7841, "fcvtl   v1.4s, v2.4h"),
    ];
    for (encoded, bits, text) in known {
        assert_eq!((encoded.bits(), encoded.text().as_str()), (bits, text));
    }
}
