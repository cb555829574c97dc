//! The jobs as data: what is computed, on which shapes.

use indim::{DType, Graph, GraphBuilder, GraphError, Shape};

/// What a job computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `X + v` with a vector along the rows.
    RowBias,
    /// `X + v` with a vector along the columns.
    ColumnBias,
    /// `u * v` of two vectors.
    OuterProduct,
    /// `(X - m) * s * g + b` with four vectors along the rows.
    Normalise,
}

/// One job at one size.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// All jobs at all sizes.
pub(crate) fn jobs() -> Vec<Job> {
    let kinds = [
        ("X + row", Kind::RowBias),
        ("X + column", Kind::ColumnBias),
        ("outer product", Kind::OuterProduct),
        ("(X - m) * s * g + b", Kind::Normalise),
    ];
    let sizes = [(128, 128), (512, 512), (4096, 4096), (4_000_000, 3)];
    let job = |(rows, columns)| kinds.map(|(name, kind)| Job { name, kind, rows, columns });
    sizes.into_iter().flat_map(job).collect()
}

impl Job {
    /// The shapes of the inputs.
    pub(crate) fn shapes(&self) -> Vec<Shape> {
        let full = Shape::from([self.rows, self.columns]);
        let (rows, columns) = (Shape::from([self.rows]), Shape::from([self.columns]));
        match self.kind {
            Kind::RowBias => vec![full, columns],
            Kind::ColumnBias => vec![full, rows],
            Kind::OuterProduct => vec![rows, columns],
            Kind::Normalise => {
                vec![full, columns.clone(), columns.clone(), columns.clone(), columns]
            }
        }
    }

    /// Numbers to compute with.
    pub(crate) fn inputs(&self) -> Vec<Vec<f32>> {
        let numbers = |(input, shape): (usize, Shape)| -> Vec<f32> {
            let count = shape.iter().product();
            (0..count).map(|i: usize| ((i * 7 + input * 13) % 1000) as f32 * 0.01 - 5.0).collect()
        };
        self.shapes().into_iter().enumerate().map(numbers).collect()
    }

    /// The graph that computes the job.
    pub(crate) fn graph(&self) -> Graph {
        self.try_graph().expect("the job's shapes are legal")
    }

    fn try_graph(&self) -> Result<Graph, GraphError> {
        let b = GraphBuilder::new();
        let mut inputs = Vec::new();
        for (index, shape) in self.shapes().into_iter().enumerate() {
            inputs.push(b.parameter(&format!("x{index}"), DType::F32, shape)?);
        }
        let result = match self.kind {
            Kind::RowBias => b.add(inputs[0], inputs[1], &[1])?,
            Kind::ColumnBias => b.add(inputs[0], inputs[1], &[0])?,
            Kind::OuterProduct => {
                let full = [self.rows, self.columns];
                b.mul(b.broadcast_in_dim(inputs[0], &[0], full)?, inputs[1], &[1])?
            }
            Kind::Normalise => {
                let centred = b.sub(inputs[0], inputs[1], &[1])?;
                let scaled = b.mul(b.mul(centred, inputs[2], &[1])?, inputs[3], &[1])?;
                b.add(scaled, inputs[4], &[1])?
            }
        };
        b.finish(&[result])
    }
}
