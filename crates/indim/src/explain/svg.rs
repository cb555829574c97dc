//! Broadcasts and reductions as an SVG document. A broadcast has a column for each axis of the result and a
//! row for each operand; a reduction has a column for each axis of the operand.
//!
//! A cell shows an axis of the operand: kept, expanded from 1, absent and repeated, or reduced. The colours
//! follow the light or dark scheme of the reader.

use core::fmt::{self, Write as _};

use indim_graph::terminal::width;
use indim_shape::Broadcast;

use super::{ExplainedBroadcast, ExplainedReduction};

// Sizes of the parts of a drawing, in pixels.
const CELL_HEIGHT: usize = 34;
const MIN_CELL_WIDTH: usize = 64;
const GAP: usize = 8;
const MARGIN: usize = 24;
const TITLE_HEIGHT: usize = 44;
const AXIS_HEIGHT: usize = 18;
const LINE_HEIGHT: usize = 20;
/// Height of the legend below the last diagram, in pixels.
const LEGEND_HEIGHT: usize = 44;
const MIN_WIDTH: usize = 440;

const STYLE: &str = "\
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#1f2328}
.page{fill:#ffffff}
.title{font-weight:bold}
.size{text-anchor:middle}
.small{font-size:12px;fill:#59636e}
.axis{font-size:12px;fill:#59636e;text-anchor:middle}
.error{fill:#cf222e}
.times{fill:#59636e;text-anchor:middle}
.kept{fill:#ddf4ff;stroke:#0969da}
.expanded{fill:#fff1d6;stroke:#bc4c00}
.repeated{fill:none;stroke:#8c959f;stroke-dasharray:4 3}
.reduced{fill:#fbe9ff;stroke:#8250df}
.result{fill:#dafbe1;stroke:#1a7f37}
.opaque{fill:#fbf6ec;stroke:#b9802f}
.illegal{fill:#ffebe9;stroke:#cf222e}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}
.page{fill:#0d1117}
.small,.axis,.times{fill:#9198a1}
.error{fill:#ff7b72}
.kept{fill:#0c2d6b;stroke:#58a6ff}
.expanded{fill:#4d2400;stroke:#f0883e}
.repeated{stroke:#6e7681}
.reduced{fill:#2e1461;stroke:#a371f7}
.result{fill:#04260f;stroke:#3fb950}
.opaque{fill:#2b2111;stroke:#d9a653}
.illegal{fill:#3b1113;stroke:#ff7b72}
}";

/// A document with the diagrams below each other.
pub(super) fn document(
    broadcasts: &[ExplainedBroadcast],
    reductions: &[ExplainedReduction],
) -> String {
    if broadcasts.is_empty() && reductions.is_empty() {
        return message("nothing is broadcast");
    }
    let of_broadcasts = broadcasts.iter().map(Diagram::of_broadcast);
    let pictures = of_broadcasts.chain(reductions.iter().map(Diagram::of_reduction)).collect();
    document_of(pictures, !reductions.is_empty())
}

/// A document of diagrams, with a legend.
pub(super) fn document_of(mut pictures: Vec<Diagram>, has_reductions: bool) -> String {
    // Align the columns of all diagrams.
    let left = pictures.iter().map(|picture| picture.left).max().unwrap_or(0);
    let cell_width = pictures.iter().map(|picture| picture.cell_width).max().unwrap_or(0);
    pictures.iter_mut().for_each(|picture| (picture.left, picture.cell_width) = (left, cell_width));
    let width = pictures.iter().map(Diagram::width).max().unwrap_or(0).max(MIN_WIDTH);
    let height = pictures.iter().map(Diagram::height).sum::<usize>() + LEGEND_HEIGHT;
    let titles: Vec<&str> = pictures.iter().map(|picture| picture.title.as_str()).collect();
    let mut text = head(width, height, &titles.join("; "));
    let mut top = 0;
    for picture in &pictures {
        picture.draw(top, &mut text);
        top += picture.height();
    }
    legend(top, has_reductions, &mut text);
    text + "</svg>\n"
}

/// A document with the lines of a text; headline and marks of a drawn error are highlighted.
pub(super) fn message(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let longest = lines.iter().map(|line| width(line)).max().unwrap_or(0);
    let width = (text_width(longest) + 2 * MARGIN).max(MIN_WIDTH);
    let height = lines.len() * LINE_HEIGHT + 2 * MARGIN;
    let mut document = head(width, height, lines.first().copied().unwrap_or_default());
    write_lines(&mut document, MARGIN, &lines);
    document + "</svg>\n"
}

/// Writes the lines of a text from `top` on; headline and marks of a drawn error are highlighted.
fn write_lines<L: AsRef<str>>(document: &mut String, top: usize, lines: &[L]) {
    for (index, line) in lines.iter().map(AsRef::as_ref).enumerate() {
        let is_mark = line.trim_start_matches([' ', '|']).starts_with('^');
        let class = if line.starts_with("error[") || is_mark { "error" } else { "line" };
        write_text(document, class, MARGIN, top + index * LINE_HEIGHT + 14, line);
    }
}

fn head(width: usize, height: usize, title: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n\
         <rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n",
        escaped(title)
    )
}

fn legend(top: usize, has_reductions: bool, text: &mut String) {
    let entries = [
        ("kept", "kept"),
        ("expanded", "expanded from 1"),
        ("repeated", "repeated"),
        ("reduced", "reduced"),
    ];
    let shown = if has_reductions { entries.len() } else { entries.len() - 1 };
    let mut left = MARGIN;
    for (class, label) in &entries[..shown] {
        rectangle(text, class, left, top + 6, 18, 14);
        write_text(text, "small", left + 26, top + 17, label);
        left += 26 + text_width(label.len() + 2);
    }
}

/// CSS class and text of a cell.
pub(super) type DiagramCell = (&'static str, String);

/// The diagram of a broadcast or reduction, with its layout.
pub(super) struct Diagram {
    title: String,
    /// Label and cells of each row. The last row of a broadcast or reduction is its result; the rows of
    /// an opaque node are its operands and results, without cells. An error has no rows.
    rows: Vec<(String, Vec<DiagramCell>)>,
    /// Left edge of the first cell, in pixels.
    left: usize,
    cell_width: usize,
    /// The lines of an error below the rows.
    pub(super) lines: Vec<String>,
    /// CSS class of the box that surrounds the diagram.
    pub(super) surround: Option<&'static str>,
}

impl Diagram {
    fn of_broadcast(explained: &ExplainedBroadcast) -> Diagram {
        let form = explained.form();
        let operands = explained.labels().iter().zip(form.operands());
        let labels = operands
            .map(|((name, element_type), shape)| format!("{name} : {element_type}{shape}"))
            .chain([format!("result : {}", form.result())]);
        let cells = |row: usize| {
            (0..form.result().rank()).map(move |axis| broadcast_cell(form, row, axis)).collect()
        };
        let rows = labels.enumerate().map(|(row, label)| (label, cells(row))).collect();
        // The longest possible text of a cell: `1 → ` and the widest size.
        let widest = form.result().iter().map(|size| size.to_string().len()).max().unwrap_or(0);
        Diagram::new(explained.title(), rows, "1 → ".chars().count() + widest)
    }

    fn of_reduction(explained: &ExplainedReduction) -> Diagram {
        let (form, (name, element_type)) = (explained.form(), explained.label());
        let sizes = || form.operand().iter().enumerate();
        let is_reduced = |axis: usize| form.axes().contains(&axis);
        let of_operand = sizes().map(|(axis, size)| {
            (if is_reduced(axis) { "reduced" } else { "kept" }, size.to_string())
        });
        let left = sizes().map(|(axis, size)| match is_reduced(axis) {
            true => ("repeated", String::new()),
            false => ("result", size.to_string()),
        });
        let rows = vec![
            (format!("{name} : {element_type}{}", form.operand()), of_operand.collect()),
            (format!("result : {}", form.result()), left.collect()),
        ];
        let widest = form.operand().iter().map(|size| size.to_string().len()).max().unwrap_or(0);
        Diagram::new(explained.title(), rows, widest)
    }

    pub(super) fn new(
        title: String,
        rows: Vec<(String, Vec<DiagramCell>)>,
        widest_cell: usize,
    ) -> Diagram {
        let longest = rows.iter().map(|(label, _)| width(label)).max().unwrap_or(0);
        Diagram {
            title,
            rows,
            left: MARGIN + text_width(longest) + 2 * GAP,
            cell_width: (text_width(widest_cell) + 16).max(MIN_CELL_WIDTH),
            lines: Vec::new(),
            surround: None,
        }
    }

    fn rank(&self) -> usize {
        self.rows.first().map_or(0, |(_, cells)| cells.len())
    }

    fn width(&self) -> usize {
        let cells = self.left + self.rank() * (self.cell_width + GAP) + MARGIN;
        let texts = self.lines.iter().chain([&self.title]).map(|text| width(text));
        cells.max(2 * MARGIN + text_width(texts.max().unwrap_or(0)))
    }

    fn height(&self) -> usize {
        let lines = self.lines.len() * LINE_HEIGHT;
        TITLE_HEIGHT + AXIS_HEIGHT + self.rows.len() * (CELL_HEIGHT + GAP) + lines + GAP
    }

    fn draw(&self, top: usize, text: &mut String) {
        if let Some(class) = self.surround {
            let (width, height) = (self.width() - MARGIN, self.height() - 2 * GAP);
            rectangle(text, class, MARGIN / 2, top + GAP, width, height);
        }
        write_text(text, "title", MARGIN, top + TITLE_HEIGHT - 14, &self.title);
        for axis in 0..self.rank() {
            let center = self.cell_left(axis) + self.cell_width / 2;
            let baseline = top + TITLE_HEIGHT + AXIS_HEIGHT - 8;
            write_text(text, "axis", center, baseline, &format!("axis {axis}"));
        }
        for (row, (label, cells)) in self.rows.iter().enumerate() {
            let row_top = top + TITLE_HEIGHT + AXIS_HEIGHT + row * (CELL_HEIGHT + GAP);
            write_text(text, "line", MARGIN, row_top + 22, label);
            for (axis, cell) in cells.iter().enumerate() {
                self.draw_cell(cell, axis, row_top, text);
            }
        }
        write_lines(text, top + TITLE_HEIGHT, &self.lines);
    }

    fn draw_cell(&self, (class, size): &DiagramCell, axis: usize, top: usize, text: &mut String) {
        let text_class = if *class == "repeated" { "times" } else { "size" };
        let left = self.cell_left(axis);
        rectangle(text, class, left, top, self.cell_width, CELL_HEIGHT);
        write_text(text, text_class, left + self.cell_width / 2, top + 22, size);
    }

    fn cell_left(&self, axis: usize) -> usize {
        self.left + axis * (self.cell_width + GAP)
    }
}

/// The cell of an operand on an axis of the result; the row after the operands is the result.
fn broadcast_cell(form: &Broadcast, row: usize, axis: usize) -> DiagramCell {
    let result_size = form.result()[axis];
    let (Some(shape), Some(map)) = (form.operands().get(row), form.maps().get(row)) else {
        return ("result", result_size.to_string());
    };
    operand_cell(map.iter().position(|&to| to == axis).map(|from| &shape[from]), &result_size)
}

/// The cell of an operand's axis of this size, on an axis of the result; `None` if the operand lacks the
/// axis.
pub(super) fn operand_cell<S: PartialEq + fmt::Display>(
    own: Option<&S>,
    result: &S,
) -> DiagramCell {
    match own {
        None => ("repeated", format!("× {result}")),
        Some(own) if own == result => ("kept", own.to_string()),
        Some(own) => ("expanded", format!("{own} → {result}")),
    }
}

/// Width of `columns` characters at 14 pixels in the widest font, in pixels.
fn text_width(columns: usize) -> usize {
    (columns * 17).div_ceil(2)
}

fn rectangle(text: &mut String, class: &str, x: usize, y: usize, width: usize, height: usize) {
    let _ = writeln!(
        text,
        "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"4\"/>"
    );
}

fn write_text(text: &mut String, class: &str, x: usize, y: usize, content: &str) {
    let content = escaped(content);
    let _ = writeln!(
        text,
        "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" xml:space=\"preserve\">{content}</text>"
    );
}

/// Escapes the special characters of XML, and replaces characters that XML forbids by U+FFFD.
fn escaped(content: &str) -> String {
    let is_refused = |c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}');
    let visible: String =
        content.chars().map(|c| if is_refused(c) { '\u{fffd}' } else { c }).collect();
    visible.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
