//! The builder's gathers from several axes.
//!
//! A gather from several axes is a gather from one: the axes are flattened, and their indices become one
//! position. Each index is resolved along its own axis first, so errors name that axis.
//!
//! - `build.rs`: the builder's methods;
//! - `positions.rs`: axes brought together, and positions in the flattened axis.

mod build;
mod positions;
