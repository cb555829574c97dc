//! The targets without libFuzzer, on the stable toolchain: the committed corpus, what is near it, and
//! pseudo-random bytes; the same ones every time.

use std::fs;
use std::path::{Path, PathBuf};

use indim::formats::{ModelFormat, operations};
use indim_stores::ArrayFormat;

/// The number of inputs of each target, in addition to its corpus. A graph is run many times; an archive is a
/// file, and so are pictures; an array is a folder. The target `skip_weights` makes large files.
fn input_count(target: &str) -> usize {
    match target {
        "graph" => 400,
        "calls" => 3_000,
        "expression" => 8_000,
        "npz" => 300,
        "skip_weights" => 2_000,
        "png" | "safetensors" | "tiff" | "zarr" => 4_000,
        _ => 20_000,
    }
}

/// A pseudo-random function (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % limit.max(1) as u64) as usize
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.below(256) as u8).collect()
    }

    /// A part of `bytes`.
    fn part<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let start = self.below(bytes.len() + 1);
        let length = self.below(bytes.len() - start + 1).min(32);
        &bytes[start..start + length]
    }

    /// An input of the corpus with a few parts overwritten, removed, or taken from elsewhere.
    fn mutated_input(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut input = corpus[self.below(corpus.len())].clone();
        for _ in 0..1 + self.below(4) {
            let start = self.below(input.len() + 1);
            let end = (start + self.below(8)).min(input.len());
            let other = &corpus[self.below(corpus.len())];
            let replacement: Vec<u8> = match self.below(4) {
                0 => Vec::new(),
                1 => self.bytes(end - start),
                2 => self.part(other).to_vec(),
                _ => self.part(&input).to_vec(),
            };
            input.splice(start..end, replacement);
        }
        input
    }
}

/// Writes the input to a file if the target panics, for `cargo xtask fuzz TARGET FILE`.
struct SavedInput<'a> {
    target: &'a str,
    input: &'a [u8],
}

impl Drop for SavedInput<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let folder = folder().join("artifacts").join(self.target);
            let path = folder.join("bounded");
            let result = fs::create_dir_all(folder).and_then(|()| fs::write(&path, self.input));
            eprintln!("the input of target {}: {} {result:?}", self.target, path.display());
        }
    }
}

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = folder().join("corpus").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Whether the format that a target reads is compiled: without its feature every input is refused.
fn is_compiled(target: &str) -> bool {
    let of_arrays = ArrayFormat::all().iter().find(|format| format.name() == target);
    let of_models = ModelFormat::named(target);
    of_arrays.is_none_or(ArrayFormat::is_enabled)
        && of_models.is_none_or(|format| !operations(format).is_empty())
}

fn check(target: &str) {
    assert!(is_compiled(target), "fuzz/Cargo.toml lacks the feature of {target}");
    let named = |&(name, _): &(&str, indim_fuzz::Target)| name == target;
    let (_, run) = indim_fuzz::TARGETS.into_iter().find(named).unwrap();
    let run = |input: &[u8]| {
        let _saved_input = SavedInput { target, input };
        run(input);
    };
    let corpus = corpus(target);
    assert!(!corpus.is_empty());
    run(&[]);
    corpus.iter().for_each(|input| run(input));
    let mut random = Random(1);
    for index in 0..input_count(target) {
        let input = match index % 4 {
            0 => {
                let length = random.below(200);
                random.bytes(length)
            }
            _ => random.mutated_input(&corpus),
        };
        run(&input);
    }
}

/// A test for each target.
macro_rules! tests {
    ($($target:ident)*) => {
        $(#[test]
        fn $target() {
            check(stringify!($target));
        })*

        #[test]
        fn every_target_is_here() {
            let here = [$(stringify!($target)),*];
            assert_eq!(indim_fuzz::TARGETS.map(|(name, _)| name), here);
        }
    };
}

tests!(
    calls expression graph graph_text hlo literal npy npz onnx openvino oracle png rules safetensors
    skip_weights stablehlo tiff zarr
);
