//! Compositions found again in a graph, in which they are the nodes that they are made of.
//!
//! Each is made once, of an operand and numbers that stand for its own; a value that is made of the same
//! nodes is that composition.

use std::sync::OnceLock;

use indim_builder::{Composition, GraphBuilder};
use indim_graph::{Graph, Literal, NodeKind, ValueId};
use indim_ops::DType;
use indim_shape::RuleSet;

use crate::pattern::{PLACEHOLDERS, Pattern};

/// What is looked for, with its numbers: those that are not said are found.
const SOUGHT: &[(Composition, &[Option<f64>])] = &[
    (Composition::Gelu, &[]),
    (Composition::GeluTanh, &[]),
    (Composition::Elu, &[None]),
    (Composition::Mish, &[]),
    (Composition::HardSwish, &[]),
    (Composition::Softsign, &[]),
    (Composition::Swish, &[Some(1.0)]),
    (Composition::Swish, &[None]),
    (Composition::HardSigmoid, &[None, None]),
    (Composition::Relu, &[]),
];

/// A composition in a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Recognised {
    /// Which composition it is.
    pub composition: Composition,
    /// Its numbers, as elements of the operand's type.
    pub numbers: Vec<f64>,
    /// What it is of.
    pub operand: ValueId,
}

/// The compositions of floats that are looked for.
pub struct Recogniser {
    patterns: Vec<Sought>,
}

struct Sought {
    composition: Composition,
    numbers: &'static [Option<f64>],
    dtype: DType,
    pattern: Pattern,
}

impl Recogniser {
    /// The one that there is, made when it is first needed.
    pub fn shared() -> &'static Recogniser {
        static SHARED: OnceLock<Recogniser> = OnceLock::new();
        SHARED.get_or_init(Recogniser::new)
    }

    fn new() -> Recogniser {
        let floats = [DType::F32, DType::F64, DType::F16, DType::Bf16];
        let all = floats.iter().flat_map(|&dtype| {
            SOUGHT
                .iter()
                .filter_map(move |&(composition, numbers)| Sought::new(composition, numbers, dtype))
        });
        Recogniser { patterns: all.collect() }
    }

    /// The composition that a value is, if it is one.
    pub fn find(&self, graph: &Graph, value: ValueId) -> Option<Recognised> {
        let node = &graph[value];
        let NodeKind::Elementwise(_) = node.kind else { return None };
        let sought = self.patterns.iter().filter(|sought| sought.dtype == node.array_type.dtype);
        sought.into_iter().find_map(|sought| sought.find(graph, value))
    }
}

impl Sought {
    /// Nothing for a composition that does not take the type.
    fn new(
        composition: Composition,
        numbers: &'static [Option<f64>],
        dtype: DType,
    ) -> Option<Sought> {
        let b = GraphBuilder::new();
        let x = b.parameter("x", dtype, [2]).ok()?;
        let given: Vec<Option<Literal>> = numbers
            .iter()
            .zip(PLACEHOLDERS)
            .map(|(number, placeholder)| Some(Literal::Float(number.unwrap_or(placeholder))))
            .collect();
        let value = b.compose(composition, &[x], &given, &RuleSet::None).ok()?;
        let pattern = Pattern::of_any_shape(b.finish(&[value]).ok()?);
        Some(Sought { composition, numbers, dtype, pattern })
    }

    fn find(&self, graph: &Graph, value: ValueId) -> Option<Recognised> {
        let found = self.pattern.find(graph, value)?;
        let numbers = self.numbers.iter().zip(found.numbers);
        let numbers = numbers.map(|(said, found)| said.or(found)).collect::<Option<Vec<f64>>>()?;
        let operand = found.operand.filter(|&x| graph[x].array_type == graph[value].array_type)?;
        Some(Recognised { composition: self.composition, numbers, operand })
    }
}

#[cfg(test)]
mod tests {
    use indim_builder::{Composition, GraphBuilder};
    use indim_graph::Literal;
    use indim_ops::DType;
    use indim_shape::RuleSet;

    use crate::recognise::{Recognised, Recogniser, SOUGHT};

    #[test]
    fn compositions_are_found_again() {
        let recogniser = Recogniser::shared();
        for &(composition, numbers) in SOUGHT {
            for shape in [&[][..], &[2, 3]] {
                let b = GraphBuilder::new();
                let x = b.parameter("x", DType::F32, shape).unwrap().tanh();
                let given: Vec<f64> = numbers.iter().map(|number| number.unwrap_or(0.25)).collect();
                let literals: Vec<Option<Literal>> =
                    given.iter().map(|&number| Some(Literal::Float(number))).collect();
                let value = b
                    .compose(composition, core::slice::from_ref(&x), &literals, &RuleSet::None)
                    .unwrap();
                let graph = b.finish(&[&value, &x]).unwrap();
                let found = recogniser.find(&graph, graph.outputs()[0]).unwrap();
                let operand = graph.outputs()[1];
                assert_eq!(found, Recognised { composition, numbers: given, operand });
            }
        }
    }

    #[test]
    fn what_only_resembles_a_composition_is_none() {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F32, [2]).unwrap();
        let y = b.parameter("y", DType::F32, [2]).unwrap();
        // The gate of another value, another factor.
        let graph = b.finish(&[&x * y.logistic(), &x * 0.5 * (&x * -0.7).erfc()]).unwrap();
        let recogniser = Recogniser::shared();
        for &output in graph.outputs() {
            assert_eq!(recogniser.find(&graph, output), None);
        }
        let swish = b.finish(&[x.logistic() * &x]).unwrap();
        let found = recogniser.find(&swish, swish.outputs()[0]).unwrap();
        assert_eq!(found.composition, Composition::Swish);
    }
}
