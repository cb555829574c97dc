//! Sorts and what is made of them.
//!
//! - `build.rs`: sorts by one key or several, the greatest elements, searches in sorted tables.

mod build;
