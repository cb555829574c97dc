//! The choice of the executor for a program.

use core::fmt;
use core::str::FromStr;

/// The executor that runs loop nests. All give the same bits.
///
/// ```
/// use indim_cpu::ExecutorChoice;
///
/// assert_eq!("blocks".parse(), Ok(ExecutorChoice::Blocks));
/// assert_eq!(ExecutorChoice::Machine.to_string(), "machine");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ExecutorChoice {
    /// Kernels at first, then machine code for nests whose runs have cost as much as compilation.
    #[default]
    Automatic,
    /// Kernels over blocks in L1.
    Blocks,
    /// Machine code, generated at the first run. Kernels run the nests that it does not support. They run all
    /// nests on processors without a code generator and on systems that refuse executable memory.
    Machine,
}

/// The names of all executors.
const NAMES: [(&str, ExecutorChoice); 3] = [
    ("automatic", ExecutorChoice::Automatic),
    ("blocks", ExecutorChoice::Blocks),
    ("machine", ExecutorChoice::Machine),
];

impl fmt::Display for ExecutorChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = NAMES.iter().find(|(_, choice)| choice == self);
        formatter.write_str(named.map_or("", |(name, _)| name))
    }
}

/// The error for a text that names no executor.
///
/// ```
/// let error = "gpu".parse::<indim_cpu::ExecutorChoice>().unwrap_err();
/// assert_eq!(error.to_string(), "`gpu` is not an executor; there are automatic, blocks, machine");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownExecutor {
    name: String,
}

impl fmt::Display for UnknownExecutor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = NAMES.map(|(name, _)| name).join(", ");
        write!(formatter, "`{}` is not an executor; there are {names}", self.name)
    }
}

impl core::error::Error for UnknownExecutor {}

impl FromStr for ExecutorChoice {
    type Err = UnknownExecutor;

    fn from_str(name: &str) -> Result<Self, UnknownExecutor> {
        let named = NAMES.iter().find(|(known, _)| *known == name);
        named.map(|&(_, choice)| choice).ok_or_else(|| UnknownExecutor { name: name.to_owned() })
    }
}
