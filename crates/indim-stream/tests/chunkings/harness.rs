//! Runs of programs over arrays in chunks, and the bits of one run over the whole.

use std::collections::HashSet;
use std::sync::Mutex;

use indim_cpu::{Array, ArrayError, CompileOptions, compile};
use indim_graph::Graph;
use indim_io::{ArrayRegion, MemorySink, MemorySource, Sink, Source, StoreError};
use indim_ops::{ArrayType, DType};
use indim_shape::Shape;
use indim_stream::{Plan, StorageInfo, StreamError, StreamInput, StreamOptions};

/// Numbers from a seed.
pub(crate) struct Choices(pub(crate) u64);

impl Choices {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    pub(crate) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// A source that counts the chunks that are decoded.
#[derive(Debug)]
pub(crate) struct Counting {
    source: MemorySource,
    chunks: Vec<usize>,
    decoded: Mutex<(usize, HashSet<Vec<usize>>)>,
}

impl Counting {
    pub(crate) fn new(argument: &Array, chunks: &[usize]) -> Self {
        let source = MemorySource::new(argument.to_row_major().unwrap()).unwrap();
        Counting { source, chunks: chunks.to_vec(), decoded: Mutex::default() }
    }

    /// How often each chunk is decoded, on average.
    pub(crate) fn average(&self) -> f64 {
        let decoded = self.decoded.lock().unwrap();
        decoded.0 as f64 / decoded.1.len() as f64
    }
}

impl Source for Counting {
    fn array_type(&self) -> &ArrayType {
        self.source.array_type()
    }

    fn chunks(&self) -> Option<&[usize]> {
        Some(&self.chunks)
    }

    fn read(&self, region: &ArrayRegion) -> Result<Array, StoreError> {
        let ranges = region.ranges().zip(&self.chunks);
        let (starts, counts): (Vec<usize>, Vec<usize>) = ranges
            .map(|(range, chunk)| {
                let first = range.start / chunk;
                (first, range.end.div_ceil(*chunk) - first)
            })
            .unzip();
        let mut decoded = self.decoded.lock().unwrap();
        for chunk in ArrayRegion::grid(&Shape::from(&counts[..]), &vec![1; counts.len()]) {
            let index = chunk.starts().iter().zip(&starts).map(|(index, start)| index + start);
            decoded.0 += 1;
            decoded.1.insert(index.collect());
        }
        drop(decoded);
        self.source.read(region)
    }
}

pub(crate) fn random_array(choices: &mut Choices, array_type: &ArrayType) -> Array {
    let (dtype, size) = (array_type.dtype, array_type.dtype.size());
    Array::filled(array_type.clone(), |bytes| {
        for element in bytes.chunks_exact_mut(size) {
            let mut number = || choices.below(4001) as f64 / 3.0 - 650.0;
            match dtype {
                DType::F32 => element.copy_from_slice(&(number() as f32).to_ne_bytes()),
                DType::F64 => element.copy_from_slice(&number().to_ne_bytes()),
                DType::I32 => element.copy_from_slice(&(number() as i32).to_ne_bytes()),
                _ => {
                    element[..8].copy_from_slice(&number().to_ne_bytes());
                    element[8..].copy_from_slice(&number().to_ne_bytes());
                }
            }
        }
        Ok::<(), ArrayError>(())
    })
    .unwrap()
}

/// The results of one run over whole arrays.
pub(crate) fn whole(graph: &Graph, arguments: &[&Array]) -> Vec<Array> {
    let executable = compile(graph, &CompileOptions::default()).unwrap();
    let views: Vec<_> = arguments.iter().map(|argument| argument.view()).collect();
    let results = executable.run(&views).unwrap();
    results.iter().map(|result| result.to_row_major().unwrap()).collect()
}

/// A run in pieces.
pub(crate) struct Run {
    pub(crate) plan: Plan,
    pub(crate) results: Vec<Array>,
}

/// Runs a program in pieces; `None` if the memory limit admits none. Checks that the plan holds no more
/// memory than the limit, and that an error names a higher limit.
pub(crate) fn run_in_pieces(
    graph: &Graph,
    sources: &[&Counting],
    memory_limit: usize,
) -> Option<Run> {
    let inputs: Vec<_> = sources.iter().map(|&source| StreamInput::Stored(source)).collect();
    let stored: Vec<StorageInfo> = inputs.iter().map(StorageInfo::input).collect();
    let types = graph.outputs().iter().map(|&output| graph[output].array_type.clone());
    let (sinks, results): (Vec<_>, Vec<_>) =
        types.map(|array_type| MemorySink::new(array_type).unwrap()).unzip();
    let mut sinks: Vec<Box<dyn Sink>> =
        sinks.into_iter().map(|sink| Box::new(sink) as Box<dyn Sink>).collect();
    let unheld = vec![StorageInfo::default(); sinks.len()];
    let options = StreamOptions::new().memory_limit(memory_limit);
    let plan = match Plan::new(graph, &stored, &unheld, &options) {
        Ok(plan) => plan,
        Err(StreamError::MemoryLimit { enough, .. }) => {
            assert!(enough.is_some_and(|enough| enough > memory_limit));
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    assert!(plan.held_bytes() <= memory_limit, "{graph}\n{plan}");
    plan.run(&inputs, &mut sinks, &options).unwrap();
    sinks.into_iter().for_each(|sink| sink.finish().unwrap());
    let results = results.iter().map(|result| result.take().unwrap()).collect();
    Some(Run { plan, results })
}
