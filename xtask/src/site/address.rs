//! Addresses: fields after `#` in the browsers' encoding, and relative paths between pages.

/// The fields of an address, encoded, in the order in which they are added.
#[derive(Default)]
pub(crate) struct Fields(String);

impl Fields {
    /// Adds a field.
    pub(crate) fn add(&mut self, name: &str, value: &str) {
        if !self.0.is_empty() {
            self.0.push('&');
        }
        self.0 += name;
        self.0.push('=');
        for byte in value.bytes() {
            match byte {
                b' ' => self.0.push('+'),
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'*' | b'-' | b'.' | b'_' => {
                    self.0.push(byte.into());
                }
                _ => self.0 += &format!("%{byte:02X}"),
            }
        }
    }

    /// The address of a page with these fields.
    pub(crate) fn address_of(&self, page: &str) -> String {
        format!("{page}#{}", self.0)
    }
}

/// The relative path from one page of the site to another, both given from its root: `../rules.html`.
pub(crate) fn relative(from: &str, to: &str) -> String {
    format!("{}{to}", to_root(from))
}

/// The relative path from a page to the root: empty, or `../` for each folder.
pub(crate) fn to_root(page: &str) -> String {
    "../".repeat(page.matches('/').count())
}

/// A path of the repository without `.` and `..`.
pub(crate) fn resolved(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_as_browsers_do() {
        let mut fields = Fields::default();
        fields.add("rule", "xla");
        fields.add("o", "é:2, 3");
        assert_eq!(fields.address_of("index.html"), "index.html#rule=xla&o=%C3%A9%3A2%2C+3");
    }

    #[test]
    fn paths_are_relative_to_pages() {
        assert_eq!(relative("docs/decisions/a.html", "docs/b.html"), "../../docs/b.html");
        assert_eq!(resolved("docs/decisions", "../../crates/a.md"), "crates/a.md");
    }
}
