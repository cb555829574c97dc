"""The rules of broadcasting as arithmetic on lists: what each rule set makes of shapes.

Written from the text of the rules alone, apart from the Rust code, so that the two can disagree.
`verdict(case)` takes a case in the form of `indim oracle` and returns
`{"ok": True, "shape": ..., "maps": ...}` or `{"ok": False, "code": ..., "rule": ...}`;
`rule` is None where the rules give no label; `XT` is indim's own, for ternary operations.
"""

ISIZE_MAX = 2**63 - 1
SIZES_IN_BYTES = {
    "bool": 1,
    "i8": 1,
    "u8": 1,
    "i16": 2,
    "u16": 2,
    "f16": 2,
    "bf16": 2,
    "i32": 4,
    "u32": 4,
    "f32": 4,
    "i64": 8,
    "u64": 8,
    "f64": 8,
    "c64": 8,
    "c128": 16,
}


class Illegal(Exception):
    def __init__(self, code, rule=None):
        super().__init__(code, rule)
        self.code, self.rule = code, rule


def unify(a, b):
    """The common size of two, or None."""
    if a == b:
        return a
    if a == 1:
        return b
    if b == 1:
        return a
    return None


def trailing(shape, rank):
    """The map of a right-aligned operand."""
    return list(range(rank - len(shape), rank))


def all_equal(shapes):
    if any(shape != shapes[0] for shape in shapes):
        raise Illegal("shapes-differ", "O1")
    return shapes[0], [list(range(len(shapes[0])))] * len(shapes)


def numpy_rule(shapes, label="N2"):
    rank = max(len(shape) for shape in shapes)
    result = [1] * rank
    for shape in shapes:
        for size, axis in zip(shape, trailing(shape, rank)):
            common = unify(result[axis], size)
            if common is None:
                raise Illegal("size-mismatch", label)
            result[axis] = common
    return result, [trailing(shape, rank) for shape in shapes]


def xla_binary(left, right, dims):
    rank = len(left)
    if len(left) == len(right):
        if dims and dims != list(range(rank)):
            raise Illegal("same-rank-dims-not-identity", "X2")
        placed = [list(range(rank)), list(range(rank))]
        return degenerate(left, right, placed)
    larger, smaller = (left, right) if len(left) > len(right) else (right, left)
    if not smaller:
        if dims:
            raise Illegal("dims-length-mismatch", "X3")
        into = []
        intermediate = list(larger)
    else:
        if not dims:
            raise Illegal("rank-mismatch-without-dims", "X4")
        if len(dims) != len(smaller):
            raise Illegal("dims-length-mismatch", "X5")
        intermediate = list(larger)
        for i, axis in enumerate(dims):
            if axis < 0:
                raise Illegal("dim-negative", "X6")
            if axis >= len(larger):
                raise Illegal("dim-too-large", "X6")
            if smaller[i] != larger[axis] and 1 not in (smaller[i], larger[axis]):
                raise Illegal("dim-size-mismatch", "X7")
            if i > 0 and axis <= dims[i - 1]:
                raise Illegal("dims-not-strictly-increasing", "X8")
            intermediate[axis] = smaller[i]
        into = list(dims)
    whole = list(range(len(larger)))
    maps = [whole, into] if larger is left else [into, whole]
    return degenerate(larger, intermediate, maps)


def degenerate(left, right, maps):
    result = [unify(a, b) for a, b in zip(left, right)]
    if None in result:
        raise Illegal("degenerate-incompatible", "X9")
    return result, maps


def xla_ternary(shapes):
    shaped = [shape for shape in shapes if shape]
    if not shaped:
        return [], [[]] * len(shapes)
    if any(shape != shaped[0] for shape in shaped):
        raise Illegal("implicit-broadcast-unsupported", "XT")
    whole = list(range(len(shaped[0])))
    return shaped[0], [whole if shape else [] for shape in shapes]


def stablehlo_ternary(op, shapes):
    """Operand 1 has the result's shape, the others that or none; the branches of select are equal."""
    clash = any(shape and shape != shapes[1] for shape in (shapes[0], shapes[2]))
    if clash or (op == "select" and shapes[1] != shapes[2]):
        raise Illegal("implicit-broadcast-unsupported", "XT")
    whole = list(range(len(shapes[1])))
    return shapes[1], [whole if shape else [] for shape in shapes]


def pdpd_map(a, b, axis):
    """The axis of `a` to which each axis of `b` maps."""
    if len(b) > len(a):
        raise Illegal("rank-too-large", "P1")
    axis = -1 if axis is None else axis
    if not -1 <= axis <= len(a):
        raise Illegal("axis-out-of-range", "P2")
    axis = len(a) - len(b) if axis == -1 else axis
    if axis + len(b) > len(a):
        raise Illegal("axis-out-of-range", "P4")
    for i, size in enumerate(b):
        if size not in (1, a[axis + i]):
            raise Illegal("size-mismatch", "P5")
    return list(range(axis, axis + len(b)))


def pdpd_rule(op, shapes, axis):
    if op == "select":
        predicate, then, otherwise = shapes
        into_else = pdpd_map(then, otherwise, axis)
        into_predicate = pdpd_map(then, predicate, axis)
        return then, [into_predicate, list(range(len(then))), into_else]
    a, b = shapes
    into = pdpd_map(a, b, axis)
    return a, [list(range(len(a))), into]


def onnx_legacy(a, b, axis, broadcast):
    if broadcast == 0:
        return all_equal([a, b])
    if len(b) > len(a):
        raise Illegal("rank-too-large", "L")
    whole = list(range(len(a)))
    if all(size == 1 for size in b):
        return a, [whole, None]
    start = len(a) - len(b) if axis is None else axis
    if start < 0 or start + len(b) > len(a):
        raise Illegal("axis-out-of-range", "L")
    for i, size in enumerate(b):
        if size not in (1, a[start + i]):
            raise Illegal("size-mismatch", "L")
    return a, [whole, list(range(start, start + len(b)))]


def unidirectional(data, target, label="T1"):
    if len(data) > len(target):
        raise Illegal("rank-too-large", label)
    into = trailing(data, len(target))
    for size, axis in zip(data, into):
        if size not in (1, target[axis]):
            raise Illegal("size-mismatch", label)
    return target, [into]


def bidirectional(data, target):
    result, maps = numpy_rule([data, target], "T2")
    return result, maps[:1]


def explicit_form(data, target, dims):
    """E1 to E4, one rule after the other over the whole list; it may permute."""
    if len(dims) != len(data):
        raise Illegal("dims-length-mismatch", "E1")
    if any(not 0 <= axis < len(target) for axis in dims):
        raise Illegal("dim-out-of-range", "E2")
    if len(set(dims)) != len(dims):
        raise Illegal("dims-not-unique", "E3")
    if any(size not in (1, target[axis]) for size, axis in zip(data, dims)):
        raise Illegal("size-mismatch", "E4")
    return target, [list(dims)]


def axes_mapping(data, target, dims):
    """T3: the length, then the range, then the order, then the sizes."""
    if len(dims) != len(data):
        raise Illegal("dims-length-mismatch", "T3")
    if any(not 0 <= axis < len(target) for axis in dims):
        raise Illegal("dim-out-of-range", "T3")
    if any(b <= a for a, b in zip(dims, dims[1:])):
        raise Illegal("dims-not-strictly-increasing", "T3")
    if any(size not in (1, target[axis]) for size, axis in zip(data, dims)):
        raise Illegal("size-mismatch", "T3")
    return target, [list(dims)]


def xla_broadcast_in_dim(data, target, dims):
    """The range of the whole list, then entry by entry the size and the order, as XLA does."""
    if len(dims) != len(data):
        raise Illegal("dims-length-mismatch", "E1")
    if any(not 0 <= axis < len(target) for axis in dims):
        raise Illegal("dim-out-of-range", "E2")
    for i, axis in enumerate(dims):
        if data[i] not in (1, target[axis]):
            raise Illegal("size-mismatch", "E4")
        if i > 0 and axis <= dims[i - 1]:
            raise Illegal("dims-not-strictly-increasing", "X8")
    return target, [list(dims)]


def xla_broadcast(data, sizes):
    """`Broadcast(x, sizes)`: puts axes of these sizes in front."""
    result = [*sizes, *data]
    return result, [trailing(data, len(result))]


def check_size(shape, dtype):
    """E5. An array without elements is never too large."""
    if 0 in shape:
        return
    count = 1
    for size in shape:
        count *= size
    if count * SIZES_IN_BYTES[dtype] > ISIZE_MAX:
        raise Illegal("too-large", "E5")


def elaborate(case):
    rule, op = case["rule"], case.get("op")
    shapes = [operand["shape"] for operand in case["operands"]]
    dims, axis, target = case.get("dims") or [], case.get("axis"), case.get("target")
    if rule == "unidirectional" or (rule, op) == ("numpy", "broadcast"):
        return unidirectional(shapes[0], target)
    if rule == "bidirectional":
        return bidirectional(shapes[0], target)
    if rule == "explicit":
        return axes_mapping(shapes[0], target, dims)
    if (rule, op) == ("pdpd", "broadcast"):
        return target, [pdpd_map(target, shapes[0], axis)]
    if (rule, op) == ("xla", "broadcast"):
        return xla_broadcast(shapes[0], target)
    if (rule, op) == ("xla", "broadcast_in_dim"):
        return xla_broadcast_in_dim(shapes[0], target, dims)
    if (rule, op) == ("stablehlo", "broadcast_in_dim"):
        return explicit_form(shapes[0], target, dims)
    if rule == "stablehlo" and len(shapes) == 3:
        return stablehlo_ternary(op, shapes)
    if rule in ("none", "stablehlo"):
        return all_equal(shapes)
    if rule == "numpy":
        return numpy_rule(shapes)
    if rule == "pdpd":
        return pdpd_rule(op, shapes, axis)
    if rule == "onnx-legacy":
        return onnx_legacy(*shapes, axis, case.get("broadcast", 1))
    assert rule == "xla"
    if len(shapes) == 3:
        return xla_ternary(shapes)
    return xla_binary(*shapes, dims)


def verdict(case):
    dtypes = [operand.get("dtype", "f32") for operand in case["operands"]]
    try:
        if case["rule"] == "xla" and len(dtypes) == 2 and dtypes[0] != dtypes[1]:
            raise Illegal("element-type-mismatch", "X1")
        shape, maps = elaborate(case)
        check_size(shape, dtypes[-1])
    except Illegal as illegal:
        return {"ok": False, "code": illegal.code, "rule": illegal.rule}
    return {"ok": True, "shape": list(shape), "maps": [None if m is None else list(m) for m in maps]}
