//! The command with remote sources: `s3://` by environment variables, and streamed runs over a web server.

#[path = "../../../indim-remote/tests/server/mod.rs"]
mod server;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use indim::Array;
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

/// A mean over an array with one chunk per step reads each chunk once, in less memory than the array takes.
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

#[test]
fn results_in_s3() {
    let server = Server::start();
    let variables = s3(&server);
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let made = "iota(f32, [4, 3], axis=0)";
    // The first chunk is zero. It is stored, so that no earlier chunk takes its place.
    for name in ["out.zarr", "group.zarr/a/b", "y.npy"] {
        let uri = format!("s3://bucket/{name}");
        run(&variables, &["eval", made, "-o", &uri]).unwrap();
        let read = ["eval", "sum(x, axis=0)", &format!("x={uri}")];
        assert_eq!(run(&variables, &read).unwrap(), "[6. 6. 6.]\n");
    }
    let paths = server.paths();
    let expected = [
        "/bucket/group.zarr/a/b/c/0/0",
        "/bucket/group.zarr/a/b/zarr.json",
        "/bucket/group.zarr/a/zarr.json",
        "/bucket/group.zarr/zarr.json",
        "/bucket/out.zarr/c/0/0",
        "/bucket/out.zarr/zarr.json",
        "/bucket/y.npy",
    ];
    assert_eq!(paths, expected);
    let requests = server.take_requests();
    let last = requests.iter().rfind(|it| it.verb == "PUT" && it.path.contains("out.zarr"));
    assert_eq!(last.unwrap().path, "/bucket/out.zarr/zarr.json");
    // A `.npy` object is replaced, an array of Zarr is not.
    run(&variables, &["eval", "2.5", "-o", "s3://bucket/y.npy"]).unwrap();
    assert_eq!(run(&variables, &["eval", "x", "x=s3://bucket/y.npy"]).unwrap(), "2.5\n");
    for name in ["out.zarr", "group.zarr", "out.zarr/inside"] {
        let uri = format!("s3://bucket/{name}");
        let error = run(&variables, &["eval", made, "-o", &uri]).unwrap_err();
        assert!(error.contains("error[zarr-in-place]"), "{error}");
    }
    // A bucket is never a group.
    for uri in ["s3://bucket.zarr/x.zarr", "s3://bucket.zarr/mean"] {
        run(&variables, &["eval", made, "-o", uri]).unwrap();
        let read = ["eval", "sum(x, axis=0)", &format!("x={uri}")];
        assert_eq!(run(&variables, &read).unwrap(), "[6. 6. 6.]\n");
    }
    for uri in ["https://host/y.npy", "https://host/y.zarr", "s3://bucket/y.png"] {
        let error = run(&variables, &["eval", made, "-o", uri]).unwrap_err();
        assert!(error.contains("error[remote-name]"), "{error}");
    }
}

#[test]
fn names_of_results_are_printed_without_secrets() {
    let folder = TempDir::new().unwrap();
    let names = [
        "https://u:SECRET@host/y.jpeg",
        "https://host/y.jpeg?sig=SECRET",
        "https://host/y.npy?sig=SECRET",
        "https://u:SECRET@host/y",
        "https://u:SECRET@host/y.zarr",
        "https://u:SECRET@host/y.npz",
        // A source without an ending is a Zarr array, and a file without one is `.npy`.
        "s3://bucket/mean",
        "s3://bucket/mean/",
        "s3://bucket/y.png/",
    ];
    for name in names {
        let mut command = command(&[]);
        command.current_dir(folder.path()).args(["eval", "1.5 + 1", "-o", name]);
        let output = command.output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("error[remote-name]"), "{name}: {error}");
        assert!(!error.contains("SECRET"), "{name}: {error}");
    }
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

/// A slash at the end makes a folder of files, but not in a remote store.
#[test]
fn a_remote_name_with_a_slash_is_no_folder_of_this_machine() {
    let (server, folder) = (Server::start(), TempDir::new().unwrap());
    let variables = s3(&server);
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let mut command = command(&variables);
    let program = "func.func public @main(%x: tensor<f32>) -> tensor<f32> {\n\
                     %y = stablehlo.add %x, %x : tensor<f32>\n\
                     return %y : tensor<f32>\n\
                   }\n";
    std::fs::write(folder.path().join("sum.mlir"), program).unwrap();
    let arguments = ["run", "sum.mlir", "f32(1.5)", "-o", "s3://bucket/y.npy/"];
    let output = command.current_dir(folder.path()).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(server.paths(), ["/bucket/y.npy"]);
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
}

/// Eight of 64 chunks are stored at once. The first one waits for a second; the others do not.
#[test]
fn a_slow_chunk_holds_up_no_other() {
    let (server, folder) = (Server::start(), TempDir::new().unwrap());
    let local = folder.path().join("x.zarr");
    let made = Array::new([64, 1024], vec![1_u8; 64 * 1024]).unwrap();
    let chunks = Some(vec![1, 1024]);
    let metadata = ResultMetadata { chunks, ..ResultMetadata::default() };
    let mut sink = create(&local, made.array_type(), &metadata).unwrap();
    write_whole(&mut *sink, &made).unwrap();
    sink.finish().unwrap();
    let variables = s3(&server);
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let variables = [&variables[..], &[("INDIM_REMOTE_TIMEOUT", "1")]].concat();
    server.fail_verb("PUT", "/bucket/y.zarr/c/0/0", Fault::Stall, 1);
    let source = format!("x={}", local.display());
    run(&variables, &["eval", "x + 1", &source, "-o", "s3://bucket/y.zarr"]).unwrap();
    let mut puts = server.take_requests();
    puts.retain(|it| it.verb == "PUT" && it.path.contains("/c/"));
    let paths: Vec<&str> = puts.iter().map(|it| it.path.as_str()).collect();
    assert_eq!((paths.len(), paths[64]), (65, "/bucket/y.zarr/c/0/0"), "{paths:?}");
}

#[test]
fn a_failed_result_does_not_appear() {
    let server = Server::start();
    let variables = s3(&server);
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    server.fail("/bucket/out.zarr/c/0/0", Fault::Status(403), 99);
    let made = "iota(f32, [4, 3], axis=0)";
    let error = run(&variables, &["eval", made, "-o", "s3://bucket/out.zarr"]).unwrap_err();
    assert!(error.contains("error[request-failed]") && error.contains("403"), "{error}");
    assert_eq!(server.paths(), [""; 0]);
    // 20 MiB in parts of 8 MiB. The upload begins, and each of its parts is refused.
    server.put("/bucket/y.npy", "earlier");
    let large = "iota(f32, [5, 1048576], axis=0)";
    server.fail_verb("PUT", "/bucket/y.npy", Fault::Status(403), 99);
    let error = run(&variables, &["eval", large, "-o", "s3://bucket/y.npy"]).unwrap_err();
    assert!(error.contains("error[request-failed]") && error.contains("403"), "{error}");
    assert_eq!(server.object("/bucket/y.npy").unwrap(), b"earlier");
    assert!(!server.has_parts());
    let requests = server.take_requests();
    let aborted = requests.iter().any(|it| it.verb == "DELETE" && it.path.contains("uploadId"));
    assert!(aborted, "{requests:?}");
    // An overloaded server is asked again.
    server.fail_verb("PUT", "/bucket/y.npy", Fault::Status(503), 2);
    run(&variables, &["eval", large, "-o", "s3://bucket/y.npy"]).unwrap();
    let parts = server.take_requests().into_iter().filter(|it| it.path.contains("partNumber"));
    assert_eq!(parts.count(), 3 + 2);
    let read = ["eval", "sum(x[:, 1048575])", "x=s3://bucket/y.npy"];
    assert_eq!(run(&variables, &read).unwrap(), "10.0\n");
}

/// A result larger than the memory limit is uploaded while it is computed.
#[test]
fn streamed_results() {
    let server = Server::start();
    let folder = TempDir::new().unwrap();
    let local = folder.path().join("x.npy");
    let local = local.to_str().unwrap();
    run(&[], &["eval", "f32(iota(i32, [16, 1048576], axis=1))", "-o", local]).unwrap();
    let variables = s3(&server);
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let source = format!("x={local}");
    for name in ["y.npy", "y.zarr"] {
        let uri = format!("s3://bucket/{name}");
        let limit = ["--memory-limit", "100MiB"];
        run(&variables, &[&["eval", "x * 2", &source, "-o", &uri][..], &limit].concat()).unwrap();
        let equal = ["eval", "all(x * 2 == y)", &source, &format!("y={uri}")];
        assert_eq!(run(&variables, &equal).unwrap(), "True\n");
    }
}

/// The metadata is compared after the last chunk, also in a run over a whole array.
#[test]
fn an_array_that_is_replaced_meanwhile_is_an_error() {
    let server = Server::start();
    put(&server, "/x.zarr", "iota(f32, [4, 3], axis=0) + 1");
    let source = format!("x={}/x.zarr", server.address());
    server.delay(Duration::from_millis(400));
    let mut running = command(&[]);
    running.args(["eval", "mean(x, axis=0)", &source]);
    let running = running.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !server.take_requests().iter().any(|request| request.path.contains("/c/")) {
        std::thread::sleep(Duration::from_millis(5));
    }
    server.put("/x.zarr/zarr.json", server.object("/x.zarr/zarr.json").unwrap());
    let output = running.wait_with_output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("error[file-changed]"), "{error}");
}

/// zarr-python and s3fs over a server of moto. The test runs if `INDIM_REMOTE_PYTHON` names a Python with
/// the packages of `requirements.txt` here; `cargo xtask stores` makes one.
#[test]
fn arrays_of_zarr_python_in_s3() {
    let Some(python) = std::env::var_os("INDIM_REMOTE_PYTHON") else {
        eprintln!("skipped: INDIM_REMOTE_PYTHON names no Python");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/remote/over_moto.py");
    let ran = Command::new(python).arg(script).arg(env!("CARGO_BIN_EXE_indim")).output().unwrap();
    let (output, error) =
        (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && output.contains("all equal"), "{output}{error}");
}
