//! indim
