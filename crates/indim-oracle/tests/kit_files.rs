//! Model files of kits, read back: a legal case gives the expected result, an illegal one an error with the
//! expected label.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use indim::formats::FormatErrorKind;
use indim::formats::{
    Folder, LoadError, LoadErrorKind, LoadedModel, ModelFormat, ReadOptions, SourceFile,
};
use indim::{Array, ArrayView};
use indim_oracle::{Kit, KitCase, native_rules};

/// The single companion file of a model.
struct Companion(String, Bytes);

impl Folder for Companion {
    fn read(&self, name: &str) -> io::Result<Bytes> {
        if name == self.0 { Ok(self.1.clone()) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

fn run(case: &KitCase, format: ModelFormat) -> Result<Vec<Array>, LoadError> {
    let written = case.file(format).expect("the format has the rule");
    assert_eq!(ModelFormat::of(&written.content), Some(format));
    let mut source = SourceFile::new("model.xml", written.content);
    if let Some((name, content)) = written.external_file {
        source = source.with_folder(Arc::new(Companion(name, content.into())));
    }
    let model = LoadedModel::from_source(source, &ReadOptions::default())?;
    let operands: Vec<_> = case.operands().iter().map(|it| Some(ArrayView::from(it))).collect();
    model.run(&operands)
}

fn label(error: &LoadError) -> Option<&'static str> {
    match &error.kind {
        LoadErrorKind::Format(error) => match &error.kind {
            FormatErrorKind::Graph(error) => error.label(),
            _ => None,
        },
        _ => None,
    }
}

fn read_back(format: ModelFormat) {
    assert!(native_rules(format).len() > 1);
    for rule in native_rules(format) {
        let mut legal = 0;
        for case in Kit::of_files(*rule, 5, format).unwrap().take(200) {
            match (run(&case, format), case.expected()) {
                (Ok(results), Some(expected)) => {
                    let found = &results[0];
                    assert_eq!(
                        *found.array_type(),
                        expected.array_type().clone(),
                        "{}",
                        case.line()
                    );
                    assert_eq!(found.bytes(), expected.to_le_bytes(), "{}", case.line());
                    legal += 1;
                }
                // Readers report wrong element types by codes of their own.
                (Err(_), None) if case.label().is_some_and(|it| it.starts_with("TY")) => {}
                (Err(error), None) => {
                    assert_eq!(label(&error), case.label(), "{}\n{}", case.line(), error.draw());
                }
                (Ok(_), None) => panic!("taken: {}", case.line()),
                (Err(error), Some(_)) => panic!("{}\n{}", error.draw(), case.line()),
            }
        }
        assert!((100..170).contains(&legal), "{rule}: {legal} of 200 are legal");
    }
}

#[test]
fn onnx() {
    read_back(ModelFormat::Onnx);
}

#[test]
fn openvino() {
    read_back(ModelFormat::OpenVino);
}

#[test]
fn stablehlo() {
    read_back(ModelFormat::StableHlo);
}

#[test]
fn hlo() {
    read_back(ModelFormat::Hlo);
}

#[test]
fn a_rule_that_a_format_has_not_has_no_files() {
    let case = Kit::new(indim::broadcast::RuleSetName::Xla, 0).next().unwrap();
    for format in ModelFormat::ALL {
        assert!(Kit::of_files(indim::broadcast::RuleSetName::Xla, 0, format).is_none(), "{format}");
        assert!(case.file(format).is_none(), "{format}");
    }
}
