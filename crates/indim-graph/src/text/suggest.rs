//! The name that a misspelt one may have meant.

/// Longer names are not compared: the work is bounded by the square of this.
const LONGEST: usize = 32;

/// The candidate that differs least from `name`, if it differs by no more than a slip of the hand.
pub(super) fn closest<'c>(
    name: &str,
    candidates: impl Iterator<Item = &'c str>,
) -> Option<&'c str> {
    let name: Vec<char> = name.chars().take(LONGEST + 1).collect();
    if name.len() > LONGEST {
        return None;
    }
    let allowed = 1 + name.len() / 6;
    candidates
        .map(|candidate| (distance(&name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The number of single-character edits between two names (Levenshtein).
fn distance(name: &[char], candidate: &str) -> usize {
    let mut row: Vec<usize> = (0..=name.len()).collect();
    for (index, character) in candidate.chars().take(2 * LONGEST).enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for column in 1..row.len() {
            let replaced = diagonal + usize::from(name[column - 1] != character);
            diagonal = row[column];
            row[column] = replaced.min(diagonal + 1).min(row[column - 1] + 1);
        }
    }
    row[name.len()]
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn a_slip_of_the_hand_is_recognised_and_a_different_word_is_not() {
        let names = || ["maximum", "sqrt", "x"].into_iter();
        assert_eq!(closest("maximun", names()), Some("maximum"));
        assert_eq!(closest("sqr", names()), Some("sqrt"));
        assert_eq!(closest("convolve", names()), None);
        assert_eq!(closest("y", names()), None);
        assert_eq!(closest(&"s".repeat(1000), names()), None);
    }
}
