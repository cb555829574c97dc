"""Differences between the types that indim and ONNX infer that are no faults of indim, with reasons."""

# Operators without random nodes: their types depend on bodies, sequences, optional values or files.
WITHOUT_NODES = {
    "Constant", "If", "Loop", "Scan", "ImageDecoder", "Optional", "OptionalGetElement", "OptionalHasElement",
    "SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceLength",
    "SequenceMap", "SplitToSequence", "ConcatFromSequence",
}  # fmt: skip

# ONNX or ONNX Runtime accepts what the text of the operator forbids. Operators, and the reason.
TOLERANT = {
    "ArgMax": "a scalar has no axis",
    "ArgMin": "a scalar has no axis",
    "Attention": "inputs are all 3D or all 4D; the mask broadcasts to the scores and is at most as long",
    "GatherND": "the first batch_dims axes of data and indices have equal sizes",
    "GroupNormalization": "scale and bias have the shape (C); the operator's function broadcasts them",
    "MeanVarianceNormalization": "the default axes are 0, 2 and 3",
    "NegativeLogLikelihoodLoss": "the weights have a size of C; a runtime sees only the classes that occur",
    "SoftmaxCrossEntropyLoss": "the weights have a size of C; a runtime sees only the classes that occur",
    "PRelu": "the slope broadcasts to the operand",
    "QuantizeLinear": "before opset 13 the scale is a scalar",
    "Reduce": "axes that repeat: ONNX's reference implementation, NumPy, refuses them",
    "Squeeze": "axes that repeat: ONNX's reference implementation, NumPy, refuses them",
}

TOLERANT |= dict.fromkeys(
    ["AveragePool", "LpPool", "MaxPool"], "a kernel larger than its axis: ONNX divides towards 0"
)

# indim accepts what ONNX refuses. Operators, and the reason.
STRICT = {
    "MeanVarianceNormalization": "ONNX cannot expand its function without the attribute axes",
}

# ONNX Runtime refuses what ONNX allows. Operators, and the reason.
RUNTIME = {
    "Dropout": "the value of ratio, not a shape",
    "GlobalAveragePool": "ONNX Runtime pools 1 to 3 spatial axes",
    "GlobalLpPool": "ONNX Runtime pools 1 to 3 spatial axes",
    "GlobalMaxPool": "ONNX Runtime pools 1 to 3 spatial axes",
    "LRN": "ONNX Runtime takes rank 4 alone",
    "MatMulInteger": "ONNX Runtime takes one zero point",
    "OneHot": "ONNX Runtime takes no depth of 0",
    "Pad": "ONNX Runtime reflects once; NumPy reflects as often as needed",
    "QLinearMatMul": "ONNX Runtime takes one scale and zero point",
}

# Differences of sizes with names. Operators, and the reason.
NAMES = {
    "GatherND": "the rank of the result depends on a size with a name",
    "Squeeze": "without axes the rank of the result depends on sizes with names",
    "Resize": "the product of a size with a name and a scale depends on rounding",
    "Slice": "a negative bound is assumed to lie inside an axis of named size",
    "Split": "the last part is smaller by the remainder of a size with a name",
    "Upsample": "the product of a size with a name and a scale depends on rounding",
}

# indim accepts wrong sizes with names. Operators, and the reason.
MISSED_NAMES = {
    "DepthToSpace": "blocksize divides some numbers of channels",
    "GatherND": "the rank of the data that are left depends on a size with a name",
    "GatherElements": "the condition that a size is at most another one is not recorded",
    "Pad": "the width that a reflection allows depends on a size with a name",
    "QLinearMatMul": "scales of a vector are not checked",
    "ScatterND": "the rank of the updates depends on a size with a name",
    "SpaceToDepth": "blocksize divides some sizes",
    "Split": "the number of parts divides some sizes",
    "TopK": "the condition that k is at most a size is not recorded",
}


def reason(case, kind):
    """The reason why a difference is no fault; None if it is a fault."""
    operator = case.node.op_type
    attributes = {it.name for it in case.node.attribute}
    is_empty = any(0 in shape for _, shape in case.inputs.values())
    if operator in ("Hardmax", "LogSoftmax", "Softmax") and case.opset < 13 and "missed" in kind:
        return "the default axis 1 of a list: a matrix of one column"
    if kind == "false alarm" and case.is_changed:
        return TOLERANT.get("Reduce" if operator.startswith("Reduce") else operator)
    if kind == "missed":
        return STRICT.get(operator)
    if kind == "missed by both" and is_empty:
        return "ONNX Runtime computes no empty arrays of most operators"
    if kind == "missed by both" and {"auto_pad", "dilations"} <= attributes:
        return "ONNX Runtime does not combine auto_pad and dilations"
    if kind == "missed by both":
        return RUNTIME.get(operator)
    if kind.startswith("size") and "ceil_mode" in attributes:
        return "ONNX counts a last window that begins behind the axis; its runtimes leave it out"
    if kind.startswith("size") and operator == "ConvTranspose" and "auto_pad" in attributes:
        return "SAME asks for the size times the stride; ONNX removes no elements and adds none"
    if kind == "rank" and operator == "ConvTranspose" and case.opset < 11:
        return "ONNX appends output_shape to no sizes if the pads are 0"
    if kind == "size" and operator == "Split":
        return "ONNX gives the last of `num_outputs` parts a negative size"
    if kind == "size" and operator == "Einsum":
        return "ONNX takes the first of two sizes 1 and 0; NumPy broadcasts the 1"
    if kind == "size" and operator.endswith("Pool"):
        return "a kernel larger than its axis: ONNX divides towards 0"
    if kind == "unknown size" and operator == "Resize" and is_empty:
        return "no scale gives an empty axis a size"
    if kind == "missed with names":
        return MISSED_NAMES.get(operator)
    if "with names" in kind:
        return NAMES.get(operator)
    return None
