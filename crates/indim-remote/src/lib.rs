//! Objects of S3, Google Cloud Storage, Azure Blob Storage and web servers: read whole or by ranges, and
//! written.
//!
//! [`RemoteName`] parses names such as `s3://bucket/climate.zarr`. [`RemoteStore`] implements
//! [`ByteStore`] of `indim-io`, on which the formats of `indim-stores` build. Requests run on one small
//! runtime of the process, which the first remote name starts; callers block. Each request has a timeout,
//! and is repeated if the server is overloaded, the connection breaks, or the timeout passes.
//!
//! - `name.rs`: names of remote objects;
//! - `settings.rs`: credentials and timeouts from the environment;
//! - `store.rs`: the objects below a name, and reads of them;
//! - `write.rs`: results: whole objects, and objects that are uploaded part by part;
//! - `runtime.rs`: the threads on which requests run;
//! - `failure.rs`: failed requests as errors, without secrets.
//!
//! [`ByteStore`]: indim_io::ByteStore
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![warn(clippy::missing_errors_doc)]
#![forbid(unsafe_code)]

mod failure;
mod name;
mod runtime;
mod settings;
mod store;
mod write;

pub use name::{RemoteName, Scheme};
pub use settings::Settings;
pub use store::RemoteStore;
pub use write::Upload;
