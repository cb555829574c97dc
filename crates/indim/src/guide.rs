//! A walk from a first sum to rule sets, layouts, errors and limits. Every example is run as a test.
//!
//! - [A first sum](#a-first-sum)
//! - [Numbers and element types](#numbers-and-element-types)
//! - [Rule sets](#rule-sets)
//! - [Graphs of values](#graphs-of-values)
//! - [Layouts](#layouts)
//! - [Errors](#errors)
//! - [Limits](#limits)
//! - [Explanations and checks](#explanations-and-checks)
//!
//! # A first sum
//!
//! An array has a shape and elements in row-major order. [`evaluate`] takes an expression and an array
//! for each name in it.
//!
//! ```
//! use indim::{Array, evaluate};
//!
//! let x = Array::new([2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let v = Array::new([3], vec![10.0f32, 20.0, 30.0])?;
//! let sum = evaluate("x + v", [("x", &x), ("v", &v)])?;
//! assert_eq!(sum.array_type().to_string(), "f32[2, 3]");
//! assert_eq!(sum.elements::<f32>().unwrap(), [11.0, 22.0, 33.0, 14.0, 25.0, 36.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `x` has two axes and `v` has one, so `v` is *broadcast*: it is added to every row. An operator follows
//! NumPy's rule, which aligns the shapes at their ends. To add a column instead, state the result axis of
//! its axis:
//!
//! ```
//! # use indim::{Array, evaluate};
//! # let x = Array::new([2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let column = Array::new([2], vec![10.0f32, 20.0])?;
//! let sum = evaluate("add(x, column, dims=[0])", [("x", &x), ("column", &column)])?;
//! assert_eq!(sum.elements::<f32>().unwrap(), [11.0, 12.0, 13.0, 24.0, 25.0, 26.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `dims` is XLA's `broadcast_dimensions`: axis 0 of `column` maps to axis 0 of `x`. `column` is not
//! copied. An expression becomes one loop if possible, and computations that a broadcast would repeat run
//! before it. The compiled program is cached for the next call with the same text and types.
//!
//! # Numbers and element types
//!
//! An array has one element type, a [`DType`]; the corresponding Rust types implement [`Element`]. A
//! number in the text, or as an input, takes the type of the array that it meets. Arrays of two types are
//! promoted as in NumPy 2, and only under NumPy's rule.
//!
//! ```
//! use indim::{evaluate, inputs};
//!
//! let bytes = [250u8, 251, 252];
//! let sum = evaluate("x + k", inputs![x = bytes, k = 1])?;
//! assert_eq!(sum.elements::<u8>().unwrap(), [251, 252, 253]);
//!
//! let halves = evaluate("x / 2", [("x", &bytes)])?;
//! assert_eq!(halves.elements::<f64>().unwrap(), [125.0, 125.5, 126.0]);
//!
//! let error = evaluate("x + 300", [("x", &bytes)]).unwrap_err();
//! assert_eq!(error.code(), "literal-out-of-range");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`f16`](crate::array::f16), [`bf16`](crate::array::bf16), [`c64`](crate::array::c64),
//! [`c128`](crate::array::c128) and the storage types, such as [`f8e4m3fn`](crate::array::f8e4m3fn) and
//! [`i4`](crate::array::i4), are types of this crate; the others are Rust's own.
//!
//! # Rule sets
//!
//! A [`RuleSet`] decides to which result axes the axes of operands map. Every rule set elaborates into one
//! *explicit form*, a [`Broadcast`]: the result's shape, and for each operand the result axis of each of its
//! axes. Elaboration needs only shapes:
//!
//! ```
//! use indim::{RuleSet, Shape};
//! use indim::broadcast::{RuleSetName, convert_broadcast};
//!
//! let pictures = Shape::from([8, 3, 32, 32]);
//! let bias = Shape::from([3]);
//! let operands = [pictures, bias];
//!
//! // Paddle's rule: the second operand begins at axis 1 of the first.
//! let broadcast = RuleSet::Pdpd { axis: Some(1) }.elaborate(&operands)?;
//! assert_eq!(broadcast.result().sizes(), [8, 3, 32, 32]);
//! assert_eq!(broadcast.maps()[1].to_string(), "[1]");
//!
//! // XLA's attribute says the same.
//! assert_eq!(RuleSet::Xla { dims: vec![1] }.elaborate(&operands)?, broadcast);
//!
//! // NumPy cannot without a reshape.
//! let in_numpy = convert_broadcast(&broadcast, RuleSetName::Numpy)?;
//! assert_eq!(in_numpy.to_string(), "numpy, operand 1 reshaped to [3, 1, 1]");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! No rule is inferred from sizes that happen to match: under [`RuleSet::None`] shapes are equal, and under
//! [`RuleSet::Xla`] shapes of different ranks need their `dims`. [`TargetRule`] has the rules by which one
//! operand is broadcast to a given shape. Each rule has a label, such as
//! [N2](crate::rules#numpy-n) or [X4](crate::rules#xla-x), which errors name;
//! [`rules`](crate::rules) lists them all, with examples.
//!
//! If axes have names, [`RuleSet::Named`] aligns axes of the same name, in any order:
//!
//! ```
//! use indim::{DType, GraphBuilder};
//!
//! let b = GraphBuilder::new();
//! let x = b.named_parameter("x", DType::F32, &[("time", 8760), ("lat", 721)])?;
//! let weights = b.named_parameter("weights", DType::F32, &[("lat", 721), ("time", 8760)])?;
//! let weighted = b.named().mul(&x, &weights)?; // the weights are transposed where they are read
//! assert_eq!(weighted.axis_names().to_string(), "[time, lat]");
//! # Ok::<(), indim::GraphError>(())
//! ```
//!
//! In an expression `dims=` asks for xla and `axis=` for pdpd; every other operation follows numpy. In a
//! graph, which comes next, the methods of the builder follow xla, and
//! [`under`](crate::GraphBuilder::under) takes any rule set.
//!
//! # Graphs of values
//!
//! A [`GraphBuilder`] makes values; operators and methods compute with them, in functions of your own.
//! They compute nothing yet. [`compile`] makes an [`Executable`] of the graph, which is run as often as you
//! like.
//!
//! ```
//! use indim::{ArrayView, CompileOptions, DType, GraphBuilder, Value, compile};
//!
//! /// Equal shapes, and scalars with anything, need no rule.
//! fn squashed(x: &Value) -> Value {
//!     x / (1 + x.abs())
//! }
//!
//! let b = GraphBuilder::new();
//! let x = b.parameter("x", DType::F64, [2, 2])?;
//! let v = b.parameter("v", DType::F64, [2])?;
//! let rows = b.sub(&x, &v, &[1])?; // xla: axis 0 of v maps to axis 1 of x
//! let columns = b.numpy().sub(&rows, b.reshape(&v, [2, 1])?)?;
//! let graph = b.finish(&[squashed(&columns)])?;
//! let executable = compile(&graph, &CompileOptions::default())?;
//!
//! let x = ArrayView::from_slice([2, 2], &[1.0, 3.0, 5.0, 4.0])?;
//! let v = ArrayView::from(&[1.0, 2.0]);
//! let results = executable.run_named(&[("v", v), ("x", x)])?;
//! assert_eq!(results[0].elements::<f64>().unwrap(), [-0.5, 0.0, 2.0 / 3.0, 0.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An expression can be a part of a graph too: [`Expression::build`](crate::text::Expression::build) takes
//! values for its names and returns a value.
//!
//! A text can name values before its last statement, which states the results;
//! [`evaluate_all`](crate::evaluate_all) returns all results:
//!
//! ```
//! let text = "low, high = min(x), max(x); (x - low) / (high - low), low";
//! let results = indim::evaluate_all(text, [("x", &[4.0, 2.0, 6.0])])?;
//! assert_eq!(results[0].elements::<f64>().unwrap(), [0.5, 0.0, 1.0]);
//! assert_eq!(results[1].elements::<f64>().unwrap(), [2.0]);
//! # Ok::<(), indim::EvaluateError>(())
//! ```
//!
//! # Gradients
//!
//! The derivative of a graph is a graph of the same operations. With the trait [`Differentiate`] in
//! scope, [`gradient`](Differentiate::gradient) differentiates a graph with one scalar output, and
//! [`vjp`](Differentiate::vjp) takes a cotangent for each output; [`jvp`](Differentiate::jvp) computes
//! derivatives in the direction of tangents of the parameters.
//!
//! ```
//! use indim::{Array, ArrayView, CompileOptions, DType, Differentiate, GraphBuilder, compile};
//!
//! let b = GraphBuilder::new();
//! let w = b.parameter("w", DType::F64, [3])?;
//! let x = b.parameter("x", DType::F64, [2, 3])?;
//! let predicted = b.mul(&x, &w, &[1])?.sum(1);
//! let loss = (predicted - 1).square().mean(());
//! let graph = b.finish(&[loss])?.value_and_gradient(&["w"])?;
//!
//! let w = Array::new([3], vec![1.0, 0.0, 0.0])?;
//! let x = Array::new([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let inputs = [ArrayView::from(&w), ArrayView::from(&x)];
//! let results = compile(&graph, &CompileOptions::default())?.run(&inputs)?;
//! assert_eq!(results[0].clone().elements::<f64>(), Ok(&[4.5][..]));
//! assert_eq!(results[1].clone().elements::<f64>(), Ok(&[12.0, 15.0, 18.0][..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Batches
//!
//! With the trait [`Vectorize`] in scope, [`vmap`](Vectorize::vmap) makes the graph that computes another
//! graph for every element of a batch. For each parameter you give the position of the batch axis, or
//! `None` if all elements share the parameter.
//!
//! ```
//! use indim::{Array, ArrayView, CompileOptions, DType, GraphBuilder, Vectorize, compile};
//!
//! let b = GraphBuilder::new();
//! let x = b.parameter("x", DType::F64, [2])?;
//! let center = b.parameter("center", DType::F64, [2])?;
//! let distance = (&x - &center).square().sum(()).sqrt(); // of one point
//! let graph = b.finish(&[distance])?.vmap(3, &[Some(0), None], &[Some(0)])?;
//!
//! let x = Array::new([3, 2], vec![3.0, 4.0, 0.0, 1.0, 6.0, 8.0])?;
//! let center = Array::new([2], vec![0.0, 0.0])?;
//! let inputs = [ArrayView::from(&x), ArrayView::from(&center)];
//! let results = compile(&graph, &CompileOptions::default())?.run(&inputs)?;
//! assert_eq!(results[0].clone().elements::<f64>(), Ok(&[5.0, 1.0, 10.0][..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Layouts
//!
//! An [`ArrayView`] reads your memory without a copy. It has a type, and *strides*, the steps in bytes from
//! one element to the next along each axis, so transposed, sliced and reversed arrays need no copy either.
//! Here are the three channels of an interleaved image as three planes, upside down:
//!
//! ```
//! use indim::{ArrayType, ArrayView, DType, evaluate};
//!
//! // Two rows of two pixels of three channels.
//! let picture: [u8; 12] = [11, 12, 13, 21, 22, 23, 31, 32, 33, 41, 42, 43];
//! let planes = ArrayType::new(DType::U8, [3, 2, 2]);
//! let (channel, up, pixel) = (1, -6, 3);
//! let last_row = 6;
//! let view = ArrayView::from_bytes(planes, vec![channel, up, pixel], &picture, last_row)?;
//!
//! let result = evaluate("view + 100", [("view", view)])?;
//! assert_eq!(
//!     result.elements::<u8>().unwrap(),
//!     [131, 141, 111, 121, 132, 142, 112, 122, 133, 143, 113, 123],
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! New outputs are row-major. [`RunOptions`] selects another [`Order`]: `F` is Fortran's, `K` is that of the
//! inputs. [`Array::strides`](crate::Array::strides) counts elements,
//! [`byte_strides`](crate::Array::byte_strides) bytes.
//!
//! ```
//! use indim::{ArrayView, CompileOptions, DType, GraphBuilder, RunOptions, compile};
//! use indim::array::Order;
//!
//! let b = GraphBuilder::new();
//! let x = b.parameter("x", DType::F32, [2, 3])?;
//! let executable = compile(&b.finish(&[2 * x])?, &CompileOptions::default())?;
//! let x = ArrayView::from_slice([2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//!
//! let options = RunOptions::new().order(Order::F);
//! let result = executable.run_with(&[x], &options)?.remove(0);
//! assert_eq!(result.strides(), [1, 2]);
//! assert_eq!(result.elements_in_memory::<f32>().unwrap(), [2.0, 8.0, 4.0, 10.0, 6.0, 12.0]);
//! assert_eq!(result.to_row_major()?.elements::<f32>().unwrap(), [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`run_into`](Executable::run_into) writes into your arrays, of any strides, and
//! [`run_in_place`](Executable::run_in_place) over inputs:
//!
//! ```
//! use indim::{ArrayView, ArrayViewMut, CompileOptions, DType, GraphBuilder, compile};
//! use indim::run::InPlace;
//!
//! let b = GraphBuilder::new();
//! let x = b.parameter("x", DType::F32, [2, 2])?;
//! let v = b.parameter("v", DType::F32, [2])?;
//! let executable = compile(&b.finish(&[b.mul(&x, &v, &[0])?])?, &CompileOptions::default())?;
//!
//! let mut x = [1.0f32, 2.0, 3.0, 4.0];
//! let v = [10.0f32, 100.0];
//! let mut result = [0.0f32; 4];
//! let inputs = [ArrayView::from_slice([2, 2], &x)?, ArrayView::from(&v)];
//! executable.run_into(&inputs, &mut [ArrayViewMut::from_slice([2, 2], &mut result)?])?;
//! assert_eq!(result, [10.0, 20.0, 300.0, 400.0]);
//!
//! let over_x = InPlace::Overwrite(ArrayViewMut::from_slice([2, 2], &mut x)?);
//! executable.run_in_place(vec![over_x, InPlace::Read(ArrayView::from(&v))])?;
//! assert_eq!(x, result);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Errors
//!
//! Nothing panics on bad input. An error is data with a stable `code`. For people it becomes a
//! [`Diagnostic`](crate::errors::Diagnostic), which is drawn with the place in the text and the shapes. `{}`
//! and `{:?}` draw an [`EvaluateError`](crate::EvaluateError) or a [`GraphError`](crate::GraphError), so
//! `unwrap`, and `?` in `main`, show the drawing and the line of the call. The `headline` of the diagnostic
//! is one line.
//!
//! ```
//! use indim::{Array, evaluate};
//!
//! let x = Array::new([1, 3, 2], vec![1.0f32; 6])?;
//! let bias = Array::new([3], vec![1.0f32, 2.0, 3.0])?;
//! let error = evaluate("x + bias", [("x", &x), ("bias", &bias)]).unwrap_err();
//!
//! assert_eq!(error.code(), "size-mismatch");
//! assert_eq!(error.draw(), "\
//! error[size-mismatch]: `add` cannot broadcast `bias` onto `x` under rule numpy
//!    | x + bias
//!    |   ^
//!    x    : f32[1, 3, 2]
//!    bias : f32[      3]
//!                     ^ axis 0 of `bias` is 3, axis 2 of `x` is 2
//!    = rule N2: right-aligned axes must be equal, or one of them 1
//!    = help: broadcast_dimensions=[1] gives f32[1, 3, 2] (the only axis of `x` of size 3)
//!    = help: pdpd axis=1 gives the same; so does bias reshaped to [3, 1] under numpy
//! ");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The help is data as well: [`find_repairs`](crate::errors::find_repairs) gives the [`Repair`]s of a
//! [`ShapeError`]. Each was tried and is legal.
//!
//! ```
//! use indim::{RuleSet, Shape};
//! use indim::errors::find_repairs;
//!
//! let operands = [Shape::from([1, 3, 2]), Shape::from([3])];
//! let error = RuleSet::Numpy.elaborate(&operands).unwrap_err();
//! assert_eq!((error.code(), error.label()), ("size-mismatch", "N2"));
//! assert_eq!((error.operand(), error.axis()), (Some(1), Some(0)));
//! assert_eq!(
//!     find_repairs(&error)[0].to_string(),
//!     "broadcast_dimensions=[1] gives [1, 3, 2] (the only axis of operand 0 of size 3)",
//! );
//! ```
//!
//! Operators on values cannot return an error. The builder keeps the first, and `finish` returns it:
//!
//! ```
//! use indim::{DType, GraphBuilder};
//!
//! let b = GraphBuilder::new();
//! let x = b.parameter("x", DType::F32, [2, 3])?;
//! let v = b.parameter("v", DType::F32, [3])?;
//! let error = b.finish(&[(x + v) * 2]).unwrap_err();
//! assert_eq!(error.code(), "shapes-differ");
//! # Ok::<(), indim::GraphError>(())
//! ```
//!
//! # Limits
//!
//! [`ParseLimits`] bound a text from a stranger: its bytes, depth, operations and axes. Each limit has its
//! own error code, and is checked before the computation. [`evaluate`] uses the default limits.
//!
//! ```
//! use indim::evaluate;
//! use indim::text::{Expression, ParseLimits};
//!
//! let deep = "(".repeat(2000) + "x" + &")".repeat(2000);
//! assert_eq!(evaluate(&deep, [("x", &[1.0f64])]).unwrap_err().code(), "too-deep");
//!
//! let limits = ParseLimits::new().nodes(3);
//! assert!(Expression::parse("x + y", &limits).is_ok());
//! assert_eq!(Expression::parse("x + y + z", &limits).unwrap_err().code(), "too-many-nodes");
//! ```
//!
//! Arrays of texts and files have at most [`MAX_RANK`](crate::array::MAX_RANK) axes; arrays made
//! in Rust have any number. A [`Forecast`] states the memory of a run before anything is allocated, and a
//! `memory_limit` refuses a run that needs more. [`CompileOptions`] has a limit for the memory of
//! compilation; without it [`compile`] does not fail.
//!
//! ```
//! use indim::{ArrayView, CompileOptions, DType, GraphBuilder, RunOptions, compile};
//!
//! let b = GraphBuilder::new();
//! let u = b.parameter("u", DType::F32, [1000, 1])?;
//! let v = b.parameter("v", DType::F32, [2000])?;
//! let graph = b.finish(&[b.numpy().mul(u, v)?])?;
//! let executable = compile(&graph, &CompileOptions::default())?;
//!
//! let forecast = executable.forecast();
//! assert_eq!((forecast.bytes_read, forecast.bytes_written), (12_000, 8_000_000));
//!
//! let (u, v) = ([1.0f32; 1000], [1.0f32; 2000]);
//! let inputs = [ArrayView::from_slice([1000, 1], &u)?, ArrayView::from(&v)];
//! let options = RunOptions::new().memory_limit(1 << 20);
//! assert_eq!(executable.run_with(&inputs, &options).unwrap_err().code(), "memory-limit");
//!
//! let options = CompileOptions::new().memory_limit(100);
//! assert_eq!(compile(&graph, &options).unwrap_err().code(), "memory-limit");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Explanations and checks
//!
//! An [`Explanation`] shows the broadcasts of a graph, its loop nests and the cost of a run, as text and as
//! a drawing. The evaluator of [`reference`](mod@crate::reference) computes one element at a time. Its
//! bits and those of every level and number of threads are the same.
//!
//! ```
//! use indim::explain::Explanation;
//! use indim::{Array, ArrayView, CompileOptions, DType, GraphBuilder, compile, reference};
//!
//! let b = GraphBuilder::new();
//! let x = b.parameter("x", DType::F32, [2, 3])?;
//! let v = b.parameter("v", DType::F32, [3])?;
//! let graph = b.finish(&[b.add(x, v, &[1])?.exp()])?;
//! let options = CompileOptions::default();
//! println!("{}", Explanation::new(&graph, &options)?);
//!
//! let x = Array::new([2, 3], vec![0.5f32, 1.5, 2.5, 3.5, 4.5, 5.5])?;
//! let v = Array::new([3], vec![1.0f32, 2.0, 3.0])?;
//! let computed = compile(&graph, &options)?.run(&[ArrayView::from(&x), ArrayView::from(&v)])?;
//! let expected = reference::evaluate(&graph, &[x, v])?;
//! assert_eq!(computed[0].clone(), expected[0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[allow(unused_imports, reason = "the text links to them")]
use crate::{
    Array, ArrayView, CompileOptions, DType, Differentiate, Element, Executable, Graph,
    GraphBuilder, RuleSet, RunOptions, Vectorize, array::Order, broadcast::Broadcast,
    broadcast::TargetRule, compile, errors::Repair, errors::ShapeError, evaluate,
    explain::Explanation, run::Forecast, text::ParseLimits,
};
