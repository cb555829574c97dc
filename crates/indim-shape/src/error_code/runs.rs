//! Runs: arrays, compiled programs, memory, threads.

use super::{ErrorCode, ErrorEntry};

codes! {
    INPUT_COUNT = "input-count" {
        title: "A program is given another number of inputs than it has",
        explanation: "The message states both numbers. Give one array for each parameter, in their order \
            or by their names.",
        raised_by: ["indim-cli", "indim-cpu", "indim-model"],
    }
    INPUT_TYPE = "input-type" {
        title: "An input is not of its parameter's type",
        explanation: "Element type and shape must be the parameter's. Convert the array, or compile for \
            its type.",
        raised_by: ["indim-cpu", "indim-model"],
    }
    GUARD_NOT_MET = "guard-not-met" {
        title: "Sizes of the inputs are none that the program was compiled for",
        explanation: "A program with named sizes states conditions on them, such as `n >= 2`. The \
            message states the one that fails; compile for these sizes.",
        raised_by: ["indim-graph"],
    }
    UNKNOWN_INPUT = "unknown-input" {
        title: "No parameter has the name of an input",
        explanation: "The message lists the parameters.",
        raised_by: ["indim-cpu"],
    }
    DUPLICATE_INPUT = "duplicate-input" {
        title: "Two inputs have the same name",
        explanation: "Give each name once.",
        raised_by: ["indim", "indim-cpu"],
    }
    MISSING_INPUT = "missing-input" {
        title: "A parameter has no input",
        explanation: "Give an array for it.",
        raised_by: ["indim-cpu"],
    }
    UNUSED_INPUT = "unused-input" {
        title: "A bound name does not occur in the expression",
        explanation: "Remove it, or correct the name: the expression may spell it otherwise.",
        raised_by: ["indim"],
    }
    OUTPUT_COUNT = "output-count" {
        title: "Another number of output arrays is given than the program has outputs",
        explanation: "Give one array for each output.",
        raised_by: ["indim-cpu"],
    }
    OUTPUT_TYPE = "output-type" {
        title: "An output array is not of its output's type",
        explanation: "Element type and shape must be the output's.",
        raised_by: ["indim-cpu"],
    }
    OUTPUTS_OVERLAP = "outputs-overlap" {
        title: "Two outputs share memory",
        explanation: "Each element of an output needs memory of its own. Give distinct arrays.",
        raised_by: ["indim-cpu"],
    }
    OVERLAP_UNDECIDED = "overlap-undecided" {
        title: "It is not decided in bounded time whether outputs share memory",
        explanation: "The strides interleave the outputs too intricately. Give them memory of their own.",
        raised_by: ["indim-cpu"],
    }
    MEMORY_LIMIT = "memory-limit" {
        title: "More memory is needed than the limit allows",
        explanation: "Nothing is allocated beyond the limit; the message states the bytes that are \
            needed, where they are known, and the limit. Raise the limit (`--memory-limit`, \
            `memory_limit`), compute a part at a time, or stream the program piece by piece.",
        raised_by: ["indim", "indim-cli", "indim-cpu", "indim-stores", "indim-stream"],
    }
    OUT_OF_MEMORY = "out-of-memory" {
        title: "The system has no memory for an array",
        explanation: "Free memory, compute a part of the result at a time, or stream the program piece \
            by piece.",
        raised_by: ["indim", "indim-arrays", "indim-cli"],
    }
    STOPPED = "stopped" {
        title: "The caller stopped the computation",
        explanation: "A progress callback returned that it shall stop. Outputs may have been written in \
            part.",
        raised_by: ["indim-cpu", "indim-stream"],
    }
    UNKNOWN_EXECUTOR = "unknown-executor" {
        title: "No executor has the name that the environment gives",
        explanation: "`INDIM_EXECUTOR` names a way to run programs. Unset it, or use a name from the \
            message.",
        raised_by: ["indim-cpu"],
    }
    STRIDE_COUNT = "stride-count" {
        title: "The number of strides is not the number of axes",
        explanation: "Give one stride for each axis.",
        raised_by: ["indim-arrays"],
    }
    ELEMENT_COUNT = "element-count" {
        title: "The number of elements is not that of the shape",
        explanation: "Give as many elements as the product of the sizes.",
        raised_by: ["indim-arrays"],
    }
    OUT_OF_BOUNDS = "out-of-bounds" {
        title: "A view leaves its memory",
        explanation: "Offset, shape and strides reach bytes outside of the given memory. Correct them.",
        raised_by: ["indim-arrays"],
    }
    SHARED_ELEMENTS = "shared-elements" {
        title: "Elements of a writable view share memory",
        explanation: "A writable view needs distinct memory for each element. A stride of 0 is for views \
            that are only read.",
        raised_by: ["indim-arrays"],
    }
    ELEMENT_TYPE = "element-type" {
        title: "Elements are read as numbers of another type",
        explanation: "Ask for the type of the elements, or convert the array first.",
        raised_by: ["indim-arrays"],
    }
    NOT_SCALAR = "not-scalar" {
        title: "One number is asked for of an array with another number of elements",
        explanation: "Index the array first, or reduce it.",
        raised_by: ["indim-arrays"],
    }
    AXIS_COUNT = "axis-count" {
        title: "An array is asked for with another number of axes",
        explanation: "Ask for the rank that the array has.",
        raised_by: ["indim-arrays"],
    }
    UNSUPPORTED_TYPE = "unsupported-type" {
        title: "Elements of another system have no element type here",
        explanation: "Strings, dates, objects, quantised types and foreign byte orders are not \
            supported. Convert them first.",
        raised_by: ["indim-arrays", "indim-model"],
    }
    TOO_MANY_READINGS = "too-many-readings" {
        title: "A program reads its values in too many orders to be streamed",
        explanation: "Transposes multiply the ways in which a value is read. Compute the transposed part \
            separately.",
        raised_by: ["indim-stream"],
    }
    THREADS = "threads" {
        title: "The system gives no thread",
        explanation: "The limit of threads of the process or of the system is reached. Use fewer with \
            `--threads`.",
        raised_by: ["indim-cli", "indim-stream"],
    }
    LEVEL = "level" {
        title: "The environment asks for a level that this machine does not have",
        explanation: "`INDIM_LEVEL` names a set of instructions. Unset it, or use one that the message \
            lists.",
        raised_by: ["indim-cli"],
    }
}
