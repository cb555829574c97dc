//! Errors of broadcasts and reductions, raised before any element is computed.

use super::ErrorExample::{Command, Words};
use super::{ErrorCode, ErrorEntry};

codes! {
    DIMS_LENGTH_MISMATCH = "dims-length-mismatch" {
        title: "`dims` does not have one entry for each axis of its operand",
        explanation: "`dims` has one entry for each axis of an operand: the result axis that this axis \
            maps to. The same holds for the maps of an explicit broadcast, and for axis names. Give \
            exactly one entry for each axis.",
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
        title: "An entry of `dims` names an axis that the result does not have",
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
        explanation: "An axis of an operand must have the size of its result axis, or size 1 if the rule \
            expands axes. In a product, axes that are summed together must have the same size. The message \
            names both axes, and suggests repairs if it finds any. If the wrong axes are matched, insert \
            an axis with `expand_dims` or `x[:, None]`.",
        example: Command(&["indim explain 'x + v' 'x=f32[2,3]' 'v=f32[4]' --rule numpy"]),
        raised_by: ["indim-shape"],
    }
    TOO_FEW_AXES = "too-few-axes" {
        title: "An operand of a product has too few axes",
        explanation: "`matmul` and `@` take vectors and matrices, and `matvec` takes a matrix and a \
            vector. Multiply by a scalar with `*`.",
        example: Command(&["indim explain 'x @ 2' 'x=f32[2,3]'"]),
        raised_by: ["indim-shape"],
    }
    AXIS_COUNT_MISMATCH = "axis-count-mismatch" {
        title: "The lists of axes that a product pairs differ in length",
        explanation: "`tensordot` and `dot_general` pair the axes of both operands one by one. Give both \
            lists the same number of axes.",
        example: Command(&["indim explain 'tensordot(x, y, axes=[[0, 1], [0]])' 'x=f32[2,3]' 'y=f32[2,3]'"]),
        raised_by: ["indim-shape"],
    }
    EINSUM_EQUATION = "einsum-equation" {
        title: "The first argument of `einsum` is not a valid equation",
        explanation: "An equation has a letter for each axis, commas between the operands, and after `->` \
            the letters of the result, as in `ij,jk->ik`. Each letter of the result must occur in an \
            operand. The message states the problem.",
        example: Command(&["indim explain 'einsum(\"ij,jk->il\", x, y)' 'x=f32[2,3]' 'y=f32[3,4]'"]),
        raised_by: ["indim-shape"],
    }
    EINSUM_RANK = "einsum-rank" {
        title: "The number of labels of an `einsum` operand is not its rank",
        explanation: "Give each axis of the operand a letter, or write `...` for the axes without a \
            letter.",
        example: Command(&["indim explain 'einsum(\"ij->i\", v)' 'v=f32[3]'"]),
        raised_by: ["indim-shape"],
    }
    TOO_LARGE = "too-large" {
        title: "An array has more elements or bytes than this machine can address",
        explanation: "The number of elements or the number of bytes exceeds `isize::MAX`. A broadcast of \
            small operands can have such a shape. Check for an unintended broadcast, or compute the result \
            in parts.",
        example: Command(&["indim explain 'x + v' 'x=f32[9000000000,1]' 'v=f32[9000000000]' --rule numpy"]),
        raised_by: ["indim-io", "indim-shape", "indim-stream"],
    }
    SHAPES_DIFFER = "shapes-differ" {
        title: "The rule needs equal shapes, and the shapes differ",
        explanation: "Under rules `none` and `stablehlo`, operations do not broadcast their operands. \
            Broadcast an operand explicitly, as in `broadcast_to(v, [2, 3])`, or choose a rule that \
            broadcasts.",
        example: Command(&["indim explain 'x + v' 'x=f32[2,3]' 'v=f32[3]' --rule none"]),
        raised_by: ["indim-shape"],
    }
    SAME_RANK_DIMS_NOT_IDENTITY = "same-rank-dims-not-identity" {
        title: "`dims` reorders the axes of operands of equal rank",
        explanation: "Under rule `xla`, operands of equal rank keep the positions of their axes, so `dims` \
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
        title: "An entry of `dims` is negative",
        explanation: "Rule `xla` counts axes from 0 and has no negative axes. Add the rank to the number.",
        example: Command(&["indim explain 'add(x, v, dims=[-1])' 'x=f32[2,3]' 'v=f32[3]'"]),
        raised_by: ["indim-shape"],
    }
    DIM_TOO_LARGE = "dim-too-large" {
        title: "An entry of `dims` names an axis that the larger operand does not have",
        explanation: "Entries of `dims` name axes of the operand of larger rank. Use a number below its \
            rank.",
        example: Command(&["indim explain 'add(x, v, dims=[2])' 'x=f32[2,3]' 'v=f32[3]'"]),
        raised_by: ["indim-shape"],
    }
    DIM_SIZE_MISMATCH = "dim-size-mismatch" {
        title: "`dims` maps an axis to an axis of another size",
        explanation: "Rule `xla` maps an axis of the smaller operand to an axis of equal size, or expands \
            size 1. Check `dims`: it may name the wrong axis.",
        example: Command(&["indim explain 'add(x, v, dims=[0])' 'x=f32[2,3]' 'v=f32[3]'"]),
        raised_by: ["indim-shape"],
    }
    DIMS_NOT_STRICTLY_INCREASING = "dims-not-strictly-increasing" {
        title: "The entries of `dims` are not in increasing order",
        explanation: "This rule keeps the order of axes, so each entry of `dims` is greater than the one \
            before it. To change the order, transpose the operand first.",
        example: Command(&["indim explain 'add(x, y, dims=[1, 0])' 'x=f32[2,2,4]' 'y=f32[2,2]'"]),
        raised_by: ["indim-shape"],
    }
    DEGENERATE_INCOMPATIBLE = "degenerate-incompatible" {
        title: "Two axes at the same position have different sizes, neither of them 1",
        explanation: "Between operands of equal rank, rule `xla` expands axes of size 1, and all other \
            sizes must be equal. The message marks both axes. Correct one of the shapes, or transpose an \
            operand.",
        example: Command(&["indim explain 'x + y' 'x=f32[2,3]' 'y=f32[2,4]' --rule xla"]),
        raised_by: ["indim-shape"],
    }
    IMPLICIT_BROADCAST_UNSUPPORTED = "implicit-broadcast-unsupported" {
        title: "An operation with one or three operands does not broadcast this operand",
        explanation: "Under `xla`, operands of `where` and `clamp` are scalars or have the same shape. \
            Under `stablehlo`, only the condition of `where` and the bounds of `clamp` can be scalars. \
            These operations take no `dims`. Broadcast the operand first with `broadcast_to`.",
        example: Command(&["indim explain 'where(c, x, y)' 'c=bool[2,3]' 'x=f32[1,3]' 'y=f32[2,3]' --rule \
            xla"]),
        raised_by: ["indim-shape"],
    }
    RANK_TOO_LARGE = "rank-too-large" {
        title: "An operand has a larger rank than the shape it is broadcast to",
        explanation: "A broadcast to a shape never removes axes. Remove axes of size 1 from the operand \
            first, or give a shape of at least its rank.",
        example: Command(&["indim explain --rule unidirectional --target 3 2,3"]),
        raised_by: ["indim-shape"],
    }
    AXIS_OUT_OF_RANGE = "axis-out-of-range" {
        title: "An axis does not exist",
        explanation: "Axes are counted from 0, and under some rules also from the end, where -1 is the \
            last axis. The message states the rank. Use an axis within it.",
        example: Command(&["indim explain 'sum(x, axis=2)' 'x=f32[2,3]'"]),
        raised_by: ["indim-graph", "indim-shape"],
    }
    WRONG_OPERAND_COUNT = "wrong-operand-count" {
        title: "An operation gets the wrong number of operands",
        explanation: "The message states both numbers. `indim ops NAME` shows how to call the function.",
        example: Command(&["indim explain 'add(x)' 'x=f32[2]'"]),
        raised_by: ["indim-graph", "indim-shape", "indim-text"],
    }
    FOREIGN_ATTRIBUTE = "foreign-attribute" {
        title: "The rule does not have this attribute",
        explanation: "Each rule has its own attributes: `dims` belongs to `xla`, `axis` to `pdpd`. Remove \
            the attribute, or choose a rule that has it. In ONNX, `noop_with_empty_axes` needs an opset \
            that takes the axes as an input.",
        example: Command(&["indim eval 'add(x, v, dims=[0])' 'x=[1.0]' 'v=[2.0]' --rule numpy"]),
        raised_by: ["indim-shape", "indim-web"],
    }
    MISSING_ATTRIBUTE = "missing-attribute" {
        title: "The rule needs an attribute that is not given",
        explanation: "A rule that broadcasts to a target needs the target shape. Give the attribute that \
            the message names.",
        example: Words("A rule such as `unidirectional` is constructed in Rust without `target`. The \
            command reports this as wrong usage, without a code."),
        raised_by: ["indim-shape"],
    }
    CONFLICTING_ATTRIBUTES = "conflicting-attributes" {
        title: "`dims` and `axis` exclude one another",
        explanation: "`dims` implies rule `xla`, and `axis` rule `pdpd`. Give only one of them.",
        example: Command(&["indim explain 'add(x, v, dims=[1], axis=1)' 'x=f32[2,3]' 'v=f32[3]'"]),
        raised_by: ["indim-shape"],
    }
    NOT_ELEMENTWISE = "not-elementwise" {
        title: "A rule that broadcasts to a target is given for an expression",
        explanation: "Rules such as `unidirectional` broadcast one operand to a target shape, which \
            operations do not have. Choose a rule for element-wise operations, such as `xla`, `numpy` or \
            `pdpd`.",
        example: Words("An expression is built in Rust under the rule `unidirectional`. The command \
            reports this as wrong usage, without a code."),
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
        explanation: "indim does not accept an empty list under rules `openvino` and `pdpd`. To reduce all \
            axes, list them all.",
        example: Command(&["echo '{\"rule\":\"openvino\",\"op\":\"sum\",\"axes\":[],\"operands\":[{\"shape\
            \":[2,3]}]}' | indim oracle"]),
        raised_by: ["indim-shape"],
    }
    AXES_MISPLACED = "axes-misplaced" {
        title: "The axes are in a place that this version of the operator does not read",
        explanation: "ONNX moved the axes of reductions from an attribute to an input: of `ReduceSum` in \
            opset 13, of the others in opset 18. Give the axes in the place that this opset reads. In \
            `indim convert-reduction`, `--axes` is the attribute and `--axes-input` the input.",
        example: Command(&["indim convert-reduction --from onnx --axes 0 --to numpy 2,3"]),
        raised_by: ["indim-shape"],
    }
    RANK_LIMIT = "rank-limit" {
        title: "A shape has more axes than the limit",
        explanation: "Shapes from texts, files and Python have at most 64 axes. Merge axes with a reshape \
            first.",
        example: Command(&["indim explain 'expand_dims(x, axis=0)' 'x=f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,\
            1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,\
            1]'"]),
        raised_by: ["indim-shape"],
    }
    INEXPRESSIBLE = "inexpressible" {
        title: "A rule cannot state this broadcast or reduction",
        explanation: "A conversion keeps the meaning exactly, and the target rule cannot express it. The \
            message states the reason. Choose another rule: `stablehlo-broadcast-in-dim` can express every \
            broadcast of one operand.",
        example: Command(&["indim convert --from numpy --to none 2,3 3"]),
        raised_by: ["indim-cli", "indim-py"],
    }
    UNKNOWN_RULE = "unknown-rule" {
        title: "No rule has this name",
        explanation: "Use a rule that the message lists.",
        example: Words("A request to the site names the rule `numpi`."),
        raised_by: ["indim-web"],
    }
}
