//! The page of an error code as text: title, explanation, example and origin.

use indim_shape::{Diagnostic, ErrorCode};
use indim_text::closest;

/// The title, explanation, example and origin of the error with this code.
///
/// ```
/// let page = indim::errors::error_page("size-mismatch")?;
/// assert!(page.starts_with("error[size-mismatch]: Two sizes that have to agree differ\n"));
/// # Ok::<(), indim::errors::Diagnostic>(())
/// ```
///
/// # Errors
/// `unknown-error-code`; the help names the closest code, if one is close enough.
pub fn error_page(code: &str) -> Result<String, Diagnostic> {
    let name = code.strip_prefix("error[").and_then(|rest| rest.strip_suffix(']')).unwrap_or(code);
    match name.parse::<ErrorCode>() {
        Ok(code) => Ok(code.entry().to_string()),
        Err(_) => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> Diagnostic {
    let headline = format!("no error has the code `{}`", indim_graph::terminal::printable(name));
    let mut diagnostic = Diagnostic::new(ErrorCode::UNKNOWN_ERROR_CODE, headline);
    if let Some(near) = closest(name, ErrorCode::all().map(ErrorCode::as_str)) {
        diagnostic.help(format!("did you mean `{near}`?"));
    }
    diagnostic.help("`indim explain --code list` lists all codes");
    diagnostic
}
