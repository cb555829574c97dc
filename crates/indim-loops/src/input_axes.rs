//! In which order the axes of outputs lie in memory when they are to lie as the inputs do.
//!
//! Which axis of an input moves with an axis of an output is read off the loop nests, through
//! temporaries too; sizes that happen to match say nothing.

use std::sync::Arc;

use indim_ops::ArrayType;

use crate::loop_nest::{Access, BufferId, Local, LoopNest, LoopNests};
use crate::strides::order::dense_strides;

/// The axes of inputs that move with each output's axes.
#[derive(Debug)]
pub struct InputAxes {
    /// For each output its rank, and the ways in which inputs move with it.
    outputs: Vec<(usize, Vec<Way>)>,
}

/// For each axis of some value the axis of an input that moves with it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Way {
    parameter: usize,
    axes: Arc<[Option<usize>]>,
}

/// An array is followed in at most so many ways; what comes after them has no say.
const MAX_WAYS: usize = 64;

impl InputAxes {
    /// Follows the inputs through the nests.
    pub fn of(loops: &LoopNests) -> InputAxes {
        let ranks = loops.outputs.iter().map(|output| output.shape.rank());
        InputAxes { outputs: ranks.zip(output_ways(loops)).collect() }
    }

    /// For each output its axes from the outermost to the innermost, sorted as the strides of the inputs
    /// are, where these agree; else in row-major order. `strides` gives the strides of an input, in any unit.
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
        let magnitudes = |way: &Way| -> Vec<usize> {
            let strides = strides(way.parameter);
            let magnitude =
                |axis: &Option<usize>| axis.map_or(0, |axis| strides[axis].unsigned_abs());
            way.axes.iter().map(magnitude).collect()
        };
        let of_output = |(rank, ways): &(usize, Vec<Way>)| {
            axes_by_stride(*rank, &ways.iter().map(magnitudes).collect::<Vec<_>>())
        };
        self.outputs.iter().map(of_output).collect()
    }
}

/// The axes from the outermost to the innermost, as NumPy's iterator sorts them: by insertion, an axis
/// moves outwards past one whose strides are larger in some input and smaller in none.
fn axes_by_stride(rank: usize, inputs: &[Vec<usize>]) -> Vec<usize> {
    // From the innermost outwards, as NumPy's iterator counts.
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

/// Whether `axis` belongs inside of `other`; `None` when no input says.
fn is_inside(axis: usize, other: usize, inputs: &[Vec<usize>]) -> Option<bool> {
    let mut answer = None;
    for strides in inputs {
        let (stride, other_stride) = (strides[axis], strides[other]);
        if stride != 0 && other_stride != 0 {
            if other_stride <= stride {
                // Row-major wins where inputs disagree.
                return Some(false);
            }
            answer = Some(true);
        }
    }
    answer
}

/// For each output the ways in which inputs move with it.
fn output_ways(loops: &LoopNests) -> Vec<Vec<Way>> {
    let mut outputs: Vec<Vec<Way>> = vec![Vec::new(); loops.outputs.len()];
    let mut temporaries: Vec<Vec<Way>> = vec![Vec::new(); loops.temporaries.len()];
    for nest in &loops.nests {
        let (behind, rank) = (Behind::of(nest), nest.shape.rank());
        for store in &nest.stores {
            let mut ways = Vec::new();
            for &access in behind.accesses(store.source).iter() {
                let access = &nest.accesses[access];
                let shape = &access.array_type.shape;
                match access.buffer {
                    BufferId::Parameter(parameter) => {
                        add(&mut ways, Way { parameter, axes: access.walked_axes(rank).into() });
                    }
                    // Read as a reshape, it has other axes than it was written with.
                    BufferId::Temporary(index) if *shape == loops.temporaries[index].shape => {
                        temporaries[index]
                            .iter()
                            .for_each(|way| add(&mut ways, through(access, way, rank)));
                    }
                    BufferId::Output(index) if *shape == loops.outputs[index].shape => {
                        outputs[index]
                            .iter()
                            .for_each(|way| add(&mut ways, through(access, way, rank)));
                    }
                    _ => {}
                }
            }
            let of_target = ways.iter().map(|way| onto(&store.target, way));
            // Several nests may write the parts of one.
            match store.target.buffer {
                BufferId::Temporary(index) => {
                    of_target.for_each(|way| add(&mut temporaries[index], way))
                }
                BufferId::Output(index) => of_target.for_each(|way| add(&mut outputs[index], way)),
                _ => {}
            }
        }
    }
    outputs
}

fn add(ways: &mut Vec<Way>, way: Way) {
    if ways.len() < MAX_WAYS && !ways.contains(&way) {
        ways.push(way);
    }
}

/// The way of an input through a value that `access` reads: for each axis of the nest.
fn through(access: &Access, way: &Way, rank: usize) -> Way {
    let axes = access.walked_axes(rank).into_iter().map(|axis| way.axes[axis?]);
    Way { parameter: way.parameter, axes: axes.collect() }
}

/// The way of an input, known for each axis of the nest, for each axis of what the nest writes.
fn onto(target: &Access, way: &Way) -> Way {
    let axes = target.axes.iter().map(|index| way.axes[index.walked?.axis]);
    Way { parameter: way.parameter, axes: axes.collect() }
}

/// For each value of a nest the accesses from which it is computed: the first [`MAX_WAYS`] of them.
struct Behind {
    of_instructions: Vec<Arc<[usize]>>,
}

impl Behind {
    fn of(nest: &LoopNest) -> Self {
        let mut behind = Behind { of_instructions: Vec::with_capacity(nest.instructions.len()) };
        for instruction in nest.instructions.iter() {
            let parts: Vec<Arc<[usize]>> =
                instruction.operands.iter().map(|&operand| behind.accesses(operand)).collect();
            behind.of_instructions.push(union(&parts));
        }
        behind
    }

    fn accesses(&self, local: Local) -> Arc<[usize]> {
        match local {
            Local::Access(index) => Arc::from([index]),
            Local::Instruction(index) => Arc::clone(&self.of_instructions[index]),
        }
    }
}

/// The merged `parts`, each ascending; the part itself if only one is given.
fn union(parts: &[Arc<[usize]>]) -> Arc<[usize]> {
    let mut all: Vec<usize> = parts.iter().flat_map(|part| part.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all.truncate(MAX_WAYS);
    let same = parts.iter().find(|part| part[..] == all[..]);
    same.map_or_else(|| all.into(), Arc::clone)
}

/// The memory order of a graph's outputs, following its inputs, for any sizes.
#[derive(Debug)]
pub struct FollowedInputs {
    axes: InputAxes,
    /// The answer for row-major inputs, which are most.
    of_row_major_inputs: Vec<Vec<usize>>,
}

impl FollowedInputs {
    /// The memory order for the graph of these nests.
    pub fn new(loops: &LoopNests) -> Self {
        let axes = InputAxes::of(loops);
        let row_major = |parameter: usize| loops.parameters[parameter].shape.row_major_strides();
        FollowedInputs { of_row_major_inputs: axes.output_axes(row_major), axes }
    }

    /// Like [`FollowedInputs::strides`], for row-major inputs.
    pub fn of_row_major_inputs(&self, outputs: &[ArrayType]) -> Vec<Option<Vec<isize>>> {
        strides(outputs, &self.of_row_major_inputs)
    }

    /// For each output, of these types, the strides in bytes in which its elements lie densely, as the inputs
    /// do whose strides are given; `None` for row-major.
    pub fn strides(
        &self,
        outputs: &[ArrayType],
        input_strides: impl Fn(usize) -> Vec<isize>,
    ) -> Vec<Option<Vec<isize>>> {
        strides(outputs, &self.axes.output_axes(input_strides))
    }
}

fn strides(outputs: &[ArrayType], axes: &[Vec<usize>]) -> Vec<Option<Vec<isize>>> {
    outputs.iter().zip(axes).map(|(output, axes)| dense_strides(output, axes)).collect()
}
