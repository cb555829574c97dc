//! Errors of graphs: operations, element types, views, derivatives.

use super::ErrorExample::{Command, Words};
use super::{ErrorCode, ErrorEntry};

codes! {
    ELEMENT_TYPE_NOT_ALLOWED = "element-type-not-allowed" {
        title: "An operation does not take elements of this type",
        explanation: "For example, `sin` takes no truth values, and an ordering takes no complex numbers. \
            Convert the operand, as in `f32(x)`. `indim ops NAME` lists the types.",
        example: Command(&["indim explain 'sin(x)' 'x=bool[2]' --rule xla"]),
        raised_by: ["indim-graph"],
    }
    ELEMENT_TYPE_MISMATCH = "element-type-mismatch" {
        title: "Operands have different element types",
        explanation: "Only rule `numpy` promotes element types. Convert one operand, as in `f64(x)`.",
        example: Command(&["indim explain 'x + y' 'x=f32[2]' 'y=i32[2]' --rule xla"]),
        raised_by: ["indim-graph", "indim-oracle"],
    }
    RESHAPE_ELEMENT_COUNT = "reshape-element-count" {
        title: "A reshape changes the number of elements",
        explanation: "The product of the sizes must stay the same. In expressions one size may be -1 and \
            follows from the others.",
        example: Command(&["indim explain 'reshape(x, [4])' 'x=f32[2,3]'"]),
        raised_by: ["indim-graph"],
    }
    NOT_A_PERMUTATION = "not-a-permutation" {
        title: "A transposition does not name every axis exactly once",
        explanation: "List each axis from 0 to the rank minus 1 once.",
        example: Command(&["indim explain 'transpose(x, [0, 0])' 'x=f32[2,3]'"]),
        raised_by: ["indim-graph"],
    }
    NOT_A_PARAMETER = "not-a-parameter" {
        title: "Axis names are given to a value that is not a parameter",
        explanation: "The axis names of a computed value follow from those of its operands. Name the axes \
            of the parameters.",
        example: Words("`GraphBuilder::name_axes` gets `sin(x)`."),
        raised_by: ["indim-graph"],
    }
    UNKNOWN_AXIS_NAME = "unknown-axis-name" {
        title: "No axis of the operand has this name",
        explanation: "The message lists the names of its axes. Correct the name, or name the axes of the \
            input, as in `f32[time: 3]`.",
        example: Command(&["indim explain 'sum(x, axis=b)' 'x=f32[a: 3]' --rule named"]),
        raised_by: ["indim-graph"],
    }
    EMPTY_REDUCTION = "empty-reduction" {
        title: "A reduction without an identity reduces an axis of size 0",
        explanation: "`max`, `argmax` and similar functions have no result for zero elements. Give \
            `initial` if the function takes it, or check for empty arrays first.",
        example: Command(&["indim explain 'argmax(x)' 'x=f32[0]'"]),
        raised_by: ["indim-graph"],
    }
    SCAN_AXES = "scan-axes" {
        title: "A scan runs along one axis",
        explanation: "`cumsum`, `cumprod`, `cummax` and similar functions take one axis. Without an axis \
            they take all elements in row-major order. Call the function once for each axis, or reshape \
            first.",
        example: Command(&["indim explain 'cumsum(x, axis=[0, 1])' 'x=f32[2, 3]'"]),
        raised_by: ["indim-graph"],
    }
    INITIAL_REQUIRED = "initial-required" {
        title: "A masked reduction may select nothing and has no initial value",
        explanation: "`where` may select no element, and functions such as `max` have no identity. Give \
            `initial`, the result in that case.",
        example: Command(&["indim explain 'max(x, where=m)' 'x=f32[2]' 'm=bool[2]'"]),
        raised_by: ["indim-graph"],
    }
    ARGUMENT_NOT_TAKEN = "argument-not-taken" {
        title: "A reduction does not take this argument",
        explanation: "The message names the function and the argument. `indim ops NAME` lists the \
            arguments of a function.",
        example: Words("A graph builder is called for `argmax` with an initial value. In expressions the \
            error is `unknown-keyword`."),
        raised_by: ["indim-graph"],
    }
    MATRIX_PRODUCT = "matrix-product" {
        title: "`dot` of operands with several axes would be a product of matrices",
        explanation: "`dot` in expressions takes vectors. For a product of matrices write `x @ y`, for \
            products along an axis `vecdot` with that axis.",
        example: Command(&["indim explain 'dot(x, y)' 'x=f32[2,3]' 'y=f32[3,4]'"]),
        raised_by: ["indim-graph"],
    }
    SLICE_RANK = "slice-rank" {
        title: "The number of slices or widths is not the number of axes",
        explanation: "`slice` and `pad` of a graph take one entry for each axis. For an axis that does \
            not change, give a full slice or a width of 0.",
        example: Command(&["indim eval 'pad(x, [[1, 2], [3, 4]])' 'x=[1.0]'"]),
        raised_by: ["indim-graph"],
    }
    ZERO_STEP = "zero-step" {
        title: "A slice has step 0",
        explanation: "The step is the distance between elements and cannot be 0. Use a negative step to \
            reverse an axis.",
        example: Command(&["indim explain 'x[::0]' 'x=f32[2]'"]),
        raised_by: ["indim-graph"],
    }
    SLICE_OUT_OF_RANGE = "slice-out-of-range" {
        title: "A slice exceeds its axis",
        explanation: "Slices of a graph select existing elements only. Slices in Python's syntax, \
            `x[start:stop:step]`, are clamped to the axis.",
        example: Words("`GraphBuilder::slice` takes elements 0 to 9 of an axis of size 3."),
        raised_by: ["indim-graph"],
    }
    INDEX_OUT_OF_RANGE = "index-out-of-range" {
        title: "An index is out of range",
        explanation: "Valid indices of an axis of size n are -n to n - 1. If indices are known only at \
            run time, `take` with mode `clip` or `wrap` never fails.",
        example: Command(&["indim explain 'x[5]' 'x=f32[2]'"]),
        raised_by: ["indim-cpu", "indim-graph"],
    }
    TOO_MANY_INDICES = "too-many-indices" {
        title: "An index has more entries than the array has axes",
        explanation: "Remove entries; `None` and `...` do not count as axes.",
        example: Command(&["indim explain 'x[0, 1]' 'x=f32[2]'"]),
        raised_by: ["indim-graph"],
    }
    SEVERAL_ELLIPSES = "several-ellipses" {
        title: "An index has `...` twice",
        explanation: "One `...` stands for all axes that are not indexed. Write `:` in place of the other.",
        example: Command(&["indim explain 'x[..., ...]' 'x=f32[2,3]'"]),
        raised_by: ["indim-graph"],
    }
    INDEX_RANK = "index-rank" {
        title: "Indices have another rank than the array",
        explanation: "`take_along_axis` takes an index for each element, so the indices have as many axes as \
            the array. Add axes of size 1, as in `i[:, None]`, or use `take`, whose indices may have any \
            shape.",
        example: Command(&["indim explain 'take_along_axis(x, i)' 'x=f32[2,3]' 'i=i64[2]'"]),
        raised_by: ["indim-graph"],
    }
    NOTHING_TO_CONCATENATE = "nothing-to-concatenate" {
        title: "A concatenation or a stack has no operands",
        explanation: "Give at least one array; it determines the element type and the other sizes.",
        example: Command(&["indim eval 'concatenate([])'"]),
        raised_by: ["indim-graph"],
    }
    CONCATENATE_SHAPE = "concatenate-shape" {
        title: "Operands of a concatenation differ outside the concatenated axis",
        explanation: "The ranks and all sizes except those along the concatenated axis must be equal.",
        example: Command(&["indim explain 'concatenate([x, y], axis=0)' 'x=f32[2,3]' 'y=f32[2,4]'"]),
        raised_by: ["indim-graph"],
    }
    STACK_SHAPE = "stack-shape" {
        title: "Operands of a stack have different shapes",
        explanation: "`stack` joins arrays of equal shape along a new axis. Broadcast them first.",
        example: Command(&["indim explain 'stack([x, y])' 'x=f32[2]' 'y=f32[3]'"]),
        raised_by: ["indim-graph"],
    }
    TAKE_FROM_EMPTY = "take-from-empty" {
        title: "`take` gathers along an axis of size 0",
        explanation: "No index is valid on an axis of size 0.",
        example: Command(&["indim explain 'take(x, i, axis=0)' 'x=f32[0]' 'i=i64[2]'"]),
        raised_by: ["indim-graph"],
    }
    SCATTER_SHAPE = "scatter-shape" {
        title: "The shape of scattered values does not match the indices",
        explanation: "The values of `scatter_add` have the shape of `take` with the same indices. The \
            message states it.",
        example: Words("`GraphBuilder::scatter_add` gets two indices and three values."),
        raised_by: ["indim-graph"],
    }
    BAD_WINDOW = "bad-window" {
        title: "A window has size, stride or dilation 0",
        explanation: "The size, the stride and the dilation of a window must be at least 1.",
        example: Command(&["indim explain 'sliding_window_view(x, 0)' 'x=f32[5]'"]),
        raised_by: ["indim-graph"],
    }
    WINDOW_TOO_LARGE = "window-too-large" {
        title: "A window is larger than its axis",
        explanation: "No window lies within the axis. Use a smaller window, or pad the array first.",
        example: Command(&["indim explain 'sliding_window_view(x, 5)' 'x=f32[3]'"]),
        raised_by: ["indim-graph"],
    }
    CONVOLUTION_SHAPE = "convolution-shape" {
        title: "The operands of a convolution do not fit",
        explanation: "The kernel must have the features of one group of the operand, and the number of \
            groups must divide the features of the result. The message states the difference.",
        example: Words("`GraphBuilder::convolution` gets 3 features and a kernel for 4."),
        raised_by: ["indim-graph"],
    }
    TABLE_RANK = "table-rank" {
        title: "The table of a search does not have one axis",
        explanation: "`searchsorted` finds positions in one sorted table. Reshape the table, or call the \
            function once for each row.",
        example: Command(&["indim explain 'searchsorted(t, x)' 't=f32[2,3]' 'x=f32[4]'"]),
        raised_by: ["indim-graph"],
    }
    RANDOM_KEY = "random-key" {
        title: "A key of random numbers is not two `u32`",
        explanation: "Random numbers depend on a key, an array `u32[2]`: `u32([0, 42])` in expressions, \
            `indim.random.key(42)` in Python. `random_split` makes several keys of one; `keys[0]` is the \
            first.",
        example: Command(&["indim explain 'random_bits(k, shape=[3])' 'k=u32[3,2]'"]),
        raised_by: ["indim-graph"],
    }
    LOOP_STATE_TYPE = "loop-state-type" {
        title: "The body of a loop changes the type of a state",
        explanation: "Every step of a loop has states of the same element types and shapes, so the body \
            returns those of the initial states. The message names the state and both types.",
        example: Words("The body of a loop returns `f64` for a state that begins as `f32`."),
        raised_by: ["indim-graph"],
    }
    REGION_TYPE = "region-type" {
        title: "A region does not fit its loop or branch",
        explanation: "The parameters of a region are the operands of its loop or branch. A condition \
            returns one bool; all branches return the same types.",
        example: Words("One branch of `GraphBuilder::cond` returns `f32[3]`, the other `f32[4]`."),
        raised_by: ["indim-graph"],
    }
    REGION_LIMIT = "region-limit" {
        title: "Loops and branches are nested too deep",
        explanation: "Loops and branches nest at most 16 deep, and a region has at most 2^20 nodes, with \
            those of the regions inside it. Its number of results times that of the operands is at most \
            2^22. Merge loops or states, or run the outer loop from the host program.",
        example: Words("`GraphBuilder::while_loop` nested 17 deep."),
        raised_by: ["indim-graph"],
    }
    PAD_WIDTH = "pad-width" {
        title: "An axis has too few elements for the padding",
        explanation: "Mode `reflect` mirrors at most size - 1 elements on each side, `symmetric` and \
            `edge` need at least one. Use a smaller width, or mode `constant`.",
        example: Command(&["indim explain 'pad(x, 5, mode=reflect)' 'x=f32[3]'"]),
        raised_by: ["indim-graph"],
    }
    EXACT_SUM_TYPE = "exact-sum-type" {
        title: "An element type has no exact sum",
        explanation: "Exact sums take `f64` and `c128`. Convert the operand.",
        example: Command(&["indim explain 'sum(x, exact=True)' 'x=f32[3]'"]),
        raised_by: ["indim-graph"],
    }
    EXACT_SUM_LENGTH = "exact-sum-length" {
        title: "An exact sum has too many elements for its accumulator",
        explanation: "The accumulator holds 2^31 additions. Sum parts of the axis, then sum the results.",
        example: Command(&["indim explain 'sum(x, exact=True)' 'x=f64[3000000000]'"]),
        raised_by: ["indim-graph"],
    }
    BITCAST_WIDTH = "bitcast-width" {
        title: "A bitcast changes the width of the elements",
        explanation: "A bitcast keeps the bits, so both types must have the same width, and neither may be \
            `bool` or complex.",
        example: Words("`GraphBuilder::bitcast` converts `f32` to `f64`."),
        raised_by: ["indim-graph"],
    }
    NO_EXPONENT_BITS = "no-exponent-bits" {
        title: "A float format has no exponent bits",
        explanation: "`reduce_precision` needs at least one exponent bit.",
        example: Command(&["indim explain 'reduce_precision(x, 0, 5)' 'x=f32[2]'"]),
        raised_by: ["indim-graph"],
    }
    LITERAL_OUT_OF_RANGE = "literal-out-of-range" {
        title: "A number is out of range of the array's element type",
        explanation: "The type cannot represent the number, such as 300 in `u8`. Convert the array to a \
            wider type, or use another number.",
        example: Command(&["indim explain 'x + 300' 'x=u8[2]' --rule numpy"]),
        raised_by: ["indim-graph", "indim-text"],
    }
    LITERAL_KIND = "literal-kind" {
        title: "A number and an array have different kinds of element types",
        explanation: "Under a rule without promotion, a float literal does not combine with integers. \
            Write a whole number, or convert the array.",
        example: Command(&["indim explain 'x + 0.5' 'x=i32[2]' --rule xla"]),
        raised_by: ["indim-graph", "indim-text"],
    }
    DUPLICATE_PARAMETER = "duplicate-parameter" {
        title: "Two parameters have the same name",
        explanation: "Names identify inputs. Rename one.",
        example: Words("A graph builder declares the parameter `x` twice."),
        raised_by: ["indim-graph"],
    }
    BAD_SIZE = "bad-size" {
        title: "A size is neither a number nor a name",
        explanation: "A size is a whole number from 0, or a name for a symbolic size.",
        example: Words("A graph builder declares a parameter with the size `2n`."),
        raised_by: ["indim-graph"],
    }
    FOREIGN_VALUE = "foreign-value" {
        title: "A value belongs to another builder",
        explanation: "A value refers to the builder that made it. Make all values of a graph with one \
            builder.",
        example: Words("A graph builder gets a value of another builder."),
        raised_by: ["indim-graph"],
    }
    ARGUMENT_TYPE = "argument-type" {
        title: "The type of an argument differs from that of the called graph's parameter",
        explanation: "Element type and shape must be equal. Convert or reshape the argument.",
        example: Words("A graph with a parameter `f32[2]` is called from another graph with a value \
            `f32[3]`."),
        raised_by: ["indim-graph"],
    }
    NOT_DIFFERENTIABLE = "not-differentiable" {
        title: "An operation or a parameter has no derivative",
        explanation: "Integers and truth values have no derivative, nor do some operations. Differentiate \
            with respect to floats or complex numbers.",
        example: Words("A gradient with respect to a parameter of type `i32` is requested."),
        raised_by: ["indim-graph"],
    }
    NOT_ONE_NUMBER = "not-one-number" {
        title: "The gradient of a result that is not one real number is requested",
        explanation: "Sum the result, or take its real part. A vector-Jacobian product (`vjp`) takes any \
            result, with a cotangent.",
        example: Words("The gradient of a graph with the result `f32[3]` is requested."),
        raised_by: ["indim-graph"],
    }
    UNKNOWN_PARAMETER = "unknown-parameter" {
        title: "A graph has no parameter of this number",
        explanation: "Parameters are counted from 0. The message states their number.",
        example: Words("The gradient with respect to parameter 7 of a graph with one parameter is \
            requested."),
        raised_by: ["indim-graph"],
    }
    OPERAND_NOT_EARLIER = "operand-not-earlier" {
        title: "A node refers to itself or to a later node",
        explanation: "Nodes are in execution order: operands precede their uses. Reorder the nodes.",
        example: Words("`Graph::from_nodes` gets a node 0 with the operand 1."),
        raised_by: ["indim-graph"],
    }
    OPERAND_SHAPE = "operand-shape" {
        title: "The shape of an operand does not fit its node",
        explanation: "Inside a graph the operands of an element-wise operation have the shape of the \
            result. Insert `broadcast_in_dim`.",
        example: Words("`Graph::from_nodes` gets an addition of values of the shapes `[2, 3]` and `[3]`."),
        raised_by: ["indim-graph"],
    }
    RESULT_TYPE = "result-type" {
        title: "The type of a node does not follow from its operands",
        explanation: "The message states the inferred type. Correct the node.",
        example: Words("`Graph::from_nodes` gets a sum of `f32` with the type `f64`."),
        raised_by: ["indim-graph"],
    }
    PARAMETER_INDEX = "parameter-index" {
        title: "Parameters are not numbered in order",
        explanation: "The parameters of a graph have the numbers 0, 1, 2, ..., each once.",
        example: Words("`Graph::from_nodes` gets two parameters with the number 0."),
        raised_by: ["indim-graph"],
    }
    UNKNOWN_OUTPUT = "unknown-output" {
        title: "An output of a graph is not a node of it",
        explanation: "Outputs name nodes by number. Use the number of an existing node.",
        example: Words("`Graph::from_nodes` gets three nodes and the output 7."),
        raised_by: ["indim-graph"],
    }
}
