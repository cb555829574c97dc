//! indim-graph
