//! Random numbers from keys: a key and a shape always give the same numbers, those of `jax.random`.
//!
//! - `threefry.rs`: the function that computes random words from a key and a counter;
//! - `words.rs`: keys derived from keys, and random bits;
//! - `floats.rs`: uniform and normal numbers.

mod floats;
mod threefry;
mod words;
