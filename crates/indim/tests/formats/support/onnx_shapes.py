"""Compares the types that indim infers for ONNX nodes with those of ONNX's own inference.

    onnx_shapes.py make FOLDER COUNT SEED
    onnx_shapes.py compare FOLDER

`make` writes random nodes into FOLDER: `OPSET.onnx` with sizes that are numbers, `OPSET-named.onnx` with
the same nodes and names for sizes from 2 on. A third of the nodes get a wrong operand. For each model indim
writes a text with a line for each node: its name, its verdict, the types of its results and the first
problem, with `|` between them. `compare` reads these texts and prints the differences, each of which is an
error unless `onnx_shape_exceptions.py` explains it.
"""

import collections
import math
import multiprocessing
import pathlib
import pickle
import random
import re
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference

import onnx_shape_exceptions
import onnx_shape_nodes
from onnx_shape_nodes import MAKERS, Maker

OPSETS = range(7, 29)

# Names of element types: ONNX's and indim's.
ELEMENTS = {
    "FLOAT": "f32", "DOUBLE": "f64", "FLOAT16": "f16", "INT8": "i8", "UINT8": "u8", "INT32": "i32",
    "INT64": "i64", "BOOL": "bool", "STRING": "string",
}  # fmt: skip


class Case:
    """A node with the types that ONNX infers: None if ONNX refuses it."""

    def __init__(self, maker, node, is_changed):
        self.node, self.opset, self.is_changed = node, maker.opset, is_changed
        self.inputs, self.constants = maker.inputs, maker.constants
        self.types, self.refusal = None, ""
        self.infer()

    def infer(self):
        try:
            model = shape_inference.infer_shapes(
                model_of([self]), check_type=True, strict_mode=True, data_prop=True
            )
        except Exception as error:
            self.refusal = short(str(error))
        else:
            self.types = [type_text(value) for value in model.graph.output]

    def describe(self):
        shapes = [self.describe_operand(name) for name in self.node.input]
        values = {it.name: helper.get_attribute_value(it) for it in self.node.attribute}
        return f"{self.node.op_type}-{self.opset}({', '.join(shapes)}) {values}"

    def describe_operand(self, name):
        if name in self.inputs:
            return str(self.inputs[name][1])
        return f"={self.constants[name].tolist()}" if name else "-"


def short(error):
    """The part of an error's text that says what is wrong."""
    lines = error.strip().splitlines()
    text = re.split(r"Status Message: |\): \[|false\. ", lines[-1])[-1]
    return text.removeprefix("[ShapeInferenceError] ")[-200:]


def type_text(value):
    """The type of a value as indim writes it, with `?` for an unknown size."""
    tensor = value.type.tensor_type
    element = ELEMENTS.get(TensorProto.DataType.Name(tensor.elem_type), "?")
    if not tensor.HasField("shape"):
        return f"{element}[...]"
    sizes = [str(it.dim_value) if it.HasField("dim_value") else "?" for it in tensor.shape.dim]
    return f"{element}[{', '.join(sizes)}]"


def model_of(cases, is_named=False):
    """A model of the nodes of cases of one opset."""
    inputs, constants, nodes = [], [], []
    for index, case in enumerate(cases):
        name = lambda size: f"n{index}_{size}" if is_named and size > 1 else size
        for operand, (kind, shape) in case.inputs.items():
            inputs.append(helper.make_tensor_value_info(operand, kind, [name(size) for size in shape]))
        constants += [numpy_helper.from_array(it, name) for name, it in case.constants.items()]
        nodes.append(case.node)
    outputs = [onnx.ValueInfoProto(name=name) for node in nodes for name in node.output]
    graph = helper.make_graph(nodes, "g", inputs, outputs, constants)
    imports = [helper.make_opsetid("", cases[0].opset)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def change(maker, node):
    """Makes an operand wrong, in most cases. Returns whether something has changed."""
    choices = [*maker.inputs, *maker.inputs, *maker.constants]
    if not choices:
        return False
    name = maker.pick(*choices)
    if name in maker.inputs:
        shape = maker.inputs[name][1]
        kind = maker.pick("insert", "remove", "size", "size", "size") if shape else "insert"
        at = maker.size(0, max(0, len(shape) - 1))
        if kind == "insert":
            shape.insert(maker.size(0, len(shape)), maker.size(1, 5))
        elif kind == "remove":
            del shape[at]
        else:
            shape[at] = maker.pick(shape[at] + 1, shape[at] - 1, 2 * shape[at], 1, 0)
        return True
    array = maker.constants[name]
    if array.ndim != 1 or maker.chance():
        changed = array.copy()
        flat = changed.reshape(-1)
        if flat.size:
            flat[maker.size(0, flat.size - 1)] += maker.pick(-1, 1, 5, -5)
        maker.constants[name] = changed
    else:
        maker.constants[name] = numpy.append(array, array[-1:]) if maker.chance() else array[:-1]
    return True


def make(folder, count, seed):
    names = sorted({operator for operator, *_ in MAKERS})
    by_operator = {name: [row for row in MAKERS if row[0] == name] for name in names}
    cases = []
    for index in range(count):
        operator = names[index % len(names)]
        choice = random.Random(f"{seed} {index}")
        _, since, until, function = choice.choice(by_operator[operator])
        maker = Maker(choice.random(), operator, choice.randint(since, until), index * 100)
        node = function(maker)
        is_changed = choice.random() < 0.4 and change(maker, node)
        cases.append(Case(maker, node, is_changed))
    (folder / "cases.pickle").write_bytes(pickle.dumps(cases))
    for opset in OPSETS:
        of_opset = [case for case in cases if case.opset == opset]
        (folder / f"{opset}.onnx").write_bytes(model_of(of_opset).SerializeToString())
        (folder / f"{opset}-named.onnx").write_bytes(model_of(of_opset, True).SerializeToString())
    accepted = {case.node.op_type for case in cases if case.types and not case.is_changed}
    missing = sorted(set(names) - accepted)
    assert not missing, f"ONNX accepts no node of {missing}"
    inferred = {
        it.name for it in onnx.defs.get_all_schemas() if it.domain == "" and it.since_version <= OPSETS[-1]
    }
    missing = sorted(inferred - set(names) - onnx_shape_exceptions.WITHOUT_NODES)
    assert not missing, f"no maker for {missing}"


def evaluated(size, values):
    """The number that a symbolic size stands for; None if it is a new name."""
    if "[" in size or "." in size:
        return None
    text = re.sub(r"n\d+_(\d+)", r"\1", size)
    known = {"floor": math.floor, "min": min, "broadcast": max}
    return eval(text, {"__builtins__": {}}, known)


def split_type(text):
    """Element type and sizes; the sizes are None if the rank is unknown."""
    element, _, sizes = text.partition("[")
    sizes = sizes.removesuffix("]") if not sizes.endswith("]]") else sizes[:-1]
    if sizes == "...":
        return element, None
    # Commas inside brackets and parentheses belong to one size.
    parts, depth, start = [], 0, 0
    for at, char in enumerate(sizes):
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            parts.append(sizes[start:at].strip())
            start = at + 1
    return element, [*parts, sizes[start:].strip()] if sizes else []


def difference(found, expected):
    """How the type that indim infers differs from ONNX's, or None."""
    (element, sizes), (other, others) = split_type(found), split_type(expected)
    if element != other and other != "?":
        return "element type"
    if others is None:
        return None
    if sizes is None:
        return "unknown"
    if len(sizes) != len(others):
        return "rank"
    for size, number in zip(sizes, others):
        if number == "?":
            continue
        value = evaluated(size, {})
        if value is None:
            return "unknown size"
        if value != int(number):
            return "size"
    return None


def run(case):
    """True if ONNX Runtime runs the node, None if it lacks the operator or the opset, else the error."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    states = onnxruntime.capi.onnxruntime_pybind11_state
    try:
        content = model_of([case]).SerializeToString()
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        arrays = {}
        for name, (kind, shape) in case.inputs.items():
            dtype = helper.tensor_dtype_to_np_dtype(kind)
            # A divisor must not be 0.
            make = numpy.ones if kind == TensorProto.BOOL or case.node.op_type == "Mod" else numpy.zeros
            arrays[name] = make(shape, object if kind == TensorProto.STRING else dtype)
        session.run(None, arrays)
    except states.NotImplemented:
        return None
    except Exception as error:
        is_of_system = any(it in str(error) for it in ("under development", "locale", "not supported"))
        return None if is_of_system else short(str(error))
    return True


class Runtime:
    """A process with ONNX Runtime, which wrong operands can end."""

    def __init__(self):
        self.connection = None

    def start(self):
        self.connection, other = multiprocessing.Pipe()
        process = multiprocessing.Process(target=self.serve, args=(other, self.connection), daemon=True)
        process.start()
        other.close()

    @staticmethod
    def serve(connection, other):
        other.close()
        try:
            while True:
                connection.send(run(connection.recv()))
        except EOFError:
            pass  # The comparison has ended.

    def runs(self, case):
        """The result of `run`; None if the process ends or hangs."""
        if self.connection is None:
            self.start()
        try:
            self.connection.send(case)
            if self.connection.poll(20):
                return self.connection.recv()
        except (EOFError, OSError):
            pass  # The process has ended.
        self.connection = None
        return None


def found_types(folder, name):
    """The verdict, types and problem of each node in a text that indim has written."""
    found = {}
    for line in (folder / f"{name}.txt").read_text().splitlines():
        node, verdict, *types, problem = line.split("|")
        found[node] = (verdict, types, problem)
    return found


def compare(folder):
    cases = pickle.loads((folder / "cases.pickle").read_bytes())
    differences, counts, runtime = collections.defaultdict(list), collections.Counter(), Runtime()

    def differs(case, kind, text):
        reason = onnx_shape_exceptions.reason(case, kind)
        counts["explained" if reason else kind] += 1
        if not reason:
            differences[case.node.op_type, kind].append(f"{case.describe()}: {text}")

    plain = {opset: found_types(folder, opset) for opset in OPSETS}
    named = {opset: found_types(folder, f"{opset}-named") for opset in OPSETS}
    for case in cases:
        verdict, types, problem = plain[case.opset][case.node.name]
        counts["nodes"] += 1
        if case.types is None and verdict == "illegal":
            counts["both refuse"] += 1
        elif case.types is None:
            differs(case, "missed", f"{case.refusal}, but {types}")
        elif verdict == "illegal":
            result = runtime.runs(case)
            if not case.is_changed or result is True:
                differs(case, "false alarm", f"{problem}; onnx {case.types}; runtime: {result}")
        else:
            counts["compared"] += 1
            kinds = [difference(*pair) for pair in zip(types, case.types)]
            for kind in filter(None, kinds):
                differs(case, kind, f"{types}, not {case.types}")
            if case.is_changed and not any(kinds):
                result = runtime.runs(case)
                counts[f"runtime {'runs' if result is True else 'refuses' if result else 'lacks'}"] += 1
                if isinstance(result, str):
                    differs(case, "missed by both", f"{types}; {result}")
        is_illegal = verdict == "illegal"
        verdict, types, refused = named[case.opset][case.node.name]
        # A wrong size with a name may be another number.
        if is_illegal and verdict == "legal":
            differs(case, "missed with names", problem)
        if not case.is_changed and case.types is not None and not is_illegal:
            counts["compared with names"] += 1
            if verdict == "illegal":
                differs(case, "false alarm with names", refused)
                continue
            for kind in filter(None, (difference(*pair) for pair in zip(types, case.types))):
                differs(case, f"{kind} with names", f"{types}, not {case.types}")
    print(dict(counts))
    for (operator, kind), texts in sorted(differences.items(), key=lambda it: (it[0][1], it[0][0])):
        print(f"{operator}: {kind}, {len(texts)} times")
        for text in texts[:4]:
            print(f"    {text}")
    return not differences and counts["compared"] > 1000


def main():
    folder = pathlib.Path(sys.argv[2])
    if sys.argv[1] == "make":
        make(folder, int(sys.argv[3]), int(sys.argv[4]))
    elif not compare(folder):
        sys.exit("the inference of indim differs from ONNX's")


if __name__ == "__main__":
    main()
