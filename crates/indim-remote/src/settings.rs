//! Credentials, addresses and timeouts from environment variables.

use core::time::Duration;
use std::sync::{Arc, Mutex, PoisonError};

use indim_shape::{Diagnostic, ErrorCode};
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use url::form_urlencoded;

use crate::failure;
use crate::name::{RemoteName, Scheme};

/// The environment variable with the timeout of a request, in seconds.
const TIMEOUT_VARIABLE: &str = "INDIM_REMOTE_TIMEOUT";
/// Default seconds without a byte from the server, after which a request is repeated.
const DEFAULT_TIMEOUT_SECONDS: u64 = 30;
/// Maximum value of [`TIMEOUT_VARIABLE`], in seconds.
const MAX_TIMEOUT_SECONDS: u64 = 3600;
/// Number of times that a request is repeated: it is tried five times in all.
const MAX_RETRIES: usize = 4;
/// First pause before a repeated request; pauses double up to [`MAX_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(10);

/// Variables that name credentials of S3. Without one of them requests are not signed.
const AWS_CREDENTIALS: [&str; 5] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_METADATA_ENDPOINT",
];
/// Variables that name credentials of Google Cloud Storage.
const GOOGLE_CREDENTIALS: [&str; 4] = [
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_SERVICE_ACCOUNT",
    "GOOGLE_SERVICE_ACCOUNT_PATH",
    "GOOGLE_SERVICE_ACCOUNT_KEY",
];
/// Beginnings of variables that name credentials of Azure.
const AZURE_CREDENTIALS: [&str; 10] = [
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_ACCESS_KEY",
    "AZURE_STORAGE_MASTER_KEY",
    "AZURE_STORAGE_CLIENT",
    "AZURE_STORAGE_SAS",
    "AZURE_STORAGE_TOKEN",
    "AZURE_CLIENT",
    "AZURE_FEDERATED_TOKEN_FILE",
    "AZURE_MSI_ENDPOINT",
    "AZURE_IDENTITY_ENDPOINT",
];

/// Parts of the names of variables whose values are secret, such as `AWS_SECRET_ACCESS_KEY`.
const CREDENTIAL_PARTS: [&str; 5] = ["KEY", "PASSWORD", "SAS", "SECRET", "TOKEN"];
/// Minimum bytes of a value that messages hide. Hiding shorter ones would make other words unreadable.
const MIN_CREDENTIAL_BYTES: usize = 6;

/// Maximum number of clients that are kept for later sources.
const MAX_CLIENTS: usize = 16;

/// A client with its connections.
type Client = Arc<dyn ObjectStore>;

/// The clients of buckets and servers under these settings. A client of its own for each source would load
/// the certificates of the system again, and open connections that exist.
static CLIENTS: Mutex<Vec<(Scheme, String, Settings, Client)>> = Mutex::new(Vec::new());

/// Environment variables that say how to reach remote stores. `Debug` prints none of their values.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Settings {
    variables: Vec<(String, String)>,
}

impl core::fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "Settings({} variables)", self.variables.len())
    }
}

/// The client of a cloud, configured by the variables with a prefix; those that the cloud does not know are
/// left out. A macro, because the builders of the clouds have no trait in common.
macro_rules! cloud_client {
    (
        $settings:ident, $builder:ident, $prefix:literal, $scheme:expr,
        $with_host:ident($name:ident), $retry:ident
    ) => {{
        let mut builder = $builder;
        for (key, value) in $settings.with_prefix($prefix) {
            if let Ok(key) = key.parse() {
                builder = builder.with_config(key, value);
            }
        }
        builder = builder.with_skip_signature($settings.is_anonymous($scheme));
        let built = builder.$with_host($name.host()).with_retry($retry).build();
        built.map(|store| Arc::new(store) as Client)
    }};
}

impl Settings {
    /// The variables of this process.
    pub fn from_environment() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let is_known = |(name, _): &(String, String)| {
            ["AWS_", "GOOGLE_", "AZURE_", "INDIM_"].iter().any(|prefix| name.starts_with(prefix))
        };
        Settings { variables: std::env::vars_os().filter_map(text).filter(is_known).collect() }
    }

    /// These variables instead of those of the process.
    pub fn from_variables(
        variables: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>,
    ) -> Self {
        let pair = |(name, value): (_, _)| (Into::into(name), Into::into(value));
        Settings { variables: variables.into_iter().map(pair).collect() }
    }

    fn value(&self, name: &str) -> Option<&str> {
        let found = self.variables.iter().find(|(variable, _)| variable == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    fn has(&self, beginnings: &[&str]) -> bool {
        let is_set = |(name, value): &(String, String)| {
            !value.is_empty() && beginnings.iter().any(|begin| name.starts_with(begin))
        };
        self.variables.iter().any(is_set)
    }

    /// The values that no message may contain, the longest first, as they are and as they are written in
    /// queries.
    pub(crate) fn credentials(&self) -> Vec<String> {
        let is_credential = |(name, _): &&(String, String)| {
            let parts = || name.split('_');
            parts().any(|part| CREDENTIAL_PARTS.contains(&part)) && !name.ends_with("_FILE")
        };
        let mut found = Vec::new();
        for (_, value) in self.variables.iter().filter(is_credential) {
            // A server repeats single values of a signed query (`sv=2024&sig=...`).
            let query = form_urlencoded::parse(value.trim_start_matches('?').as_bytes());
            let signature =
                query.filter(|(name, _)| name == "sig").map(|(_, value)| value.into_owned());
            for secret in signature.chain([value.trim().to_owned()]) {
                found.push(form_urlencoded::byte_serialize(secret.as_bytes()).collect());
                found.push(secret);
            }
        }
        found.retain(|secret: &String| secret.len() >= MIN_CREDENTIAL_BYTES);
        found.sort_by_key(|secret| core::cmp::Reverse(secret.len()));
        found
    }

    /// The variables whose names begin so, in lower case.
    fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (String, &'a str)> {
        let variables = self
            .variables
            .iter()
            .filter(move |(name, value)| name.starts_with(prefix) && !value.is_empty());
        variables.map(|(name, value)| (name.to_ascii_lowercase(), value.as_str()))
    }

    /// Whether requests to a store of this scheme carry no credentials.
    pub(crate) fn is_anonymous(&self, scheme: Scheme) -> bool {
        match scheme {
            Scheme::S3 => self.is_on("AWS_SKIP_SIGNATURE") || !self.has(&AWS_CREDENTIALS),
            Scheme::Google => self.is_on("GOOGLE_SKIP_SIGNATURE") || !self.has(&GOOGLE_CREDENTIALS),
            Scheme::Azure => self.is_on("AZURE_SKIP_SIGNATURE") || !self.has(&AZURE_CREDENTIALS),
            Scheme::Https | Scheme::Http => true,
        }
    }

    fn is_on(&self, name: &str) -> bool {
        let is_off = |value: &str| {
            matches!(value.to_ascii_lowercase().as_str(), "0" | "false" | "no" | "off")
        };
        self.value(name).is_some_and(|value| !is_off(value))
    }

    /// How long a request waits for the next byte.
    fn timeout(&self) -> Result<Duration, Diagnostic> {
        let Some(text) = self.value(TIMEOUT_VARIABLE) else {
            return Ok(Duration::from_secs(DEFAULT_TIMEOUT_SECONDS));
        };
        let seconds = text.parse().ok().filter(|it| (1..=MAX_TIMEOUT_SECONDS).contains(it));
        seconds.map(Duration::from_secs).ok_or_else(|| {
            let message = format!(
                "{TIMEOUT_VARIABLE} is the timeout of a request in whole seconds, from 1 to \
                 {MAX_TIMEOUT_SECONDS}"
            );
            Diagnostic::new(ErrorCode::REMOTE_NAME, message)
        })
    }

    fn retry(&self, timeout: Duration) -> RetryConfig {
        RetryConfig {
            backoff: BackoffConfig { init_backoff: FIRST_PAUSE, max_backoff: MAX_PAUSE, base: 2.0 },
            max_retries: MAX_RETRIES,
            retry_timeout: (timeout + MAX_PAUSE) * (MAX_RETRIES as u32 + 1),
        }
    }

    /// The client of the bucket or server of a name.
    pub(crate) fn client(&self, name: &RemoteName) -> Result<Client, Diagnostic> {
        let mut clients = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |(scheme, host, settings, _): &&(Scheme, String, Settings, Client)| {
            *scheme == name.scheme() && host == name.host() && settings == self
        };
        if let Some((_, _, _, client)) = clients.iter().find(is_same) {
            return Ok(Arc::clone(client));
        }
        let client = self.new_client(name)?;
        if clients.len() == MAX_CLIENTS {
            clients.remove(0);
        }
        clients.push((name.scheme(), name.host().to_owned(), self.clone(), Arc::clone(&client)));
        Ok(client)
    }

    fn new_client(&self, name: &RemoteName) -> Result<Client, Diagnostic> {
        let timeout = self.timeout()?;
        // The process may have a provider already, which then encrypts these requests too.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // An address that begins with `http://` is permission enough.
        let has_http_endpoint =
            ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT"].iter().any(|it| {
                name.scheme() == Scheme::S3
                    && self.value(it).is_some_and(|url| url.starts_with("http://"))
            });
        // A large object on a slow line may take long, so only silence is limited.
        let options = ClientOptions::new()
            .with_timeout_disabled()
            .with_connect_timeout(timeout)
            .with_read_timeout(timeout)
            .with_user_agent(object_store::HeaderValue::from_static("indim"))
            .with_allow_http(name.scheme() == Scheme::Http || has_http_endpoint);
        let retry = self.retry(timeout);
        let built = match name.scheme() {
            Scheme::S3 => {
                let builder = AmazonS3Builder::new().with_client_options(options);
                cloud_client!(self, builder, "AWS_", Scheme::S3, with_bucket_name(name), retry)
            }
            Scheme::Google => {
                let builder = GoogleCloudStorageBuilder::new().with_client_options(options);
                cloud_client!(
                    self,
                    builder,
                    "GOOGLE_",
                    Scheme::Google,
                    with_bucket_name(name),
                    retry
                )
            }
            Scheme::Azure => {
                let builder = MicrosoftAzureBuilder::new().with_client_options(options);
                cloud_client!(
                    self,
                    builder,
                    "AZURE_",
                    Scheme::Azure,
                    with_container_name(name),
                    retry
                )
            }
            Scheme::Https | Scheme::Http => {
                let url = format!("{}://{}", name.scheme().prefix(), name.host());
                let builder = HttpBuilder::new().with_url(url).with_client_options(options);
                let built = builder.with_retry(retry).build();
                built.map(|store| Arc::new(store) as Client)
            }
        };
        built.map_err(|error| {
            let message =
                format!("the store cannot be used: {}", failure::without_secrets(&error, self));
            Diagnostic::new(ErrorCode::REMOTE_NAME, message)
        })
    }
}
