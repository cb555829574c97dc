//! Graphs as files of OpenVINO's IR, version 11.
//!
//! `operation.rs` is the table of element-wise operations, what is composed is in `compose.rs`, both over
//! `maker.rs`, which makes the layers of a `file.rs`; `placing.rs` writes broadcasts, `structural.rs` what
//! moves, converts or reduces elements, `activation.rs` functions of neural networks. What several nodes say
//! together is found by `reducing.rs` and `idiom.rs`.

mod activation;
mod compose;
mod file;
mod idiom;
mod maker;
mod operation;
mod placing;
mod reducing;
mod structural;

use indim_graph::{Graph, Node, NodeKind, ValueId};
use indim_model::{FormatError, FormatErrorKind, Notes, WriteOptions, WrittenModel, place_of};
use indim_ops::{ArrayType, DType, Op};

use crate::element_type::has_name;
use crate::write::file::Port;
use crate::write::idiom::Idiom;
use crate::write::maker::{Made, Maker};
use crate::write::operation::{Form, form, is_signed, warning};
use crate::write::placing::{Placing, shown_only};
use crate::write::reducing::reduction;

pub(super) fn write(
    graph: &Graph,
    outputs: &[String],
    options: &WriteOptions,
) -> Result<WrittenModel, FormatError> {
    let mut writing = Writing {
        graph,
        placing: Placing::of(graph),
        maker: Maker::default(),
        ports: vec![None; graph.len()],
        notes: Notes::default(),
    };
    writing.check_types()?;
    for (value, node) in graph.iter() {
        if writing.placing.is_made(value) {
            writing.ports[value.index()] = writing.node(value, node)?;
        }
    }
    writing.warn_of_types();
    let Writing { mut maker, ports, notes, .. } = writing;
    let (composed, warnings) = notes.finish(options.exact)?;
    for (name, output) in outputs.iter().zip(graph.outputs()) {
        if let Some(port) = &ports[output.index()] {
            maker.file.result(name, port);
        }
    }
    let (text, constants) = maker.file.finish(&options.name);
    let beside = Some((format!("{}.bin", options.name), constants));
    Ok(WrittenModel { content: text.into_bytes(), beside, composed, warnings })
}

struct Writing<'g> {
    graph: &'g Graph,
    placing: Placing,
    maker: Maker,
    /// The values that have been written.
    ports: Vec<Option<Port>>,
    notes: Notes,
}

impl Writing<'_> {
    fn check_types(&self) -> Result<(), FormatError> {
        let wrong = self.graph.iter().find(|(_, node)| !has_name(node.array_type.dtype));
        let Some((value, node)) = wrong else { return Ok(()) };
        let name = node.array_type.dtype.name().to_owned();
        Err(FormatErrorKind::UnsupportedType { name }.at(place_of(self.graph, value)))
    }

    /// CPUs compute less exactly than the types of layers say.
    fn warn_of_types(&mut self) {
        if self.maker.file.computes(&[DType::F64]) {
            self.notes.warning("on CPUs doubles are computed in single precision");
        }
        if self.maker.file.computes(&[DType::U32, DType::I64, DType::U64]) {
            self.notes.warning("on CPUs integers are computed in 32 bits, with a sign");
        }
    }

    /// The value of a node; nothing where it, or an operand of it, is not to be had, which is noted.
    fn node(&mut self, value: ValueId, node: &Node) -> Result<Option<Port>, FormatError> {
        if let Some((idiom, x)) = self.placing.idiom(value) {
            let x = self.ports[x.index()].clone();
            let made = x.map(|x| self.idiom(&idiom, &x, node)).transpose();
            return made.map_err(|kind| kind.at(place_of(self.graph, value)));
        }
        let operands: Option<Vec<Port>> =
            (0..node.operands.len()).map(|position| self.operand(node, position)).collect();
        let made = match (&node.kind, operands) {
            (NodeKind::Elementwise(op), operands) => {
                let made = self.elementwise(value, *op, operands, node);
                // Operands that only lie right may have left out axes of size 1 in front.
                made.map(|made| Ok(self.maker.reshape(&made?, &node.array_type.shape)))
            }
            (_, Some(operands)) => self.structural(value, node, &operands),
            (_, None) => None,
        };
        made.transpose().map_err(|kind: FormatErrorKind| kind.at(place_of(self.graph, value)))
    }

    /// One operation for several nodes, of which this is the last.
    fn idiom(&mut self, idiom: &Idiom, x: &Port, node: &Node) -> Made {
        let array_type = &node.array_type;
        Ok(match idiom {
            Idiom::Composition(composition, numbers) => {
                return self.maker.composition(*composition, numbers, x);
            }
            Idiom::Clamp([low, high]) => {
                if array_type.dtype.is_float() {
                    self.notes.warning("on CPUs Clamp makes a number of a NaN");
                }
                let bounds = [("min", format!("{low:?}")), ("max", format!("{high:?}"))];
                let operand = core::slice::from_ref(x);
                self.maker.file.layer(("Clamp", 1), &bounds, operand, array_type.clone())
            }
            Idiom::OneAxis(operation, axis) => {
                let axis = [("axis", axis.to_string())];
                let operand = core::slice::from_ref(x);
                self.maker.file.layer(*operation, &axis, operand, array_type.clone())
            }
            Idiom::Mvn(epsilon, axes) => self.maker.mvn(x, axes, *epsilon),
            Idiom::SoftPlus => self.maker.unary(("SoftPlus", 4), x),
            Idiom::Sum(operation, axes) => {
                let result = self.reduced((operation, 1), axes, x);
                self.maker.reshape(&result, &array_type.shape)
            }
        })
    }

    /// An operand as it is read: where operands meet, with its axes only where they land.
    fn operand(&mut self, node: &Node, position: usize) -> Option<Port> {
        if let NodeKind::Reduce { op, axis } = node.kind {
            let (reduced, _) = reduction(self.graph, node, (op, axis), &self.placing.uses);
            return self.ports[reduced.index()].clone();
        }
        match shown_only(self.graph, node, position) {
            Some((shown, map)) => {
                let port = self.ports[shown.index()].clone()?;
                Some(self.maker.lying(&port, map, node.array_type.shape.rank()))
            }
            None => self.ports[node.operands[position].index()].clone(),
        }
    }

    /// An operation that is not to be had.
    fn refuse(&mut self, value: ValueId, name: &str, reason: Option<&str>) -> Option<Made> {
        let reason = reason.map(str::to_owned);
        self.notes.unsupported(name, reason, place_of(self.graph, value));
        None
    }

    fn elementwise(
        &mut self,
        value: ValueId,
        op: Op,
        operands: Option<Vec<Port>>,
        node: &Node,
    ) -> Option<Made> {
        // The first operand of `select` is of another type.
        let typed = node.operands[usize::from(op.first_is_bool())];
        let (dtype, result) = (self.graph[typed].array_type.dtype, node.array_type.dtype);
        let form = form(op, dtype);
        match form {
            Form::Missing => return self.refuse(value, op.name(), None),
            Form::RightShift { signed } if signed != is_signed(dtype) => {
                let reason = "shifts of signed integers are arithmetic, of unsigned ones logical";
                return self.refuse(value, op.name(), Some(reason));
            }
            Form::Composed(_, by) => {
                self.notes.composed(op.name(), by, place_of(self.graph, value));
            }
            _ => {}
        }
        warning(op, dtype).into_iter().for_each(|text| self.notes.warning(text));
        let operands = operands?;
        Some(match form {
            Form::OrLogical(_, _, logical) if dtype == DType::Bool => {
                self.one((logical, 1), &[], &operands, result)
            }
            Form::One(name, set) | Form::OrLogical(name, set, _) => {
                self.one((name, set), &[], &operands, result)
            }
            Form::IntegerDivision(rounds_down) => {
                let attribute = ("m_pythondiv", rounds_down.to_owned());
                self.one(("Divide", 1), &[attribute], &operands, result)
            }
            Form::RightShift { .. } => self.one(("BitwiseRightShift", 15), &[], &operands, result),
            Form::Prelu => Ok(self.maker.prelu(&operands[0], &operands[1])),
            Form::Same(compose) | Form::Composed(compose, _) => compose(&mut self.maker, &operands),
            Form::Missing => return None,
        })
    }

    /// One layer.
    fn one(
        &mut self,
        (name, set): (&'static str, u32),
        attributes: &[file::Attribute],
        operands: &[Port],
        dtype: DType,
    ) -> Made {
        if let [x] = operands {
            let array_type = ArrayType::new(dtype, x.array_type.shape.clone());
            // The mode of rounding is the only attribute of functions.
            let (name, mode) = name.split_once(' ').unwrap_or((name, ""));
            let mode = [("mode", mode.to_owned())];
            let attributes = if mode[0].1.is_empty() { attributes } else { &mode[..] };
            return Ok(self.maker.file.layer((name, set), attributes, operands, array_type));
        }
        let operands: Vec<&Port> = operands.iter().collect();
        self.maker.meeting((name, set), attributes, &operands, dtype)
    }
}
