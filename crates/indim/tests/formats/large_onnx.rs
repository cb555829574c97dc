//! Large ONNX files, whose constants stay in the file until a program is compiled.

use std::fs;

use indim::formats::{
    LoadedModel, ModelFormat, ReadOptions, WriteOptions, open_model, save, write,
};
use indim::{Array, ArrayView, DType, GraphBuilder};

/// Writes `x @ w + 1` with weights of 1.4 MB to `path`.
fn write_model(path: &std::path::Path, scale: f32) -> Array {
    let b = GraphBuilder::new();
    let elements: Vec<f32> = (0..600 * 600).map(|it| scale * (it % 71) as f32).collect();
    let weights = Array::new([600, 600], elements).unwrap();
    let x = b.parameter("x", DType::F32, [2, 600]).unwrap();
    let product = b.matmul(x, b.constant(weights.clone())).unwrap();
    let graph = b.finish(&[product + 1.0]).unwrap();
    let outputs = ["y".to_owned()];
    save(&write(ModelFormat::Onnx, &graph, &outputs, &WriteOptions::default()).unwrap(), path)
        .unwrap();
    weights
}

fn run(model: &LoadedModel) -> Vec<f32> {
    let ones = vec![1.0_f32; 1200];
    let x = ArrayView::from_slice([2, 600], &ones).unwrap();
    model.run(&[Some(x)]).unwrap()[0].elements::<f32>().unwrap().to_vec()
}

/// The sums of the columns, plus one. They are exact.
fn expected(weights: &Array) -> Vec<f32> {
    let elements = weights.elements::<f32>().unwrap();
    let sum = |column: usize| 1.0 + elements.iter().skip(column).step_by(600).sum::<f32>();
    (0..1200).map(|index| sum(index % 600)).collect()
}

#[test]
fn constants_stay_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.onnx");
    let weights = write_model(&path, 1.0);
    let content = fs::read(&path).unwrap();
    let source = open_model(&path).unwrap();
    assert!(source.bytes().len() < 4096, "{} bytes", source.bytes().len());
    assert_eq!(source.whole_bytes().unwrap(), content);
    let model = LoadedModel::from_source(source, &ReadOptions::default()).unwrap();
    assert_eq!(run(&model), expected(&weights));
    let whole = LoadedModel::from_bytes("large.onnx", content).unwrap();
    assert_eq!(run(&whole), expected(&weights));
}

#[test]
fn another_file_in_its_place_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.onnx");
    let weights = write_model(&path, 1.0);
    let model = LoadedModel::open(&path).unwrap();
    // A new file takes the name; on Windows this fails while the model is open.
    if cfg!(unix) {
        write_model(&path, 2.0);
    }
    assert_eq!(run(&model), expected(&weights));
}

#[test]
fn a_changed_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.onnx");
    write_model(&path, 1.0);
    let model = LoadedModel::open(&path).unwrap();
    let mut content = fs::read(&path).unwrap();
    content.push(0);
    fs::write(&path, content).unwrap();
    let ones = vec![1.0_f32; 1200];
    let error = model.run(&[Some(ArrayView::from_slice([2, 600], &ones).unwrap())]).unwrap_err();
    assert!(error.to_string().contains("has changed since the model was loaded"), "{error}");
    assert!(model.source().whole_bytes().is_err());
}

#[test]
fn small_files_and_damaged_ones_are_read_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.onnx");
    write_model(&path, 1.0);
    let mut content = fs::read(&path).unwrap();
    content.truncate(1 << 19);
    fs::write(&path, &content).unwrap();
    assert_eq!(open_model(&path).unwrap().bytes(), content);
    assert!(open_model(folder.path().join("absent.onnx")).is_err());
}
