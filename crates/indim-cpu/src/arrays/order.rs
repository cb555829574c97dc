//! In which order the elements of new outputs lie in memory. Called by `executable.rs`.
//!
//! Which axis of an input moves with an axis of an output is read off the loop nests, through
//! temporaries too; sizes that happen to match say nothing.

use std::sync::{Arc, OnceLock};

use indim_graph::lower::loop_nest::{Access, BufferId, Local, LoopNest, LoopProgram};
use indim_ops::ArrayType;

use crate::arrays::view::{ArrayView, is_column_major, row_major_strides};

/// In which order the elements of new outputs lie in memory, as NumPy's `order` says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Order {
    /// Row-major.
    #[default]
    C,
    /// Column-major.
    F,
    /// Column-major if every input is, else row-major.
    A,
    /// As the inputs lie: the axes sorted as their strides are, where they agree; else row-major.
    K,
}

/// Which axes of inputs move with those of each output, found when it is first asked for.
#[derive(Debug, Default)]
pub(crate) struct InputAxes(OnceLock<Followed>);

#[derive(Debug)]
struct Followed {
    /// For each output the ways in which inputs move with it.
    ways: Vec<Vec<Way>>,
    /// The answer for row-major inputs, which are most.
    of_row_major_inputs: Vec<Option<Vec<isize>>>,
}

/// For each axis of some value the axis of an input that moves with it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Way {
    parameter: usize,
    axes: Arc<[Option<usize>]>,
}

/// An array is followed in at most so many ways; what comes after them has no say.
const MOST_WAYS: usize = 64;

impl InputAxes {
    /// For each output the strides in bytes in which its elements lie densely in this order; `None` for
    /// row-major.
    pub(crate) fn output_strides(
        &self,
        loops: &LoopProgram,
        order: Order,
        inputs: &[ArrayView<'_>],
    ) -> Vec<Option<Vec<isize>>> {
        let all = |is_reversed: bool| {
            let strides = |output: &ArrayType| {
                let axes = (0..output.shape.rank()).rev();
                is_reversed.then(|| dense_strides(output, axes)).filter(|_| has_orders(output))
            };
            loops.outputs.iter().map(strides).collect()
        };
        match order {
            Order::C => all(false),
            Order::F => all(true),
            Order::A => all(!inputs.is_empty() && inputs.iter().all(is_column_major)),
            Order::K => {
                let followed = self.0.get_or_init(|| Followed::new(loops));
                if inputs.iter().all(|input| input.is_row_major()) {
                    return followed.of_row_major_inputs.clone();
                }
                followed.strides(loops, |parameter| inputs[parameter].strides().to_vec())
            }
        }
    }
}

impl Followed {
    fn new(loops: &LoopProgram) -> Followed {
        let ways = output_ways(loops);
        let mut followed = Followed { ways, of_row_major_inputs: Vec::new() };
        let row_major = |parameter: usize| row_major_strides(&loops.parameters[parameter]);
        followed.of_row_major_inputs = followed.strides(loops, row_major);
        followed
    }

    fn strides(
        &self,
        loops: &LoopProgram,
        input_strides: impl Fn(usize) -> Vec<isize>,
    ) -> Vec<Option<Vec<isize>>> {
        let magnitudes = |way: &Way| -> Vec<usize> {
            let strides = input_strides(way.parameter);
            way.axes
                .iter()
                .map(|axis| axis.map_or(0, |axis| strides[axis].unsigned_abs()))
                .collect()
        };
        let of_output = |(output, ways): (&ArrayType, &Vec<Way>)| {
            if !has_orders(output) {
                return None;
            }
            let ways: Vec<Vec<usize>> = ways.iter().map(magnitudes).collect();
            let axes = axes_by_stride(output.shape.rank(), &ways);
            (!axes.is_sorted()).then(|| dense_strides(output, axes.into_iter()))
        };
        loops.outputs.iter().zip(&self.ways).map(of_output).collect()
    }
}

/// Whether the array can lie in more than one order.
fn has_orders(array_type: &ArrayType) -> bool {
    array_type.shape.rank() >= 2
}

/// The strides in bytes of a dense array whose axes lie in memory in this order, outermost first.
fn dense_strides(
    array_type: &ArrayType,
    axes: impl DoubleEndedIterator<Item = usize>,
) -> Vec<isize> {
    let mut strides = vec![0; array_type.shape.rank()];
    let mut stride = array_type.dtype.size() as isize;
    for axis in axes.rev() {
        strides[axis] = stride;
        // Only a shape that no array in memory can have saturates.
        let size = isize::try_from(array_type.shape[axis].max(1)).unwrap_or(isize::MAX);
        stride = stride.saturating_mul(size);
    }
    strides
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
fn output_ways(loops: &LoopProgram) -> Vec<Vec<Way>> {
    let mut outputs: Vec<Vec<Way>> = vec![Vec::new(); loops.outputs.len()];
    let mut temporaries: Vec<Vec<Way>> = vec![Vec::new(); loops.temporaries.len()];
    for nest in &loops.nests {
        let behind = Behind::of(nest);
        for store in &nest.stores {
            let mut ways = Vec::new();
            for &access in behind.accesses(store.source).iter() {
                let access = &nest.accesses[access];
                let shape = &access.array_type.shape;
                match access.buffer {
                    BufferId::Parameter(parameter) => {
                        add(&mut ways, Way { parameter, axes: access.axes.clone() });
                    }
                    // Read as a reshape, it has other axes than it was written with.
                    BufferId::Temporary(index) if *shape == loops.temporaries[index].shape => {
                        temporaries[index]
                            .iter()
                            .for_each(|way| add(&mut ways, through(access, way)));
                    }
                    BufferId::Output(index) if *shape == loops.outputs[index].shape => {
                        outputs[index].iter().for_each(|way| add(&mut ways, through(access, way)));
                    }
                    _ => {}
                }
            }
            let of_target = ways.iter().map(|way| onto(&store.target, way)).collect();
            match store.target.buffer {
                BufferId::Temporary(index) => temporaries[index] = of_target,
                BufferId::Output(index) => outputs[index] = of_target,
                _ => {}
            }
        }
    }
    outputs
}

fn add(ways: &mut Vec<Way>, way: Way) {
    if ways.len() < MOST_WAYS && !ways.contains(&way) {
        ways.push(way);
    }
}

/// The way of an input through a value that `access` reads: for each axis of the nest.
fn through(access: &Access, way: &Way) -> Way {
    let axes = access.axes.iter().map(|axis| axis.and_then(|axis| way.axes[axis]));
    Way { parameter: way.parameter, axes: axes.collect() }
}

/// The way of an input, known for each axis of the nest, for each axis of what the nest writes.
fn onto(target: &Access, way: &Way) -> Way {
    let mut axes = vec![None; target.array_type.shape.rank()];
    for (&written, &read) in target.axes.iter().zip(way.axes.iter()) {
        if let Some(axis) = written {
            axes[axis] = read;
        }
    }
    Way { parameter: way.parameter, axes: axes.into() }
}

/// For each value of a nest the accesses from which it is computed: the first [`MOST_WAYS`] of them.
struct Behind {
    of_instructions: Vec<Arc<[usize]>>,
}

impl Behind {
    fn of(nest: &LoopNest) -> Self {
        let mut behind = Behind { of_instructions: Vec::with_capacity(nest.instructions.len()) };
        for instruction in &nest.instructions {
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

/// The least of what is in any of `parts`, each of which is ascending; one of them where that is all.
fn union(parts: &[Arc<[usize]>]) -> Arc<[usize]> {
    let mut all: Vec<usize> = parts.iter().flat_map(|part| part.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all.truncate(MOST_WAYS);
    let same = parts.iter().find(|part| part[..] == all[..]);
    same.map_or_else(|| all.into(), Arc::clone)
}
