//! Findings of `indim lint` about models.
//!
//! A broadcast may be legal only for some sizes, be of unknown legality, be seldom intended, or store or
//! copy elements without need. Results may depend on the runtime.

use super::ErrorExample::Words;
use super::{ErrorCode, ErrorEntry};

codes! {
    SIZES_MAY_DIFFER = "sizes-may-differ" {
        title: "A broadcast is legal only if two sizes are equal, which the file does not state",
        explanation: "Two operands have different names for the size of one axis, such as `N` and `M`, or \
            a name and a number. If the sizes are always equal, give them the same name, or export the \
            model with the number.",
        example: Words("`indim lint` of a model that adds `f32[N, 6]` and `f32[M, 6]`."),
        raised_by: ["indim-model"],
    }
    UNKNOWN_TYPE = "unknown-type" {
        title: "The type of a value is unknown, so its broadcasts cannot be checked",
        explanation: "indim neither computes the operator nor has a shape rule for it, and the file does \
            not state the type of its result. This is usual for custom operators. State the type with \
            `--declare 'NAME=f32[2, N]'`.",
        example: Words("`indim lint` of an ONNX model with a node of the domain `com.acme` and no types."),
        raised_by: ["indim-model"],
    }
    RANK_PROMOTED = "rank-promoted" {
        title: "A vector and a column broadcast to a matrix",
        explanation: "One operand has fewer axes, so its axis is aligned with an axis of size 1 of the \
            other operand, and both expand: `[n]` and `[n, 1]` give `[n, n]`. In a loss function this is \
            usually a mistake, and training continues without an error. Reshape the operand of lower rank, \
            as in `[n, 1]`.",
        example: Words("`indim lint` of a model that subtracts `f32[32]` from a product `f32[32, 1]`."),
        raised_by: ["indim-model"],
    }
    OUTER_PRODUCT = "outer-product" {
        title: "Every operand expands",
        explanation: "The result has more elements than each operand, for example if a mask of rows meets \
            a mask of columns. The message states the shape of the result. If this is intended, pass \
            `--allow outer-product`.",
        example: Words("`indim lint` of a model with masks `bool[1, 1, 6, 6]` and `bool[N, 1, 1, 6]`."),
        raised_by: ["indim-model"],
    }
    WRONG_AXIS = "wrong-axis" {
        title: "A constant with one element for each channel is broadcast along another axis",
        explanation: "The constant follows a convolution, but is aligned with the width, which has the \
            same size as the channels. A bias `[16]` must have the shape `[16, 1, 1]` to be added to `[N, \
            16, H, W]`. Reshape the constant.",
        example: Words("`indim lint` of a convolution to `f32[1, 16, 16, 16]` and a bias `f32[16]`."),
        raised_by: ["indim-model"],
    }
    NEEDLESS_EXPAND = "needless-expand" {
        title: "A node repeats elements that a broadcast would repeat without a copy",
        explanation: "`Expand` or `Tile` repeats an operand, and all operations that use the result \
            broadcast it anyway. Remove the node, and use its operand directly.",
        example: Words("`indim lint` of a model that tiles `f32[1, 1, 32]` to add it to `f32[2, 16, 32]`."),
        raised_by: ["indim-model"],
    }
    CANCELLING_RESHAPES = "cancelling-reshapes" {
        title: "Two reshapes cancel",
        explanation: "`Unsqueeze`, `Squeeze`, `Reshape` or `Flatten` restores the shape that the node \
            before it changed. Remove both nodes, unless other nodes use the value between them.",
        example: Words("`indim lint` of a model with an `Unsqueeze` and a `Squeeze` of the same axis."),
        raised_by: ["indim-model"],
    }
    REPEATED_CONSTANT = "repeated-constant" {
        title: "A constant stores the elements that its broadcast repeats",
        explanation: "The constant is as large as the result, and its elements are equal along an axis. \
            Store it with size 1 along that axis: the broadcast gives the same result, and the file is \
            smaller.",
        example: Words("`indim lint` of an ONNX model that adds a mask `f32[1, 12, 64, 64]` of equal rows."),
        raised_by: ["indim-model"],
    }
    PDPD_AXIS = "pdpd-axis" {
        title: "OpenVINO ignores the axis of a pdpd broadcast, or reads another one",
        explanation: "OpenVINO documents -1 for an absent axis, but reads it as 0. Under rule pdpd it \
            ignores the axis of comparisons, logical operations and `Select`, and refuses the operands or \
            uses rule numpy. Under rule numpy it ignores any axis. Write the axis explicitly, or reshape \
            the second operand and use rule numpy.",
        example: Words("`indim lint` of an OpenVINO network that adds `f32[3]` to `f32[2, 3]` by pdpd \
            without an axis."),
        raised_by: ["indim-model"],
    }
    RUNTIME_DEPENDENT = "runtime-dependent" {
        title: "Results for NaN or ties depend on the runtime",
        explanation: "Runtimes differ in the results of this operator for NaN, or for equal elements. The \
            message states the difference. If your data have neither, pass `--allow runtime-dependent`.",
        example: Words("`indim lint` of a model with `TopK`."),
        raised_by: ["indim-model"],
    }
}
