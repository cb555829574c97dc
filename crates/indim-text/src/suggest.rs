//! Suggestions for misspelt names.

use strsim::osa_distance;

/// Maximum characters of compared names: the work grows with their square.
const MAX_NAME_CHARACTERS: usize = 32;

/// The candidate with the smallest edit distance from `name`, if the distance is at most `1 + n / 6` for a
/// name of `n` characters, and less than the length of the candidate.
///
/// ```
/// assert_eq!(indim_text::closest("maximun", ["maximum", "sqrt"].into_iter()), Some("maximum"));
/// ```
pub fn closest<'c>(name: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    let length = name.chars().take(MAX_NAME_CHARACTERS + 1).count();
    if length > MAX_NAME_CHARACTERS {
        return None;
    }
    let allowed = 1 + length / 6;
    candidates
        .filter(|candidate| candidate.len() <= 8 * MAX_NAME_CHARACTERS)
        // The swap of two neighbouring letters counts as one edit.
        .map(|candidate| (osa_distance(name, candidate), candidate))
        .filter(|(distance, candidate)| {
            *distance <= allowed && *distance < candidate.chars().count()
        })
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn a_slip_of_the_hand_is_recognised_and_a_different_word_is_not() {
        let names = || ["maximum", "sqrt", "x"].into_iter();
        assert_eq!(closest("maximun", names()), Some("maximum"));
        assert_eq!(closest("sqr", names()), Some("sqrt"));
        assert_eq!(closest("maxmium", names()), Some("maximum"), "an exchange is one slip");
        assert_eq!(closest("maen", ["mean"].into_iter()), Some("mean"));
        assert_eq!(closest("convolve", names()), None);
        assert_eq!(closest("y", names()), None);
        assert_eq!(closest(&"s".repeat(1000), names()), None);
    }
}
