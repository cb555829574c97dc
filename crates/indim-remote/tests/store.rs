//! Reads of objects from a server that fails on purpose.

mod server;

use std::time::Instant;

use indim_io::{ByteStore, FirstRead, StoreError, StoreErrorKind};
use indim_remote::{RemoteStore, Settings};
use server::{Fault, Server};

const WHOLE: FirstRead = FirstRead::Whole { max_bytes: 1 << 20 };

fn store(server: &Server) -> RemoteStore {
    let settings = Settings::from_variables([("INDIM_REMOTE_TIMEOUT", "1")]);
    RemoteStore::open(&format!("{}/x", server.address()), &settings).unwrap()
}

/// The whole object of the key `a`.
fn read(store: &RemoteStore) -> Result<Option<Vec<u8>>, StoreErrorKind> {
    store.open("a", WHOLE)?.map(|object| object.into_bytes()).transpose()
}

fn text(kind: StoreErrorKind) -> (&'static str, String) {
    let error = StoreError::new("", kind);
    (error.code(), error.to_string())
}

#[test]
fn one_request_opens_and_reads_an_object() {
    let server = Server::start();
    server.put("/x/a", (0..100).collect::<Vec<u8>>());
    let store = store(&server);
    let all: Vec<u8> = (0..100).collect();
    assert_eq!(read(&store).unwrap().unwrap(), all);
    assert_eq!(server.take_requests().len(), 1);
    for (first, start) in [(FirstRead::Start(10), 0), (FirstRead::End(10), 90)] {
        let object = store.open("a", first).unwrap().unwrap();
        assert_eq!(object.length(), 100);
        let start = start as u64;
        assert_eq!(object.read(start, 10).unwrap(), &all[start as usize..][..10]);
        assert_eq!(server.take_requests().len(), 1);
        assert_eq!(object.read(40, 3).unwrap(), [40, 41, 42]);
        let requests = server.take_requests();
        assert_eq!(requests[0].range.as_deref(), Some("bytes=40-42"));
        assert!(object.check_unchanged().is_ok());
        assert_eq!(server.take_requests()[0].verb, "HEAD");
    }
    // More than the object has is the whole object.
    let object = store.open("a", FirstRead::End(1000)).unwrap().unwrap();
    assert_eq!(object.into_bytes().unwrap(), all);
    assert_eq!(store.open("a", FirstRead::Nothing).unwrap().unwrap().length(), 100);
}

#[test]
fn only_404_means_that_an_object_does_not_exist() {
    let server = Server::start();
    let store = store(&server);
    assert!(read(&store).unwrap().is_none());
    for status in [400, 401, 403, 410, 500] {
        server.fail("/x/a", Fault::Status(status), 99);
        let (code, message) = text(read(&store).unwrap_err());
        assert_eq!(code, "request-failed");
        assert!(message.contains(&format!("{status}")) && message.contains("/x/a"), "{message}");
    }
}

#[test]
fn an_overloaded_server_is_asked_again() {
    let server = Server::start();
    server.put("/x/a", "abc");
    let store = store(&server);
    server.fail("/x/a", Fault::Status(503), 3);
    assert_eq!(read(&store).unwrap().unwrap(), b"abc");
    assert_eq!(server.take_requests().len(), 4);
    server.fail("/x/a", Fault::Status(503), 99);
    let (code, message) = text(read(&store).unwrap_err());
    assert_eq!(code, "request-failed");
    assert!(message.contains("503") && message.contains("4 retries"), "{message}");
    assert_eq!(server.take_requests().len(), 5);
}

#[test]
fn a_refused_request_is_not_repeated() {
    let server = Server::start();
    server.fail("/x/a", Fault::Status(403), 99);
    assert!(read(&store(&server)).is_err());
    assert_eq!(server.take_requests().len(), 1);
}

#[test]
fn a_silent_server_is_asked_again_and_given_up() {
    let server = Server::start();
    server.put("/x/a", "abc");
    let store = store(&server);
    server.fail("/x/a", Fault::Stall, 1);
    let start = Instant::now();
    assert_eq!(read(&store).unwrap().unwrap(), b"abc");
    assert!((1.0..5.0).contains(&start.elapsed().as_secs_f64()));
    server.fail("/x/a", Fault::Stall, 99);
    assert_eq!(text(read(&store).unwrap_err()).0, "request-failed");
    assert!(start.elapsed().as_secs_f64() < 30.0);
}

#[test]
fn the_rest_of_a_cut_body_is_requested() {
    let server = Server::start();
    server.put("/x/a", vec![7; 1000]);
    server.fail("/x/a", Fault::Cut, 1);
    assert_eq!(read(&store(&server)).unwrap().unwrap(), vec![7; 1000]);
    server.fail("/x/a", Fault::Cut, 99);
    assert_eq!(text(read(&store(&server)).unwrap_err()).0, "request-failed");
}

#[test]
fn another_version_is_an_error() {
    let server = Server::start();
    server.put("/x/a", vec![1; 100]);
    let object = store(&server).open("a", FirstRead::Start(10)).unwrap().unwrap();
    server.put("/x/a", vec![2; 100]);
    assert!(matches!(object.read(50, 10), Err(StoreErrorKind::FileChanged)));
    assert!(matches!(object.check_unchanged(), Err(StoreErrorKind::FileChanged)));
    server.remove("/x/a");
    assert!(matches!(object.check_unchanged(), Err(StoreErrorKind::FileChanged)));
    assert!(matches!(object.read(50, 10), Err(StoreErrorKind::FileChanged)));
}

#[test]
fn an_object_that_is_too_large_is_not_read() {
    let server = Server::start();
    server.put("/x/a", vec![1; 100]);
    let opened = store(&server).open("a", FirstRead::Whole { max_bytes: 99 });
    let (code, message) = text(opened.unwrap_err());
    assert_eq!(code, "request-failed");
    assert!(message.contains("100 bytes, of at most 99"), "{message}");
}

#[test]
fn a_server_without_ranges_is_an_error() {
    let server = Server::start();
    server.put("/x/a", vec![1; 100]);
    server.fail("/x/a", Fault::NoRanges, 99);
    let opened = store(&server).open("a", FirstRead::Start(10));
    assert_eq!(text(opened.unwrap_err()).0, "request-failed");
}

#[test]
fn an_empty_object_is_shorter_than_each_range() {
    let server = Server::start();
    server.put("/x/a", "");
    for first in [FirstRead::Start(10), FirstRead::End(10), WHOLE, FirstRead::Nothing] {
        let object = store(&server).open("a", first).unwrap().unwrap();
        assert_eq!(object.length(), 0);
        assert!(object.into_bytes().unwrap().is_empty());
    }
    assert!(store(&server).open("none", FirstRead::Start(10)).unwrap().is_none());
}

/// The server states ranges of 10 bytes and sends 64 MiB.
#[test]
fn a_body_ends_with_its_range() {
    let server = Server::start();
    server.put("/x/a", vec![1; 100]);
    let object = store(&server).open("a", FirstRead::Start(10)).unwrap().unwrap();
    server.fail("/x/a", Fault::LongBody(64), 99);
    let reads = [
        object.read(50, 10).map(drop),
        store(&server).open("a", FirstRead::Start(10)).map(drop),
        store(&server).open("a", FirstRead::End(10)).map(drop),
    ];
    for read in reads {
        let (code, message) = text(read.unwrap_err());
        assert_eq!(code, "request-failed");
        assert!(message.contains("more than the 10 bytes of its range"), "{message}");
    }
}

#[test]
fn a_refused_object_may_be_missing() {
    let server = Server::start();
    server.put("/x/a", "abc");
    let store = store(&server);
    let open = |status| {
        server.fail("/x/a", Fault::Status(status), 1);
        store.open_optional("a", WHOLE)
    };
    for status in [401, 403, 404] {
        assert!(open(status).unwrap().is_none());
    }
    assert_eq!(text(open(400).unwrap_err()).0, "request-failed");
    assert_eq!(store.open_optional("a", WHOLE).unwrap().unwrap().length(), 3);
}

#[test]
fn an_answer_with_the_session_token_is_printed_without_it() {
    let server = Server::start();
    server.put("/bucket/x/a", "abc");
    server.fail("/bucket/x/a", Fault::ExpiredToken, 99);
    let settings = Settings::from_variables([
        ("AWS_ENDPOINT_URL", &*server.address()),
        ("AWS_ACCESS_KEY_ID", "id"),
        ("AWS_SECRET_ACCESS_KEY", "HIDDEN"),
        ("AWS_SESSION_TOKEN", "FQoG/HIDDEN+A=="),
    ]);
    let store = RemoteStore::open("s3://bucket/x", &settings).unwrap();
    let (code, message) = text(read(&store).unwrap_err());
    assert_eq!(code, "request-failed");
    assert!(message.contains("<Token-0>...</Token-0>"), "{message}");
    assert!(!message.contains("HIDDEN"), "{message}");
}

#[test]
fn requests_to_s3_are_signed_if_there_are_credentials() {
    let server = Server::start();
    server.put("/bucket/x/a", "abc");
    let address = server.address();
    let place = [("AWS_ENDPOINT_URL", &*address), ("AWS_DEFAULT_REGION", "eu-central-1")];
    let keys = [("AWS_ACCESS_KEY_ID", "id"), ("AWS_SECRET_ACCESS_KEY", "HIDDEN")];
    let skip = [("AWS_SKIP_SIGNATURE", "true")];
    let cases = [(vec![], false), (keys.to_vec(), true), ([&keys[..], &skip].concat(), false)];
    for (variables, is_signed) in cases {
        let settings = Settings::from_variables([&place[..], &variables].concat());
        assert!(!format!("{settings:?}").contains("HIDDEN"));
        let store = RemoteStore::open("s3://bucket/x", &settings).unwrap();
        assert_eq!(read(&store).unwrap().unwrap(), b"abc");
        assert_eq!(server.take_requests()[0].is_signed, is_signed);
        server.fail("/bucket/x/a", Fault::Status(403), 1);
        let Err(StoreErrorKind::Other(error)) = read(&store) else { panic!("403 is an error") };
        let help = error.to_string();
        assert!(!help.contains("HIDDEN") && help.contains("AWS_ACCESS_KEY_ID"), "{help}");
        assert_eq!(help.contains("was not signed"), !is_signed, "{help}");
        server.take_requests();
    }
}

#[test]
fn names_with_secrets_are_refused_without_them() {
    for name in ["https://u:SECRET@host/x", "https://host/x.npy?sig=SECRET", "http://host/x#SECRET"]
    {
        let error = RemoteStore::open(name, &Settings::default()).unwrap_err();
        assert_eq!(error.code, "remote-name");
        assert!(!error.to_string().contains("SECRET"), "{error}");
    }
    for name in ["s3://bucket", "s3:///x", "ftp://host/x", "x", "s3://bucket/a//b", "s3://b/../c"] {
        assert!(RemoteStore::open(name, &Settings::default()).is_err(), "{name}");
    }
    let wrong = Settings::from_variables([("INDIM_REMOTE_TIMEOUT", "soon")]);
    assert!(RemoteStore::open("s3://bucket/x", &wrong).is_err());
}
