//! Findings of `indim lint`: broadcasts of unknown legality, and legal ones that are seldom intended.

use super::ErrorExample::Words;
use super::{ErrorCode, ErrorEntry};

codes! {
    SIZES_MAY_DIFFER = "sizes-may-differ" {
        title: "A broadcast is legal only if two named sizes agree",
        explanation: "Sizes with different names, or a name and a number, meet in one axis. Give sizes that \
            are always equal one name, or export the model with the number.",
        example: Words("`indim lint` of a model that adds `f32[N, 6]` and `f32[M, 6]`."),
        raised_by: ["indim-model"],
    }
    UNKNOWN_TYPE = "unknown-type" {
        title: "Broadcasts are unknown because the type of a value is stated nowhere",
        explanation: "Neither a kernel nor a shape rule nor the file gives the type of a result, as of \
            an operator of a foreign domain. State it with `--declare 'NAME=f32[2, N]'`.",
        example: Words("`indim lint` of an ONNX model with a node of the domain `com.acme` and no types."),
        raised_by: ["indim-model"],
    }
    RANK_PROMOTED = "rank-promoted" {
        title: "A vector meets a column: both expand",
        explanation: "An operand lacks an axis that the other one has, so its own axis meets an axis of size \
            1: `[n]` and `[n, 1]` give `[n, n]`. In a loss this is a mistake that trains without a message. \
            Reshape the operand of lower rank.",
        example: Words("`indim lint` of a model that subtracts `f32[32]` from a product `f32[32, 1]`."),
        raised_by: ["indim-model"],
    }
    OUTER_PRODUCT = "outer-product" {
        title: "Every operand expands",
        explanation: "The result has more elements than each operand, as in a mask of rows and columns. It \
            is a note for you to know the bytes.",
        example: Words("`indim lint` of a model with masks `bool[1, 1, 6, 6]` and `bool[N, 1, 1, 6]`."),
        raised_by: ["indim-model"],
    }
    WRONG_AXIS = "wrong-axis" {
        title: "A constant for the channels lies on another axis",
        explanation: "Behind a convolution a constant has one number for each channel, but its axis meets \
            the width, which has the same size. A bias `[16]` belongs to `[N, 16, H, W]` as `[16, 1, 1]`.",
        example: Words("`indim lint` of a convolution to `f32[1, 16, 16, 16]` and a bias `f32[16]`."),
        raised_by: ["indim-model"],
    }
    NEEDLESS_EXPAND = "needless-expand" {
        title: "A node writes what a broadcast does without a copy",
        explanation: "`Expand` or `Tile` repeats an operand whose only users broadcast it anyway.",
        example: Words("`indim lint` of a model that tiles `f32[1, 1, 32]` to add it to `f32[2, 16, 32]`."),
        raised_by: ["indim-model"],
    }
    CANCELLING_RESHAPES = "cancelling-reshapes" {
        title: "Two reshapes cancel",
        explanation: "`Unsqueeze`, `Squeeze`, `Reshape` or `Flatten` restores the shape that the node before \
                      it changed.",
        example: Words("`indim lint` of a model with an `Unsqueeze` and a `Squeeze` of the same axis."),
        raised_by: ["indim-model"],
    }
    REPEATED_CONSTANT = "repeated-constant" {
        title: "A constant stores the elements that its broadcast repeats",
        explanation: "A constant is as large as the result, and its elements are equal along an axis. With \
            size 1 on that axis the broadcast gives the same, and the file is smaller.",
        example: Words("`indim lint` of an ONNX model that adds a mask `f32[1, 12, 64, 64]` of equal rows."),
        raised_by: ["indim-model"],
    }
    PDPD_AXIS = "pdpd-axis" {
        title: "OpenVINO ignores the axis of a pdpd broadcast, or reads another one",
        explanation: "An absent axis is -1 in OpenVINO's documentation, and 0 in its reader. Comparisons, \
            logical operations and `Select` under pdpd are refused or computed by the rule numpy, which \
            ignores an axis. Write the axis, or reshape the second operand and use the rule numpy.",
        example: Words("`indim lint` of an OpenVINO network that adds `f32[3]` to `f32[2, 3]` by pdpd \
            without an axis."),
        raised_by: ["indim-model"],
    }
    RUNTIME_DEPENDENT = "runtime-dependent" {
        title: "Results for NaN or ties depend on the runtime",
        explanation: "Runtimes differ in the results of this operator for NaN, or for equal elements.",
        example: Words("`indim lint` of a model with `TopK`."),
        raised_by: ["indim-model"],
    }
}
