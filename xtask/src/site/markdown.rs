//! Rendering of documents: headings with anchors, links between pages of the site, scrolling tables, and
//! runnable examples.

use std::collections::BTreeMap;

use pulldown_cmark::{
    BrokenLink, CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html,
};

use super::address::{relative, resolved};
use super::examples;

/// A document: its path in the repository, and its page on the site.
pub(crate) struct Document<'a> {
    pub(crate) path: &'a str,
    pub(crate) page: &'a str,
    pub(crate) text: &'a str,
    /// The pages of all documents, by their paths.
    pub(crate) pages: &'a BTreeMap<String, DocumentPage>,
}

/// The page of a document.
pub(crate) struct DocumentPage {
    /// Path from the root of the site.
    pub(crate) page: String,
    pub(crate) title: String,
}

impl DocumentPage {
    /// The page of a document with this text.
    pub(crate) fn new(page: &str, text: &str) -> Self {
        let heading = text.lines().find_map(|line| line.strip_prefix("# "));
        DocumentPage { page: page.to_owned(), title: heading.unwrap_or(page).replace('`', "") }
    }
}

/// A rendered document.
pub(crate) struct RenderedDocument {
    pub(crate) title: String,
    pub(crate) html: String,
    /// The headings of the second level: anchor and text.
    pub(crate) sections: Vec<(String, String)>,
    pub(crate) has_examples: bool,
}

/// The target of links to Rust's documentation. The site lacks such pages, so these links become plain
/// text.
const RUSTDOC_LINK: &str = "crate::";

impl Document<'_> {
    /// The document as HTML.
    pub(crate) fn render(&self) -> RenderedDocument {
        // In Rust's documentation names in brackets are links.
        let callback = |link: BrokenLink<'_>| {
            let is_name = link.reference.starts_with('`');
            is_name.then_some((CowStr::Borrowed(RUSTDOC_LINK), CowStr::Borrowed("")))
        };
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
        let parser = Parser::new_with_broken_link_callback(self.text, options, Some(callback));
        let mut pass = Renderer { document: self, ..Renderer::new(self) };
        let events: Vec<Event<'_>> = parser.collect();
        let mut rest = events.into_iter();
        while let Some(event) = rest.next() {
            pass.take(event, &mut rest);
        }
        let mut html = String::new();
        html::push_html(&mut html, pass.events.into_iter());
        let title = pass.title.unwrap_or_else(|| self.path.to_owned());
        RenderedDocument { title, html, sections: pass.sections, has_examples: pass.has_examples }
    }

    /// The document that a link names.
    fn linked(&self, to: &str) -> Option<&DocumentPage> {
        let path = to.split_once('#').map_or(to, |(path, _)| path);
        let folder = self.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        self.pages.get(&resolved(folder, path))
    }

    /// The target of a link on the site; `None` if the site has no such page.
    fn link(&self, to: &str) -> Option<String> {
        if to.starts_with('#') || to.contains("://") {
            return Some(to.to_owned());
        }
        let path = relative(self.page, &self.linked(to)?.page);
        Some(match to.split_once('#') {
            Some((_, anchor)) => format!("{path}#{anchor}"),
            None => path,
        })
    }
}

/// The state of the pass over the parser's events of a document.
struct Renderer<'a> {
    document: &'a Document<'a>,
    events: Vec<Event<'a>>,
    title: Option<String>,
    sections: Vec<(String, String)>,
    has_examples: bool,
    /// For each open link, whether the site has its target.
    links: Vec<bool>,
    /// The title of the document that the open link leads to.
    linked_title: Option<&'a str>,
    anchors: Vec<String>,
}

impl<'a> Renderer<'a> {
    fn new(document: &'a Document<'a>) -> Self {
        Renderer {
            document,
            events: Vec::new(),
            title: None,
            sections: Vec::new(),
            has_examples: false,
            links: Vec::new(),
            linked_title: None,
            anchors: Vec::new(),
        }
    }

    fn html(&mut self, text: String) {
        self.events.push(Event::Html(text.into()));
    }

    fn take(&mut self, event: Event<'a>, rest: &mut impl Iterator<Item = Event<'a>>) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let inside = take_until_end(rest, |end| matches!(end, TagEnd::Heading(_)));
                self.heading(level as usize, inside);
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                let inside = take_until_end(rest, |end| *end == TagEnd::CodeBlock);
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code(&language, &plain_text(&inside));
            }
            Event::Start(Tag::Table(alignments)) => {
                self.html("<div class=\"scroller\" tabindex=\"0\">".to_owned());
                self.events.push(Event::Start(Tag::Table(alignments)));
            }
            Event::End(TagEnd::Table) => {
                self.events.push(Event::End(TagEnd::Table));
                self.html("</div>\n".to_owned());
            }
            Event::Start(Tag::Link { dest_url, title, .. }) => {
                let found = self.document.link(&dest_url);
                self.linked_title =
                    self.document.linked(&dest_url).map(|linked| linked.title.as_str());
                self.links.push(found.is_some());
                self.events.extend(found.map(|to| {
                    let link_type = LinkType::Inline;
                    let (dest_url, id) = (to.into(), CowStr::Borrowed(""));
                    Event::Start(Tag::Link { link_type, dest_url, title, id })
                }));
            }
            Event::End(TagEnd::Link) => {
                self.linked_title = None;
                if self.links.pop() == Some(true) {
                    self.events.push(Event::End(TagEnd::Link));
                }
            }
            // The site calls documents by their titles, not by their files.
            Event::Text(text) if text.ends_with(".md") && self.linked_title.is_some() => {
                self.events.extend(self.linked_title.map(|title| Event::Text(title.into())));
            }
            Event::Text(text) => {
                if let Some(label) = rule_label(&text) {
                    self.anchor(&format!("label-{}", label.to_lowercase()));
                }
                self.events.push(Event::Text(text));
            }
            event => self.events.push(event),
        }
    }

    /// An anchor, unless the document has it already.
    fn anchor(&mut self, name: &str) {
        if !self.anchors.iter().any(|known| known == name) {
            self.anchors.push(name.to_owned());
            self.html(format!("<span id=\"{}\"></span>", escaped(name)));
        }
    }

    fn heading(&mut self, level: usize, inside: Vec<Event<'a>>) {
        let text = plain_text(&inside);
        // Sections of Rust's documentation begin with headings of the first level.
        if level == 1 && self.title.is_none() {
            self.title = Some(text.clone());
        }
        let mut id = anchor(&text);
        while self.anchors.contains(&id) {
            id.push_str("-1");
        }
        self.anchors.push(id.clone());
        if level == 2 {
            self.sections.push((id.clone(), text.clone()));
        }
        // The rules of a section share its letter.
        let letter = text.rsplit_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
        if let Some(letter) = letter.filter(|letter| letter.len() == 1) {
            self.anchor(&format!("label-{}", letter.to_lowercase()));
        }
        self.html(format!("<h{level} id=\"{}\">", escaped(&id)));
        self.events.extend(inside);
        self.html(format!("</h{level}>\n"));
    }

    fn code(&mut self, language: &str, text: &str) {
        let rule = language.split_once(" rule=").map(|(_, rule)| rule);
        let example = |line: &str| {
            let question = line.split(" -> ").next().unwrap_or(line);
            match language.split(' ').next() {
                Some("rules") => examples::of_rule(question),
                Some("expressions") => Some(examples::of_expression(question, rule)),
                Some("console") => examples::of_command(line),
                _ => None,
            }
        };
        let examples: Vec<(&str, Option<String>)> =
            text.lines().map(|line| (line, example(line))).collect();
        if examples.iter().all(|(_, address)| address.is_none()) {
            let text = match language.split(',').next() {
                Some("rust") | Some("") => shown_rust(text),
                _ => text.to_owned(),
            };
            return self
                .html(format!("<pre tabindex=\"0\"><code>{}</code></pre>\n", escaped(&text)));
        }
        self.has_examples = true;
        let root = super::address::to_root(self.document.page);
        let item = |(line, address): &(&str, Option<String>)| {
            let code = format!("<code>{}</code>", escaped(line));
            match address {
                Some(address) => format!(
                    "<li>{code} <a class=\"try\" href=\"{root}{}\">Try it<span class=\"unseen\">: {}</span>\
                     </a></li>",
                    escaped(address),
                    escaped(line)
                ),
                None => format!("<li>{code}</li>"),
            }
        };
        let items: String = examples.iter().map(item).collect();
        self.html(format!("<ul class=\"examples\">{items}</ul>\n"));
    }
}

/// The events up to an end event, without it.
fn take_until_end<'a>(
    rest: &mut impl Iterator<Item = Event<'a>>,
    is_end: impl Fn(&TagEnd) -> bool,
) -> Vec<Event<'a>> {
    rest.take_while(|event| !matches!(event, Event::End(end) if is_end(end))).collect()
}

/// The text of events, without markup.
fn plain_text(events: &[Event<'_>]) -> String {
    let text = |event: &Event<'_>| match event {
        Event::Text(text) | Event::Code(text) => text.to_string(),
        Event::SoftBreak => " ".to_owned(),
        _ => String::new(),
    };
    events.iter().map(text).collect()
}

/// The label of a rule at the beginning of a text: `X7`, `O1: all shapes are equal`.
fn rule_label(text: &str) -> Option<&str> {
    let label = text.split([':', ',']).next().unwrap_or(text);
    let (letters, digits) =
        label.split_at(label.find(|c: char| c.is_ascii_digit()).unwrap_or(label.len()));
    let is_label = matches!(letters.len(), 1 | 2)
        && letters.chars().all(|c| c.is_ascii_uppercase())
        && (digits.len() == 1 && digits.chars().all(|c| c.is_ascii_digit()) || label == "XT");
    is_label.then_some(label)
}

/// The anchor of a heading, in the form of rustdoc and other tools.
fn anchor(heading: &str) -> String {
    let characters = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    characters.collect::<String>().to_lowercase().replace(' ', "-")
}

/// A Rust example without its hidden lines.
fn shown_rust(text: &str) -> String {
    let is_shown = |line: &&str| !(line.starts_with("# ") || *line == "#");
    text.lines().filter(is_shown).map(|line| format!("{line}\n")).collect()
}

/// Escapes the special characters of HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(text: &str) -> RenderedDocument {
        let pages = BTreeMap::from([
            ("docs/ops.md".to_owned(), DocumentPage::new("docs/ops.html", "# Operations\n")),
            (
                "crates/indim-shape/src/rules.md".to_owned(),
                DocumentPage::new("docs/rules.html", ""),
            ),
        ]);
        let (path, page) = ("docs/decisions/one.md", "docs/decisions/one.html");
        Document { path, page, text, pages: &pages }.render()
    }

    #[test]
    fn links_lead_to_pages_or_nowhere() {
        let html = render(
            "[a](../ops.md#b) [c](../../crates/indim-shape/src/rules.md) [d](../../src/d.rs) [`E`]",
        )
        .html;
        assert!(html.contains("<a href=\"../../docs/ops.html#b\">a</a>"), "{html}");
        let named = render("[ops.md](../ops.md) x.md").html;
        assert!(named.contains(">Operations</a> x.md"), "{named}");
        assert!(
            html.contains("<a href=\"../../docs/rules.html\">c</a> d <code>E</code>"),
            "{html}"
        );
    }

    #[test]
    fn headings_and_labels_can_be_linked_to() {
        let page = render(
            "# The rules\n\n## xla (X)\n\n| label | |\n|---|---|\n| X7 | sizes |\n\nXT, no.",
        );
        assert_eq!((&*page.title, &*page.sections[0].0), ("The rules", "xla-x"));
        for id in ["xla-x", "label-x", "label-x7", "label-xt"] {
            assert!(page.html.contains(&format!("id=\"{id}\"")), "{id} {}", page.html);
        }
    }

    #[test]
    fn examples_can_be_tried() {
        let page =
            render("```rules\nnumpy [2,3] [3] -> [2,3]\n```\n```rust\n# hidden\nshown\n```\n");
        assert!(page.has_examples);
        assert!(page.html.contains("href=\"../../index.html#rule=numpy&amp;o=x"), "{}", page.html);
        assert!(page.html.contains("<code>shown\n</code>"), "{}", page.html);
        assert!(!render("```rust\n1 < 2\n```\n").has_examples);
    }
}
