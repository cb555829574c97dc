//! The axes of inputs that move with the axes of outputs, for outputs in the memory order of the inputs, like
//! NumPy's `order="K"`.
//!
//! The loop nests determine the pairs of axes, also through temporaries. Equal sizes alone do not.

use std::sync::Arc;

use crate::loop_nest::{Access, BufferId, Local, LoopNest, LoopNests};

/// The axes of inputs that move with each output's axes.
#[derive(Debug)]
pub struct InputAxes {
    /// The rank of each output, and the paths from inputs to it.
    outputs: Vec<(usize, Vec<InputPath>)>,
}

/// A path from an input to a value: for each axis of the value, the axis of the input that moves with it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct InputPath {
    parameter: usize,
    axes: Arc<[Option<usize>]>,
}

/// Maximum number of paths to one array; further paths are ignored.
const MAX_INPUT_PATHS: usize = 64;

impl InputAxes {
    /// Follows the inputs through the nests to the outputs.
    pub fn of(loops: &LoopNests) -> InputAxes {
        let ranks = loops.outputs.iter().map(|output| output.shape.rank());
        InputAxes { outputs: ranks.zip(output_paths(loops)).collect() }
    }

    /// For each output, its axes from the outermost to the innermost, sorted by the strides of the inputs;
    /// in row-major order if the inputs disagree. `strides` returns the strides of an input, in any unit.
    ///
    /// ```
    /// use indim_loops::{input_axes::InputAxes, lower};
    /// use indim_builder::GraphBuilder;
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [4, 3])?;
    /// let axes = InputAxes::of(&lower(&b.finish(&[-x])?));
    /// assert_eq!(axes.output_axes(|_| vec![3, 1]), [[0, 1]]);
    /// assert_eq!(axes.output_axes(|_| vec![1, 4]), [[1, 0]]);
    /// # Ok::<(), indim_graph::GraphError>(())
    /// ```
    pub fn output_axes(&self, strides: impl Fn(usize) -> Vec<isize>) -> Vec<Vec<usize>> {
        let magnitudes = |path: &InputPath| -> Vec<usize> {
            let strides = strides(path.parameter);
            let magnitude =
                |axis: &Option<usize>| axis.map_or(0, |axis| strides[axis].unsigned_abs());
            path.axes.iter().map(magnitude).collect()
        };
        let of_output = |(rank, paths): &(usize, Vec<InputPath>)| {
            axes_by_stride(*rank, &paths.iter().map(magnitudes).collect::<Vec<_>>())
        };
        self.outputs.iter().map(of_output).collect()
    }
}

/// The axes from the outermost to the innermost, sorted like NumPy's iterator sorts them (`npyiter`):
/// insertion sort, in which an axis moves inwards past another if the other has the larger stride in every
/// input that has a stride along both.
fn axes_by_stride(rank: usize, inputs: &[Vec<usize>]) -> Vec<usize> {
    // NumPy's iterator numbers axes from the innermost outwards.
    let mut axes: Vec<usize> = (0..rank).rev().collect();
    for from in 1..rank {
        let axis = axes[from];
        let mut to = from;
        for position in (0..from).rev() {
            match is_inside(axis, axes[position], inputs) {
                Some(true) => to = position,
                Some(false) => break,
                None => {}
            }
        }
        axes[to..=from].rotate_right(1);
    }
    axes.reverse();
    axes
}

/// Whether `axis` goes inside `other`; `None` if no input has a stride along both.
fn is_inside(axis: usize, other: usize, inputs: &[Vec<usize>]) -> Option<bool> {
    let mut answer = None;
    for strides in inputs {
        let (stride, other_stride) = (strides[axis], strides[other]);
        if stride != 0 && other_stride != 0 {
            if other_stride <= stride {
                // If inputs disagree, row-major order wins.
                return Some(false);
            }
            answer = Some(true);
        }
    }
    answer
}

/// The paths from inputs to each output.
fn output_paths(loops: &LoopNests) -> Vec<Vec<InputPath>> {
    let mut outputs: Vec<Vec<InputPath>> = vec![Vec::new(); loops.outputs.len()];
    let mut temporaries: Vec<Vec<InputPath>> = vec![Vec::new(); loops.temporaries.len()];
    for nest in &loops.nests {
        let (sets, rank) = (AccessSets::of(nest), nest.shape.rank());
        for store in &nest.stores {
            let mut paths = Vec::new();
            for &access in sets.accesses(store.source).iter() {
                let access = &nest.accesses[access];
                let shape = &access.array_type.shape;
                match access.buffer {
                    BufferId::Parameter(parameter) => {
                        add(
                            &mut paths,
                            InputPath { parameter, axes: access.walked_axes(rank).into() },
                        );
                    }
                    // A nest that reads the value under another shape sees a reshape, whose axes are not
                    // those of the path.
                    BufferId::Temporary(index) if *shape == loops.temporaries[index].shape => {
                        temporaries[index]
                            .iter()
                            .for_each(|path| add(&mut paths, value_path(access, path, rank)));
                    }
                    BufferId::Output(index) if *shape == loops.outputs[index].shape => {
                        outputs[index]
                            .iter()
                            .for_each(|path| add(&mut paths, value_path(access, path, rank)));
                    }
                    _ => {}
                }
            }
            let of_target = paths.iter().map(|path| target_path(&store.target, path));
            // Several nests may write parts of one array.
            match store.target.buffer {
                BufferId::Temporary(index) => {
                    of_target.for_each(|path| add(&mut temporaries[index], path))
                }
                BufferId::Output(index) => {
                    of_target.for_each(|path| add(&mut outputs[index], path))
                }
                _ => {}
            }
        }
    }
    outputs
}

fn add(paths: &mut Vec<InputPath>, path: InputPath) {
    if paths.len() < MAX_INPUT_PATHS && !paths.contains(&path) {
        paths.push(path);
    }
}

/// The path through the value that `access` reads, for the axes of the nest.
fn value_path(access: &Access, path: &InputPath, rank: usize) -> InputPath {
    let axes = access.walked_axes(rank).into_iter().map(|axis| path.axes[axis?]);
    InputPath { parameter: path.parameter, axes: axes.collect() }
}

/// The path to the array that the nest writes, from the path for the axes of the nest.
fn target_path(target: &Access, path: &InputPath) -> InputPath {
    let axes = target.axes.iter().map(|index| path.axes[index.single_term()?.axis]);
    InputPath { parameter: path.parameter, axes: axes.collect() }
}

/// The accesses that each value of a nest depends on, at most [`MAX_INPUT_PATHS`].
struct AccessSets {
    of_instructions: Vec<Arc<[usize]>>,
}

impl AccessSets {
    fn of(nest: &LoopNest) -> Self {
        let mut sets = AccessSets { of_instructions: Vec::with_capacity(nest.instructions.len()) };
        for instruction in nest.instructions.iter() {
            let parts: Vec<Arc<[usize]>> =
                instruction.operands.iter().map(|&operand| sets.accesses(operand)).collect();
            sets.of_instructions.push(union(&parts));
        }
        sets
    }

    fn accesses(&self, local: Local) -> Arc<[usize]> {
        match local {
            Local::Access(index) => Arc::from([index]),
            Local::Instruction(index) => Arc::clone(&self.of_instructions[index]),
        }
    }
}

/// The union of `sets`, sorted; shares the allocation of a set that equals the union.
fn union(sets: &[Arc<[usize]>]) -> Arc<[usize]> {
    let mut all: Vec<usize> = sets.iter().flat_map(|set| set.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all.truncate(MAX_INPUT_PATHS);
    let same = sets.iter().find(|set| set[..] == all[..]);
    same.map_or_else(|| all.into(), Arc::clone)
}
