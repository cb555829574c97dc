//! What links do with the mask of a chain. Holds unsafe code.
//!
//! The mask is a byte for each element of the accumulator: a bool as 0 or 1, or a u8. `links.rs`
//! calls this.

use indim_ops::meaning::{boolean, integer};
use indim_ops::operations::*;
use indim_ops::{ConvertTo, DType, Element, Op};

use super::Form;
use super::accumulator::{bools, bytes, each, load, load_single, store, with};
use super::opcode::{Codes, Opcode, mask_code};

/// The codes of one operation on the mask, as patterns.
trait MaskCodes: Codes {
    const BOOLS: u16 = mask_code(Self::OP, DType::Bool, Form::Block);
    const BOOLS_AND_ONE: u16 = mask_code(Self::OP, DType::Bool, Form::Single);
    const BYTES: u16 = mask_code(Self::OP, DType::U8, Form::Block);
    const BYTES_AND_ONE: u16 = mask_code(Self::OP, DType::U8, Form::Single);
}

impl<O: Codes> MaskCodes for O {}

macro_rules! define_mask_links {
    (
        bools [$($logical:ident $logical_name:ident)*]
        bytes [$($bitwise:ident $bitwise_name:ident)*]
        comparisons [$($comparison:ident $comparison_name:ident)*]
    ) => {
        /// The mask after the link of this opcode.
        ///
        /// # Safety
        /// `operand` is as [`super::pieces::ChainFn`] has it for `LENGTH` elements.
        #[inline(always)]
        pub(crate) unsafe fn mask_link<const LENGTH: usize>(
            code: u16,
            operand: *const u8,
            mask: [u8; LENGTH],
        ) -> [u8; LENGTH] {
            // SAFETY: in all arms the caller's promise for the opcode.
            unsafe {
                match code {
                    Opcode::LOAD_BYTES => load(operand),
                    Opcode::LOAD_BYTE => single(operand),
                    Opcode::TEST_MASK => bytes(each(mask, ConvertTo::<bool>::convert)),
                    Opcode::SAVE_MASK => {
                        store(operand.cast_mut(), mask);
                        mask
                    }
                    Not::BOOLS => bytes(each(bools(mask), boolean::not)),
                    $(
                        $logical::BOOLS => {
                            bytes(with(&bools(mask), load(operand), boolean::$logical_name))
                        }
                        $logical::BOOLS_AND_ONE => {
                            bytes(with(&bools(mask), single(operand), boolean::$logical_name))
                        }
                    )*
                    $(
                        $bitwise::BYTES => with(&mask, load(operand), integer::$bitwise_name),
                        $bitwise::BYTES_AND_ONE => with(&mask, single(operand), integer::$bitwise_name),
                    )*
                    $(
                        $comparison::BYTES => bytes(with(&mask, load(operand), integer::$comparison_name)),
                        $comparison::BYTES_AND_ONE => {
                            bytes(with(&mask, single(operand), integer::$comparison_name))
                        }
                    )*
                    _ => {
                        debug_assert!(false, "no link has the code {code}");
                        mask
                    }
                }
            }
        }

        /// The operations on elements of type `dtype` that the mask can do.
        pub const fn mask_operations(dtype: DType) -> &'static [Op] {
            match dtype {
                DType::Bool => &[Op::Not, $(Op::$logical,)*],
                DType::U8 => &[$(Op::$bitwise,)* $(Op::$comparison,)*],
                _ => &[],
            }
        }
    };
}

define_mask_links! {
    bools [And and Or or Xor xor Eq eq Ne ne]
    bytes [And and Or or Xor xor]
    comparisons [Eq eq Ne ne Lt lt Le le Gt gt Ge ge]
}

/// One element for all.
///
/// # Safety
/// `operand` is valid for reads of an element.
#[inline(always)]
unsafe fn single<T: Element, const LENGTH: usize>(operand: *const u8) -> [T; LENGTH] {
    // SAFETY: the caller's promise.
    [unsafe { load_single(operand) }; LENGTH]
}
