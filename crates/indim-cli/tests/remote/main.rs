//! The command with remote sources: `s3://` by environment variables, and streamed runs over a web server.

#[path = "../../../indim-remote/tests/server/mod.rs"]
mod server;

use std::path::Path;
use std::process::{Command, Stdio};

use indim::files::{ResultMetadata, create, write_whole};
use server::{Fault, Server};
use tempfile::TempDir;

/// The command with these variables, and without those of the tests' own environment.
fn command(variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_indim"));
    for (name, _) in std::env::vars() {
        let is_other = |prefix: &&str| name.to_ascii_uppercase().starts_with(prefix);
        if ["AWS_", "GOOGLE_", "AZURE_", "HTTP", "ALL_PROXY"].iter().any(is_other) {
            command.env_remove(&name);
        }
    }
    command.stdin(Stdio::null()).envs(variables.iter().copied());
    command
}

/// Output, or messages of a failed command.
fn run(variables: &[(&str, &str)], arguments: &[&str]) -> Result<String, String> {
    let output = command(variables).args(arguments).output().unwrap();
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout).unwrap()),
        false => Err(String::from_utf8(output.stderr).unwrap()),
    }
}

/// Writes the result of an expression to a local file, and stores it on the server.
fn put(server: &Server, path: &str, expression: &str) {
    let folder = TempDir::new().unwrap();
    let local = folder.path().join(Path::new(path).file_name().unwrap());
    run(&[], &["eval", expression, "-o", local.to_str().unwrap()]).unwrap();
    match local.is_dir() {
        true => server.put_folder(path, &local),
        false => server.put(path, std::fs::read(&local).unwrap()),
    }
}

fn s3(server: &Server) -> [(&'static str, String); 4] {
    [
        ("AWS_ENDPOINT_URL", server.address()),
        ("AWS_REGION", "eu-central-1".to_owned()),
        ("AWS_ACCESS_KEY_ID", "id".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "HIDDEN".to_owned()),
    ]
}

#[test]
fn s3_by_the_variables_of_aws() {
    let server = Server::start();
    put(&server, "/bucket/climate.zarr", "iota(f32, [4, 3], axis=0) + 1");
    put(&server, "/bucket/x.npy", "iota(i64, [5], axis=0)");
    let variables = s3(&server);
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let mean = ["eval", "mean(x, axis=0)", "x=s3://bucket/climate.zarr"];
    assert_eq!(run(&variables, &mean).unwrap(), "[2.5 2.5 2.5]\n");
    assert!(server.take_requests().iter().all(|request| request.is_signed));
    let sum = ["eval", "sum(x)", "x=s3://bucket/x.npy"];
    assert_eq!(run(&variables, &sum).unwrap(), "10\n");
    let explained = run(&variables, &["explain", "x * 2", "x=s3://bucket/climate.zarr"]).unwrap();
    assert!(explained.contains("f32[4, 3]"), "{explained}");
    server.fail("/bucket/x.npy", Fault::Status(403), 99);
    let error = run(&variables, &sum).unwrap_err();
    assert!(error.contains("error[request-failed]: in `x`: s3://bucket/x.npy"), "{error}");
    assert!(error.contains("403") && !error.contains("HIDDEN"), "{error}");
    let error = run(&variables, &["eval", "x", "x=s3://bucket/none.zarr"]).unwrap_err();
    assert!(error.contains("error[not-zarr]"), "{error}");
    let error = run(&variables, &["eval", "x", "x=s3://bucket"]).unwrap_err();
    assert!(error.contains("error[remote-name]"), "{error}");
}

/// A mean over steps, each of which is a chunk, reads each chunk once, in less memory than the array takes.
#[test]
fn a_streamed_run_requests_each_chunk_once() {
    let server = Server::start();
    let folder = TempDir::new().unwrap();
    let local = folder.path().join("x.zarr");
    // Chunks of one step: 240 steps of 128 KiB.
    let none: [(&str, indim::ArrayView<'_>); 0] = [];
    let made = indim::evaluate("f32(iota(i32, [240, 128, 256], axis=0) + 1)", none).unwrap();
    let chunks = Some(vec![1, 128, 256]);
    let metadata = ResultMetadata { chunks, ..ResultMetadata::default() };
    let mut sink = create(&local, made.array_type(), &metadata).unwrap();
    write_whole(&mut *sink, &made).unwrap();
    sink.finish().unwrap();
    server.put_folder("/x.zarr", &local);
    let source = format!("x={}/x.zarr", server.address());
    let result = folder.path().join("mean.npy");
    let mean = ["eval", "mean(x, axis=0)", &source, "--memory-limit", "16MiB", "-o"];
    run(&[], &[&mean[..], &[result.to_str().unwrap()]].concat()).unwrap();
    let mut chunks: Vec<String> = server.take_requests().into_iter().map(|it| it.path).collect();
    chunks.retain(|path| path.contains("/c/"));
    chunks.sort();
    assert_eq!(chunks.len(), 240, "{chunks:?}");
    assert!(chunks.windows(2).all(|pair| pair[0] != pair[1]), "{chunks:?}");
    let local = format!("x={}", local.display());
    let expected = folder.path().join("expected.npy");
    let mean = ["eval", "mean(x, axis=0)", &local, "--memory-limit", "16MiB", "-o"];
    run(&[], &[&mean[..], &[expected.to_str().unwrap()]].concat()).unwrap();
    assert!(std::fs::read(&result).unwrap() == std::fs::read(&expected).unwrap());
}

#[test]
fn a_silent_server_is_given_up_after_the_timeout() {
    let server = Server::start();
    put(&server, "/x.npy", "iota(i64, [5], axis=0)");
    server.fail("/x.npy", Fault::Stall, 99);
    let source = format!("x={}/x.npy", server.address());
    let start = std::time::Instant::now();
    let error = run(&[("INDIM_REMOTE_TIMEOUT", "1")], &["eval", "x", &source]).unwrap_err();
    assert!(error.contains("error[request-failed]"), "{error}");
    assert!((5.0..15.0).contains(&start.elapsed().as_secs_f64()));
}
