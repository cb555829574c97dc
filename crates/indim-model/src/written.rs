//! Written files.

use std::collections::BTreeMap;

/// A written file and the notes of its writer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WrittenModel {
    /// Content of the file.
    pub content: Vec<u8>,
    /// Name and content of its external file, if any.
    pub external_file: Option<(String, Vec<u8>)>,
    /// Operations that the writer decomposed.
    pub composed: Vec<Decomposition>,
    /// Sentences about operations that the other system may compute differently.
    pub warnings: Vec<String>,
    /// Operators of nodes that are as in the source file, because indim cannot compute or write them, with
    /// their number.
    pub carried: Vec<(String, usize)>,
    /// Metadata of the source file that the written file lacks: what it is, and of what.
    pub dropped: Vec<String>,
}

/// Each name with the number of its occurrences, sorted by name: [`WrittenModel::carried`].
///
/// ```
/// let names = ["Foo", "Bar", "Foo"].map(str::to_owned);
/// assert_eq!(indim_model::name_counts(names), [("Bar".to_owned(), 1), ("Foo".to_owned(), 2)]);
/// ```
pub fn name_counts(names: impl IntoIterator<Item = String>) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    names.into_iter().for_each(|name| *counts.entry(name).or_default() += 1);
    counts.into_iter().collect()
}

/// An operation that the format lacks, and its decomposition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decomposition {
    /// The operation.
    pub operation: String,
    /// The decomposition: `Exp(x * ln 2)`.
    pub by: String,
    /// Number of occurrences.
    pub count: usize,
}
