//! Sizes in bytes as arguments: `4096`, `512MiB`, `1.5GiB`, `2GB`.

/// Units and their sizes in bytes: powers of 1024 with an `i`, powers of 1000 without.
const UNITS: [(&str, u64); 10] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("B", 1),
    ("", 1),
];

/// Parses a size in bytes.
///
/// # Errors
/// If the text is not a number with one of the units, or exceeds `usize::MAX`.
pub(crate) fn parse_byte_size(text: &str) -> Result<usize, String> {
    let explain = || format!("`{text}` is not a size such as 4096, 512MiB, 1.5GiB or 2GB");
    let (number, unit) = UNITS
        .iter()
        .find_map(|&(name, unit)| Some((text.strip_suffix(name)?.trim_end(), unit)))
        .ok_or_else(explain)?;
    let has_digits_only = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if !has_digits_only {
        return Err(explain());
    }
    if let Ok(whole) = number.parse::<u64>() {
        let bytes = u128::from(whole) * u128::from(unit);
        return usize::try_from(bytes)
            .map_err(|_| format!("`{text}` is more than memory can have"));
    }
    let scaled = number.parse::<f64>().map_err(|_| explain())? * unit as f64;
    match scaled < isize::MAX as f64 {
        // A fraction of a byte does not matter.
        true => Ok(scaled as usize),
        false => Err(format!("`{text}` is more than memory can have")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_bytes_or_have_a_unit() {
        assert_eq!(parse_byte_size("4096"), Ok(4096));
        assert_eq!(parse_byte_size("0B"), Ok(0));
        assert_eq!(parse_byte_size("512MiB"), Ok(512 << 20));
        assert_eq!(parse_byte_size("1.5 GiB"), Ok(3 << 29));
        assert_eq!(parse_byte_size("2GB"), Ok(2_000_000_000));
        assert_eq!(parse_byte_size("0.5 KB"), Ok(500));
        // Beyond the address space of 32-bit machines.
        for (text, bytes) in [("2TiB", 2u64 << 40), ("3TB", 3_000_000_000_000)] {
            assert_eq!(parse_byte_size(text).ok(), usize::try_from(bytes).ok(), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in ["", "GiB", "-1", "1e3", "nan", "inf", "1Gb", "1.5.2KiB", ".", "2 G", "0x10"] {
            assert!(parse_byte_size(text).is_err(), "{text}");
        }
        for text in ["99999999999999999999", "18014398509481984KiB", "99999999999.5TiB"] {
            assert!(parse_byte_size(text).is_err(), "{text}");
        }
    }
}
