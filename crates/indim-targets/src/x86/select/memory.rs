//! Reading and writing the lanes of elements.

use super::super::machine::{Memory, REGISTER_BYTES, Register};
use super::super::opcode::{self, Opcode};
use super::{Parts, Selector};
use crate::layout::Form;
use indim_codegen::{LaneType, Value};

impl Selector<'_> {
    /// Where the elements of an input are from `displacement` bytes on.
    pub(super) fn input(&self, input: u32, element_bytes: usize, displacement: usize) -> Memory {
        let operand = self.body.outputs.len() as u32 + input;
        self.place(operand, element_bytes, displacement, self.layout.inputs[input as usize])
    }

    fn place(&self, operand: u32, element_bytes: usize, displacement: usize, form: Form) -> Memory {
        let displacement = displacement as u32;
        match form {
            Form::Single => Memory::Row { operand, displacement },
            Form::Dense => {
                Memory::Step { operand, element_bytes: element_bytes as u32, displacement }
            }
        }
    }

    /// The lanes of an input; of a complex one of either part.
    pub(super) fn load(&mut self, value: Value, input: u32, part: u8) -> Parts {
        let size = self.body.lane(value).size();
        let lane_count = LaneType::of_element(self.body.inputs[input as usize]).1;
        if self.layout.inputs[input as usize] == Form::Single {
            let memory = self.input(input, size, usize::from(part) * size);
            let register = self.read(broadcast(size), true, memory);
            return Parts::same(self.count(size), register);
        }
        if lane_count == 2 {
            return self.load_part(input, size, part);
        }
        let count = self.count(size);
        Parts::new(count, |index| {
            let memory = self.input(input, size, index * REGISTER_BYTES as usize);
            self.load_lanes(memory, size)
        })
    }

    /// A register with lanes of `size` bytes.
    pub(super) fn load_lanes(&mut self, memory: Memory, size: usize) -> Register {
        match self.lanes * size {
            4 => self.read(opcode::LOAD_4_BYTES, false, memory),
            8 => self.read(opcode::LOAD_8_BYTES, false, memory),
            // What will be overwritten is read at once.
            bytes if self.layout.is_in_place => self.read(opcode::LOAD, bytes > 16, memory),
            _ => self.code.register_of(memory),
        }
    }

    /// The real (0) or imaginary (1) parts of complex numbers.
    fn load_part(&mut self, input: u32, size: usize, part: u8) -> Parts {
        let is_wide = self.is_wide(size);
        let bytes = if is_wide { 32 } else { 16 };
        Parts::new(self.count(size), |index| {
            let [first, second] = [0, 1].map(|half| {
                let memory = self.input(input, 2 * size, (2 * index + half) * bytes);
                // What has a place in memory is read from there by whole registers.
                match self.layout.is_in_place || !is_wide {
                    true => self.read(opcode::LOAD, is_wide, memory),
                    false => self.code.register_of(memory),
                }
            });
            let pair = [first, second];
            let mixed = match (size, part) {
                (4, 0) => self.vector_with(opcode::SHUFFLE_F32, is_wide, &pair, Some(0x88)),
                (4, _) => self.vector_with(opcode::SHUFFLE_F32, is_wide, &pair, Some(0xdd)),
                (_, 0) => self.vector(opcode::UNPACK_LOW_64, is_wide, &pair),
                _ => self.vector(opcode::UNPACK_HIGH_64, is_wide, &pair),
            };
            match is_wide {
                true => self.vector_with(opcode::PERMUTE_64, true, &[mixed], Some(0xd8)),
                false => mixed,
            }
        })
    }

    /// Reads what an output takes, where it is an input.
    pub(super) fn read_output(&mut self, output: usize) {
        let (dtype, lanes) = self.body.outputs[output];
        let (lane, count) = LaneType::of_element(dtype);
        for &value in &lanes[..count] {
            match lane {
                LaneType::Bool => self.mask(value, 1),
                _ => self.number(value),
            };
        }
    }

    /// Writes an output.
    pub(super) fn store(&mut self, output: usize) {
        let (dtype, lanes) = self.body.outputs[output];
        let (lane, count) = LaneType::of_element(dtype);
        self.value = lanes[0];
        let size = lane.size();
        if count == 2 {
            return self.store_complex(output, size, lanes);
        }
        let parts = match lane {
            LaneType::Bool => self.truth_bytes(lanes[0]),
            _ => self.number(lanes[0]),
        };
        for index in 0..parts.count {
            let displacement = index * REGISTER_BYTES as usize;
            let memory = self.place(output as u32, size, displacement, Form::Dense);
            let (opcode, is_wide) = self.store_opcode(size, self.layout.streams[output]);
            self.write(opcode, is_wide, memory, parts.part(index));
        }
    }

    fn store_opcode(&self, size: usize, streams: bool) -> (Opcode, bool) {
        match self.lanes * size {
            4 => (opcode::STORE_4_BYTES, false),
            8 => (opcode::STORE_8_BYTES, false),
            bytes if streams => (opcode::STORE_PAST_CACHES, bytes > 16),
            bytes => (opcode::STORE, bytes > 16),
        }
    }

    fn store_complex(&mut self, output: usize, size: usize, lanes: [Value; 2]) {
        let [re, im] = lanes.map(|lane| self.number(lane));
        let is_wide = self.is_wide(size);
        let bytes = if is_wide { 32 } else { 16 };
        let (low, high) = match size {
            4 => (opcode::UNPACK_LOW_32, opcode::UNPACK_HIGH_32),
            _ => (opcode::UNPACK_LOW_64, opcode::UNPACK_HIGH_64),
        };
        for index in 0..re.count {
            let pair = [re.part(index), im.part(index)];
            let mixed = [low, high].map(|opcode| self.vector(opcode, is_wide, &pair));
            let halves = match is_wide {
                true => [0x20, 0x31].map(|halves| {
                    self.vector_with(opcode::PERMUTE_128, true, &mixed, Some(halves))
                }),
                false => mixed,
            };
            for (half, register) in halves.into_iter().enumerate() {
                let displacement = (2 * index + half) * bytes;
                let memory = self.place(output as u32, 2 * size, displacement, Form::Dense);
                let (opcode, is_wide) = self.store_opcode(size, self.layout.streams[output]);
                self.write(opcode, is_wide, memory, register);
            }
        }
    }

    /// Writes the lanes of a value to the frame.
    pub(super) fn write_lanes(&mut self, value: Value, first: u32) {
        let lane = self.body.lane(value);
        let parts = match lane {
            LaneType::Bool => self.truth_bytes(value),
            _ => self.number(value),
        };
        let is_wide = self.is_wide(lane.size());
        for index in 0..parts.count {
            let memory = Memory::Frame(first + index as u32 * REGISTER_BYTES);
            self.write(opcode::STORE, is_wide, memory, parts.part(index));
        }
    }

    /// Reads the lanes of a value from the frame.
    pub(super) fn read_lanes(&mut self, value: Value, first: u32) {
        let lane = self.body.lane(value);
        let is_wide = self.is_wide(lane.size());
        let parts = Parts::new(self.count(lane.size()), |index| {
            let memory = Memory::Frame(first + index as u32 * REGISTER_BYTES);
            match self.is_in_row {
                true => self.read(broadcast(lane.size()), true, memory),
                false => self.read(opcode::LOAD, is_wide, memory),
            }
        });
        match lane {
            LaneType::Bool => {
                let parts = self.is_not_zero(parts, 1);
                self.masks[value.index()][0] = Some(parts);
            }
            _ => self.numbers[value.index()] = Some(parts),
        }
    }
}

fn broadcast(size: usize) -> Opcode {
    match size {
        1 => opcode::BROADCAST_8,
        2 => opcode::BROADCAST_16,
        4 => opcode::BROADCAST_32,
        _ => opcode::BROADCAST_64,
    }
}
