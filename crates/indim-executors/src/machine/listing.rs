//! The listing of the machine code of a nest.

use indim_loops::loop_nest::{Access, InstructionKind, LoopNest};
use indim_targets::{OperandForm, OperandLayout};

use crate::tiles::code::TileCode;
use crate::tiles::functions::Functions;

/// The listing of each function in use: its operands, named by `describe`, and its code.
pub(super) fn list(
    code: &TileCode,
    nest: &LoopNest,
    describe: &dyn Fn(&Access) -> String,
) -> String {
    let functions = code.functions.iter().chain(&code.fold_functions);
    functions.map(|functions| operand_text(code, nest, functions, describe)).collect()
}

fn operand_text(
    code: &TileCode,
    nest: &LoopNest,
    functions: &Functions,
    describe: &dyn Fn(&Access) -> String,
) -> String {
    let operands = |layout: &OperandLayout| {
        let outputs = functions.outputs.iter().zip(&layout.is_streamed).enumerate();
        let outputs = outputs.map(|(output, (&register, &is_streamed))| {
            let stores = if is_streamed { ", written by non-temporal stores" } else { "" };
            format!(
                "; output {output} is {}{stores}\n",
                destination_text(code, nest, register, describe)
            )
        });
        let inputs = functions.inputs.iter().zip(&layout.inputs).enumerate();
        let inputs = inputs.map(|(input, (&register, form))| {
            let form = match form {
                OperandForm::RowScalar => ", one element for a row".to_owned(),
                OperandForm::UnitScalar => ", one element for all rows".to_owned(),
                OperandForm::Interleaved { factor, .. } => {
                    format!(", from whole records of {factor}")
                }
                OperandForm::Dense | OperandForm::Accumulator => String::new(),
            };
            format!("; input {input} is {}{form}\n", source_text(code, nest, register, describe))
        });
        outputs.chain(inputs).collect()
    };
    functions.listing(operands)
}

/// The destination of the values of a register.
fn destination_text(
    code: &TileCode,
    nest: &LoopNest,
    register: usize,
    describe: &dyn Fn(&Access) -> String,
) -> String {
    let stores = nest.stores.iter().filter(|store| code.register(store.source) == register);
    let targets = stores.map(|store| {
        let reduction = store.reduction.map_or(String::new(), |it| format!("{} to ", it.op));
        reduction + &describe(&store.target)
    });
    targets.collect::<Vec<_>>().join(" and ")
}

/// The source of the values of a register: an array, or a gather from one.
fn source_text(
    code: &TileCode,
    nest: &LoopNest,
    register: usize,
    describe: &dyn Fn(&Access) -> String,
) -> String {
    let accesses = &nest.accesses;
    let instruction = register.checked_sub(accesses.len()).map(|index| &nest.instructions[index]);
    let table =
        instruction.filter(|instruction| matches!(instruction.kind, InstructionKind::Take { .. }));
    match table {
        Some(take) => {
            format!(
                "elements gathered from {}",
                describe(&accesses[code.register(take.operands[0])])
            )
        }
        None => describe(&accesses[register]),
    }
}
