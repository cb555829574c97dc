//! Axis names, by which [`RuleSet::Named`](crate::RuleSet::Named) matches axes.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::is_printable;

/// Maximum characters of a name that a message shows, so that it stays on one line.
const MAX_SHOWN_CHARACTERS: usize = 40;

/// The names of an operand's axes. An axis may have no name.
///
/// ```
/// use indim_shape::AxisNames;
///
/// let names = AxisNames::from(["time", "lat"]);
/// assert_eq!((names.len(), names.get(1), names.axis("time")), (2, Some("lat"), Some(0)));
/// assert_eq!(names.to_string(), "[time, lat]");
///
/// let some = AxisNames::of_each([Some("time"), None]);
/// assert_eq!((some.get(1), some.to_string().as_str()), (None, "[time, ?]"));
/// assert!(some.has_any() && !AxisNames::unnamed(2).has_any());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AxisNames(Arc<[Option<Arc<str>>]>);

impl AxisNames {
    /// Names from an option for each axis. An empty string means no name.
    pub fn of_each<'a>(names: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let given = |name: Option<&str>| name.filter(|name| !name.is_empty()).map(Arc::from);
        AxisNames(names.into_iter().map(given).collect())
    }

    /// A list for `rank` axes without names.
    pub fn unnamed(rank: usize) -> Self {
        AxisNames((0..rank).map(|_| None).collect())
    }

    /// Gathers names: `from` gives, for each axis of the result, a list of names and an index into it, or
    /// `None` for an axis without a name.
    ///
    /// ```
    /// use indim_shape::AxisNames;
    ///
    /// let names = AxisNames::from(["time", "lat"]);
    /// let turned = AxisNames::gather([Some((&names, 1)), Some((&names, 0)), None]);
    /// assert_eq!(turned.to_string(), "[lat, time, ?]");
    /// ```
    pub fn gather<'a>(from: impl IntoIterator<Item = Option<(&'a AxisNames, usize)>>) -> Self {
        let name = |(names, axis): (&AxisNames, usize)| names.0.get(axis).cloned().flatten();
        AxisNames(from.into_iter().map(|from| from.and_then(name)).collect())
    }

    /// The number of axes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The name of an axis, if it has one.
    pub fn get(&self, axis: usize) -> Option<&str> {
        self.0.get(axis)?.as_deref()
    }

    /// The first axis of this name.
    pub fn axis(&self, name: &str) -> Option<usize> {
        self.iter().position(|known| known == Some(name))
    }

    /// The name of each axis.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&str>> {
        self.0.iter().map(|name| name.as_deref())
    }

    /// Whether any axis has a name.
    pub fn has_any(&self) -> bool {
        self.0.iter().any(Option::is_some)
    }

    /// The name of an axis for messages: escaped, and cut to one line.
    pub(crate) fn escaped(&self, axis: usize) -> Option<EscapedName<'_>> {
        self.get(axis).map(EscapedName)
    }

    /// These names with `name` for an axis.
    pub(crate) fn with(&self, axis: usize, name: &str) -> Self {
        let other = |(at, known)| if at == axis { Some(name) } else { known };
        AxisNames::of_each(self.iter().enumerate().map(other))
    }

    /// These names without the entry of an axis.
    pub(crate) fn without(&self, axis: usize) -> Self {
        let kept = self.iter().enumerate().filter(|&(at, _)| at != axis);
        AxisNames::of_each(kept.map(|(_, name)| name))
    }
}

impl<'a, const RANK: usize> From<[&'a str; RANK]> for AxisNames {
    fn from(names: [&'a str; RANK]) -> Self {
        AxisNames::of_each(names.map(Some))
    }
}

impl<'a> FromIterator<&'a str> for AxisNames {
    fn from_iter<I: IntoIterator<Item = &'a str>>(names: I) -> Self {
        AxisNames::of_each(names.into_iter().map(Some))
    }
}

impl From<Vec<&str>> for AxisNames {
    fn from(names: Vec<&str>) -> Self {
        names.into_iter().collect()
    }
}

impl fmt::Display for AxisNames {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[")?;
        for axis in 0..self.len() {
            formatter.write_str(if axis > 0 { ", " } else { "" })?;
            match self.escaped(axis) {
                Some(name) => write!(formatter, "{name}")?,
                None => formatter.write_str("?")?,
            }
        }
        formatter.write_str("]")
    }
}

/// A name for display, which may come from a file: unprintable characters are escaped, long names are cut.
pub(crate) struct EscapedName<'a>(&'a str);

impl fmt::Display for EscapedName<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut characters = self.0.chars();
        for character in characters.by_ref().take(MAX_SHOWN_CHARACTERS) {
            match is_printable(character) {
                true => write!(formatter, "{character}")?,
                false => write!(formatter, "{}", character.escape_unicode())?,
            }
        }
        formatter.write_str(if characters.next().is_some() { "..." } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn names_of_files_are_shown_on_one_short_line() {
        let names = ["a\u{1b}[31m\n", "\u{202e}b\u{e000}\u{ffff}größe", &"x".repeat(900_000), ""];
        let names = AxisNames::from(names);
        let shown = names.to_string();
        let begins = "[a\\u{1b}[31m\\u{a}, \\u{202e}b\\u{e000}\\u{ffff}größe, xxx";
        assert!(shown.starts_with(begins), "{shown}");
        assert!(shown.ends_with("x..., ?]") && shown.len() < 125, "{shown}");
    }
}
