//! Arrays in files and folders of other formats: Zarr, PNG, TIFF, CSV.

use std::fs;
use std::path::Path;

use zip::ZipArchive;

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
    // Two results in a group of their own; what is there and no array stays.
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

#[test]
fn pictures_in_and_out() {
    let samples = samples();
    let output = samples.file("y.png");
    succeeds(&eval("u8(255) - x", &samples.file("png/RGB.png"), Some(&output)));
    assert_eq!(succeeds(&eval("x[0, 0]", &output, None)), "[255 218 181]\n");
    let error = fails(&eval("f32(x)", &samples.file("png/L.png"), Some(&samples.file("z.png"))));
    assert!(
        error.contains("error[not-a-picture]") && error.contains("u8(clip(x * 255, 0, 255))"),
        "{error}"
    );
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
    assert!(error.contains("line 2: `Ann` in column `name` is no number"), "{error}");
    assert!(fails(&eval("x", &table, None)).contains("the columns are name, height"));
}

/// What is larger than the limit goes piece by piece, with the same result.
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

/// A signal leaves nothing behind.
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
    // The beginning of an array, whose end never comes.
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
