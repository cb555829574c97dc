//! Errors of runs: arrays, compiled programs, memory, threads.

use super::ErrorExample::{Command, Words};
use super::{ErrorCode, ErrorEntry};

codes! {
    INPUT_COUNT = "input-count" {
        title: "A program gets the wrong number of inputs",
        explanation: "The message states both numbers. Give one array for each parameter, in order or by \
            name.",
        example: Command(&[
            "cat > p.mlir <<'end'",
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {",
            "  return %x : tensor<2xf32>",
            "}",
            "end",
            "indim run p.mlir 'f32([1, 2])' 'f32([1, 2])'",
        ]),
        raised_by: ["indim-cli", "indim-cpu", "indim-model"],
    }
    INPUT_TYPE = "input-type" {
        title: "The type of an input differs from that of its parameter",
        explanation: "Element type and shape must be equal. Convert the array, or compile for its type.",
        example: Command(&[
            "cat > p.mlir <<'end'",
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {",
            "  return %x : tensor<2xf32>",
            "}",
            "end",
            "indim run p.mlir 'x=[1.0]'",
        ]),
        raised_by: ["indim-cpu", "indim-model"],
    }
    GUARD_NOT_MET = "guard-not-met" {
        title: "Sizes of the inputs do not meet a guard of the program",
        explanation: "A program with symbolic sizes has guards on them, such as `n >= 2`. The message \
            states the guard that fails. Compile the program for these sizes.",
        example: Words("A program compiled for the type `f32[n]` with the guard `n >= 2` runs with an array \
            of one element."),
        raised_by: ["indim-graph"],
    }
    UNKNOWN_INPUT = "unknown-input" {
        title: "No parameter has the name of an input",
        explanation: "The message lists the parameters.",
        example: Words("A program with the parameter `x` runs with named inputs, among them `y`."),
        raised_by: ["indim-cpu"],
    }
    DUPLICATE_INPUT = "duplicate-input" {
        title: "Two inputs have the same name",
        explanation: "Give each name once.",
        example: Words("A program runs with named inputs, and two are called `x`."),
        raised_by: ["indim", "indim-cpu"],
    }
    MISSING_INPUT = "missing-input" {
        title: "A parameter has no input",
        explanation: "Give an array for the parameter.",
        example: Words("A program with the parameters `x` and `y` runs with named inputs, and none is called \
            `y`."),
        raised_by: ["indim-cpu"],
    }
    UNUSED_INPUT = "unused-input" {
        title: "An input array does not occur in the expression",
        explanation: "Remove the input, or correct its name: the expression may spell it differently.",
        example: Words("`x + 1` is evaluated in Rust with the inputs `x` and `y`."),
        raised_by: ["indim"],
    }
    OUTPUT_COUNT = "output-count" {
        title: "A program gets the wrong number of output arrays",
        explanation: "Give one array for each output.",
        example: Words("A program with two results runs into one array."),
        raised_by: ["indim-cpu"],
    }
    OUTPUT_TYPE = "output-type" {
        title: "The type of an output array differs from that of its output",
        explanation: "Element type and shape must be equal.",
        example: Words("A program with the result `f32[3]` runs into an array `f64[3]`."),
        raised_by: ["indim-cpu"],
    }
    OUTPUTS_OVERLAP = "outputs-overlap" {
        title: "Two outputs share memory",
        explanation: "Outputs must not overlap. Give distinct arrays.",
        example: Words("A program with two results runs into two views of the same memory."),
        raised_by: ["indim-cpu"],
    }
    OVERLAP_UNDECIDED = "overlap-undecided" {
        title: "The search whether outputs share memory exceeds its limit",
        explanation: "The strides interleave the outputs in a way that is too expensive to decide. Give \
            outputs in separate memory.",
        example: Words("A program runs into two views of the same memory with many axes and unrelated \
            strides."),
        raised_by: ["indim-cpu"],
    }
    MEMORY_LIMIT = "memory-limit" {
        title: "A computation needs more memory than the limit allows",
        explanation: "indim does not allocate beyond the limit. The message states the limit and, if \
            known, the bytes needed. Raise the limit (`--memory-limit`, `memory_limit`), compute \
            the result in parts, or stream the program piece by piece.",
        example: Command(&["indim eval 'sum(broadcast_to(x, [1000000, 1000]) * sin(broadcast_to(x, \
            [1000000, 1000])))' x=1.0 --memory-limit 1KiB"]),
        raised_by: ["indim-cli", "indim-cpu", "indim-stores", "indim-stream"],
    }
    OUT_OF_MEMORY = "out-of-memory" {
        title: "The system cannot allocate memory for an array",
        explanation: "Free memory, compute the result in parts, or stream the program piece by piece.",
        example: Command(&["indim eval 'broadcast_to(x, [1000000000, 1000000]) * 2' x=1.0"]),
        raised_by: ["indim-arrays", "indim-cli", "indim-stores"],
    }
    STOPPED = "stopped" {
        title: "The caller stopped the computation",
        explanation: "A progress callback returned `ControlFlow::Break`. Outputs may be partly written.",
        example: Words("The progress callback of a run returns `ControlFlow::Break`."),
        raised_by: ["indim-cpu", "indim-stream"],
    }
    STEP_LIMIT = "step-limit" {
        title: "A loop needs more steps than its limit",
        explanation: "The limit ends loops whose condition never becomes false; it is 2^32 unless the loop \
            states another. Check that the body changes what the condition reads, or raise the limit.",
        example: Words("`GraphBuilder::while_loop_up_to` with limit 3 needs 4 steps."),
        raised_by: ["indim-cpu"],
    }
    UNKNOWN_EXECUTOR = "unknown-executor" {
        title: "`INDIM_EXECUTOR` names no executor",
        explanation: "The environment variable selects an executor. Unset it, or use a name from the \
            message.",
        example: Command(&["INDIM_EXECUTOR=fast indim eval 'x + 1' x=1.0"]),
        raised_by: ["indim-cli"],
    }
    STRIDE_COUNT = "stride-count" {
        title: "The number of strides is not the number of axes",
        explanation: "Give one stride for each axis.",
        example: Words("A view of the shape `[2, 3]` is constructed with one stride."),
        raised_by: ["indim-arrays"],
    }
    ELEMENT_COUNT = "element-count" {
        title: "The number of elements is not that of the shape",
        explanation: "The number of elements must be the product of the sizes.",
        example: Words("A view of the shape `[2, 2]` is constructed from a slice of three elements."),
        raised_by: ["indim-arrays"],
    }
    OUT_OF_BOUNDS = "out-of-bounds" {
        title: "A view is out of bounds of its memory",
        explanation: "Offset, shape and strides address bytes outside of the given memory. Correct them.",
        example: Words("A view of the shape `[4]` with strides of 8 bytes is constructed over 16 bytes."),
        raised_by: ["indim-arrays"],
    }
    SHARED_ELEMENTS = "shared-elements" {
        title: "Elements of a writable view share memory",
        explanation: "A writable view needs distinct memory for each element. Use a stride of 0 only for \
            read-only views.",
        example: Words("A writable view of the shape `[4]` is constructed with stride 0."),
        raised_by: ["indim-arrays"],
    }
    ELEMENT_TYPE = "element-type" {
        title: "Elements are read as another type",
        explanation: "Read the elements as their own type, or convert the array first.",
        example: Words("The elements of an array `f32[3]` are read as `f64`."),
        raised_by: ["indim-arrays"],
    }
    NOT_ROW_MAJOR = "not-row-major" {
        title: "Elements in row-major order are asked for from an array in another memory order",
        explanation: "Copy them by `to_row_major` or `into_vec`, or take them in memory order by \
                      `elements_in_memory`.",
        example: Words("`elements` reads a result of a run with `RunOptions::new().order(Order::F)`."),
        raised_by: ["indim-arrays"],
    }
    NOT_SCALAR = "not-scalar" {
        title: "An array that is read as one number does not have one element",
        explanation: "Index the array first, or reduce it.",
        example: Words("An array `f32[3]` is read as one number."),
        raised_by: ["indim-arrays"],
    }
    AXIS_COUNT = "axis-count" {
        title: "An array is converted to an array of another rank",
        explanation: "Convert to the rank of the array.",
        example: Words("An array `f32[3]` is converted to an array of the crate ndarray with two axes."),
        raised_by: ["indim-arrays"],
    }
    UNSUPPORTED_TYPE = "unsupported-type" {
        title: "An element type of another system is not supported",
        explanation: "indim has no strings, dates, objects, quantised types or foreign byte orders. \
            Convert the array first.",
        example: Command(&[
            "cat > p.mlir <<'end'",
            "func.func @main(%x: tensor<2xi5>) -> tensor<2xi5> {",
            "  return %x : tensor<2xi5>",
            "}",
            "end",
            "indim run p.mlir",
        ]),
        raised_by: ["indim-arrays", "indim-model"],
    }
    TOO_MANY_READINGS = "too-many-readings" {
        title: "A program reads its values in too many orders to be computed over chunks",
        explanation: "Transposes multiply the orders in which a value is read. Compute the transposed part \
            separately.",
        example: Words("In Python, a program over Dask arrays adds a value and its transposes in each of \
            many steps."),
        raised_by: ["indim-graph", "indim-stream"],
    }
    THREADS = "threads" {
        title: "The system cannot start a thread",
        explanation: "The process or the system has reached its limit of threads. Use fewer threads, with \
            `--threads`.",
        example: Words("A run starts while the process has the maximal number of threads."),
        raised_by: ["indim-cli", "indim-stream"],
    }
    LEVEL = "level" {
        title: "`INDIM_LEVEL` names a level that this machine does not support",
        explanation: "The environment variable selects an instruction set. Unset it, or use a name from \
            the message.",
        example: Command(&["INDIM_LEVEL=mmx indim eval 'x + 1' x=1.0"]),
        raised_by: ["indim-cli"],
    }
}
