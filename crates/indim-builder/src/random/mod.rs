//! Random numbers from keys: a key and a shape always give the same numbers, those of `jax.random`.
//!
//! - `threefry.rs`: the function that makes random words of a key and a counter;
//! - `words.rs`: keys made from keys, and random bits;
//! - `floats.rs`: uniform and normal numbers.

mod floats;
mod threefry;
mod words;
