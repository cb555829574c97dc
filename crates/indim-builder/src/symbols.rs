//! Parameters with named sizes: `["n", "3"]`.
//!
//! While the graph is built, each name has a placeholder: a size that no other axis has. Broadcasting
//! rules thus never find a named size equal to another size or to 1. `indim_graph::SymbolicGraph` derives
//! the guards.

use indim_graph::GraphErrorKind;
use indim_ops::DType;

use crate::builder::{BuildResult, GraphBuilder};

/// The first placeholder: small, so that products of sizes are small, and rare in programs.
const FIRST_PLACEHOLDER: usize = 211;

/// Distance between placeholders, which leaves room for sizes derived from them.
const PLACEHOLDER_STEP: usize = 16;

/// A size of a parameter: a number, or a name.
enum SizeArg<'a> {
    Number(usize),
    Name(&'a str),
}

impl GraphBuilder {
    /// Like [`GraphBuilder::parameter`], with each size a number or a name. Equal names stand for equal
    /// sizes, of at least 2. If one parameter of a graph is symbolic, make all its parameters by this
    /// method: a size given to `parameter` could equal a placeholder by chance.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::SymbolicGraph;
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.symbolic_parameter("x", DType::F32, &["rows", "3"])?;
    /// let v = b.symbolic_parameter("v", DType::F32, &["3"])?;
    /// let graph = b.finish(&[b.numpy().add(x, v)?])?;
    /// let symbolic = SymbolicGraph::new(&graph, &b.size_facts());
    /// assert_eq!(symbolic.guards().to_string(), "x: [rows, 3], v: [3]; rows >= 2");
    /// assert_eq!(symbolic.guards().fixed_names().count(), 0); // `rows` may vary
    ///
    /// let other = b.symbolic_parameter("y", DType::F32, &["columns", "3"])?;
    /// let x = b.symbolic_parameter("z", DType::F32, &["rows", "3"])?;
    /// assert_eq!(b.numpy().add(x, other).unwrap_err().code(), "size-mismatch");
    /// # Ok::<(), indim_graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// `bad-size` for a text that is neither a number nor a name; those of [`GraphBuilder::parameter`].
    #[track_caller]
    pub fn symbolic_parameter(&self, name: &str, dtype: DType, sizes: &[&str]) -> BuildResult {
        let mut given = Vec::with_capacity(sizes.len());
        for text in sizes {
            let size = parse_size(text.trim()).ok_or_else(|| {
                let kind = GraphErrorKind::BadSize { text: (*text).to_owned() };
                self.error("parameter", &[], kind)
            })?;
            given.push(size);
        }
        let shape: Vec<usize> = given.iter().map(|size| self.placeholder(size)).collect();
        let value = self.parameter(name, dtype, shape)?;
        let id = value.expect_id();
        self.with_facts(|facts| {
            for (axis, size) in given.iter().enumerate() {
                match size {
                    SizeArg::Number(_) => facts.pin(id, axis, "it is given as a number"),
                    SizeArg::Name(name) => facts.name(id, axis, name),
                }
            }
        });
        Ok(value)
    }

    /// The names of sizes, each with its placeholder.
    pub fn placeholder_sizes(&self) -> Vec<(String, usize)> {
        let facts = self.facts();
        let size = |(place, name): (usize, &str)| (name.to_owned(), placeholder(place));
        facts.size_names().enumerate().map(size).collect()
    }

    fn placeholder(&self, size: &SizeArg<'_>) -> usize {
        match size {
            SizeArg::Number(number) => *number,
            SizeArg::Name(name) => {
                let mut place = 0;
                self.with_facts(|facts| place = facts.name_index(name));
                placeholder(place)
            }
        }
    }
}

fn placeholder(place: usize) -> usize {
    FIRST_PLACEHOLDER + place * PLACEHOLDER_STEP
}

fn parse_size(text: &str) -> Option<SizeArg<'_>> {
    if let Ok(number) = text.parse() {
        return Some(SizeArg::Number(number));
    }
    let is_in_name = |c: char| c.is_alphanumeric() || c == '_';
    let is_name = text.chars().all(is_in_name) && text.starts_with(|c: char| !c.is_ascii_digit());
    is_name.then_some(SizeArg::Name(text))
}
