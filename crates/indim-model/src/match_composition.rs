//! Matching of compositions: finds the primitive nodes of a composition in a graph.
//!
//! Each composition is built once as a pattern, with placeholders for its operand and its numbers.

use std::sync::OnceLock;

use indim_builder::{Composition, GraphBuilder};
use indim_graph::{Graph, Literal, NodeKind, ValueId};
use indim_ops::DType;
use indim_shape::RuleSet;

use crate::pattern::{PLACEHOLDERS, Pattern};

/// Compositions to match, with their numbers; a match binds each number that is `None`.
const COMPOSITIONS: &[(Composition, &[Option<f64>])] = &[
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

/// A match of a composition in a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct CompositionMatch {
    /// The composition.
    pub composition: Composition,
    /// Its numbers, as elements of the operand's type.
    pub numbers: Vec<f64>,
    /// Its operand.
    pub operand: ValueId,
}

/// The patterns of all compositions, for every float type.
pub struct CompositionMatcher {
    patterns: Vec<CompositionPattern>,
}

struct CompositionPattern {
    composition: Composition,
    numbers: &'static [Option<f64>],
    dtype: DType,
    pattern: Pattern,
}

impl CompositionMatcher {
    /// The global matcher, built on first use.
    pub fn shared() -> &'static CompositionMatcher {
        static SHARED: OnceLock<CompositionMatcher> = OnceLock::new();
        SHARED.get_or_init(CompositionMatcher::new)
    }

    fn new() -> CompositionMatcher {
        let floats = [DType::F32, DType::F64, DType::F16, DType::Bf16];
        let all = floats.iter().flat_map(|&dtype| {
            COMPOSITIONS.iter().filter_map(move |&(composition, numbers)| {
                CompositionPattern::new(composition, numbers, dtype)
            })
        });
        CompositionMatcher { patterns: all.collect() }
    }

    /// The composition that computes `value`, if any.
    pub fn find(&self, graph: &Graph, value: ValueId) -> Option<CompositionMatch> {
        let node = &graph[value];
        let NodeKind::Elementwise(_) = node.kind else { return None };
        let of_type = self.patterns.iter().filter(|pattern| pattern.dtype == node.array_type.dtype);
        of_type.into_iter().find_map(|pattern| pattern.find(graph, value))
    }
}

impl CompositionPattern {
    /// Returns `None` for a composition that does not support the type.
    fn new(
        composition: Composition,
        numbers: &'static [Option<f64>],
        dtype: DType,
    ) -> Option<CompositionPattern> {
        let b = GraphBuilder::new();
        let x = b.parameter("x", dtype, [2]).ok()?;
        let given: Vec<Option<Literal>> = numbers
            .iter()
            .zip(PLACEHOLDERS)
            .map(|(number, placeholder)| Some(Literal::Float(number.unwrap_or(placeholder))))
            .collect();
        let value = b.compose(composition, &[x], &given, &RuleSet::None).ok()?;
        let pattern = Pattern::of_any_shape(b.finish(&[value]).ok()?);
        Some(CompositionPattern { composition, numbers, dtype, pattern })
    }

    fn find(&self, graph: &Graph, value: ValueId) -> Option<CompositionMatch> {
        let found = self.pattern.match_value(graph, value)?;
        let numbers = self.numbers.iter().zip(found.numbers);
        let numbers = numbers.map(|(said, found)| said.or(found)).collect::<Option<Vec<f64>>>()?;
        let operand = found.operand.filter(|&x| graph[x].array_type == graph[value].array_type)?;
        Some(CompositionMatch { composition: self.composition, numbers, operand })
    }
}

#[cfg(test)]
mod tests {
    use indim_builder::{Composition, GraphBuilder};
    use indim_graph::Literal;
    use indim_ops::DType;
    use indim_shape::RuleSet;

    use crate::match_composition::{COMPOSITIONS, CompositionMatch, CompositionMatcher};

    #[test]
    fn compositions_are_found_again() {
        let recogniser = CompositionMatcher::shared();
        for &(composition, numbers) in COMPOSITIONS {
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
                assert_eq!(found, CompositionMatch { composition, numbers: given, operand });
            }
        }
    }

    #[test]
    fn similar_values_do_not_match() {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F32, [2]).unwrap();
        let y = b.parameter("y", DType::F32, [2]).unwrap();
        // The gate of another value; another factor.
        let graph = b.finish(&[&x * y.logistic(), &x * 0.5 * (&x * -0.7).erfc()]).unwrap();
        let recogniser = CompositionMatcher::shared();
        for &output in graph.outputs() {
            assert_eq!(recogniser.find(&graph, output), None);
        }
        let swish = b.finish(&[x.logistic() * &x]).unwrap();
        let found = recogniser.find(&swish, swish.outputs()[0]).unwrap();
        assert_eq!(found.composition, Composition::Swish);
    }
}
