//! Bitwise operations on up to three integers merged into one ternary operation with a truth table.

use indim_codegen::{Body, Instruction, LaneType, Primitive, Value};

/// The table's column of each integer.
const OPERANDS: [u8; 3] = [0xf0, 0xcc, 0xaa];

/// Maximum number of operations merged: the search starts anew at each value.
const MAX_OPERATIONS: usize = 4;

/// The at most three integers of a ternary operation, and its table. Constants come last; missing integers
/// repeat another.
pub(super) fn ternary_logic(body: &Body, value: Value) -> Option<([Value; 3], u8)> {
    let mut from = vec![value];
    let mut operations = 0;
    while let Some(next) = without_one(body, &from).filter(|_| operations < MAX_OPERATIONS) {
        from = next;
        operations += 1;
    }
    if operations < 2 {
        return None;
    }
    let is_constant =
        |value: &Value| matches!(body.instruction(*value).primitive, Primitive::Constant(_));
    from.sort_by_key(is_constant);
    let table = table(body, value, &from);
    let first = from[0];
    from.resize(OPERANDS.len(), first);
    Some(([from[0], from[1], from[2]], table))
}

/// The operation with one integer replaced by its own operands.
fn without_one(body: &Body, from: &[Value]) -> Option<Vec<Value>> {
    (0..from.len()).find_map(|at| {
        let operation = operation(body, from[at])?;
        let mut rest = from.to_vec();
        rest.remove(at);
        for &operand in operation.operands() {
            if !rest.contains(&operand) {
                rest.push(operand);
            }
        }
        (rest.len() <= OPERANDS.len()).then_some(rest)
    })
}

/// The bitwise operation that computes an integer, if that is one.
fn operation(body: &Body, mut value: Value) -> Option<&Instruction> {
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

/// The truth table of a value.
fn table(body: &Body, value: Value, from: &[Value]) -> u8 {
    if let Some(position) = from.iter().position(|&it| it == value) {
        return OPERANDS[position];
    }
    let operation = operation(body, value);
    let operation = operation.expect("invariant: it is computed from these by bitwise operations");
    let operands = operation.operands();
    let of = |position: usize| table(body, operands[position], from);
    match operation.primitive {
        Primitive::And => of(0) & of(1),
        Primitive::Or => of(0) | of(1),
        Primitive::Xor => of(0) ^ of(1),
        _ => !of(0),
    }
}
