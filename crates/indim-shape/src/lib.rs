//! indim-shape
