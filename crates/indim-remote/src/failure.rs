//! Failed requests as errors. Messages name the object, the status of the answer, and the number of
//! repetitions; they contain no query of an address, which may be a signature or a token.

use indim_io::StoreErrorKind;
use indim_shape::{Diagnostic, ErrorCode};
use object_store::Error;

use crate::name::{RemoteName, Scheme};

/// Maximum characters of the answer of a server in a message.
const MAX_MESSAGE_CHARACTERS: usize = 400;

/// The error of a request for the object of a key.
pub(crate) fn request_failed(
    name: &RemoteName,
    key: &str,
    is_anonymous: bool,
    error: &Error,
) -> StoreErrorKind {
    if let Error::Precondition { .. } | Error::NotModified { .. } = error {
        return StoreErrorKind::FileChanged;
    }
    let object = if key.is_empty() { name.path() } else { key };
    // The error around its cause repeats the path.
    let mut failed = match error {
        Error::Generic { source, .. }
        | Error::PermissionDenied { source, .. }
        | Error::Unauthenticated { source, .. } => failed(object, &without_secrets(&**source)),
        error => failed(object, &without_secrets(error)),
    };
    if let Error::PermissionDenied { .. } | Error::Unauthenticated { .. } = error
        && let Some(help) = credentials_help(name.scheme(), is_anonymous)
    {
        failed.help(help);
    }
    failed.into()
}

/// The error of the object of a key, with this message.
pub(crate) fn failed(object: &str, message: &str) -> Diagnostic {
    Diagnostic::new(
        ErrorCode::REQUEST_FAILED,
        format!("the request for `{object}` failed: {message}"),
    )
}

fn credentials_help(scheme: Scheme, is_anonymous: bool) -> Option<&'static str> {
    let (unsigned, signed) = match scheme {
        Scheme::S3 => (
            "the request was not signed: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
            "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or set \
             AWS_SKIP_SIGNATURE=true for a public bucket",
        ),
        Scheme::Google => (
            "the request was not signed: set GOOGLE_APPLICATION_CREDENTIALS",
            "check GOOGLE_APPLICATION_CREDENTIALS, or set GOOGLE_SKIP_SIGNATURE=true for a public bucket",
        ),
        Scheme::Azure => (
            "the request was not signed: set AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_KEY",
            "check the variables AZURE_STORAGE_..., or set AZURE_SKIP_SIGNATURE=true for a public container",
        ),
        Scheme::Https | Scheme::Http => return None,
    };
    Some(if is_anonymous { unsigned } else { signed })
}

/// The message of an error and its causes, in one line, without the queries of addresses.
pub(crate) fn without_secrets(error: &dyn core::error::Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let text = inner.to_string();
        if !message.contains(&text) {
            message.push_str(": ");
            message.push_str(&text);
        }
        cause = inner.source();
    }
    let words: Vec<&str> = message.split_whitespace().map(without_query).collect();
    let line = words.join(" ");
    match line.char_indices().nth(MAX_MESSAGE_CHARACTERS) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

/// A word of a message; an address loses its query.
fn without_query(word: &str) -> &str {
    match word.contains("://") {
        true => word.split('?').next().unwrap_or(word),
        false => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_no_queries_and_end() {
        let error = std::io::Error::other("GET https://host/a?sig=SECRET&x=1 failed\nwith 403");
        assert_eq!(without_secrets(&error), "GET https://host/a failed with 403");
        let long = std::io::Error::other("a".repeat(2 * MAX_MESSAGE_CHARACTERS));
        assert_eq!(without_secrets(&long).len(), MAX_MESSAGE_CHARACTERS + 3);
    }
}
