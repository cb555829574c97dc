//! Rules of broadcasts and reductions. Raised before any element is computed.

use super::ErrorExample::{Command, Words};
use super::{ErrorCode, ErrorEntry};

codes! {
    DIMS_LENGTH_MISMATCH = "dims-length-mismatch" {
        title: "A list of dimensions has another length than its operand has axes",
        explanation: "Each axis of an operand has one entry in `dims` (or in the map of an explicit \
            broadcast): the result axis on which it lands. Give exactly one entry for each \
            axis.",
        example: Command(&["indim explain 'add(x, v, dims=[0, 1])' 'x=f32[2,3]' 'v=f32[3]'"]),
        raised_by: ["indim-shape"],
    }
    AXIS_NAME_MISSING = "axis-name-missing" {
        title: "An axis has no name where axes meet by their names",
        explanation: "Rule `named` matches axes by name, so an operand with axes needs a name for each. \
            Write them beside the sizes, as in `f32[time: 3]`, or choose a rule that matches \
            by position.",
        example: Command(&["indim explain 'x + v' 'x=f32[2,3]' 'v=f32[a: 3]' --rule named"]),
        raised_by: ["indim-shape"],
    }
    AXIS_NAME_REPEATED = "axis-name-repeated" {
        title: "One operand has two axes of the same name",
        explanation: "Axes of one operand meet axes of another by name, which is ambiguous if one name \
            stands twice. Rename one of them.",
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
        title: "Two axes of one operand land on the same result axis",
        explanation: "Each result axis takes at most one axis of each operand. Remove the repeated entry \
            from `dims`.",
        example: Command(&["indim explain --rule stablehlo-broadcast-in-dim --dims 0,0 --target 2,3 1,1"]),
        raised_by: ["indim-shape"],
    }
    SIZE_MISMATCH = "size-mismatch" {
        title: "Two sizes that have to agree differ",
        explanation: "An operand axis must have the size of the result axis on which it lands, or size 1 \
            where the rule expands axes. The message marks both axes and names shapes that \
            work. Insert an axis with `expand_dims` or `x[:, None]` if axes meet that should \
            not.",
        example: Command(&["indim explain 'x + v' 'x=f32[2,3]' 'v=f32[4]' --rule numpy"]),
        raised_by: ["indim-shape"],
    }
    TOO_LARGE = "too-large" {
        title: "An array has more elements or bytes than this machine can address",
        explanation: "The product of the sizes, or of the sizes and the bytes of an element, exceeds \
            `isize::MAX`. Broadcasts can make such a shape of small operands. Compute a part \
            of the result at a time.",
        example: Command(&["indim explain 'x + v' 'x=f32[9000000000,1]' 'v=f32[9000000000]' --rule numpy"]),
        raised_by: ["indim", "indim-shape", "indim-stream"],
    }
    SHAPES_DIFFER = "shapes-differ" {
        title: "The rule takes equal shapes only, and they differ",
        explanation: "Rules `none` and `stablehlo` never broadcast implicitly. Make the shapes equal by \
            an explicit broadcast (`broadcast_in_dim`), or choose a rule that broadcasts.",
        example: Command(&["indim explain 'x + v' 'x=f32[2,3]' 'v=f32[3]' --rule none"]),
        raised_by: ["indim-shape"],
    }
    SAME_RANK_DIMS_NOT_IDENTITY = "same-rank-dims-not-identity" {
        title: "Dimensions of an operand of full rank reorder its axes",
        explanation: "Under rule `xla` an operand with the rank of the result keeps its axes where they \
            are, so `dims` can only be `[0, 1, ...]`. Leave `dims` out, or transpose the \
            operand first.",
        example: Command(&["indim explain 'add(x, y, dims=[1, 0])' 'x=f32[2,2]' 'y=f32[2,2]'"]),
        raised_by: ["indim-shape"],
    }
    RANK_MISMATCH_WITHOUT_DIMS = "rank-mismatch-without-dims" {
        title: "Ranks differ, and no `dims` says where the axes go",
        explanation: "Rule `xla` does not align axes by itself. Say on which result axes those of the \
            smaller operand land, as in `add(x, v, dims=[1])`.",
        example: Command(&["indim explain 'x + v' 'x=f32[2,3]' 'v=f32[3]' --rule xla"]),
        raised_by: ["indim-shape"],
    }
    DIM_NEGATIVE = "dim-negative" {
        title: "A dimension is negative",
        explanation: "Rule `xla` counts the axes of the result from 0 and has no negative numbers. Count \
            from the front.",
        example: Command(&["indim explain 'add(x, v, dims=[-1])' 'x=f32[2,3]' 'v=f32[3]'"]),
        raised_by: ["indim-shape"],
    }
    DIM_TOO_LARGE = "dim-too-large" {
        title: "A dimension names an axis beyond the larger operand",
        explanation: "Entries of `dims` name axes of the operand of larger rank. Use a number below that \
            rank.",
        example: Command(&["indim explain 'add(x, v, dims=[2])' 'x=f32[2,3]' 'v=f32[3]'"]),
        raised_by: ["indim-shape"],
    }
    DIM_SIZE_MISMATCH = "dim-size-mismatch" {
        title: "An operand axis lands on a result axis of another size",
        explanation: "Rule `xla` maps an axis of the smaller operand to an axis of equal size, or \
            expands it from size 1. Check `dims`: the axis may belong elsewhere.",
        example: Command(&["indim explain 'add(x, v, dims=[0])' 'x=f32[2,3]' 'v=f32[3]'"]),
        raised_by: ["indim-shape"],
    }
    DIMS_NOT_STRICTLY_INCREASING = "dims-not-strictly-increasing" {
        title: "Dimensions are not in increasing order",
        explanation: "Rule `xla` keeps the order of axes, so every entry of `dims` is larger than the \
            one before it. Transpose the operand first if its axes lie in another order.",
        example: Command(&["indim explain 'add(x, y, dims=[1, 0])' 'x=f32[2,2,4]' 'y=f32[2,2]'"]),
        raised_by: ["indim-shape"],
    }
    DEGENERATE_INCOMPATIBLE = "degenerate-incompatible" {
        title: "Two axes of equal position have different sizes, neither of them 1",
        explanation: "After `dims` has placed the axes, rule `xla` still expands axes of size 1. All \
            other sizes must be equal.",
        example: Command(&["indim explain 'x + y' 'x=f32[2,3]' 'y=f32[2,4]' --rule xla"]),
        raised_by: ["indim-shape"],
    }
    IMPLICIT_BROADCAST_UNSUPPORTED = "implicit-broadcast-unsupported" {
        title: "The rule cannot express this broadcast without an attribute",
        explanation: "The rule takes equal shapes, or the attribute that is given has no meaning in it. \
            The message says what the rule takes instead.",
        example: Command(&["indim explain 'where(c, x, y)' 'c=bool[2,3]' 'x=f32[1,3]' 'y=f32[2,3]' --rule \
            xla"]),
        raised_by: ["indim-shape"],
    }
    RANK_TOO_LARGE = "rank-too-large" {
        title: "An operand has more axes than the shape it is broadcast to",
        explanation: "A broadcast to a target never drops axes. Remove axes of size 1 first, or give a \
            target of at least that rank.",
        example: Command(&["indim explain --rule unidirectional --target 3 2,3"]),
        raised_by: ["indim-shape"],
    }
    AXIS_OUT_OF_RANGE = "axis-out-of-range" {
        title: "An axis does not exist",
        explanation: "Axes are counted from 0, under some rules also from the end (-1 is the last). Use \
            a number within the rank that the message states.",
        example: Command(&["indim explain 'sum(x, axis=2)' 'x=f32[2,3]'"]),
        raised_by: ["indim-graph", "indim-shape"],
    }
    WRONG_OPERAND_COUNT = "wrong-operand-count" {
        title: "An operation is given another number of operands than it takes",
        explanation: "The message states both numbers. `indim ops NAME` prints the call.",
        example: Command(&["indim explain 'add(x)' 'x=f32[2]'"]),
        raised_by: ["indim-graph", "indim-shape", "indim-text"],
    }
    FOREIGN_ATTRIBUTE = "foreign-attribute" {
        title: "The rule does not have this attribute",
        explanation: "Each rule has its own attributes: `dims` belongs to `xla`, `axis` to `pdpd`. \
            Remove it, or choose the rule that has it.",
        example: Command(&["indim eval 'add(x, v, dims=[0])' 'x=[1.0]' 'v=[2.0]' --rule numpy"]),
        raised_by: ["indim-shape", "indim-web"],
    }
    MISSING_ATTRIBUTE = "missing-attribute" {
        title: "The rule needs an attribute that is not given",
        explanation: "A rule towards a shape needs the target shape. Give the attribute that the message \
            names.",
        example: Words("A rule that broadcasts to a target, such as `unidirectional`, is made of \
            attributes without `target`. The command refuses its options before that."),
        raised_by: ["indim-shape"],
    }
    CONFLICTING_ATTRIBUTES = "conflicting-attributes" {
        title: "Two attributes exclude one another",
        explanation: "Each of them states where axes land. Give one.",
        example: Command(&["indim explain 'add(x, v, dims=[1], axis=1)' 'x=f32[2,3]' 'v=f32[3]'"]),
        raised_by: ["indim-shape"],
    }
    NOT_ELEMENTWISE = "not-elementwise" {
        title: "The rule broadcasts to a target and is no rule of operations",
        explanation: "Rules such as `broadcast_in_dim` shape one operand. Choose a rule of element-wise \
            operations for an expression: `xla`, `numpy`, `pdpd`, ...",
        example: Words("The rule of operations is looked up by the name `unidirectional`. The command \
            does not offer the name for expressions."),
        raised_by: ["indim-shape"],
    }
    AXIS_NEGATIVE = "axis-negative" {
        title: "An axis to reduce is negative where the rule counts from the front",
        explanation: "XLA and StableHLO count axes from 0. Add the rank to the number.",
        example: Command(&["indim convert-reduction --from xla --axes=-1 --to numpy 2,3"]),
        raised_by: ["indim-shape"],
    }
    AXES_NOT_UNIQUE = "axes-not-unique" {
        title: "A list of axes names one twice",
        explanation: "Negative numbers count too: of two axes, 1 and -1 are the same. Remove one of them.",
        example: Command(&["indim explain 'sum(x, axis=[0, 0])' 'x=f32[2,3]'"]),
        raised_by: ["indim-graph", "indim-shape"],
    }
    AXES_MISSING = "axes-missing" {
        title: "The rule needs the axes to reduce, and none are given",
        explanation: "StableHLO and HLO list the axes of a reduction. Write all of them if everything is \
            reduced.",
        example: Command(&["echo '{\"rule\":\"openvino\",\"op\":\"sum\",\"axes\":[],\"operands\":[{\"shape\
            \":[2,3]}]}' | indim oracle"]),
        raised_by: ["indim-shape"],
    }
    AXES_MISPLACED = "axes-misplaced" {
        title: "The axes are given in a place that this version of the operator does not read",
        explanation: "ONNX moved the axes of reductions from an attribute to an input. Give them where \
            the opset has them.",
        example: Command(&["indim convert-reduction --from onnx --axes 0 --to numpy 2,3"]),
        raised_by: ["indim-shape"],
    }
    RANK_LIMIT = "rank-limit" {
        title: "A shape has more axes than the limit",
        explanation: "indim computes with shapes of at most 64 axes, and bounds what it reads. Merge \
            axes with a reshape.",
        example: Command(&["indim explain 'expand_dims(x, axis=0)' 'x=f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,\
            1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,\
            1]'"]),
        raised_by: ["indim-shape"],
    }
    INEXPRESSIBLE = "inexpressible" {
        title: "The target rule cannot say this broadcast or reduction",
        explanation: "The conversion keeps the meaning exactly, and the target rule has no attributes \
            that give it. The message says which axis is the obstacle; convert to \
            `broadcast_in_dim`, which says every broadcast.",
        example: Command(&["indim convert --from numpy --to none 2,3 3"]),
        raised_by: ["indim-cli", "indim-py"],
    }
    UNKNOWN_RULE = "unknown-rule" {
        title: "No rule has this name",
        explanation: "The message lists the rules. They are described in the rules reference.",
        example: Words("A request to the site asks for the rule `numpi`."),
        raised_by: ["indim-web"],
    }
}
