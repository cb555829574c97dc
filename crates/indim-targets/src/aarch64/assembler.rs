//! The assembler: encodes instructions over general registers, resolves jumps, and feeds the listing. Vector
//! instructions are encoded by the table in `opcode.rs`.

use std::borrow::Cow;

use super::opcode::{EncodedInstruction, Opcode, letter};
use indim_codegen::listing::CodeListing;

/// A general register.
pub(super) type GeneralRegister = u8;

/// Number of the stack pointer, as a base and in `add` and `sub` with immediate or extended register. In
/// other instructions, 31 is the zero register.
pub(super) const STACK: GeneralRegister = 31;

/// The condition of a jump.
#[derive(Debug, Clone, Copy)]
pub(super) enum Condition {
    /// The last comparison found equal registers.
    Equal,
    /// The last comparison found the first register greater, as a signed number.
    Greater,
    /// A register is zero.
    Zero(GeneralRegister),
    /// A register is not zero.
    NotZero(GeneralRegister),
}

/// A forward jump whose target is not known yet.
pub(super) struct Jump {
    /// Position of the instruction.
    at: usize,
    label: Cow<'static, str>,
}

/// Code under construction.
pub(super) struct Assembler<'a> {
    words: Vec<u32>,
    pub(super) listing: Option<CodeListing<'a>>,
}

impl<'a> Assembler<'a> {
    pub(super) fn new(listing: Option<CodeListing<'a>>) -> Assembler<'a> {
        Assembler { words: Vec::new(), listing }
    }

    /// The bytes of the code.
    pub(super) fn finish(self) -> Vec<u8> {
        self.words.into_iter().flat_map(u32::to_le_bytes).collect()
    }

    /// Position of the next instruction, in instructions.
    pub(super) fn position(&self) -> usize {
        self.words.len()
    }

    /// Appends an instruction; `text` is its line in the listing.
    fn append(&mut self, word: u32, text: impl FnOnce() -> String) {
        self.words.push(word);
        if let Some(listing) = &mut self.listing {
            listing.instruction(&text());
        }
    }

    /// Appends an instruction over vector registers.
    pub(super) fn vector(&mut self, encoded: EncodedInstruction) {
        self.append(encoded.bits(), || encoded.text());
    }

    /// Loads or stores a vector register; `note` is the comment in the listing.
    pub(super) fn vector_move(
        &mut self,
        opcode: Opcode,
        register: u8,
        (base, displacement): (GeneralRegister, u32),
        note: impl FnOnce() -> String,
    ) {
        let word = opcode.move_bits(register, base, displacement / opcode.size as u32);
        self.append(word, || {
            let note = note();
            let note = if note.is_empty() { note } else { format!("  ; {note}") };
            move_text(opcode, register, base, displacement) + &note
        });
    }

    /// Copies a lane of 4 or 8 bytes to a general register.
    pub(super) fn lane(&mut self, to: GeneralRegister, from: u8, size: usize, lane: usize) {
        let place = (2 * lane as u32 + 1) * size as u32;
        let is_long = size == 8;
        let word = 0x0e00_3c00 | u32::from(is_long) << 30 | place << 16;
        let register = if is_long { 'x' } else { 'w' };
        self.append(word | registers(to, from, 0), || {
            format!("umov    {register}{to}, v{from}.{}[{lane}]", letter(size))
        });
    }

    /// Loads a lane of 4 or 8 bytes from the address in a register.
    pub(super) fn load_lane(&mut self, to: u8, size: usize, lane: usize, base: GeneralRegister) {
        let lane_bits = lane as u32;
        let place = match size {
            4 => lane_bits >> 1 << 30 | (lane_bits & 1) << 12,
            _ => lane_bits << 30 | 1 << 10,
        };
        self.append(0x0d40_8000 | place | registers(to, base, 0), || {
            format!("ld1     {{v{to}.{}}}[{lane}], [{}]", letter(size), name(base))
        });
    }

    /// Loads a general register; the displacement is a multiple of 8 and less than 32,768.
    pub(super) fn load(
        &mut self,
        to: GeneralRegister,
        (base, displacement): (GeneralRegister, u32),
    ) {
        let word = 0xf940_0000 | (displacement / 8) << 10 | registers(to, base, 0);
        self.append(word, || format!("ldr     {}, {}", name(to), address_text(base, displacement)));
    }

    /// Stores a general register, with the displacement limits of [`Assembler::load`].
    pub(super) fn store(
        &mut self,
        from: GeneralRegister,
        (base, displacement): (GeneralRegister, u32),
    ) {
        let word = 0xf900_0000 | (displacement / 8) << 10 | registers(from, base, 0);
        self.append(word, || {
            format!("str     {}, {}", name(from), address_text(base, displacement))
        });
    }

    /// Stores two general registers, or the lower halves of two vector registers, at an offset from the stack
    /// pointer: a multiple of 8 below 512.
    pub(super) fn store_pair(&mut self, is_vector: bool, [first, second]: [u8; 2], at: u32) {
        self.pair("stp", if is_vector { 0x6d00_0000 } else { 0xa900_0000 }, [first, second], at);
    }

    /// Loads two registers stored by [`Assembler::store_pair`].
    pub(super) fn load_pair(&mut self, is_vector: bool, [first, second]: [u8; 2], at: u32) {
        self.pair("ldp", if is_vector { 0x6d40_0000 } else { 0xa940_0000 }, [first, second], at);
    }

    fn pair(&mut self, mnemonic: &str, bits: u32, [first, second]: [u8; 2], at: u32) {
        let letter = if bits & 1 << 26 == 0 { 'x' } else { 'd' };
        let word = bits | (at / 8) << 15 | u32::from(second) << 10 | registers(first, STACK, 0);
        self.append(word, || {
            format!("{mnemonic:<8}{letter}{first}, {letter}{second}, {}", address_text(STACK, at))
        });
    }

    /// Adds an immediate below 4096.
    pub(super) fn add_immediate(
        &mut self,
        to: GeneralRegister,
        from: GeneralRegister,
        amount: u32,
    ) {
        self.immediate("add", 0x9100_0000, to, from, amount);
    }

    /// Subtracts an immediate below 4096.
    pub(super) fn sub_immediate(
        &mut self,
        to: GeneralRegister,
        from: GeneralRegister,
        amount: u32,
    ) {
        self.immediate("sub", 0xd100_0000, to, from, amount);
    }

    fn immediate(
        &mut self,
        mnemonic: &str,
        bits: u32,
        to: GeneralRegister,
        from: GeneralRegister,
        amount: u32,
    ) {
        debug_assert!(amount < 1 << 12, "invariant: the immediate has 12 bits");
        self.append(bits | amount << 10 | registers(to, from, 0), || {
            format!("{mnemonic:<8}{}, {}, #{amount:#x}", name(to), name(from))
        });
    }

    /// Adds a register shifted left by `shift`. None of the registers is the stack pointer.
    pub(super) fn add(
        &mut self,
        to: GeneralRegister,
        from: GeneralRegister,
        added: GeneralRegister,
        shift: u32,
    ) {
        self.shifted("add", 0x8b00_0000, [to, from, added], shift);
    }

    /// Subtracts a register; otherwise like [`Assembler::add`].
    pub(super) fn sub(
        &mut self,
        to: GeneralRegister,
        from: GeneralRegister,
        taken: GeneralRegister,
        shift: u32,
    ) {
        self.shifted("sub", 0xcb00_0000, [to, from, taken], shift);
    }

    /// Bitwise or of two registers.
    pub(super) fn or(&mut self, to: GeneralRegister, x: GeneralRegister, y: GeneralRegister) {
        self.shifted("orr", 0xaa00_0000, [to, x, y], 0);
    }

    fn shifted(
        &mut self,
        mnemonic: &str,
        bits: u32,
        [to, from, by]: [GeneralRegister; 3],
        shift: u32,
    ) {
        self.append(bits | shift << 10 | registers(to, from, by), || {
            let registers = [to, from, by].map(name).join(", ");
            match shift {
                0 => format!("{mnemonic:<8}{registers}"),
                _ => format!("{mnemonic:<8}{registers}, lsl #{shift}"),
            }
        });
    }

    /// Adds a register; `to` and `from` may be the stack pointer.
    pub(super) fn add_to_any(
        &mut self,
        to: GeneralRegister,
        from: GeneralRegister,
        added: GeneralRegister,
    ) {
        self.extended("add", 0x8b20_6000, [to, from, added]);
    }

    /// Subtracts a register; otherwise like [`Assembler::add_to_any`].
    pub(super) fn sub_from_any(
        &mut self,
        to: GeneralRegister,
        from: GeneralRegister,
        taken: GeneralRegister,
    ) {
        self.extended("sub", 0xcb20_6000, [to, from, taken]);
    }

    fn extended(&mut self, mnemonic: &str, bits: u32, [to, from, by]: [GeneralRegister; 3]) {
        self.append(bits | registers(to, from, by), || {
            format!("{mnemonic:<8}{}, uxtx", [to, from, by].map(name).join(", "))
        });
    }

    /// Compares two registers.
    pub(super) fn compare(&mut self, first: GeneralRegister, second: GeneralRegister) {
        self.append(0xeb00_0000 | registers(31, first, second), || {
            format!("cmp     {}, {}", name(first), name(second))
        });
    }

    /// Copies a register.
    pub(super) fn copy(&mut self, to: GeneralRegister, from: GeneralRegister) {
        self.append(0xaa00_0000 | registers(to, 31, from), || {
            format!("mov     {}, {}", name(to), name(from))
        });
    }

    /// Loads a constant into a register, 16 bits per instruction.
    pub(super) fn constant(&mut self, to: GeneralRegister, value: u64) {
        let digits = [0, 1, 2, 3].map(|digit| (value >> (16 * digit)) as u32 & 0xffff);
        self.append(0xd280_0000 | digits[0] << 5 | u32::from(to), || {
            format!("movz    {}, #{:#x}", name(to), digits[0])
        });
        for digit in (1..4).filter(|&digit| digits[digit] != 0) {
            let bits = 0xf280_0000 | (digit as u32) << 21 | digits[digit] << 5;
            self.append(bits | u32::from(to), || {
                format!("movk    {}, #{:#x}, lsl #{}", name(to), digits[digit], 16 * digit)
            });
        }
    }

    /// Computes the address of this instruction.
    pub(super) fn address_of_this(&mut self, to: GeneralRegister) {
        self.append(0x1000_0000 | u32::from(to), || format!("adr     {}, .", name(to)));
    }

    /// Computes the address at a displacement from a base register, which may be the stack pointer.
    pub(super) fn address(
        &mut self,
        to: GeneralRegister,
        base: GeneralRegister,
        displacement: u32,
    ) {
        match displacement {
            0..4096 => self.add_immediate(to, base, displacement),
            _ => {
                self.constant(to, displacement.into());
                self.add_to_any(to, base, to);
            }
        }
    }

    /// A base and displacement that a load or store of `bytes` bytes can encode. If the given displacement is
    /// too large or unaligned, the address is computed in `scratch`.
    pub(super) fn encodable_address(
        &mut self,
        base: GeneralRegister,
        displacement: u32,
        bytes: u32,
        scratch: GeneralRegister,
    ) -> (GeneralRegister, u32) {
        if displacement.is_multiple_of(bytes) && displacement / bytes < 4096 {
            return (base, displacement);
        }
        self.address(scratch, base, displacement);
        (scratch, 0)
    }

    /// Calls the function at an address.
    pub(super) fn call(&mut self, address: GeneralRegister) {
        self.append(0xd63f_0000 | registers(0, address, 0), || {
            format!("blr     {}", name(address))
        });
    }

    /// Returns.
    pub(super) fn ret(&mut self) {
        self.append(0xd65f_03c0, || "ret".to_owned());
    }

    /// Jumps to a known position.
    pub(super) fn jump(&mut self, target: usize, label: &'static str) {
        let distance = target as u32;
        let distance = distance.wrapping_sub(self.position() as u32);
        self.append(0x1400_0000 | distance & 0x03ff_ffff, || format!("b       {label}"));
    }

    /// Jumps forward by less than a megabyte if a condition holds; [`Assembler::bind`] sets the target.
    pub(super) fn jump_forward(
        &mut self,
        condition: Condition,
        label: impl Into<Cow<'static, str>>,
    ) -> Jump {
        let label = label.into();
        let at = self.position();
        let (word, text) = match condition {
            Condition::Equal => (0x5400_0000, "b.eq    ".to_owned()),
            Condition::Greater => (0x5400_000c, "b.gt    ".to_owned()),
            Condition::Zero(register) => {
                (0xb400_0000 | u32::from(register), format!("cbz     {}, ", name(register)))
            }
            Condition::NotZero(register) => {
                (0xb500_0000 | u32::from(register), format!("cbnz    {}, ", name(register)))
            }
        };
        self.append(word, || text + &label);
        Jump { at, label }
    }

    /// Sets the target of a forward jump to the next instruction.
    pub(super) fn bind(&mut self, jump: Jump) {
        self.label(&jump.label);
        let distance = (self.position() - jump.at) as u32;
        self.words[jump.at] |= distance << 5;
    }

    /// Labels the next instruction in the listing.
    pub(super) fn label(&mut self, label: &str) {
        if let Some(listing) = &mut self.listing {
            listing.label(label);
        }
    }
}

/// The bits of the register operands in their usual fields: result, first source, second source.
fn registers(to: u8, from: u8, second: u8) -> u32 {
    u32::from(second) << 16 | u32::from(from) << 5 | u32::from(to)
}

/// The name of a general register.
pub(super) fn name(register: GeneralRegister) -> String {
    match register {
        STACK => "sp".to_owned(),
        _ => format!("x{register}"),
    }
}

fn address_text(base: GeneralRegister, displacement: u32) -> String {
    match displacement {
        0 => format!("[{}]", name(base)),
        _ => format!("[{}, #{displacement:#x}]", name(base)),
    }
}

/// The text of a load or store of a vector register.
pub(super) fn move_text(
    opcode: Opcode,
    register: u8,
    base: GeneralRegister,
    displacement: u32,
) -> String {
    let place = address_text(base, displacement);
    format!("{:<8}{}{register}, {place}", opcode.mnemonic(), letter(opcode.size))
}
