//! A web server for tests, with the verbs of S3 that indim uses, and with faults on purpose.

#![allow(dead_code, reason = "each test uses a part")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A mistake of the server in the next requests for an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Answers with this status.
    Status(u16),
    /// Never answers.
    Stall,
    /// Closes the connection after half of the body.
    Cut,
    /// Answers a request for a range with the whole object.
    NoRanges,
    /// Answers 400 and repeats the session token, as S3 does if it is too old.
    ExpiredToken,
    /// Sends this number of MiB, and states the length of the range.
    LongBody(usize),
}

/// A request: the verb, the path with its query, and the range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) verb: String,
    pub(crate) path: String,
    pub(crate) range: Option<String>,
    pub(crate) is_signed: bool,
}

#[derive(Debug, Default)]
struct State {
    /// Objects with their versions, by path.
    objects: BTreeMap<String, (Vec<u8>, u64)>,
    /// Faults of the next requests, by path, and by verb if there is one.
    faults: BTreeMap<String, (Option<String>, Fault, usize)>,
    requests: Vec<Request>,
    /// Requests that are being answered, and the most at once.
    running: usize,
    most_running: usize,
    /// Parts of unfinished uploads by upload and number.
    parts: BTreeMap<(String, usize), Vec<u8>>,
    delay: Duration,
}

/// A server on a free port of this machine.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    port: u16,
    state: Arc<Mutex<State>>,
}

impl Server {
    pub(crate) fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State::default()));
        let server = Server { port, state };
        let answering = server.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let answering = answering.clone();
                thread::spawn(move || answering.serve(stream));
            }
        });
        server
    }

    /// The address, as in `http://127.0.0.1:4000`.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Stores an object; a stored one gets a new version.
    pub(crate) fn put(&self, path: &str, bytes: impl Into<Vec<u8>>) {
        let mut state = self.state.lock().unwrap();
        let version = state.objects.get(path).map_or(0, |(_, version)| version + 1);
        state.objects.insert(path.to_owned(), (bytes.into(), version));
    }

    /// Stores all files of a folder below a path.
    pub(crate) fn put_folder(&self, path: &str, folder: &std::path::Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let file = entry.unwrap().path();
            let path = format!("{path}/{}", file.file_name().unwrap().to_str().unwrap());
            match file.is_dir() {
                true => self.put_folder(&path, &file),
                false => self.put(&path, std::fs::read(&file).unwrap()),
            }
        }
    }

    pub(crate) fn object(&self, path: &str) -> Option<Vec<u8>> {
        Some(self.state.lock().unwrap().objects.get(path)?.0.clone())
    }

    /// The paths of all objects.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.state.lock().unwrap().objects.keys().cloned().collect()
    }

    /// Whether an upload is unfinished.
    pub(crate) fn has_parts(&self) -> bool {
        !self.state.lock().unwrap().parts.is_empty()
    }

    pub(crate) fn remove(&self, path: &str) {
        self.state.lock().unwrap().objects.remove(path);
    }

    /// Gives the next `times` requests for an object a fault.
    pub(crate) fn fail(&self, path: &str, fault: Fault, times: usize) {
        self.state.lock().unwrap().faults.insert(path.to_owned(), (None, fault, times));
    }

    /// The same for requests of one verb.
    pub(crate) fn fail_verb(&self, verb: &str, path: &str, fault: Fault, times: usize) {
        let fault = (Some(verb.to_owned()), fault, times);
        self.state.lock().unwrap().faults.insert(path.to_owned(), fault);
    }

    /// Lets each answer take at least so long.
    pub(crate) fn delay(&self, delay: Duration) {
        self.state.lock().unwrap().delay = delay;
    }

    /// The requests since the last call.
    pub(crate) fn take_requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.state.lock().unwrap().requests)
    }

    /// The most requests that were answered at once.
    pub(crate) fn most_running(&self) -> usize {
        self.state.lock().unwrap().most_running
    }

    fn serve(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut stream = stream;
        stream.set_nodelay(true).unwrap();
        while let Some(()) = self.answer(&mut reader, &mut stream) {}
    }

    /// Answers a request; `None` if the connection ends.
    fn answer(&self, reader: &mut BufReader<TcpStream>, stream: &mut TcpStream) -> Option<()> {
        let mut first = String::new();
        reader.read_line(&mut first).ok()?;
        let mut words = first.split_whitespace().map(str::to_owned);
        let (verb, path) = (words.next()?, words.next()?);
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
        let length = headers.get("content-length").map_or(0, |text| text.parse().unwrap());
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let range = headers.get("range").cloned();
        let is_signed = headers.contains_key("authorization");
        let (name, query) = path.split_once('?').unwrap_or((&path, ""));
        let (fault, delay) = {
            let mut state = self.state.lock().unwrap();
            let path = path.clone();
            state.requests.push(Request {
                verb: verb.clone(),
                path,
                range: range.clone(),
                is_signed,
            });
            state.running += 1;
            state.most_running = state.most_running.max(state.running);
            let fault = state
                .faults
                .get_mut(name)
                .filter(|(of, _, times)| *times > 0 && of.as_ref().is_none_or(|of| *of == verb));
            let fault = fault.map(|(_, fault, times)| {
                *times -= 1;
                *fault
            });
            (fault, state.delay)
        };
        thread::sleep(delay);
        let answered = match fault {
            Some(Fault::Status(status)) => respond(stream, status, "", b"on purpose", false),
            Some(Fault::ExpiredToken) => {
                let token = headers.get("x-amz-security-token").map_or("", String::as_str);
                let text =
                    format!("<Error><Code>ExpiredToken</Code><Token-0>{token}</Token-0></Error>");
                respond(stream, 400, "", text.as_bytes(), false)
            }
            Some(Fault::Stall) => {
                thread::sleep(Duration::from_secs(20));
                None
            }
            fault => self.execute(stream, &verb, name, query, &headers, body, fault),
        };
        self.state.lock().unwrap().running -= 1;
        answered
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a request")]
    fn execute(
        &self,
        stream: &mut TcpStream,
        verb: &str,
        name: &str,
        query: &str,
        headers: &BTreeMap<String, String>,
        body: Vec<u8>,
        fault: Option<Fault>,
    ) -> Option<()> {
        let upload = query.split('&').find_map(|part| part.strip_prefix("uploadId="));
        match (verb, upload) {
            ("POST", None) => {
                let text = format!(
                    "<InitiateMultipartUploadResult><Bucket>b</Bucket><Key>k</Key><UploadId>u{}</UploadId>\
                     </InitiateMultipartUploadResult>",
                    name.len()
                );
                respond(stream, 200, "", text.as_bytes(), false)
            }
            ("PUT", Some(upload)) => {
                let number = query.split('&').find_map(|part| part.strip_prefix("partNumber="));
                let key = (upload.to_owned(), number.unwrap().parse().unwrap());
                self.state.lock().unwrap().parts.insert(key, body);
                respond(stream, 200, "ETag: \"part\"\r\n", b"", false)
            }
            ("POST", Some(upload)) => {
                let parts = std::mem::take(&mut self.state.lock().unwrap().parts);
                let of_upload = parts.into_iter().filter(|((of, _), _)| of == upload);
                let bytes: Vec<u8> = of_upload.flat_map(|(_, bytes)| bytes).collect();
                self.put(name, bytes);
                let text = "<CompleteMultipartUploadResult><ETag>\"all\"</ETag>\
                            </CompleteMultipartUploadResult>";
                respond(stream, 200, "", text.as_bytes(), false)
            }
            ("DELETE", upload) => {
                let mut state = self.state.lock().unwrap();
                match upload {
                    Some(_) => state.parts.clear(),
                    None => drop(state.objects.remove(name)),
                }
                drop(state);
                respond(stream, 204, "", b"", false)
            }
            ("PUT", None) => {
                self.put(name, body);
                respond(stream, 200, "ETag: \"new\"\r\n", b"", false)
            }
            _ => self.get(stream, verb == "HEAD", name, headers, fault),
        }
    }

    fn get(
        &self,
        stream: &mut TcpStream,
        is_head: bool,
        name: &str,
        headers: &BTreeMap<String, String>,
        fault: Option<Fault>,
    ) -> Option<()> {
        let Some((bytes, version)) = self.state.lock().unwrap().objects.get(name).cloned() else {
            return respond(stream, 404, "", b"", is_head);
        };
        let tag = format!("\"v{version}\"");
        if headers.get("if-match").is_some_and(|wanted| *wanted != tag) {
            return respond(stream, 412, "", b"", is_head);
        }
        let date = "Wed, 21 Oct 2015 07:28:00 GMT";
        let mut fields = format!("ETag: {tag}\r\nLast-Modified: {date}\r\n");
        let range = headers.get("range").filter(|_| fault != Some(Fault::NoRanges));
        let (status, part) = match range.and_then(|range| range.strip_prefix("bytes=")) {
            None => (200, &bytes[..]),
            Some(range) => {
                let (from, to) = range.split_once('-').unwrap();
                let (start, end) = match (from.parse::<usize>(), to.parse::<usize>()) {
                    (Ok(from), Ok(to)) => (from, (to + 1).min(bytes.len())),
                    (Ok(from), Err(_)) => (from, bytes.len()),
                    (Err(_), to) => (bytes.len().saturating_sub(to.unwrap()), bytes.len()),
                };
                if start >= bytes.len() {
                    return respond(stream, 416, "", b"", is_head);
                }
                fields += &format!("Content-Range: bytes {start}-{}/{}\r\n", end - 1, bytes.len());
                (206, &bytes[start..end])
            }
        };
        if let Some(Fault::LongBody(mebibytes)) = fault {
            let length = mebibytes << 20;
            write!(stream, "HTTP/1.1 {status} X\r\n{fields}Content-Length: {length}\r\n\r\n")
                .ok()?;
            let block = vec![0; 1 << 20];
            return (0..mebibytes).try_for_each(|_| stream.write_all(&block).ok());
        }
        if fault == Some(Fault::Cut) {
            let length = part.len();
            write!(stream, "HTTP/1.1 {status} X\r\n{fields}Content-Length: {length}\r\n\r\n")
                .ok()?;
            stream.write_all(&part[..length / 2]).ok()?;
            return None;
        }
        respond(stream, status, &fields, part, is_head)
    }
}

/// Sends an answer; `None` if the connection is closed.
fn respond(
    stream: &mut TcpStream,
    status: u16,
    fields: &str,
    body: &[u8],
    is_head: bool,
) -> Option<()> {
    let length = body.len();
    write!(stream, "HTTP/1.1 {status} X\r\n{fields}Content-Length: {length}\r\n\r\n").ok()?;
    if !is_head {
        stream.write_all(body).ok()?;
    }
    stream.flush().ok()
}
