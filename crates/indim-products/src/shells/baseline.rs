//! The shells of the level that every processor of the target has. Holds unsafe code.

super::define_shells!(Baseline, cfg!(target_arch = "aarch64"));
