//! indim-cpu
