//! Errors of runs: arrays, compiled programs, memory, threads.

use super::ErrorExample::{Command, Words};
use super::{ErrorCode, ErrorEntry};

codes! {
    INPUT_COUNT = "input-count" {
        title: "A program gets the wrong number of inputs",
        explanation: "The message states both numbers, or lists the inputs. Give one array for each \
            parameter, in the order of the parameters or by name.",
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
        explanation: "The element type and the shape must be equal. Convert the array, or compile the \
            program for the type of the array.",
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
        explanation: "A program with symbolic sizes has guards, such as `n >= 2`: conditions on the sizes. \
            The message states the guard that fails. Compile the program again for these sizes.",
        example: Words("A program compiled for the type `f32[n]` with the guard `n >= 2` runs with an array \
            of one element."),
        raised_by: ["indim-graph"],
    }
    UNKNOWN_INPUT = "unknown-input" {
        title: "No parameter has the name of an input",
        explanation: "Use a name that the message lists.",
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
        explanation: "The element type and the shape must be equal. Give an array of the type that the \
            message states.",
        example: Words("A program with the result `f32[3]` runs into an array `f64[3]`."),
        raised_by: ["indim-cpu"],
    }
    OUTPUTS_OVERLAP = "outputs-overlap" {
        title: "Outputs share memory",
        explanation: "Two outputs, or two elements of one output, have the same memory. Give each output \
            its own array, without strides of 0.",
        example: Words("A program with two results runs into two views of the same memory."),
        raised_by: ["indim-cpu"],
    }
    OVERLAP_UNDECIDED = "overlap-undecided" {
        title: "indim cannot decide whether outputs share memory",
        explanation: "The strides interleave the outputs in such a way that the test would take too long. \
            Give each output its own array.",
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
        raised_by: ["indim-cli", "indim-cpu", "indim-io", "indim-stream"],
    }
    OUT_OF_MEMORY = "out-of-memory" {
        title: "The system cannot allocate memory for an array",
        explanation: "Free memory, compute the result in parts, or stream the program piece by piece from \
            and to files.",
        example: Command(&["indim eval 'broadcast_to(x, [1000000000, 1000000]) * 2' x=1.0"]),
        raised_by: ["indim-arrays", "indim-cli", "indim-io"],
    }
    STOPPED = "stopped" {
        title: "The caller stopped the computation",
        explanation: "A progress callback returned `ControlFlow::Break`. The outputs may be partly \
            written.",
        example: Words("The progress callback of a run returns `ControlFlow::Break`."),
        raised_by: ["indim-cpu", "indim-stream"],
    }
    STEP_LIMIT = "step-limit" {
        title: "A loop needs more steps than its limit",
        explanation: "The limit ends loops whose condition never becomes false. It is 2^32 steps, unless \
            the loop sets another limit. Check that the body changes the values that the condition reads, \
            or raise the limit.",
        example: Words("`GraphBuilder::while_loop_up_to` with limit 3 needs 4 steps."),
        raised_by: ["indim-cpu"],
    }
    UNKNOWN_EXECUTOR = "unknown-executor" {
        title: "`INDIM_EXECUTOR` does not name an executor",
        explanation: "This environment variable selects an executor. Unset it, or use a name that the \
            message lists.",
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
        title: "The number of elements does not match the shape",
        explanation: "The number of elements must be the product of the sizes. Correct the shape or the \
            slice.",
        example: Words("A view of the shape `[2, 2]` is constructed from a slice of three elements."),
        raised_by: ["indim-arrays"],
    }
    OUT_OF_BOUNDS = "out-of-bounds" {
        title: "A view extends beyond its memory",
        explanation: "The offset, shape and strides of the view address bytes outside its memory. Correct \
            them.",
        example: Words("A view of the shape `[4]` with strides of 8 bytes is constructed over 16 bytes."),
        raised_by: ["indim-arrays"],
    }
    SHARED_ELEMENTS = "shared-elements" {
        title: "Elements of a writable view share memory",
        explanation: "Each element of a writable view needs its own memory, so a stride of 0 is for \
            read-only views only. indim also refuses strides for which this test would take too long.",
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
        title: "An array that is not row-major has no slice of elements in row-major order",
        explanation: "Copy the elements with `to_row_major` or `into_vec`, or take them in memory order \
            with `elements_in_memory`.",
        example: Words("`elements` reads a result of a run with `RunOptions::new().order(Order::F)`."),
        raised_by: ["indim-arrays"],
    }
    NOT_SCALAR = "not-scalar" {
        title: "An array with more or fewer than one element is read as one number",
        explanation: "Index the array first, or reduce it.",
        example: Words("An array `f32[3]` is read as one number."),
        raised_by: ["indim-arrays"],
    }
    AXIS_COUNT = "axis-count" {
        title: "An array is converted to an array of another rank",
        explanation: "Convert to a type with the rank of the array.",
        example: Words("An array `f32[3]` is converted to an array of the crate ndarray with two axes."),
        raised_by: ["indim-arrays"],
    }
    UNSUPPORTED_TYPE = "unsupported-type" {
        title: "An element type of another system is not supported",
        explanation: "indim has no strings, dates, objects, quantised types or integers of unusual width. \
            Convert the array or the model first.",
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
        explanation: "The program combines values with their transposes, and each transpose needs another \
            order of chunks. Compute the transposed part in a separate program.",
        example: Words("In Python, a program over Dask arrays adds a value and its transposes in each of \
            many steps."),
        raised_by: ["indim-stream", "indim-transforms"],
    }
    THREADS = "threads" {
        title: "The system cannot start a thread",
        explanation: "The process or the system has reached its maximum number of threads. Use fewer \
            threads, with `--threads`.",
        example: Words("A run starts while the process has its maximum number of threads."),
        raised_by: ["indim-cli", "indim-stream"],
    }
    LEVEL = "level" {
        title: "`INDIM_LEVEL` does not name an instruction set of this machine",
        explanation: "This environment variable selects an instruction set. Unset it, or use a name that \
            the message lists.",
        example: Command(&["INDIM_LEVEL=mmx indim eval 'x + 1' x=1.0"]),
        raised_by: ["indim-cli"],
    }
}
