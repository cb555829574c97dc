//! Errors of broadcasts and reductions, raised before any element is computed.

use super::ErrorExample::{Command, Words};
use super::{ErrorCode, ErrorEntry};

codes! {
    DIMS_LENGTH_MISMATCH = "dims-length-mismatch" {
        title: "The length of a list of dimensions is not the rank of its operand",
        explanation: "Each axis of an operand has one entry in `dims` (or in the map of an explicit \
            broadcast): the result axis it maps to. Give exactly one entry for each axis.",
        example: Command(&["indim explain 'add(x, v, dims=[0, 1])' 'x=f32[2,3]' 'v=f32[3]'"]),
        raised_by: ["indim-shape"],
    }
    AXIS_NAME_MISSING = "axis-name-missing" {
        title: "An axis has no name under the rule that matches axes by name",
        explanation: "Rule `named` needs a name for each axis of an operand. Write the names before the \
            sizes, as in `f32[time: 3]`, or choose a rule that matches axes by position.",
        example: Command(&["indim explain 'x + v' 'x=f32[2,3]' 'v=f32[a: 3]' --rule named"]),
        raised_by: ["indim-shape"],
    }
    AXIS_NAME_REPEATED = "axis-name-repeated" {
        title: "An operand has two axes of the same name",
        explanation: "Rule `named` matches the axes of operands by name. A name that occurs twice in one \
            operand is ambiguous. Rename one of the axes.",
        example: Command(&["indim explain 'x + v' 'x=f32[a: 2, a: 3]' 'v=f32[a: 2]' --rule named"]),
        raised_by: ["indim-shape"],
    }
    DIM_OUT_OF_RANGE = "dim-out-of-range" {
        title: "A dimension names an axis that the result does not have",
        explanation: "Entries of `dims` count the axes of the result from 0. Use a number below the rank \
            of the result.",
        example: Command(&["indim explain --rule explicit --dims 2 --target 2,3 3"]),
        raised_by: ["indim-shape"],
    }
    DIMS_NOT_UNIQUE = "dims-not-unique" {
        title: "Two axes of one operand map to the same result axis",
        explanation: "Each result axis takes at most one axis of each operand. Remove the repeated entry \
            from `dims`.",
        example: Command(&["indim explain --rule stablehlo-broadcast-in-dim --dims 0,0 --target 2,3 1,1"]),
        raised_by: ["indim-shape"],
    }
    SIZE_MISMATCH = "size-mismatch" {
        title: "Two sizes that have to agree differ",
        explanation: "An operand axis must have the size of its result axis, or size 1 if the rule expands \
            axes. The message marks both axes and offers repairs. If the wrong axes are \
            matched, insert an axis with `expand_dims` or `x[:, None]`.",
        example: Command(&["indim explain 'x + v' 'x=f32[2,3]' 'v=f32[4]' --rule numpy"]),
        raised_by: ["indim-shape"],
    }
    TOO_FEW_AXES = "too-few-axes" {
        title: "An operand of a product has too few axes",
        explanation: "`matmul` and `@` take vectors and matrices, `matvec` a matrix and a vector. Multiply \
            by a scalar with `*`.",
        example: Command(&["indim explain 'x @ 2' 'x=f32[2,3]'"]),
        raised_by: ["indim-shape"],
    }
    AXIS_COUNT_MISMATCH = "axis-count-mismatch" {
        title: "The lists of axes that a product pairs differ in length",
        explanation: "`tensordot` and `dot_general` pair the axes of both operands one by one. Name one axis \
            of each operand for each pair.",
        example: Command(&["indim explain 'tensordot(x, y, axes=[[0, 1], [0]])' 'x=f32[2,3]' 'y=f32[2,3]'"]),
        raised_by: ["indim-shape"],
    }
    EINSUM_EQUATION = "einsum-equation" {
        title: "The text of an `einsum` is not an equation",
        explanation: "An equation has a letter for each axis, a comma between operands, and the labels of \
            the result after `->`, as in `ij,jk->ik`. Each label of the result occurs in an operand.",
        example: Command(&["indim explain 'einsum(\"ij,jk->il\", x, y)' 'x=f32[2,3]' 'y=f32[3,4]'"]),
        raised_by: ["indim-shape"],
    }
    EINSUM_RANK = "einsum-rank" {
        title: "The number of labels of an operand of `einsum` is not its rank",
        explanation: "Give each axis a letter, or write `...` for all axes that have none.",
        example: Command(&["indim explain 'einsum(\"ij->i\", v)' 'v=f32[3]'"]),
        raised_by: ["indim-shape"],
    }
    TOO_LARGE = "too-large" {
        title: "An array has more elements or bytes than this machine can address",
        explanation: "The product of the sizes, or of the sizes and the bytes of an element, exceeds \
            `isize::MAX`. Broadcasts of small operands can have such a shape. Compute the \
            result in parts.",
        example: Command(&["indim explain 'x + v' 'x=f32[9000000000,1]' 'v=f32[9000000000]' --rule numpy"]),
        raised_by: ["indim-shape", "indim-stores", "indim-stream"],
    }
    SHAPES_DIFFER = "shapes-differ" {
        title: "The rule needs equal shapes, and the shapes differ",
        explanation: "Rules `none` and `stablehlo` never broadcast implicitly. Make the shapes equal by \
            an explicit broadcast (`broadcast_in_dim`), or choose a rule that broadcasts.",
        example: Command(&["indim explain 'x + v' 'x=f32[2,3]' 'v=f32[3]' --rule none"]),
        raised_by: ["indim-shape"],
    }
    SAME_RANK_DIMS_NOT_IDENTITY = "same-rank-dims-not-identity" {
        title: "Dimensions between operands of equal rank are not the identity",
        explanation: "Under rule `xla` operands of equal rank keep the positions of their axes, so `dims` \
            can only be `[0, 1, ...]`. Leave `dims` out, or transpose an operand first.",
        example: Command(&["indim explain 'add(x, y, dims=[1, 0])' 'x=f32[2,2]' 'y=f32[2,2]'"]),
        raised_by: ["indim-shape"],
    }
    RANK_MISMATCH_WITHOUT_DIMS = "rank-mismatch-without-dims" {
        title: "Ranks differ, and `dims` is missing",
        explanation: "Rule `xla` does not align axes implicitly. Give the result axis of each axis of the \
            operand of smaller rank, as in `add(x, v, dims=[1])`.",
        example: Command(&["indim explain 'x + v' 'x=f32[2,3]' 'v=f32[3]' --rule xla"]),
        raised_by: ["indim-shape"],
    }
    DIM_NEGATIVE = "dim-negative" {
        title: "A dimension is negative",
        explanation: "Rule `xla` counts the axes of the result from 0 and has no negative axes. Add the \
            rank to the number.",
        example: Command(&["indim explain 'add(x, v, dims=[-1])' 'x=f32[2,3]' 'v=f32[3]'"]),
        raised_by: ["indim-shape"],
    }
    DIM_TOO_LARGE = "dim-too-large" {
        title: "A dimension names an axis that the larger operand does not have",
        explanation: "Entries of `dims` name axes of the operand of larger rank. Use a number below that \
            rank.",
        example: Command(&["indim explain 'add(x, v, dims=[2])' 'x=f32[2,3]' 'v=f32[3]'"]),
        raised_by: ["indim-shape"],
    }
    DIM_SIZE_MISMATCH = "dim-size-mismatch" {
        title: "An operand axis is mapped to an axis of another size",
        explanation: "Rule `xla` maps an axis of the smaller operand to an axis of equal size, or \
            expands size 1. Check `dims`: another axis may be meant.",
        example: Command(&["indim explain 'add(x, v, dims=[0])' 'x=f32[2,3]' 'v=f32[3]'"]),
        raised_by: ["indim-shape"],
    }
    DIMS_NOT_STRICTLY_INCREASING = "dims-not-strictly-increasing" {
        title: "Dimensions are not in increasing order",
        explanation: "The rule keeps the order of axes, so each entry of `dims` is greater than the one \
            before it. If the axes are in another order, transpose the operand first.",
        example: Command(&["indim explain 'add(x, y, dims=[1, 0])' 'x=f32[2,2,4]' 'y=f32[2,2]'"]),
        raised_by: ["indim-shape"],
    }
    DEGENERATE_INCOMPATIBLE = "degenerate-incompatible" {
        title: "Two axes at the same position have different sizes, neither of them 1",
        explanation: "Between operands of equal rank, rule `xla` expands axes of size 1. All other sizes \
            must be equal.",
        example: Command(&["indim explain 'x + y' 'x=f32[2,3]' 'y=f32[2,4]' --rule xla"]),
        raised_by: ["indim-shape"],
    }
    IMPLICIT_BROADCAST_UNSUPPORTED = "implicit-broadcast-unsupported" {
        title: "An operation on one or three operands does not broadcast like this",
        explanation: "Under `xla` and `stablehlo` such an operation takes scalars and equal shapes, and \
            no `dims`. The message states what the rule accepts.",
        example: Command(&["indim explain 'where(c, x, y)' 'c=bool[2,3]' 'x=f32[1,3]' 'y=f32[2,3]' --rule \
            xla"]),
        raised_by: ["indim-shape"],
    }
    RANK_TOO_LARGE = "rank-too-large" {
        title: "An operand has a larger rank than the shape it is broadcast to",
        explanation: "A broadcast to a shape never removes axes. Remove axes of size 1 first, or give a \
            shape of at least that rank.",
        example: Command(&["indim explain --rule unidirectional --target 3 2,3"]),
        raised_by: ["indim-shape"],
    }
    AXIS_OUT_OF_RANGE = "axis-out-of-range" {
        title: "An axis does not exist",
        explanation: "Axes are counted from 0, under some rules also from the end (-1 is the last). Use \
            a number in the range of the rank that the message states.",
        example: Command(&["indim explain 'sum(x, axis=2)' 'x=f32[2,3]'"]),
        raised_by: ["indim-graph", "indim-shape"],
    }
    WRONG_OPERAND_COUNT = "wrong-operand-count" {
        title: "An operation gets the wrong number of operands",
        explanation: "The message states both numbers. `indim ops NAME` prints the call.",
        example: Command(&["indim explain 'add(x)' 'x=f32[2]'"]),
        raised_by: ["indim-graph", "indim-shape", "indim-text"],
    }
    FOREIGN_ATTRIBUTE = "foreign-attribute" {
        title: "The rule does not have this attribute",
        explanation: "Each rule has its own attributes: `dims` belongs to `xla`, `axis` to `pdpd`. \
            Remove the attribute, or choose a rule that has it.",
        example: Command(&["indim eval 'add(x, v, dims=[0])' 'x=[1.0]' 'v=[2.0]' --rule numpy"]),
        raised_by: ["indim-shape", "indim-web"],
    }
    MISSING_ATTRIBUTE = "missing-attribute" {
        title: "The rule needs an attribute that is not given",
        explanation: "A target rule needs the target shape. Give the attribute that the message names.",
        example: Words("A target rule, such as `unidirectional`, is constructed from attributes without \
            `target`. The command refuses its options before that."),
        raised_by: ["indim-shape"],
    }
    CONFLICTING_ATTRIBUTES = "conflicting-attributes" {
        title: "Two attributes exclude one another",
        explanation: "Each of the attributes maps axes. Give one of them.",
        example: Command(&["indim explain 'add(x, v, dims=[1], axis=1)' 'x=f32[2,3]' 'v=f32[3]'"]),
        raised_by: ["indim-shape"],
    }
    NOT_ELEMENTWISE = "not-elementwise" {
        title: "A target rule is given for element-wise operations",
        explanation: "Rules such as `unidirectional` broadcast one operand to a shape. Choose a rule of \
            element-wise operations for an expression: `xla`, `numpy`, `pdpd`, ...",
        example: Words("An expression is built under the rule `unidirectional`. The command does not offer \
            this name for expressions."),
        raised_by: ["indim-shape"],
    }
    AXIS_NEGATIVE = "axis-negative" {
        title: "An axis to reduce is negative under a rule without negative axes",
        explanation: "XLA, StableHLO and ONNX before opset 11 count axes from 0. Add the rank to the number.",
        example: Command(&["indim convert-reduction --from xla --axes=-1 --to numpy 2,3"]),
        raised_by: ["indim-shape"],
    }
    AXES_NOT_UNIQUE = "axes-not-unique" {
        title: "A list of axes names an axis twice",
        explanation: "Negative numbers count too: in a shape of rank 2, 1 and -1 are the same axis. Remove \
            one of them.",
        example: Command(&["indim explain 'sum(x, axis=[0, 0])' 'x=f32[2,3]'"]),
        raised_by: ["indim-graph", "indim-shape"],
    }
    AXES_MISSING = "axes-missing" {
        title: "The rule needs axes to reduce, and the list is empty",
        explanation: "OpenVINO and Paddle do not accept an empty list of axes. To reduce everything, list \
            all axes.",
        example: Command(&["echo '{\"rule\":\"openvino\",\"op\":\"sum\",\"axes\":[],\"operands\":[{\"shape\
            \":[2,3]}]}' | indim oracle"]),
        raised_by: ["indim-shape"],
    }
    AXES_MISPLACED = "axes-misplaced" {
        title: "The axes are in a place that this version of the operator does not read",
        explanation: "ONNX moved the axes of reductions from an attribute to an input. Give them in the \
            place that the opset reads.",
        example: Command(&["indim convert-reduction --from onnx --axes 0 --to numpy 2,3"]),
        raised_by: ["indim-shape"],
    }
    RANK_LIMIT = "rank-limit" {
        title: "A shape has more axes than the limit",
        explanation: "Shapes from texts, files and Python have at most 64 axes. Merge axes with a reshape.",
        example: Command(&["indim explain 'expand_dims(x, axis=0)' 'x=f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,\
            1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,\
            1]'"]),
        raised_by: ["indim-shape"],
    }
    INEXPRESSIBLE = "inexpressible" {
        title: "A rule cannot state this broadcast or reduction",
        explanation: "A conversion keeps the meaning exactly, and the requested rule has no attributes \
            for it. The message states the reason. `stablehlo-broadcast-in-dim` can \
            state every broadcast of one operand.",
        example: Command(&["indim convert --from numpy --to none 2,3 3"]),
        raised_by: ["indim-cli", "indim-py"],
    }
    UNKNOWN_RULE = "unknown-rule" {
        title: "No rule has this name",
        explanation: "The message lists the rules. The rules reference describes them.",
        example: Words("A request to the site names the rule `numpi`."),
        raised_by: ["indim-web"],
    }
}
