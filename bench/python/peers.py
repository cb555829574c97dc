"""The jobs of the benchmarks by NumPy, numexpr, JAX and OpenVINO.

`cargo xtask bench --python` runs this as a child of the Rust program. Each line of the input is a task (see
`bench/src/python.rs`): an expression, its arguments, and a sample of indim's results. Each engine
answers with a line {"job", "size", "engine", "seconds"}; where it cannot do the job there is
"unsupported" with the reason, where its results are not ours, "wrong". An empty object ends an answer.

The expression is evaluated once on symbols, which gives a list of steps; each engine has a table of
functions for them.
"""

import argparse
import functools
import itertools
import json
import math
import os
import statistics
import sys
import time
import warnings

import jax
import jax.numpy as jnp
import ml_dtypes
import numexpr
import numpy as np
import openvino
import scipy.special
from openvino import opset15 as ops

ROUNDS = range(5, 202)
"""Rounds that are counted; between these, as many as the time allows."""


# The steps of an expression.


class Symbol:
    """A value that is not known yet: the place of a result in a list of values."""

    def __init__(self, trace, place):
        self.trace, self.place = trace, place


class Trace:
    """The steps of an expression: each the name of an operation, operands, and options such as `axis`.

    An operand is a symbol, whose place is that of an argument or of a step after all arguments, or
    a number.
    """

    def __init__(self, expression, names):
        self.count = len(names)
        self.steps = []
        known = {name: functools.partial(self.step, name) for name in FUNCTIONS + REDUCTIONS}
        known |= {"nan": math.nan, "true": True, "false": False}
        arguments = {name: Symbol(self, place) for place, name in enumerate(names)}
        # The expression comes from the jobs in this repository.
        eval(expression, {"__builtins__": {}}, known | arguments)

    def step(self, name, *operands, **options):
        self.steps.append((name, operands, options))
        return Symbol(self, self.count + len(self.steps) - 1)

    def run(self, functions, arguments):
        """The last result, with these functions for the steps."""
        values = list(arguments)
        for name, operands, options in self.steps:
            if name not in functions:
                raise Unsupported(f"no {name}")
            operands = [values[o.place] if isinstance(o, Symbol) else o for o in operands]
            values.append(functions[name](*operands, **options))
        return values[-1]

    def last_uses(self):
        """For each place, the step that needs it last."""
        uses = {}
        for index, (_, operands, _) in enumerate(self.steps):
            uses |= {o.place: index for o in operands if isinstance(o, Symbol)}
        return uses


FUNCTIONS = "abs conj cos erf exp f32 log logistic maximum sin square tanh where".split()
REDUCTIONS = "any argmax count_nonzero logsumexp max mean min softmax std sum var".split()

OPERATORS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "and": "bitwise_and",
}
COMPARISONS = {"gt": "greater", "ne": "not_equal"}

for method, step in (OPERATORS | COMPARISONS).items():
    setattr(Symbol, f"__{method}__", lambda x, y, step=step: x.trace.step(step, x, y))
for method, step in OPERATORS.items():
    setattr(Symbol, f"__r{method}__", lambda x, y, step=step: x.trace.step(step, y, x))


class Unsupported(Exception):
    """An engine cannot do a job."""


# Engines. Each takes a trace, the arguments and the type of the result, and gives a function that
# computes into the same memory each time where the library allows, and what gives its last result.


def numpy_convert(x, out=None):
    if out is None:
        return x.astype(np.float32)
    np.copyto(out, x)
    return out


def numpy_where(condition, x, y, out=None):
    if out is None:
        return np.where(condition, x, y)
    np.copyto(out, y)
    np.copyto(out, x, where=condition)
    return out


NUMPY = {
    name: getattr(np, name)
    for name in "add subtract multiply divide bitwise_and greater not_equal abs conj cos exp log"
    " maximum sin square tanh".split()
} | {
    "erf": scipy.special.erf,
    "f32": numpy_convert,
    "logistic": scipy.special.expit,
    "where": numpy_where,
    "count_nonzero": lambda x: np.asarray(np.count_nonzero(x)),
    "logsumexp": scipy.special.logsumexp,
    "softmax": scipy.special.softmax,
}
NUMPY |= {name: getattr(np, name) for name in "any argmax max mean min std sum var".split()}


def numpy_fresh(trace, arguments, _):
    results = [None]

    def run():
        results[0] = trace.run(NUMPY, arguments)

    return run, lambda: results[0]


def numpy_out(trace, arguments, _):
    """As people write it who care: every step into memory that is there, in place if it can be."""
    program, result = numpy_program(trace, arguments)

    def run():
        for function, operands, out in program:
            function(*operands, out=out)

    return run, lambda: result


def numpy_program(trace, arguments):
    """Functions with their operands and outputs, and the last output."""
    values, program, free = list(arguments), [], {}
    uses = trace.last_uses()
    for index, (name, operands, options) in enumerate(trace.steps):
        function = functools.partial(NUMPY[name], **options) if options else NUMPY[name]
        actual = [values[o.place] if isinstance(o, Symbol) else o for o in operands]
        results = function(*actual)
        dead = {o.place for o in operands if isinstance(o, Symbol) and uses[o.place] == index}
        dead = [values[place] for place in dead if place >= len(arguments)]
        in_place = isinstance(function, np.ufunc)
        for value in dead if in_place else []:
            free.setdefault((value.shape, value.dtype), []).append(value)
        fitting = free.get((results.shape, results.dtype))
        out = fitting.pop() if fitting else np.empty_like(results)
        for value in dead if not in_place else []:
            free.setdefault((value.shape, value.dtype), []).append(value)
        program.append((function, actual, out))
        values.append(out)
    return program, values[-1]


class Text:
    """A value for numexpr, as text. Numbers are variables, because numbers in a text would be f64."""

    def __init__(self, numbers, text):
        self.numbers, self.text = numbers, text


def numexpr_text(template):
    def write(*operands):
        numbers = next(o.numbers for o in operands if isinstance(o, Text))

        def text(operand):
            if isinstance(operand, Text):
                return operand.text
            name = f"number{len(numbers)}"
            numbers[name] = operand
            return name

        return Text(numbers, template.format(*map(text, operands)))

    return write


NUMEXPR = (
    {
        "add": "({} + {})",
        "subtract": "({} - {})",
        "multiply": "({} * {})",
        "divide": "({} / {})",
        "bitwise_and": "({} & {})",
        "greater": "({} > {})",
        "not_equal": "({} != {})",
        "logistic": "(one / (one + exp(-{})))",
        "f32": "({} * one)",
        "square": "({0} * {0})",
        "where": "where({}, {}, {})",
    }
    | {name: name + "({})" for name in "abs conj cos exp log sin tanh".split()}
    | {
        "maximum": "maximum({}, {})",
    }
)


def numexpr_compiled(trace, arguments, result_type):
    numbers = {}
    symbols = [Text(numbers, f"argument{place}") for place in range(len(arguments))]
    functions = {name: numexpr_text(template) for name, template in NUMEXPR.items()}
    text = trace.run(functions, symbols).text
    wide = any(array.dtype in (np.float64, np.complex128) for array in arguments)
    real = np.float64 if wide else np.float32
    names = {f"argument{place}": array for place, array in enumerate(arguments)} | {"one": real(1)}
    for name, number in numbers.items():
        # The mask of a bit field stays an integer.
        names[name] = number if isinstance(number, int) and "&" in text else real(number)
    shape = np.broadcast_shapes(*(array.shape for array in arguments))
    out = np.empty(shape, result_type)
    numexpr.evaluate(text, names, out=out, casting="unsafe")
    return lambda: numexpr.re_evaluate(names), lambda: out


JAX = {
    name: getattr(jnp, name)
    for name in "add subtract multiply divide bitwise_and greater not_equal abs conj cos exp log"
    " maximum sin square tanh where".split()
} | {
    "erf": jax.scipy.special.erf,
    "f32": lambda x: x.astype(jnp.float32),
    "logistic": jax.nn.sigmoid,
    "logsumexp": jax.scipy.special.logsumexp,
    "softmax": jax.nn.softmax,
}
JAX |= {name: getattr(jnp, name) for name in "any argmax count_nonzero max mean min std sum var".split()}


def jax_jit(trace, arguments, _):
    compiled = jax.jit(lambda *values: trace.run(JAX, values))
    placed = [jax.block_until_ready(jnp.asarray(array)) for array in arguments]
    results = [None]

    def run():
        results[0] = compiled(*placed).block_until_ready()

    return run, lambda: np.asarray(results[0])


def openvino_operation(operation):
    """Numbers among the operands have the type of the first node."""

    def build(*operands):
        node = next(o for o in operands if not isinstance(o, (int, float)))
        element_type = node.get_output_element_type(0)
        constants = (
            ops.constant(o, dtype=element_type) if isinstance(o, (int, float)) else o for o in operands
        )
        return operation(*constants)

    return build


def openvino_where(condition, x, y):
    node = y if isinstance(x, (int, float)) else x
    element_type = node.get_output_element_type(0)
    x, y = (ops.constant(o, dtype=element_type) if isinstance(o, (int, float)) else o for o in (x, y))
    return ops.select(condition, x, y)


def openvino_reduction(operation):
    def build(x, axis=None, keepdims=False):
        axes = range(len(x.get_output_shape(0))) if axis is None else [axis]
        return operation(x, np.array(axes, np.int64), keepdims)

    return build


OPENVINO = {
    name: openvino_operation(getattr(ops, name))
    for name in "add subtract multiply divide bitwise_and greater not_equal abs cos erf exp log"
    " maximum sin tanh".split()
} | {
    "f32": lambda x: ops.convert(x, "f32"),
    "logistic": ops.sigmoid,
    "softmax": ops.softmax,
    "square": lambda x: ops.multiply(x, x),
    "where": openvino_where,
}
OPENVINO |= {name: openvino_reduction(getattr(ops, f"reduce_{name}")) for name in "max mean min sum".split()}


def openvino_compiled(trace, arguments, result_type):
    for array in [*arguments, np.empty(0, result_type)]:
        if array.dtype == np.float64:
            raise Unsupported("computes f64 in f32 on a CPU")
        if array.dtype.kind == "c":
            raise Unsupported("no complex numbers")
    types = {np.dtype(ml_dtypes.bfloat16): openvino.Type.bf16}
    kinds = [types.get(array.dtype) or openvino.Type(array.dtype) for array in arguments]
    parameters = [ops.parameter(array.shape, kind) for array, kind in zip(arguments, kinds)]
    model = openvino.Model([trace.run(OPENVINO, parameters)], parameters)
    options = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_NUM_THREADS": numexpr.get_num_threads(),
        # Without it, f32 is computed in bf16 where the processor has that.
        "INFERENCE_PRECISION_HINT": "f32",
    }
    request = openvino.Core().compile_model(model, "CPU", options).create_infer_request()
    for place, (array, kind) in enumerate(zip(arguments, kinds)):
        bits = array.view(np.uint16) if kind == openvino.Type.bf16 else array
        request.set_input_tensor(place, openvino.Tensor(bits, openvino.Shape(array.shape), kind))

    def result():
        tensor = request.get_output_tensor()
        is_bf16 = tensor.element_type == openvino.Type.bf16
        return tensor.data.view(ml_dtypes.bfloat16) if is_bf16 else tensor.data

    return request.infer, result


ENGINES = {
    "NumPy": numpy_fresh,
    "NumPy out=": numpy_out,
    "numexpr": numexpr_compiled,
    "JAX": jax_jit,
    "OpenVINO": openvino_compiled,
}


# Tasks.

DTYPES = {
    "bool": np.bool_,
    "u8": np.uint8,
    "u16": np.uint16,
    "i64": np.int64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "c64": np.complex64,
}


def numbers(dtype, shape, seed):
    """The arguments that the Rust program makes (`bench/src/numbers.rs`)."""
    # The sequence repeats after 1009 numbers.
    period = (np.arange(1009) * 7 + seed * 131) % 1009
    single = period.astype(np.float32) * np.float32(0.01) - np.float32(5)
    values = {
        "u8": lambda: period.astype(np.uint8),
        "u16": lambda: period * 7 + 1,
        "f64": lambda: period * 0.01 - 5.0,
        "c64": lambda: single + 1j * single_of(period * 3 % 1009),
    }.get(dtype, lambda: single)()
    return np.resize(values.astype(DTYPES[dtype]), shape)


def single_of(numbers):
    return numbers.astype(np.float32) * np.float32(0.01) - np.float32(5)


def seconds_of(run, budget):
    """The median of several rounds; small jobs are repeated within one."""
    run()
    start = time.perf_counter()
    run()
    repeat = max(1, int(1e-3 / max(time.perf_counter() - start, 1e-9)))
    rounds = []
    begin = time.perf_counter()
    while len(rounds) < ROUNDS.start or (time.perf_counter() - begin < budget and len(rounds) < ROUNDS.stop):
        start = time.perf_counter()
        for _ in itertools.repeat(None, repeat):
            run()
        rounds.append((time.perf_counter() - start) / repeat)
    return statistics.median(rounds)


def disagreement(task, result):
    """The difference between a result and the expected one, or None."""
    if list(result.shape) != task["shape"]:
        return f"shape {list(result.shape)}"
    sample = task["sample"]
    theirs = result.reshape(-1)[sample["places"]]
    if theirs.dtype == ml_dtypes.bfloat16:
        theirs = theirs.astype(np.float64)
    for part in ("real", "imaginary"):
        # Infinities and NaN, which JSON cannot express, arrive as null.
        ours = np.array([math.nan if x is None else x for x in sample[part]])
        actual = (theirs.real if part == "real" else theirs.imag).astype(np.float64)
        actual = np.where(np.isfinite(actual), actual, math.nan)
        scale = np.maximum(np.abs(ours), 1)
        near = np.abs(actual - ours) <= task["tolerance"] * scale
        wrong = ~(near | (np.isnan(actual) & np.isnan(ours)))
        if wrong.any():
            place = int(np.argmax(wrong))
            at = sample["places"][place]
            return f"{part} part at {at} is {actual[place]}, by indim {ours[place]}"
    return None


def measure(task, engine, arguments, budget):
    """The answer of one engine, without what all answers have."""
    try:
        trace = Trace(task["expression"], [argument["name"] for argument in task["arguments"]])
        run, result = ENGINES[engine](trace, arguments, DTYPES[task["dtype"]])
        run()
        wrong = disagreement(task, result())
        return {"wrong": wrong} if wrong else {"seconds": seconds_of(run, budget)}
    # Libraries say in many ways that they lack a type or an operation.
    except Exception as error:
        return {"unsupported": f"{type(error).__name__}: {str(error).splitlines()[0][:200]}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.5, help="for each engine, about")
    parser.add_argument("--engine", default="", help="only engines whose names contain this")
    options = parser.parse_args()
    # JAX has no setting for its threads; it takes as many as there are processors for it.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    numexpr.set_num_threads(options.threads)
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    np.seterr(all="ignore")
    # numexpr computes `abs` of a complex number as one.
    warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
    for line in sys.stdin:
        task = json.loads(line)
        arguments = [
            numbers(argument["dtype"], argument["shape"], seed)
            for seed, argument in enumerate(task["arguments"], start=1)
        ]
        for engine in ENGINES:
            if options.engine in engine:
                answer = measure(task, engine, arguments, options.seconds)
                names = {"job": task["job"], "size": task["size"], "engine": engine}
                print(json.dumps(names | answer), flush=True)
        print("{}", flush=True)


if __name__ == "__main__":
    main()
