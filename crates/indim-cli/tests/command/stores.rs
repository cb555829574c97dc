//! Arrays of other formats: Zarr, PNG, TIFF, CSV.

use std::fs;
use std::path::Path;

use zip::ZipArchive;

#[cfg(unix)]
use crate::run::with_default_signals;
use crate::run::{Folder, binary, command, fails, fails_with, finish, succeeds};

/// The samples of `indim-stores`, unpacked.
fn samples() -> Folder {
    let folder = Folder::new();
    let archive = "../indim-stores/tests/data/samples.zip";
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join(archive);
    let mut archive =
        ZipArchive::new(fs::File::open(archive).expect("samples")).expect("an archive");
    for index in 0..archive.len() {
        let mut member = archive.by_index(index).expect("a member");
        let name = member.enclosed_name().expect("a name");
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        let mut file = fs::File::create(path).expect("a file");
        std::io::copy(&mut member, &mut file).expect("unpacked");
    }
    folder
}

fn eval(expression: &str, source: &Path, output: Option<&Path>) -> Vec<String> {
    let mut arguments = vec!["eval".to_owned(), expression.to_owned()];
    arguments.push(format!("x={}", source.display()));
    arguments.extend(output.iter().flat_map(|path| ["-o".to_owned(), path.display().to_string()]));
    arguments
}

#[test]
fn zarr_in_and_out() {
    let samples = samples();
    for version in ["v2", "v3"] {
        let array = samples.file(&format!("zarr/group-{version}/climate/temperature"));
        let run = finish(command().args(eval("mean(x, axis=0)", &array, None)));
        assert_eq!(run.stdout, "[14. 15. 16. 17. 18. 19. 20.]\n");
        assert!(
            run.stderr.starts_with("note: `x`: its attributes scale_factor, add_offset"),
            "{}",
            run.stderr
        );
        let output = samples.file("out.zarr");
        let run = finish(command().args(eval("x * i16(2)", &array, Some(&output))));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let metadata = fs::read_to_string(output.join("zarr.json")).expect("metadata");
        assert!(metadata.contains("dimension_names") && metadata.contains("time"), "{metadata}");
        assert_eq!(succeeds(&eval("x[4]", &output, None)), "[56 58 60 62 64 66 68]\n");
        let error = fails(&eval("x", &samples.file(&format!("zarr/group-{version}")), None));
        assert!(error.contains("there are climate"), "{error}");
    }
    // Two results in a new group; the existing folder that is not an array stays.
    let source = samples.file("png/L.png");
    let group = samples.file("g.zarr");
    let mut arguments = eval("low, high = min(x, axis=0), max(x, axis=0)", &source, None);
    for name in ["low", "high"] {
        arguments.extend(["-o".to_owned(), format!("{name}={}", group.join(name).display())]);
    }
    succeeds(&arguments);
    assert_eq!(succeeds(&eval("x[0]", &group.join("low"), None)), "0\n");
    fails_with("zarr-in-place", &eval("x", &source, Some(&group)));
    fails_with("io", &eval("x", &samples.file("nothing.zarr"), None));
}

/// The folder of one result would replace the other result.
#[test]
fn a_result_inside_the_folder_of_another_is_refused() {
    let samples = samples();
    let (outer, source) = (samples.file("o.zarr"), samples.file("png/L.png"));
    for inner in ["b", "b.npy"] {
        let mut outputs =
            [format!("low={}", outer.display()), format!("high={}", outer.join(inner).display())];
        for _ in 0..2 {
            let mut arguments = eval("low, high = min(x, axis=0), max(x, axis=0)", &source, None);
            outputs.iter().for_each(|output| arguments.extend(["-o".to_owned(), output.clone()]));
            let error = fails(&arguments);
            assert!(!outer.exists(), "{error}");
            outputs.reverse();
        }
    }
    fs::create_dir(&outer).expect("a folder");
    let outputs =
        [format!("low={}", outer.display()), format!("high={}", outer.join("b.npy").display())];
    let mut arguments = eval("low, high = min(x, axis=0), max(x, axis=0)", &source, None);
    outputs.iter().for_each(|output| arguments.extend(["-o".to_owned(), output.clone()]));
    fails_with("duplicate-output", &arguments);
    assert_eq!(fs::read_dir(&outer).expect("the folder").count(), 0);
}

#[test]
fn pictures_in_and_out() {
    let samples = samples();
    let output = samples.file("y.png");
    succeeds(&eval("u8(255) - x", &samples.file("png/RGB.png"), Some(&output)));
    assert_eq!(succeeds(&eval("x[0, 0]", &output, None)), "[255 218 181]\n");
    let error = fails(&eval("f32(x)", &samples.file("png/L.png"), Some(&samples.file("z.png"))));
    assert!(
        error.contains("error[not-an-image]") && error.contains("u8(clip(x * 255, 0, 255))"),
        "{error}"
    );
    let error = fails(&eval("x[0]", &samples.file("png/L.png"), Some(&samples.file("z.png"))));
    assert!(error.contains("error[not-an-image]") && error.contains("x[None]"), "{error}");
    assert!(!samples.file("z.png").exists());
    fails_with("unknown-format", &eval("x", &output, Some(&samples.file("z.jpg"))));
    fails_with("several-pages", &eval("x", &samples.file("tiff/pages.tif"), None));
    let page = samples.file("tiff/pages.tif:2");
    assert_eq!(succeeds(&eval("x[0]", &page, None)), "[2 3 4 5 6 7 8]\n");
}

#[test]
fn a_vegetation_index_keeps_its_place_on_the_earth() {
    let samples = samples();
    let (bands, output) = (samples.file("tiff/geo.tif"), samples.file("ndvi.tif"));
    let index = "nir, red = f32(x[..., 3]), f32(x[..., 2]); (nir - red) / (nir + red)";
    succeeds(&eval(index, &bands, Some(&output)));
    let [tags, expected] = [&output, &bands].map(|path| fs::read(path).expect("a file"));
    let name = b"WGS 84 / UTM zone 33N";
    let has_name = |file: &[u8]| file.windows(name.len()).any(|window| window == name);
    assert!(has_name(&expected) && has_name(&tags));
    let run = finish(command().args(eval("x[1:]", &bands, Some(&output))));
    assert!(run.stderr.contains("place on the earth is not written"), "{}", run.stderr);
}

/// A GeoTIFF of 3 rows of 3 bytes, with pixels of 10 by 10 metres.
fn square_grid() -> Vec<u8> {
    const SCALE_AT: u32 = 200;
    const ELEMENTS_AT: u32 = 230;
    let (short, long, double) = (3_u16, 4_u16, 12_u16);
    let tags = [
        (256, short, 1, 3),
        (257, short, 1, 3),
        (258, short, 1, 8),
        (259, short, 1, 1),
        (262, short, 1, 1),
        (273, long, 1, ELEMENTS_AT),
        (277, short, 1, 1),
        (278, short, 1, 3),
        (279, long, 1, 9),
        (33550, double, 3, SCALE_AT),
    ];
    let mut file = b"II*\0\x08\0\0\0".to_vec();
    file.extend((tags.len() as u16).to_le_bytes());
    for (tag, of_type, count, value) in tags {
        file.extend(u16::to_le_bytes(tag).into_iter().chain(of_type.to_le_bytes()));
        file.extend(u32::to_le_bytes(count).into_iter().chain(u32::to_le_bytes(value)));
    }
    file.resize(SCALE_AT as usize, 0);
    file.extend([10.0, 10.0, 0.0].iter().flat_map(|size: &f64| size.to_le_bytes()));
    file.resize(ELEMENTS_AT as usize, 0);
    file.extend(1..=9);
    file
}

#[test]
fn a_grid_that_is_turned_has_no_place_on_the_earth() {
    let folder = Folder::new();
    let (grid, output) = (folder.file("grid.tif"), folder.file("y.tif"));
    fs::write(&grid, square_grid()).expect("written");
    let note = "place on the earth is not written";
    let scale = 10_f64.to_le_bytes().repeat(2);
    for (expression, is_kept) in [
        ("x * 2", true),
        ("transpose(x)", false),
        ("transpose(x) + 1", false),
        ("x + transpose(x)", true),
    ] {
        let run = finish(command().args(eval(expression, &grid, Some(&output))));
        assert_eq!(run.stderr.contains(note), !is_kept, "{expression}: {}", run.stderr);
        let written = fs::read(&output).expect("a file");
        let has_scale = written.windows(scale.len()).any(|window| window == scale);
        assert_eq!(has_scale, is_kept, "{expression}");
    }
}

#[test]
fn columns_of_tables() {
    let samples = samples();
    let table = samples.file("t.csv");
    fs::write(&table, "name;height\nAnn;1.5\nBo;\n").expect("written");
    let column = samples.file("t.csv:height");
    let run = finish(command().args(eval("x * 2", &column, None)));
    assert_eq!(run.stdout, "[ 3. nan]\n");
    assert!(
        run.stderr.contains("note: `x`: 1 empty field is NaN, the first in line 3"),
        "{}",
        run.stderr
    );
    let error = fails(&eval("x", &samples.file("t.csv:name"), None));
    assert!(error.contains("line 2: `Ann` in column `name` is not a number"), "{error}");
    assert!(fails(&eval("x", &table, None)).contains("the columns are name, height"));
}

/// Arrays above the limit are streamed, with the same result.
#[test]
fn large_arrays_are_computed_piece_by_piece() {
    let folder = Folder::new();
    let (source, output) = (folder.file("x.zarr"), folder.file("y.zarr"));
    let make = ["eval".to_owned(), "iota(f32, [3000, 1000], axis=0)".to_owned()];
    let to = |path: &Path| ["-o".to_owned(), path.display().to_string()];
    succeeds(&[&make[..], &to(&source)].concat());
    for name in ["y.zarr", "y.tif", "y.npy"] {
        let output = folder.file(name);
        let mut arguments = eval("sqrt(x) + mean(x, axis=1)[:, None]", &source, Some(&output));
        arguments.extend([
            "--memory-limit".to_owned(),
            "64MiB".to_owned(),
            "--threads=2".to_owned(),
        ]);
        succeeds(&arguments);
        assert_eq!(succeeds(&eval("x[4, :2]", &output, None)), "[6. 6.]\n", "{name}");
    }
    let mut arguments = eval("x + 1", &source, Some(&output));
    arguments.extend(["--memory-limit".to_owned(), "1KiB".to_owned()]);
    fails_with("memory-limit", &arguments);
}

/// Chunks and strips of results fit the limit; the error of a limit that is too low states it.
#[test]
fn results_are_in_chunks_that_fit_the_limit() {
    let folder = Folder::new();
    let source = folder.file("x.npy");
    let make = ["eval".to_owned(), "iota(f32, [400, 1000], axis=0)".to_owned()];
    succeeds(&[&make[..], &["-o".to_owned(), source.display().to_string()]].concat());
    let within = |name: &str, limit: &str| {
        let mut arguments = eval("x + 1", &source, Some(&folder.file(name)));
        arguments.extend(["--memory-limit", limit, "--threads=2"].map(str::to_owned));
        finish(command().args(arguments))
    };
    for (name, limit) in [("y.zarr", "2MiB"), ("new.zarr/group/y", "2MiB"), ("y.tif", "800KiB")] {
        let run = within(name, limit);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let is_noted = run.stderr.contains("f32[400, 1000] is written in chunks of [");
        assert_eq!(is_noted, name.contains("zarr"), "{}", run.stderr);
        let last = succeeds(&eval("x[399, :2]", &folder.file(name), None));
        assert_eq!(last, "[400. 400.]\n", "{name}");
    }
    for name in ["y.zarr", "y.tif"] {
        let refused = within(name, "100KiB").stderr;
        let enough =
            refused.split("needs a limit of ").nth(1).and_then(|rest| rest.split(' ').next());
        let run = within(name, enough.unwrap_or_else(|| panic!("{refused}")));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
    }
}

/// Inputs and results that fit the limit, but not together with temporaries, are streamed too.
#[test]
fn a_limit_just_above_the_data_does() {
    let folder = Folder::new();
    // In the other byte order, so the file is not mapped.
    let source = folder.file("x.npy");
    let bytes = crate::run::npy(">f4", false, "(3000, 200)", &vec![0; 2_400_000]);
    std::fs::write(&source, bytes).expect("written");
    for limit in ["2401000", "2420000", "2500000", "2600000", "2800000"] {
        let mut arguments = eval("nanmean(x + 1, axis=0)", &source, None);
        arguments.extend(["--memory-limit", limit, "--threads=2"].map(str::to_owned));
        let run = finish(command().args(arguments));
        assert_eq!(run.code, Some(0), "{limit}: {}", run.stderr);
    }
}

/// A signal leaves no incomplete file.
#[test]
#[cfg(unix)]
fn a_killed_command_leaves_no_folder() {
    use std::process::{Command, Stdio};
    let folder = Folder::new();
    let output = folder.file("y.zarr");
    let mut child = Command::new(binary())
        .args(["eval", "x + 1", "x=-", "-o", &output.display().to_string()])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("started");
    // The beginning of an array that stays incomplete.
    let begun = crate::run::npy("<f4", false, "(1000000,)", &vec![0; 400_000]);
    std::io::Write::write_all(child.stdin.as_mut().expect("a pipe"), &begun).expect("written");
    let hidden = || folder.names().iter().any(|name| name.starts_with(".indim-"));
    while !hidden() && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(hidden());
    let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(killed.expect("kill").success());
    assert!(!child.wait().expect("ended").success());
    assert_eq!(folder.names(), [""; 0]);
}

/// Metadata of an array of `u8` in chunks that are not compressed.
fn zarr(folder: &Path, shape: &str, chunk: &str) {
    let metadata = format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":{shape},"data_type":"uint8","fill_value":7,
        "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":{chunk}}}}},
        "chunk_key_encoding":{{"name":"default"}},"codecs":[{{"name":"bytes"}}],"attributes":{{}}}}"#
    );
    fs::create_dir_all(folder.join("c")).expect("a folder");
    fs::write(folder.join("zarr.json"), metadata).expect("written");
}

/// A signal leaves no incomplete file while chunks are written either.
#[test]
#[cfg(unix)]
fn a_command_that_is_killed_while_it_writes_leaves_no_folder() {
    use std::process::{Command, Stdio};
    let folder = Folder::new();
    let source = folder.file("x.zarr");
    zarr(&source, "[4194304]", "[64]");
    for _ in 0..6 {
        let mut run = Command::new(binary());
        run.args(eval("x + x", &source, Some(&folder.file("y.zarr")))).stderr(Stdio::null());
        let mut child = with_default_signals(&mut run).spawn().expect("started");
        // Waits until some chunks are written.
        let writes = || {
            let entries = fs::read_dir(folder.path()).expect("a folder").flatten();
            let mut hidden =
                entries.filter(|it| it.file_name().as_encoded_bytes().starts_with(b".indim-"));
            hidden.any(|it| fs::read_dir(it.path().join("c")).is_ok_and(|c| c.count() > 100))
        };
        while !writes() && child.try_wait().expect("a child").is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(killed.expect("kill").success());
        assert!(!child.wait().expect("ended").success());
        assert_eq!(folder.names(), ["x.zarr"]);
    }
}

#[test]
fn pieces_of_a_file_are_explained_with_its_chunks() {
    let folder = Folder::new();
    let source = folder.file("x.zarr");
    fs::create_dir(&source).expect("a folder");
    zarr(&source, "[4194304, 3]", "[1, 3]");
    let text = succeeds(&[
        "explain",
        "x - f32(mean(x, axis=0))",
        &format!("x={}", source.display()),
        "--pieces=64MiB",
    ]);
    assert!(text.contains("\n  pass 2 of 2, reading x: [4194304, 3] in "), "{text}");
    assert!(text.ends_with("\n  chunks of x are decoded 2.0 times on average\n"), "{text}");
}

/// The decoder's memory for a chunk counts in addition to the array; the limit that the message states
/// suffices.
#[test]
fn decoding_is_within_the_limit() {
    let folder = Folder::new();
    let (source, image) = (folder.file("x.zarr"), folder.file("x.png"));
    zarr(&source, "[8388608]", "[8388608]");
    fs::write(source.join("c/0"), vec![1; 8 << 20]).expect("written");
    let arguments = |limit: &str| {
        let limit = ["--memory-limit".to_owned(), limit.to_owned()];
        [eval("max(x)", &source, None), limit.to_vec()].concat()
    };
    // The chunk exceeds the first limit; chunk and array together exceed the second.
    for limit in ["7MiB", "9MiB"] {
        let error = fails(&arguments(limit));
        assert!(error.contains("error[memory-limit]"), "{error}");
        let enough = error.split("a limit of ").nth(1).and_then(|rest| rest.split(' ').next());
        let run = finish(command().args(arguments(enough.expect("a limit"))));
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), "1\n"), "{error}");
        // Each piece decodes the one chunk of the array.
        assert!(run.stderr.is_empty() || run.stderr.starts_with("warning: "), "{}", run.stderr);
    }
    // An image is read row by row, even if the limit is far smaller.
    succeeds(&[
        "eval",
        "u8(iota(i64, [2048, 2048], axis=1) % 251)",
        "-o",
        &image.display().to_string(),
    ]);
    let mut rows = eval("max(x, axis=0)[:3], sum(u64(x))", &image, None);
    rows.extend(["--memory-limit".to_owned(), "3MiB".to_owned()]);
    let run = finish(command().args(rows));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}
