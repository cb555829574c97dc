//! Shapes and types in one line: `f32[2, 3]`, `[2, 3]`, `2,3`, `2x3`, `f32[]`.

use std::borrow::Cow;

use crate::terminal::printable;
use indim_ops::{ArrayType, DType};
use indim_shape::{
    AxisNames, Diagnostic, ErrorCode, MAX_RANK, RankLimitError, Shape, saturating_size,
};

/// Parses a type. The element type may be missing.
///
/// ```
/// use indim_graph::type_text::parse_type;
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
    let bad =
        |what: &str| Diagnostic::new(ErrorCode::BAD_SHAPE, format!("`{}` {what}", printable(text)));
    let wrong = || bad("is not a shape; write f32[2, 3], [2, 3] or 2x3, and [] for a scalar");
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
            Diagnostic::new(
                ErrorCode::UNKNOWN_ELEMENT_TYPE,
                format!("`{}`: {error}", printable(name)),
            )
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

/// Refuses a rank above `MAX_RANK`, of a shape or of a list with an entry for each axis.
fn check_rank(rank: usize) -> Result<(), Diagnostic> {
    RankLimitError::check(rank, MAX_RANK).map_err(RankLimitError::diagnostic)
}

/// Parses a type with an element type.
///
/// ```
/// let array_type = indim_graph::type_text::parse_array_type("f32[2, 3]").unwrap();
/// assert_eq!(array_type.to_string(), "f32[2, 3]");
/// assert_eq!(indim_graph::type_text::parse_array_type("2,3").unwrap_err().code, "bad-shape");
/// ```
///
/// # Errors
/// Like [`parse_type`]; `bad-shape` if the element type is missing.
pub fn parse_array_type(text: &str) -> Result<ArrayType, Diagnostic> {
    let (dtype, shape) = parse_type(text)?;
    let dtype = dtype.ok_or_else(|| {
        let message =
            format!("`{}` has no element type; write it as in f32[2, 3]", printable(text));
        Diagnostic::new(ErrorCode::BAD_SHAPE, message)
    })?;
    Ok(ArrayType { dtype, shape })
}

/// Parses a type with symbolic sizes: returns the element type and the texts of the sizes. `None` for any
/// other text.
///
/// ```
/// use indim_ops::DType;
/// use indim_graph::type_text::parse_symbolic_type;
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
    (is_symbolic && sizes.len() <= MAX_RANK).then_some((dtype.trim().parse().ok()?, sizes))
}

/// Maximum bytes of an axis name.
const MAX_NAME_BYTES: usize = 200;

/// Splits a type into the type without axis names, and the names: `f32[time: 8760, lat: n]` gives `f32[8760,
/// n]` and `[time, lat]`. Returns a type without names unchanged.
///
/// ```
/// use indim_graph::type_text::split_axis_names;
///
/// let (plain, names) = split_axis_names("f32[time: 8760, lat: n]").unwrap();
/// assert_eq!((&*plain, names.unwrap().to_string().as_str()), ("f32[8760, n]", "[time, lat]"));
/// assert_eq!(split_axis_names("f32[2, 3]").unwrap(), ("f32[2, 3]".into(), None));
/// assert_eq!(split_axis_names("f32[time: 8760, 721]").unwrap_err().code, "bad-shape");
/// ```
///
/// # Errors
/// `bad-shape` if only some axes have names, or a name or size is malformed; `rank-limit`.
pub fn split_axis_names(text: &str) -> Result<(Cow<'_, str>, Option<AxisNames>), Diagnostic> {
    let trimmed = text.trim();
    let inside = trimmed.strip_suffix(']').and_then(|text| text.split_once('['));
    let Some((dtype, inside)) = inside.filter(|(_, inside)| inside.contains(':')) else {
        return Ok((Cow::Borrowed(text), None));
    };
    check_rank(inside.split(',').count())?;
    let refuse = |what: String| {
        let message = format!("`{}`: {what}; write f32[time: 8760, lat: 721]", printable(text));
        Diagnostic::new(ErrorCode::BAD_SHAPE, message)
    };
    let (mut names, mut sizes) = (Vec::new(), Vec::new());
    for (axis, piece) in inside.split(',').enumerate() {
        let Some((name, size)) = piece.split_once(':') else {
            return Err(refuse(format!("axis {axis} has no name, but other axes have")));
        };
        let name = axis_name(name)
            .ok_or_else(|| refuse(format!("`{}` is not an axis name", printable(name.trim()))))?;
        if size.trim().is_empty() {
            return Err(refuse(format!("the axis `{name}` has no size")));
        }
        names.push(name);
        sizes.push(size.trim());
    }
    let plain = format!("{dtype}[{}]", sizes.join(", "));
    Ok((Cow::Owned(plain), Some(AxisNames::from(names))))
}

/// Parses axis names in brackets: `[time, lat]`. `None` for any other text.
///
/// ```
/// assert_eq!(indim_graph::type_text::parse_axis_names("[time, lat]").unwrap().to_string(), "[time, lat]");
/// assert_eq!(indim_graph::type_text::parse_axis_names("[2, 3]"), None);
/// ```
pub fn parse_axis_names(text: &str) -> Option<AxisNames> {
    let inside = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    let names = inside.split(',').take(MAX_RANK + 1).map(axis_name);
    let names = names.collect::<Option<Vec<&str>>>()?;
    (names.len() <= MAX_RANK).then(|| AxisNames::from(names))
}

/// Splits the text of an array into the text without its trailing axis names, and the names. `None` without
/// names.
///
/// ```
/// use indim_graph::type_text::split_trailing_axis_names;
///
/// let (array, names) = split_trailing_axis_names("[[1, 2], [3, 4]][time, lat]").unwrap();
/// assert_eq!((array, names.to_string().as_str()), ("[[1, 2], [3, 4]]", "[time, lat]"));
/// assert_eq!(split_trailing_axis_names("[1, 2]"), None);
/// ```
pub fn split_trailing_axis_names(text: &str) -> Option<(&str, AxisNames)> {
    let (array, names) = text.split_at(text.rfind('[')?);
    let names = parse_axis_names(names)?;
    (!array.trim().is_empty()).then_some((array, names))
}

/// The trimmed name, if it has only letters, digits and `_` and does not begin with a digit.
fn axis_name(text: &str) -> Option<&str> {
    let name = text.trim();
    let is_in_name = |c: char| c.is_alphanumeric() || c == '_';
    let begins = name.starts_with(|c: char| !c.is_ascii_digit());
    (begins && name.len() <= MAX_NAME_BYTES && name.chars().all(is_in_name)).then_some(name)
}

/// Parses a list of whole numbers: `1,2`, `[1, 2]`, or an empty text.
///
/// ```
/// assert_eq!(indim_graph::type_text::parse_integers("[0, 2]"), Ok(vec![0, 2]));
/// ```
///
/// # Errors
/// A message, if the list is longer than the maximal rank or an entry is not a whole number.
pub fn parse_integers(text: &str) -> Result<Vec<i64>, String> {
    let inside = text.trim().trim_start_matches(['[', '{', '(']).trim_end_matches([']', '}', ')']);
    let pieces = inside.split(',').map(str::trim).filter(|piece| !piece.is_empty());
    check_rank(pieces.clone().count()).map_err(|error| error.to_string().trim_end().to_owned())?;
    pieces
        .map(|piece| piece.parse::<i64>())
        .collect::<Result<_, _>>()
        .map_err(|_| format!("`{}` is not a list of whole numbers, such as 0,2", printable(text)))
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
    fn names_of_axes() {
        for (text, plain, names) in [
            ("f32[a:1]", "f32[1]", "[a]"),
            (" f32[ größe : 2 , _y2:n ] ", "f32[2, n]", "[größe, _y2]"),
            ("[t: 0, t: 3]", "[0, 3]", "[t, t]"),
        ] {
            let (given, found) = split_axis_names(text).unwrap();
            assert_eq!((&*given, found.unwrap().to_string().as_str()), (plain, names), "{text}");
        }
        let long = format!("f32[{}: 2]", "x".repeat(900_000));
        for text in [
            "f32[2t: 3]",
            "f32[: 3]",
            "f32[a b: 3]",
            "f32[3, t: 3]",
            "f32[t: 2, ]",
            "f32[t: ]",
            &long,
        ] {
            let error = split_axis_names(text).unwrap_err();
            assert!(error.code == "bad-shape" && error.to_string().len() < 1000, "{text}");
        }
        let many = format!("f32[{}]", vec!["t: 2"; 65].join(","));
        assert_eq!(split_axis_names(&many).unwrap_err().code, "rank-limit");
        assert_eq!(parse_axis_names(&format!("[{}]", vec!["t"; 65].join(","))), None);
        assert_eq!(parse_axis_names("t"), None);
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
