//! Chains: which instructions of a nest run together, in one pass over a block, and by which links.
//!
//! Which instructions become chains is decided in `find.rs`, by what `cheap.rs` says of them, and
//! `sequence.rs` puts them in sequence. What links do is in `indim-kernels`.

mod cheap;
pub(crate) mod find;
mod sequence;

use core::fmt;

use indim_kernels::chain;
use indim_loops::loop_nest::Local;
use indim_ops::DType;

/// What happens to an accumulator, by values of a nest.
pub(crate) type Link = chain::Link<Operand>;

/// Cheap instructions put in sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chain {
    /// The instruction whose result the chain leaves.
    pub(crate) root: usize,
    /// The element type of the accumulator of values.
    pub(crate) dtype: DType,
    /// What happens to the accumulators.
    pub(crate) links: Vec<Link>,
    /// How many accumulators are saved at a time.
    pub(crate) saved: usize,
}

impl Chain {
    /// Whether any link has to do with the mask.
    pub(crate) fn has_mask(&self) -> bool {
        self.links.iter().any(Link::is_of_mask)
    }
}

/// An operand of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operand {
    /// A value of the nest.
    Local(Local),
    /// A saved accumulator.
    Saved(usize),
}

impl Operand {
    /// What a link reads, or writes if it saves.
    pub(crate) fn of(link: &Link) -> Option<Operand> {
        match *link {
            Link::Load(_, operand) | Link::Binary { operand, .. } => Some(operand),
            Link::Save(_, index) => Some(Operand::Saved(index)),
            _ => None,
        }
    }

    /// The value of the nest that a link reads.
    pub(crate) fn local(link: &Link) -> Option<Local> {
        match Operand::of(link) {
            Some(Operand::Local(local)) => Some(local),
            _ => None,
        }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Local(local) => local.fmt(formatter),
            Operand::Saved(index) => write!(formatter, "s{index}"),
        }
    }
}
