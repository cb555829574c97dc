//! The page `docs/ops.md`, from the table of operations and the measured errors.
//!
//! Used by the test `main.rs` here and by `examples/ops_page.rs`, which writes the page.

use indim_ops::{Accuracy, accuracies};
use indim_text::catalogue::{Entry, EntryKind, entries};

const HEADER: &str = "\
# Operations

This page is made by `cargo xtask ops` from the tables in `crates/indim-ops/src/op.rs`,
`crates/indim-builder/src/composition/mod.rs`, `crates/indim-builder/src/reductions/mod.rs` and
`crates/indim-text/src/expression/data_movement_function.rs`.
`indim ops` lists the same, `indim ops NAME` shows one.

An operation takes operands of one element type; it never promotes. The column of types has classes:
P is `bool`, S `i8 i16 i32 i64`, U `u8 u16 u32 u64`, F `f16 bf16 f32 f64`, C `c64 c128`, N the
[storage types](storage-types.md). The result has the operands' type unless the meaning states another.
Every result NaN is the canonical one of its type. The 16-bit floats compute in `f32` and round after every
operation.

";

const COMPOSITIONS: &str = "

## Compositions

Compositions consist of several operations. They are methods of the builder, and functions in expressions
and in Python. Their parameters are numbers, not arrays. Parameters and every step are rounded to the
operand's element type, unless the meaning states another. A formula is in the language of
[expressions.md](expressions.md); a test compares it with the function.

Under the numpy rule, integers and truth values that a composition does not take are converted to `f64`.
`deg2rad`, `rad2deg` and `heaviside` convert them to `f16`, `f32` or `f64`, as `sqrt` and the like do.

| call | types | meaning | other names |
|---|---|---|---|
";

const ALONG_AXES: &str = "

## Functions along axes

These functions reduce or normalise along some axes. They consist of operations and reductions, and are
methods of the builder, and functions in expressions and in Python. `axis` is an axis, a list of axes, or
`None` for all; negative ones count from the end. A reduction removes the axes, or keeps them with size 1
under `keepdims=True`. `max` and `min` of one operand are reductions, of two they are operations.

Sums of floats are those of a fixed tree in `f64` (`crates/indim-ops/src/meaning/reduction.rs`), rounded to
the type at the end. They have the same bits on every machine, for any number of threads and any order of
memory. Several axes are summed one after another, the last one first. Under the numpy rule integers are
summed in 64 bits, and functions that take only floats convert them to `f64`; under other rules types stay.

`where` selects elements by truth values that broadcast onto the operand. `initial` is combined with the
result as one more element. `dtype` is the type of the result; elements are converted to it first.

| call | types | meaning | other names |
|---|---|---|---|
";

const PRODUCTS: &str = "

## Products

Products of arrays are sums of products of their elements. They are methods of the builder and functions in
expressions. The result has the operands' type, or `dtype`. [products.md](products.md) defines the order of
summation and its error. Under the numpy rule operands of different types are promoted. `dot` and `vecdot`
are functions along axes.

| call | types | meaning | other names |
|---|---|---|---|
";

const DATA_MOVEMENT: &str = "

## Data movement

These functions rearrange arrays or combine several, in expressions and in Python; they are also methods of
the builder. A view of one array copies nothing: its readers use adjusted strides. A combination writes
each part at its offset. [expressions.md](expressions.md#indices-slices-and-parts) has examples.

| call | types | meaning | other names |
|---|---|---|---|
";

const RANDOM: &str = "

## Random numbers

Random numbers depend on a key, an array `u32[2]`, such as `u32([0, 42])`: the same key makes the same numbers
on every machine, with any number of threads, those of `jax.random`. [random.md](random.md) has the
functions of `indim.random` in Python. They are functions in expressions and methods of the builder.

| call | types | meaning | other names |
|---|---|---|---|
";

const FOURIER: &str = "

## Fourier transforms

The functions of `numpy.fft`, in expressions and in Python; in Rust `GraphBuilder::fourier`.
[fourier.md](fourier.md) has the order of operations, the accuracy and times. `n` and `s` crop an axis or pad
it with zeros; `axis` is `axes` in Python where several axes are transformed.

| call | types | meaning | other names |
|---|---|---|---|
";

const TYPES: &str = "

## Changes of type

| name | types | meaning |
|---|---|---|
| `convert(x, T)` | any → any | float → integer truncates and saturates, NaN → 0; anything → bool: ≠ 0; \
integer → integer keeps the low bits or extends by the source's sign; to floats: the nearest, half to even, \
rounded once; complex → real drops the imaginary part |
| `bitcast(x, T)` | S U F → S U F of the same width | the same bits, NaNs too |
";

const ACCURACY: &str = "

## Accuracy

The table shows the largest error of each function that `cargo xtask accuracy` has measured, and the number
of arguments that it tried. The reference is `core-math`, whose results are correctly rounded. The test
computes functions that `core-math` lacks, such as `logistic`, to more digits.

- `f32`: the error is the distance of the result from the exact value in ULP. A correctly rounded result has
  an error of at most 0.5.
- `f64`: the error is the distance of the result from the correctly rounded result, counted in floats: 0 for
  the same float, 1 for one of its neighbours.
- `f16` and `bf16`: the number of results that are not the nearest float, of all 65536 arguments. These types
  compute in `f32` and round the result again. The second rounding misses the nearest 16-bit float if the
  `f32` result lies exactly halfway between two 16-bit floats, but the exact value does not.

Sums, products, quotients, square roots, remainders and conversions are correctly rounded.

| function | f32 error, ULP | f32 arguments | f64 error, floats | f64 arguments | f16, not nearest | \
bf16, not nearest |
|---|---|---|---|---|---|---|
";

const COMPLEX: &str = "

Powers with one exponent for all elements, known at compile time or not, cost a few products if the exponent
is whole from -3 to 16, or half of an odd number between -3 and 3. If it is known, `x^2` and `x^-1` become
`square` and `reciprocal`, which have the same bits. For other exponents `pow` takes the exponential of a
logarithm.

`logaddexp` cancels if `e^x + e^y` is nearly 1. There its error is below `2^-54` (in `f32` `2^-25`), which
may be many ULP of a result near 0; elsewhere it is within 1 ULP.

Near its negative zeros, where `digamma` is smaller than 1/2, its error is measured in floats of size 1/2.
From -32 on up, tables give its zeros; below, the error there may be many ULP of a result near 0.
Elsewhere in `f64`, 15000 arguments of each range have errors of up to 1.04 ULP above 0 (near 3.5), and of up
to 1.57 ULP below 0 (near -3.5): these results are two floats from the correctly rounded one.

Complex functions of `c64` compute in `c128`, except sums, products and other simple operations, and round
once, so the error is about half an ULP of the modulus. In `c128`, a test compares values with mpmath at 300
bits. It allows an error of 3 ULP of the modulus; 1 for `tan` and `tanh`; 100 for `pow`, whose error grows
with `|y log x|`.

A complex product is the plain formula, with each product and sum rounded. If the terms of a part cancel,
that part has the error of the terms. If they overflow, the results are NumPy's and XLA's, not those of C99's
annex G. The functions in `crates/indim-ops/src/meaning/complex/` state their formulas.
";

/// The text of the page.
pub(crate) fn page() -> String {
    let mut text = HEADER.to_owned();
    for (title, operands) in [("One operand", 1), ("Two operands", 2), ("Three operands", 3)] {
        text +=
            &format!("## {title}\n\n| name | types | meaning | other names |\n|---|---|---|---|\n");
        let operations = of_kind(EntryKind::Operation);
        let of_title = operations.filter(|entry| entry.operands.len() == operands);
        of_title.for_each(|entry| text += &row(&entry, entry.name));
        text.push('\n');
    }
    text.pop();
    text += COMPOSITIONS;
    of_kind(EntryKind::Composition).for_each(|entry| text += &row(&entry, &entry.call));
    text += ALONG_AXES;
    of_kind(EntryKind::Reduction).for_each(|entry| text += &row(&entry, &entry.call));
    text += PRODUCTS;
    of_kind(EntryKind::Product).for_each(|entry| text += &row(&entry, &entry.call));
    text += DATA_MOVEMENT;
    of_kind(EntryKind::DataMovement).for_each(|entry| text += &row(&entry, &entry.call));
    text += RANDOM;
    of_kind(EntryKind::Random).for_each(|entry| text += &row(&entry, &entry.call));
    text += FOURIER;
    of_kind(EntryKind::Fourier).for_each(|entry| text += &row(&entry, &entry.call));
    text += TYPES;
    text += ACCURACY;
    text += &accuracy_rows();
    text += COMPLEX;
    text
}

fn of_kind(kind: EntryKind) -> impl Iterator<Item = Entry> {
    entries().filter(move |entry| entry.kind == kind)
}

fn row(entry: &Entry, name: &str) -> String {
    let names: Vec<String> = entry.other_names.iter().map(|name| format!("`{name}`")).collect();
    let doc = entry.doc.replace('|', "\\|");
    format!("| `{name}` | {} | {doc} | {} |\n", entry.types, names.join(" "))
}

/// One row for each function in the record, in its order.
fn accuracy_rows() -> String {
    let mut names: Vec<&str> = accuracies().map(|accuracy| accuracy.name).collect();
    names.dedup();
    names.into_iter().map(accuracy_row).collect()
}

fn accuracy_row(name: &str) -> String {
    let field = |dtype: &str, field: fn(Accuracy) -> &'static str| {
        let found = accuracies().find(|accuracy| accuracy.name == name && accuracy.dtype == dtype);
        found.map_or("", field)
    };
    let tried = match field("f32", |accuracy| accuracy.tried) {
        "4294967296" => "all",
        tried => tried,
    };
    format!(
        "| `{name}` | {} | {tried} | {} | {} | {} | {} |\n",
        field("f32", |accuracy| accuracy.error),
        field("f64", |accuracy| accuracy.error).trim_end_matches(".0000"),
        field("f64", |accuracy| accuracy.tried),
        field("f16", |accuracy| accuracy.not_nearest),
        field("bf16", |accuracy| accuracy.not_nearest),
    )
}
