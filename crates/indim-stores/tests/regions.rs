//! Grids cover arrays: an array read by one grid and written by another is unchanged.

use std::iter;

use indim_arrays::{Array, ArrayError};
use indim_ops::{ArrayType, DType};
use indim_shape::Shape;
use indim_stores::{ArrayRegion, MemorySink, MemorySource, Sink, Source};
use proptest::prelude::*;

/// The numbers from 0 on, as an array of this shape.
fn counted(shape: &Shape) -> Array {
    let array_type = ArrayType::new(DType::U32, shape.clone());
    let write = |bytes: &mut [u8]| {
        for (index, element) in bytes.chunks_exact_mut(4).enumerate() {
            element.copy_from_slice(&u32::try_from(index).unwrap().to_ne_bytes());
        }
        Ok::<(), ArrayError>(())
    };
    Array::filled(array_type, write).unwrap()
}

/// The indices of a region, one after another.
fn indices(region: &ArrayRegion) -> Vec<Vec<usize>> {
    region.ranges().fold(vec![Vec::new()], |indices, range| {
        let with = |index: Vec<usize>| {
            range.clone().map(move |next| index.iter().copied().chain(iter::once(next)).collect())
        };
        indices.into_iter().flat_map(with).collect()
    })
}

fn shape_and_steps() -> impl Strategy<Value = (Vec<usize>, Vec<usize>)> {
    (0..5usize).prop_flat_map(|rank| {
        (prop::collection::vec(0..5usize, rank), prop::collection::vec(1..7usize, rank))
    })
}

proptest! {
    #[test]
    fn grids_meet_every_element_once((shape, steps) in shape_and_steps()) {
        let shape = Shape::from(shape);
        let mut met: Vec<_> = ArrayRegion::grid(&shape, &steps).flat_map(|r| indices(&r)).collect();
        met.sort();
        prop_assert_eq!(met, indices(&ArrayRegion::whole(&shape)));
    }

    #[test]
    fn regions_have_the_elements_of_their_indices((shape, steps) in shape_and_steps()) {
        let shape = Shape::from(shape);
        let source = MemorySource::new(counted(&shape)).unwrap();
        for region in ArrayRegion::grid(&shape, &steps) {
            let piece = source.read(&region).unwrap();
            let flat = |index: Vec<usize>| {
                index.iter().zip(shape.iter()).fold(0, |flat, (i, size)| flat * size + i) as u32
            };
            let expected: Vec<u32> = indices(&region).into_iter().map(flat).collect();
            prop_assert_eq!(piece.elements::<u32>(), Ok(&expected[..]));
        }
    }

    #[test]
    fn what_is_read_and_written_by_regions_is_the_array((shape, steps) in shape_and_steps()) {
        let shape = Shape::from(shape);
        let source = MemorySource::new(counted(&shape)).unwrap().with_chunks(steps.clone());
        let (sink, result) = MemorySink::new(source.array_type().clone()).unwrap();
        let mut sink: Box<dyn Sink> = Box::new(sink.with_chunks(steps));
        for region in ArrayRegion::grid(&shape, sink.chunks().map(<[usize]>::to_vec).as_ref().unwrap()) {
            sink.write(&region, &source.read(&region).unwrap()).unwrap();
        }
        prop_assert!(result.take().is_none());
        sink.finish().unwrap();
        let (written, expected) = (result.take().unwrap(), counted(&shape));
        prop_assert_eq!(written.bytes(), expected.bytes());
    }
}

#[test]
fn what_is_not_whole_or_does_not_fit_is_refused() {
    let (sink, result) = MemorySink::new(ArrayType::new(DType::U32, [2, 2])).unwrap();
    let mut sink: Box<dyn Sink> = Box::new(sink);
    let row = counted(&Shape::from([1, 2]));
    let code = |sink: &mut Box<dyn Sink>, region| sink.write(&region, &row).unwrap_err().code();
    assert_eq!(code(&mut sink, ArrayRegion::new([2, 0], [1, 2])), "outside-of-array");
    assert_eq!(code(&mut sink, ArrayRegion::new([0], [1])), "outside-of-array");
    assert_eq!(code(&mut sink, ArrayRegion::new([0, usize::MAX], [1, 2])), "outside-of-array");
    assert_eq!(code(&mut sink, ArrayRegion::new([0, 0], [2, 2])), "wrong-piece");
    sink.write(&ArrayRegion::new([0, 0], [1, 2]), &row).unwrap();
    let error = sink.finish().unwrap_err();
    assert_eq!(
        (error.code(), error.to_string()),
        ("incomplete", "memory: 2 of 4 elements were written".into())
    );
    assert!(result.take().is_none());
}
