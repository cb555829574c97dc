//! The page `docs/ops.md`, made from the table of operations and from what was measured.
//!
//! Used by the test `main.rs` here and by `examples/ops_page.rs`, which writes the page.

use indim_graph::{Arity, DType, Op};

const HEADER: &str = "\
# Operations

This page is made by `cargo xtask ops` from the table in `crates/indim-graph/src/op.rs`.

An operation takes operands of one element type; it never promotes. The types are written by their
classes: P is `bool`, S `i8 i16 i32 i64`, U `u8 u16 u32 u64`, F `f16 bf16 f32 f64`, C `c64 c128`. The result has the
operands' type where nothing else is said. Every result NaN is the canonical one of its type. The
16-bit floats compute in `f32` and round after every operation.

";

const COMPOSITIONS: &str = "
## Compositions

Methods of the builder that make several nodes. Their parameters are rounded to the operand's
element type, and so is every step.

| name | types | formula |
|---|---|---|
| `relu(x)` | S F | `max(x, 0)` |
| `elu(x, alpha)` | F | `x` where `x > 0`, else `alpha * expm1(x)` |
| `selu(x)` | F | `1.0507009873554805 * elu(x, 1.6732632423543772)` |
| `gelu(x)` | F | `(x / 2) * erfc(-x / sqrt 2)` |
| `gelu_tanh(x)` | F | `(x / 2) * (1 + tanh(sqrt(2 / π) * (x + 0.044715 * x² * x)))` |
| `swish(x, beta)` | F | `x * logistic(beta * x)` |
| `softplus(x)` | F | `logaddexp(x, 0)` |
| `softsign(x)` | F | `x / (abs(x) + 1)` |
| `mish(x)` | F | `x * tanh(softplus(x))` |
| `hard_sigmoid(x, alpha, beta)` | F | `clamp(0, alpha * x + beta, 1)` |
| `hard_swish(x)` | F | `x * clamp(0, x + 3, 6) / 6` |
| `reduce_precision(x, e, m)` | F | half to even; overflow → inf, what would be subnormal → ±0, NaN stays |

## Changes of type

| name | types | meaning |
|---|---|---|
| `convert(x, T)` | any → any | float → integer truncates and saturates, NaN → 0; anything → bool: ≠ 0; integer → integer keeps the low bits or extends by the source's sign; to floats: the nearest, half to even, rounded once; complex → real drops the imaginary part |
| `bitcast(x, T)` | S U F → S U F of the same width | the same bits, NaNs too |
";

const ACCURACY: &str = "
## Accuracy

The largest errors that `cargo xtask accuracy` has measured. For `f32` in ULP of the exact value (0.5 is
the nearest float), by `core-math`; for the others in floats from the correctly rounded result. The
sums, products, quotients, square roots, remainders and conversions are correctly rounded. Results
of the 16-bit floats are those of `f32` rounded once more, which misses the nearest float where the
first rounding reached the middle of two; the count is out of all 65536 arguments.

| function | f32, ULP | of arguments | f64, floats | of arguments | f16, not nearest | bf16, not nearest |
|---|---|---|---|---|---|---|
";

const COMPLEX: &str = "
Powers to one exponent for all elements, known when the program is compiled or not, cost a few products if it is whole from -3 to 16, or half
of an odd number between -3 and 3. If it is known, `x^2` and `x^-1` become `square` and `reciprocal`, which have the same bits. To other
exponents `pow` takes the exponential of a logarithm.

`logaddexp` cancels where `e^x + e^y` is nearly 1. There its error is below `2^-54` (in `f32` `2^-25`), which may be many ULP of a
result near 0; elsewhere it is within 1 ULP.

Complex functions: `c64` computes in `c128`, but for sums, products and what is as simple, and is
rounded once, so its error is about half an ULP of the modulus. In `c128` the test's corpus
of values in 300 bits allows 3 ULP of the modulus, 1 for `tan` and `tanh`, and 100 for `pow`, whose error grows with `|y log x|`.
A complex product is the plain formula, each product and sum rounded; where the terms of a part cancel, that part has the error of
the terms, and where they overflow, NumPy's and XLA's results, not those of C99's annex G.
The formulas stand at the functions in `crates/indim-graph/src/meaning/complex/`.
";

/// The text of the page, given the text of `measured.txt`.
pub(crate) fn page(measured: &str) -> String {
    let mut text = HEADER.to_owned();
    for (title, arity) in [
        ("One operand", Arity::Unary),
        ("Two operands", Arity::Binary),
        ("Three operands", Arity::Ternary),
    ] {
        text +=
            &format!("## {title}\n\n| name | types | meaning | other names |\n|---|---|---|---|\n");
        Op::ALL.iter().filter(|op| op.arity() == arity).for_each(|&op| text += &row(op));
        text.push('\n');
    }
    text.pop();
    text += COMPOSITIONS;
    text += ACCURACY;
    text += &accuracy_rows(measured);
    text += COMPLEX;
    text
}

fn row(op: Op) -> String {
    let aliases: Vec<String> = op.aliases().iter().map(|name| format!("`{name}`")).collect();
    let doc = op.doc().replace('|', "\\|");
    format!("| `{op}` | {} | {doc} | {} |\n", types(op), aliases.join(" "))
}

/// `S F; C → component`
fn types(op: Op) -> String {
    const CLASSES: [(&str, &[DType]); 5] = [
        ("P", &[DType::Bool]),
        ("S", &[DType::I8, DType::I16, DType::I32, DType::I64]),
        ("U", &[DType::U8, DType::U16, DType::U32, DType::U64]),
        ("F", &[DType::F16, DType::Bf16, DType::F32, DType::F64]),
        ("C", &[DType::C64, DType::C128]),
    ];
    let mut words: Vec<String> = Vec::new();
    for (letter, dtypes) in CLASSES {
        let taken: Vec<DType> = dtypes.iter().copied().filter(|&dtype| op.takes(dtype)).collect();
        if taken.is_empty() {
            continue;
        }
        let name = match taken.len() == dtypes.len() {
            true => letter.to_owned(),
            false => taken.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(" "),
        };
        let result = op.result_dtype(taken[0]);
        words.push(match result {
            _ if result == taken[0] || result == DType::Bool => name,
            _ if letter == "C" => format!("{name} → component"),
            _ => format!("{name} → C"),
        });
    }
    let first = if op.first_is_bool() { "P, " } else { "" };
    let is_predicate = op.result_dtype(DType::F32) == DType::Bool;
    let last = if is_predicate { " → P" } else { "" };
    first.to_owned() + &words.join(" ") + last
}

/// One row for each function in the record, in its order.
fn accuracy_rows(measured: &str) -> String {
    let lines: Vec<Vec<&str>> = measured
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_ascii_whitespace().collect())
        .collect();
    let field = |name: &str, dtype: &str, index: usize| {
        let line = lines.iter().find(|line| line[0] == name && line[1] == dtype);
        line.map_or("", |line| line[index]).to_owned()
    };
    let mut names: Vec<&str> = lines.iter().map(|line| line[0]).collect();
    names.dedup();
    let row = |name: &str| {
        let all = 1u64 << 32;
        let tried = match field(name, "f32", 3) {
            tried if tried == all.to_string() => "all".to_owned(),
            tried => tried,
        };
        let double = field(name, "f64", 2);
        format!(
            "| `{name}` | {} | {tried} | {} | {} | {} | {} |\n",
            field(name, "f32", 2),
            double.trim_end_matches(".0000"),
            field(name, "f64", 3),
            field(name, "f16", 4),
            field(name, "bf16", 4),
        )
    };
    names.into_iter().map(row).collect()
}
