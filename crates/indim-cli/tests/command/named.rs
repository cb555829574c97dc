//! Axis names: in types, behind sources, and in Zarr arrays.

use crate::run::{Folder, fails, fails_with, indim, succeeds};

const X: &str = "x=[[1., 2, 3], [4, 5, 7]][time, lat]";

fn eval(expression: &str, inputs: &[&str], rest: &[&str]) -> String {
    let arguments = [&["eval", expression], inputs, &["--rule", "named"], rest].concat();
    succeeds(&arguments)
}

#[test]
fn explain_draws_and_names_the_axes() {
    let (x, m) = ("x=f32[time: 8760, lat: 721]", "m=f32[lat:721,time:8760]");
    let text = succeeds(&["explain", "x - m", x, m, "--rule", "named"]);
    assert!(text.contains("result[i0, i1] = sub(x[i0, i1], m[i1, i0])"), "{text}");
    assert!(
        text.ends_with("axes of the results\n  sub(x, m, dims=[1, 0]) [time, lat]\n"),
        "{text}"
    );
    let symbolic = ["x=f32[time: n, lat: 721]", "m=f32[lat: 721]"];
    let text = succeeds(&["explain", "x - m", symbolic[0], symbolic[1], "--rule", "named"]);
    assert!(text.contains("x: [n, 721], m: [721]; n >= 2"), "{text}");
}

#[test]
fn bare_shapes_have_names_too() {
    let text = succeeds(&["explain", "--rule", "named", "f32[t: 2, y: 3]", "[y: 3, t: 2]"]);
    assert!(text.contains("broadcast_in_dim(operand 1 [3, 2], dims=[1, 0]) -> [2, 3]"), "{text}");
    let conversion =
        succeeds(&["convert", "--from", "named", "--to", "numpy", "[t: 2, y: 3]", "[t: 2]"]);
    assert_eq!(conversion, "numpy, operand 1 reshaped to [2, 1]\n");
    let conversion =
        succeeds(&["convert", "--from", "pdpd", "--axis", "0", "--to", "named", "2x3", "2"]);
    assert_eq!(conversion, "named names=[[i0, i1], [i0]]\n");
    let refused = indim(&["explain", "--rule", "numpy", "[t: 2, y: 3]", "[y: 3]"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("rule numpy takes no `names`"), "{refused:?}");
}

#[test]
fn sources_say_what_their_axes_are_called() {
    assert_eq!(
        eval("x - mean(x, axis=time)", &[X], &[]),
        "[[-1.5 -1.5 -2. ]\n [ 1.5  1.5  2. ]]\n"
    );
    let m = "m=[10, 20, 30][lat]";
    assert_eq!(eval("m + x", &[X, m], &[]), "[[11. 14.]\n [22. 25.]\n [33. 37.]]\n");
    let folder = Folder::new();
    let file = folder.file("x.npy");
    succeeds(&["eval", "x", "x=[[1, 2], [3, 4]]", "-o", &file.display().to_string()]);
    let source = format!("x={}[time, lat]", file.display());
    assert_eq!(eval("sum(x, axis=lat)", &[&source], &[]), "[3 7]\n");
    // The name of a file may end like this.
    let odd = folder.file("x.npy[time]");
    std::fs::copy(&file, &odd).expect("a copy");
    let odd = format!("x={}", odd.display());
    assert_ne!(indim(&["eval", "x", &odd]).code, Some(2));
}

#[test]
fn zarr_arrays_bring_their_names() {
    let folder = Folder::new();
    let path = |name: &str| folder.file(name).display().to_string();
    let array = path("x.zarr");
    succeeds(&["eval", "x", "x=[[1., 2, 3], [4, 5, 7]]", "-o", &array]);
    let metadata = folder.file("x.zarr").join("zarr.json");
    let text = std::fs::read_to_string(&metadata).expect("metadata");
    let open = text.find('{').expect("an object") + 1;
    let named =
        format!("{}\"dimension_names\": [\"time\", \"lat\"],{}", &text[..open], &text[open..]);
    std::fs::write(&metadata, named).expect("metadata is written");
    let source = format!("x={array}");
    assert_eq!(eval("sum(x, axis=time)", &[&source], &[]), "[ 5.  7. 10.]\n");
    // A result stores the names of its axes.
    let output = path("turned.zarr");
    eval("w * x", &[&source, "w=[[1, 2], [3, 4], [5, 6]][lat, time]"], &["-o", &output]);
    let turned =
        std::fs::read_to_string(folder.file("turned.zarr").join("zarr.json")).expect("metadata");
    let turned: serde_json::Value = serde_json::from_str(&turned).expect("JSON");
    assert_eq!(turned["dimension_names"], serde_json::json!(["lat", "time"]));
    // Without rule `named`, axis names still select the axis of a reduction.
    assert_eq!(succeeds(&["eval", "sum(x, axis=time)", &source]), "[ 5.  7. 10.]\n");
    assert_eq!(
        eval("x * m", &[&source, "m=[10, 100][time]"], &[]),
        "[[ 10.  20.  30.]\n [400. 500. 700.]]\n"
    );
}

#[test]
fn mistakes_name_the_axis_and_both_sizes() {
    let (x, m) = ("x=f32[time: 8760, lat: 721]", "m=f32[lat: 1]");
    let drawn = fails(&["explain", "x - m", x, m, "--rule", "named"]);
    assert!(drawn.starts_with("error[size-mismatch]"), "{drawn}");
    assert!(drawn.contains("axis `lat` of `m` is 1, axis `lat` of `x` is 721"), "{drawn}");
    assert!(
        drawn.contains("rule D3: axes of the same name have the same size; 1 does not expand"),
        "{drawn}"
    );
    for (arguments, code) in [
        (&["eval", "x - m", X, "m=[1, 2, 3]", "--rule", "named"][..], "axis-name-missing"),
        (&["eval", "x", "x=[[1, 2]][t, t]", "--rule", "named"], "axis-name-repeated"),
        (&["eval", "x", "x=[[1, 2]][t]", "--rule", "named"], "dims-length-mismatch"),
        (&["eval", "sum(x, axis=lon)", X, "--rule", "named"], "unknown-axis-name"),
        (&["eval", "x - m", X, "m=[1, 2, 3][lat]"], "axis-names-not-taken"),
        (&["explain", "x", "x=f32[time: 3]"], "axis-names-not-taken"),
        (&["explain", "x", "x=f32[time: 3, 4]", "--rule", "named"], "bad-shape"),
    ] {
        fails_with(code, arguments);
    }
    let long = format!("x=f32[{}: 3]", "t".repeat(100_000));
    let refused = indim(&["explain", "x", &long, "--rule", "named"]);
    assert!(refused.code == Some(1) && refused.stderr.len() < 2000, "{}", refused.stderr.len());
}
