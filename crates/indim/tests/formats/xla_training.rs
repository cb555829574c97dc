//! Operations of JAX's training steps and compiled programs in StableHLO and HLO: gradients of pools,
//! searches in broadcast counts, `topk`, sorts by bits, `logaddexp`, and bitcasts to other widths.

use crate::support;
use indim_graph::Array;

fn run(name: &str, program: &str, inputs: &[Array]) -> Result<Vec<Array>, &'static str> {
    let model = support::read(name, program).map_err(|error| error.code())?;
    support::run(&*model, inputs).map_err(|error| error.code())
}

fn array<T: indim_cpu::ElementLayout>(sizes: &[usize], elements: Vec<T>) -> Array {
    Array::new(sizes, elements).unwrap()
}

/// A pool's gradient in StableHLO: windows `sizes` of `i64[4,2]`, padded by `padding`.
fn stablehlo_pool(select: &str, padding: &str, source: &str) -> String {
    let [one, operand] = ["tensor<i64>", "tensor<4x2xi64>"];
    format!(
        "func.func @main(%x: {operand}, %s: {source}) -> {operand} {{
  %i = stablehlo.constant dense<0> : {one}
  %r = \"stablehlo.select_and_scatter\"(%x, %s, %i) <{{window_dimensions = array<i64: 3, 1>,
    window_strides = array<i64: 2, 1>, padding = dense<{padding}> : tensor<2x2xi64>}}> ({{
    ^bb0(%a: {one}, %b: {one}):
      %p = stablehlo.compare {select}, %a, %b, SIGNED : ({one}, {one}) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }}, {{
    ^bb0(%a: {one}, %b: {one}):
      %p = stablehlo.add %a, %b : {one}
      stablehlo.return %p : {one}
    }}) : ({operand}, {source}, {one}) -> {operand}
  return %r : {operand}
}}"
    )
}

/// The example of StableHLO's specification, and the same in HLO.
#[test]
fn gradients_of_pools() {
    let x = array(&[4, 2], vec![1_i64, 5, 2, 5, 3, 6, 4, 4]);
    let source = array(&[2, 2], vec![5_i64, 6, 7, 8]);
    let expected = array(&[4, 2], vec![0_i64, 0, 0, 0, 5, 14, 7, 0]);
    let text = stablehlo_pool("GE", "[[0, 1], [0, 0]]", "tensor<2x2xi64>");
    let inputs = [x, source];
    assert_eq!(run("p.mlir", &text, &inputs), Ok(vec![expected.clone()]));
    let hlo = "HloModule m
ge { a = s64[] parameter(0)  b = s64[] parameter(1)  ROOT r = pred[] compare(a, b), direction=GE }
add { a = s64[] parameter(0)  b = s64[] parameter(1)  ROOT r = s64[] add(a, b) }
ENTRY e {
  x = s64[4,2] parameter(0)
  s = s64[2,2] parameter(1)
  i = s64[] constant(0)
  ROOT r = s64[4,2] select-and-scatter(x, s, i), window={size=3x1 stride=2x1 pad=0_1x0_0},
    select=ge, scatter=add
}";
    assert_eq!(run("p.hlo", hlo, &inputs), Ok(vec![expected]));
    // The least elements: row 0 of the first windows, rows 2 and 3 of the second ones.
    let least = stablehlo_pool("LE", "[[0, 1], [0, 0]]", "tensor<2x2xi64>");
    let expected = array(&[4, 2], vec![5_i64, 6, 0, 0, 7, 0, 0, 8]);
    assert_eq!(run("p.mlir", &least, &inputs), Ok(vec![expected]));
    // The last element at ties has no gradient of a pool, and padding may not fill a window.
    let last = stablehlo_pool("GT", "[[0, 1], [0, 0]]", "tensor<2x2xi64>");
    assert_eq!(run("p.mlir", &last, &inputs), Err("unsupported-op"));
    let wide = stablehlo_pool("GE", "[[3, 0], [0, 0]]", "tensor<3x2xi64>");
    let inputs = [inputs[0].clone(), array(&[3, 2], vec![1_i64; 6])];
    assert_eq!(run("p.mlir", &wide, &inputs), Err("unsupported"));
}

/// Every combination of small windows, against a search element by element.
#[test]
fn overlapping_windows_of_floats_select_the_first_greatest_element() {
    const INF: f32 = f32::INFINITY;
    let (rows, columns) = (4, 5);
    let x: Vec<f32> = (0..20).map(|at| [2.0, -INF, 1.0, 2.0, -INF, -INF, 0.5][at % 7]).collect();
    let mut count = 0;
    for (size, stride, low, high) in [
        ([2, 2], [1, 1], 1, 0),
        ([3, 2], [2, 1], 1, 1),
        ([2, 3], [2, 2], 0, 1),
        ([1, 1], [2, 3], 0, 0),
    ] {
        let windows =
            |axis: usize, whole: usize| (whole + low + high - size[axis]) / stride[axis] + 1;
        let (down, across) = (windows(0, rows), windows(1, columns));
        let source: Vec<f32> = (0..down * across).map(|at| 1.0 + at as f32).collect();
        let mut expected = vec![0.5_f32; 20];
        for (window, value) in source.iter().enumerate() {
            let [row, column] = [window / across, window % across];
            let mut greatest: Option<usize> = None;
            for (i, j) in (0..size[0]).flat_map(|i| (0..size[1]).map(move |j| (i, j))) {
                let [i, j] = [row * stride[0] + i, column * stride[1] + j];
                if i < low || j < low || i - low >= rows || j - low >= columns {
                    continue;
                }
                let at = (i - low) * columns + j - low;
                if greatest.is_none_or(|greatest| x[at] > x[greatest]) {
                    greatest = Some(at);
                }
            }
            expected[greatest.unwrap()] += value;
        }
        let text = format!(
            "HloModule m
ge {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=GE }}
add {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }}
ENTRY e {{
  x = f32[4,5] parameter(0)
  s = f32[{down},{across}] parameter(1)
  i = f32[] constant(0.5)
  ROOT r = f32[4,5] select-and-scatter(x, s, i),
    window={{size={}x{} stride={}x{} pad={low}_{high}x{low}_{high}}}, select=ge, scatter=add
}}",
            size[0], size[1], stride[0], stride[1]
        );
        let inputs = [array(&[4, 5], x.clone()), array(&[down, across], source)];
        assert_eq!(run("p.hlo", &text, &inputs), Ok(vec![array(&[4, 5], expected)]), "{text}");
        count += 1;
    }
    assert_eq!(count, 4);
}

/// XLA writes the count of an argmax as a broadcast of a count of one axis.
#[test]
fn an_argmax_takes_a_broadcast_count() {
    let program = |dims: &str, axis: usize| {
        format!(
            "HloModule m
larger {{
  x = s8[] parameter(0)
  i = s32[] parameter(1)
  y = s8[] parameter(2)
  j = s32[] parameter(3)
  gt = pred[] compare(x, y), direction=GT
  eq = pred[] compare(x, y), direction=EQ
  lt = pred[] compare(i, j), direction=LT
  and = pred[] and(eq, lt)
  or = pred[] or(gt, and)
  a = s8[] select(gt, x, y)
  b = s32[] select(or, i, j)
  ROOT t = (s8[], s32[]) tuple(a, b)
}}
ENTRY e {{
  x = s8[2,3] parameter(0)
  count = s32[3] iota(), iota_dimension=0
  counts = s32[2,3] broadcast(count), dimensions={{{dims}}}
  least = s8[] constant(-128)
  zero = s32[] constant(0)
  ROOT r = (s8[2], s32[2]) reduce(x, counts, least, zero), dimensions={{{axis}}}, to_apply=larger
}}"
        )
    };
    let x = array(&[2, 3], vec![-128_i8, 7, 7, 3, 2, -1]);
    let expected = vec![array(&[2], vec![7_i8, 3]), array(&[2], vec![1, 0])];
    assert_eq!(run("a.hlo", &program("1", 1), core::slice::from_ref(&x)), Ok(expected));
}

#[test]
fn the_greatest_elements_and_their_positions() {
    let program = |operation: &str| {
        format!(
            "HloModule m
ENTRY e {{
  x = f32[2,4] parameter(0)
  ROOT r = (f32[2,2], s32[2,2]) {operation}
}}"
        )
    };
    let x = array(&[2, 4], vec![1.0_f32, 5.0, 5.0, 2.0, -1.0, f32::INFINITY, 0.0, 3.0]);
    let expected = vec![
        array(&[2, 2], vec![5.0_f32, 5.0, f32::INFINITY, 3.0]),
        array(&[2, 2], vec![1, 2, 1, 3]),
    ];
    for operation in ["topk(x), k=2, largest=true", "custom-call(x), custom_call_target=\"TopK\""] {
        let found = run("t.hlo", &program(operation), core::slice::from_ref(&x));
        assert_eq!(found, Ok(expected.clone()), "{operation}");
    }
    let least = program("topk(x), k=2, largest=false");
    assert_eq!(run("t.hlo", &least, core::slice::from_ref(&x)), Err("unsupported"));
}

/// XLA compiles JAX's comparison in the total order to a comparison of bits as integers.
#[test]
fn sorts_by_the_bits_of_floats() {
    let program = |largest: &str| {
        format!(
            "HloModule m
less {{
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  nan = f32[] constant(nan)
  zero = f32[] constant(0)
  none = s32[] constant(0)
  largest = s32[] constant({largest})
  nx = pred[] compare(x, x), direction=NE
  ny = pred[] compare(y, y), direction=NE
  zx = pred[] compare(x, zero), direction=EQ
  zy = pred[] compare(y, zero), direction=EQ
  ax = f32[] select(zx, zero, x)
  ay = f32[] select(zy, zero, y)
  cx = f32[] select(nx, nan, ax)
  cy = f32[] select(ny, nan, ay)
  bx = s32[] bitcast(cx)
  by = s32[] bitcast-convert(cy)
  fx = s32[] xor(largest, bx)
  fy = s32[] xor(largest, by)
  lx = pred[] compare(bx, none), direction=LT
  ly = pred[] compare(by, none), direction=LT
  kx = s32[] select(lx, fx, bx)
  ky = s32[] select(ly, fy, by)
  ROOT r = pred[] compare(kx, ky), direction=LT
}}
ENTRY e {{
  x = f32[6] parameter(0)
  ROOT r = f32[6] sort(x), dimensions={{0}}, is_stable=true, to_apply=less
}}"
        )
    };
    let x = array(&[6], vec![2.0_f32, f32::NAN, 0.0, -0.0, -3.0, -f32::INFINITY]);
    let found = run("s.hlo", &program("2147483647"), core::slice::from_ref(&x)).unwrap().remove(0);
    let bits: Vec<u32> = found.elements::<f32>().unwrap().iter().map(|it| it.to_bits()).collect();
    let sorted = [-f32::INFINITY, -3.0, 0.0, -0.0, 2.0, f32::NAN];
    assert_eq!(bits, sorted.map(f32::to_bits));
    let other = run("s.hlo", &program("32767"), core::slice::from_ref(&x));
    assert_eq!(other, Err("unsupported-op"));
}

/// `lax.cumlogsumexp`, and a reduction by `logaddexp`.
#[test]
fn logarithms_of_sums_of_exponentials() {
    let program = |operation: &str, sizes: &str, start: &str| {
        format!(
            "HloModule m
logaddexp {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  sub = f32[] subtract(a, b)
  ne = pred[] compare(sub, sub), direction=NE
  add = f32[] add(a, b)
  max = f32[] maximum(a, b)
  abs = f32[] abs(sub)
  neg = f32[] negate(abs)
  exp = f32[] exponential(neg)
  log1p = f32[] log-plus-one(exp)
  sum = f32[] add(max, log1p)
  ROOT r = f32[] select(ne, add, sum)
}}
ENTRY e {{
  x = f32[2,3] parameter(0)
  i = f32[] constant({start})
  ROOT r = f32[{sizes}] {operation}, to_apply=logaddexp
}}"
        )
    };
    let elements = [0.0_f32, 1.0, 200.0, -f32::INFINITY, -f32::INFINITY, 2.5];
    let x = array(&[2, 3], elements.to_vec());
    let log_sum = |elements: &[f32]| {
        let max = elements.iter().copied().fold(-f32::INFINITY, f32::max);
        let sum: f64 = elements.iter().map(|&it| f64::from(it - max).exp()).sum();
        if max == -f32::INFINITY { max } else { (f64::from(max) + sum.ln()) as f32 }
    };
    let scans = |reverse: bool| -> Vec<f32> {
        let rows = elements.chunks(3).map(|row| {
            (0..3).map(move |at| log_sum(if reverse { &row[at..] } else { &row[..=at] }))
        });
        rows.flatten().collect()
    };
    for (window, reverse) in [("size=1x3 pad=0_0x2_0", false), ("size=1x3 pad=0_0x0_2", true)] {
        let text = program(&format!("reduce-window(x, i), window={{{window}}}"), "2,3", "-inf");
        let found = run("l.hlo", &text, core::slice::from_ref(&x)).unwrap().remove(0);
        let found: &[f32] = found.elements().unwrap();
        for (found, expected) in found.iter().zip(scans(reverse)) {
            let is_close = (found - expected).abs() <= 1e-6 * expected.abs();
            assert!(*found == expected || is_close, "{found} {expected}");
        }
    }
    let all = program("reduce(x, i), dimensions={0,1}", "", "-inf");
    let found = run("l.hlo", &all, core::slice::from_ref(&x)).unwrap().remove(0);
    assert_eq!(found.elements::<f32>(), Ok(&[200.0_f32][..]));
    let from_zero = program("reduce(x, i), dimensions={0,1}", "", "0");
    let found = run("l.hlo", &from_zero, core::slice::from_ref(&x)).unwrap().remove(0);
    assert_eq!(found.elements::<f32>(), Ok(&[200.0_f32][..]));
    let moving = program("reduce-window(x, i), window={size=1x2}", "2,2", "-inf");
    let found = run("l.hlo", &moving, core::slice::from_ref(&x)).unwrap().remove(0);
    let expected = [log_sum(&[0.0, 1.0]), 200.0, -f32::INFINITY, 2.5];
    for (found, expected) in found.elements::<f32>().unwrap().iter().zip(expected) {
        let is_close = (found - expected).abs() <= 1e-6 * expected.abs();
        assert!(*found == expected || is_close, "{found} {expected}");
    }
}

/// The lowest bits come first, along the last axis.
#[test]
fn bitcasts_to_other_widths() {
    let program = |from: &str, to: &str| {
        format!(
            "func.func @main(%x: {from}) -> {to} {{
  %r = stablehlo.bitcast_convert %x : ({from}) -> {to}
  return %r : {to}
}}"
        )
    };
    let floats = array(&[2], vec![1.0_f32, -2.5]);
    let bytes: Vec<u8> = [1.0_f32, -2.5].iter().flat_map(|it| it.to_le_bytes()).collect();
    let bytes = array(&[2, 4], bytes);
    let words = [1.0_f32, -2.5].map(f32::to_bits);
    let halves =
        words.iter().flat_map(|&it| [it as u16 as i16, (it >> 16) as u16 as i16]).collect();
    let halves = array::<i16>(&[2, 2], halves);
    for (from, to, x, expected) in [
        ("tensor<2xf32>", "tensor<2x4xui8>", &floats, &bytes),
        ("tensor<2x4xui8>", "tensor<2xf32>", &bytes, &floats),
        ("tensor<2xf32>", "tensor<2x2xi16>", &floats, &halves),
        ("tensor<2x2xi16>", "tensor<2xf32>", &halves, &floats),
    ] {
        let found = run("b.mlir", &program(from, to), core::slice::from_ref(x));
        assert_eq!(found, Ok(vec![expected.clone()]), "{from} {to}");
    }
    let inputs = [array(&[4, 2], vec![0_u8; 8])];
    let refused = run("b.mlir", &program("tensor<4x2xui8>", "tensor<4xf32>"), &inputs);
    assert_eq!(refused, Err("unsupported"));
}
