//! Gathers, scatters and dynamic slices in StableHLO and HLO: random dimension numbers against the formulas
//! of StableHLO's specification, written down here; texts as JAX prints them; and refusals.

use crate::support::random::Random;
use crate::support::{self, position, unravelled};
use indim_graph::Array;

/// The dimension numbers of a gather, or of the scatter to the same slices.
#[derive(Debug)]
struct Numbers {
    operand: Vec<usize>,
    indices: Vec<usize>,
    slice_sizes: Vec<usize>,
    /// `offset_dims`, `update_window_dims`.
    offset_dims: Vec<usize>,
    /// `collapsed_slice_dims`, `inserted_window_dims`.
    collapsed: Vec<usize>,
    operand_batches: Vec<usize>,
    index_batches: Vec<usize>,
    index_map: Vec<usize>,
    index_vector_dim: usize,
    /// The shape of the result of a gather, and of the updates of a scatter.
    result: Vec<usize>,
}

impl Numbers {
    fn random(random: &mut Random) -> Numbers {
        let rank = 1 + random.below(4);
        let operand: Vec<usize> = (0..rank).map(|_| 1 + random.below(4)).collect();
        let mut axes: Vec<usize> = (0..rank).collect();
        random.shuffle(&mut axes);
        let batch_count = random.below(3).min(rank - 1);
        let mut operand_batches = axes[..batch_count].to_vec();
        operand_batches.sort_unstable();
        let mut others = axes[batch_count..].to_vec();
        random.shuffle(&mut others);
        let index_map = others[..1 + random.below(others.len())].to_vec();
        let slice_sizes: Vec<usize> = (0..rank)
            .map(|axis| match operand_batches.contains(&axis) {
                true => 1,
                false => 1 + random.below(operand[axis]),
            })
            .collect();
        let collapsed: Vec<usize> = (0..rank)
            .filter(|axis| !operand_batches.contains(axis) && slice_sizes[*axis] == 1)
            .filter(|_| random.below(2) == 0)
            .collect();
        // The axes of the indices without that of the components: batches in any order among others.
        let mut batch: Vec<(usize, Option<usize>)> =
            operand_batches.iter().map(|&axis| (operand[axis], Some(axis))).collect();
        for _ in 0..random.below(3) {
            batch.insert(random.below(batch.len() + 1), (1 + random.below(3), None));
        }
        let mut indices: Vec<usize> = batch.iter().map(|(size, _)| *size).collect();
        let implicit = index_map.len() == 1 && random.below(2) == 0;
        let index_vector_dim =
            if implicit { indices.len() } else { random.below(indices.len() + 1) };
        if !implicit {
            indices.insert(index_vector_dim, index_map.len());
        }
        let place = |axis: &usize| batch.iter().position(|(_, of)| *of == Some(*axis)).unwrap();
        let index_batches: Vec<usize> = operand_batches
            .iter()
            .map(|axis| place(axis) + usize::from(!implicit && place(axis) >= index_vector_dim))
            .collect();
        let offsets: Vec<usize> = (0..rank)
            .filter(|axis| !collapsed.contains(axis) && !operand_batches.contains(axis))
            .collect();
        let offset_dims = random.some(offsets.len(), offsets.len() + batch.len());
        let (mut sizes, mut batches) =
            (offsets.iter().map(|&axis| slice_sizes[axis]), batch.iter().map(|(size, _)| *size));
        let result = (0..offsets.len() + batch.len())
            .map(|dim| match offset_dims.contains(&dim) {
                true => sizes.next().unwrap(),
                false => batches.next().unwrap(),
            })
            .collect();
        Numbers {
            operand,
            indices,
            slice_sizes,
            offset_dims,
            collapsed,
            operand_batches,
            index_batches,
            index_map,
            index_vector_dim,
            result,
        }
    }

    /// The specification's batch index and start index of an index into the result.
    fn start(&self, indices: &[i64], index: &[usize]) -> (Vec<usize>, Vec<i64>) {
        let batch: Vec<usize> = (0..index.len())
            .filter(|dim| !self.offset_dims.contains(dim))
            .map(|dim| index[dim])
            .collect();
        let component = |number: usize| {
            let mut at = batch.clone();
            if self.index_vector_dim < self.indices.len() {
                at.insert(self.index_vector_dim, number);
            }
            indices[position(&self.indices, at)]
        };
        let start = (0..self.index_map.len()).map(component).collect();
        (batch, start)
    }

    /// The sum of full batching index and full offset index of an index into the result.
    fn within(&self, batch: &[usize], index: &[usize]) -> Vec<usize> {
        let mut offsets = self.offset_dims.iter().map(|&dim| index[dim]);
        (0..self.operand.len())
            .map(|axis| {
                let among = self.operand_batches.iter().position(|&of| of == axis);
                match among {
                    Some(number) => {
                        let dim = self.index_batches[number];
                        batch[dim - usize::from(dim >= self.index_vector_dim)]
                    }
                    None if self.collapsed.contains(&axis) => 0,
                    None => offsets.next().unwrap(),
                }
            })
            .collect()
    }

    /// The start of the slice along each axis of the operand.
    fn full_start(&self, start: &[i64]) -> Vec<i64> {
        let along = |axis: usize| self.index_map.iter().position(|&of| of == axis);
        (0..self.operand.len()).map(|axis| along(axis).map_or(0, |at| start[at])).collect()
    }

    fn gather(&self, operand: &[i32], indices: &[i64]) -> Vec<i32> {
        let element = |index: Vec<usize>| {
            let (batch, start) = self.start(indices, &index);
            let within = self.within(&batch, &index);
            let at: Vec<usize> = (0..self.operand.len())
                .map(|axis| {
                    let last = (self.operand[axis] - self.slice_sizes[axis]) as i64;
                    self.full_start(&start)[axis].clamp(0, last) as usize + within[axis]
                })
                .collect();
            operand[position(&self.operand, at)]
        };
        all_indices(&self.result).map(element).collect()
    }

    /// Slices are combined one after another, those outside the operand not at all.
    fn scatter(&self, op: &str, operand: &[i32], indices: &[i64], updates: &[i32]) -> Vec<i32> {
        let mut result = operand.to_vec();
        let mut order: Vec<Vec<usize>> = all_indices(&self.result).collect();
        order.sort_by_key(|index| self.start(indices, index).0);
        for index in order {
            let (batch, start) = self.start(indices, &index);
            let start = self.full_start(&start);
            let is_inside = (0..start.len()).all(|axis| {
                start[axis] >= 0
                    && start[axis] + self.slice_sizes[axis] as i64 <= self.operand[axis] as i64
            });
            if is_inside {
                let within = self.within(&batch, &index);
                let at: Vec<usize> =
                    start.iter().zip(within).map(|(&start, at)| start as usize + at).collect();
                let element = &mut result[position(&self.operand, at)];
                let update = updates[position(&self.result, index)];
                *element = match op {
                    "set" => update,
                    "add" => element.wrapping_add(update),
                    "multiply" => element.wrapping_mul(update),
                    "minimum" => (*element).min(update),
                    _ => (*element).max(update),
                };
            }
        }
        result
    }
}

fn all_indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + use<> {
    let shape = shape.to_vec();
    (0..shape.iter().product()).map(move |number: usize| unravelled(number, &shape))
}

/// The names of dimension numbers, in the order of [`Numbers::lists`].
const OF_GATHER: [&str; 5] = [
    "offset_dims",
    "collapsed_slice_dims",
    "operand_batching_dims",
    "start_indices_batching_dims",
    "start_index_map",
];
const OF_SCATTER: [&str; 5] = [
    "update_window_dims",
    "inserted_window_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
    "scatter_dims_to_operand_dims",
];

impl Numbers {
    fn lists(&self) -> [&[usize]; 5] {
        [
            &self.offset_dims,
            &self.collapsed,
            &self.operand_batches,
            &self.index_batches,
            &self.index_map,
        ]
    }

    /// The attributes of StableHLO.
    fn stablehlo(&self, names: [&str; 5]) -> String {
        let attribute = |(name, numbers)| format!("{name} = [{}], ", list(numbers, ", "));
        let lists: String = names.into_iter().zip(self.lists()).map(attribute).collect();
        format!("{lists}index_vector_dim = {}", self.index_vector_dim)
    }

    /// The attributes of HLO.
    fn hlo(&self, names: [&str; 5]) -> String {
        let attribute = |(name, numbers)| format!("{name}={{{}}}, ", list(numbers, ","));
        let lists: String = names.into_iter().zip(self.lists()).map(attribute).collect();
        format!("{lists}index_vector_dim={}", self.index_vector_dim)
    }
}

fn list(numbers: &[usize], between: &str) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(between)
}

fn tensor(shape: &[usize], dtype: &str) -> String {
    let sizes: String = shape.iter().map(|size| format!("{size}x")).collect();
    format!("tensor<{sizes}{dtype}>")
}

/// Types of indices in StableHLO and HLO.
const TYPES: [(&str, &str); 4] = [("i32", "s32"), ("i64", "s64"), ("ui8", "u8"), ("i8", "s8")];

fn indices_of(dtype: &str, shape: &[usize], random: &mut Random) -> (Array, Vec<i64>) {
    let count: usize = shape.iter().product();
    let is_unsigned = dtype.starts_with('u');
    let below = |random: &mut Random| match random.below(12) {
        0 if is_unsigned => 255,
        0 => -128,
        1 => 127,
        _ => random.below(7) as i64 - if is_unsigned { 0 } else { 2 },
    };
    let numbers: Vec<i64> = (0..count).map(|_| below(random)).collect();
    let array = match dtype {
        "i32" => Array::new(shape.to_vec(), numbers.iter().map(|&it| it as i32).collect()),
        "ui8" => Array::new(shape.to_vec(), numbers.iter().map(|&it| it as u8).collect()),
        "i8" => Array::new(shape.to_vec(), numbers.iter().map(|&it| it as i8).collect()),
        _ => Array::new(shape.to_vec(), numbers.clone()),
    };
    (array.unwrap(), numbers)
}

fn counted(shape: &[usize], step: i32) -> Array {
    let count = shape.iter().product::<usize>() as i32;
    Array::new(shape.to_vec(), (0..count).map(|at| at * step).collect()).unwrap()
}

fn run(name: &str, program: &str, inputs: &[Array]) -> Array {
    let model = support::read(name, program).unwrap_or_else(|error| panic!("{error}\n{program}"));
    let results = support::run(&*model, inputs);
    results.unwrap_or_else(|error| panic!("{error}\n{program}")).remove(0)
}

#[test]
fn gathers_follow_the_specification() {
    let mut random = Random(3);
    for _ in 0..400 {
        let n = Numbers::random(&mut random);
        let (stablehlo, hlo) = TYPES[random.below(TYPES.len())];
        let (indices, numbers) = indices_of(stablehlo, &n.indices, &mut random);
        let x = counted(&n.operand, 10);
        let expected = n.gather(x.elements().unwrap(), &numbers);
        let expected = Array::new(n.result.clone(), expected).unwrap();
        let [from, at] = [tensor(&n.operand, "i32"), tensor(&n.indices, stablehlo)];
        let to = tensor(&n.result, "i32");
        let program = format!(
            "func.func @main(%x: {from}, %i: {at}) -> {to} {{
  %r = \"stablehlo.gather\"(%x, %i) <{{dimension_numbers = #stablehlo.gather<{}>,
    indices_are_sorted = false, slice_sizes = array<i64: {}>}}> : ({from}, {at}) -> {to}
  return %r : {to}
}}",
            n.stablehlo(OF_GATHER),
            list(&n.slice_sizes, ", "),
        );
        let inputs = [x, indices];
        assert_eq!(run("g.mlir", &program, &inputs), expected, "{n:?}\n{inputs:?}");
        let program = format!(
            "HloModule m\nENTRY e {{\n  x = s32[{}] parameter(0)\n  i = {hlo}[{}] parameter(1)\n  \
             ROOT r = s32[{}] gather(x, i), {}, slice_sizes={{{}}}\n}}",
            list(&n.operand, ","),
            list(&n.indices, ","),
            list(&n.result, ","),
            n.hlo(OF_GATHER),
            list(&n.slice_sizes, ","),
        );
        assert_eq!(run("g.hlo", &program, &inputs), expected, "{n:?}\n{inputs:?}");
    }
}

#[test]
fn scatters_follow_the_specification() {
    let mut random = Random(4);
    for round in 0..400 {
        let n = Numbers::random(&mut random);
        let (stablehlo, hlo) = TYPES[random.below(TYPES.len())];
        let (indices, numbers) = indices_of(stablehlo, &n.indices, &mut random);
        let [x, updates] = [counted(&n.operand, 10), counted(&n.result, -7)];
        let op = ["set", "add", "multiply", "minimum", "maximum"][round % 5];
        let elements = |array: &Array| array.elements::<i32>().unwrap().to_vec();
        let expected = n.scatter(op, &elements(&x), &numbers, &elements(&updates));
        let expected = Array::new(n.operand.clone(), expected).unwrap();
        let [from, at] = [tensor(&n.operand, "i32"), tensor(&n.indices, stablehlo)];
        let given = tensor(&n.result, "i32");
        let one = "tensor<i32>";
        let body = match op {
            "set" => format!("stablehlo.return %b : {one}"),
            _ => format!("%c = stablehlo.{op} %b, %a : {one}\n    stablehlo.return %c : {one}"),
        };
        let program = format!(
            "func.func @main(%x: {from}, %i: {at}, %u: {given}) -> {from} {{
  %r = \"stablehlo.scatter\"(%x, %i, %u) <{{indices_are_sorted = false,
    scatter_dimension_numbers = #stablehlo.scatter<{}>, unique_indices = true}}> ({{
  ^bb0(%a: {one}, %b: {one}):
    {body}
  }}) : ({from}, {at}, {given}) -> {from}
  return %r : {from}
}}",
            n.stablehlo(OF_SCATTER),
        );
        let inputs = [x, indices, updates];
        assert_eq!(run("s.mlir", &program, &inputs), expected, "{op} {n:?}\n{inputs:?}");
        let body = match op {
            "set" => "  a = s32[] parameter(0)\n  ROOT b = s32[] parameter(1)".to_owned(),
            _ => format!(
                "  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT c = s32[] {op}(a, b)"
            ),
        };
        let program = format!(
            "HloModule m\nf {{\n{body}\n}}\nENTRY e {{\n  x = s32[{0}] parameter(0)\n  \
             i = {hlo}[{1}] parameter(1)\n  u = s32[{2}] parameter(2)\n  \
             ROOT r = s32[{0}] scatter(x, i, u), {3}, to_apply=f\n}}",
            list(&n.operand, ","),
            list(&n.indices, ","),
            list(&n.result, ","),
            n.hlo(OF_SCATTER),
        );
        assert_eq!(run("s.hlo", &program, &inputs), expected, "{op} {n:?}\n{inputs:?}");
    }
}

fn code(program: &str, inputs: &[Array]) -> &'static str {
    let model = match support::read("s.mlir", program) {
        Ok(model) => model,
        Err(error) => return error.code(),
    };
    support::run(&*model, inputs).expect_err("there is a mistake").code()
}

/// `lax.dynamic_slice` and `lax.dynamic_update_slice` as JAX prints them, and HLO's old form, where the
/// starts are one array.
/// The message of the error of a model of this name.
fn message(name: &str, program: &str) -> String {
    let built = support::read(name, program)
        .and_then(|model| model.build(&support::bounds_of_declared(&*model)).map(|_| ()));
    built.expect_err("there is a mistake").to_string()
}

#[test]
fn errors_have_the_names_of_their_operation() {
    let scatter = |numbers: &str| {
        format!(
            "HloModule m\nadd {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  \
             ROOT c = f32[] add(a, b)\n}}\nENTRY e {{\n  x = f32[4,5] parameter(0)\n  \
             i = s32[3,1] parameter(1)\n  u = f32[3,5] parameter(2)\n  \
             ROOT r = f32[4,5] scatter(x, i, u), update_window_dims={{1}}, {numbers}, to_apply=add\n}}"
        )
    };
    for (numbers, expected) in [
        (
            "inserted_window_dims={0}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1",
            "attribute scatter_dims_to_operand_dims has 2 axes for 1 components",
        ),
        (
            "inserted_window_dims={0}, scatter_dims_to_operand_dims={2}, index_vector_dim=1",
            "attribute scatter_dims_to_operand_dims has axis 2, but the rank of the operand is 2",
        ),
        (
            "inserted_window_dims={7}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
            "attribute inserted_window_dims has axis 7, but the rank of the operand is 2",
        ),
        (
            "inserted_window_dims={}, input_batching_dims={0}, scatter_dims_to_operand_dims={0}, \
             index_vector_dim=1",
            "attribute input_batching_dims has 1 axes, but `scatter_indices_batching_dims` has 0",
        ),
        (
            "inserted_window_dims={0}, input_batching_dims={0}, scatter_indices_batching_dims={0}, \
             scatter_dims_to_operand_dims={0}, index_vector_dim=1",
            "attribute input_batching_dims has axis 0 of the operand a second time",
        ),
        (
            "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=3",
            "attribute index_vector_dim is 3, but the rank of the indices is 2",
        ),
    ] {
        let found = message("s.hlo", &scatter(numbers));
        assert!(found.contains(expected), "{found}");
    }
    let slice = "HloModule m\nENTRY e {\n  x = f32[4] parameter(0)\n  i = s32[] parameter(1)\n  \
                 ROOT r = f32[1] dynamic-slice(x, i), dynamic_slice_sizes={-1}\n}";
    let found = message("s.hlo", slice);
    assert!(found.contains("attribute dynamic_slice_sizes has the size -1"), "{found}");
    let slice = "func.func @main(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<1xf32> {
        %r = stablehlo.dynamic_slice %x, %i, sizes = [-1]
          : (tensor<4xf32>, tensor<i32>) -> tensor<1xf32>
        return %r : tensor<1xf32>
      }";
    let found = message("s.mlir", slice);
    assert!(found.contains("attribute slice_sizes has the size -1"), "{found}");
}

#[test]
fn dynamic_slices_clamp_their_starts() {
    let x = counted(&[3, 4], 1);
    let starts = [Array::from_scalar(-5i32), Array::from_scalar(3i32)];
    let (from, at) = ("tensor<3x4xi32>", "tensor<i32>");
    let program = format!(
        "func.func public @main(%arg0: {from}, %arg1: {at}, %arg2: {at}) -> (tensor<2x3xi32>) {{
  %0 = stablehlo.dynamic_slice %arg0, %arg1, %arg2, sizes = [2, 3] : ({from}, {at}, {at}) -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}}"
    );
    let inputs = [x.clone(), starts[0].clone(), starts[1].clone()];
    let slice = Array::new([2, 3], vec![1, 2, 3, 5, 6, 7]).unwrap();
    assert_eq!(run("d.mlir", &program, &inputs), slice);
    let wrong = program.replace("sizes = [2, 3]", "sizes = [2]");
    assert_eq!(code(&wrong, &inputs), "slice-rank");
    let updated = Array::new([3, 4], vec![0, -1, -2, 3, 4, -3, -4, 7, 8, 9, 10, 11]).unwrap();
    let update = Array::new([2, 2], vec![-1, -2, -3, -4]).unwrap();
    let program = format!(
        "func.func @main(%x: {from}, %u: tensor<2x2xi32>, %i: {at}, %j: {at}) -> {from} {{
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %j : ({from}, tensor<2x2xi32>, {at}, {at}) -> {from}
  return %0 : {from}
}}"
    );
    let inputs = [x.clone(), update.clone(), starts[0].clone(), Array::from_scalar(1i32)];
    assert_eq!(run("u.mlir", &program, &inputs), updated);
    let hlo = "HloModule m\nENTRY e {\n  x = s32[3,4] parameter(0)\n  u = s32[2,2] parameter(1)\n  \
               i = s32[2] parameter(2)\n  ROOT r = s32[3,4] dynamic-update-slice(x, u, i)\n}";
    let starts = Array::new([2], vec![-5, 1]).unwrap();
    assert_eq!(run("u.hlo", hlo, &[x, update, starts]), updated);
}

/// A scatter with this body of the arguments `%a %c %b %d`: elements of two operands, then of their updates.
fn scatter_of_two(body: &str, results: &str) -> String {
    let (all, one) = ("tensor<4xi32>", "tensor<i32>");
    format!(
        "func.func @main(%x: {all}, %y: {all}, %i: tensor<2x1xi32>, %u: tensor<2xi32>) -> ({all}, {all}) {{
  %0:2 = \"stablehlo.scatter\"(%x, %y, %i, %u, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<
    inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
  ^bb0(%a: {one}, %c: {one}, %b: {one}, %d: {one}):
    {body}stablehlo.return {results} : {one}, {one}
  }}) : ({all}, {all}, tensor<2x1xi32>, tensor<2xi32>, tensor<2xi32>) -> ({all}, {all})
  return %0#0, %0#1 : {all}, {all}
}}"
    )
}

#[test]
fn several_operands_are_scattered_independently() {
    let sum = "%s = stablehlo.add %a, %b : tensor<i32>\n    ";
    let program = scatter_of_two(sum, "%s, %d");
    let inputs = [
        counted(&[4], 1),
        counted(&[4], 10),
        Array::new([2, 1], vec![2, 2]).unwrap(),
        Array::new([2], vec![100, 200]).unwrap(),
    ];
    let model = support::read("s.mlir", &program).unwrap();
    let found = support::run(&*model, &inputs).unwrap();
    assert_eq!(found[0].elements::<i32>(), Ok(&[0, 1, 302, 3][..]));
    assert_eq!(found[1].elements::<i32>(), Ok(&[0, 10, 200, 30][..]));
    // The second result depends on the first operand, or is another function of the pair.
    assert_eq!(code(&scatter_of_two(sum, "%s, %s"), &inputs), "unsupported-op");
    let difference = "%s = stablehlo.subtract %a, %b : tensor<i32>\n    ";
    assert_eq!(code(&scatter_of_two(difference, "%s, %d"), &inputs), "unsupported-op");
    let or = "%s = stablehlo.or %a, %b : tensor<i32>\n    ";
    assert_eq!(code(&scatter_of_two(or, "%s, %d"), &inputs), "unsupported");
}

/// Sums of truth values are `or`, products `and`; a scalar may be updated too.
#[test]
fn truth_values_and_scalars_are_scattered() {
    let program = |op: &str| {
        format!(
            "func.func @main(%x: tensor<i1>, %i: tensor<2x0xi32>, %u: tensor<2xi1>) -> tensor<i1> {{
  %0 = \"stablehlo.scatter\"(%x, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<
    index_vector_dim = 1>}}> ({{
  ^bb0(%a: tensor<i1>, %b: tensor<i1>):
    %c = stablehlo.{op} %a, %b : tensor<i1>
    stablehlo.return %c : tensor<i1>
  }}) : (tensor<i1>, tensor<2x0xi32>, tensor<2xi1>) -> tensor<i1>
  return %0 : tensor<i1>
}}"
        )
    };
    let empty = || Array::new([2, 0], Vec::<i32>::new()).unwrap();
    let case = |op: &str, x: bool, updates: [bool; 2]| {
        let updates = Array::new([2], updates.to_vec()).unwrap();
        let found = run("s.mlir", &program(op), &[Array::from_scalar(x), empty(), updates]);
        found.elements::<bool>().unwrap()[0]
    };
    assert!(case("add", false, [false, true]) && !case("add", false, [false; 2]));
    assert!(case("multiply", true, [true; 2]) && !case("multiply", true, [true, false]));
    assert!(case("or", true, [false; 2]) && !case("and", false, [true; 2]));
}

/// The example of the operation in StableHLO's tests, and one without batches.
#[test]
fn elements_are_selected_along_an_axis() {
    let select = |attributes: &str, indices: &str, result: &str| {
        format!(
            "func.func @main(%x: tensor<2x3xi32>, %i: tensor<{indices}xi32>) -> tensor<{result}xi32> {{
  %0 = \"stablehlo.torch_index_select\"(%x, %i) <{{{attributes}}}>
    : (tensor<2x3xi32>, tensor<{indices}xi32>) -> tensor<{result}xi32>
  return %0 : tensor<{result}xi32>
}}"
        )
    };
    let x = counted(&[2, 3], 1);
    let plain = select("dim = 1 : i64, batch_dims = 0 : i64", "2", "2x2");
    let inputs = [x.clone(), Array::new([2], vec![2, 9]).unwrap()];
    assert_eq!(run("t.mlir", &plain, &inputs), Array::new([2, 2], vec![2, 2, 5, 5]).unwrap());
    let batches = select("dim = 1 : i64, batch_dims = 1 : i64", "2x1", "2x1");
    let inputs = [x.clone(), Array::new([2, 1], vec![2, 0]).unwrap()];
    assert_eq!(run("t.mlir", &batches, &inputs), Array::new([2, 1], vec![2, 3]).unwrap());
    let wrong = select("dim = 2 : i64, batch_dims = 0 : i64", "2x1", "2x1");
    assert_eq!(code(&wrong, &inputs), "attribute");
}
