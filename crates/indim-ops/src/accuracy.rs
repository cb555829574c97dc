//! Measured accuracy of the functions.

/// The record that `cargo xtask accuracy record` writes.
const MEASURED: &str = include_str!("../tests/accuracy/measured.txt");

/// The largest measured error of a function at one element type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accuracy {
    /// The function.
    pub name: &'static str,
    /// The element type.
    pub dtype: &'static str,
    /// The largest error. For f32 in ULP, relative to the exact value; for other types the distance from
    /// the correctly rounded result, in floats of the type.
    pub error: &'static str,
    /// The number of arguments tried.
    pub tried: &'static str,
    /// The number of results that are not the nearest float.
    pub not_nearest: &'static str,
}

/// All measurements, in the order of the functions.
pub fn accuracies() -> impl Iterator<Item = Accuracy> {
    MEASURED.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        Some(Accuracy {
            name: words.next()?,
            dtype: words.next()?,
            error: words.next()?,
            tried: words.next()?,
            not_nearest: words.next()?,
        })
    })
}
