//! Errors of graphs: operations, element types, views, derivatives.

use super::ErrorExample::{Command, Words};
use super::{ErrorCode, ErrorEntry};

codes! {
    ELEMENT_TYPE_NOT_ALLOWED = "element-type-not-allowed" {
        title: "An operation does not take elements of this type",
        explanation: "For example, comparisons such as `<` take no complex numbers. `indim ops NAME` lists \
            the types of an operation. Convert the operand, as in `f32(x)`.",
        example: Command(&["indim explain 'sin(x)' 'x=bool[2]' --rule xla"]),
        raised_by: ["indim-graph"],
    }
    ELEMENT_TYPE_MISMATCH = "element-type-mismatch" {
        title: "Operands have different element types",
        explanation: "Only rules `numpy` and `named` promote element types. Without `--rule`, operations \
            with `dims` or `axis` do not promote. Convert one operand, as in `f64(x)`.",
        example: Command(&["indim explain 'x + y' 'x=f32[2]' 'y=i32[2]' --rule xla"]),
        raised_by: ["indim-graph", "indim-oracle"],
    }
    RESHAPE_ELEMENT_COUNT = "reshape-element-count" {
        title: "A reshape changes the number of elements",
        explanation: "The product of the sizes must stay the same. In expressions one size can be -1, and \
            is computed from the others.",
        example: Command(&["indim explain 'reshape(x, [4])' 'x=f32[2,3]'"]),
        raised_by: ["indim-graph"],
    }
    NOT_A_PERMUTATION = "not-a-permutation" {
        title: "A transposition does not name every axis exactly once",
        explanation: "List each axis from 0 to the rank minus 1 exactly once.",
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
            `initial` if the function has this argument, or treat empty arrays separately.",
        example: Command(&["indim explain 'argmax(x)' 'x=f32[0]'"]),
        raised_by: ["indim-graph"],
    }
    SCAN_AXES = "scan-axes" {
        title: "A scan does not have exactly one axis",
        explanation: "`cumsum`, `cumprod`, `cummax` and similar functions run along one axis. Without \
            `axis` they take all elements in row-major order. Call the function once for each axis, or \
            reshape the array first.",
        example: Command(&["indim explain 'cumsum(x, axis=[0, 1])' 'x=f32[2, 3]'"]),
        raised_by: ["indim-graph"],
    }
    INITIAL_REQUIRED = "initial-required" {
        title: "A masked reduction without an identity has no initial value",
        explanation: "The mask `where` may select no element, and functions such as `max` have no result \
            for zero elements. Give `initial`, the result in that case.",
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
        title: "`dot` is given an operand with several axes",
        explanation: "`dot` in expressions takes vectors. Write `x @ y` for a matrix product, and \
            `vecdot(x, y, axis=-1)` for products along an axis.",
        example: Command(&["indim explain 'dot(x, y)' 'x=f32[2,3]' 'y=f32[3,4]'"]),
        raised_by: ["indim-graph"],
    }
    SLICE_RANK = "slice-rank" {
        title: "The number of slices or widths is not the number of axes",
        explanation: "`slice` and `pad` take one entry for each axis. For an axis that does not change, \
            give a full slice or a width of 0.",
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
        explanation: "`GraphBuilder::slice` selects only existing elements. Correct the slice. In \
            expressions, slices such as `x[start:stop:step]` are clamped to the axis, as in Python.",
        example: Words("`GraphBuilder::slice` takes elements 0 to 9 of an axis of size 3."),
        raised_by: ["indim-graph"],
    }
    INDEX_OUT_OF_RANGE = "index-out-of-range" {
        title: "An index is out of range",
        explanation: "The valid indices of an axis of size n are -n to n - 1. Correct the index. If \
            indices are known only at run time, `take` with mode `clip` or `wrap` moves each index into \
            the axis.",
        example: Command(&["indim explain 'x[5]' 'x=f32[2]'"]),
        raised_by: ["indim-cpu", "indim-graph"],
    }
    TOO_MANY_INDICES = "too-many-indices" {
        title: "An index has more entries than the array has axes",
        explanation: "Give at most one index for each axis. `None` and `...` do not count.",
        example: Command(&["indim explain 'x[0, 1]' 'x=f32[2]'"]),
        raised_by: ["indim-graph"],
    }
    SEVERAL_ELLIPSES = "several-ellipses" {
        title: "An index has `...` twice",
        explanation: "One `...` stands for all axes that are not indexed. Write `:` instead of the other \
            one.",
        example: Command(&["indim explain 'x[..., ...]' 'x=f32[2,3]'"]),
        raised_by: ["indim-graph"],
    }
    INDEX_RANK = "index-rank" {
        title: "The indices have another rank than the array",
        explanation: "`take_along_axis` takes one index for each element, so its indices have as many axes \
            as the array. Add axes of size 1, as in `i[:, None]`, or use `take`, whose indices can have \
            any shape.",
        example: Command(&["indim explain 'take_along_axis(x, i)' 'x=f32[2,3]' 'i=i64[2]'"]),
        raised_by: ["indim-graph"],
    }
    NOTHING_TO_CONCATENATE = "nothing-to-concatenate" {
        title: "A concatenation or a stack has no operands",
        explanation: "Give at least one array, which determines the element type and the other sizes.",
        example: Command(&["indim eval 'concatenate([])'"]),
        raised_by: ["indim-graph"],
    }
    CONCATENATE_SHAPE = "concatenate-shape" {
        title: "Operands of a concatenation differ outside the concatenated axis",
        explanation: "The ranks must be equal, and so must all sizes except those along the concatenated \
            axis. Correct `axis`, or slice or pad the operands.",
        example: Command(&["indim explain 'concatenate([x, y], axis=0)' 'x=f32[2,3]' 'y=f32[2,4]'"]),
        raised_by: ["indim-graph"],
    }
    STACK_SHAPE = "stack-shape" {
        title: "Operands of a stack have different shapes",
        explanation: "`stack` joins arrays of equal shape along a new axis. Broadcast the operands first, \
            or use `concatenate`.",
        example: Command(&["indim explain 'stack([x, y])' 'x=f32[2]' 'y=f32[3]'"]),
        raised_by: ["indim-graph"],
    }
    TAKE_FROM_EMPTY = "take-from-empty" {
        title: "`take` gathers along an axis of size 0",
        explanation: "No index is valid on an axis of size 0. Treat empty arrays separately.",
        example: Command(&["indim explain 'take(x, i, axis=0)' 'x=f32[0]' 'i=i64[2]'"]),
        raised_by: ["indim-graph"],
    }
    SCATTER_SHAPE = "scatter-shape" {
        title: "The shape of scattered values does not match the indices",
        explanation: "The values of `scatter_add` have the shape that `take` would return for the same \
            indices. The message states this shape.",
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
        title: "The operands of a convolution do not fit together",
        explanation: "The operand must have as many features as the kernel takes, times the number of \
            groups. The groups must divide the features of the result. The message states which numbers do \
            not fit.",
        example: Words("`GraphBuilder::convolution` gets 3 features and a kernel for 4."),
        raised_by: ["indim-graph"],
    }
    FOURIER_LENGTH = "fourier-length" {
        title: "A Fourier transform cannot have this length, or these axes",
        explanation: "The length of a transform is at least 1 and below 2^31. Give `n`, or a size in `s` for \
            each axis, to crop the operand or pad it with zeros. An inverse transform of real numbers has \
            `2 * (size - 1)` elements by default, which is 0 for one element: give its length.",
        example: Command(&["indim explain 'irfft(x)' 'x=c64[1]'"]),
        raised_by: ["indim-graph"],
    }
    TABLE_RANK = "table-rank" {
        title: "The table of `searchsorted` does not have one axis",
        explanation: "`searchsorted` searches one sorted table. Reshape the table, or call the function \
            once for each row.",
        example: Command(&["indim explain 'searchsorted(t, x)' 't=f32[2,3]' 'x=f32[4]'"]),
        raised_by: ["indim-graph"],
    }
    RANDOM_KEY = "random-key" {
        title: "The key of a random function is not a `u32[2]`",
        explanation: "Random numbers depend on a key, an array of two `u32`: `u32([0, 42])` in \
            expressions, `indim.random.key(42)` in Python. `random_split` makes several keys from one; \
            pass one of them, such as `keys[0]`.",
        example: Command(&["indim explain 'random_bits(k, shape=[3])' 'k=u32[3,2]'"]),
        raised_by: ["indim-graph"],
    }
    LOOP_STATE_TYPE = "loop-state-type" {
        title: "The body of a loop changes the type of a state",
        explanation: "All steps of a loop have states of the same element types and shapes, so the body \
            must return the types of the initial states. The message names the state and both types. \
            Convert the result of the body, or start with another type.",
        example: Words("The body of a loop returns `f64` for a state that begins as `f32`."),
        raised_by: ["indim-graph"],
    }
    REGION_TYPE = "region-type" {
        title: "A region does not fit its loop or branch",
        explanation: "The condition and the body of a loop take the operands of their node as \
            parameters; the regions of a branch take the operands after the index. The condition of a \
            loop returns one `bool`, and all regions of a branch return the same types. The message \
            states what differs.",
        example: Words("One branch of `GraphBuilder::cond` returns `f32[3]`, the other `f32[4]`."),
        raised_by: ["indim-graph"],
    }
    REGION_LIMIT = "region-limit" {
        title: "A loop or branch is nested too deep, or is too large",
        explanation: "Loops and branches nest at most 16 deep. A region has at most 2^20 nodes, including \
            those of the regions inside it. Its number of results times the number of operands of its loop \
            or branch is at most 2^22. Merge loops or states, or run the outer loop in the host program.",
        example: Words("`GraphBuilder::while_loop` is nested 17 deep."),
        raised_by: ["indim-graph"],
    }
    PAD_WIDTH = "pad-width" {
        title: "An axis has too few elements for the padding",
        explanation: "Mode `reflect` adds at most size - 1 elements on each side, and `symmetric` at most \
            size. `edge` and `wrap` need an axis with elements. Use a smaller width, or mode `constant`.",
        example: Command(&["indim explain 'pad(x, 5, mode=reflect)' 'x=f32[3]'"]),
        raised_by: ["indim-graph"],
    }
    EXACT_SUM_TYPE = "exact-sum-type" {
        title: "An element type has no exact sum",
        explanation: "Exact sums take `f64` and `c128`. Convert the operand, as in `f64(x)`.",
        example: Command(&["indim explain 'sum(x, exact=True)' 'x=f32[3]'"]),
        raised_by: ["indim-graph"],
    }
    EXACT_SUM_LENGTH = "exact-sum-length" {
        title: "An exact sum has too many elements",
        explanation: "An exact sum takes fewer than 2^31 elements, because its accumulator can overflow \
            after that. Sum parts of the axis, then sum the results.",
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
        explanation: "A float format needs at least one exponent bit. Give `reduce_precision` at least 1.",
        example: Command(&["indim explain 'reduce_precision(x, 0, 5)' 'x=f32[2]'"]),
        raised_by: ["indim-graph"],
    }
    LITERAL_OUT_OF_RANGE = "literal-out-of-range" {
        title: "A number is out of range for the element type of an array",
        explanation: "The type cannot represent the number, such as 300 in `u8`. Convert the array to a \
            wider type, or use another number.",
        example: Command(&["indim explain 'x + 300' 'x=u8[2]' --rule numpy"]),
        raised_by: ["indim-graph", "indim-text"],
    }
    LITERAL_KIND = "literal-kind" {
        title: "A number and an array have different kinds of element types",
        explanation: "Under a rule without promotion, a float literal does not combine with integers, and \
            a whole number does not combine with truth values. Write a number of the kind of the array, or \
            convert the array, as in `f64(x)`.",
        example: Command(&["indim explain 'x + 0.5' 'x=i32[2]' --rule xla"]),
        raised_by: ["indim-graph", "indim-text"],
    }
    DUPLICATE_PARAMETER = "duplicate-parameter" {
        title: "Two parameters have the same name",
        explanation: "Inputs are matched to parameters by name. Rename one of the parameters.",
        example: Words("A graph builder declares the parameter `x` twice."),
        raised_by: ["indim-graph"],
    }
    BAD_SIZE = "bad-size" {
        title: "A size is neither a number nor a name",
        explanation: "A size is a whole number that is not negative, or a name such as `n` for a symbolic \
            size.",
        example: Words("A graph builder declares a parameter with the size `2n`."),
        raised_by: ["indim-graph"],
    }
    FOREIGN_VALUE = "foreign-value" {
        title: "A value belongs to another builder",
        explanation: "A builder takes only the values that it made. Make all values of a graph with one \
            builder.",
        example: Words("One builder adds a value to a value of another builder."),
        raised_by: ["indim-graph"],
    }
    ARGUMENT_TYPE = "argument-type" {
        title: "An argument does not have the type of its parameter",
        explanation: "The element type and the shape of an argument must be those of the parameter of the \
            called graph. Convert or reshape the argument.",
        example: Words("A graph with a parameter `f32[2]` is called from another graph with a value \
            `f32[3]`."),
        raised_by: ["indim-graph"],
    }
    NOT_DIFFERENTIABLE = "not-differentiable" {
        title: "An operation or a parameter has no derivative",
        explanation: "Integers and truth values have no derivative. The same is true of some operations. A \
            loop has a gradient if its number of steps is known: `fori_loop` with known bounds, or `scan`; \
            any loop has tangents (`jvp`). Differentiate with respect to floats or complex numbers, without \
            the operation that the message names.",
        example: Words("A gradient with respect to a parameter of type `i32` is requested."),
        raised_by: ["indim-graph"],
    }
    NOT_ONE_NUMBER = "not-one-number" {
        title: "A gradient needs one real number, and the result is something else",
        explanation: "Sum the result, or take its real part. Or call `vjp`, the vector-Jacobian product, \
            which takes any result and a cotangent for it.",
        example: Words("The gradient of a graph with the result `f32[3]` is requested."),
        raised_by: ["indim-graph"],
    }
    UNKNOWN_PARAMETER = "unknown-parameter" {
        title: "A graph has no parameter of this number or name",
        explanation: "Parameters are counted from 0. The message states how many the graph has, and their \
            names where a name was given. Correct the number or the name.",
        example: Words("The gradient with respect to parameter 7 of a graph with one parameter is \
            requested."),
        raised_by: ["indim-graph"],
    }
    BATCHED_OUTPUT = "batched-output" {
        title: "An output differs between the elements of a batch and has no batch axis",
        explanation: "`out_axes` is `None` for an output that is the same for all elements of a batch. This \
            one depends on a batched input. Give it a position for the batch in `out_axes`, such as 0.",
        example: Words("`vmap` with `out_axes=None` of a function that returns its batched argument."),
        raised_by: ["indim-graph"],
    }
    OPERAND_NOT_EARLIER = "operand-not-earlier" {
        title: "A node refers to itself or to a later node",
        explanation: "The nodes of a graph are in execution order, so operands come before their uses. \
            Reorder the nodes.",
        example: Words("`Graph::from_nodes` gets a node 0 with the operand 1."),
        raised_by: ["indim-graph"],
    }
    OPERAND_SHAPE = "operand-shape" {
        title: "The shape of an operand does not fit its node",
        explanation: "In a graph, the operands of an element-wise operation have the shape of the result. \
            Insert a `broadcast_in_dim` before the node.",
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
        explanation: "The parameters of a graph have the numbers 0, 1, 2, ..., each exactly once. Correct \
            the numbers.",
        example: Words("`Graph::from_nodes` gets two parameters with the number 0."),
        raised_by: ["indim-graph"],
    }
    UNKNOWN_OUTPUT = "unknown-output" {
        title: "An output of a graph is not one of its nodes",
        explanation: "Outputs name nodes by number. Use the number of an existing node.",
        example: Words("`Graph::from_nodes` gets three nodes and the output 7."),
        raised_by: ["indim-graph"],
    }
}
