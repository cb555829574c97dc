//! `indim explain`: explains an expression or a bare rule, as text, as JSON, as a drawing.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::Args;
use indim::broadcast::RuleChoice;
use indim::errors::{Diagnostic, ErrorCode};
use indim::explain::{
    ExplainedBroadcast, Explanation, InputType, SymbolicExpression, TypedInput, message_svg,
};
use indim::formats::{LintOptions, LintReport};
use indim::stream::{Plan, StorageInfo, StreamOptions};
use indim::{CompileError, Graph};

use crate::axis_names::{check_rule, split_source};
use crate::bare::{AttributeOptions, BareOperand, elaborate, operand_labels, refuse_attributes};
use crate::byte_size::parse_byte_size;
use crate::computation::compile_options;
use crate::error_page::explain_code;
use crate::expression::{check_names, input_error_report, not_an_option, parse_expression};
use crate::failure::Failure;
use crate::lint::{DeclareArgs, report};
use crate::model::{declared_inputs, is_path, load, load_diagnostic};
use crate::output::{note_unused, print, print_diagnostic, print_message, warn_of_outer_products};
use crate::report::Report;
use crate::rule::any_rule;
use crate::source::{LoadedOperand, OperandMetadata, in_binding, split_binding};
use indim_graph::terminal::printable;
use indim_text::{parse_array_type, parse_symbolic_type, split_axis_names};

/// Show what is broadcast in an expression, in a rule applied to shapes, or in a model file.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  indim explain 'add(x, v, dims=[1])' x=f32[2,3] v=f32[3]
  indim explain 'exp(u) * tanh(v)' u=f32[1000,1] v=f32[2000] --svg outer.svg
  indim explain '2 * a + 3 * b' a=f32[1000] b=f32[1000] --machine-code
  indim explain 'x - mean(v)' x=f32[100,3] v=f32[3] --sizes
  indim explain 'x + v' x=f32[n,3] v=f32[3]
  indim explain 'x - m' 'x=f32[time: 8760, lat: 721]' 'm=f32[lat: 721]' --rule named
  indim explain 'x - mean(x, axis=0)' x=f32[1000000000,8] --pieces
  indim explain --rule pdpd --axis 1 f32[1,3,224,224] f32[3]
  indim explain model.onnx images=f32[8,3,224,224] --svg model.svg
  indim explain model.onnx --html model.html
  indim explain --code size-mismatch")]
pub(crate) struct Explain {
    /// An expression, the shape of the first operand, or a model file: StableHLO, HLO, OpenVINO IR or ONNX.
    #[arg(
        value_name = "EXPR | SHAPE | FILE",
        allow_hyphen_values = true,
        value_parser = not_an_option,
        required_unless_present = "code"
    )]
    first: Option<String>,
    /// For an expression or a model, the type of each input: NAME=TYPE, or NAME=FILE to take it from a file.
    /// For a rule, the shapes of the other operands.
    #[arg(value_name = "NAME=TYPE | SHAPE")]
    others: Vec<String>,
    /// The broadcasting rule of every operation of an expression, or the rule to apply to shapes.
    #[arg(long, value_name = "RULE", value_parser = any_rule(), default_value_t)]
    rule: RuleChoice,
    #[command(flatten)]
    attributes: AttributeOptions,
    /// Print one JSON object instead of text, also for an error: {"error":{"code":...,"message":...}}.
    #[arg(long)]
    json: bool,
    /// Draw the broadcasts, or the error, to this SVG file; `-` writes the drawing instead of the text.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write a model as one HTML page to this file; `-` is standard output. The page has all nodes with their
    /// types and broadcasts, also nodes that indim does not compute, the findings of `indim lint`, and a
    /// search.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "svg"])]
    html: Option<PathBuf>,
    /// The function of a model file to explain, if the file has several.
    #[arg(long, value_name = "NAME", conflicts_with = "html")]
    function: Option<String>,
    /// Print the machine code of each loop nest for dense arrays: each value, then its instructions.
    #[arg(long)]
    machine_code: bool,
    /// Print the conditions on sizes under which the compiled expression is valid, and the fixed sizes.
    #[arg(long, conflicts_with = "json")]
    sizes: bool,
    /// Print how an expression is computed over files larger than memory: the passes over the files, and the
    /// pieces of each pass, within this memory limit (256MiB if SIZE is absent).
    #[arg(
        long,
        value_name = "SIZE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "256MiB",
        value_parser = parse_byte_size,
        conflicts_with = "json"
    )]
    pieces: Option<usize>,
    /// Print the page of an error code, such as size-mismatch; `list` lists all codes.
    #[arg(long, value_name = "CODE", exclusive = true)]
    code: Option<String>,
    #[command(flatten)]
    declared: DeclareArgs,
    /// Warn if all operands of a broadcast expand, and its result is far larger than each of them.
    #[arg(long)]
    warn_outer_product: bool,
}

impl Explain {
    /// Runs the command.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        if let Some(code) = &self.code {
            return explain_code(code);
        }
        if self.json && self.draws_to_output() {
            return Err(Failure::Usage(
                "standard output takes the drawing or the JSON: give --svg a file".to_owned(),
            ));
        }
        match self.explain() {
            Err(Failure::Input(report)) => self.refuse(report),
            explained => explained,
        }
    }

    /// The first argument, which clap requires unless `--code` is given.
    fn first(&self) -> &str {
        self.first.as_deref().unwrap_or_default()
    }

    fn draws_to_output(&self) -> bool {
        self.svg.as_deref().is_some_and(is_output)
    }

    /// Reports an error in the form of the requested explanation: as a drawing, as JSON or as text.
    fn refuse(&self, report: Report) -> Result<(), Failure> {
        if let Some(path) = &self.svg {
            write_drawing(path, &message_svg(report.text().trim_end()))?;
        }
        if self.json {
            print(format!("{}\n", report.to_json()).as_bytes())?;
            return Err(Failure::AlreadyReported);
        }
        Err(report.into())
    }

    fn explain(&self) -> Result<(), Failure> {
        if is_path(self.first()) {
            self.refuse_sizes()?;
            return self.explain_program();
        }
        if self.function.is_some() {
            return Err(Failure::Usage("--function is for a program in a file".to_owned()));
        }
        let arguments = std::iter::once(self.first()).chain(self.others.iter().map(String::as_str));
        match arguments.map(BareOperand::parse).collect::<Result<Vec<_>, _>>() {
            Ok(operands) => {
                self.refuse_sizes()?;
                self.explain_rule(&operands)
            }
            // An argument without `NAME=` can only be a shape.
            Err(error) if self.others.iter().any(|text| !text.contains('=')) => Err(error.into()),
            Err(_) if self.html.is_some() => {
                Err(Failure::Usage("--html is for a program in a file".to_owned()))
            }
            Err(_) => self.explain_expression(),
        }
    }

    fn refuse_sizes(&self) -> Result<(), Failure> {
        match (self.sizes, self.pieces) {
            (true, _) => Err(Failure::Usage("--sizes is for expressions".to_owned())),
            (_, Some(_)) => Err(Failure::Usage("--pieces is for expressions".to_owned())),
            (false, None) => Ok(()),
        }
    }

    fn explain_rule(&self, operands: &[BareOperand]) -> Result<(), Failure> {
        if self.machine_code {
            return Err(Failure::Usage(
                "a rule over shapes has no machine code: explain an expression".to_owned(),
            ));
        }
        let labels = operand_labels(operands);
        let (rule, form) = elaborate(self.rule, &self.attributes, operands)?;
        let form = form.map_err(|error| Report::of_shapes(&error, "broadcast", &labels))?;
        let explained = ExplainedBroadcast::of_rule(rule, labels, form);
        self.warn(core::slice::from_ref(&explained));
        self.print_or_draw(&explained.to_string(), || explained.to_json(), || explained.to_svg())
    }

    fn explain_expression(&self) -> Result<(), Failure> {
        if !self.attributes.is_empty() {
            return Err(Failure::Usage(
                "an expression carries its own attributes: write add(x, v, dims=[1])".to_owned(),
            ));
        }
        let bindings =
            self.others.iter().map(|text| self.typed_input(text)).collect::<Result<Vec<_>, _>>()?;
        let (bindings, storage): (Vec<_>, Vec<_>) = bindings.into_iter().unzip();
        let rule = self.rule.of_expression().map_err(refuse_attributes)?;
        let expression = parse_expression(self.first())?;
        let names: Vec<&str> = bindings.iter().map(|input| input.name).collect();
        check_names(&expression, &names)?;
        let symbolic = SymbolicExpression::new(&expression, &bindings, rule.as_ref())
            .map_err(|error| input_error_report(&error, &expression))?;
        symbolic.check_free()?;
        note_unused(&expression);
        let graph = symbolic.graph.graph();
        let explanation =
            Explanation::new(graph, &compile_options()?).map_err(CompileError::diagnostic)?;
        let mut appendix = symbolic.axes_text().to_owned();
        if self.sizes || symbolic.has_names() {
            appendix += &symbolic.sizes_text();
        }
        if let Some(limit) = self.pieces {
            let storage = bindings.iter().map(|input| input.name).zip(storage).collect();
            appendix += &passes_text(graph, &storage, limit)?;
        }
        self.print_explanation(&explanation, &appendix)
    }

    fn explain_program(&self) -> Result<(), Failure> {
        if !self.attributes.is_empty() || self.rule != RuleChoice::default() {
            return Err(Failure::Usage("a program carries its own rules".to_owned()));
        }
        if let Some(path) = &self.html {
            return self.write_page(path);
        }
        match self.explanation_of_program() {
            Ok(explanation) => self.print_explanation(&explanation, &self.counts_text()),
            Err(diagnostic) if self.has_outline(&diagnostic) => {
                let report = self.outline_report()?;
                self.explain_outline(&report, None)?;
                if report.passes(false) { Ok(()) } else { Err(Failure::AlreadyReported) }
            }
            Err(diagnostic) => self.explain_illegal(diagnostic),
        }
    }

    /// Writes the page of a model. The exit code is that of the text.
    fn write_page(&self, path: &Path) -> Result<(), Failure> {
        let report = self.outline_report()?;
        write_drawing(path, &report.to_html())?;
        if report.passes(false) {
            return Ok(());
        }
        match self.explanation_of_program() {
            Err(diagnostic) if !self.has_outline(&diagnostic) => Err(diagnostic.into()),
            _ => {
                // The page marks the illegal nodes.
                print_message(&report.outline().counts_text());
                Err(Failure::AlreadyReported)
            }
        }
    }

    /// Whether this explains a whole file, as an outline does: it takes no inputs, describes all functions,
    /// and has no machine code.
    fn is_of_whole_file(&self) -> bool {
        self.others.is_empty() && self.function.is_none() && !self.machine_code
    }

    /// The last line of the text: the number of broadcasts with each verdict.
    fn counts_text(&self) -> String {
        let is_text = self.is_of_whole_file() && !self.json && !self.draws_to_output();
        let report = if is_text { self.outline_report().ok() } else { None };
        report.map_or(String::new(), |report| format!("{}\n", report.outline().counts_text()))
    }

    /// Explains a program that cannot be computed. If a node is illegal, the outline marks it among all
    /// nodes.
    fn explain_illegal(&self, diagnostic: Diagnostic) -> Result<(), Failure> {
        let report = if self.is_of_whole_file() { self.outline_report().ok() } else { None };
        let Some(report) = report.filter(|report| !report.passes(false)) else {
            return Err(diagnostic.into());
        };
        let report_of_error = Report::from(diagnostic);
        self.explain_outline(&report, Some(&report_of_error))?;
        if !self.json {
            print_diagnostic(report_of_error.diagnostic());
        }
        Err(Failure::AlreadyReported)
    }

    fn explanation_of_program(&self) -> Result<Explanation, Diagnostic> {
        let model = load(Path::new(self.first()), self.function.as_deref())?;
        let model = model.compiled_with(compile_options()?);
        let bound = declared_inputs(&model, &self.others)?;
        model.explain(&bound).map_err(|error| load_diagnostic(&error, &model))
    }

    /// Whether the outline replaces an explanation that fails with this diagnostic: the program has parts
    /// that indim does not compute, or sizes that the file leaves open.
    fn has_outline(&self, diagnostic: &Diagnostic) -> bool {
        let codes = [
            ErrorCode::UNSUPPORTED_OP,
            ErrorCode::UNSUPPORTED,
            ErrorCode::UNSUPPORTED_TYPE,
            ErrorCode::DEPENDS_ON_DATA,
            ErrorCode::INPUT_MISSING,
            ErrorCode::INPUT_ELEMENTS,
            // An outline has higher limits on nesting.
            ErrorCode::LIMIT,
        ];
        self.is_of_whole_file() && codes.contains(&diagnostic.code)
    }

    fn outline_report(&self) -> Result<LintReport, Failure> {
        let options = LintOptions::new().outline(self.declared.options()?);
        Ok(report(Path::new(self.first()), &options)?)
    }

    /// Explains a program with nodes that indim does not compute, or that are illegal.
    fn explain_outline(&self, report: &LintReport, error: Option<&Report>) -> Result<(), Failure> {
        let json = || match error {
            Some(error) => error.to_json_with(&report.outline_json()),
            None => report.outline_json(),
        };
        self.print_or_draw(&report.outline().to_string(), json, || report.to_svg())
    }

    fn print_explanation(&self, explanation: &Explanation, appendix: &str) -> Result<(), Failure> {
        self.warn(explanation.broadcasts());
        let mut text = explanation.to_string();
        if self.machine_code {
            text += &format!("machine code\n{}", explanation.machine_code_text());
        }
        text += appendix;
        let json = || match self.machine_code {
            true => explanation.to_json_with_machine_code(),
            false => explanation.to_json(),
        };
        self.print_or_draw(&text, json, || explanation.to_svg())
    }

    fn warn(&self, broadcasts: &[ExplainedBroadcast]) {
        if self.warn_outer_product {
            warn_of_outer_products(broadcasts);
        }
    }

    fn print_or_draw(
        &self,
        text: &str,
        json: impl FnOnce() -> String,
        svg: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        if let Some(path) = &self.svg {
            write_drawing(path, &svg())?;
            if is_output(path) {
                return Ok(());
            }
        }
        let text = if self.json { json() } else { text.to_owned() };
        Ok(print(format!("{}\n", text.trim_end()).as_bytes())?)
    }
}

fn is_output(path: &Path) -> bool {
    path == Path::new("-")
}

fn write_drawing(path: &Path, drawing: &str) -> Result<(), Diagnostic> {
    if is_output(path) {
        return print(drawing.as_bytes());
    }
    crate::signals::watch().map_err(|error| Diagnostic::new(ErrorCode::IO, error.to_string()))?;
    indim::files::write_text(path, drawing).map_err(|error| error.diagnostic())
}

impl Explain {
    /// A name with its type, from the argument or from the file that it names, and the storage of its
    /// array: row-major if there is no file.
    fn typed_input<'t>(&self, text: &'t str) -> Result<(TypedInput<'t>, StorageInfo), Diagnostic> {
        let (name, source) = split_binding(text)?;
        let named = |error| in_binding(name, error);
        let (source, suffix_names) = match split_source(source) {
            (file, names) if LoadedOperand::is_file(file) => (file, names),
            // Not an existing file: a type, perhaps misspelt, which may have axis names inside its
            // brackets.
            _ => (source, None),
        };
        let (type_text, inner_names) = split_axis_names(source).map_err(named)?;
        let axis_names = suffix_names.or(inner_names);
        if axis_names.is_some() {
            check_rule(name, self.rule)?;
        }
        if let Some((dtype, sizes)) = parse_symbolic_type(&type_text) {
            let sizes = sizes.into_iter().map(str::to_owned).collect();
            let input =
                TypedInput { name, input_type: InputType::Symbolic(dtype, sizes), axis_names };
            return Ok((input, StorageInfo::default()));
        }
        let OperandMetadata { array_type, axis_names: file_names, storage } =
            match parse_array_type(&type_text) {
                Err(_) if LoadedOperand::is_file(source) => {
                    LoadedOperand::metadata_of(source).map_err(named)?
                }
                parsed => OperandMetadata {
                    array_type: parsed.map_err(named)?,
                    axis_names: None,
                    storage: StorageInfo::default(),
                },
            };
        let axis_names = axis_names.or(file_names);
        Ok((TypedInput { name, input_type: InputType::Known(array_type), axis_names }, storage))
    }
}

/// The text of the passes of a program within a memory limit in bytes; `storage` has the storage of each
/// input by name, and results are row-major files.
fn passes_text(
    graph: &Graph,
    storage: &HashMap<&str, StorageInfo>,
    memory_limit: usize,
) -> Result<String, Diagnostic> {
    let stored = |index| storage.get(graph.parameter_name(index)).cloned().unwrap_or_default();
    let inputs: Vec<StorageInfo> = (0..graph.parameters().len()).map(stored).collect();
    let outputs = vec![StorageInfo::default(); graph.outputs().len()];
    let compile = compile_options()?;
    let options = StreamOptions::new().memory_limit(memory_limit).compile(compile);
    let plan = Plan::new(graph, &inputs, &outputs, &options).map_err(|it| it.diagnostic())?;
    let held_bytes = plan.held_bytes();
    let passes = plan.to_string();
    let decoded = plan.decodings().into_iter().map(|(name, times)| {
        format!("chunks of {} are decoded {times:.1} times on average", printable(name))
    });
    let lines = passes.lines().map(str::to_owned).chain(decoded);
    let lines: Vec<String> = lines.map(|line| format!("  {line}\n")).collect();
    Ok(format!("piece by piece, in {held_bytes} bytes of memory\n{}", lines.concat()))
}
