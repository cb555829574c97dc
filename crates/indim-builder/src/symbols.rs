//! Parameters whose sizes have names: `["n", "3"]`.
//!
//! While the graph is made, a name stands for a size of its own that no other has, so rules never find it
//! equal to another size, nor to 1. `indim_graph::SymbolicGraph` states the consequences.

use indim_graph::GraphErrorKind;
use indim_ops::DType;

use crate::builder::{BuildResult, GraphBuilder};

/// The first size that stands for a name; small, so that products are, and no size that people write often.
const FIRST_STAND_IN: usize = 211;

/// Distance between stand-ins, which leaves room for numbers derived from them.
const STAND_IN_STEP: usize = 16;

/// A size of a parameter: a number, or a name.
enum SizeArg<'a> {
    Number(usize),
    Name(&'a str),
}

impl GraphBuilder {
    /// Like [`GraphBuilder::parameter`], where a size is a number or a name: equal names are equal sizes,
    /// known only to be at least 2. If one parameter of a graph is made so, all others must be too: no size
    /// given as a number then equals the stand-in of a name by chance.
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
    /// assert_eq!(symbolic.guards().not_free().count(), 0); // nothing needs a number for `rows`
    ///
    /// let other = b.symbolic_parameter("y", DType::F32, &["columns", "3"])?;
    /// let x = b.symbolic_parameter("z", DType::F32, &["rows", "3"])?;
    /// assert_eq!(b.numpy().add(x, other).unwrap_err().code(), "size-mismatch");
    /// # Ok::<(), indim_graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// `bad-size` for what is neither; as [`GraphBuilder::parameter`].
    #[track_caller]
    pub fn symbolic_parameter(&self, name: &str, dtype: DType, sizes: &[&str]) -> BuildResult {
        let mut given = Vec::with_capacity(sizes.len());
        for text in sizes {
            let size = read(text.trim()).ok_or_else(|| {
                let kind = GraphErrorKind::BadSize { text: (*text).to_owned() };
                self.error("parameter", &[], kind)
            })?;
            given.push(size);
        }
        let shape: Vec<usize> = given.iter().map(|size| self.stand_in(size)).collect();
        let value = self.parameter(name, dtype, shape)?;
        let id = value.known_id();
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

    /// The names of sizes, and what stands for each while the graph is made.
    pub fn stand_ins(&self) -> Vec<(String, usize)> {
        let facts = self.facts();
        let size = |(place, name): (usize, &str)| (name.to_owned(), stand_in(place));
        facts.size_names().enumerate().map(size).collect()
    }

    fn stand_in(&self, size: &SizeArg<'_>) -> usize {
        match size {
            SizeArg::Number(number) => *number,
            SizeArg::Name(name) => {
                let mut place = 0;
                self.with_facts(|facts| place = facts.place_of_name(name));
                stand_in(place)
            }
        }
    }
}

fn stand_in(place: usize) -> usize {
    FIRST_STAND_IN + place * STAND_IN_STEP
}

fn read(text: &str) -> Option<SizeArg<'_>> {
    if let Ok(number) = text.parse() {
        return Some(SizeArg::Number(number));
    }
    let is_in_name = |c: char| c.is_alphanumeric() || c == '_';
    let is_name = text.chars().all(is_in_name) && text.starts_with(|c: char| !c.is_ascii_digit());
    is_name.then_some(SizeArg::Name(text))
}
