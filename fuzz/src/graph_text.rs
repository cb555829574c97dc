//! The text form of graphs. A text that parses is a legal graph; the error of any other text has a place
//! within it.

use indim::text::parse_graph;

use crate::engine;

/// Reads the bytes as a graph.
pub fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match parse_graph(&text) {
        Ok(graph) => engine::check(&graph),
        Err(error) => {
            assert!(text.get(error.span.clone()).is_some(), "{error:?}");
            assert!(error.draw(&text).starts_with("error["), "{error:?}");
        }
    }
}
