//! Runs: arrays, compiled programs, memory, threads.

use super::ErrorExample::{Command, Words};
use super::{ErrorCode, ErrorEntry};

codes! {
    INPUT_COUNT = "input-count" {
        title: "A program is given another number of inputs than it has",
        explanation: "The message states both numbers. Give one array for each parameter, in their order \
            or by their names.",
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
        title: "An input is not of its parameter's type",
        explanation: "Element type and shape must be the parameter's. Convert the array, or compile for \
            its type.",
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
        title: "Sizes of the inputs are none that the program was compiled for",
        explanation: "A program with named sizes states conditions on them, such as `n >= 2`. The \
            message states the one that fails; compile for these sizes.",
        example: Words("A program that is compiled for the type `f32[n]` with `n >= 2` is run with an \
            array of one element."),
        raised_by: ["indim-graph"],
    }
    UNKNOWN_INPUT = "unknown-input" {
        title: "No parameter has the name of an input",
        explanation: "The message lists the parameters.",
        example: Words("A program with the parameter `x` is run with inputs by name, among them `y`."),
        raised_by: ["indim-cpu"],
    }
    DUPLICATE_INPUT = "duplicate-input" {
        title: "Two inputs have the same name",
        explanation: "Give each name once.",
        example: Words("A program is run with inputs by name, and two are called `x`."),
        raised_by: ["indim", "indim-cpu"],
    }
    MISSING_INPUT = "missing-input" {
        title: "A parameter has no input",
        explanation: "Give an array for it.",
        example: Words("A program with the parameters `x` and `y` is run with inputs by name, and none is \
            called `y`."),
        raised_by: ["indim-cpu"],
    }
    UNUSED_INPUT = "unused-input" {
        title: "A bound name does not occur in the expression",
        explanation: "Remove it, or correct the name: the expression may spell it otherwise.",
        example: Words("`x + 1` is evaluated in Rust with the inputs `x` and `y`."),
        raised_by: ["indim"],
    }
    OUTPUT_COUNT = "output-count" {
        title: "Another number of output arrays is given than the program has outputs",
        explanation: "Give one array for each output.",
        example: Words("A program with two results is run into one array."),
        raised_by: ["indim-cpu"],
    }
    OUTPUT_TYPE = "output-type" {
        title: "An output array is not of its output's type",
        explanation: "Element type and shape must be the output's.",
        example: Words("A program with the result `f32[3]` is run into an array `f64[3]`."),
        raised_by: ["indim-cpu"],
    }
    OUTPUTS_OVERLAP = "outputs-overlap" {
        title: "Two outputs share memory",
        explanation: "Each element of an output needs memory of its own. Give distinct arrays.",
        example: Words("A program with two results is run into two views of the same memory."),
        raised_by: ["indim-cpu"],
    }
    OVERLAP_UNDECIDED = "overlap-undecided" {
        title: "It is not decided in bounded time whether outputs share memory",
        explanation: "The strides interleave the outputs too intricately. Give them memory of their own.",
        example: Words("A program is run into two views of the same memory with many axes and strides \
            without a common pattern."),
        raised_by: ["indim-cpu"],
    }
    MEMORY_LIMIT = "memory-limit" {
        title: "More memory is needed than the limit allows",
        explanation: "Nothing is allocated beyond the limit; the message states the bytes that are \
            needed, where they are known, and the limit. Raise the limit (`--memory-limit`, \
            `memory_limit`), compute a part at a time, or stream the program piece by piece.",
        example: Command(&["indim eval 'sum(broadcast_to(x, [1000000, 1000]) * sin(broadcast_to(x, \
            [1000000, 1000])))' x=1.0 --memory-limit 1KiB"]),
        raised_by: ["indim", "indim-cli", "indim-cpu", "indim-stores", "indim-stream"],
    }
    OUT_OF_MEMORY = "out-of-memory" {
        title: "The system has no memory for an array",
        explanation: "Free memory, compute a part of the result at a time, or stream the program piece \
            by piece.",
        example: Command(&["indim eval 'broadcast_to(x, [1000000000, 1000000]) * 2' x=1.0"]),
        raised_by: ["indim", "indim-arrays", "indim-cli"],
    }
    STOPPED = "stopped" {
        title: "The caller stopped the computation",
        explanation: "A progress callback returned that it shall stop. Outputs may have been written in \
            part.",
        example: Words("A progress callback of a run returns that it shall stop."),
        raised_by: ["indim-cpu", "indim-stream"],
    }
    UNKNOWN_EXECUTOR = "unknown-executor" {
        title: "No executor has the name that the environment gives",
        explanation: "`INDIM_EXECUTOR` names a way to run programs. Unset it, or use a name from the \
            message.",
        example: Command(&["INDIM_EXECUTOR=fast indim eval 'x + 1' x=1.0"]),
        raised_by: ["indim-cpu"],
    }
    STRIDE_COUNT = "stride-count" {
        title: "The number of strides is not the number of axes",
        explanation: "Give one stride for each axis.",
        example: Words("A view of the shape `[2, 3]` is made with one stride."),
        raised_by: ["indim-arrays"],
    }
    ELEMENT_COUNT = "element-count" {
        title: "The number of elements is not that of the shape",
        explanation: "Give as many elements as the product of the sizes.",
        example: Words("A view of the shape `[2, 2]` is made of a slice of three elements."),
        raised_by: ["indim-arrays"],
    }
    OUT_OF_BOUNDS = "out-of-bounds" {
        title: "A view leaves its memory",
        explanation: "Offset, shape and strides reach bytes outside of the given memory. Correct them.",
        example: Words("A view of the shape `[4]` with strides of 8 bytes is made of 16 bytes."),
        raised_by: ["indim-arrays"],
    }
    SHARED_ELEMENTS = "shared-elements" {
        title: "Elements of a writable view share memory",
        explanation: "A writable view needs distinct memory for each element. A stride of 0 is for views \
            that are only read.",
        example: Words("A writable view of the shape `[4]` is made with stride 0."),
        raised_by: ["indim-arrays"],
    }
    ELEMENT_TYPE = "element-type" {
        title: "Elements are read as numbers of another type",
        explanation: "Ask for the type of the elements, or convert the array first.",
        example: Words("The elements of an array `f32[3]` are asked for as `f64`."),
        raised_by: ["indim-arrays"],
    }
    NOT_SCALAR = "not-scalar" {
        title: "One number is asked for of an array with another number of elements",
        explanation: "Index the array first, or reduce it.",
        example: Words("The one number of an array `f32[3]` is asked for."),
        raised_by: ["indim-arrays"],
    }
    AXIS_COUNT = "axis-count" {
        title: "An array is asked for with another number of axes",
        explanation: "Ask for the rank that the array has.",
        example: Words("An array `f32[3]` is asked for as an array of the crate ndarray with two axes."),
        raised_by: ["indim-arrays"],
    }
    UNSUPPORTED_TYPE = "unsupported-type" {
        title: "Elements of another system have no element type here",
        explanation: "Strings, dates, objects, quantised types and foreign byte orders are not \
            supported. Convert them first.",
        example: Command(&[
            "cat > p.mlir <<'end'",
            "func.func @main(%x: tensor<2xi5>) -> tensor<2xi5> {",
            "  return %x : tensor<2xi5>",
            "}",
            "end",
            "indim explain p.mlir",
        ]),
        raised_by: ["indim-arrays", "indim-model"],
    }
    TOO_MANY_READINGS = "too-many-readings" {
        title: "A program reads its values in too many orders to be streamed",
        explanation: "Transposes multiply the ways in which a value is read. Compute the transposed part \
            separately.",
        example: Words("A program is streamed in which each of many steps adds a value and its transposes."),
        raised_by: ["indim-stream"],
    }
    THREADS = "threads" {
        title: "The system gives no thread",
        explanation: "The limit of threads of the process or of the system is reached. Use fewer with \
            `--threads`.",
        example: Words("A run starts when the process has as many threads as the system allows."),
        raised_by: ["indim-cli", "indim-stream"],
    }
    LEVEL = "level" {
        title: "The environment asks for a level that this machine does not have",
        explanation: "`INDIM_LEVEL` names a set of instructions. Unset it, or use one that the message \
            lists.",
        example: Command(&["INDIM_LEVEL=mmx indim eval 'x + 1' x=1.0"]),
        raised_by: ["indim-cli"],
    }
}
