//! Failed requests as errors. Messages name the object, the status of the answer, and the number of
//! repetitions. They contain no query of an address, which may be a signature or a token, and no credential
//! of the settings, which a server may repeat in its answer.

use indim_io::StoreErrorKind;
use indim_shape::{Diagnostic, ErrorCode};
use object_store::Error;

use crate::name::{RemoteName, Scheme};
use crate::settings::Settings;

/// Maximum characters of the answer of a server in a message.
const MAX_MESSAGE_CHARACTERS: usize = 400;

/// The error of a request for the object of a key.
pub(crate) fn request_failed(
    name: &RemoteName,
    key: &str,
    settings: &Settings,
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
        | Error::Unauthenticated { source, .. } => {
            failed(object, &without_secrets(&**source, settings))
        }
        error => failed(object, &without_secrets(error, settings)),
    };
    if let Error::PermissionDenied { .. } | Error::Unauthenticated { .. } = error
        && let Some(help) = credentials_help(name.scheme(), settings.is_anonymous(name.scheme()))
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

/// The message of an error and its causes, in one line, without passwords and queries of addresses, and
/// without the credentials of the settings.
pub(crate) fn without_secrets(error: &dyn core::error::Error, settings: &Settings) -> String {
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
    // Credentials go first: words and the cut at the end could leave a part of one.
    for credential in settings.credentials() {
        message = message.replace(&credential, "...");
    }
    let words: Vec<String> = message.split_whitespace().map(without_query).collect();
    let line = words.join(" ");
    match line.char_indices().nth(MAX_MESSAGE_CHARACTERS) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

/// A word of a message; an address loses its password and its query.
fn without_query(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else { return word.to_owned() };
    let rest = rest.split('?').next().unwrap_or_default();
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_no_queries_and_end() {
        let none = Settings::default();
        let text = "GET https://u:SECRET@host/a?sig=SECRET&x=1 failed\nwith 403";
        let error = std::io::Error::other(text);
        assert_eq!(without_secrets(&error, &none), "GET https://host/a failed with 403");
        let long = std::io::Error::other("a".repeat(2 * MAX_MESSAGE_CHARACTERS));
        assert_eq!(without_secrets(&long, &none).len(), MAX_MESSAGE_CHARACTERS + 3);
    }

    #[test]
    fn messages_have_no_credentials() {
        let settings = Settings::from_variables([
            ("AWS_SESSION_TOKEN", "FQoG/SECRET+A=="),
            ("AWS_SECRET_ACCESS_KEY", "SECRETB"),
            ("AZURE_STORAGE_SAS_TOKEN", "?sv=2024&sig=SECRET%2BC%3D&se=9"),
            ("AZURE_CLIENT_SECRET", "a SECRET\nD"),
            ("AWS_REGION", "eu-central-1"),
            ("AWS_WEB_IDENTITY_TOKEN_FILE", "/run/token"),
        ]);
        let hidden =
            |text: &str| without_secrets(&std::io::Error::other(text.to_owned()), &settings);
        assert_eq!(hidden("<Token-0>FQoG/SECRET+A==</Token-0>"), "<Token-0>...</Token-0>");
        assert_eq!(hidden("token=FQoG%2FSECRET%2BA%3D%3D, SECRETB"), "token=..., ...");
        assert_eq!(hidden("the signature SECRET+C= or SECRET%2BC%3D"), "the signature ... or ...");
        assert_eq!(hidden("the password a SECRET\nD is wrong"), "the password ... is wrong");
        assert_eq!(hidden("not eu-central-1, see /run/token"), "not eu-central-1, see /run/token");
        // A credential at the cut is not cut, which would leave its beginning.
        let cut = hidden(&format!("{}SECRETB", "a".repeat(MAX_MESSAGE_CHARACTERS - 3)));
        assert!(!cut.contains('S'), "{cut}");
    }
}
