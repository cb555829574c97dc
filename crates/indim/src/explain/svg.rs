//! Broadcasts as an SVG document: a column for each axis of the result, a row for each operand.
//!
//! A cell is an axis of the operand where it lands: kept, expanded from 1, or absent and repeated.

use core::fmt::Write as _;

use super::ExplainedBroadcast;

const CELL_WIDTH: usize = 72;
const CELL_HEIGHT: usize = 34;
const GAP: usize = 8;
const MARGIN: usize = 20;
const CHARACTER_WIDTH: usize = 8;
const TITLE_HEIGHT: usize = 30;

const STYLE: &str = "\
text{font:14px ui-monospace,Menlo,Consolas,monospace;fill:#1b1f24}
.title{font-weight:bold}
.small{font-size:11px;fill:#59636e}
.kept{fill:#cfe8ff;stroke:#0a5aa8}
.expanded{fill:#ffe3bd;stroke:#b35c00}
.repeated{fill:none;stroke:#9aa4ae;stroke-dasharray:4 3}
.result{fill:#d6f5d6;stroke:#1d7a1d}";

/// A document with one picture below the other.
pub(super) fn document(broadcasts: &[ExplainedBroadcast]) -> String {
    let pictures: Vec<Picture<'_>> =
        broadcasts.iter().map(|explained| Picture { explained }).collect();
    let width = pictures.iter().map(Picture::width).max().unwrap_or(0).max(360);
    let height: usize = pictures.iter().map(Picture::height).sum::<usize>() + 40;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n<style>{STYLE}</style>\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    let mut top = 0;
    for picture in &pictures {
        picture.draw(top, &mut text);
        top += picture.height();
    }
    legend(top, &mut text);
    text.push_str("</svg>\n");
    text
}

fn legend(top: usize, text: &mut String) {
    let entries = [("kept", "kept"), ("expanded", "expanded from 1"), ("repeated", "repeated")];
    let mut left = MARGIN;
    for (class, label) in entries {
        rectangle(text, class, left, top + 8, 18, 14);
        write_text(text, "small", left + 24, top + 19, label);
        left += 24 + (label.len() + 3) * 7;
    }
}

struct Picture<'a> {
    explained: &'a ExplainedBroadcast,
}

impl Picture<'_> {
    fn rank(&self) -> usize {
        self.explained.form().result().rank()
    }

    fn label(&self, operand: usize) -> String {
        let (name, element_type) = &self.explained.labels()[operand];
        let shape = &self.explained.form().operands()[operand];
        format!("{name} : {element_type}{shape}")
    }

    fn title(&self) -> String {
        let names: Vec<&str> =
            self.explained.labels().iter().map(|(name, _)| name.as_str()).collect();
        format!("{}({})", self.explained.operation(), names.join(", "))
    }

    /// Where the cells begin.
    fn left(&self) -> usize {
        let labels = (0..self.explained.labels().len()).map(|operand| self.label(operand));
        let longest = labels.map(|label| label.chars().count()).max().unwrap_or(0);
        MARGIN + longest.max("result".len()) * CHARACTER_WIDTH + 2 * GAP
    }

    fn width(&self) -> usize {
        let cells = self.left() + self.rank() * (CELL_WIDTH + GAP) + MARGIN;
        cells.max(2 * MARGIN + self.title().chars().count() * (CHARACTER_WIDTH + 1))
    }

    fn height(&self) -> usize {
        TITLE_HEIGHT + 20 + (self.explained.labels().len() + 1) * (CELL_HEIGHT + GAP) + MARGIN
    }

    fn draw(&self, top: usize, text: &mut String) {
        write_text(text, "title", MARGIN, top + TITLE_HEIGHT - 6, &self.title());
        for axis in 0..self.rank() {
            let left = self.left() + axis * (CELL_WIDTH + GAP);
            write_text(text, "small", left + 4, top + TITLE_HEIGHT + 14, &format!("axis {axis}"));
        }
        let operands = self.explained.labels().len();
        for operand in 0..operands {
            self.draw_row(self.row_top(top, operand), &self.label(operand), text, |axis| {
                self.cell(operand, axis)
            });
        }
        let result = self.explained.form().result();
        self.draw_row(self.row_top(top, operands), "result", text, |axis| {
            ("result", result[axis].to_string())
        });
    }

    fn row_top(&self, top: usize, row: usize) -> usize {
        top + TITLE_HEIGHT + 20 + row * (CELL_HEIGHT + GAP)
    }

    fn draw_row(
        &self,
        top: usize,
        label: &str,
        text: &mut String,
        cell: impl Fn(usize) -> (&'static str, String),
    ) {
        write_text(text, "", MARGIN, top + 22, label);
        for axis in 0..self.rank() {
            let left = self.left() + axis * (CELL_WIDTH + GAP);
            let (class, size) = cell(axis);
            rectangle(text, class, left, top, CELL_WIDTH, CELL_HEIGHT);
            let indent =
                (CELL_WIDTH / 2).saturating_sub(size.chars().count() * CHARACTER_WIDTH / 2);
            write_text(text, "", left + indent, top + 22, &size);
        }
    }

    /// How an operand stands on an axis of the result.
    fn cell(&self, operand: usize, axis: usize) -> (&'static str, String) {
        let form = self.explained.form();
        let (shape, map) = (&form.operands()[operand], &form.maps()[operand]);
        match map.iter().position(|&to| to == axis) {
            None => ("repeated", String::new()),
            Some(from) if shape[from] == form.result()[axis] => ("kept", shape[from].to_string()),
            Some(from) => ("expanded", format!("{} → {}", shape[from], form.result()[axis])),
        }
    }
}

fn rectangle(text: &mut String, class: &str, x: usize, y: usize, width: usize, height: usize) {
    let _ = writeln!(
        text,
        "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"4\"/>"
    );
}

fn write_text(text: &mut String, class: &str, x: usize, y: usize, content: &str) {
    let _ =
        writeln!(text, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>", escaped(content));
}

fn escaped(content: &str) -> String {
    content.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
