//! Loads and stores of operands, and of lanes in the frame.

use super::{RegisterGroup, Selector, TargetLowering};
use crate::layout::OperandForm;
use crate::machine::{Class, Memory, Register};
use crate::{LaneType, SsaValue};

impl<O: TargetLowering> Selector<'_, O> {
    /// The memory operand of an input, at a byte offset from the first element of the step.
    pub fn input(&self, input: u32, element_stride: usize, displacement: usize) -> Memory {
        let operand = self.body.outputs.len() as u32 + input;
        self.operand_memory(
            operand,
            element_stride,
            displacement,
            self.layout.inputs[input as usize],
        )
    }

    /// The memory operand of an operand of this form. The byte offset counts from the first element of the
    /// step, or from the single element of a row.
    fn operand_memory(
        &self,
        operand: u32,
        element_stride: usize,
        displacement: usize,
        form: OperandForm,
    ) -> Memory {
        let displacement = displacement as u32;
        match form {
            OperandForm::RowScalar | OperandForm::UnitScalar => {
                Memory::Row { operand, displacement }
            }
            OperandForm::Dense => {
                Memory::Step { operand, element_stride: element_stride as u32, displacement }
            }
            OperandForm::Interleaved { factor, .. } => {
                let element_stride = element_stride as u32 * u32::from(factor);
                Memory::Step { operand, element_stride, displacement }
            }
            OperandForm::Accumulator => {
                unreachable!("invariant: accumulators are held in registers")
            }
        }
    }

    /// Loads the lanes of an input: real or imaginary parts if the element is complex.
    pub fn load(&mut self, value: SsaValue, input: u32, component: u8) -> RegisterGroup {
        let size = self.body.lane(value).size();
        let lane_count = LaneType::of_element(self.body.inputs[input as usize]).1;
        let form = self.layout.inputs[input as usize];
        if form == OperandForm::Accumulator {
            let output = input - self.body.non_accumulator_input_count() as u32;
            let accumulator =
                |index| Memory::Accumulator { output, group_index: index as u32, copy: 0 };
            let count = self.count(size);
            return RegisterGroup::new(count, |index| {
                self.code.register_with_home(accumulator(index), Class::Vector)
            });
        }
        if let OperandForm::Interleaved { records, member, factor } = form {
            return self.load_records(input, size, records, factor)[usize::from(member)];
        }
        if form.is_scalar() {
            let memory = self.input(input, size, usize::from(component) * size);
            let register = O::broadcast(self, memory, size);
            return RegisterGroup::uniform(self.count(size), register);
        }
        if lane_count == 2 {
            return self.load_component(input, size, component);
        }
        self.load_lanes(input, size)
    }

    /// Loads the lanes of a dense input.
    pub fn load_lanes(&mut self, input: u32, size: usize) -> RegisterGroup {
        let bytes = self.register_bytes(size);
        RegisterGroup::new(self.count(size), |index| {
            let memory = self.input(input, size, index * bytes);
            // A register with a home is loaded when it is used, and only as half or a whole register. So
            // smaller loads, and loads that must precede stores, are instructions of their own.
            match bytes < O::REGISTER_BYTES as usize / 2 || self.layout.is_in_place {
                true => self.emit_load(O::load(bytes), self.is_wide(size), memory),
                false => self.code.register_with_home(memory, Class::Vector),
            }
        })
    }

    /// Loads the records of an input, `factor` elements each, and de-interleaves them. Returns the lanes of
    /// each element of a record.
    fn load_records(
        &mut self,
        input: u32,
        size: usize,
        records: u8,
        factor: u8,
    ) -> Vec<RegisterGroup> {
        if let Some(members) = self.records.get(&records) {
            return members.clone();
        }
        let factor = usize::from(factor);
        let (bytes, is_wide) = (self.register_bytes(size), self.is_wide(size));
        let mut members: Vec<Vec<Register>> = vec![Vec::new(); factor];
        for index in 0..self.count(size) {
            let loaded = (0..factor).map(|position| {
                let memory = self.input(input, size, (index * factor + position) * bytes);
                self.emit_load(O::load(bytes), is_wide, memory)
            });
            let loaded: Vec<Register> = loaded.collect();
            let separate = O::deinterleave_records(self, size, &loaded);
            members.iter_mut().zip(separate).for_each(|(member, register)| member.push(register));
        }
        let group =
            |member: &Vec<Register>| RegisterGroup::new(member.len(), |index| member[index]);
        let members: Vec<RegisterGroup> = members.iter().map(group).collect();
        self.records.insert(records, members.clone());
        members
    }

    /// Loads all records of the layout.
    pub(super) fn load_all_records(&mut self) {
        for (input, form) in self.layout.inputs.iter().enumerate() {
            if let OperandForm::Interleaved { records, factor, .. } = *form {
                let size = self.body.inputs[input].size();
                self.load_records(input as u32, size, records, factor);
            }
        }
    }

    /// Loads the real (0) or imaginary (1) parts of complex numbers.
    fn load_component(&mut self, input: u32, size: usize, component: u8) -> RegisterGroup {
        let is_wide = self.is_wide(size);
        let bytes = self.register_bytes(size);
        RegisterGroup::new(self.count(size), |index| {
            let pairs = [0, 1].map(|half| {
                let memory = self.input(input, 2 * size, (2 * index + half) * bytes);
                // The encoder derives the bytes of a load from the element size of the home, here that
                // of a complex number. For lanes that fill half a register, such a load would read the
                // two registers at once.
                match self.layout.is_in_place || !is_wide {
                    true => self.emit_load(O::load(bytes), is_wide, memory),
                    false => self.code.register_with_home(memory, Class::Vector),
                }
            });
            O::deinterleave(self, size, component, pairs)
        })
    }

    /// Bytes that lanes of `size` bytes fill in each register of a group.
    fn register_bytes(&self, size: usize) -> usize {
        let whole = O::REGISTER_BYTES as usize;
        if self.is_in_row { whole } else { whole.min(self.lanes * size) }
    }

    /// Loads the value of an output if that value is an input or constant in no register yet.
    pub(crate) fn read_output(&mut self, output: usize) {
        let (dtype, lanes) = self.body.outputs[output];
        let (lane, count) = LaneType::of_element(dtype);
        for &value in &lanes[..count] {
            match lane {
                LaneType::Bool => self.mask(value, 1),
                _ => self.number(value),
            };
        }
    }

    /// Stores an output, in memory or in accumulators.
    pub fn store(&mut self, output: usize) {
        let (dtype, lanes) = self.body.outputs[output];
        let (lane, count) = LaneType::of_element(dtype);
        self.value = lanes[0];
        let size = lane.size();
        if count == 2 {
            return self.store_complex(output, size, lanes);
        }
        let group = match lane {
            LaneType::Bool => self.mask_to_bytes(lanes[0]),
            _ => self.number(lanes[0]),
        };
        for index in 0..group.count {
            let displacement = index * self.register_bytes(size);
            let memory = match self.body.folds() {
                true => {
                    let (output, group_index) = (output as u32, index as u32);
                    Memory::Accumulator { output, group_index, copy: 0 }
                }
                false => self.operand_memory(output as u32, size, displacement, OperandForm::Dense),
            };
            self.store_register(output, size, memory, group.register(index));
        }
    }

    fn store_register(&mut self, output: usize, size: usize, memory: Memory, register: Register) {
        let opcode = O::store(self.register_bytes(size), self.layout.is_streamed[output]);
        self.emit_store(opcode, self.is_wide(size), memory, register);
    }

    /// Stores complex numbers: interleaves real and imaginary parts.
    fn store_complex(&mut self, output: usize, size: usize, lanes: [SsaValue; 2]) {
        let [re, im] = lanes.map(|lane| self.number(lane));
        let bytes = self.register_bytes(size);
        for index in 0..re.count {
            let halves = O::interleave(self, size, [re.register(index), im.register(index)]);
            for (half, register) in halves.into_iter().enumerate() {
                let displacement = (2 * index + half) * bytes;
                let memory =
                    self.operand_memory(output as u32, 2 * size, displacement, OperandForm::Dense);
                self.store_register(output, size, memory, register);
            }
        }
    }

    /// Stores the lanes of a value in the frame, from byte offset `first` on.
    pub(crate) fn write_lanes(&mut self, value: SsaValue, first: u32) {
        let lane = self.body.lane(value);
        let group = match lane {
            LaneType::Bool => self.mask_to_bytes(value),
            _ => self.number(value),
        };
        let is_wide = self.is_wide(lane.size());
        let bytes = self.register_bytes(lane.size());
        for index in 0..group.count {
            let memory = Memory::Frame(first + index as u32 * O::REGISTER_BYTES);
            self.emit_store(O::store(bytes, false), is_wide, memory, group.register(index));
        }
    }

    /// Loads the lanes of a value from the frame, from byte offset `first` on.
    pub(crate) fn read_lanes(&mut self, value: SsaValue, first: u32) {
        let lane = self.body.lane(value);
        let is_wide = self.is_wide(lane.size());
        let bytes = self.register_bytes(lane.size());
        let group = RegisterGroup::new(self.count(lane.size()), |index| {
            let memory = Memory::Frame(first + index as u32 * O::REGISTER_BYTES);
            match self.is_in_row {
                true => O::broadcast(self, memory, lane.size()),
                false => self.emit_load(O::load(bytes), is_wide, memory),
            }
        });
        match lane {
            LaneType::Bool => {
                let group = O::nonzero_mask(self, group, 1);
                self.masks[value.index()][0] = Some(group);
            }
            _ => self.numbers[value.index()] = Some(group),
        }
    }
}
