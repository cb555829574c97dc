//! Texts of programs in which some operations are copied: the values between copied and computed operations,
//! and the order of copied and newly written operations.

use core::ops::Range;
use std::collections::{HashMap, HashSet};

/// An operation of a text, with the names of values that it defines and reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextOperation {
    /// The text of the operation.
    pub text: String,
    /// Names of its results.
    pub defines: Vec<String>,
    /// Names of the values that it reads, also in its regions.
    pub reads: Vec<String>,
    /// Whether the operation is copied, not computed and written anew.
    pub is_carried: bool,
}

/// Names of values that cross the border: the carried operations define them and the others read them if
/// `is_carried` is true, and the other way round if it is false. Each name occurs once, in the order of the
/// first use.
///
/// ```
/// use indim_model::{TextOperation, crossing_values};
///
/// let operation = |define: &str, read: &str, is_carried| TextOperation {
///     text: String::new(),
///     defines: vec![define.to_owned()],
///     reads: vec![read.to_owned()],
///     is_carried,
/// };
/// let operations = [operation("a", "x", false), operation("b", "a", true)];
/// assert_eq!(crossing_values(&operations, false), ["a"]);
/// assert!(crossing_values(&operations, true).is_empty());
/// ```
pub fn crossing_values(operations: &[TextOperation], is_carried: bool) -> Vec<String> {
    let definers = operations.iter().filter(|operation| operation.is_carried == is_carried);
    let defined: HashSet<&String> = definers.flat_map(|operation| &operation.defines).collect();
    let readers = operations.iter().filter(|operation| operation.is_carried != is_carried);
    let mut seen = HashSet::new();
    let read = readers.flat_map(|operation| &operation.reads);
    read.filter(|name| defined.contains(name) && seen.insert(*name)).cloned().collect()
}

/// The texts of carried and written operations in one order: carried operations keep their order, because
/// they may have side effects, and each written one precedes the first carried one that needs it. Written
/// operations that no carried one needs are left out. Each list defines values before their uses.
///
/// ```
/// use indim_model::{TextOperation, merged_texts};
///
/// let operation = |text: &str, define: &str, read: &str| TextOperation {
///     text: text.to_owned(),
///     defines: vec![define.to_owned()],
///     reads: vec![read.to_owned()],
///     is_carried: true,
/// };
/// let carried = [operation("b = f(a)", "b", "a"), operation("return c", "", "c")];
/// let written = [operation("a = g(x)", "a", "x"), operation("c = g(b)", "c", "b")];
/// assert_eq!(merged_texts(&carried, &written), ["a = g(x)", "b = f(a)", "c = g(b)", "return c"]);
/// ```
pub fn merged_texts<'t>(
    carried: &'t [TextOperation],
    written: &'t [TextOperation],
) -> Vec<&'t str> {
    let mut definers: HashMap<&str, usize> = HashMap::new();
    for (index, operation) in written.iter().enumerate() {
        definers.extend(operation.defines.iter().map(|name| (name.as_str(), index)));
    }
    let read_by = |operation: &'t TextOperation| {
        operation.reads.iter().filter_map(|name| definers.get(name.as_str()).copied())
    };
    let mut is_placed = vec![false; written.len()];
    let mut texts = Vec::with_capacity(carried.len() + written.len());
    for operation in carried {
        let mut needed = Vec::new();
        let mut open: Vec<usize> = read_by(operation).collect();
        while let Some(index) = open.pop() {
            if !core::mem::replace(&mut is_placed[index], true) {
                needed.push(index);
                open.extend(read_by(&written[index]));
            }
        }
        needed.sort_unstable();
        texts.extend(needed.into_iter().map(|index| written[index].text.as_str()));
        texts.push(operation.text.as_str());
    }
    texts
}

/// A text with new texts in place of ranges, which do not overlap.
///
/// ```
/// let edits = vec![(6..7, "three".to_owned()), (0..1, "one".to_owned())];
/// assert_eq!(indim_model::replaced_ranges("1 and 3", edits), "one and three");
/// ```
pub fn replaced_ranges(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let (mut copy, mut position) = (String::with_capacity(text.len()), 0);
    for (range, new) in edits {
        copy += &text[position..range.start];
        copy += &new;
        position = range.end;
    }
    copy + &text[position..]
}

/// A range with the rest of its lines, if they are blank.
///
/// ```
/// assert_eq!(indim_model::line_range("a\n  b \nc", 4..5), 2..7);
/// assert_eq!(indim_model::line_range("a b\nc", 2..3), 2..3);
/// ```
pub fn line_range(text: &str, range: Range<usize>) -> Range<usize> {
    let is_blank = |c: char| matches!(c, ' ' | '\t');
    let before = text[..range.start].trim_end_matches(is_blank);
    let behind = text[range.end..].trim_start_matches(is_blank);
    match behind.strip_prefix('\n') {
        Some(rest) if before.is_empty() || before.ends_with('\n') => {
            before.len()..text.len() - rest.len()
        }
        _ => range,
    }
}

/// Names that the values of a written text get in the text of the source.
#[derive(Debug, Clone)]
pub struct SourceNames {
    names: HashMap<String, String>,
    prefix: String,
}

impl SourceNames {
    /// Written inputs have these names in the source. Values without a name in the source get a prefix:
    /// `first`, with as many underscores as it needs to begin no name of the source.
    pub fn new<'s>(
        inputs: impl IntoIterator<Item = (String, String)>,
        first: &str,
        source_names: impl Iterator<Item = &'s str> + Clone,
    ) -> SourceNames {
        let mut prefix = first.to_owned();
        while source_names.clone().any(|name| name.starts_with(&prefix)) {
            prefix.push('_');
        }
        SourceNames { names: inputs.into_iter().collect(), prefix }
    }

    /// Gives a written value its name in the source. Returns whether it had none.
    pub fn set(&mut self, written: &str, name: &str) -> bool {
        let is_new = !self.names.contains_key(written);
        if is_new {
            self.names.insert(written.to_owned(), name.to_owned());
        }
        is_new
    }

    /// The name of a written value; `plain` is its name without a mark such as `%`.
    pub fn name(&self, written: &str, plain: &str) -> String {
        self.names.get(written).cloned().unwrap_or_else(|| format!("{}{plain}", self.prefix))
    }
}
