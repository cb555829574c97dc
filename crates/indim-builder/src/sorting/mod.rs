//! Sorts, selections of the greatest elements, and searches in sorted tables.
//!
//! - `build.rs`: sorts by one key or several, the greatest elements, searches in sorted tables.

mod build;
