//! Golden documents: an expression or a graph, and what the compiler makes of it.
//!
//! `documents/README.md` describes their form. `INDIM_BLESS=1` replaces the expected text by the actual one;
//! a reader then reviews the difference.

use std::fs;
use std::path::{Path, PathBuf};

use indim::broadcast::{AxisNames, RuleChoice};
use indim::explain::Explanation;
use indim::literal::parse_literal;
use indim::print::array_text;
use indim::run::Level;
use indim::text::{Expression, ParseLimits, parse_graph};
use indim::{
    Array, ArrayType, ArrayView, CompileOptions, Graph, GraphBuilder, RuleSet, Value, compile,
    reference,
};
use indim_graph::optimize;
use indim_text::split_axis_names;

/// The heading of a section; the expected text follows it.
const HEADING: &str = "--- ";

struct Section<'a> {
    name: &'a str,
    expected: String,
}

struct Document<'a> {
    /// Everything before the first section.
    input: &'a str,
    sections: Vec<Section<'a>>,
}

impl<'a> Document<'a> {
    fn parse(text: &'a str) -> Self {
        let start = text.find(&format!("\n{HEADING}")).expect("a document has a section");
        let (input, rest) = text.split_at(start + 1);
        let mut sections: Vec<Section<'a>> = Vec::new();
        for line in rest.lines() {
            match (line.strip_prefix(HEADING), sections.last_mut()) {
                (Some(name), _) => sections.push(Section { name, expected: String::new() }),
                (None, Some(section)) => section.expected += &format!("{line}\n"),
                (None, None) => unreachable!("the rest begins with a heading"),
            }
        }
        Document { input, sections }
    }

    /// The document with the actual text of each section.
    fn with_found(&self, found: &[(String, String)]) -> String {
        let sections = found.iter().map(|(name, text)| format!("{HEADING}{name}\n{text}"));
        format!("{}{}\n", self.input, sections.collect::<Vec<_>>().join("\n")).trim_end().to_owned()
            + "\n"
    }
}

/// A parameter of the expression, with its elements if the document gives them.
struct Parameter<'a> {
    name: &'a str,
    array_type: ArrayType,
    /// The names of its axes, if its type has them.
    axis_names: Option<AxisNames>,
    elements: Option<Array>,
}

/// The first part of a document.
#[derive(Default)]
struct Input<'a> {
    expression: &'a str,
    rule: Option<RuleSet>,
    parameters: Vec<Parameter<'a>>,
}

impl<'a> Input<'a> {
    fn parse(text: &'a str) -> Self {
        let mut input = Input::default();
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            if input.expression.is_empty() {
                input.expression = line;
                continue;
            }
            match line.split_once(' ').map(|(word, rest)| (word, rest.split_once(' '))) {
                Some((name, Some((":", array_type)))) => {
                    let (plain, axis_names) = split_axis_names(array_type).expect("names of axes");
                    let array_type = parse_type(&plain);
                    input.parameters.push(Parameter {
                        name,
                        array_type,
                        axis_names,
                        elements: None,
                    });
                }
                Some((name, Some(("=", literal)))) => {
                    let elements = parse_literal(literal).expect("a literal");
                    let array_type = elements.array_type().clone();
                    let (axis_names, elements) = (None, Some(elements));
                    input.parameters.push(Parameter { name, array_type, axis_names, elements });
                }
                Some(("rule", None)) => {
                    input.rule = rule_of_operations(&line["rule ".len()..]);
                }
                _ => panic!("what is this line? {line}"),
            }
        }
        input
    }

    /// The graph, or the drawn error.
    fn graph(&self) -> Result<Graph, String> {
        let text = self.expression;
        let parsed =
            Expression::parse(text, &ParseLimits::default()).map_err(|error| error.draw(text))?;
        let b = GraphBuilder::new();
        let bindings: Vec<(&str, Value)> = self
            .parameters
            .iter()
            .map(|parameter| {
                let ArrayType { dtype, shape } = parameter.array_type.clone();
                let value = b.parameter(parameter.name, dtype, shape).expect("a parameter");
                let value = match &parameter.axis_names {
                    Some(names) => b.name_axes(&value, names.clone()).expect("names of its axes"),
                    None => value,
                };
                (parameter.name, value)
            })
            .collect();
        let value =
            parsed.build(&b, &bindings, self.rule.as_ref()).map_err(|error| error.draw(text))?;
        Ok(b.finish(&[value]).expect("a graph"))
    }

    /// The printed result, from the reference evaluator and from the executable.
    fn run(&self, graph: &Graph) -> String {
        let elements = |parameter: &Parameter<'_>| parameter.elements.clone().expect("elements");
        let arrays: Vec<Array> = self.parameters.iter().map(elements).collect();
        let views: Vec<ArrayView<'_>> = arrays.iter().map(ArrayView::from).collect();
        let expected = reference::evaluate(graph, &arrays).expect("evaluates");
        for &level in Level::available() {
            let options = CompileOptions::new().level(level);
            let found = compile(graph, &options).expect("compiles").run(&views).expect("runs");
            assert_eq!(found[0].clone(), expected[0], "{level}");
        }
        let printed = compile(graph, &baseline()).expect("compiles").run(&views).expect("runs");
        array_text(&printed[0])
    }
}

/// Reads a type with the reader of graphs.
fn parse_type(text: &str) -> ArrayType {
    let graph = format!("graph {{ %0 = parameter \"x\" : {text} return %0 }}");
    let graph = parse_graph(&graph).unwrap_or_else(|error| panic!("{}", error.draw(&graph)));
    graph[graph.outputs()[0]].array_type.clone()
}

/// The rule of every operation, by its name.
fn rule_of_operations(name: &str) -> Option<RuleSet> {
    let choice: RuleChoice = name.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
    choice.of_expression().unwrap_or_else(|error| panic!("{error}; {}", error.advice()))
}

/// The level whose programs are the same on every machine.
fn baseline() -> CompileOptions {
    CompileOptions::new().level(Level::BASELINE)
}

/// The text of a section about a graph.
fn show(name: &str, input: &Input<'_>, graph: &Graph) -> String {
    let explanation = || Explanation::new(graph, &baseline()).expect("compiles");
    match name {
        "broadcasts" => explanation().broadcasts().iter().map(|b| format!("{b}\n")).collect(),
        "graph" => {
            let text = graph.to_string();
            let read_back =
                parse_graph(&text).unwrap_or_else(|error| panic!("{}", error.draw(&text)));
            assert_eq!(&read_back, graph, "a graph's text is read back");
            text
        }
        "optimized graph" => optimize(graph).to_string(),
        "loops" => explanation().loops_text(),
        "programs" => explanation().programs_text(),
        "one run" => explanation().forecast_text(),
        "result" => input.run(graph),
        _ => panic!("no section is called {name}"),
    }
}

/// Name and actual text of each section.
fn found(document: &Document<'_>) -> Vec<(String, String)> {
    let graph_text = document.input.find("\ngraph {").map(|start| &document.input[start + 1..]);
    let (input, graph) = match graph_text {
        Some(text) => (Input::default(), parse_graph(text).map_err(|error| error.draw(text))),
        None => {
            let input = Input::parse(document.input);
            let graph = input.graph();
            (input, graph)
        }
    };
    let tidy = |text: String| format!("{}\n", text.trim_end());
    match graph {
        Err(error) => vec![("error".to_owned(), tidy(error))],
        Ok(graph) => document
            .sections
            .iter()
            .map(|section| (section.name.to_owned(), tidy(show(section.name, &input, &graph))))
            .collect(),
    }
}

fn documents() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents");
    let entries = fs::read_dir(folder).expect("the documents");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "indim"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn documents_say_what_the_compiler_does() {
    let is_blessing = std::env::var_os("INDIM_BLESS").is_some();
    let mut wrong = Vec::new();
    let paths = documents();
    assert!(paths.len() >= 20);
    for path in paths {
        let text = fs::read_to_string(&path).expect("a document");
        let document = Document::parse(&text);
        let found = document.with_found(&found(&document));
        if found == text {
            continue;
        }
        if is_blessing {
            fs::write(&path, found).expect("a blessed document");
        } else {
            wrong.push(format!("{}: found\n{found}", path.display()));
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\n\n`cargo xtask bless` writes what was found",
        wrong.join("\n\n")
    );
}
