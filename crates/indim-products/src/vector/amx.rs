//! Register tiles of bytes by AMX: 16 or 32 rows by 16 or 32 columns. Holds unsafe code.
//!
//! A tile register has 16 rows of 64 bytes. An instruction multiplies 16 rows of `x`, of 16 groups of four
//! bytes each, by 16 rows of the packed panel of `y`, of 16 groups each, and adds the products to 16 by 16
//! sums of 32 bits, which wrap. Each pair of signs of `x` and `y` has its own instruction.

use core::arch::asm;
use core::arch::x86_64::__cpuid_count;
use std::sync::OnceLock;

use crate::tile::TileArguments;

/// Number of rows of a tile register, and of groups or sums in each row.
pub(crate) const TILE: usize = 16;

/// Rows of the largest register tile.
pub(crate) const ROWS: usize = 2 * TILE;

/// Vectors of columns of the largest register tile.
pub(crate) const VECTORS: usize = 2;

/// Bytes of a row of a tile register.
const ROW_BYTES: usize = 4 * TILE;

/// Whether the processor has AMX for bytes and the system lets this process use it. The first call asks
/// Linux, which then saves tile registers of all threads; other systems do not have this request.
pub(crate) fn is_available() -> bool {
    static IS_AVAILABLE: OnceLock<bool> = OnceLock::new();
    *IS_AVAILABLE.get_or_init(|| {
        let has_instructions = || {
            // Bits of AMX-TILE and AMX-INT8.
            const BITS: u32 = 1 << 24 | 1 << 25;
            __cpuid_count(0, 0).eax >= 7 && __cpuid_count(7, 0).edx & BITS == BITS
        };
        cfg!(target_os = "linux") && has_instructions() && is_permitted()
    })
}

/// Asks Linux for permission to use tile registers.
fn is_permitted() -> bool {
    const SYS_ARCH_PRCTL: isize = 158;
    const ARCH_REQ_XCOMP_PERM: usize = 0x1023;
    const XFEATURE_XTILEDATA: usize = 18;
    let mut result = SYS_ARCH_PRCTL;
    if cfg!(all(target_os = "linux", target_pointer_width = "64", not(miri))) {
        // SAFETY: the system call changes no memory of the process; the kernel changes `rcx` and `r11` only.
        unsafe {
            asm!(
                "syscall",
                inlateout("rax") result,
                in("rdi") ARCH_REQ_XCOMP_PERM,
                in("rsi") XFEATURE_XTILEDATA,
                lateout("rcx") _,
                lateout("r11") _,
                options(nostack),
            );
        }
    }
    result == 0
}

/// The configuration of tile registers, as the processor reads it.
#[repr(C, align(64))]
struct TileConfiguration {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

impl TileConfiguration {
    /// Whole registers, except those of the first 16 rows of `x` (`tmm4`) and of their sums (`tmm0`,
    /// `tmm1`), which have `first_rows` rows.
    fn new(first_rows: usize) -> TileConfiguration {
        let (first, all) = (first_rows as u8, TILE as u8);
        let mut rows = [0; 16];
        rows[..8].copy_from_slice(&[first, first, all, all, first, all, all, all]);
        let mut row_bytes = [0; 16];
        row_bytes[..8].fill(ROW_BYTES as u16);
        TileConfiguration { palette: 1, start_row: 0, reserved: [0; 14], row_bytes, rows }
    }
}

/// Configures the tile registers of this thread, which costs as much as a register tile.
///
/// # Safety
/// AMX is available.
unsafe fn configure(configuration: &TileConfiguration) {
    // SAFETY: the caller ensures the instruction. No other code of this process uses tile registers.
    unsafe {
        asm!("ldtilecfg [{}]", in(reg) configuration, options(nostack, readonly, preserves_flags))
    }
}

/// Prepares this thread for register tiles.
///
/// # Safety
/// AMX is available.
pub(crate) unsafe fn configure_thread() {
    // SAFETY: the caller ensures the instructions.
    unsafe { configure(&TileConfiguration::new(TILE)) }
}

/// Releases the tile registers of this thread, so that switches to other threads do not save them.
///
/// # Safety
/// AMX is available.
pub(crate) unsafe fn release_thread() {
    // SAFETY: the caller ensures the instruction.
    unsafe { asm!("tilerelease", options(nostack, nomem, preserves_flags)) }
}

/// The addresses of the sums of a tile, at the offsets that the code below reads.
#[repr(C)]
struct TileAddresses {
    /// The first sum of each quarter of the tile: two quarters of the first 16 rows, then two of the last
    /// 16.
    out: [*mut u8; 4],
    /// Bytes between rows of the sums of the first 16 columns, and of the last 16.
    out_row_strides: [isize; 2],
}

/// Multiplies rows by columns in a loop over steps of 16 groups. The lists are assembly lines: before the
/// loop, in each step, and after the loop. Sums are `tmm0` to `tmm3`, rows `tmm4` and `tmm5`, columns
/// `tmm6` and `tmm7`.
macro_rules! multiply {
    (
        $addresses:ident $tile:ident $x:ident $y_row:ident,
        [$($before:expr),*] [$($step:expr),*] [$($after:expr),*]
    ) => {
        asm!(
            $($before,)*
            "test {steps}, {steps}",
            "jz 3f",
            "2:",
            $($step,)*
            "add {x}, 64",
            "add {second}, 64",
            "add {y}, {y_step}",
            "dec {steps}",
            "jnz 2b",
            "3:",
            $($after,)*
            addresses = in(reg) &raw const $addresses,
            x = inout(reg) $x => _,
            x_row_stride = inout(reg) $tile.x_row_stride => _,
            second = inout(reg) $x.wrapping_offset(TILE as isize * $tile.x_row_stride) => _,
            y = inout(reg) $tile.y => _,
            y_row = in(reg) $y_row,
            y_step = in(reg) $y_row * TILE,
            steps = inout(reg) $tile.length / TILE => _,
            out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
            out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
            options(nostack),
        )
    };
}

/// The store of a quarter of the sums.
macro_rules! store {
    ($register:literal, $out:literal, $out_row_stride:literal) => {
        concat!(
            "mov {x}, [{addresses} + ",
            $out,
            "]\n",
            "mov {x_row_stride}, [{addresses} + ",
            $out_row_stride,
            "]\n",
            "tilestored [{x} + {x_row_stride}*1], ",
            $register
        )
    };
}

macro_rules! register_tiles {
    ($($name:ident $multiply:literal)*) => { $(
        /// A register tile of groups of bytes with these signs.
        ///
        /// # Safety
        /// - Like [`TileFn`](crate::tile::TileFn), for at most 32 rows of `x`, which are in place and
        ///   contiguous, and 32 columns of a packed panel; `length` is a multiple of 16;
        /// - AMX is available, and this thread has called [`configure_thread`].
        pub(crate) unsafe fn $name(tile: &TileArguments) {
            let vectors = tile.columns.div_ceil(TILE);
            let y_row = vectors * ROW_BYTES;
            let mut row = 0;
            while row < tile.rows {
                let rows = if tile.rows == ROWS { ROWS } else { TILE.min(tile.rows - row) };
                let x = tile.x.wrapping_offset(row as isize * tile.x_row_stride);
                let addresses = TileAddresses::new(tile, row);
                let is_whole = rows.is_multiple_of(TILE);
                // SAFETY: the caller ensures rows, columns and instructions; `addresses` has the addresses of
                // all sums. Tile registers have 16 rows, except while this code computes fewer.
                unsafe {
                    if !is_whole {
                        configure(&TileConfiguration::new(rows));
                    }
                    match (rows == ROWS, vectors > 1) {
                        (false, false) => multiply!(addresses tile x y_row,
                            ["tilezero tmm0"]
                            [
                                "tileloadd tmm4, [{x} + {x_row_stride}*1]",
                                "tileloadd tmm6, [{y} + {y_row}*1]",
                                concat!($multiply, " tmm0, tmm4, tmm6")
                            ]
                            [store!("tmm0", "0", "32")]
                        ),
                        (false, true) => multiply!(addresses tile x y_row,
                            ["tilezero tmm0", "tilezero tmm1"]
                            [
                                "tileloadd tmm4, [{x} + {x_row_stride}*1]",
                                "tileloadd tmm6, [{y} + {y_row}*1]",
                                "tileloadd tmm7, [{y} + {y_row}*1 + 64]",
                                concat!($multiply, " tmm0, tmm4, tmm6"),
                                concat!($multiply, " tmm1, tmm4, tmm7")
                            ]
                            [store!("tmm0", "0", "32"), store!("tmm1", "8", "40")]
                        ),
                        (true, false) => multiply!(addresses tile x y_row,
                            ["tilezero tmm0", "tilezero tmm2"]
                            [
                                "tileloadd tmm4, [{x} + {x_row_stride}*1]",
                                "tileloadd tmm5, [{second} + {x_row_stride}*1]",
                                "tileloadd tmm6, [{y} + {y_row}*1]",
                                concat!($multiply, " tmm0, tmm4, tmm6"),
                                concat!($multiply, " tmm2, tmm5, tmm6")
                            ]
                            [store!("tmm0", "0", "32"), store!("tmm2", "16", "32")]
                        ),
                        (true, true) => multiply!(addresses tile x y_row,
                            ["tilezero tmm0", "tilezero tmm1", "tilezero tmm2", "tilezero tmm3"]
                            [
                                "tileloadd tmm4, [{x} + {x_row_stride}*1]",
                                "tileloadd tmm6, [{y} + {y_row}*1]",
                                "tileloadd tmm7, [{y} + {y_row}*1 + 64]",
                                "tileloadd tmm5, [{second} + {x_row_stride}*1]",
                                concat!($multiply, " tmm0, tmm4, tmm6"),
                                concat!($multiply, " tmm1, tmm4, tmm7"),
                                concat!($multiply, " tmm2, tmm5, tmm6"),
                                concat!($multiply, " tmm3, tmm5, tmm7")
                            ]
                            [
                                store!("tmm0", "0", "32"),
                                store!("tmm1", "8", "40"),
                                store!("tmm2", "16", "32"),
                                store!("tmm3", "24", "40")
                            ]
                        ),
                    }
                    if !is_whole {
                        configure(&TileConfiguration::new(TILE));
                    }
                    copy_partial_vector(tile, row, rows);
                }
                row += rows;
            }
        }
    )* };
}

register_tiles! {
    signed_by_signed "tdpbssd"
    signed_by_unsigned "tdpbsud"
    unsigned_by_signed "tdpbusd"
    unsigned_by_unsigned "tdpbuud"
}

/// Columns of the last vector if the result has room for fewer than a vector; otherwise `None`.
fn partial_vector_columns(tile: &TileArguments) -> Option<usize> {
    let rest = tile.columns % TILE;
    (rest > 0 && !tile.results.is_wide).then_some(rest)
}

impl TileAddresses {
    /// The addresses of some rows of a tile, at most 16 or all 32, from `row` on. Sums of a partial vector go
    /// to the memory of nodes, because these tiles need no nodes.
    fn new(tile: &TileArguments, row: usize) -> TileAddresses {
        let out_row_stride = tile.results.out_row_stride;
        let out = tile.results.out.wrapping_offset(row as isize * out_row_stride);
        let mut addresses = [(out, out_row_stride), (out.wrapping_add(ROW_BYTES), out_row_stride)];
        if partial_vector_columns(tile).is_some() {
            addresses[tile.columns.div_ceil(TILE) - 1] = (tile.nodes, ROW_BYTES as isize);
        }
        let [(left, left_row), (right, right_row)] = addresses;
        let below = |place: *mut u8, row: isize| place.wrapping_offset(TILE as isize * row);
        TileAddresses {
            out: [left, right, below(left, left_row), below(right, right_row)],
            out_row_strides: [left_row, right_row],
        }
    }
}

/// Copies the sums of a partial vector to the result.
///
/// # Safety
/// The memory of nodes has these sums; the result is valid for writes of its columns in each row.
unsafe fn copy_partial_vector(tile: &TileArguments, row: usize, rows: usize) {
    let Some(count) = partial_vector_columns(tile) else { return };
    let column = tile.columns - count;
    for index in 0..rows {
        let to =
            tile.results.out.wrapping_offset((row + index) as isize * tile.results.out_row_stride);
        let from = tile.nodes.cast_const().wrapping_add(index * ROW_BYTES);
        // SAFETY: the caller ensures sums and results.
        unsafe { to.wrapping_add(column * 4).copy_from_nonoverlapping(from, count * 4) }
    }
}
