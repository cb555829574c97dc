//! Gathers, scatters, sorts and searches in sorted tables.

use indim_graph::{AxisSlice, ScatterMode, SortResult, TakeMode, ValueId};
use indim_model::location_of;
use indim_ops::{ArrayType, DType, DTypeClass, ScatterOp, SearchSide};
use indim_shape::Shape;

use crate::write::NetworkWriter;
use crate::write::file::WriterPort;
use crate::write::layer_writer::LayerResult;

impl NetworkWriter<'_> {
    /// Writes a gather. In the mode `error` an index out of range is an error in indim; OpenVINO gives
    /// zeros.
    pub(super) fn take(
        &mut self,
        value: ValueId,
        operands: &[WriterPort],
        axis: usize,
        mode: TakeMode,
        result: &ArrayType,
    ) -> LayerResult {
        let (x, indices) = (&operands[0], &operands[1]);
        let size = x.array_type.shape[axis];
        let location = location_of(self.graph, value);
        match mode {
            TakeMode::Error => {
                self.notes.warning("Gather gives 0 for indices that name no element");
            }
            TakeMode::Clip => {
                self.notes.composed("take mode=clip", "Gather(x, Clamp(indices))", location);
            }
            TakeMode::Wrap => {
                self.notes.composed(
                    "take mode=wrap",
                    "Gather(x, FloorMod(indices, size))",
                    location,
                );
            }
        }
        let indices = self.openvino_indices(indices, size, mode)?;
        let axis = self.layers.file.integer_list(&[axis as i64]);
        let axis = self.layers.reshape(&axis, &Shape::scalar());
        let attribute = ("batch_dims", "0".to_owned());
        let operands = [x.clone(), indices, axis];
        Ok(self.layers.file.layer(("Gather", 8), &[attribute], &operands, result.clone()))
    }

    /// Indices as `i32` or `i64`, clamped or wrapped as the mode asks. In the mode `error` they stay,
    /// because negative indices count from the end in OpenVINO too.
    fn signed_indices(&mut self, indices: &WriterPort, size: usize, mode: TakeMode) -> LayerResult {
        let signed = match indices.array_type.dtype {
            DType::I32 | DType::I64 => indices.clone(),
            _ => self.layers.convert(indices, DType::I64),
        };
        match mode {
            TakeMode::Error => Ok(signed),
            TakeMode::Clip => {
                let bounds = [("min", "0".to_owned()), ("max", size.saturating_sub(1).to_string())];
                let array_type = signed.array_type.clone();
                Ok(self.layers.file.layer(("Clamp", 1), &bounds, &[signed], array_type))
            }
            TakeMode::Wrap => {
                let size = self.layers.number(size as f64, signed.array_type.dtype)?;
                self.layers.binary("FloorMod", &signed, &size)
            }
        }
    }

    /// `u64` indices as `i64`, clamped or wrapped as the mode asks. A conversion to `i64` would make
    /// indices from 2^63 on negative. They are therefore clamped or reduced before the conversion. In
    /// the mode `error` an index out of range stays out of range.
    fn unsigned_indices(
        &mut self,
        indices: &WriterPort,
        size: usize,
        mode: TakeMode,
    ) -> LayerResult {
        let (operation, bound) = match mode {
            TakeMode::Error => ("Minimum", size),
            TakeMode::Clip => ("Minimum", size.saturating_sub(1)),
            TakeMode::Wrap => ("FloorMod", size),
        };
        let bound = self.layers.number(bound as f64, DType::U64)?;
        let limited = self.layers.binary(operation, indices, &bound)?;
        Ok(self.layers.convert(&limited, DType::I64))
    }

    /// Writes a scatter as `ScatterElementsUpdate`, with an index for each update. OpenVINO fails at an
    /// index out of range, so dropped updates go to an additional element, which is then cut off.
    pub(super) fn scatter(
        &mut self,
        value: ValueId,
        operands: &[WriterPort],
        op: ScatterOp,
        (axis, mode): (usize, ScatterMode),
    ) -> LayerResult {
        let [x, indices, updates] = [&operands[0], &operands[1], &operands[2]];
        let (dtype, shape) = (x.array_type.dtype, x.array_type.shape.clone());
        // An array of indices fits memory, so its element count does not overflow.
        let Some(count) = indices.array_type.shape.element_count().ok().filter(|&count| count > 0)
        else {
            return Ok(x.clone());
        };
        let name = self.graph[value].kind.name();
        let (indices, longer) = match mode {
            ScatterMode::Drop => {
                let by = "a ScatterElementsUpdate with one more element, which takes the others";
                let name = format!("{name} mode=drop");
                self.notes.composed(&name, by, location_of(self.graph, value));
                (self.mark_dropped(indices, shape[axis])?, true)
            }
            ScatterMode::Take(mode) => {
                if mode != TakeMode::Error {
                    let by = "a ScatterElementsUpdate at Clamp or FloorMod of the indices";
                    let name = format!("{name} mode={mode}");
                    self.notes.composed(&name, by, location_of(self.graph, value));
                }
                (self.openvino_indices(indices, shape[axis], mode)?, false)
            }
        };
        if matches!(op, ScatterOp::Min | ScatterOp::Max) && dtype.is_float() {
            self.notes.warning("ScatterElementsUpdate of OpenVINO may drop a NaN");
        }
        let wide = match (op, dtype) {
            (ScatterOp::Add | ScatterOp::Mul, _) if dtype.is_float() => DType::F64,
            (_, DType::Bool) => DType::U8,
            _ => dtype,
        };
        let mut sizes = shape.to_vec();
        sizes[axis] = count;
        let sizes = Shape::from(sizes);
        let updates = self.layers.reshape(updates, &sizes);
        let indices = self.layers.reshape(&indices, &Shape::from([count]));
        let indices = self.layers.broadcast(&indices, &[axis], &sizes);
        let [x, updates] = [x, &updates].map(|port| self.convert_if_needed(port, wide));
        let x = if longer { self.append_zero(&x, axis)? } else { x };
        let reduction = match op {
            ScatterOp::Set => "none",
            ScatterOp::Add => "sum",
            ScatterOp::Mul => "prod",
            ScatterOp::Min => "min",
            ScatterOp::Max => "max",
        };
        let attributes = [("reduction", reduction.to_owned()), ("use_init_val", "true".to_owned())];
        let array_type = x.array_type.clone();
        let axis_port = self.layers.file.integer_list(&[axis as i64]);
        let operands = [x, indices, updates, axis_port];
        let scatter = ("ScatterElementsUpdate", 12);
        let mut result = self.layers.file.layer(scatter, &attributes, &operands, array_type);
        if longer {
            let slices: Vec<AxisSlice> = shape.iter().map(|&size| AxisSlice::whole(size)).collect();
            result = self.slice(&result, &slices, &ArrayType::new(wide, shape));
        }
        Ok(self.convert_if_needed(&result, dtype))
    }

    fn convert_if_needed(&mut self, port: &WriterPort, dtype: DType) -> WriterPort {
        match port.array_type.dtype == dtype {
            true => port.clone(),
            false => self.layers.convert(port, dtype),
        }
    }

    fn openvino_indices(
        &mut self,
        indices: &WriterPort,
        size: usize,
        mode: TakeMode,
    ) -> LayerResult {
        match indices.array_type.dtype {
            DType::U64 => self.unsigned_indices(indices, size, mode),
            _ => self.signed_indices(indices, size, mode),
        }
    }

    /// Replaces indices out of range by `size`, the index of the additional element.
    fn mark_dropped(&mut self, indices: &WriterPort, size: usize) -> LayerResult {
        let limited = self.openvino_indices(indices, size.saturating_add(1), TakeMode::Clip)?;
        if indices.array_type.dtype.class() == DTypeClass::Unsigned {
            return Ok(limited);
        }
        let dtype = limited.array_type.dtype;
        let given = self.convert_if_needed(indices, dtype);
        let [zero, size] = [0.0, size as f64].map(|number| self.layers.number(number, dtype));
        let (zero, size) = (zero?, size?);
        let is_negative = self.layers.compare("Less", &given, &zero)?;
        self.layers.select(&is_negative, &size, &limited)
    }

    /// The array with one more element along an axis, a zero.
    fn append_zero(&mut self, x: &WriterPort, axis: usize) -> LayerResult {
        let ArrayType { dtype, shape } = x.array_type.clone();
        let mut sizes = shape.to_vec();
        sizes[axis] = 1;
        let zero = self.layers.number(0.0, dtype)?;
        let zeros = self.layers.broadcast(&zero, &[], &Shape::from(sizes.clone()));
        sizes[axis] = shape[axis] + 1;
        let attribute = ("axis", axis.to_string());
        let array_type = ArrayType::new(dtype, sizes);
        Ok(self.layers.file.layer(("Concat", 1), &[attribute], &[x.clone(), zeros], array_type))
    }

    /// Writes a sort by one key as `TopK` of all elements along the axis.
    pub(super) fn sort(
        &mut self,
        value: ValueId,
        operands: &[WriterPort],
        (axis, descending): (usize, bool),
        result: SortResult,
    ) -> Option<LayerResult> {
        let [x] = operands else {
            return self.refuse(value, "sort", Some("by several keys"));
        };
        let ArrayType { dtype, shape } = x.array_type.clone();
        if shape[axis] == 0 {
            return self.refuse(value, "sort", Some("of no elements"));
        }
        if dtype.is_float() {
            self.notes.warning("TopK of OpenVINO does not define the place of a NaN");
        }
        let key = self.convert_if_needed(x, if dtype == DType::Bool { DType::U8 } else { dtype });
        let count = self.layers.file.integer_list(&[shape[axis] as i64]);
        let count = self.layers.reshape(&count, &Shape::scalar());
        let attributes = [
            ("axis", axis.to_string()),
            ("mode", if descending { "max" } else { "min" }.to_owned()),
            ("sort", "value".to_owned()),
            ("index_element_type", "i64".to_owned()),
            ("stable", "true".to_owned()),
        ];
        let outputs = [key.array_type.clone(), ArrayType::new(DType::I64, shape)];
        let number = usize::from(result == SortResult::Positions);
        let operands = [key, count];
        let top_k = ("TopK", 11);
        let sorted =
            self.layers.file.layer_of_two(top_k, &attributes, &operands, (outputs, number));
        Some(Ok(match result {
            SortResult::Values => self.convert_if_needed(&sorted, dtype),
            SortResult::Positions => sorted,
        }))
    }

    /// Writes a search in a sorted table as `SearchSorted`.
    pub(super) fn search(
        &mut self,
        operands: &[WriterPort],
        side: SearchSide,
        result: &ArrayType,
    ) -> WriterPort {
        let dtype = operands[0].array_type.dtype;
        let key = if dtype == DType::Bool { DType::U8 } else { dtype };
        let operands = [0, 1].map(|operand| self.convert_if_needed(&operands[operand], key));
        if dtype.is_float() {
            self.notes.warning("SearchSorted of OpenVINO does not define the place of a NaN");
        }
        let is_right = side == SearchSide::Right;
        let attributes = [("right_mode", is_right.to_string()), ("output_type", "i64".to_owned())];
        self.layers.file.layer(("SearchSorted", 15), &attributes, &operands, result.clone())
    }
}
