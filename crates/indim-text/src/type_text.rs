//! Shapes and types as people write them on a line: `f32[2, 3]`, `[2, 3]`, `2,3`, `2x3`, `f32[]`.

use indim_graph::terminal::shown;
use indim_ops::{ArrayType, DType};
use indim_shape::{Diagnostic, MAXIMUM_RANK, RankLimit, Shape, saturating_size};

/// Reads a type. The element type may be missing.
///
/// ```
/// use indim_text::parse_type;
///
/// let (element_type, shape) = parse_type("f32[2, 3]").unwrap();
/// assert_eq!((element_type, shape.sizes()), (Some(indim_ops::DType::F32), &[2, 3][..]));
/// assert_eq!(parse_type("2x3").unwrap().1.sizes(), [2, 3]);
/// assert_eq!(parse_type("two").unwrap_err().code, "bad-shape");
/// ```
///
/// # Errors
/// `bad-shape`, `unknown-element-type`, `rank-limit`.
pub fn parse_type(text: &str) -> Result<(Option<DType>, Shape), Diagnostic> {
    let bad = |what: &str| Diagnostic::new("bad-shape", format!("`{}` {what}", shown(text)));
    let wrong = || bad("is no shape; write f32[2, 3], [2, 3] or 2x3, and [] for a scalar");
    let trimmed = text.trim();
    if trimmed.contains('(') || trimmed.contains("[[") {
        return Err(bad("is an array's elements; write its type here, such as f32[2, 3]"));
    }
    let start = trimmed.find(|c: char| {
        c == '[' || c.is_ascii_digit() && !trimmed.starts_with(char::is_alphabetic)
    });
    let (dtype, sizes) = trimmed.split_at(start.or(trimmed.find('[')).ok_or_else(wrong)?);
    let dtype = match dtype.trim() {
        "" => None,
        name if !name.starts_with(char::is_alphabetic) => return Err(wrong()),
        name => Some(name.parse().map_err(|error| {
            Diagnostic::new("unknown-element-type", format!("`{}`: {error}", shown(name)))
        })?),
    };
    let sizes = match sizes.strip_prefix('[') {
        Some(inside) => inside.strip_suffix(']').ok_or_else(wrong)?,
        None => sizes,
    };
    let is_empty = sizes.trim().is_empty();
    let pieces = sizes.split([',', 'x']).filter(|_| !is_empty);
    check_rank(pieces.clone().count())?;
    let size = |size: &str| size.trim().parse().map(saturating_size).map_err(|_| wrong());
    let shape = pieces.map(size).collect::<Result<Vec<_>, _>>()?;
    Ok((dtype, Shape::from(shape)))
}

/// Refuses a shape, or a list with an entry for each axis, that is too long.
fn check_rank(rank: usize) -> Result<(), Diagnostic> {
    RankLimit::check(rank, MAXIMUM_RANK).map_err(RankLimit::diagnostic)
}

/// Reads a type that must say its element type.
///
/// ```
/// let array_type = indim_text::parse_array_type("f32[2, 3]").unwrap();
/// assert_eq!(array_type.to_string(), "f32[2, 3]");
/// assert_eq!(indim_text::parse_array_type("2,3").unwrap_err().code, "bad-shape");
/// ```
///
/// # Errors
/// As [`parse_type`]; `bad-shape` where there is no element type.
pub fn parse_array_type(text: &str) -> Result<ArrayType, Diagnostic> {
    let (dtype, shape) = parse_type(text)?;
    let dtype = dtype.ok_or_else(|| {
        let message = format!("`{}` does not say an element type, as f32[2, 3] does", shown(text));
        Diagnostic::new("bad-shape", message)
    })?;
    Ok(ArrayType { dtype, shape })
}

/// A type whose sizes are numbers and names: the element type, and the sizes as they are written. `None` of
/// anything else.
///
/// ```
/// use indim_ops::DType;
/// use indim_text::parse_symbolic_type;
///
/// assert_eq!(parse_symbolic_type("f32[n, 3]"), Some((DType::F32, vec!["n", "3"])));
/// assert_eq!(parse_symbolic_type("f32[4, 3]"), None);
/// ```
pub fn parse_symbolic_type(text: &str) -> Option<(DType, Vec<&str>)> {
    let (dtype, sizes) = text.trim().strip_suffix(']')?.split_once('[')?;
    let sizes: Vec<&str> = sizes.split(',').map(str::trim).collect();
    let is_size = |size: &&str| {
        let is_in_name = |c: char| c.is_alphanumeric() || c == '_';
        !size.is_empty() && size.chars().all(is_in_name)
    };
    let is_name = |size: &&str| size.starts_with(|c: char| !c.is_ascii_digit());
    let is_symbolic = sizes.iter().all(is_size) && sizes.iter().any(is_name);
    (is_symbolic && sizes.len() <= MAXIMUM_RANK).then_some((dtype.trim().parse().ok()?, sizes))
}

/// A list of whole numbers: `1,2`, `[1, 2]`, or nothing.
///
/// ```
/// assert_eq!(indim_text::parse_integers("[0, 2]"), Ok(vec![0, 2]));
/// ```
///
/// # Errors
/// What is wrong, in words: a list that is too long, or something that is no whole number.
pub fn parse_integers(text: &str) -> Result<Vec<i64>, String> {
    let inside = text.trim().trim_start_matches(['[', '{', '(']).trim_end_matches([']', '}', ')']);
    let pieces = inside.split(',').map(str::trim).filter(|piece| !piece.is_empty());
    check_rank(pieces.clone().count()).map_err(|error| error.to_string().trim_end().to_owned())?;
    pieces
        .map(|piece| piece.parse::<i64>())
        .collect::<Result<_, _>>()
        .map_err(|_| format!("`{}` is no list of whole numbers, such as 0,2", shown(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_in_all_spellings() {
        let expected = Shape::from([2, 3]);
        for text in ["[2, 3]", "2,3", "2x3", " [2,3] "] {
            assert_eq!(parse_type(text), Ok((None, expected.clone())), "{text}");
        }
        assert_eq!(parse_type("f32[2,3]"), Ok((Some(DType::F32), expected)));
        assert_eq!(parse_type("[]"), Ok((None, Shape::scalar())));
        assert_eq!(parse_type("pred[]"), Ok((Some(DType::Bool), Shape::scalar())));
        for text in ["", "f32", "[2", "2,,3", "x", "[-1]", "f99[2]", "[99999999999999999999]"] {
            assert!(parse_type(text).is_err(), "{text}");
        }
    }

    #[test]
    fn integers() {
        assert_eq!(parse_integers("[0, 2]"), Ok(vec![0, 2]));
        assert_eq!(parse_integers("-1"), Ok(vec![-1]));
        assert_eq!(parse_integers(""), Ok(vec![]));
        assert!(parse_integers("1;2").is_err());
    }

    #[test]
    fn the_rank_is_limited() {
        let ones = |rank: usize| vec!["1"; rank].join(",");
        assert!(parse_type(&format!("f32[{}]", ones(64))).is_ok());
        for text in [format!("f32[{}]", ones(65)), vec!["1"; 65].join("x")] {
            assert_eq!(parse_type(&text).unwrap_err().code, "rank-limit");
        }
        let error = parse_integers(&ones(65)).unwrap_err();
        assert!(error.starts_with("error[rank-limit]: "), "{error}");
    }
}
