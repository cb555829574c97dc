//! Recurrent layers at limits.

use indim_builder::GraphBuilder;
use indim_graph::{Array, evaluate};
use indim_model::FormatErrorKind;
use indim_model::recurrent::{
    CellActivation, CellKind, CellWeights, RecurrentCell, RecurrentDirection, RecurrentSequence,
    recurrent_layer,
};

/// The results of an RNN of zeros in both directions, and the number of loops in its graph. `lengths` is the
/// size of the operand of lengths.
fn layer(
    [length, batch, input, hidden]: [usize; 4],
    lengths: Option<usize>,
) -> Result<(Vec<Array>, usize), &'static str> {
    let b = GraphBuilder::new();
    let zeros = |sizes: &[usize]| b.broadcast_in_dim(b.scalar(0.0f32), &[], sizes).unwrap();
    let cell =
        RecurrentCell { kind: CellKind::Rnn, activations: vec![CellActivation::Relu], clip: None };
    let weights = CellWeights {
        input: zeros(&[hidden, input]),
        recurrent: zeros(&[hidden, hidden]),
        input_bias: None,
        recurrent_bias: None,
        peepholes: None,
    };
    let initial = vec![zeros(&[batch, hidden])];
    let lengths = lengths.map(|size| {
        let zero = b.scalar(0i32);
        b.broadcast_in_dim(zero, &[], [size]).unwrap()
    });
    let sequence = RecurrentSequence { x: zeros(&[length, batch, input]), lengths };
    let directions = [false, true].map(|is_reversed| RecurrentDirection {
        cell: cell.clone(),
        weights: weights.clone(),
        initial: initial.clone(),
        is_reversed,
    });
    let results = recurrent_layer(&b, &sequence, &directions).map_err(|error| match error {
        FormatErrorKind::Graph(error) => error.code(),
        other => panic!("{other:?}"),
    })?;
    let graph = b.finish(&[&results.all, &results.finals[0]]).map_err(|error| error.code())?;
    let loops = graph.to_string().matches(" while ").count();
    Ok((evaluate(&graph, &[]).unwrap(), loops))
}

#[test]
fn a_layer_without_steps_or_elements_has_no_loop() {
    for sizes in [[0, 2, 3, 4], [5, 0, 3, 4], [5, 2, 3, 0], [usize::MAX >> 23, 1, 0, 0]] {
        let [length, batch, _, hidden] = sizes;
        for lengths in [None, Some(batch)] {
            let (found, loops) = layer(sizes, lengths).unwrap();
            assert_eq!(found[0].shape().to_vec(), [length, 2, batch, hidden], "{sizes:?}");
            assert_eq!(found[1].shape().to_vec(), [2, batch, hidden], "{sizes:?}");
            assert_eq!(loops, 0, "{sizes:?}");
        }
        assert_eq!(layer(sizes, Some(batch + 1)).err(), Some("argument-type"), "{sizes:?}");
    }
    assert!(layer([5, 2, 0, 4], Some(2)).unwrap().1 > 0);
}
