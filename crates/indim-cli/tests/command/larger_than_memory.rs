//! Streamed programs over files: the bits of a run in memory, with little memory.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::run::{Folder, ORDER, command, fails, finish, indim, is_emulated, npy, succeeds};

/// Far smaller than each file below.
const LIMIT: [&str; 2] = ["--memory-limit", "600KiB"];

/// 262,144 numbers between -1 and 1, no two neighbours equal, in native byte order or the other.
fn elements(is_swapped: bool) -> Vec<u8> {
    let number = |seed: u32| {
        let bits = seed.wrapping_mul(2_654_435_761).rotate_left(13).wrapping_mul(40_503);
        (f64::from(bits) / f64::from(u32::MAX)) * 2.0 - 1.0
    };
    let bytes = |seed: u32| match is_swapped {
        true => number(seed).to_ne_bytes().into_iter().rev().collect::<Vec<u8>>(),
        false => number(seed).to_ne_bytes().to_vec(),
    };
    (0..262_144).flat_map(bytes).collect()
}

/// A file of 2 MiB, bound to `x`.
fn bind(folder: &Folder, is_fortran: bool, is_swapped: bool, shape: &str) -> String {
    let other = if ORDER == '<' { '>' } else { '<' };
    let order = if is_swapped { other } else { ORDER };
    folder.bind("x", "x.npy", &npy(&format!("{order}f8"), is_fortran, shape, &elements(is_swapped)))
}

/// The output of `indim eval`.
fn written(folder: &Folder, arguments: &[&str]) -> (Vec<u8>, String) {
    let path = folder.file("y.npy");
    let run = finish(command().args(["eval"]).args(arguments).arg("-o").arg(&path));
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{}", run.stderr);
    (fs::read(path).expect("a file"), run.stderr)
}

#[test]
fn pieces_are_the_bits_of_the_whole() {
    let folder = Folder::new();
    let passes = |stderr: &str| match stderr {
        "" => 1,
        "note: computed piece by piece; `x` is read 2 times\n" => 2,
        "note: computed piece by piece; `x` is read 3 times\n" => 3,
        other => panic!("{other}"),
    };
    for (is_fortran, is_swapped) in [(false, false), (true, false), (false, true), (true, true)] {
        let x = bind(&folder, is_fortran, is_swapped, "(65536, 4)");
        for (expression, expected) in [
            ("2 * x + 1", 1),
            ("sum(x, axis=1)", 1),
            ("x - mean(x, axis=0)", 2),
            ("(x - mean(x, axis=0)) / std(x, axis=0)", 3),
            ("x - max(x)", 2),
            ("x[1:] - x[:-1]", 1),
            ("x", 1),
        ] {
            let (whole, silence) = written(&folder, &[expression, &x]);
            assert_eq!(silence, "");
            let (pieces, messages) = written(&folder, &[expression, &x, LIMIT[0], LIMIT[1]]);
            assert!(pieces == whole, "{expression} {is_fortran} {is_swapped}");
            assert_eq!(passes(&messages), expected, "{expression}");
        }
    }
}

#[test]
fn several_results_standard_output_and_what_is_printed() {
    let folder = Folder::new();
    let x = bind(&folder, false, false, "(65536, 4)");
    let statements = "low = min(x, axis=1); high = exp(x)";
    let outputs = |to: &str| {
        let (low, high) =
            (folder.file(&format!("{to}low.npy")), folder.file(&format!("{to}high.npy")));
        (format!("low={}", low.display()), format!("high={}", high.display()))
    };
    for (to, limit) in [("whole-", &[][..]), ("", &LIMIT[..])] {
        let (low, high) = outputs(to);
        let run = indim(&[&["eval", statements, &x, "-o", &low, "-o", &high], limit].concat());
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    for name in ["low.npy", "high.npy"] {
        let whole = fs::read(folder.file(&format!("whole-{name}"))).expect("a file");
        assert!(fs::read(folder.file(name)).expect("a file") == whole, "{name}");
    }

    let piped = |limit: &[&str]| {
        let arguments = [&["eval", "exp(x)", &x, "-o", "-"], limit].concat();
        let output = command().args(arguments).output().expect("runs");
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        output.stdout
    };
    let (pieces, whole) = (piped(&LIMIT), piped(&[]));
    assert!(pieces == whole && pieces.len() > 1 << 21);

    let printed = |limit: &[&str]| succeeds(&[&["eval", "sum(x, axis=0)", &x], limit].concat());
    assert_eq!(printed(&LIMIT), printed(&[]));
    let message = fails(&[&["eval", "exp(x)", &x][..], &LIMIT].concat());
    assert!(message.starts_with("error[memory-limit]: piece by piece "), "{message}");
    assert!(message.contains("`-o` writes it piece by piece"), "{message}");
}

#[test]
fn members_of_archives() {
    let folder = Folder::new();
    let x = bind(&folder, false, false, "(65536, 4)");
    let archive = folder.file("a.npz");
    succeeds(&["eval", "x", &x, "-o", &archive.display().to_string()]);
    let member = format!("x={}:x", archive.display());
    let (whole, _) = written(&folder, &["sqrt(abs(x))", &x]);
    let (pieces, _) = written(&folder, &["sqrt(abs(x))", &member, LIMIT[0], LIMIT[1]]);
    assert!(pieces == whole);
}

/// An archive with a deflated member `x.npy`, bound to `x`.
fn deflated(folder: &Folder, npy: &[u8]) -> String {
    let archive = folder.file("deflated.npz");
    let mut file = zip::ZipWriter::new(fs::File::create(&archive).expect("a file"));
    let is_begun = file.start_file("x.npy", zip::write::SimpleFileOptions::default()).is_ok();
    assert!(is_begun);
    std::io::Write::write_all(&mut file, npy).expect("written");
    file.finish().expect("written");
    format!("x={}:x", archive.display())
}

#[test]
fn compressed_members_of_archives() {
    let folder = Folder::new();
    for (is_fortran, limit) in [(false, "1MiB"), (true, "3900KiB")] {
        let x = bind(&folder, is_fortran, false, "(65536, 4)");
        let npy = fs::read(folder.file("x.npy")).expect("a file");
        let member = deflated(&folder, &npy);
        let limited = ["--memory-limit", limit, "--threads", "2"];
        for expression in
            ["sqrt(abs(x))", "x[1:] - x[:-1] * x[:-1]", "x - max(x)", "sum(x, axis=1)[-9:]"]
        {
            let (whole, _) = written(&folder, &[expression, &x]);
            let (pieces, _) = written(&folder, &[&[expression, &member], &limited[..]].concat());
            assert!(pieces == whole, "{expression} {is_fortran}");
        }
        let printed = |x: &str| succeeds(&[&["eval", "max(x, axis=0)", x], &limited[..]].concat());
        assert_eq!(printed(&member), printed(&x));
    }
    // Four long rows: a sum over them reads a piece of each row at a time.
    let x = bind(&folder, false, false, "(4, 65536)");
    let npy = fs::read(folder.file("x.npy")).expect("a file");
    let member = deflated(&folder, &npy);
    let (whole, _) = written(&folder, &["sum(x, axis=0)", &x]);
    let (pieces, _) = written(&folder, &["sum(x, axis=0)", &x, LIMIT[0], LIMIT[1]]);
    assert!(pieces == whole);
    let output = folder.file("z.npy").display().to_string();
    let message = fails(&["eval", "sum(x, axis=0)", &member, "-o", &output, LIMIT[0], LIMIT[1]]);
    assert!(message.starts_with("error[memory-limit]: piece by piece "), "{message}");
    let help = "help: `x` is compressed as a whole, and is read in the order of its elements alone";
    assert!(message.contains(help), "{message}");
    assert!(!folder.file("z.npy").exists());
    // A run that follows the advice succeeds within the same limit.
    let (_, advice) = message.split_once("`indim ").expect("a command");
    let (advice, _) = advice.split_once('`').expect("its end");
    let unpacked = folder.file("unpacked.npy").display().to_string();
    let advice = advice.replace("unpacked.npy", &unpacked);
    let words: Vec<&str> = advice.split_whitespace().chain(LIMIT).collect();
    succeeds(&words);
    let member_unpacked = format!("x={unpacked}");
    let (pieces, _) = written(&folder, &["sum(x, axis=0)", &member_unpacked, LIMIT[0], LIMIT[1]]);
    assert!(pieces == whole);

    // A wrong checksum is found before the result appears.
    let mut archive = fs::read(folder.file("deflated.npz")).expect("a file");
    let directory = archive.windows(4).rposition(|bytes| bytes == b"PK\x01\x02").expect("one");
    archive[directory + 16] ^= 1;
    fs::write(folder.file("deflated.npz"), archive).expect("written");
    let message = fails(&["eval", "x + 1", &member, "-o", &output, LIMIT[0], LIMIT[1]]);
    assert!(
        message.starts_with("error[bad-archive]: ") && message.contains("checksum"),
        "{message}"
    );
    assert!(!folder.file("z.npy").exists());
}

/// Several results in one file, computed in different stages; tensors as sources.
#[test]
fn results_in_archives() {
    let folder = Folder::new();
    let x = bind(&folder, false, false, "(65536, 4)");
    let statements = "low = min(x); flat = f32(sum(x, axis=1)); twice = 2 * x; back = twice + 1";
    let results = format!("{statements}; low, flat, twice, back");
    for extension in ["npz", "safetensors"] {
        let [whole, pieces] = ["whole", "pieces"].map(|name| {
            let name = format!("{name}.{extension}");
            folder.file(&name).display().to_string()
        });
        succeeds(&["eval", &results, &x, "-o", &whole]);
        let run = indim(&["eval", &results, &x, "-o", &pieces, LIMIT[0], LIMIT[1]]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{run:?}");
        for (name, expression) in [
            ("low", "min(x)"),
            ("flat", "f32(sum(x, axis=1))"),
            ("twice", "2 * x"),
            ("back", "2 * x + 1"),
        ] {
            let (expected, _) = written(&folder, &[expression, &x]);
            for archive in [&whole, &pieces] {
                let (found, _) = written(&folder, &["v", &format!("v={archive}:{name}")]);
                assert!(found == expected, "{name} in {archive}");
            }
        }
        if extension == "safetensors" {
            assert!(fs::read(&whole).expect("a file") == fs::read(&pieces).expect("a file"));
        }
        let tensor = format!("x={pieces}:twice");
        let arguments = ["sqrt(abs(x / 2))", &tensor, LIMIT[0], LIMIT[1]];
        let (expected, _) = written(&folder, &["sqrt(abs(x))", &x]);
        assert!(written(&folder, &arguments).0 == expected);
    }
    let names =
        ["pieces.npz", "pieces.safetensors", "whole.npz", "whole.safetensors", "x.npy", "y.npy"];
    assert_eq!(folder.names(), names);
    let complex = folder.file("z.safetensors").display().to_string();
    let message = fails(&["eval", "c128(x)", &x, "-o", &complex, LIMIT[0], LIMIT[1]]);
    assert!(message.starts_with("error[element-type-not-in-format]: "), "{message}");
    assert_eq!(folder.names(), names);
}

#[test]
fn what_cannot_be_cut_is_named() {
    let folder = Folder::new();
    // In the other byte order, so that the file cannot be mapped as a whole either.
    let x = bind(&folder, false, true, "(262144,)");
    let sorted = fails(&["eval", "sort(x)", &x, LIMIT[0], LIMIT[1]]);
    let expected = "`sort` needs all of axis 0 of f64[262144] at once; raise the limit";
    assert!(sorted.starts_with("error[memory-limit]: ") && sorted.contains(expected), "{sorted}");
    let arguments = ["eval", "reshape(x, [512, 512])", &x, LIMIT[0], LIMIT[1]];
    let message = fails(&arguments);
    let expected = "`reshape` needs all of axis 0 of f64[262144] at once; raise the limit";
    assert!(
        message.starts_with("error[memory-limit]: ") && message.contains(expected),
        "{message}"
    );
    assert_eq!(
        succeeds(&arguments[..3]),
        succeeds(&[&arguments[..3], &["--threads", "1"]].concat())
    );
}

#[test]
fn what_is_read_again_is_told_by_name() {
    let folder = Folder::new();
    let x = bind(&folder, false, false, "(65536, 4)");
    let y = x.replacen('x', "y", 1);
    for (expression, expected) in [
        ("mean(x, axis=0) + mean(y, axis=0)", ""),
        ("x - mean(y, axis=0)", ""),
        ("x - mean(x * y, axis=0)", "`x` is read 2 times"),
        ("(x - mean(x, axis=0)) / max(y - min(y))", "`x` is read 2 times, `y` is read 2 times"),
    ] {
        // Reductions of four elements in straight-line code may gather each of them.
        let (_, messages) = written(&folder, &[expression, &x, &y, LIMIT[0], "800KiB"]);
        let expected = match expected {
            "" => String::new(),
            names => format!("note: computed piece by piece; {names}\n"),
        };
        assert_eq!(messages, expected, "{expression}");
    }
}

#[test]
fn what_goes_in_pieces_is_explained() {
    let text = succeeds(&["explain", "x - mean(x, axis=0)", "x=f32[1000000000,8]", "--pieces"]);
    assert!(text.contains("\n  pass 1 of 2, reading x: [1000000000, 8] in "), "{text}");
    assert!(text.contains(", combined along axis 0\n  pass 2 of 2, reading x: "), "{text}");
    let types = ["a=f32[1000000,8]", "b=f32[2000000,8]", "--pieces=16MiB"];
    let text = succeeds(&[&["explain", "mean(a, axis=0) + mean(b, axis=0)"], &types[..]].concat());
    for line in [
        "pass 1 of 2, reading a: [1000000, 8]",
        "pass 2 of 2, reading b: [2000000, 8]",
        "from memory: [8]",
    ] {
        assert!(text.contains(&format!("\n  {line} in ")), "{text}");
    }
    let arguments =
        ["explain", "reshape(x, [8, 1000000000])", "x=f32[1000000000,8]", "--pieces=1GiB"];
    let message = fails(&arguments);
    assert!(message.contains("`reshape` needs all of axis "), "{message}");
}

#[test]
fn a_file_is_written_over_itself() {
    let folder = Folder::new();
    let x = bind(&folder, false, false, "(65536, 4)");
    let path = folder.file("x.npy").display().to_string();
    let (expected, _) = written(&folder, &["x * 3", &x]);
    succeeds(&["eval", "x * 3", &x, "-o", &path, LIMIT[0], LIMIT[1]]);
    assert!(fs::read(&path).expect("a file") == expected);
    assert_eq!(folder.names(), ["x.npy", "y.npy"]);
}

/// No result gets its name before all are computed, so each may be over any input.
#[test]
fn results_are_written_over_the_inputs_of_each_other() {
    let folder = Folder::new();
    let x = bind(&folder, false, false, "(65536, 4)");
    let y = folder.bind("y", "v.npy", &npy("|u1", false, "(4,)", &[1, 2, 3, 4]));
    let [first, second] = ["x * f64(y)", "x - mean(x, axis=0) + f64(y)"];
    let expected = [first, second].map(|expression| written(&folder, &[expression, &x, &y]).0);
    let outputs = ["v.npy", "x.npy"].map(|name| folder.file(name).display().to_string());
    let [a, b] = [format!("a={}", outputs[0]), format!("b={}", outputs[1])];
    let program = format!("a, b = {first}, {second}");
    let run = indim(&["eval", &program, &x, &y, "-o", &a, "-o", &b, LIMIT[0], LIMIT[1]]);
    assert_eq!(run.stderr, "note: computed piece by piece; `x` is read 2 times\n");
    for (path, expected) in outputs.iter().zip(expected) {
        assert!(fs::read(path).expect("a file") == expected, "{path}");
    }
}

/// A sparse file of zeros.
fn sparse(path: &Path, bytes: u64) {
    let header = npy("|u1", false, &format!("({bytes},)"), &[]);
    fs::write(path, &header).expect("written");
    let file = fs::File::options().write(true).open(path).expect("a file");
    file.set_len(bytes + header.len() as u64).expect("zeros");
}

#[cfg(target_os = "linux")]
mod linux {
    use std::process::Command;
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::run::binary;

    /// The limit of the address space, which includes code, stacks and the allocator, is below the input's
    /// size.
    #[test]
    fn less_memory_than_the_file_is_enough() {
        if is_emulated() {
            return;
        }
        let folder = Folder::new();
        let (x, y) = (folder.file("x.npy"), folder.file("y.npy"));
        sparse(&x, 256 << 20);
        // For each thread that meets another one in `malloc`, glibc reserves 64 MiB of address space, which
        // the limit counts. One arena makes the need the same in each run.
        let script = "ulimit -v 200000; export MALLOC_ARENA_MAX=1
            exec \"$0\" eval \"$3\" \"x=$1\" --threads 1 --memory-limit 32MiB -o \"$2\"";
        let run = |expression: &str| {
            let mut shell = Command::new("sh");
            finish(shell.args(["-c", script]).arg(binary()).args([&x, &y]).arg(expression))
        };
        for (expression, bytes) in [("min(x) + max(x)", 1), ("argmax(x)", 8), ("x + 1", 256 << 20)]
        {
            let run = run(expression);
            assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
            assert_eq!(fs::metadata(&y).expect("a file").len(), 128 + bytes);
        }
        // A program without a legal cut maps its input as a whole, which exceeds the limit.
        assert_eq!(run("reshape(x, [2, 134217728])").code, Some(1));
    }

    #[test]
    fn a_full_disk_is_an_error_before_the_work() {
        let folder = Folder::new();
        let x = bind(&folder, false, false, "(65536, 4)");
        let y = folder.file("y.npy");
        fs::write(&y, "old").expect("written");
        let script = "ulimit -f 2000; trap '' XFSZ
            exec \"$0\" eval 'x + 1' \"$1\" -o \"$2\" --memory-limit 1MiB";
        let mut shell = Command::new("sh");
        let run = finish(shell.args(["-c", script]).arg(binary()).arg(&x).arg(&y));
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.stderr.starts_with("error[io]: ") && run.stderr.contains("y.npy"), "{run:?}");
        let expected = "there is no room for 2097280 bytes";
        assert!(run.stderr.contains(expected) && run.stderr.contains("make room"), "{run:?}");
        assert_eq!(fs::read(&y).expect("a file"), b"old");
        assert_eq!(folder.names(), ["x.npy", "y.npy"]);
    }

    #[test]
    fn a_killed_run_leaves_the_old_file_and_nothing_else() {
        let folder = Folder::new();
        let (x, y) = (folder.file("x.npy"), folder.file("y.npy"));
        sparse(&x, 24 << 20);
        fs::write(&y, "old").expect("written");
        let mut killed = 0;
        for round in 0..8u64 {
            let mut child = command();
            child.args(["eval", "sqrt(f32(x)) + 1", &format!("x={}", x.display()), "-o"]).arg(&y);
            child.args(["--memory-limit", "4MiB"]).stderr(Stdio::null());
            let mut child = child.spawn().expect("runs");
            sleep(Duration::from_millis(10 * round));
            child.kill().expect("killed");
            let status = child.wait().expect("ends");
            killed += usize::from(!status.success());
            assert_eq!(folder.names(), ["x.npy", "y.npy"]);
            let length = fs::metadata(&y).expect("a file").len();
            assert!(length == 3 || length == 128 + (96 << 20), "{length}");
        }
        assert!(killed > 0, "some were killed in time");
    }

    /// An incomplete Zarr array has a hidden name. If a signal kills the run, the next result in the same
    /// folder removes it.
    #[test]
    fn a_killed_run_leaves_nothing_of_zarr_after_the_next_one() {
        let folder = Folder::new();
        let (x, y) = (folder.file("x.npy"), folder.file("y.zarr"));
        sparse(&x, 24 << 20);
        let run = |expression: &str| {
            let mut child = command();
            child.args(["eval", expression, &format!("x={}", x.display()), "-o"]).arg(&y);
            child.stderr(Stdio::null());
            child
        };
        assert!(run("min(x)").status().expect("runs").success());
        let mut left = 0;
        for round in 0..8u64 {
            let mut child = run("sqrt(f32(x)) + 1").spawn().expect("runs");
            sleep(Duration::from_millis(10 * round));
            child.kill().expect("killed");
            child.wait().expect("ends");
            let hidden = folder.names().into_iter().filter(|name| name.starts_with(".indim-"));
            left = left.max(hidden.count());
            assert!(y.join("zarr.json").is_file(), "the old array or the new one");
        }
        // A result in one file removes it too.
        for result in [folder.file("z.npy"), y.clone()] {
            let mut next = command();
            next.args(["eval", "x", "x=1", "-o"]).arg(&result);
            assert!(next.status().expect("runs").success());
            assert!(folder.names().iter().all(|name| !name.starts_with(".indim-")), "{left}");
        }
        assert_eq!(folder.names(), ["x.npy", "y.zarr", "z.npy"]);
    }

    #[test]
    fn a_full_disk_is_an_error_of_every_format() {
        let folder = Folder::new();
        let x = bind(&folder, false, false, "(65536, 4)");
        for name in ["y.npz", "y.safetensors", "y.zarr", "y.tif"] {
            let script = "ulimit -f 2000; trap '' XFSZ
                exec \"$0\" eval 'x + 1' \"$1\" -o \"$2\"";
            let mut shell = Command::new("sh");
            shell.args(["-c", script]).arg(binary()).arg(&x).arg(folder.file(name));
            let run = finish(&mut shell);
            assert_eq!(run.code, Some(1), "{name}: {run:?}");
            let has = |text: &str| run.stderr.contains(text);
            assert!(run.stderr.starts_with("error[io]: ") && has(name), "{run:?}");
            assert!(has("make room, or write to another disk"), "{run:?}");
            assert_eq!(folder.names(), ["x.npy"]);
        }
    }

    /// A control group with a memory limit, if the system permits one.
    struct Group(std::path::PathBuf);

    impl Group {
        /// Version 2 needs a sibling of the own group, because a group with processes has no subgroups;
        /// version 1 needs a child.
        fn new(bytes: usize) -> Option<Group> {
            let own = fs::read_to_string("/proc/self/cgroup").ok()?;
            let of = |prefix: &str| {
                own.lines()
                    .find_map(|line| line.split_once(prefix))
                    .map(|(_, path)| path.to_owned())
            };
            let root = Path::new("/sys/fs/cgroup");
            let name = format!("indim-test-{}", std::process::id());
            let below = |root: &Path, path: &str| root.join(path.trim_start_matches('/'));
            let version_2 = root.join("cgroup.controllers").is_file().then(|| of("0::")).flatten();
            let (folder, limit) = match (version_2, of(":memory:")) {
                (Some(path), _) => {
                    let own = below(root, &path);
                    (
                        own.parent().filter(|it| it.starts_with(root)).unwrap_or(root).join(name),
                        "memory.max",
                    )
                }
                (None, Some(path)) => {
                    (below(&root.join("memory"), &path).join(name), "memory.limit_in_bytes")
                }
                (None, None) => return None,
            };
            fs::create_dir(&folder).ok()?;
            let group = Group(folder);
            fs::write(group.0.join(limit), bytes.to_string()).ok()?;
            // Without this, swapped memory would not count.
            let _ = fs::write(group.0.join("memory.swap.max"), "0");
            let mut member = Command::new("sh");
            member.args(["-c", "echo $$ > \"$0\""]).arg(group.processes()).stderr(Stdio::null());
            member.status().ok()?.success().then_some(group)
        }

        /// The file to which a process writes its identifier to join the group.
        fn processes(&self) -> std::path::PathBuf {
            self.0.join("cgroup.procs")
        }
    }

    impl Drop for Group {
        fn drop(&mut self) {
            let _ = fs::remove_dir(&self.0);
        }
    }

    /// The input exceeds the memory of the group, which includes cached pages of files.
    #[test]
    fn a_control_group_with_less_memory_than_the_file_is_enough() {
        const GROUP_BYTES: usize = 80 << 20;
        if is_emulated() {
            return;
        }
        let Some(group) = Group::new(GROUP_BYTES) else {
            eprintln!("NOT TESTED: a control group, which this system lets us not make");
            return;
        };
        let folder = Folder::new();
        let (x, y) = (folder.file("x.npy"), folder.file("y.npy"));
        sparse(&x, 192 << 20);
        let run = |expression: &str| {
            let script = "echo $$ > \"$4\"
                exec \"$0\" eval \"$3\" \"x=$1\" --threads 1 --memory-limit 32MiB -o \"$2\"";
            let mut shell = Command::new("sh");
            shell.args(["-c", script]).arg(binary()).args([&x, &y]).arg(expression);
            finish(shell.arg(group.processes()))
        };
        for (expression, bytes) in [("min(x) + max(x)", 1), ("x + 1", 192 << 20)] {
            let run = run(expression);
            assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
            assert_eq!(fs::metadata(&y).expect("a file").len(), 128 + bytes);
        }
        // Proof that the limit holds: `tail` keeps this line in memory, exceeds the limit and is killed.
        let script = "echo $$ > \"$0\"; head -c 134217728 /dev/zero | tail > /dev/null";
        let mut shell = Command::new("sh");
        assert_ne!(finish(shell.args(["-c", script]).arg(group.processes())).code, Some(0));
    }

    /// A file that is truncated while regions of it are read gives an error, not a signal.
    #[test]
    fn a_file_that_becomes_shorter_is_an_error() {
        if is_emulated() {
            return;
        }
        let folder = Folder::new();
        let (x, pipe) = (folder.file("x.npy"), folder.file("pipe"));
        sparse(&x, 24 << 20);
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("runs").success());
        let mut child = command();
        child.args(["eval", "x + 1", &format!("x={}", x.display()), "-o"]).arg(&pipe);
        child.args(["--memory-limit", "4MiB"]).stderr(Stdio::piped());
        let child = child.spawn().expect("runs");
        // The command blocks before the computation, until a reader opens the pipe.
        let (files, start) = (format!("/proc/{}/fd", child.id()), Instant::now());
        let has_opened = || {
            let files = fs::read_dir(&files).into_iter().flatten().flatten();
            files.into_iter().any(|file| fs::read_link(file.path()).is_ok_and(|to| to == x))
        };
        // It has checked the length of the file when it sleeps at the pipe.
        let status = format!("/proc/{}/status", child.id());
        let sleeps = || fs::read_to_string(&status).is_ok_and(|text| text.contains("State:\tS"));
        let mut asleep = 0;
        while asleep < 50 {
            assert!(start.elapsed() < Duration::from_secs(120), "it is not opened");
            sleep(Duration::from_millis(2));
            asleep = if has_opened() && sleeps() { asleep + 1 } else { 0 };
        }
        fs::File::options().write(true).open(&x).expect("a file").set_len(4096).expect("cut");
        let reader = std::thread::spawn(move || fs::read(&pipe));
        let output = child.wait_with_output().expect("ends");
        drop(reader);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.starts_with("error[file-changed]: "), "{message}");
    }
}

/// A program in a model file is streamed too.
#[test]
fn a_program_of_another_system() {
    let folder = Folder::new();
    let x = bind(&folder, false, false, "(65536, 4)");
    let program = "func.func @main(%x: tensor<65536x4xf64>) -> tensor<65536x4xf64> {\n  \
                   %y = stablehlo.exponential %x : tensor<65536x4xf64>\n  \
                   return %y : tensor<65536x4xf64>\n}\n";
    fs::write(folder.file("p.mlir"), program).expect("written");
    let (program, y) = (folder.file("p.mlir"), folder.file("z.npy"));
    let run = indim(&[
        "run",
        &program.display().to_string(),
        x.strip_prefix("x=").expect("a binding"),
        "-o",
        &y.display().to_string(),
        LIMIT[0],
        LIMIT[1],
    ]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let (expected, _) = written(&folder, &["exp(x)", &x]);
    assert!(fs::read(y).expect("a file") == expected);
}
