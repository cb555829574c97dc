//! The compiled programs of a pass: one for each use and shape of its pieces.
//!
//! A reduction may carry the lanes of an incomplete block from piece to piece (`carried.rs`). A row of lanes
//! is up to 32 consecutive positions along the reduced axis: one for each lane.

use std::collections::HashMap;

use indim_cpu::{
    ArrayView, ArrayViewMut, CompileOptions, Executable, InPlace, RunOptions, compile,
};
use indim_graph::{Array, Graph, GraphAssembler, NodeKind, ValueId, VerifyErrorKind};
use indim_ops::{ArrayType, ReduceOp};
use indim_shape::AxisMap;
use indim_transforms::chunks::{combine, fold_lanes, partial_count};

use crate::error::StreamError;
use crate::job::Job;

/// The purpose of a program of a job, which is a stage with the storage of its arrays, or the copy of an
/// input to an output.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum ProgramKind {
    /// Computes a piece.
    Piece,
    /// Fills lanes with the identities of the reductions, such as 0 for a sum.
    Identities,
    /// Adds this number of rows of lanes to the lanes.
    AddToLanes(usize),
    /// Folds lanes to the result of a block.
    FoldLanes {
        /// Whether the fold continues the result of lanes folded before.
        continues: bool,
    },
    /// Combines the results of two neighbouring subtrees: of pieces or blocks, or of two groups of
    /// neighbouring lanes.
    Combine,
}

/// The key of a program: its use, and the sizes of its operands.
pub(crate) type ProgramKey = (ProgramKind, Vec<usize>);

/// The graph of a program of a job.
pub(crate) fn program_graph(job: &Job, (of, sizes): &ProgramKey) -> Result<Graph, StreamError> {
    let axis = job.reduced.map_or(0, |(axis, _)| axis);
    let graph = match *of {
        ProgramKind::Piece => job.program(sizes),
        ProgramKind::Identities => identities(job, sizes),
        ProgramKind::AddToLanes(count) => job.lanes_program(sizes, count),
        ProgramKind::FoldLanes { continues } => {
            let reductions: Vec<_> = job.reductions().zip(job.lane_types(sizes)).collect();
            fold_lanes(&reductions, axis, continues)
        }
        ProgramKind::Combine => combination(job, sizes),
    };
    graph.map_err(StreamError::Graph)
}

/// The programs of a pass. They are few: only the last piece along an axis has another size, and the
/// numbers of rows of lanes that are added are powers of two.
pub(crate) struct Programs<'a> {
    job: &'a Job,
    /// Programs that the plan has compiled.
    planned_executables: &'a [(ProgramKey, Executable)],
    reductions: Vec<ReduceOp>,
    options: &'a CompileOptions,
    /// Programs compiled during the run.
    run_executables: HashMap<ProgramKey, Executable>,
}

impl<'a> Programs<'a> {
    pub(crate) fn new(
        job: &'a Job,
        planned: &'a [(ProgramKey, Executable)],
        options: &'a CompileOptions,
    ) -> Self {
        let reductions = job.reductions().collect();
        Programs {
            job,
            planned_executables: planned,
            reductions,
            options,
            run_executables: HashMap::new(),
        }
    }

    /// The reductions of the job.
    pub(crate) fn reductions(&self) -> &[ReduceOp] {
        &self.reductions
    }

    /// Runs the program for a piece of this shape on its regions of the inputs.
    pub(crate) fn run(
        &mut self,
        piece: &[usize],
        inputs: &[ArrayView<'_>],
    ) -> Result<Vec<Array>, StreamError> {
        let executable = self.executable(ProgramKind::Piece, piece.to_vec())?;
        Ok(executable.run_with(inputs, &RunOptions::default())?)
    }

    /// Lanes of these sizes that hold identities, one array for each output.
    pub(crate) fn identities(&mut self, sizes: Vec<usize>) -> Result<Vec<Array>, StreamError> {
        let executable = self.executable(ProgramKind::Identities, sizes)?;
        Ok(executable.run_with(&[], &RunOptions::default())?)
    }

    /// Adds `count` rows of lanes to the lanes. `sizes` is the shape of a row of lanes, and `inputs`
    /// contains the inputs of all rows of lanes.
    pub(crate) fn add_to_lanes(
        &mut self,
        sizes: Vec<usize>,
        count: usize,
        lanes: Vec<ArrayViewMut<'_>>,
        inputs: Vec<ArrayView<'_>>,
    ) -> Result<(), StreamError> {
        let executable = self.executable(ProgramKind::AddToLanes(count), sizes)?;
        let inputs = inputs.into_iter().map(InPlace::Read);
        let lanes = lanes.into_iter().map(InPlace::Overwrite);
        Ok(executable.run_in_place(lanes.chain(inputs).collect())?)
    }

    /// Folds lanes of these sizes to the result of a block; continues from the results `before`.
    pub(crate) fn fold_lanes(
        &mut self,
        sizes: Vec<usize>,
        before: Option<&[Array]>,
        lanes: &[ArrayView<'_>],
    ) -> Result<Vec<Array>, StreamError> {
        let of = ProgramKind::FoldLanes { continues: before.is_some() };
        let executable = self.executable(of, sizes)?;
        let inputs = lanes.iter().enumerate().flat_map(|(index, lanes)| {
            let before = before.map(|before| before[index].view());
            before.into_iter().chain([lanes.clone()])
        });
        Ok(executable.run_with(&inputs.collect::<Vec<_>>(), &RunOptions::default())?)
    }

    /// Combines the results of two neighbouring subtrees; `y` follows `x`.
    pub(crate) fn combine(&mut self, x: &[Array], y: &[Array]) -> Result<Vec<Array>, StreamError> {
        let Some(first) = x.first() else { return Ok(Vec::new()) };
        let sizes = first.array_type().shape.to_vec();
        let views: Vec<_> = x.iter().chain(y).map(Array::view).collect();
        let executable = self.executable(ProgramKind::Combine, sizes)?;
        Ok(executable.run_with(&views, &RunOptions::default())?)
    }

    fn executable(
        &mut self,
        of: ProgramKind,
        sizes: Vec<usize>,
    ) -> Result<&Executable, StreamError> {
        let key = (of, sizes);
        if let Some((_, planned)) = self.planned_executables.iter().find(|(of, _)| *of == key) {
            return Ok(planned);
        }
        if !self.run_executables.contains_key(&key) {
            let executable = compile(&program_graph(self.job, &key)?, self.options)?;
            self.run_executables.insert(key.clone(), executable);
        }
        Ok(&self.run_executables[&key])
    }
}

/// The graph whose outputs are identities, as lanes of these sizes.
fn identities(job: &Job, sizes: &[usize]) -> Result<Graph, VerifyErrorKind> {
    let mut assembler = GraphAssembler::new();
    let mut outputs = Vec::new();
    for (op, array_type) in job.reductions().zip(job.lane_types(sizes)) {
        let identity = Array::identity(op, array_type.dtype);
        let identity = identity.expect("invariant: carried reductions are folds");
        let scalar = identity.array_type().clone();
        let scalar = assembler.add(NodeKind::Constant(identity), &[], scalar)?;
        let nowhere = NodeKind::BroadcastInDim(AxisMap::from(Vec::new()));
        outputs.push(assembler.add(nowhere, &[scalar], array_type)?);
    }
    assembler.finish(outputs)
}

/// The graph that combines the results of two neighbouring subtrees; `sizes` is the shape of the
/// first array of each output's partial result.
fn combination(job: &Job, sizes: &[usize]) -> Result<Graph, VerifyErrorKind> {
    let types: Vec<ArrayType> = job.result_types(sizes);
    let mut assembler = GraphAssembler::new();
    let mut parameters: Vec<ValueId> = Vec::new();
    for (index, array_type) in types.iter().chain(&types).enumerate() {
        let kind = NodeKind::Parameter { index, name: format!("x{index}") };
        parameters.push(assembler.add(kind, &[], array_type.clone())?);
    }
    let (mut x, mut y) = parameters.split_at(parameters.len() / 2);
    let mut outputs = Vec::new();
    for op in job.reductions() {
        let (of_x, of_y);
        (of_x, x) = x.split_at(partial_count(op));
        (of_y, y) = y.split_at(partial_count(op));
        outputs.extend(combine(&mut assembler, op, of_x, of_y)?);
    }
    assembler.finish(outputs)
}
