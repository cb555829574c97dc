//! A part of a program between values that the caller names.

/// A part of a program: computation starts at some of its values and ends at others. Nodes outside the part
/// need no lowering.
///
/// ```
/// use indim_model::ProgramPart;
///
/// assert!(ProgramPart::default().is_whole());
/// let part = ProgramPart { from: vec!["scores".to_owned()], to: Vec::new() };
/// assert!(!part.is_whole());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProgramPart {
    /// Names of values that become inputs, after those inputs of the program that the part still needs.
    pub from: Vec<String>,
    /// Names of values that become the outputs; the program's own outputs if empty.
    pub to: Vec<String>,
}

impl ProgramPart {
    /// Whether this is the whole program.
    pub fn is_whole(&self) -> bool {
        self.from.is_empty() && self.to.is_empty()
    }

    /// The names in [`ProgramPart::from`], each once.
    pub fn starts(&self) -> Vec<&str> {
        distinct(&self.from)
    }

    /// The names in [`ProgramPart::to`], each once.
    pub fn ends(&self) -> Vec<&str> {
        distinct(&self.to)
    }
}

fn distinct(names: &[String]) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::with_capacity(names.len());
    for name in names {
        if !found.contains(&name.as_str()) {
            found.push(name);
        }
    }
    found
}
