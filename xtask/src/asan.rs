//! `cargo xtask asan` and `tsan`: the crates with unsafe code under the compiler's sanitizers.

use crate::cargo;

/// Environment of AddressSanitizer. Its flag is unstable; `RUSTC_BOOTSTRAP` makes the stable compiler accept
/// it.
pub(crate) const ASAN_VARIABLES: [(&str, &str); 4] = [
    ("RUSTC_BOOTSTRAP", "1"),
    ("RUSTFLAGS", "-Zsanitizer=address"),
    ("RUSTDOCFLAGS", "-Zsanitizer=address"),
    ("CARGO_TARGET_DIR", "target/asan"),
];

/// The systems whose toolchains include the sanitizers, in words; empty if this is one of them.
pub(crate) fn missing() -> Vec<String> {
    let has_sanitizer = cfg!(all(
        target_os = "linux",
        target_env = "gnu",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ));
    if has_sanitizer { Vec::new() } else { vec!["Linux on x86-64 or aarch64".to_owned()] }
}

/// Runs the tests of the crates with unsafe code under AddressSanitizer.
pub(crate) fn asan() -> bool {
    let packages = [
        "-p=indim-arrays",
        "-p=indim-kernels",
        "-p=indim-products",
        "-p=indim-targets",
        "-p=indim-executors",
        "-p=indim-cpu",
    ];
    let tests = ["test", "--tests", "--target", sanitizer_target()];
    cargo(&[&tests[..], &packages].concat(), &ASAN_VARIABLES)
}

/// Runs the parallel tests under ThreadSanitizer. It knows only instrumented locks and atomics, so the
/// standard library is built with it.
pub(crate) fn tsan() -> bool {
    let variables = [
        ("RUSTC_BOOTSTRAP", "1"),
        ("RUSTFLAGS", "-Zsanitizer=thread"),
        ("CARGO_TARGET_DIR", "target/tsan-std"),
    ];
    let test = ["test", "-Zbuild-std", "--package", "indim-cpu", "--test", "differential"];
    let only = ["--target", sanitizer_target(), "several_threads"];
    let succeeded = cargo(&[&test[..], &only].concat(), &variables);
    if !succeeded {
        eprintln!("the library's source is a component: `rustup component add rust-src`");
    }
    succeeded
}

/// The target, which is given explicitly so that cargo does not apply the sanitizers' flags to build
/// scripts.
pub(crate) fn sanitizer_target() -> &'static str {
    if cfg!(target_arch = "aarch64") {
        "aarch64-unknown-linux-gnu"
    } else {
        "x86_64-unknown-linux-gnu"
    }
}
