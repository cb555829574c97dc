//! Bitwise operations on up to three integers as one ternary operation with a truth table, like `vpternlog`
//! of AVX-512.

use indim_shape::sort_few_by_key;

use crate::{Body, LaneType, Primitive, SsaInstruction, SsaValue};

/// The column of each operand in the truth table.
const OPERAND_COLUMNS: [u8; 3] = [0xf0, 0xcc, 0xaa];

/// Maximum number of operations in a pattern, because the search for one starts at each value.
const MAX_OPERATIONS: usize = 4;

/// The operands and truth table of the ternary operation that computes `value`; `None` if this one
/// operation would replace fewer than two. A constant comes last, because the last operand may be in
/// memory. Missing operands repeat the first.
pub(super) fn ternary_logic(body: &Body, value: SsaValue) -> Option<([SsaValue; 3], u8)> {
    let mut from = vec![value];
    let mut operations = 0;
    while let Some(next) = expand_operand(body, &from).filter(|_| operations < MAX_OPERATIONS) {
        from = next;
        operations += 1;
    }
    if operations < 2 {
        return None;
    }
    let is_constant =
        |value: &SsaValue| matches!(body.instruction(*value).primitive, Primitive::Constant(_));
    sort_few_by_key(&mut from, is_constant);
    let table = truth_table(body, value, &from);
    let first = from[0];
    from.resize(OPERAND_COLUMNS.len(), first);
    Some(([from[0], from[1], from[2]], table))
}

/// Replaces one operand by the operands of its operation, if at most three remain.
fn expand_operand(body: &Body, from: &[SsaValue]) -> Option<Vec<SsaValue>> {
    (0..from.len()).find_map(|at| {
        let operation = bitwise_operation(body, from[at])?;
        let mut rest = from.to_vec();
        rest.remove(at);
        for &operand in operation.operands() {
            if !rest.contains(&operand) {
                rest.push(operand);
            }
        }
        (rest.len() <= OPERAND_COLUMNS.len()).then_some(rest)
    })
}

/// The bitwise operation that computes an integer. Looks through bitcasts.
fn bitwise_operation(body: &Body, mut value: SsaValue) -> Option<&SsaInstruction> {
    while body.instruction(value).primitive == Primitive::Bits {
        value = body.instruction(value).operands[0];
    }
    let instruction = body.instruction(value);
    let is_bitwise = matches!(
        instruction.primitive,
        Primitive::And | Primitive::Or | Primitive::Xor | Primitive::Not
    );
    let is_integer = !instruction.lane.is_float() && instruction.lane != LaneType::Bool;
    (is_bitwise && is_integer).then_some(instruction)
}

/// The truth table of a value over the operands `from`.
fn truth_table(body: &Body, value: SsaValue, from: &[SsaValue]) -> u8 {
    if let Some(position) = from.iter().position(|&it| it == value) {
        return OPERAND_COLUMNS[position];
    }
    let operation = bitwise_operation(body, value);
    let operation =
        operation.expect("invariant: bitwise operations on these operands compute the value");
    let operands = operation.operands();
    let of = |position: usize| truth_table(body, operands[position], from);
    match operation.primitive {
        Primitive::And => of(0) & of(1),
        Primitive::Or => of(0) | of(1),
        Primitive::Xor => of(0) ^ of(1),
        _ => !of(0),
    }
}
