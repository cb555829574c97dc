//! The writer of OpenVINO's IR, version 11.
//!
//! * `file.rs`: layers and constants of the file; `layer_writer.rs`: writes layers with inferred types.
//! * `operation.rs`: the table of element-wise operations; `compose.rs`: decompositions of operations that
//!   OpenVINO lacks.
//! * `broadcast.rs`: broadcasts of operands; `structural.rs`: data movement, conversions and reductions;
//!   `activation.rs`: activation functions and `MVN`; `product.rs`: matrix products; `indices.rs`: gathers,
//!   scatters, sorts and searches in sorted tables.
//! * `merge_reductions.rs` and `idiom.rs`: subgraphs that are one operation.

mod activation;
mod broadcast;
mod compose;
mod file;
mod idiom;
mod indices;
mod layer_writer;
mod merge_reductions;
mod operation;
mod product;
mod structural;

use indim_graph::{Graph, Node, NodeKind, ValueId, expand_windows};
use indim_model::{FormatError, FormatErrorKind, Notes, WriteOptions, WrittenModel, location_of};
use indim_ops::{ArrayType, DType, Op};

use crate::element_type::has_name;
use crate::write::broadcast::{WritePlan, aligned_source};
use crate::write::file::WriterPort;
use crate::write::idiom::Idiom;
use crate::write::layer_writer::{LayerResult, LayerWriter};
use crate::write::merge_reductions::reduction;
use crate::write::operation::{OperationEncoding, encoding_of, is_signed, warning};

pub(super) fn write(
    graph: &Graph,
    outputs: &[String],
    options: &WriteOptions,
) -> Result<WrittenModel, FormatError> {
    let graph = &*expand_windows(graph);
    let mut writer = NetworkWriter {
        graph,
        plan: WritePlan::of(graph),
        layers: LayerWriter::default(),
        ports: vec![None; graph.len()],
        notes: Notes::default(),
    };
    writer.check_types()?;
    for (value, node) in graph.iter() {
        if writer.plan.is_written(value) {
            writer.ports[value.index()] = writer.node(value, node)?;
        }
    }
    writer.warn_of_types();
    let NetworkWriter { mut layers, ports, notes, .. } = writer;
    let (composed, warnings) = notes.finish(options.exact)?;
    for (name, output) in outputs.iter().zip(graph.outputs()) {
        if let Some(port) = &ports[output.index()] {
            layers.file.result(name, port);
        }
    }
    let (text, constants) = layers.file.finish(&options.name);
    let external_file = Some((format!("{}.bin", options.name), constants));
    Ok(WrittenModel {
        content: text.into_bytes(),
        external_file,
        composed,
        warnings,
        ..WrittenModel::default()
    })
}

/// The state of the writer of one graph.
struct NetworkWriter<'g> {
    graph: &'g Graph,
    plan: WritePlan,
    layers: LayerWriter,
    /// The values written so far, by their index in the graph.
    ports: Vec<Option<WriterPort>>,
    notes: Notes,
}

impl NetworkWriter<'_> {
    fn check_types(&self) -> Result<(), FormatError> {
        let is_written = |dtype: DType| has_name(dtype) && !dtype.is_storage();
        let wrong = self.graph.iter().find(|(_, node)| !is_written(node.array_type.dtype));
        let Some((value, node)) = wrong else { return Ok(()) };
        let name = node.array_type.dtype.name().to_owned();
        Err(FormatErrorKind::UnsupportedType { name }.at(location_of(self.graph, value)))
    }

    /// OpenVINO's CPU back end computes some types less exactly than the layers state.
    fn warn_of_types(&mut self) {
        if self.layers.file.computes(&[DType::F64]) {
            self.notes.warning("on CPUs doubles are computed in single precision");
        }
        if self.layers.file.computes(&[DType::U32, DType::I64, DType::U64]) {
            self.notes.warning("on CPUs integers are computed in 32 bits, with a sign");
        }
    }

    /// Writes a node; `None` if it or one of its operands is unsupported, which `notes` records.
    fn node(&mut self, value: ValueId, node: &Node) -> Result<Option<WriterPort>, FormatError> {
        if let Some((Idiom::Product(found), _)) = self.plan.idiom(value) {
            return Ok(self.product(value, &found));
        }
        if let Some((idiom, x)) = self.plan.idiom(value) {
            let x = self.ports[x.index()].clone();
            let port = x.map(|x| self.idiom(&idiom, &x, node)).transpose();
            return port.map_err(|kind| kind.at(location_of(self.graph, value)));
        }
        let operands: Option<Vec<WriterPort>> =
            (0..node.operands.len()).map(|position| self.operand(node, position)).collect();
        let port = match (&node.kind, operands) {
            (NodeKind::Elementwise(op), operands) => {
                let port = self.elementwise(value, *op, operands, node);
                // Operands that are only aligned can lack leading axes of size 1.
                port.map(|port| Ok(self.layers.reshape(&port?, &node.array_type.shape)))
            }
            (_, Some(operands)) => self.structural(value, node, &operands),
            (_, None) => None,
        };
        port.transpose().map_err(|kind: FormatErrorKind| kind.at(location_of(self.graph, value)))
    }

    /// Writes the operation of an idiom; `node` is the last node of the subgraph.
    fn idiom(&mut self, idiom: &Idiom, x: &WriterPort, node: &Node) -> LayerResult {
        let array_type = &node.array_type;
        Ok(match idiom {
            Idiom::Composition(composition, numbers) => {
                return self.layers.composition(*composition, numbers, x);
            }
            Idiom::Clamp([low, high]) => {
                if array_type.dtype.is_float() {
                    self.notes.warning("on CPUs Clamp makes a number of a NaN");
                }
                let bounds = [("min", format!("{low:?}")), ("max", format!("{high:?}"))];
                let operand = core::slice::from_ref(x);
                self.layers.file.layer(("Clamp", 1), &bounds, operand, array_type.clone())
            }
            Idiom::OneAxis(operation, axis) => {
                let axis = [("axis", axis.to_string())];
                let operand = core::slice::from_ref(x);
                self.layers.file.layer(*operation, &axis, operand, array_type.clone())
            }
            Idiom::Mvn(epsilon, axes) => self.layers.mvn(x, axes, *epsilon),
            // Products are written by `product`.
            Idiom::Product(_) => x.clone(),
            Idiom::SoftPlus => self.layers.unary(("SoftPlus", 4), x),
            Idiom::Sum(operation, axes) => {
                let result = self.reduced((operation, 1), axes, x);
                self.layers.reshape(&result, &array_type.shape)
            }
        })
    }

    /// The port of an operand. Its axes are only aligned if OpenVINO then broadcasts it by NumPy's rule.
    /// For the outermost of merged reductions it is the operand of the innermost.
    fn operand(&mut self, node: &Node, position: usize) -> Option<WriterPort> {
        if let NodeKind::Reduce { op, axis } = node.kind {
            let (reduced, _) = reduction(self.graph, node, (op, axis), &self.plan.uses);
            return self.ports[reduced.index()].clone();
        }
        match aligned_source(self.graph, node, position) {
            Some((shown, map)) => {
                let port = self.ports[shown.index()].clone()?;
                Some(self.layers.aligned(&port, map, node.array_type.shape.rank()))
            }
            None => self.ports[node.operands[position].index()].clone(),
        }
    }

    /// Records an unsupported operation in `notes`; returns `None`.
    fn refuse(&mut self, value: ValueId, name: &str, reason: Option<&str>) -> Option<LayerResult> {
        let reason = reason.map(str::to_owned);
        self.notes.unsupported(name, reason, location_of(self.graph, value));
        None
    }

    fn elementwise(
        &mut self,
        value: ValueId,
        op: Op,
        operands: Option<Vec<WriterPort>>,
        node: &Node,
    ) -> Option<LayerResult> {
        // The first operand of `select` has another type.
        let typed = node.operands[usize::from(op.first_is_bool())];
        let (dtype, result) = (self.graph[typed].array_type.dtype, node.array_type.dtype);
        let encoding = encoding_of(op, dtype);
        match encoding {
            OperationEncoding::Unsupported => return self.refuse(value, op.name(), None),
            OperationEncoding::RightShift { signed } if signed != is_signed(dtype) => {
                let reason = "shifts of signed integers are arithmetic, of unsigned ones logical";
                return self.refuse(value, op.name(), Some(reason));
            }
            OperationEncoding::Decomposition(_, by) => {
                self.notes.composed(op.name(), by, location_of(self.graph, value));
            }
            _ => {}
        }
        warning(op, dtype).into_iter().for_each(|text| self.notes.warning(text));
        let operands = operands?;
        Some(match encoding {
            OperationEncoding::LayerOrLogical(_, _, logical) if dtype == DType::Bool => {
                self.single_layer((logical, 1), &[], &operands, result)
            }
            OperationEncoding::Layer(name, set)
            | OperationEncoding::LayerOrLogical(name, set, _) => {
                self.single_layer((name, set), &[], &operands, result)
            }
            OperationEncoding::IntegerDivision(rounds_down) => {
                let attribute = ("m_pythondiv", rounds_down.to_owned());
                self.single_layer(("Divide", 1), &[attribute], &operands, result)
            }
            OperationEncoding::RightShift { .. } => {
                self.single_layer(("BitwiseRightShift", 15), &[], &operands, result)
            }
            OperationEncoding::Prelu => Ok(self.layers.prelu(&operands[0], &operands[1])),
            OperationEncoding::ExactDecomposition(compose)
            | OperationEncoding::Decomposition(compose, _) => compose(&mut self.layers, &operands),
            OperationEncoding::Unsupported => return None,
        })
    }

    /// Writes a single layer.
    fn single_layer(
        &mut self,
        (name, set): (&'static str, u32),
        attributes: &[file::Attribute],
        operands: &[WriterPort],
        dtype: DType,
    ) -> LayerResult {
        if let [x] = operands {
            let array_type = ArrayType::new(dtype, x.array_type.shape.clone());
            // The name of a rounding has its mode behind a space: `Round half_to_even`. Other functions
            // have no attribute.
            let (name, mode) = name.split_once(' ').unwrap_or((name, ""));
            let mode = [("mode", mode.to_owned())];
            let attributes = if mode[0].1.is_empty() { attributes } else { &mode[..] };
            return Ok(self.layers.file.layer((name, set), attributes, operands, array_type));
        }
        let operands: Vec<&WriterPort> = operands.iter().collect();
        self.layers.broadcasting((name, set), attributes, &operands, dtype)
    }
}
